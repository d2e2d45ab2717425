//! The plan of the runs that one command starts together.

use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::domain::{Problem, visible};

use super::{Store, StoreError, durable};

/// One arm of a plan.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlannedArm {
    pub suite: String,
    /// Content hash of the suite when the plan was made.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub suite_version: Option<String>,
    pub approach: String,
    pub model: String,
    /// One seed per planned run, in the order of their indices.
    pub seeds: Vec<u64>,
}

/// A recorded plan, written before its first run and never changed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Batch {
    pub id: String,
    /// RFC 3339.
    pub created: String,
    pub arms: Vec<PlannedArm>,
}

impl Batch {
    /// Writes the plan; fails when there is one of that id.
    pub fn save(&self, store: &Store) -> Result<(), StoreError> {
        let path = store.batches_dir().join(format!("{}.json", self.id));
        let mut json = serde_json::to_string_pretty(self).expect("a plan is JSON: no map has keys other than strings");
        json.push('\n');
        durable::create_new(&path, json.as_bytes()).map_err(StoreError::io("cannot write", &path))
    }

    pub fn load(path: &Path) -> Result<Self, Problem> {
        let name = path.display().to_string();
        let bytes = std::fs::read(path).map_err(|error| Problem::in_file(&name, format!("cannot read: {error}")))?;
        serde_json::from_slice(&bytes)
            .map_err(|error| Problem::in_file(&name, format!("is not a batch plan: {}", visible(&error.to_string()))))
    }
}
