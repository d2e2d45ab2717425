//! Finds out what can be run here: checks configuration, suites and environment without starting anything.

use std::env;
use std::path::Path;

use crate::agent::{Agent, Environment, Prices, SetupError, holds_model, program_of};
use crate::config::{self, Task};
use crate::domain::{Problem, visible};
use crate::run::verification::VerificationSettings;
use crate::run::{Approach, Evaluation, Means, Missing, Prerequisites};
use crate::suite::{self, Found, Suite, load_questions, suite_version};
use crate::verify::Overrides;
use crate::views::{
    ProblemLine, Runnable, RunnableAgent, RunnableApproach, RunnableSuite, RunnableTask, SuiteKind,
    SuiteLine,
};

use super::arms::{Jurors, Maker, needs_model};
use super::clock;
use super::failure::Failure;
use super::settings::Settings;

/// Approaches that need no configuration.
const BUILT_IN: [&str; 2] = ["oneshot", "ralph"];
/// Maximum number of names in a command. Nobody reads a longer command.
const MOST_NAMES: usize = 2;
/// Placeholder for the model if the command line must name one.
const ANY_MODEL: &str = "model";

/// Checks everything that can be run. `lines` are the suites of the store.
pub(super) fn look(settings: &Settings, lines: &[SuiteLine]) -> Result<Runnable, Failure> {
    let root = settings.root()?;
    let environment = settings.environment(root.clone());
    let maker = Maker {
        config: &settings.config,
        root: &root,
        environment: &environment,
        now: clock::now(),
    };
    let mut runnable = Runnable::default();
    match suite::discover(&root) {
        Ok(found) => {
            let prerequisites = Prerequisites::new(&environment, &root);
            runnable.suites = found
                .into_iter()
                .map(|found| suite(&maker, &prerequisites, found, lines))
                .collect();
        }
        Err(problem) => runnable.problems.push(within(&root, problem)),
    }
    runnable.problems.extend(
        settings_of_all(&maker)
            .into_iter()
            .map(|problem| within(&root, problem)),
    );
    runnable.tasks = settings
        .config
        .tasks
        .iter()
        .map(|one| task(settings, &root, one))
        .collect();
    runnable.agents = settings
        .config
        .agents
        .iter()
        .map(|one| agent(settings, &environment, one))
        .collect();
    let configured = settings
        .config
        .approaches
        .iter()
        .map(|approach| approach.id.as_str());
    let built_in = BUILT_IN.into_iter().filter(|id| {
        settings
            .config
            .approaches
            .iter()
            .all(|approach| approach.id != *id)
    });
    runnable.approaches = configured
        .chain(built_in)
        .map(|id| approach(&maker, id))
        .collect();
    runnable.commands = commands(&runnable);
    Ok(runnable)
}

fn suite(
    maker: &Maker<'_>,
    prerequisites: &Prerequisites<'_>,
    found: Found,
    lines: &[SuiteLine],
) -> RunnableSuite {
    let root = maker.root;
    let Found { name, path, suite } = found;
    let runs = lines
        .iter()
        .find(|line| line.suite == name)
        .map_or(0, |line| line.runs);
    let file = path
        .strip_prefix(root)
        .unwrap_or(&path)
        .display()
        .to_string();
    let mut entry = RunnableSuite {
        suite: name,
        file,
        kind: None,
        description: None,
        language: None,
        questions: None,
        runs,
        problems: Vec::new(),
    };
    match suite {
        Ok(suite) => {
            let (questions, mut problems) = contents(maker, &suite);
            let missing = prerequisites.missing(&suite, &suite.wrap).into_iter();
            problems.extend(missing.map(|Missing { what, remedy }| {
                ProblemLine::new(format!("its tests need it: {what}"), Some(remedy))
            }));
            entry.kind = Some(match (&suite.questions, &suite.requirements) {
                (Some(_), _) => SuiteKind::Questions,
                (None, Some(_)) => SuiteKind::Code,
                (None, None) => SuiteKind::Criteria,
            });
            (entry.description, entry.language) = (suite.description, suite.language);
            (entry.questions, entry.problems) = (questions, problems);
        }
        Err(problems) => {
            entry.problems = problems
                .into_iter()
                .map(|problem| within(root, problem))
                .collect()
        }
    }
    entry
}

/// Returns problems in the configured settings for evaluators and verification of all suites.
fn settings_of_all(maker: &Maker<'_>) -> Vec<Problem> {
    let mut problems = Evaluation::problems_of(maker.config);
    if let Some(node) = &maker.config.verification {
        Overrides::read(&maker.config.file, "verification", node, &mut problems);
    }
    problems
}

