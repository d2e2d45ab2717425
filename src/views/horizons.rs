//! Time horizons of arms on suites whose items have a human time.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::sync::Arc;

use rayon::prelude::*;
use schemars::JsonSchema;
use serde::Serialize;

use crate::domain::{Filter, ItemDetails, ItemOutcome, ItemStatus};
use crate::inference::{Arm, ArmRuns, BatchSelection, SuiteGroup, suite_groups};
use crate::stats::{
    HORIZON_PENALTY, Seed, SuccessCurve, TimedAttempt, Undefined, horizon_intervals, success_curve,
    task_weights,
};
use crate::warehouse::Warehouse;

/// Score of an outcome with the minutes that people need for its item.
pub const HUMAN_MINUTES: &str = "human_minutes";

/// Horizons of a suite's arms.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Horizons {
    pub suite: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub suite_version: Option<String>,
    /// Longest horizon first; arms without one last.
    pub arms: Vec<ArmHorizon>,
    pub confidence: f64,
    /// Resamples of whole families behind each interval.
    pub draws: u32,
    /// Penalty of half the squared slope.
    pub penalty: f64,
}

/// An arm's success over the length of tasks.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct ArmHorizon {
    pub arm: Arm,
    /// Counted attempts with a human time, and what they are at.
    pub attempts: u64,
    pub tasks: u64,
    pub families: u64,
    /// Counted attempts without a human time. They are left out.
    pub untimed: u64,
    /// Share of the weight that passed.
    pub success: f64,
    pub shortest_minutes: f64,
    pub longest_minutes: f64,
    /// Absent if all attempts passed, or none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub curve: Option<SuccessCurve>,
    /// Length of tasks that the arm does half of the time. Absent without a curve that falls.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub half: Option<Horizon>,
    /// Length of tasks that it does 8 of 10 times.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub most: Option<Horizon>,
    /// Observed and expected success of tasks by length, to see whether the curve fits.
    pub lengths: Vec<LengthGroup>,
}

#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Horizon {
    pub chance: f64,
    pub minutes: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub low: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub high: Option<f64>,
    /// Why there is no interval.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub no_interval: Option<Undefined>,
    /// It is longer than the longest task, or shorter than the shortest.
    pub is_extrapolated: bool,
}

/// Tasks of similar length.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct LengthGroup {
    pub from_minutes: f64,
    pub to_minutes: f64,
    pub attempts: u64,
    /// By weight.
    pub observed: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expected: Option<f64>,
}

const CONFIDENCE: f64 = 0.95;
const BOOTSTRAP_DRAWS: u32 = 2000;
const SUCCESS_CHANCES: [f64; 2] = [0.5, 0.8];
/// Ends of the groups of lengths, in minutes.
const GROUP_END_MINUTES: [f64; 5] = [1.0, 4.0, 15.0, 60.0, 240.0];

/// A run with more outcomes is not read for a page of the site.
const MAX_LOOKED_THROUGH: u64 = 20_000;

/// Returns the horizons of each suite that has outcomes with human minutes.
pub fn suite_horizons(warehouse: &Warehouse, filter: &Filter) -> io::Result<Vec<Horizons>> {
    let groups = suite_groups(warehouse, filter, BatchSelection::AllBatches);
    groups
        .iter()
        .filter_map(|group| group_horizons(warehouse, group).transpose())
        .collect()
}

/// Returns the horizons of a suite for its page, or `None` if its outcomes cannot be read. Only the newest run is looked through for human
/// times, because tools give them to all runs or to none, and most suites have none.
pub(super) fn horizons_for_page(warehouse: &Warehouse, group: &SuiteGroup<'_>) -> Option<Horizons> {
    let counted = || group.arms.iter().flat_map(|arm| &arm.counted);
    let newest = counted()
        .filter(|row| row.items.is_some())
        .max_by_key(|row| (row.run.timestamp, &row.run.id))?;
    if counted().any(|row| {
        row.items
            .is_some_and(|items| items.lines > MAX_LOOKED_THROUGH)
    }) {
        return None;
    }
    let looked_through = warehouse
        .read_detailed_outcomes(std::slice::from_ref(&newest.run))
        .ok()?;
    looked_through
        .iter()
        .any(|(_, details)| details.scores.contains_key(HUMAN_MINUTES))
        .then(|| group_horizons(warehouse, group).ok().flatten())
        .flatten()
}

