//! Confinement: which files a program may read and write, where it may connect, which processes it sees and may signal, and what it may ask
//! of the system.
//!
//! Linux enforces it for the program and everything it starts, for any user. It needs no privilege, and the program cannot gain any. It has
//! these parts, each of which holds without the others:
//!
//! - Landlock, without which nothing is confined ([`super::fence`]). It can only grant: to hide a folder, grant everything around it
//!   ([`paths_except`]). File names can always be listed, but the contents of hidden files cannot be read.
//! - No powers ([`super::powers`]), no terminal, and none of this program's open files ([`super::entrance`]).
//! - A filter of system calls ([`super::calls`]).
//! - Namespaces, if the user may make them ([`has_spaces`]): the program sees only its own processes, shared memory, terminals and
//!   temporary folder, and no sockets of services ([`super::scene`]).
//!
//! Other systems enforce nothing; [`ConfinementSupport`] tells what is enforced.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::Network;

#[cfg(target_os = "linux")]
pub use linux::{Confinement, has_spaces, support};
#[cfg(not(target_os = "linux"))]
pub use nowhere::{Confinement, has_spaces, support};

/// The parts of a confinement that this system enforces.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a thing that a kernel does or not"
)]
pub struct ConfinementSupport {
    /// Access to files; Linux 6.2 and later.
    pub files: bool,
    /// The TCP ports to connect to and listen on; Linux 6.7 and later. The filter of system calls restricts other protocols.
    pub network: bool,
    /// Signals to programs outside; Linux 6.12 and later.
    pub signals: bool,
    /// System calls; on the processors that the filter knows.
    pub calls: bool,
}

/// What a program may access. Everything else is refused.
#[derive(Clone, Copy, Debug)]
pub struct AccessGrants<'a> {
    /// Places to read, and to start programs from.
    pub reads: &'a [&'a GrantedPaths],
    /// Places to read, change, remove and create files in.
    pub writes: &'a [&'a GrantedPaths],
    /// A folder that the program may write to. If it gets namespaces of its own ([`has_spaces`]), it also finds this folder at the system's
    /// temporary folders ([`super::TEMPORARY_FOLDERS`]), and of these only what it may read or write by name.
    pub temporary: &'a Path,
    /// The only TCP ports allowed. `None` allows all.
    pub ports: Option<&'a [u16]>,
    /// The program's network. `None` is this machine's.
    pub network: Option<&'a Arc<Network>>,
    /// Whether the processes of the program may not reach into each other, because one decides about another.
    pub are_kept_apart: bool,
}

/// Files, and folders with all their contents.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GrantedPaths {
    folders: Vec<PathBuf>,
    files: Vec<PathBuf>,
}

impl GrantedPaths {
    /// Separates folders from files, once for all programs.
    pub fn from_paths(paths: impl IntoIterator<Item = impl Into<PathBuf>>) -> Self {
        let (folders, files) = paths
            .into_iter()
            .map(Into::into)
            .partition(|path: &PathBuf| path.is_dir());
        Self { folders, files }
    }
}

/// Returns paths that cover everything below `top` except the `hidden` paths, which must be absolute and free of links.
///
/// A folder that contains a hidden path is replaced by its current entries. Entries created later are not covered.
pub fn paths_except(top: &Path, hidden: &BTreeSet<PathBuf>) -> Vec<PathBuf> {
    let mut covered = Vec::new();
    cover_except(top, hidden, &mut covered);
    covered
}

fn cover_except(path: &Path, hidden: &BTreeSet<PathBuf>, covered: &mut Vec<PathBuf>) {
    if hidden.contains(path) {
        return;
    }
    // If any hidden path is below `path`, the next one in sorted order is.
    let is_on_the_way = hidden
        .range(path.to_owned()..)
        .next()
        .is_some_and(|next| next.starts_with(path));
    if !is_on_the_way {
        covered.push(path.to_owned());
        return;
    }
    for entry in fs::read_dir(path).into_iter().flatten().flatten() {
        // Links need no grant, and may point to a hidden path.
        if entry.file_type().is_ok_and(|kind| !kind.is_symlink()) {
            cover_except(&entry.path(), hidden, covered);
        }
    }
}

#[cfg(target_os = "linux")]
mod linux {
    use std::ffi::OsString;
    use std::fs::File;
    use std::io::{self, PipeReader, PipeWriter, Read, Write};
    use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
    use std::os::unix::net::UnixStream;
    use std::path::Path;
    use std::process::{Command, Stdio};
    use std::sync::{Arc, Mutex, OnceLock, PoisonError};

    use rustix::fs::{MemfdFlags, memfd_create};
    use rustix::process::Pid;

