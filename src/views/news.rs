//! Changes of the leaderboards by day: new leaders, and levels that rose or fell.

use std::collections::{BTreeMap, BTreeSet};

use chrono::{DateTime, NaiveDate, Utc};
use rayon::prelude::*;
use sha2::{Digest, Sha256};

use crate::domain::{Filter, Published, hex};
use crate::inference::{
    Arm, ArmRuns, Grouping, History, LevelChange, Policy, SuiteAnswer, SuiteGroup,
    since_changes_of, suite_groups,
};
use crate::warehouse::{LookedThrough, Warehouse};

use super::site::Overview;

/// One event of the feed.
#[derive(Clone, Debug, PartialEq)]
pub struct News {
    /// An address in the form of a UUID, derived from the event, so that every build gives the same event the same id.
    pub id: String,
    pub suite: String,
    pub suite_version: Option<String>,
    /// When the newest run behind the event ended.
    pub time: DateTime<Utc>,
    pub event: Event,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Event {
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
const NIGHTS: usize = 366;
/// Minimum number of days for a change point.
const MIN_NIGHTS: usize = 6;
/// Maximum number of entries in a feed.
const MOST: usize = 50;

/// Lists the events, newest first. The overview has the histories of its suites.
pub fn news(
    warehouse: &LookedThrough<'_>,
    filter: &Filter,
    policy: &Policy,
    overview: &Published<Overview>,
) -> Published<Vec<News>> {
    warehouse.make(|warehouse| newest(warehouse, filter, policy, overview))
}

fn newest(
    warehouse: &Warehouse,
    filter: &Filter,
    policy: &Policy,
    overview: &Overview,
) -> Vec<News> {
    let histories: Vec<&History> = overview
        .suites
        .iter()
        .filter_map(|suite| suite.history.as_ref())
        .collect();
    let mut news = Vec::new();
    let mut nightly = BTreeSet::new();
    for group in suite_groups(warehouse, filter, Grouping::AllBatches) {
        let nights = nights(&group);
        if nights.len() >= MIN_NIGHTS {
            nightly.insert(group.suite.clone());
        }
        let history = histories
            .iter()
            .copied()
            .find(|history| history.suite == group.suite);
        leaders(warehouse, (&group, history), &nights, policy, &mut news);
    }
    if !nightly.is_empty() {
        let suites = Filter {
            suites: nightly.into_iter().collect(),
            ..filter.clone()
        };
        let times = times(warehouse, &suites);
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
                    let event = Event::Level {
                        arm: arm.arm.clone(),
                        change,
                    };
                    news.push(News {
                        id: id(&history.suite, None, &key),
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
    news.truncate(MOST);
    news
}

/// Returns, by day, when its newest run ended.
fn nights(group: &SuiteGroup<'_>) -> BTreeMap<NaiveDate, DateTime<Utc>> {
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
fn times(
    warehouse: &Warehouse,
    filter: &Filter,
) -> BTreeMap<(String, Arm, NaiveDate), DateTime<Utc>> {
    let mut times = BTreeMap::new();
    for run in warehouse.select(filter).map(|row| &row.run) {
        let Some(time) = run.timestamp else { continue };
        let newest = times
            .entry((run.suite.clone(), Arm::of(run), time.date_naive()))
            .or_insert(time);
        *newest = time.max(*newest);
    }
    times
}

fn leaders(
    warehouse: &Warehouse,
    (group, history): (&SuiteGroup<'_>, Option<&History>),
    nights: &BTreeMap<NaiveDate, DateTime<Utc>>,
    policy: &Policy,
    news: &mut Vec<News>,
) {
    let skipped = nights.len().saturating_sub(NIGHTS);
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
            .map(|arm| until(arm, *date))
            .filter(|arm| !arm.counted.is_empty())
            .collect();
        let then = SuiteGroup {
            arms,
            ..group.clone()
        };
        // A board counts since the newest change that is known by then: the feed says of each day what the board of that day said.
        let then = history.map_or_else(|| then.clone(), |history| since_changes_of(&then, history));
        (then.arms.len() > 1).then(|| {
            (
                *date,
                *time,
                then.arms.len(),
                leader(warehouse, &then, policy),
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
            None if is_known => Some(Event::Begins {
                arms,
                leader: now.clone(),
            }),
            Some(before) if *before != now => Some(Event::Leads {
                before: before.clone(),
                now: now.clone(),
            }),
            None | Some(_) => None,
        };
        is_known = true;
        before = Some(now);
        if let Some(event) = event {
            let id = id(
                &group.suite,
                group.suite_version.as_deref(),
                &format!("leader\n{date}"),
            );
            news.push(News {
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
fn until<'a>(arm: &ArmRuns<'a>, date: NaiveDate) -> ArmRuns<'a> {
    let mut then = arm.clone();
    then.counted.retain(|row| {
        row.run
            .timestamp
            .is_none_or(|time| time.date_naive() <= date)
    });
    then.measured()
}

/// Returns the arm that beats every other.
fn leader(warehouse: &Warehouse, group: &SuiteGroup<'_>, policy: &Policy) -> Option<Arm> {
    let answer = SuiteAnswer::of_primary(warehouse, group, policy);
    let winner = answer.primary().evidence.winner;
    winner
        .filter(|winner| group.arms[*winner].can_win())
        .map(|winner| group.arms[winner].arm.clone())
}

/// Returns the permanent id of an event.
fn id(suite: &str, version: Option<&str>, key: &str) -> String {
    let text = format!(
        "evalreport\n{suite}\n{}\n{key}",
        version.unwrap_or_default()
    );
    let digest = hex(&Sha256::digest(text.as_bytes()));
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
        let one = id("s", None, "leader\n2026-01-01");
        assert_eq!(one, id("s", None, "leader\n2026-01-01"));
        assert_ne!(one, id("s", Some("v"), "leader\n2026-01-01"));
        let uuid = uuid::Uuid::parse_str(one.strip_prefix("urn:uuid:").expect("a name of a UUID"))
            .expect("a UUID");
        assert_eq!(uuid.get_version_num(), 8);
    }
}
