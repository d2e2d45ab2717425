//! Columns with the outcomes of all attempts at an item in one cell.

use std::borrow::Cow;

use super::super::sample::TableSample;
use super::super::shape::{is_list_of_outcomes, parse_attempt_outcomes};
use super::table_sample::TableHints;
use super::words::{SuggestedRole, own_title, suggested_roles};

/// Titles of columns with several attempts.
#[rustfmt::skip]
const ATTEMPT_WORDS: [&str; 24] = [
    "attempts", "trials", "tries", "repeats", "repetitions", "reps", "runs", "epochs", "iterations", "samples", "results", "outcomes", "passes", "successes",
    "versuche", "durchlaufe", "wiederholungen", "ergebnisse", "essais", "tentatives", "resultats", "intentos", "tentativi", "resultados",
];

/// Returns the table with a row for each attempt, and the column that has them, if each of its cells is a list such as `[true, false]`.
/// Without a hint, its title must be one of attempts or of outcomes, and another column must name the items: a list without items may
/// have a value for each item.
pub(super) fn unfold_attempts<'s>(
    sample: &'s TableSample,
    hints: &TableHints,
) -> (Cow<'s, TableSample>, Option<String>) {
    let has_role = |name: &String, role: SuggestedRole| suggested_roles(name).contains(&(role, 3));
    let is_list = |place: &usize| {
        let mut cells = sample
            .rows
            .iter()
            .filter_map(|row| row[*place].as_deref())
            .peekable();
        cells.peek().is_some() && !sample.compound.contains(place) && cells.all(is_list_of_outcomes)
    };
    let is_meant = |place: &usize| {
        let name = &sample.columns[*place];
        match (&hints.passed, &hints.score) {
            (Some(passed), _) => passed == name,
            (None, Some(_)) => false,
            (None, None) => {
                let is_titled = ATTEMPT_WORDS.contains(&own_title(name).as_str());
                let has_items = || {
                    sample
                        .columns
                        .iter()
                        .any(|other| other != name && has_role(other, SuggestedRole::Item))
                };
                (is_titled || has_role(name, SuggestedRole::Passed))
                    && (hints.item.is_some() || has_items())
            }
        }
    };
    let mut found = (0..sample.columns.len()).filter(|place| is_list(place) && is_meant(place));
    let (Some(place), None) = (found.next(), found.next()) else {
        return (Cow::Borrowed(sample), None);
    };
    let mut long = sample.clone();
    unfold_attempt_column(&mut long, place);
    (Cow::Owned(long), Some(sample.columns[place].clone()))
}

/// Makes a row of each attempt in the column, as the map will do it.
pub(super) fn unfold_attempt_column(sample: &mut TableSample, place: usize) {
    for mut row in std::mem::take(&mut sample.rows) {
        let outcomes = row[place].as_deref().and_then(parse_attempt_outcomes);
        for outcome in outcomes.iter().flatten() {
            row[place] = Some(outcome.to_string());
            sample.rows.push(row.clone());
        }
        if outcomes.is_none() {
            sample.rows.push(row);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_below_a_title_for_attempts_are_attempts() {
        let rows_of = |titles: [&str; 2], cells: [&str; 2], passed: Option<&str>| {
            let sample = TableSample {
                layout: crate::layout::RowLayout::default(),
                role: crate::sample::SampleRole::Table,
                columns: titles.map(str::to_owned).to_vec(),
                rows: cells
                    .iter()
                    .map(|cell| vec![Some("q1".to_owned()), Some((*cell).to_owned())])
                    .collect(),
                compound: std::collections::BTreeSet::new(),
                doubled: Vec::new(),
                uncomputed: std::collections::BTreeMap::new(),
            };
            let hints = TableHints {
                passed: passed.map(str::to_owned),
                ..TableHints::default()
            };
            let (long, column) = unfold_attempts(&sample, &hints);
            column.map(|_| {
                long.rows
                    .iter()
                    .filter_map(|row| row[1].clone())
                    .collect::<Vec<_>>()
                    .join(" ")
            })
        };
        let lists = ["[true, false]", "[False, True, True]"];
        for title in ["attempts", "passed", "Results", "eval.trials", "Versuche"] {
            assert_eq!(
                rows_of(["task", title], lists, None).as_deref(),
                Some("true false false true true"),
                "{title}"
            );
        }
        assert_eq!(
            rows_of(["task", "checks"], lists, None),
            None,
            "several checks of one attempt"
        );
        assert!(rows_of(["task", "checks"], lists, Some("checks")).is_some());
        assert_eq!(
            rows_of(["model", "results"], lists, None),
            None,
            "a value for each item"
        );
        assert_eq!(
            rows_of(["task", "passed"], ["[true]", "[1, 2]"], None),
            None
        );
    }
}
