//! One run of code: an approach fills a workspace, and the suite's tests check the result.

use std::cell::Cell;
use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime};

use crate::agent::{AgentFailure, AgentFailureKind, FailureOutlook, ReplyMeasurements};
use crate::domain::{Run, RunStatus, date_of, escape_invisible};
use crate::evaluate::code::CodeFileList;
use crate::evaluate::{CommandPurpose, Effort, Workpiece, code};
use crate::files;
use crate::results::{Batch, PlannedArm, PlannedRun, RerunScope, RunJournal, StoreError};
use crate::suite::{self, RunPhase};

use super::approach::{ApproachInput, REQUIREMENTS_FILE};
use super::evaluation;
use super::examine::{ExaminationHalt, ExaminationResult, PhaseShell, WorkspaceExamination};
use super::isolation::{ExtraGrants, ProgramKind};
use super::kept::KeptOutput;
use super::overlay::Overlay;
use super::record;
use super::server::{self, ServerNetwork};
use super::suite_snapshot::{ProtectedState, SuiteSnapshots};
use super::testing::{FamilyResult, TestFamily};
use super::verification::verify_workspace;
use super::workspace::{self, RunWorkspace};
use super::{CodeWork, PlanContext, RunEnd, RunEvent, tampering};

/// Time limit of all evaluator commands together. It does not count against the approach.
const EVALUATION_LIMIT: Duration = Duration::from_mins(30);
/// Number of files named that were not kept.
const MAX_NAMED: usize = 3;
/// Minimum testing time if the approach reached its limit: the files that it left are still its result.
const TESTING_AFTER_LIMIT: Duration = Duration::from_mins(10);

