//! Approaches: they turn a suite's requirements into files in a workspace.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::agent::{
    Agent, AgentEnvironment, AgentFailure, AgentFailureKind, AgentPrompt, Cost, FailureOutlook,
    MODEL_VARIABLE, OwnFolder, Prices, ReplyMeasurements, add_withheld_secrets, describe_crash,
    describe_failed_start, find_cost, find_count, find_usage, folders_of, folders_of_kind,
    has_model_placeholder, key_variables_of, program_of, writing_command, writing_rights,
    writing_variables,
};
use crate::config::{self, AgentKind, QuestionBudget};
use crate::domain::is_outage;
use crate::files;
use crate::process::{
    self, FinishedProgram, ProgramCommand, ProgramExit, ProgramLimits, StopSignal,
};

/// The file in the workspace that holds the requirements for programs.
pub const REQUIREMENTS_FILE: &str = "requirements.md";
/// The file in which the `ralph` program reports its usage.
const RALPH_METRICS: &str = ".ralph/run_metrics.json";
/// A larger file is not a script, but a binary.
const MAX_SCRIPT_BYTES: u64 = 4 << 20;
/// Maximum bytes of a program's output kept in the transcript.
const TRANSCRIPT_BYTES: usize = 256 << 10;

/// An approach of the configuration, or a built-in one.
#[derive(Clone, Debug)]
pub struct ExecutableApproach {
    pub id: String,
    pub means: ApproachKind,
    pub timeout: Option<Duration>,
    /// The sandbox it starts in, instead of the suite's. Empty if it has none of its own.
    pub wrap: Vec<String>,
    /// The folder whose files are added to the workspace before it starts.
    pub laid: Option<PathBuf>,
    /// Paths that it and its code may read.
    pub reads: Vec<PathBuf>,
    /// Paths outside its workspace that it may change.
    pub writes: Vec<PathBuf>,
    /// The secrets that it gets as environment variables.
    pub env: Vec<String>,
    /// Prices for tokens whose cost is not reported.
    pub prices: Prices,
}

/// How an approach works.
#[derive(Clone, Debug)]
#[expect(
    clippy::large_enum_variant,
    reason = "there is one for each arm of a plan"
)]
pub enum ApproachKind {
    /// Sends one prompt with the full requirements to an agent that writes files. The prompt starts with the text of the file `prompt`, or
    /// with ours. `args` are added to the agent's command.
    Oneshot {
        agent: config::AgentConfig,
        args: Vec<String>,
        prompt: Option<PathBuf>,
    },
    /// Runs the `ralph` program: `init`, then `run`.
    Ralph { program: Vec<String> },
    /// Runs any program. Its arguments may hold placeholders.
    Command { argv: Vec<String> },
}

impl ApproachKind {
    /// Returns the configured command. Empty if the agent's type provides a default.
    pub fn argv(&self) -> Vec<String> {
        match self {
            Self::Oneshot { agent, args, .. } => [&agent.command[..], args].concat(),
            Self::Ralph { program } => program.clone(),
            Self::Command { argv } => argv.clone(),
        }
    }
}

/// The input of one run of an approach.
#[derive(Clone, Copy)]
pub struct ApproachInput<'a> {
    pub suite: &'a str,
    /// The requirements file.
    pub requirements: &'a Path,
    pub model: Option<&'a str>,
    pub seed: u64,
    pub workspace: &'a Path,
    pub root: &'a Path,
    pub wall: Duration,
    /// The sandbox it starts in. Empty for none.
    pub wrap: &'a [String],
    pub environment: &'a AgentEnvironment,
}

