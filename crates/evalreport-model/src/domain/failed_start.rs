//! A failed start: an agent's or approach's program never began its work. It says nothing about the arm, so it is not counted.
//!
//! This is the one rule for it. Each condition has its reason:
//!
//! - **Exit status 126 or 127.** Shells, `env`, `timeout` and containers end so if a program is not there or cannot be executed.
//! - **No standard output.** A program that wrote something ran, whatever it called at its end.
//! - **Within [`MAX_START_SECONDS`].** A program that worked for a minute has started.
//! - **No answer of the same run before.** A program that answered other questions can be started: its 127 is its own, and counts. So no agent
//!   gets rid of hard questions by ending with 127.
//!
//! After [`MAX_FAILED_STARTS`] of them in a row a batch asks no more: the next ones would end alike, and the other arms would cost money for a
//! comparison that cannot be made. Refused keys and unknown models are told by what services say: see [`is_refusal`](super::is_refusal).

use super::{Run, RunStatus};

/// Failed starts in a row, without an answer before, after which an arm is asked no more. One may be a coincidence.
pub const MAX_FAILED_STARTS: u32 = 3;
/// Refusals in a row after which an arm that has answered is asked no more. Services refuse a single prompt for its content, too.
pub const MAX_REFUSALS: u32 = 3;
/// Longest time of a failed start, in seconds. Starting a shell or a container takes less.
const MAX_START_SECONDS: f64 = 10.0;
/// The exit statuses of what cannot be executed, and of what is not there.
const EXIT_STATUSES: [i32; 2] = [126, 127];
/// What shells and starters say then, in lower case.
const START_COMPLAINTS: [&str; 6] = [
    "not found",
    "no such file",
    "permission denied",
    "cannot execute",
    "exec format error",
    "executable file not found",
];
/// How the reason of a failed program begins.
const EXIT_REASON_PREFIX: &str = "ended with exit status ";
/// Between the number of questions and their reason, in the error of a run whose questions all ended alike.
const ALL_ALIKE: &str = " questions ended with the same error: ";

/// Returns whether a program that ended by itself did not start its work, as far as the program alone can tell.
pub fn is_failed_start(status: i32, has_output: bool, seconds: f64) -> bool {
    EXIT_STATUSES.contains(&status) && !has_output && seconds < MAX_START_SECONDS
}

/// Returns whether the recorded reason of a failed program tells of a failed start.
pub fn reports_failed_start(reason: &str) -> bool {
    let Some(rest) = reason.strip_prefix(EXIT_REASON_PREFIX) else {
        return false;
    };
    let end = rest
        .find(|character: char| !character.is_ascii_digit())
        .unwrap_or(rest.len());
    let (status, said) = rest.split_at(end);
    let said = said.to_lowercase();
    let is_complaint = said.is_empty()
        || START_COMPLAINTS
            .iter()
            .any(|complaint| said.contains(complaint));
    status
        .parse()
        .is_ok_and(|status| EXIT_STATUSES.contains(&status))
        && is_complaint
}

impl Run {
    /// Returns whether a run that is recorded as failed never started, by its header: earlier releases counted every question of it as not
    /// passed.
    pub fn never_started(&self) -> bool {
        let Some(error) = self
            .error
            .as_deref()
            .filter(|_| self.status == RunStatus::Failed && self.provenance.is_none())
        else {
            return false;
        };
        let reason = error
            .strip_prefix("all ")
            .and_then(|rest| Some(rest.split_once(ALL_ALIKE)?.1))
            .unwrap_or(error);
        let calls = self.total_calls.unwrap_or(1).max(1) as f64;
        let is_soon = self
            .duration_seconds
            .is_none_or(|seconds| seconds / calls < MAX_START_SECONDS);
        let has_worked = self.shared_tests_passed.is_some_and(|passed| passed > 0)
            || self.files_generated.is_some_and(|files| files > 0)
            || self.cost_usd.is_some_and(|cost| cost > 0.0)
            || self.total_tokens.is_some_and(|tokens| tokens > 0);
        reports_failed_start(reason) && is_soon && !has_worked
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::RunId;

    #[test]
    fn a_program_that_wrote_or_worked_has_started() {
        assert!(is_failed_start(127, false, 0.1) && is_failed_start(126, false, 0.1));
        assert!(
            !is_failed_start(1, false, 0.1)
                && !is_failed_start(127, true, 0.1)
                && !is_failed_start(127, false, 60.0)
        );
    }

    fn run(error: &str) -> Run {
        let mut run = Run::new(RunId::parse("r").expect("an id"), "s", "a", "m");
        (run.status, run.error) = (RunStatus::Failed, Some(error.to_owned()));
        (run.shared_tests_passed, run.shared_tests_total) = (Some(0), Some(40));
        run
    }

    #[test]
    fn never_started_reads_headers_of_earlier_releases() {
        for error in [
            "all 40 questions ended with the same error: ended with exit status 127: sh: 1: claude: not found",
            "ended with exit status 127: env: ‘python9’: No such file or directory (not given to it: KEY; `env` grants keys)",
            "ended with exit status 126: sh: 1: ./agent: Permission denied",
            "ended with exit status 127",
        ] {
            assert!(run(error).never_started(), "{error}");
        }
        for error in [
            "all 40 questions ended with an error; 39 times: ended with exit status 127: sh: 1: claude: not found",
            "all 40 questions ended with the same error: ended with exit status 1: Traceback",
            "ended with exit status 127: assertion failed",
            "ended with exit status 1270",
        ] {
            assert!(!run(error).never_started(), "{error}");
        }
        let error = "ended with exit status 127: sh: 1: claude: not found";
        assert!(
            !Run {
                cost_usd: Some(0.2),
                ..run(error)
            }
            .never_started()
        );
        assert!(
            !Run {
                files_generated: Some(2),
                ..run(error)
            }
            .never_started()
        );
        assert!(
            !Run {
                duration_seconds: Some(600.0),
                ..run(error)
            }
            .never_started()
        );
        assert!(
            !Run {
                status: RunStatus::Completed,
                ..run(error)
            }
            .never_started()
        );
    }
}
