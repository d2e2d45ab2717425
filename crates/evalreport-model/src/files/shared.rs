//! Folders that several programs use at once, and that one may clear when no other does.

use std::fs::{File, OpenOptions};
use std::io;
use std::path::Path;
use std::time::SystemTime;

use super::open_with_options;

/// The file whose lock tells whether a folder is in use. It is never deleted, so that all programs lock one file.
pub const IN_USE: &str = ".in-use";

/// A folder's files stay as long as this value lives: [`run_as_only_user`] fails for all others.
#[derive(Debug)]
pub struct FolderUse(
    #[expect(dead_code, reason = "held so that the lock on it is held as long")] File,
);

impl FolderUse {
    /// Begins to use an existing folder, and waits while another program clears it. Returns `None` if the folder cannot be locked; then
    /// others cannot lock it either.
    pub fn begin_use(folder: &Path) -> Option<Self> {
        let file = lock_file(folder).ok()?;
        file.lock_shared().ok().map(|()| Self(file))
    }
}

impl FolderUse {
    /// Begins to use an existing folder by a lock on the folder itself, which leaves no file in it. Before that, `clear` is told whether no
    /// other program uses the folder, and new users wait until it returns. Returns `None` if a folder cannot be locked on this system.
    pub fn begin_after_clearing(folder: &Path, clear: impl FnOnce(bool)) -> Option<Self> {
        let Some(file) = super::open(folder).ok().filter(|_| cfg!(unix)) else {
            clear(false);
            return None;
        };
        clear(file.try_lock().is_ok());
        file.lock_shared().ok().map(|()| Self(file))
    }
}

/// Calls `clear` if no program uses the folder, and keeps new users waiting until it returns. Returns `None` if one does, if the folder
/// cannot be locked, or if it is missing.
pub fn run_as_only_user<T>(folder: &Path, clear: impl FnOnce() -> T) -> io::Result<Option<T>> {
    let file = match lock_file(folder) {
        Ok(file) => file,
        Err(error) if super::is_absence(&error) => return Ok(None),
        Err(error) => return Err(error),
    };
    match file.try_lock() {
        Ok(()) => Ok(Some(clear())),
        Err(std::fs::TryLockError::WouldBlock) => Ok(None),
        Err(std::fs::TryLockError::Error(error)) => Err(error),
    }
}

fn lock_file(folder: &Path) -> io::Result<File> {
    open_with_options(
        OpenOptions::new().create(true).append(true),
        folder.join(IN_USE),
    )
}

/// Marks a file as used now. A file that cannot be marked only seems older.
pub fn mark_used(path: &Path) {
    if let Ok(file) = open_with_options(OpenOptions::new().append(true), path) {
        let _ = file.set_modified(SystemTime::now());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(unix)]
    #[test]
    fn a_folder_is_cleared_by_its_only_user_and_has_no_file_of_a_lock() {
        let folder = tempfile::tempdir().expect("a folder");
        let begin = || {
            let mut is_alone = None;
            let held =
                FolderUse::begin_after_clearing(folder.path(), |alone| is_alone = Some(alone));
            (held.expect("it can be locked"), is_alone)
        };
        let (one, alone) = begin();
        assert_eq!(alone, Some(true));
        let (other, alone) = begin();
        assert_eq!(alone, Some(false));
        drop((one, other));
        assert_eq!(begin().1, Some(true));
        assert_eq!(
            std::fs::read_dir(folder.path()).expect("a folder").count(),
            0
        );
    }

    #[test]
    fn a_folder_in_use_is_not_cleared() {
        let folder = tempfile::tempdir().expect("a folder");
        let clear = || run_as_only_user(folder.path(), || ()).expect("a folder that can be locked");
        assert_eq!(clear(), Some(()));
        let (one, other) = (
            FolderUse::begin_use(folder.path()).expect("free"),
            FolderUse::begin_use(folder.path()).expect("shared"),
        );
        assert_eq!(clear(), None);
        drop(one);
        assert_eq!(clear(), None, "the other still uses it");
        drop(other);
        assert_eq!(clear(), Some(()));
        assert!(
            run_as_only_user(&folder.path().join("missing"), || ())
                .expect("nothing to lock")
                .is_none()
        );
        assert!(FolderUse::begin_use(&folder.path().join("missing")).is_none());
    }
}
