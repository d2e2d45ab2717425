//! One suite: verdict, leaderboard, newest batches, pairs, runs.

use askama::Template;

use crate::render::{format, summary};
use crate::views::{Comparison, OverviewSuite, SiteContext};

use super::board;
use super::chart_data::ChartOf;
use super::charts;
use super::figure::Figure;
use super::grid::{Grid, Kind, Look, Sort};
use super::link::Link;
use super::matrix::{self, Shortlist};
use super::overview::{names, verdict};
use super::plan::{Plan, SuitePlace};
use super::runs::{Of, run_grid};
use super::shell::{Crumb, Here, Shell, Text};
use super::{SiteFile, criteria, metrics, stated};

/// More runs than this stand on the list of all runs only.
const MAX_RUNS: usize = 20;
/// More pairs than this stand on the list of pairs only.
const MAX_PAIRS: usize = 24;
/// With more arms, not every pair has a page.
const ALL_PAIRS: usize = 12;

#[derive(Template)]
#[template(path = "suite.html")]
struct SuitePage {
    shell: Shell,
    label: Text,
    mark: &'static str,
    sentences: Vec<Text>,
    pair: Option<String>,
    facts: Vec<Fact>,
    board: Grid,
    notes: Vec<Text>,
    left_out: Vec<Text>,
    tables: Vec<Table>,
    pairs: Vec<Link>,
    figures: Vec<Figure>,
    /// Address of the charts where they have a page of their own.
    charts: Option<String>,
    /// Address of the suite's history.
    history: Option<String>,
    /// Address and words of the list of all pairs.
    all_pairs: Option<(String, String)>,
    /// Address of the item matrix, what it says, and the items that stand out in it.
    items: Option<String>,
    items_said: Vec<Text>,
    shortlists: Vec<Shortlist>,
    /// Address of the criteria, what they say, and those on which arms part.
    criteria: Option<(String, Text, Vec<Link>)>,
    /// What the sources of runs published about them.
    stated: Option<Grid>,
    runs: Grid,
    more_runs: Option<String>,
}

#[derive(Template)]
#[template(path = "pairs.html")]
struct PairsPage {
    shell: Shell,
    suite: Text,
    about: Text,
    figure: Option<Figure>,
    links: Vec<Link>,
}

/// A label and what it says.
struct Fact {
    label: &'static str,
    text: Text,
}

struct Table {
    grid: Grid,
    sentences: Vec<Text>,
}

pub(super) fn page(context: &SiteContext, plan: &Plan, suite: &OverviewSuite, place: &SuitePlace) -> SiteFile {
    let path = place.path();
    let title = format!("{}: leaderboard · {}", place.label, context.title);
    let (mark, sentences) = verdict(suite);
    let shell = Shell::new(context, &plan.assets, &path, Here::Below, title, sentences.join(" ")).downloads(&place.data("suites"));
    let shell = shell.download(&super::embed::path(place), "Page to embed");
    let below = |path: String| format!("{}{path}", shell.root);
    let shown = suite.runs.len().min(MAX_RUNS);
    let caption = if shown < suite.runs.len() { "The newest runs" } else { "Runs, newest first" };
    let has_items = !suite.items.items.is_empty();
    let page = SuitePage {
        label: Text::new(&place.label),
        mark,
        sentences: sentences.into_iter().map(Text::from).collect(),
        pair: suite.top.as_ref().and_then(|top| place.pair_path(top)).map(below),
        facts: facts(suite),
        board: board::grid(&suite.board, "board", "Arms by pass rate").about(board::common(&suite.board).unwrap_or_default()),
        notes: board::notes(&suite.board).into_iter().map(Text::from).collect(),
        left_out: board::left_out(&suite.board).into_iter().map(Text::from).collect(),
        tables: (1..).zip(&suite.tables).map(|(number, table)| self::table(number, table)).collect(),
        pairs: links(suite, place, &shell.root).take(MAX_PAIRS).collect(),
        all_pairs: has_pairs_page(suite).then(|| (below(place.pairs_path()), all_pairs(suite))),
        figures: if charts::have_page(suite) { Vec::new() } else { charts::of_suite(suite, place, &shell.root) },
        charts: charts::have_page(suite).then(|| below(place.charts_path())),
        history: suite.history.as_ref().map(|_| below(place.history_path())),
        items: has_items.then(|| below(matrix::path(place))),
        items_said: if has_items { matrix::finding(suite).into_iter().map(Text::from).collect() } else { Vec::new() },
        shortlists: matrix::shortlists(suite, place, &shell.root),
        criteria: (!suite.criterion_keys.is_empty()).then(|| {
            let (said, links) = criteria::finding(suite, place, &shell.root);
            (below(place.criteria_path()), said, links)
        }),
        stated: stated::of_suite(suite, plan, &shell.root),
        runs: run_grid("runs-table", caption, &suite.runs.iter().take(shown).collect::<Vec<_>>(), plan, &shell.root, Of::OneSuite)
            .filtered(""),
        more_runs: (shown < suite.runs.len())
            .then(|| format!("{} of {} runs are listed here.", format::integer(shown as u64), format::integer(suite.runs.len() as u64))),
        shell,
    };
    SiteFile::page(path, &page)
}

