//! How a check ended.

use super::{Check, Failure, failures};

/// How a check's program ended, as whoever ran it saw it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Exit {
    /// By itself, with this status.
    Code(i32),
    /// By a signal that nobody here sent.
    Signal(i32),
    /// It was up: [`super::Readiness`] was shown, and it was stopped.
    Ready,
    TimedOut,
    /// It could not be started, for this reason.
    NotStarted(String),
}

/// What an end means.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ending {
    Passed,
    Failed,
    TimedOut,
    /// Nothing was checked: a program is missing, or there was no test to run. Says nothing about the code.
    NotRunnable(String),
}

impl Ending {
    pub fn name(&self) -> &'static str {
        match self {
            Self::Passed => "passed",
            Self::Failed => "failed",
            Self::TimedOut => "timed_out",
            Self::NotRunnable(_) => "not_runnable",
        }
    }
}

#[derive(Clone, Debug, PartialEq)]
pub struct CheckResult {
    pub check: Check,
    pub ending: Ending,
    /// At least one where the ending is `Failed` or `TimedOut`, none otherwise.
    pub failures: Vec<Failure>,
    pub seconds: f64,
}

impl CheckResult {
    /// Reads what a check's program said and how it ended. `said` is its output, standard error after standard output or mixed.
    pub fn read(check: Check, exit: &Exit, said: &str, roots: &[&str], seconds: f64) -> Self {
        let ending = match exit {
            Exit::Code(0) | Exit::Ready => Ending::Passed,
            Exit::Code(_) | Exit::Signal(_) => Ending::Failed,
            Exit::TimedOut => Ending::TimedOut,
            Exit::NotStarted(reason) => Ending::NotRunnable(reason.clone()),
        };
        let failures = failures(&check, said, roots);
        Self { check, ending, failures, seconds }
    }
}
