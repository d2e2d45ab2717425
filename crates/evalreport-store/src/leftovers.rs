//! Leftovers of killed commands in a store: temporary files and half-unpacked bundles.

use std::fs;

use crate::files;

use super::{Store, import_lock};

impl Store {
    /// Removes leftovers of killed commands, before a command writes. Locked files stay.
    pub fn sweep_leftovers(&self) -> usize {
        [
            self.root(),
            &self.batches_dir(),
            &self.imports_dir(),
            &self.chain_dir(),
        ]
        .into_iter()
        .map(files::sweep_files)
        .sum()
    }

    /// Removes all leftovers of killed commands, also in the runs' folders. Returns the number of removed files and folders.
    pub fn remove_all_leftovers(&self) -> usize {
        let folders = fs::read_dir(self.root()).into_iter().flatten().flatten();
        let runs = folders.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()));
        let own = runs.filter(|entry| !entry.file_name().to_string_lossy().starts_with('.'));
        // An agent's own files are one folder deeper.
        self.sweep_leftovers()
            + own
                .map(|entry| files::sweep_files(&entry.path()))
                .sum::<usize>()
            + import_lock::drop_staged(self)
    }
}
