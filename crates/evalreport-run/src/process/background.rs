//! Programs that run in the background, such as the server of a suite.

use super::running::{OutputStreams, RunningProgram};
use super::{CapturedOutput, FinishedProgram, Listener, ProgramCommand, ProgramExit, StartError};

/// A program that runs until it is stopped or dropped. Its process group ends with it.
pub struct BackgroundProgram {
    /// `None` once stopped.
    running: Option<RunningProgram>,
}

impl BackgroundProgram {
    pub fn start(command: &ProgramCommand) -> Result<Self, StartError> {
        let mut running = RunningProgram::start(command, OutputStreams::Merged)?;
        running.register_guard();
        Ok(Self {
            running: Some(running),
        })
    }

    /// Returns how the program ended, or `None` if it still runs. Its child processes may outlive it.
    pub fn exit_by_now(&mut self) -> Option<ProgramExit> {
        self.running.as_mut().and_then(RunningProgram::exit_by_now)
    }

    /// Returns who listens on a port of this machine's network.
    pub fn find_listener(&self, port: u16) -> Listener {
        self.running
            .as_ref()
            .map_or(Listener::Unknown, |running| running.find_listener(port))
    }

    /// Returns the output so far, both streams merged in the order of writing.
    pub fn captured_output(&self) -> CapturedOutput {
        self.running
            .as_ref()
            .map(RunningProgram::captured_output)
            .unwrap_or_default()
    }

    /// Ends the program and everything it started. If it had already ended by itself, the result says how.
    pub fn stop(mut self) -> FinishedProgram {
        let running = self
            .running
            .take()
            .expect("only stopping takes it, and that takes the whole");
        finish_stopped(running)
    }
}

impl Drop for BackgroundProgram {
    fn drop(&mut self) {
        self.running.take().map(finish_stopped);
    }
}

fn finish_stopped(mut running: RunningProgram) -> FinishedProgram {
    let end = running.exit_by_now().unwrap_or(ProgramExit::Stopped);
    running.terminate(|| false);
    running.into_finished(end)
}
