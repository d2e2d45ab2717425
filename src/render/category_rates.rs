//! Pass rates of arms by category of item, as a table.

use crate::views::{Categories, Category, CategoryCell, Comparison};

use super::cell::{Datum, TableCell};
use super::table::{ReportTable, TableColumn};
use super::{format, phrases};

/// Maximum number of arms beside each other. More have a row each.
const MAX_ARM_COLUMNS: usize = 4;

/// Lays out the arms' rates by category, the easiest first. `None` if no item has a category.
pub fn category_table(comparison: &Comparison) -> Option<ReportTable> {
    let found = comparison.by_category.as_ref()?;
    let labels = phrases::arm_labels(&comparison.suite, &found.arms);
    let rate_word = phrases::rate_word(found.word);
    let mut table = if labels.len() <= MAX_ARM_COLUMNS {
        arms_as_columns(found, &labels)
    } else {
        arms_as_rows(found, &labels, rate_word)
    };
    table.title = Some(format!(
        "{}: {} by category, % [95% CI]",
        comparison.suite,
        rate_word.to_lowercase()
    ));
    if found.left_out > 0 {
        table.notes.push(format!(
            "{} with fewer items not shown.",
            phrases::count_with_noun(found.left_out as u64, "categories")
        ));
    }
    if found.without > 0 {
        table.notes.push(format!(
            "{} without a category.",
            phrases::count_with_noun(found.without as u64, found.word)
        ));
    }
    table.sheet = Some(Box::new(sheet(comparison, found)));
    Some(table)
}

fn rate_cell(cell: Option<&CategoryCell>) -> TableCell {
    let Some(cell) = cell else {
        return TableCell::unknown("no outcome");
    };
    TableCell::for_people(format::percent_number(cell.rate, cell.items))
        .with_interval(cell.interval, |end| {
            format::fixed_decimals(end * 100.0, format::percent_decimals(cell.items))
        })
}

fn arms_as_columns(found: &Categories, labels: &[String]) -> ReportTable {
    let mut table = ReportTable::for_rows("categories");
    let each = |cell: &dyn Fn(&Category) -> TableCell| {
        found.columns.iter().map(cell).collect::<Vec<TableCell>>()
    };
    table.add_filled_column(
        TableColumn::words("Category"),
        each(&|category| TableCell::words(category.name.as_str())),
    );
    table.add_filled_column(
        TableColumn::number(phrases::capitalize(found.word)).rank(1),
        each(&|category| TableCell::count(category.items as u64)),
    );
    for (arm, label) in labels.iter().enumerate() {
        table.add_filled_column(
            TableColumn::number(label),
            each(&|category| rate_cell(category.cells.get(arm).and_then(Option::as_ref))),
        );
    }
    table
}

fn arms_as_rows(found: &Categories, labels: &[String], rate_word: &str) -> ReportTable {
    let mut table = ReportTable::for_rows("categories");
    let each = |cell: &dyn Fn(&Category, usize) -> TableCell| {
        cells_of(found)
            .map(|(category, arm)| cell(category, arm))
            .collect::<Vec<TableCell>>()
    };
    table.add_filled_column(
        TableColumn::words("Category"),
        each(&|category, _| TableCell::words(category.name.as_str())),
    );
    table.add_filled_column(
        TableColumn::words("Arm"),
        each(&|_, arm| TableCell::words(labels[arm].as_str())),
    );
    table.add_filled_column(
        TableColumn::number(rate_word),
        each(&|category, arm| rate_cell(category.cells.get(arm).and_then(Option::as_ref))),
    );
    table.add_filled_column(
        TableColumn::number(phrases::capitalize(found.word)).rank(1),
        each(&|category, _| TableCell::count(category.items as u64)),
    );
    table
}

/// Returns each category with each arm.
fn cells_of(found: &Categories) -> impl Iterator<Item = (&Category, usize)> {
    let arms = found.arms.len();
    found
        .columns
        .iter()
        .flat_map(move |category| (0..arms).map(move |arm| (category, arm)))
}

/// Returns the table for programs: a row for each category and arm.
fn sheet(comparison: &Comparison, found: &Categories) -> ReportTable {
    let mut table = ReportTable::for_rows("categories");
    let keys = [
        "suite",
        "category",
        "approach",
        "model",
        "rate",
        "ci95_low",
        "ci95_high",
        "items",
        "outcomes",
    ];
    let row = |(category, arm): (&Category, usize)| {
        let cell = category.cells.get(arm).and_then(Option::as_ref);
        let [low, high] = Datum::interval_ends(cell.and_then(|cell| cell.interval));
        TableCell::for_programs([
            comparison.suite.as_str().into(),
            category.name.as_str().into(),
            found.arms[arm].approach.as_str().into(),
            found.arms[arm].model.as_str().into(),
            cell.map(|cell| cell.rate).into(),
            low,
            high,
            cell.map(|cell| cell.items).into(),
            cell.map(|cell| cell.outcomes).into(),
        ])
    };
    table.add_filled_column(TableColumn::for_programs(keys), cells_of(found).map(row));
    table
}
