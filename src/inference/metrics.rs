//! Names of the metrics, and the evidence of each: the primary metric decides, the others are shown beside it.

use std::collections::{BTreeMap, BTreeSet};

use rayon::prelude::*;

use crate::domain::{Direction, Metric, MetricKind, Unit};
use crate::stats::{rogan_gladen, summary};
use crate::warehouse::RunRow;

use super::arm::ArmRuns;
use super::comparison::{Scale, Sizes};
use super::family::{Evidence, Unsettled, settle_primary};
use super::finding::Finding;
use super::item_scores::{ItemScores, SuiteScores};
use super::labelled;
use super::numbers::{RunSample, number_pair};
use super::paired::{Measured, Shared, weigh_runs};
use super::policy::{CONFIDENCE, Design, MAX_APART, Policy, natural_design};
use super::sample::{Items, Rates};
use super::tables::{Tables, Tested};
use super::texts::Pairing;
use super::unpaired::{over_runs, over_totals};
use super::verdict::{Incomparable, Missing};

/// Creates a built-in metric.
pub(crate) fn named(
    name: &str,
    label: &str,
    unit: Unit,
    direction: Direction,
    kind: MetricKind,
) -> Metric {
    Metric {
        name: name.to_owned(),
        label: label.to_owned(),
        unit,
        direction,
        kind,
    }
}

/// The pass rate on what all arms share.
pub(crate) fn pass_rate_metric(policy: &Policy) -> Metric {
    policy.described(Metric::pass_rate())
}

/// Returns the unit of one arm's figures on a suite, which is also the unit of verdicts.
pub(crate) fn unit_of(suite: &str, items: &Items, policy: &Policy) -> Design {
    let clusters = items
        .clusters
        .as_ref()
        .filter(|_| policy.use_clusters)
        .map(|_| items.cluster_count);
    policy
        .design(suite)
        .unwrap_or_else(|| natural_design(items.kind, clusters, items.unit_count()))
}

pub(super) fn pairs_of(arms: usize) -> Vec<(usize, usize)> {
    (0..arms)
        .flat_map(move |first| (first + 1..arms).map(move |second| (first, second)))
        .collect()
}

/// Compares the arms' pass rates on the items of a suite, each pair on items with the same text for both.
pub(super) fn of_rates(
    metric: &Metric,
    suite: &str,
    items: &Items,
    rates: &[Rates],
    pairing: &Pairing<'_>,
    policy: &Policy,
) -> Unsettled {
    let tables = Tables::of(rates.iter().map(|rates| match rates {
        Rates::Outcomes(outcomes) => outcomes.single.as_deref(),
        Rates::Counts(_) | Rates::Unknown => None,
    }));
    let findings = pairs_of(rates.len())
        .into_par_iter()
        .map(|(first, second)| {
            let changed = pairing.changed(first, second);
            let finding = if changed.is_empty() {
                rate_pair(
                    suite,
                    items,
                    &rates[first],
                    &rates[second],
                    tables.get(first, second),
                    policy,
                )
            } else {
                let [one, other] = pairing.rates(first, second, &changed, items);
                rate_pair(suite, items, &one, &other, None, policy)
                    .of_same_texts(counted(&rates[first]), counted(&rates[second]))
            };
            (first, second, finding)
        });
    let unit = unit_of(suite, items, policy);
    let values: Vec<Option<f64>> = rates
        .iter()
        .map(|rates| rate_value(rates, items, unit))
        .collect();
    Unsettled::new(metric, values, partial(rates), findings.collect())
}

/// Compares only the pass rates of two arms, on items with the same text for both. Skips planning, which takes most of the time.
pub(super) fn rate_evidence(
    metric: &Metric,
    suite: &str,
    items: &Items,
    rates: &[Rates; 2],
    policy: &Policy,
) -> Evidence {
    let unit = unit_of(suite, items, policy);
    let values: Vec<Option<f64>> = rates
        .iter()
        .map(|rates| rate_value(rates, items, unit))
        .collect();
    let finding = rate_pair(suite, items, &rates[0], &rates[1], None, policy);
    let finding = Finding {
        precision: None,
        parts: None,
        beyond: None,
        ..finding
    };
    settle_primary(
        Unsettled::new(metric, values, partial(rates), vec![(0, 1, finding)]),
        policy,
    )
}

