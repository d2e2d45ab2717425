//! Head against baseline: the runs under judgement, and the runs they are held against.

use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};

use chrono::{DateTime, Utc};

use crate::domain::{Filter, RunId};
use crate::warehouse::{RunRow, Warehouse};

use super::arm::{Arm, ArmRuns, Grouping, SuiteGroup, arm_runs, batch_of};

/// What stands in the place of a suite's version that runs do not name.
pub(crate) const UNKNOWN_VERSION: &str = "unknown";

/// Which runs are the baseline.
#[derive(Clone, Debug, PartialEq)]
pub enum Baseline {
    /// These, and of each arm its newest batch or all of them. They never count as head, but for those of `both`: files of equal content that
    /// were named on both sides.
    Runs { ids: BTreeSet<RunId>, both: BTreeSet<RunId>, grouping: Grouping },
    /// Of each arm of the head, so many batches before the one under judgement.
    Last(usize),
}

/// A suite's arms under judgement and those they are held against. All runs are of one version of the suite.
#[derive(Clone)]
pub struct Held<'a> {
    pub suite: String,
    pub suite_version: Option<String>,
    pub newest: Option<DateTime<Utc>>,
    pub head: Vec<ArmRuns<'a>>,
    pub baseline: Vec<ArmRuns<'a>>,
    /// By arm of the head: the counted runs of its own arm of a fixed baseline, whichever batch they are of.
    pub before: Vec<Vec<&'a RunRow>>,
    /// By arm of the head: its counted runs since the baseline up to the newest under judgement, whichever batch they are of, oldest first.
    /// Empty where the baseline moves along, or has no time.
    pub since: Vec<Vec<&'a RunRow>>,
    /// Every arm of the head with one of the baseline: its own; where no arm of the head has one there, each of them.
    pub pairs: Vec<(usize, Option<usize>)>,
    /// Other versions of the suite that the baseline has runs of; `unknown` for runs without one.
    pub other_versions: Vec<String>,
}

/// Groups the head by suite and version, with the baseline beside it; suites by name, their newest version first.
pub fn held_groups<'a>(warehouse: &'a Warehouse, filter: &Filter, baseline: &Baseline, grouping: Grouping) -> Vec<Held<'a>> {
    let key = |row: &RunRow| (row.run.suite.clone(), row.run.suite_version.clone());
    let mut of_head = BTreeMap::<(String, Option<String>), Vec<&RunRow>>::new();
    let mut others = BTreeMap::<(String, Option<String>), Vec<&RunRow>>::new();
    for row in warehouse.runs() {
        let (is_baseline, is_kept, is_both) = match baseline {
            Baseline::Runs { ids, both, .. } => (ids.contains(&row.run.id), false, both.contains(&row.run.id)),
            Baseline::Last(_) => (false, true, false),
        };
        if (!is_baseline || is_both) && filter.matches(&row.run) {
            of_head.entry(key(row)).or_default().push(row);
        }
        if is_baseline || is_kept {
            others.entry(key(row)).or_default().push(row);
        }
    }
    let versions_beside = |suite: &str, version: &Option<String>| -> Vec<String> {
        let beside = others.keys().filter(|(other, known)| other == suite && known != version);
        beside.map(|(_, version)| version.clone().unwrap_or_else(|| UNKNOWN_VERSION.to_owned())).collect()
    };
    let any_batch = Filter { batch: None, since: None, ..filter.clone() };
    let fixed = match baseline {
        Baseline::Runs { ids, .. } => Some(ids),
        Baseline::Last(_) => None,
    };
    let mut groups: Vec<Held<'a>> = of_head
        .into_iter()
        .map(|(key, rows)| {
            let newest = rows.iter().filter_map(|row| row.run.timestamp).max();
            let beside = others.get(&key).map_or(&[][..], Vec::as_slice);
            let (head, baseline) = match baseline {
                Baseline::Runs { grouping: of_baseline, .. } => (arm_runs(&rows, grouping), arm_runs(beside, *of_baseline)),
                Baseline::Last(batches) => {
                    let head = arm_runs(&rows, Grouping::NewestBatch);
                    let before = before(&head, beside, *batches);
                    (head, before)
                }
            };
            let other_versions = versions_beside(&key.0, &key.1);
            let pairs = pairs(&head, &baseline);
            let since = head
                .iter()
                .map(|arm| match fixed {
                    Some(ids) => {
                        let of_arm = warehouse.runs().iter().filter(|row| {
                            (&row.run.suite, &row.run.suite_version) == (&key.0, &key.1)
                                && Arm::of(&row.run) == arm.arm
                                && !ids.contains(&row.run.id)
                                && any_batch.matches(&row.run)
                        });
                        since(of_arm, arm, baseline.iter().find(|other| other.arm == arm.arm))
                    }
                    None => Vec::new(),
                })
                .collect();
            let of_baseline = |arm: &ArmRuns<'_>| {
                let is_own = |row: &&&RunRow| fixed.is_some() && row.run.status.is_counted() && Arm::of(&row.run) == arm.arm;
                beside.iter().filter(is_own).copied().collect()
            };
            let before = head.iter().map(of_baseline).collect();
            Held { suite: key.0, suite_version: key.1, newest, head, baseline, before, since, pairs, other_versions }
        })
        .collect();
    groups.sort_by(|left, right| {
        left.suite.cmp(&right.suite).then(right.newest.cmp(&left.newest)).then(left.suite_version.cmp(&right.suite_version))
    });
    groups
}

