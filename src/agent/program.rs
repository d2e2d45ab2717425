//! Agents that are programs: how one is started, and how its end is read.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use super::environment::{Environment, Versions};
use super::reply::{Failure, FailureKind, MOST_RAW_BYTES, Measured, Outlook, Prompt, shorten};
use crate::domain::visible;
use crate::process::{self, Command, Confinement, End, Finished, Limits, StartError, Stop};

/// Tells programs the model.
pub const MODEL_VARIABLE: &str = "EVAL_MODEL";
/// Stands for the model in the words of a command.
pub const MODEL_PLACE: &str = "{model}";

/// Says whether the words of a command hold the model's place, so that a model has to be named.
pub fn holds_model(words: &[String]) -> bool {
    words.iter().any(|word| word.contains(MODEL_PLACE))
}

/// A program that takes longer to say its version is not waited for.
const VERSION_WALL: Duration = Duration::from_secs(10);
/// No version is longer.
const MOST_VERSION_BYTES: usize = 60;

/// What is kept of a program's output.
pub const MOST_OUTPUT_BYTES: u64 = 16 << 20;
/// How much of what a program said last goes into a reason.
const REASON_LINES: usize = 5;

/// How programs are started, the same for every prompt.
#[derive(Clone, Debug)]
pub struct Program {
    root: PathBuf,
    grace: Duration,
    model: Option<String>,
    confinement: Option<Arc<Confinement>>,
    variables: BTreeMap<OsString, Option<OsString>>,
    /// Secrets that it does not get, for who wonders why it fails.
    withheld: Vec<String>,
    versions: Versions,
}

impl Program {
    /// `granted` are the secrets that it may know; `defaults` are variables that it gets unless the environment sets them.
    pub fn new(environment: &Environment, model: Option<String>, granted: &[String], defaults: &[(&str, &str)]) -> Self {
        let root = if environment.root.as_os_str().is_empty() { PathBuf::from(".") } else { environment.root.clone() };
        let withheld = environment.withheld(granted).cloned().collect();
        let (confinement, mut variables) = (environment.confinement.clone(), environment.for_program(granted));
        for (name, value) in defaults.iter().filter(|(name, _)| !environment.variables.contains_key(*name)) {
            variables.entry(OsString::from(name)).or_insert_with(|| Some(OsString::from(value)));
        }
        Self { root, grace: environment.grace, model, confinement, variables, withheld, versions: environment.versions.clone() }
    }

    pub fn model(&self) -> Option<&str> {
        self.model.as_deref()
    }

    /// Adds to a failure of the program what it was not given.
    pub fn explain(&self, failure: Failure) -> Failure {
        match failure.kind {
            FailureKind::Error | FailureKind::Infra => Failure { reason: with_withheld(failure.reason, &self.withheld), ..failure },
            FailureKind::Limit | FailureKind::Stopped => failure,
        }
    }

    /// Starts in `folder`, or in the project's.
    fn command(&self, argv: Vec<String>, folder: Option<&Path>, wall: Duration) -> Command {
        Command {
            argv: argv.into_iter().map(OsString::from).collect(),
            cwd: folder.unwrap_or(&self.root).to_path_buf(),
            env: self.variables.clone(),
            input: Vec::new(),
            limits: Limits { wall: Some(wall), output_bytes: MOST_OUTPUT_BYTES, grace: self.grace },
            confinement: self.confinement.clone(),
        }
    }

    /// The version of a program, which is asked for it once: the first word with a dot that begins with a digit. None where it says none.
    pub fn version(&self, program: &str, stop: &Stop) -> Option<String> {
        self.versions.of(program, || self.said_version(program, stop))
    }

    fn said_version(&self, program: &str, stop: &Stop) -> Option<String> {
        let argv = vec![program.to_owned(), "--version".to_owned()];
        // Not in a workspace, which holds nothing but what the agent made.
        let finished = process::run(&self.command(argv, None, VERSION_WALL), stop).ok()?;
        let said = finished.stdout.text();
        let is_version = |word: &&str| word.starts_with(|first: char| first.is_ascii_digit()) && word.contains('.');
        let version = said.lines().next()?.split_whitespace().find(is_version)?;
        (finished.end == End::Exited(0) && version.len() <= MOST_VERSION_BYTES).then(|| version.to_owned())
    }

