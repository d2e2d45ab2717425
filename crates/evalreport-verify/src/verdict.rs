//! Draws the conclusion of a verification.

use super::classify::ClassifiedFailure;
use super::{
    CheckKind, CheckOutcome, CheckResult, CheckSelection, Classification, FailureScope, TaskKind,
    VerificationTask,
};
use crate::domain::Profile;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum TerminalStatus {
    DoneSuccess,
    /// The goal is met. The remaining failures are not the change's responsibility.
    DonePartial,
    NotDone,
    /// A person must decide: checks could not be run, or the origin of failures is unknown.
    Blocked,
    /// Nothing was checked.
    Unverified,
}

impl TerminalStatus {
    pub const ALL: [Self; 5] = [
        Self::DoneSuccess,
        Self::DonePartial,
        Self::NotDone,
        Self::Blocked,
        Self::Unverified,
    ];

    pub fn name(self) -> &'static str {
        match self {
            Self::DoneSuccess => "done_success",
            Self::DonePartial => "done_partial",
            Self::NotDone => "not_done",
            Self::Blocked => "blocked",
            Self::Unverified => "unverified",
        }
    }

    /// Returns the next action for the caller.
    pub fn next_action(self) -> &'static str {
        match self {
            Self::DoneSuccess => "stop",
            Self::DonePartial => "accept_partial",
            Self::NotDone => "continue",
            Self::Blocked | Self::Unverified => "escalate",
        }
    }

    pub fn exit_code(self) -> u8 {
        match self {
            Self::DoneSuccess | Self::DonePartial => 0,
            Self::NotDone | Self::Blocked => 1,
            Self::Unverified => 3,
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VerificationVerdict {
    pub status: TerminalStatus,
    pub reason: String,
    /// An alternative to the next action, in the words of [`TerminalStatus::next_action`].
    pub alternative: Option<&'static str>,
}

/// Draws the conclusion. A goal counts as done only if a check ran and passed.
pub fn conclude_verdict(
    task: &VerificationTask,
    selection: &CheckSelection,
    head: &[CheckResult],
    classification: &Classification,
) -> VerificationVerdict {
    let says = |status: TerminalStatus, reason: String| VerificationVerdict {
        status,
        reason,
        alternative: None,
    };
    let Some(ran) = RanChecks::from_results(head) else {
        let reason = if selection.manual.is_some() {
            "only a person can check this"
        } else {
            "there was nothing to run"
        };
        return says(TerminalStatus::Unverified, reason.to_owned());
    };
    let failures = || {
        classification
            .failures
            .iter()
            .filter(|failure| !ran.is_beside_the_tests(selection, failure))
    };
    let count = |wanted: FailureScope| {
        failures()
            .filter(|classified| classified.scope == wanted)
            .count()
    };
    let (blocking, out_of_scope, unknown) = (
        count(FailureScope::Blocking),
        count(FailureScope::OutOfScope),
        count(FailureScope::Unknown),
    );
    if blocking > 0 {
        return says(
            TerminalStatus::NotDone,
            failing_text(blocking, "the change's business"),
        );
    }
    if task.profile == Profile::Strict && out_of_scope + unknown > 0 {
        return says(
            TerminalStatus::NotDone,
            format!(
                "{}, and `strict` accepts none",
                failing_text(out_of_scope + unknown, "left")
            ),
        );
    }
    if let Some(verdict) = ran.weak_verdict(task.profile) {
        return verdict;
    }
    let new = failures()
        .filter(|one| one.scope == FailureScope::Unknown && one.at_baseline != Some(true))
        .count();
    if new > 0 {
        return says(
            TerminalStatus::Blocked,
            failing_text(new, "of unknown origin: compare with a baseline"),
        );
    }
    let is_about_fixing = matches!(selection.kind, TaskKind::FixError | TaskKind::FixBuild);
    if out_of_scope + unknown > 0 && is_about_fixing && classification.fixed.is_empty() {
        // Either the fix is missing, or it was for another failure. Only the caller knows.
        let reason =
            "the goal is to fix something, but everything fails as it did before".to_owned();
        return VerificationVerdict {
            alternative: Some(TerminalStatus::NotDone.next_action()),
            ..says(TerminalStatus::Blocked, reason)
        };
    }
    if out_of_scope + unknown > 0 {
        return says(
            TerminalStatus::DonePartial,
            failing_text(
                out_of_scope + unknown,
                "left, as before the change and apart from it",
            ),
        );
    }
    says(TerminalStatus::DoneSuccess, ran.success_reason())
}

fn failing_text(count: usize, what: &str) -> String {
    let (noun, verb) = if count == 1 {
        ("failure", "is")
    } else {
        ("failures", "are")
    };
    format!("{count} {noun} {verb} {what}")
}

/// Checks by whether they gave a result.
struct RanChecks<'r> {
    told: Vec<&'r CheckResult>,
    /// Checks that found no test.
    empty: Vec<&'r CheckResult>,
    /// Checks that could not run, with the obstacle.
    stopped: Vec<(&'r CheckResult, &'r str)>,
}

impl<'r> RanChecks<'r> {
    /// Groups the results. `None` if there were no checks.
    fn from_results(head: &'r [CheckResult]) -> Option<Self> {
        let mut ran = Self {
            told: Vec::new(),
            empty: Vec::new(),
            stopped: Vec::new(),
        };
        for result in head {
            match &result.ending {
                CheckOutcome::NotRunnable(_) if result.ending.ran_no_tests() => {
                    ran.empty.push(result);
                }
                CheckOutcome::NotRunnable(reason) => ran.stopped.push((result, reason)),
                CheckOutcome::Passed | CheckOutcome::Failed | CheckOutcome::TimedOut => {
                    ran.told.push(result);
                }
            }
        }
        (!head.is_empty()).then_some(ran)
    }

    /// Says whether a failed start can be ignored: the program also failed to start before the change, tests gave results, and the goal is
    /// not about starting. The program may need a service that is missing here, such as a database.
    fn is_beside_the_tests(&self, selection: &CheckSelection, failure: &ClassifiedFailure) -> bool {
        let is_about_starting = matches!(
            selection.kind,
            TaskKind::FixBuild | TaskKind::CreateApp | TaskKind::Frontend
        );
        let of_kind = |kind: CheckKind| {
            self.told
                .iter()
                .filter(move |result| result.check.kind == kind)
        };
        let is_start = of_kind(CheckKind::Smoke).any(|result| result.check.id == failure.check);
        let has_tests = of_kind(CheckKind::Test)
            .chain(of_kind(CheckKind::Targeted))
            .next()
            .is_some();
        !is_about_starting && is_start && has_tests && failure.at_baseline == Some(true)
    }

    /// Returns the verdict if the results are too weak for any other verdict.
    fn weak_verdict(&self, profile: Profile) -> Option<VerificationVerdict> {
        let strongest = |results: &mut dyn Iterator<Item = &CheckResult>| {
            results
                .map(|result| check_strength(result.check.kind))
                .max()
        };
        let told = strongest(&mut self.told.iter().copied());
        let missing = self
            .stopped
            .iter()
            .max_by_key(|(result, _)| check_strength(result.check.kind));
        if let Some((result, reason)) = missing
            && ((profile == Profile::Strict && result.check.kind != CheckKind::Smoke)
                || told.is_none_or(|told| told < check_strength(result.check.kind)))
        {
            let reason = format!("`{}` could not be run: {reason}", result.check.id);
            return Some(VerificationVerdict {
                status: TerminalStatus::Blocked,
                reason,
                alternative: None,
            });
        }
        let reason = || "no test was run".to_owned();
        told.is_none().then(|| VerificationVerdict {
            status: TerminalStatus::Unverified,
            reason: reason(),
            alternative: None,
        })
    }

    fn success_reason(&self) -> String {
        let told: Vec<&str> = self
            .told
            .iter()
            .map(|result| result.check.id.as_str())
            .collect();
        let mut reason = format!("passed: {}", told.join(", "));
        for (what, names) in [
            (
                "without any test",
                self.empty
                    .iter()
                    .map(|result| result.check.id.as_str())
                    .collect::<Vec<_>>(),
            ),
            (
                "could not be run",
                self.stopped
                    .iter()
                    .map(|(result, _)| result.check.id.as_str())
                    .collect(),
            ),
        ] {
            if !names.is_empty() {
                reason += &format!("; {what}: {}", names.join(", "));
            }
        }
        reason
    }
}

/// Returns the strength of evidence of a passed check. A check that could not run is compensated only by a result of at least the same
/// strength.
fn check_strength(kind: CheckKind) -> u8 {
    match kind {
        CheckKind::Test | CheckKind::Targeted => 3,
        CheckKind::Smoke | CheckKind::Build => 2,
        CheckKind::Lint | CheckKind::Syntax => 1,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{check, failure, task};

    /// A failure's scope, and whether it occurred at the baseline.
    type Stood = (FailureScope, Option<bool>);

    fn selection(goal: &str, manual: Option<&str>) -> CheckSelection {
        CheckSelection {
            kind: TaskKind::from_goal(goal),
            checks: Vec::new(),
            manual: manual.map(str::to_owned),
            reasons: Vec::new(),
        }
    }

    fn result(kind: CheckKind, ending: CheckOutcome) -> CheckResult {
        CheckResult {
            check: check(kind, "run"),
            ending,
            failures: Vec::new(),
            seconds: 1.0,
        }
    }

    fn of(scopes: &[Stood]) -> Classification {
        let classified = |(scope, at_baseline): &Stood| ClassifiedFailure {
            check: "test".to_owned(),
            failure: failure("s", &[], None),
            scope: *scope,
            reason: String::new(),
            at_baseline: *at_baseline,
        };
        Classification {
            failures: scopes.iter().map(classified).collect(),
            fixed: Vec::new(),
        }
    }

    fn status(
        goal: &str,
        profile: Profile,
        head: &[CheckResult],
        classification: &Classification,
    ) -> &'static str {
        conclude_verdict(
            &task(goal, profile),
            &selection(goal, None),
            head,
            classification,
        )
        .status
        .name()
    }

    #[test]
    fn names_next_steps_and_exit_codes() {
        let all = TerminalStatus::ALL
            .map(|status| (status.name(), status.next_action(), status.exit_code()));
        let expected = [
            ("done_success", "stop", 0),
            ("done_partial", "accept_partial", 0),
            ("not_done", "continue", 1),
            ("blocked", "escalate", 1),
            ("unverified", "escalate", 3),
        ];
        assert_eq!(all, expected);
    }

    #[test]
    fn failures_decide_by_scope_and_profile() {
        let failed = [result(CheckKind::Test, CheckOutcome::Failed)];
        let old = (FailureScope::OutOfScope, Some(true));
        let cases: [(&[Stood], [&str; 4]); 5] = [
            (
                &[old],
                ["not_done", "done_partial", "done_partial", "done_partial"],
            ),
            (
                &[old, (FailureScope::Blocking, Some(false))],
                ["not_done"; 4],
            ),
            (
                &[(FailureScope::Unknown, None)],
                ["not_done", "blocked", "blocked", "blocked"],
            ),
            (
                &[(FailureScope::Unknown, Some(true)), old],
                ["not_done", "done_partial", "done_partial", "done_partial"],
            ),
            (
                &[
                    (FailureScope::Blocking, None),
                    (FailureScope::Unknown, None),
                ],
                ["not_done"; 4],
            ),
        ];
        for (scopes, expected) in cases {
            assert_eq!(
                Profile::ALL.map(|profile| status("add paging", profile, &failed, &of(scopes))),
                expected,
                "{scopes:?}"
            );
        }
        let same = of(&[(FailureScope::Unknown, Some(true))]);
        assert_eq!(
            status("fix the crash", Profile::Fast, &failed, &same),
            "blocked",
            "nothing was fixed"
        );
        let open = conclude_verdict(
            &task("fix the crash", Profile::Fast),
            &selection("fix the crash", None),
            &failed,
            &same,
        );
        assert_eq!(
            (open.status.next_action(), open.alternative),
            ("escalate", Some("continue"))
        );
        let fixed = Classification {
            fixed: vec![("test".to_owned(), failure("f", &[], None))],
            ..same
        };
        assert_eq!(
            status("fix the crash", Profile::Fast, &failed, &fixed),
            "done_partial"
        );
    }

    #[test]
    fn a_start_that_failed_before_is_beside_the_tests() {
        let start = |at_baseline| {
            let failure = failure("s", &[], None);
            let failed = ClassifiedFailure {
                check: "smoke".to_owned(),
                failure,
                scope: FailureScope::Unknown,
                reason: String::new(),
                at_baseline,
            };
            Classification {
                failures: vec![failed],
                fixed: Vec::new(),
            }
        };
        let mut smoke = result(CheckKind::Smoke, CheckOutcome::Failed);
        smoke.check.id = "smoke".to_owned();
        let tested = [result(CheckKind::Test, CheckOutcome::Passed), smoke.clone()];
        let all = |goal: &str, head: &[CheckResult], stood| {
            [Profile::Strict, Profile::Fast]
                .map(|profile| status(goal, profile, head, &start(stood)))
        };
        assert_eq!(all("add paging", &tested, Some(true)), ["done_success"; 2]);
        assert_eq!(
            all("add paging", &tested, Some(false)),
            ["not_done", "blocked"]
        );
        assert_eq!(
            all("fix the build", &tested, Some(true)),
            ["not_done", "blocked"],
            "what the goal is about"
        );
        assert_eq!(
            all("add paging", &[smoke], Some(true)),
            ["not_done", "done_partial"],
            "nothing else has told"
        );
        let wants = [
            result(CheckKind::Test, CheckOutcome::Passed),
            result(
                CheckKind::Smoke,
                CheckOutcome::NotRunnable("usage: app FILE".to_owned()),
            ),
        ];
        assert_eq!(
            [Profile::Strict, Profile::Fast].map(|profile| status(
                "add paging",
                profile,
                &wants,
                &Classification::default()
            )),
            ["done_success"; 2]
        );
    }

    #[test]
    fn nothing_that_ran_is_nothing_verified() {
        let none = Classification::default();
        let empty = || CheckOutcome::NotRunnable("no test was run".to_owned());
        let missing = || CheckOutcome::NotRunnable("sh: pytest: not found".to_owned());
        let cases: [(&[CheckResult], [&str; 2]); 7] = [
            (&[], ["unverified"; 2]),
            (&[result(CheckKind::Test, empty())], ["unverified"; 2]),
            (&[result(CheckKind::Test, missing())], ["blocked"; 2]),
            (
                &[result(CheckKind::Test, CheckOutcome::Passed)],
                ["done_success"; 2],
            ),
            (
                &[
                    result(CheckKind::Test, empty()),
                    result(CheckKind::Build, CheckOutcome::Passed),
                ],
                ["done_success"; 2],
            ),
            (
                &[
                    result(CheckKind::Test, missing()),
                    result(CheckKind::Syntax, CheckOutcome::Passed),
                ],
                ["blocked"; 2],
            ),
            (
                &[
                    result(CheckKind::Test, CheckOutcome::Passed),
                    result(CheckKind::Lint, missing()),
                ],
                ["blocked", "done_success"],
            ),
        ];
        for (head, expected) in cases {
            assert_eq!(
                [Profile::Strict, Profile::Fast].map(|profile| status(
                    "add paging",
                    profile,
                    head,
                    &none
                )),
                expected,
                "{head:?}"
            );
        }
        let verdict = conclude_verdict(
            &task("", Profile::Yolo),
            &selection("", Some("look")),
            &[],
            &none,
        );
        assert_eq!(
            (verdict.status.name(), verdict.reason.as_str()),
            ("unverified", "only a person can check this")
        );
    }
}
