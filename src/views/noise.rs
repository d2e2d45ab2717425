//! The noise ledger of a suite: where the noise of a run comes from, the smallest difference that single runs can show, and items that do
//! not help.

use std::collections::{BTreeMap, BTreeSet};

use rayon::prelude::*;
use schemars::JsonSchema;
use serde::Serialize;

use crate::domain::{Filter, ItemDetails, ItemStatus, Unit};
use crate::inference::{
    Arm, ArmRates, ArmRuns, BatchSelection, CONFIDENCE, ConditionEffect, Design, MIN_RUNS, Policy,
    Reliability, SuiteComparison, SuiteGroup, attempt_reliability, board_groups, is_column_marked,
    label_columns,
};
use crate::stats::{
    Aim, ArmRunsSummary, Detectable, HalfLife, Interval, ItemsByRuns, NoiseComponents, RepeatNoise,
    RunMeans, Undefined, detectable_t, detectable_welch, half_life, normal_quantile, pair_noise,
    quantile, split_noise, summarise_sample,
};
use crate::warehouse::{RunRow, Warehouse};

use super::items::{ItemMatrix, ItemSign, RunAttempt, item_matrix};

/// A suite's ledger.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct NoiseLedger {
    pub suite: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub suite_version: Option<String>,
    /// The plural word for the items.
    pub items_of: &'static str,
    pub items: u64,
    /// What was independently repeated, as in a comparison: with `runs`, the items of a run are tests of one artefact.
    pub unit: Design,
    /// Over the arms with repeats: means of variances; that of what a run shares by the arms' degrees of freedom. Absent if no arm has any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pooled: Option<Sources>,
    /// Arms with repeats, of which `pooled` is made.
    pub repeated_arms: u64,
    pub arms: Vec<ArmNoise>,
    pub single_runs: SingleRuns,
    pub judges: Vec<JudgeNoise>,
    /// Arms with runs under several recorded conditions.
    pub conditions: Vec<ConditionEffect>,
    pub health: ItemHealth,
}

/// Standard errors of one run's pass rate, by source, as shares. Estimates below zero are 0. Squares add up.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Sources {
    /// From answering the same items again (prediction noise).
    pub answers: f64,
    /// From what shifts all items of a run together: machines, services, retries.
    pub shared: f64,
    /// 95% limits of `shared`.
    pub shared_limits: Interval,
    /// From the choice of items (data noise). Absent if the items are tests of one artefact, which are not a sample.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub choice: Option<f64>,
    pub total: f64,
}

/// One arm's noise.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct ArmNoise {
    #[serde(flatten)]
    pub arm: Arm,
    pub runs: u64,
    /// Attempts at the whole suite, over all runs.
    pub repeats: u64,
    /// Items with an outcome.
    pub items: u64,
    pub pass_rate: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sources: Option<Sources>,
    /// Items with outcomes of at least two repeats; the share of them that neither always nor never pass.
    pub repeated_items: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub flips: Option<f64>,
    /// The chance that an item's outcome differs between two repeats.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub changes: Option<f64>,
    /// Intraclass correlation ICC(1) of single outcomes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub icc: Option<f64>,
    /// Chances that any and that all of k repeats pass.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub reliability: Vec<Reliability>,
    /// How long outcomes of items stay alike over the days of the runs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub half_life: Option<HalfLife>,
    /// Why there is no half-life.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub no_half_life: Option<Undefined>,
}

/// Differences of pass rates that runs can show, as shares. Absent if not measurable.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct SingleRuns {
    /// Two runs of one arm differ by more in 1 of 20 cases.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub by_chance: Option<f64>,
    /// What it is at the limits of what a run shares.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub by_chance_limits: Option<Interval>,
    /// Pairs of arms with common items, or, if the run is the unit, with two runs of each arm; the following figures are medians over them.
    pub pairs: u64,
    /// Smallest difference that one run of each of two arms detects on the same items, at 80% power and alpha. This and the next three are
    /// absent if the run is the unit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub same_items: Option<f64>,
    /// The same on different items.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub other_items: Option<f64>,
    /// On the same items, with two runs of each arm.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub twice_the_runs: Option<f64>,
    /// On the same items, with twice as many items.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub twice_the_items: Option<f64>,
    /// If the run is the unit: the smallest difference by number of runs per arm, from the fewest that a verdict needs.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub by_runs: Vec<DetectableByRuns>,
}

