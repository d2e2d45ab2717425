//! Modes, owners, times and extended attributes of foreign files. Landlock refuses to write files, but not to change these (`chmod`, `chown`,
//! `utime`, `setxattr`). Where programs have no namespaces, in which all else is read-only, these are compared before and after, and set back.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use crate::domain::escape_invisible;

/// Folders in the home folder whose entries are looked at, because strangers must not read them.
const PRIVATE_FOLDERS: [&str; 6] = [".aws", ".config", ".docker", ".gnupg", ".kube", ".ssh"];

/// How files stood before a run.
#[derive(Debug, Default)]
pub struct FileModes(BTreeMap<PathBuf, standing::Standing>);

impl FileModes {
    /// Looks at everything below `tops`; at everything below `store`, but not at times, because other runs write their journals there; and at the
    /// entries of `folders`.
    pub fn new(
        tops: impl IntoIterator<Item = PathBuf>,
        store: Option<PathBuf>,
        folders: impl IntoIterator<Item = PathBuf>,
    ) -> Self {
        let mut files = BTreeMap::new();
        let whole = tops
            .into_iter()
            .map(|top| (top, usize::MAX, true))
            .chain(store.map(|store| (store, usize::MAX, false)));
        for (top, depth, has_time) in
            whole.chain(folders.into_iter().map(|folder| (folder, 1, false)))
        {
            let entries = walkdir::WalkDir::new(top)
                .max_depth(depth)
                .into_iter()
                .filter_map(Result::ok);
            for entry in entries.filter(|entry| !entry.file_type().is_symlink()) {
                let Some(standing) = standing::of(entry.path(), has_time) else {
                    continue;
                };
                files.entry(entry.into_path()).or_insert(standing);
            }
        }
        Self(files)
    }

    /// Sets back what was changed. Returns the changed paths with what was changed of each, relative to `root` if possible.
    pub fn restore(&self, root: &Path) -> Vec<(String, &'static str)> {
        let name = |path: &Path| {
            escape_invisible(
                &path
                    .strip_prefix(root)
                    .unwrap_or(path)
                    .display()
                    .to_string(),
            )
        };
        // In the order of the paths, so that a closed folder is opened before its files.
        self.0
            .iter()
            .filter_map(|(path, before)| Some((name(path), before.restore(path)?)))
            .collect()
    }
}

/// Returns the folders of a home folder whose entries are compared.
pub fn compared_folders(home: &Path) -> impl Iterator<Item = PathBuf> {
    std::iter::once(home.to_owned()).chain(PRIVATE_FOLDERS.map(|name| home.join(name)))
}

#[cfg(unix)]
mod standing {
    use std::collections::BTreeMap;
    use std::ffi::CString;
    use std::fs;
    use std::os::unix::fs::{MetadataExt, PermissionsExt};
    use std::path::Path;

    use rustix::fs::{AtFlags, CWD, Timespec, Timestamps, UTIME_OMIT};
    use rustix::io::Errno;

    /// The most that Linux lets the names of a file's attributes, or one value, take.
    const MAX_BYTES: usize = 64 << 10;

    /// The state of a file or folder apart from its contents.
    #[derive(Debug, PartialEq, Eq)]
    pub struct Standing {
        mode: u32,
        owner: (u32, u32),
        /// Length and time of the last writing. Only of files that nobody else writes without making them longer.
        written: Option<(u64, i64, i64)>,
        attributes: BTreeMap<CString, Vec<u8>>,
    }

    pub fn of(path: &Path, has_time: bool) -> Option<Standing> {
        let metadata = fs::symlink_metadata(path).ok()?;
        let written = (has_time && metadata.is_file())
            .then(|| (metadata.len(), metadata.mtime(), metadata.mtime_nsec()));
        Some(Standing {
            mode: metadata.mode() & 0o7777,
            owner: (metadata.uid(), metadata.gid()),
            written,
            attributes: read_attributes(path),
        })
    }

    impl Standing {
        /// Makes a file be as before, and says what was not.
        pub fn restore(&self, path: &Path) -> Option<&'static str> {
            let metadata = fs::symlink_metadata(path)
                .ok()
                .filter(|metadata| !metadata.file_type().is_symlink())?;
            let mut changed = None;
            if (metadata.uid(), metadata.gid()) != self.owner {
                // Changing the owner takes bits of the mode away.
                let _ = std::os::unix::fs::lchown(path, Some(self.owner.0), Some(self.owner.1));
                changed = Some("its owner");
            }
            let attributes = read_attributes(path);
            for name in attributes
                .keys()
                .filter(|name| !self.attributes.contains_key(*name))
            {
                let _ = rustix::fs::lremovexattr(path, name);
            }
            for (name, value) in self
                .attributes
                .iter()
                .filter(|(name, value)| attributes.get(*name) != Some(value))
            {
                let _ = rustix::fs::lsetxattr(path, name, value, rustix::fs::XattrFlags::empty());
            }
            if attributes != self.attributes {
                changed = Some("its attributes");
            }
            if metadata.mode() & 0o7777 != self.mode || changed.is_some() {
                let _ = fs::set_permissions(path, fs::Permissions::from_mode(self.mode));
            }
            if metadata.mode() & 0o7777 != self.mode {
                changed = Some("its mode");
            }
            if let Some((length, seconds, nanoseconds)) = self.written
                && metadata.len() == length
                && (metadata.mtime(), metadata.mtime_nsec()) != (seconds, nanoseconds)
            {
                let kept = Timespec {
                    tv_sec: 0,
                    tv_nsec: UTIME_OMIT,
                };
                #[expect(
                    clippy::useless_conversion,
                    reason = "the type differs between systems"
                )]
                let time = Timespec {
                    tv_sec: seconds,
                    tv_nsec: nanoseconds.try_into().unwrap_or_default(),
                };
                let times = Timestamps {
                    last_access: kept,
                    last_modification: time,
                };
                let _ = rustix::fs::utimensat(CWD, path, &times, AtFlags::SYMLINK_NOFOLLOW);
                changed = changed.or(Some("its time"));
            }
            changed
        }
    }

    /// Returns the extended attributes, among them access control lists. Most files have none.
    fn read_attributes(path: &Path) -> BTreeMap<CString, Vec<u8>> {
        let mut short = [0; 256];
        match rustix::fs::llistxattr(path, &mut short[..]) {
            Ok(0) => BTreeMap::new(),
            Ok(size) => read_values(path, &short[..size]),
            Err(Errno::RANGE) => {
                let mut names = vec![0; MAX_BYTES];
                let size = rustix::fs::llistxattr(path, &mut names[..]).unwrap_or_default();
                read_values(path, &names[..size])
            }
            // The file system has none.
            Err(_) => BTreeMap::new(),
        }
    }

    fn read_values(path: &Path, names: &[u8]) -> BTreeMap<CString, Vec<u8>> {
        let names = names
            .split(|byte| *byte == 0)
            .filter(|name| !name.is_empty())
            .filter_map(|name| CString::new(name).ok());
        let value = |name: CString| {
            let mut value = vec![0; MAX_BYTES];
            let size = rustix::fs::lgetxattr(path, &name, &mut value[..]).ok()?;
            value.truncate(size);
            Some((name, value))
        };
        names.filter_map(value).collect()
    }
}

