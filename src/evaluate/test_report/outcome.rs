//! How the tests of a command ended, and how that was learnt.

use crate::domain::ItemStatus;

use super::Control;

/// How one test ended.
#[derive(Clone, Debug, PartialEq)]
pub struct TestOutcome {
    /// Unique in its report, the same in every run of the same tests; bounded and visible.
    pub id: String,
    pub status: ItemStatus,
    pub duration_seconds: Option<f64>,
    /// Why it did not pass, on one line; bounded and visible.
    pub message: Option<String>,
}

/// How the tests of one command ended.
#[derive(Clone, Debug, PartialEq)]
pub struct TestReport {
    /// In the order they were reported. Empty if only counts are known.
    pub outcomes: Vec<TestOutcome>,
    pub passed: u64,
    pub failed: u64,
    /// Tests that crashed or never came to an end; not passed.
    pub errors: u64,
    /// Outside the total.
    pub skipped: u64,
    pub source: Source,
    /// Where the command had one.
    pub control: Option<Control>,
}

impl TestReport {
    /// Returns how many tests are in the denominator.
    pub fn total(&self) -> u64 {
        self.passed + self.failed + self.errors
    }
}

/// How a report was learnt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// One outcome per test.
    Tests(Format),
    /// Counts from a summary; which tests they were is not known.
    Counts,
    /// The command is the test.
    Exit,
    /// A test runner that ran no test.
    NoTests,
}

/// What per-test outcomes were read from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    JunitXml,
    PytestText,
    CargoText,
    NextestText,
    GoJson,
    GoText,
    Tap,
    NodeText,
    /// Of jest, which vitest writes too.
    JestJson,
}
