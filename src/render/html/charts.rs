//! Which charts are on which page, and the links of their marks.

use askama::Template;

use crate::render::{board, chart, words};
use crate::views::{Arm, Disagreements, Distribution, Entry, OverviewSuite, SiteContext};

use super::SiteFile;
use super::arm_links::arm_rows;
use super::chart_data::ChartOf;
use super::figure::{self, Figure};
use super::grid::{Grid, Kind, Look, Sort};
use super::plan::{Plan, SuitePlace};
use super::shell::{Here, Shell, Text};
use super::suite_tabs::{Tab, bar};

#[derive(Template)]
#[template(path = "suite_cost.html")]
struct ChartsPage {
    shell: Shell,
    suite: Text,
    costs: Option<Grid>,
    said: Vec<Text>,
    figures: Vec<Figure>,
}

/// Makes the page on a suite's costs and charts, or returns `None` if there is neither.
pub(super) fn page(
    context: &SiteContext,
    plan: &Plan,
    suite: &OverviewSuite,
    place: &SuitePlace,
) -> Option<SiteFile> {
    if !Tab::Cost.is_there(suite) {
        return None;
    }
    let path = place.cost_path();
    let title = format!("Cost of {} · {}", place.label, context.title);
    let about = format!(
        "What the arms of {} cost, what more money buys, and how runs are spread.",
        place.label
    );
    let shell = Shell::new(context, &plan.assets, &path, Here::Below, title, about);
    let bar = bar(suite, place, &shell.root, Tab::Cost);
    let shell = shell
        .of_suite(bar)
        .download(&format!("{}.json", place.data("suites")), "JSON");
    let priced: Vec<&Entry> = suite
        .board
        .entries
        .iter()
        .filter(|entry| entry.cost.is_some())
        .collect();
    let table = board::costs(
        &suite.board,
        priced.iter().copied(),
        suite.charts.spent.as_ref(),
    );
    let page = ChartsPage {
        suite: Text::new(&place.label),
        costs: (!priced.is_empty()).then(|| {
            let mut grid = Grid::of(&table, "costs", "Arms by pass rate");
            arm_rows(
                &mut grid,
                priced.iter().map(|entry| &entry.arm),
                (suite, place),
                plan,
                &shell.root,
            );
            grid.filtered("")
        }),
        said: table.notes.into_iter().map(Text::from).collect(),
        figures: of_suite(suite, place, plan, &shell.root),
        shell,
    };
    Some(SiteFile::page(path, &page))
}

/// Draws the charts of a suite.
fn of_suite(suite: &OverviewSuite, place: &SuitePlace, plan: &Plan, root: &str) -> Vec<Figure> {
    let name = words::names_on(&suite.board);
    let spread =
        |of: &Option<Distribution>, which: ChartOf, id: &str, heading: &str, what: &str| {
            let of = of.as_ref().filter(|of| of.can_be_drawn())?;
            let figure = Figure::new(
                id,
                heading,
                chart::ecdf(of, &format!("{id}-chart"), what, &name, &|arm| {
                    place.colour(arm)
                }),
            );
            Some(
                figure
                    .arms(of.arms.iter().map(|arm| &arm.arm), plan, root)
                    .csv(format!("{root}{}", which.path(place))),
            )
        };
    [
        pareto(suite, place, plan, root, "pareto", figure::MOST_ROWS),
        spread(
            &suite.charts.cost,
            ChartOf::Cost,
            "cost-spread",
            "Cost of runs",
            "Cost of a run",
        ),
        spread(
            &suite.charts.duration,
            ChartOf::Duration,
            "duration-spread",
            "Duration of runs",
            "Duration of a run",
        ),
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// Draws pass rate over cost. Returns `None` if too few arms have both.
pub(super) fn pareto(
    suite: &OverviewSuite,
    place: &SuitePlace,
    plan: &Plan,
    root: &str,
    id: &str,
    rows: usize,
) -> Option<Figure> {
    let name = words::names_on(&suite.board);
    let link = |one: &Arm, other: &Arm| pair_link(suite, place, root, one, other);
    let of = suite.charts.pareto.as_ref()?;
    let figure = Figure::of_rows(
        id,
        "Pass rate over cost per run",
        chart::pareto(of, &format!("{id}-chart"), &name, &link),
        rows,
    );
    Some(
        figure
            .arms(of.points.iter().map(|point| &point.arm), plan, root)
            .csv(format!("{root}{}", ChartOf::Pareto.path(place))),
    )
}

/// Draws all pairs.
pub(super) fn of_pairs(suite: &OverviewSuite, place: &SuitePlace, root: &str) -> Option<Figure> {
    let of = suite
        .charts
        .disagreements
        .as_ref()
        .filter(|of| is_shown(Some(of)))?;
    let names = words::arm_labels(&suite.board.suite, &of.arms);
    let link =
        |one: usize, other: usize| pair_link(suite, place, root, &of.arms[one], &of.arms[other]);
    let figure = Figure::new(
        "all",
        "All pairs in one picture",
        chart::pairs(of, "all-chart", &names, &link),
    );
    Some(figure.csv(format!("{root}{}", ChartOf::Pairs.path(place))))
}

/// Says whether there is more than one pair. A single pair's own page says more than a chart.
pub(super) fn is_shown(of: Option<&Disagreements>) -> bool {
    of.is_some_and(|of| of.pairs.len() > 1)
}

/// Returns the address of two arms' comparison, in either order.
pub(super) fn pair_link(
    suite: &OverviewSuite,
    place: &SuitePlace,
    root: &str,
    one: &Arm,
    other: &Arm,
) -> Option<String> {
    let pair = suite.pairs.iter().find(|pair| match pair.arms.as_slice() {
        [first, second] => {
            (&first.arm, &second.arm) == (one, other) || (&first.arm, &second.arm) == (other, one)
        }
        _ => false,
    })?;
    Some(format!("{root}{}", place.pair_path(pair)?))
}