/// Does one run from start to end.
pub fn run_code(
    batch: &Batch,
    run: &PlannedRun,
    arm: &PlannedArm,
    work: &CodeWork,
    suites: &SuiteSnapshots,
    context: &PlanContext<'_>,
) -> Result<RunEnd, StoreError> {
    let mut journal = context.store.open_journal(&run.id)?;
    // The old workspace is gone, so an interrupted run starts anew.
    journal.clear()?;
    let step = |what: &str| (context.events)(&RunEvent::Step { run, what });
    let timeout = work.suite.timeout.unwrap_or(suite::DEFAULT_TIMEOUT);
    let again = batch
        .replacement_for(&run.id)
        .filter(|again| again.how == RerunScope::Tests);
    let kept = again
        .map(|again| KeptOutput::from_run(&again.of, context))
        .transpose()?;
    let prepared = suites.get_or_copy(work, arm, context).and_then(|copy| {
        let own = copy.work_on_copy(work);
        let start = kept
            .as_ref()
            .map(|kept| kept.folder.as_path())
            .or(own.start.as_deref());
        let workspace = RunWorkspace::create(&context.scratch, start)
            .map_err(|error| format!("no workspace: {error}"))?;
        Ok((copy, own, workspace))
    });
    let (copy, own, workspace) = match prepared {
        Ok(prepared) => prepared,
        Err(reason) => {
            let record = mark_failed(
                record::new_record(batch, run, arm, context),
                RunStatus::Infra,
                &reason,
            );
            return commit_run(&journal, record, context);
        }
    };
    let watched = ProtectedState::new(&run.id, work, &copy, context);
    let work = &own;

    step(if kept.is_some() {
        "kept output"
    } else {
        "approach"
    });
    let wall = work
        .approach
        .timeout
        .map_or(timeout, |own| own.min(timeout));
    let added = work.approach.laid.as_deref().filter(|_| kept.is_none());
    let laid = added
        .map(|from| Overlay::copy_into(from, &workspace))
        .transpose();
    let laid = laid.map_err(|error| {
        format!("the files of the approach could not be laid into its workspace: {error}")
    });
    let made = match (&laid, &kept) {
        (_, Some(kept)) => kept.approach_result(),
        (Ok(_), None) => make_workspace(run, work, &workspace, wall, context),
        (Err(reason), None) => Err(AgentFailure::new(
            AgentFailureKind::Infra,
            reason,
            ReplyMeasurements::default(),
        )),
    };
    // Otherwise a folder that its owner may not enter would be missing in what is kept, counted and tested.
    files::make_accessible(workspace.folder());
    if let Ok(Some(addition)) = &laid {
        addition.remove_files();
    }
    let mut record = record::new_record(batch, run, arm, context);
    if let Some(resources) = &mut record.resources {
        resources.tools = context.tools.for_suite(&work.suite);
        resources.time_limit = Some(wall.as_secs_f64());
        resources.rights = work.approach.agent_rights(
            context.isolation.is_enforced() && work.agent_wrap(&context.root).is_empty(),
        );
    }
    record.isolation = Some(
        context
            .isolation
            .describe_limits(!work.agent_wrap(&context.root).is_empty()),
    );
    let mut refusal = None;
    let measured = match made {
        Ok(measured) => measured,
        Err(AgentFailure {
            kind: AgentFailureKind::Stopped,
            ..
        }) => return Ok(RunEnd::Stopped),
        Err(AgentFailure {
            kind,
            reason,
            measured,
            outlook,
        }) => {
            // What left files has worked, however it ended.
            let has_worked = outlook == FailureOutlook::Unstarted && {
                let listed = code::list_files(workspace.folder());
                !made_files(
                    &listed,
                    workspace.folder(),
                    work.start.as_deref(),
                    work.suite.requirements.as_deref(),
                )
                .is_empty()
            };
            refusal = (outlook != FailureOutlook::Open && !has_worked).then(|| reason.clone());
            let status = match kind {
                AgentFailureKind::Infra if has_worked => RunStatus::Failed,
                AgentFailureKind::Error => RunStatus::Failed,
                AgentFailureKind::Limit => RunStatus::Limit,
                AgentFailureKind::Infra | AgentFailureKind::Stopped => RunStatus::Infra,
            };
            record = mark_failed(record, status, &reason);
            *measured
        }
    };
    let touched = watched.changes_by_approach();
    stop_if_limited(&watched, context);
    if !touched.is_empty() {
        return commit_tampered(journal, record, &measured, &touched, context);
    }
    if let Some(reason) = refusal {
        return Ok(RunEnd::Refused(reason));
    }
    journal.append_transcript(None, &measured.transcript)?;
    let listed = code::list_files(workspace.folder());
    let made = made_files(
        &listed,
        workspace.folder(),
        work.start.as_deref(),
        work.suite.requirements.as_deref(),
    );
    add_measurements(&mut record, &measured, &workspace, &listed, &made);
    let reported = measured.model.as_deref().into_iter().collect();
    record::set_model(&mut record, work.model.as_deref(), &reported);
    if context.keep_output {
        // Must happen before tests and servers add files of their own.
        step("keeping what was made");
        let kept = context
            .store
            .keep_output(&run.id, workspace.folder(), &listed.files)?;
        record.output_dir = kept.folder.map(|folder| {
            folder
                .strip_prefix(&context.root)
                .unwrap_or(&folder)
                .display()
                .to_string()
        });
        record::append_error(&mut record, &describe_excluded(&kept.left_out));
    }

    if record.status != RunStatus::Infra {
        // Only the approach's own time counts. Creating workspaces, asking for versions and copying results are our work.
        let left = timeout.saturating_sub(measured.duration);
        let place = server_network(work, context);
        // Waiting for other runs is not this run's time.
        let waiting = |port: u16| step(&format!("waiting for port {port}"));
        let Some(_turn) =
            server::await_port_turn(work.suite.server.as_ref(), &place, context.stop, waiting)
        else {
            return Ok(RunEnd::Stopped);
        };
        let patience = if record.status == RunStatus::Limit {
            left.max(TESTING_AFTER_LIMIT.min(timeout))
        } else {
            left
        };
        let deadline = Cell::new(Instant::now() + patience);
        let examination = WorkspaceExamination {
            run: &run.id,
            work,
            workspace: &workspace,
            copy: &copy,
            deadline,
            place,
            context,
            step: &step,
        };
        match examination.run_phases() {
            Ok(examined) => {
                let forged: Vec<String> = examined
                    .families
                    .iter()
                    .flat_map(|(_, tested)| tested.forged.iter().cloned())
                    .collect();
                if !forged.is_empty() {
                    return commit_tampered(journal, record, &measured, &forged, context);
                }
                let owed: Vec<String> = examined
                    .families
                    .iter()
                    .flat_map(|(_, tested)| tested.owed.iter().cloned())
                    .collect();
                if !owed.is_empty() {
                    // A partial test result would look like a complete one.
                    record = mark_not_tested(record, &owed.join("; "));
                    return commit_run(&journal, record, context);
                }
                let shell = examined.shell.clone();
                add_test_results(&mut record, examined, timeout, &mut journal)?;
                let examination = WorkspaceExamination {
                    deadline: Cell::new(Instant::now() + EVALUATION_LIMIT),
                    ..examination
                };
                if run_evaluators(&examination, &shell, &made, &measured, &mut journal, run)?
                    .is_none()
                {
                    return Ok(RunEnd::Stopped);
                }
                if let Some(settings) = &work.verification {
                    let Some(verified) = verify_workspace(settings, &examination, &shell) else {
                        return Ok(RunEnd::Stopped);
                    };
                    record.verification = Some(verified);
                }
            }
            Err(ExaminationHalt::Stopped) => return Ok(RunEnd::Stopped),
            Err(ExaminationHalt::Impossible(reason)) => {
                record = mark_not_tested(record, &reason);
            }
        }
    }
    let touched = watched.list_changes();
    stop_if_limited(&watched, context);
    if !touched.is_empty() {
        return commit_tampered(journal, record, &measured, &touched, context);
    }
    record.timestamp = Some(date_of(SystemTime::now()));
    commit_run(&journal, record, context)
}

