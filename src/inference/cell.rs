//! One arm's value of one metric, over the same population as its evidence.

use schemars::JsonSchema;
use serde::Serialize;

use crate::domain::{Metric, Unit};
use crate::stats::Interval;
use crate::warehouse::{OutcomeMatrix, RunRow};

use super::arm::ArmRuns;
use super::estimate::{Estimate, Method, counts, pass_rate};
use super::figures::{Figure, Numbers, Range, spread};
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

    /// Returns the numbers per run that a metric includes.
    pub(super) fn numbers(metric: &Metric, arm: &ArmRuns<'_>, value: &dyn Fn(&RunRow) -> Option<f64>) -> Numbers {
        Numbers::of(&measured(metric, arm), Range::of(metric.unit), value)
    }

    /// Creates a cell of a number per run, whose figure is that of [`Cell::numbers`].
    pub(super) fn of_number(
        metric: &Metric,
        arm: &ArmRuns<'_>,
        value: &dyn Fn(&RunRow) -> Option<f64>,
        mut figure: Option<Figure>,
    ) -> Self {
        let median = if metric.unit == Unit::Seconds { spread(&measured(metric, arm), value) } else { None };
        if let Some((figure, median)) = figure.as_mut().zip(median.as_ref()) {
            // Durations are skewed: one slow run does not make a slow arm.
            figure.interval = median.interval;
        }
        let shown = |figure: &Figure| median.as_ref().map_or(figure.summary.mean, |spread| spread.median);
        Self { value: figure.as_ref().map(shown), passed: None, total: None, figure, estimate: None }
    }

    /// Returns the pass rates of an arm's runs.
    pub(super) fn rates_of_runs(arm: &ArmRuns<'_>, matrix: &OutcomeMatrix) -> Numbers {
        Numbers::of(&arm.counted, Range::Share, |row| counts(row, matrix).map(|(passed, total)| passed as f64 / total as f64))
    }

    /// Creates a cell of a pass rate, without the figure of [`Cell::rates_of_runs`].
    pub(super) fn of_rate(arm: &ArmRuns<'_>, rates: &Rates, items: &Items, unit: Design) -> Self {
        let estimate = pass_rate(&arm.counted, rates, items, unit);
        Self {
            value: estimate.as_ref().map(|estimate| estimate.value),
            passed: estimate.as_ref().and_then(|estimate| estimate.passed),
            total: estimate.as_ref().and_then(|estimate| estimate.total),
            figure: None,
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

    /// Returns the shares of own tests that an arm's runs passed. 0 of 0 has none.
    pub(super) fn own_tests_of_runs(rows: &[&RunRow]) -> Numbers {
        Numbers::of(rows, Range::Share, |row| own_tests(row).and_then(|(passed, total)| (total > 0).then(|| passed as f64 / total as f64)))
    }

    /// Creates a cell of own tests, as counts, with the figure of [`Cell::own_tests_of_runs`]. 0 of 0 is a measurement without a rate.
    pub(super) fn of_own_tests(rows: &[&RunRow], figure: Option<Figure>) -> Self {
        let known: Vec<(u64, u64)> = rows.iter().filter_map(|row| own_tests(row)).collect();
        let sums = (!known.is_empty()).then(|| known.iter().fold((0, 0), |sum, one| (sum.0 + one.0, sum.1 + one.1)));
        Self { value: None, passed: sums.map(|(passed, _)| passed), total: sums.map(|(_, total)| total), figure, estimate: None }
    }
}

fn measured<'a>(metric: &Metric, arm: &ArmRuns<'a>) -> Vec<&'a RunRow> {
    arm.counted.iter().copied().filter(|row| is_measured(metric, row)).collect()
}

fn own_tests(row: &RunRow) -> Option<(u64, u64)> {
    row.run.own_tests_passed.zip(row.run.own_tests_total)
}
