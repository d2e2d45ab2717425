//! What a gate looked at, in words: a line for each arm, and the names of what is not there.

use crate::domain::ItemKind;
use crate::views::{Gap, How, LookedAt, MissingItem, TurnedItem};

use super::{format, item_table, phrases};

/// Says what the gate looked at: `60 tests: 57 passed, 2 flaky, 1 broken since 11-08; baseline 7 runs`.
pub fn summary_line(one: &LookedAt) -> String {
    format!(
        "{}: {}.",
        phrases::arm_on_suite(&one.suite, &one.arm),
        outcome_counts(one)
    )
}

fn outcome_counts(one: &LookedAt) -> String {
    let count = |count: u64, what: &str| {
        (count > 0).then(|| format!("{} {what}", format::format_integer(count)))
    };
    let noun = one.kind.map_or("items", ItemKind::plural);
    let mut parts = vec![match (one.counts, one.items) {
        (Some(of), _) => format!(
            "{} of {} passed",
            format::format_integer(of.passed),
            phrases::count_with_noun(of.counted, "outcomes")
        ),
        (None, 0) if one.runs == 0 => "no new runs".to_owned(),
        (None, 0) => format!("no {noun}"),
        (None, items) => {
            let broken = match one.broken_since {
                Some(day) => format!("broken since {}", day.format("%m-%d")),
                None => "broken in the baseline".to_owned(),
            };
            let of = [
                Some(format!("{} passed", format::format_integer(one.passed))),
                count(one.flaky, "flaky"),
                count(one.broken, &broken),
                count(one.new_failures, "newly failing"),
                count(one.old_failures, "failing as before"),
                count(one.unknown_failures, "new and failing"),
                (one.unknown_errors > 0).then(|| match one.unknown_errors {
                    1 => "1 unknown error".to_owned(),
                    count => format!("{} unknown errors", format::format_integer(count)),
                }),
                count(one.scored, "scored"),
                count(one.skipped, "skipped"),
                count(one.unanswered, "without a result"),
            ];
            let of: Vec<String> = of.into_iter().flatten().collect();
            format!(
                "{}: {}",
                phrases::count_with_noun(items, noun),
                of.join(", ")
            )
        }
    }];
    parts.extend(count(one.missing.count, "of the baseline missing"));
    if one.runs > 1 {
        parts.push(phrases::count_with_noun(one.runs, "runs"));
    }
    parts.push(match one.baseline_runs {
        0 => "no baseline".to_owned(),
        runs => format!("baseline {}", phrases::count_with_noun(runs, "runs")),
    });
    parts.join("; ")
}

/// Lists what is not there, one line each.
pub(super) fn missing_and_error_lines(one: &LookedAt) -> Vec<String> {
    let mut lines = Vec::new();
    if let Some(said) = missing_items_count(one) {
        lines.push(format!("{said}:"));
        lines.extend(
            one.missing
                .items
                .iter()
                .map(|item| format!("- {}", missing_item(item))),
        );
        lines.extend(more_line(one.missing.count, one.missing.items.len()));
    }
    for UnknownItems {
        said,
        listed,
        count,
    } in unknown_items(one)
    {
        lines.push(format!("{said}:"));
        let error = |(name, reason): (&str, Option<&str>)| match reason {
            Some(reason) => format!("- {name}: {}", item_table::first_line(reason)),
            None => format!("- {name}"),
        };
        lines.extend(
            listed
                .iter()
                .map(|item| error((item.item.as_str(), item.reason.as_deref()))),
        );
        lines.extend(more_line(count, listed.len()));
    }
    lines
}

/// Items of the new runs that do not pass and that the baseline does not know.
pub(super) struct UnknownItems<'a> {
    pub said: String,
    pub listed: &'a [TurnedItem],
    pub count: u64,
}

/// Returns the errors, and then the failures, that the baseline does not know. An item whose text was changed is not listed.
pub(super) fn unknown_items(one: &LookedAt) -> impl Iterator<Item = UnknownItems<'_>> {
    let who = phrases::arm_on_suite(&one.suite, &one.arm);
    let errors = (one.unknown_errors > 0).then(|| UnknownItems {
        said: format!("{who}: {}", unknown_errors(one.unknown_errors)),
        listed: &one.errors,
        count: one.unknown_errors,
    });
    let failures = (!one.new_items.is_empty() && one.baseline_runs > 0).then(|| UnknownItems {
        said: match one.unknown_failures {
            1 => format!("{who}: 1 item is new and fails"),
            count => format!(
                "{who}: {} are new and fail",
                phrases::count_with_noun(count, "items")
            ),
        },
        listed: &one.new_items,
        count: one.unknown_failures,
    });
    errors.into_iter().chain(failures)
}

fn more_line(count: u64, listed: usize) -> Option<String> {
    let more = count.saturating_sub(listed as u64);
    (more > 0 && listed > 0).then(|| format!("- and {} more", format::format_integer(more)))
}

/// Counts the missing items. `None` if none is missing, or if they have no names.
pub(super) fn missing_items_count(one: &LookedAt) -> Option<String> {
    let verb = if one.missing.count == 1 {
        "has"
    } else {
        "have"
    };
    let text = || {
        let count = phrases::count_with_noun(one.missing.count, "items");
        format!(
            "{}: {count} of the baseline {verb} no outcome now",
            phrases::arm_on_suite(&one.suite, &one.arm)
        )
    };
    (!one.missing.items.is_empty()).then(text)
}

fn unknown_errors(count: u64) -> String {
    match count {
        1 => "1 error that the baseline does not know".to_owned(),
        count => format!(
            "{} errors that the baseline does not know",
            format::format_integer(count)
        ),
    }
}

/// Names a missing item: `test_total (skipped; passed 7 of 7 in the baseline)`.
pub(super) fn missing_item(item: &MissingItem) -> String {
    format!("{} ({})", item.item, missing_reason(item))
}

pub(super) fn missing_reason(item: &MissingItem) -> String {
    let how = match item.how {
        How::Absent => "not in the new runs",
        How::Skipped => "skipped",
        How::Unanswered => "without a result",
        How::Scored => "scored on one side only",
    };
    match item.baseline_attempts {
        0 => how.to_owned(),
        attempts => format!(
            "{how}; passed {} of {} in the baseline",
            format::format_integer(item.baseline_passed),
            format::format_integer(attempts)
        ),
    }
}

/// Says what is not there and decides, for a sentence about a check: `2 items that always passed in the baseline have no outcome: a, b`.
pub(super) fn gap_clause(gap: &Gap, is_about_failures: bool) -> String {
    let named = |names: &[String], count: u64| {
        let more = count.saturating_sub(names.len() as u64);
        let list = names.join(", ");
        match (names.is_empty(), more) {
            (true, _) => String::new(),
            (false, 0) => format!(": {list}"),
            (false, more) => format!(": {list} and {} more", format::format_integer(more)),
        }
    };
    let mut parts = Vec::new();
    if gap.errors > 0 {
        parts.push(format!(
            "{}{}",
            unknown_errors(gap.errors),
            named(&gap.error_items, gap.errors)
        ));
    }
    if gap.missing > 0 {
        let which = if is_about_failures {
            "that always passed in the baseline"
        } else {
            "of the baseline"
        };
        let verb = if gap.missing == 1 { "has" } else { "have" };
        let count = phrases::count_with_noun(gap.missing, "items");
        parts.push(format!(
            "{count} {which} {verb} no outcome now{}",
            named(&gap.items, gap.missing)
        ));
    }
    if gap.is_removal {
        parts.push("If somebody removed them on purpose, add --allow-removed".to_owned());
    }
    parts.join(". ")
}
