//! Carrying out what is left of a plan.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::domain::Run;
use crate::results::{Batch, PlannedRun, StoreError, parted};

use super::grounds::Suites;
use super::{Arm, Context, Event, Work, code, questions};

/// What came of it.
#[derive(Debug, Default)]
pub struct Executed {
    /// How many were committed now.
    pub finished: usize,
    /// Left to another process that holds them.
    pub taken: usize,
    /// Stopped before everything was done.
    pub stopped: bool,
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
            if context.stop.is_stopped() || is_broken(&done) {
                break;
            }
            let outcome = one(batch, run, &arms[run.arm], &suites, context);
            let Ok(mut done) = done.lock() else { break };
            match outcome {
                Ok(Some(_)) => done.0.finished += 1,
                Ok(None) => done.0.stopped = true,
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

fn is_broken(done: &Mutex<(Executed, Option<StoreError>)>) -> bool {
    done.lock().map_or(true, |done| done.1.is_some())
}

fn one(batch: &Batch, run: &PlannedRun, arm: &Arm, suites: &Suites, context: &Context<'_>) -> Result<Option<Run>, StoreError> {
    (context.events)(&Event::Started { arm: &arm.planned, run });
    let record = match &arm.work {
        Work::Questions(work) => questions::run(batch, run, &arm.planned, work, context)?,
        Work::Code(work) => code::run(batch, run, &arm.planned, work, suites, context)?,
    };
    if let Some(record) = &record {
        (context.events)(&Event::Finished { run, record });
    }
    Ok(record)
}
