//! Detection of cached runs: answers from a cache look like repeated runs but are not.

use std::collections::BTreeMap;

use crate::warehouse::{MatrixRow, OutcomeMatrix, RunRow};

use super::figures::{run_cost, run_duration, run_tokens};

/// Counts the runs that equal an earlier run of the arm in every outcome and in every recorded figure of time, tokens and cost, of which
/// there must be at least two. An agent that never varies still takes a different time; a single figure may be equal by rounding.
pub fn find_cached_runs(rows: &[&RunRow], matrix: &OutcomeMatrix) -> u64 {
    let mut alike = BTreeMap::<[Option<u64>; 3], Vec<&RunRow>>::new();
    for row in rows {
        let figures = [run_duration(row), run_tokens(row), run_cost(row)];
        if figures
            .iter()
            .flatten()
            .filter(|figure| **figure > 0.0)
            .count()
            > 1
        {
            alike
                .entry(figures.map(|figure| figure.map(f64::to_bits)))
                .or_default()
                .push(row);
        }
    }
    let mut repeats = 0;
    for rows in alike.into_values() {
        let mut distinct: Vec<&RunRow> = Vec::new();
        for row in rows {
            if distinct
                .iter()
                .any(|earlier| has_equal_outcomes(earlier, row, matrix))
            {
                repeats += 1;
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
    };
    mine.len() == theirs.len() && mine.iter().zip(theirs).all(is_equal)
}
