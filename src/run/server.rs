//! The server of a suite: started on a free port, waited for, stopped with everything it started.

use std::io::{Read, Write};
use std::net::{TcpStream, ToSocketAddrs};
use std::time::{Duration, Instant};

use crate::process::{Background, Stop, free_port};
use crate::suite;

use super::shell::Shell;
use super::workspace::Workspace;

const DEFAULT_PATIENCE: Duration = Duration::from_secs(30);
const BETWEEN_CHECKS: Duration = Duration::from_millis(50);
const ONE_CHECK: Duration = Duration::from_secs(2);
/// Another process may take a port between its choice and its use.
const TRIES: usize = 3;
/// How much of what a server said goes into the reason of its failure.
const LAST_WORDS: usize = 300;

/// A server that answers.
pub struct Server {
    process: Background,
    pub port: u16,
}

impl Server {
    /// Starts the server in the workspace and waits until its health check answers. The reason says why there is none.
    pub fn start(server: &suite::Server, shell: &Shell, workspace: &Workspace, stop: &Stop) -> Result<Self, String> {
        let is_free_choice = server.command.contains("{port}");
        let mut reason = String::new();
        for _ in 0..if is_free_choice { TRIES } else { 1 } {
            let port = if is_free_choice {
                free_port().map_err(|error| format!("no free port: {error}"))?
            } else {
                let port = literal_port(server).unwrap_or(8000);
                if is_taken(port) {
                    return Err(format!("port {port} is taken by another process; `{{port}}` in the server's command takes a free one"));
                }
                port
            };
            match Self::start_at(server, port, shell, workspace, stop) {
                Ok(started) => return Ok(started),
                Err(failure) => {
                    let lost_port = is_taken(port);
                    reason = failure;
                    if !lost_port || stop.is_stopped() {
                        break;
                    }
                }
            }
        }
        Err(reason)
    }

    fn start_at(server: &suite::Server, port: u16, shell: &Shell, workspace: &Workspace, stop: &Stop) -> Result<Self, String> {
        let filled = |text: &str| text.replace("{port}", &port.to_string());
        let mut shell = shell.clone();
        set_port(&mut shell, port);
        let command = shell.line(&filled(&server.command), workspace.folder(), None);
        let mut process = Background::start(&command).map_err(|error| error.to_string())?;
        let patience = server.startup_timeout.unwrap_or(DEFAULT_PATIENCE);
        let begin = Instant::now();
        loop {
            let answers = match &server.health_check {
                Some(address) => is_healthy(&filled(address)),
                None => is_taken(port),
            };
            let failure = if let Some(end) = process.exited() {
                // Whoever answered, it was not this server.
                format!("the server ended before it answered ({})", ended(end))
            } else if answers {
                return Ok(Self { process, port });
            } else if stop.is_stopped() {
                "stopped".to_owned()
            } else if begin.elapsed() > patience {
                format!("the server did not answer within {} s", patience.as_secs_f64())
            } else {
                std::thread::sleep(BETWEEN_CHECKS);
                continue;
            };
            let said = process.stop().stdout;
            return Err(format!("{failure}{}", last_words(&said.text())));
        }
    }

    /// Stops it, and everything it started.
    pub fn stop(self) {
        self.process.stop();
    }
}

/// Tells a suite's commands where the server is.
pub fn set_port(shell: &mut Shell, port: u16) {
    shell.set("EVAL_PORT", port.to_string());
    shell.set("EVAL_BASE_URL", format!("http://127.0.0.1:{port}"));
}

fn ended(end: crate::process::End) -> String {
    match end {
        crate::process::End::Exited(code) => format!("exit status {code}"),
        crate::process::End::Signalled(signal) => format!("signal {signal}"),
        crate::process::End::TimedOut | crate::process::End::Stopped => "stopped".to_owned(),
    }
}

fn last_words(text: &str) -> String {
    let lines: Vec<&str> = text.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    let words = lines[lines.len().saturating_sub(3)..].join(" | ");
    let start = words.char_indices().rev().nth(LAST_WORDS - 1).map_or(0, |(start, _)| start);
    if words.is_empty() { String::new() } else { format!(": {}", crate::domain::visible(&words[start..])) }
}

/// The port of a health check that names one.
fn literal_port(server: &suite::Server) -> Option<u16> {
    let (_, authority) = server.health_check.as_deref()?.split_once("://")?;
    authority.split('/').next()?.rsplit_once(':')?.1.parse().ok()
}

fn is_taken(port: u16) -> bool {
    TcpStream::connect_timeout(&([127, 0, 0, 1], port).into(), ONE_CHECK).is_ok()
}

/// Says whether a GET of an address on this machine gives a success or a redirection.
fn is_healthy(address: &str) -> bool {
    let Some((_, rest)) = address.split_once("://") else { return false };
    let (authority, path) = rest.split_once('/').unwrap_or((rest, ""));
    let target = if authority.contains(':') { authority.to_owned() } else { format!("{authority}:80") };
    let request = format!("GET /{path} HTTP/1.1\r\nHost: {authority}\r\nConnection: close\r\n\r\n");
    let ask = || -> std::io::Result<bool> {
        for socket in target.to_socket_addrs()? {
            let Ok(mut stream) = TcpStream::connect_timeout(&socket, ONE_CHECK) else { continue };
            stream.set_read_timeout(Some(ONE_CHECK))?;
            stream.set_write_timeout(Some(ONE_CHECK))?;
            stream.write_all(request.as_bytes())?;
            let mut status = [0; 12];
            stream.read_exact(&mut status)?;
            // "HTTP/1.1 200": what matters is the first digit.
            return Ok(status.starts_with(b"HTTP/1.") && matches!(status[9], b'2' | b'3'));
        }
        Ok(false)
    };
    ask().unwrap_or(false)
}
