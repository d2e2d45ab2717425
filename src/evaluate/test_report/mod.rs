//! Reads test results from a finished command: one outcome per test if the runner names tests, else counts, else only the exit code.
//!
//! [`plan`] decides before the start how to get the most detailed report; [`outcomes`] reads the result. Nothing here starts a program or
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

pub use command::{Plan, Report, Runner, plan, plan_unreported, pytest_arguments, simple_commands};
pub use control::Control;
pub use junit::MAX_BYTES;
pub use outcome::{Format, Source, TestOutcome, TestReport};

use crate::domain::ItemStatus;

use collect::{Collector, Counts};
pub(super) use output::Output;

/// How a command ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    Code(i32),
    Signal(i32),
    TimedOut,
}

/// Everything known about a finished command.
#[derive(Clone, Copy, Debug)]
pub struct Finished<'a> {
    pub ending: Ending,
    pub stdout: &'a [u8],
    pub stderr: &'a [u8],
    /// Content of [`Plan::report`], if this command wrote it. A file left from before says nothing.
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
pub fn outcomes(plan: &Plan, finished: &Finished) -> TestReport {
    let stdout = Output::new(finished.stdout, finished.roots);
    let stderr = Output::new(finished.stderr, finished.roots);
    let mut tests = Collector::new(finished.roots);
    let format = per_test(plan, finished, &stdout, &stderr, &mut tests);
    let (control, ending) = controlled(plan, finished, format, &mut tests);
    let counts = if tests.is_empty() {
        text::last_summary(&stdout, &stderr)
    } else {
        None
    };
    let source = match (format, counts) {
        (Some(format), None) if !tests.is_empty() => Source::Tests(format),
        // Such as `0/0 passed`.
        (_, Some(counts)) if counts == Counts::default() => Source::NoTests,
        (_, Some(counts)) => {
            tests.count(&counts);
            Source::Counts
        }
        (_, None) if plan.runner.is_some() || format.is_some() => Source::NoTests,
        (_, None) => Source::Exit,
    };
    if let Some((status, reason)) = disbelief(plan, finished, format, source, &tests) {
        let mut tests = Collector::new(finished.roots);
        tests.push(&plan.declared, status, None, Some(&reason));
        return TestReport {
            control,
            ..tests.into_report(Source::NoTests)
        };
    }
    let verdict = match source {
        Source::Exit => Some(by_exit(ending)),
        Source::NoTests => Some(without_tests(plan, ending)),
        Source::Tests(_) | Source::Counts => contradiction(plan, ending, &tests),
    };
    if let Some((status, mut message)) = verdict {
        let last_words = stderr.last_line().or(stdout.last_line());
        if let Some(line) = last_words
            .filter(|_| status != ItemStatus::Pass && source != Source::Tests(Format::JunitXml))
        {
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
fn disbelief(
    plan: &Plan,
    finished: &Finished,
    format: Option<Format>,
    source: Source,
    tests: &Collector,
) -> Option<(ItemStatus, String)> {
    let is_printed = match source {
        Source::Counts => true,
        Source::Tests(_) => !matches!(format, Some(Format::JunitXml | Format::JestJson)),
        Source::NoTests | Source::Exit => false,
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
    // A known runner that breaks off has a row of its own; the results before are its own words.
    if plan.runner.is_some() {
        return None;
    }
    match finished.ending {
        Ending::Signal(signal) => error(format!("ended by signal {signal}")),
        // Killed, as a shell says it.
        Ending::Code(code @ (129..=143)) if plan.is_simple => error(exit_words(code)),
        Ending::Code(code) if code != 0 && !tests.has_failures() => {
            error(format!("{} although no test failed", exit_words(code)))
        }
        Ending::TimedOut if format == Some(Format::Tap) && !tests.has_failures() => Some((
            ItemStatus::Limit,
            "timed out although every test was reported".to_owned(),
        )),
        Ending::Code(_) | Ending::TimedOut => None,
    }
}

/// Removes the control from the tests, and its effect from the ending: if nothing but the control failed, the exit code becomes 0.
fn controlled(
    plan: &Plan,
    finished: &Finished,
    format: Option<Format>,
    tests: &mut Collector,
) -> (Option<Control>, Ending) {
    let Some(words) = &plan.control else {
        return (None, finished.ending);
    };
    let is_whole =
        matches!(finished.ending, Ending::Code(0 | 1)) && format.is_some() && !tests.is_empty();
    let taken = tests.take(words);
    let control = match taken.as_slice() {
        [] => is_whole.then_some(Control::Missing),
        taken if taken.contains(&ItemStatus::Pass) => Some(Control::Passed),
        _ => Some(Control::Held),
    };
    let is_all = control == Some(Control::Held)
        && finished.ending == Ending::Code(1)
        && !tests.has_failures();
    (
        control,
        if is_all {
            Ending::Code(0)
        } else {
            finished.ending
        },
    )
}

/// Collects per-test outcomes from the best available source, and returns the format of that source.
fn per_test(
    plan: &Plan,
    finished: &Finished,
    stdout: &Output,
    stderr: &Output,
    tests: &mut Collector,
) -> Option<Format> {
    let report = finished.report.filter(|bytes| !bytes.is_empty());
    // pytest overwrites its report in each session, so after several sessions the file has only the last one.
    let is_whole = pytest::sessions(stdout) < 2;
    match (report, plan.runner) {
        (Some(bytes), Some(Runner::Jest | Runner::Vitest)) => {
            json::read(bytes, tests);
            return Some(Format::JestJson);
        }
        (Some(bytes), runner) if is_whole => {
            junit::read(bytes, matches!(runner, None | Some(Runner::Pytest)), tests);
            // An empty report of an unknown runner may not be the tests' report.
            if runner.is_some() || !tests.is_empty() {
                return Some(Format::JunitXml);
            }
        }
        (Some(_) | None, _) => {}
    }
    match plan.runner {
        Some(Runner::Pytest) => pytest::read(stdout, tests).then_some(Format::PytestText),
        Some(Runner::Cargo) => cargo::read(stdout, stderr, tests).then_some(Format::CargoText),
        Some(Runner::Nextest) => {
            cargo::read_nextest(stderr, stdout, tests).then_some(Format::NextestText)
        }
        Some(Runner::Go) => {
            let format = go::read_json(stdout, stderr, tests).then_some(Format::GoJson);
            format.or_else(|| go::read_text(stdout, stderr, tests).then_some(Format::GoText))
        }
        Some(Runner::Node) => {
            let format = tap::read(stdout, true, tests).then_some(Format::Tap);
            format.or_else(|| node::read(stdout, tests).then_some(Format::NodeText))
        }
        Some(Runner::Jest | Runner::Vitest) => None,
        None => detect(stdout, stderr, tests),
    }
}

/// Detects the runner behind a `make test` or `npm test` by its output.
fn detect(stdout: &Output, stderr: &Output, tests: &mut Collector) -> Option<Format> {
    if stdout.has_line_starting("TAP version 1") && tap::read(stdout, false, tests) {
        Some(Format::Tap)
    } else if cargo::read(stdout, stderr, tests) {
        Some(Format::CargoText)
    } else if cargo::read_nextest(stderr, stdout, tests) {
        Some(Format::NextestText)
    } else if go::read_json(stdout, stderr, tests) {
        Some(Format::GoJson)
    } else if node::read(stdout, tests) {
        Some(Format::NodeText)
    } else if pytest::read(stdout, tests) {
        Some(Format::PytestText)
    } else if go::read_text(stdout, stderr, tests) {
        Some(Format::GoText)
    } else {
        tap::read(stdout, false, tests).then_some(Format::Tap)
    }
}

type Verdict = (ItemStatus, Option<String>);

fn by_exit(ending: Ending) -> Verdict {
    match ending {
        Ending::Code(0) => (ItemStatus::Pass, None),
        // A missing program is a failure, not an outage: the agent may have had to write that program.
        Ending::Code(code) => (ItemStatus::Fail, Some(exit_words(code))),
        Ending::Signal(signal) => (ItemStatus::Error, Some(format!("ended by signal {signal}"))),
        Ending::TimedOut => (ItemStatus::Limit, Some("timed out".to_owned())),
    }
}

fn without_tests(plan: &Plan, ending: Ending) -> Verdict {
    let reason = match ending {
        Ending::TimedOut => {
            return (
                ItemStatus::Limit,
                Some("timed out before any test ended".to_owned()),
            );
        }
        Ending::Signal(signal) => format!("ended by signal {signal} before any test ended"),
        Ending::Code(0) => "no test was run".to_owned(),
        Ending::Code(code) => match pytest_words(plan, code) {
            Some(words) => words.to_owned(),
            None => format!("no test was reported, {}", exit_words(code)),
        },
    };
    (ItemStatus::Error, Some(reason))
}

/// Returns an additional outcome for the ending if the tests do not explain it.
fn contradiction(plan: &Plan, ending: Ending, tests: &Collector) -> Option<Verdict> {
    match ending {
        Ending::Code(0) => None,
        Ending::TimedOut => Some((ItemStatus::Limit, Some("timed out".to_owned()))),
        Ending::Signal(signal) => {
            Some((ItemStatus::Error, Some(format!("ended by signal {signal}"))))
        }
        Ending::Code(code) => {
            // A runner that broke off gets a row of its own even if tests failed, unless an error already explains it.
            let broke_off = pytest_words(plan, code).filter(|_| !tests.has_errors());
            let unexplained = || {
                (!tests.has_failures())
                    .then(|| format!("{} although no test failed", exit_words(code)))
            };
            broke_off
                .map(str::to_owned)
                .or_else(unexplained)
                .map(|reason| (ItemStatus::Error, Some(reason)))
        }
    }
}

fn exit_words(code: i32) -> String {
    match code {
        126 => "exit 126 (not executable)".to_owned(),
        127 => "exit 127 (command not found)".to_owned(),
        code => format!("exit {code}"),
    }
}

/// Returns pytest's meaning of an exit code, if the whole command is one call of pytest.
fn pytest_words(plan: &Plan, code: i32) -> Option<&'static str> {
    if plan.runner != Some(Runner::Pytest) || !plan.is_simple {
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
