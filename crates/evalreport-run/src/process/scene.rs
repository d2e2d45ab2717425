//! What a program with namespaces of its own sees of the file system: its own processes, terminals, shared memory and temporary folder, and
//! all that it may not write to as read-only (mount_namespaces(7)). Landlock refuses to write files, but not to change modes, owners and times.

use std::ffi::OsString;
use std::fs;
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::ffi::OsStringExt;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use nix::mount::MsFlags;
use rustix::fs::{Mode, OFlags, StatVfsMountFlags, mkdir, open, statvfs};
use rustix::io::Errno;

use super::order::ConfinementRules;
use super::system::TEMPORARY_FOLDERS;

/// Places with sockets of services, which would do anything for this user: containers, the session, the display.
const SERVICE_FOLDERS: [&str; 2] = ["/run", "/tmp/.X11-unix"];
/// Parts of them that programs need: the resolver of names, disks of users, and where some systems keep all programs.
const NEEDED_PATHS: [&str; 6] = [
    "/run/current-system",
    "/run/media",
    "/run/wrappers",
    "/run/opengl-driver",
    "/run/resolvconf",
    "/run/systemd/resolve/stub-resolv.conf",
];
const RESOLVER_FILE: &str = "/etc/resolv.conf";

const MOUNT_FLAGS: MsFlags = MsFlags::MS_NOSUID.union(MsFlags::MS_NODEV);

/// Makes the scene. Call it in the first process of the namespaces, in `folder`, which stays where it is.
pub fn make_scene(rules: &ConfinementRules, folder: &Path) -> io::Result<()> {
    let before = list_mounts()?;
    // Nothing that is mounted here is seen outside.
    mount_path(
        None,
        Path::new("/"),
        None,
        MsFlags::MS_REC | MsFlags::MS_PRIVATE,
        None,
    )?;
    let written: Vec<&Path> = [&rules.written_folders, &rules.written_files]
        .into_iter()
        .flatten()
        .map(PathBuf::as_path)
        .collect();
    let resolver = fs::canonicalize(RESOLVER_FILE).ok();
    let needed: Vec<&Path> = NEEDED_PATHS
        .iter()
        .map(Path::new)
        .chain(resolver.as_deref())
        .chain([folder])
        .collect();
    for place in SERVICE_FOLDERS {
        cover_folder(
            Path::new(place),
            Cover::Empty("mode=755"),
            &written,
            &needed,
        )?;
    }
    // A project or a scratch folder may be in shared memory. A program may write there, and so to all that is mounted there.
    let read: Vec<&Path> = [&rules.read_folders, &rules.read_files]
        .into_iter()
        .flatten()
        .map(PathBuf::as_path)
        .chain([folder])
        .collect();
    cover_folder(
        Path::new("/dev/shm"),
        Cover::Empty("mode=1777"),
        &written,
        &read,
    )?;
    // Other programs have sockets and keys there, and a run could leave something for the next.
    if let Some(temporary) = rules.temporary.as_deref().and_then(open_path) {
        for place in TEMPORARY_FOLDERS {
            cover_folder(Path::new(place), Cover::Folder(&temporary), &written, &read)?;
        }
    }
    let terminals = Path::new("/dev/pts");
    if is_plain_folder(terminals) {
        let flags = MsFlags::MS_NOSUID | MsFlags::MS_NOEXEC;
        mount_path(
            None,
            terminals,
            Some("devpts"),
            flags,
            Some("newinstance,ptmxmode=0666,mode=620"),
        )
        // Without terminals of their own, programs have none.
        .or_else(|_| mount_path(None, terminals, Some("tmpfs"), MOUNT_FLAGS, None))?;
    }
    if Path::new("/dev/ptmx").exists() && Path::new("/dev/pts/ptmx").exists() {
        mount_path(
            Some(Path::new("/dev/pts/ptmx")),
            Path::new("/dev/ptmx"),
            None,
            MsFlags::MS_BIND,
            None,
        )?;
    }
    mount_own_processes()?;
    protect_the_rest(&before, &written)
}

/// A mount of this process's namespace.
struct Mount {
    place: PathBuf,
    /// Those that nobody but a user of the whole system may take off.
    flags: MsFlags,
}

