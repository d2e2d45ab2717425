//! Names of the metrics, and the evidence of each: the primary metric decides, the others are shown beside it.

use std::collections::{BTreeMap, BTreeSet};

use rayon::prelude::*;

use crate::domain::{Direction, ItemKind, Metric, MetricKind, Unit};
use crate::stats::{rogan_gladen, summarise_sample};
use crate::warehouse::RunRow;

use super::arm::ArmRuns;
use super::comparison::{Scale, Sizes};
use super::family::{Evidence, UnadjustedEvidence, settle_primary};
use super::independent;
use super::item_scores::{ItemScores, SuiteScores};
use super::joint_order::Dependence;
use super::labelled;
use super::numbers::{RunSample, number_pair};
use super::pair_test::PairFinding;
use super::paired::{ArmValues, SharedItemPair, correct_runs_by_labels};
use super::policy::{CONFIDENCE, Design, MAX_UNSHARED_ITEMS, Policy, natural_design};
use super::sample::{ArmRates, SuiteItems};
use super::tables::{PairTables, TestedTable};
use super::texts::TextPairing;
use super::unpaired::{compare_runs, compare_totals};
use super::verdict::{Incomparable, Missing};

/// Creates a built-in metric.
pub fn built_in_metric(
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
pub fn pass_rate_metric(kind: Option<ItemKind>, policy: &Policy) -> Metric {
    policy.describe_metric(Metric::pass_rate_of(kind))
}

/// Returns the unit of one arm's figures on a suite, which is also the unit of verdicts.
pub fn suite_design(suite: &str, items: &SuiteItems, policy: &Policy) -> Design {
    let clusters = items
        .clusters
        .as_ref()
        .filter(|_| policy.use_clusters)
        .map(|_| items.cluster_count);
    policy
        .configured_design(suite)
        .unwrap_or_else(|| natural_design(items.kind, clusters, items.unit_count()))
}

pub(super) fn all_arm_pairs(arms: usize) -> Vec<(usize, usize)> {
    (0..arms)
        .flat_map(move |first| (first + 1..arms).map(move |second| (first, second)))
        .collect()
}

/// Compares the arms' pass rates on the items of a suite, each pair on items with the same text for both.
pub(super) fn compare_rates(
    metric: &Metric,
    suite: &str,
    items: &SuiteItems,
    rates: &[ArmRates],
    pairing: &TextPairing<'_>,
    policy: &Policy,
) -> UnadjustedEvidence {
    let tables = PairTables::from_arms(rates.iter().map(|rates| match rates {
        ArmRates::Outcomes(outcomes) => outcomes.single.as_deref(),
        ArmRates::Counts(_) | ArmRates::Unknown => None,
    }));
    let findings = all_arm_pairs(rates.len())
        .into_par_iter()
        .map(|(first, second)| {
            let changed = pairing.changed_items(first, second);
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
                let [one, other] = pairing.rates_without(first, second, &changed, items);
                let one = one.with_noise_of(&rates[first]);
                let other = other.with_noise_of(&rates[second]);
                rate_pair(suite, items, &one, &other, None, policy).restrict_to_same_texts(
                    counted_items(&rates[first]),
                    counted_items(&rates[second]),
                )
            };
            (first, second, finding)
        });
    let unit = suite_design(suite, items, policy);
    let values: Vec<Option<f64>> = rates
        .iter()
        .map(|rates| rate_value(rates, items, unit))
        .collect();
    UnadjustedEvidence::new(
        metric,
        values,
        partial_arms(suite, rates, policy),
        findings.collect(),
    )
}

/// Compares only the pass rates of two arms, on items with the same text for both. Skips planning, which takes most of the time.
pub(super) fn rate_evidence(
    metric: &Metric,
    suite: &str,
    items: &SuiteItems,
    rates: &[ArmRates; 2],
    policy: &Policy,
) -> Evidence {
    let unit = suite_design(suite, items, policy);
    let values: Vec<Option<f64>> = rates
        .iter()
        .map(|rates| rate_value(rates, items, unit))
        .collect();
    let finding = rate_pair(suite, items, &rates[0], &rates[1], None, policy);
    let finding = PairFinding {
        precision: None,
        parts: None,
        beyond: None,
        ..finding
    };
    settle_primary(
        UnadjustedEvidence::new(
            metric,
            values,
            partial_arms(suite, rates, policy),
            vec![(0, 1, finding)],
        ),
        &Dependence::Unknown,
        policy,
    )
}

