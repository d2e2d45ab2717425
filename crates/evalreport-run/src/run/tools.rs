//! Versions of the tools that test the work of approaches.
//!
//! Asking takes as long as starting the tools, so it is done once per plan, in parallel with its runs.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::LazyLock;
use std::time::Duration;

use crate::agent::AgentEnvironment;
use crate::evaluate::{CommandResult, named_tools};
use crate::process::{self, ProgramCommand, ProgramLimits, StopSignal};
use crate::suite::Suite;

use super::arm::{ArmWork, RunnableArm};
use super::shell::CommandShell;

/// Time limit per tool. A slower tool is left out.
const VERSION_LIMIT: Duration = Duration::from_secs(5);
const MAX_OUTPUT_BYTES: u64 = 4 << 10;
const MAX_CHARACTERS: usize = 120;
/// Tools that have no version option, or are parts of other tools.
const VERSIONLESS_TOOLS: [&str; 5] = ["bundle", "env", "sh", "stack", "unittest"];

/// The first line of each tool's version output.
type VersionsByTool = BTreeMap<String, String>;

/// Versions that are being collected.
pub struct ToolVersions {
    found: LazyLock<VersionsByTool, Box<dyn FnOnce() -> VersionsByTool + Send>>,
}

impl ToolVersions {
    /// Starts asking the tools named in the arms' suites, with the environment of tests.
    pub fn start_asking(arms: &[RunnableArm], environment: &AgentEnvironment, root: &Path) -> Self {
        let named: BTreeSet<String> = arms
            .iter()
            .filter_map(code_suite)
            .flat_map(suite_commands)
            .flat_map(named_tools)
            .filter(|tool| !VERSIONLESS_TOOLS.contains(tool))
            .map(str::to_owned)
            .collect();
        let shell = CommandShell::without_secrets(environment, &[]);
        let folder = root.to_path_buf();
        let ask = move || {
            named
                .into_iter()
                .filter_map(|tool| Some((ask_version(&tool, &shell, &folder)?, tool)))
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
    pub fn for_suite(&self, suite: &Suite) -> VersionsByTool {
        let named: BTreeSet<&str> = suite_commands(suite).flat_map(named_tools).collect();
        self.found
            .iter()
            .filter(|(tool, _)| named.contains(tool.as_str()))
            .map(|(tool, said)| (tool.clone(), said.clone()))
            .collect()
    }
}

fn code_suite(arm: &RunnableArm) -> Option<&Suite> {
    match &arm.work {
        ArmWork::Code(work) => Some(&work.suite),
        ArmWork::Questions(_) => None,
    }
}

/// Returns the commands with which a suite prepares, builds and tests.
fn suite_commands(suite: &Suite) -> impl Iterator<Item = &str> {
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
fn ask_version(tool: &str, shell: &CommandShell, folder: &Path) -> Option<String> {
    let option = match tool {
        "go" => "version",
        "ant" | "java" => "-version",
        _ => "--version",
    };
    let limits = ProgramLimits {
        wall: Some(VERSION_LIMIT),
        output_bytes: MAX_OUTPUT_BYTES,
        grace: Duration::ZERO,
    };
    let command = ProgramCommand {
        limits,
        ..shell.program_command([tool, option].map(str::to_owned).to_vec(), folder, None)
    };
    let line =
        CommandResult::from_finished(process::run_program(&command, &StopSignal::new()).ok()?)?
            .first_line()?;
    Some(
        line.chars()
            .filter(|character| !character.is_control())
            .take(MAX_CHARACTERS)
            .collect(),
    )
}
