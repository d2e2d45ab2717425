//! What became of a program.

use std::time::Duration;

use super::Captured;

/// What became of a program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finished {
    pub end: End,
    /// For a [`Background`](super::Background) both streams in the order of their writing.
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
    /// [`Stop`](super::Stop) or [`Background::stop`](super::Background::stop) stopped it.
    Stopped,
}
