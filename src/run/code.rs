//! One run of code: an approach fills a workspace, and the suite's tests check the result.

use std::cell::Cell;
use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime};

use crate::agent::{Failure, FailureKind, Measured, Outlook};
use crate::domain::{Run, RunStatus, date_of, visible};
use crate::evaluate::code::Listed;
use crate::evaluate::{Effort, Purpose, Workpiece, code};
use crate::files;
use crate::results::{Batch, How, Journal, PlannedArm, PlannedRun, StoreError};
use crate::suite::{self, Phase};

use super::addition::Addition;
use super::approach::{Order, REQUIREMENTS_FILE};
use super::evaluation;
use super::examine::{Examination, Examined, Halt, InPhase};
use super::grounds::{Suites, Watched};
use super::isolation::{More, Whom};
use super::kept::KeptOutput;
use super::record;
use super::server::{self, Place};
use super::testing::{Family, Tested};
use super::verification::verify_workspace;
use super::workspace::{self, Workspace};
use super::{CodeWork, Context, Ended, Event, tampering};

/// Time limit of all evaluator commands together. It does not count against the approach.
const EVALUATION: Duration = Duration::from_mins(30);
/// Number of files named that were not kept.
const MOST_NAMED: usize = 3;
/// Minimum testing time if the approach reached its limit: the files that it left are still its result.
const TESTING_AFTER_LIMIT: Duration = Duration::from_mins(10);