/// Ends the batch if a run left this process too little to go on with: later runs would fail through no fault of their own. Resuming the batch
/// starts a new process.
fn stop_if_limited(watched: &ProtectedState<'_>, context: &PlanContext<'_>) {
    if watched.is_limited() {
        context.stop.stop();
    }
}

/// Returns a private network for the run if it has a server and neither server nor tests may reach beyond this machine. Otherwise returns
/// the shared network.
fn server_network(work: &CodeWork, context: &PlanContext<'_>) -> ServerNetwork {
    let suite = &work.suite;
    let is_apart = suite.server.is_some()
        && !suite.grants_network(RunPhase::Server)
        && !suite.grants_network(RunPhase::Tests)
        && work.tests_wrap(&context.root).is_empty();
    let own = if is_apart {
        context.isolation.create_network()
    } else {
        None
    };
    own.map_or(ServerNetwork::Shared, ServerNetwork::Own)
}

/// Records that the result could not be tested, through no fault of the approach.
fn mark_not_tested(mut record: Run, reason: &str) -> Run {
    if record.status == RunStatus::Completed {
        record.status = RunStatus::Infra;
    }
    record::append_error(&mut record, &format!("not tested: {reason}"));
    record
}

/// Commits a run that touched foreign files. Drops its test results, so that nobody takes it for a valid run.
fn commit_tampered(
    journal: RunJournal,
    record: Run,
    measured: &ReplyMeasurements,
    touched: &[String],
    context: &PlanContext<'_>,
) -> Result<RunEnd, StoreError> {
    let id = record.id.clone();
    // The run may have deleted the journals, too.
    drop(journal);
    let mut journal = context.store.open_journal(&id)?;
    journal.clear()?;
    journal.append_transcript(None, &measured.transcript)?;
    let untested = Run {
        shared_tests_passed: None,
        shared_tests_total: None,
        own_tests_passed: None,
        own_tests_total: None,
        ..record
    };
    let mut record = mark_failed(
        Run {
            verification: None,
            ..untested
        },
        RunStatus::Infra,
        &tampering::tampering_reason(touched),
    );
    record.timestamp = Some(date_of(SystemTime::now()));
    commit_run(&journal, record, context)
}

fn commit_run(
    journal: &RunJournal,
    record: Run,
    context: &PlanContext<'_>,
) -> Result<RunEnd, StoreError> {
    journal.sync()?;
    context.store.commit_run(&record, journal)?;
    Ok(RunEnd::Whole(Box::new(record)))
}

fn mark_failed(mut record: Run, status: RunStatus, reason: &str) -> Run {
    record.status = status;
    record.error = Some(reason.to_owned());
    record
}

