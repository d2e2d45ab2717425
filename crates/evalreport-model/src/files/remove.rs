//! Folders that programs filled as they liked: modes that keep their owner out, folders thousands of levels deep, names of any bytes.

use std::fs;
use std::io;
use std::path::Path;

/// Removes a folder with everything in it, whatever the modes and the depth. Follows no link.
pub fn remove_tree(top: &Path) -> io::Result<()> {
    let removed = fs::remove_dir_all(top);
    match removed {
        #[cfg(unix)]
        Err(error) if !super::is_absence(&error) => flat::remove_flat(top).map_err(|_| error),
        removed => super::missing_as_none(removed).map(drop),
    }
}

/// Lets the owner list, enter and change every folder below `top` that is ours. Follows no link, and ignores what cannot be changed.
pub fn make_accessible(top: &Path) {
    #[cfg(unix)]
    {
        use std::os::unix::fs::{MetadataExt, PermissionsExt};
        let own = rustix::process::geteuid().as_raw();
        let mut waiting = vec![top.to_owned()];
        while let Some(folder) = waiting.pop() {
            let Ok(metadata) = fs::symlink_metadata(&folder) else {
                continue;
            };
            if metadata.is_dir() && metadata.uid() == own && metadata.mode() & 0o700 != 0o700 {
                let _ = fs::set_permissions(
                    &folder,
                    fs::Permissions::from_mode(metadata.mode() & 0o7777 | 0o700),
                );
            }
            let entries = fs::read_dir(&folder).into_iter().flatten().flatten();
            waiting.extend(
                entries
                    .filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()))
                    .map(|entry| entry.path()),
            );
        }
    }
    #[cfg(not(unix))]
    let _ = top;
}

/// Removes a tree by moving its deeper folders up, so that neither its depth nor the length of its paths matters.
#[cfg(unix)]
mod flat {
    use std::ffi::{CStr, CString};
    use std::io;
    use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
    use std::path::Path;

    use rustix::fs::{AtFlags, CWD, Dir, FileType, Mode, OFlags};
    use rustix::io::Errno;

    pub fn remove_flat(top: &Path) -> io::Result<()> {
        let name = CString::new(top.as_os_str().as_encoded_bytes())?;
        let folder = open_folder(CWD, &name)?;
        let mut number = 0_u64;
        loop {
            let names = entry_names(folder.as_fd())?;
            if names.is_empty() {
                break;
            }
            for name in &names {
                clear_entry(folder.as_fd(), name, &mut number)?;
            }
        }
        Ok(rustix::fs::unlinkat(CWD, &name, AtFlags::REMOVEDIR)?)
    }

    /// Removes an entry of `top`. The folders within it are moved to `top`.
    fn clear_entry(top: BorrowedFd<'_>, name: &CStr, number: &mut u64) -> io::Result<()> {
        if !is_folder(top, name)? {
            return unlink_entry(top, name);
        }
        let folder = open_folder(top, name)?;
        for inner in entry_names(folder.as_fd())? {
            if !is_folder(folder.as_fd(), &inner)? {
                unlink_entry(folder.as_fd(), &inner)?;
                continue;
            }
            // Moving a folder changes it, too.
            open_folder(folder.as_fd(), &inner)?;
            loop {
                let free = CString::new(format!(".moved-{number}"))?;
                *number += 1;
                if rustix::fs::statat(top, &free, AtFlags::SYMLINK_NOFOLLOW).is_err() {
                    rustix::fs::renameat(folder.as_fd(), &inner, top, &free)?;
                    break;
                }
            }
        }
        Ok(rustix::fs::unlinkat(top, name, AtFlags::REMOVEDIR)?)
    }

    fn is_folder(parent: BorrowedFd<'_>, name: &CStr) -> io::Result<bool> {
        let found = rustix::fs::statat(parent, name, AtFlags::SYMLINK_NOFOLLOW)?;
        Ok(FileType::from_raw_mode(found.st_mode) == FileType::Directory)
    }

