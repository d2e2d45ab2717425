//! What the runs cost: by suite and arm, and per solved item.

use askama::Template;

use crate::render::{board, format, words};
use crate::views::{Entry, Overview, OverviewSuite};

use super::arm_links::arm_rows;
use super::figure::Figure;
use super::grid::{Cell, Column, Grid, Kind, Look, Sort};
use super::plan::{Plan, SuitePlace};
use super::shell::{Here, Shell, Text};
use super::{SiteFile, charts};

/// Maximum number of arms of all suites together, so that the page keeps its size budget.
const MOST_ARMS: usize = 120;
/// Minimum number of arms shown per suite.
const FEWEST_ARMS: usize = 3;
/// Maximum number of suites with a chart here. Each suite's own page has its chart.
const MOST_CHARTS: usize = 3;
/// Maximum number of rows of a chart's values here.
const CHART_ROWS: usize = 20;
/// Maximum number of suites on this page.
const MOST_SUITES: usize = 40;

#[derive(Template)]
#[template(path = "cost.html")]
struct CostPage {
    shell: Shell,
    bill: Grid,
    suites: Vec<Part>,
    unknown: Option<Text>,
}

struct Part {
    anchor: String,
    href: String,
    label: Text,
    grid: Grid,
    more: Option<String>,
    figure: Option<Figure>,
}

pub(super) fn page(overview: &Overview, plan: &Plan) -> SiteFile {
    let path = "cost.html";
    let context = &overview.context;
    let shell = Shell::new(
        context,
        &plan.assets,
        path,
        Here::Cost,
        format!("Cost · {}", context.title),
        "Cost by suite and arm.",
    )
    .downloads("data/cost")
    .foot(context);
    let all = || overview.suites.iter().zip(&plan.suites);
    let priced: Vec<(&OverviewSuite, &SuitePlace)> = all()
        .filter(|(suite, _)| suite.charts.spent.is_some())
        .collect();
    let shown = &priced[..priced.len().min(MOST_SUITES)];
    let most = (MOST_ARMS / shown.len().max(1)).max(FEWEST_ARMS);
    let mut charts = 0;
    let mut suites = Vec::new();
    for (number, (suite, place)) in (1..).zip(shown) {
        let figure = if charts < MOST_CHARTS {
            charts::pareto(
                suite,
                place,
                plan,
                &shell.root,
                &format!("pareto-{number}"),
                CHART_ROWS,
            )
            .map(|figure| figure.on(&place.label))
        } else {
            None
        };
        charts += usize::from(figure.is_some());
        suites.push(part(number, suite, place, plan, most, figure));
    }
    let free: Vec<&str> = all()
        .filter(|(suite, _)| suite.charts.spent.is_none())
        .map(|(_, place)| place.label.as_str())
        .collect();
    let unknown =
        (!free.is_empty()).then(|| Text::from(format!("No known cost: {}.", free.join(", "))));
    SiteFile::page(
        path.to_owned(),
        &CostPage {
            bill: bill(shown),
            suites,
            unknown,
            shell,
        },
    )
}

/// Lays out the bill, one row per suite.
fn bill(suites: &[(&OverviewSuite, &SuitePlace)]) -> Grid {
    let mut grid = Grid::new("bill", "Cost by suite").fits();
    let heads = (1..).zip(suites).map(|(number, (_, place))| {
        Cell::head(place.label.as_str()).link(Some(format!("#cost-{number}")))
    });
    grid.column(Column::new("Suite", Look::Key, Sort::Ascending), heads);
    let spent = suites.iter().map(|(suite, _)| suite.charts.spent.as_ref());
    let cost = spent
        .clone()
        .map(|spent| Cell::maybe(spent.map(|money| (words::money(money), money.usd))));
    grid.column(
        Column::new("Cost", Look::Number, Sort::Descending).sub("all runs"),
        cost,
    );
    let coverage = spent.map(|spent| {
        Cell::maybe(spent.map(|money| (words::runs_with_cost(money), money.coverage.known as f64)))
    });
    grid.column(
        Column::new("Runs with a cost", Look::Number, Sort::Descending),
        coverage,
    );
    grid.column(
        Column::new("Arms", Look::Number, Sort::Descending),
        suites
            .iter()
            .map(|(suite, _)| Cell::count(suite.board.entries.len() as u64)),
    );
    grid
}

fn part(
    number: usize,
    suite: &OverviewSuite,
    place: &SuitePlace,
    plan: &Plan,
    most: usize,
    figure: Option<Figure>,
) -> Part {
    let priced: Vec<&Entry> = suite
        .board
        .entries
        .iter()
        .filter(|entry| entry.cost.is_some())
        .collect();
    let entries = &priced[..priced.len().min(most)];
    let table = board::costs(&suite.board, entries.iter().copied(), None);
    let mut grid = Grid::of(
        &table,
        format!("cost-{number}-arms"),
        format!("{}: arms by pass rate", place.label),
    );
    arm_rows(
        &mut grid,
        entries.iter().map(|entry| &entry.arm),
        (suite, place),
        plan,
        "",
    );
    let count = |number: usize| format::integer(number as u64);
    let more = (entries.len() < priced.len()).then(|| {
        format!(
            "The first {} of {} arms with a known cost; the suite's page and the data files have all.",
            count(entries.len()),
            count(priced.len())
        )
    });
    Part {
        anchor: format!("cost-{number}"),
        href: place.path(),
        label: Text::new(&place.label),
        grid: grid.filtered(""),
        more,
        figure,
    }
}
