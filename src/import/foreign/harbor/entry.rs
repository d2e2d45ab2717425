//! An entry for each trial of a source, by which trials are ordered.

use chrono::{DateTime, Utc};

use super::super::json::text;
use super::super::times::moment;
use super::trial::{Rewards, RunKey};
use super::wire::Trial;

/// Place of a trial.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Place {
    /// Index among the source's files.
    File(usize),
    /// Index in the job's result.
    Inline(usize),
}

/// Properties of a trial that decide its place in its run.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Entry {
    pub run: RunKey,
    pub task: String,
    pub started: Option<DateTime<Utc>>,
    pub name: String,
    pub place: Place,
    pub is_rewarded: bool,
    pub is_error: bool,
}

impl Entry {
    pub fn of(trial: &Trial, place: Place) -> Self {
        Self {
            run: RunKey::of(trial),
            task: text(&trial.task_name).unwrap_or_default(),
            started: moment(&trial.started_at),
            name: text(&trial.trial_name).unwrap_or_default(),
            place,
            is_rewarded: Rewards::of(trial).is_some(),
            is_error: trial.exception_info.0.is_some(),
        }
    }
}