/// Does one run from start to end.
pub fn run(
    batch: &Batch,
    run: &PlannedRun,
    arm: &PlannedArm,
    work: &CodeWork,
    suites: &Suites,
    context: &Context<'_>,
) -> Result<Ended, StoreError> {
    let mut journal = context.store.journal(&run.id)?;
    // The old workspace is gone, so an interrupted run starts anew.
    journal.clear()?;
    let step = |what: &str| (context.events)(&Event::Step { run, what });
    let timeout = work.suite.timeout.unwrap_or(suite::DEFAULT_TIMEOUT);
    let again = batch.again(&run.id).filter(|again| again.how == How::Tests);
    let kept = again
        .map(|again| KeptOutput::of(&again.of, context))
        .transpose()?;
    let prepared = suites.copy(work, arm, context).and_then(|copy| {
        let own = copy.work(work);
        let start = kept
            .as_ref()
            .map(|kept| kept.folder.as_path())
            .or(own.start.as_deref());
        let workspace = Workspace::create(&context.scratch, start)
            .map_err(|error| format!("no workspace: {error}"))?;
        Ok((copy, own, workspace))
    });
    let (copy, own, workspace) = match prepared {
        Ok(prepared) => prepared,
        Err(reason) => {
            let record = failed(
                record::begun(batch, run, arm, context),
                RunStatus::Infra,
                &reason,
            );
            return commit(&journal, record, context);
        }
    };
    let watched = Watched::begin(&run.id, work, &copy, context);
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
        .map(|from| Addition::lay(from, &workspace))
        .transpose();
    let laid = laid.map_err(|error| {
        format!("the files of the approach could not be laid into its workspace: {error}")
    });
    let made = match (&laid, &kept) {
        (_, Some(kept)) => kept.made(),
        (Ok(_), None) => make(run, work, &workspace, wall, context),
        (Err(reason), None) => Err(Failure::new(
            FailureKind::Infra,
            reason,
            Measured::default(),
        )),
    };
    // Otherwise a folder that its owner may not enter would be missing in what is kept, counted and tested.
    files::open_up(workspace.folder());
    if let Ok(Some(addition)) = &laid {
        addition.take_out();
    }
    let mut record = record::begun(batch, run, arm, context);
    if let Some(resources) = &mut record.resources {
        resources.tools = context.tools.of(&work.suite);
        resources.time_limit = Some(wall.as_secs_f64());
        resources.rights = work.approach.rights(
            context.isolation.is_enforced() && work.wrap_of_agent(&context.root).is_empty(),
        );
    }
    record.isolation = Some(
        context
            .isolation
            .said(!work.wrap_of_agent(&context.root).is_empty()),
    );
    let mut refusal = None;
    let measured = match made {
        Ok(measured) => measured,
        Err(Failure {
            kind: FailureKind::Stopped,
            ..
        }) => return Ok(Ended::Stopped),
        Err(Failure {
            kind,
            reason,
            measured,
            outlook,
        }) => {
            // What left files has worked, however it ended.
            let has_worked = outlook == Outlook::Unstarted && {
                let listed = code::files(workspace.folder());
                !made_files(
                    &listed,
                    workspace.folder(),
                    work.start.as_deref(),
                    work.suite.requirements.as_deref(),
                )
                .is_empty()
            };
            refusal = (outlook != Outlook::Open && !has_worked).then(|| reason.clone());
            let status = match kind {
                FailureKind::Infra if has_worked => RunStatus::Failed,
                FailureKind::Error => RunStatus::Failed,
                FailureKind::Limit => RunStatus::Limit,
                FailureKind::Infra | FailureKind::Stopped => RunStatus::Infra,
            };
            record = failed(record, status, &reason);
            *measured
        }
    };
    let touched = watched.changes_by_approach();
    stop_if_limited(&watched, context);
    if !touched.is_empty() {
        return commit_tampered(journal, record, &measured, &touched, context);
    }
    if let Some(reason) = refusal {
        return Ok(Ended::Refused(reason));
    }
    journal.append_transcript(None, &measured.transcript)?;
    let listed = code::files(workspace.folder());
    let made = made_files(
        &listed,
        workspace.folder(),
        work.start.as_deref(),
        work.suite.requirements.as_deref(),
    );
    take_measures(&mut record, &measured, &workspace, &listed, &made);
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
        record::note(&mut record, &said_left_out(&kept.left_out));
    }

    if record.status != RunStatus::Infra {
        // Only the approach's own time counts. Creating workspaces, asking for versions and copying results are our work.
        let left = timeout.saturating_sub(measured.duration);
        let place = place_of_server(work, context);
        // Waiting for other runs is not this run's time.
        let waiting = |port: u16| step(&format!("waiting for port {port}"));
        let Some(_turn) = server::turn(work.suite.server.as_ref(), &place, context.stop, waiting)
        else {
            return Ok(Ended::Stopped);
        };
        let patience = if record.status == RunStatus::Limit {
            left.max(TESTING_AFTER_LIMIT.min(timeout))
        } else {
            left
        };
        let deadline = Cell::new(Instant::now() + patience);
        let examination = Examination {
            run: &run.id,
            work,
            workspace: &workspace,
            copy: &copy,
            deadline,
            place,
            context,
            step: &step,
        };
        match examination.examine() {
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
                    record = not_tested(record, &owed.join("; "));
                    return commit(&journal, record, context);
                }
                let shell = examined.shell.clone();
                take_verdict(&mut record, examined, timeout, &mut journal)?;
                let examination = Examination {
                    deadline: Cell::new(Instant::now() + EVALUATION),
                    ..examination
                };
                if evaluate(&examination, &shell, &made, &measured, &mut journal, run)?.is_none() {
                    return Ok(Ended::Stopped);
                }
                if let Some(settings) = &work.verification {
                    let Some(verified) = verify_workspace(settings, &examination, &shell) else {
                        return Ok(Ended::Stopped);
                    };
                    record.verification = Some(verified);
                }
            }
            Err(Halt::Stopped) => return Ok(Ended::Stopped),
            Err(Halt::Impossible(reason)) => {
                record = not_tested(record, &reason);
            }
        }
    }
    let touched = watched.changes();
    stop_if_limited(&watched, context);
    if !touched.is_empty() {
        return commit_tampered(journal, record, &measured, &touched, context);
    }
    record.timestamp = Some(date_of(SystemTime::now()));
    commit(&journal, record, context)
}

/// Ends the batch if a run left this process too little to go on with: later runs would fail through no fault of their own. Resuming the batch
/// starts a new process.
fn stop_if_limited(watched: &Watched<'_>, context: &Context<'_>) {
    if watched.is_limited() {
        context.stop.stop();
    }
}

/// Returns a private network for the run if it has a server and neither server nor tests may reach beyond this machine. Otherwise returns
/// the shared network.
fn place_of_server(work: &CodeWork, context: &Context<'_>) -> Place {
    let suite = &work.suite;
    let is_apart = suite.server.is_some()
        && !suite.grants(Phase::Server)
        && !suite.grants(Phase::Tests)
        && work.wrap_of_tests(&context.root).is_empty();
    let own = if is_apart {
        context.isolation.network()
    } else {
        None
    };
    own.map_or(Place::Shared, Place::Own)
}

