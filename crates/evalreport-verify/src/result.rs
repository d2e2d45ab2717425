//! Result of a check.

use std::sync::LazyLock;

use regex::Regex;

use super::failure::{clean_output, unexplained_failure};
use super::{CheckFailure, CheckKind, PlannedCheck, extract_failures};
use crate::domain::escape_invisible;

/// How a check's program ended, as seen by the code that ran it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CheckExit {
    /// The program ended by itself, with this status.
    Code(i32),
    /// A signal that we did not send ended the program.
    Signal(i32),
    /// The program was up: it fulfilled its [`super::Readiness`] and was then stopped.
    Ready,
    /// The program ended by itself with status 0 before it was ready, although it had to stay up.
    TooEarly,
    TimedOut,
    /// The program could not be started, for this reason.
    NotStarted(String),
}

/// Result of a check, concluded from its program's exit and output.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CheckOutcome {
    Passed,
    Failed,
    TimedOut,
    /// Nothing was checked, because a program is missing or there was no test to run. Says nothing about the code.
    NotRunnable(String),
}

impl CheckOutcome {
    pub fn name(&self) -> &'static str {
        match self {
            Self::Passed => "passed",
            Self::Failed => "failed",
            Self::TimedOut => "timed_out",
            Self::NotRunnable(_) => "not_runnable",
        }
    }
}

#[derive(Clone, Debug, PartialEq)]
pub struct CheckResult {
    pub check: PlannedCheck,
    pub ending: CheckOutcome,
    /// At least one failure if the ending is `Failed` or `TimedOut`; otherwise empty.
    pub failures: Vec<CheckFailure>,
    pub seconds: f64,
}

impl CheckResult {
    /// Concludes the result from a program's exit and output. `said` is the output: standard error after standard output, or both mixed.
    pub fn from_exit(
        check: PlannedCheck,
        exit: &CheckExit,
        said: &str,
        roots: &[&str],
        seconds: f64,
    ) -> Self {
        let ending = match (exit, find_obstacle(&check, exit, &clean_output(said))) {
            (CheckExit::NotStarted(reason), _) => CheckOutcome::NotRunnable(reason.clone()),
            (CheckExit::Code(_), Some(obstacle)) => CheckOutcome::NotRunnable(obstacle),
            (CheckExit::Code(0) | CheckExit::Ready, _) => CheckOutcome::Passed,
            (CheckExit::Code(_) | CheckExit::Signal(_) | CheckExit::TooEarly, _) => {
                CheckOutcome::Failed
            }
            (CheckExit::TimedOut, _) => CheckOutcome::TimedOut,
        };
        let failures = match (&ending, exit) {
            (CheckOutcome::Passed | CheckOutcome::NotRunnable(_), _) => Vec::new(),
            // The output up to the time-out may be anything; only the time-out is certain.
            (CheckOutcome::TimedOut, _) => vec![unexplained_failure(&check, "timed out")],
            (CheckOutcome::Failed, CheckExit::TooEarly) => {
                // The exit status was 0, so the output counts as a failure only if it points at a file.
                let pointing = extract_failures(&check, said, roots)
                    .into_iter()
                    .filter(|failure| !failure.files.is_empty());
                std::iter::once(unexplained_failure(&check, "ended before it was ready"))
                    .chain(pointing)
                    .collect()
            }
            (CheckOutcome::Failed, CheckExit::Signal(signal)) => {
                vec![unexplained_failure(
                    &check,
                    &format!("ended by signal {signal}"),
                )]
            }
            (CheckOutcome::Failed, _) => match extract_failures(&check, said, roots) {
                found if found.is_empty() => {
                    vec![unexplained_failure(&check, "failed without a word")]
                }
                found => found,
            },
        };
        Self {
            check,
            ending,
            failures,
            seconds,
        }
    }
}

/// Reason that a check without any test gives.
const NO_TESTS: &str = "no test was run";

impl CheckOutcome {
    /// Says whether the check ran no tests, which is nobody's fault.
    pub(super) fn ran_no_tests(&self) -> bool {
        match self {
            Self::NotRunnable(reason) => reason == NO_TESTS,
            Self::Passed | Self::Failed | Self::TimedOut => false,
        }
    }
}

