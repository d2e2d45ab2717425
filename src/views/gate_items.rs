//! Items that fail now and did not in the baseline, with the known reasons.

use std::cmp::Reverse;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::Serialize;

use crate::domain::{ItemKey, ItemKind, ItemStatus};
use crate::inference::{Arm, ArmRuns, Held, Outcomes, Rates, SuiteAnswer};
use crate::warehouse::Warehouse;

use super::short_text::cut;

/// One item that fails in the new runs.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct FailingItem {
    pub kind: ItemKind,
    pub item: String,
    /// Attempts passed and counted: of the new runs, then of the baseline.
    pub passed: u64,
    pub attempts: u64,
    pub baseline_passed: u64,
    pub baseline_attempts: u64,
    /// Why it failed, from the newest run whose evaluator gives a reason. Cut to a bounded length.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    #[serde(skip)]
    key: ItemKey,
}

/// Items of one arm that fail now and passed in its baseline.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct NewFailures {
    pub suite: String,
    pub arm: Arm,
    pub against: Arm,
    /// Items that passed every attempt of the baseline and fail at least half of the new attempts.
    pub count: u64,
    /// The first of these items, by kind, evaluator and name; at most [`MOST_FAILING`].
    pub items: Vec<FailingItem>,
    /// Items that fail now and are flaky: mixed in the baseline, or failing fewer than half of the new attempts.
    pub flaky_count: u64,
    /// The first of the flaky items.
    pub flaky: Vec<FailingItem>,
}

/// Maximum number of items listed, new failures and flaky ones each.
pub const MOST_FAILING: usize = 20;
/// Maximum number of runs read for reasons.
const MOST_READ: usize = 5;
/// Longer runs are not read for reasons, because their texts would not fit into memory.
const MOST_LINES: u64 = 20_000;

/// Lists the new failures of an arm. In the answer, that arm is first and its baseline second. Returns `None` if either has no items.
pub(super) fn new_failures(answer: &SuiteAnswer<'_>, gated: &Held<'_>, (head, other): (usize, usize)) -> Option<NewFailures> {
    let arms = (gated.head[head].arm.clone(), gated.baseline[other].arm.clone());
    answer.on_same_texts(0, 1, |head, baseline| match (head, baseline) {
        (Rates::Outcomes(head), Rates::Outcomes(baseline)) => Some(of_outcomes(&gated.suite, arms, head, baseline, answer)),
        _ => None,
    })
}

fn of_outcomes(suite: &str, (arm, against): (Arm, Arm), head: &Outcomes, baseline: &Outcomes, answer: &SuiteAnswer<'_>) -> NewFailures {
    let mut found = NewFailures { suite: suite.to_owned(), arm, against, count: 0, items: Vec::new(), flaky_count: 0, flaky: Vec::new() };
    answer.items.each_unit(|_, columns| {
        let [(passed, attempts), (baseline_passed, baseline_attempts)] = [head, baseline].map(|outcomes| outcomes.cell(columns));
        if attempts == 0 || passed == attempts || baseline_passed == 0 {
            return;
        }
        let item = &answer.matrix.items[columns[0] as usize];
        let is_steady = baseline_passed == baseline_attempts;
        let fails = 2 * passed <= attempts;
        let (count, list) = match (is_steady, fails) {
            (true, true) => (&mut found.count, &mut found.items),
            (true, false) | (false, true) => (&mut found.flaky_count, &mut found.flaky),
            (false, false) => return,
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
    });
    found
}

impl NewFailures {
    /// Reads from the newest runs why the listed items failed. An item whose reason cannot be read keeps `None`.
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
                let shown = warehouse.names().key(&outcome.key());
                let is_it = |item: &FailingItem| item.key == shown;
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
