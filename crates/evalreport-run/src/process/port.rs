//! Ports of this machine's network: whose turn it is to use one, and who listens on it.

use std::time::Duration;

use super::system::Reach;

/// The sole use of a port among all processes of this program in this machine's network, until it is dropped.
#[derive(Debug)]
pub struct PortTurn {
    #[expect(dead_code, reason = "held so that others wait")]
    held: turns::Held,
}

/// Who listens on a port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Listener {
    Nobody,
    /// The program that was asked about, or a process that it started.
    Itself,
    /// Any other process.
    Another,
    /// The system does not tell.
    Unknown,
}

const POLL_PAUSE: Duration = Duration::from_millis(50);

impl PortTurn {
    /// Waits until no other run uses the port. Calls `waiting` once if it has to wait. Returns `None` if stopped meanwhile.
    pub fn wait_for_turn(
        port: u16,
        is_stopped: impl Fn() -> bool,
        waiting: impl FnOnce(),
    ) -> Option<Self> {
        let mut waiting = Some(waiting);
        loop {
            if let Some(held) = turns::take(port) {
                return Some(Self { held });
            }
            if is_stopped() {
                return None;
            }
            if let Some(waiting) = waiting.take() {
                waiting();
            }
            std::thread::sleep(POLL_PAUSE);
        }
    }
}

/// Returns who listens on a port of the loopback interface, as seen from the program.
pub fn find_listener(reach: &Reach, port: u16) -> Listener {
    sockets::listener(reach, port)
}

/// The name of a socket is taken by one process at a time, in the same network as the port, and is free when that process ends (unix(7),
/// "abstract").
#[cfg(target_os = "linux")]
mod turns {
    use std::io::ErrorKind;
    use std::os::linux::net::SocketAddrExt;
    use std::os::unix::net::{SocketAddr, UnixListener};

    /// `None` if the system offers no such names.
    pub type Held = Option<UnixListener>;

    pub fn take(port: u16) -> Option<Held> {
        let name = SocketAddr::from_abstract_name(format!("evalreport-port-{port}"));
        match name.and_then(|name| UnixListener::bind_addr(&name)) {
            Ok(held) => Some(Some(held)),
            Err(error) if error.kind() == ErrorKind::AddrInUse => None,
            Err(_) => Some(None),
        }
    }
}

/// Only the runs of this process take turns.
#[cfg(not(target_os = "linux"))]
mod turns {
    use std::collections::BTreeSet;
    use std::sync::{Mutex, MutexGuard, PoisonError};

    static TAKEN: Mutex<BTreeSet<u16>> = Mutex::new(BTreeSet::new());

    fn taken() -> MutexGuard<'static, BTreeSet<u16>> {
        TAKEN.lock().unwrap_or_else(PoisonError::into_inner)
    }

    #[derive(Debug)]
    pub struct Held(u16);

    pub fn take(port: u16) -> Option<Held> {
        taken().insert(port).then_some(Held(port))
    }

    impl Drop for Held {
        fn drop(&mut self) {
            taken().remove(&self.0);
        }
    }
}

#[cfg(target_os = "linux")]
mod sockets {
    use std::collections::BTreeSet;
    use std::fs;

    use super::super::system::{Reach, is_within};
    use super::Listener;

    /// State of a listening socket in `/proc/net/tcp` (proc_pid_net(5)).
    const LISTEN_STATE: &str = "0A";

    pub fn listener(reach: &Reach, port: u16) -> Listener {
        let tables = ["/proc/self/net/tcp", "/proc/self/net/tcp6"]
            .map(|table| fs::read_to_string(table).ok());
        if tables.iter().all(Option::is_none) {
            return Listener::Unknown;
        }
        let all: Vec<ListeningSocket<'_>> = tables
            .iter()
            .flatten()
            .flat_map(|table| {
                table
                    .lines()
                    .filter_map(move |line| parse_socket(line, port))
            })
            .collect();
        // A server may listen on an outer interface only.
        let has_local = all.iter().any(|socket| socket.is_local);
        let chosen: BTreeSet<&str> = all
            .iter()
            .filter(|socket| socket.is_local || !has_local)
            .map(|socket| socket.inode)
            .collect();
        if chosen.is_empty() {
            return Listener::Nobody;
        }
        let of_program = owned_sockets(&chosen, |number| is_within(number, reach));
        if of_program.len() == chosen.len() {
            Listener::Itself
        } else {
            Listener::Another
        }
    }

