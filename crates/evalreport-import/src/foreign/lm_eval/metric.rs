//! The published figures of a task, and the same figures recomputed from its samples.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

use crate::domain::{Direction, Unit};

use super::super::json::{to_number, to_text};
use super::super::running_mean::RunningMean;
use super::wire::LmEvalResults;

/// Keys of a task's results that are not figures.
const KEYS_WITHOUT_FIGURES: [&str; 9] = [
    "alias",
    " ",
    "name",
    "sample_len",
    "sample_count",
    "num_total",
    "num_solved",
    "solved_avg",
    "num_repeat",
];
/// Parts of the names of metrics that are not grades, of metrics that are not means over samples, and of metrics that are not shares.
const METRICS_WITHOUT_GRADES: [&str; 20] = [
    "f1",
    "bleu",
    "rouge",
    "rouge1",
    "rouge2",
    "rougel",
    "rougelsum",
    "ter",
    "chrf",
    "perplexity",
    "bits",
    "byte",
    "brier",
    "likelihood",
    "mcc",
    "mc2",
    "loss",
    "bertscore",
    "bleurt",
    "sari",
];
const METRICS_WITHOUT_MEANS: [&str; 10] = [
    "f1",
    "bleu",
    "ter",
    "chrf",
    "perplexity",
    "bits",
    "byte",
    "brier",
    "mcc",
    "sari",
];
const METRICS_WITHOUT_SHARES: [&str; 9] = [
    "bleu",
    "ter",
    "chrf",
    "perplexity",
    "bits",
    "byte",
    "likelihood",
    "loss",
    "sari",
];

/// A published figure with its standard error.
pub(super) struct PublishedTaskFigure {
    pub key: String,
    pub metric: String,
    pub filter: String,
    pub value: f64,
    pub error_key: String,
    pub error: Option<f64>,
    /// The standard error is a text that is not a number.
    pub lacks_error: bool,
}

/// A metric with its filter.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct MetricKey {
    pub filter: String,
    pub metric: String,
}

impl PublishedTaskFigure {
    pub fn metric_key(&self) -> MetricKey {
        MetricKey {
            filter: self.filter.clone(),
            metric: self.metric.clone(),
        }
    }
}

/// Values of a metric over the samples of a task.
#[derive(Default)]
pub(super) struct MetricTally {
    pub values: RunningMean,
    /// Some samples have parts of a figure over all samples instead of a value.
    pub has_parts: bool,
}

/// Reads a task's figures in their order. Before version 0.4 their names have no filter.
pub(super) fn published_figures(figures: &Map<String, Value>) -> Vec<PublishedTaskFigure> {
    let split = |key: &str| -> (String, Option<String>) {
        match key.rsplit_once(',') {
            Some((metric, filter)) => (metric.to_owned(), Some(filter.to_owned())),
            None => (key.to_owned(), None),
        }
    };
    let error_key = |key: &str| {
        let (metric, filter) = split(key);
        match filter {
            Some(filter) => format!("{metric}_stderr,{filter}"),
            // evalchemy's spread over repeats.
            None => metric
                .strip_suffix("_avg")
                .map(|metric| format!("{metric}_std_err"))
                .filter(|key| figures.contains_key(key))
                .unwrap_or_else(|| format!("{metric}_stderr")),
        }
    };
    let errors: BTreeSet<String> = figures.keys().map(|key| error_key(key)).collect();
    figures
        .iter()
        .filter(|(key, _)| !KEYS_WITHOUT_FIGURES.contains(&key.as_str()) && !errors.contains(*key))
        .filter_map(|(key, value)| {
            let value = to_number(value)?;
            let (metric, filter) = split(key);
            let error_key = error_key(key);
            let error = figures.get(&error_key);
            Some(PublishedTaskFigure {
                key: key.clone(),
                metric,
                filter: filter.unwrap_or_else(|| "none".to_owned()),
                value,
                error: error.and_then(to_number),
                lacks_error: error
                    .is_some_and(|error| error.is_string() && to_number(error).is_none()),
                error_key,
            })
        })
        .collect()
}

