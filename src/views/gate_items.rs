//! Items that fail now and did not in the baseline, with what is known of why.

use std::cmp::Reverse;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::Serialize;

use crate::domain::{ItemKey, ItemKind, ItemStatus};
use crate::inference::{Arm, ArmRuns, Held, Outcomes, Rates, SuiteAnswer};
use crate::warehouse::{OutcomeMatrix, Warehouse};

use super::short_text::cut;

/// One item that the head fails.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct FailingItem {
    pub kind: ItemKind,
    pub item: String,
    /// Attempts of the head, and of the baseline, passed and counted.
    pub passed: u64,
    pub attempts: u64,
    pub baseline_passed: u64,
    pub baseline_attempts: u64,
    /// Why it failed, as the evaluator said of the newest run that says so; cut to a bounded length.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    #[serde(skip)]
    key: ItemKey,
}

/// What fails of one arm and passed in its baseline.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct NewFailures {
    pub suite: String,
    pub arm: Arm,
    pub against: Arm,
    /// Items that passed every attempt of the baseline and fail half of the head's or more.
    pub count: u64,
    /// The first of them, by kind, evaluator and name; at most [`MOST_FAILING`].
    pub items: Vec<FailingItem>,
    /// Items that fail now and are flaky: they passed and failed in the baseline, or fail now in fewer than half of the attempts.
    pub flaky_count: u64,
    /// The first of them.
    pub flaky: Vec<FailingItem>,
}

/// Items named of each kind.
pub const MOST_FAILING: usize = 20;
/// Runs whose lines are read for reasons.
const MOST_READ: usize = 5;
/// Longer runs are not read for reasons: their texts would not fit into memory.
const MOST_LINES: u64 = 20_000;

/// Lists what fails of an arm of the head; the answer has that arm first and its baseline second. Nothing where one of them has no items.
pub(super) fn new_failures(answer: &SuiteAnswer<'_>, gated: &Held<'_>, (head, other): (usize, usize)) -> Option<NewFailures> {
    let arms = (gated.head[head].arm.clone(), gated.baseline[other].arm.clone());
    answer.on_same_texts(0, 1, |head, baseline| match (head, baseline) {
        (Rates::Outcomes(head), Rates::Outcomes(baseline)) => Some(of_outcomes(&gated.suite, arms, head, baseline, &answer.matrix)),
        _ => None,
    })
}

fn of_outcomes(suite: &str, (arm, against): (Arm, Arm), head: &Outcomes, baseline: &Outcomes, matrix: &OutcomeMatrix) -> NewFailures {
    let mut found = NewFailures { suite: suite.to_owned(), arm, against, count: 0, items: Vec::new(), flaky_count: 0, flaky: Vec::new() };
    for ((item, now), before) in matrix.items.iter().zip(&head.cells).zip(&baseline.cells) {
        let ((passed, attempts), (baseline_passed, baseline_attempts)) = (*now, *before);
        if attempts == 0 || passed == attempts || baseline_passed == 0 {
            continue;
        }
        let is_steady = baseline_passed == baseline_attempts;
        let fails = 2 * passed <= attempts;
        let (count, list) = match (is_steady, fails) {
            (true, true) => (&mut found.count, &mut found.items),
            (true, false) | (false, true) => (&mut found.flaky_count, &mut found.flaky),
            (false, false) => continue,
        };
        *count += 1;
        if list.len() < MOST_FAILING {
            list.push(FailingItem {
                kind: item.key.kind,
                item: item.key.item.clone(),
                passed: u64::from(passed),
                attempts: u64::from(attempts),
                baseline_passed: u64::from(baseline_passed),
                baseline_attempts: u64::from(baseline_attempts),
                reason: None,
                key: item.key.clone(),
            });
        }
    }
    found
}

impl NewFailures {
    /// Reads why the listed items failed from the newest runs of the head. What cannot be read stays without a reason.
    pub(super) fn read_reasons(&mut self, warehouse: &Warehouse, head: &ArmRuns<'_>) {
        let mut newest = head.counted.clone();
        newest.sort_by_key(|row| Reverse((row.run.timestamp, row.run.id.clone())));
        let short = newest.into_iter().filter(|row| row.items.is_some_and(|items| items.lines <= MOST_LINES));
        for row in short.take(MOST_READ) {
            let mut open: Vec<&mut FailingItem> =
                self.items.iter_mut().chain(&mut self.flaky).filter(|item| item.reason.is_none()).collect();
            if open.is_empty() {
                return;
            }
            let Ok(lines) = warehouse.detailed(&[Arc::clone(&row.run)]) else { continue };
            for (outcome, details) in lines.into_iter().filter(|(outcome, _)| outcome.status.is_counted()) {
                let name = warehouse.aliases().item.get(&outcome.item).unwrap_or(&outcome.item);
                let is_it =
                    |item: &FailingItem| item.key.item == *name && item.key.kind == outcome.kind && item.key.evaluator == outcome.evaluator;
                if outcome.status == ItemStatus::Pass {
                    continue;
                }
                let reason = details.reason.filter(|reason| !reason.trim().is_empty());
                if let Some((item, reason)) = open.iter_mut().find(|item| is_it(item)).zip(reason) {
                    item.reason.get_or_insert_with(|| cut(&reason));
                }
            }
        }
    }
}
