//! What Harbor writes, as far as it is read. Nothing has to be there, and no value has to be of the type it should be.

use serde::Deserialize;
use serde_json::Value;

use super::super::json::Lenient;

/// The keys of a job's result that are read; its trials pass by.
pub(super) const JOB: [&str; 5] = ["id", "started_at", "finished_at", "n_total_trials", "stats"];

#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct Job {
    pub id: Value,
    pub finished_at: Value,
    pub n_total_trials: Value,
    pub stats: Lenient<Stats>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct Stats {
    #[serde(alias = "n_trials")]
    pub n_completed_trials: Value,
    /// By agent, model and dataset, joined by `__`, which each of them may hold too.
    pub evals: Value,
}

/// The figures of one agent with one model at one dataset.
#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct Figures {
    pub n_trials: Value,
    pub n_errors: Value,
    pub metrics: Value,
    pub pass_at_k: Value,
    pub reward_stats: Value,
    pub exception_stats: Value,
}

#[derive(Default, Deserialize)]
#[serde(default)]
#[expect(clippy::struct_field_names, reason = "the names that Harbor writes")]
pub(super) struct Trial {
    pub id: Value,
    pub task_name: Value,
    pub trial_name: Value,
    /// The dataset.
    pub source: Value,
    pub task_id: Value,
    pub task_checksum: Value,
    pub config: Lenient<Config>,
    pub agent_info: Lenient<AgentInfo>,
    pub agent_result: Lenient<AgentResult>,
    pub verifier_result: Lenient<VerifierResult>,
    pub exception_info: Lenient<Exception>,
    pub agent_execution: Lenient<Phase>,
    pub started_at: Value,
    pub finished_at: Value,
    /// Of trials of several steps, instead of the agent's result.
    pub step_results: Value,
}

#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct Config {
    pub job_id: Value,
    pub agent: Lenient<ConfiguredAgent>,
    pub timeout_multiplier: Value,
    pub agent_timeout_multiplier: Value,
}

#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct ConfiguredAgent {
    pub name: Value,
    pub import_path: Value,
    pub model_name: Value,
    pub override_timeout_sec: Value,
    pub max_timeout_sec: Value,
}

#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct AgentInfo {
    pub name: Value,
    pub version: Value,
    pub model_info: Lenient<ModelInfo>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct ModelInfo {
    pub name: Value,
    pub provider: Value,
}

/// Input tokens have the cache in them.
#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct AgentResult {
    #[serde(alias = "total_prompt_tokens")]
    pub n_input_tokens: Value,
    #[serde(alias = "total_cached_tokens")]
    pub n_cache_tokens: Value,
    #[serde(alias = "total_completion_tokens")]
    pub n_output_tokens: Value,
    #[serde(alias = "total_cost_usd")]
    pub cost_usd: Value,
}

#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct VerifierResult {
    pub rewards: Value,
}

#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct Exception {
    pub exception_type: Value,
    pub exception_message: Value,
}

#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct Phase {
    pub started_at: Value,
    pub finished_at: Value,
}

#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct Step {
    pub agent_result: Lenient<AgentResult>,
}

/// The keys of a trajectory that are read; its steps pass by.
pub(super) const TRAJECTORY: [&str; 1] = ["final_metrics"];

#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct Trajectory {
    /// The names differ from those of a trial's result, see the aliases there.
    pub final_metrics: Lenient<AgentResult>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct TrajectoryStep {
    pub source: Value,
    pub message: Value,
    pub tool_calls: Value,
}

/// The verifier's tests: CTRF but for the names and units of some fields, none of which are read.
#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct Tests {
    pub results: Lenient<TestResults>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct TestResults {
    pub tests: Value,
}
