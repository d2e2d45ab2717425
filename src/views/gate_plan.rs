//! A simulation of a gate's rules on made-up days like the seen ones, before anybody relies on the rules.

use schemars::JsonSchema;
use serde::Serialize;

use crate::domain::PASS_RATE;
use crate::inference::{Arm, ArmRates, BaselineComparison, Policy, RunSimulator, SuiteComparison};
use crate::stats::{GateOdds, GatePlan, GateWorld, Ruling, Seed, gate_odds};
use crate::warehouse::Warehouse;

use super::gate::{
    AbsentArm, OutdatedArm, best_with_gap, find_outdated_arms, newest_versions, rule_rates,
};
use super::gate_nights::newest_changes;
use super::gate_rules::{Ask, GateRule};
use super::looked_at::{Gap, LookedAt, look_at_items};

/// Whose items and runs the simulation draws from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum PlanBasis {
    Baseline,
    /// There is no baseline, so the new runs take its place.
    Head,
}

/// The odds of the rules for one arm on one suite.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct PlannedGate {
    pub suite: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub suite_version: Option<String>,
    pub arm: Arm,
    pub basis: PlanBasis,
    pub items: u64,
    pub baseline_runs: u64,
    pub head_runs: u64,
    /// Standard deviation, as a share, of whole runs beyond the variation of their items.
    pub run_deviation: f64,
    /// The rules that the odds cover, together.
    pub rules: Vec<Ask>,
    /// Rules without odds, because they are not about the pass rate.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub left_out: Vec<Ask>,
    /// Simulated worlds for each drop.
    pub worlds: u32,
    /// What the gate looks at in the new runs, as in the answer of `gate`.
    pub looked_at: LookedAt,
    /// What is not there and decides, whatever the true pass rate is: `best` is the best ruling that is then possible.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gap: Option<Gap>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub best: Option<Ruling>,
    /// By true drop of the pass rate, for as many of `drops` as the rate allows. At a drop of 0 every regression is a false alarm.
    pub odds: Vec<GateOdds>,
}

/// The output of `gate --plan`.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct PlanReport {
    /// The simulated drops of the pass rate, as shares; the first is 0.
    pub drops: Vec<f64>,
    pub plans: Vec<PlannedGate>,
    /// Arms of the baseline without new runs, for which there are no odds.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub absent: Vec<AbsentArm>,
    /// Arms without odds, because their new runs are all of other suite versions.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub outdated: Vec<OutdatedArm>,
    /// Confidence level of every interval.
    pub confidence: f64,
}

/// The simulated drops, as shares. At 0 every alarm is false.
const SIMULATED_DROPS: [f64; 4] = [0.0, 0.02, 0.05, 0.1];
/// Simulated worlds per drop. One standard error of a share of them is at most 2.2 percentage points, and 1.0 at a share of 5%.
const SIMULATED_WORLDS: u32 = 500;
/// Simulated worlds if each takes long: 3.5 and 1.5 percentage points.
const FEW_SIMULATED_WORLDS: u32 = 200;

