//! Hands out the files of a folder to browsers on this machine, and to nobody else.
//!
//! It listens on the loopback address alone and answers only requests that name this machine, so that a page from elsewhere cannot read
//! it through a name of its own. It knows nothing of what the files are.

mod request;

use std::collections::BTreeMap;
use std::io::{self, Read, Write};
use std::net::{Ipv4Addr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use request::answer;

/// A folder that is being served.
#[derive(Debug)]
pub struct Server {
    listener: TcpListener,
    root: Arc<PathBuf>,
}

/// How long the end is waited for between two looks.
const PAUSE: Duration = Duration::from_millis(20);
/// What a browser may take to say what it wants, however slowly it speaks.
const HEAD_WITHIN: Duration = Duration::from_secs(5);
/// What a request may take with its answer, however slowly that is read.
const WITHIN: Duration = Duration::from_secs(30);
/// What a request may take before its body, of which there is none.
const LONGEST_HEAD: usize = 16 << 10;
/// Browsers open some connections each. One more ends the oldest: who means well is answered within milliseconds.
const MOST_AT_ONCE: usize = 64;

/// The connections that are open, the oldest first.
type Open = Mutex<BTreeMap<u64, TcpStream>>;

impl Server {
    /// Listens on a port of this machine; 0 takes any that is free.
    pub fn bind(root: &Path, port: u16) -> io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port))?;
        listener.set_nonblocking(true)?;
        Ok(Self { listener, root: Arc::new(root.canonicalize()?) })
    }

    pub fn address(&self) -> io::Result<SocketAddr> {
        self.listener.local_addr()
    }

    /// Answers until it is told to stop.
    pub fn run(&self, stop: &AtomicBool) {
        let open = Arc::new(Open::default());
        let mut number = 0;
        while !stop.load(Ordering::SeqCst) {
            let Ok((stream, _)) = self.listener.accept() else {
                thread::sleep(PAUSE);
                continue;
            };
            let Ok(other_end) = stream.try_clone() else { continue };
            number += 1;
            {
                let mut open = held(&open);
                open.insert(number, other_end);
                while open.len() > MOST_AT_ONCE {
                    // It may have gone away by itself.
                    let _ = open.pop_first().map(|(_, oldest)| oldest.shutdown(Shutdown::Both));
                }
            }
            let (root, others) = (Arc::clone(&self.root), Arc::clone(&open));
            let started = thread::Builder::new().spawn(move || {
                // A browser that went away wanted no more.
                let _ = converse(stream, &root);
                held(&others).remove(&number);
            });
            if started.is_err() {
                held(&open).remove(&number);
            }
        }
    }
}

fn held(open: &Open) -> MutexGuard<'_, BTreeMap<u64, TcpStream>> {
    open.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Reads one request and answers it.
fn converse(mut stream: TcpStream, root: &Path) -> io::Result<()> {
    let start = Instant::now();
    stream.set_nonblocking(false)?;
    let mut head = Vec::new();
    let mut block = [0; 2048];
    while !head.windows(4).any(|end| end == b"\r\n\r\n") && head.len() < LONGEST_HEAD {
        stream.set_read_timeout(Some(left(start, HEAD_WITHIN)?))?;
        match stream.read(&mut block)? {
            0 => break,
            read => head.extend_from_slice(&block[..read]),
        }
    }
    let answer = answer(root, &String::from_utf8_lossy(&head));
    for mut bytes in [answer.head().as_bytes(), answer.body.as_slice()] {
        while !bytes.is_empty() {
            stream.set_write_timeout(Some(left(start, WITHIN)?))?;
            let written = stream.write(bytes)?;
            bytes = &bytes[written..];
        }
    }
    stream.flush()
}

/// Returns what is left of the time since a start.
fn left(start: Instant, within: Duration) -> io::Result<Duration> {
    within.checked_sub(start.elapsed()).filter(|left| !left.is_zero()).ok_or_else(|| io::ErrorKind::TimedOut.into())
}