impl ExecutableApproach {
    /// Runs the approach and returns the measurements. A failure says whose fault it was, and carries the measurements up to then.
    pub fn fill_workspace(
        &self,
        order: &ApproachInput<'_>,
        stop: &StopSignal,
    ) -> Result<ReplyMeasurements, AgentFailure> {
        let made = match &self.means {
            ApproachKind::Oneshot {
                agent,
                args,
                prompt,
            } => {
                let env = agent.env.iter().chain(&self.env).cloned().collect();
                let is_confined = order.environment.confinement.is_some();
                let command = writing_command(agent, args, is_confined);
                let mut environment = order.environment.clone();
                for (name, value) in writing_variables(agent.kind, is_confined) {
                    if !environment.variables.contains_key(*name) {
                        environment.given.insert(name.into(), Some(value.into()));
                    }
                }
                let order = ApproachInput {
                    environment: &environment,
                    ..*order
                };
                run_oneshot(
                    &config::AgentConfig {
                        command,
                        env,
                        ..agent.clone()
                    },
                    prompt.as_deref(),
                    &self.prices,
                    &order,
                    stop,
                )
            }
            ApproachKind::Ralph { program } => {
                run_ralph(program, &self.granted_secrets(), order, stop)
            }
            ApproachKind::Command { argv } => {
                let argv = argv
                    .iter()
                    .map(|argument| fill_placeholders(argument, order))
                    .collect();
                run_program(argv, &self.granted_secrets(), order, order.wall, stop)
            }
        };
        let secrets = order.environment.collect_secrets(None);
        let completed = |mut measured: ReplyMeasurements| {
            // If a program reports tokens but no cost, the cost is computed, as for an agent's answer.
            if measured.cost.usd.is_none() {
                measured.cost = self.prices.cost_of(&measured, order.model);
            }
            // A program may print its environment.
            measured
                .transcript
                .iter_mut()
                .for_each(|message| secrets.hide_in(message));
            measured
        };
        made.map(completed).map_err(|failure| AgentFailure {
            reason: secrets.hide(&failure.reason).into_owned(),
            measured: Box::new(completed(*failure.measured)),
            kind: failure.kind,
            outlook: failure.outlook,
        })
    }
}

/// Instructions that precede the requirements, if the approach has none of its own.
const DEFAULT_INSTRUCTIONS: &str = "Build what the following requirements ask for, as files in the current folder. Work on your own: nobody will \
                            answer a question. When you stop, what is in the folder is tested as it is.";

fn run_oneshot(
    agent: &config::AgentConfig,
    prompt: Option<&Path>,
    prices: &Prices,
    order: &ApproachInput<'_>,
    stop: &StopSignal,
) -> Result<ReplyMeasurements, AgentFailure> {
    let ours = |reason: String| {
        AgentFailure::new(
            AgentFailureKind::Infra,
            &reason,
            ReplyMeasurements::default(),
        )
    };
    let read = |what: &str, path: &Path| {
        files::read_to_string(path)
            .map_err(|error| ours(format!("the {what} could not be read: {error}")))
    };
    let requirements = read("requirements", order.requirements)?;
    let instructions = prompt.map_or(Ok(DEFAULT_INSTRUCTIONS.to_owned()), |prompt| {
        read("prompt of the approach", prompt)
    })?;
    let command = order
        .wrap
        .iter()
        .cloned()
        .chain(resolve_program(agent.command.clone(), order.root))
        .collect();
    // The suite's time limit bounds the agent's own.
    let agent = config::AgentConfig {
        command,
        timeout: Some(agent.timeout.map_or(order.wall, |own| own.min(order.wall))),
        ..agent.clone()
    };
    let agent = Agent::new(&agent, order.model, order.environment, prices)
        .map_err(|error| ours(error.to_string()))?;
    let text = format!("{}\n\n{requirements}", instructions.trim_end());
    let limits = QuestionBudget {
        max_seconds: Some(order.wall.as_secs_f64()),
        ..QuestionBudget::default()
    };
    let prompt = AgentPrompt {
        text: &text,
        system: None,
        item: None,
        seed: order.seed,
        limits,
        folder: Some(order.workspace),
    };
    let called = |measured: ReplyMeasurements| ReplyMeasurements {
        calls: Some(1),
        ..measured
    };
    match agent.answer_prompt(&prompt, stop) {
        Ok(reply) => Ok(called(reply.measured)),
        Err(failure) => Err(AgentFailure {
            measured: Box::new(called(*failure.measured)),
            ..failure
        }),
    }
}