/// Computes the odds of the rules for each new arm on the newest version of each suite. Arms without a pass rate have no odds, nor have
/// arms without a rule about the pass rate or its items.
pub fn gate_plan(
    warehouse: &Warehouse,
    groups: &[BaselineComparison<'_>],
    rules: &[GateRule],
    policy: &Policy,
) -> PlanReport {
    let (mut plans, mut absent) = (Vec::new(), Vec::new());
    for gated in newest_versions(groups) {
        absent.extend(gated.absent_arms().into_iter().map(|arm| AbsentArm {
            suite: gated.suite.clone(),
            arm,
        }));
        for (head, other) in &gated.pairs {
            if gated.is_absent(*head) {
                absent.push(AbsentArm {
                    suite: gated.suite.clone(),
                    arm: gated.head[*head].arm.clone(),
                });
                continue;
            }
            let of_arm: Vec<&GateRule> = rules
                .iter()
                .filter(|rule| rule.is_about(gated) && rule.is_about_arm(gated, *head))
                .collect();
            plans.extend(plan_arm(warehouse, gated, (*head, *other), &of_arm, policy));
        }
    }
    PlanReport {
        drops: SIMULATED_DROPS.to_vec(),
        plans,
        absent,
        outdated: find_outdated_arms(groups),
        confidence: 1.0 - policy.alpha,
    }
}

fn plan_arm(
    warehouse: &Warehouse,
    gated: &BaselineComparison<'_>,
    (head, other): (usize, Option<usize>),
    rules: &[&GateRule],
    policy: &Policy,
) -> Option<PlannedGate> {
    let is_told = |rule: &GateRule| match &rule.ask {
        Ask::MaxDrop { metric, .. } | Ask::MaxRise { metric, .. } => metric == PASS_RATE,
        Ask::NoNewFailures => true,
        Ask::MustPass { .. } => false,
    };
    let (told, left_out): (Vec<&GateRule>, Vec<&GateRule>) =
        rules.iter().copied().partition(|rule| is_told(rule));
    if told.is_empty() {
        return None;
    }
    let group = other.map_or_else(
        || gated.single_arm_group(head),
        |other| gated.pair_group(head, other),
    );
    let answer = SuiteComparison::new(warehouse, &group, policy);
    let changed = newest_changes(warehouse, &answer, gated, (head, other));
    let looked_at = look_at_items(warehouse, &answer, gated, (head, other), changed.as_ref());
    // What is not there now is not there whatever the rate is.
    let gaps: Vec<Option<(Ruling, Gap)>> = told
        .iter()
        .map(|rule| deciding_gap(&looked_at, rule))
        .collect();
    let made_up = RunSimulator::from_arm(&answer, usize::from(other.is_some()), policy)?;
    let runs = |arm: usize| answer.rates[arm].run_rates().len();
    let (head_runs, baseline_runs) = (runs(0), runs(usize::from(other.is_some())));
    let worlds = if made_up.needs_resampling() {
        FEW_SIMULATED_WORLDS
    } else {
        SIMULATED_WORLDS
    };
    let plan = GatePlan {
        baseline_runs,
        head_runs,
        run_deviation: made_up.run_deviation,
        worlds,
        seed: Seed(0),
    };
    let decide = |world: &GateWorld| {
        let (pair, rates) = made_up.simulate_evidence(world);
        let one = |rule: &&GateRule| match (&rule.ask, &pair) {
            (Ask::NoNewFailures, _) => rule_new_failures(&rates),
            (_, Some(pair)) => rule_rates(&rule.ask, pair, &rates),
            (_, None) => Ruling::Inconclusive,
        };
        let with_gap = |(rule, gap): (&&GateRule, &Option<(Ruling, Gap)>)| {
            one(rule).max(gap.as_ref().map_or(Ruling::Pass, |(best, _)| *best))
        };
        told.iter()
            .zip(&gaps)
            .map(with_gap)
            .max()
            .unwrap_or(Ruling::Inconclusive)
    };
    let odds = SIMULATED_DROPS
        .iter()
        .filter_map(|drop| gate_odds(&made_up.seen, &[*drop], plan, decide).ok())
        .flatten()
        .collect();
    let asks = |rules: &[&GateRule]| rules.iter().map(|rule| rule.ask.clone()).collect();
    let (best, gap) = gaps
        .into_iter()
        .flatten()
        .max_by_key(|(best, _)| *best)
        .unzip();
    Some(PlannedGate {
        suite: gated.suite.clone(),
        suite_version: gated.suite_version.clone(),
        arm: gated.head[head].arm.clone(),
        basis: if other.is_some() {
            PlanBasis::Baseline
        } else {
            PlanBasis::Head
        },
        items: made_up.seen.iter().filter(|item| item.1 > 0).count() as u64,
        baseline_runs: baseline_runs as u64,
        head_runs: head_runs as u64,
        run_deviation: made_up.run_deviation,
        rules: asks(&told),
        left_out: asks(&left_out),
        worlds,
        looked_at,
        gap,
        best,
        odds,
    })
}

/// Returns what is not there and decides under a rule, with the best ruling that is then possible.
fn deciding_gap(looked: &LookedAt, rule: &GateRule) -> Option<(Ruling, Gap)> {
    let is_about_failures = rule.ask == Ask::NoNewFailures;
    let gap = looked.deciding_gap(is_about_failures, rule.allowance)?;
    Some((best_with_gap(&gap, looked, is_about_failures), gap))
}

/// Applies the rule against new failures to simulated rates. Counts without items are inconclusive.
fn rule_new_failures(rates: &[ArmRates; 2]) -> Ruling {
    let [ArmRates::Outcomes(head), ArmRates::Outcomes(baseline)] = rates else {
        return Ruling::Inconclusive;
    };
    let fails = |(now, before): ((u32, u32), (u32, u32))| {
        now.1 > 0 && 2 * now.0 < now.1 && before.1 > 0 && before.0 == before.1
    };
    if head.cells.iter().zip(baseline.cells.iter()).any(fails) {
        Ruling::Regression
    } else {
        Ruling::Pass
    }
}
