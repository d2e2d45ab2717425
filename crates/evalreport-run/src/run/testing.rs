//! Runs a suite's tests against a finished workspace.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use crate::domain::{ItemDetails, ItemKind, ItemOutcome, ItemStatus, RunId, escape_invisible};
use crate::evaluate::test_report::{
    self, ControlResult, OutcomeSource, TestOutcome, TestReport, TestRunner,
};
use crate::evaluate::{CommandContext, CommandResult};
use crate::files;
use crate::process::{self, StopSignal};
use crate::suite::LANGUAGES;

use super::canary_tests::ControlTests;
use super::shell::CommandShell;

/// Words of a command, or of a script that it names, by which it may call pytest.
const PYTEST_CALLERS: [&str; 8] = [
    "pytest", "py.test", "tox", "nox", "hatch", "poetry", "pdm", "invoke",
];

/// The origin of tests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TestFamily {
    Shared,
    Functional,
    Own,
}

impl TestFamily {
    pub fn evaluator_name(self) -> &'static str {
        match self {
            Self::Shared => "shared_tests",
            Self::Functional => "functional_tests",
            Self::Own => "own_tests",
        }
    }

    fn item_kind(self) -> ItemKind {
        match self {
            Self::Shared | Self::Own => ItemKind::Test,
            Self::Functional => ItemKind::Check,
        }
    }
}

/// The results of a family of tests.
#[derive(Debug, Default)]
pub struct FamilyResult {
    pub items: Vec<(ItemOutcome, ItemDetails)>,
    pub passed: u64,
    pub total: u64,
    /// Whether some tests could not be run, so that the counts are incomplete.
    pub is_unknown: bool,
    /// Evidence that a report was forged.
    pub forged: Vec<String>,
    /// Faults of this machine or of the suite that made a command's result meaningless.
    pub owed: Vec<String>,
}

/// The environment of one command, and a folder outside the workspace for its reports.
pub struct CommandSetup {
    pub shell: CommandShell,
    pub reports: PathBuf,
}

/// The environment and deadline of commands.
pub struct TestBench<'a> {
    /// Makes the environment of the next command.
    pub desk: &'a dyn Fn() -> io::Result<CommandSetup>,
    pub folder: &'a Path,
    pub ground: CommandContext<'a>,
    /// The server's port, which replaces `{port}`.
    pub port: Option<u16>,
    /// Paths to remove from names and messages.
    pub roots: Vec<String>,
    pub deadline: Instant,
    /// Controls of the suite's own commands.
    pub controls: Option<&'a ControlTests>,
    /// pytest options already set in the environment.
    pub addopts: Option<&'a str>,
    pub stop: &'a StopSignal,
}

