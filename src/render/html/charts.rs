//! Which charts stand on which page, and where their marks lead.

use askama::Template;

use crate::render::{chart, words};
use crate::views::{Arm, Disagreements, Distribution, OverviewSuite, SiteContext};

use super::SiteFile;
use super::chart_data::ChartOf;
use super::figure::{self, Figure};
use super::grid::{Kind, Look, Sort};
use super::plan::{Plan, SuitePlace};
use super::shell::{Crumb, Here, Shell, Text};

/// An arm of fewer runs has no line that could be read: at least one arm must have so many.
const MIN_RUNS: u64 = 3;

/// With more arms than this the leaderboard fills its page, and the charts get their own.
const MOST_BESIDE: usize = 30;

#[derive(Template)]
#[template(path = "charts.html")]
struct ChartsPage {
    shell: Shell,
    suite: Text,
    figures: Vec<Figure>,
}

/// Says whether a suite's charts have a page of their own.
pub(super) fn have_page(suite: &OverviewSuite) -> bool {
    let charts = &suite.charts;
    let is_drawn = charts.pareto.is_some() || is_spread(charts.cost.as_ref()) || is_spread(charts.duration.as_ref());
    suite.board.entries.len() > MOST_BESIDE && is_drawn
}

/// The page of a large suite's charts.
pub(super) fn page(context: &SiteContext, plan: &Plan, suite: &OverviewSuite, place: &SuitePlace) -> Option<SiteFile> {
    if !have_page(suite) {
        return None;
    }
    let path = place.charts_path();
    let title = format!("Charts of {} · {}", place.label, context.title);
    let about = format!("Pass rate over cost, and how the runs of {} are spread.", place.label);
    let shell = Shell::new(context, &plan.assets, &path, Here::Below, title, about);
    let back = format!("{}{}", shell.root, place.path());
    let figures = of_suite(suite, place, &shell.root);
    let shell = shell.crumbs(vec![Crumb::new(back, place.label.as_str())]).download(&format!("{}.json", place.data("suites")), "JSON");
    Some(SiteFile::page(path, &ChartsPage { suite: Text::new(&place.label), figures, shell }))
}

fn is_spread(of: Option<&Distribution>) -> bool {
    of.is_some_and(|of| of.arms.iter().any(|arm| arm.coverage.known >= MIN_RUNS))
}

/// The charts of a suite.
pub(super) fn of_suite(suite: &OverviewSuite, place: &SuitePlace, root: &str) -> Vec<Figure> {
    let name = words::names_on(&suite.board);
    let spread = |of: &Option<Distribution>, which: ChartOf, id: &str, heading: &str, what: &str| {
        let of = of.as_ref().filter(|of| is_spread(Some(of)))?;
        let figure = Figure::new(id, heading, chart::ecdf(of, &format!("{id}-chart"), what, &name));
        Some(figure.csv(format!("{root}{}", which.path(place))))
    };
    [
        pareto(suite, place, root, "pareto", figure::MOST_ROWS),
        spread(&suite.charts.cost, ChartOf::Cost, "cost-spread", "Cost of runs", "Cost of a run"),
        spread(&suite.charts.duration, ChartOf::Duration, "duration-spread", "Duration of runs", "Duration of a run"),
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
    let figure = Figure::of_rows(id, "Pass rate over cost", chart::pareto(of, &format!("{id}-chart"), &name, &link), rows);
    Some(figure.csv(format!("{root}{}", ChartOf::Pareto.path(place))))
}

/// The picture of all pairs.
pub(super) fn of_pairs(suite: &OverviewSuite, place: &SuitePlace, root: &str) -> Option<Figure> {
    let of = suite.charts.disagreements.as_ref().filter(|of| is_shown(Some(of)))?;
    let names = words::arm_labels(&of.arms);
    let link = |one: usize, other: usize| pair_link(suite, place, root, &of.arms[one], &of.arms[other]);
    let figure = Figure::new("all", "All pairs in one picture", chart::pairs(of, "all-chart", &names, &link));
    Some(figure.csv(format!("{root}{}", ChartOf::Pairs.path(place))))
}

/// A picture of one pair would say less than its page.
pub(super) fn is_shown(of: Option<&Disagreements>) -> bool {
    of.is_some_and(|of| of.pairs.len() > 1)
}

/// The page on which two arms stand side by side, whichever comes first.
pub(super) fn pair_link(suite: &OverviewSuite, place: &SuitePlace, root: &str, one: &Arm, other: &Arm) -> Option<String> {
    let pair = suite.pairs.iter().find(|pair| match pair.arms.as_slice() {
        [first, second] => (&first.arm, &second.arm) == (one, other) || (&first.arm, &second.arm) == (other, one),
        _ => false,
    })?;
    Some(format!("{root}{}", place.pair_path(pair)?))
}
