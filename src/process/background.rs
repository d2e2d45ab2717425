//! Programs that run in the background, such as the server of a suite.

use super::running::{Running, Streams};
use super::{Captured, Command, End, Finished, Listener, StartError};

/// A program that runs until it is stopped or dropped. Its process group ends with it.
pub struct Background {
    /// `None` once stopped.
    running: Option<Running>,
}

impl Background {
    pub fn start(command: &Command) -> Result<Self, StartError> {
        let mut running = Running::start(command, Streams::Merged)?;
        running.guard();
        Ok(Self {
            running: Some(running),
        })
    }

    /// Returns how the program ended, or `None` if it still runs. Its child processes may outlive it.
    pub fn exited(&mut self) -> Option<End> {
        self.running.as_mut().and_then(Running::end_by_now)
    }

    /// Returns who listens on a port of this machine's network.
    pub fn listener(&self, port: u16) -> Listener {
        self.running
            .as_ref()
            .map_or(Listener::Unknown, |running| running.listener(port))
    }

    /// Returns the output so far, both streams merged in the order of writing.
    pub fn output(&self) -> Captured {
        self.running
            .as_ref()
            .map(Running::output)
            .unwrap_or_default()
    }

    /// Ends the program and everything it started. If it had already ended by itself, the result says how.
    pub fn stop(mut self) -> Finished {
        let running = self
            .running
            .take()
            .expect("only stopping takes it, and that takes the whole");
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