    struct ListeningSocket<'a> {
        inode: &'a str,
        /// Whether connections to the loopback interface reach it.
        is_local: bool,
    }

    /// Reads a line of the table: `0: 0100007F:1F90 00000000:0000 0A … INODE …`
    fn parse_socket(line: &str, port: u16) -> Option<ListeningSocket<'_>> {
        let mut fields = line.split_ascii_whitespace();
        let (address, number) = fields.nth(1)?.rsplit_once(':')?;
        let is_wanted =
            u16::from_str_radix(number, 16) == Ok(port) && fields.nth(1)? == LISTEN_STATE;
        let is_unspecified = address.bytes().all(|byte| byte == b'0');
        let is_loopback = address.ends_with("7F") || address == "00000000000000000000000001000000";
        is_wanted.then_some(ListeningSocket {
            inode: fields.nth(5)?,
            is_local: is_unspecified || is_loopback,
        })
    }

    /// Returns the sockets that a process for which `is_wanted` holds has open.
    fn owned_sockets<'a>(
        inodes: &BTreeSet<&'a str>,
        is_wanted: impl Fn(i32) -> bool,
    ) -> BTreeSet<&'a str> {
        let mut owned = BTreeSet::new();
        let numbers = fs::read_dir("/proc").into_iter().flatten().flatten();
        for number in numbers.filter_map(|entry| entry.file_name().to_str()?.parse::<i32>().ok()) {
            let open = fs::read_dir(format!("/proc/{number}/fd"))
                .into_iter()
                .flatten()
                .flatten();
            let targets = open.filter_map(|entry| fs::read_link(entry.path()).ok());
            let found: Vec<&'a str> = targets
                .filter_map(|target| {
                    let inode = target
                        .to_str()?
                        .strip_prefix("socket:[")?
                        .strip_suffix(']')?;
                    inodes.get(inode).copied()
                })
                .collect();
            if !found.is_empty() && is_wanted(number) {
                owned.extend(found);
            }
        }
        owned
    }

    #[cfg(test)]
    mod tests {
        use super::parse_socket;

        #[test]
        fn listening_sockets_are_read() {
            let line = |address: &str, state: &str| {
                format!(
                    "   0: {address}:1F90 00000000:0000 {state} 00000000:00000000 00:00000000 00000000  1000        0 4711 1 0 100 0 0 10 0"
                )
            };
            let read = |line: &str| {
                parse_socket(line, 8080).map(|socket| (socket.inode.to_owned(), socket.is_local))
            };
            for address in [
                "0100007F",
                "00000000",
                "00000000000000000000000001000000",
                "0000000000000000FFFF00000100007F",
            ] {
                assert_eq!(
                    read(&line(address, "0A")),
                    Some(("4711".to_owned(), true)),
                    "{address}"
                );
            }
            assert_eq!(
                read(&line("0501A8C0", "0A")),
                Some(("4711".to_owned(), false))
            );
            assert_eq!(read(&line("0100007F", "01")), None);
            assert_eq!(
                read(
                    "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode"
                ),
                None
            );
            assert!(parse_socket(&line("0100007F", "0A"), 8081).is_none());
        }
    }
}

#[cfg(not(target_os = "linux"))]
mod sockets {
    use super::super::system::Reach;
    use super::Listener;

    pub fn listener(_reach: &Reach, _port: u16) -> Listener {
        Listener::Unknown
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_at_a_time_uses_a_port() {
        // No server listens on port 1 here: only the turn is taken.
        let first = PortTurn::wait_for_turn(1, || false, || ()).expect("free");
        assert!(
            PortTurn::wait_for_turn(2, || false, || ()).is_some(),
            "another port"
        );
        let waiting = std::thread::spawn(|| PortTurn::wait_for_turn(1, || false, || ()).is_some());
        std::thread::sleep(Duration::from_millis(120));
        assert!(!waiting.is_finished());
        drop(first);
        assert!(waiting.join().expect("it ends"));
    }
}
