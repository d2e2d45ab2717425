//! Tests that a runner retried because they failed.
//!
//! Runners only retry failed tests. If tries were attempts, the pass rate would be lower than the runner's, and tests that passed at once
//! would lack attempts. So a test has one outcome, its final one, with a reason that lists the other tries.

use crate::domain::ItemStatus;

/// Tag with the number of a run's tests that passed after a failure.
pub(super) const FLAKY_TAG: &str = "flaky";

/// A try that does not count.
pub(super) struct UncountedAttempt {
    pub status: ItemStatus,
    pub reason: Option<String>,
}

/// Returns the test's reason, with its tries before and after.
pub(super) fn reason_with_retries(
    status: ItemStatus,
    reason: Option<String>,
    before: &[UncountedAttempt],
    after: &[UncountedAttempt],
) -> Option<String> {
    if before.is_empty() && after.is_empty() {
        return reason;
    }
    let own = before.len() + 1;
    let first = match status {
        ItemStatus::Pass => format!("passed on attempt {own}"),
        status => format!(
            "{} (attempt {own})",
            reason.unwrap_or_else(|| status.name().to_owned())
        ),
    };
    let others = before.iter().zip(1..).chain(after.iter().zip(own + 1..));
    let said = others.map(|(one, number)| {
        format!(
            "attempt {number}: {}",
            one.reason.as_deref().unwrap_or(one.status.name())
        )
    });
    Some(
        std::iter::once(first)
            .chain(said)
            .collect::<Vec<_>>()
            .join("; "),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_tries_are_told_in_their_order() {
        let failed = |reason: Option<&str>| UncountedAttempt {
            status: ItemStatus::Fail,
            reason: reason.map(str::to_owned),
        };
        let of = |status, before: &[UncountedAttempt], after: &[UncountedAttempt]| {
            reason_with_retries(status, Some("own".to_owned()), before, after).expect("something")
        };
        assert_eq!(of(ItemStatus::Pass, &[], &[]), "own");
        assert_eq!(
            of(ItemStatus::Pass, &[failed(Some("a")), failed(None)], &[]),
            "passed on attempt 3; attempt 1: a; attempt 2: fail"
        );
        assert_eq!(
            of(ItemStatus::Fail, &[], &[failed(Some("b"))]),
            "own (attempt 1); attempt 2: b"
        );
        assert_eq!(
            reason_with_retries(ItemStatus::Error, None, &[failed(None)], &[]).as_deref(),
            Some("error (attempt 2); attempt 1: fail")
        );
        assert_eq!(reason_with_retries(ItemStatus::Pass, None, &[], &[]), None);
    }
}