/// The batches of each arm that came before the head's, newest first, so many of them.
fn before<'a>(head: &[ArmRuns<'a>], rows: &[&'a RunRow], batches: usize) -> Vec<ArmRuns<'a>> {
    let time = |row: &RunRow| (row.run.timestamp, row.run.id.clone());
    let mut taken: Vec<&'a RunRow> = Vec::new();
    for arm in head {
        let own = arm.counted.iter().chain(&arm.excluded);
        let Some(newest) = own.clone().map(|row| time(row)).max() else { continue };
        let own: BTreeSet<&str> = own.map(|row| batch_of(&row.run)).collect();
        let mut earlier = BTreeMap::<&str, Vec<&'a RunRow>>::new();
        for row in rows.iter().filter(|row| Arm::of(&row.run) == arm.arm && !own.contains(batch_of(&row.run))) {
            earlier.entry(batch_of(&row.run)).or_default().push(row);
        }
        let mut earlier: Vec<_> = earlier.into_values().filter_map(|rows| Some((rows.iter().map(|row| time(row)).max()?, rows))).collect();
        earlier.retain(|(latest, _)| latest.cmp(&newest) == Ordering::Less);
        earlier.sort_by(|left, right| right.0.cmp(&left.0));
        taken.extend(earlier.into_iter().take(batches).flat_map(|(_, rows)| rows));
    }
    arm_runs(&taken, Grouping::AllBatches)
}

/// Those of an arm's runs that came after its baseline, and not after the runs under judgement; oldest first.
fn since<'a>(rows: impl Iterator<Item = &'a RunRow>, head: &ArmRuns<'_>, baseline: Option<&ArmRuns<'_>>) -> Vec<&'a RunRow> {
    let newest = |arm: &ArmRuns<'_>| arm.counted.iter().filter_map(|row| row.run.timestamp).max();
    let Some((from, to)) = baseline.and_then(newest).zip(newest(head)) else { return Vec::new() };
    let is_since = |row: &&RunRow| row.run.status.is_counted() && row.run.timestamp.is_some_and(|time| from < time && time <= to);
    let mut rows: Vec<&RunRow> = rows.filter(is_since).collect();
    rows.sort_by(|one, other| (one.run.timestamp, &one.run.id).cmp(&(other.run.timestamp, &other.run.id)));
    rows
}

fn pairs(head: &[ArmRuns<'_>], baseline: &[ArmRuns<'_>]) -> Vec<(usize, Option<usize>)> {
    let own = |arm: &ArmRuns<'_>| baseline.iter().position(|other| other.arm == arm.arm);
    let found: Vec<(usize, Option<usize>)> = head.iter().map(own).enumerate().collect();
    if baseline.is_empty() || found.iter().any(|(_, other)| other.is_some()) {
        return found;
    }
    (0..head.len()).flat_map(|arm| (0..baseline.len()).map(move |other| (arm, Some(other)))).collect()
}

impl<'a> Held<'a> {
    /// All arms as one table: each arm of the head, and behind it its own of the baseline, or behind them all those of the baseline.
    pub fn table(&self) -> SuiteGroup<'a> {
        let is_own = |(head, other): &(usize, Option<usize>)| other.is_some_and(|other| self.baseline[other].arm == self.head[*head].arm);
        let mut arms = Vec::new();
        if self.pairs.iter().any(is_own) {
            for (head, other) in &self.pairs {
                arms.push(self.head[*head].clone());
                arms.extend(other.map(|other| marked(&self.baseline[other])));
            }
        } else {
            arms.extend(self.head.iter().cloned());
            arms.extend(self.baseline.iter().map(marked));
        }
        self.group(arms)
    }

    /// One arm of the head and one of the baseline.
    pub fn pair(&self, head: usize, baseline: usize) -> SuiteGroup<'a> {
        self.group(vec![self.head[head].clone(), marked(&self.baseline[baseline])])
    }

    /// One arm of the head alone.
    pub fn alone(&self, head: usize) -> SuiteGroup<'a> {
        self.group(vec![self.head[head].clone()])
    }

    /// Arms of the baseline that the head has no runs of, where it has some of others.
    pub fn absent(&self) -> Vec<Arm> {
        let held: BTreeSet<usize> = self.pairs.iter().filter_map(|(_, other)| *other).collect();
        let absent = self.baseline.iter().enumerate().filter(|(arm, _)| !held.contains(arm));
        absent.map(|(_, arm)| arm.arm.clone()).collect()
    }

    fn group(&self, arms: Vec<ArmRuns<'a>>) -> SuiteGroup<'a> {
        SuiteGroup { suite: self.suite.clone(), suite_version: self.suite_version.clone(), source: None, arms, newest: self.newest }
    }
}

/// The arm under the name that tells it from the head's.
fn marked<'a>(arm: &ArmRuns<'a>) -> ArmRuns<'a> {
    let name = Arm { approach: format!("{} (baseline)", arm.arm.approach), model: arm.arm.model.clone() };
    ArmRuns { arm: name, ..arm.clone() }
}
