//! Cached runs: answers from a cache look like repeated runs but are not, so that they are no evidence about the next run.

use std::collections::{BTreeMap, BTreeSet};

use crate::domain::RunId;
use crate::warehouse::{MatrixRow, OutcomeMatrix, RunRow};

use super::arm::{ArmRuns, SuiteGroup};
use super::figures::{run_cost, run_duration, run_tokens};

/// Sets the cached runs of each arm aside: they do not count as runs. Runs with counts only stay, because equal counts are no equal outcomes.
pub(super) fn set_cached_runs_aside<'a>(
    group: &SuiteGroup<'a>,
    matrix: &OutcomeMatrix,
) -> SuiteGroup<'a> {
    let set_aside = |arm: &ArmRuns<'a>| {
        let repeats = find_cached_runs(&arm.counted, matrix);
        let (cached, counted) = arm.counted.iter().partition(|row| {
            repeats.contains(&row.run.id) && !matrix.rows_of_run(&row.run.id).is_empty()
        });
        ArmRuns {
            counted,
            cached,
            ..arm.clone()
        }
    };
    SuiteGroup {
        arms: group.arms.iter().map(set_aside).collect(),
        ..group.clone()
    }
}

/// Counts the runs of an arm that are possibly cached, set aside or not.
pub fn count_cached_runs(arm: &ArmRuns<'_>, matrix: &OutcomeMatrix) -> u64 {
    (arm.cached.len() + find_cached_runs(&arm.counted, matrix).len()) as u64
}

/// Returns the runs that equal an earlier run of the arm in every outcome and in every recorded figure of time, tokens and cost. Their time
/// and one other figure must be recorded: an agent that never varies has equal outcomes, tokens and costs, but takes a different time.
fn find_cached_runs<'r>(rows: &[&'r RunRow], matrix: &OutcomeMatrix) -> BTreeSet<&'r RunId> {
    let mut alike = BTreeMap::<[Option<u64>; 3], Vec<&RunRow>>::new();
    for row in rows {
        let figures = [run_duration(row), run_tokens(row), run_cost(row)];
        let is_known = |figure: &Option<f64>| figure.is_some_and(|figure| figure > 0.0);
        if is_known(&figures[0]) && figures[1..].iter().any(is_known) {
            alike
                .entry(figures.map(|figure| figure.map(f64::to_bits)))
                .or_default()
                .push(row);
        }
    }
    let mut repeats = BTreeSet::new();
    for rows in alike.into_values() {
        let mut distinct: Vec<&RunRow> = Vec::new();
        for row in rows {
            if distinct
                .iter()
                .any(|earlier| has_equal_outcomes(earlier, row, matrix))
            {
                repeats.insert(&row.run.id);
            } else {
                distinct.push(row);
            }
        }
    }
    repeats
}

/// Returns whether two runs have equal outcomes: item by item, or in their counts.
fn has_equal_outcomes(one: &RunRow, other: &RunRow, matrix: &OutcomeMatrix) -> bool {
    let (mine, theirs) = (
        matrix.rows_of_run(&one.run.id),
        matrix.rows_of_run(&other.run.id),
    );
    if mine.is_empty() && theirs.is_empty() {
        let counts = |row: &RunRow| row.run.shared_tests_passed.zip(row.run.shared_tests_total);
        return counts(one).is_some() && counts(one) == counts(other);
    }
    let is_equal = |(mine, theirs): (&MatrixRow, &MatrixRow)| {
        mine.attempt == theirs.attempt
            && mine.items == theirs.items
            && mine.statuses == theirs.statuses
            && mine.scores == theirs.scores
    };
    mine.len() == theirs.len() && mine.iter().zip(theirs).all(is_equal)
}
