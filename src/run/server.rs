//! The server of a suite: started on a free port, awaited, and stopped with everything it started.

use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use crate::evaluate::CommandResult;
use crate::process::{Background, Network, Probe, Stop, free_port};
use crate::suite;

use super::shell::Shell;
use super::workspace::Workspace;

/// Port if neither health check nor command names one.
const DEFAULT_PORT: u16 = 8000;
const DEFAULT_PATIENCE: Duration = Duration::from_secs(30);
const BETWEEN_CHECKS: Duration = Duration::from_millis(50);
/// Tries, because another process may take a port between its choice and its use.
const TRIES: usize = 3;
/// Number of characters of a server's output quoted in the reason of its failure.
const LAST_WORDS: usize = 300;

/// Held by the one run whose server uses a fixed port that other runs also need.
static TURN: Mutex<()> = Mutex::new(());

/// A server that answers.
pub struct Server {
    process: Background,
    pub port: u16,
    place: Place,
}

/// The network in which a run's server listens.
#[derive(Clone, Debug)]
pub enum Place {
    /// The run's private network.
    Own(Arc<Network>),
    /// In this machine's network.
    Shared,
}

impl Place {
    fn answers(&self, probe: &Probe) -> bool {
        match self {
            Self::Own(network) => network.answers(probe),
            Self::Shared => probe.answers(),
        }
    }

    pub fn network(&self) -> Option<&Arc<Network>> {
        match self {
            Self::Own(network) => Some(network),
            Self::Shared => None,
        }
    }
}

/// Waits until no other run of this process has a server on a fixed port of the shared network. Returns `None` at once if the port is
/// freely chosen or the network is private.
pub fn turn(server: Option<&suite::Server>, place: &Place) -> Option<MutexGuard<'static, ()>> {
    match (server, place) {
        (Some(server), Place::Shared) if !is_free_choice(server) => Some(TURN.lock().unwrap_or_else(PoisonError::into_inner)),
        (_, Place::Shared | Place::Own(_)) => None,
    }
}

fn is_free_choice(server: &suite::Server) -> bool {
    server.command.contains("{port}")
}

/// Why there is no server.
pub enum NoServer {
    /// The approach's server does not start, or does not answer at this port.
    Failed { port: u16, reason: String },
    /// It could not be started, through no fault of the approach.
    Impossible(String),
    /// The user stopped it.
    Stopped,
}

impl Server {
    /// Starts the server in the workspace and waits until its health check answers, at most for `most`. `shell` returns the environment of
    /// a server at a port.
    pub fn start(
        server: &suite::Server,
        shell: &dyn Fn(u16) -> io::Result<Shell>,
        workspace: &Workspace,
        place: &Place,
        most: Duration,
        stop: &Stop,
    ) -> Result<Self, NoServer> {
        let is_free_choice = is_free_choice(server);
        let is_taken = |port: u16| place.answers(&Probe::Port(port));
        let mut tries = if is_free_choice { TRIES } else { 1 };
        loop {
            let port = if is_free_choice {
                free_port().map_err(|error| NoServer::Impossible(format!("no free port: {error}")))?
            } else {
                let port = literal_port(server);
                if is_taken(port) {
                    // The tests would test the wrong server.
                    let reason = format!("port {port} is taken by another process; `{{port}}` in the server's command takes a free one");
                    return Err(NoServer::Impossible(reason));
                }
                port
            };
            tries -= 1;
            let shell = shell(port).map_err(|error| NoServer::Impossible(format!("no isolation: {error}")))?;
            match Self::start_at(server, port, &shell, workspace, place, most, stop) {
                Err(NoServer::Failed { .. }) if tries > 0 && is_taken(port) => {}
                Err(NoServer::Failed { port, reason }) if is_taken(port) => return Err(NoServer::Impossible(of_another(port, &reason))),
                outcome => return outcome,
            }
        }
    }

    fn start_at(
        server: &suite::Server,
        port: u16,
        shell: &Shell,
        workspace: &Workspace,
        place: &Place,
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
            let answers = place.answers(&match &server.health_check {
                Some(address) => Probe::Address(filled(address)),
                None => Probe::Port(port),
            });
            let failure = if let Some(end) = process.exited() {
                // Any answer came from another server.
                format!("the server ended before it answered ({})", ended(end))
            } else if answers {
                return Ok(Self { process, port, place: place.clone() });
            } else if stop.is_stopped() {
                return Err(NoServer::Stopped);
            } else if begin.elapsed() > patience {
                format!("the server did not answer within {} s", patience.as_secs_f64().round())
            } else {
                std::thread::sleep(BETWEEN_CHECKS);
                continue;
            };
            let finished = process.stop();
            let said = last_words(&finished.stdout.text());
            if let Some(owed) = CommandResult::of(finished).and_then(|result| result.owed(&server.command, workspace.folder())) {
                return Err(NoServer::Impossible(format!("the server cannot be started: {owed}")));
            }
            return Err(NoServer::Failed { port, reason: format!("{failure}{said}") });
        }
    }

    /// Stops the server and everything it started. Returns how it ended, if it had already ended.
    pub fn stop(mut self) -> Ended {
        let early = self.process.exited();
        let said = self.process.stop().stdout;
        let Some(end) = early else { return Ended::Now };
        let reason = format!("the server ended during the tests ({}){}", ended(end), last_words(&said.text()));
        if self.place.answers(&Probe::Port(self.port)) { Ended::Replaced(of_another(self.port, &reason)) } else { Ended::Early(reason) }
    }
}

/// How a server ended.
pub enum Ended {
    /// It was stopped.
    Now,
    /// It ended by itself, for this reason.
    Early(String),
    /// It ended by itself, and another server answers on its port: the tests may have reached either.
    Replaced(String),
}

fn of_another(port: u16, reason: &str) -> String {
    format!("another process answers at port {port}; {reason}")
}

/// Passes the server's port to a suite's commands.
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

/// Returns the fixed port of a suite without `{port}`: from its health check, or else from its command.
fn literal_port(server: &suite::Server) -> u16 {
    let of_check = || {
        let (scheme, rest) = server.health_check.as_deref()?.split_once("://")?;
        let authority = rest.split(['/', '?']).next()?;
        let default = if scheme == "https" { 443 } else { 80 };
        Some(authority.rsplit_once(':').map_or(default, |(_, port)| port.parse().unwrap_or(default)))
    };
    let of_command = || {
        // Matches `--port 9000`, `PORT=9000` and `0.0.0.0:9000`.
        let mut numbers = server.command.split(|character: char| !character.is_ascii_digit()).filter_map(|number| number.parse().ok());
        numbers.find(|port: &u16| *port >= 1000)
    };
    of_check().or_else(of_command).unwrap_or(DEFAULT_PORT)
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