#[cfg(not(unix))]
mod standing {
    use std::path::Path;

    #[derive(Debug)]
    pub struct Standing;

    pub fn of(_: &Path, _: bool) -> Option<Standing> {
        None
    }

    impl Standing {
        pub fn restore(&self, _: &Path) -> Option<&'static str> {
            None
        }
    }
}

#[cfg(all(test, unix))]
mod tests {
    use std::fs;
    use std::os::unix::fs::PermissionsExt;
    use std::time::{Duration, SystemTime};

    use super::*;

    #[test]
    fn what_is_changed_besides_contents_is_set_back() {
        let place = tempfile::tempdir().expect("a folder");
        let of = |name: &str| place.path().join(name);
        fs::create_dir_all(of("store/deep")).expect("ours");
        for name in [
            "store/a",
            "store/deep/b",
            "store/deep/c",
            "store/same",
            "home",
        ] {
            fs::write(of(name), "text").expect("ours");
        }
        std::os::unix::fs::symlink(of("home"), of("store/link")).expect("ours");
        let mode = |name: &str| {
            fs::symlink_metadata(of(name))
                .expect("there")
                .permissions()
                .mode()
                & 0o7777
        };
        let chmod = |name: &str, mode: u32| {
            fs::set_permissions(of(name), fs::Permissions::from_mode(mode)).expect("ours");
        };
        let names = [
            "store",
            "store/deep",
            "store/a",
            "store/deep/b",
            "store/deep/c",
            "store/same",
        ];
        let before = names.map(mode);
        let time = fs::metadata(of("store/a"))
            .and_then(|metadata| metadata.modified())
            .expect("a time");
        let modes = FileModes::new([of("store")], None, [place.path().to_owned()]);
        assert!(modes.restore(place.path()).is_empty());
        let file = fs::File::options()
            .write(true)
            .open(of("store/a"))
            .expect("ours");
        file.set_modified(SystemTime::now() - Duration::from_hours(9))
            .expect("ours");
        chmod("store/deep/b", 0o666);
        chmod("store/deep/c", 0);
        chmod("store/deep", 0);
        chmod("store", 0o500);
        chmod("home", 0o4755);
        // Other processes append to their files.
        fs::write(of("store/same"), "text and more").expect("ours");
        let changed: Vec<String> = modes
            .restore(place.path())
            .into_iter()
            .map(|(name, what)| format!("{name}: {what}"))
            .collect();
        let all = [
            "home: its mode",
            "store: its mode",
            "store/a: its time",
            "store/deep: its mode",
            "store/deep/b: its mode",
            "store/deep/c: its mode",
        ];
        assert_eq!(changed, all);
        assert_eq!((names.map(mode), mode("home")), (before, 0o644));
        assert_eq!(
            fs::metadata(of("store/a"))
                .and_then(|metadata| metadata.modified())
                .expect("a time"),
            time
        );
        assert!(modes.restore(place.path()).is_empty());
    }

    #[test]
    fn attributes_are_set_back_where_there_are_any() {
        let place = tempfile::tempdir().expect("a folder");
        let file = place.path().join("file");
        fs::write(&file, "text").expect("ours");
        let flags = rustix::fs::XattrFlags::empty();
        // Not every file system has them.
        if rustix::fs::setxattr(&file, "user.own", b"before", flags).is_err() {
            return;
        }
        let modes = FileModes::new([place.path().to_owned()], None, []);
        rustix::fs::setxattr(&file, "user.own", b"after", flags).expect("ours");
        rustix::fs::setxattr(&file, "user.evil", b"1", flags).expect("ours");
        assert_eq!(
            modes.restore(place.path()),
            [("file".to_owned(), "its attributes")]
        );
        let mut value = [0; 16];
        let size = rustix::fs::getxattr(&file, "user.own", &mut value[..]).expect("there");
        assert_eq!(&value[..size], b"before");
        assert!(
            rustix::fs::getxattr(&file, "user.evil", &mut value[..]).is_err()
                && modes.restore(place.path()).is_empty()
        );
    }
}