/// Lists what is mounted (proc_pid_mountinfo(5)), without asking file systems, which may not answer.
fn list_mounts() -> io::Result<Vec<Mount>> {
    let text = fs::read("/proc/self/mountinfo")?;
    let mount = |line: &[u8]| {
        let mut fields = line.split(|byte| *byte == b' ').skip(4);
        let place = PathBuf::from(OsString::from_vec(unescape_octal(fields.next()?)));
        let flags = fields
            .next()?
            .split(|byte| *byte == b',')
            .filter_map(|option| match option {
                b"nosuid" => Some(MsFlags::MS_NOSUID),
                b"nodev" => Some(MsFlags::MS_NODEV),
                b"noexec" => Some(MsFlags::MS_NOEXEC),
                _ => None,
            })
            .collect();
        Some(Mount { place, flags })
    };
    Ok(text
        .split(|byte| *byte == b'\n')
        .filter_map(mount)
        .collect())
}

/// Returns the bytes of a name in which some are written as `\\` and three octal digits.
fn unescape_octal(name: &[u8]) -> Vec<u8> {
    let (mut bytes, mut rest) = (Vec::new(), name);
    while let Some((byte, after)) = rest.split_first() {
        let code = (*byte == b'\\')
            .then(|| after.get(..3))
            .flatten()
            .and_then(|digits| u8::from_str_radix(str::from_utf8(digits).ok()?, 8).ok());
        bytes.push(code.unwrap_or(*byte));
        rest = if code.is_some() { &after[3..] } else { after };
    }
    bytes
}

/// Makes all that was mounted before read-only, but for the `written` paths and what is mounted anew.
fn protect_the_rest(before: &[Mount], written: &[&Path]) -> io::Result<()> {
    let anew = SERVICE_FOLDERS
        .iter()
        .chain(&TEMPORARY_FOLDERS)
        .chain(&["/dev/shm", "/dev/pts", "/dev/ptmx", "/proc"])
        .map(Path::new);
    let anew: Vec<&Path> = anew.collect();
    for path in written {
        let is_shown = anew.iter().any(|place| path.starts_with(place));
        if !is_shown && path.exists() {
            let flags = MsFlags::MS_BIND | MsFlags::MS_REC;
            mount_path(Some(path), path, None, flags, None)?;
        }
    }
    for Mount { place, flags } in before {
        if anew
            .iter()
            .chain(written)
            .any(|path| place.starts_with(path))
        {
            continue;
        }
        match remount_read_only(place, *flags) {
            // Nobody sees it: something else is mounted above.
            Ok(()) | Err(nix::errno::Errno::ENOENT | nix::errno::Errno::EINVAL) => {}
            Err(error) => return Err(describe_mount_error(place, error)),
        }
    }
    Ok(())
}

fn is_plain_folder(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok_and(|metadata| metadata.is_dir())
}

/// Shows only the program's own processes, which it may change, and the system as it is, which it may not.
fn mount_own_processes() -> io::Result<()> {
    let (proc, flags) = (Path::new("/proc"), MOUNT_FLAGS | MsFlags::MS_NOEXEC);
    mount_path(None, proc, Some("proc"), flags, None)?;
    for entry in fs::read_dir(proc)? {
        let entry = entry?;
        let is_of_process = entry
            .file_name()
            .as_encoded_bytes()
            .iter()
            .all(u8::is_ascii_digit);
        let (Ok(kind), path) = (entry.file_type(), entry.path()) else {
            continue;
        };
        let is_changeable = || {
            entry
                .metadata()
                .is_ok_and(|metadata| metadata.permissions().mode() & 0o222 != 0)
        };
        if !is_of_process && !kind.is_symlink() && (kind.is_dir() || is_changeable()) {
            mount_path(Some(&path), &path, None, MsFlags::MS_BIND, None)?;
            make_read_only(&path, flags)?;
        }
    }
    Ok(())
}

