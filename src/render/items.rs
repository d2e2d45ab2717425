//! A suite's items with each arm's outcomes.

use crate::views::{ItemLine, ItemMatrix, UNNAMED};

use super::cell::{Cell, Datum};
use super::format;
use super::table::{Column, Table};

/// Lays items out, with one column per arm.
pub fn table(matrix: &ItemMatrix) -> Table {
    let items = &matrix.items;
    let each = |cell: &dyn Fn(&ItemLine) -> Cell| items.iter().map(cell).collect::<Vec<Cell>>();
    let mut table = Table::of("items");
    table.column(
        Column::words("Item").keys(["item"]),
        each(&|item| Cell::words(item.item.as_str())),
    );
    let key = |item: &ItemLine| {
        [
            item.kind.as_str().into(),
            item.evaluator.as_str().into(),
            item.cluster.as_deref().into(),
        ]
    };
    table.column(
        Column::data(["kind", "evaluator", "cluster"]),
        each(&|item| Cell::figures(key(item))),
    );
    let counts = |item: &ItemLine| [item.passed, item.counted, item.missing].map(Datum::from);
    let passed = |item: &ItemLine| {
        Cell::shown(format!(
            "{}/{}",
            format::integer(item.passed.into()),
            format::integer(item.counted.into())
        ))
        .data(counts(item))
    };
    table.column(
        Column::number("Passed").keys(["passed", "counted", "missing"]),
        each(&passed),
    );
    let rate = |item: &ItemLine| {
        Cell::measured(item.rate, |rate| format::percent(rate, item.counted.into()))
    };
    table.column(
        Column::number("Pass rate")
            .over("mean over arms")
            .keys(["rate"]),
        each(&rate),
    );
    let arms = |item: &ItemLine| {
        Cell::shown(format!("{}/{}", item.solved_by, item.tried_by))
            .data([item.solved_by, item.tried_by].map(Datum::from))
    };
    table.column(
        Column::number("Arms that pass it").keys(["solved_by", "tried_by"]),
        each(&arms),
    );
    let discrimination = |item: &ItemLine| {
        let Some(found) = item.discrimination else {
            return Cell::unknown("unknown");
        };
        Cell::shown(format::signed(found.value, 2)).data([found.value.into(), found.n.into()])
    };
    table.column(
        Column::number("Discrimination").keys(["discrimination", "discrimination_runs"]),
        each(&discrimination),
    );
    let signs = |item: &ItemLine| {
        let names: Vec<String> = item
            .signs
            .iter()
            .filter_map(|sign| serde_json::to_value(sign).ok()?.as_str().map(str::to_owned))
            .collect();
        Cell::words(names.join("; "))
    };
    table.column(Column::words("Signs").keys(["signs"]), each(&signs));
    for (place, arm) in matrix.arms.iter().enumerate() {
        // Data keeps what stands for a name.
        let name = arm.arm.title().unwrap_or_else(|| UNNAMED[0].to_owned());
        let cell = |item: &ItemLine| {
            let Some(cell) = item.cells.get(place) else {
                return Cell::unknown("");
            };
            Cell::shown(format!("{}/{}", cell.passed, cell.counted))
                .data([cell.passed, cell.counted].map(Datum::from))
        };
        let keys = ["passed", "counted"].map(|count| format!("{name} {count}"));
        table.column(Column::number(name).keys(keys), each(&cell));
    }
    table
}