/// The smallest difference that a number of runs of each of two arms detects, at 80% power and alpha.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct DetectableByRuns {
    pub runs: u64,
    pub difference: f64,
}

/// The noise of one judgement.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct JudgeNoise {
    pub by: JudgeBasis,
    /// The judged score. Absent for the pass rate.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub metric: Option<String>,
    /// Runs, or outcomes, that were judged at least twice, or in two orders.
    pub judged: u64,
    /// Standard deviation of a run's score, or of its pass rate, between judgements: in the score's unit, or as a share.
    pub deviation: f64,
    /// Unit of the score. Absent for a share.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unit: Option<Unit>,
}

/// How judgements were repeated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum JudgeBasis {
    /// The same judge judged the same run again.
    Revisions,
    /// The same judge judged the same run with the criteria in reverse order (`judge --probe`).
    Probes,
    /// Several evaluators judged the same outcomes.
    Evaluators,
}

/// Items that tell little, or the wrong thing. Each list is sorted by name.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct ItemHealth {
    /// Repeats over all arms.
    pub repeats: u64,
    /// Passed and failed at least once.
    pub live: u64,
    /// Passed every time, of at least three outcomes.
    pub always_passed: Vec<String>,
    pub never_passed: Vec<String>,
    /// Passed by worse runs rather than by better ones, beyond chance.
    pub against_the_rest: Vec<String>,
    /// Expected number of these by chance.
    pub against_by_chance: f64,
    /// Groups of items with equal questions and equal right answers.
    pub duplicated: Vec<Vec<String>>,
    /// Groups of items with equal questions and different right answers.
    pub contradictory: Vec<Vec<String>>,
    /// Items whose question is recorded.
    pub with_question: u64,
}

/// Power of the smallest detectable differences.
const POWER: f64 = 0.8;
/// Longer recorded questions may have been cut, so that different ones look equal.
const MAX_CHARS: usize = 1_900;

/// Computes the ledgers of the selected suites.
pub fn noise_ledgers(warehouse: &Warehouse, filter: &Filter, policy: &Policy) -> Vec<NoiseLedger> {
    board_groups(warehouse, filter, BatchSelection::AllBatches, policy)
        .iter()
        .filter_map(|group| {
            let answer = SuiteComparison::primary_only(warehouse, group, policy);
            let mut ledger = build_ledger(&answer, policy)?;
            let (duplicated, contradictory, with_question) =
                group_same_questions(&recorded_questions(warehouse, group));
            ledger.health = ItemHealth {
                duplicated,
                contradictory,
                with_question,
                ..ledger.health
            };
            Some(ledger)
        })
        .collect()
}

/// Computes a suite's ledger, without its questions. Returns `None` if no arm has outcomes of two items.
pub(crate) fn build_ledger(answer: &SuiteComparison<'_>, policy: &Policy) -> Option<NoiseLedger> {
    let group = &answer.group;
    let items = item_matrix(
        group,
        &answer.matrix,
        group.arms.iter().map(|arm| &arm.arm),
        &answer.excluded_items,
    );
    let clusters = answer
        .items
        .clusters
        .as_deref()
        .filter(|_| answer.unit == Design::Clusters);
    let is_sample = answer.unit.is_over_items();
    let tables: Vec<ArmTable> = (0..items.arms.len())
        .map(|arm| ArmTable::new(arm, &items))
        .collect();
    let found: Vec<Option<NoiseComponents>> = tables
        .par_iter()
        .map(|table| split_noise(table.by_repeat(), Some(&table.runs), clusters).ok())
        .collect();
    let aim = Aim {
        alpha: policy.alpha,
        power: POWER,
    };
    let arms: Vec<ArmNoise> = found
        .iter()
        .enumerate()
        .filter_map(|(place, noise)| {
            Some(arm_noise(
                (*noise)?,
                place,
                &items,
                &tables[place],
                answer,
                is_sample,
            ))
        })
        .collect();
    let pooled = Sources::pool(&found, is_sample);
    let runs: Vec<&RunRow> = group
        .arms
        .iter()
        .flat_map(|arm| arm.counted.iter().copied())
        .collect();
    (!arms.is_empty()).then(|| NoiseLedger {
        suite: group.suite.clone(),
        suite_version: group.suite_version.clone(),
        items_of: items.word.unwrap_or("items"),
        items: items.items.len() as u64,
        unit: answer.unit,
        pooled,
        repeated_arms: arms.iter().filter(|arm| arm.sources.is_some()).count() as u64,
        single_runs: SingleRuns {
            by_chance: pooled.and_then(|pooled| pooled.chance_difference(pooled.shared)),
            by_chance_limits: pooled.and_then(|pooled| {
                let Interval { low, high } = pooled.shared_limits;
                Interval::new(
                    pooled.chance_difference(low)?,
                    pooled.chance_difference(high)?,
                )
            }),
            ..if is_sample {
                let typical = pooled.map_or(0.0, |pooled| pooled.shared);
                single_runs_over_items((&found, typical), &tables, clusters, aim)
            } else {
                single_runs_over_runs(&answer.rates, aim)
            }
        },
        judges: judge_noise_by_revisions(&runs)
            .into_iter()
            .chain(judge_noise_by_probes(&runs))
            .chain(judge_noise_by_evaluators(answer))
            .collect(),
        conditions: answer.condition_effects.clone(),
        health: item_health(&items),
        arms,
    })
}

