//! Results of the commands that an evaluator requests. The caller of the evaluator starts them; this module starts no program.

use std::path::Path;

use super::test_report::{Ending, Output, TestReport};
use crate::document::quote;
use crate::domain::visible;
use crate::process::{End, Finished};

/// Purpose of a command, which decides how it is started.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    Build,
    /// Planned by [`test_report::plan`](super::test_report::plan), so that its report names single tests.
    Tests,
    Coverage,
    Analysis,
}

/// How a command ended, and what it printed.
#[derive(Clone, Debug, PartialEq)]
pub struct CommandResult {
    pub ending: Ending,
    pub stdout: Vec<u8>,
    pub stderr: Vec<u8>,
    /// Why the command could not be started, if the fault is this machine's: no room for a further process, or no shell.
    pub unstarted: Option<String>,
    /// Report of a [`Purpose::Tests`] command that was planned. If it is `None`, the report is read from the output.
    pub tests: Option<TestReport>,
}

/// Runs a line of shell in the finished workspace and waits for it. Returns `None` if the run was stopped meanwhile.
pub type Runner<'r> = dyn Fn(&str, Purpose) -> Option<CommandResult> + 'r;

impl CommandResult {
    /// Converts a finished command; `None` if it was stopped.
    pub fn of(finished: Finished) -> Option<Self> {
        let ending = match finished.end {
            End::Exited(code) => Ending::Code(code),
            End::Signalled(signal) => Ending::Signal(signal),
            End::TimedOut => Ending::TimedOut,
            End::Stopped => return None,
        };
        Some(Self { ending, stdout: finished.stdout.bytes, stderr: finished.stderr.bytes, unstarted: None, tests: None })
    }

    /// Makes the result of a command that could not be started: exit code 127, as a shell reports it.
    pub fn unstarted(reason: String) -> Self {
        let stderr = reason.clone().into_bytes();
        Self { ending: Ending::Code(127), stdout: Vec::new(), stderr, unstarted: Some(reason), tests: None }
    }

    /// Returns both streams as lines without colour codes, standard output first.
    pub(super) fn outputs(&self) -> [Output; 2] {
        [Output::new(&self.stdout, &[]), Output::new(&self.stderr, &[])]
    }

    /// Describes in words how the command ended.
    pub(super) fn ending_words(&self) -> String {
        match self.ending {
            Ending::Code(code) => format!("exit {code}"),
            Ending::Signal(signal) => format!("signal {signal}"),
            Ending::TimedOut => "timed out".to_owned(),
        }
    }

    /// Returns what this machine lacks: a tool that `declared` names, or room to start the command. If something is lacking, the result
    /// says nothing about the work.
    pub(super) fn lacking(&self, declared: &str) -> Option<String> {
        match &self.unstarted {
            Some(reason) => Some(format!("{} could not be started: {}", quote(declared), visible(reason))),
            None => self.missing_tool(declared).map(|tool| format!("{} needs {}, which is not here", quote(declared), quote(&tool))),
        }
    }

    /// Returns the tool that `declared` names and that this machine does not have.
    ///
    /// Only tools named in the command itself count. If a script calls a tool that it forgot to install, that is the fault of the script's
    /// author.
    fn missing_tool(&self, declared: &str) -> Option<String> {
        if self.ending == Ending::Code(0) {
            return None;
        }
        let words: Vec<&str> = words(declared).collect();
        let is_named = |name: &str| !name.is_empty() && !name.contains('/') && words.contains(&name);
        self.outputs().iter().flat_map(Output::lines).find_map(|line| {
            let line = line.trim();
            missing(line, self.ending).filter(|name| is_named(name)).map(visible)
        })
    }
}

impl CommandResult {
    /// Returns the first non-empty line of a command that ended with exit code 0, without colour codes.
    pub fn first_line(&self) -> Option<String> {
        let line = |output: &Output| output.lines().map(str::trim).find(|line| !line.is_empty()).map(str::to_owned);
        self.outputs().iter().find_map(line).filter(|_| self.ending == Ending::Code(0))
    }

    /// Returns what this machine or the suite failed to provide for a command of the suite that ran in `folder`: a test tool, or an
    /// executable file of the suite. A program that the approach had to make or install is the approach's responsibility.
    pub fn owed(&self, declared: &str, folder: &Path) -> Option<String> {
        if let Some(reason) = &self.unstarted {
            return Some(visible(reason));
        }
        if let Some(tool) = self.missing_tool(declared).filter(|tool| TOOLS.contains(&tool.as_str())) {
            return Some(format!("`{tool}` is not on this machine"));
        }
        let is_unrunnable = matches!(self.ending, Ending::Code(126 | 127));
        let is_of_suite = |path: &str| path.contains('/') && declared.contains(path) && folder.join(path).is_file();
        self.outputs().iter().flat_map(Output::lines).filter(|_| is_unrunnable).find_map(|line| {
            let (start, complaint) = line.trim().rsplit_once(": ")?;
            let path = start.rsplit(": ").next().filter(|path| is_of_suite(path))?;
            let is_known = ["not found", "Permission denied", "No such file or directory", "bad interpreter"].contains(&complaint);
            is_known.then(|| format!("`{}` of the suite cannot be started: {complaint}", visible(path)))
        })
    }
}

