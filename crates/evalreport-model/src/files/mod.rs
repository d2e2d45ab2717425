//! Opens regular files, and nothing else, for reading. Also manages temporary files and shared folders, with locks that show
//! whether they are in use.
//!
//! A pipe in place of a file would block a command until somebody writes to it, and a device may never end. So every file is opened here
//! without waiting, and its type is checked before its first byte is read.

mod inflation;
mod remove;
mod shared;
mod temporary;

pub use inflation::{BoundedReader, ReadAllowance, max_inflated_bytes};
pub use remove::{make_accessible, remove_tree};
pub use shared::{FolderUse, IN_USE, mark_used, run_as_only_user};
pub use temporary::{
    HeldFolder, WRITING_PREFIX, create_temporary_in, sweep_files, sweep_folders, sweep_tree,
};

use std::fs::{File, Metadata, OpenOptions};
use std::io::{self, Read};
use std::path::Path;

/// Number of bytes read at once.
const BLOCK_BYTES: usize = 64 << 10;

/// Opens a regular file for reading.
pub fn open(path: impl AsRef<Path>) -> io::Result<File> {
    open_with_options(OpenOptions::new().read(true), path)
}

/// Opens a regular file with these options. A folder can be opened too; reading it returns the system's error.
pub fn open_with_options(options: &mut OpenOptions, path: impl AsRef<Path>) -> io::Result<File> {
    let path = path.as_ref();
    let opened = not_waiting(options).open(path);
    let metadata = match &opened {
        Ok(file) => file.metadata()?,
        // A socket cannot be opened, and the system does not say why.
        Err(error) => match std::fs::metadata(path) {
            Ok(metadata) if error.kind() != io::ErrorKind::PermissionDenied => metadata,
            Ok(_) | Err(_) => return opened,
        },
    };
    check_regular(&metadata).and(opened)
}

/// Rejects anything except regular files and folders.
pub fn check_regular(metadata: &Metadata) -> io::Result<()> {
    if metadata.is_file() || metadata.is_dir() {
        return Ok(());
    }
    Err(io::Error::new(
        io::ErrorKind::InvalidInput,
        format!("it is {}, not a regular file", kind(metadata)),
    ))
}

/// Reads everything from a reader, and passes it on block by block.
pub fn for_each_block(reader: impl Read, mut take: impl FnMut(&[u8])) -> io::Result<()> {
    try_each_block(reader, |block| {
        take(block);
        Ok(())
    })
}

