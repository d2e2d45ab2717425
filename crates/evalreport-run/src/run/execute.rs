//! Executes the open runs of a plan.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::domain::{Evaluator, ItemStatus, Run};
use crate::results::{Batch, PlannedArm, PlannedRun, StoreError, split_committed};

use super::questions::{Interruption, QuestionRun, UNPRICED_WARNING};
use super::suite_snapshot::SuiteSnapshots;
use super::turns::Turns;
use super::{ArmWork, CodeWork, PlanContext, RunEnd, RunEvent, RunnableArm, code, questions};

/// The result of an execution.
#[derive(Debug, Default)]
pub struct ExecutionResult {
    /// Number of runs committed by this execution.
    pub finished: usize,
    /// Number of runs left to another process that holds them.
    pub taken: usize,
    /// Whether it was stopped before all runs were done.
    pub stopped: bool,
    /// Whether it ended because the purse was empty.
    pub is_spent: bool,
    /// The first unusable agent. No run was started after it.
    pub refusal: Option<ArmRefusal>,
}

/// An unusable agent or approach: its program is missing, its key is refused, or its model is unknown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ArmRefusal {
    /// The index of its arm in the plan.
    pub arm: usize,
    pub reason: String,
}

/// Executes those runs of the plan that have no record yet. `arms` are the plan's arms, in order.
///
/// Fails only if the store cannot be written, and then stops all current runs. Committed runs remain, and the plan can be resumed.
pub fn execute_runs(
    batch: &Batch,
    runs: &[PlannedRun],
    arms: &[RunnableArm],
    context: &PlanContext<'_>,
) -> Result<ExecutionResult, StoreError> {
    let (_, open) = split_committed(runs, context.store)?;
    let are_code = arms.iter().all(|arm| matches!(arm.work, ArmWork::Code(_)));
    let groups = group_runs(&open, arms);
    let done = Mutex::new((ExecutionResult::default(), None));
    let next = AtomicUsize::new(0);
    let suites = SuiteSnapshots::default();
    let work = || {
        while let Some(group) = groups.get(next.fetch_add(1, Ordering::Relaxed)) {
            if context.stop.is_stopped() || is_over(&done) {
                break;
            }
            let outcome = match (group.as_slice(), &arms[group[0].arm].work) {
                ([run], ArmWork::Code(work)) => {
                    run_code(batch, run, &arms[run.arm].planned, work, &suites, context)
                }
                _ => run_questions(batch, group, arms, context),
            };
            let Ok(mut done) = done.lock() else { break };
            match outcome {
                Ok(executed) => {
                    done.0.finished += executed.finished;
                    done.0.taken += executed.taken;
                    done.0.stopped |= executed.stopped;
                    done.0.is_spent |= executed.is_spent;
                    // Concurrent runs continue to their end: they have already cost money.
                    if done.0.refusal.is_none() {
                        done.0.refusal = executed.refusal;
                    }
                }
                Err(error) => {
                    // Without a store, no result can be kept. Only the first error is reported.
                    context.stop.stop();
                    done.1.get_or_insert(error);
                }
            }
        }
    };
    // Runs of questions parallelise their questions instead.
    let workers = if are_code {
        context.jobs.unwrap_or(1).clamp(1, groups.len().max(1))
    } else {
        1
    };
    std::thread::scope(|scope| {
        for _ in 1..workers {
            // Fewer workers than wanted are enough.
            if std::thread::Builder::new()
                .spawn_scoped(scope, work)
                .is_err()
            {
                break;
            }
        }
        work();
    });
    let (mut executed, failure) = done
        .into_inner()
        .unwrap_or_else(std::sync::PoisonError::into_inner);
    executed.stopped |= !executed.is_spent
        && context.stop.is_stopped()
        && executed.finished + executed.taken < open.len();
    match failure {
        Some(error) => Err(error),
        None => Ok(executed),
    }
}

fn is_over(done: &Mutex<(ExecutionResult, Option<StoreError>)>) -> bool {
    done.lock().map_or(true, |done| {
        done.1.is_some() || done.0.refusal.is_some() || done.0.is_spent
    })
}

/// Groups the runs that are carried out together: those of all arms that are asked the same questions in the same round. Any other run is alone.
fn group_runs<'r>(open: &[&'r PlannedRun], arms: &[RunnableArm]) -> Vec<Vec<&'r PlannedRun>> {
    let mut groups: Vec<Vec<&PlannedRun>> = Vec::new();
    let suite = |run: &PlannedRun| match &arms[run.arm] {
        RunnableArm {
            planned,
            work: ArmWork::Questions(_),
        } => Some((&planned.suite, &planned.suite_version, run.index)),
        RunnableArm {
            work: ArmWork::Code(_),
            ..
        } => None,
    };
    for run in open.iter().copied() {
        let alike = groups
            .iter_mut()
            .find(|group| suite(run).is_some() && suite(group[0]) == suite(run));
        match alike {
            Some(group) => group.push(run),
            None => groups.push(vec![run]),
        }
    }
    // In the order of the arms: whose turn is first is decided question by question.
    for group in &mut groups {
        group.sort_by_key(|run| run.arm);
    }
    groups
}

