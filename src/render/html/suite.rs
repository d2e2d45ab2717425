//! One suite: verdict, leaderboard, newest batches, pairs, runs.

use askama::Template;

use crate::render::{format, words};
use crate::views::{Comparison, OverviewSuite, SiteContext};

use super::board::{self, Extent};
use super::grid::{Grid, Kind, Look, Sort};
use super::overview::{names, verdict};
use super::plan::{Plan, SuitePlace};
use super::runs::run_grid;
use super::shell::{Here, Shell, Text};
use super::{SiteFile, metrics};

/// More runs than this stand on the list of all runs only.
const MAX_RUNS: usize = 50;
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
    limited: Option<&'static str>,
    runs: Grid,
    more_runs: Option<String>,
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

/// A link and its words.
pub(super) struct Link {
    pub href: String,
    pub label: Text,
}

pub(super) fn page(context: &SiteContext, plan: &Plan, suite: &OverviewSuite, place: &SuitePlace) -> SiteFile {
    let path = place.path();
    let title = format!("{}: leaderboard · {}", place.label, context.title);
    let (mark, sentences) = verdict(suite);
    let shell = Shell::new(context, &plan.assets, &path, Here::Below, title, sentences.join(" "))
        .download(&format!("data/suites/{}.json", place.segment), "JSON")
        .download(&format!("data/suites/{}.csv", place.segment), "CSV")
        .foot(context);
    let below = |path: String| format!("{}{path}", shell.root);
    let shown = suite.runs.len().min(MAX_RUNS);
    let caption = if shown < suite.runs.len() { "The newest runs" } else { "Runs, newest first" };
    let pairs = suite
        .pairs
        .iter()
        .filter_map(|pair| Some(Link { href: below(place.pair_path(pair)?), label: Text::from(names(suite, pair).join(" against ")) }));
    let page = SuitePage {
        label: Text::new(&place.label),
        mark,
        sentences: sentences.into_iter().map(Text::from).collect(),
        pair: suite.top.as_ref().and_then(|top| place.pair_path(top)).map(below),
        facts: facts(suite),
        board: board::grid(&suite.board, Extent::Whole, "board", "Arms by pass rate")
            .about(board::common(&suite.board).unwrap_or_default()),
        notes: board::notes(&suite.board).into_iter().map(Text::from).collect(),
        left_out: board::left_out(&suite.board).into_iter().map(Text::from).collect(),
        tables: (1..).zip(&suite.tables).map(|(number, table)| self::table(number, table)).collect(),
        pairs: pairs.collect(),
        limited: (suite.board.entries.len() > ALL_PAIRS).then_some(
            "With this many arms, only neighbours in the table and pairs with the leader have a page; the command line compares any two.",
        ),
        runs: run_grid("runs-table", caption, &suite.runs[..shown], plan, &shell.root).filtered(""),
        more_runs: (shown < suite.runs.len())
            .then(|| format!("{} of {} runs are listed here.", format::integer(shown as u64), format::integer(suite.runs.len() as u64))),
        shell,
    };
    SiteFile::page(path, &page)
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
    if let Some(version) = &board.suite_version {
        facts.push(Fact { label: "Version of the suite", text: Text::from(version.chars().take(16).collect::<String>()) });
    }
    if let Some(source) = &board.source {
        facts.push(Fact { label: "Source", text: Text::new(source) });
    }
    if let Some(newest) = board.entries.iter().filter_map(|entry| entry.newest).max() {
        facts.push(Fact { label: "Newest run", text: Text::from(format::date(&newest)) });
    }
    facts
}

fn table(number: usize, comparison: &Comparison) -> Table {
    let caption = match &comparison.source {
        Some(source) => format!("Newest batch of each arm, from {source}"),
        None => "Newest batch of each arm".to_owned(),
    };
    let sentences = words::summary_sentences(comparison).into_iter().chain(metrics::notes(comparison));
    Table { grid: metrics::grid(comparison, &format!("newest-{number}"), &caption), sentences: sentences.map(Text::from).collect() }
}
