//! Two arms on a number per run: amounts spent, scores, or own tests.

use crate::domain::{Direction, Metric, MetricKind, RunStatus, Unit};
use crate::stats::log_ratio_welch;
use crate::warehouse::RunRow;

use super::arm::ArmRuns;
use super::comparison::{Difference, Levels, Scale, Sizes, Test};
use super::figures::ValueRange;
use super::pair_test::PairFinding;
use super::policy::{Design, MIN_RUNS, Policy};
use super::secondary_effects::{Bill, Detail};
use super::unpaired::compare_run_means;
use super::verdict::{DataSupport, Incomparable, Missing, Obstacle};

/// Returns whether a metric includes a run. Amounts include only completed runs: the cost of a failed run is no price of success.
pub fn is_measured(metric: &Metric, row: &RunRow) -> bool {
    metric.kind != MetricKind::Amount || row.run.status == RunStatus::Completed
}

/// An arm's numbers per run.
pub(super) struct RunSample {
    /// Of amounts, only those of completed runs.
    pub values: Vec<f64>,
    /// Runs that a limit ended.
    censored: usize,
    /// Runs with a value that the metric excludes.
    uncounted: usize,
}

impl RunSample {
    pub fn from_arm(
        metric: &Metric,
        arm: &ArmRuns<'_>,
        value: &dyn Fn(&RunRow) -> Option<f64>,
    ) -> Self {
        let taken = arm.counted.iter().filter(|row| is_measured(metric, row));
        let values: Vec<f64> = taken
            .filter_map(|row| value(row))
            .filter(|value| value.is_finite())
            .collect();
        let uncounted = arm
            .counted
            .iter()
            .chain(&arm.crashed)
            .filter_map(|row| value(row))
            .count()
            - values.len();
        let limited = arm
            .counted
            .iter()
            .filter(|row| row.run.status == RunStatus::Limit)
            .count();
        Self {
            values,
            uncounted,
            censored: if metric.unit == Unit::Seconds {
                limited
            } else {
                0
            },
        }
    }
}

/// Compares two arms by their numbers per run.
pub(super) fn number_pair(
    metric: &Metric,
    one: &RunSample,
    other: &RunSample,
    policy: &Policy,
) -> PairFinding {
    let sizes = Sizes {
        first: one.values.len() as u64,
        second: other.values.len() as u64,
        of: "runs",
        ..Sizes::default()
    };
    if metric.direction == Direction::None || metric.kind == MetricKind::Count {
        return PairFinding::not_comparable(Design::Runs, Incomparable::DirectionUnknown, sizes);
    }
    if let Some(sample) = [one, other]
        .into_iter()
        .find(|sample| sample.values.is_empty())
    {
        let reason = if sample.uncounted > 0 {
            Missing::NotCompleted
        } else {
            Missing::NotMeasured
        };
        return PairFinding::without_data(Design::Runs, reason, sizes);
    }
    let is_ratio = metric.kind == MetricKind::Amount
        && one
            .values
            .iter()
            .chain(&other.values)
            .all(|value| *value > 0.0);
    if !is_ratio {
        let scale = if metric.unit == Unit::Fraction {
            Scale::Share
        } else {
            Scale::Unit
        };
        let mut finding = compare_run_means(&one.values, &other.values, scale, policy);
        let range = ValueRange::from_metric(&metric.name, metric.unit);
        if let Some(Difference { interval, .. }) = &mut finding.difference {
            *interval =
                interval.map(|found| range.clip_difference(found, &one.values, &other.values));
        }
        mark_fixed_result(&mut finding, one, other);
        censor_limited_runs(&mut finding, one, other);
        return finding;
    }
    let logs = |values: &[f64]| values.iter().map(|value| value.ln()).collect::<Vec<f64>>();
    let mut finding = compare_run_means(
        &logs(&one.values),
        &logs(&other.values),
        Scale::Ratio,
        policy,
    );
    finding.difference = finding.difference.map(Difference::to_ratio);
    finding.levels = finding.levels.map(Levels::to_geometric_means);
    if let Ok(ratio) = log_ratio_welch(&one.values, &other.values, policy.confidence()) {
        finding.difference = Some(Difference {
            value: ratio.ratio,
            scale: Scale::Ratio,
            interval: Some(ratio.interval),
        });
        if let DataSupport::Tested { p, .. } = &mut finding.support {
            *p = ratio.log.p;
        }
        finding.test = Some(Test::WelchOnLogs);
    }
    finding.detail.bill = Bill::from_amounts(&one.values, &other.values, policy.confidence());
    doubt_if_totals_disagree(&mut finding, &one.values, &other.values);
    mark_fixed_result(&mut finding, one, other);
    censor_limited_runs(&mut finding, one, other);
    finding
}

/// Amounts that differ by no more than this share of themselves are equal: they were added up in another order.
pub(super) const AMOUNT_ROUNDING: f64 = 1e-9;

/// Makes the finding a fixed result if no run of either arm varied. As many runs are needed as for outcomes that never vary.
fn mark_fixed_result(finding: &mut PairFinding, one: &RunSample, other: &RunSample) {
    let is_constant = |sample: &RunSample| {
        let values = &sample.values;
        values.len() >= MIN_RUNS
            && values
                .iter()
                .all(|value| (value - values[0]).abs() <= AMOUNT_ROUNDING * values[0].abs())
    };
    if is_constant(one) && is_constant(other) {
        finding.set_fixed();
    }
}

/// Raises a doubt if the typical run and the sum over all runs point in different directions, because the row would name one arm and show
/// the other as cheaper.
pub(super) fn doubt_if_totals_disagree(finding: &mut PairFinding, one: &[f64], other: &[f64]) {
    let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
    let total = mean(one) / mean(other);
    if finding.difference.is_some_and(|found| {
        (found.value > 1.0) != (total > 1.0) && (found.value < 1.0) != (total < 1.0)
    }) {
        finding.forbid_winner(Obstacle::TotalDisagrees);
    }
}

/// Censors the finding if runs hit a limit: the time they would have taken is unknown, so the mean over the others is not the arm's.
fn censor_limited_runs(finding: &mut PairFinding, one: &RunSample, other: &RunSample) {
    if one.censored + other.censored > 0 {
        finding.mark_censored();
        (finding.plan, finding.detail) = (None, Detail::default());
    }
}
