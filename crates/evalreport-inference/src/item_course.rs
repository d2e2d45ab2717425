//! The course of an item over the nights of an arm: broken since a day, repaired since a day, or flaky.

use std::collections::BTreeMap;

use chrono::{DateTime, NaiveDate, Utc};
use schemars::JsonSchema;
use serde::Serialize;

use crate::domain::ItemKey;
use crate::stats::{CourseKind, NightOutcomes, item_course};
use crate::warehouse::{RunRow, Warehouse};

use super::arm::SuiteGroup;
use super::night_key::{NightKey, Nights};
use super::sample::{ArmOutcomes, SuiteItems};

/// The course of an item: its newest stretch of equal outcomes, and all outcomes before.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct ItemCourse {
    pub kind: CourseKind,
    /// The day of the first run of the newest stretch, in UTC. Absent if the runs have no time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub since: Option<NaiveDate>,
    /// The first commit of the newest stretch, in a history by commit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub since_commit: Option<String>,
    /// Attempts passed and counted since then; then all before.
    pub passed_since: u64,
    pub attempts_since: u64,
    pub passed_before: u64,
    pub attempts_before: u64,
    /// The chance that a flaky item with these outcomes has so long a newest stretch, or so few changes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub p: Option<f64>,
}

/// When outcomes came about: the day, and the commit in a history by commit.
#[derive(Clone, Debug)]
pub struct CoursePoint {
    pub date: Option<NaiveDate>,
    pub commit: Option<String>,
}

impl ItemCourse {
    /// Returns the course of an item from its outcomes in each night, oldest first. `None` without outcomes.
    pub fn from_nights(nights: &[(CoursePoint, NightOutcomes)]) -> Option<Self> {
        let outcomes: Vec<NightOutcomes> = nights.iter().map(|(_, outcomes)| *outcomes).collect();
        let found = item_course(&outcomes).ok()?;
        Some(Self {
            kind: found.kind,
            since: nights[found.since].0.date,
            since_commit: nights[found.since].0.commit.clone(),
            passed_since: found.after.0,
            attempts_since: found.after.1,
            passed_before: found.before.0,
            attempts_before: found.before.1,
            p: found.p,
        })
    }
}

/// Runs that were started together on one day, and that day. Their order is no evidence.
pub type StartedTogether<'a> = (Option<NaiveDate>, Vec<&'a RunRow>);

/// Groups an arm's runs by day and night, oldest first. Runs without a time have no order, so they are one group, the first.
pub fn started_together<'a>(rows: &[&'a RunRow], nights: &Nights<'a>) -> Vec<StartedTogether<'a>> {
    type Key<'a> = Option<(NaiveDate, NightKey<'a>)>;
    let mut groups = BTreeMap::<Key<'a>, (Option<DateTime<Utc>>, Vec<&'a RunRow>)>::new();
    for row in rows {
        let time = row.run.timestamp;
        let (first, group) = groups
            .entry(time.map(|time| (time.date_naive(), nights.key(&row.run))))
            .or_default();
        *first = first.map_or(time, |first| time.map(|time| time.min(first)));
        group.push(row);
    }
    let mut groups: Vec<_> = groups.into_iter().collect();
    groups.sort_by_key(|(key, (first, _))| (*first, *key));
    groups
        .into_iter()
        .map(|(key, (_, rows))| (key.map(|(date, _)| date), rows))
        .collect()
}

/// The outcomes of an arm's items over its known nights, oldest first.
pub struct ArmItemCourses {
    nights: Vec<(Option<NaiveDate>, ArmOutcomes)>,
    /// The columns of each item in the outcomes.
    columns: BTreeMap<ItemKey, Vec<u32>>,
}

impl ArmItemCourses {
    /// Reads the outcomes of a group's only arm. Its runs are of the given nights, in that order.
    pub fn from_nights(
        warehouse: &Warehouse,
        group: &SuiteGroup<'_>,
        nights: &[StartedTogether<'_>],
    ) -> Self {
        let matrix = group.outcome_matrix(warehouse);
        let items = SuiteItems::from_group(group, &matrix);
        let mut columns = BTreeMap::new();
        items.for_each_item(|_, own| {
            columns.insert(matrix.items[own[0] as usize].key.clone(), own.to_vec());
        });
        let outcomes = |(date, rows): &StartedTogether<'_>| {
            Some((*date, ArmOutcomes::from_runs(rows, &matrix, &items)?))
        };
        Self {
            nights: nights.iter().filter_map(outcomes).collect(),
            columns,
        }
    }

    /// Returns the course of an item. `None` if it has no outcome.
    pub fn item_course(&self, item: &ItemKey) -> Option<ItemCourse> {
        let columns = self.columns.get(item)?;
        let cell = |(date, outcomes): &(Option<NaiveDate>, ArmOutcomes)| {
            let (passed, counted) = outcomes.attempts_of_item(columns);
            (
                CoursePoint {
                    date: *date,
                    commit: None,
                },
                (u64::from(passed), u64::from(counted)),
            )
        };
        ItemCourse::from_nights(&self.nights.iter().map(cell).collect::<Vec<_>>())
    }
}
