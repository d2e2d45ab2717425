//! The course of an item in words: broken since a day, repaired since a day, or flaky.

use chrono::NaiveDate;

use crate::views::{CourseKind, ItemCourse};

use super::format;

/// Describes an item that changed: `broken since 2026-11-08 (failed 7 of 7 since, passed 7 of 7 before)`. What may be chance says so.
pub fn describe_change(course: &ItemCourse) -> String {
    format!("{} ({})", state_since(course), outcome_counts(course))
}

/// Returns the state and its first day: `broken since 2026-11-08`.
pub(super) fn state_since(course: &ItemCourse) -> String {
    let word = match course.kind {
        CourseKind::Steady if course.passed_since == 0 => "always failed",
        CourseKind::Steady => "always passed",
        CourseKind::Broken => "broken",
        CourseKind::MaybeBroken => "failing",
        CourseKind::Repaired => "repaired",
        CourseKind::MaybeRepaired => "passing",
        CourseKind::Flaky => "flaky",
    };
    match point_name(course.since, course.since_commit.as_deref()) {
        Some(point) if !matches!(course.kind, CourseKind::Steady | CourseKind::Flaky) => {
            format!("{word} since {point}")
        }
        _ => word.to_owned(),
    }
}

/// Names a day, or a commit with the day of its first run.
pub(super) fn point_name(date: Option<NaiveDate>, commit: Option<&str>) -> Option<String> {
    match (date, commit) {
        (date, None) => date.map(|date| date.to_string()),
        (None, Some(commit)) => Some(short_hash(commit)),
        (Some(date), Some(commit)) => Some(format!("{} ({date})", short_hash(commit))),
    }
}

/// Returns the beginning of a commit's hash.
pub(super) fn short_hash(commit: &str) -> String {
    commit.chars().take(10).collect()
}

/// Returns the outcomes on both sides: `failed 1 of 1 since, passed 7 of 7 before; may be flaky`.
pub(super) fn outcome_counts(course: &ItemCourse) -> String {
    let of = |count: u64, all: u64| {
        format!(
            "{} of {}",
            format::format_integer(count),
            format::format_integer(all)
        )
    };
    let (passed, failed) = (
        course.passed_before,
        course.attempts_before - course.passed_before,
    );
    let (since, before) = match course.kind {
        CourseKind::Broken | CourseKind::MaybeBroken => (
            format!(
                "failed {}",
                of(
                    course.attempts_since - course.passed_since,
                    course.attempts_since
                )
            ),
            format!("passed {}", of(passed, course.attempts_before)),
        ),
        CourseKind::Repaired | CourseKind::MaybeRepaired => (
            format!("passed {}", of(course.passed_since, course.attempts_since)),
            format!("failed {}", of(failed, course.attempts_before)),
        ),
        CourseKind::Steady | CourseKind::Flaky => {
            return format!(
                "passed {}",
                of(
                    passed + course.passed_since,
                    course.attempts_before + course.attempts_since
                )
            );
        }
    };
    let doubt = if matches!(
        course.kind,
        CourseKind::MaybeBroken | CourseKind::MaybeRepaired
    ) {
        "; may be flaky"
    } else {
        ""
    };
    format!("{since} since, {before} before{doubt}")
}
