//! What Landlock lets a program reach (landlock(7)): files, TCP ports, and processes to signal.

use std::io;
use std::os::fd::OwnedFd;
use std::path::Path;

use landlock::{
    ABI, Access, AccessFs, AccessNet, BitFlags, CompatLevel, Compatible, NetPort, PathBeneath,
    Ruleset, RulesetAttr, RulesetCreated, RulesetCreatedAttr, Scope,
};
use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;

use super::order::ConfinementRules;

/// The first version that also refuses to truncate a file without write access.
const MIN_ABI: ABI = ABI::V3;
const NETWORK_ABI: ABI = ABI::V4;
const DEVICES_ABI: ABI = ABI::V5;
const SIGNALS_ABI: ABI = ABI::V6;

/// The devices of every program: all others, and terminals above all, are refused.
const DEVICE_FILES: [&str; 5] = [
    "/dev/null",
    "/dev/zero",
    "/dev/full",
    "/dev/random",
    "/dev/urandom",
];
/// Shared memory.
const SHARED_MEMORY: &str = "/dev/shm";
/// Terminals: a program's own, if it has namespaces of its own.
const TERMINAL_FOLDER: &str = "/dev/pts";
/// Processes: likewise.
const PROCESSES_FOLDER: &str = "/proc";
const TERMINAL_DEVICE: &str = "/dev/ptmx";
/// Without them, the processes of all, but to change only its own.
const OWN_PROCESS: &str = "/proc/self";

/// Returns whether the kernel limits access to files, ports, and processes to signal.
pub fn probe_support() -> [bool; 3] {
    let has = |ruleset: Result<Ruleset, landlock::RulesetError>| {
        ruleset.and_then(Ruleset::create).is_ok()
    };
    let strict = || Ruleset::default().set_compatibility(CompatLevel::HardRequirement);
    [
        has(strict().handle_access(AccessFs::from_all(MIN_ABI))),
        has(strict().handle_access(AccessNet::from_all(NETWORK_ABI))),
        has(strict().scope(Scope::from_all(SIGNALS_ABI))),
    ]
}

/// Limits this thread and everything that it starts. It can never be lifted.
pub fn restrict_thread(rules: &ConfinementRules) -> io::Result<()> {
    let mut ruleset = build_ruleset(rules.ports.is_some()).map_err(io::Error::other)?;
    let mut grant = |path: &Path, access: BitFlags<AccessFs>| -> io::Result<()> {
        // Opened one at a time: there may be more paths than files that may be open at once.
        if let Some(open) = open_path(path)? {
            (&mut ruleset)
                .add_rule(PathBeneath::new(open, access))
                .map_err(io::Error::other)?;
        }
        Ok(())
    };
    let (read, write) = (
        AccessFs::from_read(DEVICES_ABI),
        AccessFs::from_all(DEVICES_ABI),
    );
    let of_files = AccessFs::from_file(DEVICES_ABI);
    grant(Path::new("/"), AccessFs::ReadDir.into())?;
    for (folders, files, access) in [
        (&rules.read_folders, &rules.read_files, read),
        (
            &rules.written_folders,
            &rules.written_files,
            write & !AccessFs::IoctlDev,
        ),
    ] {
        folders
            .iter()
            .try_for_each(|folder| grant(folder, access))?;
        files
            .iter()
            .try_for_each(|file| grant(file, access & of_files))?;
    }
    DEVICE_FILES
        .iter()
        .try_for_each(|device| grant(Path::new(device), of_files))?;
    grant(Path::new(SHARED_MEMORY), write)?;
    // A process's files there change it, and its memory is one of them.
    let of_processes = if rules.is_apart && !rules.are_kept_apart {
        write
    } else {
        read
    };
    grant(Path::new(PROCESSES_FOLDER), of_processes)?;
    if rules.is_apart {
        grant(Path::new(TERMINAL_FOLDER), write)?;
        grant(Path::new(TERMINAL_DEVICE), of_files)?;
    } else if !rules.are_kept_apart {
        grant(Path::new(OWN_PROCESS), write)?;
    }
    for port in rules.ports.iter().flatten() {
        (&mut ruleset)
            .add_rule(NetPort::new(*port, AccessNet::from_all(NETWORK_ABI)))
            .map_err(io::Error::other)?;
    }
    ruleset.restrict_self().map_err(io::Error::other)?;
    Ok(())
}

fn build_ruleset(has_ports: bool) -> Result<RulesetCreated, landlock::RulesetError> {
    let ruleset = Ruleset::default()
        .handle_access(AccessFs::from_all(DEVICES_ABI))?
        .scope(Scope::from_all(SIGNALS_ABI))?;
    if has_ports {
        ruleset
            .handle_access(AccessNet::from_all(NETWORK_ABI))?
            .create()
    } else {
        ruleset.create()
    }
}

/// Opens a path without reading it. Returns `None` if it does not exist or this user may not access it: it then needs no grant.
fn open_path(path: &Path) -> io::Result<Option<OwnedFd>> {
    match rustix::fs::open(path, OFlags::PATH | OFlags::CLOEXEC, Mode::empty()) {
        Ok(open) => Ok(Some(open)),
        Err(Errno::NOENT | Errno::ACCESS | Errno::NOTDIR | Errno::PERM) => Ok(None),
        Err(error) => Err(error.into()),
    }
}
