//! Agents that are programs: starting them, and reading how they ended.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use super::environment::{Environment, Versions};
use super::reply::{Failure, FailureKind, MOST_RAW_BYTES, Measured, Outlook, Prompt, shorten};
use crate::domain::{is_failed_start, visible};
use crate::process::{self, Command, Confinement, End, Finished, Limits, StartError, Stop};

/// Environment variable that tells programs the model.
pub const MODEL_VARIABLE: &str = "EVAL_MODEL";
/// Placeholder for the model in a command.
pub const MODEL_PLACE: &str = "{model}";

/// Returns whether a command contains the model's placeholder and so requires a model.
pub fn holds_model(words: &[String]) -> bool {
    words.iter().any(|word| word.contains(MODEL_PLACE))
}

/// Time limit for reporting a version.
const VERSION_WALL: Duration = Duration::from_secs(10);
/// Longest text that counts as a version.
const MOST_VERSION_BYTES: usize = 60;

/// Maximum bytes kept of a program's output.
pub const MOST_OUTPUT_BYTES: u64 = 16 << 20;
/// Number of final output lines quoted in a reason.
const REASON_LINES: usize = 5;

/// How programs are started. The same for every prompt.
#[derive(Clone, Debug)]
pub struct Program {
    root: PathBuf,
    grace: Duration,
    model: Option<String>,
    confinement: Option<Arc<Confinement>>,
    variables: BTreeMap<OsString, Option<OsString>>,
    /// Names of the withheld secrets, for the messages of failures.
    withheld: Vec<String>,
    versions: Versions,
}

impl Program {
    /// Creates a starter of programs. `granted` names the secrets that they may have; `defaults` are variables that they get unless the
    /// environment sets them.
    pub fn new(
        environment: &Environment,
        model: Option<String>,
        granted: &[String],
        defaults: &[(&str, &str)],
    ) -> Self {
        let root = if environment.root.as_os_str().is_empty() {
            PathBuf::from(".")
        } else {
            environment.root.clone()
        };
        let withheld = environment.withheld(granted).cloned().collect();
        let (confinement, mut variables) = (
            environment.confinement.clone(),
            environment.for_program(granted),
        );
        for (name, value) in defaults
            .iter()
            .filter(|(name, _)| !environment.variables.contains_key(*name))
        {
            variables
                .entry(OsString::from(name))
                .or_insert_with(|| Some(OsString::from(value)));
        }
        Self {
            root,
            grace: environment.grace,
            model,
            confinement,
            variables,
            withheld,
            versions: environment.versions.clone(),
        }
    }

    pub fn model(&self) -> Option<&str> {
        self.model.as_deref()
    }

    /// Adds the withheld secrets to the reason of a failure.
    pub fn explain(&self, failure: Failure) -> Failure {
        match failure.kind {
            FailureKind::Error | FailureKind::Infra => Failure {
                reason: with_withheld(failure.reason, &self.withheld),
                ..failure
            },
            FailureKind::Limit | FailureKind::Stopped => failure,
        }
    }

    /// Returns a command that starts in `folder`, or else in the project's folder.
    fn command(&self, argv: Vec<String>, folder: Option<&Path>, wall: Duration) -> Command {
        Command {
            argv: argv.into_iter().map(OsString::from).collect(),
            cwd: folder.unwrap_or(&self.root).to_path_buf(),
            env: self.variables.clone(),
            input: Vec::new(),
            limits: Limits {
                wall: Some(wall),
                output_bytes: MOST_OUTPUT_BYTES,
                grace: self.grace,
            },
            confinement: self.confinement.clone(),
        }
    }

    /// Returns the version of a program: the first word with a dot and a leading digit. Each program is asked once; `None` if it reports
    /// none.
    pub fn version(&self, program: &str, stop: &Stop) -> Option<String> {
        self.versions
            .of(program, || self.said_version(program, stop))
    }

    fn said_version(&self, program: &str, stop: &Stop) -> Option<String> {
        let argv = vec![program.to_owned(), "--version".to_owned()];
        // Not started in a workspace: it holds only the agent's own files.
        let finished = process::run(&self.command(argv, None, VERSION_WALL), stop).ok()?;
        let said = finished.stdout.text();
        let is_version = |word: &&str| {
            word.starts_with(|first: char| first.is_ascii_digit()) && word.contains('.')
        };
        let version = said.lines().next()?.split_whitespace().find(is_version)?;
        (finished.end == End::Exited(0) && version.len() <= MOST_VERSION_BYTES)
            .then(|| version.to_owned())
    }