    use super::super::entrance::{
        NOT_CONFINED, NOT_STARTED, NUMBER_TAG, PORTER_ARGUMENT, READY_TAG,
    };
    use super::super::handover::send_files;
    use super::super::order::{ConfinementRules, StartOrder};
    use super::super::system::{self, Offspring, Own, SELF_EXECUTABLE};
    use super::super::{calls, fence};
    use super::{AccessGrants, ConfinementSupport, GrantedPaths, Network};

    /// Returns what the running kernel enforces.
    pub fn support() -> ConfinementSupport {
        static SUPPORT: OnceLock<ConfinementSupport> = OnceLock::new();
        *SUPPORT.get_or_init(|| {
            let [files, network, signals] = fence::probe_support();
            ConfinementSupport {
                files,
                network,
                signals,
                calls: calls::are_filtered(),
            }
        })
    }

    /// Returns whether programs get processes, shared memory and terminals of their own. Asks by trying to start one.
    pub fn has_spaces() -> bool {
        static HAS_SPACES: OnceLock<bool> = OnceLock::new();
        *HAS_SPACES.get_or_init(|| {
            let rules = ConfinementRules {
                is_apart: true,
                read_folders: vec!["/".into()],
                ..ConfinementRules::default()
            };
            let confinement = Confinement {
                rules,
                network: None,
            };
            let Ok((_, output)) = io::pipe() else {
                return false;
            };
            let _starting = system::starting();
            // No program has this name. It is tried last, after all that could fail before.
            let started = confinement.spawn(
                &["/".into()],
                Path::new("/"),
                Vec::new(),
                None,
                [&output; 2],
            );
            matches!(started, Err(error) if error.raw_os_error().is_some())
        })
    }

    /// The limits of a program and everything it starts.
    #[derive(Debug)]
    pub struct Confinement {
        rules: ConfinementRules,
        network: Option<Arc<Network>>,
    }

    impl Confinement {
        /// Prepares the limits, or returns `None` if the system enforces none.
        pub fn new(grants: &AccessGrants<'_>) -> Option<Self> {
            if !support().files {
                return None;
            }
            let folders = |of: &[&GrantedPaths]| {
                of.iter()
                    .flat_map(|places| &places.folders)
                    .cloned()
                    .collect()
            };
            let files = |of: &[&GrantedPaths]| {
                of.iter()
                    .flat_map(|places| &places.files)
                    .cloned()
                    .collect()
            };
            let rules = ConfinementRules {
                read_folders: folders(grants.reads),
                read_files: files(grants.reads),
                written_folders: folders(grants.writes),
                written_files: files(grants.writes),
                temporary: Some(grants.temporary.to_owned()),
                ports: grants.ports.map(<[u16]>::to_vec),
                is_apart: has_spaces(),
                has_network: grants.network.is_some(),
                are_kept_apart: grants.are_kept_apart,
            };
            Some(Self {
                rules,
                network: grants.network.cloned(),
            })
        }

        /// Starts the program confined, with its words, folder and all its variables. The caller holds `Starting`.
        pub fn spawn(
            &self,
            words: &[OsString],
            folder: &Path,
            variables: Vec<(OsString, OsString)>,
            input: Option<&PipeReader>,
            outputs: [&PipeWriter; 2],
        ) -> io::Result<Offspring> {
            let order = StartOrder {
                rules: self.rules.clone(),
                words: words.to_vec(),
                folder: folder.to_owned(),
                variables,
            };
            let mut told = File::from(memfd_create("order", MemfdFlags::CLOEXEC)?);
            told.write_all(&order.to_bytes()?)?;
            let nothing = File::open("/dev/null")?;
            let input = input.map_or(nothing.as_fd(), AsFd::as_fd);
            let (mut ours, theirs) = UnixStream::pair()?;
            let spaces = self
                .network
                .iter()
                .flat_map(|network| network.entry_namespaces())
                .map(AsFd::as_fd);
            let files: Vec<_> = [theirs.as_fd(), told.as_fd(), input]
                .into_iter()
                .chain(outputs.map(AsFd::as_fd))
                .chain(spaces)
                .collect();
            Porter::send_to_porter(&files)?;
            // Only the first process may hold the other end, so that reading ends with it.
            drop(files);
            drop(theirs);
            let mut said = Vec::new();
            let read = ours.read_to_end(&mut said);
            let too_early = || io::Error::other("its first process ended too early");
            let (number, said) = split_process_number(&said).ok_or_else(too_early)?;
            let mut first = Offspring::Adopted(number);
            match said.strip_prefix(&[READY_TAG]) {
                Some([]) if read.is_ok() => Ok(first),
                after => {
                    first.kill_and_reap();
                    Err(parse_refusal(after.unwrap_or(said)).unwrap_or_else(too_early))
                }
            }
        }
    }

