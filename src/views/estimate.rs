//! Pass rates with their intervals.

use schemars::JsonSchema;
use serde::Serialize;

use crate::domain::{ItemKind, ItemStatus, Unit};
use crate::stats::{Interval, clopper_pearson, clustered_mean, mean_interval, normal_quantile, summary, wilson};
use crate::warehouse::{OutcomeMatrix, RunRow};

use super::evidence::Design;
use super::sample::{Items, Outcomes, Rates, sums};

/// All intervals are two-sided at this confidence.
pub(super) const CONFIDENCE: f64 = 0.95;

/// Beyond this the two intervals agree in every digit shown, and adding up binomial terms takes long.
const MAX_SUMMED: u64 = 1_000_000;

/// How an estimate's interval was made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Method {
    /// Wilson's interval over the items of one attempt each, or over the runs of one outcome each.
    Wilson,
    /// Wilson's interval over the tests of one run: holds if they were independent, and knows nothing of run-to-run variation.
    WilsonOneRun,
    /// Student's t over item means: several attempts at each item.
    TOverItems,
    /// Student's t over items with the cluster-robust standard error (CR1, one degree of freedom less than clusters).
    TOverClusters,
    /// Student's t over runs.
    TOverRuns,
    /// The source's own standard error.
    StatedError,
    /// A figure the source published, without counts or error.
    Stated,
    /// One value, or values without spread: no interval.
    None,
}

/// A point with its interval, what it was counted over, and what was left out. Never apart.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Estimate {
    /// A share between 0 and 1; of scores, in their unit.
    pub value: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub interval: Option<Interval>,
    /// Where that is Wilson's: Clopper and Pearson's, which never covers less often than it says and is mostly wider.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub guaranteed: Option<Interval>,
    pub n: u64,
    /// What n counts: `questions`, `tests`, `criteria`, `checks`, `runs`, or `outcomes` of one item.
    pub n_of: &'static str,
    pub method: Method,
    /// Standard error of the value, where it is a mean over items or runs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub standard_error: Option<f64>,
    /// Clusters of the items and how many times their variance is that of independent items, where the interval is over clusters.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub clusters: Option<ClusterSpread>,
    /// Outcomes asked for but missing: outages, unjudged, or absent while other arms have them.
    pub missing: u64,
    /// Passed and counted outcomes over all runs, where counts are known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub passed: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub total: Option<u64>,
}

/// What clustering does to an estimate.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct ClusterSpread {
    pub clusters: u64,
    /// The squared ratio of the cluster-robust standard error to the one of independent items.
    pub design_effect: f64,
}

/// Estimates an arm's pass rate from the best evidence its runs have: outcomes, else counts, else a published figure. `unit` is what
/// verdicts about the suite are counted in.
pub(super) fn pass_rate(rows: &[&RunRow], rates: &Rates, items: &Items, unit: Design) -> Option<Estimate> {
    match rates {
        Rates::Outcomes(outcomes) => from_outcomes(outcomes, items, unit),
        Rates::Counts(_) | Rates::Unknown => from_counts(rows, unit).or_else(|| from_stated(rows)),
    }
}

/// Counts of one run, from its header or its outcomes.
pub(super) fn counts(row: &RunRow, matrix: &OutcomeMatrix) -> Option<(u64, u64)> {
    let (mut passed, mut total) = (0, 0);
    for status in matrix.rows_of(&row.run.id).iter().flat_map(|matrix_row| &matrix_row.statuses).filter(|status| status.is_counted()) {
        total += 1;
        passed += u64::from(*status == ItemStatus::Pass);
    }
    if total > 0 {
        Some((passed, total))
    } else {
        row.run.shared_tests_passed.zip(row.run.shared_tests_total).filter(|(_, total)| *total > 0)
    }
}

fn from_outcomes(outcomes: &Outcomes, items: &Items, unit: Design) -> Option<Estimate> {
    let kind = items.kind?;
    let missing = outcomes.unanswered;
    let (passed, total) = sums(&outcomes.by_run);
    if total == 0 {
        return None;
    }
    let shared = |value, interval, n, n_of, method| Estimate { missing, ..of_counts(value, interval, (n, n_of), method, (passed, total)) };
    match unit {
        Design::Items | Design::Clusters => {
            let means: Vec<f64> = (0..outcomes.cells.len()).filter_map(|item| outcomes.mean(item)).collect();
            let n = means.len() as u64;
            let error = standard_error(&means);
            let codes: Option<Vec<u32>> = items.clusters.as_ref().filter(|_| unit == Design::Clusters).map(|codes| {
                let counted = outcomes.cells.iter().zip(codes).filter(|((_, counted), _)| *counted > 0);
                counted.map(|(_, code)| *code).collect()
            });
            if let Some(mean) = codes.and_then(|codes| clustered_mean(&means, &codes, CONFIDENCE).ok()) {
                return Some(Estimate {
                    standard_error: Some(mean.se_cr1),
                    clusters: Some(ClusterSpread { clusters: mean.clusters, design_effect: mean.design_effect }),
                    ..shared(mean.mean, Some(mean.interval.clipped(0.0, 1.0)), n, kind.plural(), Method::TOverClusters)
                });
            }
            let estimate = if outcomes.attempts == 1 {
                shared(passed as f64 / total as f64, wilson(passed, total, CONFIDENCE).ok(), n, kind.plural(), Method::Wilson)
            } else {
                let value = means.iter().sum::<f64>() / n as f64;
                let interval = mean_interval(&means, CONFIDENCE).ok().map(|interval| interval.clipped(0.0, 1.0));
                shared(value, interval, n, kind.plural(), if interval.is_some() { Method::TOverItems } else { Method::None })
            };
            Some(Estimate { standard_error: error, ..estimate })
        }
        Design::Runs | Design::Counts => {
            let mut estimate = over_runs(&outcomes.by_run, kind.plural())?;
            estimate.missing = missing;
            Some(estimate)
        }
    }
}

