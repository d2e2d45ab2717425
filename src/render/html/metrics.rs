//! A comparison's table: metrics in rows, arms in columns, then their difference and the verdict.

use crate::domain::Direction;
use crate::render::{details, tables, verdicts, words};
use crate::views::{Arm, Comparison, ComparisonRow, Verdict};

use super::grid::{Cell, Column, Grid, Look, Sort};

/// Lays a comparison out.
pub(super) fn grid(comparison: &Comparison, id: &str, caption: &str) -> Grid {
    let labels = labels(comparison);
    let mut grid = Grid::new(id, caption);
    let each = |cell: &dyn Fn(&ComparisonRow) -> Cell| comparison.rows.iter().map(cell).collect::<Vec<Cell>>();
    grid.column(
        Column::new("Metric", Look::Key, Sort::None),
        each(&|row| Cell::head(tables::metric_label(row)).sub(better(row.metric.direction))),
    );
    for (arm, label) in labels.iter().enumerate() {
        let value = |row: &ComparisonRow| {
            let Some(cell) = row.cells.get(arm) else { return Cell::unknown("n/a") };
            let details = [words::spread(&row.metric, cell), words::interval(&row.metric, cell, comparison.confidence)];
            let details: Vec<String> = details.into_iter().flatten().collect();
            let shown = words::cell(&row.metric, cell);
            if cell.value.is_none() && cell.total.is_none() {
                Cell::unknown("unknown")
            } else {
                Cell::number(shown, cell.value.unwrap_or(0.0)).sub(details.join("; "))
            }
        };
        grid.column(Column::new(label.as_str(), Look::Number, Sort::None), each(&value));
    }
    if let [first, second] = labels.as_slice() {
        grid.column(
            Column::new("Difference", Look::Words, Sort::None).sub(format!("{first} less {second}, or over it")),
            each(&|row| Cell::words(verdicts::difference(row))),
        );
    }
    grid.column(Column::new("Verdict", Look::Words, Sort::None), each(&|row| Cell::words(verdicts::short(comparison, row))));
    grid
}

/// The shortest names that tell the arms apart.
pub(super) fn labels(comparison: &Comparison) -> Vec<String> {
    words::arm_labels(&comparison.arms.iter().map(|arm| arm.arm.clone()).collect::<Vec<Arm>>())
}

fn better(direction: Direction) -> &'static str {
    match direction {
        Direction::Up => "higher is better",
        Direction::Down => "lower is better",
        Direction::None => "neither is better",
    }
}

/// Says how the rate's intervals were made, and what nobody measured.
pub(super) fn notes(comparison: &Comparison) -> Vec<String> {
    let mut notes = Vec::new();
    for row in &comparison.rows {
        let mut methods: Vec<&str> =
            row.cells.iter().filter_map(|cell| cell.estimate.as_ref()).map(|estimate| words::method(estimate.method)).collect();
        methods.dedup();
        if !methods.is_empty() {
            notes.push(format!("{}: {}.", row.metric.label, methods.join("; ")));
        }
    }
    notes.extend(details::second_looks(comparison));
    // How criteria fell is a section of a pair's page.
    notes.extend(words::verification_note(comparison, &labels(comparison)));
    notes.extend(verdicts::exclusion_notes(comparison, &labels(comparison)));
    if !comparison.not_measured.is_empty() {
        notes.push(format!("Not measured: {}.", comparison.not_measured.join(", ")));
    }
    notes
}

/// The mark before a comparison's first sentence.
pub(super) fn mark(comparison: &Comparison) -> &'static str {
    let evidence = comparison.primary().map(|row| &row.evidence);
    match evidence.and_then(|evidence| evidence.pairs.first()).map(|pair| pair.verdict) {
        Some(Verdict::AWins | Verdict::BWins) => "▲",
        Some(Verdict::DeterministicDifference { .. }) => "■",
        Some(Verdict::Tie | Verdict::Equivalent) => "=",
        Some(Verdict::NotEnoughEvidence { .. }) => "○",
        Some(Verdict::NotComparable { .. } | Verdict::NoData { .. }) | None => "✕",
    }
}