/// Counts a suite's questions, and returns problems of the files that the suite names.
fn contents(maker: &Maker<'_>, suite: &Suite) -> (Option<u64>, Vec<ProblemLine>) {
    let (root, environment) = (maker.root, maker.environment);
    let (questions, mut problems) = match &suite.questions {
        Some(path) => counted(root, path),
        None => (None, Vec::new()),
    };
    if problems.is_empty()
        && let Err(found) = suite_version(root, suite)
    {
        problems.extend(found.into_iter().map(|problem| within(root, problem)));
    }
    problems.extend(
        suite
            .wrap
            .first()
            .and_then(|program| missing(program, environment)),
    );
    // Answers to questions are graded, but neither evaluated nor verified.
    if suite.questions.is_none() {
        problems.extend(afterwards(maker, suite));
    }
    (questions, problems)
}

/// Returns the problems of the steps after a suite's tests, evaluators and verification, that would prevent a run.
fn afterwards(maker: &Maker<'_>, suite: &Suite) -> Vec<ProblemLine> {
    let settings = [
        Evaluation::plan(maker.config, suite).err(),
        VerificationSettings::of(suite, maker.config, maker.root).err(),
    ];
    let mut problems: Vec<ProblemLine> = settings
        .into_iter()
        .flatten()
        .flatten()
        .map(|problem| within(maker.root, problem))
        .collect();
    if problems.is_empty()
        && let Err(failure) = maker.evaluation(suite, &Jurors::default())
    {
        // All settings are valid, so the failure is about the judge.
        problems.push(ProblemLine::new(failure.message, failure.hint));
    }
    problems
}

fn counted(root: &Path, path: &Path) -> (Option<u64>, Vec<ProblemLine>) {
    match load_questions(path) {
        Ok(spec) => (Some(spec.questions.len() as u64), Vec::new()),
        Err(problems) => (
            None,
            problems
                .into_iter()
                .map(|problem| within(root, problem))
                .collect(),
        ),
    }
}

fn task(settings: &Settings, root: &Path, task: &Task) -> RunnableTask {
    let config = &settings.config;
    let (questions, mut problems) = counted(root, &root.join(&task.questions_file));
    let only = match config.agents.as_slice() {
        [only] => Some(&only.id),
        _ => None,
    };
    let agent = task
        .agent
        .as_ref()
        .or(config.default_agent.as_ref())
        .or(only)
        .cloned();
    if agent.is_none() {
        let hint = "name one with --agent, as the task's `agent`, or as `default_agent`";
        problems.push(ProblemLine::new("no agent is named", Some(hint.to_owned())));
    }
    RunnableTask {
        task: task.id.clone(),
        suite: task.suite.clone().unwrap_or_else(|| task.id.clone()),
        questions_file: task.questions_file.clone(),
        questions,
        agent,
        model: task.model.clone(),
        problems,
    }
}

fn agent(settings: &Settings, environment: &Environment, agent: &config::Agent) -> RunnableAgent {
    let needs_model = agent.model.is_none() && holds_model(&agent.command);
    let mut problems = agent_problems(agent, needs_model.then_some(ANY_MODEL), environment);
    problems.extend(program_of(agent).and_then(|program| missing(program, environment)));
    RunnableAgent {
        agent: agent.id.clone(),
        kind: agent.kind.name().to_owned(),
        model: agent.model.clone(),
        is_default: settings.config.default_agent.as_ref() == Some(&agent.id),
        needs_model,
        problems,
    }
}

/// Returns why an agent cannot be set up. Does not check whether its program exists.
fn agent_problems(
    agent: &config::Agent,
    model: Option<&str>,
    environment: &Environment,
) -> Vec<ProblemLine> {
    let prices = Prices::new(&[], clock::now().date_naive());
    match Agent::new(agent, model, environment, &prices) {
        Ok(_) => Vec::new(),
        Err(SetupError::Refused { message, hint, .. }) => {
            vec![ProblemLine::new(message, Some(hint))]
        }
        Err(SetupError::Recording(problems)) => problems
            .0
            .into_iter()
            .map(|problem| within(&environment.root, problem))
            .collect(),
    }
}

fn approach(maker: &Maker<'_>, id: &str) -> RunnableApproach {
    let configured = maker
        .config
        .approaches
        .iter()
        .find(|approach| approach.id == id);
    let mut entry = RunnableApproach {
        approach: id.to_owned(),
        name: configured.and_then(|approach| approach.name.clone()),
        kind: if BUILT_IN.contains(&id) {
            id
        } else {
            "command"
        }
        .to_owned(),
        is_built_in: configured.is_none(),
        agent: None,
        needs_model: false,
        problems: Vec::new(),
    };
    match maker.approach(id, None) {
        Ok(approach) => fill(&mut entry, &approach, maker.environment),
        Err(failure) => entry
            .problems
            .push(ProblemLine::new(failure.message, failure.hint)),
    }
    entry
}

