//! The first page: the site's headline, recent changes, and a drawn row for every suite.

use askama::Template;

use crate::render::{format, overall, phrases, verdicts};
use crate::views::{Arm, LevelChange, Overview, OverviewSuite, SuiteState};

use super::SiteFile;
use super::arms;
use super::bars::NightBars;
use super::routes::{SiteRoutes, SuiteRoutes};
use super::shell::{NavigationEntry, PageShell, Text};
use super::state::{self, StateSign, state_sign};
use super::steps::ChangePointDrawing;
use super::top_pair::{TopPair, describe_verdict};

/// Sentences per suite on this page: the leader, and the evidence. The suite's own page has all.
const SENTENCES_PER_SUITE: usize = 2;
/// Number of suites from which on each row has one line.
const DENSE_FROM: usize = 25;
/// Show the column of nights if at least one in this many suites has nights.
const TREND_SHARE: usize = 3;
/// Maximum number of changes at the top.
const MAX_CHANGES: usize = 3;

#[derive(Template)]
#[template(path = "overview.html")]
struct OverviewPage {
    shell: PageShell,
    headline: Text,
    changes: Vec<ChangedArm>,
    counts: Vec<StateCount>,
    /// Suites that have something to compare, ordered by state.
    rows: Vec<OverviewRow>,
    /// Suites that have nothing to compare.
    alone: Vec<OverviewRow>,
    is_dense: bool,
    /// Whether enough suites have nights for their column.
    has_trend: bool,
    has_suites: bool,
    /// All suites in their own order, in sentences. Empty for many suites: their own pages have the sentences.
    sentences: Vec<SuiteVerdict>,
    /// The answer over all suites, which has a page of its own.
    overall: Option<Text>,
}

struct StateCount {
    sign: StateSign,
    number: String,
}

/// An arm with a change point.
struct ChangedArm {
    said: Text,
    proof: Text,
    href: String,
    steps: Option<ChangePointDrawing>,
}

/// One suite.
struct OverviewRow {
    sign: StateSign,
    /// The evidence, if it differs from the state.
    beside: &'static str,
    label: Text,
    href: String,
    about: Text,
    leading: TopPair,
    /// The leader's pass rates over its nights.
    trend: Option<NightBars>,
    pair: Option<String>,
    /// The leader and the next arm: the address of its page, and the class of its colour.
    arms: [(String, &'static str); 2],
}

/// A suite with its state and its place in the site.
type ListedSuite<'a> = (SuiteState, &'a OverviewSuite, &'a SuiteRoutes);

struct SuiteVerdict {
    label: Text,
    href: String,
    mark: &'static str,
    verdict: Text,
    pair: Option<String>,
}

pub(super) fn render_page(overview: &Overview, plan: &SiteRoutes) -> SiteFile {
    let path = "index.html";
    let context = &overview.context;
    let title = format!("{} · overview", context.title);
    let shell = PageShell::new(
        context,
        &plan.assets,
        path,
        NavigationEntry::Overview,
        title,
        "Leaderboards and comparisons of AI agent evaluations, with intervals and costs.",
    )
    .with_downloads("data/leaderboard")
    .with_footer(context);
    let places = || overview.suites.iter().zip(&plan.suites);
    let listed: Vec<ListedSuite<'_>> = overview
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
    let rows = |of: Vec<&ListedSuite<'_>>| {
        of.into_iter()
            .map(|(state, suite, place)| build_row(*state, suite, place, plan))
            .collect::<Vec<OverviewRow>>()
    };
    let is_dense = compared.len() >= DENSE_FROM;
    let rows_compared = rows(compared);
    let page = OverviewPage {
        shell,
        headline: Text::from(site_headline(overview, plan, &listed)),
        changes: overview
            .recent_changes()
            .into_iter()
            .take(MAX_CHANGES)
            .map(|change| self::describe_change(overview, plan, change))
            .collect(),
        counts: counts
            .map(|(state, count)| StateCount {
                sign: state_sign(state),
                number: format::format_integer(count as u64),
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
                .map(|(suite, place)| verdict_sentence(suite, place))
                .collect()
        },
        has_suites: !overview.suites.is_empty(),
        overall: overview
            .overall
            .as_ref()
            .and_then(overall::leader_headline)
            .map(Text::from),
        rows: rows_compared,
        alone: rows(alone),
    };
    SiteFile::from_template(path.to_owned(), &page)
}

/// Returns the site's headline: recent changes, the arm that wins most suites, and the number of open suites.
fn site_headline(overview: &Overview, plan: &SiteRoutes, listed: &[ListedSuite<'_>]) -> String {
    let mut parts = Vec::new();
    match overview.recent_changes().as_slice() {
        [] => {}
        [(place, arm, change)] => {
            let moved = format::fixed_decimals((change.after - change.before).abs() * 100.0, 0);
            let name = phrases::arm_namer(&overview.suites[*place].board)(arm);
            parts.push(format!(
                "{name} {} by {moved} points on {}",
                change_verb(change),
                plan.suites[*place].label
            ));
        }
        several => parts.push(format!(
            "{} changed",
            phrases::count_with_noun(several.len() as u64, "suites")
        )),
    }
    let compared = listed
        .iter()
        .filter(|(state, _, _)| *state != SuiteState::NothingToCompare)
        .count() as u64;
    let settled = listed
        .iter()
        .map(|(_, suite, place)| (SuiteState::from_evidence(suite), *suite, *place));
    let ahead: Vec<(String, SuiteState, &SuiteRoutes)> = settled
        .clone()
        .filter(|(state, _, _)| matches!(state, SuiteState::Wins | SuiteState::FixedOrder))
        .filter_map(|(state, suite, place)| Some((name_leader(suite)?, state, place)))
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
            let own: Vec<&(String, SuiteState, &SuiteRoutes)> =
                ahead.iter().filter(|(other, _, _)| other == name).collect();
            let fixed = own
                .iter()
                .filter(|(_, state, _)| *state == SuiteState::FixedOrder)
                .count();
            let of = match own.as_slice() {
                [(_, _, place)] => place.label.clone(),
                _ => format!(
                    "{} of {}",
                    format::format_integer(count as u64),
                    phrases::count_with_noun(compared, "suites")
                ),
            };
            parts.push(format!(
                "{name} {} {of}",
                phrases::leading_verb(count - fixed, fixed)
            ));
        }
        None if compared == 0 => parts.push("There is nothing to compare yet".to_owned()),
        None => parts.push(format!(
            "No winner yet on {}",
            if compared == 1 {
                "the one suite".to_owned()
            } else {
                format!("any of {}", phrases::count_with_noun(compared, "suites"))
            }
        )),
    }
    if first.is_some() && open > 0 {
        parts.push(format!(
            "{} {} open",
            format::format_integer(open),
            if open == 1 { "is" } else { "are" }
        ));
    }
    format!("{}.", parts.join("; "))
}

/// Returns the winner among all arms, or else the leader, named as on the suite's board.
fn name_leader(suite: &OverviewSuite) -> Option<String> {
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
    Some(phrases::arm_namer(&suite.board)(ahead))
}

fn change_verb(change: &LevelChange) -> &'static str {
    if change.after < change.before {
        "fell"
    } else {
        "rose"
    }
}

