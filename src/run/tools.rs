//! Versions of the tools that test the work of approaches.
//!
//! Asking takes as long as starting the tools, so it is done once per plan, in parallel with its runs.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::LazyLock;
use std::time::Duration;

use crate::agent::Environment;
use crate::evaluate::{CommandResult, tools_of};
use crate::process::{self, Command, Limits, Stop};
use crate::suite::Suite;

use super::arm::{Arm, Work};
use super::shell::Shell;

/// Time limit per tool. A slower tool is left out.
const WALL: Duration = Duration::from_secs(5);
const MOST_OUTPUT_BYTES: u64 = 4 << 10;
const MOST_CHARACTERS: usize = 120;
/// Tools that have no version option, or are parts of other tools.
const SILENT: [&str; 5] = ["bundle", "env", "sh", "stack", "unittest"];

/// The first line of each tool's version output.
type Versions = BTreeMap<String, String>;

/// Versions that are being collected.
pub struct ToolVersions {
    found: LazyLock<Versions, Box<dyn FnOnce() -> Versions + Send>>,
}

impl ToolVersions {
    /// Starts asking the tools named in the arms' suites, with the environment of tests.
    pub fn ask(arms: &[Arm], environment: &Environment, root: &Path) -> Self {
        let named: BTreeSet<String> = arms
            .iter()
            .filter_map(suite_of)
            .flat_map(commands)
            .flat_map(tools_of)
            .filter(|tool| !SILENT.contains(tool))
            .map(str::to_owned)
            .collect();
        let shell = Shell::without_secrets(environment, &[]);
        let folder = root.to_path_buf();
        let ask = move || {
            named
                .into_iter()
                .filter_map(|tool| Some((version(&tool, &shell, &folder)?, tool)))
                .map(|(said, tool)| (tool, said))
                .collect()
        };
        // Without a free thread, the versions stay unknown.
        let asked = std::thread::Builder::new().spawn(ask).ok();
        let found = move || {
            asked
                .and_then(|asked| asked.join().ok())
                .unwrap_or_default()
        };
        Self {
            found: LazyLock::new(Box::new(found)),
        }
    }

    /// Returns the known versions of the tools that a suite names.
    pub fn of(&self, suite: &Suite) -> Versions {
        let named: BTreeSet<&str> = commands(suite).flat_map(tools_of).collect();
        self.found
            .iter()
            .filter(|(tool, _)| named.contains(tool.as_str()))
            .map(|(tool, said)| (tool.clone(), said.clone()))
            .collect()
    }
}

fn suite_of(arm: &Arm) -> Option<&Suite> {
    match &arm.work {
        Work::Code(work) => Some(&work.suite),
        Work::Questions(_) => None,
    }
}

/// Returns the commands with which a suite prepares, builds and tests.
fn commands(suite: &Suite) -> impl Iterator<Item = &str> {
    let server = suite.server.iter().map(|server| &server.command);
    let tests = &suite.tests;
    let lists = [
        &suite.setup,
        &tests.shared,
        &tests.functional,
        &tests.own,
        &suite.static_analysis,
    ];
    let single = [&suite.build_command, &suite.test_command];
    lists
        .into_iter()
        .flatten()
        .chain(single.into_iter().flatten())
        .chain(server)
        .map(String::as_str)
}

/// Asks a tool for its version. Returns `None` if the tool is missing or prints nothing.
fn version(tool: &str, shell: &Shell, folder: &Path) -> Option<String> {
    let option = match tool {
        "go" => "version",
        "ant" | "java" => "-version",
        _ => "--version",
    };
    let limits = Limits {
        wall: Some(WALL),
        output_bytes: MOST_OUTPUT_BYTES,
        grace: Duration::ZERO,
    };
    let command = Command {
        limits,
        ..shell.program([tool, option].map(str::to_owned).to_vec(), folder, None)
    };
    let line = CommandResult::of(process::run(&command, &Stop::new()).ok()?)?.first_line()?;
    Some(
        line.chars()
            .filter(|character| !character.is_control())
            .take(MOST_CHARACTERS)
            .collect(),
    )
}
