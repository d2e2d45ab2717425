//! Reads test results from a finished command: one outcome per test if the runner names tests, else counts, else only the exit code.
//!
//! [`plan_command`] decides before the start how to get the most detailed report; [`read_outcomes`] reads the result. Nothing here starts a program or
//! reads a file. No input makes it panic: all bytes come from code that an agent may have written.
//!
//! If tests nest, only the leaves count as tests. A parent counts only if it failed on its own. So each check counts once.

mod cargo;
mod collect;
mod command;
mod control;
mod go;
mod json;
mod junit;
mod node;
mod outcome;
mod output;
mod pytest;
mod summary;
mod tap;
mod text;

#[cfg(test)]
mod tests;

pub use command::{
    ReportFile, TestCommandPlan, TestRunner, plan_command, plan_unreported, pytest_arguments,
    simple_commands,
};
pub use control::ControlResult;
pub use junit::MAX_BYTES;
pub use outcome::{OutcomeSource, ReportFormat, TestOutcome, TestReport};

use crate::domain::ItemStatus;

use collect::{OutcomeCollector, TestCounts};
pub(super) use output::OutputText;

/// How a command ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CommandExit {
    Code(i32),
    Signal(i32),
    TimedOut,
}

/// Everything known about a finished command.
#[derive(Clone, Copy, Debug)]
pub struct FinishedCommand<'a> {
    pub ending: CommandExit,
    pub stdout: &'a [u8],
    pub stderr: &'a [u8],
    /// Content of [`TestCommandPlan::report`], if this command wrote it. A file left from before says nothing.
    pub report: Option<&'a [u8]>,
    /// Whether the middle of an output is missing.
    pub is_cut: bool,
    /// Folders that differ from run to run (the workspace, a temporary copy). They are removed from ids and messages.
    pub roots: &'a [&'a str],
}

/// Reads the test results of a command that was started by `plan`.
///
/// An exit code that contradicts the tests is added as a separate outcome, under the command's text. A time-out is `limit`. A runner that
/// broke off, found no test, or failed although every reported test passed is `error`.
pub fn read_outcomes(plan: &TestCommandPlan, finished: &FinishedCommand) -> TestReport {
    let stdout = OutputText::new(finished.stdout, finished.roots);
    let stderr = OutputText::new(finished.stderr, finished.roots);
    let mut tests = OutcomeCollector::new(finished.roots);
    let format = collect_per_test(plan, finished, &stdout, &stderr, &mut tests);
    let (control, ending) = remove_control(plan, finished, format, &mut tests);
    let counts = if tests.is_empty() && !plan.has_held_report() {
        text::last_summary(&stdout, &stderr)
    } else {
        None
    };
    let source = match (format, counts) {
        (Some(format), None) if !tests.is_empty() => OutcomeSource::Tests(format),
        // Such as `0/0 passed`.
        (_, Some(counts)) if counts == TestCounts::default() => OutcomeSource::NoTests,
        (_, Some(counts)) => {
            tests.add_counts(&counts);
            OutcomeSource::Counts
        }
        (_, None) if plan.runner.is_some() || format.is_some() => OutcomeSource::NoTests,
        (_, None) => OutcomeSource::Exit,
    };
    if let Some((status, reason)) = distrust_reason(plan, finished, format, source, &tests) {
        let mut tests = OutcomeCollector::new(finished.roots);
        tests.push(&plan.declared, status, None, Some(&reason));
        return TestReport {
            control,
            ..tests.into_report(OutcomeSource::NoTests)
        };
    }
    let verdict = match source {
        OutcomeSource::Exit => Some(status_from_exit(ending)),
        OutcomeSource::NoTests => Some(status_without_tests(plan, ending)),
        OutcomeSource::Tests(_) | OutcomeSource::Counts => exit_contradiction(plan, ending, &tests),
    };
    if let Some((status, mut message)) = verdict {
        let last_words = stderr.last_line().or(stdout.last_line());
        if let Some(line) = last_words.filter(|_| {
            status != ItemStatus::Pass && source != OutcomeSource::Tests(ReportFormat::JunitXml)
        }) {
            message = Some(message.map_or(line.to_owned(), |reason| format!("{reason}: {line}")));
        }
        tests.push(&plan.declared, status, None, message.as_deref());
    }
    TestReport {
        control,
        ..tests.into_report(source)
    }
}

