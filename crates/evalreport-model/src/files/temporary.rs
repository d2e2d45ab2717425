//! Temporary files and folders, and cleaning up after killed programs.
//!
//! A program holds a lock on each temporary file or folder that it makes. The lock ends with the program, however that ends. So unlocked
//! ones can be deleted, and only those created here are considered.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use tempfile::NamedTempFile;
use walkdir::WalkDir;

use super::remove::remove_tree;

/// Prefix of files that are being written, and of folders in which bundles are unpacked.
pub const WRITING_PREFIX: &str = ".writing-";
/// Prefix of temporary folders.
const FOLDER_PREFIX: &str = "evalreport-";
/// The file in each temporary folder that is locked while the folder is in use.
const LOCK_FILE_NAME: &str = ".held";
/// A younger file may not be locked yet.
const MIN_AGE: Duration = Duration::from_mins(1);

/// Creates a temporary file in the existing `folder`, to be renamed when complete. The final file is readable for all.
pub fn create_temporary_in(folder: &Path) -> io::Result<NamedTempFile> {
    let mut builder = tempfile::Builder::new();
    #[cfg(unix)]
    {
        // By default, temporary files are private to their owner.
        use std::os::unix::fs::PermissionsExt;
        builder.permissions(fs::Permissions::from_mode(0o644));
    }
    let file = builder
        .prefix(WRITING_PREFIX)
        .suffix(".tmp")
        .tempfile_in(folder)?;
    // Not on Windows, where a lock also blocks readers. Without a lock, the file is only cleaned up later.
    if cfg!(unix) {
        let _ = file.as_file().try_lock();
    }
    Ok(file)
}

/// Deletes the files in a folder that killed programs were writing. Returns their number; ignores files that cannot be deleted.
pub fn sweep_files(folder: &Path) -> usize {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let is_left = |path: &Path| is_old(path) && is_unlocked(path);
    entries
        .filter(|entry| {
            is_writing(&entry.file_name())
                && is_left(&entry.path())
                && fs::remove_file(entry.path()).is_ok()
        })
        .count()
}

/// Like [`sweep_files`], but includes all subfolders. `alone` says that no other program makes files there, so that young ones are left, too.
pub fn sweep_tree(folder: &Path, alone: bool) -> usize {
    let entries = WalkDir::new(folder).into_iter().filter_map(Result::ok);
    let is_left = |path: &Path| (alone || is_old(path)) && is_unlocked(path);
    entries
        .filter(|entry| {
            is_writing(entry.file_name())
                && is_left(entry.path())
                && fs::remove_file(entry.path()).is_ok()
        })
        .count()
}

fn is_writing(name: &std::ffi::OsStr) -> bool {
    name.to_str()
        .is_some_and(|name| name.starts_with(WRITING_PREFIX))
}

fn is_old(path: &Path) -> bool {
    let time = fs::symlink_metadata(path).and_then(|metadata| metadata.modified());
    time.is_ok_and(|time| {
        SystemTime::now()
            .duration_since(time)
            .is_ok_and(|age| age > MIN_AGE)
    })
}

fn is_unlocked(path: &Path) -> bool {
    let is_file = fs::symlink_metadata(path).is_ok_and(|metadata| metadata.is_file());
    is_file && cfg!(unix) && super::open(path).is_ok_and(|file| file.try_lock().is_ok())
}

/// A private folder, deleted when dropped.
#[derive(Debug)]
pub struct HeldFolder {
    folder: TreeGuard,
    #[cfg_attr(
        not(test),
        expect(dead_code, reason = "held so that the lock on it is held as long")
    )]
    mark: File,
}

/// A folder that goes with this value, even if programs filled it with what its owner may not enter.
#[derive(Debug)]
struct TreeGuard(PathBuf);

impl Drop for TreeGuard {
    fn drop(&mut self) {
        // Otherwise the next writing command tries again.
        let _ = remove_tree(&self.0);
    }
}

impl HeldFolder {
    /// Creates a folder below `above`, which is created too, also private, if it is missing.
    pub fn create_in(above: &Path) -> io::Result<Self> {
        let (mut folders, mut builder) = (DirBuilder::new(), tempfile::Builder::new());
        #[cfg(unix)]
        {
            use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
            folders.mode(0o700);
            builder.permissions(fs::Permissions::from_mode(0o700));
        }
        folders.recursive(true).create(above)?;
        let folder = TreeGuard(builder.prefix(FOLDER_PREFIX).tempdir_in(above)?.keep());
        // The mark gets its name only once it is locked, so that nobody sees it unlocked.
        let new = folder.0.join(".new");
        let mark = OpenOptions::new().write(true).create_new(true).open(&new)?;
        if cfg!(unix) {
            let _ = mark.try_lock();
        }
        fs::rename(&new, folder.0.join(LOCK_FILE_NAME))?;
        Ok(Self { folder, mark })
    }

    /// Creates a folder in the system's temporary folder.
    pub fn create() -> io::Result<Self> {
        Self::create_in(&tempfile::env::temp_dir())
    }

