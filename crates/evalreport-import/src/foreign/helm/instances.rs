//! Statistics of every instance: a few numbers each, kept until the requests with their texts are read.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::super::json::{to_count, to_text};
use super::super::running_mean::RunningMean;
use super::wire::{InstanceStats, perturbation_name};

/// Key of one attempt at an instance, or at a perturbed copy of it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct InstanceKey {
    pub id: String,
    pub perturbation: Option<String>,
    pub trial: u64,
}

/// A metric over the instances of a split.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct MetricName {
    pub metric: String,
    pub split: String,
    pub sub_split: Option<String>,
}

#[derive(Default)]
pub(super) struct InstanceValues {
    pub split: String,
    /// Values, each with the index of its metric.
    pub values: Vec<(usize, f64)>,
}

#[derive(Default)]
pub(super) struct InstanceTable {
    by_key: BTreeMap<InstanceKey, InstanceValues>,
    metrics: Vec<String>,
    numbers: BTreeMap<String, usize>,
    /// Values over unperturbed instances, by trial.
    over: BTreeMap<MetricName, BTreeMap<u64, RunningMean>>,
}

impl InstanceKey {
    pub fn parse(id: &Value, trial: &Value, change: &Value) -> Option<Self> {
        let id = to_text(id).filter(|id| !id.is_empty())?;
        Some(Self {
            id,
            perturbation: perturbation_name(change),
            trial: to_count(trial).unwrap_or(0),
        })
    }
}

impl InstanceTable {
    /// Takes the statistics of an instance. Returns false if it has no id.
    pub fn add_stats(&mut self, stats: &InstanceStats) -> bool {
        let Some(key) = InstanceKey::parse(
            &stats.instance_id,
            &stats.train_trial_index,
            &stats.perturbation,
        ) else {
            return false;
        };
        let kept = self.by_key.entry(key.clone()).or_default();
        for stat in stats.stats.iter().filter_map(|stat| stat.0.as_ref()) {
            let Some(name) = &stat.name.0 else { continue };
            let (Some(metric), Some(value)) = (to_text(&name.name), stat.instance_value()) else {
                continue;
            };
            let split = to_text(&name.split).unwrap_or_default();
            let number = *self.numbers.entry(metric.clone()).or_insert_with(|| {
                self.metrics.push(metric.clone());
                self.metrics.len() - 1
            });
            if key.perturbation.is_none() && name.perturbation.is_null() {
                let over = MetricName {
                    metric,
                    split: split.clone(),
                    sub_split: to_text(&name.sub_split),
                };
                self.over
                    .entry(over)
                    .or_default()
                    .entry(key.trial)
                    .or_default()
                    .add(value);
            }
            kept.split = split;
            kept.values.push((number, value));
        }
        true
    }

    pub fn keys(&self) -> impl Iterator<Item = &InstanceKey> {
        self.by_key.keys()
    }

    pub fn get(&self, key: &InstanceKey) -> Option<&InstanceValues> {
        self.by_key.get(key)
    }

    pub fn metric_name(&self, number: usize) -> &str {
        &self.metrics[number]
    }

    /// Returns the metrics' names in the order of their first use.
    pub fn metric_names(&self) -> impl Iterator<Item = &str> {
        self.metrics.iter().map(String::as_str)
    }

    pub fn splits(&self) -> BTreeSet<&str> {
        self.over.keys().map(|name| name.split.as_str()).collect()
    }

    /// Returns whether every value of the metric over the split is 0 or 1.
    pub fn is_graded(&self, metric: &str, split: &str) -> bool {
        let start = MetricName {
            metric: metric.to_owned(),
            split: split.to_owned(),
            sub_split: None,
        };
        let own = self
            .over
            .range(start..)
            .take_while(|(name, _)| name.metric == metric && name.split == split);
        let mut of = own.flat_map(|(_, trials)| trials.values());
        let first = of.next().is_some_and(RunningMean::is_graded);
        first && of.all(RunningMean::is_graded)
    }

    /// Returns the mean over trials of the means over instances, as HELM computes it.
    pub fn mean(&self, name: &MetricName) -> Option<f64> {
        let mut over = RunningMean::default();
        for trial in self.over.get(name)?.values() {
            over.add(trial.mean()?);
        }
        over.mean()
    }

    /// Returns the standard error over the instances of the only trial, or `None` if there are several trials.
    pub fn standard_error(&self, name: &MetricName) -> Option<f64> {
        let trials = self.over.get(name)?;
        trials
            .values()
            .next()
            .filter(|_| trials.len() == 1)?
            .standard_error()
    }

    pub fn n(&self, name: &MetricName) -> u64 {
        self.over
            .get(name)
            .map_or(0, |trials| trials.values().map(RunningMean::n).sum())
    }
}
