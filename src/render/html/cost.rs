//! What the runs cost: by suite and arm, and per solved item.

use askama::Template;

use crate::render::{board, format, phrases};
use crate::views::{Entry, Overview, OverviewSuite};

use super::arm_links::link_arm_rows;
use super::figure::ChartFigure;
use super::grid::{ColumnLook, Grid, GridCell, GridCellKind, GridColumn, SortOrder};
use super::routes::{SiteRoutes, SuiteRoutes};
use super::shell::{NavigationEntry, PageShell, Text};
use super::{SiteFile, charts};

/// Maximum number of arms of all suites together, so that the page keeps its size budget.
const MAX_ARMS: usize = 120;
/// Minimum number of arms shown per suite.
const MIN_ARMS: usize = 3;
/// Maximum number of suites with a chart here. Each suite's own page has its chart.
const MAX_CHARTS: usize = 3;
/// Maximum number of rows of a chart's values here.
const MAX_CHART_ROWS: usize = 20;
/// Maximum number of suites on this page.
const MAX_SUITES: usize = 40;

#[derive(Template)]
#[template(path = "cost.html")]
struct CostPage {
    shell: PageShell,
    bill: Grid,
    suites: Vec<SuiteCostSection>,
    unknown: Option<Text>,
}

struct SuiteCostSection {
    anchor: String,
    href: String,
    label: Text,
    grid: Grid,
    more: Option<String>,
    figure: Option<ChartFigure>,
}

pub(super) fn render_page(overview: &Overview, plan: &SiteRoutes) -> SiteFile {
    let path = "cost.html";
    let context = &overview.context;
    let shell = PageShell::new(
        context,
        &plan.assets,
        path,
        NavigationEntry::Cost,
        format!("Cost · {}", context.title),
        "Cost by suite and arm.",
    )
    .with_downloads("data/cost")
    .with_footer(context);
    let all = || overview.suites.iter().zip(&plan.suites);
    let priced: Vec<(&OverviewSuite, &SuiteRoutes)> = all()
        .filter(|(suite, _)| suite.charts.spent.is_some())
        .collect();
    let shown = &priced[..priced.len().min(MAX_SUITES)];
    let most = (MAX_ARMS / shown.len().max(1)).max(MIN_ARMS);
    let mut charts = 0;
    let mut suites = Vec::new();
    for (number, (suite, place)) in (1..).zip(shown) {
        let figure = if charts < MAX_CHARTS {
            charts::draw_pareto(
                suite,
                place,
                plan,
                &shell.root,
                &format!("pareto-{number}"),
                MAX_CHART_ROWS,
            )
            .map(|figure| figure.on_suite(&place.label))
        } else {
            None
        };
        charts += usize::from(figure.is_some());
        suites.push(build_section(number, suite, place, plan, most, figure));
    }
    let free: Vec<&str> = all()
        .filter(|(suite, _)| suite.charts.spent.is_none())
        .map(|(_, place)| place.label.as_str())
        .collect();
    let unknown =
        (!free.is_empty()).then(|| Text::from(format!("No known cost: {}.", free.join(", "))));
    SiteFile::from_template(
        path.to_owned(),
        &CostPage {
            bill: bill_grid(shown),
            suites,
            unknown,
            shell,
        },
    )
}

/// Lays out the bill, one row per suite.
fn bill_grid(suites: &[(&OverviewSuite, &SuiteRoutes)]) -> Grid {
    let mut grid = Grid::new("bill", "Cost by suite").fit_to_content();
    let heads = (1..).zip(suites).map(|(number, (_, place))| {
        GridCell::head(place.label.as_str()).with_link(Some(format!("#cost-{number}")))
    });
    grid.add_column(
        GridColumn::new("Suite", ColumnLook::Key, SortOrder::Ascending),
        heads,
    );
    let spent = suites.iter().map(|(suite, _)| suite.charts.spent.as_ref());
    let cost = spent.clone().map(|spent| {
        GridCell::number_or_unknown(spent.map(|money| (phrases::money_or_bound(money), money.usd)))
    });
    grid.add_column(
        GridColumn::new("Cost", ColumnLook::Number, SortOrder::Descending).with_subtext("all runs"),
        cost,
    );
    let coverage = spent.map(|spent| {
        GridCell::number_or_unknown(
            spent.map(|money| (phrases::runs_with_cost(money), money.coverage.known as f64)),
        )
    });
    grid.add_column(
        GridColumn::new(
            "Runs with a cost",
            ColumnLook::Number,
            SortOrder::Descending,
        ),
        coverage,
    );
    grid.add_column(
        GridColumn::new("Arms", ColumnLook::Number, SortOrder::Descending),
        suites
            .iter()
            .map(|(suite, _)| GridCell::count(suite.board.entries.len() as u64)),
    );
    grid
}

fn build_section(
    number: usize,
    suite: &OverviewSuite,
    place: &SuiteRoutes,
    plan: &SiteRoutes,
    most: usize,
    figure: Option<ChartFigure>,
) -> SuiteCostSection {
    let priced: Vec<&Entry> = suite
        .board
        .entries
        .iter()
        .filter(|entry| entry.cost.is_some())
        .collect();
    let entries = &priced[..priced.len().min(most)];
    let table = board::costs_table(&suite.board, entries.iter().copied(), None);
    let mut grid = Grid::from_table(
        &table,
        format!("cost-{number}-arms"),
        format!(
            "{}: {}",
            place.label,
            board::caption(&suite.board).to_lowercase()
        ),
    );
    link_arm_rows(
        &mut grid,
        entries.iter().map(|entry| &entry.arm),
        (suite, place),
        plan,
        "",
    );
    let count = |number: usize| format::format_integer(number as u64);
    let more = (entries.len() < priced.len()).then(|| {
        format!(
            "The first {} of {} arms with a known cost; the suite's page and the data files have all.",
            count(entries.len()),
            count(priced.len())
        )
    });
    SuiteCostSection {
        anchor: format!("cost-{number}"),
        href: place.path(),
        label: Text::new(&place.label),
        grid: grid.with_filter(""),
        more,
        figure,
    }
}
