//! Runs some of whose questions never reached the agent or its model: a program could not be started, or the service refused the key or the
//! model. They count, since the run answered others, but the reader should know: in runs of earlier releases the program may have been installed
//! halfway, or the key exchanged.

use std::sync::Arc;

use crate::domain::{
    ItemStatus, MAX_FAILED_STARTS, is_refusal, refused_status, reports_failed_start,
};
use crate::inference::Arm;
use crate::warehouse::{RunRow, Warehouse};

/// Answers of a counted run of ours that never reached the agent or its model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnstartedRun {
    pub run: String,
    pub suite: String,
    pub arm: Arm,
    pub cause: UnstartedCause,
    /// Outcomes with this cause, and all of the run.
    pub failed: u64,
    pub outcomes: u64,
}

/// Why they did not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UnstartedCause {
    /// The program ended with exit status 126 or 127.
    FailedStart,
    /// The service refused the key, the account or the model, with this HTTP status if all refusals state it.
    Refusal(Option<u16>),
}

/// Longer runs are not read, because their texts would not fit into memory.
const MAX_LINES: u64 = 20_000;

/// Finds such runs. What cannot be read is reported elsewhere.
pub fn find_unstarted<'a>(
    warehouse: &Warehouse,
    rows: impl Iterator<Item = &'a RunRow>,
) -> Vec<UnstartedRun> {
    rows.flat_map(|row| unstarted_answers(warehouse, row))
        .collect()
}

/// Returns what is unstarted in one run, by cause.
fn unstarted_answers(warehouse: &Warehouse, row: &RunRow) -> Vec<UnstartedRun> {
    let fewest = u64::from(MAX_FAILED_STARTS);
    let Some(items) = row
        .items
        .filter(|items| items.lines <= MAX_LINES && items.lines - items.answered >= fewest)
    else {
        return Vec::new();
    };
    if !row.run.status.is_counted() || row.run.provenance.is_some() {
        return Vec::new();
    }
    let lines = warehouse
        .read_detailed_outcomes(&[Arc::clone(&row.run)])
        .unwrap_or_default();
    let reasons: Vec<&str> = lines
        .iter()
        .filter(|(outcome, _)| outcome.status == ItemStatus::Error)
        .filter_map(|(_, details)| details.reason.as_deref())
        .collect();
    let (unstarted, others): (Vec<&str>, Vec<&str>) = reasons
        .into_iter()
        .partition(|reason| reports_failed_start(reason));
    let refused: Vec<&str> = others
        .into_iter()
        .filter(|reason| is_refusal(reason))
        .collect();
    let mut statuses = refused.iter().map(|reason| refused_status(reason));
    let first = statuses.next().flatten();
    let status = first.filter(|_| statuses.all(|status| status == first));
    [
        (UnstartedCause::FailedStart, unstarted.len()),
        (UnstartedCause::Refusal(status), refused.len()),
    ]
    .into_iter()
    .filter(|(_, failed)| *failed as u64 >= fewest)
    .map(|(cause, failed)| UnstartedRun {
        run: row.run.id.to_string(),
        suite: row.run.suite.clone(),
        arm: Arm::from_run(&row.run),
        cause,
        failed: failed as u64,
        outcomes: items.lines,
    })
    .collect()
}
