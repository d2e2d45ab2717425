//! Whether the system can start the required threads. Rayon and the table engine abort the program if it cannot.

use std::num::NonZero;
use std::sync::{OnceLock, mpsc};
use std::thread;

use super::sql_error::SqlError;

/// Stack for a query of ours, which nests little, in unoptimised builds too.
pub(super) const STACK_BYTES: usize = 16 << 20;

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

/// Runs work of the table engine on a thread of its own with this stack. A worker of a pool must not wait for the engine itself: it would begin
/// other work of its pool on the same stack meanwhile, and overflow it if there is much. A panic of the table engine ends with the thread.
pub(super) fn apart<T: Send>(stack: usize, work: impl FnOnce() -> Result<T, SqlError> + Send) -> Result<T, SqlError> {
    thread::scope(|scope| {
        let started = thread::Builder::new().name("query".to_owned()).stack_size(stack).spawn_scoped(scope, work);
        let started = started.map_err(|error| SqlError::Refused(format!("the system gives no threads to work with: {error}")))?;
        started.join().unwrap_or_else(|_| Err(SqlError::Failed("the table engine gave it up".to_owned())))
    })
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