/// Returns why nothing is believed of results that were printed: anybody may have printed them whose output the command lets through.
fn distrust_reason(
    plan: &TestCommandPlan,
    finished: &FinishedCommand,
    format: Option<ReportFormat>,
    source: OutcomeSource,
    tests: &OutcomeCollector,
) -> Option<(ItemStatus, String)> {
    let is_printed = match source {
        OutcomeSource::Counts => true,
        OutcomeSource::Tests(_) => !matches!(
            format,
            Some(ReportFormat::JunitXml | ReportFormat::JestJson | ReportFormat::PytestLines)
        ),
        OutcomeSource::NoTests | OutcomeSource::Exit => false,
    };
    if !is_printed {
        return None;
    }
    let error = |reason: String| {
        Some((
            ItemStatus::Error,
            format!("{reason}: the results that it printed are not believed"),
        ))
    };
    if finished.is_cut {
        return error("the middle of its output is missing".to_owned());
    }
    match finished.ending {
        CommandExit::Signal(signal) => error(format!("ended by signal {signal}")),
        // Killed, as a shell says it.
        CommandExit::Code(code @ (129..=143)) if plan.is_simple => error(describe_exit(code)),
        CommandExit::Code(code) if code != 0 && !tests.has_failures() => {
            error(format!("{} although no test failed", describe_exit(code)))
        }
        CommandExit::TimedOut if format == Some(ReportFormat::Tap) && !tests.has_failures() => {
            Some((
                ItemStatus::Limit,
                "timed out although every test was reported".to_owned(),
            ))
        }
        CommandExit::Code(_) | CommandExit::TimedOut => None,
    }
}

/// Removes the control from the tests, and its effect from the ending: if nothing but the control failed, the exit code becomes 0.
fn remove_control(
    plan: &TestCommandPlan,
    finished: &FinishedCommand,
    format: Option<ReportFormat>,
    tests: &mut OutcomeCollector,
) -> (Option<ControlResult>, CommandExit) {
    let Some(words) = &plan.control else {
        return (None, finished.ending);
    };
    let is_whole = matches!(finished.ending, CommandExit::Code(0 | 1))
        && format.is_some()
        && !tests.is_empty();
    let taken = tests.take_matching(words);
    let control = match taken.as_slice() {
        [] => is_whole.then_some(ControlResult::Missing),
        taken if taken.contains(&ItemStatus::Pass) => Some(ControlResult::Passed),
        _ => Some(ControlResult::Held),
    };
    let is_all = control == Some(ControlResult::Held)
        && finished.ending == CommandExit::Code(1)
        && !tests.has_failures();
    (
        control,
        if is_all {
            CommandExit::Code(0)
        } else {
            finished.ending
        },
    )
}

/// Collects per-test outcomes from the best available source, and returns the format of that source.
fn collect_per_test(
    plan: &TestCommandPlan,
    finished: &FinishedCommand,
    stdout: &OutputText,
    stderr: &OutputText,
    tests: &mut OutcomeCollector,
) -> Option<ReportFormat> {
    let report = finished.report.filter(|bytes| !bytes.is_empty());
    if plan.has_held_report() {
        return read_held_report(report?, finished.roots, tests);
    }
    // pytest overwrites its report in each session, so after several sessions the file has only the last one.
    let is_whole = pytest::count_sessions(stdout) < 2;
    match (report, plan.runner) {
        (Some(bytes), Some(TestRunner::Jest | TestRunner::Vitest)) => {
            json::read_tests(bytes, tests);
            return Some(ReportFormat::JestJson);
        }
        (Some(bytes), runner) if is_whole => {
            junit::read_tests(
                bytes,
                matches!(runner, None | Some(TestRunner::Pytest)),
                tests,
            );
            // An empty report of an unknown runner may not be the tests' report.
            if runner.is_some() || !tests.is_empty() {
                return Some(ReportFormat::JunitXml);
            }
        }
        (Some(_) | None, _) => {}
    }
    match plan.runner {
        Some(TestRunner::Pytest) => {
            pytest::read_tests(stdout, tests).then_some(ReportFormat::PytestText)
        }
        Some(TestRunner::Cargo) => {
            cargo::read_tests(stdout, stderr, tests).then_some(ReportFormat::CargoText)
        }
        Some(TestRunner::Nextest) => {
            cargo::read_nextest(stderr, stdout, tests).then_some(ReportFormat::NextestText)
        }
        Some(TestRunner::Go) => {
            let format = go::read_json(stdout, stderr, tests).then_some(ReportFormat::GoJson);
            format.or_else(|| go::read_text(stdout, stderr, tests).then_some(ReportFormat::GoText))
        }
        Some(TestRunner::Node) => {
            let format = tap::read_tests(stdout, true, tests).then_some(ReportFormat::Tap);
            format.or_else(|| node::read_tests(stdout, tests).then_some(ReportFormat::NodeText))
        }
        Some(TestRunner::Jest | TestRunner::Vitest) => None,
        None => detect_format(stdout, stderr, tests),
    }
}

