//! Runs without a header.

use chrono::{DateTime, Utc};
use serde::Serialize;

use super::{Filter, Run, RunId};

/// A run without a header: what it is, and how far it came.
#[derive(Clone, Debug, PartialEq, Serialize, schemars::JsonSchema)]
pub struct UnfinishedRun {
    #[schemars(with = "String")]
    pub id: RunId,
    pub state: UnfinishedState,
    /// Absent, with approach and model, if the store does not say.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub suite: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub approach: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub batch: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub begun: Option<DateTime<Utc>>,
    /// Number of recorded outcomes, by whatever evaluator.
    pub outcomes: u64,
    /// Number of those that passed.
    pub passed: u64,
    /// Number of those that count in a pass rate.
    pub counted: u64,
    /// The command that resumes the run, if it is abandoned and can be resumed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resume: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum UnfinishedState {
    /// A process is writing it.
    InProgress,
    /// No process is writing it.
    Abandoned,
}

impl UnfinishedState {
    pub fn name(self) -> &'static str {
        match self {
            Self::InProgress => "in progress",
            Self::Abandoned => "abandoned",
        }
    }
}

impl UnfinishedRun {
    /// Returns whether the run is selected. A run of unknown arm is selected only by its id or without any filter.
    pub fn is_selected(&self, filter: &Filter) -> bool {
        let name = |name: &Option<String>| name.clone().unwrap_or_default();
        let run = Run {
            batch_id: self.batch.clone(),
            timestamp: self.begun,
            ..Run::new(
                self.id.clone(),
                name(&self.suite),
                name(&self.approach),
                name(&self.model),
            )
        };
        filter.matches(&run)
    }
}
