//! What an agent made, kept beside the run's record.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::domain::RunId;

use super::{Store, StoreError};

/// More than this is no result of an agent's work but of a build.
const MOST_BYTES: u64 = 32 << 20;

impl Store {
    /// Copies files, named below `from`, to `<id>/output`, and returns that folder. What does not fit within 32 MiB is left out; none where
    /// there is nothing to keep.
    pub fn keep_output(&self, id: &RunId, from: &Path, files: &[PathBuf]) -> Result<Option<PathBuf>, StoreError> {
        let folder = self.run_dir(id).join("output");
        let cleared = match fs::remove_dir_all(&folder) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            Ok(()) | Err(_) => Ok(()),
        };
        cleared.map_err(StoreError::io("cannot clear", &folder))?;
        let mut left = MOST_BYTES;
        let mut is_empty = true;
        for file in files {
            let Ok(metadata) = fs::symlink_metadata(from.join(file)) else { continue };
            if !metadata.is_file() || metadata.len() > left {
                continue;
            }
            left -= metadata.len();
            let target = folder.join(file);
            let copy = || -> io::Result<()> {
                fs::create_dir_all(target.parent().unwrap_or(&folder))?;
                fs::copy(from.join(file), &target).map(|_| ())
            };
            copy().map_err(StoreError::io("cannot write", &target))?;
            is_empty = false;
        }
        Ok((!is_empty).then_some(folder))
    }
}
