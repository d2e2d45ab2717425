//! Since when a board counts: the newest change point of its suite, or each arm's newest batch. A rate over the nights before and after a
//! change is one that nobody measured; without a change, all nights are evidence on one rate.

use std::collections::{BTreeMap, BTreeSet};

use chrono::NaiveDate;
use rayon::prelude::*;

use crate::domain::{Filter, RunId};
use crate::stats::ChangeRule;
use crate::warehouse::{RunRow, Warehouse};

use super::arm::{Arm, ArmRuns, BatchSelection, Since, SinceBecause, SuiteGroup};
use super::grouping::suite_groups;
use super::history::{
    History, HistoryPoints, LevelChange, Series, level_changes, suite_history_of,
};
use super::night_key::{NightKey, Nights};
use super::policy::Policy;

/// Groups the selected runs for boards and comparisons. With all batches, the board of a suite counts since the newest change point of the
/// pass rate of any of its arms, if the suite's history has one; an arm without a run since then keeps those since its own newest one.
pub fn board_groups<'a>(
    warehouse: &'a Warehouse,
    filter: &Filter,
    grouping: BatchSelection,
    policy: &Policy,
) -> Vec<SuiteGroup<'a>> {
    let all = suite_groups(warehouse, filter, BatchSelection::AllBatches);
    let of_suite = |groups: &[SuiteGroup<'a>]| -> Vec<SuiteGroup<'a>> {
        match grouping {
            BatchSelection::NewestBatch => {
                let newest = |group| newest_batches(warehouse, group);
                groups.iter().map(newest).collect()
            }
            BatchSelection::AllBatches if can_change(groups) => {
                let changes = level_changes(warehouse, &groups[0].suite, groups, policy);
                groups
                    .iter()
                    .map(|group| since_change(group, &changes))
                    .collect()
            }
            BatchSelection::AllBatches | BatchSelection::AllNights => groups.to_vec(),
        }
    };
    all.chunk_by(|one, other| one.suite == other.suite)
        .flat_map(of_suite)
        .collect()
}

/// Returns the groups of boards of all batches, as [`board_groups`] does, with the histories that tell since when they count: those of suites with
/// nights enough for a change point, by name.
pub fn board_groups_with_histories<'a>(
    warehouse: &'a Warehouse,
    filter: &Filter,
    policy: &Policy,
) -> (Vec<SuiteGroup<'a>>, BTreeMap<String, History>) {
    let all = suite_groups(warehouse, filter, BatchSelection::AllBatches);
    let of_suite = |groups: &[SuiteGroup<'a>]| -> (Vec<SuiteGroup<'a>>, Option<History>) {
        if !can_change(groups) {
            return (groups.to_vec(), None);
        }
        let history = suite_history_of(
            warehouse,
            &groups[0].suite,
            groups,
            policy,
            &HistoryPoints::Days,
        );
        (
            groups
                .iter()
                .map(|group| since_change_in_history(group, &history))
                .collect(),
            Some(history),
        )
    };
    let suites: Vec<&[SuiteGroup<'a>]> = all
        .chunk_by(|one, other| one.suite == other.suite)
        .collect();
    let found: Vec<_> = suites.into_par_iter().map(of_suite).collect();
    let (groups, histories): (Vec<_>, Vec<_>) = found.into_iter().unzip();
    let histories = histories
        .into_iter()
        .flatten()
        .map(|history| (history.suite.clone(), history));
    (groups.into_iter().flatten().collect(), histories.collect())
}

/// Keeps the runs since the newest change of a suite's history that lies within the group's nights.
pub fn since_change_in_history<'a>(group: &SuiteGroup<'a>, history: &History) -> SuiteGroup<'a> {
    let changes: Vec<(Arm, Vec<LevelChange>)> = history
        .arms
        .iter()
        .map(|arm| (arm.arm.clone(), arm.changes.clone()))
        .collect();
    since_change(group, &changes)
}

