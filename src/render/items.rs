//! A suite's items with each arm's outcomes.

use crate::views::{ItemLine, ItemMatrix, UNNAMED_APPROACHES};

use super::cell::{Datum, TableCell};
use super::format;
use super::table::{ReportTable, TableColumn};

/// Lays items out, with one column per arm.
pub fn matrix_table(matrix: &ItemMatrix) -> ReportTable {
    let items = &matrix.items;
    let each =
        |cell: &dyn Fn(&ItemLine) -> TableCell| items.iter().map(cell).collect::<Vec<TableCell>>();
    let mut table = ReportTable::for_rows("items");
    table.add_filled_column(
        TableColumn::words("Item").keys(["item"]),
        each(&|item| TableCell::words(item.item.as_str())),
    );
    let key = |item: &ItemLine| {
        [
            item.kind.as_str().into(),
            item.evaluator.as_str().into(),
            item.cluster.as_deref().into(),
        ]
    };
    table.add_filled_column(
        TableColumn::for_programs(["kind", "evaluator", "cluster"]),
        each(&|item| TableCell::for_programs(key(item))),
    );
    let counts = |item: &ItemLine| [item.passed, item.counted, item.missing].map(Datum::from);
    let passed = |item: &ItemLine| {
        TableCell::for_people(format!(
            "{}/{}",
            format::format_integer(item.passed.into()),
            format::format_integer(item.counted.into())
        ))
        .with_data(counts(item))
    };
    table.add_filled_column(
        TableColumn::number("Passed").keys(["passed", "counted", "missing"]),
        each(&passed),
    );
    let rate = |item: &ItemLine| {
        TableCell::number_or_unknown(item.rate, |rate| format::percent(rate, item.counted.into()))
    };
    table.add_filled_column(
        TableColumn::number("Pass rate")
            .over("mean over arms")
            .keys(["rate"]),
        each(&rate),
    );
    let arms = |item: &ItemLine| {
        TableCell::for_people(format!("{}/{}", item.solved_by, item.tried_by))
            .with_data([item.solved_by, item.tried_by].map(Datum::from))
    };
    table.add_filled_column(
        TableColumn::number("Arms that pass it").keys(["solved_by", "tried_by"]),
        each(&arms),
    );
    let discrimination = |item: &ItemLine| {
        let Some(found) = item.discrimination else {
            return TableCell::unknown("unknown");
        };
        TableCell::for_people(format::signed_number(found.value, 2))
            .with_data([found.value.into(), found.n.into()])
    };
    table.add_filled_column(
        TableColumn::number("Discrimination").keys(["discrimination", "discrimination_runs"]),
        each(&discrimination),
    );
    let signs = |item: &ItemLine| {
        let names: Vec<String> = item
            .signs
            .iter()
            .filter_map(|sign| serde_json::to_value(sign).ok()?.as_str().map(str::to_owned))
            .collect();
        TableCell::words(names.join("; "))
    };
    table.add_filled_column(TableColumn::words("Signs").keys(["signs"]), each(&signs));
    for (place, arm) in matrix.arms.iter().enumerate() {
        // Data keeps what stands for a name.
        let name = arm
            .arm
            .display_name()
            .unwrap_or_else(|| UNNAMED_APPROACHES[0].to_owned());
        let cell = |item: &ItemLine| {
            let Some(cell) = item.cells.get(place) else {
                return TableCell::unknown("");
            };
            TableCell::for_people(format!("{}/{}", cell.passed, cell.counted))
                .with_data([cell.passed, cell.counted].map(Datum::from))
        };
        let keys = ["passed", "counted"].map(|count| format!("{name} {count}"));
        table.add_filled_column(TableColumn::number(name).keys(keys), each(&cell));
    }
    table
}
