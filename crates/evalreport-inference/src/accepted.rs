//! Accepted regressions of an arm.

use std::collections::BTreeMap;

use chrono::{DateTime, NaiveDate, Utc};
use schemars::JsonSchema;
use serde::Serialize;

use crate::domain::Acceptance;
use crate::warehouse::Warehouse;

use super::arm::Arm;

/// A regression that somebody accepted: the baseline begins anew with it.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct AcceptedRegression {
    /// The day (UTC) on which it began. Absent if the runs have no time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub since: Option<NaiveDate>,
    pub reason: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub who: Option<String>,
    pub time: DateTime<Utc>,
}

impl AcceptedRegression {
    pub fn from_acceptance(accepted: &Acceptance) -> Self {
        Self {
            since: accepted.since.map(|time| time.date_naive()),
            reason: accepted.reason.clone(),
            who: accepted.who.clone(),
            time: accepted.time,
        }
    }
}

/// Returns whether an acceptance is about an arm of a suite, of whatever version. Names may have got an alias since.
pub fn is_acceptance_of(
    accepted: &Acceptance,
    warehouse: &Warehouse,
    suite: &str,
    arm: &Arm,
) -> bool {
    let aliases = warehouse.aliases();
    let is_same = |name: &str, aliases: &BTreeMap<String, String>, shown: &str| {
        name == shown || aliases.get(name).is_some_and(|alias| alias == shown)
    };
    is_same(&accepted.suite, &aliases.suite, suite)
        && is_same(&accepted.approach, &aliases.approach, &arm.approach)
        && is_same(&accepted.model, &aliases.model, &arm.model)
}
