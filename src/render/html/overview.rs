//! The first page: the answer of the whole site, what changed of late, and a drawn row for every suite.

use askama::Template;

use crate::domain::COST_PER_SOLVED;
use crate::render::{format, summary, verdicts, words};
use crate::views::{Arm, Cell, Comparison, ComparisonRow, Interval, LevelChange, Overview, OverviewSuite, Scale, SuiteState};

use super::SiteFile;
use super::plan::{Plan, SuitePlace};
use super::shell::{Here, Shell, Text};
use super::state::{self, Sign, sign};
use super::strip::{self, Axis, Mark};

/// Sentences on this page: who leads, and what that is worth. The suite's page has all.
const SENTENCES: usize = 2;
/// From so many suites on, a row has one line.
const MANY: usize = 25;
/// Changes that stand on top.
const MOST_CHANGES: usize = 3;

#[derive(Template)]
#[template(path = "overview.html")]
struct OverviewPage {
    shell: Shell,
    headline: Text,
    changes: Vec<Change>,
    counts: Vec<Count>,
    /// Suites with something to compare, in the order of their states.
    rows: Vec<Row>,
    /// Suites where there is nothing to compare.
    alone: Vec<Row>,
    is_dense: bool,
    has_suites: bool,
    /// All suites in their own order, in sentences; none of many, whose pages say them.
    sentences: Vec<Sentence>,
}

struct Count {
    sign: Sign,
    number: String,
}

/// An arm whose level moved.
struct Change {
    said: Text,
    proof: Text,
    href: String,
}

/// One suite.
struct Row {
    sign: Sign,
    /// What the evidence comes to, where the state says something else.
    beside: &'static str,
    label: Text,
    href: String,
    about: Text,
    leader: Text,
    next: Text,
    rates: Option<Rates>,
    difference: Option<Difference>,
    cost: Option<Amount>,
    time: Option<Amount>,
    deed: Text,
    why: Text,
    pair: Option<String>,
    /// Where the pages of the leader and the next arm are.
    arms: [String; 2],
}

/// The leading two arms on an axis of their own.
struct Rates {
    low: String,
    high: String,
    /// Both figures with their intervals.
    about: Text,
    first: Mark,
    second: Mark,
}

/// How far apart they are, with zero on the axis.
struct Difference {
    key: String,
    text: Text,
    interval: Text,
    /// Whether the interval is clear of zero, or nothing varies.
    is_clear: bool,
    zero: String,
    mark: Option<Mark>,
}

/// What the leader takes, beside the next arm.
struct Amount {
    key: String,
    text: Text,
    beside: Text,
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
    let listed: Vec<Listed<'_>> =
        overview.by_state().into_iter().map(|(state, place)| (state, &overview.suites[place], &plan.suites[place])).collect();
    let count = |state: SuiteState| listed.iter().filter(|(known, _, _)| *known == state).count();
    let counts = SuiteState::ALL.into_iter().map(|state| (state, count(state))).filter(|(_, count)| *count > 0);
    let (alone, compared): (Vec<_>, Vec<_>) = listed.iter().partition(|(state, _, _)| *state == SuiteState::NothingToCompare);
    let rows = |of: Vec<&Listed<'_>>| of.into_iter().map(|(state, suite, place)| row(*state, suite, place, plan)).collect();
    let page = OverviewPage {
        shell,
        headline: Text::from(headline(overview, plan, &listed)),
        changes: overview.changes().into_iter().take(MOST_CHANGES).map(|change| self::change(plan, change)).collect(),
        counts: counts.map(|(state, count)| Count { sign: sign(state), number: format::integer(count as u64) }).collect(),
        is_dense: compared.len() >= MANY,
        sentences: if compared.len() < MANY { places().map(|(suite, place)| sentence(suite, place)).collect() } else { Vec::new() },
        has_suites: !overview.suites.is_empty(),
        rows: rows(compared),
        alone: rows(alone),
    };
    SiteFile::page(path.to_owned(), &page)
}

