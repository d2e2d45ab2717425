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
//! - On Linux nothing escapes that stays on this machine's own processes: the command line makes this process the parent of whatever is
//!   left behind ([`adopt`]). Without that, a program that starts another in a session of its own *and* empties that one's environment
//!   escapes; where there is no `/proc`, leaving the group is enough.
//! - What a program asks another service to start, such as a container or a timer, is not below it.
//! - When this process is killed outright, its programs are killed by a guard, but not what left their groups, nor a program in its
//!   first tenth of a second.
//! - Windows knows no process groups and no request to end: the tree of child processes is ended at once.

mod background;
mod captured;
mod command;
mod confinement;
mod finished;
mod guard;
mod network;
mod probe;
mod running;
mod start_error;
mod stop;
mod system;
#[cfg(all(test, unix))]
mod tests;

use std::io;
use std::net::TcpListener;
use std::time::Duration;

pub use background::Background;
pub use captured::Captured;
pub use command::{Command, Limits};
pub use confinement::{Confinement, Grants, Places, Support, all_but, support};
pub use finished::{End, Finished};
pub use network::{Network, serve_network};
pub use probe::Probe;
pub use start_error::StartError;
pub use stop::Stop;
pub use system::{MARK, adopt, fresh_mark};

use running::{Running, Streams, later};

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
