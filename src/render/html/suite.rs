//! A suite's first page: the answer, its arms drawn side by side, and summaries of its other pages.

use askama::Template;

use crate::render::{comparison, format, words};
use crate::views::{OverviewSuite, SiteContext};

use super::arms::{self, Arms};
use super::categories::{self, Heat};
use super::fit::{self, FitLink};
use super::frontier::{self, Frontier};
use super::grid::Sort;
use super::leading::{self, KeyFigure, Leading, verdict};
use super::link::Link;
use super::matrix::{self, Shortlist};
use super::panes::{self, Panes};
use super::plan::{Plan, SuitePlace};
use super::shell::{Here, Shell, Text};
use super::state::Sign;
use super::suite_tabs::{Tab, bar};
use super::{SiteFile, board, criteria};

/// Maximum number of arms for which categories are drawn here. With more, only their own page draws them.
const MOST_SHADED: usize = 12;

#[derive(Template)]
#[template(path = "suite.html")]
struct SuitePage {
    shell: Shell,
    label: Text,
    /// The answer in one sentence; `sentences` has all.
    answer: Text,
    mark: &'static str,
    sentences: Vec<Text>,
    signs: Vec<Sign>,
    leading: Leading,
    /// Who judges the items, and how far people checked that.
    judged: Option<Text>,
    figures: Vec<KeyFigure>,
    pair: Option<String>,
    arms: Option<Arms>,
    frontier: Option<Frontier>,
    /// Addresses of the pages with all columns, and with all charts.
    leaderboard: String,
    cost: Option<String>,
    /// What models say of the outcomes, with their pages.
    fits: Vec<FitLink>,
    nights: Option<Panes>,
    heat: Option<Heat>,
    attempts: Option<Panes>,
    /// Addresses of the pages on categories and nights.
    categories: String,
    history: String,
    facts: Vec<Fact>,
    /// Since when the board counts.
    since: Option<Text>,
    notes: Vec<Text>,
    left_out: Vec<Text>,
    /// Address of the item matrix, its summary, and the items that stand out in it.
    items: Option<String>,
    items_said: Vec<Text>,
    shortlists: Vec<Shortlist>,
    /// Address of the criteria, their summary, and links to criteria on which arms differ.
    criteria: Option<(String, Text, Vec<Link>)>,
}

/// A label with its text.
struct Fact {
    label: &'static str,
    text: Text,
}

pub(super) fn page(
    context: &SiteContext,
    plan: &Plan,
    suite: &OverviewSuite,
    place: &SuitePlace,
) -> SiteFile {
    let path = place.path();
    let title = format!("{}: verdict · {}", place.label, context.title);
    let (mark, sentences) = verdict(suite);
    let shell = Shell::new(
        context,
        &plan.assets,
        &path,
        Here::Below,
        title,
        sentences.join(" "),
    )
    .downloads(&place.data("suites"));
    let bar = bar(suite, place, &shell.root, Tab::Verdict);
    let signs = bar.signs.clone();
    let shell = shell
        .of_suite(bar)
        .scripted(&plan.assets.pair)
        .download(&super::embed::path(place), "Page to embed");
    let below = |path: String| format!("{}{path}", shell.root);
    let has_items = Tab::Items.is_there(suite);
    let leading = Leading::of(suite);
    let page = SuitePage {
        signs,
        label: Text::new(&place.label),
        answer: Text::from(leading::answer(suite)),
        mark,
        sentences: sentences.into_iter().map(Text::from).collect(),
        figures: leading::key_figures(suite, &leading),
        leading,
        judged: suite
            .top
            .as_ref()
            .and_then(comparison::judged)
            .or_else(|| suite.board.judged_by.as_ref().map(words::judged_by))
            .map(Text::from),
        pair: suite
            .top
            .as_ref()
            .and_then(|top| place.pair_path(top))
            .map(below),
        arms: arms::of_suite(suite, place, plan, &shell.root),
        frontier: frontier::of_suite(suite, place),
        leaderboard: below(place.leaderboard_path()),
        cost: Tab::Cost.is_there(suite).then(|| below(place.cost_path())),
        fits: fit::links(suite, place, &shell.root),
        nights: panes::nights(suite, place, panes::MOST_ARMS, plan, &shell.root, false),
        heat: (suite.board.entries.len() <= MOST_SHADED)
            .then(|| suite.categories())
            .flatten()
            .map(|found| Heat {
                any_pair: None,
                ..categories::heat(&found, suite, place, MOST_SHADED, plan, &shell.root)
            }),
        attempts: panes::attempts(suite, place, plan, &shell.root),
        categories: below(place.categories_path()),
        history: below(place.history_path()),
        facts: facts(suite),
        since: board::since(&suite.board),
        notes: board::notes(&suite.board)
            .into_iter()
            .map(Text::from)
            .collect(),
        left_out: board::left_out(&suite.board)
            .into_iter()
            .map(Text::from)
            .collect(),
        items: has_items.then(|| below(place.items_path())),
        items_said: if has_items {
            matrix::finding(suite).into_iter().map(Text::from).collect()
        } else {
            Vec::new()
        },
        shortlists: matrix::shortlists(suite, place, &shell.root),
        criteria: Tab::Criteria.is_there(suite).then(|| {
            let (said, links) = criteria::finding(suite, place, &shell.root);
            (below(place.criteria_path()), said, links)
        }),
        shell,
    };
    SiteFile::page(path, &page)
}

fn facts(suite: &OverviewSuite) -> Vec<Fact> {
    let board = &suite.board;
    let mut facts = vec![
        Fact {
            label: "Arms",
            text: Text::from(format::integer(board.entries.len() as u64)),
        },
        Fact {
            label: "Runs",
            text: Text::from(format::integer(suite.runs.len() as u64)),
        },
    ];
    if board.items > 0 {
        facts.push(Fact {
            label: "Items",
            text: Text::from(format::integer(board.items)),
        });
    }
    if board.attempts > 1 {
        facts.push(Fact {
            label: "Most attempts at an item",
            text: Text::from(format::integer(u64::from(board.attempts))),
        });
    }
    if let Some(baseline) = &suite.baseline {
        facts.push(Fact {
            label: "Compared to",
            text: Text::new(baseline),
        });
    }
    if let Some(version) = &board.suite_version {
        facts.push(Fact {
            label: "Version of the suite",
            text: Text::from(words::version(version)),
        });
    }
    match board.sources.as_slice() {
        [] => {}
        [source] => facts.push(Fact {
            label: "Source",
            text: Text::new(source),
        }),
        several => facts.push(Fact {
            label: "Sources, pooled",
            text: Text::new(&several.join(", ")),
        }),
    }
    if let Some(newest) = board.entries.iter().filter_map(|entry| entry.newest).max() {
        facts.push(Fact {
            label: "Newest run",
            text: Text::from(format::date(&newest)),
        });
    }
    facts
}
