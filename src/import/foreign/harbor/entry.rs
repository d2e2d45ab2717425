//! A trial in the list of a source.

use chrono::{DateTime, Utc};

use super::super::json::text;
use super::super::times::moment;
use super::trial::{Rewards, RunKey};
use super::wire::Trial;

/// Where a trial lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Place {
    /// By its number among the source's files.
    File(usize),
    /// By its number in the job's result.
    Inline(usize),
}

/// What a trial's place in its run depends on.
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
