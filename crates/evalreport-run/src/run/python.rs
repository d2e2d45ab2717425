//! Creates a separate Python environment for each run, so that runs do not share installed packages.

use std::path::Path;
use std::time::Duration;

use crate::process::{self, FinishedProgram, ProgramExit, StartError, StopSignal};

use super::shell::CommandShell;

/// Runs without the workspace in Python's path, so that a `zipfile.py` there does not shadow the standard module.
const VENV_SCRIPT: &str = include_str!("venv.py");

/// What the Python of a suite's tests does first.
const TESTS_PYTHON_SCRIPT: &str = include_str!("tests_python.py");

/// Whose programs an environment is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EnvironmentUser {
    /// The approach's. Setup may change it.
    Program,
    /// The suite's tests. No program of a run may change it.
    Tests,
}

/// Creates the environment in `folder`, whose parent must not be the workspace, and provides this machine's pytest in `runner`.
pub fn create_environment(
    shell: &CommandShell,
    whose: EnvironmentUser,
    folder: &Path,
    runner: &Path,
    wall: Duration,
    stop: &StopSignal,
) -> Result<FinishedProgram, StartError> {
    let python = if cfg!(windows) { "python" } else { "python3" };
    let places = [folder, runner].map(|path| path.display().to_string());
    let rules = (whose == EnvironmentUser::Tests).then_some(TESTS_PYTHON_SCRIPT);
    let argv = [python, "-I", "-c", VENV_SCRIPT]
        .into_iter()
        .chain(places.iter().map(String::as_str))
        .chain(rules)
        .map(str::to_owned)
        .collect();
    // The sandbox is meant for the approach's code and may not even show this folder.
    let shell = CommandShell {
        wrap: Vec::new(),
        variables: shell.variables.clone(),
        confinement: None,
    };
    process::run_program(
        &shell.program_command(argv, folder.parent().unwrap_or(folder), Some(wall)),
        stop,
    )
}

/// Returns whether a failed installation blames the network rather than the packages.
pub fn is_unreachable(finished: &FinishedProgram) -> bool {
    const NETWORK_PHRASES: [&str; 6] = [
        "connection broken by",
        "failed to establish a new connection",
        "temporary failure in name resolution",
        "could not fetch url",
        "read timed out",
        "connection reset by peer",
    ];
    let said = format!("{}\n{}", finished.stderr.text(), finished.stdout.text()).to_lowercase();
    finished.end != ProgramExit::Exited(0)
        && NETWORK_PHRASES.iter().any(|phrase| said.contains(phrase))
}
