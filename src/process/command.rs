//! A program to run, and its bounds.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use super::Confinement;

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
    /// What it may reach of this machine; everything that its user may without.
    pub confinement: Option<Arc<Confinement>>,
}

/// What bounds a program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Limits {
    /// How long it may run. A [`Background`](super::Background) has no such limit: who started it stops it.
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
