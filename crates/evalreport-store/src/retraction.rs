//! Tombstones: retracted runs, which views hide and count, with the reason.

use std::collections::BTreeMap;
use std::fs;
use std::io;

use chrono::{DateTime, SecondsFormat, Utc};
use serde::{Deserialize, Serialize};

use crate::domain::{Filter, Problem, Problems, Run, escape_invisible};
use crate::files;

use super::append_log::AppendLog;
use super::{Store, StoreError, durable};

/// A tombstone, or the undo of one with the same selector.
#[derive(Clone, Debug, PartialEq)]
pub struct Retraction {
    pub selector: Filter,
    pub reason: String,
    pub time: DateTime<Utc>,
    pub undo: bool,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct WireSelector {
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    suite: Vec<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    approach: Vec<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    model: Vec<String>,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    tag: BTreeMap<String, String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    since: Option<DateTime<Utc>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    batch: Option<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    id: Vec<String>,
}

#[derive(Serialize, Deserialize)]
struct WireRetraction {
    selector: WireSelector,
    #[serde(default)]
    reason: String,
    time: String,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    undo: bool,
}

const MISSING_TOMBSTONE_HINT: &str = "without the tombstone, runs would count that were retracted: mend the line, or delete it if it says nothing";

/// The valid tombstones of a store, in order of creation.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Retractions {
    pub standing: Vec<Retraction>,
    /// Runs that were retracted and shown again, by the ids in the tombstones.
    pub undone: Vec<String>,
}

impl Retractions {
    /// Reads the tombstones. An undo removes every earlier one with the same selector.
    ///
    /// Fails if any tombstone cannot be read, because retracted runs would be shown. Only a half last line is ignored: the command that
    /// wrote it reported that nothing was retracted.
    pub fn load(store: &Store) -> Result<Self, Problems> {
        let path = store.retractions_path();
        let name = path.display().to_string();
        let bytes = match files::read(&path) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Self::default()),
            Err(error) => {
                return Err(Problems(vec![
                    Problem::unread_file(name, &error).with_hint(MISSING_TOMBSTONE_HINT),
                ]));
            }
        };
        let (mut standing, mut undone, mut problems) =
            (Vec::<Retraction>::new(), Vec::new(), Vec::new());
        let lines = (1..)
            .zip(bytes.split_inclusive(|byte| *byte == b'\n'))
            .filter(|(_, line)| !line.trim_ascii().is_empty());
        for (number, line) in lines {
            match parse_retraction(line) {
                Ok(retraction) if retraction.undo => {
                    standing.retain(|earlier| earlier.selector != retraction.selector);
                    undone.extend(retraction.selector.ids);
                }
                Ok(retraction) => standing.push(retraction),
                Err(_) if !line.ends_with(b"\n") => {}
                Err(message) => problems.push(
                    Problem::at_line(&name, number, message).with_hint(MISSING_TOMBSTONE_HINT),
                ),
            }
        }
        if problems.is_empty() {
            Ok(Self { standing, undone })
        } else {
            Err(Problems(problems))
        }
    }

    /// Returns the tombstone that hides the run, if one does: one that names the run comes first.
    pub fn tombstone_for(&self, run: &Run) -> Option<&Retraction> {
        let hiding = || {
            self.standing
                .iter()
                .filter(|retraction| retraction.selector.matches(run))
        };
        hiding()
            .find(|retraction| retraction.names_runs())
            .or_else(|| hiding().next())
    }
}

impl Retraction {
    /// Returns whether the tombstone names its runs by their ids.
    pub fn names_runs(&self) -> bool {
        !self.selector.ids.is_empty()
    }

    /// Appends the tombstone.
    pub fn append_to(&self, store: &Store) -> Result<(), StoreError> {
        let mut line = self.to_line();
        line.push('\n');
        fs::create_dir_all(store.root()).map_err(StoreError::io("cannot create", store.root()))?;
        let mut file = AppendLog::open(store.retractions_path())?;
        file.wait_for_lock()?;
        file.end_last_line(|line| parse_retraction(line).is_ok())?;
        file.append(line.as_bytes())?;
        file.sync()?;
        store
            .added_records()
            .note_line(store.root(), &store.retractions_path(), line.as_bytes());
        durable::sync_folder(store.root()).map_err(StoreError::io("cannot sync", store.root()))
    }

    /// Returns the tombstone as one line of JSON, without a line break.
    pub(super) fn to_line(&self) -> String {
        let wire = WireRetraction {
            selector: WireSelector {
                suite: self.selector.suites.clone(),
                approach: self.selector.approaches.clone(),
                model: self.selector.models.clone(),
                tag: self.selector.tags.iter().cloned().collect(),
                since: self.selector.since,
                batch: self.selector.batch.clone(),
                id: self.selector.ids.clone(),
            },
            reason: self.reason.clone(),
            time: self.time.to_rfc3339_opts(SecondsFormat::Secs, true),
            undo: self.undo,
        };
        serde_json::to_string(&wire)
            .expect("a tombstone is JSON: no map has keys other than strings")
    }
}

pub(super) fn parse_retraction(line: &[u8]) -> Result<Retraction, String> {
    let wire: WireRetraction = serde_json::from_slice(line).map_err(|error| {
        format!(
            "is not a tombstone: {}",
            escape_invisible(&error.to_string())
        )
    })?;
    let selector = Filter {
        suites: wire.selector.suite,
        approaches: wire.selector.approach,
        models: wire.selector.model,
        tags: wire.selector.tag.into_iter().collect(),
        since: wire.selector.since,
        batch: wire.selector.batch,
        ids: wire.selector.id,
    };
    if selector.is_empty() {
        return Err("is a tombstone that selects every run".to_owned());
    }
    let time = DateTime::parse_from_rfc3339(&wire.time)
        .map_err(|error| format!("key `time`: {error}"))?
        .to_utc();
    Ok(Retraction {
        selector,
        reason: wire.reason,
        time,
        undo: wire.undo,
    })
}