impl TestBench<'_> {
    /// Runs the commands of one family. Returns `None` if the run was stopped.
    pub fn run_family(
        &self,
        family: TestFamily,
        commands: &[String],
        run: &RunId,
    ) -> Option<FamilyResult> {
        let mut tested = FamilyResult::default();
        let mut names = BTreeSet::new();
        for (number, command) in commands.iter().enumerate() {
            let (report, owed) = self.run_command(family, number, command)?;
            // Own tests belong to the approach, and so do the tools they need.
            let owed = owed.filter(|_| family != TestFamily::Own);
            if let Some(owed) = owed {
                tested
                    .owed
                    .push(format!("`{}`: {owed}", escape_invisible(command)));
                tested.is_unknown = true;
                continue;
            }
            if family == TestFamily::Own && report.source == OutcomeSource::NoTests {
                // The tests exist but could not be run here, so their result is unknown.
                tested.is_unknown = true;
                continue;
            }
            let shown = || escape_invisible(command);
            match report.control {
                Some(ControlResult::Passed) => tested.forged.push(format!(
                    "a test that cannot pass has passed in `{}`",
                    shown()
                )),
                Some(ControlResult::Missing) => tested.forged.push(format!(
                    "the report of `{}` lacks a test that was run",
                    shown()
                )),
                Some(ControlResult::Held) | None => {}
            }
            tested.passed += report.passed;
            tested.total += report.rated_count();
            for outcome in report.outcomes {
                let item = unique_name(&outcome.id, &mut names);
                let details = ItemDetails {
                    reason: outcome.message,
                    ..ItemDetails::default()
                };
                let outcome = ItemOutcome {
                    run: run.clone(),
                    kind: family.item_kind(),
                    item,
                    cluster: None,
                    category: None,
                    attempt: 1,
                    status: outcome.status,
                    score: None,
                    evaluator: family.evaluator_name().to_owned(),
                    revision: 0,
                    duration_seconds: outcome.duration_seconds,
                    cost_usd: None,
                    input_tokens: None,
                    output_tokens: None,
                };
                tested.items.push((outcome, details));
            }
        }
        Some(tested)
    }

    /// Returns the report, and any fault of the machine or the suite.
    fn run_command(
        &self,
        family: TestFamily,
        number: usize,
        declared: &str,
    ) -> Option<(TestReport, Option<String>)> {
        // A check's output comes from the approach's code, which must not name its own outcomes.
        let hears = family != TestFamily::Functional;
        let result = self.run_test_command(
            &format!("{}-{number}", family.evaluator_name()),
            declared,
            hears,
        )?;
        let owed = result.environment_fault(declared, &self.ground);
        Some((result.tests?, owed))
    }

    /// Runs a test command and reads its report, kept under `name`. Without `hears`, ignores its standard output. Returns `None` if the run
    /// was stopped.
    pub fn run_test_command(
        &self,
        name: &str,
        declared: &str,
        hears: bool,
    ) -> Option<CommandResult> {
        let (desk, failed) = match (self.desk)() {
            Ok(desk) => (desk, None),
            Err(error) => (
                CommandSetup {
                    shell: CommandShell::default(),
                    reports: self.folder.to_owned(),
                },
                Some(error),
            ),
        };
        let wanted = desk.reports.join(format!("{name}.report"));
        // Planned as declared, because outcomes are named by the declared command, which is the same in every run.
        let mut plan = test_report::plan_command(declared, &wanted, self.addopts);
        // Where nothing calls pytest, nobody but the program under test could write its report.
        if plan.runner.is_none() && !self.ground.mentions_any(declared, &PYTEST_CALLERS) {
            plan = test_report::plan_unreported(declared, self.addopts);
        }
        let plan = match self.controls {
            Some(controls) => controls.add_to_plan(plan),
            None => plan,
        };
        let filled = self.port.map_or_else(
            || plan.command.clone(),
            |port| plan.command.replace("{port}", &port.to_string()),
        );
        let filled = fix_sourced_file(&filled, self.folder, self.ground.workspace);
        let mut shell = desk.shell;
        for (name, value) in &plan.environment {
            shell.set_variable(name, value);
        }
        // Held from before the start: whoever replaces the file later does not replace what is read.
        let mut held = None;
        let mut failed = failed;
        if let (Some(_), None) = (
            plan.report.as_ref().filter(|report| report.is_ours),
            &failed,
        ) {
            match File::options()
                .read(true)
                .write(true)
                .create_new(true)
                .open(&wanted)
            {
                Ok(file) => held = Some(file),
                Err(error) => failed = Some(error),
            }
        }
        let own: Option<PathBuf> = plan
            .report
            .as_ref()
            .filter(|report| !report.is_ours)
            .map(|report| self.folder.join(&report.path));
        let before = own.as_deref().and_then(modified_time);
        let left = self.deadline.saturating_duration_since(Instant::now());
        let CommandResult {
            ending,
            stdout,
            stderr,
            unstarted,
            is_cut,
            ..
        } = match failed {
            None => self.run_line(&shell, &filled, left)?,
            Some(error) => CommandResult::not_started(format!("no isolation: {error}")),
        };
        // A file that existed before and was not rewritten is not the report of these tests, and neither is a link to another file.
        let own = own.filter(|path| modified_time(path).is_some_and(|time| Some(time) != before));
        let written = match held {
            Some(file) => files::read_up_to(file, test_report::MAX_BYTES)
                .ok()
                .filter(|bytes| !bytes.is_empty()),
            None => own.and_then(|path| files::read_unlinked(path, test_report::MAX_BYTES).ok()),
        };
        let roots: Vec<&str> = self.roots.iter().map(String::as_str).collect();
        // Standard error stays: it holds the shell's errors.
        let stdout = if hears { stdout } else { Vec::new() };
        let finished = test_report::FinishedCommand {
            ending,
            stdout: &stdout,
            stderr: &stderr,
            report: written.as_deref(),
            is_cut,
            roots: &roots,
        };
        let mut tests = test_report::read_outcomes(&plan, &finished);
        if plan.runner == Some(TestRunner::Node) {
            fail_ended_scripts(&mut tests, self.folder);
        }
        let tests = Some(tests);
        Some(CommandResult {
            ending,
            stdout,
            stderr,
            is_cut,
            unstarted,
            tests,
        })
    }

    /// Runs a command that is not a test. Returns `None` if the run was stopped.
    pub fn run_plain_command(&self, line: &str) -> Option<CommandResult> {
        match (self.desk)() {
            Ok(desk) => self.run_line(
                &desk.shell,
                line,
                self.deadline.saturating_duration_since(Instant::now()),
            ),
            Err(error) => Some(CommandResult::not_started(format!("no isolation: {error}"))),
        }
    }

    fn run_line(&self, shell: &CommandShell, line: &str, left: Duration) -> Option<CommandResult> {
        match process::run_program(
            &shell.line_command(line, self.folder, Some(left)),
            self.stop,
        ) {
            Ok(finished) => CommandResult::from_finished(finished),
            Err(error) => Some(CommandResult::not_started(error.to_string())),
        }
    }
}

