//! Whether the system can start the required threads. Rayon and the table engine abort the program if it cannot.

use std::num::NonZero;
use std::sync::{OnceLock, mpsc};
use std::thread;

use super::sql_error::SqlError;

/// Threads that the table engine starts beside its pools, for reading and waiting.
const BESIDE: usize = 6;

/// Returns whether this many threads can run at once, and two more, because other programs of the user start some too.
pub fn threads_are_given(wanted: usize) -> bool {
    let mut running = Vec::with_capacity(wanted + 2);
    for _ in 0..wanted + 2 {
        let (end, ended) = mpsc::channel::<()>();
        match thread::Builder::new().stack_size(16 << 10).spawn(move || ended.recv().is_ok()) {
            Ok(thread) => running.push((end, thread)),
            Err(_) => break,
        }
    }
    let is_given = running.len() == wanted + 2;
    for (end, thread) in running {
        drop(end);
        // The thread only waited.
        let _ = thread.join();
    }
    is_given
}

/// Fails if the system cannot start the table engine's threads.
pub(super) fn check() -> Result<(), SqlError> {
    static IS_GIVEN: OnceLock<bool> = OnceLock::new();
    // The table engine has two pools.
    let wanted = || 2 * thread::available_parallelism().map_or(1, NonZero::get) + BESIDE;
    if *IS_GIVEN.get_or_init(|| threads_are_given(wanted())) {
        return Ok(());
    }
    Err(SqlError::Refused("the system gives no threads to work with: raise the limit of processes (`ulimit -u`)".to_owned()))
}
