//! Results of the commands that an evaluator requests. The caller of the evaluator starts them; this module starts no program.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};

use super::test_report::{CommandExit, OutputText, TestReport};
use crate::document::quote_text;
use crate::domain::escape_invisible;
use crate::files;
use crate::process::{FinishedProgram, ProgramExit};

/// Purpose of a command, which decides how it is started.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CommandPurpose {
    Build,
    /// Planned by [`test_report::plan_command`](super::test_report::plan_command), so that its report names single tests.
    Tests,
    Coverage,
    Analysis,
}

/// How a command ended, and what it printed.
#[derive(Clone, Debug, PartialEq)]
pub struct CommandResult {
    pub ending: CommandExit,
    pub stdout: Vec<u8>,
    pub stderr: Vec<u8>,
    /// Whether the middle of an output was dropped, because it was too long.
    pub is_cut: bool,
    /// Why the command could not be started, if the fault is this machine's: no room for a further process, or no shell.
    pub unstarted: Option<String>,
    /// Report of a [`CommandPurpose::Tests`] command that was planned. If it is `None`, the report is read from the output.
    pub tests: Option<TestReport>,
}

/// Runs a line of shell in the finished workspace and waits for it. Returns `None` if the run was stopped meanwhile.
pub type CommandRunner<'r> = dyn Fn(&str, CommandPurpose) -> Option<CommandResult> + 'r;

impl CommandResult {
    /// Converts a finished command; `None` if it was stopped.
    pub fn from_finished(finished: FinishedProgram) -> Option<Self> {
        let ending = match finished.end {
            ProgramExit::Exited(code) => CommandExit::Code(code),
            ProgramExit::Signalled(signal) => CommandExit::Signal(signal),
            ProgramExit::TimedOut => CommandExit::TimedOut,
            ProgramExit::Stopped => return None,
        };
        let is_cut = finished.stdout.dropped > 0 || finished.stderr.dropped > 0;
        Some(Self {
            ending,
            stdout: finished.stdout.bytes,
            stderr: finished.stderr.bytes,
            is_cut,
            unstarted: None,
            tests: None,
        })
    }

    /// Makes the result of a command that could not be started: exit code 127, as a shell reports it.
    pub fn not_started(reason: String) -> Self {
        let stderr = reason.clone().into_bytes();
        Self {
            ending: CommandExit::Code(127),
            stdout: Vec::new(),
            stderr,
            is_cut: false,
            unstarted: Some(reason),
            tests: None,
        }
    }

    /// Returns both streams as lines without colour codes, standard output first.
    pub(super) fn output_streams(&self) -> [OutputText; 2] {
        [
            OutputText::new(&self.stdout, &[]),
            OutputText::new(&self.stderr, &[]),
        ]
    }

    /// Describes in words how the command ended.
    pub(super) fn describe_exit(&self) -> String {
        match self.ending {
            CommandExit::Code(code) => format!("exit {code}"),
            CommandExit::Signal(signal) => format!("signal {signal}"),
            CommandExit::TimedOut => "timed out".to_owned(),
        }
    }

    /// Returns what this machine lacks: a tool that `declared` names, or room to start the command. If something is lacking, the result
    /// says nothing about the work.
    pub(super) fn missing_prerequisite(&self, declared: &str) -> Option<String> {
        match &self.unstarted {
            Some(reason) => Some(format!(
                "{} could not be started: {}",
                quote_text(declared),
                escape_invisible(reason)
            )),
            None => self.missing_tool(declared).map(|tool| {
                format!(
                    "{} needs {}, which is not here",
                    quote_text(declared),
                    quote_text(&tool)
                )
            }),
        }
    }

    /// Returns the tool that `declared` names and that this machine does not have.
    ///
    /// Only tools named in the command itself count. If a script calls a tool that it forgot to install, that is the fault of the script's
    /// author.
    fn missing_tool(&self, declared: &str) -> Option<String> {
        if self.ending == CommandExit::Code(0) {
            return None;
        }
        let words: Vec<&str> = split_words(declared).collect();
        let is_named =
            |name: &str| !name.is_empty() && !name.contains('/') && words.contains(&name);
        self.output_streams()
            .iter()
            .flat_map(OutputText::lines)
            .find_map(|line| {
                let line = line.trim();
                parse_missing_tool(line, self.ending)
                    .filter(|name| is_named(name))
                    .map(escape_invisible)
            })
    }
}

