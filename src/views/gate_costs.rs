//! The cost of the runs, which a gate reports beside its checks.

use schemars::JsonSchema;
use serde::Serialize;

use crate::domain::Metric;
use crate::inference::{Arm, BaselineComparison, Cell, PairEvidence, SuiteComparison};

/// Name of the metric whose figures are the cost of a run.
const COST_METRIC: &str = "cost_usd";

/// The cost of one arm's runs beside that of its baseline.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct GateCost {
    pub suite: String,
    pub arm: Arm,
    /// The baseline's arm, if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub against: Option<Arm>,
    pub metric: Metric,
    pub head: Cell,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub baseline: Option<Cell>,
    /// Evidence of the pair: the first arm is of the new runs, the second of the baseline.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub evidence: Option<PairEvidence>,
}

/// Returns the cost of an arm's runs, first in the answer, and of its baseline. `None` if neither has a known cost.
pub(super) fn arm_cost(
    answer: &SuiteComparison<'_>,
    gated: &BaselineComparison<'_>,
    (head, other): (usize, Option<usize>),
) -> Option<GateCost> {
    let found = answer
        .find_metric(COST_METRIC)
        .filter(|found| found.cells.iter().any(|cell| cell.value.is_some()))?;
    let cells = match other {
        Some(_) => answer.cells_between(found, 0, 1).map(Some),
        None => [found.cells.first().cloned(), None],
    };
    let [new, baseline] = cells;
    Some(GateCost {
        suite: gated.suite.clone(),
        arm: gated.head[head].arm.clone(),
        against: other.map(|other| gated.baseline[other].arm.clone()),
        metric: found.metric.clone(),
        head: new?,
        baseline,
        evidence: other.and_then(|_| found.evidence.pairs.first().cloned()),
    })
}