/// Records that the result could not be tested, through no fault of the approach.
fn not_tested(mut record: Run, reason: &str) -> Run {
    if record.status == RunStatus::Completed {
        record.status = RunStatus::Infra;
    }
    record::note(&mut record, &format!("not tested: {reason}"));
    record
}

/// Commits a run that touched foreign files. Drops its test results, so that nobody takes it for a valid run.
fn commit_tampered(
    journal: Journal,
    record: Run,
    measured: &Measured,
    touched: &[String],
    context: &Context<'_>,
) -> Result<Ended, StoreError> {
    let id = record.id.clone();
    // The run may have deleted the journals, too.
    drop(journal);
    let mut journal = context.store.journal(&id)?;
    journal.clear()?;
    journal.append_transcript(None, &measured.transcript)?;
    let untested = Run {
        shared_tests_passed: None,
        shared_tests_total: None,
        own_tests_passed: None,
        own_tests_total: None,
        ..record
    };
    let mut record = failed(
        Run {
            verification: None,
            ..untested
        },
        RunStatus::Infra,
        &tampering::reason(touched),
    );
    record.timestamp = Some(date_of(SystemTime::now()));
    commit(&journal, record, context)
}

fn commit(journal: &Journal, record: Run, context: &Context<'_>) -> Result<Ended, StoreError> {
    journal.sync()?;
    context.store.commit(&record, journal)?;
    Ok(Ended::Whole(Box::new(record)))
}

fn failed(mut record: Run, status: RunStatus, reason: &str) -> Run {
    record.status = status;
    record.error = Some(reason.to_owned());
    record
}

fn make(
    run: &PlannedRun,
    work: &CodeWork,
    workspace: &Workspace,
    wall: Duration,
    context: &Context<'_>,
) -> Result<Measured, Failure> {
    let Some(requirements) = &work.suite.requirements else {
        return Err(Failure::new(
            FailureKind::Infra,
            "the suite has no requirements",
            Measured::default(),
        ));
    };
    let wrap = work.wrap_of_agent(&context.root);
    let mut environment = context.environment.clone();
    let infra = |what: &str, error: &io::Error| {
        Failure::new(
            FailureKind::Infra,
            &format!("{what}: {error}"),
            Measured::default(),
        )
    };
    let phase = workspace
        .begin_phase()
        .map_err(|error| infra("no temporary folder", &error))?;
    let variables = context
        .isolation
        .variables(Whom::Agent, &phase, context.environment);
    environment.given = variables
        .into_iter()
        .map(|(name, value)| (name.into(), value))
        .collect();
    let mut reads = work.approach.files(&context.root);
    reads.push(workspace::absolute(requirements));
    let ports: &[u16] = &[];
    let ports = (!work.suite.grants(Phase::Approach)).then_some(ports);
    let folders = work.approach.own_folders(context.environment);
    let home = context.isolation.furnish(
        &phase,
        &wrap,
        &[&work.approach.reads[..], &work.approach.writes].concat(),
        &folders,
    );
    let home = home.map_err(|error| infra("no home folder", &error))?;
    if let Some(home) = &home {
        environment.given.extend(
            home.variables()
                .into_iter()
                .map(|(name, value)| (name.into(), value)),
        );
    }
    reads.extend(
        work.approach
            .program()
            .filter(|name| name.contains('/'))
            .into_iter()
            .flat_map(|program| context.isolation.around(&context.root.join(program))),
    );
    reads.extend(work.approach.reads.iter().cloned());
    environment.confinement = context
        .isolation
        .confine(
            Whom::Agent,
            workspace,
            &phase,
            &More {
                wrap: &wrap,
                reads: &reads,
                writes: &work.approach.writes,
                ports,
                home: home.as_ref(),
                ..More::default()
            },
        )
        .map_err(|error| infra("no isolation", &error))?;
    let order = Order {
        suite: &work.suite.name,
        requirements: &workspace::absolute(requirements),
        model: work.model.as_deref(),
        seed: run.seed,
        workspace: workspace.folder(),
        root: &context.root,
        wall,
        wrap: &wrap,
        environment: &environment,
    };
    let made = work.approach.make(&order, context.stop);
    if let Some(home) = &home {
        home.carry_back();
    }
    made
}