/// What a place shows instead of its contents.
#[derive(Clone, Copy)]
enum Cover<'a> {
    /// A new folder in memory, with this mode.
    Empty(&'a str),
    /// A folder that is open.
    Folder(&'a OwnedFd),
}

/// Covers a place, if it is a folder, with the `written` and the `read` paths below it as they were. The latter cannot be changed there, even
/// where Landlock would allow it: what it grants for a folder, it grants for all that is mounted below.
fn cover_folder(place: &Path, cover: Cover, written: &[&Path], read: &[&Path]) -> io::Result<()> {
    if !is_plain_folder(place) {
        return Ok(());
    }
    let (read, written) = (hold_below(place, read), hold_below(place, written));
    match cover {
        Cover::Empty(mode) => mount_path(None, place, Some("tmpfs"), MOUNT_FLAGS, Some(mode))?,
        Cover::Folder(folder) => {
            let source = path_of_open(folder);
            mount_path(Some(&source), place, None, MsFlags::MS_BIND, None)?;
        }
    }
    for (path, held) in &read {
        show_again(path, held, place)?;
        make_read_only(path, flags_of_mount(path)?)?;
    }
    // They come last: they may be below those that are read.
    for (path, held) in &written {
        show_again(path, held, place)?;
    }
    Ok(())
}

/// Opens the paths below a place that exist, so that they are within reach when it is covered.
fn hold_below<'a>(place: &Path, paths: &[&'a Path]) -> Vec<(&'a Path, OwnedFd)> {
    let below = paths
        .iter()
        .filter(|path| path.starts_with(place) && **path != place);
    below
        .filter_map(|path| Some((*path, open_path(path)?)))
        .collect()
}

/// Shows a held path again below the place that covers it.
fn show_again(path: &Path, held: &OwnedFd, place: &Path) -> io::Result<()> {
    let source = path_of_open(held);
    // Within a path that is shown again already, all is there.
    if fs::symlink_metadata(path).is_err() {
        make_mount_point(path, place, fs::metadata(&source)?.is_dir())?;
    }
    let flags = MsFlags::MS_BIND | MsFlags::MS_REC;
    mount_path(Some(&source), path, None, flags, None)
}

/// Keeps what is mounted at a path, with these flags, from being changed there.
fn make_read_only(path: &Path, flags: MsFlags) -> io::Result<()> {
    remount_read_only(path, flags).map_err(|error| describe_mount_error(path, error))
}

fn remount_read_only(path: &Path, flags: MsFlags) -> nix::Result<()> {
    let read_only = MsFlags::MS_BIND | MsFlags::MS_REMOUNT | MsFlags::MS_RDONLY;
    let nothing = None::<&Path>;
    nix::mount::mount(nothing, path, nothing, read_only | flags, nothing)
}

/// Makes an empty file or folder, with the folders above it up to `place`.
fn make_mount_point(path: &Path, place: &Path, is_folder: bool) -> io::Result<()> {
    let above = path
        .ancestors()
        .skip(usize::from(!is_folder))
        .take_while(|above| *above != place);
    for folder in above.collect::<Vec<_>>().into_iter().rev() {
        match mkdir(folder, Mode::from_raw_mode(0o755)) {
            Ok(()) | Err(Errno::EXIST) => {}
            Err(error) => return Err(error.into()),
        }
    }
    if !is_folder {
        open(
            path,
            OFlags::WRONLY | OFlags::CREATE | OFlags::CLOEXEC,
            Mode::from_raw_mode(0o644),
        )?;
    }
    Ok(())
}

/// Returns the flags that nobody but a user of the whole system may take off the mount that a path is on. Those of access times stay by themselves.
fn flags_of_mount(path: &Path) -> io::Result<MsFlags> {
    let given = statvfs(path)?.f_flag;
    let known = [
        (StatVfsMountFlags::NOSUID, MsFlags::MS_NOSUID),
        (StatVfsMountFlags::NODEV, MsFlags::MS_NODEV),
        (StatVfsMountFlags::NOEXEC, MsFlags::MS_NOEXEC),
    ];
    Ok(known
        .into_iter()
        .filter(|(flag, _)| given.contains(*flag))
        .map(|(_, flag)| flag)
        .collect())
}

fn path_of_open(file: &OwnedFd) -> PathBuf {
    PathBuf::from(format!("/proc/self/fd/{}", file.as_raw_fd()))
}

fn open_path(path: &Path) -> Option<OwnedFd> {
    open(path, OFlags::PATH | OFlags::CLOEXEC, Mode::empty()).ok()
}

fn mount_path(
    source: Option<&Path>,
    place: &Path,
    kind: Option<&str>,
    flags: MsFlags,
    options: Option<&str>,
) -> io::Result<()> {
    nix::mount::mount(source, place, kind, flags, options)
        .map_err(|error| describe_mount_error(place, error))
}

fn describe_mount_error(place: &Path, error: nix::errno::Errno) -> io::Error {
    io::Error::other(format!(
        "{} could not be mounted: {}",
        place.display(),
        error.desc()
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unescape_octal_reads_spaces_and_leaves_the_rest() {
        assert_eq!(unescape_octal(br"/a\040b\134\"), br"/a b\\");
        assert_eq!(unescape_octal(br"/\9\12"), br"/\9\12");
    }
}
