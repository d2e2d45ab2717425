//! The server of a suite: started on a free port, awaited, and stopped with everything it started.

use std::io;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::evaluate::{CommandContext, CommandResult};
use crate::process::{
    BackgroundProgram, Listener, Network, PortTurn, Probe, StopSignal, free_port,
};
use crate::suite;

use super::shell::CommandShell;
use super::workspace::RunWorkspace;

/// Port if neither health check nor command names one.
const DEFAULT_PORT: u16 = 8000;
const BETWEEN_CHECKS: Duration = Duration::from_millis(50);
/// Tries, because another process may take a port between its choice and its use.
const MAX_TRIES: usize = 3;
/// Number of characters of a server's output quoted in the reason of its failure.
const LAST_WORDS: usize = 300;

/// A server that answers.
pub struct RunningServer {
    process: BackgroundProgram,
    pub port: u16,
    place: ServerNetwork,
    /// Whether the processes behind the port can be seen from here.
    is_visible: bool,
}

/// The network in which a run's server listens.
#[derive(Clone, Debug)]
pub enum ServerNetwork {
    /// The run's private network.
    Own(Arc<Network>),
    /// In this machine's network.
    Shared,
}

impl ServerNetwork {
    fn is_answering(&self, probe: &Probe) -> bool {
        match self {
            Self::Own(network) => network.answers(probe),
            Self::Shared => probe.answers(),
        }
    }

    /// Returns why tests without a server at this port test another one.
    pub fn intruder_reason(&self, port: u16) -> Option<String> {
        let is_taken = self.private_network().is_none() && self.is_taken(port);
        is_taken.then(|| occupied_reason(port, "the server was not there"))
    }

    fn is_taken(&self, port: u16) -> bool {
        self.is_answering(&Probe::Port(port))
    }

    pub fn private_network(&self) -> Option<&Arc<Network>> {
        match self {
            Self::Own(network) => Some(network),
            Self::Shared => None,
        }
    }
}

/// Waits until no other run on this machine has a server on the same fixed port of the shared network, and calls `waiting` with the port if
/// it has to wait. Takes no turn if the port is freely chosen or the network is private. Returns `None` if stopped meanwhile.
#[expect(clippy::option_option, reason = "stopped, no turn needed, or the turn")]
pub fn await_port_turn(
    server: Option<&suite::ServerSettings>,
    place: &ServerNetwork,
    stop: &StopSignal,
    waiting: impl FnOnce(u16),
) -> Option<Option<PortTurn>> {
    match (server, place) {
        (Some(server), ServerNetwork::Shared) if !is_free_choice(server) => {
            let port = literal_port(server);
            PortTurn::wait_for_turn(port, || stop.is_stopped(), || waiting(port)).map(Some)
        }
        (_, ServerNetwork::Shared | ServerNetwork::Own(_)) => Some(None),
    }
}

fn is_free_choice(server: &suite::ServerSettings) -> bool {
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

/// What a server is started with.
pub struct ServerStart<'a> {
    pub server: &'a suite::ServerSettings,
    pub workspace: &'a RunWorkspace,
    pub place: &'a ServerNetwork,
    /// The suite's folder.
    pub suite: &'a Path,
    pub is_after_setup: bool,
    /// Maximum time until it answers.
    pub most: Duration,
    pub stop: &'a StopSignal,
}

impl ServerStart<'_> {
    /// Starts the server in the workspace and waits until its health check answers. `shell` returns the environment of a server at a port.
    pub fn start_and_wait(
        &self,
        shell: &dyn Fn(u16) -> io::Result<CommandShell>,
    ) -> Result<RunningServer, NoServer> {
        let is_free_choice = is_free_choice(self.server);
        let mut tries = if is_free_choice { MAX_TRIES } else { 1 };
        loop {
            let port = if is_free_choice {
                free_port()
                    .map_err(|error| NoServer::Impossible(format!("no free port: {error}")))?
            } else {
                let port = literal_port(self.server);
                if self.place.is_taken(port) {
                    // The tests would test the wrong server.
                    let reason = format!(
                        "port {port} is taken by another process; `{{port}}` in the server's command takes a free one"
                    );
                    return Err(NoServer::Impossible(reason));
                }
                port
            };
            tries -= 1;
            let shell = shell(port)
                .map_err(|error| NoServer::Impossible(format!("no isolation: {error}")))?;
            match self.start_at(port, &shell) {
                Err(NoServer::Failed { .. }) if tries > 0 && self.place.is_taken(port) => {}
                Err(NoServer::Failed { port, reason }) if self.place.is_taken(port) => {
                    return Err(NoServer::Impossible(occupied_reason(port, &reason)));
                }
                outcome => return outcome,
            }
        }
    }

    fn start_at(&self, port: u16, shell: &CommandShell) -> Result<RunningServer, NoServer> {
        let filled = |text: &str| text.replace("{port}", &port.to_string());
        let mut shell = shell.clone();
        set_port(&mut shell, port);
        let command =
            shell.line_command(&filled(&self.server.command), self.workspace.folder(), None);
        let process = BackgroundProgram::start(&command)
            .map_err(|error| NoServer::Impossible(error.to_string()))?;
        // A sandbox may have the server run by another program, such as a container's.
        let is_visible = shell.wrap.is_empty() && self.place.private_network().is_none();
        let mut server = RunningServer {
            process,
            port,
            place: self.place.clone(),
            is_visible,
        };
        let patience = self
            .server
            .startup_timeout
            .unwrap_or(suite::DEFAULT_STARTUP_TIMEOUT)
            .min(self.most);
        let begin = Instant::now();
        loop {
            let answers = self.place.is_answering(&match &self.server.health_check {
                Some(address) => Probe::Address(filled(address)),
                None => Probe::Port(port),
            });
            let failure = if let Some(end) = server.process.exit_by_now() {
                // Any answer came from another server.
                format!(
                    "the server ended before it answered ({})",
                    describe_exit(end)
                )
            } else if answers && server.is_its_own() {
                return Ok(server);
            } else if self.stop.is_stopped() {
                return Err(NoServer::Stopped);
            } else if answers {
                // The port stays taken, which the caller sees.
                "the server does not listen there".to_owned()
            } else if begin.elapsed() > patience {
                format!(
                    "the server did not answer within {} s",
                    patience.as_secs_f64().round()
                )
            } else {
                std::thread::sleep(BETWEEN_CHECKS);
                continue;
            };
            let finished = server.process.stop();
            let said = last_words(&finished.stdout.text());
            let folder = self.workspace.folder();
            let ground = CommandContext {
                folder,
                workspace: folder,
                suite: self.suite,
                path: shell.search_path(),
                is_after_setup: self.is_after_setup,
            };
            if let Some(owed) = CommandResult::from_finished(finished)
                .and_then(|result| result.environment_fault(&self.server.command, &ground))
            {
                return Err(NoServer::Impossible(format!(
                    "the server cannot be started: {owed}"
                )));
            }
            return Err(NoServer::Failed {
                port,
                reason: format!("{failure}{said}"),
            });
        }
    }
}

