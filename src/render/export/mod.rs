//! Runs and their outcomes in formats of other tools, in pieces: a run has more outcomes than are held in memory at once.

pub mod ctrf;
pub mod eee;
pub mod junit;

use crate::domain::{ItemDetails, ItemOutcome, Run};
use crate::views::{Arm, RunTally};

use super::words;

/// What the counts of a run without outcomes are called.
const PASSED: &str = "shared_tests_passed";
const TOTAL: &str = "shared_tests_total";
const COUNTED: &str = "counted";

fn arm(run: &Run) -> String {
    words::arm_name(&Arm::of(run))
}

/// Returns how many of how many passed where a run has counts and no outcomes, of which a format of tests shows nothing.
pub fn counts_alone(run: &Run, tally: &RunTally) -> Option<(u64, u64)> {
    run.shared_tests_passed.zip(run.shared_tests_total).filter(|_| tally.all().total() == 0)
}

/// What is said of an outcome that did not pass, or nothing.
fn reason(details: &ItemDetails) -> Option<&str> {
    details.reason.as_deref().map(str::trim).filter(|reason| !reason.is_empty())
}

/// An outcome's tokens where both are known.
fn tokens(outcome: &ItemOutcome) -> Option<(u64, u64)> {
    outcome.input_tokens.zip(outcome.output_tokens)
}

/// Whole milliseconds; foreign numbers may be as large as they like.
#[expect(clippy::cast_possible_truncation, reason = "a float turns into the nearest number there is")]
fn milliseconds(seconds: f64) -> i64 {
    (seconds * 1000.0).round() as i64
}
