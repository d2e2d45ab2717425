//! Time horizons of arms on suites whose items have a human time.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::Serialize;

use crate::domain::{Filter, ItemStatus};
use crate::inference::{Arm, Grouping, suite_groups};
use crate::stats::{HORIZON_PENALTY, Seed, SuccessCurve, TimedAttempt, Undefined, horizon_intervals, success_curve, task_weights};
use crate::warehouse::{RunRow, Warehouse};

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
const DRAWS: u32 = 2000;
const CHANCES: [f64; 2] = [0.5, 0.8];
/// Ends of the groups of lengths, in minutes.
const LENGTHS: [f64; 5] = [1.0, 4.0, 15.0, 60.0, 240.0];

/// Returns the horizons of each suite that has outcomes with human minutes.
pub fn horizons(warehouse: &Warehouse, filter: &Filter) -> io::Result<Vec<Horizons>> {
    let mut found = Vec::new();
    for group in suite_groups(warehouse, filter, Grouping::AllBatches) {
        let mut arms = Vec::new();
        for arm in &group.arms {
            let (attempts, untimed) = attempts(warehouse, &arm.counted)?;
            if !attempts.is_empty() {
                arms.push(of_arm(arm.arm.clone(), &attempts, untimed));
            }
        }
        if arms.is_empty() {
            continue;
        }
        let minutes = |arm: &ArmHorizon| arm.half.as_ref().map_or(0.0, |half| half.minutes);
        arms.sort_by(|one, other| {
            minutes(other).total_cmp(&minutes(one)).then(other.success.total_cmp(&one.success)).then(one.arm.cmp(&other.arm))
        });
        let suite_version = group.suite_version.clone();
        found.push(Horizons { suite: group.suite, suite_version, arms, confidence: CONFIDENCE, draws: DRAWS, penalty: HORIZON_PENALTY });
    }
    Ok(found)
}

/// Returns the counted attempts of runs that have a human time, and the number of those without.
fn attempts(warehouse: &Warehouse, runs: &[&RunRow]) -> io::Result<(Vec<TimedAttempt>, u64)> {
    let runs: Vec<_> = runs.iter().map(|row| Arc::clone(&row.run)).collect();
    // The newest judgement of an attempt counts.
    let mut newest = BTreeMap::new();
    for (outcome, details) in warehouse.detailed(&runs)? {
        let key = (outcome.run.clone(), outcome.key(), outcome.attempt);
        let is_newer = newest.get(&key).is_none_or(|(known, ..): &(u32, _, _, _)| *known <= outcome.revision);
        if is_newer {
            let minutes = details.scores.get(HUMAN_MINUTES).copied().filter(|minutes| minutes.is_finite() && *minutes > 0.0);
            newest.insert(key, (outcome.revision, outcome.status, minutes, outcome.cluster));
        }
    }
    let (mut tasks, mut families) = (Codes(BTreeMap::new()), Codes(BTreeMap::new()));
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
        let family = families.of(family.map_or_else(|| (false, key.item.clone()), |family| (true, family)));
        let score = f64::from(u8::from(status == ItemStatus::Pass));
        found.push(TimedAttempt { task: tasks.of(key.item), family, minutes, score });
    }
    Ok((found, untimed))
}

/// Codes of names, from 0.
struct Codes<K>(BTreeMap<K, u32>);

impl<K: Ord> Codes<K> {
    fn of(&mut self, name: K) -> u32 {
        let next = u32::try_from(self.0.len()).unwrap_or(u32::MAX);
        *self.0.entry(name).or_insert(next)
    }
}

fn of_arm(arm: Arm, attempts: &[TimedAttempt], untimed: u64) -> ArmHorizon {
    let weights = task_weights(attempts);
    let count = |code: fn(&TimedAttempt) -> u32| attempts.iter().map(code).collect::<BTreeSet<_>>().len() as u64;
    let ends = attempts.iter().fold((f64::INFINITY, 0.0_f64), |(low, high), attempt| (low.min(attempt.minutes), high.max(attempt.minutes)));
    let curve = success_curve(attempts, &weights, HORIZON_PENALTY).ok();
    let found = CHANCES.map(|chance| Some((chance, curve?.horizon(chance)?)));
    let mut intervals = if found.iter().any(Option::is_some) {
        horizon_intervals(attempts, &weights, HORIZON_PENALTY, &CHANCES, CONFIDENCE, DRAWS, seed(attempts))
    } else {
        vec![Err(Undefined::NoVariation); CHANCES.len()]
    }
    .into_iter();
    let [half, most] = found.map(|found| {
        let interval = intervals.next()?;
        let (chance, minutes) = found?;
        let is_extrapolated = minutes < ends.0 || minutes > ends.1;
        let (low, high) = (interval.ok().map(|ends| ends.low), interval.ok().map(|ends| ends.high));
        Some(Horizon { chance, minutes, low, high, no_interval: interval.err(), is_extrapolated })
    });
    ArmHorizon {
        arm,
        attempts: attempts.len() as u64,
        tasks: count(|attempt| attempt.task),
        families: count(|attempt| attempt.family),
        untimed,
        success: attempts.iter().zip(&weights).map(|(attempt, weight)| attempt.score * weight).sum(),
        shortest_minutes: ends.0,
        longest_minutes: ends.1,
        curve,
        half,
        most,
        lengths: lengths(attempts, &weights, curve),
    }
}

fn lengths(attempts: &[TimedAttempt], weights: &[f64], curve: Option<SuccessCurve>) -> Vec<LengthGroup> {
    let group = |minutes: f64| LENGTHS.partition_point(|end| *end <= minutes);
    let of_group = |wanted: usize| {
        let members: Vec<(&TimedAttempt, &f64)> =
            attempts.iter().zip(weights).filter(|(attempt, _)| group(attempt.minutes) == wanted).collect();
        let whole: f64 = members.iter().map(|(_, weight)| **weight).sum();
        let mean = |of: &dyn Fn(&TimedAttempt) -> f64| members.iter().map(|(attempt, weight)| of(attempt) * **weight).sum::<f64>() / whole;
        let end = |pick: fn(f64, f64) -> f64| members.iter().map(|(attempt, _)| attempt.minutes).reduce(pick);
        Some(LengthGroup {
            from_minutes: end(f64::min)?,
            to_minutes: end(f64::max)?,
            attempts: members.len() as u64,
            observed: mean(&|attempt| attempt.score),
            expected: curve.map(|curve| mean(&|attempt| curve.score(attempt.minutes))),
        })
    };
    (0..=LENGTHS.len()).filter_map(of_group).collect()
}

/// Returns a seed that follows from the attempts.
fn seed(attempts: &[TimedAttempt]) -> Seed {
    Seed(crate::inference::seed(attempts.iter().flat_map(|attempt| [attempt.minutes, attempt.score])))
}
