//! Reasons why items did not pass, counted by kind.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Serialize;

use crate::domain::{ItemKind, ItemStatus};

use super::reason_kind::reason_kind;

/// Maximum number of kinds. More would be a list of single items.
const MAX_REASONS: usize = 8;

/// Outcomes that did not pass, for the same reason.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Reason {
    pub status: String,
    /// A kind such as `missing` or `wrong_choice`, or the first message of this kind: other messages may have other numbers.
    pub reason: String,
    pub count: u64,
    /// The first item with this reason.
    pub example: String,
}

/// An item and its status.
#[derive(Clone, Copy, Debug)]
pub struct OutcomeReason<'a> {
    pub kind: &'a str,
    pub item: &'a str,
    pub status: &'a str,
    pub reason: Option<&'a str>,
}

/// Counts why items did not pass, most frequent reason first, at most eight kinds. Criteria are skipped, because each has a reason of its
/// own.
pub fn count_reasons<'a>(endings: impl Iterator<Item = OutcomeReason<'a>>) -> Vec<Reason> {
    let mut kinds: BTreeMap<(&str, String), (usize, Reason)> = BTreeMap::new();
    for (
        place,
        OutcomeReason {
            kind,
            item,
            status,
            reason,
        },
    ) in endings.enumerate()
    {
        let (Some(reason), false) = (reason, kind == ItemKind::Criterion.name()) else {
            continue;
        };
        if [ItemStatus::Pass, ItemStatus::Skipped]
            .iter()
            .any(|good| good.name() == status)
        {
            continue;
        }
        let (_, known) = kinds
            .entry((status, reason_kind(reason, item)))
            .or_insert_with(|| {
                (
                    place,
                    Reason {
                        status: status.to_owned(),
                        reason: reason.to_owned(),
                        count: 0,
                        example: item.to_owned(),
                    },
                )
            });
        known.count += 1;
    }
    let mut found: Vec<(usize, Reason)> = kinds.into_values().collect();
    found.sort_by_key(|(place, reason)| (std::cmp::Reverse(reason.count), *place));
    found
        .into_iter()
        .map(|(_, reason)| reason)
        .take(MAX_REASONS)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counted(rows: &[(&str, &str, &str, Option<&str>)]) -> Vec<(String, String, u64, String)> {
        let endings = rows
            .iter()
            .map(|(kind, item, status, reason)| OutcomeReason {
                kind,
                item,
                status,
                reason: *reason,
            });
        count_reasons(endings)
            .into_iter()
            .map(|reason| (reason.status, reason.reason, reason.count, reason.example))
            .collect()
    }

    #[test]
    fn the_commonest_comes_first_and_numbers_make_no_other_kind() {
        let found = counted(&[
            ("question", "a", "fail", Some("wrong_choice")),
            ("question", "b", "error", Some("no answer on port 4001")),
            ("question", "c", "error", Some("no answer on port 17")),
            ("question", "d", "pass", Some("by luck")),
            ("question", "e", "fail", None),
            ("question", "f", "infra", Some("wrong_choice")),
            ("criterion", "g", "fail", Some("the judge's own words")),
        ]);
        let of = |status: &str, reason: &str, count, example: &str| {
            (
                status.to_owned(),
                reason.to_owned(),
                count,
                example.to_owned(),
            )
        };
        assert_eq!(
            found,
            [
                of("error", "no answer on port 4001", 2, "b"),
                of("fail", "wrong_choice", 1, "a"),
                of("infra", "wrong_choice", 1, "f")
            ]
        );
    }

    #[test]
    fn no_more_kinds_than_a_reader_looks_at() {
        let letters: Vec<String> = ('a'..='z').map(String::from).collect();
        let rows: Vec<_> = letters
            .iter()
            .map(|letter| ("test", "t", "fail", Some(letter.as_str())))
            .collect();
        assert_eq!(counted(&rows).len(), MAX_REASONS);
    }
}
