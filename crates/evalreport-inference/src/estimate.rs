//! One arm's figure with its interval: a pass rate, or a mean score.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Serialize;

use crate::domain::{ItemKind, ItemStatus, Unit, latest_revision};
use crate::stats::{
    Calibration, Interval, ItemsByRuns, RunNoise, SummedArm, clopper_pearson, clustered_mean,
    effective_interval, mean_interval, normal_quantile, one_way_summed, rogan_gladen,
    summarise_sample, wilson_score_interval,
};
use crate::warehouse::{MatrixRow, OutcomeMatrix, RunRow};

use super::labelled::{self, JudgeFigure};
use super::policy::{CONFIDENCE, Design, natural_design};
use super::sample::{
    ArmOutcomes, ArmRates, RunSums, RunValueMatrix, SuiteItems, is_column_marked, label_columns,
    passed_items_of_run, sum_runs,
};
use super::unpaired::PublishedRate;

/// Outcomes beyond which the two intervals agree in every shown digit, and summing binomial terms takes long.
const MAX_SUMMED: u64 = 1_000_000;

/// The method of an estimate's interval.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Method {
    /// Wilson's interval over items with one attempt each, or over runs with one outcome each.
    Wilson,
    /// Wilson's interval over the tests of one run. Assumes independent tests and ignores run-to-run variation.
    WilsonOneRun,
    /// Student's t over item means, with several attempts at each item.
    TOverItems,
    /// Student's t over items with the cluster-robust standard error CR2 and Satterthwaite's degrees of freedom.
    TOverClusters,
    /// Student's t over items and runs, which both contribute variance. Epochs and trials of the whole suite count as runs.
    TOverItemsAndRuns,
    /// Student's t over runs.
    TOverRuns,
    /// Wilson's interval if no value varies, at the effective number of units.
    WilsonEffective,
    /// A ratio of totals, with an interval by the delta method or the bootstrap.
    RatioOfTotals,
    /// A geometric mean of amounts above zero: the mean of logarithms, with their interval.
    GeometricMean,
    /// The source's own standard error.
    StatedError,
    /// Wilson's interval of a published share of a published number of items.
    StatedCount,
    /// A published figure, without counts or error.
    Stated,
    /// A judge's outcomes corrected by people's labels of some items: prediction-powered inference.
    PredictionPowered,
    /// A judge's outcomes corrected by its known error rates (Rogan and Gladen).
    KnownErrors,
    /// One value, or values without spread: no interval.
    None,
}

/// A value with its interval, its n, and the number of missing outcomes. They always stay together.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Estimate {
    /// A share between 0 and 1, or a score in its unit.
    pub value: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub interval: Option<Interval>,
    /// Clopper and Pearson's interval, if `interval` is Wilson's. It never covers less than its confidence level and is mostly wider.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub guaranteed: Option<Interval>,
    pub n: u64,
    /// The unit of n: `questions`, `tests`, `criteria`, `checks`, `runs`, or `outcomes` of one item.
    pub n_of: &'static str,
    pub method: Method,
    /// Standard error of the value, if it is a mean of varying values.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub standard_error: Option<f64>,
    /// Clusters of the items and their design effect, if the interval is over clusters.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub clusters: Option<ClusterSpread>,
    /// Missing outcomes: outages, unjudged ones, or items that only other arms have.
    pub missing: u64,
    /// Passed and counted outcomes over all runs, if the counts are known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub passed: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub total: Option<u64>,
    /// The figure by the judge alone, if people's labels correct it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub judge: Option<JudgeFigure>,
}

/// The effect of clusters on an estimate.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct ClusterSpread {
    pub clusters: u64,
    /// The squared ratio of the cluster-robust standard error to that of independent items.
    pub design_effect: f64,
}

/// Estimates an arm's pass rate from the best data of its runs: outcomes, else counts, else a published figure. `unit` is the unit of
/// verdicts about the suite.
pub fn pass_rate(
    rows: &[&RunRow],
    rates: &ArmRates,
    items: &SuiteItems,
    unit: Design,
) -> Option<Estimate> {
    match rates {
        ArmRates::Outcomes(outcomes) => Some(correct_by_labels(
            rate_from_outcomes(outcomes, items, unit)?,
            outcomes,
            items,
            unit,
        )),
        ArmRates::Counts(_) | ArmRates::Unknown => {
            rate_from_counts(rows, items, unit).or_else(|| rate_from_reported(rows))
        }
    }
}

