//! Artefacts of an agent, stored beside the run's record.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::fs::{self};
use std::io;
use std::path::{Path, PathBuf};

use crate::domain::RunId;
use crate::files;

use super::{Store, StoreError, durable};

/// Maximum size of the stored artefacts. More is the output of a build, not of an agent.
const MOST_BYTES: u64 = 32 << 20;

impl Store {
    /// Copies files, named below `from`, to `<id>/output`, and returns that folder. Files that exceed a total of 32 MiB are skipped.
    /// Returns `None` if there is nothing to keep.
    pub fn keep_output(&self, id: &RunId, from: &Path, files: &[PathBuf]) -> Result<Option<PathBuf>, StoreError> {
        let folder = self.run_dir(id).join("output");
        files::if_there(fs::remove_dir_all(&folder)).map_err(StoreError::io("cannot clear", &folder))?;
        let mut left = MOST_BYTES;
        let mut folders = BTreeSet::new();
        for file in files {
            let Ok(metadata) = fs::symlink_metadata(from.join(file)) else { continue };
            if !metadata.is_file() || metadata.len() > left {
                continue;
            }
            left -= metadata.len();
            let target = folder.join(self.hidden_name(file, &folder));
            let parent = target.parent().unwrap_or(&folder);
            let copy = || -> io::Result<()> {
                fs::create_dir_all(parent)?;
                if self.secrets().is_empty() {
                    fs::copy(from.join(file), &target)?;
                } else {
                    fs::write(&target, self.secrets().hide_bytes(&files::read(from.join(file))?))?;
                    fs::set_permissions(&target, metadata.permissions())?;
                }
                // The header refers to the files and must not outlive them in a power cut.
                files::open(&target)?.sync_all()
            };
            copy().map_err(StoreError::io("cannot write", &target))?;
            folders.extend(parent.ancestors().take_while(|above| above.starts_with(&folder)).map(Path::to_owned));
        }
        for folder in &folders {
            durable::sync_folder(folder).map_err(StoreError::io("cannot sync", folder))?;
        }
        Ok((!folders.is_empty()).then_some(folder))
    }

    /// Returns the name under which a file is stored: its own, without the secrets in it. A key with slashes may go over several folders.
    fn hidden_name(&self, file: &Path, folder: &Path) -> PathBuf {
        let name = file.to_string_lossy();
        let Cow::Owned(hidden) = self.secrets().hide(&name) else { return file.to_owned() };
        let mut unused = (2..).map(|number| PathBuf::from(format!("{hidden}-{number}")));
        let first = PathBuf::from(&hidden);
        if folder.join(&first).exists() { unused.find(|name| !folder.join(name).exists()).unwrap_or(first) } else { first }
    }
}
