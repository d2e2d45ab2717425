//! Checks whether a local address answers.

use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpStream, ToSocketAddrs};
use std::time::Duration;

const PROBE_LIMIT: Duration = Duration::from_secs(2);

/// The address to check.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Probe {
    /// Answers if a program listens on this port of the loopback interface.
    Port(u16),
    /// Answers if a GET of this local address returns a success or a redirect. For an encrypted address, a connection is enough.
    Address(String),
}

impl Probe {
    /// Probes in the caller's network.
    pub fn answers(&self) -> bool {
        match self {
            Self::Port(port) => is_open(*port),
            Self::Address(address) => is_healthy(address).unwrap_or(false),
        }
    }
}

fn is_open(port: u16) -> bool {
    let addresses = [
        SocketAddr::from(([127, 0, 0, 1], port)),
        SocketAddr::from(([0, 0, 0, 0, 0, 0, 0, 1], port)),
    ];
    addresses
        .iter()
        .any(|address| TcpStream::connect_timeout(address, PROBE_LIMIT).is_ok())
}

fn is_healthy(address: &str) -> io::Result<bool> {
    let Some((scheme, rest)) = address.split_once("://") else {
        return Ok(false);
    };
    let (authority, path) = rest.split_once('/').unwrap_or((rest, ""));
    let is_encrypted = scheme == "https";
    let default = if is_encrypted { 443 } else { 80 };
    let target = if authority.contains(':') {
        authority.to_owned()
    } else {
        format!("{authority}:{default}")
    };
    let request = format!("GET /{path} HTTP/1.1\r\nHost: {authority}\r\nConnection: close\r\n\r\n");
    for socket in target.to_socket_addrs()? {
        let Ok(mut stream) = TcpStream::connect_timeout(&socket, PROBE_LIMIT) else {
            continue;
        };
        if is_encrypted {
            return Ok(true);
        }
        stream.set_read_timeout(Some(PROBE_LIMIT))?;
        stream.set_write_timeout(Some(PROBE_LIMIT))?;
        stream.write_all(request.as_bytes())?;
        let mut status = [0; 12];
        stream.read_exact(&mut status)?;
        // "HTTP/1.1 200": only the first digit of the status matters.
        return Ok(status.starts_with(b"HTTP/1.") && matches!(status[9], b'2' | b'3'));
    }
    Ok(false)
}
