//! Figures as people would see them, from a judge's outcomes of all items and people's labels of some of them.

use std::collections::BTreeSet;

use schemars::JsonSchema;
use serde::Serialize;

use crate::domain::is_judge;
use crate::stats::{
    self, CorrectedMean, Interval, JudgedRuns, MAX_OF_A_RUN, corrected_difference, corrected_rate,
};
use crate::warehouse::OutcomeMatrix;

use super::arm::SuiteGroup;
use super::policy::{Design, MIN_RUNS, Policy};
use super::sample::{ArmOutcomes, ArmRates, ItemLabels, SuiteItems};
use super::unlike_labels::UnlikeLabels;

/// Minimum number of labelled items to correct a judge; of outcomes, if those of a run share one artefact.
pub const MIN_LABELS: u64 = 20;
/// Minimum number of labelled runs of an arm with several runs: how the judge errs from run to run cannot be seen in one.
const MIN_LABELLED_RUNS: usize = 2;

/// A corrected figure as it would be by the judge's outcomes alone.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct JudgeFigure {
    /// Items that a person labelled and the judge decided; outcomes, if those of a run share one artefact.
    pub labels: u64,
    pub value: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub interval: Option<Interval>,
}

impl JudgeFigure {
    /// Returns a difference as seen from the other arm.
    #[must_use]
    pub(super) fn swap_arms(self) -> Self {
        // Subtract from 0, so that nothing becomes a negative zero.
        let interval = self.interval.map(|ends| Interval {
            low: 0.0 - ends.high,
            high: 0.0 - ends.low,
        });
        Self {
            value: 0.0 - self.value,
            interval,
            ..self
        }
    }
}

/// The judges behind a suite's outcomes, and how far people checked them.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct JudgedBy {
    pub judges: Vec<String>,
    /// Items with a person's label, of the arm with the fewest; outcomes, if those of a run share one artefact.
    pub labels: u64,
    /// What is counted: `items` or `outcomes`.
    pub labels_of: &'static str,
    /// The same of the arm with most.
    pub most_labels: u64,
    /// Labelled outcomes about which people contradict each other, of all arms.
    pub disputed: u64,
    /// Arms whose figures people's labels correct.
    pub corrected_arms: u64,
    /// Whether people's labels correct the figures of every arm.
    pub is_corrected: bool,
    /// Whether stated error rates of the judge correct the figures instead.
    pub has_known_errors: bool,
    /// Runs of each arm that must have labels, none more than four fifths of them, if an arm lacks that: 2, or 3 if the outcomes of a run share
    /// one artefact.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub runs_to_label: Option<u64>,
    /// How the labelled items differ from the others, if they are no random part of all. Absent without a correction.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unlike_labels: Option<UnlikeLabels>,
}

impl JudgedBy {
    /// Returns the judges of a group's outcomes, or `None` if no judge decides them as far as is known.
    pub fn from_group(
        group: &SuiteGroup<'_>,
        matrix: &OutcomeMatrix,
        items: &SuiteItems,
        rates: &[ArmRates],
        (unit, policy): (Design, &Policy),
    ) -> Option<Self> {
        let is_decided = |evaluator: &str| items.has_labels() || is_judge(evaluator);
        let deciding: BTreeSet<&str> = items
            .deciding_items(matrix)
            .map(|item| item.key.evaluator.as_str())
            .filter(|evaluator| is_decided(evaluator))
            .collect();
        let runs = || group.arms.iter().flat_map(|arm| &arm.counted);
        let mut judges = BTreeSet::new();
        for evaluator in &deciding {
            let named: BTreeSet<&str> = runs()
                .filter_map(|row| {
                    super::scores::newest_record(row, evaluator)?
                        .evaluator
                        .as_deref()
                })
                .collect();
            judges.extend(if named.is_empty() {
                BTreeSet::from([*evaluator])
            } else {
                named
            });
        }
        if deciding.is_empty() && !matrix.items.is_empty() {
            let tags = runs()
                .filter(|row| row.run.provenance.is_some())
                .filter_map(|row| row.run.tags.get("judge"));
            judges.extend(tags.map(String::as_str));
        }
        if judges.is_empty() {
            return None;
        }
        let outcomes = || {
            rates.iter().filter_map(|rates| match rates {
                ArmRates::Outcomes(outcomes) => Some(outcomes),
                ArmRates::Counts(_) | ArmRates::Unknown => None,
            })
        };
        let arms = rates
            .iter()
            .filter(|rates| !rates.counts_by_run().is_empty())
            .count();
        let labels = || outcomes().map(|outcomes| count_labelled(outcomes, unit));
        let fewest = if outcomes().count() < arms {
            0
        } else {
            labels().min().unwrap_or(0)
        };
        let most = labels().max().unwrap_or(0);
        let disputed = outcomes()
            .flat_map(|outcomes| &outcomes.labels)
            .filter(|label| label.is_disputed())
            .count();
        let corrected = outcomes()
            .filter(|outcomes| is_corrected(outcomes, unit))
            .count();
        let lacks_runs = |outcomes: &ArmOutcomes| {
            count_labelled(outcomes, unit) > 0 && !has_labels_of_runs(outcomes, unit)
        };
        let runs_to_label = outcomes()
            .filter(|outcomes| lacks_runs(outcomes))
            .map(|outcomes| fewest_labelled_runs(outcomes, unit) as u64)
            .max();
        Some(Self {
            judges: judges.into_iter().map(str::to_owned).collect(),
            labels: fewest,
            labels_of: if unit.is_over_items() {
                "items"
            } else {
                "outcomes"
            },
            most_labels: most,
            disputed: disputed as u64,
            corrected_arms: corrected as u64,
            is_corrected: corrected > 0 && corrected == arms,
            has_known_errors: policy.judge_errors.is_some()
                && most < MIN_LABELS
                && unit.is_over_items(),
            runs_to_label,
            unlike_labels: (corrected > 0 && unit.is_over_items())
                .then(|| UnlikeLabels::find(&outcomes().collect::<Vec<_>>(), items, matrix))
                .flatten(),
        })
    }

