//! Inspect's scores as numbers, and its metrics over them.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::stats::{clustered_error, pass_at_k, quantile};

use super::super::json::{ObjectTable, to_count, to_text};
use super::wire::{InspectEval, InspectMetric, InspectResults, InspectSample};

/// Returns the number for a score's value, or `None` if the sample was not scored.
///
/// Letters are those of Inspect's own scorers: correct, partial, incorrect, no answer. Any other text is 0, as in Inspect.
pub(super) fn grade_value(value: &Value) -> Option<f64> {
    match value {
        Value::Number(number) => number.as_f64().filter(|number| number.is_finite()),
        Value::Bool(is_true) => Some(f64::from(u8::from(*is_true))),
        Value::String(text) => Some(match text.as_str() {
            "C" => 1.0,
            "P" => 0.5,
            "I" | "N" => 0.0,
            "NaN" => return None,
            other => match other.trim().to_lowercase().as_str() {
                "yes" | "true" => 1.0,
                "no" | "false" => 0.0,
                number => number
                    .parse()
                    .ok()
                    .filter(|number: &f64| number.is_finite())
                    .unwrap_or(0.0),
            },
        }),
        Value::Null | Value::Array(_) | Value::Object(_) => None,
    }
}

/// Returns whether a value is a text that is not a grade.
pub(super) fn is_not_grade(value: &Value) -> bool {
    let Value::String(text) = value else {
        return false;
    };
    let lower = text.trim().to_lowercase();
    !matches!(text.as_str(), "C" | "P" | "I" | "N" | "NaN")
        && !matches!(lower.as_str(), "yes" | "true" | "no" | "false")
        && lower.parse::<f64>().is_err()
}

/// Returns the scores of the results, the deciding one first.
pub(super) fn score_tallies(results: &InspectResults, eval: &InspectEval) -> Vec<ScoreTally> {
    let stated = |metrics: &ObjectTable<InspectMetric>| -> Vec<PublishedMetric> {
        metrics
            .iter()
            .filter_map(|(key, metric)| PublishedMetric::from_metric(key, metric))
            .collect()
    };
    let mut tallies: Vec<ScoreTally> = results
        .scores
        .iter()
        .filter_map(|score| {
            let name = to_text(&score.name)?;
            let scorer = to_text(&score.scorer).unwrap_or_else(|| name.clone());
            Some(ScoreTally::new(
                name,
                scorer,
                to_text(&score.reducer),
                to_count(&score.scored_samples),
                stated(&score.metrics),
            ))
        })
        .collect();
    if tallies.is_empty()
        && let Some(name) = results
            .scorer
            .0
            .as_ref()
            .and_then(|scorer| to_text(&scorer.name))
    {
        tallies.push(ScoreTally::new(
            name.clone(),
            name,
            None,
            None,
            stated(&results.metrics),
        ));
    }
    if tallies.is_empty() {
        let names = eval
            .scorers
            .as_array()
            .into_iter()
            .flatten()
            .filter_map(|scorer| to_text(scorer.get("name")?));
        tallies
            .extend(names.map(|name| ScoreTally::new(name.clone(), name, None, None, Vec::new())));
    }
    if let Some(headline) = &results.headline.0 {
        let (scorer, score) = (to_text(&headline.scorer), to_text(&headline.score));
        let is_headline = |tally: &ScoreTally| {
            score.as_ref().is_none_or(|score| *score == tally.name)
                && scorer.as_ref().is_none_or(|scorer| *scorer == tally.scorer)
        };
        if let Some(place) = tallies.iter().position(is_headline) {
            tallies[..=place].rotate_right(1);
        }
    }
    // If epochs are reduced in several ways, each reduction is a score of the same name.
    let known: Vec<(String, String)> = tallies
        .iter()
        .map(|tally| (tally.name.clone(), tally.scorer.clone()))
        .collect();
    for (place, tally) in tallies.iter_mut().enumerate() {
        tally.is_again = known[..place].contains(&known[place]);
        let is_shared = known.iter().filter(|(name, _)| *name == tally.name).count() > 1;
        if let Some(reducer) = tally.reducer.as_ref().filter(|_| is_shared) {
            tally.label = format!("{} ({reducer})", tally.name);
        }
    }
    tallies
}