fn fill(entry: &mut RunnableApproach, approach: &Approach, environment: &Environment) {
    entry.problems.extend(
        approach
            .wrap
            .first()
            .and_then(|program| missing(program, environment)),
    );
    match &approach.means {
        Means::Oneshot { agent, .. } => {
            (entry.agent, entry.needs_model) = (
                Some(agent.id.clone()),
                agent.model.is_none() && needs_model(approach),
            );
            entry.problems.extend(agent_problems(
                agent,
                entry.needs_model.then_some(ANY_MODEL),
                environment,
            ));
        }
        Means::Ralph { .. } => {}
        Means::Command { .. } => {
            "command".clone_into(&mut entry.kind);
            entry.needs_model = needs_model(approach);
        }
    }
    entry.problems.extend(
        approach
            .program()
            .and_then(|program| missing(program, environment)),
    );
}

/// Returns a problem if a program is missing. A program whose name is only known during a run is not checked.
pub(super) fn missing(program: &str, environment: &Environment) -> Option<ProblemLine> {
    let program = program.replace("{root}", &environment.root.display().to_string());
    if program.contains('{') {
        return None;
    }
    if program.contains(std::path::is_separator) {
        let path = environment.root.join(&program);
        return (!is_program(&path)).then(|| {
            ProblemLine::new(format!("there is no program `{}`", visible(&program)), None)
        });
    }
    let folders = environment
        .variables
        .get("PATH")
        .map(String::as_str)
        .unwrap_or_default();
    let suffixes = if cfg!(windows) {
        ["", ".exe", ".cmd", ".bat"].as_slice()
    } else {
        &[""]
    };
    let is_there = |folder: &Path| {
        suffixes
            .iter()
            .any(|suffix| is_program(&folder.join(format!("{program}{suffix}"))))
    };
    let is_found = env::split_paths(folders).any(|folder| is_there(&folder));
    let hint = || Some("install it, or add its folder to PATH".to_owned());
    (!is_found).then(|| {
        ProblemLine::new(
            format!("program `{}` not found on PATH", visible(&program)),
            hint(),
        )
    })
}

fn is_program(path: &Path) -> bool {
    let Ok(metadata) = path.metadata() else {
        return false;
    };
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        metadata.is_file() && metadata.permissions().mode() & 0o111 != 0
    }
    #[cfg(not(unix))]
    metadata.is_file()
}

/// Shortens the path of the problem's file to one relative to the root.
fn within(root: &Path, problem: Problem) -> ProblemLine {
    let shown = format!(
        "{}{}",
        visible(&root.display().to_string()),
        std::path::MAIN_SEPARATOR
    );
    let file = problem
        .file
        .strip_prefix(&shown)
        .unwrap_or(&problem.file)
        .to_owned();
    Problem { file, ..problem }.into()
}

/// Returns commands that work as printed. They only use things without problems.
fn commands(runnable: &Runnable) -> Vec<String> {
    let suite_of = |kind: SuiteKind| {
        let is_fit = |suite: &&RunnableSuite| {
            suite.kind == Some(kind) && suite.problems.is_empty() && is_plain(&suite.suite)
        };
        runnable
            .suites
            .iter()
            .find(is_fit)
            .map(|suite| suite.suite.as_str())
    };
    let agents = runnable
        .agents
        .iter()
        .filter(|agent| agent.problems.is_empty() && !agent.needs_model)
        .map(|agent| agent.agent.as_str());
    let approaches = runnable
        .approaches
        .iter()
        .filter(|approach| approach.problems.is_empty() && !approach.needs_model);
    let approaches = approaches.map(|approach| approach.approach.as_str());
    let named = |suite: Option<&str>, option: &str, names: Vec<&str>| {
        let suite = suite.filter(|_| !names.is_empty())?;
        Some(format!(
            "evalreport run {suite} --{option} {} --runs 3",
            names.join(",")
        ))
    };
    let some = |names: &mut dyn Iterator<Item = &'_ str>| -> Vec<String> {
        names
            .filter(|name| is_plain(name))
            .take(MOST_NAMES)
            .map(str::to_owned)
            .collect()
    };
    let (agents, approaches) = (
        some(&mut agents.into_iter()),
        some(&mut approaches.into_iter()),
    );
    let task = runnable
        .tasks
        .iter()
        .find(|task| task.problems.is_empty() && is_plain(&task.task));
    [
        named(
            suite_of(SuiteKind::Questions),
            "agent",
            agents.iter().map(String::as_str).collect(),
        ),
        named(
            suite_of(SuiteKind::Code),
            "approach",
            approaches.iter().map(String::as_str).collect(),
        ),
        task.map(|task| format!("evalreport run {}", task.task)),
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// Says whether a shell reads the name literally, without quotes.
fn is_plain(name: &str) -> bool {
    !name.starts_with('-')
        && name
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || b"._-".contains(&byte))
}