    /// Opens a folder, and lets its owner change it.
    fn open_folder(parent: impl AsFd, name: &CStr) -> io::Result<OwnedFd> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let folder = match rustix::fs::openat(&parent, name, flags, Mode::empty()) {
            Err(Errno::ACCESS) => {
                // It is a folder: a link would have been refused as such.
                rustix::fs::chmodat(&parent, name, Mode::RWXU, AtFlags::empty())?;
                rustix::fs::openat(&parent, name, flags, Mode::empty())?
            }
            opened => opened?,
        };
        if rustix::fs::fchmod(&folder, Mode::RWXU).is_err() {
            release_attributes(&folder);
            rustix::fs::fchmod(&folder, Mode::RWXU)?;
        }
        Ok(folder)
    }

    fn unlink_entry(parent: BorrowedFd<'_>, name: &CStr) -> io::Result<()> {
        match rustix::fs::unlinkat(parent, name, AtFlags::empty()) {
            Err(Errno::PERM) => {
                release_attributes(&rustix::fs::openat(
                    parent,
                    name,
                    OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC,
                    Mode::empty(),
                )?);
                Ok(rustix::fs::unlinkat(parent, name, AtFlags::empty())?)
            }
            done => Ok(done?),
        }
    }

    /// Takes the attributes away by which a file system refuses every change. Only root may, as only root may give them.
    fn release_attributes(file: &OwnedFd) {
        #[cfg(target_os = "linux")]
        {
            use rustix::fs::{IFlags, ioctl_getflags, ioctl_setflags};
            if let Ok(flags) = ioctl_getflags(file) {
                let _ = ioctl_setflags(file, flags - (IFlags::IMMUTABLE | IFlags::APPEND));
            }
        }
        #[cfg(not(target_os = "linux"))]
        let _ = file;
    }

    fn entry_names(folder: BorrowedFd<'_>) -> io::Result<Vec<CString>> {
        let mut names = Vec::new();
        for entry in Dir::read_from(folder)? {
            let entry = entry?;
            if entry.file_name() != c"." && entry.file_name() != c".." {
                names.push(entry.file_name().to_owned());
            }
        }
        Ok(names)
    }

    #[cfg(test)]
    mod tests {
        use std::fs;
        use std::os::unix::ffi::OsStrExt;
        use std::os::unix::fs::PermissionsExt;

        use rustix::fs::{CWD, Mode, OFlags, mkdirat, openat};

        use super::*;

        fn mode(path: &Path, mode: u32) {
            fs::set_permissions(path, fs::Permissions::from_mode(mode)).expect("ours");
        }

        #[test]
        fn a_tree_goes_whatever_is_in_it() {
            let place = tempfile::tempdir().expect("a folder");
            let kept = place.path().join("kept");
            fs::create_dir(&kept).expect("ours");
            fs::write(kept.join("file"), "").expect("ours");
            let top = place.path().join("top");
            fs::create_dir_all(top.join("closed/inner/more")).expect("ours");
            fs::write(top.join("closed/inner/file"), "").expect("ours");
            fs::write(top.join(".moved-0"), "").expect("ours");
            fs::write(top.join(std::ffi::OsStr::from_bytes(b"bad\xff\nname")), "").expect("ours");
            std::os::unix::fs::symlink(&kept, top.join("link")).expect("ours");
            std::os::unix::fs::symlink(&kept, top.join("closed/inner/link")).expect("ours");
            fs::hard_link(kept.join("file"), top.join("hard")).expect("ours");
            fs::File::create(top.join("sparse"))
                .and_then(|file| file.set_len(1 << 40))
                .expect("ours");
            let mut folder = openat(CWD, &top, OFlags::RDONLY | OFlags::DIRECTORY, Mode::empty())
                .expect("there");
            // Longer than any path may be, and deeper than there may be open files.
            for _ in 0..1200 {
                mkdirat(&folder, "d", Mode::RWXU).expect("room");
                folder = openat(
                    &folder,
                    "d",
                    OFlags::RDONLY | OFlags::DIRECTORY,
                    Mode::empty(),
                )
                .expect("there");
            }
            mode(&top.join("closed/inner/more"), 0);
            mode(&top.join("closed/inner"), 0);
            mode(&top.join("closed"), 0);
            remove_flat(&top).expect("it goes");
            assert!(!top.exists() && kept.join("file").exists());
        }

        #[test]
        fn closed_folders_are_opened_and_links_left_alone() {
            let place = tempfile::tempdir().expect("a folder");
            let of = |name: &str| place.path().join(name);
            fs::create_dir_all(of("top/a/b")).expect("ours");
            fs::create_dir(of("outside")).expect("ours");
            std::os::unix::fs::symlink(of("outside"), of("top/link")).expect("ours");
            for closed in ["top/a/b", "top/a", "outside"] {
                mode(&of(closed), 0);
            }
            super::super::make_accessible(&of("top"));
            let now = ["top/a", "top/a/b", "outside"]
                .map(|name| fs::metadata(of(name)).expect("there").permissions().mode() & 0o777);
            assert_eq!(now, [0o700, 0o700, 0]);
            mode(&of("outside"), 0o700);
        }
    }
}
