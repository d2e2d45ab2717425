//! Runs and their outcomes in formats of other tools, written in pieces: a run can have more outcomes than fit in memory.

pub mod ctrf;
pub mod eee;
pub mod junit;

use crate::domain::{ItemDetails, ItemOutcome, Run};
use crate::views::{Arm, RunTally};

use super::phrases;

/// Names of the counts of a run without outcomes.
const PASSED_KEY: &str = "shared_tests_passed";
const TOTAL_KEY: &str = "shared_tests_total";
const COUNTED_KEY: &str = "counted";

fn run_arm_name(run: &Run) -> String {
    phrases::arm_name(&run.suite, &Arm::from_run(run))
}

/// Returns passed and total of a run that has counts but no outcomes, which formats of tests cannot show.
pub fn counts_without_outcomes(run: &Run, tally: &RunTally) -> Option<(u64, u64)> {
    run.shared_tests_passed
        .zip(run.shared_tests_total)
        .filter(|_| tally.sum_groups().total() == 0)
}

/// Returns the reason for an outcome, or `None` if it is blank.
fn nonblank_reason(details: &ItemDetails) -> Option<&str> {
    details
        .reason
        .as_deref()
        .map(str::trim)
        .filter(|reason| !reason.is_empty())
}

/// Returns an outcome's input and output tokens if both are known.
fn token_counts(outcome: &ItemOutcome) -> Option<(u64, u64)> {
    outcome.input_tokens.zip(outcome.output_tokens)
}

/// Whole milliseconds. The cast saturates, because foreign numbers may be of any size.
#[expect(
    clippy::cast_possible_truncation,
    reason = "a float turns into the nearest number there is"
)]
fn whole_milliseconds(seconds: f64) -> i64 {
    (seconds * 1000.0).round() as i64
}
