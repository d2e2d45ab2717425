//! A run's item journal while the run is going on.

use std::fs::{self, File, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};

use crate::domain::ItemOutcome;

use super::{StoreError, durable, item_line};

/// Appends item outcomes to `<id>/items.jsonl`. Holds the file's lock, so that others can tell a run in flight from an abandoned one.
#[derive(Debug)]
pub struct Journal {
    path: PathBuf,
    file: File,
}

impl Journal {
    pub(super) fn open(run_dir: &Path) -> Result<Self, StoreError> {
        fs::create_dir_all(run_dir).map_err(StoreError::io("cannot create", run_dir))?;
        let path = run_dir.join("items.jsonl");
        let file = OpenOptions::new().append(true).create(true).open(&path).map_err(StoreError::io("cannot open", &path))?;
        file.lock().map_err(StoreError::io("cannot lock", &path))?;
        durable::sync_folder(run_dir).map_err(StoreError::io("cannot sync", run_dir))?;
        Ok(Self { path, file })
    }

    /// Appends one outcome with one write, so that a crash leaves whole lines and at most one cut one.
    pub fn append(&mut self, outcome: &ItemOutcome) -> Result<(), StoreError> {
        let mut line = String::new();
        item_line::write_item_line(outcome, false, &mut line);
        self.file.write_all(line.as_bytes()).map_err(StoreError::io("cannot append to", &self.path))
    }

    /// Makes what was appended survive a power cut.
    pub fn sync(&self) -> Result<(), StoreError> {
        self.file.sync_all().map_err(StoreError::io("cannot sync", &self.path))
    }
}

/// Says whether a process holds the journal of a run without a header.
pub(super) fn is_in_flight(run_dir: &Path) -> bool {
    File::open(run_dir.join("items.jsonl")).is_ok_and(|file| matches!(file.try_lock_shared(), Err(fs::TryLockError::WouldBlock)))
}
