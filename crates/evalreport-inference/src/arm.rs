//! Arms, and which runs represent each.

use std::collections::BTreeMap;

use chrono::{DateTime, NaiveDate, Utc};
use schemars::JsonSchema;
use serde::Serialize;

use crate::domain::{Run, RunStatus, is_model_name};
use crate::warehouse::{OutcomeMatrix, RunRow, Warehouse};

use super::night_key::Nights;

/// An approach with a model.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
pub struct Arm {
    pub approach: String,
    pub model: String,
}

/// Approach of runs that name none, and of the same runs as a baseline.
pub const UNNAMED_APPROACHES: [&str; 2] = ["unnamed", "unnamed (baseline)"];

impl Arm {
    pub fn from_run(run: &Run) -> Self {
        Self {
            approach: run.approach.clone(),
            model: run.model.clone(),
        }
    }

    /// Returns whether the arm has an approach's name.
    pub fn has_approach(&self) -> bool {
        !UNNAMED_APPROACHES.contains(&self.approach.as_str())
    }

    /// Returns whether the arm has a model's name.
    pub fn has_model(&self) -> bool {
        is_model_name(&self.model)
    }

    /// Returns the arm's name without the parts that have none. `None` if it has no name at all: then its suite names it.
    ///
    /// This is the only rule of how an arm is called for people; data keeps approach and model.
    pub fn display_name(&self) -> Option<String> {
        let approach = match UNNAMED_APPROACHES
            .iter()
            .position(|unnamed| *unnamed == self.approach)
        {
            Some(0) => None,
            Some(_) => Some("baseline"),
            None => Some(self.approach.as_str()),
        };
        match (approach, self.has_model()) {
            (Some(approach), true) => Some(format!("{approach} · {}", self.model)),
            (Some(approach), false) => Some(approach.to_owned()),
            (None, true) => Some(self.model.clone()),
            (None, false) => None,
        }
    }
}

/// The counted runs of an arm, oldest first, and its runs that are not counted.
#[derive(Clone)]
pub struct ArmRuns<'a> {
    pub arm: Arm,
    pub counted: Vec<&'a RunRow>,
    /// Runs not counted, because an outage or an interrupt ended them.
    pub excluded: Vec<&'a RunRow>,
    /// Runs not counted, because the agent crashed in every run of the arm before anything was measured.
    pub crashed: Vec<&'a RunRow>,
    /// Runs not counted, because they equal an earlier one in everything that is recorded: they are possibly from a cache. Only an answer
    /// sets them aside; before, they are among the counted ones.
    pub cached: Vec<&'a RunRow>,
    /// Runs of earlier batches, which are not used here.
    pub earlier: usize,
}

impl<'a> ArmRuns<'a> {
    /// Returns the arm without counted runs if none of them measured anything, so that it has no figure and no rank anywhere. If one run
    /// measured something, crashes count as not passed. Gates do not ask this: a crash of the new runs must not pass.
    #[must_use]
    pub fn drop_unmeasured_runs(self) -> Self {
        let has_crashed = |row: &&RunRow| {
            row.run
                .measured_nothing(row.items.map(|items| items.answered))
        };
        if self.counted.iter().all(has_crashed) {
            Self {
                crashed: self.counted,
                counted: Vec::new(),
                ..self
            }
        } else {
            self
        }
    }

    /// Returns all runs, counted or not.
    pub fn all_runs(&self) -> impl Iterator<Item = &'a RunRow> {
        self.counted
            .iter()
            .chain(&self.excluded)
            .chain(&self.crashed)
            .chain(&self.cached)
            .copied()
    }

    /// Returns whether at least one run completed. An arm of failed runs cannot win.
    pub fn can_win(&self) -> bool {
        self.counted
            .iter()
            .any(|row| row.run.status == RunStatus::Completed)
    }
}

/// Which batches of an arm are used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BatchSelection {
    /// Each arm's newest night: its newest batch, or of an imported file its newest day.
    NewestBatch,
    /// Every run of the arm; of a board, every run since the newest change point of a pass rate.
    AllBatches,
    /// Every run of the arm, whatever changed.
    AllNights,
}

