//! Fields of `tb`'s files that are read. Every field is optional, and any value may have an unexpected type.

use serde::Deserialize;
use serde_json::Value;

use super::super::json::to_text;
use super::trial_name::parse_trial_name;

#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct RunMetadataFile {
    pub run_id: Value,
    pub uuid: Value,
    pub dataset_name: Value,
    pub dataset_version: Value,
    pub agent_name: Value,
    pub model_name: Value,
    pub agent_kwargs: Value,
    pub start_time: Value,
    pub end_time: Value,
    pub dataset_size: Value,
    pub n_attempts: Value,
    pub accuracy: Value,
    pub pass_at_k: Value,
    pub commit_hash: Value,
}

#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct TrialRecord {
    pub id: Value,
    /// Earlier name of `id`.
    pub uuid: Value,
    pub trial_name: Value,
    pub task_id: Value,
    pub instruction: Value,
    pub is_resolved: Value,
    pub failure_mode: Value,
    pub parser_results: Value,
    pub total_input_tokens: Value,
    pub total_output_tokens: Value,
    pub trial_started_at: Value,
    pub trial_ended_at: Value,
    pub agent_started_at: Value,
    pub agent_ended_at: Value,
}

/// Keys of a run's results that are read. Its trials are streamed.
pub(super) const RESULTS_KEYS: [&str; 4] = ["accuracy", "n_resolved", "n_unresolved", "pass_at_k"];

#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct RunResultsFile {
    pub accuracy: Value,
    pub n_resolved: Value,
    pub n_unresolved: Value,
    pub pass_at_k: Value,
}

impl TrialRecord {
    /// Returns the id of the trial's run, which its name ends with. Empty if the name is not numbered.
    pub fn run_id(&self) -> String {
        let named = to_text(&self.trial_name)
            .zip(to_text(&self.task_id))
            .and_then(|(name, task)| parse_trial_name(&name, &task));
        named.map(|(_, run)| run).unwrap_or_default()
    }

    /// Returns the trial's key: its name, which is numbered, else its id, which is random.
    pub fn key(&self) -> String {
        to_text(&self.trial_name)
            .or_else(|| to_text(&self.id))
            .or_else(|| to_text(&self.uuid))
            .unwrap_or_default()
    }
}
