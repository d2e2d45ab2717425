//! Agents that are programs: starting them, and reading how they ended.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use super::environment::{AgentEnvironment, ProgramVersions};
use super::reply::{
    AgentFailure, AgentFailureKind, AgentPrompt, FailureOutlook, MAX_RAW_BYTES, ReplyMeasurements,
    shorten_middle,
};
use crate::domain::{escape_invisible, is_failed_start};
use crate::process::{
    self, Confinement, FinishedProgram, ProgramCommand, ProgramExit, ProgramLimits, StartError,
    StopSignal,
};

/// Environment variable that tells programs the model.
pub const MODEL_VARIABLE: &str = "EVAL_MODEL";
/// Placeholder for the model in a command.
pub const MODEL_PLACEHOLDER: &str = "{model}";

/// Returns whether a command contains the model's placeholder and so requires a model.
pub fn has_model_placeholder(words: &[String]) -> bool {
    words.iter().any(|word| word.contains(MODEL_PLACEHOLDER))
}

/// Time limit for reporting a version.
const VERSION_WALL: Duration = Duration::from_secs(10);
/// Longest text that counts as a version.
const MAX_VERSION_BYTES: usize = 60;

/// Maximum bytes kept of a program's output.
pub const MAX_OUTPUT_BYTES: u64 = 16 << 20;
/// Number of final output lines quoted in a reason.
const MAX_REASON_LINES: usize = 5;

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
    versions: ProgramVersions,
}

impl Program {
    /// Creates a starter of programs. `granted` names the secrets that they may have; `defaults` are variables that they get unless the
    /// environment sets them.
    pub fn new(
        environment: &AgentEnvironment,
        model: Option<String>,
        granted: &[String],
        defaults: &[(&str, &str)],
    ) -> Self {
        let root = if environment.root.as_os_str().is_empty() {
            PathBuf::from(".")
        } else {
            environment.root.clone()
        };
        let withheld = environment.withheld_secrets(granted).cloned().collect();
        let (confinement, mut variables) = (
            environment.confinement.clone(),
            environment.variables_for_program(granted),
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
    pub fn explain_failure(&self, failure: AgentFailure) -> AgentFailure {
        match failure.kind {
            AgentFailureKind::Error | AgentFailureKind::Infra => AgentFailure {
                reason: add_withheld_secrets(failure.reason, &self.withheld),
                ..failure
            },
            AgentFailureKind::Limit | AgentFailureKind::Stopped => failure,
        }
    }

    /// Returns a command that starts in `folder`, or else in the project's folder.
    fn build_command(
        &self,
        argv: Vec<String>,
        folder: Option<&Path>,
        wall: Duration,
    ) -> ProgramCommand {
        ProgramCommand {
            argv: argv.into_iter().map(OsString::from).collect(),
            cwd: folder.unwrap_or(&self.root).to_path_buf(),
            env: self.variables.clone(),
            input: Vec::new(),
            limits: ProgramLimits {
                wall: Some(wall),
                output_bytes: MAX_OUTPUT_BYTES,
                grace: self.grace,
            },
            confinement: self.confinement.clone(),
        }
    }

    /// Returns the version of a program: the first word with a dot and a leading digit. Each program is asked once; `None` if it reports
    /// none.
    pub fn program_version(&self, program: &str, stop: &StopSignal) -> Option<String> {
        self.versions
            .get_or_ask(program, || self.ask_version(program, stop))
    }

    fn ask_version(&self, program: &str, stop: &StopSignal) -> Option<String> {
        let argv = vec![program.to_owned(), "--version".to_owned()];
        // Not started in a workspace: it holds only the agent's own files.
        let finished =
            process::run_program(&self.build_command(argv, None, VERSION_WALL), stop).ok()?;
        let said = finished.stdout.text();
        let is_version = |word: &&str| {
            word.starts_with(|first: char| first.is_ascii_digit()) && word.contains('.')
        };
        let version = said.lines().next()?.split_whitespace().find(is_version)?;
        (finished.end == ProgramExit::Exited(0) && version.len() <= MAX_VERSION_BYTES)
            .then(|| version.to_owned())
    }

    /// Runs a program with the prompt as its input. A program that cannot be started is an `Infra` failure, not the agent's fault.
    pub fn run_program(
        &self,
        argv: Vec<String>,
        input: String,
        prompt: &AgentPrompt,
        wall: Duration,
        stop: &StopSignal,
    ) -> Result<FinishedProgram, AgentFailure> {
        let variable =
            |name: &str, value: Option<String>| (OsString::from(name), value.map(OsString::from));
        let mut env = self.variables.clone();
        env.extend([
            variable("EVAL_SEED", Some(prompt.seed.to_string())),
            variable(MODEL_VARIABLE, self.model.clone()),
        ]);
        let command = ProgramCommand {
            env,
            input: input.into_bytes(),
            ..self.build_command(argv, prompt.folder, wall)
        };
        let finished = process::run_program(&command, stop).map_err(|error| {
            let outlook = match error {
                StartError::NotFound { .. } | StartError::NotExecutable { .. } => {
                    FailureOutlook::Hopeless
                }
                StartError::Io { .. } => FailureOutlook::Open,
            };
            AgentFailure::new(
                AgentFailureKind::Infra,
                &error.to_string(),
                ReplyMeasurements::default(),
            )
            .with_outlook(outlook)
        })?;
        match describe_failed_start(&finished) {
            Some(reason) => {
                Err(
                    AgentFailure::new(AgentFailureKind::Infra, &reason, measure_process(&finished))
                        .with_outlook(FailureOutlook::Unstarted),
                )
            }
            None => Ok(finished),
        }
    }
}

/// Maximum number of variables named in a reason.
const MAX_NAMED: usize = 4;

/// Adds to a failure's reason the secrets that the program was not given: it may have needed one of them.
pub fn add_withheld_secrets(reason: String, withheld: &[String]) -> String {
    let named = withheld
        .iter()
        .take(MAX_NAMED)
        .map(|name| escape_invisible(name))
        .collect::<Vec<_>>()
        .join(", ");
    match withheld.len() {
        0 => reason,
        1..=MAX_NAMED => format!("{reason} (not given to it: {named}; `env` grants keys)"),
        all => format!(
            "{reason} (not given to it: {named} and {} more; `env` grants keys)",
            all - MAX_NAMED
        ),
    }
}

/// Joins system prompt and prompt, for programs without a system prompt.
pub fn join_prompts(prompt: &AgentPrompt) -> String {
    match prompt.system {
        Some(system) => format!("{system}\n\n{}", prompt.text),
        None => prompt.text.to_owned(),
    }
}

/// Writes the prompt to a temporary file, which is deleted when the value is dropped.
pub fn write_prompt_file(text: &str) -> Result<tempfile::NamedTempFile, AgentFailure> {
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
        AgentFailure::new(
            AgentFailureKind::Infra,
            &reason,
            ReplyMeasurements::default(),
        )
    })
}

