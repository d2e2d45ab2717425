//! Deep equality of JSON.

use super::parse::JsonValue;

/// Most items of a list without order whose maps may have more keys.
pub(crate) const MAX_UNORDERED_ITEMS: usize = 1000;

/// Whether maps may have keys beside the expected ones.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum ExtraKeys {
    #[default]
    Refuse,
    Allow,
}

/// When two values are equal. Numbers are by value; text, numbers, booleans and null never equal each other; null is not an absent key.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct JsonEquality {
    pub(crate) extra: ExtraKeys,
    /// Whether lists are compared as bags.
    pub(crate) is_unordered: bool,
}

impl JsonEquality {
    pub(crate) fn are_equal(self, expected: &JsonValue, found: &JsonValue) -> bool {
        match (expected, found) {
            (JsonValue::Map(expected), JsonValue::Map(entries)) => {
                let has_room = self.extra == ExtraKeys::Allow || expected.len() == entries.len();
                has_room
                    && expected.iter().all(|(key, value)| {
                        found
                            .get(key)
                            .is_some_and(|found| self.are_equal(value, found))
                    })
            }
            (JsonValue::List(expected), JsonValue::List(found)) => {
                if expected.len() != found.len() {
                    return false;
                }
                if self.is_unordered {
                    return self.are_equal_bags(expected, found);
                }
                expected
                    .iter()
                    .zip(found)
                    .all(|(one, other)| self.are_equal(one, other))
            }
            (expected, found) => expected == found,
        }
    }

    fn are_equal_bags(self, expected: &[JsonValue], found: &[JsonValue]) -> bool {
        if self.extra == ExtraKeys::Refuse {
            let sorted = |items: &[JsonValue]| {
                let mut items: Vec<JsonValue> = items.iter().map(sort_lists).collect();
                items.sort();
                items
            };
            return sorted(expected) == sorted(found);
        }
        if expected.len() > MAX_UNORDERED_ITEMS {
            return false;
        }
        // One item can equal several, so they are matched (Kuhn's augmenting paths).
        let fits: Vec<Vec<usize>> = expected
            .iter()
            .map(|one| {
                (0..found.len())
                    .filter(|place| self.are_equal(one, &found[*place]))
                    .collect()
            })
            .collect();
        let mut owner = vec![None; found.len()];
        (0..expected.len()).all(|item| {
            let mut tried = vec![false; found.len()];
            assign(item, &fits, &mut owner, &mut tried)
        })
    }
}

fn assign(
    item: usize,
    fits: &[Vec<usize>],
    owner: &mut [Option<usize>],
    tried: &mut [bool],
) -> bool {
    for place in &fits[item] {
        if std::mem::replace(&mut tried[*place], true) {
            continue;
        }
        let is_free = match owner[*place] {
            None => true,
            Some(other) => assign(other, fits, owner, tried),
        };
        if is_free {
            owner[*place] = Some(item);
            return true;
        }
    }
    false
}

/// Returns the value with each list in one order.
fn sort_lists(value: &JsonValue) -> JsonValue {
    match value {
        JsonValue::List(items) => {
            let mut items: Vec<JsonValue> = items.iter().map(sort_lists).collect();
            items.sort();
            JsonValue::List(items)
        }
        JsonValue::Map(entries) => JsonValue::Map(
            entries
                .iter()
                .map(|(key, value)| (key.clone(), sort_lists(value)))
                .collect(),
        ),
        other => other.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::super::parse::parse_whole;
    use super::*;

    #[track_caller]
    fn check(equality: JsonEquality, expected: &str, found: &str, is_equal: bool) {
        let value = |text| parse_whole(text, false).expect("JSON").value;
        assert_eq!(
            equality.are_equal(&value(expected), &value(found)),
            is_equal,
            "{expected} {found}"
        );
    }

    #[test]
    fn values_are_equal_deeply() {
        let strict = JsonEquality::default();
        check(strict, "{\"a\": [1, 2]}", "{\"a\": [1.0, 2e0]}", true);
        check(strict, "{\"a\": null}", "{}", false);
        check(strict, "{}", "{\"a\": null}", false);
        check(strict, "[1, 2]", "[2, 1]", false);
        check(strict, "1", "true", false);
    }

    #[test]
    fn bags_count_their_items() {
        let bag = JsonEquality {
            is_unordered: true,
            ..JsonEquality::default()
        };
        check(bag, "[1, 2, 2]", "[2, 1, 2]", true);
        check(bag, "[1, 2, 2]", "[1, 1, 2]", false);
        check(bag, "[[1, 2], [3]]", "[[3], [2, 1]]", true);
        let loose = JsonEquality {
            extra: ExtraKeys::Allow,
            ..bag
        };
        check(loose, "[{}, {\"a\": 1}]", "[{\"a\": 1}, {\"b\": 1}]", true);
        check(
            loose,
            "[{\"b\": 1}, {\"a\": 1}]",
            "[{\"a\": 1}, {\"a\": 1, \"b\": 1}]",
            true,
        );
        check(
            loose,
            "[{\"a\": 1}, {\"a\": 1}]",
            "[{\"a\": 1}, {\"b\": 1}]",
            false,
        );
    }
}