/// Returns whether an arm has nights enough for a change point.
fn can_change(groups: &[SuiteGroup<'_>]) -> bool {
    let arms: BTreeSet<&Arm> = groups
        .iter()
        .flat_map(|group| &group.arms)
        .map(|arm| &arm.arm)
        .collect();
    let nights = |arm: &Arm| {
        run_dates(
            groups
                .iter()
                .flat_map(|group| &group.arms)
                .filter(|own| own.arm == *arm)
                .flat_map(|own| &own.counted),
        )
    };
    arms.into_iter()
        .any(|arm| nights(arm).len() >= 2 * ChangeRule::default().min_nights)
}

fn run_dates<'r, 'a: 'r>(rows: impl Iterator<Item = &'r &'a RunRow>) -> BTreeSet<NaiveDate> {
    rows.filter_map(|row| run_date(row)).collect()
}

fn run_date(row: &RunRow) -> Option<NaiveDate> {
    row.run.timestamp.map(|time| time.date_naive())
}

/// Keeps the runs since the newest change that lies within the group's nights. An arm without a run since then keeps its runs since its own
/// newest change.
fn since_change<'a>(group: &SuiteGroup<'a>, changes: &[(Arm, Vec<LevelChange>)]) -> SuiteGroup<'a> {
    let own = run_dates(group.arms.iter().flat_map(|arm| &arm.counted));
    let Some(first) = own.first().copied() else {
        return group.clone();
    };
    let has = |arm: &Arm| group.arms.iter().any(|own| own.arm == *arm);
    let of_rates = |changes: &[LevelChange]| -> Vec<NaiveDate> {
        changes
            .iter()
            .filter(|change| change.series == Series::PassRate)
            .map(|change| change.date)
            .collect()
    };
    let of_group = || {
        changes
            .iter()
            .filter(|(arm, _)| has(arm))
            .map(|(arm, changes)| (arm, of_rates(changes)))
    };
    // A change has so many nights behind it before anybody can know of it: this matters for boards of earlier days, which the news feed asks for.
    let is_within = |date: &NaiveDate, nights: &BTreeSet<NaiveDate>| {
        nights.first().is_some_and(|first| first < date)
            && nights.range(*date..).count() >= ChangeRule::default().min_nights
    };
    let within = |date: &NaiveDate| is_within(date, &own);
    let Some(date) = of_group().flat_map(|(_, dates)| dates).filter(within).max() else {
        let since = Since {
            date: first,
            because: SinceBecause::NoChange,
            nights: own.len() as u64,
            changed: Vec::new(),
            older: Vec::new(),
        };
        let is_long = own.len() >= 2 * ChangeRule::default().min_nights;
        return SuiteGroup {
            since: is_long.then_some(since),
            ..group.clone()
        };
    };
    let changed = of_group()
        .filter(|(_, dates)| dates.contains(&date))
        .map(|(arm, _)| arm.clone())
        .collect();
    let has_newer = |arm: &ArmRuns<'_>| arm.counted.iter().any(|row| run_date(row) >= Some(date));
    let older = group
        .arms
        .iter()
        .filter(|arm| !has_newer(arm) && !arm.counted.is_empty())
        .map(|arm| arm.arm.clone())
        .collect();
    let own_change = |arm: &ArmRuns<'_>| {
        let nights = run_dates(arm.counted.iter());
        of_group()
            .filter(|(changed, _)| **changed == arm.arm)
            .flat_map(|(_, dates)| dates)
            .filter(|date| is_within(date, &nights))
            .max()
    };
    let from = |arm: &ArmRuns<'a>| {
        if has_newer(arm) {
            Some(date)
        } else {
            own_change(arm)
        }
    };
    let since = Since {
        date,
        because: SinceBecause::ChangePoint,
        nights: 0,
        changed,
        older,
    };
    cut_group(group, since, |arm| {
        from(arm).map(|from| move |row: &RunRow| run_date(row) >= Some(from))
    })
}