impl RunningServer {
    /// Returns whether the server itself listens on its port, as far as the system tells.
    fn is_its_own(&self) -> bool {
        !self.is_visible || self.process.find_listener(self.port) != Listener::Another
    }

    /// Stops the server and everything it started. Returns how it ended, if it had already ended.
    pub fn stop(mut self) -> ServerEnd {
        let is_its_own = self.is_its_own();
        let early = self.process.exit_by_now();
        let said = self.process.stop().stdout;
        let reason = early.map(|end| {
            format!(
                "the server ended during the tests ({}){}",
                describe_exit(end),
                last_words(&said.text())
            )
        });
        match reason {
            _ if !is_its_own => ServerEnd::Replaced(occupied_reason(
                self.port,
                reason
                    .as_deref()
                    .unwrap_or("the server does not listen there alone"),
            )),
            None => ServerEnd::Now,
            Some(reason) if self.place.is_taken(self.port) => {
                ServerEnd::Replaced(occupied_reason(self.port, &reason))
            }
            Some(reason) => ServerEnd::Early(reason),
        }
    }
}

/// How a server ended.
pub enum ServerEnd {
    /// It was stopped.
    Now,
    /// It ended by itself, for this reason.
    Early(String),
    /// It ended by itself, and another server answers on its port: the tests may have reached either.
    Replaced(String),
}

fn occupied_reason(port: u16, reason: &str) -> String {
    format!("another process answers at port {port}; {reason}")
}

/// Passes the server's port to a suite's commands.
pub fn set_port(shell: &mut CommandShell, port: u16) {
    shell.set_variable("EVAL_PORT", port.to_string());
    shell.set_variable("EVAL_BASE_URL", format!("http://127.0.0.1:{port}"));
}

fn describe_exit(end: crate::process::ProgramExit) -> String {
    match end {
        crate::process::ProgramExit::Exited(code) => format!("exit status {code}"),
        crate::process::ProgramExit::Signalled(signal) => format!("signal {signal}"),
        crate::process::ProgramExit::TimedOut | crate::process::ProgramExit::Stopped => {
            "stopped".to_owned()
        }
    }
}

fn last_words(text: &str) -> String {
    let lines: Vec<&str> = text
        .lines()
        .map(str::trim)
        .filter(|line| !line.is_empty())
        .collect();
    let words = lines[lines.len().saturating_sub(3)..].join(" | ");
    let start = words
        .char_indices()
        .rev()
        .nth(LAST_WORDS - 1)
        .map_or(0, |(start, _)| start);
    if words.is_empty() {
        String::new()
    } else {
        format!(": {}", crate::domain::escape_invisible(&words[start..]))
    }
}

/// Returns the fixed port of a suite without `{port}`: from its health check, or else from its command.
fn literal_port(server: &suite::ServerSettings) -> u16 {
    let of_check = || {
        let (scheme, rest) = server.health_check.as_deref()?.split_once("://")?;
        let authority = rest.split(['/', '?']).next()?;
        let default = if scheme == "https" { 443 } else { 80 };
        Some(
            authority
                .rsplit_once(':')
                .map_or(default, |(_, port)| port.parse().unwrap_or(default)),
        )
    };
    let of_command = || {
        // Matches `--port 9000`, `PORT=9000` and `0.0.0.0:9000`.
        let mut numbers = server
            .command
            .split(|character: char| !character.is_ascii_digit())
            .filter_map(|number| number.parse().ok());
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
            (
                "python -m uvicorn main:app --port 8000",
                Some("http://localhost:8000/health"),
                8000,
            ),
            ("./serve", Some("http://127.0.0.1/health"), 80),
            ("./serve --port=9000", None, 9000),
            ("./serve 0.0.0.0:9000 --workers 4", None, 9000),
            ("./serve", None, 8000),
        ] {
            let server = suite::ServerSettings {
                command: command.to_owned(),
                health_check: check.map(str::to_owned),
                startup_timeout: None,
            };
            assert_eq!(literal_port(&server), port, "{command}");
        }
    }

    #[test]
    fn last_words_are_few_and_visible() {
        assert_eq!(last_words("\n \n"), "");
        assert_eq!(
            last_words("a\nb\n\nc\nd \u{1b}[1m\n")
                .matches(" | ")
                .count(),
            2
        );
        assert!(last_words(&"ü".repeat(5000)).chars().count() <= LAST_WORDS + 2);
    }
}
