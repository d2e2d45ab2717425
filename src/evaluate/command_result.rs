//! What a command that an evaluator asks for came to. Whoever calls the evaluator starts it: here no program is started.

use super::test_report::{Ending, TestReport};

/// What a command is for, which decides how it is started.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    Build,
    /// Planned by [`test_report::plan`](super::test_report::plan), so that its report tells of single tests.
    Tests,
    Coverage,
    Analysis,
}

/// How a command ended, and what it printed.
#[derive(Clone, Debug, PartialEq)]
pub struct CommandResult {
    pub ending: Ending,
    pub stdout: Vec<u8>,
    pub stderr: Vec<u8>,
    /// What [`Purpose::Tests`] came to, where it was planned; without it the output is read.
    pub tests: Option<TestReport>,
}

/// Runs a line of shell in the finished workspace and waits for it; None where the run was stopped meanwhile.
pub type Runner<'r> = dyn Fn(&str, Purpose) -> Option<CommandResult> + 'r;
