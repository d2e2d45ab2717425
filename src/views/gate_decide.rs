//! The gate as a decision: ship the new arm, keep the baseline, or neither yet.

use schemars::JsonSchema;
use serde::Serialize;

use crate::inference::{
    Arm, BaselineComparison, Comparability, Decision, PairEvidence, Policy, SuiteComparison,
};
use crate::warehouse::Warehouse;

use super::compare::{Comparison, PairOrder, compare_arms};
use super::gate::{OutdatedArm, find_outdated_arms, newest_versions};
use super::gate_nights::newest_changes;
use super::gate_rules::MissingAllowance;
use super::looked_at::{Gap, LookedAt, look_at_items};

/// What to do with the new arm. Ordered: over several suites and arms the greatest choice applies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Choice {
    /// Use the new arm.
    Ship,
    /// The better arm costs more; the reader must say whether it is worth it.
    ChooseByPrice,
    /// More units, of an estimated number, would probably decide.
    Measure,
    /// This suite cannot decide, or there is no baseline.
    CannotSettle,
    /// Items of the baseline have no outcome in the new runs, or these have errors that the baseline does not know.
    Incomplete,
    /// Keep the baseline.
    Keep,
}

/// One arm of the new runs against one of the baseline.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct HeldDecision {
    pub suite: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub suite_version: Option<String>,
    pub arm: Arm,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub against: Option<Arm>,
    pub choice: Choice,
    /// The reasons. Arm 0 is the new one, arm 1 the baseline's. Absent without a baseline.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub decision: Option<Decision>,
    /// The largest unimportant difference of the primary metric.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub margin: Option<f64>,
    /// The evidence, oriented to the new arm: primary metric, cost and time, as far as they are known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub quality: Option<PairEvidence>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cost: Option<PairEvidence>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub time: Option<PairEvidence>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub comparability: Option<Comparability>,
    /// What is not there, so that the new runs cannot be shipped.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gap: Option<Gap>,
    /// The comparison behind the decision.
    #[serde(skip)]
    pub comparison: Option<Comparison>,
}

/// The output of `gate --decide`.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct DecideReport {
    /// The overall choice: ship if every arm of every suite says so; keep the baseline if any does.
    pub choice: Choice,
    pub decisions: Vec<HeldDecision>,
    /// What was looked at, by arm and baseline, in the order of the decisions.
    pub looked_at: Vec<LookedAt>,
    /// Arms without a decision, because their new runs are all of other suite versions.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub outdated: Vec<OutdatedArm>,
}

/// Decides about each new arm on the newest version of each suite.
pub fn decide_gated_arms(
    warehouse: &Warehouse,
    groups: &[BaselineComparison<'_>],
    allowed: MissingAllowance,
    policy: &Policy,
) -> DecideReport {
    let (mut decisions, mut looked_at) = (Vec::new(), Vec::new());
    for held in newest_versions(groups) {
        for (head, other) in held
            .pairs
            .iter()
            .filter(|(head, _)| !(allowed.removed && held.is_absent(*head)))
        {
            let comparison = other.map(|other| {
                compare_arms(
                    warehouse,
                    &held.pair_group(*head, other),
                    policy,
                    PairOrder::AsGiven,
                )
            });
            let group = other.map_or_else(
                || held.single_arm_group(*head),
                |other| held.pair_group(*head, other),
            );
            let answer = SuiteComparison::primary_only(warehouse, &group, policy);
            let changed = newest_changes(warehouse, &answer, held, (*head, *other));
            let looked = look_at_items(warehouse, &answer, held, (*head, *other), changed.as_ref());
            let decision = decide_arm(held, *head, *other, comparison);
            decisions.push(match looked.deciding_gap(false, allowed) {
                Some(gap) => HeldDecision {
                    choice: decision.choice.max(Choice::Incomplete),
                    gap: Some(gap),
                    ..decision
                },
                None => decision,
            });
            looked_at.push(looked);
        }
    }
    let choice = decisions
        .iter()
        .map(|decision| decision.choice)
        .max()
        .unwrap_or(Choice::CannotSettle);
    DecideReport {
        choice,
        decisions,
        looked_at,
        outdated: find_outdated_arms(groups),
    }
}

fn decide_arm(
    gated: &BaselineComparison<'_>,
    head: usize,
    other: Option<usize>,
    comparison: Option<Comparison>,
) -> HeldDecision {
    let decision = comparison.as_ref().and_then(|table| table.decision.clone());
    let pair = |name: &str| {
        let row = comparison
            .as_ref()?
            .rows
            .iter()
            .find(|row| row.metric.name == name)?;
        row.evidence.pairs.first().map(|pair| pair.seen_from(0))
    };
    HeldDecision {
        suite: gated.suite.clone(),
        suite_version: gated.suite_version.clone(),
        arm: gated.head[head].arm.clone(),
        against: other.map(|other| gated.baseline[other].arm.clone()),
        choice: decision
            .as_ref()
            .map_or(Choice::CannotSettle, choice_from_decision),
        margin: comparison.as_ref().and_then(|table| table.margin),
        quality: comparison
            .as_ref()
            .and_then(Comparison::primary_row)
            .and_then(|row| Some(row.evidence.pairs.first()?.seen_from(0))),
        cost: pair("cost_usd"),
        time: pair("duration_seconds"),
        comparability: comparison
            .as_ref()
            .and_then(|table| table.comparability.first().cloned()),
        decision,
        gap: None,
        comparison,
    }
}

/// The baseline is in use: if neither arm is better, it stays.
fn choice_from_decision(decision: &Decision) -> Choice {
    match decision {
        Decision::Ship { arm: 0, .. } => Choice::Ship,
        Decision::Ship { .. } | Decision::KeepEither { .. } => Choice::Keep,
        Decision::ChooseByPrice { .. } => Choice::ChooseByPrice,
        Decision::Measure { .. } => Choice::Measure,
        Decision::CannotSettle { .. } => Choice::CannotSettle,
    }
}
