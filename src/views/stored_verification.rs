//! The result of a run's verification, as a page shows it.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use crate::domain::{Verification, VerifiedCheck, VerifiedFailure};
use crate::warehouse::RunRow;

use super::short_text::cut_text;

/// Maximum number of shown checks, failures or reasons of one verification.
const MAX_OF_A_LIST: usize = 200;

/// A verification as a page shows it: the record with bounded texts and lists, without parts that pages do not show.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct StoredVerification {
    #[serde(flatten)]
    pub record: Verification,
    /// The baseline of the comparison.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub baseline: Option<String>,
    /// Number of hidden checks, failures and reasons.
    pub left_out: u64,
}

impl StoredVerification {
    /// Parses a stored verification, or returns `None` if no shown field is set.
    pub fn from_record(record: &Value) -> Option<Self> {
        let found = Verification::from_record(record)
            .map(Self::shorten)
            .unwrap_or_default();
        (found != Self::default()).then_some(found)
    }

    fn shorten(record: Verification) -> Self {
        let mut left_out = 0;
        let baseline = record.baseline.map(|baseline| cut_text(&baseline.name));
        let record = Verification {
            stack: shorten_text(record.stack),
            goal: shorten_text(record.goal),
            task_kind: shorten_text(record.task_kind),
            profile: shorten_text(record.profile),
            checks: keep_first(record.checks, &mut left_out, shown_check),
            failures: keep_first(record.failures, &mut left_out, shown_failure),
            fixed: keep_first(record.fixed, &mut left_out, shown_failure),
            manual: shorten_text(record.manual),
            reasons: keep_first(record.reasons, &mut left_out, |reason| cut_text(&reason)),
            terminal_status: shorten_text(record.terminal_status),
            next: shorten_text(record.next),
            alternative: shorten_text(record.alternative),
            reason: shorten_text(record.reason),
            ticket: shorten_text(record.ticket.map(|ticket| without_machine(&ticket))),
            ..Verification::default()
        };
        Self {
            record,
            baseline,
            left_out,
        }
    }
}

/// Cuts an absolute path to its file name. Earlier versions stored full paths, which would publish somebody's folders.
fn without_machine(path: &str) -> String {
    let is_absolute = path.starts_with(['/', '\\'])
        || path
            .get(1..3)
            .is_some_and(|drive| [":\\", ":/"].contains(&drive));
    let name = if is_absolute {
        path.rsplit(['/', '\\']).next()
    } else {
        None
    };
    name.unwrap_or(path).to_owned()
}

fn shown_check(check: VerifiedCheck) -> VerifiedCheck {
    VerifiedCheck {
        id: cut_text(&check.id),
        kind: shorten_text(check.kind),
        command: cut_text(&check.command),
        // The root itself has no name.
        folder: shorten_text(check.folder).filter(|folder| !folder.trim().is_empty()),
        reason: shorten_text(check.reason),
        outcome: shorten_text(check.outcome),
        message: shorten_text(check.message),
        seconds: check.seconds,
        baseline: shorten_text(check.baseline),
    }
}

fn shown_failure(failure: VerifiedFailure) -> VerifiedFailure {
    VerifiedFailure {
        check: cut_text(&failure.check),
        scope: shorten_text(failure.scope),
        reason: shorten_text(failure.reason),
        signature: None,
        text: cut_text(&failure.text),
        files: failure
            .files
            .iter()
            .take(MAX_OF_A_LIST)
            .map(|file| cut_text(file))
            .collect(),
        test: shorten_text(failure.test),
        at_baseline: None,
    }
}

fn shorten_text(text: Option<String>) -> Option<String> {
    text.map(|text| cut_text(&text))
}

fn keep_first<T>(all: Vec<T>, left_out: &mut u64, shown: impl Fn(T) -> T) -> Vec<T> {
    *left_out += all.len().saturating_sub(MAX_OF_A_LIST) as u64;
    all.into_iter().take(MAX_OF_A_LIST).map(shown).collect()
}

/// Counts runs by verification result.
pub(super) fn count_by_result(rows: &[&RunRow]) -> BTreeMap<String, u64> {
    let mut counts = BTreeMap::new();
    for status in rows
        .iter()
        .filter_map(|row| Verification::read_status(row.run.verification.as_ref()?))
    {
        *counts.entry(status).or_default() += 1;
    }
    counts
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_ticket_is_named_without_the_machine() {
        let named = [
            "tickets/a.md",
            "/home/me/project/tickets/a.md",
            "C:\\work\\a.md",
        ]
        .map(without_machine);
        assert_eq!(named, ["tickets/a.md", "a.md", "a.md"]);
    }
    use crate::views::short_text::MAX_OF_A_TEXT;

    #[test]
    fn a_verification_of_another_shape_is_no_reason_to_fail() {
        for nothing in [
            json!(null),
            json!("passed"),
            json!([1]),
            json!({}),
            json!({"checks": 3, "goal": {"a": 1}, "failures": [1, {}]}),
        ] {
            assert_eq!(StoredVerification::from_record(&nothing), None, "{nothing}");
        }
        let partly = StoredVerification::from_record(
            &json!({"terminalStatus": "blocked", "checks": [{"command": "make"}, 7]}),
        )
        .expect("a status");
        assert_eq!(
            (
                partly.record.terminal_status.as_deref(),
                partly.record.checks.len()
            ),
            (Some("blocked"), 1)
        );
    }

    #[test]
    fn texts_and_lists_are_bounded() {
        let failure = json!({"check": "c", "text": "é".repeat(MAX_OF_A_TEXT + 1)});
        let many =
            StoredVerification::from_record(&json!({"failures": vec![failure; MAX_OF_A_LIST + 5]}))
                .expect("failures");
        assert_eq!(
            (many.record.failures.len(), many.left_out),
            (MAX_OF_A_LIST, 5)
        );
        assert_eq!(
            many.record.failures[0].text.chars().count(),
            MAX_OF_A_TEXT + 2
        );
    }
}