/// The values of one score over the samples.
pub(super) struct ScoreTally {
    /// Name in the results: the scorer, or the key of the scorer's values.
    pub name: String,
    /// Name, made unique among the scores of the results.
    pub label: String,
    /// An earlier score has the same values, reduced in another way.
    pub is_again: bool,
    pub scorer: String,
    pub reducer: Option<String>,
    pub scored_samples: Option<u64>,
    pub metrics: Vec<PublishedMetric>,
    /// By sample, one value per epoch.
    values: BTreeMap<String, Vec<f64>>,
    /// Group by clustering key and sample.
    clusters: BTreeMap<(String, String), String>,
}

/// A metric as the results publish it.
pub(super) struct PublishedMetric {
    pub name: String,
    kind: String,
    pub value: f64,
    cluster: Option<String>,
}

impl PublishedMetric {
    pub fn from_metric(key: &str, metric: &InspectMetric) -> Option<Self> {
        let params = if metric.params.is_object() {
            &metric.params
        } else {
            &metric.options
        };
        let kind = to_text(&metric.name).unwrap_or_else(|| key.to_owned());
        Some(Self {
            name: key.to_owned(),
            kind: kind.rsplit('/').next().unwrap_or(&kind).to_owned(),
            value: metric.value.as_f64().filter(|value| value.is_finite())?,
            cluster: params.get("cluster").and_then(to_text),
        })
    }

    pub fn is_mean(&self) -> bool {
        matches!(self.kind.as_str(), "accuracy" | "mean")
    }

    pub fn is_accuracy(&self) -> bool {
        self.kind == "accuracy"
    }

    pub fn is_error(&self) -> bool {
        self.kind == "stderr"
    }
}

/// One value per sample, with their number, their mean and their sum of squared deviations.
struct ReducedValues<'t> {
    values: Vec<(&'t str, f64)>,
    n: f64,
    mean: f64,
    squares: f64,
}

impl ScoreTally {
    pub fn new(
        name: String,
        scorer: String,
        reducer: Option<String>,
        scored_samples: Option<u64>,
        metrics: Vec<PublishedMetric>,
    ) -> Self {
        let label = name.clone();
        Self {
            name,
            label,
            is_again: false,
            scorer,
            reducer,
            scored_samples,
            metrics,
            values: BTreeMap::new(),
            clusters: BTreeMap::new(),
        }
    }

