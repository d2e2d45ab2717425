//! The arms of a suite, one row each: rates drawn on one axis, then difference, cost and time.

use crate::domain::Unit;
use crate::render::board::arms_table;
use crate::render::sparkline::MOST_POINTS;
use crate::render::{format, nights, verdicts, words};
use crate::views::{Against, Arm, Entry, Estimate, OverviewSuite, Scale, SuiteBoard};

use super::any_pair;
use super::arm_name::{ArmName, linked};
use super::bars::{self, Bars};
use super::grid;
use super::plan::{Plan, SuitePlace};
use super::shell::Text;
use super::strip::{self, Axis, Mark};

/// Minimum number of rows for a filter.
const FILTER_FROM: usize = 12;
/// Number of rows from which on each has one line.
const DENSE_FROM: usize = 25;
/// Maximum number of arms with trends here. With more, only the page on nights draws them.
const MOST_TRENDS: usize = 60;
/// Maximum number of arms with further columns.
const MOST_CHOSEN: usize = 120;
/// Share of the width up to which a rate is written at the right end of its interval.
const RIGHT: f64 = 0.86;

pub(super) struct Arms {
    pub ticks: Vec<Tick>,
    /// Number of steps of the axis, for the lines behind the marks.
    pub steps: usize,
    /// The leader's interval: left end and width.
    pub band: Option<(String, String)>,
    /// Label of the rates: `Pass rate`.
    pub measure: Text,
    /// The arm that all are compared with: `the leader`, or the baseline's name.
    pub reference: Text,
    pub has: Has,
    pub has_filter: bool,
    /// Whether each row has one line.
    pub is_dense: bool,
    /// Address of the page that compares any two of the arms.
    pub any_pair: Option<String>,
    /// Further columns of the board, hidden at first. Scripts let a reader choose them.
    pub more: Vec<grid::Column>,
    pub rows: Vec<Row>,
}

/// Columns that are not empty.
pub(super) struct Has {
    pub trend: bool,
    pub cost: bool,
    pub time: bool,
}

/// A number at a position on an axis.
pub(super) struct Tick {
    pub x: String,
    pub label: String,
    pub anchor: &'static str,
}

/// One arm.
pub(super) struct Row {
    /// Its place on the board, which links it with its point in other drawings.
    pub place: usize,
    pub name: ArmName,
    pub rank: Text,
    pub rank_key: String,
    pub leads: bool,
    /// The rate with its interval, in words.
    pub about: Text,
    pub rate: Option<Rate>,
    pub against: Difference,
    pub cost: Option<(String, Text)>,
    pub time: Option<(String, Text)>,
    pub trend: Option<Bars>,
    /// Cells of the further columns.
    pub more: Vec<grid::Cell>,
}

pub(super) struct Rate {
    pub mark: Mark,
    pub text: Text,
    /// Position of the text, and its side of the interval.
    pub x: String,
    pub is_left: bool,
}

/// Difference from the reference arm.
pub(super) struct Difference {
    /// Sort key. Empty without a difference.
    pub key: String,
    pub text: Text,
    pub interval: Text,
    /// Whether the difference is significant.
    pub is_clear: bool,
}

/// Lays the arms out, or returns `None` if no arm has a figure.
pub(super) fn of_suite(
    suite: &OverviewSuite,
    place: &SuitePlace,
    plan: &Plan,
    root: &str,
) -> Option<Arms> {
    let board = &suite.board;
    let is_share = board.primary.unit == Unit::Fraction;
    let axis = axis(
        board
            .entries
            .iter()
            .filter_map(|entry| entry.primary.as_ref()),
        is_share,
    )?;
    let name = linked(board, place, plan, root);
    let ticks = axis.ticks();
    let steps = ticks.len().saturating_sub(1);
    let labelled = |(at, tick): (usize, f64)| Tick {
        x: axis.at(tick),
        label: format!(
            "{}{}",
            strip::end(if is_share { tick * 100.0 } else { tick }),
            if is_share && at == steps { "%" } else { "" }
        ),
        anchor: if at == 0 {
            "start"
        } else if at == steps {
            "end"
        } else {
            "middle"
        },
    };
    let leader = suite.leader();
    let band = board
        .entries
        .iter()
        .filter(|_| board.entries.len() > 1)
        .find(|entry| Some(&entry.arm) == leader)
        .and_then(|entry| entry.primary.as_ref()?.interval)
        .map(|ends| {
            (
                axis.at(ends.low),
                strip::percent(axis.share(ends.high) - axis.share(ends.low)),
            )
        });
    let history = suite
        .history
        .as_ref()
        .filter(|_| board.entries.len() <= MOST_TRENDS);
    let scale = history
        .and_then(nights::scale)
        .map(|ends| bars::Scale::new(ends, MOST_POINTS));
    let (more, cells) = more(board);
    let row = |(at, (entry, more)): (usize, (&Entry, Vec<grid::Cell>))| Row {
        more,
        ..row(suite, at, entry, axis, scale, name(&entry.arm))
    };
    let rows: Vec<Row> = board
        .entries
        .iter()
        .zip(cells)
        .enumerate()
        .map(row)
        .collect();
    Some(Arms {
        ticks: ticks.iter().copied().enumerate().map(labelled).collect(),
        steps,
        band,
        measure: Text::from(words::metric_label(&board.primary)),
        reference: Text::new(suite.baseline.as_deref().unwrap_or("the leader")),
        has: Has {
            trend: rows.iter().any(|row| row.trend.is_some()),
            cost: rows.iter().any(|row| row.cost.is_some()),
            time: rows.iter().any(|row| row.time.is_some()),
        },
        has_filter: rows.len() >= FILTER_FROM,
        is_dense: rows.len() >= DENSE_FROM,
        any_pair: any_pair::href(suite, place, root),
        more,
        rows,
    })
}

