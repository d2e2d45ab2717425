//! Artefacts of an agent, stored beside the run's record.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::domain::RunId;
use crate::files;

use super::{Store, StoreError, durable};

/// Maximum size of the stored artefacts. More is the output of a build, not of an agent.
const MAX_BYTES: u64 = 32 << 20;

/// What was kept of a workspace.
#[derive(Debug, Default)]
pub struct KeptFiles {
    /// The folder of the kept files, or `None` if there are none.
    pub folder: Option<PathBuf>,
    /// The files that were not kept, with reasons.
    pub left_out: Vec<(PathBuf, String)>,
}

impl Store {
    /// Copies files, named below `from`, to `<id>/output`. Leaves out files that exceed a total of 32 MiB, that cannot be read, or whose path would
    /// be too long there.
    pub fn keep_output(
        &self,
        id: &RunId,
        from: &Path,
        files: &[PathBuf],
    ) -> Result<KeptFiles, StoreError> {
        let folder = self.run_dir(id).join("output");
        files::remove_tree(&folder).map_err(StoreError::io("cannot clear", &folder))?;
        let mut left = MAX_BYTES;
        let (mut kept, mut written, mut folders) =
            (KeptFiles::default(), Vec::new(), BTreeSet::new());
        for file in files {
            let Ok(metadata) = fs::symlink_metadata(from.join(file))
                .map_err(|error| kept.exclude_file(file, &error))
            else {
                continue;
            };
            if !metadata.is_file() {
                continue;
            }
            if metadata.len() > left {
                kept.left_out.push((
                    file.clone(),
                    format!("more than {} MiB in all", MAX_BYTES >> 20),
                ));
                continue;
            }
            let Ok(bytes) =
                files::read(from.join(file)).map_err(|error| kept.exclude_file(file, &error))
            else {
                continue;
            };
            left = left.saturating_sub(bytes.len() as u64);
            let target = folder.join(self.redacted_name(file, &folder));
            let parent = target.parent().unwrap_or(&folder);
            let copy = || -> io::Result<()> {
                fs::create_dir_all(parent)?;
                fs::write(&target, self.secrets().hide_bytes(&bytes))?;
                fs::set_permissions(&target, readable(&metadata.permissions()))
            };
            match copy() {
                Err(error) if error.kind() == io::ErrorKind::InvalidFilename => {
                    kept.exclude_file(file, &error);
                }
                copied => {
                    copied.map_err(StoreError::io("cannot write", &target))?;
                    folders.extend(
                        parent
                            .ancestors()
                            .take_while(|above| above.starts_with(&folder))
                            .map(Path::to_owned),
                    );
                    written.push(target);
                }
            }
        }
        // The header refers to the files and must not outlive them in a power cut.
        durable::sync_files(&written, &folders).map_err(StoreError::io("cannot sync", &folder))?;
        kept.folder = (!folders.is_empty()).then_some(folder);
        Ok(kept)
    }

    /// Returns the name under which a file is stored: its own, without the secrets in it. A key with slashes may go over several folders.
    fn redacted_name(&self, file: &Path, folder: &Path) -> PathBuf {
        let name = file.to_string_lossy();
        let Cow::Owned(hidden) = self.secrets().hide(&name) else {
            return file.to_owned();
        };
        let mut unused = (2..).map(|number| PathBuf::from(format!("{hidden}-{number}")));
        let first = PathBuf::from(&hidden);
        if folder.join(&first).exists() {
            unused
                .find(|name| !folder.join(name).exists())
                .unwrap_or(first)
        } else {
            first
        }
    }
}

impl KeptFiles {
    fn exclude_file(&mut self, file: &Path, error: &io::Error) {
        self.left_out.push((file.to_owned(), error.to_string()));
    }
}

/// Returns permissions with which the owner can read and remove a copy, and that give nobody more than the file's contents.
#[cfg(unix)]
fn readable(permissions: &fs::Permissions) -> fs::Permissions {
    use std::os::unix::fs::PermissionsExt;
    fs::Permissions::from_mode(permissions.mode() & 0o777 | 0o600)
}

#[cfg(not(unix))]
fn readable(permissions: &fs::Permissions) -> fs::Permissions {
    permissions.clone()
}
