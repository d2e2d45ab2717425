//! Private networks: the server of each run has all ports to itself, so two runs can both listen on port 8000.
//!
//! Linux offers them to every user who may create user namespaces (user_namespaces(7), network_namespaces(7)). Only a single-threaded
//! process can enter one, so this program starts itself: once to create the network and probe addresses in it, and once before each program
//! inside, which receives the network over its standard input. Other systems have none.

use std::ffi::OsString;

#[cfg(target_os = "linux")]
pub use linux::Network;
#[cfg(not(target_os = "linux"))]
pub use nowhere::Network;

/// The only argument of the process that holds a network.
const HOLD: &str = "--hold-a-network";
/// The first argument of a process that enters a network. The program to run follows.
const ENTER: &str = "--enter-a-network";

/// Runs the helper processes of networks, and returns their exit code. Returns `None` for every other process.
///
/// Call it before anything else: a process with a second thread can neither create nor enter a network.
pub fn serve_network(arguments: &[OsString]) -> Option<u8> {
    match arguments.get(1)?.to_str()? {
        HOLD if arguments.len() == 2 => Some(inside::hold()),
        ENTER => Some(inside::enter(&arguments[2..])),
        _ => None,
    }
}

#[cfg(target_os = "linux")]
mod linux {
    use std::ffi::OsStr;
    use std::fmt;
    use std::io::{self, BufRead, BufReader, Write};
    use std::os::fd::OwnedFd;
    use std::os::unix::net::UnixStream;
    use std::process::{Child, Command, Stdio};
    use std::sync::{Mutex, OnceLock, PoisonError};

    use super::super::Probe;
    use super::super::system::{self, Own};
    use super::{ENTER, HOLD, inside};

    /// This program. A different program that links this crate does not understand the arguments, so it gets no network.
    const SELF: &str = "/proc/self/exe";

    /// A network and the process that holds it. Both end when this is dropped.
    pub struct Network {
        spaces: Vec<OwnedFd>,
        holder: Mutex<Holder>,
    }

    struct Holder {
        child: Child,
        own: Own,
        /// `None` once dropped, which tells the process to end.
        line: Option<BufReader<UnixStream>>,
    }

    impl Network {
        /// Creates a network, or returns `None` if the system offers none.
        pub fn new() -> Option<Self> {
            let (ours, theirs) = UnixStream::pair().ok()?;
            let mut command = Command::new(SELF);
            command.arg(HOLD).env_clear().current_dir("/").stdin(OwnedFd::from(theirs)).stdout(Stdio::null()).stderr(Stdio::null());
            let starting = system::starting();
            let child = command.spawn().ok()?;
            // Only the child may hold the other end, so that reading ends when the child dies.
            drop(command);
            let own = starting.own(&child, &system::fresh_mark());
            let holder = Holder { child, own, line: Some(BufReader::new(ours)) };
            let spaces = holder.line.as_ref().map(|line| inside::receive(line.get_ref()));
            let spaces = spaces.and_then(Result::ok).filter(|spaces| spaces.len() == inside::SPACES)?;
            Some(Self { spaces, holder: Mutex::new(holder) })
        }

        /// Returns whether this system offers networks.
        pub fn is_supported() -> bool {
            static SUPPORTED: OnceLock<bool> = OnceLock::new();
            *SUPPORTED.get_or_init(|| Self::new().is_some())
        }

        /// Returns the first words of a command that runs a program inside.
        pub fn entry(&self) -> [&OsStr; 2] {
            [OsStr::new(SELF), OsStr::new(ENTER)]
        }

        /// Returns the standard input for such a command. The program itself gets an empty one.
        pub fn ticket(&self) -> io::Result<Stdio> {
            let (ours, theirs) = UnixStream::pair()?;
            inside::hand_over(&ours, &self.spaces)?;
            Ok(OwnedFd::from(theirs).into())
        }

        /// Probes an address inside.
        pub fn answers(&self, probe: &Probe) -> bool {
            let mut holder = self.holder.lock().unwrap_or_else(PoisonError::into_inner);
            let Some(line) = &mut holder.line else { return false };
            let mut said = String::new();
            let asked = writeln!(line.get_mut(), "{}", inside::written(probe));
            asked.and_then(|()| line.read_line(&mut said)).is_ok() && said.trim_end() == inside::YES
        }
    }

