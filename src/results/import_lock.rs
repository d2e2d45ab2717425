//! The lock of imports: one at a time in a store.
//!
//! An import compares its source with the runs that the store has. Whoever reads these takes the lock first, and keeps it until everything is
//! stored: else two imports of one source would each find that the other's runs are not there.

use std::fs::{self, File};
use std::io;
use std::path::Path;

use super::{Store, StoreError};

/// Prefix of the folders in which bundles are unpacked.
pub(super) const STAGING: &str = ".importing-";

/// Held by the only import of a store.
#[derive(Debug)]
pub struct ImportLock {
    _file: File,
}

impl ImportLock {
    /// Waits for other imports to end, and removes what killed ones unpacked. `waits` is called if there is another.
    pub fn take(store: &Store, waits: impl FnOnce()) -> Result<Self, StoreError> {
        let root = store.root();
        fs::create_dir_all(root).map_err(StoreError::io("cannot create", root))?;
        let file = lock_file(root).map_err(StoreError::io("cannot open", root))?;
        match file.try_lock() {
            Ok(()) => {}
            Err(fs::TryLockError::WouldBlock) => {
                waits();
                file.lock().map_err(StoreError::io("cannot lock", root))?;
            }
            Err(fs::TryLockError::Error(error)) => return Err(StoreError::io("cannot lock", root)(error)),
        }
        // Unfinished folders are then left over from killed imports.
        clean(store).map_err(StoreError::io("cannot clean", root))?;
        Ok(Self { _file: file })
    }
}

/// Removes what killed imports unpacked. The caller must have the lock.
fn clean(store: &Store) -> io::Result<usize> {
    let mut removed = 0;
    for entry in fs::read_dir(store.root())? {
        let entry = entry?;
        if entry.file_name().to_string_lossy().starts_with(STAGING) && entry.file_type()?.is_dir() {
            fs::remove_dir_all(entry.path())?;
            removed += 1;
        }
    }
    Ok(removed)
}

/// Removes what killed imports unpacked, unless an import is running. Returns the number of folders.
pub(super) fn drop_staged(store: &Store) -> usize {
    match lock_file(store.root()) {
        Ok(lock) if lock.try_lock().is_ok() => clean(store).unwrap_or(0),
        Ok(_) | Err(_) => 0,
    }
}

/// Opens the folder itself as the lock file, on systems where a folder can be locked.
#[cfg(unix)]
fn lock_file(root: &Path) -> io::Result<File> {
    crate::files::open(root)
}

#[cfg(not(unix))]
fn lock_file(root: &Path) -> io::Result<File> {
    fs::OpenOptions::new().create(true).truncate(false).write(true).open(root.join(".import.lock"))
}
