//! What a program with namespaces of its own sees of the file system: its own processes, terminals, shared memory and folders (mount_namespaces(7)).

use std::fs;
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use nix::mount::MsFlags;
use rustix::fs::{Mode, OFlags, mkdir, open};
use rustix::io::Errno;

use super::order::{Rules, below};

/// Places with sockets of services, which would do anything for this user: containers, the session, the display.
const SERVICES: [&str; 2] = ["/run", "/tmp/.X11-unix"];
/// Parts of them that programs need: the resolver of names, disks of users, and where some systems keep all programs.
const NEEDED: [&str; 6] = [
    "/run/current-system",
    "/run/media",
    "/run/wrappers",
    "/run/opengl-driver",
    "/run/resolvconf",
    "/run/systemd/resolve/stub-resolv.conf",
];
const RESOLVER: &str = "/etc/resolv.conf";

const QUIET: MsFlags = MsFlags::MS_NOSUID.union(MsFlags::MS_NODEV);

/// Makes the scene. Call it in the first process of the namespaces, in `folder`, which stays where it is.
pub fn make(rules: &Rules, folder: &Path) -> io::Result<()> {
    // Nothing that is mounted here is seen outside.
    mount(None, Path::new("/"), None, MsFlags::MS_REC | MsFlags::MS_PRIVATE, None)?;
    let mut carried: Vec<PathBuf> = [&rules.carried, &rules.written_folders, &rules.written_files].into_iter().flatten().cloned().collect();
    carried.push(folder.to_owned());
    let of_services: Vec<PathBuf> =
        NEEDED.iter().map(PathBuf::from).chain(fs::canonicalize(RESOLVER)).chain(carried.iter().cloned()).collect();
    for place in SERVICES.map(Path::new) {
        if is_plain_folder(place) {
            cover(place, None, &of_services)?;
        }
    }
    for (shown, place) in &rules.shown {
        cover(place, Some(shown), &carried)?;
    }
    let memory = Path::new("/dev/shm");
    // A project or a scratch folder may be there: then what is granted of it has to stay.
    let is_granted = [&carried, &rules.read_folders, &rules.read_files].into_iter().any(|paths| below(paths, memory).next().is_some());
    if is_plain_folder(memory) && !is_granted {
        mount(None, memory, Some("tmpfs"), QUIET, Some("mode=1777"))?;
    }
    let terminals = Path::new("/dev/pts");
    if is_plain_folder(terminals) {
        let flags = MsFlags::MS_NOSUID | MsFlags::MS_NOEXEC;
        mount(None, terminals, Some("devpts"), flags, Some("newinstance,ptmxmode=0666,mode=620"))
            // Without terminals of their own, programs have none.
            .or_else(|_| mount(None, terminals, Some("tmpfs"), QUIET, None))?;
    }
    if Path::new("/dev/ptmx").exists() && Path::new("/dev/pts/ptmx").exists() {
        mount(Some(Path::new("/dev/pts/ptmx")), Path::new("/dev/ptmx"), None, MsFlags::MS_BIND, None)?;
    }
    own_processes()
}

fn is_plain_folder(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok_and(|metadata| metadata.is_dir())
}

/// Shows only the program's own processes, which it may change, and the system as it is, which it may not.
fn own_processes() -> io::Result<()> {
    let (proc, flags) = (Path::new("/proc"), QUIET | MsFlags::MS_NOEXEC);
    mount(None, proc, Some("proc"), flags, None)?;
    for entry in fs::read_dir(proc)? {
        let entry = entry?;
        let is_of_process = entry.file_name().as_encoded_bytes().iter().all(u8::is_ascii_digit);
        let (Ok(kind), path) = (entry.file_type(), entry.path()) else { continue };
        let is_changeable = || entry.metadata().is_ok_and(|metadata| metadata.permissions().mode() & 0o222 != 0);
        if !is_of_process && !kind.is_symlink() && (kind.is_dir() || is_changeable()) {
            mount(Some(&path), &path, None, MsFlags::MS_BIND, None)?;
            mount(None, &path, None, MsFlags::MS_BIND | MsFlags::MS_REMOUNT | MsFlags::MS_RDONLY | flags, None)?;
        }
    }
    Ok(())
}

/// Shows another folder at a place, or an empty one, with the carried paths below it as they were.
fn cover(place: &Path, shown: Option<&Path>, carried: &[PathBuf]) -> io::Result<()> {
    let held: Vec<(&PathBuf, OwnedFd)> = below(carried, place).filter_map(|path| Some((path, held(path)?))).collect();
    match shown {
        Some(shown) => mount(Some(shown), place, None, MsFlags::MS_BIND | MsFlags::MS_REC, None)?,
        None => mount(None, place, Some("tmpfs"), QUIET, Some("mode=755"))?,
    }
    for (path, held) in held {
        let target = fs::metadata(format!("/proc/self/fd/{}", held.as_raw_fd()))?;
        let above = path.ancestors().skip(usize::from(!target.is_dir())).take_while(|above| *above != place);
        for folder in above.collect::<Vec<_>>().into_iter().rev() {
            match mkdir(folder, Mode::from_raw_mode(0o755)) {
                Ok(()) | Err(Errno::EXIST) => {}
                Err(error) => return Err(error.into()),
            }
        }
        if !target.is_dir() {
            open(path, OFlags::WRONLY | OFlags::CREATE | OFlags::CLOEXEC, Mode::from_raw_mode(0o644))?;
        }
        let source = PathBuf::from(format!("/proc/self/fd/{}", held.as_raw_fd()));
        mount(Some(&source), path, None, MsFlags::MS_BIND | MsFlags::MS_REC, None)?;
    }
    Ok(())
}

fn held(path: &Path) -> Option<OwnedFd> {
    open(path, OFlags::PATH | OFlags::CLOEXEC, Mode::empty()).ok()
}

fn mount(source: Option<&Path>, place: &Path, kind: Option<&str>, flags: MsFlags, options: Option<&str>) -> io::Result<()> {
    nix::mount::mount(source, place, kind, flags, options)
        .map_err(|error| io::Error::other(format!("{} could not be mounted: {}", place.display(), error.desc())))
}
