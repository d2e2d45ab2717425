//! The first page: the site's headline, recent changes, and a drawn row for every suite.

use askama::Template;

use crate::render::{format, overall, verdicts, words};
use crate::views::{Arm, LevelChange, Overview, OverviewSuite, SuiteState};

use super::SiteFile;
use super::arms;
use super::bars::Bars;
use super::leading::{Leading, verdict};
use super::plan::{Plan, SuitePlace};
use super::shell::{Here, Shell, Text};
use super::state::{self, Sign, sign};
use super::steps::Steps;

/// Sentences per suite on this page: the leader, and the evidence. The suite's own page has all.
const SENTENCES: usize = 2;
/// Number of suites from which on each row has one line.
const MANY: usize = 25;
/// Show the column of nights if at least one in this many suites has nights.
const TREND_SHARE: usize = 3;
/// Maximum number of changes at the top.
const MOST_CHANGES: usize = 3;

#[derive(Template)]
#[template(path = "overview.html")]
struct OverviewPage {
    shell: Shell,
    headline: Text,
    changes: Vec<Change>,
    counts: Vec<Count>,
    /// Suites that have something to compare, ordered by state.
    rows: Vec<Row>,
    /// Suites that have nothing to compare.
    alone: Vec<Row>,
    is_dense: bool,
    /// Whether enough suites have nights for their column.
    has_trend: bool,
    has_suites: bool,
    /// All suites in their own order, in sentences. Empty for many suites: their own pages have the sentences.
    sentences: Vec<Sentence>,
    /// The answer over all suites, which has a page of its own.
    overall: Option<Text>,
}

struct Count {
    sign: Sign,
    number: String,
}

/// An arm with a change point.
struct Change {
    said: Text,
    proof: Text,
    href: String,
    steps: Option<Steps>,
}

