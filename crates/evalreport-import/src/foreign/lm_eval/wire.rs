//! Fields of a file of results that are read. Every field is optional, and any value may have an unexpected type.

use std::collections::{BTreeMap, BTreeSet};

use serde::Deserialize;
use serde_json::{Map, Value};

use super::super::super::source::hex_digest;
use super::super::json::{to_count, to_filled_text, to_number, to_text};
use super::super::sink::clip_text;

/// Deepest nesting of groups that is searched for tasks.
const MAX_DEPTH: usize = 16;
/// Longest name of a model that is kept for each time of merged results.
const MAX_MODEL_CHARS: usize = 500;

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
    /// Only in lighteval's files: the run, and its tasks.
    pub config_general: Value,
    pub config_tasks: Value,
    pub summary_tasks: Value,
    /// Written as text. `start_time` and `end_time` use a clock with an arbitrary start, so they are not times.
    pub total_evaluation_time_seconds: Value,
}

impl LmEvalResults {
    pub fn version(&self) -> Option<String> {
        to_text(&self.lm_eval_version)
    }

    /// Splits results that were merged from several jobs, `results.TASK.TIME`, into the results of each time. Others stay whole.
    pub fn split_by_time(self) -> Vec<Self> {
        let has_times = |figures: &Value| {
            figures
                .as_object()
                .is_some_and(|times| !times.is_empty() && times.keys().all(|time| is_time(time)))
        };
        if self.figures.is_empty() || !self.figures.values().all(has_times) {
            return vec![self];
        }
        let model = clip_text(&self.model(), MAX_MODEL_CHARS).into_owned();
        let mut by_time: BTreeMap<String, Self> = BTreeMap::new();
        for (task, times) in self.figures {
            let Value::Object(times) = times else {
                continue;
            };
            for (time, figures) in times {
                let part = by_time.entry(time.clone()).or_insert_with(|| Self {
                    date: Value::String(time),
                    model_name: Value::String(model.clone()),
                    versions: Value::Object(Map::new()),
                    ..Self::default()
                });
                if let (Some(version), Value::Object(versions)) =
                    (self.versions.get(&task), &mut part.versions)
                {
                    versions.insert(task.clone(), version.clone());
                }
                part.figures.insert(task.clone(), figures);
            }
        }
        by_time.into_values().collect()
    }

    /// Takes out the means over tasks that lighteval writes among its tasks. Returns whether there were any.
    pub fn remove_averages(&mut self) -> bool {
        let before = self.figures.len();
        if self.config_general.is_object() {
            self.figures
                .retain(|name, _| name != "all" && !name.contains(":_average"));
        }
        self.figures.len() < before
    }

    /// Returns how many questions of a task were solved, of how many, if the file counts them and they were asked once.
    pub fn solved_count(&self, task: &str) -> Option<(u64, u64)> {
        let figures = self.figures.get(task)?;
        let count = |key: &str| to_count(figures.get(key)?);
        let (solved, total) = (count("num_solved")?, count("num_total")?);
        (total > 0 && solved <= total && self.repeat_count(task).is_none())
            .then_some((solved, total))
    }

    /// Returns how often each question of a task was asked, if more than once.
    pub fn repeat_count(&self, task: &str) -> Option<u64> {
        to_count(self.figures.get(task)?.get("num_repeat")?).filter(|repeats| *repeats > 1)
    }

    /// Recomputes a task's accuracy from the counts and repeats beside it. Returns `None` if there are none.
    pub fn recount_accuracy(&self, task: &str, key: &str) -> Option<f64> {
        match key {
            "accuracy" => {
                let (solved, total) = self.solved_count(task)?;
                Some(solved as f64 / total as f64)
            }
            "accuracy_avg" => {
                let repeats = self.figures.get(task)?.get("run_stats")?.as_array()?;
                let sum = repeats
                    .iter()
                    .map(|repeat| to_number(repeat.get("accuracy")?))
                    .sum::<Option<f64>>()?;
                Some(sum / repeats.len() as f64).filter(|mean| mean.is_finite())
            }
            _ => None,
        }
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
        let count = |table: &Value, task: &str, key: &str| to_count(table.get(task)?.get(key)?);
        // lighteval's tasks have the number of examples at the end of their names, and their configurations have not.
        let configured = task.rsplit_once('|').map_or(task, |(name, _)| name);
        count(&self.n_samples, task, "effective")
            .or_else(|| to_count(self.figures.get(task)?.get("num_total")?))
            .or_else(|| count(&self.summary_tasks, task, "num_samples"))
            .or_else(|| count(&self.config_tasks, configured, "effective_num_docs"))
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
        if !parts.is_empty() {
            parts.join(" ")
        } else if self.config_general.is_object() {
            "lighteval".to_owned()
        } else {
            "lm-eval".to_owned()
        }
    }

    /// Returns the model by its name, or, in old files, by the backend's arguments. The backend itself, such as `hf`, is no model.
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
        to_filled_text(&self.model_name)
            .or_else(|| to_filled_text(self.config_general.get("model_name")?))
            .or_else(|| {
                ["pretrained", "model", "engine"]
                    .into_iter()
                    .find_map(argument)
            })
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

/// Returns whether a key is a time such as `2022-07-07-20-56-53`.
pub(super) fn is_time(key: &str) -> bool {
    let bytes = key.as_bytes();
    let is_date = bytes.len() > 10
        && bytes[..10].iter().enumerate().all(|(place, byte)| {
            if matches!(place, 4 | 7) {
                *byte == b'-'
            } else {
                byte.is_ascii_digit()
            }
        });
    is_date
        && bytes[10..]
            .iter()
            .all(|byte| byte.is_ascii_digit() || b"-_:.TZ ".contains(byte))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn results(value: Value) -> LmEvalResults {
        LmEvalResults::deserialize(value).expect("anything goes")
    }

    #[test]
    fn a_backend_is_no_model() {
        for (value, expected) in [
            (json!({"config": {"model": "hf"}}), ""),
            (
                json!({"config": {"model": "hf", "model_args": "dtype=auto, pretrained=org/a"}}),
                "org/a",
            ),
            (
                json!({"config": {"model": "gpt3", "model_args": {"engine": "davinci"}}}),
                "davinci",
            ),
            (json!({"config_general": {"model_name": "org/b"}}), "org/b"),
            (
                json!({"model_name": "org/c", "config": {"model_args": "pretrained=org/a"}}),
                "org/c",
            ),
        ] {
            assert_eq!(results(value).model(), expected);
        }
    }

    #[test]
    fn only_times_below_every_task_split_results() {
        for (key, expected) in [
            ("2022-07-07-20-56-53", true),
            ("2026-01-21T03-44-18.458309", true),
            ("2022-07-07", false),
            ("2022-07-07-later", false),
            ("acc", false),
        ] {
            assert_eq!(is_time(key), expected, "{key}");
        }
        let time = "2022-07-07-20-56-53";
        let merged = |other: Value| {
            let figures = json!({"a": {time: {"acc": 1}}, "b": other});
            results(json!({"results": figures, "versions": {"a": 2}}))
                .split_by_time()
                .into_iter()
                .map(|part| (part.date.clone(), part.figures.len(), part.versions))
                .collect::<Vec<_>>()
        };
        assert_eq!(
            merged(json!({time: {"acc": 0}, "2022-07-08-20-56-53": {"acc": 1}})),
            [
                (json!(time), 2, json!({"a": 2})),
                (json!("2022-07-08-20-56-53"), 1, json!({}))
            ]
        );
        assert_eq!(merged(json!({"acc": 0.5})).len(), 1);
    }
}