fn make_workspace(
    run: &PlannedRun,
    work: &CodeWork,
    workspace: &RunWorkspace,
    wall: Duration,
    context: &PlanContext<'_>,
) -> Result<ReplyMeasurements, AgentFailure> {
    let Some(requirements) = &work.suite.requirements else {
        return Err(AgentFailure::new(
            AgentFailureKind::Infra,
            "the suite has no requirements",
            ReplyMeasurements::default(),
        ));
    };
    let wrap = work.agent_wrap(&context.root);
    let mut environment = context.environment.clone();
    let infra = |what: &str, error: &io::Error| {
        AgentFailure::new(
            AgentFailureKind::Infra,
            &format!("{what}: {error}"),
            ReplyMeasurements::default(),
        )
    };
    let phase = workspace
        .begin_phase()
        .map_err(|error| infra("no temporary folder", &error))?;
    let variables =
        context
            .isolation
            .phase_variables(ProgramKind::Agent, &phase, context.environment);
    environment.given = variables
        .into_iter()
        .map(|(name, value)| (name.into(), value))
        .collect();
    let mut reads = work.approach.command_files(&context.root);
    reads.push(workspace::absolute_path(requirements));
    let ports: &[u16] = &[];
    let ports = (!work.suite.grants_network(RunPhase::Approach)).then_some(ports);
    let folders = work.approach.own_folders(context.environment);
    let writes = [&work.approach.writes[..], &work.suite.writes].concat();
    let home = context.isolation.create_home(
        &phase,
        &wrap,
        &[&work.approach.reads[..], &writes].concat(),
        &folders,
    );
    let home = home.map_err(|error| infra("no home folder", &error))?;
    if let Some(home) = &home {
        environment.given.extend(
            home.environment_changes()
                .into_iter()
                .map(|(name, value)| (name.into(), value)),
        );
    }
    reads.extend(
        work.approach
            .program_name()
            .filter(|name| name.contains('/'))
            .into_iter()
            .flat_map(|program| {
                context
                    .isolation
                    .installation_around(&context.root.join(program))
            }),
    );
    reads.extend(work.approach.reads.iter().cloned());
    environment.confinement = context
        .isolation
        .confine_program(
            ProgramKind::Agent,
            workspace,
            &phase,
            &ExtraGrants {
                wrap: &wrap,
                reads: &reads,
                writes: &writes,
                ports,
                home: home.as_ref(),
                ..ExtraGrants::default()
            },
        )
        .map_err(|error| infra("no isolation", &error))?;
    let order = ApproachInput {
        suite: &work.suite.name,
        requirements: &workspace::absolute_path(requirements),
        model: work.model.as_deref(),
        seed: run.seed,
        workspace: workspace.folder(),
        root: &context.root,
        wall,
        wrap: &wrap,
        environment: &environment,
    };
    let made = work.approach.fill_workspace(&order, context.stop);
    if let Some(home) = &home {
        home.carry_back_tokens();
    }
    made
}

/// Runs every evaluator. Returns `None` if the user stopped it.
fn run_evaluators(
    examination: &WorkspaceExamination<'_>,
    shell: &PhaseShell,
    made: &BTreeSet<PathBuf>,
    measured: &ReplyMeasurements,
    journal: &mut RunJournal,
    run: &PlannedRun,
) -> Result<Option<()>, StoreError> {
    let (work, workspace) = (examination.work, examination.workspace);
    let files: Vec<PathBuf> = made.iter().cloned().collect();
    let effort = Effort {
        usage: measured.usage,
        cost_usd: measured.cost.usd,
        turns: measured.steps,
        duration: Some(measured.duration).filter(|duration| !duration.is_zero()),
        tools: measured.tools.clone(),
    };
    let folder = workspace.folder();
    let piece = Workpiece {
        suite: &work.suite,
        folder: Some(folder),
        files: &files,
        transcript: &measured.transcript,
        effort,
    };
    let desk = || Ok(shell.new_command_setup());
    let bench = examination.test_bench(
        &desk,
        &shell.shell,
        folder,
        None,
        examination.deadline.get(),
    );
    let runner = |line: &str, purpose: CommandPurpose| match purpose {
        CommandPurpose::Tests => bench.run_test_command("evaluator", line, true),
        CommandPurpose::Build | CommandPurpose::Coverage | CommandPurpose::Analysis => {
            bench.run_plain_command(line)
        }
    };
    work.evaluation.run_evaluators(
        &piece,
        &runner,
        examination.context.stop,
        examination.step,
        |evaluated| {
            // A missing judge was already reported before the first run.
            if let (true, Some(_), Err(reason)) = (
                evaluated.evaluator.is_judged(),
                &work.evaluation.jury,
                &evaluated.score,
            ) {
                let what = format!(
                    "the judge did not decide about {}: {reason}",
                    evaluated.evaluator.name()
                );
                (examination.context.events)(&RunEvent::Warning { run, what: &what });
            }
            let (items, score) = evaluation::to_records(examination.run, evaluated, 0);
            for (outcome, details) in &items {
                journal.append_outcome(outcome, details)?;
            }
            journal.append_score(&score)
        },
    )
}