fn rate_pair(
    suite: &str,
    items: &Items,
    first: &Rates,
    second: &Rates,
    known: Option<Tested>,
    policy: &Policy,
) -> Finding {
    let asked = policy.design(suite);
    match (first, second) {
        (Rates::Outcomes(one), Rates::Outcomes(other)) => {
            let shared = Shared::of_passes(one, other, known, items, policy);
            if let Some(nothing) = shared.nothing() {
                return nothing;
            }
            match asked.unwrap_or_else(|| shared.natural_design()) {
                design @ (Design::Items | Design::Clusters) => shared.weigh(design, policy),
                Design::Runs | Design::Counts => weigh_runs(
                    over_runs(first, second, policy),
                    [one, other],
                    items,
                    policy,
                ),
            }
        }
        (Rates::Unknown, _) | (_, Rates::Unknown) => {
            let runs = |rates: &Rates| rates.run_rates().len() as u64;
            let sizes = Sizes {
                first: runs(first),
                second: runs(second),
                of: "runs",
                ..Sizes::default()
            };
            Finding::no_data(Design::Counts, Missing::NotMeasured, sizes)
        }
        _ => match asked.unwrap_or_else(|| natural_design(items.kind, None, 0)) {
            Design::Items | Design::Clusters => over_totals(first, second, items.word(), policy),
            Design::Runs | Design::Counts => over_runs(first, second, policy),
        },
    }
}

/// Compares the arms' item scores in the same way as pass rates.
pub(super) fn of_item_scores(
    suite: &str,
    scores: &SuiteScores,
    items: &Items,
    pairing: &Pairing<'_>,
    policy: &Policy,
) -> Unsettled {
    let metric = &scores.metric;
    let scale = if metric.unit == Unit::Fraction {
        Scale::Share
    } else {
        Scale::Unit
    };
    let pair = |one: &ItemScores, other: &ItemScores| {
        let arms = (
            Measured::Values(one, scores.range),
            Measured::Values(other, scores.range),
        );
        let shared = Shared::of(
            arms,
            scale,
            metric.direction != Direction::Down,
            items,
            policy,
        );
        if let Some(nothing) = shared.nothing() {
            return nothing;
        }
        let design = policy
            .design(suite)
            .unwrap_or_else(|| shared.natural_design());
        match if metric.shares_state() {
            Design::Runs
        } else {
            design
        } {
            design @ (Design::Items | Design::Clusters) => shared.weigh(design, policy),
            Design::Runs | Design::Counts => {
                let mut finding =
                    super::unpaired::run_means(&one.run_means, &other.run_means, scale, policy);
                finding.bounds = shared.bounds();
                finding
            }
        }
    };
    let findings = pairs_of(scores.arms.len())
        .into_par_iter()
        .map(|(first, second)| {
            let (one, other) = (&scores.arms[first], &scores.arms[second]);
            let changed = pairing.changed(first, second);
            let finding = if changed.is_empty() {
                pair(one, other)
            } else {
                let [part, other_part] = pairing.scores(first, second, &changed, items);
                pair(&part, &other_part).of_same_texts(Some(one.counted), Some(other.counted))
            };
            (first, second, finding)
        });
    let values: Vec<Option<f64>> = scores
        .arms
        .iter()
        .map(|scores| mean(&scores.item_means(items)))
        .collect();
    let most = scores
        .arms
        .iter()
        .map(|scores| scores.counted)
        .max()
        .unwrap_or(0);
    let partial = partial_of(scores.arms.iter().map(|scores| Some(scores.counted)), most);
    Unsettled::new(metric, values, partial, findings.collect())
}

