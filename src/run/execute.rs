//! Executes the open runs of a plan.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::domain::{Evaluator, ItemStatus, Run};
use crate::results::{Batch, PlannedRun, StoreError, parted};

use super::grounds::Suites;
use super::{Arm, Context, Ended, Event, Work, code, questions};

/// The result of an execution.
#[derive(Debug, Default)]
pub struct Executed {
    /// Number of runs committed by this execution.
    pub finished: usize,
    /// Number of runs left to another process that holds them.
    pub taken: usize,
    /// Whether it was stopped before all runs were done.
    pub stopped: bool,
    /// The first unusable agent. No run was started after it.
    pub refusal: Option<Refusal>,
}

/// An unusable agent or approach: its program is missing, its key is refused, or its model is unknown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// The index of its arm in the plan.
    pub arm: usize,
    pub reason: String,
}

/// Executes those runs of the plan that have no record yet. `arms` are the plan's arms, in order.
///
/// Fails only if the store cannot be written, and then stops all current runs. Committed runs remain, and the plan can be resumed.
pub fn execute(batch: &Batch, runs: &[PlannedRun], arms: &[Arm], context: &Context<'_>) -> Result<Executed, StoreError> {
    let (_, open) = parted(runs, context.store)?;
    let are_code = arms.iter().all(|arm| matches!(arm.work, Work::Code(_)));
    let done = Mutex::new((Executed::default(), None));
    let next = AtomicUsize::new(0);
    let suites = Suites::default();
    let work = || {
        while let Some(run) = open.get(next.fetch_add(1, Ordering::Relaxed)) {
            if context.stop.is_stopped() || is_over(&done) {
                break;
            }
            let outcome = one(batch, run, &arms[run.arm], &suites, context);
            let Ok(mut done) = done.lock() else { break };
            match outcome {
                Ok(Ended::Whole(_)) => done.0.finished += 1,
                Ok(Ended::Stopped) => done.0.stopped = true,
                // Concurrent runs continue to their end: they have already cost money.
                Ok(Ended::Refused(reason)) => {
                    done.0.refusal.get_or_insert(Refusal { arm: run.arm, reason });
                }
                // Another process resumed the same plan and runs or has finished this run.
                Err(StoreError::InFlight { .. } | StoreError::Exists { .. }) => {
                    (context.events)(&Event::Taken { run });
                    done.0.taken += 1;
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
    let workers = if are_code { context.jobs.unwrap_or(1).clamp(1, open.len().max(1)) } else { 1 };
    std::thread::scope(|scope| {
        for _ in 1..workers {
            // Fewer workers than wanted are enough.
            if std::thread::Builder::new().spawn_scoped(scope, work).is_err() {
                break;
            }
        }
        work();
    });
    let (mut executed, failure) = done.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
    executed.stopped |= context.stop.is_stopped() && executed.finished + executed.taken < open.len();
    match failure {
        Some(error) => Err(error),
        None => Ok(executed),
    }
}

fn is_over(done: &Mutex<(Executed, Option<StoreError>)>) -> bool {
    done.lock().map_or(true, |done| done.1.is_some() || done.0.refusal.is_some())
}

fn one(batch: &Batch, run: &PlannedRun, arm: &Arm, suites: &Suites, context: &Context<'_>) -> Result<Ended, StoreError> {
    (context.events)(&Event::Started { arm: &arm.planned, run });
    let ended = match &arm.work {
        Work::Questions(work) => questions::run(batch, run, &arm.planned, work, context)?,
        Work::Code(work) => code::run(batch, run, &arm.planned, work, suites, context)?,
    };
    if let Ended::Whole(record) = &ended {
        (context.events)(&Event::Finished { run, record, criteria: criteria(record, context) });
    }
    Ok(ended)
}

/// Counts the criteria that are met, among those decided. Returns `None` if the run has shared tests or does not count.
fn criteria(record: &Run, context: &Context<'_>) -> Option<(u64, u64)> {
    if record.shared_tests_total.is_some() || !record.status.is_counted() {
        return None;
    }
    let judgements = context.store.judgements(&record.id, Evaluator::RequirementFulfillment.name()).ok()?;
    let revision = judgements.newest()?.score.revision;
    let counted: Vec<ItemStatus> =
        judgements.of_revision(revision).map(|(outcome, _)| outcome.status).filter(|status| status.is_counted()).collect();
    let met = counted.iter().filter(|status| **status == ItemStatus::Pass).count();
    (!counted.is_empty()).then_some((met as u64, counted.len() as u64))
}
