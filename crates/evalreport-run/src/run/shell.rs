//! Commands of a suite: single shell lines, trusted like a Makefile, that run untrusted code.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use crate::agent::AgentEnvironment;
use crate::process::{Confinement, ProgramCommand, ProgramLimits};

/// Python's caches must not appear in the repository whose tests run, and pip's update notices are noise.
const QUIET_VARIABLES: [(&str, &str); 2] = [
    ("PYTHONDONTWRITEBYTECODE", "1"),
    ("PIP_DISABLE_PIP_VERSION_CHECK", "1"),
];

/// The environment of a run's commands.
#[derive(Clone, Debug, Default)]
pub struct CommandShell {
    /// The words that precede a command, such as a sandbox. Empty for none.
    pub wrap: Vec<String>,
    pub variables: BTreeMap<OsString, Option<OsString>>,
    /// What commands may access on this machine. `None` allows everything.
    pub confinement: Option<Arc<Confinement>>,
}

impl CommandShell {
    /// Returns this process's environment without its secrets, which an agent's code must not see.
    pub fn without_secrets(environment: &AgentEnvironment, wrap: &[String]) -> Self {
        let secrets = environment
            .secret_names()
            .map(|name| (OsString::from(name), None));
        let mut shell = Self {
            wrap: wrap.to_vec(),
            variables: secrets.collect(),
            confinement: None,
        };
        if let Some(path) = environment.variable("PATH") {
            shell.set_variable("PATH", path);
        }
        for (name, value) in QUIET_VARIABLES {
            shell.set_variable(name, value);
        }
        shell
    }

    pub fn set_variable(&mut self, name: &str, value: impl Into<OsString>) {
        self.variables.insert(name.into(), Some(value.into()));
    }

    /// Keeps variables from commands.
    pub fn remove_variables<'a>(&mut self, names: impl IntoIterator<Item = &'a str>) {
        self.variables
            .extend(names.into_iter().map(|name| (OsString::from(name), None)));
    }

    #[must_use]
    pub fn with_variable(mut self, name: &str, value: impl Into<OsString>) -> Self {
        self.set_variable(name, value);
        self
    }

    /// Puts the programs of a virtual environment first in `PATH`.
    pub fn enter_venv(&mut self, venv: &Path, path: Option<&str>) {
        let programs = venv.join(if cfg!(windows) { "Scripts" } else { "bin" });
        let paths =
            std::iter::once(programs).chain(path.into_iter().flat_map(std::env::split_paths));
        if let Ok(joined) = std::env::join_paths(paths) {
            self.variables.insert("PATH".into(), Some(joined));
        }
        self.set_variable("VIRTUAL_ENV", venv);
        self.variables.insert("PYTHONHOME".into(), None);
    }

    /// Puts the Python of tests first in `PATH`, and the programs of the run's own environment last: no program that tests start by name is one
    /// that an approach put in its way.
    pub fn enter_tests(&mut self, tests: &Path, program: &Path, path: Option<&str>) {
        self.enter_venv(tests, path);
        let paths = self
            .search_path()
            .into_iter()
            .flat_map(std::env::split_paths)
            .chain([program.join("bin")]);
        if let Ok(joined) = std::env::join_paths(paths) {
            self.variables.insert("PATH".into(), Some(joined));
        }
    }

    /// Returns the command that runs a shell line in `folder`.
    pub fn line_command(
        &self,
        line: &str,
        folder: &Path,
        wall: Option<Duration>,
    ) -> ProgramCommand {
        let shell = if needs_bash(line) { "bash" } else { "sh" };
        self.program_command(
            [shell, "-c", line].map(str::to_owned).to_vec(),
            folder,
            wall,
        )
    }

    /// Returns where programs are looked up, or `None` in a sandbox, which may have other programs.
    pub fn search_path(&self) -> Option<&OsStr> {
        if self.wrap.is_empty() {
            self.variables.get(OsStr::new("PATH"))?.as_deref()
        } else {
            None
        }
    }

    /// Returns the command that runs a program with its arguments in `folder`.
    pub fn program_command(
        &self,
        argv: Vec<String>,
        folder: &Path,
        wall: Option<Duration>,
    ) -> ProgramCommand {
        ProgramCommand {
            argv: self
                .wrap
                .iter()
                .cloned()
                .chain(argv)
                .map(OsString::from)
                .collect(),
            cwd: PathBuf::from(folder),
            env: self.variables.clone(),
            input: Vec::new(),
            limits: ProgramLimits {
                wall,
                ..ProgramLimits::default()
            },
            confinement: self.confinement.clone(),
        }
    }
}

/// Says whether a line uses commands that other shells do not have: `source` and `[[`.
pub fn needs_bash(line: &str) -> bool {
    let starts = line
        .split([';', '&', '|', '(', '{', '\n'])
        .map(str::trim_start);
    let command = |start: &str| {
        let mut words = start.split_whitespace().skip_while(|word| {
            matches!(
                *word,
                "if" | "then" | "do" | "else" | "elif" | "while" | "!"
            )
        });
        matches!(words.next(), Some("source" | "[["))
    };
    starts.into_iter().any(command)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_do_not_reach_what_an_agent_made() {
        let names = [
            "ANTHROPIC_API_KEY",
            "GITHUB_TOKEN",
            "aws_secret_access_key",
            "PATH",
            "HOME",
            "TOKENIZERS_PARALLELISM",
            "KEYBOARD",
        ];
        let variables = names.map(|name| (name.to_owned(), "x".to_owned())).into();
        let shell = CommandShell::without_secrets(
            &AgentEnvironment {
                variables,
                ..AgentEnvironment::default()
            },
            &[],
        );
        let removed: Vec<&str> = shell
            .variables
            .iter()
            .filter(|(_, value)| value.is_none())
            .filter_map(|(name, _)| name.to_str())
            .collect();
        assert_eq!(
            removed,
            ["ANTHROPIC_API_KEY", "GITHUB_TOKEN", "aws_secret_access_key"]
        );
    }

    #[test]
    fn bash_runs_what_only_bash_knows() {
        for line in [
            "source venv/bin/activate && pytest",
            "cd x && source a",
            "if [[ -f x ]]; then pytest; fi",
            "true; ! [[ a == b ]]",
        ] {
            assert!(needs_bash(line), "{line}");
        }
        for line in [
            "pytest source",
            "echo source a",
            ". venv/bin/activate && pytest",
            "[ -f x ] && pytest",
            "grep '[[:space:]]' x",
        ] {
            assert!(!needs_bash(line), "{line}");
        }
    }

    #[test]
    fn a_sandbox_is_put_before_every_command() {
        let shell = CommandShell {
            wrap: vec!["bwrap".to_owned(), "--".to_owned()],
            ..CommandShell::default()
        };
        assert_eq!(
            shell
                .line_command("true && false", Path::new("."), None)
                .argv,
            ["bwrap", "--", "sh", "-c", "true && false"]
        );
    }
}
