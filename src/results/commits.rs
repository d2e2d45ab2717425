//! Which headers the runs of a batch were committed with: one line for each, in a file beside the plan.
//!
//! ```text
//! {"run":"0190…","header":"<sha256>","previous":"<sha256 of the line before, of the first one that of the plan>"}
//! ```
//!
//! A header that is taken away, or written anew with a seal of its own, is missed here.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::domain::RunId;
use crate::files;

use super::appended::Appended;
use super::{StoreError, durable, presence, seal};

/// What the files are called, after the id of the batch.
pub(super) const SUFFIX: &str = ".commits.jsonl";

/// That a run was committed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct CommitLine {
    pub run: RunId,
    /// The digest of the header as it was sealed.
    pub header: String,
    pub previous: String,
}

impl CommitLine {
    /// Says that a run of a batch was committed, where the store has its plan.
    pub fn append(batches: &Path, batch: &str, run: &RunId, header: &str) -> Result<(), StoreError> {
        let plan = batches.join(format!("{batch}.json"));
        if !presence::is_file(&plan).map_err(StoreError::io("cannot look for", &plan))? {
            return Ok(());
        }
        let path = path(&plan);
        let mut file = Appended::open(path)?;
        file.wait_for_lock()?;
        file.end_last_line(|line| serde_json::from_slice::<Self>(line).is_ok())?;
        let (previous, is_first) = match file.last_line()? {
            Some(line) => (line, false),
            None => (files::read(&plan).map_err(StoreError::io("cannot read", &plan))?, true),
        };
        let line = Self { run: run.clone(), header: header.to_owned(), previous: seal::digest(&previous) };
        let mut text = serde_json::to_string(&line).expect("every key of it is text");
        text.push('\n');
        file.append(text.as_bytes())?;
        file.sync()?;
        if is_first { durable::sync_folder(batches).map_err(StoreError::io("cannot sync", batches)) } else { Ok(()) }
    }
}

/// The file that belongs to a plan.
pub(super) fn path(plan: &Path) -> PathBuf {
    let name = plan.file_stem().unwrap_or_default().to_string_lossy();
    plan.with_file_name(format!("{name}{SUFFIX}"))
}
