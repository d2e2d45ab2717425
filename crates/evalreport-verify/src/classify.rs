//! Decides whether the change caused a failure.

use std::collections::BTreeSet;

use super::task::{WORDINGS, split_words};
use super::{CheckFailure, CheckOutcome, CheckResult, VerificationTask};
use crate::domain::escape_invisible;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum FailureScope {
    Blocking,
    OutOfScope,
    Unknown,
}

impl FailureScope {
    pub const ALL: [Self; 3] = [Self::Blocking, Self::OutOfScope, Self::Unknown];

    pub fn name(self) -> &'static str {
        match self {
            Self::Blocking => "blocking",
            Self::OutOfScope => "out_of_scope",
            Self::Unknown => "unknown",
        }
    }
}

/// A failure of a check at the head, with its scope.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClassifiedFailure {
    /// The check's id.
    pub check: String,
    pub failure: CheckFailure,
    pub scope: FailureScope,
    pub reason: String,
    /// Whether the same failure occurred at the baseline. `None` if the check was not, or could not be, run there.
    pub at_baseline: Option<bool>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Classification {
    pub failures: Vec<ClassifiedFailure>,
    /// Check id and failure, for failures that occurred at the baseline and are gone now.
    pub fixed: Vec<(String, CheckFailure)>,
}

/// Decides for each failure at the head whether it is the change's responsibility. `base` has the results of the same checks on the
/// unchanged tree.
pub fn classify_failures(
    task: &VerificationTask,
    head: &[CheckResult],
    base: Option<&[CheckResult]>,
) -> Classification {
    let goal = GoalWords::parse(&task.goal);
    let mut classification = Classification::default();
    for result in head {
        let before = base.and_then(|base| {
            base.iter()
                .find(|before| before.check.id == result.check.id)
        });
        for failure in &result.failures {
            let at_baseline = before.and_then(|before| failed_at_baseline(before, failure));
            let (scope, reason) = judge_failure(task, &goal, failure, at_baseline, base.is_some());
            let check = result.check.id.clone();
            classification.failures.push(ClassifiedFailure {
                check,
                failure: failure.clone(),
                scope,
                reason,
                at_baseline,
            });
        }
        classification.fixed.extend(
            before
                .into_iter()
                .flat_map(|before| fixed_failures(before, result)),
        );
    }
    classification
}

/// Says whether a failure occurred at the baseline. `None` if the check could not be run there.
fn failed_at_baseline(before: &CheckResult, failure: &CheckFailure) -> Option<bool> {
    match before.ending {
        CheckOutcome::Passed => Some(false),
        CheckOutcome::Failed | CheckOutcome::TimedOut => Some(
            before
                .failures
                .iter()
                .any(|known| known.signature == failure.signature),
        ),
        CheckOutcome::NotRunnable(_) => None,
    }
}

/// Returns the failures at the baseline that are gone now. A test that fails with another message is not fixed. A check that timed out or
/// could not run fixes nothing.
fn fixed_failures(before: &CheckResult, now: &CheckResult) -> Vec<(String, CheckFailure)> {
    match now.ending {
        CheckOutcome::TimedOut | CheckOutcome::NotRunnable(_) => return Vec::new(),
        CheckOutcome::Passed | CheckOutcome::Failed => {}
    }
    let still = |known: &CheckFailure| {
        now.failures.iter().any(|failure| {
            failure.signature == known.signature
                || (known.test.is_some() && failure.test == known.test)
        })
    };
    before
        .failures
        .iter()
        .filter(|known| !still(known))
        .map(|known| (now.check.id.clone(), known.clone()))
        .collect()
}

fn judge_failure(
    task: &VerificationTask,
    goal: &GoalWords,
    failure: &CheckFailure,
    at_baseline: Option<bool>,
    has_baseline: bool,
) -> (FailureScope, String) {
    let pointed = |files: &[String]| {
        files
            .iter()
            .find(|file| {
                failure
                    .files
                    .iter()
                    .any(|pointed| is_same_file(pointed, file))
            })
            .cloned()
    };
    if at_baseline == Some(false) {
        return (
            FailureScope::Blocking,
            "it did not fail like this at the baseline".to_owned(),
        );
    }
    if let Some(file) = pointed(&task.changed) {
        return (
            FailureScope::Blocking,
            format!(
                "it points at `{}`, which the change touched",
                escape_invisible(&file)
            ),
        );
    }
    if let Some(file) = pointed(&task.files) {
        return (
            FailureScope::Blocking,
            format!(
                "it points at `{}`, which the goal is about",
                escape_invisible(&file)
            ),
        );
    }
    if let Some(word) = goal.goal_word_in(failure) {
        return (
            FailureScope::Blocking,
            format!("it names `{}`, as the goal does", escape_invisible(&word)),
        );
    }
    match at_baseline {
        Some(true) if failure.files.is_empty() => (
            FailureScope::Unknown,
            "it failed like this at the baseline too, but names no file".to_owned(),
        ),
        Some(true) => (
            FailureScope::OutOfScope,
            "it failed like this at the baseline too, in files that the change did not touch"
                .to_owned(),
        ),
        Some(false) | None if has_baseline => (
            FailureScope::Unknown,
            "this check could not be run at the baseline".to_owned(),
        ),
        Some(false) | None => (
            FailureScope::Unknown,
            "there is no baseline to compare with".to_owned(),
        ),
    }
}

