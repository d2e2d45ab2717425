//! What killed commands left in a store: files that were being written, and bundles that were being unpacked.

use std::fs;

use crate::files;

use super::{Store, bundle};

impl Store {
    /// Removes, before a command writes, what killed ones left where files are put together. What somebody holds stays.
    pub fn sweep(&self) -> usize {
        [self.root(), &self.batches_dir(), &self.imports_dir()].into_iter().map(files::sweep_files).sum()
    }

    /// Removes all that killed commands left, in the folders of the runs too, and returns how much it was.
    pub fn tidy(&self) -> usize {
        let folders = fs::read_dir(self.root()).into_iter().flatten().flatten();
        let runs = folders.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()));
        let own = runs.filter(|entry| !entry.file_name().to_string_lossy().starts_with('.'));
        // An agent's own files lie a folder deeper.
        self.sweep() + own.map(|entry| files::sweep_files(&entry.path())).sum::<usize>() + bundle::drop_staged(self)
    }
}
