//! One run of code: a workspace, an approach that fills it, and the suite's tests against what it made.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use crate::agent::{Failure, FailureKind, Measured};
use crate::domain::{Run, RunStatus, visible};
use crate::evaluate::code;
use crate::process::{self, End};
use crate::results::{Batch, Journal, PlannedArm, PlannedRun, StoreError};

use super::approach::Order;
use super::record;
use super::server::{self, Server};
use super::shell::Shell;
use super::testing::{Bench, Family, Tested, own_tests_command};
use super::workspace::Workspace;
use super::{CodeWork, Context, Event};

/// For suites that name no time-out.
const DEFAULT_TIMEOUT: Duration = Duration::from_hours(2);
/// An approach that used its time up is tested all the same, for this long at most: what it left behind is its result.
const TESTING_AFTER_LIMIT: Duration = Duration::from_mins(10);
const SETUP_WORDS: usize = 400;

/// Does one run from the beginning. None where it was stopped.
pub fn run(batch: &Batch, run: &PlannedRun, arm: &PlannedArm, work: &CodeWork, context: &Context<'_>) -> Result<Option<Run>, StoreError> {
    let mut journal = context.store.journal(&run.id)?;
    // Files of a workspace that is gone cannot be gone on with.
    journal.clear()?;
    let step = |what: &str| (context.events)(&Event::Step { run, what });
    let begin = Instant::now();
    let timeout = [work.suite.timeout, work.approach.timeout].into_iter().flatten().min().unwrap_or(DEFAULT_TIMEOUT);
    let workspace = match Workspace::create(&context.scratch, work.start.as_deref()) {
        Ok(workspace) => workspace,
        Err(error) => {
            let record = failed(record::begun(batch, run, arm, context), RunStatus::Infra, &format!("no workspace: {error}"));
            return commit(&journal, record, context);
        }
    };

    step("approach");
    let made = make(run, work, &workspace, timeout, context);
    let mut record = record::begun(batch, run, arm, context);
    let measured = match made {
        Ok(measured) => measured,
        Err(Failure { kind: FailureKind::Stopped, .. }) => return Ok(None),
        Err(Failure { kind, reason, measured }) => {
            let status = match kind {
                FailureKind::Error => RunStatus::Failed,
                FailureKind::Limit => RunStatus::Limit,
                FailureKind::Infra | FailureKind::Stopped => RunStatus::Infra,
            };
            record = failed(record, status, &reason);
            *measured
        }
    };
    journal.append_transcript(None, &measured.transcript)?;
    take_measures(&mut record, &measured, &workspace, work.start.as_deref());

    if record.status != RunStatus::Infra {
        let left = timeout.saturating_sub(begin.elapsed());
        let patience = if record.status == RunStatus::Limit { TESTING_AFTER_LIMIT.min(timeout) } else { left };
        if !test(run, work, &workspace, Instant::now() + patience, &mut record, &mut journal, context)? {
            return Ok(None);
        }
    }
    if context.keep_output {
        step("keeping what was made");
        let files = code::files(workspace.folder());
        if let Some(folder) = context.store.keep_output(&run.id, workspace.folder(), &files)? {
            record.output_dir = Some(folder.display().to_string());
        }
    }
    commit(&journal, record, context)
}

fn commit(journal: &Journal, record: Run, context: &Context<'_>) -> Result<Option<Run>, StoreError> {
    journal.sync()?;
    context.store.save(&record)?;
    Ok(Some(record))
}

fn failed(mut record: Run, status: RunStatus, reason: &str) -> Run {
    record.status = status;
    record.error = Some(reason.to_owned());
    record
}

fn make(run: &PlannedRun, work: &CodeWork, workspace: &Workspace, wall: Duration, context: &Context<'_>) -> Result<Measured, Failure> {
    let Some(requirements) = &work.suite.requirements else {
        return Err(Failure::new(FailureKind::Infra, "the suite has no requirements", Measured::default()));
    };
    let order = Order {
        suite: &work.suite.name,
        requirements: &absolute(requirements),
        model: work.model.as_deref(),
        seed: run.seed,
        workspace: workspace.folder(),
        root: &context.root,
        wall,
        environment: context.environment,
    };
    work.approach.make(&order, context.stop)
}

fn absolute(path: &Path) -> PathBuf {
    std::path::absolute(path).unwrap_or_else(|_| path.to_owned())
}

fn take_measures(record: &mut Run, measured: &Measured, workspace: &Workspace, start: Option<&Path>) {
    record.duration_seconds = Some(measured.duration.as_secs_f64()).filter(|seconds| *seconds > 0.0);
    record.total_calls = measured.steps;
    record::set_usage(record, measured.usage);
    record.cost_usd = measured.cost.usd;
    record.cost_source = measured.cost.source;
    // What was there before and is as it was is nobody's work.
    let is_made = |file: &Path| start.is_none_or(|start| fs::read(start.join(file)).ok() != fs::read(workspace.folder().join(file)).ok());
    let code = code::measure(workspace.folder(), is_made);
    record.files_generated = Some(code.files);
    record.lines_generated = Some(code.lines);
}

