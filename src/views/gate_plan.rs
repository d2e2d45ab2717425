//! What a gate's rules would say of nights like those that were seen, before anybody relies on them.

use schemars::JsonSchema;
use serde::Serialize;

use crate::domain::PASS_RATE;
use crate::inference::{Arm, Held, MadeUp, Policy, Rates, SuiteAnswer};
use crate::stats::{GateOdds, GatePlan, GateWorld, Ruling, Seed, gate_odds};
use crate::warehouse::Warehouse;

use super::gate::{OutdatedArm, newest_versions, outdated, rule_rates};
use super::gate_rules::{Ask, GateRule};

/// Whose items and runs the odds are made from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum PlanBasis {
    Baseline,
    /// There is no baseline: the head stands for it.
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
    /// Standard deviation, as a share, by which whole runs were seen to differ beyond what their items explain.
    pub run_deviation: f64,
    /// The rules that the odds are of, together.
    pub rules: Vec<Ask>,
    /// Rules that no odds can be told of: they are not about the pass rate.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub left_out: Vec<Ask>,
    /// Worlds made up for each drop.
    pub worlds: u32,
    /// By true drop of the pass rate, as many of `drops` as the rate leaves room for; without a drop a regression is a false alarm.
    pub odds: Vec<GateOdds>,
}

/// What `gate --plan` says.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct PlanReport {
    /// The drops of the pass rate that are asked about, as shares; the first is none.
    pub drops: Vec<f64>,
    pub plans: Vec<PlannedGate>,
    /// Arms of the head that no odds are told of, because they have runs of other versions of the suite only.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub outdated: Vec<OutdatedArm>,
    /// Confidence of every interval.
    pub confidence: f64,
}

/// The drops that are asked about, as shares; with none the alarms are false.
const DROPS: [f64; 4] = [0.0, 0.02, 0.05, 0.1];
/// A share of so many worlds is known to within 2.2 percentage points at worst, one of 5 % to within 1.0 (one standard error).
const WORLDS: u32 = 500;
/// The same where each world takes long: 3.5 and 1.5 percentage points.
const FEW_WORLDS: u32 = 200;

/// Tells the odds of the rules for each arm of the head on the newest version of each suite. Arms without a pass rate have none, nor those
/// that no rule about the pass rate or its items is about.
pub fn gate_plan(warehouse: &Warehouse, groups: &[Held<'_>], rules: &[GateRule], policy: &Policy) -> PlanReport {
    let mut plans = Vec::new();
    for gated in newest_versions(groups) {
        for (head, other) in &gated.pairs {
            let of_arm: Vec<&GateRule> = rules.iter().filter(|rule| rule.is_about(gated) && rule.is_about_arm(gated, *head)).collect();
            plans.extend(planned(warehouse, gated, (*head, *other), &of_arm, policy));
        }
    }
    PlanReport { drops: DROPS.to_vec(), plans, outdated: outdated(groups), confidence: 1.0 - policy.alpha }
}

fn planned(
    warehouse: &Warehouse,
    gated: &Held<'_>,
    (head, other): (usize, Option<usize>),
    rules: &[&GateRule],
    policy: &Policy,
) -> Option<PlannedGate> {
    let is_told = |rule: &GateRule| match &rule.ask {
        Ask::MaxDrop { metric, .. } | Ask::MaxRise { metric, .. } => metric == PASS_RATE,
        Ask::NoNewFailures => true,
        Ask::MustPass { .. } => false,
    };
    let (told, left_out): (Vec<&GateRule>, Vec<&GateRule>) = rules.iter().copied().partition(|rule| is_told(rule));
    if told.is_empty() {
        return None;
    }
    let group = other.map_or_else(|| gated.alone(head), |other| gated.pair(head, other));
    let answer = SuiteAnswer::of(warehouse, &group, policy);
    let made_up = MadeUp::of(&answer, usize::from(other.is_some()), policy)?;
    let runs = |arm: usize| answer.rates[arm].run_rates().len();
    let (head_runs, baseline_runs) = (runs(0), runs(usize::from(other.is_some())));
    let worlds = if made_up.is_slow() { FEW_WORLDS } else { WORLDS };
    let plan = GatePlan { baseline_runs, head_runs, run_deviation: made_up.run_deviation, worlds, seed: Seed(0) };
    let decide = |world: &GateWorld| {
        let (pair, rates) = made_up.held(world);
        let one = |rule: &&GateRule| match (&rule.ask, &pair) {
            (Ask::NoNewFailures, _) => new_failure(&rates),
            (_, Some(pair)) => rule_rates(&rule.ask, pair, &rates),
            (_, None) => Ruling::Inconclusive,
        };
        told.iter().map(one).max().unwrap_or(Ruling::Inconclusive)
    };
    let odds = DROPS.iter().filter_map(|drop| gate_odds(&made_up.seen, &[*drop], plan, decide).ok()).flatten().collect();
    let asks = |rules: &[&GateRule]| rules.iter().map(|rule| rule.ask.clone()).collect();
    Some(PlannedGate {
        suite: gated.suite.clone(),
        suite_version: gated.suite_version.clone(),
        arm: gated.head[head].arm.clone(),
        basis: if other.is_some() { PlanBasis::Baseline } else { PlanBasis::Head },
        items: made_up.seen.iter().filter(|item| item.1 > 0).count() as u64,
        baseline_runs: baseline_runs as u64,
        head_runs: head_runs as u64,
        run_deviation: made_up.run_deviation,
        rules: asks(&told),
        left_out: asks(&left_out),
        worlds,
        odds,
    })
}

/// Whether an item fails of the head that never did of the baseline; counts do not say.
fn new_failure(rates: &[Rates; 2]) -> Ruling {
    let [Rates::Outcomes(head), Rates::Outcomes(baseline)] = rates else { return Ruling::Inconclusive };
    let fails = |(now, before): (&(u32, u32), &(u32, u32))| now.1 > 0 && 2 * now.0 <= now.1 && before.1 > 0 && before.0 == before.1;
    if head.cells.iter().zip(&baseline.cells).any(fails) { Ruling::Regression } else { Ruling::Pass }
}