    /// The process that starts the first processes of programs, and the way to it.
    struct Porter {
        door: UnixStream,
        #[expect(
            dead_code,
            reason = "held so that it counts as started by this process"
        )]
        own: Own,
    }

    impl Porter {
        /// Starts one. The caller holds `Starting`.
        fn new() -> io::Result<Self> {
            if system::variables().is_none() {
                return Err(io::Error::other(
                    "this program does not take over what its programs start",
                ));
            }
            let (door, theirs) = UnixStream::pair()?;
            let mut command = Command::new(SELF_EXECUTABLE);
            command
                .arg(PORTER_ARGUMENT)
                .env_clear()
                .current_dir("/")
                .stdin(OwnedFd::from(theirs))
                .stdout(Stdio::null())
                .stderr(Stdio::null());
            // The terminal's Ctrl-C must not reach it.
            system::apart(&mut command);
            let child = command.spawn()?;
            Ok(Self {
                door,
                own: system::register_child(child.id(), ""),
            })
        }

        /// Hands files to the porter, which is started if there is none.
        fn send_to_porter(files: &[BorrowedFd<'_>]) -> io::Result<()> {
            static PORTER: Mutex<Option<Porter>> = Mutex::new(None);
            let mut porter = PORTER.lock().unwrap_or_else(PoisonError::into_inner);
            if let Some(Porter { door, .. }) = &*porter
                && send_files(door, files).is_ok()
            {
                return Ok(());
            }
            // There is none yet, or somebody killed it.
            let new = Porter::new()?;
            send_files(&new.door, files)?;
            *porter = Some(new);
            Ok(())
        }
    }

    /// Splits what a first process said into its number and the rest.
    fn split_process_number(said: &[u8]) -> Option<(Pid, &[u8])> {
        let (number, rest) = said.strip_prefix(&[NUMBER_TAG])?.split_first_chunk()?;
        Some((Pid::from_raw(i32::from_le_bytes(*number))?, rest))
    }

    fn parse_refusal(said: &[u8]) -> Option<io::Error> {
        match said.split_first()? {
            (&NOT_STARTED, number) => Some(io::Error::from_raw_os_error(i32::from_le_bytes(
                number.try_into().ok()?,
            ))),
            (&NOT_CONFINED, text) => Some(io::Error::other(format!(
                "it could not be confined: {}",
                String::from_utf8_lossy(text)
            ))),
            _ => None,
        }
    }
}

/// For systems that enforce nothing.
#[cfg(not(target_os = "linux"))]
mod nowhere {
    use std::ffi::OsString;
    use std::io::{self, PipeReader, PipeWriter};
    use std::path::Path;

    use super::super::system::Offspring;
    use super::{AccessGrants, ConfinementSupport};

    pub fn support() -> ConfinementSupport {
        ConfinementSupport::default()
    }

    pub fn has_spaces() -> bool {
        false
    }

    /// There is none.
    #[derive(Debug)]
    pub enum Confinement {}

    impl Confinement {
        pub fn new(_grants: &AccessGrants<'_>) -> Option<Self> {
            None
        }

        pub fn spawn(
            &self,
            _words: &[OsString],
            _folder: &Path,
            _variables: Vec<(OsString, OsString)>,
            _input: Option<&PipeReader>,
            _outputs: [&PipeWriter; 2],
        ) -> io::Result<Offspring> {
            match *self {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everything_is_covered_but_what_is_hidden() {
        let folder = tempfile::tempdir().expect("a folder");
        let of = |name: &str| folder.path().join(name);
        for file in ["a/1", "a/2", "b/c/1", "b/c/2/x", "b/d/1", "e"] {
            fs::create_dir_all(of(file).parent().expect("a folder")).expect("room");
            fs::write(of(file), "").expect("room");
        }
        #[cfg(unix)]
        std::os::unix::fs::symlink(of("b/c"), of("b/link")).expect("a link");
        let covered = |hidden: &[&str]| -> BTreeSet<String> {
            let hidden = hidden.iter().map(|name| of(name)).collect();
            let relative = |path: PathBuf| {
                path.strip_prefix(folder.path())
                    .map(|path| path.display().to_string())
                    .unwrap_or_default()
            };
            paths_except(folder.path(), &hidden)
                .into_iter()
                .map(relative)
                .collect()
        };
        assert_eq!(covered(&[]), [String::new()].into());
        assert_eq!(
            covered(&["b/c/2", "e"]),
            ["a", "b/c/1", "b/d"].map(str::to_owned).into()
        );
        assert_eq!(
            covered(&["b/c", "b/c/2"]),
            ["a", "b/d", "e"].map(str::to_owned).into()
        );
        assert_eq!(
            covered(&["gone/x"]),
            ["a", "b", "e"].map(str::to_owned).into()
        );
        assert_eq!(
            covered(&["b-side"]).len(),
            3,
            "a hidden name that begins alike opens the top alone"
        );
    }
}