/// One arm's outcomes by item and repeat.
struct ArmTable {
    values: Vec<Option<f64>>,
    /// The run of each repeat.
    runs: Vec<u32>,
}

impl ArmTable {
    fn new(arm: usize, items: &ItemMatrix) -> Self {
        let goes: Vec<&RunAttempt> = items.goes.iter().filter(|go| go.arm == arm).collect();
        let mut runs = Vec::new();
        for (place, go) in goes.iter().enumerate() {
            let before: u32 = runs.last().copied().unwrap_or(0);
            runs.push(if place > 0 && goes[place - 1].run != go.run {
                before + 1
            } else {
                before
            });
        }
        let value = |go: &&RunAttempt, item: usize| {
            go.statuses[item]
                .filter(|status| status.is_counted())
                .map(pass_score)
        };
        let values = (0..items.items.len())
            .flat_map(|item| goes.iter().map(move |go| value(go, item)))
            .collect();
        Self { values, runs }
    }

    fn by_repeat(&self) -> ItemsByRuns<'_> {
        ItemsByRuns {
            runs: self.runs.len(),
            values: &self.values,
        }
    }
}

fn pass_score(status: ItemStatus) -> f64 {
    f64::from(u8::from(status == ItemStatus::Pass))
}

impl Sources {
    /// Returns an arm's sources, or `None` without repeats.
    fn from_noise(noise: &NoiseComponents, is_sample: bool) -> Option<Self> {
        Self::pool(&[Some(*noise)], is_sample)
    }

    /// Pools the arms with repeats.
    fn pool(arms: &[Option<NoiseComponents>], is_sample: bool) -> Option<Self> {
        let repeated: Vec<(&NoiseComponents, RepeatNoise)> = arms
            .iter()
            .flatten()
            .filter_map(|noise| Some((noise, noise.repeated?)))
            .collect();
        let of_runs: Vec<RunMeans> = repeated
            .iter()
            .map(|(_, repeats)| repeats.of_runs)
            .collect();
        let of_runs = RunMeans::pool(&of_runs)?;
        let mean = |of: &dyn Fn(&NoiseComponents, &RepeatNoise) -> f64| {
            let sum: f64 = repeated
                .iter()
                .map(|(noise, repeats)| of(noise, repeats).max(0.0))
                .sum();
            sum / repeated.len() as f64
        };
        let answers = mean(&|noise, repeats| repeats.answers / noise.items as f64);
        let choice =
            is_sample.then(|| mean(&|noise, _| noise.item_choice_variance().unwrap_or_default()));
        let shared = of_runs.shared().max(0.0);
        let limits = of_runs.shared_limits(CONFIDENCE).ok()?;
        let total = answers + shared + choice.unwrap_or(0.0);
        // No standard deviation of a rate is larger.
        let deviation = |variance: f64| variance.sqrt().min(0.5);
        Some(Self {
            answers: answers.sqrt(),
            shared: deviation(shared),
            shared_limits: Interval::new(deviation(limits.low), deviation(limits.high))?,
            choice: choice.map(f64::sqrt),
            total: total.sqrt(),
        })
    }