/// The answer of the whole site: what changed, who leads most suites, and how many are open.
fn headline(overview: &Overview, plan: &Plan, listed: &[Listed<'_>]) -> String {
    let mut parts = Vec::new();
    match overview.changes().as_slice() {
        [] => {}
        [(place, arm, change)] => {
            let moved = format::fixed((change.after - change.before).abs() * 100.0, 0);
            parts.push(format!("{} {} by {moved} points on {}", words::arm_name(arm), verb(change), plan.suites[*place].label));
        }
        several => parts.push(format!("{} changed", words::count_of(several.len() as u64, "suites"))),
    }
    let compared = listed.iter().filter(|(state, _, _)| *state != SuiteState::NothingToCompare).count() as u64;
    let settled = listed.iter().map(|(_, suite, place)| (SuiteState::settled(suite), *suite, *place));
    let ahead: Vec<(String, &SuitePlace)> = settled
        .clone()
        .filter(|(state, _, _)| matches!(state, SuiteState::Wins | SuiteState::FixedOrder))
        .filter_map(|(_, suite, place)| Some((leader(suite)?, place)))
        .collect();
    let most = ahead.iter().map(|(name, _)| (ahead.iter().filter(|(other, _)| other == name).count(), std::cmp::Reverse(name))).max();
    let open = settled.filter(|(state, _, _)| *state == SuiteState::Open).count() as u64;
    match most {
        Some((1, _)) => {
            let (name, place) = &ahead[0];
            parts.push(format!("{name} leads {}", place.label));
        }
        Some((count, std::cmp::Reverse(name))) => {
            parts.push(format!("{name} leads {} of {}", format::integer(count as u64), words::count_of(compared, "suites")));
        }
        None if compared == 0 => parts.push("There is nothing to compare yet".to_owned()),
        None => parts.push(format!(
            "No winner yet on {}",
            if compared == 1 { "the one suite".to_owned() } else { format!("any of {}", words::count_of(compared, "suites")) }
        )),
    }
    if most.is_some() && open > 0 {
        parts.push(format!("{} {} open", words::count_of(open, "suites"), if open == 1 { "is" } else { "are" }));
    }
    format!("{}.", parts.join("; "))
}

/// The arm that is ahead of all others, by the name that its suite's board has for it.
fn leader(suite: &OverviewSuite) -> Option<String> {
    let winner = suite.board.evidence.as_ref().and_then(|evidence| evidence.winner.as_ref());
    let ahead = winner.or_else(|| suite.top.as_ref()?.arms.first().map(|compared| &compared.arm))?;
    Some(words::names_on(&suite.board)(ahead))
}

fn verb(change: &LevelChange) -> &'static str {
    if change.after < change.before { "fell" } else { "rose" }
}

fn change(plan: &Plan, (place, arm, change): (usize, &Arm, &LevelChange)) -> Change {
    let place = &plan.suites[place];
    let [before, after] = [change.before, change.after].map(|level| format::percent(level, 1_000));
    Change {
        said: Text::from(format!("{} {} from {before} to {after} on {}", words::arm_name(arm), verb(change), place.label)),
        proof: Text::from(format!(
            "on {}: {} before, {} since, adjusted {}",
            change.date,
            words::count_of(change.nights_before, "nights"),
            format::integer(change.nights_after),
            verdicts::p_value(Some(change.p_adjusted))
        )),
        href: place.history_path(),
    }
}

fn row(state: SuiteState, suite: &OverviewSuite, place: &SuitePlace, plan: &Plan) -> Row {
    let top = suite.top.as_ref();
    let labels = top.map(|top| names(suite, top)).unwrap_or_default();
    let name = |at: usize| Text::new(labels.get(at).map_or("", String::as_str));
    let advice = top.and_then(|top| summary::advice(top, &labels, None));
    let (deed, why) = advice.map(|advice| (capital(&advice.deed), advice.why)).unwrap_or_default();
    let settled = SuiteState::settled(suite);
    let only = suite.board.entries.first().map(|entry| words::names_on(&suite.board)(&entry.arm)).filter(|_| top.is_none());
    Row {
        sign: sign(state),
        beside: if settled == state { "" } else { state::word(settled) },
        label: Text::new(&place.label),
        href: place.path(),
        about: Text::from(about(suite)),
        leader: only.map_or_else(|| name(0), Text::from),
        next: name(1),
        rates: top.and_then(|top| rates(top, &labels)),
        difference: top.and_then(difference),
        cost: top.and_then(|top| amount(top, COST_PER_SOLVED, format::money, ["the cost", "dearer", "cheaper"])),
        time: top.and_then(|top| amount(top, "duration_seconds", format::seconds, ["the time", "slower", "faster"])),
        deed: Text::from(deed),
        why: Text::from(why),
        pair: top.and_then(|top| place.pair_path(top)),
        arms: [0, 1].map(|at| top.and_then(|top| top.arms.get(at)).map_or_else(String::new, |compared| plan.arm_href("", &compared.arm))),
    }
}

