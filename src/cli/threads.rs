//! The thread pool that shares work.

use std::any::Any;
use std::env;
use std::error::Error;
use std::num::NonZero;
use std::panic::{self, AssertUnwindSafe};
use std::thread;

use rayon::ThreadPoolBuilder;

use crate::warehouse::threads_are_given;
use crate::{engine, import};

use super::failure::Failure;

/// Messages of libraries that end the program because the system refuses them a thread.
const REFUSALS: [&str; 4] =
    ["global thread pool has not been initialized", "could not spawn threads", "OS can't spawn", "Resource temporarily unavailable"];

/// Starts the thread pool before anything needs it, because libraries would end the program if the system refuses threads. If the system
/// does, only the current thread works.
pub(super) fn start() -> Result<(), Failure> {
    let asked = env::var("RAYON_NUM_THREADS").ok().and_then(|number| number.parse().ok()).filter(|number| *number > 0);
    let wanted = asked.unwrap_or_else(|| thread::available_parallelism().map_or(1, NonZero::get));
    let pool = ThreadPoolBuilder::new();
    let pool = if threads_are_given(wanted) { pool.num_threads(wanted) } else { pool.num_threads(1).use_current_thread() };
    match pool.build_global() {
        // The system gave these threads a moment ago. The pool cannot be started again, and its first user would end the program.
        Err(error) if error.source().is_some() => Err(refused()),
        // The pool already exists if several commands run in one process.
        Ok(()) | Err(_) => Ok(()),
    }
}

/// Runs a command. If a library panics because it gets no thread, returns that as an ordinary failure.
pub(super) fn telling_refusals(command: impl FnOnce() -> Result<u8, Failure>) -> Result<u8, Failure> {
    let usual = panic::take_hook();
    panic::set_hook(Box::new(move |information| {
        if !is_refusal(information.payload()) && !import::is_decoding() && !engine::is_decoding() {
            usual(information);
        }
    }));
    match panic::catch_unwind(AssertUnwindSafe(command)) {
        Ok(done) => done,
        Err(payload) if is_refusal(payload.as_ref()) => Err(refused()),
        Err(payload) => panic::resume_unwind(payload),
    }
}

fn refused() -> Failure {
    Failure::new("the system refuses more threads").with_hint("stored results are intact; try again when fewer programs run")
}

fn is_refusal(payload: &(dyn Any + Send)) -> bool {
    let text = payload.downcast_ref::<String>().map(String::as_str).or_else(|| payload.downcast_ref::<&str>().copied());
    text.is_some_and(|text| REFUSALS.iter().any(|refusal| text.contains(refusal)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_that_is_refused_is_an_error_and_other_panics_stay() {
        assert!(telling_refusals(|| Ok(0)).is_ok_and(|code| code == 0));
        for refusal in REFUSALS {
            let failure = telling_refusals(|| panic!("{refusal}: Os {{ code: 11 }}")).expect_err("an error");
            assert_eq!(failure.message, "the system refuses more threads");
        }
        let other = panic::catch_unwind(|| telling_refusals(|| panic!("a defect")));
        assert!(other.is_err());
    }
}