    /// Runs a program with the prompt as its input. A program that cannot be started is our fault, not the agent's.
    pub fn run(&self, argv: Vec<String>, input: String, prompt: &Prompt, wall: Duration, stop: &Stop) -> Result<Finished, Failure> {
        let variable = |name: &str, value: Option<String>| (OsString::from(name), value.map(OsString::from));
        let mut env = self.variables.clone();
        env.extend([variable("EVAL_SEED", Some(prompt.seed.to_string())), variable(MODEL_VARIABLE, self.model.clone())]);
        let command = Command { env, input: input.into_bytes(), ..self.command(argv, prompt.folder, wall) };
        process::run(&command, stop).map_err(|error| {
            let outlook = match error {
                StartError::NotFound { .. } | StartError::NotExecutable { .. } => Outlook::Hopeless,
                StartError::Io { .. } => Outlook::Open,
            };
            Failure::new(FailureKind::Infra, &error.to_string(), Measured::default()).with_outlook(outlook)
        })
    }
}

/// How many variables a reason names.
const MOST_NAMED: usize = 4;

/// Adds to the reason of a failure which secrets the program was not given: it may have needed one.
pub fn with_withheld(reason: String, withheld: &[String]) -> String {
    let named = withheld.iter().take(MOST_NAMED).map(|name| visible(name)).collect::<Vec<_>>().join(", ");
    match withheld.len() {
        0 => reason,
        1..=MOST_NAMED => format!("{reason} (not given to it: {named}; `env` grants keys)"),
        all => format!("{reason} (not given to it: {named} and {} more; `env` grants keys)", all - MOST_NAMED),
    }
}

/// The prompt as one text, for programs that know no system prompt.
pub fn joined(prompt: &Prompt) -> String {
    match prompt.system {
        Some(system) => format!("{system}\n\n{}", prompt.text),
        None => prompt.text.to_owned(),
    }
}

/// A file with the prompt, which lives as long as the value.
pub fn prompt_file(text: &str) -> Result<tempfile::NamedTempFile, Failure> {
    let write = || {
        let mut file = tempfile::Builder::new().prefix("prompt-").suffix(".txt").tempfile()?;
        file.write_all(text.as_bytes())?;
        file.flush()?;
        Ok(file)
    };
    write().map_err(|error: std::io::Error| {
        let reason = format!("the prompt could not be written to a temporary file: {error}");
        Failure::new(FailureKind::Infra, &reason, Measured::default())
    })
}

/// What is known of any program that has ended.
pub fn measure(finished: &Finished) -> Measured {
    Measured { duration: finished.wall, raw: shorten(&finished.stdout.text(), MOST_RAW_BYTES), ..Measured::default() }
}

/// How a program ended that was not left to end by itself; none if it was.
pub fn interrupted(end: End, wall: Duration) -> Option<(FailureKind, String)> {
    match end {
        End::TimedOut => Some((FailureKind::Limit, format!("stopped after {} s, its limit of time", wall.as_secs_f64()))),
        End::Stopped => Some((FailureKind::Stopped, "stopped by the user".to_owned())),
        End::Exited(_) | End::Signalled(_) => None,
    }
}

/// How a program's own end reads, and the last lines that it said.
pub fn crash(finished: &Finished) -> String {
    let end = match finished.end {
        End::Exited(code) => format!("ended with exit status {code}"),
        End::Signalled(signal) => format!("ended by signal {signal}"),
        End::TimedOut => "reached its limit of time".to_owned(),
        End::Stopped => "was stopped".to_owned(),
    };
    let (stderr, stdout) = (finished.stderr.text(), finished.stdout.text());
    let said = if stderr.trim().is_empty() { stdout } else { stderr };
    let lines: Vec<&str> = said.lines().map(str::trim_end).filter(|line| !line.is_empty()).collect();
    let last = lines[lines.len().saturating_sub(REASON_LINES)..].join("\n");
    if last.is_empty() { end } else { format!("{end}: {}", shorten(&last, 1500)) }
}
