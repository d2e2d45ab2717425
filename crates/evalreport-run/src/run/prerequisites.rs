//! What a suite's setup and tests need from this machine, looked for before anything is paid for.
//!
//! Only what certainly is missing is reported: a tool that a line begins with, not any word of it, and none that an earlier line may install.
//! Programs inside a sandbox are not looked for, because it may have others. What is found missing only after an approach has worked is
//! recorded as `infra`, and can be tested later.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::OnceLock;
use std::time::Duration;

use crate::agent::AgentEnvironment;
use crate::domain::escape_invisible;
use crate::evaluate::{named_tools, required_tools};
use crate::process::{self, ProgramCommand, ProgramExit, ProgramLimits, StopSignal};
use crate::suite::Suite;

use super::shell::{CommandShell, needs_bash};

/// Tools that pip installs: a setup may do so without naming them, from a list of requirements.
const OF_PIP: [&str; 8] = [
    "behave",
    "coverage",
    "nose2",
    "playwright",
    "poetry",
    "pytest",
    "tox",
    "uv",
];
/// Programs of a virtual environment, which each run of a Python suite has.
const OF_VENV: [&str; 2] = ["python", "python3"];
const PYTHON_PROGRAM: &str = if cfg!(windows) { "python" } else { "python3" };
/// Prints the modules that are missing for virtual environments and tests, with user-wide packages, as when they are lent to the tests.
const MODULES_SCRIPT: &str = "import importlib.util, site, sys; sys.path.append(site.getusersitepackages()); \
                       print(*[name for name in ('venv', 'ensurepip', 'pytest') if importlib.util.find_spec(name) is None])";
/// Time limit of asking Python. A busy machine is slow, and what does not answer counts as there.
const QUERY_LIMIT: Duration = Duration::from_secs(20);

/// Something that is missing, and how to get it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MissingPrerequisite {
    pub what: String,
    pub remedy: String,
}

/// Looks for tools, and asks Python for its modules at most once.
pub struct Prerequisites<'a> {
    environment: &'a AgentEnvironment,
    root: &'a Path,
    /// The modules that Python lacks.
    modules: OnceLock<Vec<String>>,
}

impl<'a> Prerequisites<'a> {
    pub fn new(environment: &'a AgentEnvironment, root: &'a Path) -> Self {
        Self {
            environment,
            root,
            modules: OnceLock::new(),
        }
    }

    /// Returns what the suite's setup, server and tests need and this machine lacks. `wrap` is the sandbox that they start in.
    pub fn list_missing(&self, suite: &Suite, wrap: &[String]) -> Vec<MissingPrerequisite> {
        if !wrap.is_empty() || suite.questions.is_some() {
            return Vec::new();
        }
        let is_python = suite.language.as_deref() == Some("python");
        let setup = suite.setup.iter();
        let server = suite.server.iter().map(|server| &server.command);
        let lines: Vec<&String> = setup
            .chain(server)
            .chain(&suite.tests.shared)
            .chain(&suite.tests.functional)
            .collect();
        let mut found: BTreeMap<String, MissingPrerequisite> = BTreeMap::new();
        let mut add = |name: &str, missing: MissingPrerequisite| {
            found.entry(name.to_owned()).or_insert(missing);
        };
        for (number, line) in lines.iter().enumerate() {
            for tool in required_tools(line) {
                let is_of_venv = is_python && OF_VENV.contains(&tool);
                let before = &lines[..number.min(suite.setup.len())];
                let may_be_installed = before.iter().any(|line| mentions_tool(line, tool))
                    || (OF_PIP.contains(&tool) && !before.is_empty());
                if !(is_of_venv
                    || may_be_installed
                    || (is_python && tool == "pytest")
                    || self.is_on_path(tool))
                {
                    add(
                        tool,
                        MissingPrerequisite {
                            what: format!("`{tool}` is not on PATH"),
                            remedy: suggest_remedy(tool),
                        },
                    );
                }
            }
            if needs_bash(line) && !self.is_on_path("bash") {
                add(
                    "bash",
                    MissingPrerequisite {
                        what: "`bash` is not on PATH".to_owned(),
                        remedy: suggest_remedy("bash"),
                    },
                );
            }
        }
        let calls_pytest =
            suite.setup.is_empty() && lines.iter().any(|line| line.contains("python3 -m pytest"));
        if is_python || calls_pytest {
            if self.is_on_path(PYTHON_PROGRAM) {
                let tests = || suite.tests.shared.iter().chain(&suite.tests.functional);
                // The rule of the examination: a suite's own setup may name the pytest to install.
                let wants_pytest = tests()
                    .any(|line| named_tools(line).any(|tool| tool == "pytest"))
                    && !installs_pytest(&suite.setup);
                for module in self.missing_modules().iter().filter(|module| {
                    if *module == "pytest" {
                        wants_pytest
                    } else {
                        is_python
                    }
                }) {
                    let remedy = match module.as_str() {
                        "pytest" => format!(
                            "{PYTHON_PROGRAM} -m pip install pytest, or name it in `setup` of the suite"
                        ),
                        _ => format!(
                            "install the venv package of Python's distribution, such as {PYTHON_PROGRAM}-venv"
                        ),
                    };
                    add(
                        module,
                        MissingPrerequisite {
                            what: format!(
                                "`{PYTHON_PROGRAM}` has no module `{}`",
                                escape_invisible(module)
                            ),
                            remedy,
                        },
                    );
                }
            } else {
                add(
                    PYTHON_PROGRAM,
                    MissingPrerequisite {
                        what: format!("`{PYTHON_PROGRAM}` is not on PATH"),
                        remedy: suggest_remedy(PYTHON_PROGRAM),
                    },
                );
            }
        }
        found.into_values().collect()
    }