impl CommandResult {
    /// Returns the first non-empty line of a command that ended with exit code 0, without colour codes.
    pub fn first_line(&self) -> Option<String> {
        let line = |output: &OutputText| {
            output
                .lines()
                .map(str::trim)
                .find(|line| !line.is_empty())
                .map(str::to_owned)
        };
        self.output_streams()
            .iter()
            .find_map(line)
            .filter(|_| self.ending == CommandExit::Code(0))
    }

    /// Returns what this machine or the suite failed to provide for a command of the suite: a program that the suite names, or a file of
    /// the suite. A program that the approach had to make or install is the approach's responsibility.
    pub fn environment_fault(&self, declared: &str, ground: &CommandContext<'_>) -> Option<String> {
        if let Some(reason) = &self.unstarted {
            return Some(escape_invisible(reason));
        }
        // The exit code of a pipe is that of its last command.
        let hides_codes = declared.replace("||", "").contains('|');
        if self.ending == CommandExit::Code(0) && !hides_codes {
            return None;
        }
        let outputs = self.output_streams();
        let mut lines = outputs.iter().flat_map(OutputText::lines).map(str::trim);
        let words = ground.collect_words(declared);
        lines.find_map(|line| {
            if let Some(tool) =
                parse_missing_module(line).filter(|name| words.contains(*name) && is_tool(name))
            {
                return Some(format!(
                    "`{}` is not on this machine",
                    escape_invisible(tool)
                ));
            }
            if declared.starts_with("ralph ") && reports_missing_suite(line) {
                return Some("`ralph` found no suite of this name".to_owned());
            }
            let complaint = StartComplaint::parse(line)?;
            complaint.subject_names().find_map(|name| {
                ground.blame_environment(declared, &words, name, &complaint, self.ending)
            })
        })
    }
}

/// What the commands of a suite stand on: the folder that they start in, and what could provide their programs.
#[derive(Clone, Copy, Debug)]
pub struct CommandContext<'a> {
    /// The folder in which the command starts.
    pub folder: &'a Path,
    /// The folder of the approach's work.
    pub workspace: &'a Path,
    /// Value of `EVAL_SUITE_DIR`.
    pub suite: &'a Path,
    /// Value of `PATH`. `None` if the programs cannot be looked up from here, as in a sandbox.
    pub path: Option<&'a OsStr>,
    /// Whether commands before this one may have installed programs of the approach.
    pub is_after_setup: bool,
}