/// Says whether a failure's path means a changed file. Go's paths start with the module's name; JVM tools report only file names.
fn is_same_file(pointed: &str, changed: &str) -> bool {
    let ends = |longer: &str, shorter: &str| {
        longer
            .strip_suffix(shorter)
            .is_some_and(|rest| rest.is_empty() || rest.ends_with('/'))
    };
    ends(pointed, changed) || (!pointed.contains('/') && ends(changed, pointed))
}

/// Words and quotes of a goal that a failure can mention.
struct GoalWords {
    words: BTreeSet<String>,
    /// Texts in quotes or backticks, in lower case.
    quoted: Vec<String>,
}

/// Words that occur in too many names to identify anything.
const COMMON_WORDS: [&str; 46] = [
    "about",
    "after",
    "again",
    "also",
    "before",
    "case",
    "class",
    "code",
    "does",
    "each",
    "every",
    "file",
    "folder",
    "from",
    "function",
    "have",
    "index",
    "into",
    "java",
    "javascript",
    "list",
    "main",
    "make",
    "method",
    "more",
    "name",
    "node",
    "number",
    "only",
    "other",
    "package",
    "page",
    "project",
    "python",
    "react",
    "rust",
    "should",
    "source",
    "that",
    "their",
    "this",
    "typescript",
    "unit",
    "value",
    "when",
    "work",
];
const MIN_WORD: usize = 4;
const MAX_QUOTES: usize = 20;

impl GoalWords {
    fn parse(goal: &str) -> Self {
        let of_kinds: BTreeSet<&str> = WORDINGS
            .iter()
            .flat_map(|wording| wording.verbs.iter().chain(wording.nouns))
            .copied()
            .collect();
        let is_telling = |word: &String| {
            word.chars().count() >= MIN_WORD
                && !COMMON_WORDS.contains(&word.as_str())
                && !of_kinds.contains(word.as_str())
        };
        let words = name_words(goal).into_iter().filter(is_telling).collect();
        let quoted = ['`', '"', '\'']
            .into_iter()
            .flat_map(|mark| goal.split(mark).skip(1).step_by(2));
        let is_long = |text: &&str| text.trim().chars().count() >= MIN_WORD;
        Self {
            words,
            quoted: quoted
                .filter(is_long)
                .take(MAX_QUOTES)
                .map(|text| text.trim().to_lowercase())
                .collect(),
        }
    }

    /// Returns the first word of the goal that is in the name of the failing test or its files, else a quote of the goal that is in the
    /// failure's text.
    fn goal_word_in(&self, failure: &CheckFailure) -> Option<String> {
        let names = failure
            .test
            .iter()
            .chain(&failure.files)
            .flat_map(|name| name_words(name))
            .collect::<BTreeSet<_>>();
        let said = failure.text.to_lowercase();
        self.words.intersection(&names).next().cloned().or_else(|| {
            self.quoted
                .iter()
                .find(|quote| said.contains(quote.as_str()))
                .cloned()
        })
    }
}

