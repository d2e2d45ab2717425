//! An entry for each trial of a source, by which trials are ordered.

use chrono::{DateTime, Utc};

use super::super::json::to_text;
use super::super::times::read_time;
use super::trial::{JobRunKey, Rewards};
use super::wire::HarborTrial;

/// Place of a trial.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum TrialPosition {
    /// Index among the source's files.
    File(usize),
    /// Index in the job's result.
    Inline(usize),
}

/// Properties of a trial that decide its place in its run.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct TrialEntry {
    pub run: JobRunKey,
    pub task: String,
    pub started: Option<DateTime<Utc>>,
    pub name: String,
    pub place: TrialPosition,
    pub is_rewarded: bool,
    pub is_error: bool,
}

impl TrialEntry {
    pub fn from_trial(trial: &HarborTrial, place: TrialPosition) -> Self {
        Self {
            run: JobRunKey::from_trial(trial),
            task: to_text(&trial.task_name).unwrap_or_default(),
            started: read_time(&trial.started_at),
            name: to_text(&trial.trial_name).unwrap_or_default(),
            place,
            is_rewarded: Rewards::from_trial(trial).is_some(),
            is_error: trial.exception_info.0.is_some(),
        }
    }
}
