//! Finds out what can be run here: checks configuration, suites and environment without starting anything.

use std::env;
use std::path::Path;

use crate::agent::{
    Agent, AgentEnvironment, Prices, SetupError, has_model_placeholder, program_of,
};
use crate::config::{self, ConfiguredTask};
use crate::domain::{Problem, escape_invisible};
use crate::run::verification::VerificationSettings;
use crate::run::{
    ApproachKind, ExecutableApproach, MissingPrerequisite, Prerequisites, SuiteEvaluation,
};
use crate::suite::{self, FoundSuite, Suite, load_questions, suite_version};
use crate::verify::Overrides;
use crate::views::{
    ProblemLine, Runnable, RunnableAgent, RunnableApproach, RunnableSuite, RunnableTask, SuiteKind,
    SuiteLine,
};

use super::arms::{ArmFactory, JudgeOptions, needs_model};
use super::clock;
use super::failure::CommandFailure;
use super::settings::Settings;

/// Approaches that need no configuration.
const BUILT_IN: [&str; 2] = ["oneshot", "ralph"];
/// Maximum number of names in a command. Nobody reads a longer command.
const MAX_NAMES: usize = 2;
/// Placeholder for the model if the command line must name one.
const ANY_MODEL: &str = "model";

/// Checks everything that can be run. `lines` are the suites of the store.
pub(super) fn find_runnable(
    settings: &Settings,
    lines: &[SuiteLine],
) -> Result<Runnable, CommandFailure> {
    let root = settings.project_root()?;
    let environment = settings.agent_environment(root.clone());
    let maker = ArmFactory {
        config: &settings.config,
        root: &root,
        environment: &environment,
        now: clock::now(),
    };
    let mut runnable = Runnable::default();
    match suite::discover_suites(&root) {
        Ok(found) => {
            let prerequisites = Prerequisites::new(&environment, &root);
            runnable.suites = found
                .into_iter()
                .map(|found| check_suite(&maker, &prerequisites, found, lines))
                .collect();
        }
        Err(problem) => runnable.problems.push(relative_problem(&root, problem)),
    }
    runnable.problems.extend(
        check_settings(&maker)
            .into_iter()
            .map(|problem| relative_problem(&root, problem)),
    );
    runnable.tasks = settings
        .config
        .tasks
        .iter()
        .map(|one| check_task(settings, &root, one))
        .collect();
    runnable.agents = settings
        .config
        .agents
        .iter()
        .map(|one| check_agent(settings, &environment, one))
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
        .map(|id| check_approach(&maker, id))
        .collect();
    runnable.commands = example_commands(&runnable);
    Ok(runnable)
}