    /// Runs a program with the prompt as its input. A program that cannot be started is an `Infra` failure, not the agent's fault.
    pub fn run(
        &self,
        argv: Vec<String>,
        input: String,
        prompt: &Prompt,
        wall: Duration,
        stop: &Stop,
    ) -> Result<Finished, Failure> {
        let variable =
            |name: &str, value: Option<String>| (OsString::from(name), value.map(OsString::from));
        let mut env = self.variables.clone();
        env.extend([
            variable("EVAL_SEED", Some(prompt.seed.to_string())),
            variable(MODEL_VARIABLE, self.model.clone()),
        ]);
        let command = Command {
            env,
            input: input.into_bytes(),
            ..self.command(argv, prompt.folder, wall)
        };
        let finished = process::run(&command, stop).map_err(|error| {
            let outlook = match error {
                StartError::NotFound { .. } | StartError::NotExecutable { .. } => Outlook::Hopeless,
                StartError::Io { .. } => Outlook::Open,
            };
            Failure::new(FailureKind::Infra, &error.to_string(), Measured::default())
                .with_outlook(outlook)
        })?;
        match failed_start(&finished) {
            Some(reason) => Err(
                Failure::new(FailureKind::Infra, &reason, measure(&finished))
                    .with_outlook(Outlook::Unstarted),
            ),
            None => Ok(finished),
        }
    }
}

/// Maximum number of variables named in a reason.
const MOST_NAMED: usize = 4;

/// Adds to a failure's reason the secrets that the program was not given: it may have needed one of them.
pub fn with_withheld(reason: String, withheld: &[String]) -> String {
    let named = withheld
        .iter()
        .take(MOST_NAMED)
        .map(|name| visible(name))
        .collect::<Vec<_>>()
        .join(", ");
    match withheld.len() {
        0 => reason,
        1..=MOST_NAMED => format!("{reason} (not given to it: {named}; `env` grants keys)"),
        all => format!(
            "{reason} (not given to it: {named} and {} more; `env` grants keys)",
            all - MOST_NAMED
        ),
    }
}

/// Joins system prompt and prompt, for programs without a system prompt.
pub fn joined(prompt: &Prompt) -> String {
    match prompt.system {
        Some(system) => format!("{system}\n\n{}", prompt.text),
        None => prompt.text.to_owned(),
    }
}

/// Writes the prompt to a temporary file, which is deleted when the value is dropped.
pub fn prompt_file(text: &str) -> Result<tempfile::NamedTempFile, Failure> {
    let write = || {
        let mut file = tempfile::Builder::new()
            .prefix("prompt-")
            .suffix(".txt")
            .tempfile()?;
        file.write_all(text.as_bytes())?;
        file.flush()?;
        Ok(file)
    };
    write().map_err(|error: std::io::Error| {
        let reason = format!("the prompt could not be written to a temporary file: {error}");
        Failure::new(FailureKind::Infra, &reason, Measured::default())
    })
}

/// Returns the measurements that every ended program has.
pub fn measure(finished: &Finished) -> Measured {
    Measured {
        duration: finished.wall,
        raw: shorten(&finished.stdout.text(), MOST_RAW_BYTES),
        ..Measured::default()
    }
}

/// Describes the end of a program that was stopped from outside, or returns `None` if it ended by itself.
pub fn interrupted(end: End, wall: Duration) -> Option<(FailureKind, String)> {
    match end {
        End::TimedOut => Some((
            FailureKind::Limit,
            format!("stopped after {} s, its limit of time", wall.as_secs_f64()),
        )),
        End::Stopped => Some((FailureKind::Stopped, "stopped by the user".to_owned())),
        End::Exited(_) | End::Signalled(_) => None,
    }
}

/// Describes the end of a program that did not start its work, or returns `None` if it did.
pub fn failed_start(finished: &Finished) -> Option<String> {
    let End::Exited(status) = finished.end else {
        return None;
    };
    let has_output = !finished.stdout.text().trim().is_empty();
    is_failed_start(status, has_output, finished.wall.as_secs_f64()).then(|| crash(finished))
}

/// Describes how a program ended, with its last lines of output.
pub fn crash(finished: &Finished) -> String {
    let end = match finished.end {
        End::Exited(code) => format!("ended with exit status {code}"),
        End::Signalled(signal) => format!("ended by signal {signal}"),
        End::TimedOut => "reached its limit of time".to_owned(),
        End::Stopped => "was stopped".to_owned(),
    };
    let (stderr, stdout) = (finished.stderr.text(), finished.stdout.text());
    let said = if stderr.trim().is_empty() {
        stdout
    } else {
        stderr
    };
    let lines: Vec<&str> = said
        .lines()
        .map(str::trim_end)
        .filter(|line| !line.is_empty())
        .collect();
    let last = lines[lines.len().saturating_sub(REASON_LINES)..].join("\n");
    if last.is_empty() {
        end
    } else {
        format!("{end}: {}", shorten(&last, 1500))
    }
}
