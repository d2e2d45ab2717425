//! Kinds of items that pass or fail.

use std::fmt;

use serde::{Deserialize, Serialize};

/// What kind of thing passes or fails. Questions and tasks (one prompt and one workspace each) were attempted independently of each other.
/// Tests, criteria and checks look at one artefact.
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
pub enum ItemKind {
    Question,
    Task,
    Test,
    Criterion,
    Check,
}

impl ItemKind {
    pub const ALL: [Self; 5] = [
        Self::Question,
        Self::Task,
        Self::Test,
        Self::Criterion,
        Self::Check,
    ];

    pub fn name(self) -> &'static str {
        match self {
            Self::Question => "question",
            Self::Task => "task",
            Self::Test => "test",
            Self::Criterion => "criterion",
            Self::Check => "check",
        }
    }

    /// Returns the plural noun.
    pub fn plural(self) -> &'static str {
        match self {
            Self::Question => "questions",
            Self::Task => "tasks",
            Self::Test => "tests",
            Self::Criterion => "criteria",
            Self::Check => "checks",
        }
    }

    /// Returns whether items of this kind are independent attempts, so that the item is the sampling unit.
    pub fn is_sample(self) -> bool {
        match self {
            Self::Question | Self::Task => true,
            Self::Test | Self::Criterion | Self::Check => false,
        }
    }

    /// Returns whether a run's counts include items of this kind.
    pub fn is_counted(self) -> bool {
        match self {
            Self::Question | Self::Task | Self::Test => true,
            Self::Criterion | Self::Check => false,
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