/// Returns the board's columns of numbers that the page does not draw or show by default, with one row of cells per arm. Empty for many
/// arms: the leaderboard has all columns.
fn more(board: &SuiteBoard) -> (Vec<grid::Column>, Vec<Vec<grid::Cell>>) {
    if board.entries.len() > MOST_CHOSEN {
        return (Vec::new(), vec![Vec::new(); board.entries.len()]);
    }
    let grid = grid::Grid::of(&arms_table(board), "more", "");
    let shown = [
        "Rank",
        words::metric_label(&board.primary),
        "Cost per solved",
        "Duration",
    ];
    let is_more = |column: &grid::Column| {
        column.look == grid::Look::Number
            && !shown
                .iter()
                .any(|name| column.name.to_string().starts_with(name))
    };
    let kept: Vec<bool> = grid.columns.iter().map(is_more).collect();
    let rows = grid.rows.into_iter().map(|row| {
        row.into_iter()
            .zip(&kept)
            .filter(|(_, kept)| **kept)
            .map(|(cell, _)| cell)
            .collect()
    });
    (
        grid.columns
            .into_iter()
            .zip(&kept)
            .filter(|(_, kept)| **kept)
            .map(|(column, _)| column)
            .collect(),
        rows.collect(),
    )
}

/// Returns an axis that includes the rates and their intervals.
pub(super) fn axis<'a>(rates: impl Iterator<Item = &'a Estimate>, is_share: bool) -> Option<Axis> {
    let ends = |rate: &Estimate| {
        rate.interval
            .into_iter()
            .flat_map(|ends| [ends.low, ends.high])
            .chain([rate.value])
            .collect::<Vec<f64>>()
    };
    Axis::around(
        &rates.flat_map(ends).collect::<Vec<f64>>(),
        is_share.then_some((0.0, 1.0)),
    )
}

fn row(
    suite: &OverviewSuite,
    at: usize,
    entry: &Entry,
    axis: Axis,
    scale: Option<bars::Scale>,
    name: ArmName,
) -> Row {
    let metric = &suite.board.primary;
    let rate = entry.primary.as_ref();
    let about = rate.map_or_else(
        || "unknown".to_owned(),
        |rate| {
            format!(
                "{}, {}",
                words::figure_with_interval(metric, rate),
                words::basis(rate)
            )
        },
    );
    let standing = entry.standing.as_ref();
    Row {
        place: at,
        name,
        rank: Text::from(
            standing.map_or_else(|| "–".to_owned(), |standing| words::rank(standing.rank)),
        ),
        rank_key: standing.map_or_else(String::new, |standing| standing.rank.best.to_string()),
        leads: crate::render::board::has_leaders(&suite.board)
            && standing.is_some_and(|standing| standing.is_leading),
        about: Text::from(about),
        rate: rate.map(|rate| {
            let mark = axis.mark(rate.value, rate.interval);
            let (low, high) = mark
                .ends
                .clone()
                .unwrap_or_else(|| (mark.x.clone(), mark.x.clone()));
            let is_left = axis.share(rate.interval.map_or(rate.value, |ends| ends.high)) > RIGHT;
            Rate {
                text: Text::from(words::figure(metric, rate)),
                x: if is_left { low } else { high },
                is_left,
                mark,
            }
        }),
        against: against(suite, &entry.arm),
        cost: entry
            .cost_per_solved_usd
            .map(|usd| (usd.to_string(), Text::from(format::money(usd)))),
        time: entry.duration.as_ref().map(|spread| {
            (
                spread.median.to_string(),
                Text::from(format::seconds(spread.median)),
            )
        }),
        trend: scale.and_then(|scale| Bars::of(&rates(suite, &entry.arm), scale)),
        more: Vec::new(),
    }
}

/// Draws the arm's nights as bars, on the scale of the suite's history.
pub(super) fn trend(suite: &OverviewSuite, arm: &Arm) -> Option<Bars> {
    let ends = nights::scale(suite.history.as_ref()?)?;
    Bars::of(&rates(suite, arm), bars::Scale::new(ends, MOST_POINTS))
}

/// Returns the arm's pass rates over its nights. Empty with fewer than two.
fn rates<'a>(suite: &'a OverviewSuite, arm: &Arm) -> Vec<&'a Estimate> {
    let history = suite
        .history
        .as_ref()
        .and_then(|history| history.arms.iter().find(|known| known.arm == *arm));
    history
        .map(nights::rates)
        .filter(|rates| rates.len() > 1)
        .unwrap_or_default()
}

fn against(suite: &OverviewSuite, arm: &Arm) -> Difference {
    let only = |text: &str| Difference {
        key: String::new(),
        text: Text::from(text),
        interval: Text::default(),
        is_clear: false,
    };
    match suite.against(arm) {
        Against::Itself => only(if suite.baseline.is_some() {
            "baseline"
        } else {
            "leader"
        }),
        Against::Unknown => only("–"),
        Against::Other(row, pair) => {
            let Some(found) = pair.difference.filter(|found| found.scale != Scale::Ratio) else {
                return only("–");
            };
            let text = verdicts::change_of(&row.metric, &pair).unwrap_or_default();
            let (text, interval) = text
                .split_once(" [")
                .map_or((text.as_str(), String::new()), |(text, ends)| {
                    (text, format!("[{ends}"))
                });
            Difference {
                key: found.value.to_string(),
                text: Text::from(text),
                interval: Text::from(interval),
                is_clear: pair.verdict.better().is_some(),
            }
        }
    }
}
