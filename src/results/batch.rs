//! The plan of the runs that one command starts together.

use std::collections::BTreeMap;
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::domain::{Problem, RunId, visible};
use crate::files;

use super::{Store, StoreError, durable};

/// One arm of a plan: what is asked, and of whom.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlannedArm {
    pub suite: String,
    /// The name of what the suite was when the plan was made: its hash, or the one under which the store knew it before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub suite_version: Option<String>,
    /// What that version is of; plans of earlier releases do not say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub content: Option<PlannedContent>,
    pub approach: String,
    pub model: String,
    /// The id of the agent, where the approach is asked through one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// The task of the configuration, or the file of questions, that the arm was made from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task: Option<String>,
    /// SHA-256 of how the agent or approach was set up: a batch is not gone on with by another one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub setup: Option<String>,
    /// Of the suite, for every run.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub tags: BTreeMap<String, String>,
}

/// What a suite was made of when a plan was made, by which a later plan knows whether it is the same.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlannedContent {
    /// SHA-256 of what decides.
    pub version: String,
    /// SHA-256 of every byte: the version of earlier releases.
    pub bytes: String,
    /// Name of a part → SHA-256.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub parts: BTreeMap<String, String>,
}

impl PlannedContent {
    /// Says whether an arm was planned for the same content. Plans of earlier releases know the bytes alone.
    pub fn is_of(&self, planned: &PlannedArm) -> bool {
        match (&planned.content, &planned.suite_version) {
            (Some(content), _) => content.version == self.version,
            (None, Some(version)) => [&self.version, &self.bytes].contains(&version),
            (None, None) => false,
        }
    }
}

/// One run of a plan.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlannedRun {
    pub id: RunId,
    /// Place of its arm among the plan's arms.
    pub arm: usize,
    /// Counts from 1 within the arm.
    pub index: u32,
    pub seed: u64,
}

/// A recorded plan, written before its first run and never changed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Batch {
    pub id: String,
    /// RFC 3339.
    pub created: String,
    pub arms: Vec<PlannedArm>,
    /// In the order in which they are started.
    #[serde(default)]
    pub runs: Vec<PlannedRun>,
    /// What the runs' seeds were drawn from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seed: Option<u64>,
    /// What was made is left out of the results.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub without_output: bool,
    /// Nothing keeps the runs' programs from what is not theirs.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub without_isolation: bool,
    /// Choices are put in an order drawn from each run's seed.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub shuffle: bool,
    /// The rule by which the plan may end before its last run, as the command was given it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until: Option<String>,
    /// Of every run: also of those that are done when the plan is resumed.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub tags: BTreeMap<String, String>,
}

impl Batch {
    /// Writes the plan; fails when there is one of that id.
    pub fn save(&self, store: &Store) -> Result<(), StoreError> {
        let path = store.batches_dir().join(format!("{}.json", self.id));
        let mut json = serde_json::to_string_pretty(self).expect("a plan is JSON: no map has keys other than strings");
        json.push('\n');
        let json = store.secrets().hide(&json).into_owned();
        durable::create_new(&path, json.as_bytes()).map_err(StoreError::io("cannot write", &path))
    }

    pub fn load(path: &Path) -> Result<Self, Problem> {
        let name = path.display().to_string();
        let bytes = files::read(path).map_err(|error| Problem::unread(&name, &error))?;
        let batch: Self = serde_json::from_slice(&bytes)
            .map_err(|error| Problem::in_file(&name, format!("is not a batch plan: {}", visible(&error.to_string()))))?;
        match batch.runs.iter().find(|run| run.arm >= batch.arms.len() || RunId::parse(run.id.as_str()).is_err()) {
            Some(run) => Err(Problem::in_file(&name, format!("plans the run `{}`, which is of no arm of it", visible(run.id.as_str())))),
            None => Ok(batch),
        }
    }

    /// The runs that have no header yet, in their order.
    pub fn open_runs(&self, store: &Store) -> Result<Vec<PlannedRun>, StoreError> {
        Ok(parted(&self.runs, store)?.1.into_iter().cloned().collect())
    }
}

/// Tells planned runs that have their header from those that are open, each in their order.
pub fn parted<'r>(runs: &'r [PlannedRun], store: &Store) -> Result<(Vec<&'r PlannedRun>, Vec<&'r PlannedRun>), StoreError> {
    let (mut committed, mut open) = (Vec::new(), Vec::new());
    for run in runs {
        if store.has(&run.id)? {
            committed.push(run);
        } else {
            open.push(run);
        }
    }
    Ok((committed, open))
}
