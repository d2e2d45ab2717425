//! Outcomes of a command's tests, and the source they were read from.

use crate::domain::ItemStatus;

use super::ControlResult;

/// Outcome of one test.
#[derive(Clone, Debug, PartialEq)]
pub struct TestOutcome {
    /// Id, unique in its report and equal in every run of the same tests. Bounded in length and safe to show.
    pub id: String,
    pub status: ItemStatus,
    pub duration_seconds: Option<f64>,
    /// Why the test did not pass, on one line. Bounded in length and safe to show.
    pub message: Option<String>,
}

/// Outcomes of the tests of one command.
#[derive(Clone, Debug, PartialEq)]
pub struct TestReport {
    /// Outcomes in the order they were reported. Empty if only counts are known.
    pub outcomes: Vec<TestOutcome>,
    pub passed: u64,
    pub failed: u64,
    /// Tests that crashed or never ended. They count as not passed.
    pub errors: u64,
    /// Skipped tests. They are not part of the total.
    pub skipped: u64,
    pub source: OutcomeSource,
    /// Result of the control, if the command had one.
    pub control: Option<ControlResult>,
}

impl TestReport {
    /// Returns the number of tests that the pass rate is based on.
    pub fn rated_count(&self) -> u64 {
        self.passed + self.failed + self.errors
    }
}

/// Source of a report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OutcomeSource {
    /// One outcome per test.
    Tests(ReportFormat),
    /// Counts from a summary, without the names of the tests.
    Counts,
    /// The command itself is the test: its exit code is the outcome.
    Exit,
    /// A test runner ran no test.
    NoTests,
}

/// Format that per-test outcomes were read from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReportFormat {
    JunitXml,
    /// One line for each test that ended before pytest came to its report, written by pytest itself.
    PytestLines,
    PytestText,
    CargoText,
    NextestText,
    GoJson,
    GoText,
    Tap,
    NodeText,
    /// JSON of jest, which vitest also writes.
    JestJson,
}
