//! The first page: a sentence and the head of the leaderboard for every suite.

use askama::Template;

use crate::render::{format, summary, verdicts, words};
use crate::views::{Arm, Comparison, Overview, OverviewSuite};

use super::SiteFile;
use super::board::{self, Extent};
use super::grid::{Grid, Kind, Look, Sort};
use super::metrics;
use super::plan::{Plan, SuitePlace};
use super::shell::{Here, Shell, Text};

/// Sentences on this page: who leads, and what that is worth. The suite's page has all.
const SENTENCES: usize = 2;
/// Rows of each leaderboard on this page.
const TOP: usize = 10;

#[derive(Template)]
#[template(path = "overview.html")]
struct OverviewPage {
    shell: Shell,
    suites: Vec<Summary>,
}

struct Summary {
    label: Text,
    href: String,
    anchor: String,
    mark: &'static str,
    verdict: Text,
    pair: Option<String>,
    about: Text,
    grid: Grid,
    notes: Vec<Text>,
    more: String,
}

pub(super) fn page(overview: &Overview, plan: &Plan) -> SiteFile {
    let path = "index.html";
    let context = &overview.context;
    let title = format!("{} · overview", context.title);
    let shell = Shell::new(
        context,
        &plan.assets,
        path,
        Here::Overview,
        title,
        "Leaderboards and comparisons of AI agent evaluations, with intervals and costs.",
    )
    .downloads("data/leaderboard")
    .foot(context);
    let suites =
        (1..).zip(overview.suites.iter().zip(&plan.suites)).map(|(number, (suite, place))| summary(number, suite, place)).collect();
    SiteFile::page(path.to_owned(), &OverviewPage { shell, suites })
}

fn summary(number: usize, suite: &OverviewSuite, place: &SuitePlace) -> Summary {
    let (mark, sentences) = verdict(suite);
    let arms = suite.board.entries.len();
    let shown = if arms > TOP { format!("the first {TOP} of {arms} arms by pass rate") } else { "arms by pass rate".to_owned() };
    let caption = format!("{}: {shown}", place.label);
    let notes = if arms == 0 { Vec::new() } else { board::notes(&suite.board) };
    let common = board::common(&suite.board).into_iter();
    Summary {
        label: Text::new(&place.label),
        href: place.path(),
        anchor: format!("suite-{number}"),
        mark,
        verdict: Text::from(sentences.iter().take(SENTENCES).map(String::as_str).collect::<Vec<&str>>().join(" ")),
        pair: suite.top.as_ref().and_then(|top| place.pair_path(top)),
        about: Text::from(about(suite)),
        grid: board::grid(&suite.board, Extent::Top(TOP), &format!("board-{number}"), &caption),
        notes: common.chain(notes).map(Text::from).collect(),
        more: "Everything about this suite".to_owned(),
    }
}

/// The sentences on the leading two, and their mark.
pub(super) fn verdict(suite: &OverviewSuite) -> (&'static str, Vec<String>) {
    match (&suite.top, suite.board.entries.as_slice()) {
        (Some(top), entries) => {
            let mut sentences = summary::summary_sentences_naming(top, &names(suite, top));
            if entries.len() > 2 {
                // With more than two arms the question is who leads them all; the leading two come after.
                sentences.splice(0..0, verdicts::board_sentence(&suite.board));
            }
            (mark(suite, top), sentences)
        }
        (None, []) => ("✕", vec!["No runs.".to_owned()]),
        (None, [only, ..]) => {
            let name = words::arm_name(&only.arm);
            let rate = only.pass_rate.as_ref().map_or_else(
                || "its pass rate is unknown".to_owned(),
                |rate| format!("it passes {}%, counted over {}", format::estimate(rate), words::basis(rate)),
            );
            ("✕", vec![format!("Nothing to compare with: only {name} has runs here; {rate}.")])
        }
    }
}

/// The mark before a suite's first sentence: of the pair where there are two arms, else of the whole board.
fn mark(suite: &OverviewSuite, top: &Comparison) -> &'static str {
    match &suite.board.evidence {
        Some(evidence) if evidence.arms > 2 => {
            if evidence.winner.is_some() && evidence.deterministic == evidence.pairs {
                "■"
            } else if evidence.winner.is_some() {
                "▲"
            } else if evidence.deterministic + evidence.equal == evidence.pairs {
                "="
            } else if evidence.comparable > 0 {
                "○"
            } else {
                "✕"
            }
        }
        Some(_) | None => metrics::mark(top),
    }
}

/// The arms of a comparison by the names they have on the suite's board.
pub(super) fn names(suite: &OverviewSuite, comparison: &Comparison) -> Vec<String> {
    let arms: Vec<Arm> = suite.board.entries.iter().map(|entry| entry.arm.clone()).collect();
    let labels = words::arm_labels(&arms);
    let name = |arm: &Arm| arms.iter().position(|known| known == arm).map_or_else(|| words::arm_name(arm), |at| labels[at].clone());
    comparison.arms.iter().map(|compared| name(&compared.arm)).collect()
}

/// `225 items, 3 runs, from a.csv`.
fn about(suite: &OverviewSuite) -> String {
    let count = |number: u64, one: &str, many: &str| format!("{} {}", format::integer(number), if number == 1 { one } else { many });
    let mut parts = vec![count(suite.board.entries.len() as u64, "arm", "arms"), count(suite.runs.len() as u64, "run", "runs")];
    if suite.board.items > 0 {
        parts.push(count(suite.board.items, "item", "items"));
    }
    if suite.board.attempts > 1 {
        parts.push(format!("up to {} attempts at each", format::integer(u64::from(suite.board.attempts))));
    }
    match suite.board.sources.as_slice() {
        [] => {}
        [source] => parts.push(format!("from {source}")),
        several => parts.push(format!("pooled from {} sources", format::integer(several.len() as u64))),
    }
    parts.join(", ")
}
