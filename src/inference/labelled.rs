//! Figures as people would see them, from a judge's outcomes of all items and people's labels of some of them.

use std::collections::BTreeSet;

use schemars::JsonSchema;
use serde::Serialize;

use crate::domain::is_judge;
use crate::stats::{Corrected, Interval, Judged, Spread, corrected};
use crate::warehouse::OutcomeMatrix;

use super::arm::SuiteGroup;
use super::policy::{Design, Policy};
use super::sample::{Items, Outcomes, Rates};

/// Minimum number of labelled items to correct a judge.
pub const MIN_LABELS: u64 = 20;

/// A corrected figure as it would be by the judge's outcomes alone.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct JudgeFigure {
    /// Items that a person labelled and the judge decided.
    pub labels: u64,
    pub value: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub interval: Option<Interval>,
}

impl JudgeFigure {
    /// Returns a difference as seen from the other arm.
    #[must_use]
    pub(super) fn reversed(self) -> Self {
        // Subtract from 0, so that nothing becomes a negative zero.
        let interval = self.interval.map(|ends| Interval { low: 0.0 - ends.high, high: 0.0 - ends.low });
        Self { value: 0.0 - self.value, interval, ..self }
    }
}

/// The judges behind a suite's outcomes, and how far people checked them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct JudgedBy {
    pub judges: Vec<String>,
    /// Items with a person's label, of the arm with the fewest.
    pub labels: u64,
    /// The same of the arm with most.
    pub most_labels: u64,
    /// Labelled outcomes about which people contradict each other, of all arms.
    pub disputed: u64,
    /// Whether people's labels correct the figures of every arm.
    pub is_corrected: bool,
    /// Whether stated error rates of the judge correct the figures instead.
    pub has_known_errors: bool,
    /// Whether the figures are over runs, which labels of items cannot correct.
    pub is_over_runs: bool,
}

impl JudgedBy {
    /// Returns the judges of a group's outcomes, or `None` if no judge decides them as far as is known.
    pub(crate) fn of(
        group: &SuiteGroup<'_>,
        matrix: &OutcomeMatrix,
        items: &Items,
        rates: &[Rates],
        (unit, policy): (Design, &Policy),
    ) -> Option<Self> {
        let is_decided = |evaluator: &str| items.has_labels() || is_judge(evaluator);
        let deciding: BTreeSet<&str> =
            items.deciding(matrix).map(|item| item.key.evaluator.as_str()).filter(|evaluator| is_decided(evaluator)).collect();
        let runs = || group.arms.iter().flat_map(|arm| &arm.counted);
        let mut judges = BTreeSet::new();
        for evaluator in &deciding {
            let named: BTreeSet<&str> = runs().filter_map(|row| super::scores::newest(row, evaluator)?.evaluator.as_deref()).collect();
            judges.extend(if named.is_empty() { BTreeSet::from([*evaluator]) } else { named });
        }
        if deciding.is_empty() && !matrix.items.is_empty() {
            let tags = runs().filter(|row| row.run.provenance.is_some()).filter_map(|row| row.run.tags.get("judge"));
            judges.extend(tags.map(String::as_str));
        }
        if judges.is_empty() {
            return None;
        }
        let labels = |rates: &Rates| match rates {
            Rates::Outcomes(outcomes) => labelled(outcomes),
            Rates::Counts(_) | Rates::Unknown => 0,
        };
        let is_over_runs =
            !is_over_items(unit) || rates.iter().any(|rates| matches!(rates, Rates::Outcomes(outcomes) if !outcomes.runs.is_empty()));
        let fewest = rates.iter().filter(|rates| !rates.by_run().is_empty()).map(labels).min().unwrap_or(0);
        let most = rates.iter().map(labels).max().unwrap_or(0);
        let disputed = |rates: &Rates| match rates {
            Rates::Outcomes(outcomes) => outcomes.labels.iter().filter(|label| label.is_disputed()).count() as u64,
            Rates::Counts(_) | Rates::Unknown => 0,
        };
        Some(Self {
            judges: judges.into_iter().map(str::to_owned).collect(),
            labels: fewest,
            most_labels: most,
            disputed: rates.iter().map(disputed).sum(),
            is_corrected: fewest >= MIN_LABELS && !is_over_runs,
            has_known_errors: policy.judge_errors.is_some() && most < MIN_LABELS && !is_over_runs,
            is_over_runs,
        })
    }

    /// Returns whether the figure of any arm is another than that of the judge's outcomes.
    pub fn changes_figures(&self) -> bool {
        self.has_known_errors || self.is_corrected_in_part() || self.is_corrected
    }