/// Fails the scripts of which node reports nothing but their exit, although they have tests: the code under test ended the process before them,
/// and by that alone a script passes.
fn fail_ended_scripts(tests: &mut TestReport, folder: &Path) {
    let has_tests = |id: &str| {
        let script = folder.join(id);
        let is_script = script
            .extension()
            .and_then(|extension| extension.to_str())
            .is_some_and(|extension| SCRIPT_EXTENSIONS.contains(&extension));
        is_script
            && files::read_at_most(&script, test_report::MAX_BYTES)
                .is_ok_and(|text| memchr::memmem::find(&text, b"node:test").is_some())
    };
    // Few outcomes are scripts, and only these are compared with all others.
    let is_ended = |outcome: &TestOutcome, all: &[TestOutcome]| {
        let children = format!("{} > ", outcome.id);
        outcome.status == ItemStatus::Pass
            && has_tests(&outcome.id)
            && !all.iter().any(|other| other.id.starts_with(&children))
    };
    let ended: Vec<usize> = (0..tests.outcomes.len())
        .filter(|at| is_ended(&tests.outcomes[*at], &tests.outcomes))
        .collect();
    for at in ended {
        (tests.passed, tests.errors) = (tests.passed.saturating_sub(1), tests.errors + 1);
        let outcome = &mut tests.outcomes[at];
        outcome.status = ItemStatus::Error;
        outcome.message = Some("the script ended before its first test".to_owned());
        if let Some(name) = Path::new(&outcome.id).file_name() {
            outcome.id = escape_invisible(&name.to_string_lossy());
        }
    }
}

/// Extensions of what node runs.
const SCRIPT_EXTENSIONS: [&str; 6] = ["js", "mjs", "cjs", "ts", "mts", "cts"];

/// Lets a command source a file that `setup` made in the workspace, such as `venv/bin/activate`, by the name that it has for `setup`.
fn fix_sourced_file(line: &str, folder: &Path, workspace: &Path) -> String {
    let part = |part: &str| {
        let start = part.trim_start();
        let file = ["source ", ". "]
            .iter()
            .find_map(|word| start.strip_prefix(word))?
            .trim_start();
        let file = &file[..file.find(char::is_whitespace).unwrap_or(file.len())];
        let made = workspace.join(file);
        (!folder.join(file).exists() && made.is_file())
            .then(|| part.replacen(file, &made.display().to_string(), 1))
    };
    line.split("&&")
        .map(|text| part(text).unwrap_or_else(|| text.to_owned()))
        .collect::<Vec<_>>()
        .join("&&")
}

fn modified_time(path: &Path) -> Option<std::time::SystemTime> {
    fs::symlink_metadata(path)
        .and_then(|metadata| metadata.modified())
        .ok()
}

/// Makes item names unique across commands.
fn unique_name(id: &str, names: &mut BTreeSet<String>) -> String {
    let mut name = id.to_owned();
    let mut count = 2;
    while !names.insert(name.clone()) {
        name = format!("{id} #{count}");
        count += 1;
    }
    name
}

/// Returns whether [`own_tests_command`] knows the language.
pub fn has_own_tests_command(language: &str) -> bool {
    LANGUAGES.contains(&language)
}

/// Returns the command that runs the approach's own tests, if the language has one and there are such tests.
pub fn own_tests_command(language: Option<&str>, folder: &Path) -> Option<String> {
    let has = |name: &str| folder.join(name).exists();
    let command = match language? {
        "python" if has_python_tests(folder) => "python -m pytest",
        "go" if has("go.mod") => "go test ./...",
        "rust" if has("Cargo.toml") => "cargo test",
        "javascript" | "typescript" if has_npm_test(folder) => "npm test",
        _ => return None,
    };
    Some(command.to_owned())
}

fn has_python_tests(folder: &Path) -> bool {
    walkdir::WalkDir::new(folder)
        .max_depth(6)
        .into_iter()
        .filter_map(Result::ok)
        .any(|entry| {
            let name = entry.file_name().to_string_lossy();
            entry.file_type().is_file()
                && name.ends_with(".py")
                && (name.starts_with("test_") || name.ends_with("_test.py"))
        })
}

/// Longer manifests are nobody's. The approach wrote it.
const MAX_MANIFEST_BYTES: u64 = 1 << 20;

fn has_npm_test(folder: &Path) -> bool {
    let manifest = files::read_at_most(folder.join("package.json"), MAX_MANIFEST_BYTES)
        .ok()
        .and_then(|bytes| serde_json::from_slice::<serde_json::Value>(&bytes).ok());
    manifest
        .and_then(|manifest| {
            manifest
                .pointer("/scripts/test")?
                .as_str()
                .map(str::to_owned)
        })
        .is_some_and(|script| {
            // The default text of a new package without tests.
            !script.contains("no test specified")
        })
}
