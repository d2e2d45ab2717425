//! People's labels of a judge's items: which were stored, and which to give next.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::Serialize;

use crate::domain::{Filter, Run};
use crate::inference::{
    Arm, BatchSelection, LabelSelection, Policy, SuiteComparison, can_be_corrected, select_labels,
    suite_groups,
};
use crate::warehouse::Warehouse;

/// One person's labels of a run after an import.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct LabelledRun {
    pub run: String,
    /// The evaluator: `human`, or `human:` with a name.
    pub rater: String,
    /// All labels of the person, then those that are new, and those that differ from before.
    pub labels: u64,
    pub added: u64,
    pub changed: u64,
}

/// Labels that a file added to stored runs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct LabelReport {
    pub file: String,
    /// Nothing was written.
    pub is_dry: bool,
    /// Rows without a label.
    pub blank: u64,
    pub runs: Vec<LabelledRun>,
}

/// An item of a run for a person to label.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct NextLabel {
    pub run: String,
    pub item: String,
    pub suite: String,
    #[serde(flatten)]
    pub arm: Arm,
}

/// How labels narrow a board's intervals.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct NextBoard {
    pub suite: String,
    pub judges: Vec<String>,
    /// Items that are labelled for every arm, then those that would be, and all; or outcomes of all arms.
    pub labels: u64,
    pub labels_then: u64,
    pub items: u64,
    /// About half the length of an arm's 95% interval now, by the labels so far, and with these labels.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reach: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reach_then: Option<f64>,
    /// Whether labels are drawn by verdict, more where the judge errs more. Only for one arm.
    pub is_by_verdict: bool,
    /// Whether the outcomes of a run share one artefact, so that outcomes of all arms are counted and drawn.
    pub is_over_runs: bool,
}

/// The items to label next.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct NextReport {
    /// In the order of boards, then drawn at random.
    pub labels: Vec<NextLabel>,
    pub boards: Vec<NextBoard>,
    /// Suites whose judge labels cannot correct yet: the outcomes of a run share one artefact, and an arm has fewer than three runs.
    pub too_few_runs: Vec<String>,
}

/// Chooses about `count` items to label, where they narrow intervals most.
pub fn next_labels(
    warehouse: &Warehouse,
    filter: &Filter,
    policy: &Policy,
    count: u64,
) -> NextReport {
    let groups = suite_groups(warehouse, filter, BatchSelection::AllBatches);
    let answers: Vec<SuiteComparison<'_>> = groups
        .iter()
        .map(|group| SuiteComparison::primary_only(warehouse, group, policy))
        .collect();
    let judged = || {
        answers
            .iter()
            .filter_map(|answer| Some((answer, answer.judged_by.as_ref()?)))
    };
    let too_few_runs = judged()
        .filter(|(answer, _)| !can_be_corrected(answer))
        .map(|(answer, _)| answer.group.suite.clone())
        .collect();
    let mut report = NextReport {
        too_few_runs,
        ..NextReport::default()
    };
    let open: Vec<_> = judged()
        .filter(|(answer, _)| can_be_corrected(answer))
        .collect();
    let found = select_labels(
        &open.iter().map(|(answer, _)| *answer).collect::<Vec<_>>(),
        count,
    );
    for ((answer, judged), wish) in open.into_iter().zip(found) {
        let LabelSelection {
            runs,
            labels,
            labels_then,
            items,
            reach,
            reach_then,
            is_by_verdict,
            is_over_runs,
        } = wish;
        for (item, arm, run) in runs {
            report.labels.push(NextLabel {
                run: run_id(run),
                item,
                suite: answer.group.suite.clone(),
                arm: answer.group.arms[arm].arm.clone(),
            });
        }
        let suite = answer.group.suite.clone();
        report.boards.push(NextBoard {
            suite,
            judges: judged.judges.clone(),
            labels,
            labels_then,
            items,
            reach,
            reach_then,
            is_by_verdict,
            is_over_runs,
        });
    }
    report
}

fn run_id(run: &Arc<Run>) -> String {
    run.id.to_string()
}