/// Matches messages about a missing program or environment.
static MISSING_PROGRAM: LazyLock<Regex> = LazyLock::new(|| {
    any_line_pattern(&[
        r"^\S*python[\d.]*(?:\.exe)?: No module named \S+$",
        r"^error: no such command: .*",
        r"^error: (?:toolchain|component) .* is not installed.*",
        r"^.*npx canceled due to missing packages.*$",
        r"^.*could not determine executable to run.*$",
        r#"^.*\bCommand "[^"]+" not found.*$"#,
        r"^.*no display name and no \$DISPLAY environment variable.*$",
        r"^Error: Cannot find module '[^']*/node_modules/[^']*'$",
        r"^ERROR: (?:file or directory not found|not found): .*$",
    ])
});
/// Matches messages of programs that lack input: arguments, a display, a service. Verification provides none of them.
static MISSING_INPUT: LazyLock<Regex> = LazyLock::new(|| {
    any_line_pattern(&[
        r"^(?:\S+: )?error: the following (?:required )?arguments (?:are required|were not provided):.*$",
        r"^(?:Error|error): [Mm]issing (?:required )?(?:argument|option|parameter|command)\b.*$",
        r"^(?i:usage): .*$",
        r"^.*\b(?:ECONNREFUSED|[Cc]onnection refused)\b.*$",
        r"^.*(?:could not connect to display|cannot open display|Missing X server).*$",
    ])
});
/// Builds a pattern that matches a line if any of the given patterns does.
fn any_line_pattern(sayings: &[&str]) -> Regex {
    Regex::new(&format!("(?m){}", sayings.join("|"))).expect("a test reads with it")
}

static NOT_FOUND: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"(?m)^.*(?:not found|Permission denied|No such file or directory).*$")
        .expect("a test reads with it")
});
static NOTHING_COLLECTED: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"(?m)^(?:=*\s*no tests (?:ran|collected)\b.*|No tests found, exiting with code 1.*|No test files found.*|Error: No test files found.*)$")
        .expect("a test reads with it")
});
static CARGO_RESULT: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"(?m)^test result: \w+\. (\d+) passed; (\d+) failed; (\d+) ignored")
        .expect("a test reads with it")
});
static GO_RESULT: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"(?m)^(?:ok  |FAIL|\?   )\t\S+(?:\t.*)?$").expect("a test reads with it")
});
static NODE_COUNT: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"(?m)^(?:#|ℹ) tests (\d+)$").expect("a test reads with it"));

/// Returns why nothing was checked; `None` if something was checked.
fn find_obstacle(check: &PlannedCheck, exit: &CheckExit, said: &str) -> Option<String> {
    let CheckExit::Code(code) = exit else {
        return None;
    };
    let tests = match check.kind {
        CheckKind::Test | CheckKind::Targeted => true,
        CheckKind::Smoke | CheckKind::Build | CheckKind::Lint | CheckKind::Syntax => false,
    };
    if *code == 0 {
        return (tests && ran_no_test(said)).then(|| NO_TESTS.to_owned());
    }
    if tests
        && NOTHING_COLLECTED.is_match(said)
        && extract_failures(check, said, &[])
            .iter()
            .all(|failure| failure.test.is_none())
    {
        return Some(NO_TESTS.to_owned());
    }
    let shown = |line: &str| {
        escape_invisible(line.trim())
            .chars()
            .take(200)
            .collect::<String>()
    };
    if [126, 127].contains(code) {
        return Some(NOT_FOUND.find(said).map_or_else(
            || format!("the shell could not run it (status {code})"),
            |line| shown(line.as_str()),
        ));
    }
    let wanting = || {
        MISSING_INPUT
            .find(said)
            .filter(|_| check.kind == CheckKind::Smoke)
    };
    MISSING_PROGRAM
        .find(said)
        .or_else(wanting)
        .map(|line| shown(line.as_str()))
}

