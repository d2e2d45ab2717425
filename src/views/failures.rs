//! Why arms failed items: the reasons, outcomes and tools of their failed attempts, gathered one attempt at a time.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::sync::Arc;

use crate::domain::{ItemKind, ItemStatus, Run, is_person, latest_of_each};
use crate::inference::ArmRuns;
use crate::warehouse::Warehouse;

use super::differing_items::{DifferingItems, SuiteItemNames};
use super::reason_kind::{reason_example, reason_kind};

/// Maximum characters of an example.
const MAX_OF_AN_EXAMPLE: usize = 400;
/// Outcomes with their texts held in memory at once.
const MAX_LINES_AT_ONCE: u64 = 80_000;
/// Maximum items of arms whose failures are kept, per suite. A store may hold far more than memory.
const MAX_KEPT: usize = 400_000;

/// One attempt at an item, as its evaluator recorded it.
#[derive(Clone, Copy, Debug)]
pub(super) struct RecordedAttempt<'a> {
    pub kind: ItemKind,
    pub item: &'a str,
    pub evaluator: &'a str,
    pub status: ItemStatus,
    pub reason: Option<&'a str>,
    pub category: Option<&'a str>,
    pub tools: &'a BTreeMap<String, u64>,
}

/// The failed attempts of an arm at one item, and the tools of those that passed.
#[derive(Clone, Debug, Default)]
pub(super) struct ItemFailures {
    /// Failed attempts by the place of their reason's kind.
    reasons: BTreeMap<u32, u32>,
    /// Failed attempts in all, attempts that crashed, and attempts that hit a limit.
    failed: u32,
    crashed: u32,
    limited: u32,
    /// Tools by place: of attempts that failed, and of attempts that passed.
    failed_tools: BTreeSet<u32>,
    passed_tools: BTreeSet<u32>,
}

/// Why the arms of one suite failed the items on which they differ.
#[derive(Clone, Debug)]
pub(super) struct SuiteFailures {
    places: BTreeMap<(ItemKind, String), u32>,
    /// By place: whether a pair differs on the item.
    wanted: Vec<bool>,
    kinds: BTreeMap<String, u32>,
    /// By place of a kind: its name, and the shortest of its reasons.
    named_kinds: Vec<(String, String)>,
    tools: BTreeMap<String, u32>,
    named_tools: Vec<String>,
    /// By arm and item.
    items: BTreeMap<(usize, u32), ItemFailures>,
    /// By item.
    categories: BTreeMap<u32, String>,
}

impl SuiteFailures {
    pub fn new(names: &Arc<SuiteItemNames>) -> Self {
        Self {
            places: names.keys.iter().cloned().zip(0..).collect(),
            wanted: vec![false; names.keys.len()],
            kinds: BTreeMap::new(),
            named_kinds: Vec::new(),
            tools: BTreeMap::new(),
            named_tools: Vec::new(),
            items: BTreeMap::new(),
            categories: BTreeMap::new(),
        }
    }

    /// Notes the items of a pair. Only their failures are kept.
    pub fn want(&mut self, differing: &DifferingItems) {
        for item in &differing.items {
            if let Some(wanted) = self.wanted.get_mut(item.place as usize) {
                *wanted = true;
            }
        }
    }

    /// Returns whether there were more failures than memory is planned for, so that some are not kept.
    pub fn is_full(&self) -> bool {
        self.items.len() >= MAX_KEPT
    }

    /// Adds all attempts of an arm's counted runs, with what the evaluators recorded.
    ///
    /// # Errors
    ///
    /// Fails if outcomes cannot be read.
    pub fn read_arm(
        &mut self,
        warehouse: &Warehouse,
        arm: usize,
        runs: &ArmRuns<'_>,
    ) -> io::Result<()> {
        let mut together: Vec<Arc<Run>> = Vec::new();
        let mut lines = 0;
        for row in &runs.counted {
            let own = row.items.map_or(0, |items| items.lines);
            if lines + own > MAX_LINES_AT_ONCE {
                self.read_runs(warehouse, arm, &std::mem::take(&mut together))?;
                lines = 0;
            }
            together.push(Arc::clone(&row.run));
            lines += own;
        }
        self.read_runs(warehouse, arm, &together)
    }

    fn read_runs(
        &mut self,
        warehouse: &Warehouse,
        arm: usize,
        runs: &[Arc<Run>],
    ) -> io::Result<()> {
        let lines = warehouse.read_detailed_outcomes(runs)?;
        let newest = latest_of_each(
            &lines,
            |(outcome, _)| (outcome.run.clone(), outcome.key(), outcome.attempt),
            |(outcome, _)| outcome.revision,
        );
        for (outcome, details) in newest {
            let shown = warehouse.display_names().display_key(&outcome.key());
            self.add_attempt(
                arm,
                RecordedAttempt {
                    kind: shown.kind,
                    item: &shown.item,
                    evaluator: &shown.evaluator,
                    status: outcome.status,
                    reason: details.reason.as_deref(),
                    category: outcome.category_in(details),
                    tools: &details.tools,
                },
            );
        }
        Ok(())
    }

