//! The plan of the runs that one command starts together.

use std::collections::BTreeMap;
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::domain::{Problem, RunId, escape_invisible};
use crate::files;

use super::{Store, StoreError, durable};

/// One arm of a plan: its suite, approach and agent.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlannedArm {
    pub suite: String,
    /// The suite's version when the plan was made: its hash, or the name that the store had for it before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub suite_version: Option<String>,
    /// The content of that version. Plans of earlier releases do not have it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub content: Option<PlannedContent>,
    pub approach: String,
    pub model: String,
    /// The agent's id, if the approach asks an agent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// The configured task or question file that the arm was made from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task: Option<String>,
    /// SHA-256 of the agent's or approach's setup. A batch is not resumed with another setup.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub setup: Option<String>,
    /// Tags of the suite, for every run.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub tags: BTreeMap<String, String>,
}

/// Digests of a suite's content when the plan was made. A later plan compares them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlannedContent {
    /// SHA-256 of the content that decides results.
    pub version: String,
    /// Versions of the same content by other ways of hashing, which earlier releases had.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub earlier: Vec<String>,
    /// SHA-256 of every byte, which was the version in earlier releases.
    pub bytes: String,
    /// Part name → SHA-256.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub parts: BTreeMap<String, String>,
}

impl PlannedContent {
    /// Returns whether an arm was planned for the same content. Plans of earlier releases have only the digest of all bytes.
    pub fn matches_arm(&self, planned: &PlannedArm) -> bool {
        match (&planned.content, &planned.suite_version) {
            (Some(content), _) => {
                content.version == self.version || self.earlier.contains(&content.version)
            }
            (None, Some(version)) => self.has_version(version),
            (None, None) => false,
        }
    }

    /// Returns whether this or an earlier release gives the content this version.
    pub fn has_version(&self, version: &str) -> bool {
        [&self.version, &self.bytes]
            .into_iter()
            .chain(&self.earlier)
            .any(|own| own == version)
    }
}

/// One run of a plan.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlannedRun {
    pub id: RunId,
    /// Index of its arm in the plan.
    pub arm: usize,
    /// Counts from 1 within the arm.
    pub index: u32,
    pub seed: u64,
}

/// A run that takes the place of another, which stays on record.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReplacementRun {
    /// The run of this plan.
    pub run: RunId,
    /// The earlier run.
    pub of: RunId,
    pub how: RerunScope,
}

/// What is done again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RerunScope {
    /// The items without an outcome. The others are taken over.
    Items,
    /// Everything.
    Whole,
    /// The tests, of the output that the earlier run left.
    Tests,
}

/// Which items of each suite a plan is about.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Subset {
    /// Number of items, the first of those wanted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<u64>,
    /// Patterns of the items that are wanted. Empty for all.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub items: Vec<String>,
}

impl Subset {
    /// Describes the part in words, or returns `None` if it is the whole suite.
    pub fn description(&self) -> Option<String> {
        let items = (!self.items.is_empty()).then(|| format!("only {}", self.items.join(", ")));
        let parts: Vec<String> = items
            .into_iter()
            .chain(self.limit.map(|limit| format!("first {limit}")))
            .collect();
        (!parts.is_empty()).then(|| parts.join(", "))
    }

    /// Returns the name of the suite that a part is of.
    pub fn whole_suite<'s>(&self, suite: &'s str) -> &'s str {
        self.description()
            .and_then(|name| suite.strip_suffix(&format!(" ({name})")))
            .unwrap_or(suite)
    }

    fn is_whole(&self) -> bool {
        *self == Self::default()
    }
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
    /// The seed that the runs' seeds were drawn from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seed: Option<u64>,
    /// Whether artefacts are not stored.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub without_output: bool,
    /// Whether the runs' programs are not isolated.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub without_isolation: bool,
    /// Whether choices are shuffled with each run's seed.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub shuffle: bool,
    /// The rule by which the plan may end before its last run, as given to the command.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until: Option<String>,
    /// For arms whose questions are chosen until their verdicts are foreseen: the group of each question, a letter each. Questions of `.` are
    /// not asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub question_groups: Option<String>,
    /// The items that are asked of each suite. The suites of the arms are named after it.
    #[serde(default, skip_serializing_if = "Subset::is_whole")]
    pub subset: Subset,
    /// The runs that take the place of earlier ones.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub again: Vec<ReplacementRun>,
    /// Tags of every run, including runs that are done when the plan is resumed.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub tags: BTreeMap<String, String>,
    /// The newest entries of the store's chain when the plan was written.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub previous: Vec<String>,
}

impl Batch {
    /// Writes the plan. Fails if the id exists.
    pub fn save(&self, store: &Store) -> Result<(), StoreError> {
        let path = store.batches_dir().join(format!("{}.json", self.id));
        let plan = Self {
            previous: store.newest_entries()?,
            ..self.clone()
        };
        let mut json = serde_json::to_string_pretty(&plan)
            .expect("a plan is JSON: no map has keys other than strings");
        json.push('\n');
        let json = store.secrets().hide(&json).into_owned();
        durable::create_new(&path, json.as_bytes())
            .map_err(StoreError::io("cannot write", &path))?;
        store
            .added_records()
            .note_file(store.root(), &path, json.as_bytes());
        Ok(())
    }

    pub fn load(path: &Path) -> Result<Self, Problem> {
        let name = path.display().to_string();
        let bytes = files::read(path).map_err(|error| Problem::unread_file(&name, &error))?;
        let batch: Self = serde_json::from_slice(&bytes).map_err(|error| {
            Problem::in_file(
                &name,
                format!(
                    "is not a batch plan: {}",
                    escape_invisible(&error.to_string())
                ),
            )
        })?;
        match batch
            .runs
            .iter()
            .find(|run| run.arm >= batch.arms.len() || RunId::parse(run.id.as_str()).is_err())
        {
            Some(run) => Err(Problem::in_file(
                &name,
                format!(
                    "plans the run `{}`, which is of no arm of it",
                    escape_invisible(run.id.as_str())
                ),
            )),
            None => Ok(batch),
        }
    }

    /// Returns the earlier run whose place a run takes, if it does.
    pub fn replacement_for(&self, run: &RunId) -> Option<&ReplacementRun> {
        self.again.iter().find(|again| again.run == *run)
    }

    /// Returns the runs without a header, in order.
    pub fn open_runs(&self, store: &Store) -> Result<Vec<PlannedRun>, StoreError> {
        Ok(split_committed(&self.runs, store)?
            .1
            .into_iter()
            .cloned()
            .collect())
    }
}

/// Splits planned runs into those with a header and open ones, each in order.
pub fn split_committed<'r>(
    runs: &'r [PlannedRun],
    store: &Store,
) -> Result<(Vec<&'r PlannedRun>, Vec<&'r PlannedRun>), StoreError> {
    let (mut committed, mut open) = (Vec::new(), Vec::new());
    for run in runs {
        if store.has_run(&run.id)? {
            committed.push(run);
        } else {
            open.push(run);
        }
    }
    Ok((committed, open))
}
