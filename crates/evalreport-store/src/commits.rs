//! The digests of the headers of a batch's committed runs: one line per run, in a file beside the plan.
//!
//! ```text
//! {"run":"0190…","header":"<sha256>","previous":"<sha256 of the line before; in the first line, of the plan>"}
//! ```
//!
//! It reveals headers that were deleted, or rewritten with a new seal.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::domain::RunId;
use crate::files;

use super::append_log::AppendLog;
use super::{StoreError, durable, presence, seal};

/// Suffix of these files, after the batch's id.
pub(super) const COMMITS_SUFFIX: &str = ".commits.jsonl";

/// The record of one commit.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct CommitLine {
    pub run: RunId,
    /// The digest of the sealed header.
    pub header: String,
    pub previous: String,
}

impl CommitLine {
    /// Records the commit of a run, if the store has the plan of its batch. Returns the path of the list and the line.
    pub fn record_commit(
        batches: &Path,
        batch: &str,
        run: &RunId,
        header: &str,
    ) -> Result<Option<(PathBuf, String)>, StoreError> {
        let plan = batches.join(format!("{batch}.json"));
        if !presence::is_file(&plan).map_err(StoreError::io("cannot look for", &plan))? {
            return Ok(None);
        }
        let path = commits_path(&plan);
        let mut file = AppendLog::open(path.clone())?;
        file.wait_for_lock()?;
        file.end_last_line(|line| serde_json::from_slice::<Self>(line).is_ok())?;
        let (previous, is_first) = match file.read_last_line()? {
            Some(line) => (line, false),
            None => (
                files::read(&plan).map_err(StoreError::io("cannot read", &plan))?,
                true,
            ),
        };
        let line = Self {
            run: run.clone(),
            header: header.to_owned(),
            previous: seal::sha256_hex(&previous),
        };
        let mut text = serde_json::to_string(&line).expect("every key of it is text");
        text.push('\n');
        file.append(text.as_bytes())?;
        file.sync()?;
        if is_first {
            durable::sync_folder(batches).map_err(StoreError::io("cannot sync", batches))?;
        }
        Ok(Some((path, text)))
    }
}

/// Returns the path of a plan's list of commits.
pub(super) fn commits_path(plan: &Path) -> PathBuf {
    let name = plan.file_stem().unwrap_or_default().to_string_lossy();
    plan.with_file_name(format!("{name}{COMMITS_SUFFIX}"))
}
