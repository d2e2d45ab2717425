//! Arms and suites of a baseline that have no new runs.

use std::collections::{BTreeMap, BTreeSet};

use chrono::NaiveDate;

use crate::domain::Filter;
use crate::warehouse::{RunRow, Warehouse};

use super::arm::{ArmRuns, arm_runs};
use super::baseline::{Baseline, Held};

/// Adds the arms and suites without new runs that the baseline's newest day has, as new arms without runs. An arm or suite that only earlier
/// days have was given up before; [`Held::absent`] still names such an arm. A baseline that moves with the new runs has none.
pub fn with_absent<'a>(
    groups: Vec<Held<'a>>,
    warehouse: &'a Warehouse,
    filter: &Filter,
    baseline: &Baseline,
) -> Vec<Held<'a>> {
    let Baseline::Runs { ids, grouping, .. } = baseline else {
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
    let newest = rows.iter().filter_map(|row| day(row)).max();
    let is_current = |arm: &ArmRuns<'_>| {
        arm.counted
            .iter()
            .any(|row| names.matches(&row.run) && day(row).is_none_or(|day| Some(day) == newest))
    };
    let mut held_suites = BTreeSet::new();
    let mut all: Vec<Held<'a>> = Vec::with_capacity(groups.len());
    for mut held in groups {
        held_suites.insert(held.suite.clone());
        let absent: BTreeSet<_> = held.absent().into_iter().collect();
        for (other, arm) in held
            .baseline
            .iter()
            .enumerate()
            .filter(|(_, arm)| absent.contains(&arm.arm) && is_current(arm))
        {
            held.pairs.push((held.head.len(), Some(other)));
            held.head.push(without_runs(arm));
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
        let baseline: Vec<ArmRuns<'a>> = arm_runs(&of_version, *grouping)
            .into_iter()
            .filter(|arm| is_current(arm))
            .collect();
        if baseline.is_empty() {
            continue;
        }
        all.push(Held {
            suite: suite.to_owned(),
            suite_version: last.run.suite_version.clone(),
            newest: last.run.timestamp,
            head: baseline.iter().map(without_runs).collect(),
            before: vec![Vec::new(); baseline.len()],
            since: vec![Vec::new(); baseline.len()],
            nights: vec![Vec::new(); baseline.len()],
            last: None,
            pairs: (0..baseline.len()).map(|arm| (arm, Some(arm))).collect(),
            other_versions: Vec::new(),
            asked: names.clone(),
            baseline,
        });
    }
    all.sort_by(|left, right| left.suite.cmp(&right.suite));
    all
}

fn day(row: &RunRow) -> Option<NaiveDate> {
    row.run.timestamp.map(|time| time.date_naive())
}

fn without_runs<'a>(arm: &ArmRuns<'_>) -> ArmRuns<'a> {
    ArmRuns {
        arm: arm.arm.clone(),
        counted: Vec::new(),
        excluded: Vec::new(),
        crashed: Vec::new(),
        earlier: 0,
    }
}

impl Held<'_> {
    /// Returns whether an arm was added only because the baseline has it.
    pub fn is_absent(&self, head: usize) -> bool {
        self.head[head].all().next().is_none()
    }

    /// Returns whether no arm of the suite has a new run.
    pub fn is_without_runs(&self) -> bool {
        (0..self.head.len()).all(|head| self.is_absent(head))
    }
}
