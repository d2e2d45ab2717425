//! A suite's leaderboard on a page.

use crate::domain::Unit;
use crate::render::table::ColumnVisibility;
use crate::render::{board, details, format, phrases, since, verdicts};
use crate::views::{Estimate, SuiteBoard};

use super::grid::{ColumnLook, Grid, GridCell, GridColumn, SortOrder};
use super::shell::Text;
use super::whisker::Whisker;

/// Lays a board out without columns that are empty for all arms. [`list_notes`] names those.
pub(super) fn build_grid(board: &SuiteBoard, id: &str, caption: &str) -> Grid {
    let table = board::arms_table(board);
    let primary = board::rate_key(&board.primary);
    let table = table.seen_as(ColumnVisibility::Pages);
    let mut grid = Grid::from_all_columns(&table, id, caption).with_ranked_rows();
    if board.primary.unit == Unit::Fraction
        && board.entries.iter().any(|entry| entry.primary.is_some())
    {
        // Next to the figures that the dots draw.
        let place = table
            .columns
            .iter()
            .position(|column| column.keys.first().is_some_and(|key| *key == primary));
        let head = GridColumn::new(
            format!("{} and interval, drawn", &board.primary.label),
            ColumnLook::Scale,
            SortOrder::None,
        );
        let dots = board.entries.iter().map(|entry| {
            GridCell::from_whisker(entry.primary.as_ref().map(Whisker::from_estimate))
        });
        grid.insert_column(
            place.map_or(grid.columns.len(), |place| place + 1),
            head,
            dots,
        );
    }
    grid.with_filter("")
}

/// Returns a cell with a rate and its interval, or `unknown`.
pub(super) fn rate_cell(estimate: Option<&Estimate>) -> GridCell {
    estimate.map_or_else(
        || GridCell::unknown("unknown"),
        |estimate| GridCell::number(format::estimate_with_interval(estimate), estimate.value),
    )
}

/// Adds the number of units behind each rate. If all arms count the same unit, the head names it.
pub(super) fn add_sample_sizes(grid: &mut Grid, estimates: &[Option<&Estimate>], sort: SortOrder) {
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
            return GridCell::unknown("unknown");
        };
        let n = format::format_integer(estimate.n);
        let text = if shared.is_empty() {
            format!(
                "{n} {}",
                phrases::singular_or_plural(estimate.n, estimate.n_of)
            )
        } else {
            n
        };
        GridCell::number(text, estimate.n as f64)
    };
    grid.add_column(
        GridColumn::new("n", ColumnLook::Number, sort).with_subtext(shared),
        estimates
            .iter()
            .copied()
            .map(cell)
            .collect::<Vec<GridCell>>(),
    );
}

/// Says since when the board counts, if that is not for all time.
pub(super) fn since_sentence(board: &SuiteBoard) -> Option<Text> {
    board
        .since
        .as_ref()
        .map(|since| Text::from(since::counted_runs_sentence(&board.suite, since)))
}

/// Returns notes on the ranks, the intervals' methods, and figures that were not measured.
pub(super) fn list_notes(board: &SuiteBoard) -> Vec<String> {
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
            .map(crate::render::phrases::judged_by),
    );
    notes.extend(board::interval_methods_note(board));
    notes.extend(board::unmeasured_amounts_note(board));
    notes
}

/// Names the approach or model that all arms share. The table does not repeat it.
pub(super) fn name_shared_part(board: &SuiteBoard) -> Option<String> {
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
pub(super) fn list_exclusions(board: &SuiteBoard) -> Vec<String> {
    let labels = phrases::arm_labels(&board.suite, &board::arms_in_order(board));
    labels
        .iter()
        .zip(&board.entries)
        .filter_map(|(label, entry)| {
            Some(format!("{label}: {}.", phrases::excluded_runs_note(entry)?))
        })
        .collect()
}
