//! New reports that a gate does not believe: their own figures contradict their outcomes, or they say that the run failed as a whole.

use std::collections::BTreeSet;

use schemars::JsonSchema;
use serde::Serialize;

use crate::domain::{ItemKind, Run, RunStatus, StatedFigure, Unit, split_title};
use crate::inference::{Arm, BaselineComparison};
use crate::warehouse::{RunRow, Warehouse};

/// A figure by which a new report is worse than its own outcomes.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct ContradictedFigure {
    pub suite: String,
    #[serde(flatten)]
    pub arm: Arm,
    /// As the report calls it, such as `failures`.
    pub figure: String,
    /// As the report states it; then as its outcomes give it. Both in `unit`.
    pub stated: f64,
    pub listed: f64,
    pub unit: Unit,
}

/// A new report that says that the run failed as a whole, as no run of the baseline did.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct FailedReport {
    pub suite: String,
    #[serde(flatten)]
    pub arm: Arm,
    pub error: String,
    /// Whether the report is of tests: one that could not be loaded or collected is a new failure.
    pub is_of_tests: bool,
}

const PASSED_WORDS: [&str; 11] = [
    "passed",
    "pass",
    "passes",
    "success",
    "successes",
    "successful",
    "resolved",
    "solved",
    "correct",
    "accuracy",
    "acc",
];
const FAILED_WORDS: [&str; 11] = [
    "failed",
    "failures",
    "failure",
    "failing",
    "fail",
    "error",
    "errors",
    "errored",
    "broken",
    "unresolved",
    "unexpected",
];
const ALL_WORDS: [&str; 6] = ["total", "tests", "count", "cases", "samples", "instances"];

/// Returns whether a report states less success, more failures or more items than its outcomes show.
fn is_worse_than_listed(figure: &StatedFigure) -> bool {
    let words = split_title(&figure.name);
    let has = |of: &[&str]| words.iter().any(|word| of.contains(&word.as_str()));
    let Some(listed) = figure
        .recomputed
        .filter(|_| figure.disagrees() == Some(true))
    else {
        return false;
    };
    let is_known = matches!(figure.unit, Unit::Count | Unit::Fraction);
    if has(&FAILED_WORDS) {
        is_known && figure.value > listed
    } else if has(&PASSED_WORDS) {
        is_known && figure.value < listed
    } else {
        figure.unit == Unit::Count && has(&ALL_WORDS) && figure.value > listed
    }
}

fn contradicted(run: &Run) -> impl Iterator<Item = &StatedFigure> {
    run.stated
        .iter()
        .filter(|figure| is_worse_than_listed(figure))
}

/// Returns the runs of the newest night of an arm, and those of its baseline.
fn rows_of_arm<'a>(
    held: &BaselineComparison<'a>,
    head: usize,
) -> (Vec<&'a RunRow>, Vec<&'a RunRow>) {
    let new = held.runs_of_night(head, held.night_count(head) - 1);
    let of_pair = |(own, other): &(usize, Option<usize>)| other.filter(|_| *own == head);
    let baseline = held
        .pairs
        .iter()
        .filter_map(of_pair)
        .flat_map(|other| held.baseline[other].all_runs())
        .collect();
    (new, baseline)
}

/// Returns the figures by which the newest reports are worse than their outcomes. What the baseline's reports count otherwise, too, is the
/// tool's way to count.
pub(super) fn find_contradicted_figures<'g>(
    groups: impl Iterator<Item = &'g BaselineComparison<'g>>,
) -> Vec<ContradictedFigure> {
    let of_arm = |held: &BaselineComparison<'_>, head: usize| -> Vec<ContradictedFigure> {
        let (new, baseline) = rows_of_arm(held, head);
        let usual: BTreeSet<&str> = baseline
            .iter()
            .flat_map(|row| contradicted(&row.run))
            .map(|figure| figure.name.as_str())
            .collect();
        new.iter()
            .flat_map(|row| contradicted(&row.run))
            .filter(|figure| !usual.contains(figure.name.as_str()))
            .filter_map(|figure| {
                Some(ContradictedFigure {
                    suite: held.suite.clone(),
                    arm: held.head[head].arm.clone(),
                    figure: figure.name.clone(),
                    stated: figure.value,
                    listed: figure.recomputed?,
                    unit: figure.unit,
                })
            })
            .collect()
    };
    groups
        .flat_map(|held| (0..held.head.len()).flat_map(move |head| of_arm(held, head)))
        .collect()
}

/// Returns the newest reports of other tools that say that the run failed as a whole.
pub(super) fn find_failed_reports<'g>(
    warehouse: &Warehouse,
    groups: impl Iterator<Item = &'g BaselineComparison<'g>>,
) -> Vec<FailedReport> {
    let error_of = |row: &RunRow| {
        (row.run.status == RunStatus::Failed && row.run.provenance.is_some())
            .then(|| row.run.error.clone().unwrap_or_default())
    };
    let are_tests = |row: &RunRow| {
        let matrix = warehouse.outcome_matrix(std::iter::once(&row.run.id));
        let mut items = matrix.items.iter();
        items.any(|item| item.key.kind == ItemKind::Test)
    };
    let of_arm = |held: &BaselineComparison<'_>, head: usize| -> Vec<FailedReport> {
        let (new, baseline) = rows_of_arm(held, head);
        let usual: BTreeSet<String> = baseline.iter().filter_map(|row| error_of(row)).collect();
        new.iter()
            .filter_map(|row| {
                let error = error_of(row).filter(|error| !usual.contains(error))?;
                Some(FailedReport {
                    suite: held.suite.clone(),
                    arm: held.head[head].arm.clone(),
                    error,
                    is_of_tests: are_tests(row),
                })
            })
            .collect()
    };
    groups
        .flat_map(|held| (0..held.head.len()).flat_map(move |head| of_arm(held, head)))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_report_is_worse_than_its_outcomes_by_the_sense_of_its_figure() {
        let figure = |name: &str, value: f64, recomputed: f64| StatedFigure {
            name: name.to_owned(),
            value,
            unit: Unit::Count,
            recomputed: Some(recomputed),
            rounding: None,
        };
        for (name, stated, listed, is_worse) in [
            ("failures", 3.0, 0.0, true),
            ("failures", 0.0, 3.0, false),
            ("numFailedTests", 15.0, 5.0, true),
            ("numPassedTests", 5.0, 15.0, true),
            ("numPassedTests", 15.0, 5.0, false),
            ("unresolved_instances", 2.0, 1.0, true),
            ("total", 60.0, 2.0, true),
            ("total", 2.0, 2.0, false),
            ("tokens", 9.0, 2.0, false),
        ] {
            assert_eq!(
                is_worse_than_listed(&figure(name, stated, listed)),
                is_worse,
                "{name}: {stated} for {listed}"
            );
        }
    }
}
