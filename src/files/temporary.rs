//! Temporary files and folders, and what killed programs left of them.
//!
//! Whoever makes one holds a lock on it, which ends with the program however that ends. So what nobody holds can go, and only what was made here
//! is looked at.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use tempfile::{NamedTempFile, TempDir};
use walkdir::WalkDir;

/// What the names of files begin with that are being written, and of what bundles are unpacked in.
pub const WRITING: &str = ".writing-";
/// What the names of folders begin with.
const FOLDER: &str = "evalreport-";
/// In a folder, held while the folder is.
const MARK: &str = ".held";
/// A file that is younger may not be locked yet.
const YOUNG: Duration = Duration::from_mins(1);

/// Makes a temporary file that will be moved into its place within the folder, which is there. Everybody may read what it becomes.
pub fn temporary_in(folder: &Path) -> io::Result<NamedTempFile> {
    let mut builder = tempfile::Builder::new();
    #[cfg(unix)]
    {
        // The default of a temporary file is owner-only.
        use std::os::unix::fs::PermissionsExt;
        builder.permissions(fs::Permissions::from_mode(0o644));
    }
    let file = builder.prefix(WRITING).suffix(".tmp").tempfile_in(folder)?;
    // Elsewhere a lock keeps others from reading, too. Where there are none, the file is only left longer.
    if cfg!(unix) {
        let _ = file.as_file().try_lock();
    }
    Ok(file)
}

/// Removes the files of a folder that killed programs were writing, and returns how many. What cannot be removed stays.
pub fn sweep_files(folder: &Path) -> usize {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries.filter(|entry| is_writing(&entry.file_name()) && is_left(&entry.path()) && fs::remove_file(entry.path()).is_ok()).count()
}

/// The same in a folder and all below it.
pub fn sweep_tree(folder: &Path) -> usize {
    let entries = WalkDir::new(folder).into_iter().filter_map(Result::ok);
    entries.filter(|entry| is_writing(entry.file_name()) && is_left(entry.path()) && fs::remove_file(entry.path()).is_ok()).count()
}

fn is_writing(name: &std::ffi::OsStr) -> bool {
    name.to_str().is_some_and(|name| name.starts_with(WRITING))
}

fn is_left(path: &Path) -> bool {
    let Ok(metadata) = fs::symlink_metadata(path) else { return false };
    let is_old = metadata.modified().is_ok_and(|time| SystemTime::now().duration_since(time).is_ok_and(|age| age > YOUNG));
    metadata.is_file() && is_old && cfg!(unix) && super::open(path).is_ok_and(|file| file.try_lock().is_ok())
}

/// A private folder, gone when this is dropped.
#[derive(Debug)]
pub struct HeldFolder {
    folder: TempDir,
    #[cfg_attr(not(test), expect(dead_code, reason = "held so that the lock on it is held as long"))]
    mark: File,
}

impl HeldFolder {
    /// Makes one below a folder, which is made too, as private, where it is not there.
    pub fn create_in(above: &Path) -> io::Result<Self> {
        let (mut folders, mut builder) = (DirBuilder::new(), tempfile::Builder::new());
        #[cfg(unix)]
        {
            use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
            folders.mode(0o700);
            builder.permissions(fs::Permissions::from_mode(0o700));
        }
        folders.recursive(true).create(above)?;
        let folder = builder.prefix(FOLDER).tempdir_in(above)?;
        // It has its name once it is locked, so that nobody meets it without.
        let new = folder.path().join(".new");
        let mark = OpenOptions::new().write(true).create_new(true).open(&new)?;
        if cfg!(unix) {
            let _ = mark.try_lock();
        }
        fs::rename(&new, folder.path().join(MARK))?;
        Ok(Self { folder, mark })
    }

    /// Makes one where the system keeps temporary files.
    pub fn create() -> io::Result<Self> {
        Self::create_in(&tempfile::env::temp_dir())
    }

    pub fn path(&self) -> &Path {
        self.folder.path()
    }
}

/// Removes the folders below another one that killed programs held, and returns how many. What others own, or hold, stays.
pub fn sweep_folders(above: &Path) -> usize {
    let entries = fs::read_dir(above).into_iter().flatten().flatten();
    let named = entries.filter(|entry| entry.file_name().to_str().is_some_and(|name| name.starts_with(FOLDER)));
    named.filter(|entry| is_left_folder(&entry.path()) && fs::remove_dir_all(entry.path()).is_ok()).count()
}

fn is_left_folder(folder: &Path) -> bool {
    let mark: PathBuf = folder.join(MARK);
    let is_ours = fs::symlink_metadata(folder).is_ok_and(|folder| folder.is_dir() && is_own(&folder));
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

    use super::{Duration, File, HeldFolder, Path, SystemTime, fs, sweep_files, sweep_folders, sweep_tree, temporary_in};

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
        for name in [".writing-old.tmp", ".writing-new.tmp", "writing-old.tmp", "deep/.writing-old.tmp"] {
            fs::write(of(name), "x").expect("room");
            aged(&of(name));
        }
        fs::write(of(".writing-new.tmp"), "y").expect("room");
        std::os::unix::fs::symlink("writing-old.tmp", of(".writing-link.tmp")).expect("a link");
        let held = temporary_in(folder.path()).expect("room");
        aged(held.path());
        assert_eq!((sweep_files(folder.path()), sweep_tree(folder.path())), (1, 1));
        assert!(held.path().exists() && of(".writing-new.tmp").exists() && of("writing-old.tmp").exists());
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
            assert_eq!(fs::metadata(folder).expect("there").permissions().mode() & 0o777, 0o700, "{}", folder.display());
        }
        // What others called so, and what has no mark.
        fs::create_dir_all(parent.join("evalreport-mine/work")).expect("room");
        fs::create_dir_all(parent.join("others")).expect("room");
        fs::write(parent.join("others/.held"), "").expect("room");
        assert_eq!(sweep_folders(&parent), 0);
        // A killed program drops nothing but its lock.
        let HeldFolder { folder, mark } = held;
        let left = folder.keep();
        fs::create_dir_all(left.join("workspace/deep")).expect("room");
        assert_eq!(sweep_folders(&parent), 0);
        drop(mark);
        assert_eq!(sweep_folders(&parent), 1);
        assert!(!left.exists() && parent.join("evalreport-mine/work").exists() && parent.join("others/.held").exists());
    }
}
