//! Stated numbers of runs against the runs of the same system that the store holds.

use std::collections::{BTreeMap, BTreeSet};

use crate::domain::Filter;
use crate::warehouse::Warehouse;

use super::super::{BatchSelection, suite_groups};
use super::claim_table::{FigureTable, cell_text, plain_name};
use super::column_roles::ColumnRole;
use super::finding::{ClaimFinding, ClaimKind, Severity};

/// Runs of an approach and a model at a suite.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunsInStore {
    pub suite: String,
    pub approach: String,
    pub model: String,
    /// Runs, where one that attempted each item several times counts as so many. `None` if a record has no outcomes: it may be a mean of runs.
    pub runs: Option<u64>,
}

/// Counts the selected runs by suite, approach and model.
pub fn stored_runs(warehouse: &Warehouse, filter: &Filter) -> Vec<RunsInStore> {
    let mut found: BTreeMap<(String, String, String), Option<u64>> = BTreeMap::new();
    for group in suite_groups(warehouse, filter, BatchSelection::AllBatches) {
        let matrix = group.outcome_matrix(warehouse);
        for arm in &group.arms {
            for row in arm.all_runs() {
                let attempts = matrix
                    .rows_of_run(&row.run.id)
                    .iter()
                    .map(|row| u64::from(row.attempt))
                    .max();
                let key = (
                    row.run.suite.clone(),
                    row.run.approach.clone(),
                    row.run.model.clone(),
                );
                let sum = found.entry(key).or_insert(Some(0));
                *sum = sum
                    .zip(attempts)
                    .map(|(sum, attempts)| sum + attempts.max(1));
            }
        }
    }
    found
        .into_iter()
        .map(|((suite, approach, model), runs)| RunsInStore {
            suite,
            approach,
            model,
            runs,
        })
        .collect()
}

/// Returns whether a table states a number of runs of any row.
pub(super) fn has_reported_runs(sheet: &FigureTable<'_>) -> bool {
    sheet
        .rows
        .iter()
        .any(|row| reported_runs(sheet, *row).is_some())
}

/// Returns the number of runs that a row states, and the column that does.
fn reported_runs(sheet: &FigureTable<'_>, row: usize) -> Option<(u64, usize)> {
    let of_series = sheet
        .series
        .iter()
        .find(|series| series.role == ColumnRole::Runs && series.are_whole);
    let of_row =
        of_series.and_then(|series| Some((FigureTable::whole_count(series, row)?, series.place)));
    let titled = || {
        let of_mean = |series: &&super::claim_table::FigureColumn| {
            series.title.runs.is_some() && series.role != ColumnRole::Runs
        };
        sheet
            .series
            .iter()
            .find(of_mean)
            .and_then(|series| Some((series.title.runs?, series.place)))
    };
    of_row
        .or_else(titled)
        .filter(|(runs, _)| (2..=1000).contains(runs))
}

/// Reports the rows that state more runs than the store holds of their system. A system that the store does not hold is not accused.
pub(super) fn check_stored_runs(
    sheet: &FigureTable<'_>,
    held: &[RunsInStore],
    findings: &mut Vec<ClaimFinding>,
) {
    for row in &sheet.rows {
        let Some((runs, place)) = reported_runs(sheet, *row) else {
            continue;
        };
        let Some((there, suite)) =
            stored_runs_of_row(sheet, *row, held).filter(|(there, _)| *there < runs)
        else {
            continue;
        };
        let name = sheet.row_name(*row);
        let text = format!(
            "{runs} runs of `{name}` are stated; the store holds {there}, on the suite `{suite}`"
        );
        let possible = vec![there.to_string()];
        findings.push(sheet.finding_at(
            ClaimKind::RunsAgainstStore,
            Severity::NotEstablished,
            &[*row],
            place,
            possible,
            text,
        ));
    }
}

/// Returns the number of stored runs of a row's system on its suite, or on the suite that has most of them if the table names none.
fn stored_runs_of_row<'h>(
    sheet: &FigureTable<'_>,
    row: usize,
    held: &'h [RunsInStore],
) -> Option<(u64, &'h str)> {
    let names = system_names(sheet, row);
    let own = || held.iter().filter(|held| is_of_system(held, &names));
    let suites = suites_of(sheet, row);
    let is_divided = suites.cells.iter().any(|name| !name.is_empty());
    let is_asked = |held: &&RunsInStore| {
        let suite = normalise_name(&held.suite);
        if is_divided {
            suites.cells.contains(&suite)
        } else {
            true
        }
    };
    // A file that is named after a suite is about this suite.
    let titled: BTreeSet<&str> = own()
        .map(|held| held.suite.as_str())
        .filter(|suite| suites.titles.contains(&normalise_name(suite)))
        .collect();
    let mut sums: BTreeMap<&str, Option<u64>> = BTreeMap::new();
    for held in own()
        .filter(is_asked)
        .filter(|held| titled.is_empty() || titled.contains(held.suite.as_str()))
    {
        let sum = sums.entry(&held.suite).or_insert(Some(0));
        *sum = sum.zip(held.runs).map(|(sum, runs)| sum + runs);
    }
    // Runs that cannot be counted may be as many as stated.
    let known: Option<Vec<(u64, &str)>> = sums
        .into_iter()
        .map(|(suite, runs)| Some((runs?, suite)))
        .collect();
    known?.into_iter().max()
}

/// Returns the names of a row's system: the cells that name it, in their order and in reverse.
fn system_names(sheet: &FigureTable<'_>, row: usize) -> BTreeSet<String> {
    let cells: Vec<String> = sheet
        .texts
        .iter()
        .filter(|place| sheet.titles[**place].role == ColumnRole::Name)
        .filter_map(|place| cell_text(sheet.table, row, *place))
        .map(normalise_name)
        .collect();
    // Of several cells, each alone names more than the system.
    let mut names: BTreeSet<String> =
        [cells.concat(), cells.iter().rev().cloned().collect()].into();
    if cells.is_empty() {
        names.insert(normalise_name(&sheet.row_name(row)));
    }
    names.remove("");
    names
}

fn is_of_system(held: &RunsInStore, names: &BTreeSet<String>) -> bool {
    let (approach, model) = (normalise_name(&held.approach), normalise_name(&held.model));
    [
        format!("{approach}{model}"),
        format!("{model}{approach}"),
        approach,
        model,
    ]
    .iter()
    .any(|name| names.contains(name))
}

struct RowSuites {
    /// Of the cells that divide the rows.
    cells: BTreeSet<String>,
    /// Of the table and its columns.
    titles: BTreeSet<String>,
}

fn suites_of(sheet: &FigureTable<'_>, row: usize) -> RowSuites {
    let groups = sheet
        .texts
        .iter()
        .filter(|place| sheet.titles[**place].role == ColumnRole::Group);
    let cells = groups
        .filter_map(|place| cell_text(sheet.table, row, *place))
        .map(normalise_name)
        .collect();
    let file = sheet
        .table
        .name
        .rsplit(['/', '\\'])
        .next()
        .unwrap_or_default();
    let stem = file.split('.').next().unwrap_or_default();
    let titles = sheet
        .series
        .iter()
        .map(|series| normalise_name(&series.name))
        .chain([normalise_name(stem)])
        .collect();
    RowSuites { cells, titles }
}

/// Returns the letters and digits of a name.
fn normalise_name(text: &str) -> String {
    plain_name(text)
        .chars()
        .filter(|letter| letter.is_alphanumeric())
        .flat_map(char::to_lowercase)
        .collect()
}
