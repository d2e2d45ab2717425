//! The list of a suite's pairs that have a page.

use askama::Template;

use crate::views::{OverviewSuite, SiteContext};

use super::all_pairs::{self, AllPairs};
use super::any_pair;
use super::chart_data::ChartOf;
use super::figure::Figure;
use super::grid::{Kind, Look, Sort};
use super::leading::names;
use super::link::Link;
use super::plan::{Plan, SuitePlace};
use super::shell::{Here, Shell, Text};
use super::suite_tabs::{Tab, bar};
use super::{SiteFile, charts};

/// Maximum number of arms for which every pair has a page.
const ALL_PAIRS: usize = 12;

#[derive(Template)]
#[template(path = "pairs.html")]
struct PairsPage {
    shell: Shell,
    suite: Text,
    about: Text,
    /// Address of the page that compares any two arms.
    any: Option<String>,
    all: Option<AllPairs>,
    figure: Option<Figure>,
    /// Whether the links have a heading, which separates them from the content above.
    has_heading: bool,
    links: Vec<Link>,
}

/// Lists a suite's pairs, or returns `None` without any.
pub(super) fn page(
    context: &SiteContext,
    plan: &Plan,
    suite: &OverviewSuite,
    place: &SuitePlace,
) -> Option<SiteFile> {
    if !Tab::Pairs.is_there(suite) {
        return None;
    }
    let path = place.pairs_path();
    let title = format!("Pairs on {} · {}", place.label, context.title);
    let shell = Shell::new(
        context,
        &plan.assets,
        &path,
        Here::Below,
        title,
        format!("Two arms of {} side by side.", place.label),
    );
    let bar = bar(suite, place, &shell.root, Tab::Pairs);
    let shell = shell.of_suite(bar).with(plan.assets.pair.clone());
    let any = any_pair::href(suite, place, &shell.root);
    let others = if any.is_some() {
        ""
    } else {
        " The command line compares any two."
    };
    let about = match &suite.baseline {
        Some(baseline) => Text::from(format!(
            "The leading two, and every other arm vs {baseline}.{others}"
        )),
        None if suite.board.entries.len() > ALL_PAIRS => Text::from(format!(
            "Every arm vs the leader, and neighbours in the leaderboard.{others}"
        )),
        None => Text::new("Every arm vs every other arm."),
    };
    let shell = if suite.charts.disagreements.is_some() {
        shell
            .download(&format!("{}/index.json", place.data("compare")), "JSON")
            .download(&ChartOf::Pairs.path(place), "CSV")
    } else {
        shell
    };
    let link = |pair| {
        Some(Link {
            href: format!("{}{}", shell.root, place.pair_path(pair)?),
            label: Text::from(names(suite, pair).join(" vs ")),
        })
    };
    let (all, figure) = (
        all_pairs::of_suite(suite, place, plan, &shell.root),
        charts::of_pairs(suite, place, &shell.root),
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
    Some(SiteFile::page(path, &page))
}
