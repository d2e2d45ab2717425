//! The server of a suite: started on a free port, waited for, stopped with everything it started.

use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpStream, ToSocketAddrs};
use std::time::{Duration, Instant};

use crate::process::{Background, Stop, free_port};
use crate::suite;

use super::shell::Shell;
use super::workspace::Workspace;

/// Where neither health check nor command name one.
const DEFAULT_PORT: u16 = 8000;
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

/// Why there is none.
pub enum NoServer {
    /// What the approach made does not start, or does not answer at this port.
    Failed { port: u16, reason: String },
    /// It could not even be tried, through no fault of the approach.
    Impossible(String),
    /// By the user.
    Stopped,
}

impl Server {
    /// Starts the server in the workspace and waits until its health check answers, no longer than `most`.
    /// `shell` gives the surroundings of a server at a port.
    pub fn start(
        server: &suite::Server,
        shell: &dyn Fn(u16) -> io::Result<Shell>,
        workspace: &Workspace,
        most: Duration,
        stop: &Stop,
    ) -> Result<Self, NoServer> {
        let is_free_choice = server.command.contains("{port}");
        let mut tries = if is_free_choice { TRIES } else { 1 };
        loop {
            let port = if is_free_choice {
                free_port().map_err(|error| NoServer::Impossible(format!("no free port: {error}")))?
            } else {
                let port = literal_port(server);
                if is_taken(port) {
                    // Tests that asked this port would judge whoever sits there.
                    let reason = format!("port {port} is taken by another process; `{{port}}` in the server's command takes a free one");
                    return Err(NoServer::Impossible(reason));
                }
                port
            };
            tries -= 1;
            let shell = shell(port).map_err(|error| NoServer::Impossible(format!("no isolation: {error}")))?;
            match Self::start_at(server, port, &shell, workspace, most, stop) {
                Err(NoServer::Failed { .. }) if tries > 0 && is_taken(port) => {}
                outcome => return outcome,
            }
        }
    }

    fn start_at(
        server: &suite::Server,
        port: u16,
        shell: &Shell,
        workspace: &Workspace,
        most: Duration,
        stop: &Stop,
    ) -> Result<Self, NoServer> {
        let filled = |text: &str| text.replace("{port}", &port.to_string());
        let mut shell = shell.clone();
        set_port(&mut shell, port);
        let command = shell.line(&filled(&server.command), workspace.folder(), None);
        let mut process = Background::start(&command).map_err(|error| NoServer::Impossible(error.to_string()))?;
        let patience = server.startup_timeout.unwrap_or(DEFAULT_PATIENCE).min(most);
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
                return Err(NoServer::Stopped);
            } else if begin.elapsed() > patience {
                format!("the server did not answer within {} s", patience.as_secs_f64().round())
            } else {
                std::thread::sleep(BETWEEN_CHECKS);
                continue;
            };
            let said = process.stop().stdout;
            return Err(NoServer::Failed { port, reason: format!("{failure}{}", last_words(&said.text())) });
        }
    }

    /// Stops it, and everything it started. Returns a complaint where it had ended before.
    pub fn stop(mut self) -> Option<String> {
        let early = self.process.exited();
        let said = self.process.stop().stdout;
        early.map(|end| format!("the server ended during the tests ({}){}", ended(end), last_words(&said.text())))
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

/// The port that a suite without `{port}` uses: that of its health check, else the one its command names.
fn literal_port(server: &suite::Server) -> u16 {
    let of_check = || {
        let (scheme, rest) = server.health_check.as_deref()?.split_once("://")?;
        let authority = rest.split(['/', '?']).next()?;
        let default = if scheme == "https" { 443 } else { 80 };
        Some(authority.rsplit_once(':').map_or(default, |(_, port)| port.parse().unwrap_or(default)))
    };
    let of_command = || {
        // `--port 9000`, `PORT=9000`, `0.0.0.0:9000`.
        let mut numbers = server.command.split(|character: char| !character.is_ascii_digit()).filter_map(|number| number.parse().ok());
        numbers.find(|port: &u16| *port >= 1000)
    };
    of_check().or_else(of_command).unwrap_or(DEFAULT_PORT)
}

fn is_taken(port: u16) -> bool {
    let addresses = [SocketAddr::from(([127, 0, 0, 1], port)), SocketAddr::from(([0, 0, 0, 0, 0, 0, 0, 1], port))];
    addresses.iter().any(|address| TcpStream::connect_timeout(address, ONE_CHECK).is_ok())
}

/// Says whether a GET of an address on this machine gives a success or a redirection; where it is encrypted, whether anybody is there.
fn is_healthy(address: &str) -> bool {
    let Some((scheme, rest)) = address.split_once("://") else { return false };
    let (authority, path) = rest.split_once('/').unwrap_or((rest, ""));
    let is_encrypted = scheme == "https";
    let default = if is_encrypted { 443 } else { 80 };
    let target = if authority.contains(':') { authority.to_owned() } else { format!("{authority}:{default}") };
    let request = format!("GET /{path} HTTP/1.1\r\nHost: {authority}\r\nConnection: close\r\n\r\n");
    let ask = || -> std::io::Result<bool> {
        for socket in target.to_socket_addrs()? {
            let Ok(mut stream) = TcpStream::connect_timeout(&socket, ONE_CHECK) else { continue };
            if is_encrypted {
                return Ok(true);
            }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_port_is_found_where_it_is_written() {
        for (command, check, port) in [
            ("python -m uvicorn main:app --port 8000", Some("http://localhost:8000/health"), 8000),
            ("./serve", Some("http://127.0.0.1/health"), 80),
            ("./serve --port=9000", None, 9000),
            ("./serve 0.0.0.0:9000 --workers 4", None, 9000),
            ("./serve", None, 8000),
        ] {
            let server = suite::Server { command: command.to_owned(), health_check: check.map(str::to_owned), startup_timeout: None };
            assert_eq!(literal_port(&server), port, "{command}");
        }
    }

    #[test]
    fn last_words_are_few_and_visible() {
        assert_eq!(last_words("\n \n"), "");
        assert_eq!(last_words("a\nb\n\nc\nd \u{1b}[1m\n").matches(" | ").count(), 2);
        assert!(last_words(&"ü".repeat(5000)).chars().count() <= LAST_WORDS + 2);
    }
}