/// Returns the words of a text, in lower case, without plural `s`. Names are split, so `parseDate` and `parse_dates` have the same words.
fn name_words(text: &str) -> BTreeSet<String> {
    let mut spaced = String::with_capacity(text.len());
    let mut was_lower = false;
    for character in text.chars() {
        if was_lower && character.is_uppercase() {
            spaced.push(' ');
        }
        was_lower = character.is_lowercase();
        spaced.push(if character == '_' { ' ' } else { character });
    }
    split_words(&spaced)
        .into_iter()
        .map(|word| {
            word.strip_suffix('s')
                .filter(|word| word.len() >= 3)
                .map_or_else(|| word.clone(), str::to_owned)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::CheckKind;
    use crate::domain::Profile;
    use crate::testing::{check, failure, task};

    fn result(ending: CheckOutcome, failures: &[CheckFailure]) -> CheckResult {
        CheckResult {
            check: check(CheckKind::Test, "pytest"),
            ending,
            failures: failures.to_vec(),
            seconds: 1.0,
        }
    }

    fn scope(
        task: &VerificationTask,
        one: &CheckFailure,
        base: Option<CheckResult>,
    ) -> (FailureScope, String) {
        let base = base.map(|base| vec![base]);
        let classification = classify_failures(
            task,
            &[result(CheckOutcome::Failed, std::slice::from_ref(one))],
            base.as_deref(),
        );
        let classified = classification
            .failures
            .into_iter()
            .next()
            .expect("one failure");
        (classified.scope, classified.reason)
    }

    #[test]
    fn scope_follows_from_baseline_files_and_goal() {
        let mut work = task("round amounts in the invoice", Profile::Fast);
        work.changed = vec!["src/money.py".to_owned()];
        let old = failure(
            "s",
            &["tests/test_other.py"],
            Some("tests/test_other.py::test_x"),
        );
        let stood = || Some(result(CheckOutcome::Failed, std::slice::from_ref(&old)));
        assert_eq!(scope(&work, &old, stood()).0, FailureScope::OutOfScope);
        assert_eq!(
            scope(&work, &old, Some(result(CheckOutcome::Passed, &[]))).0,
            FailureScope::Blocking,
            "new"
        );
        assert_eq!(
            scope(&work, &old, None),
            (
                FailureScope::Unknown,
                "there is no baseline to compare with".to_owned()
            )
        );
        let missing = result(CheckOutcome::NotRunnable("no pytest".to_owned()), &[]);
        assert_eq!(
            scope(&work, &old, Some(missing)).1,
            "this check could not be run at the baseline"
        );

        let touched = CheckFailure {
            files: vec!["src/money.py".to_owned()],
            ..old.clone()
        };
        assert_eq!(
            scope(&work, &touched, stood()),
            (
                FailureScope::Blocking,
                "it points at `src/money.py`, which the change touched".to_owned()
            )
        );
        let named = CheckFailure {
            test: Some("tests/test_other.py::test_invoices".to_owned()),
            ..old.clone()
        };
        assert_eq!(
            scope(&work, &named, stood()),
            (
                FailureScope::Blocking,
                "it names `invoice`, as the goal does".to_owned()
            )
        );
        let nowhere = CheckFailure {
            files: Vec::new(),
            test: None,
            ..old.clone()
        };
        assert_eq!(scope(&work, &nowhere, stood()).0, FailureScope::Unknown);
        work.files = vec!["tests/test_other.py".to_owned()];
        assert_eq!(
            scope(&work, &old, stood()).1,
            "it points at `tests/test_other.py`, which the goal is about"
        );
    }

    #[test]
    fn what_is_quoted_in_the_goal_is_looked_for_in_the_words() {
        let mut old = failure("s", &["a.py"], None);
        old.text = "TypeError: Cannot Add None".to_owned();
        let base = || Some(result(CheckOutcome::Failed, std::slice::from_ref(&old)));
        assert_eq!(
            scope(&task("fix \"cannot add\"", Profile::Fast), &old, base()).0,
            FailureScope::Blocking
        );
        assert_eq!(
            scope(&task("fix \"cannot drop\"", Profile::Fast), &old, base()).0,
            FailureScope::OutOfScope
        );
    }

    #[test]
    fn a_file_is_the_same_with_a_module_before_it_or_without_its_folder() {
        for (pointed, changed, same) in [
            ("example.com/m/pkg/a.go", "pkg/a.go", true),
            ("FooTest.java", "src/test/java/FooTest.java", true),
            ("src/a.py", "a.py", true),
            ("src/aa.py", "a.py", false),
            ("x/a.py", "y/a.py", false),
            ("a.py", "aa.py", false),
        ] {
            assert_eq!(is_same_file(pointed, changed), same, "{pointed} {changed}");
        }
    }

    #[test]
    fn fixed_is_what_is_gone_from_a_check_that_came_to_its_end() {
        let (one, other) = (
            failure("one", &[], Some("one")),
            failure("other", &[], None),
        );
        let base = [result(CheckOutcome::Failed, &[one.clone(), other.clone()])];
        let fixed = |head: CheckResult| {
            classify_failures(&task("", Profile::Fast), &[head], Some(&base)).fixed
        };
        assert_eq!(
            fixed(result(CheckOutcome::Passed, &[])),
            [
                ("test".to_owned(), one.clone()),
                ("test".to_owned(), other.clone())
            ]
        );
        let changed = CheckFailure {
            signature: "one, otherwise".to_owned(),
            ..one
        };
        assert_eq!(
            fixed(result(CheckOutcome::Failed, &[changed])),
            [("test".to_owned(), other)]
        );
        assert_eq!(fixed(result(CheckOutcome::TimedOut, &[])), []);
        assert_eq!(
            fixed(result(CheckOutcome::NotRunnable(String::new()), &[])),
            []
        );
    }
}
