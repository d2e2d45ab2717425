//! Hands out the files of a folder to browsers on this machine, and to nobody else.
//!
//! It listens on the loopback address alone and answers only requests that name this machine, so that a page from elsewhere cannot read
//! it through a name of its own. It knows nothing of what the files are.

mod request;

use std::io::{self, Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use request::answer;

/// A folder that is being served.
#[derive(Debug)]
pub struct Server {
    listener: TcpListener,
    root: Arc<PathBuf>,
}

/// How long the end is waited for between two looks.
const PAUSE: Duration = Duration::from_millis(20);
/// A browser that says nothing for so long is gone.
const SILENCE: Duration = Duration::from_secs(5);
/// What a request may take before its body, of which there is none.
const LONGEST_HEAD: usize = 16 << 10;
/// Browsers open some connections each; more at once are refused.
const MOST_AT_ONCE: usize = 64;

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
        let open = Arc::new(AtomicUsize::new(0));
        while !stop.load(Ordering::SeqCst) {
            let Ok((stream, _)) = self.listener.accept() else {
                thread::sleep(PAUSE);
                continue;
            };
            if open.fetch_add(1, Ordering::SeqCst) >= MOST_AT_ONCE {
                open.fetch_sub(1, Ordering::SeqCst);
                continue;
            }
            let (root, open) = (Arc::clone(&self.root), Arc::clone(&open));
            thread::spawn(move || {
                // A browser that went away wanted no more.
                let _ = converse(stream, &root);
                open.fetch_sub(1, Ordering::SeqCst);
            });
        }
    }
}

/// Reads one request and answers it.
fn converse(mut stream: TcpStream, root: &Path) -> io::Result<()> {
    stream.set_nonblocking(false)?;
    stream.set_read_timeout(Some(SILENCE))?;
    stream.set_write_timeout(Some(SILENCE))?;
    let mut head = Vec::new();
    let mut block = [0; 2048];
    while !head.windows(4).any(|end| end == b"\r\n\r\n") && head.len() < LONGEST_HEAD {
        match stream.read(&mut block)? {
            0 => break,
            read => head.extend_from_slice(&block[..read]),
        }
    }
    let answer = answer(root, &String::from_utf8_lossy(&head));
    stream.write_all(answer.head().as_bytes())?;
    stream.write_all(&answer.body)?;
    stream.flush()
}
