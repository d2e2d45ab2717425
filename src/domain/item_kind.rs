//! What kind of thing passes or fails.

use std::fmt;

use serde::{Deserialize, Serialize};

/// What kind of thing passes or fails. Questions and tasks (one prompt and one workspace each) were attempted independently of each other.
/// Tests, criteria and checks look at one artefact.
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

    /// Says whether items of the kind are attempted independently of each other, so that the items are what varies.
    pub fn is_sample(self) -> bool {
        match self {
            Self::Question | Self::Task => true,
            Self::Test | Self::Criterion | Self::Check => false,
        }
    }

    /// Says whether the counts of a run are about items of the kind, and not about what else was looked at.
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
