//! Runs some of whose questions ended because a program could not be started. They count, since the run's program answered others, but the reader
//! should know: in runs of earlier releases the program may have been installed halfway.

use std::sync::Arc;

use crate::domain::{ItemStatus, MAX_FAILED_STARTS, reports_failed_start};
use crate::inference::Arm;
use crate::warehouse::{RunRow, Warehouse};

/// A counted run of ours with failed starts among its answers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnstartedRun {
    pub run: String,
    pub suite: String,
    pub arm: Arm,
    /// Outcomes that ended with exit status 126 or 127, and all of the run.
    pub failed: u64,
    pub outcomes: u64,
}

/// Longer runs are not read, because their texts would not fit into memory.
const MAX_LINES: u64 = 20_000;

/// Finds such runs. What cannot be read is reported elsewhere.
pub fn find_unstarted<'a>(
    warehouse: &Warehouse,
    rows: impl Iterator<Item = &'a RunRow>,
) -> Vec<UnstartedRun> {
    let found = rows.filter_map(|row| {
        let items = row.items.filter(|items| {
            items.lines <= MAX_LINES && items.lines - items.answered >= u64::from(MAX_FAILED_STARTS)
        })?;
        if !row.run.status.is_counted() || row.run.provenance.is_some() {
            return None;
        }
        let lines = warehouse
            .read_detailed_outcomes(&[Arc::clone(&row.run)])
            .ok()?;
        let is_failed = |status: ItemStatus, reason: Option<&str>| {
            status == ItemStatus::Error && reason.is_some_and(reports_failed_start)
        };
        let failed = lines
            .iter()
            .filter(|(outcome, details)| is_failed(outcome.status, details.reason.as_deref()))
            .count() as u64;
        (failed >= u64::from(MAX_FAILED_STARTS)).then(|| UnstartedRun {
            run: row.run.id.to_string(),
            suite: row.run.suite.clone(),
            arm: Arm::from_run(&row.run),
            failed,
            outcomes: items.lines,
        })
    });
    found.collect()
}
