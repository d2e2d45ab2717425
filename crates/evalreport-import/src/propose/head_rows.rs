//! Files whose first row has the figures of the whole file: below it are items, or the failed ones alone.

use std::collections::{BTreeMap, BTreeSet};

use super::super::path_part::PathPart;
use super::super::sample::TableSample;
use super::arms::place_columns;
use super::summary::{ColumnSummary, read_number};
use super::table_sample::{ExaminedTable, MappingQuestion, RowCells, TableHints, cell_text};
use super::words::SuggestedRole;

/// The first rows of all files, whose figures are in columns of their own.
struct HeadRows<'l> {
    /// Each first row, with the rows below it.
    files: Vec<(RowCells<'l>, &'l [RowCells<'l>])>,
    /// A column that the first rows alone have, with a figure of the file.
    figure: &'l ColumnSummary,
}

/// A table of the first rows alone.
pub(super) struct HeadTable {
    pub sample: TableSample,
    pub hints: TableHints,
    /// Column that is blank in all other rows.
    pub figure: String,
    /// Number of the other rows.
    pub failures: usize,
}

impl<'l> HeadRows<'l> {
    fn from_table(look: &'l ExaminedTable<'_>) -> Option<Self> {
        let places = place_columns(look);
        let same = |one: &RowCells<'_>, other: &RowCells<'_>| {
            places
                .iter()
                .all(|column| one[column.place] == other[column.place])
        };
        let files: Vec<(RowCells<'l>, &[RowCells<'l>])> = look
            .rows
            .chunk_by(same)
            .filter_map(|rows| rows.split_first())
            .map(|(head, rest)| (*head, rest))
            .collect();
        let is_of_heads = |column: &ColumnSummary| {
            files
                .iter()
                .any(|(head, _)| cell_text(head, column).is_some())
        };
        let is_of_others = |column: &ColumnSummary| {
            let mut others = files.iter().flat_map(|(_, rest)| rest.iter());
            others.any(|row| cell_text(row, column).is_some())
        };
        let is_figure = |column: &&&ColumnSummary| {
            [
                SuggestedRole::Total,
                SuggestedRole::PassedCount,
                SuggestedRole::Rate,
            ]
            .into_iter()
            .any(|role| column.clarity(role) >= 2)
        };
        let of_heads: Vec<&ColumnSummary> = look
            .summary
            .columns
            .iter()
            .filter(|column| PathPart::from_column(&column.name).is_none() && is_of_heads(column))
            .collect();
        let figure = of_heads.iter().find(is_figure).copied()?;
        let has_others = files.iter().any(|(_, rest)| !rest.is_empty());
        let are_apart = !of_heads.iter().any(|column| is_of_others(column));
        (has_others && are_apart).then_some(Self { files, figure })
    }

    fn other_rows(&self) -> usize {
        self.files.iter().map(|(_, rest)| rest.len()).sum()
    }

    /// Returns whether each file has as many rows below the first as that says that did not pass.
    fn are_failures_below(&self, look: &ExaminedTable<'_>) -> bool {
        let decimal = look.summary.decimal.as_ref().ok().copied().flatten();
        let is_count = |column: &ColumnSummary| {
            column.numbers().is_some_and(|numbers| numbers.are_whole) || column.is_outcomes()
        };
        let first = |role| look.best_columns(role, 2, is_count).first().copied();
        let (Some(passed), Some(total)) = (
            first(SuggestedRole::PassedCount),
            first(SuggestedRole::Total),
        ) else {
            return false;
        };
        self.files.iter().all(|(head, rest)| {
            let number = |column| read_number(cell_text(head, column)?, decimal);
            number(total)
                .zip(number(passed))
                .is_some_and(|(total, passed)| (total - passed - rest.len() as f64).abs() < 0.5)
        })
    }

    /// Finds the folders or files that are other ones wherever the rows below name another model or approach, or else the folders in which
    /// files of the same names lie.
    fn find_arm_places(
        &self,
        look: &'l ExaminedTable<'_>,
    ) -> Option<(SuggestedRole, &'l ColumnSummary)> {
        let places = place_columns(look);
        let by_name = [SuggestedRole::Model, SuggestedRole::Approach]
            .into_iter()
            .find_map(|role| {
                let names = *look
                    .best_columns(role, 2, |column| column.filled > 0)
                    .first()?;
                let tells = |place: &&&ColumnSummary| self.are_paired(names, place);
                Some((role, *places.iter().find(tells)?))
            });
        by_name.or_else(|| match places.as_slice() {
            [folder, file] if self.files.len() == folder.values.len() * file.values.len() => {
                Some((SuggestedRole::Approach, *folder))
            }
            _ => None,
        })
    }

    /// Returns whether each name of the rows below goes with one place, and each place with one name.
    fn are_paired(&self, names: &ColumnSummary, place: &ColumnSummary) -> bool {
        let mut places: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
        let mut named: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
        for row in self.files.iter().flat_map(|(_, rest)| rest.iter()) {
            if let (Some(name), Some(place)) = (cell_text(row, names), cell_text(row, place)) {
                places.entry(name).or_default().insert(place);
                named.entry(place).or_default().insert(name);
            }
        }
        places
            .values()
            .chain(named.values())
            .all(|one| one.len() == 1)
    }
}

