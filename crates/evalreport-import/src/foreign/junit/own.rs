//! Properties that our own reports add because the format has no field for them: the outcome's kind and its evaluator.
//!
//! A suite has the values of most of its cases, and a case has its own value if it differs.

use quick_xml::events::BytesStart;

use crate::domain::{ItemKind, ItemOutcome, Run};
use crate::junit::{JunitCase, read_attribute};

/// Name of the root element in reports of `export junit`.
const OWN_ROOT: &str = "evalreport";

/// Returns whether the root element is that of our own reports.
pub(super) fn is_own_root(start: &BytesStart<'_>) -> bool {
    read_attribute(start, "name").as_deref() == Some(OWN_ROOT)
}

/// Properties of the current suite.
#[derive(Default)]
pub(super) struct OwnSuiteFields {
    kind: Option<ItemKind>,
    evaluator: Option<String>,
}

impl OwnSuiteFields {
    pub fn begin_suite(&mut self) {
        *self = Self::default();
    }

    pub fn add_property(&mut self, name: &str, value: &str) {
        match name {
            "kind" => self.kind = ItemKind::from_name(value),
            "evaluator" => self.evaluator = Some(value.to_owned()),
            _ => {}
        }
    }

    pub fn fill_outcome(&self, case: &JunitCase, outcome: &mut ItemOutcome) {
        let of_case = |wanted: &str| {
            case.properties
                .iter()
                .find(|(name, _)| name == wanted)
                .map(|(_, value)| value.as_str())
        };
        if let Some(kind) = of_case("kind").and_then(ItemKind::from_name).or(self.kind) {
            outcome.kind = kind;
        }
        if let Some(evaluator) = of_case("evaluator")
            .or(self.evaluator.as_deref())
            .filter(|name| !name.trim().is_empty())
        {
            evaluator.clone_into(&mut outcome.evaluator);
        }
    }
}

/// Counts of a run without outcomes.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct OwnRunCounts {
    passed: Option<u64>,
    total: Option<u64>,
    kind: Option<ItemKind>,
}

impl OwnRunCounts {
    pub fn add_property(&mut self, name: &str, value: &str) {
        match name {
            "shared_tests_passed" => self.passed = value.trim().parse().ok(),
            "shared_tests_total" => self.total = value.trim().parse().ok(),
            "counted" => self.kind = ItemKind::from_name(value.trim()),
            _ => {}
        }
    }

    pub fn fill_run(self, run: &mut Run) {
        (run.shared_tests_passed, run.shared_tests_total) = self
            .passed
            .zip(self.total)
            .filter(|(passed, total)| passed <= total)
            .unzip();
        run.counted = self.kind.filter(|_| run.shared_tests_total.is_some());
    }
}

/// Returns an item's name without the number of the attempt.
pub(super) fn strip_attempt_number(name: &str) -> &str {
    let number = |rest: &str| !rest.is_empty() && rest.bytes().all(|byte| byte.is_ascii_digit());
    match name
        .strip_suffix(')')
        .and_then(|name| name.rsplit_once(" (attempt "))
    {
        Some((item, rest)) if number(rest) => item,
        Some(_) | None => name,
    }
}

#[cfg(test)]
mod tests {
    use super::strip_attempt_number;

    #[test]
    fn attempts_are_no_part_of_the_name() {
        for (name, expected) in [
            ("a::b (attempt 12)", "a::b"),
            ("a (attempt x)", "a (attempt x)"),
            ("a (attempt )", "a (attempt )"),
            ("a)", "a)"),
        ] {
            assert_eq!(strip_attempt_number(name), expected);
        }
    }
}
