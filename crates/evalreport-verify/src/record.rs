//! The record of a verification: goal, commands, failures and their scope.

use super::{
    CheckFailure, CheckOutcome, CheckResult, CheckSelection, Classification, DetectedProject,
    ProjectPart, VerificationTask, VerificationVerdict,
};
use crate::domain::{Verification, VerifiedBaseline, VerifiedCheck, VerifiedFailure, VerifiedPart};

/// Returns the planned verification, before any command is run.
pub fn planned_record(
    detected: &DetectedProject,
    task: &VerificationTask,
    selection: &CheckSelection,
) -> Verification {
    let first = |pick: fn(&ProjectPart) -> &Option<String>| {
        detected.parts.iter().find_map(|part| pick(part).clone())
    };
    let part = |part: &ProjectPart| VerifiedPart {
        folder: part.folder.clone(),
        stack: part.stack.name().to_owned(),
        reasons: part.reasons.clone(),
    };
    let checks = selection.checks.iter().map(|check| VerifiedCheck {
        id: check.id.clone(),
        kind: Some(check.kind.name().to_owned()),
        command: check.command.clone(),
        folder: Some(check.folder.clone()),
        reason: Some(check.reason.clone()),
        outcome: None,
        message: None,
        seconds: None,
        baseline: None,
    });
    Verification {
        stack: Some(detected.stack.name().to_owned()),
        primary_test: first(|part| &part.primary_test),
        smoke_test: first(|part| &part.smoke_test),
        build_command: first(|part| &part.build),
        lint_command: first(|part| &part.lint),
        syntax_check: first(|part| &part.syntax_check),
        parts: detected.parts.iter().map(part).collect(),
        goal: Some(task.goal.clone()),
        task_kind: Some(selection.kind.name().to_owned()),
        profile: Some(task.profile.name().to_owned()),
        files: task.files.clone(),
        changed: task.changed.clone(),
        checks: checks.collect(),
        failures: Vec::new(),
        fixed: Vec::new(),
        baseline: None,
        manual: selection.manual.clone(),
        reasons: detected
            .reasons
            .iter()
            .chain(&selection.reasons)
            .cloned()
            .collect(),
        terminal_status: None,
        next: None,
        alternative: None,
        reason: None,
        ticket: None,
    }
}

/// Adds the results to a plan. `base` is the baseline's name and its results.
#[must_use]
pub fn concluded_record(
    mut plan: Verification,
    head: &[CheckResult],
    base: Option<(&str, &[CheckResult])>,
    classification: &Classification,
    verdict: &VerificationVerdict,
) -> Verification {
    for check in &mut plan.checks {
        let before = base.and_then(|(_, results)| find_result(check, results));
        check.baseline = before.map(|result| result.ending.name().to_owned());
        if let Some(result) = find_result(check, head) {
            check.outcome = Some(result.ending.name().to_owned());
            check.seconds = Some(result.seconds);
            check.message = match &result.ending {
                CheckOutcome::NotRunnable(reason) => Some(reason.clone()),
                CheckOutcome::Passed | CheckOutcome::Failed | CheckOutcome::TimedOut => None,
            };
        }
    }
    let failures = classification
        .failures
        .iter()
        .map(|classified| VerifiedFailure {
            check: classified.check.clone(),
            scope: Some(classified.scope.name().to_owned()),
            reason: Some(classified.reason.clone()),
            signature: Some(classified.failure.signature.clone()),
            text: classified.failure.text.clone(),
            files: classified.failure.files.clone(),
            test: classified.failure.test.clone(),
            at_baseline: classified.at_baseline,
        });
    Verification {
        failures: failures.collect(),
        fixed: classification
            .fixed
            .iter()
            .map(|(check, failure)| fixed_failure(check, failure))
            .collect(),
        baseline: base.map(|(name, _)| VerifiedBaseline {
            name: name.to_owned(),
        }),
        terminal_status: Some(verdict.status.name().to_owned()),
        next: Some(verdict.status.next_action().to_owned()),
        alternative: verdict.alternative.map(str::to_owned),
        reason: Some(verdict.reason.clone()),
        ..plan
    }
}