/// Like [`for_each_block`], but ends with the first error of `take`.
pub fn try_each_block(
    mut reader: impl Read,
    mut take: impl FnMut(&[u8]) -> io::Result<()>,
) -> io::Result<()> {
    let mut block = vec![0; BLOCK_BYTES];
    loop {
        match reader.read(&mut block) {
            Ok(0) => return Ok(()),
            Ok(read) => take(&block[..read])?,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}

/// Reads a whole regular file. Fails, and does not abort, if memory has no room for it.
///
/// Whoever may write a file can give it any length at no cost. So a file in a folder that a program of a run wrote is read by
/// [`read_at_most`], or compared by [`are_equal`].
pub fn read(path: impl AsRef<Path>) -> io::Result<Vec<u8>> {
    let mut file = open(path)?;
    let length = file.metadata().map_or(0, |metadata| metadata.len());
    let mut bytes = Vec::new();
    bytes
        .try_reserve_exact(usize::try_from(length).unwrap_or(usize::MAX))
        .map_err(|_| io::ErrorKind::OutOfMemory)?;
    file.read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Reads a whole regular file of at most `most` bytes. Fails for a longer one.
pub fn read_at_most(path: impl AsRef<Path>, most: u64) -> io::Result<Vec<u8>> {
    let bytes = read_up_to(open(path)?, most)?;
    if bytes.len() as u64 > most {
        return Err(io::ErrorKind::FileTooLarge.into());
    }
    Ok(bytes)
}

/// Returns whether two regular files can be read and have the same content. Holds a block of each in memory.
pub fn are_equal(one: impl AsRef<Path>, other: impl AsRef<Path>) -> bool {
    let compare = || -> io::Result<bool> {
        let (mut one, mut other) = (open(one)?, open(other)?);
        if one.metadata()?.len() != other.metadata()?.len() {
            return Ok(false);
        }
        let (mut left, mut right) = (Vec::new(), Vec::new());
        loop {
            for (file, block) in [(&mut one, &mut left), (&mut other, &mut right)] {
                block.clear();
                file.take(BLOCK_BYTES as u64).read_to_end(block)?;
            }
            if left != right {
                return Ok(false);
            }
            if left.is_empty() {
                return Ok(true);
            }
        }
    };
    compare().unwrap_or(false)
}

/// Reads a regular file up to one byte more than `most`. Refuses links, symbolic or hard, so that whoever may write in a folder cannot have
/// another file read in the place of one there.
pub fn read_unlinked(path: impl AsRef<Path>, most: u64) -> io::Result<Vec<u8>> {
    let refused = || io::Error::new(io::ErrorKind::InvalidInput, "it is a link");
    if std::fs::symlink_metadata(&path)?.is_symlink() {
        return Err(refused());
    }
    let mut options = OpenOptions::new();
    let file = open_unfollowed(options.read(true), path.as_ref())?;
    let metadata = file.metadata()?;
    check_regular(&metadata)?;
    #[cfg(unix)]
    if std::os::unix::fs::MetadataExt::nlink(&metadata) > 1 {
        return Err(refused());
    }
    read_up_to(file, most)
}

/// Reads up to one byte more than `most`.
pub fn read_up_to(file: impl Read, most: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    file.take(most.saturating_add(1)).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Reads a whole regular file as UTF-8 text.
pub fn read_to_string(path: impl AsRef<Path>) -> io::Result<String> {
    String::from_utf8(read(path)?)
        .map_err(|_| io::Error::new(io::ErrorKind::InvalidData, "it is not valid UTF-8"))
}

/// Turns the error for a missing file into `None`. Keeps all other errors.
pub fn missing_as_none<T>(done: io::Result<T>) -> io::Result<Option<T>> {
    match done {
        Ok(value) => Ok(Some(value)),
        Err(error) if is_absence(&error) => Ok(None),
        Err(error) => Err(error),
    }
}

/// Returns whether the error means that the path does not exist, even because a parent of it is a file.
pub fn is_absence(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory
    )
}

/// Prevents waiting for the other end of a pipe. Makes no difference for regular files.
#[cfg(unix)]
fn not_waiting(options: &mut OpenOptions) -> &mut OpenOptions {
    use rustix::fs::OFlags;
    use std::os::unix::fs::OpenOptionsExt;
    options.custom_flags((OFlags::NONBLOCK | OFlags::NOCTTY).bits().cast_signed())
}

#[cfg(not(unix))]
fn not_waiting(options: &mut OpenOptions) -> &mut OpenOptions {
    options
}

/// Opens a file, but not through a symbolic link at its name.
#[cfg(unix)]
fn open_unfollowed(options: &mut OpenOptions, path: &Path) -> io::Result<File> {
    use rustix::fs::OFlags;
    use std::os::unix::fs::OpenOptionsExt;
    options
        .custom_flags(
            (OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::NOFOLLOW)
                .bits()
                .cast_signed(),
        )
        .open(path)
}

#[cfg(not(unix))]
fn open_unfollowed(options: &mut OpenOptions, path: &Path) -> io::Result<File> {
    options.open(path)
}

#[cfg(unix)]
fn kind(metadata: &Metadata) -> &'static str {
    use std::os::unix::fs::FileTypeExt;
    match metadata.file_type() {
        kind if kind.is_fifo() => "a pipe",
        kind if kind.is_socket() => "a socket",
        _ => "a device",
    }
}

#[cfg(not(unix))]
fn kind(_: &Metadata) -> &'static str {
    "a device"
}

#[cfg(all(test, unix))]
mod tests {
    use std::fs;
    use std::os::unix::net::UnixListener;
    use std::process::Command;

    use super::*;

    #[test]
    fn only_regular_files_are_opened_and_nothing_waits() {
        let folder = tempfile::tempdir().expect("a folder");
        let of = |name: &str| folder.path().join(name);
        fs::write(of("file"), "text").expect("written");
        std::os::unix::fs::symlink("file", of("link")).expect("a link");
        assert!(
            Command::new("mkfifo")
                .arg(of("pipe"))
                .status()
                .expect("mkfifo")
                .success()
        );
        let _listener = UnixListener::bind(of("socket")).expect("a socket");
        assert_eq!(read(of("file")).expect("read"), b"text");
        assert_eq!(read_to_string(of("link")).expect("read"), "text");
        assert_eq!(
            read_unlinked(of("file"), 2).expect("read"),
            b"tex",
            "one byte more says that there is more"
        );
        assert!(read_unlinked(of("link"), 9).is_err());
        fs::hard_link(of("file"), of("second")).expect("a link");
        assert!(read_unlinked(of("second"), 9).is_err());
        for (path, why) in [
            (of("pipe"), "a pipe"),
            (of("socket"), "a socket"),
            ("/dev/zero".into(), "a device"),
        ] {
            let error = read(&path).expect_err("refused");
            assert_eq!(
                error.to_string(),
                format!("it is {why}, not a regular file")
            );
            assert!(
                open_with_options(OpenOptions::new().read(true).write(true), &path).is_err(),
                "{why}"
            );
        }
        assert_eq!(
            read(of("nothing")).expect_err("not there").kind(),
            io::ErrorKind::NotFound
        );
        assert!(read(folder.path()).is_err());
        assert!(matches!(
            missing_as_none(fs::remove_file(of("nothing"))),
            Ok(None)
        ));
        assert!(missing_as_none(fs::remove_file(folder.path())).is_err());
    }
}
