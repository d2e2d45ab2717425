//! What a command adds to a store, noted until the chain has an entry about it.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use super::seal::sha256_hex;

/// What a command added to a store so far. Copies share it.
#[derive(Clone, Debug, Default)]
pub struct AddedRecords(Arc<Mutex<AddedDigests>>);

/// Digests by path in the store.
#[derive(Debug, Default)]
pub(super) struct AddedDigests {
    /// Of files that never change.
    pub files: BTreeMap<String, String>,
    /// Of lines, without line breaks.
    pub lines: BTreeMap<String, Vec<String>>,
}

impl AddedRecords {
    /// Notes a file that never changes. `root` is the store's folder.
    pub(super) fn note_file(&self, root: &Path, path: &Path, bytes: &[u8]) {
        self.note_under_path(root, path, |noted, path| {
            noted.files.insert(path, sha256_hex(bytes));
        });
    }

    /// Notes a line of a file that is appended to.
    pub(super) fn note_line(&self, root: &Path, path: &Path, line: &[u8]) {
        self.note_under_path(root, path, |noted, path| {
            noted
                .lines
                .entry(path)
                .or_default()
                .push(sha256_hex(line.trim_ascii_end()));
        });
    }

    /// Notes a line that has a digest of those before it, which need not be noted.
    pub(super) fn note_last_line(&self, root: &Path, path: &Path, line: &[u8]) {
        self.note_under_path(root, path, |noted, path| {
            noted
                .lines
                .insert(path, vec![sha256_hex(line.trim_ascii_end())]);
        });
    }

    /// Notes something under its path in the store, with slashes on every system.
    fn note_under_path(
        &self,
        root: &Path,
        path: &Path,
        note: impl FnOnce(&mut AddedDigests, String),
    ) {
        let Ok(relative) = path.strip_prefix(root) else {
            return;
        };
        let parts: Vec<String> = relative
            .components()
            .map(|part| part.as_os_str().to_string_lossy().into_owned())
            .collect();
        note(
            &mut self.0.lock().unwrap_or_else(PoisonError::into_inner),
            parts.join("/"),
        );
    }

    /// Takes what was noted.
    pub(super) fn take_digests(&self) -> AddedDigests {
        std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}
