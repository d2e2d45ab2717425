//! An accepted regression: somebody decided that the new level is the level from now on.

use chrono::{DateTime, Utc};

/// Nights of one arm on which a regression is no regression any more. Gates with a moving baseline begin it anew with the first of them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Acceptance {
    pub suite: String,
    pub suite_version: Option<String>,
    pub approach: String,
    pub model: String,
    /// The batches of these nights, oldest first: those of the regression when it was accepted.
    pub batches: Vec<String>,
    /// The times of the first and of the last run of these nights. `None` if the runs have no time.
    pub since: Option<DateTime<Utc>>,
    pub through: Option<DateTime<Utc>>,
    pub reason: String,
    /// Who accepted it, if that is known.
    pub who: Option<String>,
    pub time: DateTime<Utc>,
}