    /// Adds an attempt of an arm, which the caller numbers.
    pub fn add_attempt(&mut self, arm: usize, attempt: RecordedAttempt<'_>) {
        // A person's label checks the item's other evaluators.
        if is_person(attempt.evaluator) {
            return;
        }
        let Some(place) = self
            .places
            .get(&(attempt.kind, attempt.item.to_owned()))
            .copied()
        else {
            return;
        };
        if let Some(category) = attempt.category.filter(|name| !name.trim().is_empty()) {
            self.categories
                .entry(place)
                .or_insert_with(|| category.to_owned());
        }
        let is_wanted = self.wanted.get(place as usize).copied().unwrap_or(false);
        if !is_wanted || !attempt.status.is_counted() || self.is_full() {
            return;
        }
        let tools: BTreeSet<u32> = attempt
            .tools
            .keys()
            .map(|tool| number_tool(&mut self.tools, &mut self.named_tools, tool))
            .collect();
        let reason = attempt
            .reason
            .filter(|_| attempt.status != ItemStatus::Pass)
            .and_then(|reason| self.number_reason(reason, attempt.item));
        let own = self.items.entry((arm, place)).or_default();
        if attempt.status == ItemStatus::Pass {
            own.passed_tools.extend(tools);
            return;
        }
        own.failed += 1;
        own.crashed += u32::from(attempt.status == ItemStatus::Error);
        own.limited += u32::from(attempt.status == ItemStatus::Limit);
        own.failed_tools.extend(tools);
        if let Some(reason) = reason {
            *own.reasons.entry(reason).or_default() += 1;
        }
    }

    /// Returns the place of a reason's kind, or `None` if there is nothing to read. The example of a kind is its shortest reason, so that it
    /// does not depend on the order of runs.
    fn number_reason(&mut self, reason: &str, item: &str) -> Option<u32> {
        let kind = reason_kind(reason, item);
        if kind.is_empty() {
            return None;
        }
        let example = reason_example(reason, MAX_OF_AN_EXAMPLE);
        let next = u32::try_from(self.named_kinds.len()).ok()?;
        let place = *self.kinds.entry(kind.clone()).or_insert(next);
        if place == next {
            self.named_kinds.push((kind, example));
        } else if let Some((_, known)) = self.named_kinds.get_mut(place as usize)
            && (example.chars().count(), &example) < (known.chars().count(), known)
        {
            *known = example;
        }
        Some(place)
    }

    pub fn of_item(&self, arm: usize, place: u32) -> Option<&ItemFailures> {
        self.items.get(&(arm, place))
    }

    pub fn category(&self, place: u32) -> Option<&str> {
        self.categories.get(&place).map(String::as_str)
    }

    /// Returns the kind of the reason that most failed attempts have, and its example. `None` if no reason is recorded. Of equally frequent
    /// ones, the first by name.
    pub fn main_reason(&self, item: &ItemFailures) -> Option<(&str, &str)> {
        let named = item.reasons.iter().filter_map(|(place, count)| {
            let (kind, example) = self.named_kinds.get(*place as usize)?;
            Some((*count, kind, example))
        });
        named
            .max_by(|(count, kind, _), (most, other, _)| {
                count.cmp(most).then_with(|| other.cmp(kind))
            })
            .map(|(_, kind, example)| (kind.as_str(), example.as_str()))
    }

    /// Returns the tools that only the failed attempts called. Empty if no attempt of the other arm has a record of tools.
    pub fn tools_only_of(&self, failed: &ItemFailures, other: &ItemFailures) -> Vec<&str> {
        if other.passed_tools.is_empty() {
            return Vec::new();
        }
        failed
            .failed_tools
            .difference(&other.passed_tools)
            .filter_map(|place| self.named_tools.get(*place as usize))
            .map(String::as_str)
            .collect()
    }
}

impl ItemFailures {
    /// Returns the outcome of more than half of the failed attempts, if it is no plain fail.
    pub fn main_outcome(&self) -> Option<ItemStatus> {
        [
            (self.crashed, ItemStatus::Error),
            (self.limited, ItemStatus::Limit),
        ]
        .into_iter()
        .find(|(count, _)| 2 * count > self.failed)
        .map(|(_, status)| status)
    }
}

fn number_tool(tools: &mut BTreeMap<String, u32>, named: &mut Vec<String>, tool: &str) -> u32 {
    if let Some(place) = tools.get(tool) {
        return *place;
    }
    let next = u32::try_from(named.len()).unwrap_or(u32::MAX);
    tools.insert(tool.to_owned(), next);
    named.push(tool.to_owned());
    next
}