/// Returns the measurements that every ended program has.
pub fn measure_process(finished: &FinishedProgram) -> ReplyMeasurements {
    ReplyMeasurements {
        duration: finished.wall,
        raw: shorten_middle(&finished.stdout.text(), MAX_RAW_BYTES),
        ..ReplyMeasurements::default()
    }
}

/// Describes the end of a program that was stopped from outside, or returns `None` if it ended by itself.
pub fn describe_interruption(
    end: ProgramExit,
    wall: Duration,
) -> Option<(AgentFailureKind, String)> {
    match end {
        ProgramExit::TimedOut => Some((
            AgentFailureKind::Limit,
            format!("stopped after {} s, its limit of time", wall.as_secs_f64()),
        )),
        ProgramExit::Stopped => Some((AgentFailureKind::Stopped, "stopped by the user".to_owned())),
        ProgramExit::Exited(_) | ProgramExit::Signalled(_) => None,
    }
}

/// Describes the end of a program that did not start its work, or returns `None` if it did.
pub fn describe_failed_start(finished: &FinishedProgram) -> Option<String> {
    let ProgramExit::Exited(status) = finished.end else {
        return None;
    };
    let has_output = !finished.stdout.text().trim().is_empty();
    is_failed_start(status, has_output, finished.wall.as_secs_f64())
        .then(|| describe_crash(finished))
}

/// Describes how a program ended, with its last lines of output.
pub fn describe_crash(finished: &FinishedProgram) -> String {
    let end = match finished.end {
        ProgramExit::Exited(code) => format!("ended with exit status {code}"),
        ProgramExit::Signalled(signal) => format!("ended by signal {signal}"),
        ProgramExit::TimedOut => "reached its limit of time".to_owned(),
        ProgramExit::Stopped => "was stopped".to_owned(),
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
    let last = lines[lines.len().saturating_sub(MAX_REASON_LINES)..].join("\n");
    if last.is_empty() {
        end
    } else {
        format!("{end}: {}", shorten_middle(&last, 1500))
    }
}
