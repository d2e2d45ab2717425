//! The leading two arms of a suite: their differences and the decision, for the overview's row and the suite's own page.

use crate::domain::COST_PER_SOLVED;
use crate::render::{answer, format, summary, verdicts, words};
use crate::views::{Cell, Comparison, ComparisonRow, Interval, OverviewSuite, Scale, SuiteState};

use super::shell::Text;
use super::state;
use super::strip::{self, Axis, Mark};

/// The leading two arms, or the only arm of a suite.
pub(super) struct Leading {
    pub leader: Text,
    pub next: Text,
    pub rates: Option<Rates>,
    pub difference: Option<Difference>,
    pub cost: Option<Amount>,
    pub time: Option<Amount>,
    /// The decision: `Measure 20 more items per arm`.
    pub deed: Text,
    pub why: Text,
}

/// The leading two arms' rates on an axis of their own.
pub(super) struct Rates {
    pub low: String,
    pub high: String,
    /// Both figures with their intervals.
    pub about: Text,
    pub first: Mark,
    pub second: Mark,
}

/// Difference of the leading two arms, with zero in the middle of the axis.
pub(super) struct Difference {
    pub key: String,
    pub text: Text,
    pub interval: Text,
    /// Whether the interval excludes zero, or no run varies.
    pub is_clear: bool,
    pub mark: Option<Mark>,
}

/// An amount of the leader, compared with the next arm.
pub(super) struct Amount {
    pub key: String,
    pub text: Text,
    pub beside: Text,
}

impl Leading {
    pub fn of(suite: &OverviewSuite) -> Self {
        let top = suite.top.as_ref();
        let labels = top.map(|top| names(suite, top)).unwrap_or_default();
        let name = |at: usize| Text::new(labels.get(at).map_or("", String::as_str));
        let advice = top.and_then(|top| summary::advice(top, &labels, None));
        // The difference has a figure of its own, and rows and pages of a suite need not say "this suite".
        let deed = |deed: &str| words::capital(deed.trim_end_matches(" by this suite"));
        let (deed, why) = advice
            .map(|advice| (deed(&advice.deed), advice.why))
            .unwrap_or_default();
        let only = suite
            .board
            .entries
            .first()
            .map(|entry| words::names_on(&suite.board)(&entry.arm))
            .filter(|_| top.is_none());
        Self {
            leader: only.map_or_else(|| name(0), Text::from),
            next: name(1),
            rates: top.and_then(|top| rates(top, &labels)),
            difference: top.and_then(difference),
            cost: top.and_then(|top| {
                amount(
                    top,
                    COST_PER_SOLVED,
                    format::money,
                    ["the cost", "dearer", "cheaper"],
                )
            }),
            time: top.and_then(|top| {
                amount(
                    top,
                    "duration_seconds",
                    format::seconds,
                    ["the time", "more time", "less time"],
                )
            }),
            deed: Text::from(deed),
            why: Text::from(why),
        }
    }
}

fn rates(top: &Comparison, labels: &[String]) -> Option<Rates> {
    let row = top.primary()?;
    let figures: Vec<(f64, Option<Interval>)> = row
        .cells
        .iter()
        .take(2)
        .filter_map(|cell| {
            let figure = cell
                .figure
                .as_ref()
                .zip(cell.value)
                .map(|(figure, value)| (value, figure.interval));
            cell.estimate
                .as_ref()
                .map(|estimate| (estimate.value, estimate.interval))
                .or(figure)
        })
        .collect();
    let [(first, of_first), (second, of_second)] = figures.as_slice() else {
        return None;
    };
    let ends = [of_first, of_second]
        .into_iter()
        .flatten()
        .flat_map(|ends| [ends.low, ends.high]);
    let is_share = row.metric.unit == crate::domain::Unit::Fraction;
    let axis = Axis::around(
        &[*first, *second]
            .into_iter()
            .chain(ends)
            .collect::<Vec<f64>>(),
        is_share.then_some((0.0, 1.0)),
    )?;
    let end = |number: f64| strip::end(if is_share { number * 100.0 } else { number });
    let figure = |cell: &Cell| {
        cell.estimate.as_ref().map_or_else(
            || words::cell(&row.metric, cell),
            |estimate| words::figure_with_interval(&row.metric, estimate),
        )
    };
    let about: Vec<String> = labels
        .iter()
        .zip(&row.cells)
        .map(|(label, cell)| format!("{label} {}", figure(cell)))
        .collect();
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
    let ends = found
        .interval
        .into_iter()
        .flat_map(|ends| [ends.low, ends.high]);
    let axis = (found.scale != Scale::Ratio)
        .then(|| Axis::around_zero(&[found.value].into_iter().chain(ends).collect::<Vec<f64>>()));
    let text = verdicts::difference(row);
    let whole = verdicts::change_of(&row.metric, pair).unwrap_or_default();
    let interval = whole
        .split_once(" [")
        .map_or_else(String::new, |(_, ends)| format!("[{ends}"));
    Some(Difference {
        key: key(found.value),
        text: Text::from(text),
        interval: Text::from(interval),
        is_clear: pair.verdict.winner().is_some()
            || matches!(
                pair.verdict,
                crate::views::Verdict::DeterministicDifference { .. }
            ),
        mark: axis.map(|axis| axis.mark(found.value, found.interval)),
    })
}

/// Returns a column's sort key: five digits suffice to order rows.
fn key(value: f64) -> String {
    format!("{value:.4e}")
}

