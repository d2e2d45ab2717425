//! Arms: the sides of a comparison, and which runs stand for each.

use std::collections::BTreeMap;

use chrono::{DateTime, Utc};
use schemars::JsonSchema;
use serde::Serialize;

use crate::domain::{Run, RunStatus};
use crate::warehouse::{OutcomeMatrix, RunRow, Warehouse};

/// An approach with a model.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
pub struct Arm {
    pub approach: String,
    pub model: String,
}

impl Arm {
    pub fn of(run: &Run) -> Self {
        Self { approach: run.approach.clone(), model: run.model.clone() }
    }
}

/// The runs that stand for an arm, oldest first, and those of it that say nothing about it.
#[derive(Clone)]
pub struct ArmRuns<'a> {
    pub arm: Arm,
    pub counted: Vec<&'a RunRow>,
    /// Runs that an outage or an interrupt ended.
    pub excluded: Vec<&'a RunRow>,
    /// Runs of earlier batches, which do not stand for the arm here.
    pub earlier: usize,
}

impl ArmRuns<'_> {
    /// Says whether at least one run came to its end; an arm of failed runs wins nothing.
    pub fn can_win(&self) -> bool {
        self.counted.iter().any(|row| row.run.status == RunStatus::Completed)
    }
}

/// Which runs of an arm are taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Grouping {
    /// Each arm's newest batch.
    NewestBatch,
    /// Every run of the arm.
    AllBatches,
}

/// The runs of one suite that can be put side by side: of one suite version, or from one imported source.
#[derive(Clone)]
pub struct SuiteGroup<'a> {
    pub suite: String,
    /// The suite's content hash, where the runs know it.
    pub suite_version: Option<String>,
    /// Where the runs came from, if runs of another source of the suite's version cannot stand beside them: a file, or the tool where each
    /// of its files is a run.
    pub source: Option<String>,
    pub arms: Vec<ArmRuns<'a>>,
    pub newest: Option<DateTime<Utc>>,
}

impl<'a> SuiteGroup<'a> {
    /// All counted runs, by arm.
    pub(crate) fn counted_runs(&self) -> Vec<&'a RunRow> {
        self.arms.iter().flat_map(|arm| &arm.counted).copied().collect()
    }

    /// Returns the outcomes of all counted runs.
    pub(crate) fn matrix(&self, warehouse: &Warehouse) -> OutcomeMatrix {
        warehouse.matrix(self.arms.iter().flat_map(|arm| &arm.counted).map(|row| &row.run.id))
    }
}

/// Puts the runs of each arm together; arms by name.
pub(crate) fn arm_runs<'a>(rows: &[&'a RunRow], grouping: Grouping) -> Vec<ArmRuns<'a>> {
    let mut by_arm = BTreeMap::<Arm, Vec<&'a RunRow>>::new();
    for row in rows {
        by_arm.entry(Arm::of(&row.run)).or_default().push(row);
    }
    by_arm
        .into_iter()
        .map(|(arm, mut rows)| {
            let all = rows.len();
            if grouping == Grouping::NewestBatch
                && let Some(newest) =
                    rows.iter().max_by_key(|row| (row.run.timestamp, &row.run.id)).map(|row| batch_of(&row.run).to_owned())
            {
                rows.retain(|row| batch_of(&row.run) == newest);
            }
            let earlier = all - rows.len();
            let (counted, excluded) = rows.into_iter().partition(|row| row.run.status.is_counted());
            ArmRuns { arm, counted, excluded, earlier }
        })
        .collect()
}

/// Runs that were started together: by batch, else by imported source, else each alone.
pub(crate) fn batch_of(run: &Run) -> &str {
    run.batch_id.as_deref().or(run.provenance.as_ref().map(|from| from.sha256.as_str())).unwrap_or(run.id.as_str())
}