    pub fn path(&self) -> &Path {
        &self.folder.0
    }

    /// Returns the path of the empty file that marks the folder, and is locked while the folder is in use.
    pub fn mark_path(&self) -> PathBuf {
        self.folder.0.join(LOCK_FILE_NAME)
    }
}

/// Deletes the folders below `above` that killed programs left behind. Returns their number. Keeps folders that others own or hold.
pub fn sweep_folders(above: &Path) -> usize {
    let entries = fs::read_dir(above).into_iter().flatten().flatten();
    let named = entries.filter(|entry| {
        entry
            .file_name()
            .to_str()
            .is_some_and(|name| name.starts_with(FOLDER_PREFIX))
    });
    named
        .filter(|entry| is_abandoned_folder(&entry.path()) && remove_tree(&entry.path()).is_ok())
        .count()
}

fn is_abandoned_folder(folder: &Path) -> bool {
    let mark: PathBuf = folder.join(LOCK_FILE_NAME);
    let is_ours =
        fs::symlink_metadata(folder).is_ok_and(|folder| folder.is_dir() && is_own(&folder));
    let is_mark = fs::symlink_metadata(&mark).is_ok_and(|mark| mark.is_file() && is_own(&mark));
    is_ours && is_mark && cfg!(unix) && super::open(&mark).is_ok_and(|mark| mark.try_lock().is_ok())
}

#[cfg(unix)]
fn is_own(metadata: &fs::Metadata) -> bool {
    use std::os::unix::fs::MetadataExt;
    metadata.uid() == rustix::process::geteuid().as_raw()
}

#[cfg(not(unix))]
fn is_own(_: &fs::Metadata) -> bool {
    false
}

#[cfg(all(test, unix))]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::{
        Duration, File, HeldFolder, Path, SystemTime, create_temporary_in, fs, sweep_files,
        sweep_folders, sweep_tree,
    };

    fn aged(path: &Path) {
        let hour_ago = SystemTime::now() - Duration::from_hours(1);
        let file = File::options().write(true).open(path).expect("there");
        file.set_modified(hour_ago).expect("ours");
    }

    #[test]
    fn what_nobody_holds_goes_and_nothing_else() {
        let folder = tempfile::tempdir().expect("a folder");
        let of = |name: &str| folder.path().join(name);
        fs::create_dir(of("deep")).expect("room");
        for name in [
            ".writing-old.tmp",
            ".writing-new.tmp",
            "writing-old.tmp",
            "deep/.writing-old.tmp",
        ] {
            fs::write(of(name), "x").expect("room");
            aged(&of(name));
        }
        fs::write(of(".writing-new.tmp"), "y").expect("room");
        std::os::unix::fs::symlink("writing-old.tmp", of(".writing-link.tmp")).expect("a link");
        let held = create_temporary_in(folder.path()).expect("room");
        aged(held.path());
        assert_eq!(
            (sweep_files(folder.path()), sweep_tree(folder.path(), false)),
            (1, 1)
        );
        assert!(
            held.path().exists()
                && of(".writing-new.tmp").exists()
                && of("writing-old.tmp").exists()
        );
        assert_eq!(
            (
                sweep_tree(folder.path(), true),
                held.path().exists(),
                of(".writing-new.tmp").exists()
            ),
            (1, true, false)
        );
        assert!(of(".writing-link.tmp").is_symlink());
        let path = held.path().to_owned();
        drop(held);
        assert!(!path.exists());
    }

    #[test]
    fn folders_are_private_and_go_once_nobody_holds_them() {
        let above = tempfile::tempdir().expect("a folder");
        let parent = above.path().join("made/for it");
        let held = HeldFolder::create_in(&parent).expect("room");
        for folder in [&above.path().join("made"), &parent, held.path()] {
            assert_eq!(
                fs::metadata(folder).expect("there").permissions().mode() & 0o777,
                0o700,
                "{}",
                folder.display()
            );
        }
        // Folders of others: one has our prefix but no mark, the other a mark but another name.
        fs::create_dir_all(parent.join("evalreport-mine/work")).expect("room");
        fs::create_dir_all(parent.join("others")).expect("room");
        fs::write(parent.join("others/.held"), "").expect("room");
        assert_eq!(sweep_folders(&parent), 0);
        // A killed program releases only its lock.
        let HeldFolder { folder, mark } = held;
        let left = folder.0.clone();
        std::mem::forget(folder);
        fs::create_dir_all(left.join("workspace/deep")).expect("room");
        fs::set_permissions(
            left.join("workspace/deep"),
            fs::Permissions::from_mode(0o000),
        )
        .expect("ours");
        fs::set_permissions(left.join("workspace"), fs::Permissions::from_mode(0o000))
            .expect("ours");
        assert_eq!(sweep_folders(&parent), 0);
        drop(mark);
        assert_eq!(sweep_folders(&parent), 1);
        assert!(
            !left.exists()
                && parent.join("evalreport-mine/work").exists()
                && parent.join("others/.held").exists()
        );
    }
}
