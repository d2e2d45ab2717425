//! Fields of a HELM run's files that are read. Every field is optional, and any value may have an unexpected type.

use serde::Deserialize;
use serde_json::Value;

use super::super::json::{Lenient, amount, count, number, text};

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
pub(super) struct Stat {
    pub name: Lenient<StatName>,
    pub count: Value,
    pub sum: Value,
    pub mean: Value,
}

#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct StatName {
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
    pub stats: Vec<Lenient<Stat>>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct RequestState {
    pub instance: Lenient<Instance>,
    pub train_trial_index: Value,
    /// Present if each reference has a request of its own.
    pub reference_index: Value,
    pub output_mapping: Value,
    pub result: Lenient<RequestResult>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct Instance {
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

impl Stat {
    /// Returns the statistic of an instance as one value, or `None` if nothing was counted.
    pub fn value(&self) -> Option<f64> {
        let counted = count(&self.count).filter(|counted| *counted > 0)?;
        Some(number(&self.sum)? / counted as f64)
    }

    pub fn stated_mean(&self) -> Option<f64> {
        count(&self.count).filter(|counted| *counted > 0)?;
        number(&self.mean)
    }
}

impl RequestResult {
    pub fn seconds(&self) -> Option<f64> {
        amount(&self.request_time)
    }
}

/// Returns the text of an input or an output. Older files have the plain text.
pub(super) fn said(value: &Value) -> Option<String> {
    text(value).or_else(|| text(value.get("text")?))
}

/// Returns the name of a perturbed copy, or `None` if the instance is unperturbed.
pub(super) fn perturbation(value: &Value) -> Option<String> {
    const FLAGS: [&str; 4] = ["name", "robustness", "fairness", "computed_on"];
    let parts = value.as_object()?;
    let name = text(parts.get("name")?)?;
    let settings: Vec<String> = parts
        .iter()
        .filter(|(key, _)| !FLAGS.contains(&key.as_str()))
        .filter_map(|(key, value)| Some(format!("{key}={}", text(value)?)))
        .collect();
    Some(if settings.is_empty() {
        name
    } else {
        format!("{name} {}", settings.join(" "))
    })
}
