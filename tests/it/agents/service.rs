//! A chat service that misbehaves as told: real sockets, one canned response for each request.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

/// What the service does with one request.
#[derive(Clone)]
pub enum Act {
    /// Status, further header lines, body.
    Answer(u16, &'static str, Vec<u8>),
    /// Says nothing.
    Stall,
    /// Announces more than it sends, then closes.
    CloseMidBody,
    /// Closes without a word.
    Close,
    /// Sends this many bytes of body.
    Flood(usize),
}

pub struct Service {
    pub port: u16,
    requests: Arc<Mutex<Vec<String>>>,
}

impl Service {
    /// Does each act in turn, the last one again and again.
    pub fn start(acts: Vec<Act>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let port = listener.local_addr().expect("it is bound").port();
        let requests = Arc::new(Mutex::new(Vec::new()));
        let seen = Arc::clone(&requests);
        thread::spawn(move || {
            for (number, stream) in listener.incoming().enumerate() {
                let act = acts[number.min(acts.len() - 1)].clone();
                let seen = Arc::clone(&seen);
                thread::spawn(move || serve(stream.expect("a connection"), act, &seen));
            }
        });
        Self { port, requests }
    }

    pub fn requests(&self) -> Vec<String> {
        self.requests
            .lock()
            .expect("no test panics with it")
            .clone()
    }

    pub fn url(&self, path: &str) -> String {
        format!("http://127.0.0.1:{}{path}", self.port)
    }
}

fn serve(mut stream: TcpStream, act: Act, seen: &Mutex<Vec<String>>) {
    let request = read_request(&mut stream);
    seen.lock().expect("no test panics with it").push(request);
    // The client may have gone: that is its right.
    let _ = match act {
        Act::Answer(status, headers, body) => send(&mut stream, status, headers, body.len(), &body),
        Act::Stall => {
            thread::sleep(Duration::from_secs(20));
            Ok(())
        }
        Act::CloseMidBody => send(
            &mut stream,
            200,
            "",
            1000,
            b"{\"content\": [{\"type\": \"te",
        ),
        Act::Close => Ok(()),
        Act::Flood(size) => flood(&mut stream, size),
    };
}

fn flood(stream: &mut TcpStream, size: usize) -> std::io::Result<()> {
    send(stream, 200, "", size, b"")?;
    let block = vec![b' '; 1 << 16];
    for _ in 0..size / block.len() {
        stream.write_all(&block)?;
    }
    Ok(())
}

fn send(
    stream: &mut TcpStream,
    status: u16,
    headers: &str,
    length: usize,
    body: &[u8],
) -> std::io::Result<()> {
    write!(
        stream,
        "HTTP/1.1 {status} Status\r\ncontent-length: {length}\r\nconnection: close\r\n{headers}\r\n"
    )?;
    stream.write_all(body)?;
    stream.flush()
}

fn read_request(stream: &mut TcpStream) -> String {
    let mut request = Vec::new();
    let mut block = [0; 4096];
    loop {
        let text = String::from_utf8_lossy(&request).into_owned();
        if let Some((head, body)) = text.split_once("\r\n\r\n") {
            let length = head.lines().find_map(|line| {
                line.to_lowercase()
                    .strip_prefix("content-length:")
                    .map(|n| n.trim().parse().ok())
            });
            if body.len() >= length.flatten().unwrap_or(0_usize) {
                return text;
            }
        }
        match stream.read(&mut block) {
            Ok(0) | Err(_) => return text,
            Ok(count) => request.extend(&block[..count]),
        }
    }
}
