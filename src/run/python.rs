//! A Python environment of its own for each run: what one run installs, no other finds.

use std::path::Path;
use std::time::Duration;

use crate::process::{self, End, Finished, StartError, Stop};

use super::shell::Shell;

/// Run without the workspace in Python's path: whatever an approach calls `zipfile.py` stays out of it.
const SCRIPT: &str = include_str!("venv.py");

/// Makes the environment in `folder`, whose parent is not the workspace, and puts into `runner` what it is lent: the pytest of this machine.
pub fn create(shell: &Shell, folder: &Path, runner: &Path, wall: Duration, stop: &Stop) -> Result<Finished, StartError> {
    let python = if cfg!(windows) { "python" } else { "python3" };
    let argv = [python, "-I", "-c", SCRIPT, &folder.display().to_string(), &runner.display().to_string()].map(str::to_owned).to_vec();
    // A sandbox is for what the approach made, and may not even show the folder.
    let shell = Shell { wrap: Vec::new(), variables: shell.variables.clone(), confinement: None };
    process::run(&shell.program(argv, folder.parent().unwrap_or(folder), Some(wall)), stop)
}

/// Says whether a failed installation speaks of the network rather than of what was to be installed.
pub fn is_unreachable(finished: &Finished) -> bool {
    const PHRASES: [&str; 6] = [
        "connection broken by",
        "failed to establish a new connection",
        "temporary failure in name resolution",
        "could not fetch url",
        "read timed out",
        "connection reset by peer",
    ];
    let said = format!("{}\n{}", finished.stderr.text(), finished.stdout.text()).to_lowercase();
    finished.end != End::Exited(0) && PHRASES.iter().any(|phrase| said.contains(phrase))
}