    /// Returns the difference that two runs of one arm exceed in 1 of 20 cases, if runs share a standard error.
    fn chance_difference(&self, shared: f64) -> Option<f64> {
        let z = normal_quantile(f64::midpoint(1.0, CONFIDENCE)).ok()?;
        Some((z * (2.0 * (self.answers.powi(2) + shared.powi(2))).sqrt()).min(1.0))
    }
}

fn arm_noise(
    noise: NoiseComponents,
    place: usize,
    items: &ItemMatrix,
    table: &ArmTable,
    answer: &SuiteComparison<'_>,
    is_sample: bool,
) -> ArmNoise {
    let arm = items.arms[place].arm.clone();
    let own = answer.group.arms.iter().position(|runs| runs.arm == arm);
    let over_days = own.map(|own| outcome_half_life(&answer.group.arms[own], place, items, answer));
    ArmNoise {
        runs: table.runs.iter().collect::<BTreeSet<_>>().len() as u64,
        repeats: noise.repeats,
        items: noise.items,
        pass_rate: noise.mean,
        sources: Sources::from_noise(&noise, is_sample),
        repeated_items: noise.repeated.map_or(0, |repeats| repeats.items),
        flips: noise.repeated.map(|repeats| repeats.flips),
        changes: noise.repeated.map(|repeats| repeats.changes),
        icc: noise.repeated.and_then(|repeats| repeats.icc),
        reliability: own.map_or_else(Vec::new, |own| {
            attempt_reliability(&answer.rates[own], &answer.items)
        }),
        half_life: over_days.and_then(Result::ok),
        no_half_life: over_days.and_then(Result::err),
        arm,
    }
}

/// Returns the half-life of an arm's outcomes over the days (UTC) of its runs.
fn outcome_half_life(
    runs: &ArmRuns<'_>,
    place: usize,
    items: &ItemMatrix,
    answer: &SuiteComparison<'_>,
) -> Result<HalfLife, Undefined> {
    let clusters = match answer.unit {
        Design::Items => None,
        Design::Clusters => answer.items.clusters.clone(),
        // Tests of one artefact depend on each other, all of them.
        Design::Runs | Design::Counts => Some(vec![0; items.items.len()]),
    };
    let mut days = BTreeMap::new();
    for row in &runs.counted {
        if let Some(time) = row.run.timestamp {
            days.entry(time.date_naive())
                .or_insert_with(BTreeSet::new)
                .insert(row.run.id.as_str());
        }
    }
    let first = *days.keys().next().ok_or(Undefined::NoData)?;
    let nights: Vec<Vec<Option<f64>>> = days
        .values()
        .map(|own| {
            let mut cells = vec![(0.0, 0.0); items.items.len()];
            for go in items
                .goes
                .iter()
                .filter(|go| go.arm == place && own.contains(go.run.as_str()))
            {
                for (cell, status) in cells.iter_mut().zip(&go.statuses) {
                    if let Some(status) = status.filter(|status| status.is_counted()) {
                        *cell = (cell.0 + pass_score(status), cell.1 + 1.0);
                    }
                }
            }
            cells
                .into_iter()
                .map(|(sum, n)| (n > 0.0).then(|| sum / n))
                .collect()
        })
        .collect();
    let times: Vec<f64> = days
        .keys()
        .map(|day| (*day - first).num_days() as f64)
        .collect();
    half_life(&nights, &times, clusters.as_deref(), CONFIDENCE)
}