/// An estimate from passed and total, with nothing missing.
fn of_counts(
    value: f64,
    interval: Option<Interval>,
    (n, n_of): (u64, &'static str),
    method: Method,
    (passed, total): (u64, u64),
) -> Estimate {
    let is_wilson = matches!(method, Method::Wilson | Method::WilsonOneRun);
    Estimate {
        value,
        interval,
        guaranteed: if is_wilson && total <= MAX_SUMMED { clopper_pearson(passed, total, CONFIDENCE).ok() } else { None },
        n,
        n_of,
        method,
        standard_error: None,
        clusters: None,
        missing: 0,
        passed: Some(passed),
        total: Some(total),
    }
}

/// Returns the standard error of the mean of independent values; nothing of fewer than two.
pub(super) fn standard_error(values: &[f64]) -> Option<f64> {
    summary(values).ok().and_then(|summary| Some(summary.sd? / (summary.n as f64).sqrt()))
}

/// Estimates over runs that share one artefact each: the run is the unit, its tests are not independent trials.
fn over_runs(by_run: &[(u64, u64)], item_word: &'static str) -> Option<Estimate> {
    let rates: Vec<f64> = by_run.iter().filter(|(_, total)| *total > 0).map(|(passed, total)| *passed as f64 / *total as f64).collect();
    let (passed, total) = sums(by_run);
    let shared = |value, interval, n, n_of, method| of_counts(value, interval, (n, n_of), method, (passed, total));
    match rates.len() {
        0 => None,
        1 => Some(shared(rates[0], wilson(passed, total, CONFIDENCE).ok(), total, item_word, Method::WilsonOneRun)),
        n => {
            let interval = mean_interval(&rates, CONFIDENCE).ok().map(|interval| interval.clipped(0.0, 1.0));
            let method = if interval.is_some() { Method::TOverRuns } else { Method::None };
            let estimate = shared(rates.iter().sum::<f64>() / n as f64, interval, n as u64, "runs", method);
            Some(Estimate { standard_error: standard_error(&rates), ..estimate })
        }
    }
}

/// Estimates how often one item is passed over runs, each with its passed and counted outcomes.
pub(super) fn rate_over_runs(by_run: &[(u64, u64)]) -> Option<Estimate> {
    let counted: Vec<(u64, u64)> = by_run.iter().copied().filter(|(_, total)| *total > 0).collect();
    if counted.iter().any(|(_, total)| *total > 1) {
        return over_runs(&counted, "outcomes");
    }
    let (passed, total) = sums(&counted);
    let interval = wilson(passed, total, CONFIDENCE).ok()?;
    Some(of_counts(passed as f64 / total as f64, Some(interval), (total, "runs"), Method::Wilson, (passed, total)))
}

fn from_counts(rows: &[&RunRow], unit: Design) -> Option<Estimate> {
    let by_run: Vec<(u64, u64)> = rows.iter().filter_map(|row| row.run.shared_tests_passed.zip(row.run.shared_tests_total)).collect();
    let without = rows.len() - by_run.len();
    let mut estimate = over_runs(&by_run, ItemKind::Test.plural())?;
    if unit == Design::Items && estimate.method == Method::WilsonOneRun {
        (estimate.method, estimate.n_of) = (Method::Wilson, "items");
    }
    // A run without counts is missing as a whole; how many tests that is, nobody said.
    estimate.missing = without as u64;
    Some(estimate)
}

/// Takes the mean of the runs' published rates; a single run's stated standard error gives an interval.
fn from_stated(rows: &[&RunRow]) -> Option<Estimate> {
    let scores: Vec<_> = rows
        .iter()
        .filter_map(|row| {
            let named = |score: &&crate::domain::ScoreRecord| {
                matches!(score.metric.as_str(), "accuracy" | "pass_rate") && score.unit == Unit::Fraction
            };
            let score = row.run.scores.iter().filter(named).max_by_key(|score| score.revision)?;
            Some((score.value?, score.standard_error, score.n))
        })
        .collect();
    let missing = (rows.len() - scores.len()) as u64;
    let base = Estimate {
        value: 0.0,
        interval: None,
        guaranteed: None,
        n: scores.len() as u64,
        n_of: "runs",
        method: Method::Stated,
        standard_error: None,
        clusters: None,
        missing,
        passed: None,
        total: None,
    };
    match scores.as_slice() {
        [] => None,
        [(value, error, n)] => {
            let normal = normal_quantile(0.5 + CONFIDENCE / 2.0).ok();
            let half = error.filter(|error| *error > 0.0).zip(normal).map(|(error, quantile)| quantile * error);
            let interval = half.and_then(|half| Interval::new(value - half, value + half)).map(|interval| interval.clipped(0.0, 1.0));
            let method = if interval.is_some() { Method::StatedError } else { Method::Stated };
            let (n, n_of) = n.map_or((1, "runs"), |n| (n, "items"));
            Some(Estimate { value: *value, interval, method, n, n_of, ..base })
        }
        several => {
            let values: Vec<f64> = several.iter().map(|(value, _, _)| *value).collect();
            let interval = mean_interval(&values, CONFIDENCE).ok().map(|interval| interval.clipped(0.0, 1.0));
            let method = if interval.is_some() { Method::TOverRuns } else { Method::Stated };
            let value = values.iter().sum::<f64>() / values.len() as f64;
            Some(Estimate { value, interval, method, standard_error: standard_error(&values), ..base })
        }
    }
}
