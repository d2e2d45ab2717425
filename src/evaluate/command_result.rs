//! What a command that an evaluator asks for came to. Whoever calls the evaluator starts it: here no program is started.

use super::test_report::{Ending, Output, TestReport};
use crate::domain::visible;

/// What a command is for, which decides how it is started.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    Build,
    /// Planned by [`test_report::plan`](super::test_report::plan), so that its report tells of single tests.
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
    /// What [`Purpose::Tests`] came to, where it was planned; without it the output is read.
    pub tests: Option<TestReport>,
}

/// Runs a line of shell in the finished workspace and waits for it; None where the run was stopped meanwhile.
pub type Runner<'r> = dyn Fn(&str, Purpose) -> Option<CommandResult> + 'r;

impl CommandResult {
    /// Returns both streams as lines without colours, standard output first.
    pub(super) fn outputs(&self) -> [Output; 2] {
        [Output::new(&self.stdout, &[]), Output::new(&self.stderr, &[])]
    }

    /// Says in words how the command ended.
    pub(super) fn ending_words(&self) -> String {
        match self.ending {
            Ending::Code(code) => format!("exit {code}"),
            Ending::Signal(signal) => format!("signal {signal}"),
            Ending::TimedOut => "timed out".to_owned(),
        }
    }

    /// Returns the tool that `declared` names and that is not on this machine.
    ///
    /// Only a tool of the command itself: what is missing further down (a script that calls what it forgot to install) is a failure of
    /// whoever wrote that.
    pub(super) fn missing_tool(&self, declared: &str) -> Option<String> {
        if self.ending == Ending::Code(0) {
            return None;
        }
        let words: Vec<&str> = declared.split(|character: char| character.is_whitespace() || ";&|()".contains(character)).collect();
        let is_named = |name: &str| !name.is_empty() && !name.contains('/') && words.contains(&name);
        self.outputs().iter().flat_map(Output::lines).find_map(|line| {
            let line = line.trim();
            missing(line, self.ending).filter(|name| is_named(name)).map(visible)
        })
    }
}

/// Reads the name of a missing tool from what shells, Python, cargo and npm say.
fn missing(line: &str, ending: Ending) -> Option<&str> {
    if ending == Ending::Code(127) {
        let rest = line.strip_suffix(": command not found").or_else(|| line.strip_suffix(": not found"));
        if let Some(rest) = rest {
            return rest.rsplit(": ").next();
        }
    }
    if let Some((start, name)) = line.split_once(": No module named ") {
        let program = start.rsplit('/').next().unwrap_or(start);
        // A traceback names an error there, not a program.
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
        let result = CommandResult { ending: Ending::Code(code), stdout: Vec::new(), stderr: stderr.as_bytes().to_vec(), tests: None };
        result.missing_tool(declared)
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