fn single_runs_over_items(
    // An arm with one run is taken to shift like the others.
    (found, typical): (&[Option<NoiseComponents>], f64),
    tables: &[ArmTable],
    clusters: Option<&[u32]>,
    aim: Aim,
) -> SingleRuns {
    let shared = |arm: usize| {
        found[arm]
            .and_then(|noise| noise.repeated)
            .map(|repeats| repeats.runs.max(0.0))
    };
    let shifts = |one: usize, other: usize| {
        shared(one).unwrap_or(typical.powi(2)) + shared(other).unwrap_or(typical.powi(2))
    };
    // The smallest difference is proportional to the standard error, so that each number of degrees needs one search for all pairs.
    let mut per_error = BTreeMap::<u64, Option<f64>>::new();
    let mut least = |variance: f64, degrees: f64| {
        let error = variance.sqrt();
        if !(error > 0.0 && error.is_finite()) {
            return None;
        }
        let of_one = *per_error
            .entry(degrees.to_bits())
            .or_insert_with(|| detectable_difference(detectable_t(1.0, degrees, aim)));
        Some(of_one? * error)
    };
    let mut columns: [Vec<f64>; 4] = Default::default();
    let mut pairs = 0;
    for one in 0..found.len() {
        for other in one + 1..found.len() {
            let (Some(own), Some(theirs)) = (&found[one], &found[other]) else {
                continue;
            };
            let Ok(pair) = pair_noise(tables[one].by_repeat(), tables[other].by_repeat(), clusters)
            else {
                continue;
            };
            pairs += 1;
            let (moved, degrees) = (shifts(one, other), pair.units as f64 - 1.0);
            columns[0].extend(least(pair.total + moved, degrees));
            let apart = own
                .variance_of_mean(own.items as f64, 1.0)
                .zip(theirs.variance_of_mean(theirs.items as f64, 1.0));
            columns[1].extend(apart.and_then(|(own, theirs)| least(own + theirs, 2.0 * degrees)));
            columns[2].extend(
                pair.prediction
                    .and_then(|noise| least(pair.total - noise / 2.0 + moved / 2.0, degrees)),
            );
            columns[3].extend(least(pair.total / 2.0 + moved, 2.0 * degrees + 1.0));
        }
    }
    let [same_items, other_items, twice_the_runs, twice_the_items] =
        columns.map(|values| quantile(&values, 0.5).ok());
    SingleRuns {
        pairs,
        same_items,
        other_items,
        twice_the_runs,
        twice_the_items,
        ..SingleRuns::default()
    }
}

/// Plans runs whose tests share one artefact, by the test that compares them: Welch's on the rates of runs.
fn single_runs_over_runs(rates: &[ArmRates], aim: Aim) -> SingleRuns {
    let spreads: Vec<f64> = rates
        .iter()
        .filter_map(|rates| summarise_sample(&rates.run_rates()).ok()?.sd)
        .collect();
    let pairs: Vec<(f64, f64)> = spreads
        .iter()
        .enumerate()
        .flat_map(|(place, one)| spreads[place + 1..].iter().map(move |other| (*one, *other)))
        .collect();
    let by_runs = [MIN_RUNS as u64, 2 * MIN_RUNS as u64]
        .into_iter()
        .filter_map(|n| {
            let least = |(one, other): &(f64, f64)| {
                detectable_difference(detectable_welch(
                    ArmRunsSummary { sd: *one, n },
                    ArmRunsSummary { sd: *other, n },
                    aim,
                ))
            };
            let differences: Vec<f64> = pairs
                .iter()
                .filter_map(least)
                .map(|difference| difference.min(1.0))
                .collect();
            Some(DetectableByRuns {
                runs: n,
                difference: quantile(&differences, 0.5).ok()?,
            })
        });
    SingleRuns {
        pairs: pairs.len() as u64,
        by_runs: by_runs.collect(),
        ..SingleRuns::default()
    }
}

fn detectable_difference(found: Result<Detectable, Undefined>) -> Option<f64> {
    match found {
        Ok(Detectable::Difference(difference)) => Some(difference),
        Ok(Detectable::Unreachable { .. }) | Err(_) => None,
    }
}

/// What repeated judgements say of a score.
#[derive(Default)]
struct JudgeSpread<'a> {
    runs: BTreeSet<&'a str>,
    degrees: f64,
    squares: f64,
}

/// By metric and unit.
type JudgeSpreads<'a> = BTreeMap<(&'a str, Unit), JudgeSpread<'a>>;

impl<'a> JudgeSpread<'a> {
    /// Adds the scores that one judge gave one run.
    fn add_run_scores(&mut self, run: &'a RunRow, values: &[f64]) {
        let mean = values.iter().sum::<f64>() / values.len() as f64;
        self.runs.insert(run.run.id.as_str());
        self.degrees += (values.len() - 1) as f64;
        self.squares += values
            .iter()
            .map(|value| (value - mean).powi(2))
            .sum::<f64>();
    }

    fn noise_lines(all: JudgeSpreads<'_>, by: JudgeBasis) -> Vec<JudgeNoise> {
        let line = |((metric, unit), spread): ((&str, Unit), JudgeSpread<'_>)| JudgeNoise {
            by,
            metric: Some(metric.to_owned()),
            judged: spread.runs.len() as u64,
            deviation: (spread.squares / spread.degrees).sqrt(),
            unit: Some(unit),
        };
        all.into_iter().map(line).collect()
    }
}

