//! Turns one trial into one outcome.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::Value;

use crate::domain::{AGENT_SETTING_PREFIX, CostSource, ItemDetails, ItemStatus, Usage};

use super::super::super::rows::ReadStop;
use super::super::json::{Lenient, to_amount, to_count, to_filled_text, to_number, to_text};
use super::super::json_reader::{read_object, read_value};
use super::super::property_metrics::count_tool;
use super::super::sink::{ImportSink, clip_text};
use super::super::source::ForeignFile;
use super::super::system_settings::setting_tags;
use super::super::times::seconds_between;
use super::wire::{
    AgentResult, HarborTrial, TRAJECTORY_KEYS, Trajectory, TrajectoryStep, TrialStep,
    VerifierReport,
};

/// Maximum length of a trajectory's texts: as much as is shown.
const MAX_TEXT_CHARS: usize = 2001;
const MAX_FAILED_SHOWN: usize = 10;

/// Key of a run within a job.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct JobRunKey {
    pub job: String,
    pub agent: String,
    /// Name with its provider.
    pub model: String,
    /// Name in the job's statistics.
    pub bare_model: String,
    pub dataset: String,
    /// Settings of the agent, as tags of the run.
    pub settings: BTreeMap<String, String>,
}

impl JobRunKey {
    pub fn from_trial(trial: &HarborTrial) -> Self {
        let word = |value: &Value| to_text(value).unwrap_or_default();
        let config = trial.config.0.as_ref();
        let configured = config.and_then(|config| config.agent.0.as_ref());
        let info = trial.agent_info.0.as_ref();
        let model_info = info.and_then(|info| info.model_info.0.as_ref());
        let bare_model = model_info
            .map(|model| word(&model.name))
            .unwrap_or_default();
        let provider = model_info
            .map(|model| word(&model.provider))
            .unwrap_or_default();
        let model = match (bare_model.as_str(), provider.as_str()) {
            ("", _) => configured
                .map(|agent| word(&agent.model_name))
                .unwrap_or_default(),
            (name, "") => name.to_owned(),
            (name, provider) => format!("{provider}/{name}"),
        };
        let named = info
            .map(|info| word(&info.name))
            .filter(|name| !name.is_empty());
        let agent = named.or_else(|| {
            configured
                .and_then(|agent| to_text(&agent.name).or_else(|| to_text(&agent.import_path)))
        });
        Self {
            job: config
                .map(|config| word(&config.job_id))
                .unwrap_or_default(),
            agent: agent.unwrap_or_default(),
            model,
            bare_model,
            // Harbor's own word for tasks without a dataset.
            dataset: to_text(&trial.source)
                .filter(|name| !name.is_empty())
                .unwrap_or_else(|| "adhoc".to_owned()),
            settings: configured
                .map(|agent| setting_tags(AGENT_SETTING_PREFIX, &agent.kwargs))
                .into_iter()
                .flatten()
                .collect(),
        }
    }

    /// Returns the run's key in the job's statistics.
    pub fn statistics_key(&self) -> String {
        let model = if self.bare_model.is_empty() {
            String::new()
        } else {
            format!("{}__", self.bare_model)
        };
        format!("{}__{model}{}", self.agent, self.dataset)
    }
}

/// Rewards that a trial's verifier gave.
pub(super) struct Rewards {
    /// The reward that decides whether the trial passes.
    pub reward: Option<f64>,
    pub others: BTreeMap<String, f64>,
    /// There is exactly one reward, so the job can average it.
    pub is_single: bool,
}

impl Rewards {
    /// Returns the rewards, or `None` if nothing was verified.
    pub fn from_trial(trial: &HarborTrial) -> Option<Self> {
        let rewards = trial.verifier_result.0.as_ref()?.rewards.as_object()?;
        let mut others: BTreeMap<String, f64> = rewards
            .iter()
            .filter_map(|(key, value)| Some((key.clone(), to_number(value)?)))
            .collect();
        let is_single = rewards.len() == 1;
        let deciding = if others.contains_key("reward") {
            Some("reward".to_owned())
        } else {
            others.keys().next().cloned().filter(|_| is_single)
        };
        let reward = deciding.and_then(|key| others.remove(&key));
        Some(Self {
            reward,
            others,
            is_single,
        })
    }
}

