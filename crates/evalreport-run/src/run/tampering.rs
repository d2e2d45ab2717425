//! Detects foreign files that a run touched: its suite, the configuration, the store.
//!
//! If the system protects these files, there is nothing to detect. Otherwise they are compared before and after each run. Their content is
//! not read: changing a file also changes the time in its inode, which only the clock can set.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use crate::domain::escape_invisible;

/// Number of files named in a reason.
const MAX_NAMED: usize = 5;

/// The state of a file. Every change to the file alters it.
#[derive(Clone, Debug, PartialEq, Eq)]
struct FileState {
    length: u64,
    modified: Option<SystemTime>,
    /// Seconds and nanoseconds of the inode's change time, and the inode's number.
    changed: Option<(i64, i64, u64)>,
    is_folder: bool,
}

impl FileState {
    fn from_metadata(metadata: &fs::Metadata) -> Self {
        let is_folder = metadata.is_dir();
        #[cfg(unix)]
        let changed = {
            use std::os::unix::fs::MetadataExt;
            // A folder changes with every file that a test leaves in it. Its files are checked themselves.
            (!is_folder).then(|| (metadata.ctime(), metadata.ctime_nsec(), metadata.ino()))
        };
        #[cfg(not(unix))]
        let changed = None;
        let file = (!is_folder).then(|| metadata.modified().ok()).flatten();
        Self {
            length: if is_folder { 0 } else { metadata.len() },
            modified: file,
            changed,
            is_folder,
        }
    }
}

/// A snapshot of the states of files.
#[derive(Clone, Debug, Default)]
pub struct FileSnapshot {
    tops: Vec<PathBuf>,
    files: BTreeMap<PathBuf, FileState>,
    /// Whether files may be added and may grow.
    is_growing: bool,
}

impl FileSnapshot {
    /// Records files, and all files in folders.
    pub fn new(tops: impl IntoIterator<Item = PathBuf>) -> Self {
        let tops: Vec<PathBuf> = tops.into_iter().collect();
        Self {
            files: read_states(&tops),
            tops,
            is_growing: false,
        }
    }

    /// Like [`Self::new`], for places where other processes add files and append to them, such as a store.
    pub fn new_growing(tops: impl IntoIterator<Item = PathBuf>) -> Self {
        Self {
            is_growing: true,
            ..Self::new(tops)
        }
    }

    /// Describes the changes since the snapshot. Paths are relative to `root` if possible.
    pub fn list_changes(&self, root: &Path) -> Vec<String> {
        let now = read_states(&self.tops);
        let name = |path: &Path| {
            escape_invisible(
                &path
                    .strip_prefix(root)
                    .unwrap_or(path)
                    .display()
                    .to_string(),
            )
        };
        let mut changes = Vec::new();
        for (path, before) in &self.files {
            match now.get(path) {
                None => changes.push(format!("{} is gone", name(path))),
                Some(after) if self.is_growing && after.length > before.length => {}
                Some(after) if after != before => {
                    changes.push(format!("{} was changed", name(path)));
                }
                Some(_) => {}
            }
        }
        if !self.is_growing {
            changes.extend(
                now.keys()
                    .filter(|path| !self.files.contains_key(*path))
                    .map(|path| format!("{} was added", name(path))),
            );
        }
        changes
    }
}

fn read_states(tops: &[PathBuf]) -> BTreeMap<PathBuf, FileState> {
    let entries = tops.iter().flat_map(|top| {
        // Skips caches and hidden files, which any test runner may change. Python is told to keep no caches there.
        let is_kept = |entry: &walkdir::DirEntry| {
            let name = entry.file_name().to_string_lossy();
            entry.depth() == 0 || !(name.starts_with('.') || name == "__pycache__")
        };
        walkdir::WalkDir::new(top)
            .into_iter()
            .filter_entry(is_kept)
            .filter_map(Result::ok)
    });
    entries
        .filter_map(|entry| {
            Some((
                entry.path().to_owned(),
                FileState::from_metadata(&fs::symlink_metadata(entry.path()).ok()?),
            ))
        })
        .collect()
}

/// Returns the reason for the failure of a run that made these changes.
pub fn tampering_reason(changes: &[String]) -> String {
    let named = changes
        .iter()
        .take(MAX_NAMED)
        .cloned()
        .collect::<Vec<_>>()
        .join(", ");
    match changes.len().saturating_sub(MAX_NAMED) {
        0 => format!("tampered: {named}"),
        more => format!("tampered: {named}, and {more} more"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_change_of_a_file_is_seen() {
        let folder = tempfile::tempdir().expect("a folder");
        let of = |name: &str| folder.path().join(name);
        let write = |name: &str, text: &str| fs::write(of(name), text).expect("room");
        fs::create_dir(of("sub")).expect("room");
        for name in ["a", "b", "sub/c", "d"] {
            write(name, "text");
        }
        let (strict, growing) = (
            FileSnapshot::new([folder.path().to_owned()]),
            FileSnapshot::new_growing([folder.path().to_owned()]),
        );
        assert!(
            strict.list_changes(folder.path()).is_empty()
                && growing.list_changes(folder.path()).is_empty()
        );
        write("a", "TEXT");
        let time = fs::metadata(of("d"))
            .and_then(|metadata| metadata.modified())
            .expect("a time");
        write("b", "text and more");
        fs::remove_file(of("sub/c")).expect("it was there");
        write("new", "");
        write(".cache", "");
        // Writes the same text again and resets the modification time.
        write("d", "test");
        fs::File::options()
            .write(true)
            .open(of("d"))
            .and_then(|file| file.set_modified(time))
            .expect("it is ours");
        let strict = strict.list_changes(folder.path());
        assert_eq!(
            strict,
            [
                "a was changed",
                "b was changed",
                "d was changed",
                "sub/c is gone",
                "new was added"
            ]
        );
        assert_eq!(
            growing.list_changes(folder.path()),
            ["a was changed", "d was changed", "sub/c is gone"]
        );
        assert_eq!(
            tampering_reason(&strict),
            "tampered: a was changed, b was changed, d was changed, sub/c is gone, new was added"
        );
    }
}