    impl fmt::Debug for Network {
        fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
            formatter.write_str("Network")
        }
    }

    impl Drop for Holder {
        fn drop(&mut self) {
            let Self { child, own, line } = self;
            *line = None;
            own.reap(|| {
                let _ = child.kill();
                let _ = child.wait();
            });
        }
    }
}

/// For systems without such networks.
#[cfg(not(target_os = "linux"))]
mod nowhere {
    use std::ffi::OsStr;
    use std::io;
    use std::process::Stdio;

    use super::super::Probe;

    #[derive(Debug)]
    pub struct Network;

    impl Network {
        pub fn new() -> Option<Self> {
            None
        }

        pub fn is_supported() -> bool {
            false
        }

        pub fn entry(&self) -> [&OsStr; 2] {
            [OsStr::new(""); 2]
        }

        pub fn ticket(&self) -> io::Result<Stdio> {
            Ok(Stdio::null())
        }

        pub fn answers(&self, probe: &Probe) -> bool {
            probe.answers()
        }
    }
}

/// The helper processes that this program starts of itself.
#[cfg(target_os = "linux")]
mod inside {
    use std::ffi::OsString;
    use std::io::{self, BufRead, BufReader, IoSlice, IoSliceMut, Write};
    use std::mem::MaybeUninit;
    use std::os::fd::{AsFd, OwnedFd};
    use std::os::unix::net::UnixStream;
    use std::os::unix::process::CommandExt;
    use std::process::Command;

    use nix::sched::{CloneFlags, unshare};
    use rustix::fs::{Mode, OFlags, open};
    use rustix::io::write;
    use rustix::net::{
        AddressFamily, RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer, SendAncillaryMessage, SendFlags,
        SocketType, recv, recvmsg, send, sendmsg, socket,
    };
    use rustix::process::{Signal, getegid, geteuid, set_parent_process_death_signal};
    use rustix::stdio::{dup2_stdin, stderr, stdin};
    use rustix::thread::{LinkNameSpaceType, move_into_link_name_space};

    use super::super::Probe;

    pub const YES: &str = "yes";
    const NO: &str = "no";
    /// The namespaces of a network: the user namespace, which grants entry, and the network namespace.
    const KINDS: [(&str, LinkNameSpaceType); SPACES] = [("user", LinkNameSpaceType::User), ("net", LinkNameSpaceType::Network)];
    pub const SPACES: usize = 2;
    /// Exit code of shells if a program cannot be started.
    const CANNOT_START: u8 = 126;

    /// Creates a network, sends it over standard input, and answers probes until the other end closes.
    pub fn hold() -> u8 {
        // Ends this process even if its parent is killed.
        let _ = set_parent_process_death_signal(Some(Signal::KILL));
        match serve() {
            Ok(()) => 0,
            Err(_) => 1,
        }
    }

    fn serve() -> io::Result<()> {
        make()?;
        let line = UnixStream::from(stdin().try_clone_to_owned()?);
        let spaces = KINDS.map(|(name, _)| open(format!("/proc/self/ns/{name}"), OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty()));
        hand_over(&line, &spaces.into_iter().collect::<Result<Vec<OwnedFd>, _>>()?)?;
        let mut answers = line.try_clone()?;
        for asked in BufReader::new(line).lines() {
            writeln!(answers, "{}", if read(&asked?).answers() { YES } else { NO })?;
        }
        Ok(())
    }

    /// Enters the network received over standard input, and becomes the program.
    pub fn enter(arguments: &[OsString]) -> u8 {
        let [program, arguments @ ..] = arguments else { return CANNOT_START };
        let error = join().map_or_else(|error| error, |()| Command::new(program).args(arguments).exec());
        // The program's own standard error.
        let _ = write(stderr(), format!("{}: {error}\n", program.display()).as_bytes());
        CANNOT_START
    }

