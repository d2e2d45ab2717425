//! Confinement: which files a program may read and write, where it may connect, and which processes it may signal.
//!
//! Linux enforces it (landlock(7)) for the program and everything it starts, for any user. It needs no privilege, and the program cannot
//! gain any. Landlock can only grant: to hide a folder, grant everything around it ([`all_but`]). File names can always be listed, but the
//! contents of hidden files cannot be read. Other systems enforce nothing; [`Support`] tells what is enforced.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::Network;

#[cfg(target_os = "linux")]
pub use linux::{Confinement, support};
#[cfg(not(target_os = "linux"))]
pub use nowhere::{Confinement, support};

/// The parts of a confinement that this system enforces.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Support {
    /// Access to files; Linux 6.2 and later.
    pub files: bool,
    /// The TCP ports to connect to and listen on; Linux 6.7 and later. Other protocols are never restricted.
    pub network: bool,
    /// Signals to programs outside; Linux 6.12 and later.
    pub signals: bool,
}

/// What a program may access. Everything else is refused.
#[derive(Clone, Copy, Debug, Default)]
pub struct Grants<'a> {
    /// Places to read, and to start programs from.
    pub reads: &'a [&'a Places],
    /// Places to read, change, remove and create files in.
    pub writes: &'a [&'a Places],
    /// The only TCP ports allowed. `None` allows all.
    pub ports: Option<&'a [u16]>,
    /// The program's network. `None` is this machine's.
    pub network: Option<&'a Arc<Network>>,
}

/// Files, and folders with all their contents.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Places {
    folders: Vec<PathBuf>,
    files: Vec<PathBuf>,
}

impl Places {
    /// Separates folders from files, once for all programs.
    pub fn of(paths: impl IntoIterator<Item = impl Into<PathBuf>>) -> Self {
        let (folders, files) = paths.into_iter().map(Into::into).partition(|path: &PathBuf| path.is_dir());
        Self { folders, files }
    }
}

/// Returns paths that cover everything below `top` except the `hidden` paths, which must be absolute and free of links.
///
/// A folder that contains a hidden path is replaced by its current entries. Entries created later are not covered.
pub fn all_but(top: &Path, hidden: &BTreeSet<PathBuf>) -> Vec<PathBuf> {
    let mut covered = Vec::new();
    cover(top, hidden, &mut covered);
    covered
}

fn cover(path: &Path, hidden: &BTreeSet<PathBuf>, covered: &mut Vec<PathBuf>) {
    if hidden.contains(path) {
        return;
    }
    // If any hidden path is below `path`, the next one in sorted order is.
    let is_on_the_way = hidden.range(path.to_owned()..).next().is_some_and(|next| next.starts_with(path));
    if !is_on_the_way {
        covered.push(path.to_owned());
        return;
    }
    for entry in fs::read_dir(path).into_iter().flatten().flatten() {
        // Links need no grant, and may point to a hidden path.
        if entry.file_type().is_ok_and(|kind| !kind.is_symlink()) {
            cover(&entry.path(), hidden, covered);
        }
    }
}

#[cfg(target_os = "linux")]
mod linux {
    use std::io;
    use std::os::fd::OwnedFd;
    use std::path::Path;
    use std::process::{Child, Command};
    use std::sync::{Arc, OnceLock};
    use std::thread;

    use landlock::{
        ABI, Access, AccessFs, AccessNet, BitFlags, CompatLevel, Compatible, NetPort, PathBeneath, Ruleset, RulesetAttr, RulesetCreated,
        RulesetCreatedAttr, Scope,
    };

    use rustix::fs::{Mode, OFlags};
    use rustix::io::Errno;
    use rustix::thread::{CapabilitySet, CapabilitySets, capabilities, set_capabilities};

    use super::{Grants, Network, Support};

    /// The first version that also refuses to truncate a file without write access.
    const LEAST: ABI = ABI::V3;
    const NETWORK: ABI = ABI::V4;
    const DEVICES: ABI = ABI::V5;
    const SIGNALS: ABI = ABI::V6;

    /// Returns what the running kernel enforces.
    pub fn support() -> Support {
        static SUPPORT: OnceLock<Support> = OnceLock::new();
        let has = |ruleset: Result<Ruleset, landlock::RulesetError>| ruleset.and_then(Ruleset::create).is_ok();
        let strict = || Ruleset::default().set_compatibility(CompatLevel::HardRequirement);
        *SUPPORT.get_or_init(|| Support {
            files: has(strict().handle_access(AccessFs::from_all(LEAST))),
            network: has(strict().handle_access(AccessNet::from_all(NETWORK))),
            signals: has(strict().scope(Scope::from_all(SIGNALS))),
        })
    }

    fn ruleset(has_ports: bool) -> Result<RulesetCreated, landlock::RulesetError> {
        let ruleset = Ruleset::default().handle_access(AccessFs::from_all(DEVICES))?.scope(Scope::from_all(SIGNALS))?;
        if has_ports { ruleset.handle_access(AccessNet::from_all(NETWORK))?.create() } else { ruleset.create() }
    }