fn run_ralph(
    name: &[String],
    granted: &[String],
    order: &ApproachInput<'_>,
    stop: &StopSignal,
) -> Result<ReplyMeasurements, AgentFailure> {
    let begin = Instant::now();
    let name = resolve_program(
        name.iter()
            .map(|argument| fill_placeholders(argument, order))
            .collect(),
        order.root,
    );
    fs::copy(order.requirements, order.workspace.join(REQUIREMENTS_FILE)).map_err(|error| {
        AgentFailure::new(
            AgentFailureKind::Infra,
            &format!("the requirements could not be copied: {error}"),
            ReplyMeasurements::default(),
        )
    })?;
    let call = |words: &[&str]| {
        let argv: Vec<String> = name
            .iter()
            .cloned()
            .chain(words.iter().map(|word| (*word).to_owned()))
            .collect();
        run_program(
            argv,
            granted,
            order,
            order.wall.saturating_sub(begin.elapsed()),
            stop,
        )
    };
    let with_metrics = |mut measured: ReplyMeasurements| {
        measured.duration = begin.elapsed();
        if let Some(metrics) = read_json(&order.workspace.join(RALPH_METRICS)) {
            add_reported(&mut measured, &metrics);
        }
        measured
    };
    let init = call(&["init", REQUIREMENTS_FILE])?;
    let model: Vec<&str> = order
        .model
        .into_iter()
        .flat_map(|model| ["-model", model])
        .collect();
    let with_init = |mut measured: ReplyMeasurements| {
        measured.transcript.splice(0..0, init.transcript.clone());
        with_metrics(measured)
    };
    match call(&[&["run"], model.as_slice()].concat()) {
        Ok(measured) => Ok(with_init(measured)),
        Err(failure) => Err(AgentFailure {
            measured: Box::new(with_init(*failure.measured)),
            ..failure
        }),
    }
}

fn run_program(
    argv: Vec<String>,
    granted: &[String],
    order: &ApproachInput<'_>,
    wall: Duration,
    stop: &StopSignal,
) -> Result<ReplyMeasurements, AgentFailure> {
    let set = |name: &str, value: Option<&str>| (OsString::from(name), value.map(OsString::from));
    let mut env = order.environment.variables_for_program(granted);
    env.extend([
        set("EVAL_SEED", Some(&order.seed.to_string())),
        set(MODEL_VARIABLE, order.model),
        set("EVAL_SUITE", Some(order.suite)),
    ]);
    let command = ProgramCommand {
        argv: order
            .wrap
            .iter()
            .cloned()
            .chain(resolve_program(argv, order.root))
            .map(OsString::from)
            .collect(),
        cwd: order.workspace.to_owned(),
        env,
        input: Vec::new(),
        limits: ProgramLimits {
            wall: Some(wall),
            ..ProgramLimits::default()
        },
        confinement: order.environment.confinement.clone(),
    };
    let finished = process::run_program(&command, stop).map_err(|error| {
        AgentFailure::new(
            AgentFailureKind::Infra,
            &error.to_string(),
            ReplyMeasurements::default(),
        )
    })?;
    let (measured, report) = measure_finished(&finished);
    let withheld: Vec<String> = order
        .environment
        .withheld_secrets(granted)
        .cloned()
        .collect();
    let fail = |kind, reason: &str, measured| {
        Err(AgentFailure::new(
            kind,
            &add_withheld_secrets(reason.to_owned(), &withheld),
            measured,
        ))
    };
    // A program that left files or a report has worked.
    if let Some(reason) = describe_failed_start(&finished).filter(|_| report.is_none()) {
        return fail(AgentFailureKind::Infra, &reason, measured)
            .map_err(|failure: AgentFailure| failure.with_outlook(FailureOutlook::Unstarted));
    }
    match finished.end {
        ProgramExit::Exited(0) => match report.as_ref().and_then(reported_error) {
            None => Ok(measured),
            Some(complaint) => {
                let kind = if is_outage(&complaint) {
                    AgentFailureKind::Infra
                } else {
                    AgentFailureKind::Error
                };
                fail(kind, &complaint, measured)
            }
        },
        ProgramExit::TimedOut => fail(
            AgentFailureKind::Limit,
            &format!(
                "stopped after {} s, its limit of time",
                order.wall.as_secs_f64().round()
            ),
            measured,
        ),
        ProgramExit::Stopped => fail(AgentFailureKind::Stopped, "stopped by the user", measured),
        ProgramExit::Exited(_) | ProgramExit::Signalled(_) => {
            let (stdout, stderr) = (finished.stdout.text(), finished.stderr.text());
            // Standard output is the program's work, which may discuss rate limits. Its errors are on standard error.
            let kind = if is_outage(&stderr) || (stderr.trim().is_empty() && is_outage(&stdout)) {
                AgentFailureKind::Infra
            } else {
                AgentFailureKind::Error
            };
            fail(kind, &describe_crash(&finished), measured)
        }
    }
}

