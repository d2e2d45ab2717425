//! The lock of imports: one at a time in a store.
//!
//! An import compares its source with the runs that the store has. Whoever reads these takes the lock first, and keeps it until everything is
//! stored: else two imports of one source would each find that the other's runs are not there.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use super::{Store, StoreError};

/// Prefix of the folders in which bundles are unpacked.
pub(super) const STAGING_PREFIX: &str = ".importing-";

/// Held by the only import of a store. An import that stores nothing leaves no folder behind that it made.
#[derive(Debug)]
pub struct ImportLock {
    _file: File,
    /// The store's folder, if it was not there before.
    made: Option<PathBuf>,
}

impl Drop for ImportLock {
    fn drop(&mut self) {
        if let Some(root) = &self.made {
            // Only an empty folder can be removed in this way.
            let _ = fs::remove_dir(root);
        }
    }
}

impl ImportLock {
    /// Waits for other imports to end, and removes what killed ones unpacked. `waits` is called if there is another.
    pub fn acquire(store: &Store, waits: impl FnOnce()) -> Result<Self, StoreError> {
        let (root, mut waits) = (store.root(), Some(waits));
        loop {
            let made = (!root.is_dir()).then(|| root.to_owned());
            fs::create_dir_all(root).map_err(StoreError::io("cannot create", root))?;
            let file = match lock_file(root) {
                // The import that made the folder has just removed it.
                Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
                opened => opened.map_err(StoreError::io("cannot open", root))?,
            };
            match file.try_lock() {
                Ok(()) => {}
                Err(fs::TryLockError::WouldBlock) => {
                    if let Some(waits) = waits.take() {
                        waits();
                    }
                    file.lock().map_err(StoreError::io("cannot lock", root))?;
                }
                Err(fs::TryLockError::Error(error)) => {
                    return Err(StoreError::io("cannot lock", root)(error));
                }
            }
            if !is_of(&file, root) {
                continue;
            }
            // Unfinished folders are then left over from killed imports.
            remove_staged(store).map_err(StoreError::io("cannot clean", root))?;
            return Ok(Self { _file: file, made });
        }
    }
}

/// Removes what killed imports unpacked. The caller must have the lock.
fn remove_staged(store: &Store) -> io::Result<usize> {
    let mut removed = 0;
    for entry in fs::read_dir(store.root())? {
        let entry = entry?;
        if entry
            .file_name()
            .to_string_lossy()
            .starts_with(STAGING_PREFIX)
            && entry.file_type()?.is_dir()
        {
            fs::remove_dir_all(entry.path())?;
            removed += 1;
        }
    }
    Ok(removed)
}

/// Removes what killed imports unpacked, unless an import is running. Returns the number of folders.
pub(super) fn drop_staged(store: &Store) -> usize {
    match lock_file(store.root()) {
        Ok(lock) if lock.try_lock().is_ok() => remove_staged(store).unwrap_or(0),
        Ok(_) | Err(_) => 0,
    }
}

/// Opens the folder itself as the lock file, on systems where a folder can be locked.
#[cfg(unix)]
fn lock_file(root: &Path) -> io::Result<File> {
    crate::files::open(root)
}

/// Returns whether the lock is that of the folder at this place, and not of one that was removed.
#[cfg(unix)]
fn is_of(lock: &File, root: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    let place = |found: fs::Metadata| (found.dev(), found.ino());
    lock.metadata().map(place).ok() == fs::metadata(root).map(place).ok()
}

#[cfg(not(unix))]
fn is_of(_lock: &File, root: &Path) -> bool {
    root.is_dir()
}

#[cfg(not(unix))]
fn lock_file(root: &Path) -> io::Result<File> {
    fs::OpenOptions::new()
        .create(true)
        .truncate(false)
        .write(true)
        .open(root.join(".import.lock"))
}