/// The runs of one suite that can be compared: of one suite version, or from one imported source.
#[derive(Clone)]
pub struct SuiteGroup<'a> {
    pub suite: String,
    /// The suite's content hash, if the runs record it.
    pub suite_version: Option<String>,
    /// The runs' source, if another source of this suite version has runs that cannot be compared with them. A file, or the tool if each of
    /// its files is one run.
    pub source: Option<String>,
    pub arms: Vec<ArmRuns<'a>>,
    pub newest: Option<DateTime<Utc>>,
    /// Since when the runs count, if not all do or if it was looked for.
    pub since: Option<Since>,
    /// The arms' runs before that, counted or not.
    pub earlier: Vec<&'a RunRow>,
}

/// The first day of a board's runs, and why it begins there.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Since {
    /// In UTC.
    pub date: NaiveDate,
    pub because: SinceBecause,
    /// Days with counted runs from that date on.
    pub nights: u64,
    /// Arms whose pass rate changed on that date.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub changed: Vec<Arm>,
    /// Arms without a run from that date on. Their earlier runs count, since their own newest change point.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub older: Vec<Arm>,
}

/// Why a board begins on its first day.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SinceBecause {
    /// The newest change point of a pass rate in the suite's history. Rates before and after it differ beyond chance.
    ChangePoint,
    /// Each arm's newest batch was asked for.
    NewestBatch,
    /// There are nights enough for a change point, and none was found, so that all nights count.
    NoChange,
}

impl<'a> SuiteGroup<'a> {
    /// Returns all counted runs, by arm.
    pub fn counted_runs(&self) -> Vec<&'a RunRow> {
        self.arms
            .iter()
            .flat_map(|arm| &arm.counted)
            .copied()
            .collect()
    }

    /// Returns the group with the earlier runs, too, before the others.
    #[must_use]
    pub fn with_earlier_runs(&self) -> Self {
        let mut arms = self.arms.clone();
        for arm in &mut arms {
            let earlier = self
                .earlier
                .iter()
                .filter(|row| row.run.status.is_counted() && Arm::from_run(&row.run) == arm.arm);
            arm.counted.splice(..0, earlier.copied());
        }
        Self {
            arms,
            since: None,
            earlier: Vec::new(),
            ..self.clone()
        }
    }

    /// Returns the outcomes of all counted runs.
    pub fn outcome_matrix(&self, warehouse: &Warehouse) -> OutcomeMatrix {
        warehouse.outcome_matrix(
            self.arms
                .iter()
                .flat_map(|arm| &arm.counted)
                .map(|row| &row.run.id),
        )
    }
}

/// Groups runs by arm. Arms are sorted by name.
pub fn group_by_arm<'a>(
    rows: &[&'a RunRow],
    grouping: BatchSelection,
    nights: &Nights<'a>,
) -> Vec<ArmRuns<'a>> {
    let mut by_arm = BTreeMap::<Arm, Vec<&'a RunRow>>::new();
    for row in rows {
        by_arm.entry(Arm::from_run(&row.run)).or_default().push(row);
    }
    by_arm
        .into_iter()
        .map(|(arm, mut rows)| {
            let all = rows.len();
            if grouping == BatchSelection::NewestBatch
                && let Some(newest) = rows
                    .iter()
                    .max_by_key(|row| (row.run.timestamp, &row.run.id))
                    .map(|row| nights.key(&row.run))
            {
                rows.retain(|row| nights.key(&row.run) == newest);
            }
            let earlier = all - rows.len();
            // A report without a test beside others says nothing of any test, and hides none of the others'.
            let has_items = rows.iter().any(|row| row.items.is_some());
            let (counted, excluded) = rows.into_iter().partition(|row| {
                row.run.status.is_counted() && !(has_items && is_empty_report(row))
            });
            ArmRuns {
                arm,
                counted,
                excluded,
                crashed: Vec::new(),
                cached: Vec::new(),
                earlier,
            }
        })
        .collect()
}

/// Returns whether a run is an imported report that holds neither items nor counts of them.
fn is_empty_report(row: &RunRow) -> bool {
    row.items.is_none()
        && row.run.provenance.is_some()
        && row.run.shared_tests_total.unwrap_or(0) == 0
}