/// Returns passed and total of one run, from its header or its outcomes. Passed is rounded if the evaluators of an item disagree.
pub fn run_counts(row: &RunRow, matrix: &OutcomeMatrix) -> Option<(u64, u64)> {
    let (passed, total) = passed_items_of_run(&row.run.id, matrix).rounded_counts();
    if total > 0 {
        Some((passed, total))
    } else {
        row.run
            .shared_tests_passed
            .zip(row.run.shared_tests_total)
            .filter(|(_, total)| *total > 0)
    }
}

/// Returns the interval of one run's pass rate, as a leaderboard of that run alone has it. Wilson's over the counted outcomes if each is of
/// a different item, else over items or clusters, averaging an item's attempts and evaluators.
pub fn interval_of_run(row: &RunRow, matrix: &OutcomeMatrix) -> Option<Interval> {
    let (passed, total) = run_counts(row, matrix)?;
    let labels = label_columns(matrix);
    let own = || {
        matrix
            .rows_of_run(&row.run.id)
            .iter()
            .flat_map(MatrixRow::outcomes)
    };
    let is_outcome = |item: u32, status: ItemStatus| {
        status.is_counted() && !is_column_marked(&labels, item as usize)
    };
    let counted = || {
        own()
            .filter(|(item, status)| is_outcome(*item, *status))
            .map(|(item, status)| (&matrix.items[item as usize], status))
    };
    let mut by_item = BTreeMap::<(ItemKind, &str), (f64, f64)>::new();
    for (item, status) in counted() {
        let (sum, n) = by_item.entry((item.key.kind, &item.key.item)).or_default();
        *sum += f64::from(u8::from(status == ItemStatus::Pass));
        *n += 1.0;
    }
    let clusters: BTreeMap<(ItemKind, &str), &str> = counted()
        .filter_map(|(item, _)| {
            Some((
                (item.key.kind, item.key.item.as_str()),
                item.cluster.as_deref()?,
            ))
        })
        .collect();
    let kind = by_item.keys().next().map(|(kind, _)| *kind);
    let items =
        SuiteItems::with_clusters(kind, by_item.keys().map(|item| clusters.get(item).copied()));
    let unit = natural_design(
        kind,
        items.clusters.is_some().then_some(items.cluster_count),
        by_item.len(),
    );
    // With one attempt at each item, and evaluators who agree, the shares are a count.
    let is_whole = by_item.values().all(|(sum, n)| sum.min(n - sum) < 0.5);
    if unit != Design::Clusters && (by_item.is_empty() || is_whole && by_item.len() as u64 == total)
    {
        return wilson_score_interval(passed, total, CONFIDENCE).ok();
    }
    let means: Vec<(u32, f64)> = (0..)
        .zip(by_item.values())
        .map(|(item, (sum, n))| (item, sum / n))
        .collect();
    mean_over_items(
        &means,
        (RunValueMatrix::Values(&[]), &RunSums::default()),
        &items,
        unit,
        true,
    )?
    .interval
}

/// Returns a judged pass rate corrected by the judge's error rates, at the effective number of its items.
fn correct_by_known_errors(by_judge: &Estimate, known: Calibration) -> Option<Estimate> {
    let rate = by_judge.value;
    // Over clusters or runs, Student's interval is longer than its standard error says.
    let reach = by_judge.interval.filter(|_| {
        matches!(
            by_judge.method,
            Method::TOverClusters | Method::TOverItemsAndRuns
        )
    });
    let z = normal_quantile(0.5 + CONFIDENCE / 2.0).ok()?;
    let error = reach
        .map(|ends| (rate - ends.low).max(ends.high - rate) / z)
        .or(by_judge.standard_error);
    let n = error.map_or(by_judge.n as f64, |error| {
        rate * (1.0 - rate) / (error * error)
    });
    let found = rogan_gladen(rate, n, known, CONFIDENCE).ok()?;
    Some(Estimate {
        value: found.rate.clamp(0.0, 1.0),
        interval: Some(found.interval),
        guaranteed: None,
        method: Method::KnownErrors,
        standard_error: Some(found.standard_error),
        passed: None,
        total: None,
        judge: Some(JudgeFigure {
            labels: 0,
            value: rate,
            interval: by_judge.interval,
        }),
        ..by_judge.clone()
    })
}