fn amount(
    top: &Comparison,
    metric: &str,
    shown: fn(f64) -> String,
    [times, more, less]: [&str; 3],
) -> Option<Amount> {
    let row = top.rows.iter().find(|row| row.metric.name == metric)?;
    let value = row.cells.first()?.value?;
    let ratio = row
        .evidence
        .pairs
        .first()
        .and_then(|pair| pair.difference)
        .filter(|found| found.scale == Scale::Ratio);
    let beside = ratio.map(|found| match found.value {
        ratio if ratio > 0.95 && ratio < 1.05 => "about equal".to_owned(),
        ratio => words::than(ratio, times, more, less),
    });
    Some(Amount {
        key: key(value),
        text: Text::from(shown(value)),
        beside: Text::from(beside.unwrap_or_default()),
    })
}

/// Returns the sign and the sentences for the leading two arms.
pub(super) fn verdict(suite: &OverviewSuite) -> (&'static str, Vec<String>) {
    match (&suite.top, suite.board.entries.as_slice()) {
        (Some(top), entries) => {
            let mut sentences = summary::summary_sentences_naming(top, &names(suite, top));
            if entries.len() > 2 {
                // With more than two arms, the winner among all comes first, then the leading two.
                sentences.splice(0..0, verdicts::board_sentence(&suite.board));
            }
            (state::mark(SuiteState::settled(suite)), sentences)
        }
        (None, []) => (
            state::mark(SuiteState::NothingToCompare),
            vec!["No runs.".to_owned()],
        ),
        (None, [only, ..]) => {
            let rate = only.pass_rate.as_ref().map_or_else(
                || "pass rate unknown".to_owned(),
                |rate| {
                    format!(
                        "pass rate {}% ({})",
                        format::estimate(rate),
                        words::basis(rate)
                    )
                },
            );
            (
                state::mark(SuiteState::NothingToCompare),
                vec![match only.arm.title() {
                    Some(name) => format!("Only {name} has results: {rate}."),
                    None => format!("{}. There is no other arm.", words::capital(&rate)),
                }],
            )
        }
    }
}

/// Names the arms of a comparison as the suite's board does.
pub(super) fn names(suite: &OverviewSuite, comparison: &Comparison) -> Vec<String> {
    let name = words::names_on(&suite.board);
    comparison
        .arms
        .iter()
        .map(|compared| name(&compared.arm))
        .collect()
}

/// A key figure with a text below it.
pub(super) struct KeyFigure {
    pub label: Text,
    pub value: Text,
    pub beside: Text,
}

/// Returns a suite's answer in one line: the winner among all arms, or the comparison of the two. The verdict in sentences has the evidence.
pub(super) fn answer(suite: &OverviewSuite) -> String {
    let of_all = (suite.board.entries.len() > 2)
        .then(|| verdicts::board_line(&suite.board))
        .flatten();
    let of_two = || {
        let top = suite.top.as_ref()?;
        Some(format!(
            "{}.",
            answer::of_pair(top.primary()?, &names(suite, top))
        ))
    };
    of_all
        .or_else(of_two)
        .unwrap_or_else(|| verdict(suite).1.into_iter().next().unwrap_or_default())
}

/// Returns the leader's rate, lead, cost and time.
pub(super) fn key_figures(suite: &OverviewSuite, leading: &Leading) -> Vec<KeyFigure> {
    let board = &suite.board;
    let figure = |label: &str, value: Text, beside: String| KeyFigure {
        label: Text::new(label),
        value,
        beside: Text::from(beside),
    };
    let leader = suite
        .top
        .as_ref()
        .and_then(|top| top.arms.first())
        .map(|compared| &compared.arm);
    let entry = board
        .entries
        .iter()
        .find(|entry| leader.is_none_or(|leader| entry.arm == *leader));
    let rate = entry.and_then(|entry| entry.primary.as_ref()).map(|rate| {
        let whole = words::figure_with_interval(&board.primary, rate);
        let interval = whole
            .split_once(" [")
            .map_or_else(String::new, |(_, ends)| format!("[{ends}, "));
        let label = words::metric_label(&board.primary);
        figure(
            label,
            Text::from(words::figure(&board.primary, rate)),
            format!("{interval}{}", words::basis(rate)),
        )
    });
    let evidence = suite
        .top
        .as_ref()
        .and_then(Comparison::primary)
        .and_then(|row| row.evidence.pairs.first());
    let difference = leading.difference.as_ref().map(|found| {
        let p = evidence
            .and_then(|pair| pair.p_adjusted)
            .map(|p| format!("adjusted {}", verdicts::p_value(Some(p))));
        let interval = Some(found.interval.to_string()).filter(|interval| !interval.is_empty());
        figure(
            "Over the next",
            found.text.clone(),
            interval
                .into_iter()
                .chain(p)
                .collect::<Vec<String>>()
                .join(", "),
        )
    });
    let amount = |label: &str, amount: &Option<Amount>| {
        let amount = amount.as_ref()?;
        let beside = Some(amount.beside.to_string()).filter(|text| !text.is_empty());
        Some(figure(
            label,
            amount.text.clone(),
            beside.map_or_else(String::new, |beside| format!("{beside}, vs the next")),
        ))
    };
    let figures = [
        rate,
        difference,
        amount("Cost per solved", &leading.cost),
        amount("Time", &leading.time),
    ];
    figures.into_iter().flatten().collect()
}