/// Compares a number per run: an amount, a score, or a count. If `over_items` has a finding for two arms, that one is used. `evaluators`
/// gave the arms' numbers, if known. `apart` lists pairs without a common item, and why.
pub(super) fn of_numbers(
    metric: &Metric,
    arms: &[ArmRuns<'_>],
    value: &dyn Fn(&RunRow) -> Option<f64>,
    evaluators: &[BTreeSet<&str>],
    apart: &BTreeMap<(usize, usize), Incomparable>,
    over_items: &(dyn Fn(usize, usize) -> Option<Finding> + Sync),
    policy: &Policy,
) -> Unsettled {
    let samples: Vec<RunSample> = arms
        .iter()
        .map(|arm| RunSample::of(metric, arm, value))
        .collect();
    let known = |arm: usize| {
        evaluators
            .get(arm)
            .filter(|evaluators| !evaluators.is_empty())
    };
    let findings = pairs_of(arms.len()).into_par_iter().map(|(first, second)| {
        let mut finding = over_items(first, second)
            .unwrap_or_else(|| number_pair(metric, &samples[first], &samples[second], policy));
        if known(first)
            .zip(known(second))
            .is_some_and(|(one, other)| one != other)
            && finding.difference.is_some()
        {
            finding =
                Finding::not_comparable(Design::Runs, Incomparable::OtherEvaluator, finding.sizes);
        }
        if let Some(reason) = apart
            .get(&(first, second))
            .filter(|_| finding.difference.is_some())
        {
            finding = Finding::not_comparable(Design::Runs, *reason, finding.sizes);
        }
        (first, second, finding)
    });
    let values: Vec<Option<f64>> = samples.iter().map(|sample| mean(&sample.values)).collect();
    Unsettled::new(metric, values, Vec::new(), findings.collect())
}

/// Creates a metric that cannot be compared between any two arms: shown, never tested.
pub(super) fn of_nothing(
    metric: &Metric,
    arms: usize,
    design: Design,
    reason: Incomparable,
) -> Unsettled {
    let nothing = |(first, second)| {
        (
            first,
            second,
            Finding::not_comparable(design, reason, Sizes::default()),
        )
    };
    Unsettled::new(
        metric,
        vec![None; arms],
        Vec::new(),
        pairs_of(arms).into_iter().map(nothing).collect(),
    )
}

fn mean(values: &[f64]) -> Option<f64> {
    summary(values).ok().map(|summary| summary.mean)
}

fn rate_value(rates: &Rates, items: &Items, unit: Design) -> Option<f64> {
    match rates {
        Rates::Outcomes(outcomes) => match labelled::rate(outcomes, items, unit, CONFIDENCE) {
            Some((found, _)) => Some(found.mean),
            None => mean(&outcomes.item_means(items)).map(|rate| match items.judge_errors {
                Some(known) => rogan_gladen(rate, outcomes.counted as f64, known, CONFIDENCE)
                    .map_or(rate, |found| found.rate.clamp(0.0, 1.0)),
                None => rate,
            }),
        },
        Rates::Counts(_) => mean(&rates.run_rates()),
        Rates::Unknown => None,
    }
}

/// Returns the arms with outcomes on fewer items than another arm, beyond `MAX_APART`.
fn partial(rates: &[Rates]) -> Vec<usize> {
    let most = rates.iter().filter_map(counted).max().unwrap_or(0);
    partial_of(rates.iter().map(counted), most)
}

/// Returns the number of items with a counted outcome.
fn counted(rates: &Rates) -> Option<u64> {
    match rates {
        Rates::Outcomes(outcomes) => Some(outcomes.counted),
        Rates::Counts(_) | Rates::Unknown => None,
    }
}

fn partial_of(counted: impl Iterator<Item = Option<u64>>, most: u64) -> Vec<usize> {
    let is_partial = |counted: &Option<u64>| {
        counted.is_some_and(|counted| (counted as f64) < (1.0 - MAX_APART) * most as f64)
    };
    counted
        .enumerate()
        .filter(|(_, counted)| is_partial(counted))
        .map(|(arm, _)| arm)
        .collect()
}
