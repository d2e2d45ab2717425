//! Groups of a suite's questions that earlier runs found equally hard.

use std::collections::BTreeMap;

use crate::domain::{Filter, ItemStatus};
use crate::stats::{DIFFICULTY_GROUPS, difficulty_group};
use crate::warehouse::{RunRow, Warehouse};

/// Letters of the groups by rising share of earlier runs that passed the question.
const LETTERS: [char; DIFFICULTY_GROUPS] = ['a', 'b', 'c', 'd', 'e'];
/// The letter of questions without an earlier outcome.
const UNKNOWN: char = 'u';

/// Returns a group letter for each question, from the outcomes of all counted runs of this version of the suite.
///
/// The groups may rest on anything known before: equally good arms differ by chance within each of them.
pub fn question_groups<'q>(
    warehouse: &Warehouse,
    suite: &str,
    version: Option<&str>,
    questions: impl Iterator<Item = &'q str>,
) -> String {
    let filter = Filter {
        suites: vec![suite.to_owned()],
        ..Filter::default()
    };
    let counts =
        |row: &&RunRow| row.run.status.is_counted() && row.run.suite_version.as_deref() == version;
    let runs: Vec<_> = warehouse
        .select_runs(&filter)
        .filter(counts)
        .map(|row| &row.run.id)
        .collect();
    let matrix = warehouse.outcome_matrix(runs);
    let mut tried: BTreeMap<&str, (u64, u64)> = BTreeMap::new();
    for row in &matrix.rows {
        for (item, status) in row.outcomes().filter(|(_, status)| status.is_counted()) {
            let (passed, of) = tried
                .entry(matrix.items[item as usize].key.item.as_str())
                .or_default();
            *passed += u64::from(status == ItemStatus::Pass);
            *of += 1;
        }
    }
    let letter = |question: &str| {
        tried.get(question).map_or(UNKNOWN, |(passed, of)| {
            LETTERS[difficulty_group(*passed, *of)]
        })
    };
    questions.map(letter).collect()
}
