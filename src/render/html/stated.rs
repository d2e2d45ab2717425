//! Published figures beside figures from the sources' own counts.

use crate::render::run_title::run_title;
use crate::render::{format, phrases};
use crate::views::{OverviewSuite, RunStated, StatedLine};

use super::arm_links::link_arms;
use super::grid::{ColumnLook, Grid, GridCell, GridColumn, SortOrder};
use super::routes::SiteRoutes;

/// Maximum figures on a suite's page, and on one that the leaderboard fills. The data have all.
const MAX_FIGURES: usize = 24;
const FEW_FIGURES: usize = 3;
/// Number of arms from which on the leaderboard fills the page.
const MANY_ARMS: usize = 31;

/// Lays out the figures of one run.
pub(super) fn published_figures_of_run(lines: &[StatedLine]) -> Option<Grid> {
    if lines.is_empty() {
        return None;
    }
    let mut grid = Grid::new("stated-table", "Published and recomputed figures").fit_to_content();
    grid.add_column(
        GridColumn::new("Figure", ColumnLook::Key, SortOrder::Ascending),
        lines.iter().map(|line| GridCell::head(line.name.as_str())),
    );
    add_figures(&mut grid, &lines.iter().collect::<Vec<_>>());
    Some(grid)
}

/// Lays out the figures of a suite's runs, disagreements first.
pub(super) fn published_figures_of_suite(
    suite: &OverviewSuite,
    plan: &SiteRoutes,
    root: &str,
) -> Option<Grid> {
    let runs = &suite.stated;
    if runs.is_empty() {
        return None;
    }
    let most = if suite.board.entries.len() < MANY_ARMS {
        MAX_FIGURES
    } else {
        FEW_FIGURES
    };
    // All that disagree are shown, however many there are.
    let differing = runs
        .iter()
        .filter(|of| of.figure.disagrees == Some(true))
        .count();
    let shown = &runs[..runs.len().min(most.max(differing))];
    let mut grid = Grid::new("stated-table", "Published and recomputed figures");
    if shown.len() < runs.len() {
        let (some, all) = (
            format::format_integer(shown.len() as u64),
            format::format_integer(runs.len() as u64),
        );
        grid = grid.with_about(format!(
            "{some} of {all}, disagreements first; the JSON file of this page has all"
        ));
    }
    let run = |of: &RunStated| {
        let title = plan
            .run_turn(&of.run)
            .map_or_else(|| of.run.clone(), |turn| run_title(&of.arm, turn));
        GridCell::head(title).with_link(plan.run_path(&of.run).map(|path| format!("{root}{path}")))
    };
    grid.add_column(
        GridColumn::new("Run", ColumnLook::Key, SortOrder::Ascending),
        shown.iter().map(run),
    );
    grid.add_column(
        GridColumn::new("Arm", ColumnLook::Words, SortOrder::Ascending),
        shown
            .iter()
            .map(|of| GridCell::words(phrases::arm_name(&suite.board.suite, &of.arm))),
    );
    grid.add_column(
        GridColumn::new("Figure", ColumnLook::Words, SortOrder::Ascending),
        shown
            .iter()
            .map(|of| GridCell::words(of.figure.name.as_str())),
    );
    link_arms(&mut grid, 1, shown.iter().map(|of| &of.arm), plan, root);
    add_figures(
        &mut grid,
        &shown.iter().map(|of| &of.figure).collect::<Vec<_>>(),
    );
    Some(grid.with_filter(""))
}

fn add_figures(grid: &mut Grid, lines: &[&StatedLine]) {
    let value =
        |value: f64, unit| GridCell::number(format::value_in_unit(value, unit, 1_000), value);
    grid.add_column(
        GridColumn::new("Published", ColumnLook::Number, SortOrder::None),
        lines.iter().map(|line| value(line.stated, line.unit)),
    );
    let recomputed = lines.iter().map(|line| {
        line.recomputed.map_or_else(
            || GridCell::unknown("no counts"),
            |number| value(number, line.unit),
        )
    });
    grid.add_column(
        GridColumn::new("Recomputed", ColumnLook::Number, SortOrder::None),
        recomputed,
    );
    let said = lines.iter().map(|line| {
        GridCell::words(match line.disagrees {
            Some(true) => "differs beyond rounding",
            Some(false) => "agrees",
            None => "nothing to compare with",
        })
    });
    grid.add_column(
        GridColumn::new("Together", ColumnLook::Words, SortOrder::Ascending),
        said,
    );
}
