//! Limits a query's time and memory. A query beyond its limits is refused, whatever the program is doing at that moment.

use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

use super::failure::CommandFailure;
use super::output;

/// Interval between two checks. A machine allocates at most some hundred MB in that time.
const CHECK_INTERVAL: Duration = Duration::from_millis(20);
/// Default memory limit in MiB, unless half of the free memory is less.
const DEFAULT_MIB: u64 = 4096;

/// Stops watching when it is dropped.
pub(super) struct QueryLimitGuard {
    _running: mpsc::Sender<()>,
}

/// Ends the program with an error once it runs longer than `seconds` or holds more memory than `mib`. Memory is only known on Linux.
pub(super) fn limit_query(
    seconds: u32,
    mib: Option<u64>,
) -> Result<QueryLimitGuard, CommandFailure> {
    let mib =
        mib.unwrap_or_else(|| free_mib().map_or(DEFAULT_MIB, |free| (free / 2).min(DEFAULT_MIB)));
    let (running, ended) = mpsc::channel::<()>();
    let last = Instant::now() + Duration::from_secs(seconds.into());
    let look = move || {
        while ended.recv_timeout(CHECK_INTERVAL) == Err(RecvTimeoutError::Timeout) {
            if let Some(failure) = exceeded_limit(Instant::now() >= last, seconds, used_mib(), mib)
            {
                output::print_failure(&failure);
                std::process::exit(failure.code.into());
            }
        }
    };
    let started = thread::Builder::new().name("bounds".to_owned()).spawn(look);
    started.map_err(|error| {
        CommandFailure::new(format!("the system gives no threads to work with: {error}"))
    })?;
    Ok(QueryLimitGuard { _running: running })
}

fn exceeded_limit(
    is_late: bool,
    seconds: u32,
    held: Option<u64>,
    mib: u64,
) -> Option<CommandFailure> {
    if is_late {
        let failure = CommandFailure::new(format!(
            "the query took more than {}",
            crate::render::format::format_count(seconds.into(), "second")
        ));
        return Some(failure.with_hint(
            "join by run_id and item, ask for less, or give it longer with --timeout SECONDS",
        ));
    }
    held.filter(|held| *held > mib).map(|_| {
        let failure = CommandFailure::new(format!("the query needs more than {mib} MiB of memory"));
        failure
            .with_hint("join by run_id and item, ask for less, or give it more with --memory MIB")
    })
}

/// Returns the memory that this program holds, in MiB.
fn used_mib() -> Option<u64> {
    mib_of("/proc/self/status", "VmRSS:")
}

fn free_mib() -> Option<u64> {
    mib_of("/proc/meminfo", "MemAvailable:")
}

/// Reads a line such as `VmRSS:     1234 kB`.
fn mib_of(file: &str, name: &str) -> Option<u64> {
    let text = crate::files::read_to_string(file).ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix(name))?;
    Some(line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()? >> 10)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_within_bounds_goes_on() {
        assert!(
            exceeded_limit(false, 1, Some(10), 10).is_none()
                && exceeded_limit(false, 1, None, 0).is_none()
        );
        let message = |failure: Option<CommandFailure>| failure.expect("too much").message;
        assert_eq!(
            message(exceeded_limit(true, 1, None, 0)),
            "the query took more than 1 second"
        );
        assert_eq!(
            message(exceeded_limit(false, 1, Some(11), 10)),
            "the query needs more than 10 MiB of memory"
        );
        if cfg!(target_os = "linux") {
            assert!(used_mib().is_some_and(|held| held > 0) && free_mib().is_some());
        }
    }
}
