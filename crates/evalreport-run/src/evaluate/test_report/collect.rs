//! Collects outcomes for a report: bounded in size, safe to show, with unique ids.

use std::collections::BTreeMap;

use crate::domain::{ItemStatus, escape_invisible, is_amount};

use super::output::strip_roots;
use super::{OutcomeSource, TestOutcome, TestReport};

/// Maximum length of an id and of a message, in characters.
const MAX_ID: usize = 300;
const MAX_MESSAGE: usize = 600;
/// Maximum number of outcomes in one report. If there were more, a row says so.
const MAX_OUTCOMES: usize = 100_000;

/// Counts of tests without names.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TestCounts {
    pub passed: u64,
    pub failed: u64,
    pub errors: u64,
    pub skipped: u64,
}

pub struct OutcomeCollector<'a> {
    roots: &'a [&'a str],
    outcomes: Vec<TestOutcome>,
    /// Reported id → number of outcomes with it, and index of the last one.
    seen: BTreeMap<String, (u32, usize)>,
    extra: TestCounts,
    is_full: bool,
}

impl<'a> OutcomeCollector<'a> {
    pub fn new(roots: &'a [&'a str]) -> Self {
        Self {
            roots,
            outcomes: Vec::new(),
            seen: BTreeMap::new(),
            extra: TestCounts::default(),
            is_full: false,
        }
    }

    pub fn is_empty(&self) -> bool {
        self.outcomes.is_empty() && self.extra == TestCounts::default()
    }

    pub fn has_failures(&self) -> bool {
        self.extra.failed > 0
            || self.has_errors()
            || self
                .outcomes
                .iter()
                .any(|outcome| outcome.status == ItemStatus::Fail)
    }

    pub fn has_errors(&self) -> bool {
        self.extra.errors > 0
            || self
                .outcomes
                .iter()
                .any(|outcome| matches!(outcome.status, ItemStatus::Error | ItemStatus::Limit))
    }

    /// Removes the tests whose ids contain these words, and returns their statuses.
    pub fn take_matching(&mut self, words: &str) -> Vec<ItemStatus> {
        let taken = self
            .outcomes
            .extract_if(.., |outcome| outcome.id.contains(words))
            .map(|outcome| outcome.status)
            .collect();
        // The indices are no longer valid, and all tests were already added.
        self.seen.clear();
        taken
    }

    /// Adds a test. A second test with the same id gets the suffix `#2`, and so on.
    pub fn push(
        &mut self,
        id: &str,
        status: ItemStatus,
        duration_seconds: Option<f64>,
        message: Option<&str>,
    ) {
        if self.outcomes.len() >= MAX_OUTCOMES {
            self.mark_overflow();
            return;
        }
        let reported = to_bounded_line(&strip_roots(id, self.roots), MAX_ID);
        let reported = if reported.is_empty() {
            "(no name)".to_owned()
        } else {
            reported
        };
        let index = self.outcomes.len();
        let mut id = reported.clone();
        if let Some((count, _)) = self.seen.get(&reported) {
            let mut count = *count;
            while self.seen.contains_key(&id) {
                count += 1;
                id = format!("{reported}#{count}");
            }
            self.seen.insert(reported, (count, index));
        }
        self.seen.insert(id.clone(), (1, index));
        let message = message
            .map(|message| to_bounded_line(&strip_roots(message, self.roots), MAX_MESSAGE))
            .filter(|message| !message.is_empty());
        let duration_seconds = duration_seconds.filter(|seconds| is_amount(*seconds));
        self.outcomes.push(TestOutcome {
            id,
            status,
            duration_seconds,
            message,
        });
    }

    /// Adds a test, or worsens the status of the test with this id: a runner may report one test in several parts.
    pub fn push_or_worsen(
        &mut self,
        id: &str,
        status: ItemStatus,
        duration_seconds: Option<f64>,
        message: Option<&str>,
    ) {
        let reported = to_bounded_line(&strip_roots(id, self.roots), MAX_ID);
        let Some(known) = self
            .seen
            .get(&reported)
            .and_then(|(_, index)| self.outcomes.get_mut(*index))
        else {
            self.push(id, status, duration_seconds, message);
            return;
        };
        let message = message
            .map(|message| to_bounded_line(&strip_roots(message, self.roots), MAX_MESSAGE))
            .filter(|message| !message.is_empty());
        if status_severity(status) > status_severity(known.status) {
            known.status = status;
            known.message = match (known.message.take(), message) {
                (Some(first), Some(second)) => {
                    Some(to_bounded_line(&format!("{first}; {second}"), MAX_MESSAGE))
                }
                (first, second) => first.or(second),
            };
        } else if status == known.status && known.message.is_none() {
            known.message = message;
        }
    }

    /// Adds tests without names.
    pub fn add_counts(&mut self, counts: &TestCounts) {
        self.extra.passed = self.extra.passed.saturating_add(counts.passed);
        self.extra.failed = self.extra.failed.saturating_add(counts.failed);
        self.extra.errors = self.extra.errors.saturating_add(counts.errors);
        self.extra.skipped = self.extra.skipped.saturating_add(counts.skipped);
    }

    /// Returns the report. Every count is bounded, so that their sums cannot overflow.
    pub fn into_report(self, source: OutcomeSource) -> TestReport {
        let mut counts = self.extra;
        for outcome in &self.outcomes {
            let count = match outcome.status {
                ItemStatus::Pass => &mut counts.passed,
                ItemStatus::Fail => &mut counts.failed,
                ItemStatus::Error
                | ItemStatus::Limit
                | ItemStatus::Infra
                | ItemStatus::NotEvaluated => &mut counts.errors,
                ItemStatus::Skipped => &mut counts.skipped,
            };
            *count = count.saturating_add(1);
        }
        let most = u64::from(u32::MAX);
        let TestCounts {
            passed,
            failed,
            errors,
            skipped,
        } = counts;
        TestReport {
            outcomes: self.outcomes,
            passed: passed.min(most),
            failed: failed.min(most),
            errors: errors.min(most),
            skipped: skipped.min(most),
            source,
            control: None,
        }
    }

    fn mark_overflow(&mut self) {
        if !self.is_full {
            self.is_full = true;
            let message =
                format!("more than {MAX_OUTCOMES} tests were reported; the rest was not read");
            self.outcomes.push(TestOutcome {
                id: "(report)".to_owned(),
                status: ItemStatus::Error,
                duration_seconds: None,
                message: Some(message),
            });
        }
    }
}

/// Makes untrusted text one line that is safe to show, with at most `most` characters.
pub fn to_bounded_line(text: &str, most: usize) -> String {
    // Cut the text first: a message may be megabytes long.
    let cut: String = text.chars().take(most.saturating_mul(4)).collect();
    let mut line = String::new();
    for word in cut.split_whitespace() {
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(word);
    }
    let line = escape_invisible(&line);
    if line.chars().count() <= most {
        return line;
    }
    let mut short: String = line.chars().take(most.saturating_sub(1)).collect();
    short.push('…');
    short
}

fn status_severity(status: ItemStatus) -> u8 {
    match status {
        ItemStatus::Skipped | ItemStatus::NotEvaluated => 0,
        ItemStatus::Pass => 1,
        ItemStatus::Fail => 2,
        ItemStatus::Error | ItemStatus::Infra => 3,
        ItemStatus::Limit => 4,
    }
}
