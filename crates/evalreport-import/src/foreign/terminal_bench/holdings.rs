//! Counts how many of a run's trials are present.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use serde_json::Value;

use crate::domain::Problem;

use super::super::super::cell::Refused;
use super::super::json::{to_count, to_number, to_text};
use super::super::sink::ImportSink;
use super::super::source::ForeignFile;
use super::trial_name::{parse_attempt_count, parse_trial_name};
use super::wire::{RunMetadataFile, RunResultsFile, TrialRecord};

/// Findings of a first look at the trials, which lie in folders of their own, in the run's results or in both.
#[derive(Default)]
pub(super) struct FoundTrials<'f> {
    /// Names of all present trials.
    pub there: BTreeSet<String>,
    pub inline: BTreeSet<String>,
    pub resolved: u64,
    /// Number of attempts by task, as the trials' names state it.
    pub attempts: BTreeMap<String, u64>,
    pub damaged: Vec<(&'f ForeignFile, Vec<Problem>)>,
}

impl FoundTrials<'_> {
    /// Returns the run's id of a trial's file, as its folders name it.
    pub fn run_id_of(file: &ForeignFile) -> String {
        let mut folders = file
            .path
            .ancestors()
            .skip(1)
            .filter_map(|folder| folder.file_name()?.to_str());
        let named = folders
            .next()
            .zip(folders.next())
            .and_then(|(trial, task)| parse_trial_name(trial, task));
        named.map(|(_, run)| run).unwrap_or_default()
    }

    /// Adds what was found of the same run elsewhere.
    pub fn merge_found(&mut self, other: Self) {
        self.there.extend(other.there);
        self.inline.extend(other.inline);
        self.resolved += other.resolved;
        for (task, of) in other.attempts {
            let most = self.attempts.entry(task).or_default();
            *most = of.max(*most);
        }
        self.damaged.extend(other.damaged);
    }

    pub fn count_trial(&mut self, trial: &TrialRecord) {
        let name = trial.key();
        if let Some(task) = to_text(&trial.task_id)
            && let Some(of) = parse_attempt_count(&name, &task)
        {
            let most = self.attempts.entry(task).or_default();
            *most = of.max(*most);
        }
        if self.there.insert(name) {
            self.resolved += u64::from(trial.is_resolved == Value::Bool(true));
        }
    }

    /// Refuses unreadable files by name and returns their number. Trials that the run's results contain too are not lost and not refused.
    pub fn refuse_damaged(&self, sink: &mut ImportSink<'_>) -> u64 {
        let mut refused = 0;
        for (file, problems) in &self.damaged {
            let folder = file
                .path
                .parent()
                .and_then(Path::file_name)
                .map(|name| name.to_string_lossy());
            if folder.is_some_and(|name| self.inline.contains(name.as_ref())) {
                sink.note_quirk("trials with damaged results are read from the run's results");
                continue;
            }
            let why = problems
                .first()
                .map(|problem| problem.message.clone())
                .unwrap_or_default();
            sink.refuse_part(
                &file.name,
                Refused::with_detail("the results cannot be read", why),
            );
            refused += 1;
        }
        refused
    }
}

/// How many of a run's trials are present.
#[derive(Clone, Copy)]
pub(super) struct TrialCoverage {
    /// Present trials and all trials, if some are missing: the published figures then count. The second is `None` if the run does not count
    /// its trials.
    pub part: Option<(u64, Option<u64>)>,
    /// Number of unreadable results.
    pub damaged: u64,
}

impl TrialCoverage {
    pub fn new(
        metadata: Option<&RunMetadataFile>,
        stated: &RunResultsFile,
        found: &FoundTrials<'_>,
        damaged: u64,
    ) -> Self {
        let there = found.there.len() as u64;
        let counted = to_count(&stated.n_resolved)
            .zip(to_count(&stated.n_unresolved))
            .and_then(|(yes, no)| yes.checked_add(no));
        let accuracy = to_number(&stated.accuracy).or_else(|| to_number(&metadata?.accuracy));
        if let Some(total) = counted {
            let is_part = accuracy.is_some() && total > there + damaged;
            return Self {
                part: is_part.then_some((there, Some(total))),
                damaged,
            };
        }
        let planned = metadata.and_then(|metadata| {
            to_text(&metadata.end_time)?;
            to_count(&metadata.dataset_size)?.checked_mul(to_count(&metadata.n_attempts)?)
        });
        // Crashed trials leave no file and are in no figure. So missing trials make a part only if the accuracy is not that of the present
        // ones.
        let is_theirs =
            |accuracy: f64| (accuracy - found.resolved as f64 / there as f64).abs() < 1e-6;
        let is_part = planned.unwrap_or(0).max(found.attempts.values().sum()) > there + damaged;
        Self {
            part: (is_part && accuracy.is_some_and(|accuracy| !is_theirs(accuracy)))
                .then_some((there, None)),
            damaged,
        }
    }
}