/// Returns a trial's status. A reward of 1 passes in any case: an agent may reach its time limit with its work done.
pub(super) fn trial_status(
    trial: &HarborTrial,
    rewards: Option<&Rewards>,
    sink: &mut ImportSink<'_>,
) -> ItemStatus {
    let exception = exception_type(trial);
    let reward = rewards.and_then(|rewards| rewards.reward);
    if reward.is_some() && exception.is_some() {
        sink.note_quirk("trials with a reward and an exception: the reward decides whether it passes, the exception how it failed");
    }
    match (reward, exception.as_deref().map(exception_status)) {
        (Some(reward), _) if !(0.0..=1.0).contains(&reward) => {
            sink.note_quirk("rewards outside 0 to 1 have no passing mark: kept as scores, outside of the pass rate");
            ItemStatus::Skipped
        }
        (Some(reward), _) if reward >= 1.0 => ItemStatus::Pass,
        (_, Some(status)) => status,
        (Some(_), None) => ItemStatus::Fail,
        (None, None) if rewards.is_some_and(|rewards| !rewards.others.is_empty()) => {
            sink.note_quirk("several rewards and none called `reward`: kept as scores, outside of the pass rate");
            ItemStatus::Skipped
        }
        (None, None) => ItemStatus::Error,
    }
}

pub(super) fn exception_type(trial: &HarborTrial) -> Option<String> {
    to_text(&trial.exception_info.0.as_ref()?.exception_type)
}

/// Returns the status for an exception. Harbor's mean counts a trial without a reward as 0, whoever is to blame, unless it was cancelled.
fn exception_status(exception: &str) -> ItemStatus {
    match exception {
        "AgentTimeoutError" => ItemStatus::Limit,
        "CancelledError" => ItemStatus::Infra,
        _ => ItemStatus::Error,
    }
}

/// Other files in the trial's folder.
#[derive(Default)]
pub(super) struct TrialSupplements<'a> {
    /// One file, or one per step, as for `tests`.
    pub trajectories: Vec<&'a ForeignFile>,
    pub tests: Vec<&'a ForeignFile>,
}

/// Usage of a trial, and its details besides the status.
pub(super) struct TrialUsage {
    pub details: ItemDetails,
    pub usage: Option<Usage>,
    pub cost: Option<f64>,
    pub seconds: Option<f64>,
}

pub(super) fn collect_usage(
    trial: &HarborTrial,
    beside: &TrialSupplements<'_>,
    rewards: Option<Rewards>,
    sink: &mut ImportSink<'_>,
) -> Result<TrialUsage, ReadStop> {
    let mut details = ItemDetails {
        item_hash: to_text(&trial.task_checksum).filter(|hash| !hash.is_empty()),
        ..ItemDetails::default()
    };
    let mut told = Vec::new();
    for file in &beside.trajectories {
        match read_trajectory(file, &mut details) {
            Ok(metrics) => told.extend(metrics),
            Err(ReadStop::Store(error)) => return Err(ReadStop::Store(error)),
            Err(ReadStop::Unreadable(_)) => sink.note_quirk("unreadable trajectories are ignored"),
        }
    }
    let steps: Vec<AgentResult> = trial
        .step_results
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(|step| {
            Lenient::<TrialStep>::deserialize(step)
                .ok()?
                .0?
                .agent_result
                .0
        })
        .collect();
    let own: Vec<&AgentResult> = match &trial.agent_result.0 {
        Some(result) => vec![result],
        None => steps.iter().collect(),
    };
    let usage = sum_usage(&own).or_else(|| sum_usage(&told.iter().collect::<Vec<_>>()));
    let cost = sum_cost(&own).or_else(|| {
        let cost = sum_cost(&told.iter().collect::<Vec<_>>());
        if cost.is_some() {
            sink.note_quirk("costs that the result lacks are taken from the trajectory");
        }
        cost
    });
    let execution = trial.agent_execution.0.as_ref();
    let seconds = execution
        .and_then(|phase| seconds_between(&phase.started_at, &phase.finished_at))
        .or_else(|| seconds_between(&trial.started_at, &trial.finished_at));
    details.usage = usage;
    details.cost_source = cost.map(|_| CostSource::Reported);
    details.scores = rewards.map(|rewards| rewards.others).unwrap_or_default();
    details.reason = exception_text(trial).or_else(|| {
        let failed: Vec<String> = beside
            .tests
            .iter()
            .filter_map(|file| describe_failed_tests(file))
            .collect();
        (!failed.is_empty()).then(|| failed.join("; "))
    });
    Ok(TrialUsage {
        details,
        usage,
        cost,
        seconds,
    })
}

fn exception_text(trial: &HarborTrial) -> Option<String> {
    let kind = exception_type(trial)?;
    let message = to_filled_text(&trial.exception_info.0.as_ref()?.exception_message);
    Some(message.map_or_else(|| kind.clone(), |message| format!("{kind}: {message}")))
}

/// Adds up tokens. Harbor's input includes the cache; ours does not.
fn sum_usage(results: &[&AgentResult]) -> Option<Usage> {
    let each = results.iter().map(|result| {
        let (input, cached) = (
            to_count(&result.n_input_tokens),
            to_count(&result.n_cache_tokens),
        );
        // The cache cannot exceed the input. If it does, the cache is unknown.
        let cached = cached.filter(|cached| input.is_none_or(|input| *cached <= input));
        Usage {
            input: input.map(|input| input - cached.unwrap_or(0)),
            cache_write: None,
            cache_read: cached,
            output: to_count(&result.n_output_tokens),
        }
    });
    each.reduce(|sum, one| sum.plus(&one))
        .filter(|usage| *usage != Usage::default())
}

