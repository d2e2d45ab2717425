//! Whether the system can start the required threads, because rayon and the table engine abort the program if it cannot; and threads for work that
//! waits for the table engine.

use std::io;
use std::num::NonZero;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{OnceLock, mpsc};
use std::thread;

use super::sql_error::SqlError;

/// Stack for a query of ours, which nests little, in unoptimised builds too.
pub(super) const STACK_BYTES: usize = 16 << 20;

/// Threads that the table engine starts beside its pools, for reading and waiting.
const EXTRA_THREADS: usize = 6;

/// Returns whether this many threads can run at once, and two more, because other programs of the user start some too.
pub fn can_start_threads(wanted: usize) -> bool {
    let mut running = Vec::with_capacity(wanted + 2);
    for _ in 0..wanted + 2 {
        let (end, ended) = mpsc::channel::<()>();
        match thread::Builder::new()
            .stack_size(16 << 10)
            .spawn(move || ended.recv().is_ok())
        {
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
pub(super) fn run_on_thread<T: Send>(
    stack: usize,
    work: impl FnOnce() -> Result<T, SqlError> + Send,
) -> Result<T, SqlError> {
    thread::scope(|scope| {
        let started = thread::Builder::new()
            .name("query".to_owned())
            .stack_size(stack)
            .spawn_scoped(scope, work);
        let started = started.map_err(|error| threads_refused(&error))?;
        started.join().unwrap_or_else(|_| Err(engine_panicked()))
    })
}

/// Runs work of the table engine on each item, on threads of its own, as many as the pool has, and returns the results in order. Of a pool's
/// workers, each would begin further items while it waits for the engine, and hold the memory of all of them.
pub(super) fn map_on_threads<T: Sync, R: Send>(
    items: &[T],
    work: impl Fn(&T) -> Result<R, SqlError> + Sync,
) -> Result<Vec<R>, SqlError> {
    let next = AtomicUsize::new(0);
    let take = || {
        let place = next.fetch_add(1, Ordering::Relaxed);
        Some((place, items.get(place)?))
    };
    let some = || {
        let mut done = Vec::new();
        while let Some((place, item)) = take() {
            // After a failure nobody begins another item.
            let result = work(item).inspect_err(|_| next.store(items.len(), Ordering::Relaxed))?;
            done.push((place, result));
        }
        Ok(done)
    };
    let wanted = rayon::current_num_threads().min(items.len());
    let mut done: Vec<(usize, R)> = thread::scope(|scope| {
        let start = |_| {
            thread::Builder::new()
                .name("table".to_owned())
                .stack_size(STACK_BYTES)
                .spawn_scoped(scope, some)
        };
        let started: Vec<_> =
            (0..wanted)
                .map(start)
                .collect::<Result<_, _>>()
                .map_err(|error| {
                    next.store(items.len(), Ordering::Relaxed);
                    threads_refused(&error)
                })?;
        // All are joined before a failure is returned: the panic of one that is not joined would go on here.
        let ended: Vec<_> = started
            .into_iter()
            .map(|thread| thread.join().unwrap_or_else(|_| Err(engine_panicked())))
            .collect();
        ended
            .into_iter()
            .collect::<Result<Vec<_>, SqlError>>()
            .map(|done| done.into_iter().flatten().collect())
    })?;
    done.sort_by_key(|(place, _)| *place);
    Ok(done.into_iter().map(|(_, result)| result).collect())
}

fn threads_refused(error: &io::Error) -> SqlError {
    SqlError::Refused(format!("the system gives no threads to work with: {error}"))
}

fn engine_panicked() -> SqlError {
    SqlError::Failed("the table engine gave it up".to_owned())
}

/// Fails if the system cannot start the table engine's threads.
pub(super) fn check_threads() -> Result<(), SqlError> {
    static IS_GIVEN: OnceLock<bool> = OnceLock::new();
    // The table engine has two pools.
    let wanted = || 2 * thread::available_parallelism().map_or(1, NonZero::get) + EXTRA_THREADS;
    if *IS_GIVEN.get_or_init(|| can_start_threads(wanted())) {
        return Ok(());
    }
    Err(SqlError::Refused(
        "the system gives no threads to work with: raise the limit of processes (`ulimit -u`)"
            .to_owned(),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_are_in_order_and_a_failure_ends_all() {
        let numbers: Vec<usize> = (0..100).collect();
        assert_eq!(
            map_on_threads(&numbers, |number| Ok(number * 2)).expect("no failure"),
            (0..200).step_by(2).collect::<Vec<_>>()
        );
        assert!(
            map_on_threads(&numbers[..0], |number| Ok(*number))
                .expect("nothing to do")
                .is_empty()
        );
        // So many and so slow that a thread which is held up by other programs still ends them.
        let many: Vec<usize> = (0..10_000).collect();
        let begun = AtomicUsize::new(0);
        let failed = map_on_threads(&many, |number| {
            begun.fetch_add(1, Ordering::Relaxed);
            if *number == 3 {
                return Err(SqlError::Refused("enough".to_owned()));
            }
            thread::sleep(std::time::Duration::from_millis(1));
            Ok(*number)
        });
        assert!(failed.is_err_and(|error| error.to_string().contains("enough")));
        assert!(
            begun.into_inner() < many.len(),
            "no item is begun after a failure"
        );
        assert!(
            map_on_threads(&numbers, |number| if *number == 3 {
                panic!("a defect")
            } else {
                Ok(())
            })
            .is_err()
        );
    }

    #[test]
    fn no_more_items_are_held_than_there_are_threads() {
        let (now, most) = (AtomicUsize::new(0), AtomicUsize::new(0));
        let numbers: Vec<u32> = (0..64).collect();
        // The work waits for a pool, as the table engine does.
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(2)
            .build()
            .expect("threads");
        let work = |_: &u32| {
            most.fetch_max(now.fetch_add(1, Ordering::Relaxed) + 1, Ordering::Relaxed);
            pool.install(|| thread::sleep(std::time::Duration::from_millis(1)));
            now.fetch_sub(1, Ordering::Relaxed);
            Ok(())
        };
        map_on_threads(&numbers, work).expect("no failure");
        assert!(most.into_inner() <= rayon::current_num_threads());
    }
}
