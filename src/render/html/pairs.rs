//! The list of a suite's pairs that have a page.

use askama::Template;

use super::all_pairs::{self, AllPairs};
use super::any_pair;
use super::chart_data::SuiteChart;
use super::figure::ChartFigure;
use super::grid::{ColumnLook, GridCellKind, SortOrder};
use super::link::PageLink;
use super::routes::SuiteRoutes;
use super::shell::{NavigationEntry, PageShell, Text};
use super::suite_tabs::{SuitePage, SuitePageInputs, TabGroup, suite_bar};
use super::top_pair::name_arms;
use super::{SiteFile, charts};

/// Maximum number of arms for which every pair has a page.
const MAX_ARMS_WITH_ALL_PAIRS: usize = 12;

/// The pairs of arms.
pub(super) const PAGE: SuitePage = SuitePage {
    tab: "Pairs",
    group: TabGroup::Pairs,
    path: SuiteRoutes::pairs_path,
    has_data: |suite| !suite.pairs.is_empty(),
    pages: |inputs| Box::new(render_page(inputs).into_iter()),
    data: |_| Vec::new(),
};

#[derive(Template)]
#[template(path = "pairs.html")]
struct PairsPage {
    shell: PageShell,
    suite: Text,
    about: Text,
    /// Address of the page that compares any two arms.
    any: Option<String>,
    all: Option<AllPairs>,
    figure: Option<ChartFigure>,
    /// Whether the links have a heading, which separates them from the content above.
    has_heading: bool,
    links: Vec<PageLink>,
}

/// Lists a suite's pairs, or returns `None` without any.
fn render_page(
    SuitePageInputs {
        context,
        plan,
        suite,
        place,
    }: SuitePageInputs<'_>,
) -> Option<SiteFile> {
    if suite.pairs.is_empty() {
        return None;
    }
    let path = place.pairs_path();
    let title = format!("Pairs on {} · {}", place.label, context.title);
    let shell = PageShell::new(
        context,
        &plan.assets,
        &path,
        NavigationEntry::Below,
        title,
        format!("Two arms of {} side by side.", place.label),
    );
    let bar = suite_bar(suite, place, &shell.root, &place.pairs_path());
    let shell = shell
        .with_suite_bar(bar)
        .with_assets(plan.assets.pair.clone());
    let any = any_pair::page_href(suite, place, &shell.root);
    let others = if any.is_some() {
        ""
    } else {
        " The command line compares any two."
    };
    let about = match &suite.baseline {
        Some(baseline) => Text::from(format!(
            "The leading two, and every other arm vs {baseline}.{others}"
        )),
        None if suite.board.entries.len() > MAX_ARMS_WITH_ALL_PAIRS => Text::from(format!(
            "Every arm vs the leader, and neighbours in the leaderboard.{others}"
        )),
        None => Text::new("Every arm vs every other arm."),
    };
    let shell = if suite.charts.disagreements.is_some() {
        shell
            .with_download(
                &format!("{}/index.json", place.data_stem("compare")),
                "JSON",
            )
            .with_download(&SuiteChart::Pairs.data_path(place), "CSV")
    } else {
        shell
    };
    let link = |pair| {
        Some(PageLink {
            href: format!("{}{}", shell.root, place.pair_path(pair)?),
            label: Text::from(name_arms(suite, pair).join(" vs ")),
        })
    };
    let (all, figure) = (
        all_pairs::lay_out_pairs(suite, place, plan, &shell.root),
        charts::draw_pairs(suite, place, &shell.root),
    );
    let page = PairsPage {
        suite: Text::new(&place.label),
        about,
        any,
        has_heading: all.is_some() || figure.is_some(),
        all,
        figure,
        links: suite.pairs.iter().filter_map(link).collect(),
        shell,
    };
    Some(SiteFile::from_template(path, &page))
}