/// Returns the tools that a command names: test runners, interpreters and compilers, and common utilities.
pub fn tools_of(declared: &str) -> impl Iterator<Item = &str> {
    words(declared).filter(|word| TOOLS.contains(word))
}

fn words(declared: &str) -> impl Iterator<Item = &str> {
    declared.split(|character: char| character.is_whitespace() || ";&|()".contains(character))
}

/// Test runners, languages and common utilities: tools that an approach would not bring along.
const TOOLS: [&str; 62] = [
    "ant",
    "bash",
    "bats",
    "behave",
    "bun",
    "bundle",
    "cargo",
    "cmake",
    "composer",
    "coverage",
    "ctest",
    "curl",
    "cypress",
    "deno",
    "docker",
    "dotnet",
    "elixir",
    "env",
    "gcc",
    "git",
    "go",
    "gradle",
    "java",
    "jest",
    "jq",
    "julia",
    "karma",
    "make",
    "meson",
    "mix",
    "mocha",
    "mvn",
    "newman",
    "ninja",
    "node",
    "nose2",
    "npm",
    "npx",
    "perl",
    "php",
    "phpunit",
    "playwright",
    "pnpm",
    "poetry",
    "prove",
    "pytest",
    "python",
    "python3",
    "rake",
    "rspec",
    "ruby",
    "sbt",
    "sh",
    "sqlite3",
    "stack",
    "swift",
    "tox",
    "unittest",
    "uv",
    "vitest",
    "wget",
    "yarn",
];

/// Reads the name of a missing tool from messages of shells, Python, cargo and npm.
fn missing(line: &str, ending: Ending) -> Option<&str> {
    if ending == Ending::Code(127) {
        let rest = line.strip_suffix(": command not found").or_else(|| line.strip_suffix(": not found"));
        if let Some(rest) = rest {
            return rest.rsplit(": ").next();
        }
    }
    if let Some((start, name)) = line.split_once(": No module named ") {
        let program = start.rsplit('/').next().unwrap_or(start);
        // In a traceback, this place holds the name of an error, not of a program.
        return program.starts_with("python").then_some(name);
    }
    if let Some(rest) = line.strip_prefix("error: no such command: `") {
        return rest.split('`').next();
    }
    if let Some(rest) = line.strip_prefix("error: 'cargo-") {
        return rest.split_once("' is not installed").map(|(name, _)| name.trim_end_matches(".exe"));
    }
    (line.starts_with("npm ") && line.ends_with("could not determine executable to run")).then_some("npx")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn missing(declared: &str, code: i32, stderr: &str) -> Option<String> {
        let result = CommandResult {
            ending: Ending::Code(code),
            stdout: Vec::new(),
            stderr: stderr.as_bytes().to_vec(),
            unstarted: None,
            tests: None,
        };
        result.missing_tool(declared)
    }

    #[test]
    fn a_machine_without_room_is_no_missing_tool() {
        let result = CommandResult::unstarted("Resource temporarily unavailable (os error 11)".to_owned());
        let lacking = "`pytest -q` could not be started: Resource temporarily unavailable (os error 11)";
        assert_eq!(result.lacking("pytest -q").as_deref(), Some(lacking));
        assert_eq!(result.owed("pytest -q", Path::new("/")).as_deref(), Some("Resource temporarily unavailable (os error 11)"));
    }

    #[test]
    fn a_tool_that_is_not_there_is_told_from_a_failure() {
        for (declared, code, stderr, tool) in [
            ("ruff check .", 127, "sh: 1: ruff: not found\n", "ruff"),
            ("cd app && eslint .", 127, "bash: line 1: eslint: command not found", "eslint"),
            ("python3 -m flake8 app", 1, "/usr/bin/python3: No module named flake8", "flake8"),
            ("cargo clippy --all", 101, "error: no such command: `clippy`\n\nhelp: view all", "clippy"),
            ("cargo clippy", 1, "error: 'cargo-clippy' is not installed for the toolchain 'stable'", "clippy"),
            ("npx eslint .", 1, "npm error could not determine executable to run", "npx"),
        ] {
            assert_eq!(missing(declared, code, stderr).as_deref(), Some(tool), "{declared}");
        }
        for (declared, code, stderr) in [
            ("npm run build", 127, "sh: 1: vite: not found"),
            ("./build.sh", 127, "sh: 1: ./build.sh: not found"),
            ("pytest", 1, "ModuleNotFoundError: No module named 'flask'"),
            ("ruff check .", 1, "sh: 1: ruff: not found"),
            ("ruff check .", 0, "sh: 1: ruff: not found"),
            ("make", 2, "make: gcc: No such file or directory"),
        ] {
            assert_eq!(missing(declared, code, stderr), None, "{declared}: {stderr}");
        }
    }
}