impl ExecutableApproach {
    /// Returns the secrets that it gets. `ralph` starts Claude's program, so it also gets Claude's keys.
    fn granted_secrets(&self) -> Vec<String> {
        let of_ralph = matches!(self.means, ApproachKind::Ralph { .. })
            .then(|| key_variables_of(AgentKind::Claude))
            .unwrap_or_default();
        self.env.iter().cloned().chain(of_ralph).collect()
    }

    /// Returns whether its program gets the model of a run. Built-in agents and `ralph` always do. A command does if its arguments hold
    /// `{model}`, or if `EVAL_MODEL` appears in its arguments, its `env` or a file that it names.
    pub fn takes_model(&self, root: &Path) -> bool {
        let env = match &self.means {
            ApproachKind::Oneshot { agent, .. } if agent.kind != AgentKind::Command => return true,
            ApproachKind::Oneshot { agent, .. } => &agent.env,
            ApproachKind::Ralph { .. } => return true,
            ApproachKind::Command { .. } => &self.env,
        };
        mentions_model(&self.means.argv(), env, root)
    }

    /// Returns the folders in which the program of its agent keeps data between starts.
    pub fn own_folders(&self, environment: &AgentEnvironment) -> Vec<OwnFolder> {
        match &self.means {
            ApproachKind::Oneshot { agent, .. } if agent.kind != AgentKind::Command => {
                folders_of_kind(agent.kind, environment)
            }
            ApproachKind::Oneshot { agent, .. } => folders_of(&agent.command, environment),
            ApproachKind::Ralph { .. } => {
                let ralph = folders_of(&["ralph".to_owned()], environment);
                [folders_of_kind(AgentKind::Claude, environment), ralph].concat()
            }
            ApproachKind::Command { argv } => folders_of(argv, environment),
        }
    }

    /// Says what its agent may do without asking, or returns `None` if the options of its program are not known.
    pub fn agent_rights(&self, is_confined: bool) -> Option<String> {
        match &self.means {
            ApproachKind::Oneshot { agent, args, .. } => writing_rights(agent, args, is_confined),
            ApproachKind::Ralph { .. } | ApproachKind::Command { .. } => None,
        }
    }

    /// Returns the files that its command names. It may read them wherever they are.
    pub fn command_files(&self, root: &Path) -> Vec<PathBuf> {
        named_files(&self.means.argv(), root)
    }

    /// Returns the program that it starts.
    pub fn program_name(&self) -> Option<&str> {
        match &self.means {
            ApproachKind::Oneshot { agent, .. } => program_of(agent),
            ApproachKind::Ralph { program: argv } | ApproachKind::Command { argv } => {
                argv.first().map(String::as_str)
            }
        }
    }
}

/// Returns the words of a command that are paths of files.
fn named_files(argv: &[String], root: &Path) -> Vec<PathBuf> {
    let named = argv
        .iter()
        .map(|argument| root.join(argument.replace("{root}", &root.display().to_string())));
    named.filter(|path| path.is_file()).collect()
}

/// Returns whether a command or an agent's program seems to use the model.
pub fn mentions_model(argv: &[String], env: &[String], root: &Path) -> bool {
    let variable = |text: &[u8]| memchr::memmem::find(text, MODEL_VARIABLE.as_bytes()).is_some();
    let is_script = |path: &PathBuf| {
        fs::metadata(path).is_ok_and(|metadata| metadata.len() <= MAX_SCRIPT_BYTES)
    };
    has_model_placeholder(argv)
        || argv.iter().any(|argument| variable(argument.as_bytes()))
        || env.iter().any(|name| name == MODEL_VARIABLE)
        || named_files(argv, root)
            .iter()
            .filter(|path| is_script(path))
            .any(|path| files::read(path).is_ok_and(|text| variable(&text)))
}

