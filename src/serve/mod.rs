//! Serves the files of a folder to browsers on this machine only.
//!
//! The server listens only on the loopback address and answers only requests whose host name is this machine. So a web page from elsewhere
//! cannot read the files through a domain name that points to this machine. A page of another origin, another port of this machine
//! included, cannot load them either, not even as scripts or pictures of its own: the server refuses what browsers say is for such a page,
//! and tells them to keep the rest from it. Only browsers that know neither way (before 2019 to 2023) let it. The server knows nothing
//! about the files' content.

mod request;

use std::collections::BTreeMap;
use std::io::{self, Read, Write};
use std::net::{Ipv4Addr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use crate::files;

use request::{ServedBody, ServedResponse, answer_request};

/// A folder that is being served.
#[derive(Debug)]
pub struct Server {
    listener: TcpListener,
    root: Arc<PathBuf>,
}

/// Pause between two checks for a connection or the stop signal.
const POLL_PAUSE: Duration = Duration::from_millis(20);
/// Maximum time to receive a request's head, however slowly the browser sends it.
const HEAD_TIMEOUT: Duration = Duration::from_secs(5);
/// Maximum time for a request and its answer, however slowly the browser reads it.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(30);
/// Maximum size of a request's head in bytes. Requests have no body.
const MAX_HEAD: usize = 16 << 10;
/// Maximum number of open connections. A browser opens several. One more connection closes the oldest: honest requests are answered within
/// milliseconds.
const MAX_AT_ONCE: usize = 64;

/// Open connections by number, the oldest first.
type OpenConnections = Mutex<BTreeMap<u64, TcpStream>>;

impl Server {
    /// Listens on a port of this machine; port 0 takes any free port.
    pub fn bind(root: &Path, port: u16) -> io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port))?;
        listener.set_nonblocking(true)?;
        Ok(Self {
            listener,
            root: Arc::new(root.canonicalize()?),
        })
    }

    pub fn address(&self) -> io::Result<SocketAddr> {
        self.listener.local_addr()
    }

    /// Answers requests until `stop` is set.
    pub fn serve_until(&self, stop: &AtomicBool) {
        let open = Arc::new(OpenConnections::default());
        let mut number = 0;
        while !stop.load(Ordering::SeqCst) {
            let Ok((stream, _)) = self.listener.accept() else {
                thread::sleep(POLL_PAUSE);
                continue;
            };
            let Ok(other_end) = stream.try_clone() else {
                continue;
            };
            number += 1;
            {
                let mut open = lock_connections(&open);
                open.insert(number, other_end);
                while open.len() > MAX_AT_ONCE {
                    // The connection may already be closed.
                    let _ = open
                        .pop_first()
                        .map(|(_, oldest)| oldest.shutdown(Shutdown::Both));
                }
            }
            let (root, others) = (Arc::clone(&self.root), Arc::clone(&open));
            let started = thread::Builder::new().spawn(move || {
                // If the browser closed the connection, nobody needs the error.
                let _ = handle_connection(stream, &root);
                lock_connections(&others).remove(&number);
            });
            if started.is_err() {
                lock_connections(&open).remove(&number);
            }
        }
    }
}

fn lock_connections(open: &OpenConnections) -> MutexGuard<'_, BTreeMap<u64, TcpStream>> {
    open.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Reads one request and answers it.
fn handle_connection(mut stream: TcpStream, root: &Path) -> io::Result<()> {
    let start = Instant::now();
    stream.set_nonblocking(false)?;
    let mut head = Vec::new();
    let mut block = [0; 2048];
    while !head.windows(4).any(|end| end == b"\r\n\r\n") && head.len() < MAX_HEAD {
        stream.set_read_timeout(Some(time_left(start, HEAD_TIMEOUT)?))?;
        match stream.read(&mut block)? {
            0 => break,
            read => head.extend_from_slice(&block[..read]),
        }
    }
    let answer = answer_request(root, &String::from_utf8_lossy(&head));
    let mut send = |mut bytes: &[u8]| {
        while !bytes.is_empty() {
            stream.set_write_timeout(Some(time_left(start, REQUEST_TIMEOUT)?))?;
            let written = stream.write(bytes)?;
            bytes = &bytes[written..];
        }
        Ok(())
    };
    send(answer.head_text().as_bytes())?;
    let ServedResponse { length, body, .. } = answer;
    match body {
        ServedBody::None => {}
        ServedBody::Text(text) => send(text.as_bytes())?,
        // If the file grew since, the head has promised less.
        ServedBody::File(file) => files::try_each_block(file.take(length), send)?,
    }
    stream.flush()
}

/// Returns the time left of `within` since `start`, or a time-out error if none is left.
fn time_left(start: Instant, within: Duration) -> io::Result<Duration> {
    within
        .checked_sub(start.elapsed())
        .filter(|left| !left.is_zero())
        .ok_or_else(|| io::ErrorKind::TimedOut.into())
}