    /// Returns the score's value in a sample: the scorer's own, or its value under the score's name.
    pub fn value_in<'s>(&self, sample: &'s InspectSample) -> Option<&'s Value> {
        let direct = |name: &str| sample.scores.get(name).map(|score| &score.value);
        let single = |value: &&Value| !value.is_object() && !value.is_array();
        if let Some(value) = direct(&self.name).filter(single) {
            return Some(value);
        }
        match direct(&self.scorer) {
            Some(Value::Object(keys)) => keys.get(&self.name),
            Some(Value::Array(list)) => list.get(self.name.parse::<usize>().ok()?),
            Some(value) if self.scorer == self.name || sample.scores.iter().count() == 1 => {
                Some(value)
            }
            Some(_) => None,
            None => sample
                .score
                .0
                .as_ref()
                .map(|score| &score.value)
                .filter(single),
        }
    }

    pub fn add_value(&mut self, id: &str, value: f64, metadata: &Value) {
        self.values.entry(id.to_owned()).or_default().push(value);
        for key in self
            .metrics
            .iter()
            .filter_map(|metric| metric.cluster.as_ref())
        {
            if let Some(group) = metadata.get(key) {
                self.clusters
                    .insert((key.clone(), id.to_owned()), group.to_string());
            }
        }
    }

    /// Returns the key that a metric clusters the samples by.
    pub fn cluster_key(&self) -> Option<&str> {
        self.metrics
            .iter()
            .find_map(|metric| metric.cluster.as_deref())
    }

    /// Returns one value per sample, ordered by id, or `None` if the reducer is unknown.
    fn reduce_epochs(&self) -> Option<Vec<(&str, f64)>> {
        let reducer = self.reducer.as_deref().unwrap_or("mean");
        let reduce = |values: &Vec<f64>| -> Option<f64> {
            let mean = values.iter().sum::<f64>() / values.len() as f64;
            let passed = |least: f64| values.iter().filter(|value| **value >= least).count();
            match reducer {
                _ if values.len() == 1 && !reducer.starts_with("at_least_") => Some(values[0]),
                "mean" | "avg" => Some(mean),
                "median" => quantile(values, 0.5).ok(),
                "max" => values.iter().copied().reduce(f64::max),
                "mode" => Some(most_frequent(values)),
                _ => {
                    if let Some(least) = reducer.strip_prefix("at_least_") {
                        let least: usize = least.parse().ok()?;
                        return Some(f64::from(u8::from(passed(1.0) >= least)));
                    }
                    let k: u64 = reducer.strip_prefix("pass_at_")?.parse().ok()?;
                    pass_at_k(values.len() as u64, passed(1.0) as u64, k).ok()
                }
            }
        };
        self.values
            .iter()
            .map(|(id, values)| Some((id.as_str(), reduce(values)?)))
            .collect()
    }

    /// Returns the reduced values, if there are any.
    fn summarise_values(&self) -> Option<ReducedValues<'_>> {
        let reduced = self.reduce_epochs().filter(|values| !values.is_empty())?;
        let n = reduced.len() as f64;
        let mean = reduced.iter().map(|(_, value)| value).sum::<f64>() / n;
        let squares = reduced
            .iter()
            .map(|(_, value)| (value - mean).powi(2))
            .sum::<f64>();
        Some(ReducedValues {
            values: reduced,
            n,
            mean,
            squares,
        })
    }

    /// Recomputes a metric. Returns `None` if its formula is unknown or there are no values.
    pub fn recompute_metric(&self, metric: &PublishedMetric) -> Option<f64> {
        let ReducedValues {
            values,
            n,
            mean,
            squares,
        } = self.summarise_values()?;
        let variance = if values.len() > 1 {
            squares / (n - 1.0)
        } else {
            0.0
        };
        match metric.kind.as_str() {
            "accuracy" | "mean" => Some(mean),
            "std" => Some(variance.sqrt()),
            "var" => Some(variance),
            "stderr" => match &metric.cluster {
                None => Some((variance / n).sqrt()),
                Some(key) => self.clustered_error(key, &values),
            },
            _ => None,
        }
    }

    /// Returns the mean of the reduced values, its standard error and the number of samples.
    pub fn mean_and_error(&self) -> Option<(f64, Option<f64>, u64)> {
        let ReducedValues {
            values,
            n,
            mean,
            squares,
        } = self.summarise_values()?;
        Some((
            mean,
            (values.len() > 1).then(|| (squares / (n - 1.0) / n).sqrt()),
            values.len() as u64,
        ))
    }

    pub fn all_values(&self) -> impl Iterator<Item = f64> {
        self.values.values().flatten().copied()
    }

    /// Returns the clustered standard error: deviations are added up within a group before squaring, with Inspect's factor for few groups.
    fn clustered_error(&self, key: &str, reduced: &[(&str, f64)]) -> Option<f64> {
        let group = |(id, _): &(&str, f64)| self.clusters.get(&(key.to_owned(), (*id).to_owned()));
        let mut codes: BTreeMap<&String, u32> = BTreeMap::new();
        let mut code = |name| {
            let next = u32::try_from(codes.len()).ok()?;
            Some(*codes.entry(name).or_insert(next))
        };
        let clusters: Vec<u32> = reduced
            .iter()
            .map(|sample| code(group(sample)?))
            .collect::<Option<_>>()?;
        let values: Vec<f64> = reduced.iter().map(|(_, value)| *value).collect();
        clustered_error(&values, &clusters)
    }
}