    /// Returns whether the figure of any arm is another than that of the judge's outcomes.
    pub fn changes_figures(&self) -> bool {
        self.has_known_errors || self.is_corrected_in_part() || self.is_corrected
    }

    /// Returns whether people's labels correct the figures of some arms, but not of all.
    pub fn is_corrected_in_part(&self) -> bool {
        !self.is_corrected && self.corrected_arms > 0
    }
}

/// Returns the number of items with a label; of outcomes, if those of a run share one artefact.
fn count_labelled(outcomes: &ArmOutcomes, unit: Design) -> u64 {
    let runs = if unit.is_over_items() {
        outcomes.by_run.len().max(1)
    } else {
        1
    };
    outcomes
        .labels
        .chunks(runs)
        .filter(|item| item.iter().any(|label| label.n > 0))
        .count() as u64
}

/// Returns whether enough of an arm's runs have labels.
fn has_labels_of_runs(outcomes: &ArmOutcomes, unit: Design) -> bool {
    let runs = outcomes.by_run.len();
    let of_run = |run: usize| {
        outcomes
            .labels
            .iter()
            .skip(run)
            .step_by(runs)
            .filter(|label| label.n > 0)
            .count()
    };
    let labels: Vec<usize> = (0..runs).map(of_run).collect();
    let (most, all) = (
        labels.iter().copied().max().unwrap_or(0),
        labels.iter().sum::<usize>(),
    );
    let least = fewest_labelled_runs(outcomes, unit);
    labels.iter().filter(|labels| **labels > 0).count() >= least
        && (least < 2 || most as f64 <= MAX_OF_A_RUN * all as f64)
}

/// Returns how many runs of an arm must have labels.
fn fewest_labelled_runs(outcomes: &ArmOutcomes, unit: Design) -> usize {
    if unit.is_over_items() {
        MIN_LABELLED_RUNS.min(outcomes.by_run.len())
    } else {
        MIN_RUNS
    }
}

/// Returns whether labels correct an arm's figures: enough items are labelled, in enough runs.
fn is_corrected(outcomes: &ArmOutcomes, unit: Design) -> bool {
    unit != Design::Counts
        && count_labelled(outcomes, unit) >= MIN_LABELS
        && has_labels_of_runs(outcomes, unit)
}

/// An arm's verdicts and labels by item and run.
struct JudgedCells {
    runs: usize,
    judged: Vec<Option<f64>>,
    labels: Vec<Option<stats::LabelledAttempts>>,
}

