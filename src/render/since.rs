//! Since when a board counts, in words.

use crate::views::{Arm, Since, SinceBecause};

use super::phrases;

/// Says since when runs count and why: `Counts 7 nights since 2026-11-08, when the pass rate of plan changed.`
pub fn counted_runs_sentence(suite: &str, since: &Since) -> String {
    let (nights, date) = (phrases::count_with_noun(since.nights, "nights"), since.date);
    match since.because {
        SinceBecause::NoChange => {
            format!("Counts all {nights} since {date}: no change point of a pass rate.")
        }
        SinceBecause::NewestBatch => format!("Counts each arm's newest batch, since {date}."),
        SinceBecause::ChangePoint => {
            let rates = if since.changed.len() == 1 {
                "the pass rate"
            } else {
                "the pass rates"
            };
            let older = match since.older.as_slice() {
                [] => String::new(),
                older => format!(
                    " Without a newer run, older ones count of: {}.",
                    arm_names(suite, older)
                ),
            };
            format!(
                "Counts {nights} since {date}, when {rates} of {} changed.{older}",
                arm_names(suite, &since.changed)
            )
        }
    }
}

/// Says which earlier runs are not counted: `from before the change of 2026-03-17 not counted`.
pub fn earlier_runs_note(since: Option<&Since>) -> String {
    match since {
        Some(Since {
            because: SinceBecause::ChangePoint,
            date,
            ..
        }) => format!("from before the change of {date} not counted"),
        Some(_) | None => "from earlier batches not counted (--newest-batch)".to_owned(),
    }
}

fn arm_names(suite: &str, arms: &[Arm]) -> String {
    let names: Vec<String> = arms
        .iter()
        .map(|arm| phrases::arm_name(suite, arm))
        .collect();
    phrases::first_three(&names)
}