/// Returns the most frequent value; of several, the first.
fn most_frequent(values: &[f64]) -> f64 {
    let count = |value: f64| {
        values
            .iter()
            .filter(|other| other.to_bits() == value.to_bits())
            .count()
    };
    let mut best = values[0];
    for value in values {
        if count(*value) > count(best) {
            best = *value;
        }
    }
    best
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn tally(reducer: Option<&str>, values: &[(&str, f64)], groups: &[(&str, &str)]) -> ScoreTally {
        let metric = |key: &str, params: Value| {
            PublishedMetric::from_metric(
                key,
                &InspectMetric {
                    value: json!(0.5),
                    params,
                    ..InspectMetric::default()
                },
            )
            .expect("a number")
        };
        let metrics = vec![
            metric("accuracy", json!({})),
            metric("stderr", json!({})),
            metric("stderr", json!({"cluster": "g"})),
        ];
        let mut tally = ScoreTally::new(
            "match".to_owned(),
            "match".to_owned(),
            reducer.map(str::to_owned),
            None,
            metrics,
        );
        for (id, value) in values {
            let group = groups
                .iter()
                .find(|(of, _)| of == id)
                .map_or("", |(_, group)| group);
            tally.add_value(id, *value, &json!({"g": group}));
        }
        tally
    }

    #[test]
    fn grades_are_worth_what_inspect_says() {
        let cases = [
            (json!("C"), Some(1.0)),
            (json!("P"), Some(0.5)),
            (json!("I"), Some(0.0)),
            (json!("N"), Some(0.0)),
            (json!("Yes"), Some(1.0)),
            (json!("0.25"), Some(0.25)),
            (json!("B"), Some(0.0)),
            (json!(true), Some(1.0)),
            (json!(7), Some(7.0)),
            (json!(null), None),
            (json!([1]), None),
        ];
        for (value, expected) in cases {
            assert_eq!(grade_value(&value), expected, "{value}");
        }
        assert!(
            is_not_grade(&json!("B")) && !is_not_grade(&json!("0.25")) && !is_not_grade(&json!(1))
        );
    }

    #[test]
    fn metrics_over_samples_are_those_that_inspect_computes() {
        // Results of inspect_ai's own metrics over 1, 0, 1.
        let plain = tally(
            None,
            &[("a", 1.0), ("b", 0.0), ("c", 1.0)],
            &[("a", "x"), ("b", "x"), ("c", "y")],
        );
        let values: Vec<f64> = plain
            .metrics
            .iter()
            .map(|metric| plain.recompute_metric(metric).expect("known"))
            .collect();
        for (value, expected) in
            values
                .iter()
                .zip([2.0 / 3.0, 1.0 / 3.0, (2.0_f64 * 2.0 / 9.0).sqrt() / 3.0])
        {
            assert!((value - expected).abs() < 1e-12, "{value} {expected}");
        }
        let alone = tally(None, &[("a", 1.0)], &[]);
        assert_eq!(alone.recompute_metric(&alone.metrics[1]), Some(0.0));
    }

    #[test]
    fn epochs_are_reduced_before_they_are_averaged() {
        let values = [
            ("a", 1.0),
            ("a", 0.0),
            ("a", 0.0),
            ("b", 1.0),
            ("b", 1.0),
            ("b", 0.0),
        ];
        let mean = |reducer: &str| {
            let tally = tally(Some(reducer), &values, &[]);
            tally.recompute_metric(&tally.metrics[0])
        };
        let expected = [
            ("mean", 0.5),
            ("median", 0.5),
            ("mode", 0.5),
            ("max", 1.0),
            ("at_least_2", 0.5),
            ("pass_at_2", 5.0 / 6.0),
        ];
        for (reducer, expected) in expected {
            assert!(
                mean(reducer).is_some_and(|mean| (mean - expected).abs() < 1e-12),
                "{reducer} {:?}",
                mean(reducer)
            );
        }
        assert_eq!(mean("my_own"), None);
    }
}