/// Returns `None` if no outcome of the group has human minutes.
fn group_horizons(warehouse: &Warehouse, group: &SuiteGroup<'_>) -> io::Result<Option<Horizons>> {
    // Runs of one file are read together.
    let runs: Vec<_> = group
        .arms
        .iter()
        .flat_map(|arm| &arm.counted)
        .map(|row| Arc::clone(&row.run))
        .collect();
    let mut by_run = BTreeMap::<String, Vec<(ItemOutcome, ItemDetails)>>::new();
    for (outcome, details) in warehouse.read_detailed_outcomes(&runs)? {
        by_run
            .entry(outcome.run.to_string())
            .or_default()
            .push((outcome, details));
    }
    let horizon = |arm: &ArmRuns<'_>| {
        let outcomes = arm
            .counted
            .iter()
            .filter_map(|row| by_run.get(row.run.id.as_str()))
            .flatten();
        let (attempts, untimed) = timed_attempts(outcomes);
        (!attempts.is_empty()).then(|| arm_horizon(arm.arm.clone(), &attempts, untimed))
    };
    let mut arms: Vec<ArmHorizon> = group.arms.par_iter().filter_map(horizon).collect();
    if arms.is_empty() {
        return Ok(None);
    }
    let minutes = |arm: &ArmHorizon| arm.half.as_ref().map_or(0.0, |half| half.minutes);
    arms.sort_by(|one, other| {
        minutes(other)
            .total_cmp(&minutes(one))
            .then(other.success.total_cmp(&one.success))
            .then(one.arm.cmp(&other.arm))
    });
    let (suite, suite_version) = (group.suite.clone(), group.suite_version.clone());
    Ok(Some(Horizons {
        suite,
        suite_version,
        arms,
        confidence: CONFIDENCE,
        draws: BOOTSTRAP_DRAWS,
        penalty: HORIZON_PENALTY,
    }))
}

/// Points of a drawing.
pub type CurvePoints = Vec<(f64, f64)>;

impl Horizons {
    /// Returns the lengths of the shortest and the longest task of all arms, in minutes.
    pub fn task_length_range(&self) -> (f64, f64) {
        let ends = |(low, high): (f64, f64), arm: &ArmHorizon| {
            (low.min(arm.shortest_minutes), high.max(arm.longest_minutes))
        };
        self.arms.iter().fold((f64::INFINITY, 0.0), ends)
    }

    /// Returns an arm's curve and its observed success by groups of lengths, in the unit square: the logarithm of minutes over all tasks'
    /// lengths, and success.
    pub fn chart_points(&self, arm: &ArmHorizon) -> (CurvePoints, CurvePoints) {
        let (low, high) = self.task_length_range();
        let width = (high / low).log2();
        let place = |minutes: f64| {
            if width > 0.0 {
                (minutes / low).log2() / width
            } else {
                0.5
            }
        };
        let curve = |curve: SuccessCurve| -> CurvePoints {
            let places = (0..=CURVE_STEPS).map(|step| f64::from(step) / f64::from(CURVE_STEPS));
            places
                .map(|x| (x, curve.expected_score(low * (x * width).exp2())))
                .collect()
        };
        let observed = |group: &LengthGroup| {
            (
                place((group.from_minutes * group.to_minutes).sqrt()),
                group.observed,
            )
        };
        (
            arm.curve.map_or_else(Vec::new, curve),
            arm.lengths.iter().map(observed).collect(),
        )
    }
}

/// Steps of a drawn curve.
const CURVE_STEPS: u32 = 40;

/// Returns the counted attempts that have a human time, and the number of those without.
fn timed_attempts<'a>(
    outcomes: impl Iterator<Item = &'a (ItemOutcome, ItemDetails)>,
) -> (Vec<TimedAttempt>, u64) {
    // The newest judgement of an attempt counts.
    let mut newest = BTreeMap::new();
    for (outcome, details) in outcomes {
        let key = (outcome.run.clone(), outcome.key(), outcome.attempt);
        let is_newer = newest
            .get(&key)
            .is_none_or(|(known, ..): &(u32, _, _, _)| *known <= outcome.revision);
        if is_newer {
            let minutes = details
                .scores
                .get(HUMAN_MINUTES)
                .copied()
                .filter(|minutes| minutes.is_finite() && *minutes > 0.0);
            newest.insert(
                key,
                (
                    outcome.revision,
                    outcome.status,
                    minutes,
                    outcome.cluster.clone(),
                ),
            );
        }
    }
    let (mut tasks, mut families) = (CodesByName(BTreeMap::new()), CodesByName(BTreeMap::new()));
    let (mut found, mut untimed) = (Vec::new(), 0);
    for ((_, key, _), (_, status, minutes, family)) in newest {
        if !status.is_counted() {
            continue;
        }
        let Some(minutes) = minutes else {
            untimed += 1;
            continue;
        };
        // A task without a family is one of its own.
        let family = families
            .code_for(family.map_or_else(|| (false, key.item.clone()), |family| (true, family)));
        let score = f64::from(u8::from(status == ItemStatus::Pass));
        found.push(TimedAttempt {
            task: tasks.code_for(key.item),
            family,
            minutes,
            score,
        });
    }
    (found, untimed)
}

