//! Which runs a command reads, and which names are aliases.

use std::collections::BTreeMap;
use std::sync::Arc;

use chrono::{DateTime, Utc};
use serde::Serialize;

use super::{Run, model_or_none};

/// The filters of all reading commands. An empty filter selects every run.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Filter {
    pub suites: Vec<String>,
    pub approaches: Vec<String>,
    pub models: Vec<String>,
    /// All tags must match.
    pub tags: Vec<(String, String)>,
    /// The earliest time of a selected run. Runs without a time do not match.
    pub since: Option<DateTime<Utc>>,
    pub batch: Option<String>,
    /// Full run ids: a prefix in a tombstone could match later runs.
    pub ids: Vec<String>,
}

impl Filter {
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Returns whether the filter chooses among the runs of an arm.
    pub fn chooses_runs(&self) -> bool {
        !self.tags.is_empty()
            || self.since.is_some()
            || self.batch.is_some()
            || !self.ids.is_empty()
    }

    /// Returns whether `run` is selected. Aliases of suite, approach and model must already be applied.
    pub fn matches(&self, run: &Run) -> bool {
        let one_of = |wanted: &[String], name: &str| {
            wanted.is_empty() || wanted.iter().any(|one| one == name)
        };
        one_of(&self.suites, &run.suite)
            && one_of(&self.approaches, &run.approach)
            && one_of(&self.models, &run.model)
            && self
                .tags
                .iter()
                .all(|(key, value)| run.tags.get(key) == Some(value))
            && self
                .since
                .is_none_or(|since| run.timestamp.is_some_and(|time| time >= since))
            && self
                .batch
                .as_ref()
                .is_none_or(|batch| run.batch_id.as_ref() == Some(batch))
            && (self.ids.is_empty() || self.ids.iter().any(|id| id == run.id.as_str()))
    }
}

/// Aliases from the configuration, applied when reading. Stored records keep their names.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Aliases {
    pub suite: BTreeMap<String, String>,
    pub approach: BTreeMap<String, String>,
    pub model: BTreeMap<String, String>,
    pub item: BTreeMap<String, String>,
}

impl Aliases {
    pub fn is_empty(&self) -> bool {
        self.suite.is_empty()
            && self.approach.is_empty()
            && self.model.is_empty()
            && self.item.is_empty()
    }

    /// Returns the stored names of suites that are shown under one of these names.
    pub fn stored_suites(&self, shown: &[String]) -> Vec<String> {
        let renamed = self
            .suite
            .iter()
            .filter(|(_, name)| shown.contains(name))
            .map(|(stored, _)| stored.clone());
        shown.iter().cloned().chain(renamed).collect()
    }

    /// Returns the run with aliases of suite, approach and model applied, or the same run if it has none. All runs that name no model have
    /// the same word for it.
    pub fn apply_to(&self, run: &Arc<Run>) -> Arc<Run> {
        let none = Some(model_or_none(&run.model)).filter(|word| *word != run.model);
        let (suite, approach, model) = (
            self.suite.get(&run.suite).map(String::as_str),
            self.approach.get(&run.approach).map(String::as_str),
            self.model.get(&run.model).map(String::as_str).or(none),
        );
        if suite.or(approach).or(model).is_none() {
            return Arc::clone(run);
        }
        let mut renamed = Run::clone(run);
        for (name, alias) in [
            (&mut renamed.suite, suite),
            (&mut renamed.approach, approach),
            (&mut renamed.model, model),
        ] {
            if let Some(alias) = alias {
                alias.clone_into(name);
            }
        }
        Arc::new(renamed)
    }
}