/// Measures judges that judged a run again: the standard deviation between revisions by one judge, pooled over runs.
fn judge_noise_by_revisions(runs: &[&RunRow]) -> Vec<JudgeNoise> {
    let mut spreads = JudgeSpreads::new();
    for row in runs {
        let mut said = BTreeMap::<(&str, Unit, &str), Vec<f64>>::new();
        for score in &row.run.scores {
            if let (Some(value), Some(judge)) = (score.value, &score.evaluator) {
                said.entry((&score.metric, score.unit, judge))
                    .or_default()
                    .push(value);
            }
        }
        for ((metric, unit, _), values) in said.into_iter().filter(|(_, values)| values.len() > 1) {
            spreads
                .entry((metric, unit))
                .or_default()
                .add_run_scores(row, &values);
        }
    }
    JudgeSpread::noise_lines(spreads, JudgeBasis::Revisions)
}

/// Measures judges that judged a run in two orders: the standard deviation between the orders, pooled over probes.
fn judge_noise_by_probes(runs: &[&RunRow]) -> Vec<JudgeNoise> {
    let mut spreads = JudgeSpreads::new();
    for row in runs {
        for probe in &row.run.probes {
            spreads
                .entry((&probe.metric, probe.unit))
                .or_default()
                .add_run_scores(row, &[probe.given, probe.reversed]);
        }
    }
    JudgeSpread::noise_lines(spreads, JudgeBasis::Probes)
}

/// Measures evaluators of the same outcomes: the standard deviation of a run's pass rate if one of them judged it alone.
fn judge_noise_by_evaluators(answer: &SuiteComparison<'_>) -> Option<JudgeNoise> {
    let labels = label_columns(&answer.matrix);
    let names: BTreeSet<&str> = answer
        .items
        .deciding_items(&answer.matrix)
        .map(|item| item.key.evaluator.as_str())
        .collect();
    if !answer.items.is_judged_by_several() || names.len() < 2 {
        return None;
    }
    let places: BTreeMap<&str, usize> = names
        .iter()
        .enumerate()
        .map(|(place, name)| (*name, place))
        .collect();
    let mut values = Vec::new();
    let mut judged = 0;
    for row in &answer.matrix.rows {
        answer.items.for_each_item(|_, columns| {
            let mut said = vec![None; names.len()];
            // A person's label tells the judge's error, not its noise.
            for column in columns
                .iter()
                .filter(|column| !is_column_marked(&labels, **column as usize))
            {
                let place = places[answer.matrix.items[*column as usize].key.evaluator.as_str()];
                said[place] = row
                    .status_of(*column)
                    .filter(|status| status.is_counted())
                    .map(pass_score);
            }
            judged += u64::from(said.iter().flatten().count() > 1);
            values.extend(said);
        });
    }
    let repeats = split_noise(
        ItemsByRuns {
            runs: names.len(),
            values: &values,
        },
        None,
        None,
    )
    .ok()?
    .repeated?;
    let deviation = (repeats.answers.max(0.0) / answer.items.unit_count() as f64
        + repeats.runs.max(0.0))
    .sqrt();
    Some(JudgeNoise {
        by: JudgeBasis::Evaluators,
        metric: None,
        judged,
        deviation,
        unit: None,
    })
}

fn item_health(items: &ItemMatrix) -> ItemHealth {
    let with = |sign: ItemSign| -> Vec<String> {
        items
            .items
            .iter()
            .filter(|line| line.signs.contains(&sign))
            .map(|line| line.item.clone())
            .collect()
    };
    ItemHealth {
        repeats: items.goes.len() as u64,
        live: items
            .items
            .iter()
            .filter(|line| line.passed > 0 && line.passed < line.counted)
            .count() as u64,
        always_passed: with(ItemSign::AlwaysSolved),
        never_passed: with(ItemSign::NeverSolved),
        against_the_rest: with(ItemSign::AgainstTheRest),
        against_by_chance: items.orders.against_by_chance,
        ..ItemHealth::default()
    }
}

/// The recorded question of an item, its right answers, and the hash of both.
#[derive(Clone, Debug, Default, PartialEq)]
struct RecordedQuestion {
    question: Option<String>,
    expected: Vec<String>,
    hash: Option<String>,
}

