//! Whether the system gives the threads that are wanted. Those who share work, and the table engine, end the program where it does not.

use std::num::NonZero;
use std::sync::{OnceLock, mpsc};
use std::thread;

use super::sql_error::SqlError;

/// What the table engine starts beside its pools, for reading and waiting.
const BESIDE: usize = 6;

/// Says whether so many threads can run at once, and a few more: others of the same user start some, too.
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
        // It only waited.
        let _ = thread.join();
    }
    is_given
}

/// Refuses what needs the table engine where the system gives it no threads.
pub(super) fn check() -> Result<(), SqlError> {
    static IS_GIVEN: OnceLock<bool> = OnceLock::new();
    // It has two pools of its own.
    let wanted = || 2 * thread::available_parallelism().map_or(1, NonZero::get) + BESIDE;
    if *IS_GIVEN.get_or_init(|| threads_are_given(wanted())) {
        return Ok(());
    }
    Err(SqlError::Refused("the system gives no threads to work with: raise the limit of processes (`ulimit -u`)".to_owned()))
}