/// One suite.
struct Row {
    sign: Sign,
    /// The evidence, if it differs from the state.
    beside: &'static str,
    label: Text,
    href: String,
    about: Text,
    leading: Leading,
    /// The leader's pass rates over its nights.
    trend: Option<Bars>,
    pair: Option<String>,
    /// The leader and the next arm: the address of its page, and the class of its colour.
    arms: [(String, &'static str); 2],
}

/// A suite with its state and its place in the site.
type Listed<'a> = (SuiteState, &'a OverviewSuite, &'a SuitePlace);

struct Sentence {
    label: Text,
    href: String,
    mark: &'static str,
    verdict: Text,
    pair: Option<String>,
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
    let places = || overview.suites.iter().zip(&plan.suites);
    let listed: Vec<Listed<'_>> = overview
        .by_state()
        .into_iter()
        .map(|(state, place)| (state, &overview.suites[place], &plan.suites[place]))
        .collect();
    let count = |state: SuiteState| {
        listed
            .iter()
            .filter(|(known, _, _)| *known == state)
            .count()
    };
    let counts = SuiteState::ALL
        .into_iter()
        .map(|state| (state, count(state)))
        .filter(|(_, count)| *count > 0);
    let (alone, compared): (Vec<_>, Vec<_>) = listed
        .iter()
        .partition(|(state, _, _)| *state == SuiteState::NothingToCompare);
    let rows = |of: Vec<&Listed<'_>>| {
        of.into_iter()
            .map(|(state, suite, place)| row(*state, suite, place, plan))
            .collect::<Vec<Row>>()
    };
    let is_dense = compared.len() >= MANY;
    let rows_compared = rows(compared);
    let page = OverviewPage {
        shell,
        headline: Text::from(headline(overview, plan, &listed)),
        changes: overview
            .changes()
            .into_iter()
            .take(MOST_CHANGES)
            .map(|change| self::change(overview, plan, change))
            .collect(),
        counts: counts
            .map(|(state, count)| Count {
                sign: sign(state),
                number: format::integer(count as u64),
            })
            .collect(),
        is_dense,
        has_trend: rows_compared
            .iter()
            .filter(|row| row.trend.is_some())
            .count()
            * TREND_SHARE
            >= rows_compared.len().max(1),
        sentences: if is_dense {
            Vec::new()
        } else {
            places()
                .map(|(suite, place)| sentence(suite, place))
                .collect()
        },
        has_suites: !overview.suites.is_empty(),
        overall: overview
            .overall
            .as_ref()
            .and_then(overall::headline)
            .map(Text::from),
        rows: rows_compared,
        alone: rows(alone),
    };
    SiteFile::page(path.to_owned(), &page)
}

/// Returns the site's headline: recent changes, the arm that wins most suites, and the number of open suites.
fn headline(overview: &Overview, plan: &Plan, listed: &[Listed<'_>]) -> String {
    let mut parts = Vec::new();
    match overview.changes().as_slice() {
        [] => {}
        [(place, arm, change)] => {
            let moved = format::fixed((change.after - change.before).abs() * 100.0, 0);
            let name = words::names_on(&overview.suites[*place].board)(arm);
            parts.push(format!(
                "{name} {} by {moved} points on {}",
                verb(change),
                plan.suites[*place].label
            ));
        }
        several => parts.push(format!(
            "{} changed",
            words::count_of(several.len() as u64, "suites")
        )),
    }
    let compared = listed
        .iter()
        .filter(|(state, _, _)| *state != SuiteState::NothingToCompare)
        .count() as u64;
    let settled = listed
        .iter()
        .map(|(_, suite, place)| (SuiteState::settled(suite), *suite, *place));
    let ahead: Vec<(String, SuiteState, &SuitePlace)> = settled
        .clone()
        .filter(|(state, _, _)| matches!(state, SuiteState::Wins | SuiteState::FixedOrder))
        .filter_map(|(state, suite, place)| Some((leader(suite)?, state, place)))
        .collect();
    let first = ahead
        .iter()
        .map(|(name, _, _)| {
            (
                ahead.iter().filter(|(other, _, _)| other == name).count(),
                std::cmp::Reverse(name),
            )
        })
        .max();
    let open = settled
        .filter(|(state, _, _)| *state == SuiteState::Open)
        .count() as u64;
    match first {
        Some((count, std::cmp::Reverse(name))) => {
            let own: Vec<&(String, SuiteState, &SuitePlace)> =
                ahead.iter().filter(|(other, _, _)| other == name).collect();
            let fixed = own
                .iter()
                .filter(|(_, state, _)| *state == SuiteState::FixedOrder)
                .count();
            let of = match own.as_slice() {
                [(_, _, place)] => place.label.clone(),
                _ => format!(
                    "{} of {}",
                    format::integer(count as u64),
                    words::count_of(compared, "suites")
                ),
            };
            parts.push(format!(
                "{name} {} {of}",
                words::heads(count - fixed, fixed)
            ));
        }
        None if compared == 0 => parts.push("There is nothing to compare yet".to_owned()),
        None => parts.push(format!(
            "No winner yet on {}",
            if compared == 1 {
                "the one suite".to_owned()
            } else {
                format!("any of {}", words::count_of(compared, "suites"))
            }
        )),
    }
    if first.is_some() && open > 0 {
        parts.push(format!(
            "{} {} open",
            format::integer(open),
            if open == 1 { "is" } else { "are" }
        ));
    }
    format!("{}.", parts.join("; "))
}

/// Returns the winner among all arms, or else the leader, named as on the suite's board.
fn leader(suite: &OverviewSuite) -> Option<String> {
    let winner = suite
        .board
        .evidence
        .as_ref()
        .and_then(|evidence| evidence.winner.as_ref());
    let ahead = winner.or_else(|| {
        suite
            .top
            .as_ref()?
            .arms
            .first()
            .map(|compared| &compared.arm)
    })?;
    Some(words::names_on(&suite.board)(ahead))
}

fn verb(change: &LevelChange) -> &'static str {
    if change.after < change.before {
        "fell"
    } else {
        "rose"
    }
}

fn change(
    overview: &Overview,
    plan: &Plan,
    (place, arm, change): (usize, &Arm, &LevelChange),
) -> Change {
    let (suite, place) = (&overview.suites[place], &plan.suites[place]);
    let [before, after] = [change.before, change.after].map(|level| format::percent(level, 1_000));
    Change {
        said: Text::from(format!(
            "{} {} from {before} to {after} on {}",
            words::names_on(&suite.board)(arm),
            verb(change),
            place.label
        )),
        proof: Text::from(format!(
            "on {}: {} before, {} since, adjusted {}",
            change.date,
            words::count_of(change.nights_before, "nights"),
            format::integer(change.nights_after),
            verdicts::p_value(Some(change.p_adjusted))
        )),
        href: place.history_path(),
        steps: suite
            .history
            .as_ref()
            .and_then(|history| history.arms.iter().find(|known| known.arm == *arm))
            .map(|history| Steps::of(history, change, [before, after])),
    }
}

fn row(state: SuiteState, suite: &OverviewSuite, place: &SuitePlace, plan: &Plan) -> Row {
    let arm = |at: usize| {
        let arm = &suite.top.as_ref()?.arms.get(at)?.arm;
        Some((plan.arm_href("", arm), plan.tone(arm)))
    };
    let settled = SuiteState::settled(suite);
    Row {
        sign: sign(state),
        beside: if settled == state {
            ""
        } else {
            state::word(settled)
        },
        label: Text::new(&place.label),
        href: place.path(),
        about: Text::from(about(suite)),
        leading: Leading::of(suite),
        trend: suite
            .top
            .as_ref()
            .and_then(|top| arms::trend(suite, &top.arms.first()?.arm)),
        pair: suite.top.as_ref().and_then(|top| place.pair_path(top)),
        arms: [0, 1].map(|at| arm(at).unwrap_or_default()),
    }
}

/// Counts a suite's items and arms: `225 tasks, 69 arms`.
fn about(suite: &OverviewSuite) -> String {
    let board = &suite.board;
    let word = board
        .entries
        .iter()
        .find_map(|entry| entry.primary.as_ref())
        .map_or("items", |figure| figure.n_of);
    let word = if word == "runs" { "items" } else { word };
    let items = (board.items > 0).then(|| words::count_of(board.items, word));
    let judged = board
        .judged_by
        .as_ref()
        .map(|judged| words::judged_briefly(judged).to_owned());
    items
        .into_iter()
        .chain([words::count_of(board.entries.len() as u64, "arms")])
        .chain(judged)
        .collect::<Vec<_>>()
        .join(", ")
}

fn sentence(suite: &OverviewSuite, place: &SuitePlace) -> Sentence {
    let (mark, sentences) = verdict(suite);
    Sentence {
        label: Text::new(&place.label),
        href: place.path(),
        mark,
        verdict: Text::from(
            sentences
                .iter()
                .take(SENTENCES)
                .map(String::as_str)
                .collect::<Vec<&str>>()
                .join(" "),
        ),
        pair: suite.top.as_ref().and_then(|top| place.pair_path(top)),
    }
}
