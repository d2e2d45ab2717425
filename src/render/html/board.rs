//! A suite's leaderboard on a page.

use crate::domain::Unit;
use crate::render::table::Seen;
use crate::render::{board, details, format, since, verdicts, words};
use crate::views::{Estimate, SuiteBoard};

use super::grid::{Cell, Column, Grid, Look, Sort};
use super::shell::Text;
use super::whisker::Whisker;

/// Lays a board out without columns that are empty for all arms. [`notes`] names those.
pub(super) fn grid(board: &SuiteBoard, id: &str, caption: &str) -> Grid {
    let table = board::arms_table(board);
    let primary = board::rate_key(&board.primary);
    let table = table.seen_as(Seen::Pages);
    let mut grid = Grid::of_seen(&table, id, caption).ranked();
    if board.primary.unit == Unit::Fraction
        && board.entries.iter().any(|entry| entry.primary.is_some())
    {
        // Next to the figures that the dots draw.
        let place = table
            .columns
            .iter()
            .position(|column| column.keys.first().is_some_and(|key| *key == primary));
        let head = Column::new(
            format!(
                "{} and interval, drawn",
                words::metric_label(&board.primary)
            ),
            Look::Scale,
            Sort::None,
        );
        let dots = board
            .entries
            .iter()
            .map(|entry| Cell::dots(entry.primary.as_ref().map(Whisker::of)));
        grid.insert(
            place.map_or(grid.columns.len(), |place| place + 1),
            head,
            dots,
        );
    }
    grid.filtered("")
}

/// Returns a cell with a rate and its interval, or `unknown`.
pub(super) fn rate(estimate: Option<&Estimate>) -> Cell {
    estimate.map_or_else(
        || Cell::unknown("unknown"),
        |estimate| Cell::number(format::estimate(estimate), estimate.value),
    )
}

/// Adds the number of units behind each rate. If all arms count the same unit, the head names it.
pub(super) fn samples(grid: &mut Grid, estimates: &[Option<&Estimate>], sort: Sort) {
    let mut words: Vec<&str> = estimates
        .iter()
        .flatten()
        .map(|estimate| estimate.n_of)
        .collect();
    words.dedup();
    let shared = if let [one] = words.as_slice() {
        *one
    } else {
        ""
    };
    let cell = |estimate: Option<&Estimate>| {
        let Some(estimate) = estimate else {
            return Cell::unknown("unknown");
        };
        let n = format::integer(estimate.n);
        let text = if shared.is_empty() {
            format!("{n} {}", words::one_or_many(estimate.n, estimate.n_of))
        } else {
            n
        };
        Cell::number(text, estimate.n as f64)
    };
    grid.column(
        Column::new("n", Look::Number, sort).sub(shared),
        estimates.iter().copied().map(cell).collect::<Vec<Cell>>(),
    );
}

/// Says since when the board counts, if that is not for all time.
pub(super) fn since(board: &SuiteBoard) -> Option<Text> {
    board
        .since
        .as_ref()
        .map(|since| Text::from(since::sentence(&board.suite, since)))
}

/// Returns notes on the ranks, the intervals' methods, and figures that were not measured.
pub(super) fn notes(board: &SuiteBoard) -> Vec<String> {
    let mut notes = verdicts::board_notes(board);
    notes.extend(details::entry_notes(board));
    if board
        .entries
        .iter()
        .any(|entry| entry.cost_front.is_some() || entry.duration_front.is_some())
    {
        let cost = "Cost is per run. An arm is dominated if another is at least as good on both figures and better on one";
        notes.push(format!("{cost}; a cost known in part dominates nothing."));
    }
    notes.extend(
        board
            .judged_by
            .as_ref()
            .map(crate::render::words::judged_by),
    );
    notes.extend(board::methods(board));
    notes.extend(board::unmeasured(board));
    notes
}

/// Names the approach or model that all arms share. The table does not repeat it.
pub(super) fn common(board: &SuiteBoard) -> Option<String> {
    let first = board.entries.first()?;
    let one_model = board
        .entries
        .iter()
        .all(|entry| entry.arm.model == first.arm.model);
    let one_approach = board
        .entries
        .iter()
        .all(|entry| entry.arm.approach == first.arm.approach);
    match (
        one_approach && board.entries.len() > 1,
        one_model && !first.arm.model.is_empty(),
    ) {
        (true, _) => Some(format!("All with approach {}.", first.arm.approach)),
        (false, true) => Some(format!("All with model {}.", first.arm.model)),
        (false, false) => None,
    }
}

/// Lists arms with runs that did not complete, are not counted, or contradict themselves.
pub(super) fn left_out(board: &SuiteBoard) -> Vec<String> {
    let labels = words::arm_labels(&board.suite, &board::arms(board));
    labels
        .iter()
        .zip(&board.entries)
        .filter_map(|(label, entry)| Some(format!("{label}: {}.", words::exclusions(entry)?)))
        .collect()
}
