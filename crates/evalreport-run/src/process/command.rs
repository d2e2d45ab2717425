//! A program to run, and its limits.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use super::Confinement;

/// A program to run, with its input, environment and limits.
#[derive(Debug, Clone)]
pub struct ProgramCommand {
    /// The program and its arguments, which no shell interprets.
    pub argv: Vec<OsString>,
    pub cwd: PathBuf,
    /// Variables to set or, with `None`, to remove. All others are inherited from this process.
    pub env: BTreeMap<OsString, Option<OsString>>,
    /// The program's whole standard input.
    pub input: Vec<u8>,
    pub limits: ProgramLimits,
    /// What it may access on this machine. `None` allows everything that its user may do.
    pub confinement: Option<Arc<Confinement>>,
}

/// The limits of a program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProgramLimits {
    /// Maximum running time. Ignored for a [`BackgroundProgram`](super::BackgroundProgram), which its owner stops.
    pub wall: Option<Duration>,
    /// Maximum bytes kept per stream, half from the start and half from the end. Bytes between them are counted and dropped.
    pub output_bytes: u64,
    /// Time between asking the program to end and killing it. Also how long an output is read that other processes hold open.
    pub grace: Duration,
}

impl Default for ProgramLimits {
    /// Returns no time limit, 16 MiB per stream and a grace of five seconds.
    fn default() -> Self {
        Self {
            wall: None,
            output_bytes: 16 << 20,
            grace: Duration::from_secs(5),
        }
    }
}