/// Returns an arm's pass rate corrected by people's labels, if there are enough.
fn correct_by_labels(
    by_judge: Estimate,
    outcomes: &ArmOutcomes,
    items: &SuiteItems,
    unit: Design,
) -> Estimate {
    let Some((found, labels)) = labelled::labelled_rate(outcomes, items, unit, CONFIDENCE) else {
        return items
            .judge_errors
            .and_then(|known| correct_by_known_errors(&by_judge, known))
            .unwrap_or(by_judge);
    };
    Estimate {
        value: found.mean,
        interval: Some(found.interval),
        guaranteed: None,
        method: Method::PredictionPowered,
        standard_error: Some(found.standard_error).filter(|error| *error > 0.0),
        passed: None,
        total: None,
        judge: Some(JudgeFigure {
            labels,
            value: by_judge.value,
            interval: by_judge.interval,
        }),
        ..by_judge
    }
}

fn rate_from_outcomes(
    outcomes: &ArmOutcomes,
    items: &SuiteItems,
    unit: Design,
) -> Option<Estimate> {
    let kind = items.kind?;
    let missing = outcomes.unanswered;
    let (passed, total) = sum_runs(&outcomes.by_run);
    if total == 0 {
        return None;
    }
    match unit {
        Design::Items | Design::Clusters => {
            let means = items.item_means(|column| outcomes.item_mean(column));
            // With one outcome per item, the shares are a count.
            if unit == Design::Items
                && outcomes.attempts == 1
                && total == means.len() as u64
                && !outcomes.is_split
                && !is_charged(outcomes.over_runs.noise(false))
            {
                let n = (total, kind.plural());
                let rate = passed as f64 / total as f64;
                let estimate = rate_of_counts(
                    rate,
                    wilson_score_interval(passed, total, CONFIDENCE).ok(),
                    n,
                    Method::Wilson,
                    (passed, total),
                );
                let values: Vec<f64> = means.iter().map(|(_, mean)| *mean).collect();
                return Some(Estimate {
                    missing,
                    standard_error: standard_error(&values),
                    ..estimate
                });
            }
            let estimate = mean_over_items(
                &means,
                (
                    RunValueMatrix::Shares(&outcomes.repeats),
                    &outcomes.over_runs,
                ),
                items,
                unit,
                true,
            )?;
            let passed = Some(passed).filter(|_| !outcomes.is_split);
            Some(Estimate {
                missing,
                passed,
                total: passed.map(|_| total),
                ..estimate
            })
        }
        Design::Runs | Design::Counts => Some(Estimate {
            missing,
            ..rate_over_artefact_runs(&outcomes.by_run, kind.plural())?
        }),
    }
}

