//! Runs that do not count.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::domain::Run;

/// A run that does not count.
#[derive(Clone, Debug, PartialEq)]
pub struct HiddenRun {
    pub run: Arc<Run>,
    pub reason: String,
    pub by: HiddenBy,
}

/// What hides a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum HiddenBy {
    /// A tombstone that names it.
    Tombstone,
    /// A tombstone of a suite, an arm or another selection.
    Selection,
    /// A run that counts and replaces it: its source was imported again.
    Replacement,
}

impl HiddenBy {
    const ALL: [Self; 3] = [Self::Tombstone, Self::Selection, Self::Replacement];

    /// Returns the name in tables.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Tombstone => "tombstone",
            Self::Selection => "selection",
            Self::Replacement => "replacement",
        }
    }

    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|by| by.name() == name)
    }
}