/// Resolves a program's relative path from the project's folder, not from the workspace.
pub fn resolve_program(mut argv: Vec<String>, root: &Path) -> Vec<String> {
    if let Some(program) = argv.first_mut()
        && program.contains('/')
        && Path::new(program.as_str()).is_relative()
    {
        *program = root.join(program.as_str()).display().to_string();
    }
    argv
}

/// Fills in the placeholders. Placeholders inside the inserted text stay as they are.
fn fill_placeholders(argument: &str, order: &ApproachInput<'_>) -> String {
    let mut filled = String::new();
    let mut rest = argument;
    while let Some(start) = rest.find('{') {
        filled.push_str(&rest[..start]);
        rest = &rest[start..];
        let word = rest.find('}').map_or("", |end| &rest[1..end]);
        let value = match word {
            "model" => order.model.unwrap_or_default().to_owned(),
            "requirements" | "prompt_file" => order.requirements.display().to_string(),
            "output_dir" => order.workspace.display().to_string(),
            "suite" => order.suite.to_owned(),
            "root" => order.root.display().to_string(),
            // Braces around any other word are plain text.
            _ => {
                filled.push('{');
                rest = &rest[1..];
                continue;
            }
        };
        filled.push_str(&value);
        rest = &rest[word.len() + 2..];
    }
    filled + rest
}

/// Returns the measurements of an ended program, and its own usage report if it has one.
fn measure_finished(finished: &FinishedProgram) -> (ReplyMeasurements, Option<Value>) {
    let (stdout, stderr) = (finished.stdout.text(), finished.stderr.text());
    let line = |stream: &str, text: &str| {
        let end = text.ceil_char_boundary(text.len().saturating_sub(TRANSCRIPT_BYTES));
        (!text.trim().is_empty())
            .then(|| serde_json::json!({"role": stream, "content": &text[end..]}))
    };
    let mut measured = ReplyMeasurements {
        duration: finished.wall,
        transcript: [line("stdout", &stdout), line("stderr", &stderr)]
            .into_iter()
            .flatten()
            .collect(),
        ..ReplyMeasurements::default()
    };
    let object = |text: &str| {
        serde_json::from_str::<Value>(text.trim())
            .ok()
            .filter(Value::is_object)
    };
    let of_lines = || {
        stdout
            .lines()
            .rev()
            .filter(|line| line.trim_start().starts_with('{'))
            .find_map(object)
    };
    let report = object(&stdout).or_else(of_lines);
    if let Some(report) = &report {
        add_reported(&mut measured, report);
    }
    (measured, report)
}

/// Returns the error in a result of Claude's shape, whatever the exit code.
fn reported_error(report: &Value) -> Option<String> {
    let text = |key: &str| report.get(key).and_then(Value::as_str);
    let subtype = text("subtype").filter(|_| text("type") == Some("result"));
    let is_wrong = subtype.is_some_and(|subtype| subtype != "success")
        || report.get("is_error") == Some(&Value::Bool(true));
    is_wrong.then(|| {
        [
            subtype.filter(|subtype| *subtype != "success"),
            text("result"),
        ]
        .into_iter()
        .flatten()
        .collect::<Vec<_>>()
        .join(": ")
    })
}

fn add_reported(measured: &mut ReplyMeasurements, report: &Value) {
    measured.usage = find_usage(report);
    if let Some(usd) = find_cost(report) {
        measured.cost = Cost::from_report(usd);
    }
    let first = |keys: &[&str]| keys.iter().find_map(|key| find_count(report, key));
    measured.calls = first(&["total_claude_calls", "total_calls", "iterations"]);
    measured.steps = first(&["total_turns", "num_turns", "turns", "steps"]);
    if let Some(model) = report.get("model").and_then(Value::as_str) {
        measured.model = Some(model.to_owned());
    }
}

fn read_json(path: &Path) -> Option<Value> {
    const MAX_BYTES: u64 = 64 << 20;
    if fs::metadata(path).ok()?.len() > MAX_BYTES {
        return None;
    }
    serde_json::from_slice(&files::read(path).ok()?).ok()
}
