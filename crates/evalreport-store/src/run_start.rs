//! `<id>/begun.json`: what a recorded run is, stored before its first outcome. Runs of `run` and `eval` have a plan instead.

use std::collections::BTreeMap;
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::domain::{Problem, Run, RunId, escape_invisible};
use crate::files;

use super::{Store, StoreError, durable};

/// Name of the file in the run's folder.
const RUN_START_FILE: &str = "begun.json";

/// The part of a header that is known before the first outcome.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunStart {
    pub suite: String,
    pub approach: String,
    #[serde(default)]
    pub model: String,
    /// When the run began: RFC 3339.
    pub begun: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub batch_id: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run_index: Option<u32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seed: Option<u64>,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub tags: BTreeMap<String, String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub suite_version: Option<String>,
}

impl RunStart {
    /// Writes the file. The caller has the run's journal, and so its lock.
    pub fn save(&self, store: &Store, id: &RunId) -> Result<(), StoreError> {
        let path = store.run_dir(id).join(RUN_START_FILE);
        let json = serde_json::to_string(self)
            .expect("it is JSON: no map has keys other than strings")
            + "\n";
        durable::create_new(&path, store.secrets().hide(&json).as_bytes())
            .map_err(StoreError::io("cannot write", &path))
    }

    /// Reads the file in a run's folder. Returns `None` if there is none.
    pub fn load(folder: &Path) -> Result<Option<Self>, Problem> {
        let path = folder.join(RUN_START_FILE);
        let name = escape_invisible(&path.display().to_string());
        match files::missing_as_none(files::read(&path)) {
            Ok(None) => Ok(None),
            Ok(Some(bytes)) => serde_json::from_slice(&bytes).map(Some).map_err(|error| {
                Problem::in_file(
                    &name,
                    format!(
                        "does not say which run was begun: {}",
                        escape_invisible(&error.to_string())
                    ),
                )
            }),
            Err(error) => Err(Problem::unread_file(&name, &error)),
        }
    }

    /// Returns the run as far as it is known.
    pub fn to_run(&self, id: &RunId) -> Run {
        Run {
            agent: self.agent.clone(),
            batch_id: self.batch_id.clone(),
            run_index: self.run_index,
            seed: self.seed,
            tags: self.tags.clone(),
            suite_version: self.suite_version.clone(),
            ..Run::new(id.clone(), &self.suite, &self.approach, &self.model)
        }
    }
}
