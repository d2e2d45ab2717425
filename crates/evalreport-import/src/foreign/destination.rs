//! Destination of sealed sources.

use std::path::Path;

use crate::results::Store;

use super::super::stored::StoredRuns;

/// Characters of a key that tell the sources of a cache apart.
const SHORT_KEY_CHARS: usize = 32;

/// Destination of sealed sources.
#[derive(Clone, Copy)]
pub enum Destination<'a> {
    /// All sources in one store, which already has these runs.
    Store(&'a Store, &'a StoredRuns),
    /// Each source in its own store below the folder, named by the source's content: a cache. Several stores may hold the same run; readers
    /// take it from the first.
    Cache(&'a Path),
}

impl Destination<'_> {
    /// Returns the store for a source's key.
    pub fn store_for(self, key: &str) -> Store {
        match self {
            Self::Store(store, _) => store.clone(),
            Self::Cache(folder) => Store::new(folder.join(&key[..SHORT_KEY_CHARS])),
        }
    }
}
