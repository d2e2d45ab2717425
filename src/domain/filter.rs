//! Which runs a command looks at, and which names mean the same.

use std::collections::BTreeMap;
use std::sync::Arc;

use chrono::{DateTime, Utc};
use serde::Serialize;

use super::Run;

/// The filters that every reading command takes. An empty filter selects every run.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Filter {
    pub suites: Vec<String>,
    pub approaches: Vec<String>,
    pub models: Vec<String>,
    /// All must match.
    pub tags: Vec<(String, String)>,
    /// Runs without a time do not match.
    pub since: Option<DateTime<Utc>>,
    pub batch: Option<String>,
    /// Whole run ids: a tombstone must not reach runs that come later.
    pub ids: Vec<String>,
}

impl Filter {
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Says whether `run` is selected. Suite, approach and model are matched after aliases were applied.
    pub fn matches(&self, run: &Run) -> bool {
        let one_of = |wanted: &[String], name: &str| wanted.is_empty() || wanted.iter().any(|one| one == name);
        one_of(&self.suites, &run.suite)
            && one_of(&self.approaches, &run.approach)
            && one_of(&self.models, &run.model)
            && self.tags.iter().all(|(key, value)| run.tags.get(key) == Some(value))
            && self.since.is_none_or(|since| run.timestamp.is_some_and(|time| time >= since))
            && self.batch.as_ref().is_none_or(|batch| run.batch_id.as_ref() == Some(batch))
            && (self.ids.is_empty() || self.ids.iter().any(|id| id == run.id.as_str()))
    }
}

/// Names that the configuration maps to other names at query time. The stored records keep their own.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Aliases {
    pub suite: BTreeMap<String, String>,
    pub approach: BTreeMap<String, String>,
    pub model: BTreeMap<String, String>,
    pub item: BTreeMap<String, String>,
}

impl Aliases {
    pub fn is_empty(&self) -> bool {
        self.suite.is_empty() && self.approach.is_empty() && self.model.is_empty() && self.item.is_empty()
    }

    /// Returns the run under its aliases: suite, approach and model; the same run where it has none.
    pub fn applied(&self, run: &Arc<Run>) -> Arc<Run> {
        let (suite, approach, model) = (self.suite.get(&run.suite), self.approach.get(&run.approach), self.model.get(&run.model));
        if suite.or(approach).or(model).is_none() {
            return Arc::clone(run);
        }
        let mut renamed = Run::clone(run);
        for (name, alias) in [(&mut renamed.suite, suite), (&mut renamed.approach, approach), (&mut renamed.model, model)] {
            if let Some(alias) = alias {
                name.clone_from(alias);
            }
        }
        Arc::new(renamed)
    }
}