fn rate_pair(
    suite: &str,
    items: &SuiteItems,
    first: &ArmRates,
    second: &ArmRates,
    known: Option<TestedTable>,
    policy: &Policy,
) -> PairFinding {
    let asked = policy.configured_design(suite);
    if policy.is_independent(suite)
        && let Some(finding) = independent::compare_passes((first, second), items, policy)
    {
        return finding;
    }
    match (first, second) {
        (ArmRates::Outcomes(one), ArmRates::Outcomes(other)) => {
            let shared = SharedItemPair::from_passes(one, other, known, items, policy);
            if let Some(nothing) = shared.unpairable_finding() {
                return nothing;
            }
            match asked.unwrap_or_else(|| shared.natural_design()) {
                design @ (Design::Items | Design::Clusters) => shared.compare_units(design, policy),
                Design::Runs | Design::Counts => correct_runs_by_labels(
                    compare_runs(first, second, policy),
                    [one, other],
                    items,
                    policy,
                ),
            }
        }
        (ArmRates::Unknown, _) | (_, ArmRates::Unknown) => {
            let runs = |rates: &ArmRates| rates.run_rates().len() as u64;
            let sizes = Sizes {
                first: runs(first),
                second: runs(second),
                of: "runs",
                ..Sizes::default()
            };
            PairFinding::without_data(Design::Counts, Missing::NotMeasured, sizes)
        }
        _ => match asked.unwrap_or_else(|| natural_design(items.kind, None, 0)) {
            Design::Items | Design::Clusters => {
                compare_totals(first, second, items.plural_word(), suite, policy)
            }
            Design::Runs | Design::Counts => compare_runs(first, second, policy),
        },
    }
}

/// Compares the arms' item scores in the same way as pass rates.
pub(super) fn compare_item_scores(
    suite: &str,
    scores: &SuiteScores,
    items: &SuiteItems,
    pairing: &TextPairing<'_>,
    policy: &Policy,
) -> UnadjustedEvidence {
    let metric = &scores.metric;
    let scale = if metric.unit == Unit::Fraction {
        Scale::Share
    } else {
        Scale::Unit
    };
    let pair = |one: &ItemScores, other: &ItemScores| {
        if policy.is_independent(suite) {
            let [one, other] = [one, other]
                .map(|scores| independent::item_values(items, |column| scores.means[column]));
            return independent::compare_samples(&one, &other, scale, items.plural_word(), policy);
        }
        let arms = (
            ArmValues::Values(one, scores.range),
            ArmValues::Values(other, scores.range),
        );
        let shared = SharedItemPair::from_values(
            arms,
            scale,
            metric.direction != Direction::Down,
            items,
            policy,
        );
        if let Some(nothing) = shared.unpairable_finding() {
            return nothing;
        }
        let design = policy
            .configured_design(suite)
            .unwrap_or_else(|| shared.natural_design());
        match if metric.shares_state() {
            Design::Runs
        } else {
            design
        } {
            design @ (Design::Items | Design::Clusters) => shared.compare_units(design, policy),
            Design::Runs | Design::Counts => {
                let mut finding = super::unpaired::compare_run_means(
                    &one.run_means,
                    &other.run_means,
                    scale,
                    policy,
                );
                finding.bounds = shared.missing_outcome_bounds();
                finding
            }
        }
    };
    let findings = all_arm_pairs(scores.arms.len())
        .into_par_iter()
        .map(|(first, second)| {
            let (one, other) = (&scores.arms[first], &scores.arms[second]);
            let changed = pairing.changed_items(first, second);
            let finding = if changed.is_empty() {
                pair(one, other)
            } else {
                let [part, other_part] = pairing.scores_without(first, second, &changed, items);
                let part = part.with_noise_of(one);
                let other_part = other_part.with_noise_of(other);
                pair(&part, &other_part)
                    .restrict_to_same_texts(Some(one.counted), Some(other.counted))
            };
            (first, second, finding)
        });
    let values: Vec<Option<f64>> = scores
        .arms
        .iter()
        .map(|scores| mean_of_values(&scores.item_means(items)))
        .collect();
    let most = scores
        .arms
        .iter()
        .map(|scores| scores.counted)
        .max()
        .unwrap_or(0);
    let partial = partial_among(scores.arms.iter().map(|scores| Some(scores.counted)), most);
    UnadjustedEvidence::new(metric, values, partial, findings.collect())
}