    /// Opens a path without reading it. Returns `None` if it does not exist or this user may not access it: it then needs no grant.
    fn open(path: &Path) -> io::Result<Option<OwnedFd>> {
        match rustix::fs::open(path, OFlags::PATH | OFlags::CLOEXEC, Mode::empty()) {
            Ok(open) => Ok(Some(open)),
            Err(Errno::NOENT | Errno::ACCESS | Errno::NOTDIR | Errno::PERM) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    /// Drops root's capabilities over other programs and the system from this thread. With them, root could read the memory and environment
    /// of other programs through `/proc` despite the confinement. A program of the thread cannot regain them (capabilities(7),
    /// "no_new_privs").
    fn give_up_powers() -> io::Result<()> {
        let powers = CapabilitySet::SYS_PTRACE
            | CapabilitySet::PERFMON
            | CapabilitySet::SYS_ADMIN
            | CapabilitySet::BPF
            | CapabilitySet::SYS_MODULE
            | CapabilitySet::SYS_RAWIO;
        let has = capabilities(None)?;
        let left = |set: CapabilitySet| set.difference(powers);
        let left = CapabilitySets { effective: left(has.effective), permitted: left(has.permitted), inheritable: left(has.inheritable) };
        if left == has { Ok(()) } else { Ok(set_capabilities(None, left)?) }
    }

    /// The limits of a program and everything it starts.
    #[derive(Debug)]
    pub struct Confinement {
        rules: RulesetCreated,
        network: Option<Arc<Network>>,
    }

    impl Confinement {
        /// Prepares the limits, or returns `None` if the system enforces none.
        pub fn new(grants: &Grants<'_>) -> io::Result<Option<Self>> {
            if !support().files {
                return Ok(None);
            }
            let mut ruleset = ruleset(grants.ports.is_some()).map_err(io::Error::other)?;
            let mut grant = |path: &Path, access: BitFlags<AccessFs>| -> io::Result<()> {
                // Opened one at a time: there may be more paths than files that may be open at once.
                if let Some(open) = open(path)? {
                    (&mut ruleset).add_rule(PathBeneath::new(open, access)).map_err(io::Error::other)?;
                }
                Ok(())
            };
            grant(Path::new("/"), AccessFs::ReadDir.into())?;
            let (read, write) = (AccessFs::from_read(DEVICES), AccessFs::from_all(DEVICES));
            for (places, access) in [(grants.reads, read), (grants.writes, write)] {
                for places in places {
                    places.folders.iter().try_for_each(|folder| grant(folder, access))?;
                    places.files.iter().try_for_each(|file| grant(file, access & AccessFs::from_file(DEVICES)))?;
                }
            }
            for port in grants.ports.unwrap_or_default() {
                (&mut ruleset).add_rule(NetPort::new(*port, AccessNet::from_all(NETWORK))).map_err(io::Error::other)?;
            }
            Ok(Some(Self { rules: ruleset, network: grants.network.cloned() }))
        }

        /// Returns the program's own network, or `None` if it uses this machine's.
        pub fn network(&self) -> Option<&Network> {
            self.network.as_deref()
        }

        /// Starts the program confined. A helper thread confines itself, starts the program, which inherits the limits, and ends.
        pub fn spawn(&self, command: &mut Command) -> io::Result<Child> {
            let start = || {
                self.rules.try_clone()?.restrict_self().map_err(io::Error::other)?;
                give_up_powers()?;
                command.spawn()
            };
            thread::scope(|scope| {
                let inside = thread::Builder::new().name("confine".into()).spawn_scoped(scope, start)?;
                inside.join().unwrap_or_else(|_| Err(io::Error::other("the thread that was to start it failed")))
            })
        }
    }
}

/// For systems that enforce nothing.
#[cfg(not(target_os = "linux"))]
mod nowhere {
    use std::io;
    use std::process::{Child, Command};

    use super::{Grants, Network, Support};

    pub fn support() -> Support {
        Support::default()
    }

    #[derive(Debug)]
    pub struct Confinement;

    impl Confinement {
        pub fn new(_grants: &Grants<'_>) -> io::Result<Option<Self>> {
            Ok(None)
        }

        pub fn network(&self) -> Option<&Network> {
            None
        }

        pub fn spawn(&self, command: &mut Command) -> io::Result<Child> {
            command.spawn()
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
            let relative = |path: PathBuf| path.strip_prefix(folder.path()).map(|path| path.display().to_string()).unwrap_or_default();
            all_but(folder.path(), &hidden).into_iter().map(relative).collect()
        };
        assert_eq!(covered(&[]), [String::new()].into());
        assert_eq!(covered(&["b/c/2", "e"]), ["a", "b/c/1", "b/d"].map(str::to_owned).into());
        assert_eq!(covered(&["b/c", "b/c/2"]), ["a", "b/d", "e"].map(str::to_owned).into());
        assert_eq!(covered(&["gone/x"]), ["a", "b", "e"].map(str::to_owned).into());
        assert_eq!(covered(&["b-side"]).len(), 3, "a hidden name that begins alike opens the top alone");
    }
}