/// Estimates the mean over items with all its sources of variance: items or clusters, and runs if there are several. `runs` are values by
/// run and matrix column, and `known` what is summed of them. `is_share` means that all values are between 0 and 1.
pub fn mean_over_items(
    means: &[(u32, f64)],
    (runs, known): (RunValueMatrix<'_>, &RunSums),
    items: &SuiteItems,
    unit: Design,
    is_share: bool,
) -> Option<Estimate> {
    let values: Vec<f64> = means.iter().map(|(_, mean)| *mean).collect();
    let summary = summarise_sample(&values).ok()?;
    let cut = |interval: Interval| {
        if is_share {
            interval.clipped_to(0.0, 1.0)
        } else {
            interval
        }
    };
    let base = Estimate::from_value(summary.mean, values.len() as u64, items.plural_word());
    let codes: Option<Vec<u32>> = items
        .clusters
        .as_ref()
        .filter(|_| unit == Design::Clusters)
        .map(|codes| {
            means
                .iter()
                .map(|(item, _)| codes[*item as usize])
                .collect()
        });
    let clustered = codes
        .as_ref()
        .and_then(|codes| clustered_mean(&values, codes, CONFIDENCE).ok());
    let clusters = clustered.map(|found| ClusterSpread {
        clusters: found.clusters,
        design_effect: found.design_effect,
    });
    let noise = known.noise(codes.is_some());
    let over_runs = (runs.len() > 1 || is_charged(noise))
        .then(|| {
            known.get(codes.is_some(), || {
                sum_over_repeats(means, runs, items, codes.as_deref())
            })
        })
        .flatten();
    if let Some(found) = over_runs.and_then(|arm| one_way_summed(arm, noise, CONFIDENCE).ok()) {
        return Some(Estimate {
            interval: Some(cut(found.interval)),
            method: Method::TOverItemsAndRuns,
            standard_error: Some(found.standard_error),
            clusters,
            ..base
        });
    }
    if let Some(found) = clustered {
        let interval = found.deciding_interval(CONFIDENCE).ok().map(cut);
        return Some(Estimate {
            interval,
            method: Method::TOverClusters,
            standard_error: Some(found.cr2.standard_error()),
            clusters,
            ..base
        });
    }
    if let Ok(interval) = mean_interval(&values, CONFIDENCE) {
        return Some(Estimate {
            interval: Some(cut(interval)),
            method: Method::TOverItems,
            standard_error: standard_error(&values),
            ..base
        });
    }
    let units = codes.map_or(values.len(), |codes| {
        codes
            .into_iter()
            .collect::<std::collections::BTreeSet<u32>>()
            .len()
    });
    let interval = if is_share {
        effective_interval(summary.mean, units as f64, CONFIDENCE).ok()
    } else {
        None
    };
    let method = if interval.is_some() {
        Method::WilsonEffective
    } else {
        Method::None
    };
    Some(Estimate {
        interval,
        method,
        ..base
    })
}

/// Returns whether the repeats of a board add to the variance of an arm.
pub(super) fn is_charged(noise: Option<RunNoise>) -> bool {
    noise.is_some_and(|noise| noise.variance() > 0.0)
}

/// Sums up an arm's values over items and repeats. `None` if the values cannot be summed up.
pub(super) fn sum_over_repeats(
    means: &[(u32, f64)],
    repeats: RunValueMatrix<'_>,
    items: &SuiteItems,
    codes: Option<&[u32]>,
) -> Option<SummedArm> {
    let values = if repeats.len() > 1 {
        values_by_item_and_run(repeats, means, items)
    } else {
        means.iter().map(|(_, mean)| Some(*mean)).collect()
    };
    let arm = ItemsByRuns {
        runs: repeats.len().max(1),
        values: &values,
    };
    SummedArm::from_arm(arm, codes)
}

/// Returns the values of the items that have a mean, run by run, averaged over evaluators.
pub(super) fn values_by_item_and_run(
    runs: RunValueMatrix<'_>,
    means: &[(u32, f64)],
    items: &SuiteItems,
) -> Vec<Option<f64>> {
    let value = |item: u32, run: usize| {
        runs.run_mean(
            run,
            items.columns_of(item).iter().map(|column| *column as usize),
        )
    };
    means
        .iter()
        .flat_map(|(item, _)| (0..runs.len()).map(move |run| value(*item, run)))
        .collect()
}

/// Returns the standard error of the mean, or `None` if the values do not vary.
pub fn standard_error(values: &[f64]) -> Option<f64> {
    let summary = summarise_sample(values).ok()?;
    summary
        .sd
        .map(|sd| sd / (summary.n as f64).sqrt())
        .filter(|error| *error > 0.0)
}

/// Creates an estimate from passed and total, with nothing missing.
fn rate_of_counts(
    value: f64,
    interval: Option<Interval>,
    (n, n_of): (u64, &'static str),
    method: Method,
    (passed, total): (u64, u64),
) -> Estimate {
    let is_wilson = matches!(method, Method::Wilson | Method::WilsonOneRun);
    let guaranteed = if is_wilson && total <= MAX_SUMMED {
        clopper_pearson(passed, total, CONFIDENCE).ok()
    } else {
        None
    };
    Estimate {
        interval,
        guaranteed,
        method,
        passed: Some(passed),
        total: Some(total),
        ..Estimate::from_value(value, n, n_of)
    }
}

/// Estimates over runs with one artefact each: the run is the unit, and its tests are not independent trials.
fn rate_over_artefact_runs(by_run: &[(u64, u64)], item_word: &'static str) -> Option<Estimate> {
    let counted: Vec<(u64, u64)> = by_run
        .iter()
        .copied()
        .filter(|(_, total)| *total > 0)
        .collect();
    let rates: Vec<f64> = counted
        .iter()
        .map(|(passed, total)| *passed as f64 / *total as f64)
        .collect();
    let (passed, total) = sum_runs(&counted);
    let shared = |value, interval, n, n_of, method| {
        rate_of_counts(value, interval, (n, n_of), method, (passed, total))
    };
    match rates.len() {
        0 => None,
        1 => Some(shared(
            rates[0],
            wilson_score_interval(passed, total, CONFIDENCE).ok(),
            total,
            item_word,
            Method::WilsonOneRun,
        )),
        n => {
            let value = rates.iter().sum::<f64>() / n as f64;
            let of_runs = mean_interval(&rates, CONFIDENCE)
                .ok()
                .map(|interval| interval.clipped_to(0.0, 1.0));
            // Runs that never vary count as one run: only its tests are data.
            let most = counted.iter().map(|(_, total)| *total).max().unwrap_or(0);
            let effective = || effective_interval(value, most as f64, CONFIDENCE).ok();
            let (interval, method) = match of_runs.map_or_else(
                || (effective(), Method::WilsonEffective),
                |ends| (Some(ends), Method::TOverRuns),
            ) {
                (None, _) => (None, Method::None),
                found => found,
            };
            Some(Estimate {
                standard_error: standard_error(&rates),
                ..shared(value, interval, n as u64, "runs", method)
            })
        }
    }
}

/// Estimates over runs of independently attempted items, of which only totals are known. The variance is that of the items, at most that of
/// one attempt each, plus that of the runs.
fn rate_over_totals(by_run: &[(u64, u64)], item_word: &'static str) -> Option<Estimate> {
    let counted: Vec<(u64, u64)> = by_run
        .iter()
        .copied()
        .filter(|(_, total)| *total > 0)
        .collect();
    let (passed, total) = sum_runs(&counted);
    let items = counted.iter().map(|(_, total)| *total).max()?;
    let rates: Vec<f64> = counted
        .iter()
        .map(|(passed, total)| *passed as f64 / *total as f64)
        .collect();
    let value = rates.iter().sum::<f64>() / rates.len() as f64;
    if let [(passed, total)] = counted.as_slice() {
        return Some(rate_of_counts(
            value,
            wilson_score_interval(*passed, *total, CONFIDENCE).ok(),
            (*total, item_word),
            Method::Wilson,
            (*passed, *total),
        ));
    }
    let of_items = value * (1.0 - value) / items as f64;
    let variance = of_items + standard_error(&rates).map_or(0.0, |error| error * error);
    let effective = if variance > 0.0 {
        value * (1.0 - value) / variance
    } else {
        items as f64
    };
    let interval = effective_interval(value, effective, CONFIDENCE).ok();
    let method = if interval.is_some() {
        Method::WilsonEffective
    } else {
        Method::None
    };
    let estimate = rate_of_counts(value, interval, (items, item_word), method, (passed, total));
    Some(Estimate {
        standard_error: Some(variance.sqrt()).filter(|error| *error > 0.0),
        ..estimate
    })
}

/// Estimates how often one item passes over runs, each with its passed and counted outcomes.
pub fn rate_over_runs(by_run: &[(u64, u64)]) -> Option<Estimate> {
    let counted: Vec<(u64, u64)> = by_run
        .iter()
        .copied()
        .filter(|(_, total)| *total > 0)
        .collect();
    if counted.iter().any(|(_, total)| *total > 1) {
        return rate_over_artefact_runs(&counted, "outcomes");
    }
    let (passed, total) = sum_runs(&counted);
    let interval = wilson_score_interval(passed, total, CONFIDENCE).ok()?;
    Some(rate_of_counts(
        passed as f64 / total as f64,
        Some(interval),
        (total, "runs"),
        Method::Wilson,
        (passed, total),
    ))
}

fn rate_from_counts(rows: &[&RunRow], items: &SuiteItems, unit: Design) -> Option<Estimate> {
    let by_run: Vec<(u64, u64)> = rows
        .iter()
        .filter_map(|row| row.run.shared_tests_passed.zip(row.run.shared_tests_total))
        .collect();
    let without = rows.len() - by_run.len();
    let mut estimate = match unit {
        Design::Items | Design::Clusters => rate_over_totals(&by_run, items.plural_word())?,
        Design::Runs | Design::Counts => rate_over_artefact_runs(&by_run, ItemKind::Test.plural())?,
    };
    // A run without counts is missing as a whole; its number of tests is unknown.
    estimate.missing = without as u64;
    Some(estimate)
}

/// Returns the runs' published rates, each with its standard error and number of items, if these are published.
pub(super) fn reported_rates(rows: &[&RunRow]) -> Vec<PublishedRate> {
    published_fractions(rows, &|metric| matches!(metric, "accuracy" | "pass_rate"))
}

/// Returns the fraction that each run publishes of a metric. Runs without one are left out.
pub(super) fn published_fractions(
    rows: &[&RunRow],
    is_metric: &dyn Fn(&str) -> bool,
) -> Vec<PublishedRate> {
    let rate = |row: &&RunRow| {
        let named = |score: &&crate::domain::ScoreRecord| {
            is_metric(&score.metric) && score.unit == Unit::Fraction
        };
        let score = latest_revision(row.run.scores.iter().filter(named), |score| score.revision)?;
        Some((score.value?, score.standard_error, score.n))
    };
    rows.iter().filter_map(rate).collect()
}

/// Averages the runs' published rates. The published standard error of a single run gives an interval.
fn rate_from_reported(rows: &[&RunRow]) -> Option<Estimate> {
    let scores = reported_rates(rows);
    let missing = (rows.len() - scores.len()) as u64;
    let base = Estimate {
        method: Method::Stated,
        missing,
        ..Estimate::from_value(0.0, scores.len() as u64, "runs")
    };
    match scores.as_slice() {
        [] => None,
        [(value, error, n)] => {
            let normal = normal_quantile(0.5 + CONFIDENCE / 2.0).ok();
            let half = error
                .filter(|error| *error > 0.0)
                .zip(normal)
                .map(|(error, quantile)| quantile * error);
            let by_error = half
                .and_then(|half| Interval::new(value - half, value + half))
                .map(|interval| interval.clipped_to(0.0, 1.0));
            let by_count = n
                .filter(|n| *n > 0)
                .and_then(|n| effective_interval(*value, n as f64, CONFIDENCE).ok());
            let (interval, method) = match (by_error, by_count) {
                (Some(interval), _) => (Some(interval), Method::StatedError),
                (None, Some(interval)) => (Some(interval), Method::StatedCount),
                (None, None) => (None, Method::Stated),
            };
            let (n, n_of) = n.map_or((1, "runs"), |n| (n, "items"));
            Some(Estimate {
                value: *value,
                interval,
                method,
                n,
                n_of,
                standard_error: error.filter(|_| method == Method::StatedError),
                ..base
            })
        }
        several => {
            let values: Vec<f64> = several.iter().map(|(value, _, _)| *value).collect();
            let interval = mean_interval(&values, CONFIDENCE)
                .ok()
                .map(|interval| interval.clipped_to(0.0, 1.0));
            let method = if interval.is_some() {
                Method::TOverRuns
            } else {
                Method::Stated
            };
            let value = values.iter().sum::<f64>() / values.len() as f64;
            Some(Estimate {
                value,
                interval,
                method,
                standard_error: standard_error(&values),
                ..base
            })
        }
    }
}

impl Estimate {
    /// Creates an estimate with only a value and its n.
    pub fn from_value(value: f64, n: u64, n_of: &'static str) -> Self {
        Self {
            value,
            interval: None,
            guaranteed: None,
            n,
            n_of,
            method: Method::None,
            standard_error: None,
            clusters: None,
            missing: 0,
            passed: None,
            total: None,
            judge: None,
        }
    }

    /// Returns whether the figure is a published one.
    pub fn is_reported(&self) -> bool {
        matches!(
            self.method,
            Method::Stated | Method::StatedError | Method::StatedCount
        )
    }
}