/// Lists the files that the approach made. Leaves out unchanged files of the starting workspace, and a copy of the requirements.
pub(super) fn made_files(
    listed: &CodeFileList,
    folder: &Path,
    start: Option<&Path>,
    requirements: Option<&Path>,
) -> BTreeSet<PathBuf> {
    let is_made = |file: &Path| {
        let made = folder.join(file);
        let is_given = start.is_some_and(|start| files::are_equal(&made, start.join(file)));
        let is_order = file == Path::new(REQUIREMENTS_FILE)
            && requirements.is_some_and(|order| files::are_equal(&made, order));
        !is_given && !is_order
    };
    listed
        .files
        .iter()
        .filter(|file| is_made(file))
        .cloned()
        .collect()
}

/// Says which files were not kept.
fn describe_excluded(left_out: &[(PathBuf, String)]) -> String {
    let named = left_out.iter().take(MAX_NAMED).map(|(file, reason)| {
        format!(
            "{} ({reason})",
            escape_invisible(&file.display().to_string())
        )
    });
    let named = named.collect::<Vec<_>>().join(", ");
    match left_out.len().saturating_sub(MAX_NAMED) {
        0 if named.is_empty() => String::new(),
        0 => format!("not kept: {named}"),
        more => format!("not kept: {named}, and {more} more"),
    }
}

fn add_measurements(
    record: &mut Run,
    measured: &ReplyMeasurements,
    workspace: &RunWorkspace,
    listed: &CodeFileList,
    made: &BTreeSet<PathBuf>,
) {
    record.duration_seconds =
        Some(measured.duration.as_secs_f64()).filter(|seconds| *seconds > 0.0);
    record.total_calls = measured.calls;
    record.turns = measured.steps;
    record::add_reported(record, measured.served.clone(), measured.repeated);
    record::set_usage(record, measured.usage);
    record.cost_usd = measured.cost.usd;
    record.cost_source = measured.cost.source;
    let code = code::measure_code(workspace.folder(), |file| made.contains(file));
    if code.is_partial || listed.is_partial {
        // The counts would be too low.
        record::append_error(
            record,
            "not all that was made could be listed: files and lines are not known",
        );
    } else {
        (record.files_generated, record.lines_generated) = (Some(code.files), Some(code.lines));
    }
}

/// Writes the results of the tests into the journal and the record.
fn add_test_results(
    record: &mut Run,
    examined: ExaminationResult,
    timeout: Duration,
    journal: &mut RunJournal,
) -> Result<(), StoreError> {
    if examined.knows_own_tests {
        (record.own_tests_passed, record.own_tests_total) = (Some(0), Some(0));
    }
    for (family, tested) in examined.families {
        for (outcome, details) in &tested.items {
            journal.append_outcome(outcome, details)?;
        }
        count_tests(record, family, &tested);
    }
    let mut troubles = examined.troubles;
    if examined.is_cut && record.status == RunStatus::Completed {
        record.status = RunStatus::Limit;
        troubles.push(format!(
            "the tests were cut short after {} s, the limit of time of the run",
            timeout.as_secs_f64().round()
        ));
    }
    record::append_error(record, &troubles.join("; "));
    Ok(())
}

fn count_tests(record: &mut Run, family: TestFamily, tested: &FamilyResult) {
    let (passed, total) = if tested.is_unknown {
        (None, None)
    } else {
        (Some(tested.passed), Some(tested.total))
    };
    match family {
        TestFamily::Shared => {
            (record.shared_tests_passed, record.shared_tests_total) = (passed, total);
        }
        TestFamily::Own => (record.own_tests_passed, record.own_tests_total) = (passed, total),
        // Functional checks are only recorded as items: the header has no total for them.
        TestFamily::Functional => {}
    }
}