fn describe_change(
    overview: &Overview,
    plan: &SiteRoutes,
    (place, arm, change): (usize, &Arm, &LevelChange),
) -> ChangedArm {
    let (suite, place) = (&overview.suites[place], &plan.suites[place]);
    let [before, after] = [change.before, change.after].map(|level| format::percent(level, 1_000));
    ChangedArm {
        said: Text::from(format!(
            "{} {} from {before} to {after} on {}",
            phrases::arm_namer(&suite.board)(arm),
            change_verb(change),
            place.label
        )),
        proof: Text::from(format!(
            "on {}: {} before, {} since, adjusted {}",
            change.date,
            phrases::count_with_noun(change.nights_before, "nights"),
            format::format_integer(change.nights_after),
            verdicts::p_value(Some(change.p_adjusted))
        )),
        href: place.history_path(),
        steps: suite
            .history
            .as_ref()
            .and_then(|history| history.arms.iter().find(|known| known.arm == *arm))
            .map(|history| ChangePointDrawing::from_change(history, change, [before, after])),
    }
}

fn build_row(
    state: SuiteState,
    suite: &OverviewSuite,
    place: &SuiteRoutes,
    plan: &SiteRoutes,
) -> OverviewRow {
    let arm = |at: usize| {
        let arm = &suite.top.as_ref()?.arms.get(at)?.arm;
        Some((plan.arm_href("", arm), plan.arm_tone(arm)))
    };
    let settled = SuiteState::from_evidence(suite);
    OverviewRow {
        sign: state_sign(state),
        beside: if settled == state {
            ""
        } else {
            state::display_word(settled)
        },
        label: Text::new(&place.label),
        href: place.path(),
        about: Text::from(describe_size(suite)),
        leading: TopPair::from_suite(suite),
        trend: suite
            .top
            .as_ref()
            .and_then(|top| arms::draw_trend(suite, &top.arms.first()?.arm)),
        pair: suite.top.as_ref().and_then(|top| place.pair_path(top)),
        arms: [0, 1].map(|at| arm(at).unwrap_or_default()),
    }
}

/// Counts a suite's items and arms: `225 tasks, 69 arms`.
fn describe_size(suite: &OverviewSuite) -> String {
    let board = &suite.board;
    let word = board
        .entries
        .iter()
        .find_map(|entry| entry.primary.as_ref())
        .map_or("items", |figure| figure.n_of);
    let word = if word == "runs" { "items" } else { word };
    let items = (board.items > 0).then(|| phrases::count_with_noun(board.items, word));
    let judged = board
        .judged_by
        .as_ref()
        .map(|judged| phrases::judged_briefly(judged).to_owned());
    items
        .into_iter()
        .chain([phrases::count_with_noun(board.entries.len() as u64, "arms")])
        .chain(judged)
        .collect::<Vec<_>>()
        .join(", ")
}

fn verdict_sentence(suite: &OverviewSuite, place: &SuiteRoutes) -> SuiteVerdict {
    let (mark, sentences) = describe_verdict(suite);
    SuiteVerdict {
        label: Text::new(&place.label),
        href: place.path(),
        mark,
        verdict: Text::from(
            sentences
                .iter()
                .take(SENTENCES_PER_SUITE)
                .map(String::as_str)
                .collect::<Vec<&str>>()
                .join(" "),
        ),
        pair: suite.top.as_ref().and_then(|top| place.pair_path(top)),
    }
}