/// The pairs that have a page.
fn links(suite: &OverviewSuite, place: &SuitePlace, root: &str) -> impl Iterator<Item = Link> {
    let link = move |pair| {
        Some(Link { href: format!("{root}{}", place.pair_path(pair)?), label: Text::from(names(suite, pair).join(" against ")) })
    };
    suite.pairs.iter().filter_map(link)
}

/// Says whether the list of pairs says more than the suite's page does.
fn has_pairs_page(suite: &OverviewSuite) -> bool {
    suite.pairs.len() > MAX_PAIRS || charts::is_shown(suite.charts.disagreements.as_ref())
}

fn all_pairs(suite: &OverviewSuite) -> String {
    match &suite.charts.disagreements {
        Some(all) if charts::is_shown(Some(all)) => format!("All {} pairs in one picture", format::integer(all.pairs.len() as u64)),
        Some(_) | None => format!("All {} pairs", format::integer(suite.pairs.len() as u64)),
    }
}

/// Lists a suite's pairs; nothing where its page has them all.
pub(super) fn pairs(context: &SiteContext, plan: &Plan, suite: &OverviewSuite, place: &SuitePlace) -> Option<SiteFile> {
    if !has_pairs_page(suite) {
        return None;
    }
    let path = place.pairs_path();
    let title = format!("Pairs on {} · {}", place.label, context.title);
    let shell = Shell::new(context, &plan.assets, &path, Here::Below, title, format!("Two arms of {} side by side.", place.label));
    let back = format!("{}{}", shell.root, place.path());
    let about = match &suite.baseline {
        Some(baseline) => {
            Text::from(format!("The leading two, and every other arm against {baseline}. The command line compares any two."))
        }
        None if suite.board.entries.len() > ALL_PAIRS => {
            Text::new("Everyone against the leader, and neighbours in the leaderboard. The command line compares any two.")
        }
        None => Text::new("Every arm against every other."),
    };
    let shell = if suite.charts.disagreements.is_some() {
        shell.download(&format!("{}/index.json", place.data("compare")), "JSON").download(&ChartOf::Pairs.path(place), "CSV")
    } else {
        shell
    };
    let links = links(suite, place, &shell.root).collect();
    let figure = charts::of_pairs(suite, place, &shell.root);
    let page = PairsPage {
        suite: Text::new(&place.label),
        about,
        figure,
        links,
        shell: shell.crumbs(vec![Crumb::new(back, place.label.as_str())]),
    };
    Some(SiteFile::page(path, &page))
}

fn facts(suite: &OverviewSuite) -> Vec<Fact> {
    let board = &suite.board;
    let mut facts = vec![
        Fact { label: "Arms", text: Text::from(format::integer(board.entries.len() as u64)) },
        Fact { label: "Runs", text: Text::from(format::integer(suite.runs.len() as u64)) },
    ];
    if board.items > 0 {
        facts.push(Fact { label: "Items", text: Text::from(format::integer(board.items)) });
    }
    if board.attempts > 1 {
        facts.push(Fact { label: "Attempts at an item, at most", text: Text::from(format::integer(u64::from(board.attempts))) });
    }
    if let Some(baseline) = &suite.baseline {
        facts.push(Fact { label: "Compared to", text: Text::new(baseline) });
    }
    if let Some(version) = &board.suite_version {
        facts.push(Fact { label: "Version of the suite", text: Text::from(version.chars().take(16).collect::<String>()) });
    }
    match board.sources.as_slice() {
        [] => {}
        [source] => facts.push(Fact { label: "Source", text: Text::new(source) }),
        several => facts.push(Fact { label: "Sources, pooled", text: Text::new(&several.join(", ")) }),
    }
    if let Some(newest) = board.entries.iter().filter_map(|entry| entry.newest).max() {
        facts.push(Fact { label: "Newest run", text: Text::from(format::date(&newest)) });
    }
    facts
}

fn table(number: usize, comparison: &Comparison) -> Table {
    let caption = match &comparison.source {
        Some(source) => format!("All arms, from {source}"),
        None => "All arms".to_owned(),
    };
    let sentences = summary::summary_sentences(comparison).into_iter().chain(metrics::notes(comparison));
    Table { grid: metrics::grid(comparison, &format!("newest-{number}"), &caption), sentences: sentences.map(Text::from).collect() }
}
