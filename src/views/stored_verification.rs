//! The result of a run's verification, as a page shows it.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use crate::domain::{Verification, VerifiedCheck, VerifiedFailure};
use crate::warehouse::RunRow;

use super::short_text::cut;

/// Maximum number of shown checks, failures or reasons of one verification.
const MOST_OF_A_LIST: usize = 200;

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
    pub fn of(record: &Value) -> Option<Self> {
        let found = Verification::of(record)
            .map(Self::shown)
            .unwrap_or_default();
        (found != Self::default()).then_some(found)
    }

    fn shown(record: Verification) -> Self {
        let mut left_out = 0;
        let baseline = record.baseline.map(|baseline| cut(&baseline.name));
        let record = Verification {
            stack: short(record.stack),
            goal: short(record.goal),
            task_kind: short(record.task_kind),
            profile: short(record.profile),
            checks: some_of(record.checks, &mut left_out, shown_check),
            failures: some_of(record.failures, &mut left_out, shown_failure),
            fixed: some_of(record.fixed, &mut left_out, shown_failure),
            manual: short(record.manual),
            reasons: some_of(record.reasons, &mut left_out, |reason| cut(&reason)),
            terminal_status: short(record.terminal_status),
            next: short(record.next),
            alternative: short(record.alternative),
            reason: short(record.reason),
            ticket: short(record.ticket.map(|ticket| without_machine(&ticket))),
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
        id: cut(&check.id),
        kind: short(check.kind),
        command: cut(&check.command),
        // The root itself has no name.
        folder: short(check.folder).filter(|folder| !folder.trim().is_empty()),
        reason: short(check.reason),
        outcome: short(check.outcome),
        message: short(check.message),
        seconds: check.seconds,
        baseline: short(check.baseline),
    }
}

fn shown_failure(failure: VerifiedFailure) -> VerifiedFailure {
    VerifiedFailure {
        check: cut(&failure.check),
        scope: short(failure.scope),
        reason: short(failure.reason),
        signature: None,
        text: cut(&failure.text),
        files: failure
            .files
            .iter()
            .take(MOST_OF_A_LIST)
            .map(|file| cut(file))
            .collect(),
        test: short(failure.test),
        at_baseline: None,
    }
}

fn short(text: Option<String>) -> Option<String> {
    text.map(|text| cut(&text))
}

fn some_of<T>(all: Vec<T>, left_out: &mut u64, shown: impl Fn(T) -> T) -> Vec<T> {
    *left_out += all.len().saturating_sub(MOST_OF_A_LIST) as u64;
    all.into_iter().take(MOST_OF_A_LIST).map(shown).collect()
}

/// Counts runs by verification result.
pub(super) fn verified(rows: &[&RunRow]) -> BTreeMap<String, u64> {
    let mut counts = BTreeMap::new();
    for status in rows
        .iter()
        .filter_map(|row| Verification::status_of(row.run.verification.as_ref()?))
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
    use crate::views::short_text::MOST_OF_A_TEXT;

    #[test]
    fn a_verification_of_another_shape_is_no_reason_to_fail() {
        for nothing in [
            json!(null),
            json!("passed"),
            json!([1]),
            json!({}),
            json!({"checks": 3, "goal": {"a": 1}, "failures": [1, {}]}),
        ] {
            assert_eq!(StoredVerification::of(&nothing), None, "{nothing}");
        }
        let partly = StoredVerification::of(
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
        let failure = json!({"check": "c", "text": "é".repeat(MOST_OF_A_TEXT + 1)});
        let many = StoredVerification::of(&json!({"failures": vec![failure; MOST_OF_A_LIST + 5]}))
            .expect("failures");
        assert_eq!(
            (many.record.failures.len(), many.left_out),
            (MOST_OF_A_LIST, 5)
        );
        assert_eq!(
            many.record.failures[0].text.chars().count(),
            MOST_OF_A_TEXT + 2
        );
    }
}
