//! Carrying out what is left of a plan.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::domain::{Evaluator, ItemStatus, Run};
use crate::results::{Batch, PlannedRun, StoreError, parted};

use super::grounds::Suites;
use super::{Arm, Context, Ended, Event, Work, code, questions};

/// What came of it.
#[derive(Debug, Default)]
pub struct Executed {
    /// How many were committed now.
    pub finished: usize,
    /// Left to another process that holds them.
    pub taken: usize,
    /// Stopped before everything was done.
    pub stopped: bool,
    /// The first agent that cannot be asked; nothing was started after it.
    pub refusal: Option<Refusal>,
}

/// An agent or approach that cannot be used: its program is not there, its key is refused, its model is unknown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// The place of its arm in the plan.
    pub arm: usize,
    pub reason: String,
}

/// Does those of the plan's runs that have no record yet. `arms` are those of the plan, in its order.
///
/// Fails only where the store cannot be written, and then stops what goes on; what was committed until then stays, and the plan can be
/// resumed.
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
                // What others do at the same time comes to its end: it costs already.
                Ok(Ended::Refused(reason)) => {
                    done.0.refusal.get_or_insert(Refusal { arm: run.arm, reason });
                }
                // Another process resumed the same plan, and is at it or was faster.
                Err(StoreError::InFlight { .. } | StoreError::Exists { .. }) => {
                    (context.events)(&Event::Taken { run });
                    done.0.taken += 1;
                }
                Err(error) => {
                    // Nothing can be kept any more, so nothing is worth waiting for. The first error is the one to tell.
                    context.stop.stop();
                    done.1.get_or_insert(error);
                }
            }
        }
    };
    // Runs of questions do their questions in parallel instead.
    let workers = if are_code { context.jobs.unwrap_or(1).clamp(1, open.len().max(1)) } else { 1 };
    std::thread::scope(|scope| {
        for _ in 1..workers {
            // Fewer than wanted do it, too.
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

/// Counts the criteria that are met, of those that were decided, where nothing else says how good a run is.
fn criteria(record: &Run, context: &Context<'_>) -> Option<(u64, u64)> {
    if record.shared_tests_total.is_some() || !record.status.is_counted() {
        return None;
    }
    let judgements = context.store.judgements(&record.id, Evaluator::RequirementFulfillment).ok()?;
    let revision = judgements.newest()?.score.revision;
    let counted: Vec<ItemStatus> =
        judgements.of_revision(revision).map(|(outcome, _)| outcome.status).filter(|status| status.is_counted()).collect();
    let met = counted.iter().filter(|status| **status == ItemStatus::Pass).count();
    (!counted.is_empty()).then_some((met as u64, counted.len() as u64))
}
