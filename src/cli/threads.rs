//! The thread pool that shares work.

use std::any::Any;
use std::env;
use std::error::Error;
use std::num::NonZero;
use std::panic::{self, AssertUnwindSafe};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use rayon::ThreadPoolBuilder;

use crate::warehouse::{self, can_start_threads};
use crate::{engine, import};

use super::failure::CommandFailure;

/// Messages of libraries that end the program because the system refuses them a thread.
const REFUSAL_MESSAGES: [&str; 5] = [
    "global thread pool has not been initialized",
    "could not spawn threads",
    "OS can't spawn",
    "failed to spawn thread",
    "Resource temporarily unavailable",
];
/// Messages of other threads, and of later users of what was not made, once the system has refused a thread.
const CONSEQUENCE_MESSAGES: [&str; 3] = [
    "has previously been poisoned",
    "PoisonError",
    "Cannot allocate memory",
];

/// Starts the thread pool before anything needs it, because libraries would end the program if the system refuses threads. If the system
/// does, one thread works: one of its own, because queries wait for it on others, or the current one if the system gives none at all.
pub(super) fn start_pool() -> Result<(), CommandFailure> {
    let asked = env::var("RAYON_NUM_THREADS")
        .ok()
        .and_then(|number| number.parse().ok())
        .filter(|number| *number > 0);
    let wanted = asked.unwrap_or_else(|| thread::available_parallelism().map_or(1, NonZero::get));
    let pool = ThreadPoolBuilder::new();
    let pool = if can_start_threads(wanted) {
        pool.num_threads(wanted)
    } else if can_start_threads(1) {
        pool.num_threads(1)
    } else {
        pool.num_threads(1).use_current_thread()
    };
    match pool.build_global() {
        // The system gave these threads a moment ago. The pool cannot be started again, and its first user would end the program.
        Err(error) if error.source().is_some() => Err(refusal_failure()),
        // The pool already exists if several commands run in one process.
        Ok(()) | Err(_) => Ok(()),
    }
}

/// Runs a command. If a library panics because it gets no thread, returns that as an ordinary failure, whatever then panics in turn.
pub(super) fn run_catching_refusals(
    command: impl FnOnce() -> Result<u8, CommandFailure>,
) -> Result<u8, CommandFailure> {
    let usual = panic::take_hook();
    let was_refused = Arc::new(AtomicBool::new(false));
    let seen = was_refused.clone();
    panic::set_hook(Box::new(move |information| {
        let is_refusal = is_refusal(information.payload(), seen.load(Ordering::Relaxed));
        seen.fetch_or(is_refusal, Ordering::Relaxed);
        if !is_refusal
            && !import::is_decoding()
            && !engine::is_decoding()
            && !warehouse::is_decoding()
        {
            usual(information);
        }
    }));
    match panic::catch_unwind(AssertUnwindSafe(command)) {
        // Whoever started a thread that panicked knows only that it ended.
        Ok(Err(_)) if was_refused.load(Ordering::Relaxed) => Err(refusal_failure()),
        Ok(done) => done,
        Err(payload) if is_refusal(payload.as_ref(), was_refused.load(Ordering::Relaxed)) => {
            Err(refusal_failure())
        }
        Err(payload) => panic::resume_unwind(payload),
    }
}

fn refusal_failure() -> CommandFailure {
    CommandFailure::new("the system refuses more threads")
        .with_hint("stored results are intact; try again when fewer programs run")
}

/// Returns whether a panic is because of a refused thread. `was_refused` says whether one has been refused before.
fn is_refusal(payload: &(dyn Any + Send), was_refused: bool) -> bool {
    let text = payload
        .downcast_ref::<String>()
        .map(String::as_str)
        .or_else(|| payload.downcast_ref::<&str>().copied());
    let is_one_of = |messages: &[&str]| {
        text.is_some_and(|text| messages.iter().any(|message| text.contains(message)))
    };
    is_one_of(&REFUSAL_MESSAGES) || (was_refused && is_one_of(&CONSEQUENCE_MESSAGES))
}

#[cfg(test)]
mod tests {
    use std::sync::LazyLock;

    use super::*;

    #[test]
    fn a_thread_that_is_refused_is_an_error_and_other_panics_stay() {
        assert!(run_catching_refusals(|| Ok(0)).is_ok_and(|code| code == 0));
        for refusal in REFUSAL_MESSAGES {
            let failure = run_catching_refusals(|| panic!("{refusal}: Os {{ code: 11 }}"))
                .expect_err("an error");
            assert_eq!(failure.message, "the system refuses more threads");
        }
        for other in ["a defect", "LazyLock instance has previously been poisoned"] {
            let other = panic::catch_unwind(|| run_catching_refusals(|| panic!("{other}")));
            assert!(other.is_err());
        }
        let ended = run_catching_refusals(|| {
            let thread = thread::spawn(|| panic!("could not spawn threads"));
            thread
                .join()
                .map_err(|_| CommandFailure::new("a thread ended"))
        });
        assert_eq!(
            ended.expect_err("an error").message,
            "the system refuses more threads"
        );
        let consequence = run_catching_refusals(|| {
            let made = LazyLock::<u8>::new(|| panic!("could not spawn threads"));
            drop(panic::catch_unwind(AssertUnwindSafe(|| *made)));
            panic!("{}", *made);
        });
        assert_eq!(
            consequence.expect_err("an error").message,
            "the system refuses more threads"
        );
    }
}