/// Says whether a test runner succeeded only because it had no tests to run.
fn ran_no_test(said: &str) -> bool {
    let mut cargo = CARGO_RESULT.captures_iter(said).peekable();
    if cargo.peek().is_some() {
        return cargo
            .all(|counts| (1..=3).all(|place| counts[place].trim_start_matches('0').is_empty()));
    }
    let mut go = GO_RESULT.find_iter(said).peekable();
    if go.peek().is_some() {
        return go.all(|line| {
            line.as_str().contains("[no test files]") || line.as_str().contains("[no tests to run]")
        });
    }
    let mut node = NODE_COUNT.captures_iter(said).peekable();
    node.peek().is_some() && node.all(|count| &count[1] == "0")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::check;

    fn read(kind: CheckKind, exit: &CheckExit, said: &str) -> (String, usize) {
        let result = CheckResult::from_exit(check(kind, "run"), exit, said, &[], 1.0);
        let ending = match &result.ending {
            CheckOutcome::NotRunnable(reason) => format!("not_runnable: {reason}"),
            CheckOutcome::Passed | CheckOutcome::Failed | CheckOutcome::TimedOut => {
                result.ending.name().to_owned()
            }
        };
        (ending, result.failures.len())
    }

    #[test]
    fn an_end_means_something_by_what_was_said() {
        let cargo = |passed: u32| {
            format!(
                "running {passed} tests\n\ntest result: ok. {passed} passed; 0 failed; 0 ignored; 0 measured\n"
            )
        };
        let none = "not_runnable: no test was run";
        let cases = [
            (CheckExit::Code(0), "all good".to_owned(), "passed", 0),
            (
                CheckExit::Ready,
                "Local: http://localhost:1".to_owned(),
                "passed",
                0,
            ),
            (CheckExit::Code(1), String::new(), "failed", 1),
            (
                CheckExit::TooEarly,
                "> app@0.0.0 dev\nbye".to_owned(),
                "failed",
                1,
            ),
            (
                CheckExit::TooEarly,
                "ERROR: Failed to resolve import \"./gone.js\" from \"src/main.js\"".to_owned(),
                "failed",
                2,
            ),
            (
                CheckExit::Signal(11),
                "Segmentation fault".to_owned(),
                "failed",
                1,
            ),
            (
                CheckExit::TimedOut,
                "FAILED tests/test_a.py::test_x - boom".to_owned(),
                "timed_out",
                1,
            ),
            (
                CheckExit::NotStarted("no shell".to_owned()),
                String::new(),
                "not_runnable: no shell",
                0,
            ),
            (
                CheckExit::Code(127),
                "sh: 1: vitest: not found\n".to_owned(),
                "not_runnable: sh: 1: vitest: not found",
                0,
            ),
            (
                CheckExit::Code(1),
                "/usr/bin/python3: No module named pytest\n".to_owned(),
                "not_runnable: /usr/bin/python3: No module named pytest",
                0,
            ),
            (
                CheckExit::Code(1),
                "ModuleNotFoundError: No module named 'x'\n".to_owned(),
                "failed",
                1,
            ),
            (
                CheckExit::Code(101),
                "error: no such command: `clippy`\n".to_owned(),
                "not_runnable: error: no such command: `clippy`",
                0,
            ),
            (
                CheckExit::Code(5),
                "=== no tests ran in 0.01s ===\n".to_owned(),
                none,
                0,
            ),
            (
                CheckExit::Code(1),
                "No test files found, exiting with code 1\n".to_owned(),
                none,
                0,
            ),
            (CheckExit::Code(0), cargo(0) + &cargo(0), none, 0),
            (CheckExit::Code(0), cargo(0) + &cargo(2), "passed", 0),
            (
                CheckExit::Code(0),
                "?   \tm/a\t[no test files]\n".to_owned(),
                none,
                0,
            ),
            (
                CheckExit::Code(0),
                "?   \tm/a\t[no test files]\nok  \tm/b\t0.01s\n".to_owned(),
                "passed",
                0,
            ),
            (CheckExit::Code(0), "# tests 0\n".to_owned(), none, 0),
            (CheckExit::Code(0), "ℹ tests 3\n".to_owned(), "passed", 0),
        ];
        for (exit, said, ending, failures) in cases {
            assert_eq!(
                read(CheckKind::Test, &exit, &said),
                (ending.to_owned(), failures),
                "{exit:?} {said}"
            );
        }
        assert_eq!(
            read(CheckKind::Build, &CheckExit::Code(0), &cargo(0)).0,
            "passed",
            "a build runs no tests"
        );
        for said in [
            "usage: app.py [-h] FILE\napp.py: error: the following arguments are required: FILE",
            "error: the following required arguments were not provided:\n  <FILE>\n\nUsage: app <FILE>",
            "Error: Missing argument 'NAME'.",
            "Error: connect ECONNREFUSED 127.0.0.1:5432",
            "psycopg2.OperationalError: connection to server failed: Connection refused",
        ] {
            let (ending, failures) = read(CheckKind::Smoke, &CheckExit::Code(2), said);
            assert!(
                ending.starts_with("not_runnable: ") && failures == 0,
                "{said}: {ending}"
            );
            assert_eq!(
                read(CheckKind::Test, &CheckExit::Code(2), said).0,
                "failed",
                "a test brings along what it wants"
            );
        }
        let traceback = "Traceback (most recent call last):\n  File \"app.py\", line 1\nImportError: cannot import name 'totals'";
        assert_eq!(
            read(CheckKind::Smoke, &CheckExit::Code(1), traceback).0,
            "failed"
        );
    }
}
