//! Private networks: the server of each run has all ports to itself, so two runs can both listen on port 8000.
//!
//! Linux offers them to every user who may create user namespaces (user_namespaces(7), network_namespaces(7)). Only a single-threaded
//! process can create one, so this program starts itself to create the network and to probe addresses in it. Programs enter it as part of
//! their confinement. Other systems have none.

#[cfg(target_os = "linux")]
pub use linux::Network;
#[cfg(not(target_os = "linux"))]
pub use nowhere::Network;

#[cfg(target_os = "linux")]
pub use inside::{hold_network, map_own_user, own_ids};

/// The only argument of the process that holds a network.
#[cfg(target_os = "linux")]
pub const HOLD_ARGUMENT: &str = "--hold-a-network";

#[cfg(target_os = "linux")]
mod linux {
    use std::fmt;
    use std::io::{BufRead, BufReader, Write};
    use std::os::fd::OwnedFd;
    use std::os::unix::net::UnixStream;
    use std::process::{Child, Command, Stdio};
    use std::sync::{Mutex, OnceLock, PoisonError};

    use super::super::Probe;
    use super::super::handover::receive_files;
    use super::super::system::{self, Own, SELF_EXECUTABLE};
    use super::{HOLD_ARGUMENT, inside};

    /// A network and the process that holds it. Both end when this is dropped.
    pub struct Network {
        spaces: Vec<OwnedFd>,
        holder: Mutex<NetworkHolder>,
    }

    struct NetworkHolder {
        child: Child,
        own: Own,
        /// `None` once dropped, which tells the process to end.
        line: Option<BufReader<UnixStream>>,
    }

    impl Network {
        /// Creates a network, or returns `None` if the system offers none.
        pub fn new() -> Option<Self> {
            let (ours, theirs) = UnixStream::pair().ok()?;
            let mut command = Command::new(SELF_EXECUTABLE);
            command
                .arg(HOLD_ARGUMENT)
                .env_clear()
                .current_dir("/")
                .stdin(OwnedFd::from(theirs))
                .stdout(Stdio::null())
                .stderr(Stdio::null());
            let starting = system::starting();
            let child = command.spawn().ok()?;
            // Only the child may hold the other end, so that reading ends when the child dies.
            drop(command);
            let own = starting.own(child.id(), &system::fresh_mark());
            let holder = NetworkHolder {
                child,
                own,
                line: Some(BufReader::new(ours)),
            };
            let spaces = holder
                .line
                .as_ref()
                .map(|line| receive_files(line.get_ref()));
            let spaces = spaces
                .and_then(Result::ok)
                .filter(|spaces| spaces.len() == inside::NAMESPACE_COUNT)?;
            Some(Self {
                spaces,
                holder: Mutex::new(holder),
            })
        }

        /// Returns whether this system offers networks.
        pub fn is_supported() -> bool {
            static SUPPORTED: OnceLock<bool> = OnceLock::new();
            *SUPPORTED.get_or_init(|| Self::new().is_some())
        }

        /// Returns the namespaces to enter, in this order: the first grants the right to enter the second.
        pub fn entry_namespaces(&self) -> &[OwnedFd] {
            &self.spaces
        }

        /// Probes an address inside.
        pub fn answers(&self, probe: &Probe) -> bool {
            let mut holder = self.holder.lock().unwrap_or_else(PoisonError::into_inner);
            let Some(line) = &mut holder.line else {
                return false;
            };
            let mut said = String::new();
            let asked = writeln!(line.get_mut(), "{}", inside::format_probe(probe));
            asked.and_then(|()| line.read_line(&mut said)).is_ok() && said.trim_end() == inside::YES
        }
    }

    impl fmt::Debug for Network {
        fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
            formatter.write_str("Network")
        }
    }

    impl Drop for NetworkHolder {
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

        pub fn answers(&self, probe: &Probe) -> bool {
            probe.answers()
        }
    }
}

/// The process that holds a network.
#[cfg(target_os = "linux")]
mod inside {
    use std::io::{self, BufRead, BufReader, Write};
    use std::os::fd::{AsFd, OwnedFd};
    use std::os::unix::net::UnixStream;

    use nix::sched::{CloneFlags, unshare};
    use rustix::fs::{Mode, OFlags, open};
    use rustix::io::write;
    use rustix::net::{AddressFamily, RecvFlags, SendFlags, SocketType, recv, send, socket};
    use rustix::process::{Signal, getegid, geteuid, set_parent_process_death_signal};
    use rustix::stdio::stdin;

    use super::super::Probe;
    use super::super::handover::send_files;

