//! Rules fixed before anybody sees the numbers, and the design: what was independently repeated.

use std::collections::{BTreeMap, BTreeSet};

use schemars::JsonSchema;
use serde::Serialize;

use crate::domain::{Exclusion, ItemKind, Metric, MetricKind, MetricSettings};
use crate::stats::{Aim, Calibration};

/// Rules fixed before anybody sees the numbers.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Policy {
    /// The chance of any false winner over the family of pairs.
    pub alpha: f64,
    /// The project's settings of metrics. A margin is in the metric's unit; for amounts it is relative, 0.1 for a tenth.
    pub metrics: BTreeMap<String, MetricSettings>,
    /// What a whole unit of the primary metric is worth for each item, in dollars, if it was declared: a pass rate of 100 instead of 0 percent.
    pub usd_per_unit: Option<f64>,
    /// By suite: the key of its primary metric, if that is not the pass rate. The empty name applies to every suite.
    pub primary: BTreeMap<String, String>,
    /// By suite: its design, if other than that of the kind of item. The empty name applies to every suite.
    pub designs: BTreeMap<String, Design>,
    /// Items that are known to be broken.
    pub exclusions: Vec<Exclusion>,
    /// The error rates of the judges, for suites that people did not label.
    pub judge_errors: Option<Calibration>,
    /// Suites whose arms are independent samples of items, as in an A/B test: nothing is paired, and they need not share an item. The empty
    /// name applies to every suite.
    pub independent: BTreeSet<String>,
    /// Treats items of a cluster as dependent. Disable only for independent items.
    pub use_clusters: bool,
    /// Leaves out what no ruling depends on: detectable differences, the units that a verdict needs, tests that only confirm, and figures beside
    /// pass rates. They take nearly all of the time, so a walk over many nights goes without.
    pub only_rulings: bool,
}

impl Default for Policy {
    fn default() -> Self {
        Self {
            alpha: 0.05,
            metrics: BTreeMap::new(),
            usd_per_unit: None,
            primary: BTreeMap::new(),
            designs: BTreeMap::new(),
            exclusions: Vec::new(),
            judge_errors: None,
            independent: BTreeSet::new(),
            use_clusters: true,
            only_rulings: false,
        }
    }
}

impl Policy {
    pub(super) fn confidence(&self) -> f64 {
        1.0 - self.alpha
    }

    pub(super) fn power_aim(&self) -> Aim {
        Aim {
            alpha: self.alpha,
            power: POWER,
        }
    }

    /// Returns the metric as the project describes it.
    pub fn describe_metric(&self, metric: Metric) -> Metric {
        let Some(settings) = self.metrics.get(&metric.name) else {
            return metric;
        };
        Metric {
            label: settings.label.clone().unwrap_or(metric.label),
            unit: settings.unit.unwrap_or(metric.unit),
            direction: settings.direction.unwrap_or(metric.direction),
            kind: settings.kind.unwrap_or(metric.kind),
            name: metric.name,
        }
    }

    /// Returns the policy in which a metric has the settings of another. `None` if it has its own, or the other has none.
    pub(super) fn with_settings_of(&self, metric: &str, other: &str) -> Option<Self> {
        let settings = self
            .metrics
            .get(other)
            .filter(|_| !self.metrics.contains_key(metric))?;
        let mut policy = self.clone();
        policy.metrics.insert(metric.to_owned(), settings.clone());
        Some(policy)
    }

    /// Returns the largest unimportant difference, in the metric's unit; relative for amounts.
    pub fn margin_of_metric(&self, metric: &Metric) -> Option<f64> {
        self.metrics
            .get(&metric.name)
            .and_then(|settings| settings.margin)
    }

    /// Returns the largest unimportant difference of a metric, as declared or by default. Rates have a natural scale, other scores do not.
    pub(super) fn quality_margin(&self, metric: &Metric) -> Option<f64> {
        self.margin_of_metric(metric)
            .or_else(|| (metric.kind == MetricKind::Rate).then_some(DEFAULT_MARGIN))
    }

    /// Returns the key of a suite's configured primary metric.
    pub fn primary_metric(&self, suite: &str) -> Option<&str> {
        self.primary
            .get(suite)
            .or_else(|| self.primary.get(""))
            .map(String::as_str)
    }

    /// Returns whether the arms of a suite are independent samples.
    pub fn is_independent(&self, suite: &str) -> bool {
        self.independent.contains(suite) || self.independent.contains("")
    }

    pub fn configured_design(&self, suite: &str) -> Option<Design> {
        self.designs
            .get(suite)
            .or_else(|| self.designs.get(""))
            .copied()
    }
}

/// Default margin of quality: two percentage points. Closer arms count as equally good.
const DEFAULT_MARGIN: f64 = 0.02;
/// Statistical power of planning figures.
const POWER: f64 = 0.8;
/// Minimum number of runs per arm for a verdict about runs.
pub const MIN_RUNS: usize = 3;
/// Minimum number of items, or clusters, for a verdict about items.
pub const MIN_ITEMS: usize = 6;
/// Minimum number of items for the t test on item differences to hold its level. With fewer, signs are flipped.
pub(super) const MIN_PAIRED_T: usize = 10;
/// If a larger share of an arm's items is missing, bounds are shown and may forbid a winner.
pub(super) const MAX_MISSING_SHARE: f64 = 0.05;
/// If a larger share of the items was asked of only one arm, the rates are of different items.
pub const MAX_UNSHARED_ITEMS: f64 = 0.05;
/// Closer shares are equal: a mean of thirds has rounding errors.
pub const EQUAL_SHARE_TOLERANCE: f64 = 1e-12;

/// The units that were independently repeated, and so the subject of the verdict.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Design {
    /// Questions like these: items are a sample.
    Items,
    /// Questions like these, in clusters.
    Clusters,
    /// This suite, run again.
    Runs,
    /// Only these runs: no inference.
    Counts,
}

impl Design {
    /// Returns whether items or clusters of them are the unit, rather than runs, whose items are tests of one artefact.
    pub fn is_over_items(self) -> bool {
        match self {
            Self::Items | Self::Clusters => true,
            Self::Runs | Self::Counts => false,
        }
    }
}

/// Confidence level of all intervals, which are two-sided.
pub const CONFIDENCE: f64 = 0.95;

/// Returns the design that follows from the kind of item. `clusters` and `items` are their numbers. Clusters are draws from a population of
/// such groups; a category is not.
pub(super) fn natural_design(
    kind: Option<ItemKind>,
    clusters: Option<usize>,
    items: usize,
) -> Design {
    // With one cluster per item, clusters add nothing.
    let clusters = clusters.filter(|clusters| *clusters < items);
    match kind {
        Some(ItemKind::Question) => clusters.map_or(Design::Items, |_| Design::Clusters),
        // Each task has its own prompt and workspace. Clusters, such as repositories, are a second question.
        Some(ItemKind::Task) => Design::Items,
        Some(ItemKind::Test | ItemKind::Criterion | ItemKind::Check)
            if clusters.is_some_and(|clusters| clusters >= MIN_ITEMS) =>
        {
            Design::Clusters
        }
        // Counts without outcomes are taken for tests, unless their runs say otherwise.
        Some(ItemKind::Test | ItemKind::Criterion | ItemKind::Check) | None => Design::Runs,
    }
}
