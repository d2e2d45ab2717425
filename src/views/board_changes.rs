//! Changes of the leaderboards by day: new leaders, and levels that rose or fell.

use std::collections::{BTreeMap, BTreeSet};

use chrono::{DateTime, NaiveDate, Utc};
use rayon::prelude::*;
use sha2::{Digest, Sha256};

use crate::domain::{Filter, Redacted, to_hex};
use crate::inference::{
    Arm, ArmRuns, BatchSelection, History, LevelChange, Policy, SuiteComparison, SuiteGroup,
    since_change_in_history, suite_groups,
};
use crate::warehouse::{RedactedWarehouse, Warehouse};

use super::site::Overview;

/// One event of the feed.
#[derive(Clone, Debug, PartialEq)]
pub struct NewsEntry {
    /// An address in the form of a UUID, derived from the event, so that every build gives the same event the same id.
    pub id: String,
    pub suite: String,
    pub suite_version: Option<String>,
    /// When the newest run behind the event ended.
    pub time: DateTime<Utc>,
    pub event: NewsEvent,
}

#[derive(Clone, Debug, PartialEq)]
pub enum NewsEvent {
    /// The first day with at least two arms. An arm leads if it beats every other.
    Begins {
        arms: usize,
        leader: Option<Arm>,
    },
    Leads {
        before: Option<Arm>,
        now: Option<Arm>,
    },
    Level {
        arm: Arm,
        change: LevelChange,
    },
}

/// Maximum number of a suite's days that are read, newest first. The feed keeps an entry until newer ones push it out, not for a few days:
/// a leader may lead for months, and a late reader should see since when.
const MAX_NIGHTS: usize = 366;
/// Minimum number of days for a change point.
const MIN_NIGHTS: usize = 6;
/// Maximum number of entries in a feed.
const MAX_ENTRIES: usize = 50;

/// Lists the events, newest first. The overview has the histories of its suites.
pub fn list_news(
    warehouse: &RedactedWarehouse<'_>,
    filter: &Filter,
    policy: &Policy,
    overview: &Redacted<Overview>,
) -> Redacted<Vec<NewsEntry>> {
    warehouse.derive_redacted(|warehouse| newest_entries(warehouse, filter, policy, overview))
}

fn newest_entries(
    warehouse: &Warehouse,
    filter: &Filter,
    policy: &Policy,
    overview: &Overview,
) -> Vec<NewsEntry> {
    let histories: Vec<&History> = overview
        .suites
        .iter()
        .filter_map(|suite| suite.history.as_ref())
        .collect();
    let mut news = Vec::new();
    let mut nightly = BTreeSet::new();
    for group in suite_groups(warehouse, filter, BatchSelection::AllBatches) {
        let nights = newest_times_by_day(&group);
        if nights.len() >= MIN_NIGHTS {
            nightly.insert(group.suite.clone());
        }
        let history = histories
            .iter()
            .copied()
            .find(|history| history.suite == group.suite);
        add_leader_changes(warehouse, (&group, history), &nights, policy, &mut news);
    }
    if !nightly.is_empty() {
        let suites = Filter {
            suites: nightly.into_iter().collect(),
            ..filter.clone()
        };
        let times = newest_times_by_arm(warehouse, &suites);
        for history in histories
            .iter()
            .filter(|history| suites.suites.contains(&history.suite))
        {
            for arm in &history.arms {
                for change in arm.changes.iter().cloned() {
                    let place = (history.suite.clone(), arm.arm.clone(), change.date);
                    let Some(time) = times.get(&place).copied() else {
                        continue;
                    };
                    let key = format!(
                        "level\n{}\n{}\n{}\n{:?}",
                        arm.arm.approach, arm.arm.model, change.date, change.series
                    );
                    let event = NewsEvent::Level {
                        arm: arm.arm.clone(),
                        change,
                    };
                    news.push(NewsEntry {
                        id: event_id(&history.suite, None, &key),
                        suite: history.suite.clone(),
                        suite_version: None,
                        time,
                        event,
                    });
                }
            }
        }
    }
    news.sort_by(|left, right| {
        right
            .time
            .cmp(&left.time)
            .then_with(|| left.id.cmp(&right.id))
    });
    news.truncate(MAX_ENTRIES);
    news
}

/// Returns, by day, when its newest run ended.
fn newest_times_by_day(group: &SuiteGroup<'_>) -> BTreeMap<NaiveDate, DateTime<Utc>> {
    let mut nights = BTreeMap::new();
    for time in group
        .arms
        .iter()
        .flat_map(|arm| &arm.counted)
        .filter_map(|row| row.run.timestamp)
    {
        let newest = nights.entry(time.date_naive()).or_insert(time);
        *newest = time.max(*newest);
    }
    nights
}