    pub const YES: &str = "yes";
    const NO: &str = "no";
    /// The namespaces of a network: the user namespace, which grants entry, and the network namespace.
    const NAMESPACE_KINDS: [&str; NAMESPACE_COUNT] = ["user", "net"];
    pub const NAMESPACE_COUNT: usize = 2;

    /// Creates a network, sends it over standard input, and answers probes until the other end closes.
    pub fn hold_network() -> u8 {
        // Ends this process even if its parent is killed.
        let _ = set_parent_process_death_signal(Some(Signal::KILL));
        match serve_probes() {
            Ok(()) => 0,
            Err(_) => 1,
        }
    }

    fn serve_probes() -> io::Result<()> {
        create_network()?;
        let line = UnixStream::from(stdin().try_clone_to_owned()?);
        let spaces = NAMESPACE_KINDS.map(|name| {
            open(
                format!("/proc/self/ns/{name}"),
                OFlags::RDONLY | OFlags::CLOEXEC,
                Mode::empty(),
            )
        });
        let spaces = spaces.into_iter().collect::<Result<Vec<OwnedFd>, _>>()?;
        send_files(&line, &spaces.iter().map(AsFd::as_fd).collect::<Vec<_>>())?;
        let mut answers = line.try_clone()?;
        for asked in BufReader::new(line).lines() {
            writeln!(
                answers,
                "{}",
                if parse_probe(&asked?).answers() {
                    YES
                } else {
                    NO
                }
            )?;
        }
        Ok(())
    }

    /// Formats a probe as one line.
    pub fn format_probe(probe: &Probe) -> String {
        match probe {
            Probe::Port(port) => port.to_string(),
            Probe::Address(address) => address.replace(['\n', '\r'], " "),
        }
    }

    fn parse_probe(line: &str) -> Probe {
        line.parse()
            .map_or_else(|_| Probe::Address(line.to_owned()), Probe::Port)
    }

    fn create_network() -> io::Result<()> {
        let ids = own_ids();
        unshare(CloneFlags::CLONE_NEWUSER | CloneFlags::CLONE_NEWNET)?;
        map_own_user(ids)?;
        raise_loopback()
    }

    /// Returns the user and group of this process.
    pub fn own_ids() -> (u32, u32) {
        (geteuid().as_raw(), getegid().as_raw())
    }

    /// Maps the outside user and group to the same ids inside a new namespace (user_namespaces(7), "Defining user and group ID mappings").
    pub fn map_own_user((user, group): (u32, u32)) -> io::Result<()> {
        let maps = [
            ("setgroups", "deny".to_owned()),
            ("uid_map", format!("{user} {user} 1")),
            ("gid_map", format!("{group} {group} 1")),
        ];
        for (file, text) in maps {
            write(
                open(
                    format!("/proc/self/{file}"),
                    OFlags::WRONLY | OFlags::CLOEXEC,
                    Mode::empty(),
                )?,
                text.as_bytes(),
            )?;
        }
        Ok(())
    }

    /// Enables the loopback interface with a message to the kernel (rtnetlink(7), `RTM_NEWLINK`).
    fn raise_loopback() -> io::Result<()> {
        const MESSAGE_LENGTH: u32 = 32;
        const NEW_LINK: u16 = 16;
        const REQUEST_WITH_ANSWER: u16 = 1 | 4;
        const LOOPBACK_INDEX: i32 = 1;
        const FLAG_UP: u32 = 1;
        let mut message = MESSAGE_LENGTH.to_ne_bytes().to_vec();
        message.extend(NEW_LINK.to_ne_bytes());
        message.extend(REQUEST_WITH_ANSWER.to_ne_bytes());
        // Sequence number, sender, and the interface's family and type: all zero.
        message.extend([0; 12]);
        message.extend(LOOPBACK_INDEX.to_ne_bytes());
        message.extend(FLAG_UP.to_ne_bytes());
        message.extend(FLAG_UP.to_ne_bytes());
        let kernel = socket(AddressFamily::NETLINK, SocketType::RAW, None)?;
        send(&kernel, &message, SendFlags::empty())?;
        let mut answer = [0; 256];
        let (length, _) = recv(&kernel, &mut answer, RecvFlags::empty())?;
        // The error code follows the header of the answer.
        let error = answer[..length]
            .get(16..20)
            .and_then(|bytes| bytes.try_into().ok())
            .map(i32::from_ne_bytes);
        match error {
            Some(0) => Ok(()),
            Some(error) => Err(io::Error::from_raw_os_error(-error)),
            None => Err(io::ErrorKind::InvalidData.into()),
        }
    }
}
