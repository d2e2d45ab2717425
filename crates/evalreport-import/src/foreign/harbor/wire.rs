//! Fields of Harbor's files that are read. Every field is optional, and any value may have an unexpected type.

use serde::Deserialize;
use serde_json::Value;

use super::super::json::Lenient;

/// Keys of a job's result that are read. Its trials are streamed.
pub(super) const JOB_KEYS: [&str; 5] =
    ["id", "started_at", "finished_at", "n_total_trials", "stats"];

#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct HarborJob {
    pub id: Value,
    pub finished_at: Value,
    pub n_total_trials: Value,
    pub stats: Lenient<JobStats>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct JobStats {
    #[serde(alias = "n_trials")]
    pub n_completed_trials: Value,
    /// By agent, model and dataset, joined by `__`, which each of them may contain too.
    pub evals: Value,
}

/// Figures of one agent with one model on one dataset.
#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct JobFigures {
    pub n_trials: Value,
    pub n_errors: Value,
    pub metrics: Value,
    pub pass_at_k: Value,
    pub reward_stats: Value,
    pub exception_stats: Value,
}

#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct HarborTrial {
    pub id: Value,
    pub task_name: Value,
    pub trial_name: Value,
    /// The dataset.
    pub source: Value,
    pub task_id: Value,
    pub task_checksum: Value,
    pub config: Lenient<TrialConfig>,
    pub agent_info: Lenient<AgentInfo>,
    pub agent_result: Lenient<AgentResult>,
    pub verifier_result: Lenient<VerifierResult>,
    pub exception_info: Lenient<TrialException>,
    pub agent_execution: Lenient<TrialPhase>,
    pub started_at: Value,
    pub finished_at: Value,
    /// Replaces the agent's result in trials of several steps.
    pub step_results: Value,
}

#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct TrialConfig {
    pub job_id: Value,
    pub agent: Lenient<ConfiguredAgent>,
    pub environment: Lenient<TrialEnvironment>,
    pub timeout_multiplier: Value,
    pub agent_timeout_multiplier: Value,
}

/// What the tasks ran in. Overrides replace what each task asks for.
#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct TrialEnvironment {
    #[serde(rename = "type")]
    pub kind: Value,
    pub override_cpus: Value,
    pub override_memory_mb: Value,
}

#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct ConfiguredAgent {
    pub name: Value,
    pub import_path: Value,
    pub kwargs: Value,
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

/// Input tokens include the cache.
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
pub(super) struct TrialException {
    pub exception_type: Value,
    pub exception_message: Value,
}

#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct TrialPhase {
    pub started_at: Value,
    pub finished_at: Value,
}

#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct TrialStep {
    pub agent_result: Lenient<AgentResult>,
}

/// Keys of a trajectory that are read. Its steps are streamed.
pub(super) const TRAJECTORY_KEYS: [&str; 1] = ["final_metrics"];

#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct Trajectory {
    /// Its names differ from a trial's result: see the aliases of [`AgentResult`].
    pub final_metrics: Lenient<AgentResult>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct TrajectoryStep {
    pub source: Value,
    pub message: Value,
    pub tool_calls: Value,
}

/// The verifier's tests: CTRF except for names and units of some fields that are not read.
#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct VerifierReport {
    pub results: Lenient<VerifierTests>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct VerifierTests {
    pub tests: Value,
}
