//! What is to be confirmed.

use serde::{Deserialize, Serialize};

use crate::domain::Profile;

/// A goal, and what is known of the way to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Task {
    pub goal: String,
    pub profile: Profile,
    /// The files that the goal is about, as declared.
    pub files: Vec<String>,
    /// The files that were changed, added or removed since the baseline.
    pub changed: Vec<String>,
}

/// What sort of goal it is, by the whole words in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TaskKind {
    Tiny,
    AddTest,
    FixBuild,
    Docs,
    Refactor,
    CreateApp,
    Frontend,
    FixError,
    General,
}

impl TaskKind {
    pub const ALL: [Self; 9] = [
        Self::Tiny,
        Self::AddTest,
        Self::FixBuild,
        Self::Docs,
        Self::Refactor,
        Self::CreateApp,
        Self::Frontend,
        Self::FixError,
        Self::General,
    ];

    pub fn name(self) -> &'static str {
        match self {
            Self::Tiny => "tiny",
            Self::AddTest => "add_test",
            Self::FixBuild => "fix_build",
            Self::Docs => "docs",
            Self::Refactor => "refactor",
            Self::CreateApp => "create_app",
            Self::Frontend => "frontend",
            Self::FixError => "fix_error",
            Self::General => "general",
        }
    }

    /// Returns the kind of a goal.
    pub fn of(_goal: &str) -> Self {
        Self::General
    }
}