fn check_suite(
    maker: &ArmFactory<'_>,
    prerequisites: &Prerequisites<'_>,
    found: FoundSuite,
    lines: &[SuiteLine],
) -> RunnableSuite {
    let root = maker.root;
    let FoundSuite { name, path, suite } = found;
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
            let (questions, mut problems) = check_contents(maker, &suite);
            let missing = prerequisites.list_missing(&suite, &suite.wrap).into_iter();
            problems.extend(missing.map(|MissingPrerequisite { what, remedy }| {
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
                .map(|problem| relative_problem(root, problem))
                .collect();
        }
    }
    entry
}

/// Returns problems in the configured settings for evaluators and verification of all suites.
fn check_settings(maker: &ArmFactory<'_>) -> Vec<Problem> {
    let mut problems = SuiteEvaluation::settings_problems(maker.config);
    if let Some(node) = &maker.config.verification {
        Overrides::from_node(&maker.config.file, "verification", node, &mut problems);
    }
    problems
}

/// Counts a suite's questions, and returns problems of the files that the suite names.
fn check_contents(maker: &ArmFactory<'_>, suite: &Suite) -> (Option<u64>, Vec<ProblemLine>) {
    let (root, environment) = (maker.root, maker.environment);
    let (questions, mut problems) = match &suite.questions {
        Some(path) => count_questions(root, path),
        None => (None, Vec::new()),
    };
    if problems.is_empty()
        && let Err(found) = suite_version(root, suite)
    {
        problems.extend(
            found
                .into_iter()
                .map(|problem| relative_problem(root, problem)),
        );
    }
    problems.extend(
        suite
            .wrap
            .first()
            .and_then(|program| missing_program(program, environment)),
    );
    // Answers to questions are graded, but neither evaluated nor verified.
    if suite.questions.is_none() {
        problems.extend(check_later_steps(maker, suite));
    }
    (questions, problems)
}

/// Returns the problems of the steps after a suite's tests, evaluators and verification, that would prevent a run.
fn check_later_steps(maker: &ArmFactory<'_>, suite: &Suite) -> Vec<ProblemLine> {
    let settings = [
        SuiteEvaluation::select_evaluators(maker.config, suite).err(),
        VerificationSettings::from_suite(suite, maker.config, maker.root).err(),
    ];
    let mut problems: Vec<ProblemLine> = settings
        .into_iter()
        .flatten()
        .flatten()
        .map(|problem| relative_problem(maker.root, problem))
        .collect();
    if problems.is_empty()
        && let Err(failure) = maker.plan_evaluation(suite, &JudgeOptions::default())
    {
        // All settings are valid, so the failure is about the judge.
        problems.push(ProblemLine::new(failure.message, failure.hint));
    }
    problems
}

fn count_questions(root: &Path, path: &Path) -> (Option<u64>, Vec<ProblemLine>) {
    match load_questions(path) {
        Ok(spec) => (Some(spec.questions.len() as u64), Vec::new()),
        Err(problems) => (
            None,
            problems
                .into_iter()
                .map(|problem| relative_problem(root, problem))
                .collect(),
        ),
    }
}

fn check_task(settings: &Settings, root: &Path, task: &ConfiguredTask) -> RunnableTask {
    let config = &settings.config;
    let (questions, mut problems) = count_questions(root, &root.join(&task.questions_file));
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

fn check_agent(
    settings: &Settings,
    environment: &AgentEnvironment,
    agent: &config::AgentConfig,
) -> RunnableAgent {
    let needs_model = agent.model.is_none() && has_model_placeholder(&agent.command);
    let mut problems = agent_problems(agent, needs_model.then_some(ANY_MODEL), environment);
    problems.extend(program_of(agent).and_then(|program| missing_program(program, environment)));
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
    agent: &config::AgentConfig,
    model: Option<&str>,
    environment: &AgentEnvironment,
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
            .map(|problem| relative_problem(&environment.root, problem))
            .collect(),
    }
}

fn check_approach(maker: &ArmFactory<'_>, id: &str) -> RunnableApproach {
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
    match maker.make_approach(id, None) {
        Ok(approach) => fill_approach(&mut entry, &approach, maker.environment),
        Err(failure) => entry
            .problems
            .push(ProblemLine::new(failure.message, failure.hint)),
    }
    entry
}

fn fill_approach(
    entry: &mut RunnableApproach,
    approach: &ExecutableApproach,
    environment: &AgentEnvironment,
) {
    entry.problems.extend(
        approach
            .wrap
            .first()
            .and_then(|program| missing_program(program, environment)),
    );
    match &approach.means {
        ApproachKind::Oneshot { agent, .. } => {
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
        ApproachKind::Ralph { .. } => {}
        ApproachKind::Command { .. } => {
            "command".clone_into(&mut entry.kind);
            entry.needs_model = needs_model(approach);
        }
    }
    entry.problems.extend(
        approach
            .program_name()
            .and_then(|program| missing_program(program, environment)),
    );
}

/// Returns a problem if a program is missing. A program whose name is only known during a run is not checked.
pub(super) fn missing_program(
    program: &str,
    environment: &AgentEnvironment,
) -> Option<ProblemLine> {
    let program = program.replace("{root}", &environment.root.display().to_string());
    if program.contains('{') {
        return None;
    }
    if program.contains(std::path::is_separator) {
        let path = environment.root.join(&program);
        return (!is_program(&path)).then(|| {
            ProblemLine::new(
                format!("there is no program `{}`", escape_invisible(&program)),
                None,
            )
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
            format!("program `{}` not found on PATH", escape_invisible(&program)),
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
fn relative_problem(root: &Path, problem: Problem) -> ProblemLine {
    let shown = format!(
        "{}{}",
        escape_invisible(&root.display().to_string()),
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
fn example_commands(runnable: &Runnable) -> Vec<String> {
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
            .take(MAX_NAMES)
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
