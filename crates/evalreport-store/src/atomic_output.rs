//! An output file at a given path, which replaces an existing file as a whole if it can be replaced.
//!
//! Moving a new file over a link, a pipe or a device would replace that, not its target: for root, even `/dev/stdout` itself. So links are
//! followed, and anything but a regular file is written to directly.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use tempfile::NamedTempFile;

use crate::files;

use super::WriteProtectedPaths;
use super::links::{LinkStep, MAX_LINKS, folder_of, read_step};

/// A file being written. Dropping it without [`AtomicOutput::commit`] leaves an existing file unchanged, except for pipes and devices, which
/// receive data at once.
pub struct AtomicOutput(OutputTarget);

enum OutputTarget {
    /// A temporary file beside the final path.
    Beside(NamedTempFile, PathBuf),
    Through(File),
}

/// The target of a path.
enum PathTarget {
    /// A regular file, or a path without a file.
    Regular(PathBuf),
    Other,
}

impl AtomicOutput {
    /// Creates the file and missing folders.
    pub fn create(path: &Path) -> io::Result<Self> {
        match resolve_target(path)? {
            PathTarget::Regular(place) => {
                if let Some(why) = WriteProtectedPaths::default().refusal_reason(&place) {
                    return Err(io::Error::new(
                        io::ErrorKind::PermissionDenied,
                        format!("it {why}"),
                    ));
                }
                let folder = folder_of(&place);
                fs::create_dir_all(folder)?;
                files::sweep_files(folder);
                Ok(Self(OutputTarget::Beside(
                    files::create_temporary_in(folder)?,
                    place,
                )))
            }
            // The output may be a file that already has content.
            PathTarget::Other => Ok(Self(OutputTarget::Through(
                OpenOptions::new().append(true).open(path)?,
            ))),
        }
    }

    /// Moves the file into place.
    pub fn commit(self) -> io::Result<()> {
        match self.0 {
            OutputTarget::Beside(file, place) => {
                file.as_file().sync_all()?;
                file.persist(place).map(|_| ()).map_err(|error| error.error)
            }
            OutputTarget::Through(mut file) => file.flush(),
        }
    }
}

impl Write for AtomicOutput {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match &mut self.0 {
            OutputTarget::Beside(file, _) => file.write(bytes),
            OutputTarget::Through(file) => file.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match &mut self.0 {
            OutputTarget::Beside(file, _) => file.flush(),
            OutputTarget::Through(file) => file.flush(),
        }
    }
}

/// Follows links to the target of a path.
fn resolve_target(path: &Path) -> io::Result<PathTarget> {
    let mut place = path.to_owned();
    for _ in 0..MAX_LINKS {
        place = match read_step(&place)? {
            LinkStep::Nothing => return Ok(PathTarget::Regular(place)),
            // Links in `/proc` to open files are no real paths, even if they look like paths.
            LinkStep::Link(_) if fs::canonicalize(folder_of(&place))?.starts_with("/proc") => {
                return Ok(PathTarget::Other);
            }
            LinkStep::Link(target) => target,
            LinkStep::End(metadata) if metadata.is_dir() => {
                return Err(io::Error::new(
                    io::ErrorKind::IsADirectory,
                    "it is a folder",
                ));
            }
            LinkStep::End(metadata) => {
                return Ok(if metadata.is_file() {
                    PathTarget::Regular(place)
                } else {
                    PathTarget::Other
                });
            }
        };
    }
    Err(io::Error::other("there are too many links on the way"))
}

#[cfg(all(test, unix))]
mod tests {
    use std::io::Read;
    use std::os::unix::fs::{FileTypeExt, symlink};
    use std::process::Command;

    use super::{AtomicOutput, File, OpenOptions, Path, Write, fs};

    fn written(path: &Path, text: &str) {
        let mut file = AtomicOutput::create(path).expect("begun");
        file.write_all(text.as_bytes()).expect("written");
        file.commit().expect("in its place");
    }

    #[test]
    fn a_link_stays_and_the_file_behind_it_is_replaced() {
        let folder = tempfile::tempdir().expect("a folder");
        let of = |name: &str| folder.path().join(name);
        fs::write(of("real"), "old").expect("written");
        symlink("real", of("link")).expect("a link");
        symlink(of("link"), of("link to it")).expect("a link");
        symlink("new/file", of("to nothing yet")).expect("a link");
        let mut begun = AtomicOutput::create(&of("link to it")).expect("begun");
        begun.write_all(b"half").expect("written");
        drop(begun);
        assert_eq!(fs::read_to_string(of("real")).expect("there"), "old");
        written(&of("link to it"), "new");
        written(&of("to nothing yet"), "first");
        assert_eq!(fs::read_to_string(of("real")).expect("there"), "new");
        assert_eq!(fs::read_to_string(of("new/file")).expect("there"), "first");
        assert!(
            ["link", "link to it", "to nothing yet"]
                .iter()
                .all(|name| of(name).is_symlink())
        );
        symlink("circle", of("circle")).expect("a link");
        assert!(
            AtomicOutput::create(&of("circle")).is_err()
                && AtomicOutput::create(folder.path()).is_err()
        );
        assert_eq!(
            fs::read_dir(folder.path()).expect("a folder").count(),
            6,
            "nothing else is left"
        );
    }

    #[test]
    fn what_is_no_file_is_written_to() {
        let folder = tempfile::tempdir().expect("a folder");
        let pipe = folder.path().join("pipe");
        assert!(
            Command::new("mkfifo")
                .arg(&pipe)
                .status()
                .expect("mkfifo")
                .success()
        );
        let reader = std::thread::spawn({
            let pipe = pipe.clone();
            move || {
                let mut text = String::new();
                File::open(pipe)
                    .and_then(|mut file| file.read_to_string(&mut text))
                    .map(|_| text)
            }
        });
        written(&pipe, "through");
        assert_eq!(reader.join().expect("a thread").expect("read"), "through");
        assert!(
            fs::symlink_metadata(&pipe)
                .expect("there")
                .file_type()
                .is_fifo()
        );
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn what_a_process_has_open_is_written_to() {
        use std::os::fd::AsRawFd;

        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("log");
        fs::write(&path, "before ").expect("written");
        let file = OpenOptions::new().append(true).open(&path).expect("opened");
        symlink(
            format!("/proc/self/fd/{}", file.as_raw_fd()),
            folder.path().join("stdout"),
        )
        .expect("a link");
        written(&folder.path().join("stdout"), "and after");
        assert_eq!(
            fs::read_to_string(&path).expect("there"),
            "before and after"
        );
        assert!(folder.path().join("stdout").is_symlink());
    }
}
