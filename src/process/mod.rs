//! Programs: start, feed, bound and stop them, with everything they start in turn.
//!
//! What runs here is made by others and may do anything: stall, flood its output, ignore requests to end, leave children behind. So
//! every program gets a process group of its own, its output is drained and kept within bounds, every wait has an end, and when a
//! program is over, its group is over. Who calls decides what to run and what the outcome means.
//!
//! Waiting is done by threads that report to one channel, so a short program costs little and nothing is polled while it runs.
//!
//! # Limits
//!
//! - A program that starts another in a session of its own *and* empties that one's environment escapes. Where there is no `/proc`,
//!   leaving the group is enough to escape.
//! - When this process is killed outright, its programs are killed by a guard, but not what left their groups, nor a program in its
//!   first tenth of a second.
//! - Windows knows no process groups and no request to end: the tree of child processes is ended at once.

mod background;
mod captured;
mod guard;
mod running;
mod stop;
mod system;
#[cfg(all(test, unix))]
mod tests;

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io;
use std::net::TcpListener;
use std::path::PathBuf;
use std::time::{Duration, Instant};

pub use background::Background;
pub use captured::Captured;
pub use stop::Stop;

use running::{Running, Streams};

/// The environment variable that marks everything a program starts, so that it is found again outside the process group.
pub const MARK: &str = "EVAL_PROCESS";

/// A program to run, with everything that bounds it.
#[derive(Debug, Clone)]
pub struct Command {
    /// The program and its arguments. No shell reads them.
    pub argv: Vec<OsString>,
    pub cwd: PathBuf,
    /// Variables to set, or with `None` to remove. The others are as in this process.
    pub env: BTreeMap<OsString, Option<OsString>>,
    /// What the program reads; then its input ends.
    pub input: Vec<u8>,
    pub limits: Limits,
}

/// What bounds a program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Limits {
    /// How long it may run. A [`Background`] has no such limit: who started it stops it.
    pub wall: Option<Duration>,
    /// What is kept of each stream: the first half and the last half of this; what lies between is counted and dropped.
    pub output_bytes: u64,
    /// From the request to end until the end is forced, and how long an output is read that other processes hold open.
    pub grace: Duration,
}

impl Default for Limits {
    /// No limit of time, 16 MiB of each stream, five seconds of grace.
    fn default() -> Self {
        Self { wall: None, output_bytes: 16 << 20, grace: Duration::from_secs(5) }
    }
}

/// What became of a program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finished {
    pub end: End,
    /// For a [`Background`] both streams in the order of their writing.
    pub stdout: Captured,
    pub stderr: Captured,
    /// From the start to the program's own end, without the wait for what it left behind.
    pub wall: Duration,
}

/// How a program ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// By itself, with this code.
    Exited(i32),
    /// By a signal that did not come from here.
    Signalled(i32),
    /// It reached its limit of time and was stopped.
    TimedOut,
    /// [`Stop`] or [`Background::stop`] stopped it.
    Stopped,
}

/// Why a program could not be started.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    #[error("program `{}` not found", .program.display())]
    NotFound { program: OsString },
    #[error("`{}` is not a program that can be executed here", .program.display())]
    NotExecutable { program: OsString },
    #[error("program `{}` could not be started: {source}", .program.display())]
    Io { program: OsString, source: io::Error },
}

/// Runs a program until it ends, its time is up or `stop` says so, and its process group with it.
///
/// A program whose output is still held open by another process has ended all the same: that process gets the grace to finish writing.
pub fn run(command: &Command, stop: &Stop) -> Result<Finished, StartError> {
    if stop.is_stopped() {
        return Ok(Finished { end: End::Stopped, stdout: Captured::default(), stderr: Captured::default(), wall: Duration::ZERO });
    }
    let mut running = Running::start(command, Streams::Apart)?;
    let _watch = stop.watch(running.sender());
    let deadline = command.limits.wall.and_then(|wall| running.started().checked_add(wall));
    let is_over = |running: &Running| running.end().is_some() || stop.is_stopped();
    let patience = later(guard::PATIENCE);
    running.wait(deadline.map_or(patience, |deadline| patience.map(|patience| patience.min(deadline))), is_over);
    if !is_over(&running) {
        running.guard();
        running.wait(deadline, is_over);
    }
    let end = match running.end() {
        Some(end) => {
            running.drain(|| stop.is_stopped());
            end
        }
        None => {
            let cause = if stop.is_stopped() { End::Stopped } else { End::TimedOut };
            running.terminate(|| stop.is_urgent());
            cause
        }
    };
    Ok(running.finish(end))
}

/// Returns a port of the loopback interface that was free just now.
///
/// Another process may take it before the server does; the server then fails to start, and the caller tries another.
pub fn free_port() -> io::Result<u16> {
    Ok(TcpListener::bind(("127.0.0.1", 0))?.local_addr()?.port())
}

/// Returns the time after a wait, or none where that is beyond the clock.
fn later(wait: Duration) -> Option<Instant> {
    Instant::now().checked_add(wait)
}