    /// Returns whether people's labels correct the figures of some arms, but not of all.
    pub fn is_corrected_in_part(&self) -> bool {
        !self.is_corrected && !self.is_over_runs && self.most_labels >= MIN_LABELS
    }
}

/// Returns the number of items with a label.
fn labelled(outcomes: &Outcomes) -> u64 {
    outcomes.labels.iter().filter(|label| label.n > 0).count() as u64
}

fn is_over_items(unit: Design) -> bool {
    matches!(unit, Design::Items | Design::Clusters)
}

/// Returns whether labels correct an arm's figures: enough items are labelled, and the items of one run are the unit.
fn is_corrected(outcomes: &Outcomes, unit: Design) -> bool {
    is_over_items(unit) && outcomes.runs.is_empty() && labelled(outcomes) >= MIN_LABELS
}

/// Values of labelled items and of the others, with their clusters.
#[derive(Default)]
struct Gathered {
    labels: Vec<f64>,
    judged: Vec<f64>,
    others: Vec<f64>,
    clusters: [Vec<u32>; 2],
}

impl Gathered {
    fn add(&mut self, label: Option<(f64, f64)>, judged: f64, cluster: u32) {
        match label {
            Some((label, judged)) => {
                self.labels.push(label);
                self.judged.push(judged);
                self.clusters[0].push(cluster);
            }
            None => {
                self.others.push(judged);
                self.clusters[1].push(cluster);
            }
        }
    }

    fn corrected(&self, spread: Spread, is_clustered: bool, confidence: f64) -> Option<Corrected> {
        let clusters = is_clustered.then(|| self.clusters.concat());
        let data = Judged { labels: &self.labels, judged: &self.judged, others: &self.others };
        corrected(data, spread, clusters.as_deref(), confidence).ok()
    }
}

/// Returns the cluster of an item if clusters are the unit.
fn cluster(items: &Items, unit: Design, item: u32) -> u32 {
    items.clusters.as_ref().filter(|_| unit == Design::Clusters).map_or(item, |codes| codes[item as usize])
}

/// Returns an arm's pass rate as people would see it, with the number of labels. `None` if labels correct nothing.
pub(super) fn rate(outcomes: &Outcomes, items: &Items, unit: Design, confidence: f64) -> Option<(Corrected, u64)> {
    if !is_corrected(outcomes, unit) {
        return None;
    }
    let mut data = Gathered::default();
    for (item, mean) in items.means(|column| outcomes.mean(column)) {
        data.add(outcomes.labels[item as usize].means(), mean, cluster(items, unit, item));
    }
    let is_clustered = unit == Design::Clusters && items.clusters.is_some();
    Some((data.corrected(Spread::Shares, is_clustered, confidence)?, data.labels.len() as u64))
}

/// What labels say about the difference of two arms.
pub(super) enum Seen {
    /// Neither arm is corrected: the judge's difference stands.
    ByJudge,
    /// One arm is corrected and the other is not, so their difference is nobody's.
    Apart,
    /// The difference as people would see it, with the number of labels behind it.
    ByPeople(Corrected, u64),
}

/// Compares two arms as people would see them: on shared labelled items, or else by each arm's own labels.
pub(super) fn difference(one: &Outcomes, other: &Outcomes, items: &Items, unit: Design, confidence: f64) -> Seen {
    match (is_corrected(one, unit), is_corrected(other, unit)) {
        (false, false) => return Seen::ByJudge,
        (true, false) | (false, true) => return Seen::Apart,
        (true, true) => {}
    }
    let is_clustered = unit == Design::Clusters && items.clusters.is_some();
    let mut data = Gathered::default();
    for (item, first, second) in items.paired(|column| one.mean(column), |column| other.mean(column)) {
        let labels = one.labels[item as usize].means().zip(other.labels[item as usize].means());
        let label = labels.map(|(one, other)| (one.0 - other.0, one.1 - other.1));
        data.add(label, first - second, cluster(items, unit, item));
    }
    if data.labels.len() as u64 >= MIN_LABELS {
        let found = data.corrected(Spread::Differences, is_clustered, confidence);
        return found.map_or(Seen::Apart, |found| Seen::ByPeople(found, data.labels.len() as u64));
    }
    let arms = rate(one, items, unit, confidence).zip(rate(other, items, unit, confidence));
    let found = arms.and_then(|((one, labels), (other, others))| Some(Seen::ByPeople(one.minus(other)?, labels.min(others))));
    found.unwrap_or(Seen::Apart)
}