fn capital(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

/// `225 tasks, 69 arms`.
fn about(suite: &OverviewSuite) -> String {
    let board = &suite.board;
    let word = board.entries.iter().find_map(|entry| entry.primary.as_ref()).map_or("items", |figure| figure.n_of);
    let word = if word == "runs" { "items" } else { word };
    let items = (board.items > 0).then(|| words::count_of(board.items, word));
    items.into_iter().chain([words::count_of(board.entries.len() as u64, "arms")]).collect::<Vec<_>>().join(", ")
}

fn rates(top: &Comparison, labels: &[String]) -> Option<Rates> {
    let row = top.primary()?;
    let figures: Vec<(f64, Option<Interval>)> = row
        .cells
        .iter()
        .take(2)
        .filter_map(|cell| {
            let figure = cell.figure.as_ref().map(|figure| (figure.summary.mean, figure.interval));
            cell.estimate.as_ref().map(|estimate| (estimate.value, estimate.interval)).or(figure)
        })
        .collect();
    let [(first, of_first), (second, of_second)] = figures.as_slice() else { return None };
    let ends = [of_first, of_second].into_iter().flatten().flat_map(|ends| [ends.low, ends.high]);
    let is_share = row.metric.unit == crate::domain::Unit::Fraction;
    let axis = Axis::around(&[*first, *second].into_iter().chain(ends).collect::<Vec<f64>>(), is_share.then_some((0.0, 1.0)))?;
    let end = |number: f64| strip::end(if is_share { number * 100.0 } else { number });
    let figure = |cell: &Cell| {
        cell.estimate.as_ref().map_or_else(|| words::cell(&row.metric, cell), |estimate| words::figure_with_interval(&row.metric, estimate))
    };
    let about: Vec<String> = labels.iter().zip(&row.cells).map(|(label, cell)| format!("{label} {}", figure(cell))).collect();
    Some(Rates {
        low: end(axis.low),
        high: format!("{}{}", end(axis.high), if is_share { "%" } else { "" }),
        about: Text::from(about.join(", ")),
        first: axis.mark(*first, *of_first),
        second: axis.mark(*second, *of_second),
    })
}

fn difference(top: &Comparison) -> Option<Difference> {
    let row: &ComparisonRow = top.primary()?;
    let pair = row.evidence.pairs.first()?;
    let found = pair.difference?;
    let ends = found.interval.into_iter().flat_map(|ends| [ends.low, ends.high]);
    let axis =
        Axis::around(&[0.0, found.value].into_iter().chain(ends).collect::<Vec<f64>>(), None).filter(|_| found.scale != Scale::Ratio);
    let text = verdicts::difference(row);
    let whole = verdicts::change_of(&row.metric, pair).unwrap_or_default();
    let interval = whole.split_once(" [").map_or_else(String::new, |(_, ends)| format!("[{ends}"));
    Some(Difference {
        key: format!("{}", found.value),
        text: Text::from(text),
        interval: Text::from(interval),
        is_clear: pair.verdict.winner().is_some() || matches!(pair.verdict, crate::views::Verdict::DeterministicDifference { .. }),
        zero: axis.map(|axis| axis.at(0.0)).unwrap_or_default(),
        mark: axis.map(|axis| axis.mark(found.value, found.interval)),
    })
}

fn amount(top: &Comparison, metric: &str, shown: fn(f64) -> String, [times, more, less]: [&str; 3]) -> Option<Amount> {
    let row = top.rows.iter().find(|row| row.metric.name == metric)?;
    let value = row.cells.first()?.value?;
    let ratio = row.evidence.pairs.first().and_then(|pair| pair.difference).filter(|found| found.scale == Scale::Ratio);
    let beside = ratio.map(|found| match found.value {
        ratio if ratio > 0.95 && ratio < 1.05 => "about equal".to_owned(),
        ratio => words::than(ratio, times, more, less),
    });
    Some(Amount { key: format!("{value}"), text: Text::from(shown(value)), beside: Text::from(beside.unwrap_or_default()) })
}

fn sentence(suite: &OverviewSuite, place: &SuitePlace) -> Sentence {
    let (mark, sentences) = verdict(suite);
    Sentence {
        label: Text::new(&place.label),
        href: place.path(),
        mark,
        verdict: Text::from(sentences.iter().take(SENTENCES).map(String::as_str).collect::<Vec<&str>>().join(" ")),
        pair: suite.top.as_ref().and_then(|top| place.pair_path(top)),
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
            (state::mark(SuiteState::settled(suite)), sentences)
        }
        (None, []) => (state::mark(SuiteState::NothingToCompare), vec!["No runs.".to_owned()]),
        (None, [only, ..]) => {
            let name = words::arm_name(&only.arm);
            let rate = only.pass_rate.as_ref().map_or_else(
                || "its pass rate is unknown".to_owned(),
                |rate| format!("it passes {}%, counted over {}", format::estimate(rate), words::basis(rate)),
            );
            (state::mark(SuiteState::NothingToCompare), vec![format!("Nothing to compare with: only {name} has runs here; {rate}.")])
        }
    }
}

/// The arms of a comparison by the names they have on the suite's board.
pub(super) fn names(suite: &OverviewSuite, comparison: &Comparison) -> Vec<String> {
    let arms: Vec<Arm> = suite.board.entries.iter().map(|entry| entry.arm.clone()).collect();
    let labels = words::arm_labels(&arms);
    let name = |arm: &Arm| arms.iter().position(|known| known == arm).map_or_else(|| words::arm_name(arm), |at| labels[at].clone());
    comparison.arms.iter().map(|compared| name(&compared.arm)).collect()
}