impl CommandContext<'_> {
    /// Returns whether a command, or a file of the suite that it names, has one of these words.
    pub fn mentions_any(&self, declared: &str, names: &[&str]) -> bool {
        let words = self.collect_words(declared);
        names.iter().any(|name| words.contains(*name))
    }

    /// Returns the words of a command, and of the suite's files that it names: they may call further programs.
    fn collect_words(&self, declared: &str) -> BTreeSet<String> {
        let mut all: BTreeSet<String> = split_words(declared).map(str::to_owned).collect();
        let named: Vec<PathBuf> = all.iter().map(|word| self.resolve_word(word)).collect();
        let own = self.folder.to_owned();
        let calls_make = all.contains("make");
        let makefiles = named
            .iter()
            .chain([&own])
            .filter(|_| calls_make)
            .flat_map(|path| ["Makefile", "makefile", "GNUmakefile"].map(|name| path.join(name)));
        for file in makefiles
            .chain(named.iter().cloned())
            .filter(|path| !path.starts_with(self.workspace))
        {
            let is_script = fs::metadata(&file)
                .is_ok_and(|metadata| metadata.is_file() && metadata.len() <= MAX_SCRIPT_BYTES);
            if let Some(text) = is_script.then(|| files::read(&file).ok()).flatten() {
                all.extend(split_words(&String::from_utf8_lossy(&text)).map(str::to_owned));
            }
        }
        all
    }

    /// Returns the path that a word of a command stands for.
    fn resolve_word(&self, word: &str) -> PathBuf {
        let mut word = word.to_owned();
        for (name, folder) in [
            ("EVAL_SUITE_DIR", self.suite),
            ("EVAL_WORKSPACE", self.workspace),
        ] {
            let folder = folder.display().to_string();
            word = word
                .replace(&format!("${{{name}}}"), &folder)
                .replace(&format!("${name}"), &folder);
        }
        let path = self.folder.join(word);
        path.components()
            .filter(|part| *part != std::path::Component::CurDir)
            .collect()
    }

    /// Returns the reason if a shell's complaint about `name` is the fault of this machine or the suite.
    fn blame_environment(
        &self,
        declared: &str,
        named: &BTreeSet<String>,
        name: &str,
        complaint: &StartComplaint<'_>,
        ending: CommandExit,
    ) -> Option<String> {
        let is_unstarted = matches!(ending, CommandExit::Code(126 | 127));
        if name.contains('/') {
            let path = self.resolve_word(name);
            let is_named =
                named.contains(name) || named.iter().any(|word| self.resolve_word(word) == path);
            // After `cd`, a missing file may be one that the approach had to make.
            let is_of_suite =
                path.is_file() || !split_words(declared).any(|word| matches!(word, "cd" | "pushd"));
            // Only shells complain about a file to `source` with another exit code. Others may say so of files that they had to leave alone.
            let is_sourced = complaint.is_from_shell()
                && !path.exists()
                && split_words(declared).any(|word| matches!(word, "source" | "."));
            let is_theirs = is_named
                && is_of_suite
                && !path.starts_with(self.workspace)
                && (is_unstarted || is_sourced);
            return (is_theirs && is_unrunnable(&path)).then(|| {
                format!(
                    "`{}` of the suite cannot be started: {}",
                    escape_invisible(name),
                    complaint.what
                )
            });
        }
        let is_certain = complaint.is_from_shell()
            || complaint.is_from_starter()
            || (is_unstarted && complaint.is_not_found());
        let could_be_made = self.is_after_setup && !is_tool(name);
        let is_owed =
            is_certain && named.contains(name) && !could_be_made && self.lacks_program(name);
        is_owed.then(|| format!("`{}` is not on this machine", escape_invisible(name)))
    }

    fn lacks_program(&self, program: &str) -> bool {
        self.path.is_none_or(|path| {
            !std::env::split_paths(path).any(|folder| folder.join(program).is_file())
        })
    }
}

/// Returns whether a file cannot be started: it is not there or not executable, or its interpreter is missing.
fn is_unrunnable(path: &Path) -> bool {
    let Ok(metadata) = fs::metadata(path) else {
        return true;
    };
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        if metadata.permissions().mode() & 0o111 == 0 {
            return true;
        }
    }
    let text = if metadata.len() <= MAX_SCRIPT_BYTES {
        files::read(path).unwrap_or_default()
    } else {
        Vec::new()
    };
    let text = String::from_utf8_lossy(&text);
    let first = text.lines().next().unwrap_or_default();
    match first.strip_prefix("#!") {
        Some(interpreter) => interpreter
            .split_whitespace()
            .next()
            .is_none_or(|program| !Path::new(program).exists()),
        // A program for another machine.
        None => true,
    }
}

/// A larger file is no script that calls the suite's tools.
const MAX_SCRIPT_BYTES: u64 = 256 << 10;

/// A message that a program or file cannot be started: `sh: 1: pytest: not found`, `env: ‘python9’: No such file or directory`.
struct StartComplaint<'a> {
    parts: Vec<&'a str>,
    what: &'a str,
}

impl<'a> StartComplaint<'a> {
    fn parse(line: &'a str) -> Option<Self> {
        const KNOWN_MESSAGES: [&str; 10] = [
            "command not found",
            "not found",
            "bad interpreter: No such file or directory",
            "No such file or directory",
            "No such file",
            "bad interpreter: Permission denied",
            "Permission denied",
            "cannot execute: required file not found",
            "cannot execute binary file: Exec format error",
            "Exec format error",
        ];
        let (start, what) = KNOWN_MESSAGES
            .iter()
            .find_map(|what| Some((line.strip_suffix(what)?.strip_suffix(": ")?, *what)))?;
        Some(Self {
            parts: start.split(": ").map(str::trim).collect(),
            what,
        })
    }

