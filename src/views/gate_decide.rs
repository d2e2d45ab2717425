//! Head against baseline as a decision: ship the head, keep the baseline, or neither yet.

use schemars::JsonSchema;
use serde::Serialize;

use crate::inference::{Arm, Comparability, Decision, Held, PairEvidence, Policy};
use crate::warehouse::Warehouse;

use super::compare::{Comparison, PairOrder, compare};
use super::gate::{OutdatedArm, newest_versions, outdated};

/// What to do with the head. Ordered: of several suites and arms the greatest stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Choice {
    /// Take the head.
    Ship,
    /// The better side costs more: whether it is worth it is for the reader to say.
    ChooseByPrice,
    /// So much more would probably settle it.
    Measure,
    /// This suite does not settle it, or there is no baseline.
    CannotSettle,
    /// Stay with the baseline.
    Keep,
}

/// One arm of the head against one of the baseline.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct HeldDecision {
    pub suite: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub suite_version: Option<String>,
    pub arm: Arm,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub against: Option<Arm>,
    pub choice: Choice,
    /// The reasons; arm 0 is the head's, arm 1 the baseline's. Absent without a baseline.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub decision: Option<Decision>,
    /// The largest difference of the primary metric that does not matter.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub margin: Option<f64>,
    /// What it rests on, seen from the head: the primary metric, cost and time, as far as they are known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub quality: Option<PairEvidence>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cost: Option<PairEvidence>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub time: Option<PairEvidence>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub comparability: Option<Comparability>,
    /// The table that it is about.
    #[serde(skip)]
    pub comparison: Option<Comparison>,
}

/// What `gate --decide` says.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct DecideReport {
    /// What stands for all: the head is shipped where every arm of every suite says so, and the baseline kept where any does.
    pub choice: Choice,
    pub decisions: Vec<HeldDecision>,
    /// Arms of the head about which nothing is decided, because they have runs of other versions of the suite only.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub outdated: Vec<OutdatedArm>,
}

/// Decides about each arm of the head on the newest version of each suite.
pub fn decide_held(warehouse: &Warehouse, groups: &[Held<'_>], policy: &Policy) -> DecideReport {
    let mut decisions = Vec::new();
    for held in newest_versions(groups) {
        for (head, other) in &held.pairs {
            let comparison = other.map(|other| compare(warehouse, &held.pair(*head, other), policy, PairOrder::AsGiven));
            decisions.push(decided(held, *head, *other, comparison));
        }
    }
    let choice = decisions.iter().map(|decision| decision.choice).max().unwrap_or(Choice::CannotSettle);
    DecideReport { choice, decisions, outdated: outdated(groups) }
}

fn decided(gated: &Held<'_>, head: usize, other: Option<usize>, comparison: Option<Comparison>) -> HeldDecision {
    let decision = comparison.as_ref().and_then(|table| table.decision.clone());
    let pair = |name: &str| {
        let row = comparison.as_ref()?.rows.iter().find(|row| row.metric.name == name)?;
        row.evidence.pairs.first().map(|pair| pair.seen_from(0))
    };
    HeldDecision {
        suite: gated.suite.clone(),
        suite_version: gated.suite_version.clone(),
        arm: gated.head[head].arm.clone(),
        against: other.map(|other| gated.baseline[other].arm.clone()),
        choice: decision.as_ref().map_or(Choice::CannotSettle, choice),
        margin: comparison.as_ref().and_then(|table| table.margin),
        quality: comparison.as_ref().and_then(Comparison::primary).and_then(|row| Some(row.evidence.pairs.first()?.seen_from(0))),
        cost: pair("cost_usd"),
        time: pair("duration_seconds"),
        comparability: comparison.as_ref().and_then(|table| table.comparability.first().cloned()),
        decision,
        comparison,
    }
}

/// The baseline is what is in use: where neither is better, it stays.
fn choice(decision: &Decision) -> Choice {
    match decision {
        Decision::Ship { arm: 0, .. } => Choice::Ship,
        Decision::Ship { .. } | Decision::KeepEither => Choice::Keep,
        Decision::ChooseByPrice { .. } => Choice::ChooseByPrice,
        Decision::Measure { .. } => Choice::Measure,
        Decision::CannotSettle { .. } => Choice::CannotSettle,
    }
}