/// Codes of names, from 0.
struct CodesByName<K>(BTreeMap<K, u32>);

impl<K: Ord> CodesByName<K> {
    fn code_for(&mut self, name: K) -> u32 {
        let next = u32::try_from(self.0.len()).unwrap_or(u32::MAX);
        *self.0.entry(name).or_insert(next)
    }
}

fn arm_horizon(arm: Arm, attempts: &[TimedAttempt], untimed: u64) -> ArmHorizon {
    let weights = task_weights(attempts);
    let count = |code: fn(&TimedAttempt) -> u32| {
        attempts.iter().map(code).collect::<BTreeSet<_>>().len() as u64
    };
    let ends = attempts
        .iter()
        .fold((f64::INFINITY, 0.0_f64), |(low, high), attempt| {
            (low.min(attempt.minutes), high.max(attempt.minutes))
        });
    let curve = success_curve(attempts, &weights, HORIZON_PENALTY).ok();
    let found = SUCCESS_CHANCES.map(|chance| Some((chance, curve?.horizon_minutes(chance)?)));
    let mut intervals = if found.iter().any(Option::is_some) {
        horizon_intervals(
            attempts,
            &weights,
            HORIZON_PENALTY,
            &SUCCESS_CHANCES,
            CONFIDENCE,
            BOOTSTRAP_DRAWS,
            seed_from_attempts(attempts),
        )
    } else {
        vec![Err(Undefined::NoVariation); SUCCESS_CHANCES.len()]
    }
    .into_iter();
    let [half, most] = found.map(|found| {
        let interval = intervals.next()?;
        let (chance, minutes) = found?;
        let is_extrapolated = minutes < ends.0 || minutes > ends.1;
        let (low, high) = (
            interval.ok().map(|ends| ends.low),
            interval.ok().map(|ends| ends.high),
        );
        Some(Horizon {
            chance,
            minutes,
            low,
            high,
            no_interval: interval.err(),
            is_extrapolated,
        })
    });
    ArmHorizon {
        arm,
        attempts: attempts.len() as u64,
        tasks: count(|attempt| attempt.task),
        families: count(|attempt| attempt.family),
        untimed,
        success: attempts
            .iter()
            .zip(&weights)
            .map(|(attempt, weight)| attempt.score * weight)
            .sum(),
        shortest_minutes: ends.0,
        longest_minutes: ends.1,
        curve,
        half,
        most,
        lengths: length_groups(attempts, &weights, curve),
    }
}

fn length_groups(
    attempts: &[TimedAttempt],
    weights: &[f64],
    curve: Option<SuccessCurve>,
) -> Vec<LengthGroup> {
    let group = |minutes: f64| GROUP_END_MINUTES.partition_point(|end| *end <= minutes);
    let of_group = |wanted: usize| {
        let members: Vec<(&TimedAttempt, &f64)> = attempts
            .iter()
            .zip(weights)
            .filter(|(attempt, _)| group(attempt.minutes) == wanted)
            .collect();
        let whole: f64 = members.iter().map(|(_, weight)| **weight).sum();
        let mean = |of: &dyn Fn(&TimedAttempt) -> f64| {
            members
                .iter()
                .map(|(attempt, weight)| of(attempt) * **weight)
                .sum::<f64>()
                / whole
        };
        let end = |pick: fn(f64, f64) -> f64| {
            members
                .iter()
                .map(|(attempt, _)| attempt.minutes)
                .reduce(pick)
        };
        Some(LengthGroup {
            from_minutes: end(f64::min)?,
            to_minutes: end(f64::max)?,
            attempts: members.len() as u64,
            observed: mean(&|attempt| attempt.score),
            expected: curve.map(|curve| mean(&|attempt| curve.expected_score(attempt.minutes))),
        })
    };
    (0..=GROUP_END_MINUTES.len()).filter_map(of_group).collect()
}

/// Returns a seed that follows from the attempts.
fn seed_from_attempts(attempts: &[TimedAttempt]) -> Seed {
    Seed(crate::inference::seed_from_values(
        attempts
            .iter()
            .flat_map(|attempt| [attempt.minutes, attempt.score]),
    ))
}