/// Keeps each arm's newest batch.
fn newest_batches<'a>(warehouse: &Warehouse, group: &SuiteGroup<'a>) -> SuiteGroup<'a> {
    let keys = Nights::new(warehouse, group.arms.iter().flat_map(ArmRuns::all_runs));
    let newest = |arm: &ArmRuns<'a>| {
        arm.all_runs()
            .max_by_key(|row| (row.run.timestamp, &row.run.id))
            .map(|row| keys.key(&row.run))
    };
    let nights: BTreeSet<(Arm, NightKey<'_>)> = group
        .arms
        .iter()
        .filter_map(|arm| Some((arm.arm.clone(), newest(arm)?)))
        .collect();
    let of_newest: BTreeSet<&RunId> = group
        .arms
        .iter()
        .flat_map(ArmRuns::all_runs)
        .filter(|row| nights.contains(&(Arm::from_run(&row.run), keys.key(&row.run))))
        .map(|row| &row.run.id)
        .collect();
    let is_kept = |row: &RunRow| of_newest.contains(&row.run.id);
    let kept = group
        .arms
        .iter()
        .flat_map(|arm| &arm.counted)
        .filter(|row| is_kept(row));
    let Some(date) = run_dates(kept).first().copied() else {
        let of = cut_arms(group, |_| Some(&is_kept));
        return SuiteGroup {
            arms: of.0,
            earlier: of.1,
            ..group.clone()
        };
    };
    cut_group(
        group,
        Since {
            date,
            because: SinceBecause::NewestBatch,
            nights: 0,
            changed: Vec::new(),
            older: Vec::new(),
        },
        |_| Some(&is_kept),
    )
}

/// Keeps some runs of each arm, or all of it. `kept` returns an arm's filter.
fn cut_group<'a, F: Fn(&RunRow) -> bool>(
    group: &SuiteGroup<'a>,
    since: Since,
    kept: impl Fn(&ArmRuns<'a>) -> Option<F>,
) -> SuiteGroup<'a> {
    let (arms, earlier) = cut_arms(group, kept);
    let counted = run_dates(arms.iter().flat_map(|arm| &arm.counted));
    let nights = counted
        .into_iter()
        .filter(|night| *night >= since.date)
        .count() as u64;
    SuiteGroup {
        arms,
        earlier,
        since: Some(Since { nights, ..since }),
        ..group.clone()
    }
}

fn cut_arms<'a, F: Fn(&RunRow) -> bool>(
    group: &SuiteGroup<'a>,
    kept: impl Fn(&ArmRuns<'a>) -> Option<F>,
) -> (Vec<ArmRuns<'a>>, Vec<&'a RunRow>) {
    let mut left = Vec::new();
    let arms = group.arms.iter().map(|arm| {
        let Some(is_kept) = kept(arm) else {
            return arm.clone();
        };
        let mut split = |rows: &[&'a RunRow]| -> Vec<&'a RunRow> {
            let (own, earlier): (Vec<&'a RunRow>, Vec<&'a RunRow>) =
                rows.iter().copied().partition(|row| is_kept(row));
            left.extend(earlier);
            own
        };
        let (counted, excluded, crashed) = (
            split(&arm.counted),
            split(&arm.excluded),
            split(&arm.crashed),
        );
        let all = arm.all_runs().count();
        let earlier = arm.earlier + all - counted.len() - excluded.len() - crashed.len();
        let kept = ArmRuns {
            arm: arm.arm.clone(),
            counted,
            excluded,
            crashed,
            cached: Vec::new(),
            earlier,
        };
        // The kept runs may be those that crashed before anything was measured.
        if kept.crashed.is_empty() {
            kept.drop_unmeasured_runs()
        } else {
            kept
        }
    });
    (arms.collect(), left)
}
