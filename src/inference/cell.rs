//! One arm's value of one metric, over the same population as its evidence.

use schemars::JsonSchema;
use serde::Serialize;

use crate::domain::{Metric, Unit};
use crate::stats::Interval;
use crate::warehouse::{OutcomeMatrix, RunRow};

use super::arm::ArmRuns;
use super::estimate::{Estimate, Method, counts, pass_rate};
use super::figures::{Figure, Range, figure, spread};
use super::numbers::is_measured;
use super::policy::Design;
use super::price::{per_solved, price_interval};
use super::sample::{Items, Rates};

/// One arm's value of one metric.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Cell {
    /// In the metric's unit: the run's value, or the mean over runs; for durations the median.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub value: Option<f64>,
    /// Passed; then total over the runs, for rates.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub passed: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub total: Option<u64>,
    /// Mean, standard deviation, minimum and maximum over the runs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub figure: Option<Figure>,
    /// The rate or mean score with its interval.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub estimate: Option<Estimate>,
}

impl Cell {
    /// Returns the interval of the shown value.
    pub fn interval(&self) -> Option<Interval> {
        match &self.estimate {
            Some(estimate) => estimate.interval,
            None => self.figure.as_ref().and_then(|figure| figure.interval),
        }
    }

    /// Returns the number of runs behind the value.
    pub fn runs(&self) -> u64 {
        self.figure.as_ref().map_or(0, |figure| figure.summary.n)
    }

    /// Creates a cell with a score's mean over items.
    pub(super) fn of_estimate(estimate: Option<Estimate>) -> Self {
        Self { value: estimate.as_ref().map(|estimate| estimate.value), passed: None, total: None, figure: None, estimate }
    }

    /// Creates a cell of a number per run, over the runs that the metric includes.
    pub(super) fn of_number(metric: &Metric, arm: &ArmRuns<'_>, value: &dyn Fn(&RunRow) -> Option<f64>) -> Self {
        let rows: Vec<&RunRow> = arm.counted.iter().copied().filter(|row| is_measured(metric, row)).collect();
        let mut figure = figure(&rows, Range::of(metric.unit), value);
        let median = if metric.unit == Unit::Seconds { spread(&rows, value) } else { None };
        if let Some((figure, median)) = figure.as_mut().zip(median.as_ref()) {
            // Durations are skewed: one slow run does not make a slow arm.
            figure.interval = median.interval;
        }
        let shown = |figure: &Figure| median.as_ref().map_or(figure.summary.mean, |spread| spread.median);
        Self { value: figure.as_ref().map(shown), passed: None, total: None, figure, estimate: None }
    }

    /// Creates a cell of a pass rate.
    pub(super) fn of_rate(arm: &ArmRuns<'_>, rates: &Rates, matrix: &OutcomeMatrix, items: &Items, unit: Design) -> Self {
        let estimate = pass_rate(&arm.counted, rates, items, unit);
        Self {
            value: estimate.as_ref().map(|estimate| estimate.value),
            passed: estimate.as_ref().and_then(|estimate| estimate.passed),
            total: estimate.as_ref().and_then(|estimate| estimate.total),
            figure: figure(&arm.counted, Range::Share, |row| counts(row, matrix).map(|(passed, total)| passed as f64 / total as f64)),
            estimate,
        }
    }

    /// Creates a cell of the cost per solved item: the total cost of the runs over their solved items.
    pub(super) fn of_price(rows: &[&RunRow], rates: &Rates, matrix: &OutcomeMatrix, unit: Design) -> Self {
        let estimate = per_solved(rows, rates, matrix).map(|price| Estimate {
            interval: price_interval(rows, rates, matrix, unit).map(|found| found.interval),
            method: Method::RatioOfTotals,
            ..Estimate::of(price.usd, price.solved, "solved items")
        });
        Self::of_estimate(estimate)
    }

    /// Creates a cell of own tests, as counts. 0 of 0 is a measurement without a rate.
    pub(super) fn of_own_tests(rows: &[&RunRow]) -> Self {
        let of_run = |row: &RunRow| row.run.own_tests_passed.zip(row.run.own_tests_total);
        let known: Vec<(u64, u64)> = rows.iter().filter_map(|row| of_run(row)).collect();
        let sums = (!known.is_empty()).then(|| known.iter().fold((0, 0), |sum, one| (sum.0 + one.0, sum.1 + one.1)));
        Self {
            value: None,
            passed: sums.map(|(passed, _)| passed),
            total: sums.map(|(_, total)| total),
            figure: figure(rows, Range::Share, |row| {
                of_run(row).and_then(|(passed, total)| (total > 0).then(|| passed as f64 / total as f64))
            }),
            estimate: None,
        }
    }
}
