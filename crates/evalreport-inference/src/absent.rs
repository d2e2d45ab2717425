//! Arms and suites of a baseline that have no new runs.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use chrono::{DateTime, TimeDelta, Utc};

use crate::domain::Filter;
use crate::warehouse::{RunRow, Warehouse};

use super::arm::{ArmRuns, group_by_arm};
use super::baseline::{BaselineComparison, BaselineSelection};
use super::night_key::Nights;

/// Runs of one job may lie on both sides of midnight, so far apart at most.
pub const MAX_JOB: TimeDelta = TimeDelta::hours(12);

/// Adds the arms and suites without new runs that the baseline's newest day has, as new arms without runs. An arm or suite that only earlier
/// days have was given up before; [`BaselineComparison::absent_arms`] still names such an arm. A baseline that moves with the new runs has none.
pub fn add_absent_arms<'a>(
    groups: Vec<BaselineComparison<'a>>,
    warehouse: &'a Warehouse,
    filter: &Filter,
    baseline: &BaselineSelection,
) -> Vec<BaselineComparison<'a>> {
    let BaselineSelection::Runs { ids, grouping, .. } = baseline else {
        return groups;
    };
    let names = Filter {
        suites: filter.suites.clone(),
        approaches: filter.approaches.clone(),
        models: filter.models.clone(),
        ..Filter::default()
    };
    let rows: Vec<&RunRow> = warehouse
        .runs()
        .iter()
        .filter(|row| {
            ids.contains(&row.run.id) && row.run.status.is_counted() && names.matches(&row.run)
        })
        .collect();
    let newest = rows.iter().filter_map(|row| row.run.timestamp).max();
    let is_newest = |time: DateTime<Utc>| {
        newest.is_none_or(|newest| {
            time.date_naive() == newest.date_naive() || newest - time <= MAX_JOB
        })
    };
    let is_current = |arm: &ArmRuns<'_>| {
        arm.counted
            .iter()
            .any(|row| names.matches(&row.run) && row.run.timestamp.is_none_or(is_newest))
    };
    let mut held_suites = BTreeSet::new();
    let mut all: Vec<BaselineComparison<'a>> = Vec::with_capacity(groups.len());
    for mut held in groups {
        held_suites.insert(held.suite.clone());
        let absent: BTreeSet<_> = held.absent_arms().into_iter().collect();
        for (other, arm) in held
            .baseline
            .iter()
            .enumerate()
            .filter(|(_, arm)| absent.contains(&arm.arm) && is_current(arm))
        {
            held.pairs.push((held.head.len(), Some(other)));
            held.head.push(empty_arm(arm));
            held.before.push(Vec::new());
            held.since.push(Vec::new());
            held.nights.push(Vec::new());
        }
        all.push(held);
    }
    let mut suites = BTreeMap::<&str, Vec<&RunRow>>::new();
    for row in rows
        .iter()
        .filter(|row| !held_suites.contains(&row.run.suite))
    {
        suites.entry(&row.run.suite).or_default().push(row);
    }
    let night_keys = Arc::new(Nights::new(warehouse, suites.values().flatten().copied()));
    for (suite, rows) in suites {
        let Some(last) = rows
            .iter()
            .max_by_key(|row| (row.run.timestamp, &row.run.id))
        else {
            continue;
        };
        let of_version: Vec<&RunRow> = rows
            .iter()
            .copied()
            .filter(|row| row.run.suite_version == last.run.suite_version)
            .collect();
        let baseline: Vec<ArmRuns<'a>> = group_by_arm(&of_version, *grouping, &night_keys)
            .into_iter()
            .filter(|arm| is_current(arm))
            .collect();
        if baseline.is_empty() {
            continue;
        }
        all.push(BaselineComparison {
            suite: suite.to_owned(),
            suite_version: last.run.suite_version.clone(),
            newest: last.run.timestamp,
            head: baseline.iter().map(empty_arm).collect(),
            before: vec![Vec::new(); baseline.len()],
            since: vec![Vec::new(); baseline.len()],
            nights: vec![Vec::new(); baseline.len()],
            last: None,
            pairs: (0..baseline.len()).map(|arm| (arm, Some(arm))).collect(),
            other_versions: Vec::new(),
            asked: names.clone(),
            takes_newest: false,
            older: 0,
            night_keys: Arc::clone(&night_keys),
            baseline,
        });
    }
    all.sort_by(|left, right| left.suite.cmp(&right.suite));
    all
}

fn empty_arm<'a>(arm: &ArmRuns<'_>) -> ArmRuns<'a> {
    ArmRuns {
        arm: arm.arm.clone(),
        counted: Vec::new(),
        excluded: Vec::new(),
        crashed: Vec::new(),
        cached: Vec::new(),
        earlier: 0,
    }
}

impl BaselineComparison<'_> {
    /// Returns whether an arm was added only because the baseline has it.
    pub fn is_absent(&self, head: usize) -> bool {
        self.head[head].all_runs().next().is_none()
    }

    /// Returns whether no arm of the suite has a new run.
    pub fn has_no_new_runs(&self) -> bool {
        (0..self.head.len()).all(|head| self.is_absent(head))
    }
}
