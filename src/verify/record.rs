//! What is kept of a verification: the goal, the commands, what failed and whose it is.

use serde::{Deserialize, Serialize};

use super::{CheckKind, CheckResult, Classification, Detected, Ending, Scope, Selection, Stack, Task, TaskKind, TerminalStatus, Verdict};

/// The whole of a verification, as it is stored and printed. A dry run has no outcomes and no status.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Record {
    pub stack: Stack,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub primary_test: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub smoke_test: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub build_command: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lint_command: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub syntax_check: Option<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub parts: Vec<PartRecord>,
    pub goal: String,
    pub task_kind: TaskKind,
    /// The profile's name.
    pub profile: String,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub changed: Vec<String>,
    pub checks: Vec<CheckRecord>,
    pub failures: Vec<FailureRecord>,
    pub fixed: Vec<FixedRecord>,
    /// What the head was compared with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub baseline: Option<BaselineRecord>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub manual: Option<String>,
    /// Why these stacks and commands.
    pub reasons: Vec<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub terminal_status: Option<TerminalStatus>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next: Option<String>,
    /// Why this status.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The follow-up ticket that was written, for whoever writes one to fill in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ticket: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PartRecord {
    pub folder: String,
    pub stack: Stack,
    pub reasons: Vec<String>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CheckRecord {
    pub id: String,
    pub kind: CheckKind,
    pub command: String,
    pub folder: String,
    pub reason: String,
    /// `passed`, `failed`, `timed_out` or `not_runnable`; absent when it was not run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub outcome: Option<String>,
    /// Why it could not be run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seconds: Option<f64>,
    /// How it ended on the baseline.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub baseline: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct FailureRecord {
    pub check: String,
    pub scope: Scope,
    pub reason: String,
    pub signature: String,
    pub text: String,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub test: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at_baseline: Option<bool>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct FixedRecord {
    pub check: String,
    pub signature: String,
    pub text: String,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub test: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct BaselineRecord {
    /// The revision or folder, as it was named.
    pub name: String,
}

impl Record {
    /// Returns what is to be done, before anything is run.
    pub fn planned(detected: &Detected, task: &Task, selection: &Selection) -> Self {
        let first = |pick: fn(&super::Part) -> &Option<String>| detected.parts.iter().find_map(|part| pick(part).clone());
        Self {
            stack: detected.stack,
            primary_test: first(|part| &part.primary_test),
            smoke_test: first(|part| &part.smoke_test),
            build_command: first(|part| &part.build),
            lint_command: first(|part| &part.lint),
            syntax_check: first(|part| &part.syntax_check),
            parts: detected
                .parts
                .iter()
                .map(|part| PartRecord { folder: part.folder.clone(), stack: part.stack, reasons: part.reasons.clone() })
                .collect(),
            goal: task.goal.clone(),
            task_kind: selection.kind,
            profile: task.profile.name().to_owned(),
            files: task.files.clone(),
            changed: task.changed.clone(),
            checks: selection
                .checks
                .iter()
                .map(|check| CheckRecord {
                    id: check.id.clone(),
                    kind: check.kind,
                    command: check.command.clone(),
                    folder: check.folder.clone(),
                    reason: check.reason.clone(),
                    outcome: None,
                    message: None,
                    seconds: None,
                    baseline: None,
                })
                .collect(),
            failures: Vec::new(),
            fixed: Vec::new(),
            baseline: None,
            manual: selection.manual.clone(),
            reasons: detected.reasons.iter().chain(&selection.reasons).cloned().collect(),
            terminal_status: None,
            next: None,
            reason: None,
            ticket: None,
        }
    }

    /// Adds what came of it. `base` is the baseline's name and the results on it.
    #[must_use]
    pub fn concluded(
        mut self,
        head: &[CheckResult],
        base: Option<(&str, &[CheckResult])>,
        classification: &Classification,
        verdict: &Verdict,
    ) -> Self {
        for check in &mut self.checks {
            let of_check = |results: &[CheckResult]| results.iter().position(|result| result.check.id == check.id);
            let before = base.and_then(|(_, results)| Some(&results[of_check(results)?]));
            check.baseline = before.map(|result| result.ending.name().to_owned());
            if let Some(result) = of_check(head).map(|place| &head[place]) {
                check.outcome = Some(result.ending.name().to_owned());
                check.seconds = Some(result.seconds);
                check.message = match &result.ending {
                    Ending::NotRunnable(reason) => Some(reason.clone()),
                    Ending::Passed | Ending::Failed | Ending::TimedOut => None,
                };
            }
        }
        self.failures = classification
            .failures
            .iter()
            .map(|classified| FailureRecord {
                check: classified.check.clone(),
                scope: classified.scope,
                reason: classified.reason.clone(),
                signature: classified.failure.signature.clone(),
                text: classified.failure.text.clone(),
                files: classified.failure.files.clone(),
                test: classified.failure.test.clone(),
                at_baseline: classified.at_baseline,
            })
            .collect();
        self.fixed = classification
            .fixed
            .iter()
            .map(|(check, failure)| FixedRecord {
                check: check.clone(),
                signature: failure.signature.clone(),
                text: failure.text.clone(),
                files: failure.files.clone(),
                test: failure.test.clone(),
            })
            .collect();
        self.baseline = base.map(|(name, _)| BaselineRecord { name: name.to_owned() });
        self.terminal_status = Some(verdict.status);
        self.next = Some(verdict.status.next().to_owned());
        self.reason = Some(verdict.reason.clone());
        self
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::domain::Profile;
    use crate::verify::testing::{listing, task};
    use crate::verify::{Exit, Overrides, classify, conclude, detect, select};

    #[test]
    fn a_record_has_the_keys_of_the_seed_and_reads_back() {
        let files = [("package.json", r#"{"scripts": {"test": "x", "build": "y"}}"#), ("index.js", "")];
        let listing = listing(&files);
        let detected = detect(&listing);
        let task = task("add paging", Profile::Fast);
        let selection = select(&detected, &listing, &task, &Overrides::default());
        let planned = Record::planned(&detected, &task, &selection);
        let dry = serde_json::to_value(&planned).expect("JSON");
        assert_eq!(dry["stack"], "node");
        assert_eq!(dry["primaryTest"], "npm test");
        assert_eq!(dry["buildCommand"], "npm run build");
        assert_eq!(dry["taskKind"], "general");
        assert_eq!((dry.get("terminalStatus"), dry["checks"][0].get("outcome")), (None, None), "nothing was run");

        let said = "tests/a.test.js:1:1: error: boom";
        let head = [CheckResult::read(selection.checks[0].clone(), &Exit::Code(1), said, &[], 1.5)];
        let base = [CheckResult::read(selection.checks[0].clone(), &Exit::Code(1), said, &[], 1.0)];
        let classification = classify(&task, &head, Some(&base));
        let verdict = conclude(&task, &selection, &head, &classification);
        let record = planned.concluded(&head, Some(("HEAD~1", &base)), &classification, &verdict);
        let value = serde_json::to_value(&record).expect("JSON");
        assert_eq!(value["terminalStatus"], "done_partial");
        assert_eq!(value["next"], "accept_partial");
        assert_eq!(value["baseline"], json!({"name": "HEAD~1"}));
        assert_eq!(value["checks"][0]["outcome"], "failed");
        assert_eq!(value["checks"][0]["baseline"], "failed");
        assert_eq!(value["checks"][0]["seconds"], 1.5);
        assert_eq!(value["failures"][0]["scope"], "out_of_scope");
        assert_eq!(value["failures"][0]["atBaseline"], true);
        assert_eq!(serde_json::from_value::<Record>(value).expect("a record"), record);
    }
}