/// Reads the questions of each arm's newest run. An item keeps its first recorded question.
fn recorded_questions(
    warehouse: &Warehouse,
    group: &SuiteGroup<'_>,
) -> BTreeMap<String, RecordedQuestion> {
    let newest = |arm: &ArmRuns<'_>| {
        arm.counted
            .iter()
            .rfind(|row| row.items.is_some())
            .map(|row| row.run.clone())
    };
    let runs: Vec<_> = group.arms.iter().filter_map(newest).collect();
    let mut asked = BTreeMap::<String, RecordedQuestion>::new();
    // Items without readable lines have no question.
    for (
        outcome,
        ItemDetails {
            question,
            expected,
            item_hash,
            ..
        },
    ) in warehouse.read_detailed_outcomes(&runs).unwrap_or_default()
    {
        let known = asked.entry(outcome.item).or_default();
        known.question = known.question.take().or(question);
        known.hash = known.hash.take().or(item_hash);
        if known.expected.is_empty() {
            known.expected = expected;
        }
    }
    asked
}

/// Groups items with equal questions, by whether their right answers are equal. Returns the number of recorded questions as well.
fn group_same_questions(
    asked: &BTreeMap<String, RecordedQuestion>,
) -> (Vec<Vec<String>>, Vec<Vec<String>>, u64) {
    let mut by_question = BTreeMap::<String, Vec<(&String, BTreeSet<String>)>>::new();
    let mut with_question = 0;
    let plain = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    for (item, asked) in asked {
        let own: BTreeSet<String> = asked.expected.iter().map(|answer| plain(answer)).collect();
        match (&asked.question, &asked.hash) {
            (Some(question), _) if question.chars().count() < MAX_CHARS => {
                by_question
                    .entry(plain(question))
                    .or_default()
                    .push((item, own));
            }
            (Some(_) | None, Some(hash)) => by_question
                .entry(format!("\u{0}{hash}"))
                .or_default()
                .push((item, own)),
            (Some(_) | None, None) => continue,
        }
        with_question += 1;
    }
    let (mut duplicated, mut contradictory) = (Vec::new(), Vec::new());
    for items in by_question.into_values().filter(|items| items.len() > 1) {
        let names = || {
            items
                .iter()
                .map(|(item, _)| (*item).clone())
                .collect::<Vec<String>>()
        };
        let answers: BTreeSet<&BTreeSet<String>> = items
            .iter()
            .map(|(_, own)| own)
            .filter(|own| !own.is_empty())
            .collect();
        if answers.len() > 1 {
            contradictory.push(names());
        } else {
            duplicated.push(names());
        }
    }
    (duplicated, contradictory, with_question)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_questions_are_duplicates_or_contradictions() {
        let asked = |question: &str, expected: &[&str], hash: Option<&str>| RecordedQuestion {
            question: Some(question.to_owned()).filter(|question| !question.is_empty()),
            expected: expected.iter().map(|text| (*text).to_owned()).collect(),
            hash: hash.map(str::to_owned),
        };
        let long = "x".repeat(MAX_CHARS);
        let items = [
            ("a", asked("2 + 2 = ?", &["4"], Some("1"))),
            ("b", asked(" 2 + 2  = ?", &["4"], Some("2"))),
            ("c", asked("Capital of Australia?", &["Canberra"], None)),
            ("d", asked("Capital of Australia?", &["Sydney"], None)),
            ("e", asked("Capital of Peru?", &["Lima"], None)),
            // Cut texts are told apart by their hashes.
            ("f", asked(&long, &["1"], Some("f"))),
            ("g", asked(&long, &["1"], Some("g"))),
            ("h", asked("", &[], Some("h"))),
            ("i", asked("", &[], Some("h"))),
            ("j", asked("", &[], None)),
        ];
        let items: BTreeMap<String, RecordedQuestion> = items
            .into_iter()
            .map(|(item, asked)| (item.to_owned(), asked))
            .collect();
        let (duplicated, contradictory, with_question) = group_same_questions(&items);
        assert_eq!(
            (duplicated, contradictory),
            (
                vec![vec!["h", "i"], vec!["a", "b"]]
                    .into_iter()
                    .map(|group| group.into_iter().map(str::to_owned).collect())
                    .collect::<Vec<Vec<String>>>(),
                vec![vec!["c".to_owned(), "d".to_owned()]]
            )
        );
        assert_eq!(with_question, 9);
    }
}