/// Runs every evaluator. Returns `None` if the user stopped it.
fn evaluate(
    examination: &Examination<'_>,
    shell: &InPhase,
    made: &BTreeSet<PathBuf>,
    measured: &Measured,
    journal: &mut Journal,
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
    let desk = || Ok(shell.desk());
    let bench = examination.bench(
        &desk,
        &shell.shell,
        folder,
        None,
        examination.deadline.get(),
    );
    let runner = |line: &str, purpose: Purpose| match purpose {
        Purpose::Tests => bench.tested("evaluator", line, true),
        Purpose::Build | Purpose::Coverage | Purpose::Analysis => bench.plain(line),
    };
    work.evaluation.evaluate(
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
                (examination.context.events)(&Event::Warning { run, what: &what });
            }
            let (items, score) = evaluation::recorded(examination.run, evaluated, 0);
            for (outcome, details) in &items {
                journal.append(outcome, details)?;
            }
            journal.append_score(&score)
        },
    )
}

/// Lists the files that the approach made. Leaves out unchanged files of the starting workspace, and a copy of the requirements.
pub(super) fn made_files(
    listed: &Listed,
    folder: &Path,
    start: Option<&Path>,
    requirements: Option<&Path>,
) -> BTreeSet<PathBuf> {
    let is_copy = |made: &Path, given: &Path| match (fs::metadata(made), fs::metadata(given)) {
        (Ok(made_file), Ok(given_file)) => {
            made_file.len() == given_file.len()
                && given_file.is_file()
                && files::read(made).ok() == files::read(given).ok()
        }
        (_, _) => false,
    };
    let is_made = |file: &Path| {
        let made = folder.join(file);
        let is_given = start.is_some_and(|start| is_copy(&made, &start.join(file)));
        let is_order = file == Path::new(REQUIREMENTS_FILE)
            && requirements.is_some_and(|order| is_copy(&made, order));
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
fn said_left_out(left_out: &[(PathBuf, String)]) -> String {
    let named = left_out
        .iter()
        .take(MOST_NAMED)
        .map(|(file, reason)| format!("{} ({reason})", visible(&file.display().to_string())));
    let named = named.collect::<Vec<_>>().join(", ");
    match left_out.len().saturating_sub(MOST_NAMED) {
        0 if named.is_empty() => String::new(),
        0 => format!("not kept: {named}"),
        more => format!("not kept: {named}, and {more} more"),
    }
}

fn take_measures(
    record: &mut Run,
    measured: &Measured,
    workspace: &Workspace,
    listed: &Listed,
    made: &BTreeSet<PathBuf>,
) {
    record.duration_seconds =
        Some(measured.duration.as_secs_f64()).filter(|seconds| *seconds > 0.0);
    record.total_calls = measured.calls;
    record.turns = measured.steps;
    record::add_told(record, measured.served.clone(), measured.repeated);
    record::set_usage(record, measured.usage);
    record.cost_usd = measured.cost.usd;
    record.cost_source = measured.cost.source;
    let code = code::measure(workspace.folder(), |file| made.contains(file));
    if code.is_partial || listed.is_partial {
        // The counts would be too low.
        record::note(
            record,
            "not all that was made could be listed: files and lines are not known",
        );
    } else {
        (record.files_generated, record.lines_generated) = (Some(code.files), Some(code.lines));
    }
}

/// Writes the results of the tests into the journal and the record.
fn take_verdict(
    record: &mut Run,
    examined: Examined,
    timeout: Duration,
    journal: &mut Journal,
) -> Result<(), StoreError> {
    if examined.knows_own_tests {
        (record.own_tests_passed, record.own_tests_total) = (Some(0), Some(0));
    }
    for (family, tested) in examined.families {
        for (outcome, details) in &tested.items {
            journal.append(outcome, details)?;
        }
        count(record, family, &tested);
    }
    let mut troubles = examined.troubles;
    if examined.is_cut && record.status == RunStatus::Completed {
        record.status = RunStatus::Limit;
        troubles.push(format!(
            "the tests were cut short after {} s, the limit of time of the run",
            timeout.as_secs_f64().round()
        ));
    }
    record::note(record, &troubles.join("; "));
    Ok(())
}

fn count(record: &mut Run, family: Family, tested: &Tested) {
    let (passed, total) = if tested.is_unknown {
        (None, None)
    } else {
        (Some(tested.passed), Some(tested.total))
    };
    match family {
        Family::Shared => (record.shared_tests_passed, record.shared_tests_total) = (passed, total),
        Family::Own => (record.own_tests_passed, record.own_tests_total) = (passed, total),
        // Functional checks are only recorded as items: the header has no total for them.
        Family::Functional => {}
    }
}
