//! A program that runs beside others: the server of a suite.

use super::running::{Running, Streams};
use super::{Captured, Command, End, Finished, StartError};

/// A program that runs until it is stopped or dropped, and its process group with it.
pub struct Background {
    /// Absent once stopped.
    running: Option<Running>,
}

impl Background {
    pub fn start(command: &Command) -> Result<Self, StartError> {
        let mut running = Running::start(command, Streams::Merged)?;
        running.guard();
        Ok(Self { running: Some(running) })
    }

    /// Returns how the program ended, if it ended by itself; what it started in turn may still run.
    pub fn exited(&mut self) -> Option<End> {
        self.running.as_mut().and_then(Running::end_by_now)
    }

    /// Returns what it wrote so far, both streams in the order of their writing.
    pub fn output(&self) -> Captured {
        self.running.as_ref().map(Running::output).unwrap_or_default()
    }

    /// Ends the program and everything it started. The end is its own where it came first.
    pub fn stop(mut self) -> Finished {
        let running = self.running.take().expect("only stopping takes it, and that takes the whole");
        finish(running)
    }
}

impl Drop for Background {
    fn drop(&mut self) {
        self.running.take().map(finish);
    }
}

fn finish(mut running: Running) -> Finished {
    let end = running.end_by_now().unwrap_or(End::Stopped);
    running.terminate(|| false);
    running.finish(end)
}