/// Says whether the run belongs to another process, which resumed the same plan and runs or has finished it.
fn is_taken(error: &StoreError) -> bool {
    matches!(
        error,
        StoreError::InFlight { .. } | StoreError::Exists { .. }
    )
}

/// Asks the runs their questions, in turns.
fn run_questions(
    batch: &Batch,
    runs: &[&PlannedRun],
    arms: &[RunnableArm],
    context: &PlanContext<'_>,
) -> Result<ExecutionResult, StoreError> {
    let mut executed = ExecutionResult::default();
    let mut all = Vec::new();
    for run in runs.iter().copied() {
        let RunnableArm {
            planned,
            work: ArmWork::Questions(work),
        } = &arms[run.arm]
        else {
            continue;
        };
        (context.events)(&RunEvent::Started { arm: planned, run });
        match QuestionRun::begin_run(batch, run, planned, work, context) {
            Ok(asking) => all.push((run, asking)),
            Err(error) if is_taken(&error) => {
                (context.events)(&RunEvent::Taken { run });
                executed.taken += 1;
            }
            Err(error) => return Err(error),
        }
    }
    let places: Vec<usize> = match runs.first().map(|run| &arms[run.arm].work) {
        Some(ArmWork::Questions(work)) => (0..work.spec.questions.len()).collect(),
        Some(ArmWork::Code(_)) | None => Vec::new(),
    };
    let mut asking: Vec<&mut QuestionRun<'_>> = all.iter_mut().map(|(_, asking)| asking).collect();
    match questions::ask_in_turns(&mut asking, &places, context)? {
        None => {}
        Some(Interruption::Stopped) => {
            executed.stopped = true;
            return Ok(executed);
        }
        Some(Interruption::Spent) => {
            executed.is_spent = true;
            return Ok(executed);
        }
        Some(Interruption::Refused(place, reason)) => {
            executed.refusal = Some(ArmRefusal {
                arm: all[place].0.arm,
                reason,
            });
            return Ok(executed);
        }
    }
    for (run, asking) in all {
        if let RunEnd::Whole(record) = asking.commit_run(None)? {
            executed.finished += 1;
            (context.events)(&RunEvent::Finished {
                run,
                record: &record,
                criteria: count_met_criteria(&record, context),
            });
        }
    }
    Ok(executed)
}

fn run_code(
    batch: &Batch,
    run: &PlannedRun,
    arm: &PlannedArm,
    work: &CodeWork,
    suites: &SuiteSnapshots,
    context: &PlanContext<'_>,
) -> Result<ExecutionResult, StoreError> {
    let mut executed = ExecutionResult::default();
    let is_stopped = || context.stop.is_stopped();
    if Turns::single()
        .next_turn(&is_stopped, context.purse)
        .is_none()
    {
        return Ok(ExecutionResult {
            stopped: is_stopped(),
            is_spent: !is_stopped(),
            ..executed
        });
    }
    (context.events)(&RunEvent::Started { arm, run });
    let ended = code::run_code(batch, run, arm, work, suites, context);
    if let Some(purse) = context.purse {
        match &ended {
            Ok(RunEnd::Whole(record))
                if record.cost_usd.is_some() || record.status.is_counted() =>
            {
                if purse.settle_attempt(record.cost_usd) {
                    (context.events)(&RunEvent::Warning {
                        run,
                        what: UNPRICED_WARNING,
                    });
                }
            }
            Ok(_) | Err(_) => purse.release_attempt(),
        }
    }
    match ended {
        Ok(RunEnd::Whole(record)) => {
            executed.finished = 1;
            (context.events)(&RunEvent::Finished {
                run,
                record: &record,
                criteria: count_met_criteria(&record, context),
            });
        }
        Ok(RunEnd::Stopped) => executed.stopped = true,
        Ok(RunEnd::Refused(reason)) => {
            executed.refusal = Some(ArmRefusal {
                arm: run.arm,
                reason,
            });
        }
        Err(error) if is_taken(&error) => {
            (context.events)(&RunEvent::Taken { run });
            executed.taken = 1;
        }
        Err(error) => return Err(error),
    }
    Ok(executed)
}

/// Counts the criteria that are met, among those decided. Returns `None` if the run has shared tests or does not count.
fn count_met_criteria(record: &Run, context: &PlanContext<'_>) -> Option<(u64, u64)> {
    if record.shared_tests_total.is_some() || !record.status.is_counted() {
        return None;
    }
    let judgements = context
        .store
        .read_judgements(&record.id, Evaluator::RequirementFulfillment.name())
        .ok()?;
    let revision = judgements.latest_score()?.score.revision;
    let counted: Vec<ItemStatus> = judgements
        .items_of_revision(revision)
        .map(|(outcome, _)| outcome.status)
        .filter(|status| status.is_counted())
        .collect();
    let met = counted
        .iter()
        .filter(|status| **status == ItemStatus::Pass)
        .count();
    (!counted.is_empty()).then_some((met as u64, counted.len() as u64))
}
