//! Which charts are on which page, and the links of their marks.

use askama::Template;

use crate::domain::rate_label;
use crate::render::{board, chart, phrases};
use crate::views::{Arm, Disagreements, Distribution, Entry, OverviewSuite};

use super::SiteFile;
use super::arm_links::link_arm_rows;
use super::chart_data::SuiteChart;
use super::figure::{self, ChartFigure};
use super::grid::{ColumnLook, Grid, GridCellKind, SortOrder};
use super::routes::{SiteRoutes, SuiteRoutes};
use super::shell::{NavigationEntry, PageShell, Text};
use super::suite_tabs::{SuitePage, SuitePageInputs, TabGroup, suite_bar};

/// Cost and duration.
pub(super) const PAGE: SuitePage = SuitePage {
    tab: "Cost",
    group: TabGroup::Cost,
    path: SuiteRoutes::cost_path,
    has_data: has_costs,
    pages: |inputs| Box::new(render_page(inputs).into_iter()),
    data: |_| Vec::new(),
};

#[derive(Template)]
#[template(path = "suite_cost.html")]
struct SuiteCostPage {
    shell: PageShell,
    suite: Text,
    costs: Option<Grid>,
    said: Vec<Text>,
    figures: Vec<ChartFigure>,
}

/// Says whether the suite has data for the page.
pub(super) fn has_costs(suite: &OverviewSuite) -> bool {
    let charts = &suite.charts;
    let is_spread = [&charts.cost, &charts.duration]
        .into_iter()
        .flatten()
        .any(crate::views::Distribution::can_be_drawn);
    charts.spent.is_some() || charts.pareto.is_some() || is_spread
}

/// Makes the page on a suite's costs and charts, or returns `None` if there is neither.
fn render_page(
    SuitePageInputs {
        context,
        plan,
        suite,
        place,
    }: SuitePageInputs<'_>,
) -> Option<SiteFile> {
    if !has_costs(suite) {
        return None;
    }
    let path = place.cost_path();
    let title = format!("Cost of {} · {}", place.label, context.title);
    let about = format!(
        "What the arms of {} cost, what more money buys, and how runs are spread.",
        place.label
    );
    let shell = PageShell::new(
        context,
        &plan.assets,
        &path,
        NavigationEntry::Below,
        title,
        about,
    );
    let bar = suite_bar(suite, place, &shell.root, &place.cost_path());
    let shell = shell
        .with_suite_bar(bar)
        .with_download(&format!("{}.json", place.data_stem("suites")), "JSON");
    let priced: Vec<&Entry> = suite
        .board
        .entries
        .iter()
        .filter(|entry| entry.cost.is_some())
        .collect();
    let table = board::costs_table(
        &suite.board,
        priced.iter().copied(),
        suite.charts.spent.as_ref(),
    );
    let page = SuiteCostPage {
        suite: Text::new(&place.label),
        costs: (!priced.is_empty()).then(|| {
            let mut grid = Grid::from_table(&table, "costs", board::caption(&suite.board));
            link_arm_rows(
                &mut grid,
                priced.iter().map(|entry| &entry.arm),
                (suite, place),
                plan,
                &shell.root,
            );
            grid.with_filter("")
        }),
        said: table.notes.into_iter().map(Text::from).collect(),
        figures: draw_charts(suite, place, plan, &shell.root),
        shell,
    };
    Some(SiteFile::from_template(path, &page))
}

/// Draws the charts of a suite.
fn draw_charts(
    suite: &OverviewSuite,
    place: &SuiteRoutes,
    plan: &SiteRoutes,
    root: &str,
) -> Vec<ChartFigure> {
    let name = phrases::arm_namer(&suite.board);
    let spread =
        |of: &Option<Distribution>, which: SuiteChart, id: &str, heading: &str, what: &str| {
            let of = of.as_ref().filter(|of| of.can_be_drawn())?;
            let figure = ChartFigure::new(
                id,
                heading,
                chart::draw_ecdf(of, &format!("{id}-chart"), what, &name, &|arm| {
                    place.arm_colour(arm)
                }),
            );
            Some(
                figure
                    .with_arm_links(of.arms.iter().map(|arm| &arm.arm), plan, root)
                    .with_csv(format!("{root}{}", which.data_path(place))),
            )
        };
    [
        draw_pareto(suite, place, plan, root, "pareto", figure::MAX_ROWS),
        spread(
            &suite.charts.cost,
            SuiteChart::Cost,
            "cost-spread",
            "Cost of runs",
            "Cost of a run",
        ),
        spread(
            &suite.charts.duration,
            SuiteChart::Duration,
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
pub(super) fn draw_pareto(
    suite: &OverviewSuite,
    place: &SuiteRoutes,
    plan: &SiteRoutes,
    root: &str,
    id: &str,
    rows: usize,
) -> Option<ChartFigure> {
    let name = phrases::arm_namer(&suite.board);
    let link = |one: &Arm, other: &Arm| pair_href(suite, place, root, one, other);
    let of = suite.charts.pareto.as_ref()?;
    let figure = ChartFigure::with_max_rows(
        id,
        format!("{} over cost per run", rate_label(of.items)),
        chart::draw_pareto(of, &format!("{id}-chart"), &name, &link),
        rows,
    );
    Some(
        figure
            .with_arm_links(of.points.iter().map(|point| &point.arm), plan, root)
            .with_csv(format!("{root}{}", SuiteChart::Pareto.data_path(place))),
    )
}

/// Draws all pairs.
pub(super) fn draw_pairs(
    suite: &OverviewSuite,
    place: &SuiteRoutes,
    root: &str,
) -> Option<ChartFigure> {
    let of = suite
        .charts
        .disagreements
        .as_ref()
        .filter(|of| has_several_pairs(Some(of)))?;
    let names = phrases::arm_labels(&suite.board.suite, &of.arms);
    let link =
        |one: usize, other: usize| pair_href(suite, place, root, &of.arms[one], &of.arms[other]);
    let figure = ChartFigure::new(
        "all",
        "All pairs in one picture",
        chart::draw_pairs(of, "all-chart", &names, &link),
    );
    Some(figure.with_csv(format!("{root}{}", SuiteChart::Pairs.data_path(place))))
}

/// Says whether there is more than one pair. A single pair's own page says more than a chart.
pub(super) fn has_several_pairs(of: Option<&Disagreements>) -> bool {
    of.is_some_and(|of| of.pairs.len() > 1)
}

/// Returns the address of two arms' comparison, in either order.
pub(super) fn pair_href(
    suite: &OverviewSuite,
    place: &SuiteRoutes,
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
