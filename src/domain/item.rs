//! One outcome of one item.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::{ItemStatus, RunId};

/// What kind of thing passes or fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ItemKind {
    Question,
    Task,
    Test,
    Criterion,
    Check,
}

impl ItemKind {
    pub const ALL: [Self; 5] = [Self::Question, Self::Task, Self::Test, Self::Criterion, Self::Check];

    pub fn name(self) -> &'static str {
        match self {
            Self::Question => "question",
            Self::Task => "task",
            Self::Test => "test",
            Self::Criterion => "criterion",
            Self::Check => "check",
        }
    }

    /// Returns the word for several of them.
    pub fn plural(self) -> &'static str {
        match self {
            Self::Question => "questions",
            Self::Task => "tasks",
            Self::Test => "tests",
            Self::Criterion => "criteria",
            Self::Check => "checks",
        }
    }

    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }
}

impl fmt::Display for ItemKind {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(self.name())
    }
}

/// What tells one item of a suite from another: its kind, who evaluates it, and its id.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct ItemKey {
    pub kind: ItemKind,
    pub evaluator: String,
    pub item: String,
}

/// The outcome of one attempt at one item in one run: one line of `items.jsonl`.
#[derive(Clone, Debug, PartialEq)]
pub struct ItemOutcome {
    pub run: RunId,
    pub kind: ItemKind,
    pub item: String,
    /// Items with the same cluster are not independent of each other (a passage, a repository, a template).
    pub cluster: Option<String>,
    /// Counts from 1.
    pub attempt: u32,
    pub status: ItemStatus,
    /// The source's own score for the attempt, in the source's unit.
    pub score: Option<f64>,
    /// Who decided: `answers`, `shared_tests`, `own_tests`, `requirementFulfillment`, or the importer's word.
    pub evaluator: String,
    /// 0 for the first evaluation; re-judging appends higher ones.
    pub revision: u32,
    pub duration_seconds: Option<f64>,
    pub cost_usd: Option<f64>,
    pub input_tokens: Option<u64>,
    pub output_tokens: Option<u64>,
}

impl ItemOutcome {
    pub fn key(&self) -> ItemKey {
        ItemKey { kind: self.kind, evaluator: self.evaluator.clone(), item: self.item.clone() }
    }
}
