//! Tests as reports of test runners tell them. Names, attempts, retries and failures outside of tests mean the same in each format.

use chrono::{DateTime, Utc};

use crate::domain::{ItemDetails, ItemOutcome, ItemStatus, RunStatus, strip_terminal_codes};

use super::super::rows::ReadStop;
use super::attempts::AttemptNumbers;
use super::duplicate_names::DuplicateNames;
use super::property_metrics::{ReportedNames, UNNAMED_SUITE};
use super::sink::{ImportSink, RunHandle, RunMoment};
use super::test_retries::{FLAKY_TAG, UncountedAttempt, reason_with_retries};

pub(super) const RETRIED_QUIRK: &str =
    "of a retried test the last attempt counts; its reason lists the others";
pub(super) const REPEATED_QUIRK: &str = "repeated tests are attempts";
/// Item of a failure outside of tests that no file has.
pub(super) const WHOLE_RUN: &str = "run";
pub(super) const EXPECTED_FAILURE_QUIRK: &str =
    "tests that are expected to fail are skipped: outside of the pass rate";

/// A test with the try that counts.
pub(super) struct ReportedTest {
    /// Name as the runner prints it, with the names of its suites.
    pub name: String,
    pub file: String,
    /// Suites around the test, which tell tests of one name apart.
    pub suites: Vec<String>,
    pub status: ItemStatus,
    /// Why the test did not pass. A passed test has no reason.
    pub reason: Option<String>,
    pub seconds: Option<f64>,
    /// Tries before the one that counts.
    pub earlier: Vec<UncountedAttempt>,
    /// There were earlier tries, whether the report has their results or not.
    pub was_retried: bool,
}

impl Default for ReportedTest {
    fn default() -> Self {
        Self {
            name: String::new(),
            file: String::new(),
            suites: Vec::new(),
            status: ItemStatus::NotEvaluated,
            reason: None,
            seconds: None,
            earlier: Vec::new(),
            was_retried: false,
        }
    }
}

/// State while the tests of a run are stored.
pub(super) struct ReportedTests<'n> {
    pub run: RunHandle,
    names: &'n DuplicateNames,
    pub attempts: AttemptNumbers,
    /// Tests that passed after a failed try.
    flaky: u64,
    /// Failures outside of tests, and the name of the first.
    outside_failures: u64,
    first_outside_failure: Option<String>,
}

impl<'n> ReportedTests<'n> {
    pub fn new(run: RunHandle, names: &'n DuplicateNames) -> Self {
        Self {
            run,
            names,
            attempts: AttemptNumbers::default(),
            flaky: 0,
            outside_failures: 0,
            first_outside_failure: None,
        }
    }

    /// Creates the outcome of a test with its details, for the caller to add to.
    pub fn new_outcome(
        &mut self,
        test: ReportedTest,
        sink: &mut ImportSink<'_>,
    ) -> (ItemOutcome, ItemDetails) {
        let item = self
            .names
            .distinct_name(test.name, &test.file, &test.suites);
        if !test.earlier.is_empty() {
            sink.note_quirk(RETRIED_QUIRK);
        } else if test.was_retried {
            sink.note_quirk(
                "tests were retried, and the results of their first attempts are missing",
            );
        }
        let was_retried = test.was_retried || !test.earlier.is_empty();
        self.flaky += u64::from(test.status == ItemStatus::Pass && was_retried);
        let mut outcome = sink.new_outcome(self.run, &item, test.status);
        outcome.attempt = self.attempts.next_attempt(&item, "");
        outcome.duration_seconds = test.seconds;
        let reason = test.reason.filter(|_| test.status != ItemStatus::Pass);
        let details = ItemDetails {
            reason: reason_with_retries(test.status, reason, &test.earlier, &[])
                .map(|reason| strip_terminal_codes(&reason).trim().to_owned()),
            ..ItemDetails::default()
        };
        (outcome, details)
    }

    pub fn add_outcome(
        &self,
        place: &str,
        outcome: ItemOutcome,
        details: ItemDetails,
        sink: &mut ImportSink<'_>,
    ) -> Result<(), ReadStop> {
        sink.add_outcome(self.run, place, outcome, details)
    }

    /// Stores a test to which the format has nothing to add.
    pub fn add_test(
        &mut self,
        test: ReportedTest,
        place: &str,
        sink: &mut ImportSink<'_>,
    ) -> Result<(), ReadStop> {
        let (outcome, details) = self.new_outcome(test, sink);
        if outcome.attempt > 1 {
            sink.note_quirk(REPEATED_QUIRK);
        }
        self.add_outcome(place, outcome, details, sink)
    }

    /// Stores a failure outside of tests: of a file that does not load, of a hook around all tests of a file, or of the whole run. No
    /// runner counts it as a test, and which tests it kept from running is unknown: it is an item that is not evaluated, and the run has
    /// failed.
    pub fn add_outside_failure(
        &mut self,
        name: &str,
        reason: Option<String>,
        place: &str,
        sink: &mut ImportSink<'_>,
    ) -> Result<(), ReadStop> {
        self.outside_failures += 1;
        self.first_outside_failure
            .get_or_insert_with(|| name.to_owned());
        sink.note_quirk("a failure outside of tests is an item that is not evaluated");
        let test = ReportedTest {
            name: name.to_owned(),
            reason,
            ..ReportedTest::default()
        };
        self.add_test(test, place, sink)
    }

    /// Marks the run with its flaky tests and its failures outside of tests.
    pub fn finish_run(&self, sink: &mut ImportSink<'_>) {
        let record = sink.run_mut(self.run);
        if self.flaky > 0 {
            record
                .tags
                .insert(FLAKY_TAG.to_owned(), self.flaky.to_string());
        }
        if let Some(first) = &self.first_outside_failure {
            let failed = first_and_more(first, self.outside_failures - 1);
            record.status = RunStatus::Failed;
            record.error = Some(format!("{failed} failed outside of tests"));
        }
    }
}

/// Names the first of several things: `a.test.js and 2 more`.
pub(super) fn first_and_more(first: &str, others: u64) -> String {
    match others {
        0 => first.to_owned(),
        others => format!("{first} and {others} more"),
    }
}

/// Begins the run of a report that has no id of its own, which ended at `ended`.
pub(super) fn begin_run(
    names: ReportedNames,
    stem: &str,
    ended: Option<DateTime<Utc>>,
    sink: &mut ImportSink<'_>,
) -> Option<RunHandle> {
    let suite = names.suite.unwrap_or_else(|| UNNAMED_SUITE.to_owned());
    let (approach, model) = (
        names.approach.unwrap_or_default(),
        names.model.unwrap_or_default(),
    );
    let run =
        sink.begin_run_of_bytes(&[stem], [&suite, &approach, &model], RunMoment::Said(ended))?;
    sink.run_mut(run).timestamp = ended;
    Some(run)
}

/// Takes the counts of a report that has no tests.
pub(super) fn fill_summary_counts(
    run: RunHandle,
    passed: u64,
    failed: u64,
    sink: &mut ImportSink<'_>,
) {
    sink.count_run_record();
    if let Some(total) = passed.checked_add(failed).filter(|total| *total > 0) {
        sink.note_quirk("the report has only a summary: the run has counts, and no outcomes");
        let record = sink.run_mut(run);
        (record.shared_tests_passed, record.shared_tests_total) = (Some(passed), Some(total));
    }
}
