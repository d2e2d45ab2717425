//! What is fixed before anybody looks at the numbers, and what was independently repeated.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Serialize;

use crate::domain::{Exclusion, ItemKind, Metric, MetricSettings};
use crate::stats::Aim;

/// What is fixed before anybody looks at the numbers.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Policy {
    /// The chance, over the family of pairs, of naming a winner where there is none.
    pub alpha: f64,
    /// What the project says about its metrics. A margin is in the metric's unit; for amounts it is relative, 0.1 for a tenth.
    pub metrics: BTreeMap<String, MetricSettings>,
    /// By suite: the metric that decides, by its key, where that is not the pass rate. The empty name stands for every suite.
    pub primary: BTreeMap<String, String>,
    /// By suite: a design other than the one that follows from the kind of item. The empty name stands for every suite.
    pub designs: BTreeMap<String, Design>,
    /// Items that are known to be broken.
    pub exclusions: Vec<Exclusion>,
    /// Items of one cluster are not independent of each other. Off only where somebody knows better.
    pub use_clusters: bool,
}

impl Default for Policy {
    fn default() -> Self {
        Self {
            alpha: 0.05,
            metrics: BTreeMap::new(),
            primary: BTreeMap::new(),
            designs: BTreeMap::new(),
            exclusions: Vec::new(),
            use_clusters: true,
        }
    }
}

impl Policy {
    pub(super) fn confidence(&self) -> f64 {
        1.0 - self.alpha
    }

    pub(super) fn aim(&self) -> Aim {
        Aim { alpha: self.alpha, power: POWER }
    }

    /// Returns the metric as the project describes it.
    pub(crate) fn described(&self, metric: Metric) -> Metric {
        let Some(settings) = self.metrics.get(&metric.name) else { return metric };
        Metric {
            label: settings.label.clone().unwrap_or(metric.label),
            unit: settings.unit.unwrap_or(metric.unit),
            direction: settings.direction.unwrap_or(metric.direction),
            kind: settings.kind.unwrap_or(metric.kind),
            name: metric.name,
        }
    }

    /// The largest difference that does not matter, in the metric's unit; relative for amounts.
    pub(crate) fn margin(&self, metric: &Metric) -> Option<f64> {
        self.metrics.get(&metric.name).and_then(|settings| settings.margin)
    }

    /// The metric that the project calls a suite's primary one.
    pub(super) fn primary(&self, suite: &str) -> Option<&str> {
        self.primary.get(suite).or_else(|| self.primary.get("")).map(String::as_str)
    }

    pub(super) fn design(&self, suite: &str) -> Option<Design> {
        self.designs.get(suite).or_else(|| self.designs.get("")).copied()
    }
}

/// Planning figures say what the data would have shown four times out of five.
const POWER: f64 = 0.8;
/// Fewer runs a side than this support no verdict about runs.
pub const MIN_RUNS: usize = 3;
/// Fewer items, or clusters, than this support no verdict about items.
pub const MIN_ITEMS: usize = 6;
/// From here on the t test holds its level for item differences; below, signs are flipped.
pub(super) const MIN_PAIRED_T: usize = 10;
/// More of an arm's items missing than this: bounds are shown, and may forbid a winner.
pub(super) const MAX_MISSING: f64 = 0.05;
/// More of the items than this that one arm was asked and another not: then their rates are rates of other items.
pub(super) const MAX_APART: f64 = 0.05;
/// Shares closer than this are one share: a mean of thirds has a last digit of its own.
pub(crate) const SAME: f64 = 1e-12;

/// What was independently repeated, and so what the verdict is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Design {
    /// Questions like these: items are a sample.
    Items,
    /// Questions like these, which come in clusters.
    Clusters,
    /// This suite, run again.
    Runs,
    /// These runs and nothing beyond them: no inference.
    Counts,
}

/// All intervals are two-sided at this confidence.
pub(crate) const CONFIDENCE: f64 = 0.95;

/// What the kind of item says was independently repeated. `clusters` and `items` are how many there are; clusters are draws from a
/// population of such groups, which a category is not.
pub(super) fn natural_design(kind: Option<ItemKind>, clusters: Option<usize>, items: usize) -> Design {
    // As many clusters as items are no clusters.
    let clusters = clusters.filter(|clusters| *clusters < items);
    match kind {
        Some(ItemKind::Question) => clusters.map_or(Design::Items, |_| Design::Clusters),
        // One prompt and one workspace each. Their clusters, such as repositories, are a second question.
        Some(ItemKind::Task) => Design::Items,
        Some(ItemKind::Test | ItemKind::Criterion | ItemKind::Check) if clusters.is_some_and(|clusters| clusters >= MIN_ITEMS) => {
            Design::Clusters
        }
        // Counts without outcomes are counts of tests, unless their runs say otherwise.
        Some(ItemKind::Test | ItemKind::Criterion | ItemKind::Check) | None => Design::Runs,
    }
}