/// Adds up costs. If one is unknown, so is the sum.
fn sum_cost(results: &[&AgentResult]) -> Option<f64> {
    if results.is_empty() {
        return None;
    }
    results
        .iter()
        .map(|result| to_amount(&result.cost_usd))
        .sum()
}

/// Reads a trajectory's totals into the result, and its question, reply, steps and tool calls into `details`.
fn read_trajectory(
    file: &ForeignFile,
    details: &mut ItemDetails,
) -> Result<Option<AgentResult>, ReadStop> {
    let (mut steps, mut reply, mut question) = (0, None, details.question.take());
    let mut tools: BTreeMap<String, u64> = BTreeMap::new();
    let read = read_object::<Trajectory, Lenient<TrajectoryStep>>(
        file.open()?,
        &file.shown,
        &TRAJECTORY_KEYS,
        "steps",
        &mut |step| {
            let Some(step) = step.0 else { return Ok(()) };
            let message = || {
                to_text(&step.message)
                    .map(|text| clip_text(&text, MAX_TEXT_CHARS).into_owned())
                    .filter(|text| !text.trim().is_empty())
            };
            match step.source.as_str() {
                Some("user") if question.is_none() => question = message(),
                Some("agent") => {
                    steps += 1;
                    reply = message().or_else(|| reply.take());
                    let calls = step.tool_calls.as_array().into_iter().flatten();
                    for name in calls.filter_map(|call| to_text(call.get("function_name")?)) {
                        count_tool(&mut tools, clip_text(&name, 200).into_owned());
                    }
                }
                Some(_) | None => {}
            }
            Ok(())
        },
    );
    details.question = question;
    let trajectory = read?;
    details.reply = reply.or_else(|| details.reply.take());
    details.steps = Some(details.steps.unwrap_or(0) + steps);
    for (name, calls) in tools {
        *details.tools.entry(name).or_default() += calls;
    }
    Ok(trajectory.final_metrics.0)
}

/// Returns a text that names the verifier's failed tests.
fn describe_failed_tests(file: &ForeignFile) -> Option<String> {
    let tests: VerifierReport = read_value(file.open().ok()?, &file.shown).ok()?;
    let tests = tests.results.0?.tests;
    let tests = tests.as_array()?;
    let failed: Vec<String> = tests
        .iter()
        .filter(|test| test.get("status").and_then(Value::as_str) == Some("failed"))
        .filter_map(|test| to_text(test.get("name")?))
        .collect();
    if failed.is_empty() {
        return None;
    }
    let shown = failed
        .iter()
        .take(MAX_FAILED_SHOWN)
        .map(String::as_str)
        .collect::<Vec<_>>()
        .join(", ");
    let more = if failed.len() > MAX_FAILED_SHOWN {
        ", …"
    } else {
        ""
    };
    let step = file
        .name
        .rsplit_once("/verifier/")
        .and_then(|(folder, _)| folder.rsplit_once("/steps/"));
    let step = step.map_or_else(String::new, |(_, step)| format!("{step}: "));
    Some(format!(
        "{step}{} of {} tests failed: {shown}{more}",
        failed.len(),
        tests.len()
    ))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn exceptions_count_as_harbor_counts_them() {
        for (exception, status) in [
            ("AgentTimeoutError", ItemStatus::Limit),
            ("CancelledError", ItemStatus::Infra),
            ("EnvironmentStartTimeoutError", ItemStatus::Error),
            ("VerifierTimeoutError", ItemStatus::Error),
            ("NonZeroAgentExitCodeError", ItemStatus::Error),
            ("ValueError", ItemStatus::Error),
        ] {
            assert_eq!(exception_status(exception), status, "{exception}");
        }
    }

    #[test]
    fn the_cache_is_within_the_input() {
        let result = |value: Value| AgentResult::deserialize(value).expect("anything goes");
        let two = [
            result(json!({"n_input_tokens": 100, "n_cache_tokens": 60, "n_output_tokens": 5})),
            result(json!({"total_prompt_tokens": 10, "total_cached_tokens": 20})),
        ];
        let usage = sum_usage(&two.iter().collect::<Vec<_>>()).expect("tokens");
        assert_eq!(
            (
                usage.input,
                usage.cache_read,
                usage.output,
                usage.input_total()
            ),
            (Some(50), Some(60), Some(5), Some(110))
        );
        assert_eq!(
            (sum_usage(&[&result(json!({}))]), sum_cost(&[])),
            (None, None)
        );
    }
}