/// Compares a number per run: an amount, a score, or a count. If `over_items` has a finding for two arms, that one is used. `evaluators`
/// gave the arms' numbers, if known. `apart` lists pairs without a common item, and why.
pub(super) fn compare_numbers(
    metric: &Metric,
    arms: &[ArmRuns<'_>],
    value: &dyn Fn(&RunRow) -> Option<f64>,
    evaluators: &[BTreeSet<&str>],
    apart: &BTreeMap<(usize, usize), Incomparable>,
    over_items: &(dyn Fn(usize, usize) -> Option<PairFinding> + Sync),
    policy: &Policy,
) -> UnadjustedEvidence {
    let samples: Vec<RunSample> = arms
        .iter()
        .map(|arm| RunSample::from_arm(metric, arm, value))
        .collect();
    let known = |arm: usize| {
        evaluators
            .get(arm)
            .filter(|evaluators| !evaluators.is_empty())
    };
    let findings = all_arm_pairs(arms.len())
        .into_par_iter()
        .map(|(first, second)| {
            let mut finding = over_items(first, second)
                .unwrap_or_else(|| number_pair(metric, &samples[first], &samples[second], policy));
            if known(first)
                .zip(known(second))
                .is_some_and(|(one, other)| one != other)
                && finding.difference.is_some()
            {
                finding = PairFinding::not_comparable(
                    Design::Runs,
                    Incomparable::OtherEvaluator,
                    finding.sizes,
                );
            }
            if let Some(reason) = apart
                .get(&(first, second))
                .filter(|_| finding.difference.is_some())
            {
                finding = PairFinding::not_comparable(Design::Runs, *reason, finding.sizes);
            }
            (first, second, finding)
        });
    let values: Vec<Option<f64>> = samples
        .iter()
        .map(|sample| mean_of_values(&sample.values))
        .collect();
    UnadjustedEvidence::new(metric, values, Vec::new(), findings.collect())
}

/// Creates a metric that cannot be compared between any two arms: shown, never tested.
pub(super) fn incomparable_metric(
    metric: &Metric,
    arms: usize,
    design: Design,
    reason: Incomparable,
) -> UnadjustedEvidence {
    let nothing = |(first, second)| {
        (
            first,
            second,
            PairFinding::not_comparable(design, reason, Sizes::default()),
        )
    };
    UnadjustedEvidence::new(
        metric,
        vec![None; arms],
        Vec::new(),
        all_arm_pairs(arms).into_iter().map(nothing).collect(),
    )
}

fn mean_of_values(values: &[f64]) -> Option<f64> {
    summarise_sample(values).ok().map(|summary| summary.mean)
}

fn rate_value(rates: &ArmRates, items: &SuiteItems, unit: Design) -> Option<f64> {
    match rates {
        ArmRates::Outcomes(outcomes) => {
            match labelled::labelled_rate(outcomes, items, unit, CONFIDENCE) {
                Some((found, _)) => Some(found.mean),
                None => mean_of_values(&outcomes.item_means(items)).map(|rate| {
                    match items.judge_errors {
                        Some(known) => {
                            rogan_gladen(rate, outcomes.counted as f64, known, CONFIDENCE)
                                .map_or(rate, |found| found.rate.clamp(0.0, 1.0))
                        }
                        None => rate,
                    }
                }),
            }
        }
        ArmRates::Counts(_) => mean_of_values(&rates.run_rates()),
        ArmRates::Unknown => None,
    }
}

/// Returns the arms with outcomes on fewer items than another arm, beyond `MAX_UNSHARED_ITEMS`. Of independent samples, none is a part of another.
fn partial_arms(suite: &str, rates: &[ArmRates], policy: &Policy) -> Vec<usize> {
    if policy.is_independent(suite) {
        return Vec::new();
    }
    let most = rates.iter().filter_map(counted_items).max().unwrap_or(0);
    partial_among(rates.iter().map(counted_items), most)
}

/// Returns the number of items with a counted outcome.
fn counted_items(rates: &ArmRates) -> Option<u64> {
    match rates {
        ArmRates::Outcomes(outcomes) => Some(outcomes.counted),
        ArmRates::Counts(_) | ArmRates::Unknown => None,
    }
}

fn partial_among(counted: impl Iterator<Item = Option<u64>>, most: u64) -> Vec<usize> {
    let is_partial = |counted: &Option<u64>| {
        counted.is_some_and(|counted| (counted as f64) < (1.0 - MAX_UNSHARED_ITEMS) * most as f64)
    };
    counted
        .enumerate()
        .filter(|(_, counted)| is_partial(counted))
        .map(|(arm, _)| arm)
        .collect()
}
