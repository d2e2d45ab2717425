//! Which charts stand on which page, and where their marks lead.

use crate::render::{chart, words};
use crate::views::{Arm, Disagreements, Distribution, OverviewSuite};

use super::figure::{self, Figure};
use super::plan::SuitePlace;

/// An arm of fewer runs has no line that could be read: at least one arm must have so many.
const MIN_RUNS: u64 = 3;

/// The charts of a suite's page.
pub(super) fn of_suite(suite: &OverviewSuite, place: &SuitePlace, root: &str) -> Vec<Figure> {
    let name = words::names_on(&suite.board);
    let spread = |of: &Option<Distribution>, id: &str, heading: &str, what: &str| {
        let of = of.as_ref().filter(|of| of.arms.iter().any(|arm| arm.coverage.known >= MIN_RUNS))?;
        Some(Figure::new(id, heading, chart::ecdf(of, &format!("{id}-chart"), what, &name)))
    };
    [
        pareto(suite, place, root, "pareto", figure::MOST_ROWS),
        spread(&suite.charts.cost, "cost-spread", "Cost of runs", "Cost of a run"),
        spread(&suite.charts.duration, "duration-spread", "Duration of runs", "Duration of a run"),
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// Pass rate over cost, where two arms have both.
pub(super) fn pareto(suite: &OverviewSuite, place: &SuitePlace, root: &str, id: &str, rows: usize) -> Option<Figure> {
    let name = words::names_on(&suite.board);
    let link = |one: &Arm, other: &Arm| pair_link(suite, place, root, one, other);
    let of = suite.charts.pareto.as_ref()?;
    Some(Figure::of_rows(id, "Pass rate over cost", chart::pareto(of, &format!("{id}-chart"), &name, &link), rows))
}

/// The picture of all pairs.
pub(super) fn of_pairs(suite: &OverviewSuite, place: &SuitePlace, root: &str) -> Option<Figure> {
    let of = suite.charts.disagreements.as_ref().filter(|of| is_shown(Some(of)))?;
    let names = words::arm_labels(&of.arms);
    let link = |one: usize, other: usize| pair_link(suite, place, root, &of.arms[one], &of.arms[other]);
    Some(Figure::new("all", "All pairs in one picture", chart::pairs(of, "all-chart", &names, &link)))
}

/// A picture of one pair would say less than its page.
pub(super) fn is_shown(of: Option<&Disagreements>) -> bool {
    of.is_some_and(|of| of.pairs.len() > 1)
}

/// The page on which two arms stand side by side, whichever comes first.
fn pair_link(suite: &OverviewSuite, place: &SuitePlace, root: &str, one: &Arm, other: &Arm) -> Option<String> {
    let pair = suite.pairs.iter().find(|pair| match pair.arms.as_slice() {
        [first, second] => (&first.arm, &second.arm) == (one, other) || (&first.arm, &second.arm) == (other, one),
        _ => false,
    })?;
    Some(format!("{root}{}", place.pair_path(pair)?))
}