    /// Returns what the complaint may be about: the last name, and the script that names a missing interpreter.
    fn subject_names(&self) -> impl Iterator<Item = &'a str> {
        let bare = |part: &&'a str| {
            part.rsplit(' ')
                .next()
                .unwrap_or_default()
                .trim_matches(['‘', '’', '\'', '"', '`'])
        };
        let count = if self.what.starts_with("bad interpreter") {
            2
        } else {
            1
        };
        let names: Vec<&'a str> = self
            .parts
            .iter()
            .rev()
            .take(count)
            .map(bare)
            .filter(|name| !name.is_empty())
            .collect();
        names.into_iter()
    }

    /// Shells number their lines: `sh: 1:`, `bash: line 1:`.
    fn is_from_shell(&self) -> bool {
        let number = self.parts[1..]
            .first()
            .map(|part| part.trim_start_matches("line "));
        self.parts.len() > 2
            && number.is_some_and(|number| {
                !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit())
            })
    }

    /// Says whether a program complains whose work is to start others.
    fn is_from_starter(&self) -> bool {
        const STARTER_PROGRAMS: [&str; 14] = [
            "chrt", "env", "gmake", "ionice", "make", "nice", "nohup", "setsid", "stdbuf", "sudo",
            "taskset", "time", "timeout", "xargs",
        ];
        let head = self
            .parts
            .first()
            .and_then(|head| head.split('[').next())
            .and_then(|head| head.rsplit('/').next());
        head.is_some_and(|head| STARTER_PROGRAMS.contains(&head))
    }

    fn is_not_found(&self) -> bool {
        self.what.ends_with("not found")
    }
}

/// `Suite not found: flask`, as `ralph eval` says it.
fn reports_missing_suite(line: &str) -> bool {
    let line = line.to_lowercase();
    line.contains("suite") && line.contains("not found")
}

/// Says whether an approach would not bring this program along.
fn is_tool(name: &str) -> bool {
    KNOWN_TOOLS.contains(&name)
}

/// Returns the tools that a command names: test runners, interpreters and compilers, and common utilities.
pub fn named_tools(declared: &str) -> impl Iterator<Item = &str> {
    split_words(declared).filter(|word| KNOWN_TOOLS.contains(word))
}

/// Returns the tools without which a line certainly cannot do what it says: those that one of its commands begins with. A line with an
/// alternative or a condition needs none for certain.
pub fn required_tools(declared: &str) -> Vec<&str> {
    const CONDITION_WORDS: [&str; 8] = [
        "||",
        "command -v ",
        "which ",
        "type ",
        "hash ",
        "if ",
        "case ",
        "while ",
    ];
    const COMMAND_PREFIXES: [&str; 7] = ["!", "exec", "nice", "nohup", "setsid", "time", "timeout"];
    if CONDITION_WORDS
        .iter()
        .any(|condition| declared.contains(condition))
    {
        return Vec::new();
    }
    // Text in quotes is an argument.
    let mut quote = None;
    let is_outside = |character: char| {
        match quote {
            None if matches!(character, '"' | '\'' | '`') => quote = Some(character),
            Some(open) if open == character => quote = None,
            None => return true,
            Some(_) => {}
        }
        false
    };
    let ends: Vec<(usize, char)> = declared
        .char_indices()
        .scan(is_outside, |is_outside, (place, character)| {
            Some((place, character, is_outside(character)))
        })
        .filter(|(_, character, is_outside)| *is_outside && ";&|(){}\n".contains(*character))
        .map(|(place, character, _)| (place, character))
        .collect();
    let mut starts = vec![0];
    starts.extend(
        ends.iter()
            .map(|(place, character)| place + character.len_utf8()),
    );
    let mut stops: Vec<usize> = ends.iter().map(|(place, _)| *place).collect();
    stops.push(declared.len());
    let is_before = |word: &&str| {
        let is_number = word.starts_with(|first: char| first.is_ascii_digit());
        COMMAND_PREFIXES.contains(word)
            || is_number
            || word.starts_with('-')
            || word
                .split_once('=')
                .is_some_and(|(name, _)| !name.contains('/'))
    };
    let first = |(start, stop): (&usize, &usize)| {
        declared[*start..*stop]
            .split_whitespace()
            .find(|word| !is_before(word))
    };
    starts
        .iter()
        .zip(&stops)
        .filter_map(first)
        .filter(|word| KNOWN_TOOLS.contains(word))
        .collect()
}