fn find_result<'r>(check: &VerifiedCheck, results: &'r [CheckResult]) -> Option<&'r CheckResult> {
    results.iter().find(|result| result.check.id == check.id)
}

fn fixed_failure(check: &str, failure: &CheckFailure) -> VerifiedFailure {
    VerifiedFailure {
        check: check.to_owned(),
        scope: None,
        reason: None,
        signature: Some(failure.signature.clone()),
        text: failure.text.clone(),
        files: failure.files.clone(),
        test: failure.test.clone(),
        at_baseline: None,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::domain::Profile;
    use crate::testing::{listing, task};
    use crate::{
        CheckExit, CheckKind, FailureScope, Overrides, Stack, TerminalStatus, classify_failures,
        conclude_verdict, detect_stacks, select_checks,
    };

    #[test]
    fn a_record_has_the_keys_of_the_seed_and_reads_back() {
        let files = [
            (
                "package.json",
                r#"{"scripts": {"test": "x", "build": "y"}}"#,
            ),
            ("index.js", ""),
        ];
        let listing = listing(&files);
        let detected = detect_stacks(&listing);
        let task = task("add paging", Profile::Fast);
        let selection = select_checks(&detected, &listing, &task, &Overrides::default());
        let plan = planned_record(&detected, &task, &selection);
        let dry = serde_json::to_value(&plan).expect("JSON");
        assert_eq!(dry["stack"], "node");
        assert_eq!(dry["primaryTest"], "npm test");
        assert_eq!(dry["buildCommand"], "npm run build");
        assert_eq!(dry["taskKind"], "general");
        assert_eq!(
            (dry.get("terminalStatus"), dry["checks"][0].get("outcome")),
            (None, None),
            "nothing was run"
        );

        let said = "tests/a.test.js:1:1: error: boom";
        let head = [CheckResult::from_exit(
            selection.checks[0].clone(),
            &CheckExit::Code(1),
            said,
            &[],
            1.5,
        )];
        let base = [CheckResult::from_exit(
            selection.checks[0].clone(),
            &CheckExit::Code(1),
            said,
            &[],
            1.0,
        )];
        let classification = classify_failures(&task, &head, Some(&base));
        let verdict = conclude_verdict(&task, &selection, &head, &classification);
        let record = concluded_record(
            plan,
            &head,
            Some(("HEAD~1", &base)),
            &classification,
            &verdict,
        );
        let value = serde_json::to_value(&record).expect("JSON");
        assert_eq!(value["terminalStatus"], "done_partial");
        assert_eq!(value["next"], "accept_partial");
        assert_eq!(value["baseline"], json!({"name": "HEAD~1"}));
        assert_eq!(value["checks"][0]["outcome"], "failed");
        assert_eq!(value["checks"][0]["baseline"], "failed");
        assert_eq!(value["checks"][0]["seconds"], 1.5);
        assert_eq!(value["failures"][0]["scope"], "out_of_scope");
        assert_eq!(value["failures"][0]["atBaseline"], true);
        assert_eq!(Verification::from_record(&value), Some(record));
    }

    /// Tests that the values listed in the schema are the names used in the code.
    #[test]
    fn the_schema_has_the_words_of_the_code() {
        let schema = schemars::schema_for!(Verification).to_value();
        let words = |pointer: &str| {
            schema
                .pointer(pointer)
                .unwrap_or_else(|| panic!("{pointer}: {schema:#}"))
                .clone()
        };
        assert_eq!(
            words("/properties/stack/examples"),
            json!(Stack::ALL.map(Stack::name))
        );
        assert_eq!(
            words("/properties/profile/examples"),
            json!(Profile::ALL.map(Profile::name))
        );
        assert_eq!(
            words("/properties/terminalStatus/examples"),
            json!(TerminalStatus::ALL.map(TerminalStatus::name))
        );
        assert_eq!(
            words("/$defs/VerifiedCheck/properties/kind/examples"),
            json!(CheckKind::ALL.map(CheckKind::name))
        );
        assert_eq!(
            words("/$defs/VerifiedFailure/properties/scope/examples"),
            json!(FailureScope::ALL.map(FailureScope::name))
        );
    }
}