fn has_part(metric: &str, parts: &[&str]) -> bool {
    metric
        .split(|letter: char| !letter.is_alphanumeric())
        .any(|part| parts.contains(&part.to_lowercase().as_str()))
}

/// Returns whether a metric's name allows that its values are right or wrong.
pub(super) fn may_grade(metric: &str) -> bool {
    !has_part(metric, &METRICS_WITHOUT_GRADES)
}

/// Returns whether a metric's figure is the mean over the samples: by the task's configuration, else by the metric's name.
pub(super) fn is_mean(results: &LmEvalResults, task: &str, metric: &str) -> bool {
    let listed = results
        .configs
        .get(task)
        .and_then(|config| config.get("metric_list")?.as_array());
    let own = listed
        .into_iter()
        .flatten()
        .find(|one| one.get("metric").is_some_and(|name| name == metric));
    match own.and_then(|own| to_text(own.get("aggregation")?)) {
        Some(aggregation) => aggregation == "mean",
        None => !has_part(metric, &METRICS_WITHOUT_MEANS),
    }
}

pub(super) fn metric_unit(metric: &str, value: f64) -> Unit {
    if (0.0..=1.0).contains(&value) && !has_part(metric, &METRICS_WITHOUT_SHARES) {
        Unit::Fraction
    } else {
        Unit::Number
    }
}

/// Returns which direction is better by the results. For grades it is known.
pub(super) fn metric_direction(results: &LmEvalResults, task: &str, metric: &str) -> Direction {
    match results
        .higher_is_better
        .get(task)
        .and_then(|of_task| of_task.get(metric))
    {
        Some(Value::Bool(true)) => Direction::Up,
        Some(Value::Bool(false)) => Direction::Down,
        Some(_) | None if metric.starts_with("acc") || metric.starts_with("exact_match") => {
            Direction::Up
        }
        Some(_) | None => Direction::None,
    }
}

/// Returns the number for a sample's value. A list is part of a figure over all samples and has none.
pub(super) fn grade_value(value: &Value) -> Option<f64> {
    match value {
        Value::Bool(is_right) => Some(f64::from(u8::from(*is_right))),
        Value::Number(_) => to_number(value),
        Value::Null | Value::String(_) | Value::Array(_) | Value::Object(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn figures_come_with_their_errors() {
        let figures = json!({"alias": " - a", "acc,none": 0.5, "acc_stderr,none": "N/A", "f1,strict": 0.25, "f1_stderr,strict": 0.1, "sample_len": 4});
        let read = published_figures(figures.as_object().expect("an object"));
        let said: Vec<_> = read
            .iter()
            .map(|one| {
                (
                    one.key.as_str(),
                    one.metric.as_str(),
                    one.filter.as_str(),
                    one.error,
                    one.lacks_error,
                )
            })
            .collect();
        assert_eq!(
            said,
            [
                ("acc,none", "acc", "none", None, true),
                ("f1,strict", "f1", "strict", Some(0.1), false)
            ]
        );
        let old = json!({"acc": 0.5, "acc_stderr": 0.1, "mc2": 0.4});
        let read = published_figures(old.as_object().expect("an object"));
        let said: Vec<_> = read
            .iter()
            .map(|one| (one.key.as_str(), one.error_key.as_str(), one.error))
            .collect();
        assert_eq!(
            said,
            [
                ("acc", "acc_stderr", Some(0.1)),
                ("mc2", "mc2_stderr", None)
            ]
        );
    }

    #[test]
    fn names_tell_grades_from_amounts() {
        for (metric, grades) in [
            ("acc", true),
            ("exact_match", true),
            ("prompt_level_strict_acc", true),
            ("f1", false),
            ("word_perplexity", false),
            ("rougeL_max", false),
        ] {
            assert_eq!(may_grade(metric), grades, "{metric}");
        }
        assert_eq!(
            (
                metric_unit("acc", 0.5),
                metric_unit("word_perplexity", 0.5),
                metric_unit("acc", 1.5)
            ),
            (Unit::Fraction, Unit::Number, Unit::Number)
        );
    }
}
