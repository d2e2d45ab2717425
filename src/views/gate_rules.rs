//! Gate rules.

use schemars::JsonSchema;
use serde::Serialize;

use crate::inference::BaselineComparison;

/// The demand of a rule. Limits of time, tokens and money are relative to the baseline: 0.1 is a tenth of it.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Ask {
    /// The metric falls by at most `allowed`.
    MaxDrop { metric: String, allowed: f64 },
    /// The metric rises by at most `allowed`.
    MaxRise { metric: String, allowed: f64 },
    /// The new runs pass each of these items in more than half of their attempts. `*` matches any text, and a name also matches its
    /// parametrised cases: `test_login` matches `test_login[a]`.
    MustPass { item: String },
    /// No item that passed every attempt of the baseline fails more than half of the new attempts.
    NoNewFailures,
}

/// One rule. It applies to every suite and approach unless it names them.
#[derive(Clone, Debug, PartialEq)]
pub struct GateRule {
    pub suite: Option<String>,
    pub approach: Option<String>,
    pub ask: Ask,
    /// Whether the limit was written in percent, which is no amount in a score's unit.
    pub is_percent: bool,
    pub allowance: MissingAllowance,
}

/// How much of the baseline may be missing from the new runs.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct MissingAllowance {
    /// Whether items, arms and suites may be gone. Skipped items and errors are not excused.
    pub removed: bool,
    /// Share of the items that may have no outcome.
    pub missing: f64,
}

impl GateRule {
    /// Returns whether the rule applies to a suite.
    pub(super) fn is_about(&self, gated: &BaselineComparison<'_>) -> bool {
        self.suite
            .as_ref()
            .is_none_or(|suite| *suite == gated.suite)
    }

    /// Returns whether the rule applies to an arm of the new runs.
    pub(super) fn is_about_arm(&self, gated: &BaselineComparison<'_>, head: usize) -> bool {
        self.approach
            .as_ref()
            .is_none_or(|approach| *approach == gated.head[head].arm.approach)
    }
}

/// Returns whether a pattern matches an item: its name, one of its parametrised cases, or, with `*`, any fitting name.
pub fn pattern_matches_item(pattern: &str, item: &str) -> bool {
    matches_wildcard(pattern, item)
        || item
            .split_once('[')
            .is_some_and(|(stem, case)| case.ends_with(']') && matches_wildcard(pattern, stem))
}

/// Matches a text against a pattern in which each `*` stands for any text, also the empty one.
fn matches_wildcard(pattern: &str, text: &str) -> bool {
    let mut parts = pattern.split('*');
    let first = parts.next().unwrap_or_default();
    let Some(mut rest) = text.strip_prefix(first) else {
        return false;
    };
    let parts: Vec<&str> = parts.collect();
    let Some((last, between)) = parts.split_last() else {
        return rest.is_empty();
    };
    for part in between {
        // The earliest match leaves most text for the remaining parts.
        let Some(place) = rest.find(part) else {
            return false;
        };
        rest = &rest[place + part.len()..];
    }
    rest.ends_with(last)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_name_items() {
        let named = [
            ("auth/login", "auth/login"),
            ("auth/*", "auth/login"),
            ("auth/*", "auth/"),
            ("*login*", "a::login[x]"),
            ("test_login[*]", "test_login[a-b]"),
            ("test_login", "test_login[a]"),
            ("test_login", "test_login[a[0]]"),
            ("a*b*a", "abba"),
            ("*", ""),
        ];
        assert_eq!(
            named
                .iter()
                .find(|(pattern, item)| !pattern_matches_item(pattern, item)),
            None
        );
        let others = [
            ("auth/*", "author"),
            ("test_login", "test_login2"),
            ("test_login", "test_login2[a]"),
            ("test_login", "a::test_login"),
            ("test_login[*]", "test_login"),
            ("a*a", "a"),
            ("[a]", "xa]"),
            ("", "x"),
        ];
        assert_eq!(
            others
                .iter()
                .find(|(pattern, item)| pattern_matches_item(pattern, item)),
            None
        );
    }

    proptest::proptest! {
        #[test]
        fn what_is_cut_out_of_a_name_may_be_a_star(item in "[a-c\\[\\]/é]{0,12}", from in 0usize..12, length in 0usize..12) {
            let characters: Vec<char> = item.chars().collect();
            let from = from.min(characters.len());
            let to = (from + length).min(characters.len());
            let pattern: String = characters[..from].iter().chain(&['*']).chain(&characters[to..]).collect();
            proptest::prop_assert!(pattern_matches_item(&pattern, &item), "{pattern} {item}");
            proptest::prop_assert!(pattern_matches_item(&item, &item));
        }
    }
}