/// Returns the table of the first rows, if the rows below them are the failures alone.
pub(super) fn find_head_table(sample: &TableSample, hints: &TableHints) -> Option<HeadTable> {
    let look = ExaminedTable::new(sample, hints);
    if hints.passed.is_some()
        || hints.score.is_some()
        || hints.item.is_some()
        || look.skip.is_some()
    {
        return None;
    }
    let heads = HeadRows::from_table(&look)?;
    if !heads.are_failures_below(&look) {
        return None;
    }
    let mut hints = hints.clone();
    let places = place_columns(&look);
    if hints.approach.is_none()
        && hints.model.is_none()
        && let Some((role, place)) = heads.find_arm_places(&look)
    {
        let arm = match role {
            SuggestedRole::Model => &mut hints.model,
            _ => &mut hints.approach,
        };
        *arm = Some(place.name.clone());
    }
    // The other files of an arm are its suites.
    let is_arm = |place: &ColumnSummary| {
        [&hints.approach, &hints.model]
            .into_iter()
            .any(|arm| arm.as_ref() == Some(&place.name))
    };
    if hints.suite.is_none()
        && let Some(arm) = places.iter().find(|place| is_arm(place))
        && places.len() > 1
    {
        let names_files = |file: &&&ColumnSummary| {
            let found: BTreeSet<_> = heads
                .files
                .iter()
                .map(|(head, _)| (&head[arm.place], &head[file.place]))
                .collect();
            !is_arm(file) && found.len() == heads.files.len()
        };
        hints.suite = Some(places.iter().rev().find(names_files)?.name.clone());
    }
    let rows = heads
        .files
        .iter()
        .map(|(head, _)| (*head).clone())
        .collect();
    Some(HeadTable {
        sample: TableSample {
            rows,
            ..sample.clone()
        },
        hints,
        figure: heads.figure.name.clone(),
        failures: heads.other_rows(),
    })
}

/// Asks if the first row of each file has the figures of the whole file, and no column of the other rows: they may be the failures alone.
pub(super) fn check_head_rows(look: &ExaminedTable<'_>) -> Result<(), MappingQuestion> {
    let Some(heads) = HeadRows::from_table(look) else {
        return Ok(());
    };
    let text = format!(
        "`{}` is in the first row alone, which has the figures of its whole file; the other {} rows may be the failures alone",
        heads.figure.name,
        heads.other_rows()
    );
    Err(MappingQuestion::new(
        text,
        "--map MAP (whose rows are runs, and which skips the others; or --passed COLUMN)",
    ))
}
