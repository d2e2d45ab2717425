//! Starting, feeding, limiting and stopping programs, with everything that they start.
//!
//! The programs are foreign and may do anything: hang, flood their output, ignore requests to end, leave children behind. So every program
//! gets its own process group, its output is read within limits, every wait is bounded, and the group ends with the program. The caller
//! decides what to run and what the result means.
//!
//! Threads wait and report to one channel, so a short program costs little and nothing polls while it runs.
//!
//! Confined programs ([`Confinement`]) have a session of their own and, where users may make them, processes of their own, which all end
//! together.
//!
//! # Limits
//!
//! - On Linux no local process escapes: the command line makes this process the parent of everything left behind ([`adopt`]). Without
//!   [`adopt`], a program that is not confined escapes if it is started in a new session *and* with an empty environment. Without `/proc`,
//!   leaving the group is enough.
//! - Programs that another service starts on request, such as a container or a timer, are out of reach.
//! - If this process is killed outright, a guard kills its programs. It misses programs that left their groups, and those in their first
//!   tenth of a second.
//! - Windows has neither process groups nor requests to end: the tree of child processes is killed at once.

mod allowance;
mod background;
#[cfg(target_os = "linux")]
mod calls;
mod captured;
mod command;
mod confinement;
#[cfg(target_os = "linux")]
mod entrance;
#[cfg(target_os = "linux")]
mod fence;
mod finished;
mod guard;
#[cfg(target_os = "linux")]
mod handover;
mod helpers;
mod network;
#[cfg(target_os = "linux")]
mod order;
mod pager;
mod port;
#[cfg(target_os = "linux")]
mod powers;
mod probe;
mod running;
#[cfg(target_os = "linux")]
mod scene;
mod start_error;
mod stop;
mod system;
#[cfg(all(test, unix))]
mod tests;

use std::io;
use std::net::TcpListener;
use std::time::Duration;

pub use allowance::Allowance;
pub use background::BackgroundProgram;
pub use captured::CapturedOutput;
pub use command::{ProgramCommand, ProgramLimits};
pub use confinement::{
    AccessGrants, Confinement, ConfinementSupport, GrantedPaths, has_spaces, paths_except, support,
};
pub use finished::{FinishedProgram, ProgramExit};
pub use helpers::serve_helpers;
pub use network::Network;
pub use pager::show_in_pager;
pub use port::{Listener, PortTurn};
pub use probe::Probe;
pub use start_error::StartError;
pub use stop::StopSignal;
pub use system::{MARK_VARIABLE, TEMPORARY_FOLDERS, adopt, fresh_mark};

use running::{OutputStreams, RunningProgram, instant_after};

/// Runs a program until it ends, its time is up or `stop` is set. Its process group ends with it.
///
/// A program counts as ended even if another process holds its output open. That process gets the grace to finish writing.
pub fn run_program(
    command: &ProgramCommand,
    stop: &StopSignal,
) -> Result<FinishedProgram, StartError> {
    if stop.is_stopped() {
        return Ok(FinishedProgram {
            end: ProgramExit::Stopped,
            stdout: CapturedOutput::default(),
            stderr: CapturedOutput::default(),
            wall: Duration::ZERO,
        });
    }
    let mut running = RunningProgram::start(command, OutputStreams::Apart)?;
    let _watch = stop.add_watcher(running.sender());
    let deadline = command
        .limits
        .wall
        .and_then(|wall| running.start_instant().checked_add(wall));
    let is_over = |running: &RunningProgram| running.program_exit().is_some() || stop.is_stopped();
    let patience = instant_after(guard::GUARD_DELAY);
    running.wait_until(
        deadline.map_or(patience, |deadline| {
            patience.map(|patience| patience.min(deadline))
        }),
        is_over,
    );
    if !is_over(&running) {
        running.register_guard();
        running.wait_until(deadline, is_over);
    }
    let end = match running.program_exit() {
        Some(end) => {
            running.drain_output(|| stop.is_stopped());
            end
        }
        None => {
            let cause = if stop.is_stopped() {
                ProgramExit::Stopped
            } else {
                ProgramExit::TimedOut
            };
            running.terminate(|| stop.is_urgent());
            cause
        }
    };
    Ok(running.into_finished(end))
}

/// Returns a currently free port of the loopback interface.
///
/// Another process may take the port first. The server then fails to start, and the caller must try another port.
pub fn free_port() -> io::Result<u16> {
    Ok(TcpListener::bind(("127.0.0.1", 0))?.local_addr()?.port())
}
