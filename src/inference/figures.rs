//! Money, tokens and time of an arm, with the number of runs that report them.

use schemars::JsonSchema;
use serde::Serialize;

use crate::domain::{Run, Unit};
use crate::stats::{Interval, Summary, mean_interval, median_interval, quantile, summary};
use crate::warehouse::RunRow;

use super::policy::CONFIDENCE;

/// Number of the arm's runs that have a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Coverage {
    pub known: u64,
    pub runs: u64,
}

/// A number per run over an arm's runs.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Figure {
    #[serde(flatten)]
    pub summary: Summary,
    /// Student's t over the runs, cut to possible values. For the median of durations in a comparison, by order statistics.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub interval: Option<Interval>,
    pub coverage: Coverage,
}

/// A skewed number per run: median and 90th percentile.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Spread {
    pub median: f64,
    /// Interval of the median, by order statistics. Absent for fewer than six runs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub interval: Option<Interval>,
    /// Absent for a single run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub p90: Option<f64>,
    pub coverage: Coverage,
}

/// A sum of money. A lower bound if part of it is unknown.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Money {
    pub usd: f64,
    pub is_lower_bound: bool,
    pub coverage: Coverage,
}

/// The possible values of a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Range {
    Any,
    /// Time, tokens, money and counts.
    NotNegative,
    /// A share of what was counted.
    Share,
}

impl Range {
    /// Returns the possible values of a unit. A fractional score may be adjusted for chance and be negative.
    pub fn of(unit: Unit) -> Self {
        match unit {
            Unit::Seconds | Unit::Tokens | Unit::Usd | Unit::Count => Self::NotNegative,
            Unit::Fraction | Unit::Points | Unit::Number => Self::Any,
        }
    }

    /// Cuts an interval to the range, since a t interval over few runs may exceed it. If values exceed the range, it does not apply.
    fn cut(self, interval: Interval, summary: &Summary) -> Interval {
        match self {
            Self::NotNegative if summary.min >= 0.0 => interval.clipped(0.0, f64::MAX),
            Self::Share if summary.min >= 0.0 && summary.max <= 1.0 => interval.clipped(0.0, 1.0),
            Self::Any | Self::NotNegative | Self::Share => interval,
        }
    }
}

/// Summarises one number per run.
pub(crate) fn figure(rows: &[&RunRow], range: Range, value: impl Fn(&RunRow) -> Option<f64>) -> Option<Figure> {
    let values: Vec<f64> = rows.iter().filter_map(|row| value(row)).collect();
    let coverage = Coverage { known: values.len() as u64, runs: rows.len() as u64 };
    let summary = summary(&values).ok()?;
    let interval = mean_interval(&values, CONFIDENCE).ok().map(|interval| range.cut(interval, &summary));
    Some(Figure { summary, interval, coverage })
}

pub(crate) fn spread(rows: &[&RunRow], value: impl Fn(&RunRow) -> Option<f64>) -> Option<Spread> {
    let values: Vec<f64> = rows.iter().filter_map(|row| value(row)).collect();
    let coverage = Coverage { known: values.len() as u64, runs: rows.len() as u64 };
    let p90 = if values.len() > 1 { quantile(&values, 0.9).ok() } else { None };
    let interval = median_interval(&values, CONFIDENCE).ok().map(|median| median.interval);
    Some(Spread { median: quantile(&values, 0.5).ok()?, interval, p90, coverage })
}

/// Adds up the runs' cost. A run with costs for only some of its items makes the sum a lower bound.
pub(crate) fn money(rows: &[&RunRow]) -> Option<Money> {
    let (mut usd, mut known, mut is_lower_bound) = (0.0, 0, false);
    for row in rows {
        match (row.run.cost_usd, row.items) {
            (Some(cost), _) => {
                usd += cost;
                known += 1;
            }
            (None, Some(items)) if items.with_cost > 0 => {
                usd += items.cost_usd;
                known += 1;
                is_lower_bound |= items.with_cost < items.lines;
            }
            (None, _) => is_lower_bound = true,
        }
    }
    (known > 0).then_some(Money { usd, is_lower_bound, coverage: Coverage { known, runs: rows.len() as u64 } })
}

/// Returns a run's cost: its own figure, else the sum over its items if every item has one.
pub(crate) fn cost(row: &RunRow) -> Option<f64> {
    row.run.cost_usd.or_else(|| row.items.filter(|items| items.lines > 0 && items.with_cost == items.lines).map(|items| items.cost_usd))
}

/// Returns a run's own duration. Items may run in parallel, so their sum is no substitute.
pub(crate) fn duration(row: &RunRow) -> Option<f64> {
    row.run.duration_seconds
}

/// Returns a run's tokens, cache included: its own figure, else the sum over its items if every item has both parts.
pub(crate) fn tokens(row: &RunRow) -> Option<f64> {
    let of_run = |run: &Run| run.total_tokens.or_else(|| run.input_tokens?.checked_add(run.output_tokens?));
    let of_items = || {
        let items = row.items.filter(|items| items.lines > 0 && items.with_input == items.lines && items.with_output == items.lines)?;
        items.input_tokens.checked_add(items.output_tokens)
    };
    of_run(&row.run).or_else(of_items).map(|tokens| tokens as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_and_amounts_have_no_negative_end() {
        let cut = |range: Range, values: &[f64]| {
            let interval = mean_interval(values, CONFIDENCE).expect("they vary");
            (interval, range.cut(interval, &summary(values).expect("there are some")))
        };
        for unit in [Unit::Seconds, Unit::Tokens, Unit::Usd, Unit::Count] {
            let (whole, cut) = cut(Range::of(unit), &[1.0, 9.0, 2.0]);
            assert!(whole.low < 0.0);
            assert_eq!((cut.low, cut.high), (0.0, whole.high), "{unit:?}");
        }
        // Lines added minus lines removed, reported as a count.
        let (whole, same) = cut(Range::of(Unit::Count), &[-1.0, 9.0, 2.0]);
        assert_eq!(whole, same);
        // A score adjusted for chance may be below 0.
        let (whole, same) = cut(Range::of(Unit::Fraction), &[0.0, 0.1, 0.4]);
        assert_eq!(whole, same);
        let (_, share) = cut(Range::Share, &[0.5, 1.0, 0.1]);
        assert_eq!((share.low, share.high), (0.0, 1.0));
    }
}