impl JudgedCells {
    /// Returns the cells of an arm, of items with another arm's outcomes by the same evaluators if there is another.
    fn from_outcomes(
        outcomes: &ArmOutcomes,
        other: Option<&ArmOutcomes>,
        items: &SuiteItems,
    ) -> Self {
        let has = |arm: &ArmOutcomes, column: usize| arm.cells.counts_of(column).1 > 0;
        let mut judged = Vec::with_capacity(outcomes.labels.len());
        items.for_each_item(|_, columns| {
            judged.extend(outcomes.judged_values(columns, |column| {
                has(outcomes, column) && other.is_none_or(|other| has(other, column))
            }));
        });
        let label = |label: &ItemLabels| {
            label
                .mean_label_and_judge()
                .map(|(people, judge)| stats::LabelledAttempts { people, judge })
        };
        Self {
            runs: outcomes.by_run.len(),
            judged,
            labels: outcomes.labels.iter().map(label).collect(),
        }
    }

    fn judged_runs(&self) -> JudgedRuns<'_> {
        JudgedRuns {
            runs: self.runs,
            judged: &self.judged,
            labels: &self.labels,
        }
    }

    /// Returns the number of items with a label in both arms.
    fn labelled_with(&self, other: &Self) -> u64 {
        let has = |labels: &[Option<stats::LabelledAttempts>]| labels.iter().any(Option::is_some);
        self.labels
            .chunks(self.runs)
            .zip(other.labels.chunks(other.runs))
            .filter(|(one, other)| has(one) && has(other))
            .count() as u64
    }
}

/// Returns the cluster of each item, if clusters are the unit.
fn cluster_codes(items: &SuiteItems, unit: Design) -> Option<&[u32]> {
    items
        .clusters
        .as_deref()
        .filter(|_| unit == Design::Clusters)
}

/// Returns an arm's pass rate as people would see it, with the number of labels. `None` if labels correct nothing.
pub(super) fn labelled_rate(
    outcomes: &ArmOutcomes,
    items: &SuiteItems,
    unit: Design,
    confidence: f64,
) -> Option<(CorrectedMean, u64)> {
    if !is_corrected(outcomes, unit) {
        return None;
    }
    let cells = JudgedCells::from_outcomes(outcomes, None, items);
    let found = if unit.is_over_items() {
        corrected_rate(cells.judged_runs(), cluster_codes(items, unit), confidence)
    } else {
        // The suite is fixed, and the outcomes of a run depend on each other: the run is the cluster.
        let runs = u32::try_from(cells.runs).ok()?;
        let codes: Vec<u32> = (0..runs).cycle().take(cells.judged.len()).collect();
        corrected_rate(
            JudgedRuns {
                runs: 1,
                ..cells.judged_runs()
            },
            Some(&codes),
            confidence,
        )
    };
    Some((found.ok()?, count_labelled(outcomes, unit)))
}

/// What labels say about the difference of two arms.
pub(super) enum LabelledDifference {
    /// Neither arm is corrected: the judge's difference stands.
    ByJudge,
    /// One arm is corrected and the other is not, so their difference is nobody's.
    Apart,
    /// The difference as people would see it, with the number of labels behind it.
    ByPeople(CorrectedMean, u64),
}

/// Compares two arms as people would see them: on shared labelled items, or else by each arm's own labels, as for runs of one artefact each.
pub(super) fn labelled_difference(
    one: &ArmOutcomes,
    other: &ArmOutcomes,
    items: &SuiteItems,
    unit: Design,
    confidence: f64,
) -> LabelledDifference {
    match (is_corrected(one, unit), is_corrected(other, unit)) {
        (false, false) => return LabelledDifference::ByJudge,
        (true, false) | (false, true) => return LabelledDifference::Apart,
        (true, true) => {}
    }
    if unit.is_over_items() {
        let (first, second) = (
            JudgedCells::from_outcomes(one, Some(other), items),
            JudgedCells::from_outcomes(other, Some(one), items),
        );
        let labels = first.labelled_with(&second);
        let found = (labels >= MIN_LABELS).then(|| {
            corrected_difference(
                first.judged_runs(),
                second.judged_runs(),
                cluster_codes(items, unit),
                confidence,
            )
        });
        if let Some(Ok(found)) = found {
            return LabelledDifference::ByPeople(found, labels);
        }
    }
    let arms = labelled_rate(one, items, unit, confidence)
        .zip(labelled_rate(other, items, unit, confidence));
    let found = arms.and_then(|((one, labels), (other, others))| {
        Some(LabelledDifference::ByPeople(
            one.subtract_independent(other, confidence).ok()?,
            labels.min(others),
        ))
    });
    found.unwrap_or(LabelledDifference::Apart)
}