/// Says whether the tests ran to their end. What goes wrong before them is noted, and the tests tell what it is worth.
fn test(
    run: &PlannedRun,
    work: &CodeWork,
    workspace: &Workspace,
    deadline: Instant,
    record: &mut Run,
    journal: &mut Journal,
    context: &Context<'_>,
) -> Result<bool, StoreError> {
    let step = |what: &str| (context.events)(&Event::Step { run, what });
    let suite = &work.suite;
    let mut troubles = Vec::new();
    let variables = &context.environment.variables;
    let mut shell = Shell::without_secrets(variables.keys(), &suite.wrap);
    shell.set("EVAL_WORKSPACE", workspace.folder());
    shell.set("EVAL_SUITE_DIR", absolute(&suite.folder));
    shell.set("EVAL_SUITE", &suite.name);
    let reports = workspace.beside("reports");
    let _ = fs::create_dir_all(&reports);
    let left = || deadline.saturating_duration_since(Instant::now());
    if suite.language.as_deref() == Some("python") {
        step("virtual environment");
        let venv = workspace.beside("venv");
        let python = if cfg!(windows) { "python" } else { "python3" };
        let command =
            shell.program([python, "-m", "venv", &venv.display().to_string()].map(str::to_owned).to_vec(), workspace.folder(), None);
        match process::run(&command, context.stop) {
            Ok(finished) if finished.end == End::Exited(0) => {
                shell.enter_venv(&venv, variables.get("PATH").map(String::as_str));
            }
            Ok(finished) if finished.end == End::Stopped => return Ok(false),
            Ok(finished) => troubles.push(format!("no virtual environment: {}", last_line(&finished.stderr.text()))),
            Err(error) => troubles.push(format!("no virtual environment: {error}")),
        }
    }
    for line in &suite.setup {
        step("setup");
        match process::run(&shell.line(line, workspace.folder(), Some(left())), context.stop) {
            Ok(finished) if finished.end == End::Exited(0) => {}
            Ok(finished) if finished.end == End::Stopped => return Ok(false),
            Ok(finished) => {
                let said = [finished.stderr.text(), finished.stdout.text()].map(|text| last_line(&text));
                let said = said.into_iter().find(|line| !line.is_empty()).unwrap_or_default();
                troubles.push(format!("setup `{}` failed: {said}", visible(line)));
            }
            Err(error) => troubles.push(format!("setup `{}` failed: {error}", visible(line))),
        }
    }
    let server = match &suite.server {
        None => None,
        Some(server) => {
            step("server");
            match Server::start(server, &shell, workspace, context.stop) {
                Ok(server) => Some(server),
                Err(_) if context.stop.is_stopped() => return Ok(false),
                Err(reason) => {
                    troubles.push(reason);
                    None
                }
            }
        }
    };
    // Tests of a server that is not there find nobody at home, which is their verdict.
    let port = server.as_ref().map(|server| server.port);
    if suite.server.is_some() {
        server::set_port(&mut shell, port.or_else(|| process::free_port().ok()).unwrap_or(9));
    }
    let bench = |folder| Bench {
        shell: &shell,
        folder,
        reports: &reports,
        roots: vec![workspace.folder().display().to_string()],
        deadline,
        addopts: variables.get("PYTEST_ADDOPTS").map(String::as_str),
        stop: context.stop,
    };
    let with_port = |commands: &[String]| -> Vec<String> {
        let port = port.map_or_else(|| "9".to_owned(), |port| port.to_string());
        commands.iter().map(|command| command.replace("{port}", &port)).collect()
    };
    let mut families = Vec::new();
    let mut is_whole = true;
    for (family, commands) in [(Family::Shared, &suite.tests.shared), (Family::Functional, &suite.tests.functional)] {
        if commands.is_empty() {
            continue;
        }
        step(family.evaluator());
        match bench(&context.root).test(family, &with_port(commands), &run.id) {
            Some(tested) => families.push((family, tested)),
            None => is_whole = false,
        }
    }
    if let Some(server) = server {
        server.stop();
    }
    let own: Vec<String> = if suite.tests.own.is_empty() {
        own_tests_command(suite.language.as_deref(), workspace.folder()).into_iter().collect()
    } else {
        suite.tests.own.clone()
    };
    if is_whole && !own.is_empty() {
        step(Family::Own.evaluator());
        match bench(workspace.folder()).test(Family::Own, &own, &run.id) {
            Some(tested) => families.push((Family::Own, tested)),
            None => is_whole = false,
        }
    }
    if !is_whole {
        return Ok(false);
    }
    record.own_tests_passed = Some(0);
    record.own_tests_total = Some(0);
    for (family, tested) in families {
        for (outcome, details) in &tested.items {
            journal.append(outcome, details)?;
        }
        count(record, family, &tested);
    }
    if !troubles.is_empty() {
        let troubles = troubles.join("; ");
        let text = record.error.take().map_or(troubles.clone(), |error| format!("{error}; {troubles}"));
        record.error = Some(text);
    }
    Ok(true)
}

fn count(record: &mut Run, family: Family, tested: &Tested) {
    let (passed, total) = (Some(tested.passed), Some(tested.total));
    match family {
        Family::Shared => (record.shared_tests_passed, record.shared_tests_total) = (passed, total),
        Family::Own => (record.own_tests_passed, record.own_tests_total) = (passed, total),
        // Each is an item of its own; there is no figure of them in the header.
        Family::Functional => {}
    }
}

fn last_line(text: &str) -> String {
    let line = text.lines().rev().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default();
    visible(line).chars().take(SETUP_WORDS).collect()
}