/// Reads what pytest wrote to its report: the report, or, if it was stopped before that, a line for each test that had ended.
fn read_held_report(
    report: &[u8],
    roots: &[&str],
    tests: &mut OutcomeCollector,
) -> Option<ReportFormat> {
    if report.trim_ascii_start().starts_with(b"<") {
        junit::read_tests(report, true, tests);
        return Some(ReportFormat::JunitXml);
    }
    pytest::read_tests(&OutputText::new(report, roots), tests).then_some(ReportFormat::PytestLines)
}

/// Detects the runner behind a `make test` or `npm test` by its output.
fn detect_format(
    stdout: &OutputText,
    stderr: &OutputText,
    tests: &mut OutcomeCollector,
) -> Option<ReportFormat> {
    if stdout.has_line_starting("TAP version 1") && tap::read_tests(stdout, false, tests) {
        Some(ReportFormat::Tap)
    } else if cargo::read_tests(stdout, stderr, tests) {
        Some(ReportFormat::CargoText)
    } else if cargo::read_nextest(stderr, stdout, tests) {
        Some(ReportFormat::NextestText)
    } else if go::read_json(stdout, stderr, tests) {
        Some(ReportFormat::GoJson)
    } else if node::read_tests(stdout, tests) {
        Some(ReportFormat::NodeText)
    } else if pytest::read_tests(stdout, tests) {
        Some(ReportFormat::PytestText)
    } else if go::read_text(stdout, stderr, tests) {
        Some(ReportFormat::GoText)
    } else {
        tap::read_tests(stdout, false, tests).then_some(ReportFormat::Tap)
    }
}

type StatusMessage = (ItemStatus, Option<String>);

fn status_from_exit(ending: CommandExit) -> StatusMessage {
    match ending {
        CommandExit::Code(0) => (ItemStatus::Pass, None),
        // A missing program is a failure, not an outage: the agent may have had to write that program.
        CommandExit::Code(code) => (ItemStatus::Fail, Some(describe_exit(code))),
        CommandExit::Signal(signal) => {
            (ItemStatus::Error, Some(format!("ended by signal {signal}")))
        }
        CommandExit::TimedOut => (ItemStatus::Limit, Some("timed out".to_owned())),
    }
}

fn status_without_tests(plan: &TestCommandPlan, ending: CommandExit) -> StatusMessage {
    let reason = match ending {
        CommandExit::TimedOut => {
            return (
                ItemStatus::Limit,
                Some("timed out before any test ended".to_owned()),
            );
        }
        CommandExit::Signal(signal) => format!("ended by signal {signal} before any test ended"),
        CommandExit::Code(0) => "no test was run".to_owned(),
        CommandExit::Code(code) => match describe_pytest_exit(plan, code) {
            Some(words) => words.to_owned(),
            None => format!("no test was reported, {}", describe_exit(code)),
        },
    };
    (ItemStatus::Error, Some(reason))
}

/// Returns an additional outcome for the ending if the tests do not explain it.
fn exit_contradiction(
    plan: &TestCommandPlan,
    ending: CommandExit,
    tests: &OutcomeCollector,
) -> Option<StatusMessage> {
    match ending {
        CommandExit::Code(0) => None,
        CommandExit::TimedOut => Some((ItemStatus::Limit, Some("timed out".to_owned()))),
        CommandExit::Signal(signal) => {
            Some((ItemStatus::Error, Some(format!("ended by signal {signal}"))))
        }
        CommandExit::Code(code) => {
            // A runner that broke off gets a row of its own even if tests failed, unless an error already explains it.
            let broke_off = describe_pytest_exit(plan, code).filter(|_| !tests.has_errors());
            let unexplained = || {
                (!tests.has_failures())
                    .then(|| format!("{} although no test failed", describe_exit(code)))
            };
            broke_off
                .map(str::to_owned)
                .or_else(unexplained)
                .map(|reason| (ItemStatus::Error, Some(reason)))
        }
    }
}

fn describe_exit(code: i32) -> String {
    match code {
        126 => "exit 126 (not executable)".to_owned(),
        127 => "exit 127 (command not found)".to_owned(),
        code => format!("exit {code}"),
    }
}

/// Returns pytest's meaning of an exit code, if the whole command is one call of pytest.
fn describe_pytest_exit(plan: &TestCommandPlan, code: i32) -> Option<&'static str> {
    if plan.runner != Some(TestRunner::Pytest) || !plan.is_simple {
        return None;
    }
    match code {
        2 => Some("pytest was interrupted (exit 2)"),
        3 => Some("pytest had an internal error (exit 3)"),
        4 => Some("pytest was not called correctly (exit 4)"),
        5 => Some("pytest found no tests (exit 5)"),
        _ => None,
    }
}
