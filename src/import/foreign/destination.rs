//! Where sources are sealed.

use std::path::Path;

use crate::results::Store;

use super::super::stored::StoredRuns;

/// Enough of a key to tell the sources of a cache apart.
const SHORT_KEY: usize = 32;

/// Where sources are sealed.
#[derive(Clone, Copy)]
pub enum Destination<'a> {
    /// All in one store, which has these runs already.
    Store(&'a Store, &'a StoredRuns),
    /// Each in a store of its own below the folder, named by its content: a cache of what was read. Sources may hold the same run; whoever
    /// opens the stores takes it from the first.
    Cache(&'a Path),
}

impl Destination<'_> {
    /// Returns the store of a source by its key.
    pub fn store_of(self, key: &str) -> Store {
        match self {
            Self::Store(store, _) => store.clone(),
            Self::Cache(folder) => Store::at(folder.join(&key[..SHORT_KEY])),
        }
    }
}