    /// Returns the tools of an approach's own tests that this machine lacks. An approach may bring them, so their absence stops nothing: its
    /// own tests are then unknown.
    pub fn list_missing_for_own_tests(
        &self,
        suite: &Suite,
        wrap: &[String],
    ) -> Vec<MissingPrerequisite> {
        if !wrap.is_empty() {
            return Vec::new();
        }
        let is_python = suite.language.as_deref() == Some("python");
        let is_brought = |tool: &str| {
            let is_of_venv = is_python && (OF_VENV.contains(&tool) || tool == "pytest");
            is_of_venv
                || suite.setup.iter().any(|line| mentions_tool(line, tool))
                || (OF_PIP.contains(&tool) && !suite.setup.is_empty())
        };
        let tools: BTreeSet<&str> = suite
            .tests
            .own
            .iter()
            .flat_map(|line| required_tools(line))
            .collect();
        let missing = tools
            .into_iter()
            .filter(|tool| !is_brought(tool) && !self.is_on_path(tool));
        missing
            .map(|tool| MissingPrerequisite {
                what: format!("`{tool}` is not on PATH"),
                remedy: suggest_remedy(tool),
            })
            .collect()
    }

    fn is_on_path(&self, program: &str) -> bool {
        let folders = self.environment.variable("PATH").unwrap_or_default();
        let suffixes = if cfg!(windows) {
            ["", ".exe", ".cmd", ".bat"].as_slice()
        } else {
            &[""]
        };
        std::env::split_paths(folders).any(|folder| {
            suffixes
                .iter()
                .any(|suffix| folder.join(format!("{program}{suffix}")).is_file())
        })
    }

    fn missing_modules(&self) -> &[String] {
        self.modules.get_or_init(|| {
            let shell = CommandShell::without_secrets(self.environment, &[]);
            let argv = [PYTHON_PROGRAM, "-I", "-c", MODULES_SCRIPT]
                .map(str::to_owned)
                .to_vec();
            let limits = ProgramLimits {
                wall: Some(QUERY_LIMIT),
                output_bytes: 4 << 10,
                grace: Duration::ZERO,
            };
            let command = ProgramCommand {
                limits,
                ..shell.program_command(argv, self.root, None)
            };
            match process::run_program(&command, &StopSignal::new()) {
                Ok(finished) if finished.end == ProgramExit::Exited(0) => finished
                    .stdout
                    .text()
                    .split_whitespace()
                    .map(str::to_owned)
                    .collect(),
                Ok(_) | Err(_) => Vec::new(),
            }
        })
    }
}

/// Returns whether a setup names the pytest that it installs.
pub fn installs_pytest(setup: &[String]) -> bool {
    let is_pytest = |line: &String| {
        line.split([' ', '"', '\''])
            .any(|word| word == "pytest" || word.starts_with("pytest="))
    };
    setup.iter().any(is_pytest)
}

fn mentions_tool(line: &str, tool: &str) -> bool {
    line.split(|character: char| !character.is_ascii_alphanumeric() && !"_-".contains(character))
        .any(|word| word == tool)
}

fn suggest_remedy(tool: &str) -> String {
    match tool {
        "cargo" => "install Rust, or add its folder to PATH".to_owned(),
        "node" | "npm" | "npx" => "install Node.js, or add its folder to PATH".to_owned(),
        "pytest" => "install it, or call it as `python3 -m pytest`".to_owned(),
        _ => "install it, or add its folder to PATH".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns what is missing on a machine that has only these programs, for a suite with these lines.
    fn missing(programs: &[&str], suite: &str) -> Vec<String> {
        let root = tempfile::tempdir().expect("a temporary folder");
        let (bin, folder) = (root.path().join("bin"), root.path().join("suites/s"));
        std::fs::create_dir_all(&bin).expect("a folder");
        std::fs::create_dir_all(&folder).expect("a folder");
        for program in programs {
            std::fs::write(bin.join(program), "").expect("writable");
        }
        std::fs::write(folder.join("order.md"), "Make it.").expect("writable");
        std::fs::write(
            folder.join("suite.yaml"),
            format!("name: s\nrequirements: order.md\n{suite}\n"),
        )
        .expect("writable");
        let suite = crate::suite::load_suite(root.path(), &folder).expect("a suite");
        let variables = [("PATH".to_owned(), bin.display().to_string())].into();
        let environment = AgentEnvironment {
            variables,
            ..AgentEnvironment::default()
        };
        let prerequisites = Prerequisites::new(&environment, root.path());
        prerequisites
            .list_missing(&suite, &suite.wrap)
            .into_iter()
            .map(|missing| missing.what)
            .collect()
    }

    #[test]
    fn missing_names_every_tool_that_begins_a_command() {
        let all = "setup: ['npm ci']\ntests: {shared: ['cd x && go test ./...', 'FOO=1 timeout 60 cargo test'], functional: ['curl -f x']}";
        assert_eq!(missing(&["timeout"], all).len(), 4);
        assert_eq!(
            missing(&["npm", "go", "cargo", "timeout", "curl"], all),
            Vec::<String>::new()
        );
    }

    #[test]
    fn missing_reports_nothing_that_may_be_there() {
        for suite in [
            // An argument, an alternative, a program of the work, and one that setup installs.
            "tests: {shared: ['echo go', './run.sh node']}",
            "tests: {shared: ['node a.js || bun a.js', 'command -v deno && deno test', 'if true; then go test; fi']}",
            "setup: ['sh get.sh jest']\ntests: {shared: ['jest']}",
            "wrap: [box]\ntests: {shared: ['go test']}",
        ] {
            assert_eq!(missing(&["sh"], suite), Vec::<String>::new(), "{suite}");
        }
    }
}
