//! Fields of a HELM run's files that are read. Every field is optional, and any value may have an unexpected type.

use serde::Deserialize;
use serde_json::Value;

use super::super::json::{Lenient, to_amount, to_count, to_number, to_text};

#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct RunSpec {
    pub name: Value,
    pub scenario_spec: Lenient<ScenarioSpec>,
    pub adapter_spec: Lenient<AdapterSpec>,
    pub metric_specs: Vec<Lenient<MetricSpec>>,
    pub data_augmenter_spec: Value,
    pub groups: Value,
}

#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct ScenarioSpec {
    pub class_name: Value,
    pub args: Value,
}

#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct AdapterSpec {
    pub method: Value,
    pub model: Value,
    pub model_deployment: Value,
    pub max_train_instances: Value,
    pub max_eval_instances: Value,
    pub num_train_trials: Value,
    pub temperature: Value,
    pub max_tokens: Value,
}

#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct MetricSpec {
    pub args: Value,
}

/// A statistic over a run or over one instance.
#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct HelmStat {
    pub name: Lenient<HelmStatName>,
    pub count: Value,
    pub sum: Value,
    pub mean: Value,
}

#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct HelmStatName {
    pub name: Value,
    pub split: Value,
    pub sub_split: Value,
    pub perturbation: Value,
}

/// Statistics of one instance in one trial.
#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct InstanceStats {
    pub instance_id: Value,
    pub train_trial_index: Value,
    pub perturbation: Value,
    pub stats: Vec<Lenient<HelmStat>>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct RequestState {
    pub instance: Lenient<HelmInstance>,
    pub train_trial_index: Value,
    /// Present if each reference has a request of its own.
    pub reference_index: Value,
    pub output_mapping: Value,
    pub result: Lenient<RequestResult>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct HelmInstance {
    pub id: Value,
    pub input: Value,
    pub references: Vec<Lenient<Reference>>,
    pub split: Value,
    pub perturbation: Value,
}

#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct Reference {
    pub output: Value,
    pub tags: Value,
}

#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct RequestResult {
    pub success: Value,
    pub error: Value,
    pub completions: Vec<Lenient<Completion>>,
    pub request_time: Value,
    pub request_datetime: Value,
}

#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct Completion {
    pub text: Value,
}

impl HelmStat {
    /// Returns the statistic of an instance as one value, or `None` if nothing was counted.
    pub fn instance_value(&self) -> Option<f64> {
        let counted = to_count(&self.count).filter(|counted| *counted > 0)?;
        Some(to_number(&self.sum)? / counted as f64)
    }

    pub fn published_mean(&self) -> Option<f64> {
        to_count(&self.count).filter(|counted| *counted > 0)?;
        to_number(&self.mean)
    }
}

impl RequestResult {
    pub fn seconds(&self) -> Option<f64> {
        to_amount(&self.request_time)
    }
}

/// Returns the text of an input or an output. Older files have the plain text.
pub(super) fn input_text(value: &Value) -> Option<String> {
    to_text(value).or_else(|| to_text(value.get("text")?))
}

/// Returns the name of a perturbed copy, or `None` if the instance is unperturbed.
pub(super) fn perturbation_name(value: &Value) -> Option<String> {
    const FLAG_KEYS: [&str; 4] = ["name", "robustness", "fairness", "computed_on"];
    let parts = value.as_object()?;
    let name = to_text(parts.get("name")?)?;
    let settings: Vec<String> = parts
        .iter()
        .filter(|(key, _)| !FLAG_KEYS.contains(&key.as_str()))
        .filter_map(|(key, value)| Some(format!("{key}={}", to_text(value)?)))
        .collect();
    Some(if settings.is_empty() {
        name
    } else {
        format!("{name} {}", settings.join(" "))
    })
}