    fn join() -> io::Result<()> {
        let spaces = receive(&UnixStream::from(stdin().try_clone_to_owned()?))?;
        if spaces.len() != SPACES {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "there is no network to enter"));
        }
        // The user namespace grants the right to enter the network namespace.
        for (space, (_, kind)) in spaces.iter().zip(KINDS) {
            move_into_link_name_space(space.as_fd(), Some(kind))?;
        }
        Ok(dup2_stdin(open("/dev/null", OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty())?)?)
    }

    /// Formats a probe as one line.
    pub fn written(probe: &Probe) -> String {
        match probe {
            Probe::Port(port) => port.to_string(),
            Probe::Address(address) => address.replace(['\n', '\r'], " "),
        }
    }

    fn read(line: &str) -> Probe {
        line.parse().map_or_else(|_| Probe::Address(line.to_owned()), Probe::Port)
    }

    /// Sends namespaces to another process (unix(7), `SCM_RIGHTS`).
    pub fn hand_over(line: &UnixStream, spaces: &[OwnedFd]) -> io::Result<()> {
        let spaces: Vec<_> = spaces.iter().map(AsFd::as_fd).collect();
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(SPACES))];
        let mut beside = SendAncillaryBuffer::new(&mut space);
        if !beside.push(SendAncillaryMessage::ScmRights(&spaces)) {
            return Err(io::ErrorKind::InvalidInput.into());
        }
        // The message must carry at least one byte.
        sendmsg(line, &[IoSlice::new(b"\n")], &mut beside, SendFlags::NOSIGNAL)?;
        Ok(())
    }

    /// Receives the namespaces. Returns an empty list if the other process has ended.
    pub fn receive(line: &UnixStream) -> io::Result<Vec<OwnedFd>> {
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(SPACES))];
        let mut beside = RecvAncillaryBuffer::new(&mut space);
        recvmsg(line, &mut [IoSliceMut::new(&mut [0])], &mut beside, RecvFlags::CMSG_CLOEXEC)?;
        let rights = |message| match message {
            RecvAncillaryMessage::ScmRights(spaces) => Some(spaces),
            _ => None,
        };
        Ok(beside.drain().filter_map(rights).flatten().collect())
    }

    fn make() -> io::Result<()> {
        let (user, group) = (geteuid().as_raw(), getegid().as_raw());
        unshare(CloneFlags::CLONE_NEWUSER | CloneFlags::CLONE_NEWNET)?;
        // Maps the outside user and group to the same ids inside (user_namespaces(7), "Defining user and group ID mappings").
        let maps = [("setgroups", "deny".to_owned()), ("uid_map", format!("{user} {user} 1")), ("gid_map", format!("{group} {group} 1"))];
        for (file, text) in maps {
            write(open(format!("/proc/self/{file}"), OFlags::WRONLY | OFlags::CLOEXEC, Mode::empty())?, text.as_bytes())?;
        }
        raise_loopback()
    }

    /// Enables the loopback interface with a message to the kernel (rtnetlink(7), `RTM_NEWLINK`).
    fn raise_loopback() -> io::Result<()> {
        const LENGTH: u32 = 32;
        const NEW_LINK: u16 = 16;
        const REQUEST_WITH_ANSWER: u16 = 1 | 4;
        const LOOPBACK: i32 = 1;
        const UP: u32 = 1;
        let mut message = LENGTH.to_ne_bytes().to_vec();
        message.extend(NEW_LINK.to_ne_bytes());
        message.extend(REQUEST_WITH_ANSWER.to_ne_bytes());
        // Sequence number, sender, and the interface's family and type: all zero.
        message.extend([0; 12]);
        message.extend(LOOPBACK.to_ne_bytes());
        message.extend(UP.to_ne_bytes());
        message.extend(UP.to_ne_bytes());
        let kernel = socket(AddressFamily::NETLINK, SocketType::RAW, None)?;
        send(&kernel, &message, SendFlags::empty())?;
        let mut answer = [0; 256];
        let (length, _) = recv(&kernel, &mut answer, RecvFlags::empty())?;
        // The error code follows the header of the answer.
        let error = answer[..length].get(16..20).and_then(|bytes| bytes.try_into().ok()).map(i32::from_ne_bytes);
        match error {
            Some(0) => Ok(()),
            Some(error) => Err(io::Error::from_raw_os_error(-error)),
            None => Err(io::ErrorKind::InvalidData.into()),
        }
    }
}

#[cfg(not(target_os = "linux"))]
mod inside {
    use std::ffi::OsString;

    pub fn hold() -> u8 {
        1
    }

    pub fn enter(_arguments: &[OsString]) -> u8 {
        1
    }
}
