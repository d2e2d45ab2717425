//! Published figures beside figures from the sources' own counts.

use crate::render::run_title::run_title;
use crate::render::{format, words};
use crate::views::{OverviewSuite, RunStated, StatedLine};

use super::arm_links::link_arms;
use super::grid::{Cell, Column, Grid, Look, Sort};
use super::plan::Plan;

/// Maximum figures on a suite's page, and on one that the leaderboard fills. The data have all.
const MOST_FIGURES: usize = 24;
const FEW_FIGURES: usize = 3;
/// Number of arms from which on the leaderboard fills the page.
const MANY_ARMS: usize = 31;

/// Lays out the figures of one run.
pub(super) fn of_run(lines: &[StatedLine]) -> Option<Grid> {
    if lines.is_empty() {
        return None;
    }
    let mut grid = Grid::new("stated-table", "Published and recomputed figures").fits();
    grid.column(
        Column::new("Figure", Look::Key, Sort::Ascending),
        lines.iter().map(|line| Cell::head(line.name.as_str())),
    );
    figures(&mut grid, &lines.iter().collect::<Vec<_>>());
    Some(grid)
}

/// Lays out the figures of a suite's runs, disagreements first.
pub(super) fn of_suite(suite: &OverviewSuite, plan: &Plan, root: &str) -> Option<Grid> {
    let runs = &suite.stated;
    if runs.is_empty() {
        return None;
    }
    let most = if suite.board.entries.len() < MANY_ARMS {
        MOST_FIGURES
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
            format::integer(shown.len() as u64),
            format::integer(runs.len() as u64),
        );
        grid = grid.about(format!(
            "{some} of {all}, disagreements first; the JSON file of this page has all"
        ));
    }
    let run = |of: &RunStated| {
        let title = plan
            .run_turn(&of.run)
            .map_or_else(|| of.run.clone(), |turn| run_title(&of.arm, turn));
        Cell::head(title).link(plan.run_path(&of.run).map(|path| format!("{root}{path}")))
    };
    grid.column(
        Column::new("Run", Look::Key, Sort::Ascending),
        shown.iter().map(run),
    );
    grid.column(
        Column::new("Arm", Look::Words, Sort::Ascending),
        shown
            .iter()
            .map(|of| Cell::words(words::arm_name(&suite.board.suite, &of.arm))),
    );
    grid.column(
        Column::new("Figure", Look::Words, Sort::Ascending),
        shown.iter().map(|of| Cell::words(of.figure.name.as_str())),
    );
    link_arms(&mut grid, 1, shown.iter().map(|of| &of.arm), plan, root);
    figures(
        &mut grid,
        &shown.iter().map(|of| &of.figure).collect::<Vec<_>>(),
    );
    Some(grid.filtered(""))
}

fn figures(grid: &mut Grid, lines: &[&StatedLine]) {
    let value = |value: f64, unit| Cell::number(format::value(value, unit, 1_000), value);
    grid.column(
        Column::new("Published", Look::Number, Sort::None),
        lines.iter().map(|line| value(line.stated, line.unit)),
    );
    let recomputed = lines.iter().map(|line| {
        line.recomputed.map_or_else(
            || Cell::unknown("no counts"),
            |number| value(number, line.unit),
        )
    });
    grid.column(
        Column::new("Recomputed", Look::Number, Sort::None),
        recomputed,
    );
    let said = lines.iter().map(|line| {
        Cell::words(match line.disagrees {
            Some(true) => "differs beyond rounding",
            Some(false) => "agrees",
            None => "nothing to compare with",
        })
    });
    grid.column(Column::new("Together", Look::Words, Sort::Ascending), said);
}
