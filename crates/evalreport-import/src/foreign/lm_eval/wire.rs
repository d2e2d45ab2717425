//! Fields of a file of results that are read. Every field is optional, and any value may have an unexpected type.

use std::collections::BTreeSet;

use serde::Deserialize;
use serde_json::{Map, Value};

use super::super::super::source::hex_digest;
use super::super::json::{to_count, to_filled_text, to_number, to_text};

/// Deepest nesting of groups that is searched for tasks.
const MAX_DEPTH: usize = 16;

#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct LmEvalResults {
    /// By task or group.
    #[serde(rename = "results")]
    pub figures: Map<String, Value>,
    pub groups: Value,
    pub group_subtasks: Value,
    pub configs: Value,
    pub versions: Value,
    #[serde(rename = "n-shot")]
    pub n_shot: Value,
    pub higher_is_better: Value,
    #[serde(rename = "n-samples")]
    pub n_samples: Value,
    pub config: Value,
    pub git_hash: Value,
    /// Start of the evaluation in seconds since 1970.
    pub date: Value,
    pub lm_eval_version: Value,
    pub task_hashes: Value,
    pub model_name: Value,
    pub chat_template: Value,
    pub chat_template_sha: Value,
    pub system_instruction_sha: Value,
    pub fewshot_as_multiturn: Value,
    /// Written as text. `start_time` and `end_time` use a clock with an arbitrary start, so they are not times.
    pub total_evaluation_time_seconds: Value,
}

impl LmEvalResults {
    pub fn version(&self) -> Option<String> {
        to_text(&self.lm_eval_version)
    }

    /// Returns the names of figures over several tasks.
    pub fn group_names(&self) -> BTreeSet<&str> {
        let with_parts = |name: &&str| self.subtasks(name).is_some_and(|parts| !parts.is_empty());
        let named = |name: &&str| self.groups.get(*name).is_some();
        self.figures
            .keys()
            .map(String::as_str)
            .filter(|name| with_parts(name) || named(name))
            .collect()
    }

    fn subtasks(&self, group: &str) -> Option<&Vec<Value>> {
        self.group_subtasks.get(group)?.as_array()
    }

    /// Returns the tasks in a group, including those of nested groups.
    pub fn tasks_of(&self, group: &str) -> BTreeSet<String> {
        let mut tasks = BTreeSet::new();
        let mut seen = BTreeSet::new();
        self.collect_tasks(group, 0, &mut seen, &mut tasks);
        tasks
    }

    fn collect_tasks(
        &self,
        group: &str,
        depth: usize,
        seen: &mut BTreeSet<String>,
        tasks: &mut BTreeSet<String>,
    ) {
        if depth > MAX_DEPTH || !seen.insert(group.to_owned()) {
            return;
        }
        for name in self
            .subtasks(group)
            .into_iter()
            .flatten()
            .filter_map(Value::as_str)
        {
            if self.subtasks(name).is_some_and(|parts| !parts.is_empty()) {
                self.collect_tasks(name, depth + 1, seen, tasks);
            } else {
                tasks.insert(name.to_owned());
            }
        }
    }

    /// Returns the number of samples of a task that were asked.
    pub fn sample_count(&self, task: &str) -> Option<u64> {
        to_count(self.n_samples.get(task)?.get("effective")?)
    }

    pub fn shot_count(&self, task: &str) -> Option<String> {
        let of_task = self
            .n_shot
            .get(task)
            .or_else(|| self.configs.get(task)?.get("num_fewshot"));
        of_task
            .filter(|shots| !shots.is_null())
            .or_else(|| self.config.get("num_fewshot"))
            .and_then(to_text)
    }

    /// Returns how a task was asked: the number of examples, and whether as a chat.
    pub fn approach(&self, task: &str) -> String {
        let shots = self.shot_count(task).map(|shots| format!("{shots}-shot"));
        let is_chat = matches!(&self.chat_template, Value::String(template) if !template.is_empty())
            || to_text(&self.chat_template_sha).is_some_and(|sha| !sha.is_empty());
        let parts = [shots, is_chat.then(|| "chat".to_owned())];
        let parts: Vec<String> = parts.into_iter().flatten().collect();
        if parts.is_empty() {
            "lm-eval".to_owned()
        } else {
            parts.join(" ")
        }
    }

    /// Returns the model by its name, or, in old files, by the backend's arguments.
    pub fn model(&self) -> String {
        let arguments = self.config.get("model_args");
        let argument = |key: &str| -> Option<String> {
            match arguments? {
                Value::String(list) => list
                    .split(',')
                    .find_map(|pair| pair.trim().strip_prefix(key)?.strip_prefix('='))
                    .map(str::to_owned),
                other => to_text(other.get(key)?),
            }
        };
        let named = to_filled_text(&self.model_name);
        named
            .or_else(|| argument("pretrained"))
            .or_else(|| argument("model"))
            .or_else(|| self.config.get("model").and_then(to_text))
            .unwrap_or_default()
    }

    /// Returns text that identifies the evaluation, wherever its files lie: its date, else a digest of its figures.
    pub fn evaluation_id(&self) -> String {
        to_text(&self.date).unwrap_or_else(|| {
            hex_digest(
                &[Value::Object(self.figures.clone()).to_string().as_bytes()],
                false,
            )[..32]
                .to_owned()
        })
    }

    /// Returns the seconds that all tasks took together.
    pub fn seconds(&self) -> Option<f64> {
        to_number(&self.total_evaluation_time_seconds).filter(|seconds| *seconds >= 0.0)
    }
}