/// Returns, by suite, arm and day, when the newest run ended.
fn newest_times_by_arm(
    warehouse: &Warehouse,
    filter: &Filter,
) -> BTreeMap<(String, Arm, NaiveDate), DateTime<Utc>> {
    let mut times = BTreeMap::new();
    for run in warehouse.select_runs(filter).map(|row| &row.run) {
        let Some(time) = run.timestamp else { continue };
        let newest = times
            .entry((run.suite.clone(), Arm::from_run(run), time.date_naive()))
            .or_insert(time);
        *newest = time.max(*newest);
    }
    times
}

fn add_leader_changes(
    warehouse: &Warehouse,
    (group, history): (&SuiteGroup<'_>, Option<&History>),
    nights: &BTreeMap<NaiveDate, DateTime<Utc>>,
    policy: &Policy,
    news: &mut Vec<NewsEntry>,
) {
    let skipped = nights.len().saturating_sub(MAX_NIGHTS);
    let looked_at: Vec<(NaiveDate, DateTime<Utc>)> = nights
        .iter()
        .skip(skipped)
        .map(|(date, time)| (*date, *time))
        .collect();
    // Each day is computed on its own. With a single arm nobody leads.
    let standing = |(date, time): &(NaiveDate, DateTime<Utc>)| {
        let arms: Vec<ArmRuns<'_>> = group
            .arms
            .iter()
            .map(|arm| arm_until(arm, *date))
            .filter(|arm| !arm.counted.is_empty())
            .collect();
        let then = SuiteGroup {
            arms,
            ..group.clone()
        };
        // A board counts since the newest change that is known by then: the feed says of each day what the board of that day said.
        let then = history.map_or_else(
            || then.clone(),
            |history| since_change_in_history(&then, history),
        );
        (then.arms.len() > 1).then(|| {
            (
                *date,
                *time,
                then.arms.len(),
                winning_arm(warehouse, &then, policy),
            )
        })
    };
    let standings: Vec<_> = looked_at.par_iter().map(standing).collect();
    // The state before the first day is known only if no earlier days were skipped.
    let (mut before, mut is_known): (Option<Option<Arm>>, bool) = (None, skipped == 0);
    for standing in standings {
        let Some((date, time, arms, now)) = standing else {
            is_known = true;
            continue;
        };
        let event = match &before {
            None if is_known => Some(NewsEvent::Begins {
                arms,
                leader: now.clone(),
            }),
            Some(before) if *before != now => Some(NewsEvent::Leads {
                before: before.clone(),
                now: now.clone(),
            }),
            None | Some(_) => None,
        };
        is_known = true;
        before = Some(now);
        if let Some(event) = event {
            let id = event_id(
                &group.suite,
                group.suite_version.as_deref(),
                &format!("leader\n{date}"),
            );
            news.push(NewsEntry {
                id,
                suite: group.suite.clone(),
                suite_version: group.suite_version.clone(),
                time,
                event,
            });
        }
    }
}

/// Returns the arm as of the end of a day. Runs without a time are always included.
fn arm_until<'a>(arm: &ArmRuns<'a>, date: NaiveDate) -> ArmRuns<'a> {
    let mut then = arm.clone();
    then.counted.retain(|row| {
        row.run
            .timestamp
            .is_none_or(|time| time.date_naive() <= date)
    });
    then.drop_unmeasured_runs()
}

/// Returns the arm that beats every other.
fn winning_arm(warehouse: &Warehouse, group: &SuiteGroup<'_>, policy: &Policy) -> Option<Arm> {
    let answer = SuiteComparison::primary_only(warehouse, group, policy);
    let winner = answer.primary_metric().evidence.winner;
    winner
        .filter(|winner| group.arms[*winner].can_win())
        .map(|winner| group.arms[winner].arm.clone())
}

/// Returns the permanent id of an event.
fn event_id(suite: &str, version: Option<&str>, key: &str) -> String {
    let text = format!(
        "evalreport\n{suite}\n{}\n{key}",
        version.unwrap_or_default()
    );
    let digest = to_hex(&Sha256::digest(text.as_bytes()));
    // Version 8 and variant 8: a UUID with custom bits.
    format!(
        "urn:uuid:{}-{}-8{}-8{}-{}",
        &digest[..8],
        &digest[8..12],
        &digest[13..16],
        &digest[17..20],
        &digest[20..32]
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_uuids_and_tell_events_apart() {
        let one = event_id("s", None, "leader\n2026-01-01");
        assert_eq!(one, event_id("s", None, "leader\n2026-01-01"));
        assert_ne!(one, event_id("s", Some("v"), "leader\n2026-01-01"));
        let uuid = uuid::Uuid::parse_str(one.strip_prefix("urn:uuid:").expect("a name of a UUID"))
            .expect("a UUID");
        assert_eq!(uuid.get_version_num(), 8);
    }
}
