//! The result of a program.

use std::time::Duration;

use super::CapturedOutput;

/// The result of a program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FinishedProgram {
    pub end: ProgramExit,
    /// For a [`BackgroundProgram`](super::BackgroundProgram), both streams in the order of writing.
    pub stdout: CapturedOutput,
    pub stderr: CapturedOutput,
    /// Time from the start to the program's own end. Excludes the wait for processes that it left behind.
    pub wall: Duration,
}

/// How a program ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProgramExit {
    /// It exited by itself with this code.
    Exited(i32),
    /// A signal from elsewhere killed it.
    Signalled(i32),
    /// It reached its time limit and was stopped.
    TimedOut,
    /// [`StopSignal`](super::StopSignal) or [`BackgroundProgram::stop`](super::BackgroundProgram::stop) stopped it.
    Stopped,
}