fn split_words(declared: &str) -> impl Iterator<Item = &str> {
    declared
        .split(|character: char| character.is_whitespace() || ";&|()#!`\"'".contains(character))
        .filter(|word| !word.is_empty())
}

/// Test runners, languages and common utilities: tools that an approach would not bring along.
const KNOWN_TOOLS: [&str; 63] = [
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
    "ralph",
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
fn parse_missing_tool(line: &str, ending: CommandExit) -> Option<&str> {
    if ending == CommandExit::Code(127) {
        let rest = line
            .strip_suffix(": command not found")
            .or_else(|| line.strip_suffix(": not found"));
        if let Some(rest) = rest {
            return rest.rsplit(": ").next();
        }
    }
    parse_missing_module(line)
}

/// Reads the name of a missing module or part from messages of Python, cargo and npm.
fn parse_missing_module(line: &str) -> Option<&str> {
    if let Some((start, name)) = line.split_once(": No module named ") {
        let program = start.rsplit('/').next().unwrap_or(start);
        // In a traceback, this place holds the name of an error, not of a program.
        return program.starts_with("python").then_some(name);
    }
    if let Some(rest) = line.strip_prefix("error: no such command: `") {
        return rest.split('`').next();
    }
    if let Some(rest) = line.strip_prefix("error: 'cargo-") {
        return rest
            .split_once("' is not installed")
            .map(|(name, _)| name.trim_end_matches(".exe"));
    }
    (line.starts_with("npm ") && line.ends_with("could not determine executable to run"))
        .then_some("npx")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn missing(declared: &str, code: i32, stderr: &str) -> Option<String> {
        let result = CommandResult {
            ending: CommandExit::Code(code),
            stdout: Vec::new(),
            stderr: stderr.as_bytes().to_vec(),
            is_cut: false,
            unstarted: None,
            tests: None,
        };
        result.missing_tool(declared)
    }

    fn ground<'a>(folder: &'a Path, workspace: &'a Path) -> CommandContext<'a> {
        CommandContext {
            folder,
            workspace,
            suite: folder,
            path: Some(OsStr::new("/bin:/usr/bin")),
            is_after_setup: false,
        }
    }

    #[test]
    fn whose_fault_a_missing_program_is() {
        let place = tempfile::tempdir().expect("a folder");
        let (folder, workspace) = (place.path().join("suite"), place.path().join("work"));
        fs::create_dir_all(folder.join("t")).expect("room");
        fs::create_dir_all(&workspace).expect("room");
        fs::write(
            folder.join("t/run.sh"),
            "#!/usr/bin/env python9\nexec zz-runner t\n",
        )
        .expect("room");
        fs::write(folder.join("t/Makefile"), "test:\n\tzz-runner t\n").expect("room");
        let work = workspace.display();
        let owed = |declared: &str, code: i32, stderr: &str, is_after_setup: bool| {
            let stderr = stderr.replace("WORK", &work.to_string()).into_bytes();
            let result = CommandResult {
                ending: CommandExit::Code(code),
                stdout: Vec::new(),
                stderr,
                is_cut: false,
                unstarted: None,
                tests: None,
            };
            result.environment_fault(
                declared,
                &CommandContext {
                    is_after_setup,
                    ..ground(&folder, &workspace)
                },
            )
        };
        for (declared, code, stderr) in [
            ("zz-tool --check", 127, "sh: 1: zz-tool: not found"),
            (
                "timeout 20 zz-tool x",
                127,
                "timeout: failed to run command ‘zz-tool’: No such file or directory",
            ),
            (
                "sh t/run.sh",
                127,
                "t/run.sh: 2: exec: zz-runner: not found",
            ),
            (
                "./t/run.sh",
                127,
                "/usr/bin/env: ‘python9’: No such file or directory",
            ),
            (
                "\"$EVAL_SUITE_DIR/t/run.sh\"",
                127,
                "env: 'python9': No such file or directory",
            ),
            (
                "make -C t test",
                2,
                "make: zz-runner: No such file or directory",
            ),
            (
                "make -C t test",
                2,
                "/bin/sh: 1: zz-runner: not found\nmake: *** [Makefile:2: test] Error 127",
            ),
            ("zz-tool t || exit 1", 1, "sh: 1: zz-tool: not found"),
            ("zz-tool t | cat", 0, "sh: 1: zz-tool: not found"),
            (
                "cat x | zz-tool .",
                127,
                "bash: line 1: zz-tool: command not found",
            ),
            (
                "./t/gone.sh \"$EVAL_WORKSPACE\"",
                127,
                "sh: 1: ./t/gone.sh: not found",
            ),
            ("./t/run.sh", 126, "sh: 1: ./t/run.sh: Permission denied"),
            (
                "./t/run.sh",
                126,
                "bash: line 1: ./t/run.sh: /nope: bad interpreter: No such file or directory",
            ),
            (
                "source venv/bin/activate && zz",
                1,
                "bash: line 1: venv/bin/activate: No such file or directory",
            ),
        ] {
            assert!(
                owed(declared, code, stderr, false).is_some(),
                "{declared}: {stderr}"
            );
        }
        for (declared, code, stderr, is_after_setup) in [
            ("zz-tool --check", 127, "sh: 1: zz-tool: not found", true),
            (
                "\"$EVAL_WORKSPACE/app\"",
                127,
                "sh: 1: WORK/app: not found",
                false,
            ),
            (
                "cd \"$EVAL_WORKSPACE\" && ./app",
                127,
                "sh: 1: ./app: not found",
                false,
            ),
            (
                "\"$EVAL_WORKSPACE/app\"",
                127,
                "WORK/app: 3: zz-other: not found",
                false,
            ),
            ("app show alice", 1, "alice: not found", false),
            (
                "cat main.py",
                1,
                "cat: main.py: No such file or directory",
                false,
            ),
            (
                "cat main.py; false",
                127,
                "cat: main.py: No such file or directory",
                false,
            ),
            // It is there, so somebody else said this.
            ("cat main.py", 127, "sh: 1: cat: not found", false),
            ("true", 0, "sh: 1: true: not found", false),
        ] {
            assert_eq!(
                owed(declared, code, stderr, is_after_setup),
                None,
                "{declared}: {stderr}"
            );
        }
    }

    #[test]
    fn a_machine_without_room_is_no_missing_tool() {
        let result =
            CommandResult::not_started("Resource temporarily unavailable (os error 11)".to_owned());
        let lacking =
            "`pytest -q` could not be started: Resource temporarily unavailable (os error 11)";
        assert_eq!(
            result.missing_prerequisite("pytest -q").as_deref(),
            Some(lacking)
        );
        assert_eq!(
            result
                .environment_fault("pytest -q", &ground(Path::new("/"), Path::new("/w")))
                .as_deref(),
            Some("Resource temporarily unavailable (os error 11)")
        );
    }

    #[test]
    fn a_tool_that_is_not_there_is_told_from_a_failure() {
        for (declared, code, stderr, tool) in [
            ("ruff check .", 127, "sh: 1: ruff: not found\n", "ruff"),
            (
                "cd app && eslint .",
                127,
                "bash: line 1: eslint: command not found",
                "eslint",
            ),
            (
                "python3 -m flake8 app",
                1,
                "/usr/bin/python3: No module named flake8",
                "flake8",
            ),
            (
                "cargo clippy --all",
                101,
                "error: no such command: `clippy`\n\nhelp: view all",
                "clippy",
            ),
            (
                "cargo clippy",
                1,
                "error: 'cargo-clippy' is not installed for the toolchain 'stable'",
                "clippy",
            ),
            (
                "npx eslint .",
                1,
                "npm error could not determine executable to run",
                "npx",
            ),
        ] {
            assert_eq!(
                missing(declared, code, stderr).as_deref(),
                Some(tool),
                "{declared}"
            );
        }
        for (declared, code, stderr) in [
            ("npm run build", 127, "sh: 1: vite: not found"),
            ("./build.sh", 127, "sh: 1: ./build.sh: not found"),
            ("pytest", 1, "ModuleNotFoundError: No module named 'flask'"),
            ("ruff check .", 1, "sh: 1: ruff: not found"),
            ("ruff check .", 0, "sh: 1: ruff: not found"),
            ("make", 2, "make: gcc: No such file or directory"),
        ] {
            assert_eq!(
                missing(declared, code, stderr),
                None,
                "{declared}: {stderr}"
            );
        }
    }
}
