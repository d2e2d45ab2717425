//! Statuses of items and runs.

use std::fmt;

use serde::{Deserialize, Serialize};

/// How one attempt at one item ended.
///
/// `Pass`, `Fail`, `Error` and `Limit` are in the denominator; `Infra` and `NotEvaluated` count as missing and are shown;
/// `Skipped` is outside.
#[derive(
    Clone,
    Copy,
    Debug,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    Serialize,
    Deserialize,
    schemars::JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum ItemStatus {
    Pass,
    Fail,
    /// The agent crashed.
    Error,
    /// Time or budget ran out.
    Limit,
    /// A service outage, usage limit or harness fault: says nothing about the agent.
    Infra,
    Skipped,
    /// The judge failed, or the item was not run.
    NotEvaluated,
}

impl ItemStatus {
    pub const ALL: [Self; 7] = [
        Self::Pass,
        Self::Fail,
        Self::Error,
        Self::Limit,
        Self::Infra,
        Self::Skipped,
        Self::NotEvaluated,
    ];

    pub fn name(self) -> &'static str {
        match self {
            Self::Pass => "pass",
            Self::Fail => "fail",
            Self::Error => "error",
            Self::Limit => "limit",
            Self::Infra => "infra",
            Self::Skipped => "skipped",
            Self::NotEvaluated => "not_evaluated",
        }
    }

    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|status| status.name() == name)
    }

    /// Returns whether the outcome counts in the denominator of a pass rate.
    pub fn is_counted(self) -> bool {
        match self {
            Self::Pass | Self::Fail | Self::Error | Self::Limit => true,
            Self::Infra | Self::Skipped | Self::NotEvaluated => false,
        }
    }

    /// Returns the rank of a result among several results of the same test in one report. The highest wins.
    pub fn severity(self) -> u8 {
        match self {
            Self::Error => 3,
            Self::Fail => 2,
            Self::Skipped => 1,
            Self::Pass | Self::Limit | Self::Infra | Self::NotEvaluated => 0,
        }
    }

    /// Returns whether the outcome counts as missing: expected, but without information about the agent.
    pub fn is_missing(self) -> bool {
        match self {
            Self::Infra | Self::NotEvaluated => true,
            Self::Pass | Self::Fail | Self::Error | Self::Limit | Self::Skipped => false,
        }
    }
}

impl fmt::Display for ItemStatus {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(self.name())
    }
}

/// How a run ended.
#[derive(
    Clone,
    Copy,
    Debug,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    Serialize,
    Deserialize,
    schemars::JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum RunStatus {
    Completed,
    Failed,
    Limit,
    Infra,
    Cancelled,
    /// Only some items were tried, chosen to decide between two arms. They say nothing about the rate of the suite.
    Partial,
}

impl RunStatus {
    pub const ALL: [Self; 6] = [
        Self::Completed,
        Self::Failed,
        Self::Limit,
        Self::Infra,
        Self::Cancelled,
        Self::Partial,
    ];

    pub fn name(self) -> &'static str {
        match self {
            Self::Completed => "completed",
            Self::Failed => "failed",
            Self::Limit => "limit",
            Self::Infra => "infra",
            Self::Cancelled => "cancelled",
            Self::Partial => "partial",
        }
    }

    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|status| status.name() == name)
    }

    /// Returns whether the run's figures count for its arm. Outages, cancelled runs and chosen items say nothing about an approach. They are
    /// excluded, and their number is shown.
    pub fn is_counted(self) -> bool {
        match self {
            Self::Completed | Self::Failed | Self::Limit => true,
            Self::Infra | Self::Cancelled | Self::Partial => false,
        }
    }
}

impl fmt::Display for RunStatus {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(self.name())
    }
}
