//! The record of a verification: its goal, its checks, what failed and whose fault it is, and the next step.
//!
//! Stored records, JSON answers and tables share this type. Enumerated names are text, so that records of other versions can be read. The
//! schema lists the known names as examples.

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

/// The whole of a verification. One that was only planned has no outcomes and no status.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Verification {
    /// What the folder is made with.
    #[schemars(extend("examples" = ["node", "vite_frontend", "python", "go", "rust", "java", "mixed", "unknown"]))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stack: Option<String>,
    /// Every test, as detected.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub primary_test: Option<String>,
    /// What shows that it starts, as detected.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub smoke_test: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub build_command: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lint_command: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub syntax_check: Option<String>,
    /// Folders with a stack of their own.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub parts: Vec<VerifiedPart>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub goal: Option<String>,
    /// What sort of goal it is, by its words.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub task_kind: Option<String>,
    #[schemars(extend("examples" = ["strict", "fast", "smoke", "yolo"]))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub profile: Option<String>,
    /// What the goal is about, as declared.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<String>,
    /// What was edited, removed or added since the baseline.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub changed: Vec<String>,
    /// In the order they were run.
    pub checks: Vec<VerifiedCheck>,
    pub failures: Vec<VerifiedFailure>,
    /// Failures of the baseline that are gone.
    pub fixed: Vec<VerifiedFailure>,
    /// Absent where there was nothing to compare with; the reasons say why.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub baseline: Option<VerifiedBaseline>,
    /// What a person has to look at.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub manual: Option<String>,
    /// Why these stacks and checks, and what was done for the baseline.
    pub reasons: Vec<String>,
    #[schemars(extend("examples" = ["done_success", "done_partial", "not_done", "blocked", "unverified"]))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub terminal_status: Option<String>,
    /// What whoever asked does next.
    #[schemars(extend("examples" = ["stop", "accept_partial", "continue", "escalate"]))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next: Option<String>,
    /// What may be done instead, where the checks cannot tell.
    #[schemars(extend("examples" = ["continue"]))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub alternative: Option<String>,
    /// Why this status.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The file of what is left to do.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ticket: Option<String>,
}

/// A folder with a stack of its own.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct VerifiedPart {
    /// Below the root; empty for the root itself.
    pub folder: String,
    pub stack: String,
    pub reasons: Vec<String>,
}

/// A command, why it was chosen, and how it ended.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct VerifiedCheck {
    pub id: String,
    #[schemars(extend("examples" = ["test", "targeted", "smoke", "build", "lint", "syntax"]))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kind: Option<String>,
    pub command: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub folder: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Absent where it was not run.
    #[schemars(extend("examples" = ["passed", "failed", "timed_out", "not_runnable"]))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub outcome: Option<String>,
    /// Why it could not be run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seconds: Option<f64>,
    /// How it ended on the baseline.
    #[schemars(extend("examples" = ["passed", "failed", "timed_out", "not_runnable"]))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub baseline: Option<String>,
}

/// Something that fails, and whether that is the change's business; or that failed at the baseline and is gone, which has no scope.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct VerifiedFailure {
    /// The check's id.
    pub check: String,
    #[schemars(extend("examples" = ["blocking", "out_of_scope", "unknown"]))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scope: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The same for the same failure at another time and place.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub signature: Option<String>,
    pub text: String,
    pub files: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub test: Option<String>,
    /// Whether it stood before the change; absent where that is not known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub at_baseline: Option<bool>,
}

/// What was compared with.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct VerifiedBaseline {
    pub name: String,
}

impl Verification {
    /// Parses a stored record, or returns `None` if no known field is set. Ignores fields of unexpected types, so that records of other
    /// versions or tools can be read.
    pub fn of(record: &Value) -> Option<Self> {
        let found = Self {
            stack: said(record, "stack"),
            primary_test: said(record, "primaryTest"),
            smoke_test: said(record, "smokeTest"),
            build_command: said(record, "buildCommand"),
            lint_command: said(record, "lintCommand"),
            syntax_check: said(record, "syntaxCheck"),
            parts: list(record, "parts", VerifiedPart::of),
            goal: said(record, "goal"),
            task_kind: said(record, "taskKind"),
            profile: said(record, "profile"),
            files: texts(record, "files"),
            changed: texts(record, "changed"),
            checks: list(record, "checks", VerifiedCheck::of),
            failures: list(record, "failures", VerifiedFailure::of),
            fixed: list(record, "fixed", VerifiedFailure::of),
            baseline: VerifiedBaseline::of(record),
            manual: said(record, "manual"),
            reasons: texts(record, "reasons"),
            terminal_status: Self::status_of(record),
            next: said(record, "next"),
            alternative: said(record, "alternative"),
            reason: said(record, "reason"),
            ticket: said(record, "ticket"),
        };
        (found != Self::default()).then_some(found)
    }

    /// Reads only the terminal status of a stored record.
    pub fn status_of(record: &Value) -> Option<String> {
        said(record, "terminalStatus")
    }
}

impl VerifiedPart {
    fn of(part: &Value) -> Option<Self> {
        Some(Self {
            folder: text(part, "folder").unwrap_or_default(),
            stack: said(part, "stack")?,
            reasons: texts(part, "reasons"),
        })
    }
}

impl VerifiedCheck {
    fn of(check: &Value) -> Option<Self> {
        let id = said(check, "id");
        Some(Self {
            kind: said(check, "kind"),
            command: said(check, "command").or_else(|| id.clone())?,
            id: id.unwrap_or_default(),
            folder: text(check, "folder"),
            reason: said(check, "reason"),
            outcome: said(check, "outcome"),
            message: said(check, "message"),
            seconds: check.get("seconds").and_then(Value::as_f64),
            baseline: said(check, "baseline"),
        })
    }
}

impl VerifiedFailure {
    fn of(failure: &Value) -> Option<Self> {
        let signature = said(failure, "signature");
        Some(Self {
            check: said(failure, "check").unwrap_or_default(),
            scope: said(failure, "scope"),
            reason: said(failure, "reason"),
            text: said(failure, "text").or_else(|| signature.clone())?,
            signature,
            files: texts(failure, "files"),
            test: said(failure, "test"),
            at_baseline: failure.get("atBaseline").and_then(Value::as_bool),
        })
    }
}

impl VerifiedBaseline {
    /// Reads `{"name": "HEAD"}`, or only the name.
    fn of(record: &Value) -> Option<Self> {
        let name = said(record, "baseline").or_else(|| said(record.get("baseline")?, "name"))?;
        Some(Self { name })
    }
}

fn text(record: &Value, key: &str) -> Option<String> {
    record.get(key).and_then(Value::as_str).map(str::to_owned)
}

/// Returns a text that is not blank.
fn said(record: &Value, key: &str) -> Option<String> {
    text(record, key).filter(|text| !text.trim().is_empty())
}

fn list<T>(record: &Value, key: &str, of: impl Fn(&Value) -> Option<T>) -> Vec<T> {
    record
        .get(key)
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
        .filter_map(of)
        .collect()
}

fn texts(record: &Value, key: &str) -> Vec<String> {
    list(record, key, |text| text.as_str().map(str::to_owned))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn every_field_is_stored_and_reads_back() {
        let stored = json!({
            "stack": "mixed", "primaryTest": "pytest", "smokeTest": "python app.py", "buildCommand": "npm run build",
            "lintCommand": "npm run lint", "syntaxCheck": "python -m compileall .",
            "parts": [{"folder": "web", "stack": "node", "reasons": ["package.json"]}],
            "goal": "g", "taskKind": "general", "profile": "fast", "files": ["a.py"], "changed": ["a.py"],
            "checks": [{"id": "test", "kind": "test", "command": "pytest", "folder": "", "reason": "r", "outcome": "not_runnable",
                "message": "m", "seconds": 0.5, "baseline": "failed"}],
            "failures": [{"check": "test", "scope": "out_of_scope", "reason": "r", "signature": "s", "text": "t", "files": ["b.py"],
                "test": "test_b", "atBaseline": true}],
            "fixed": [{"check": "test", "signature": "s", "text": "t", "files": ["b.py"], "test": "test_b"}],
            "baseline": {"name": "HEAD"}, "manual": "look", "reasons": ["r"], "terminalStatus": "done_partial", "next": "accept_partial",
            "reason": "r", "ticket": "t.md",
        });
        let read = Verification::of(&stored).expect("every field of a record");
        assert_eq!(serde_json::to_value(&read).expect("JSON"), stored);
    }

    #[test]
    fn words_and_keys_of_another_version_still_read() {
        let stored = json!({"stack": "zig", "goal": "g", "taskKind": "new", "profile": "slow", "reasons": [], "fixed": [],
            "checks": [{"id": "fuzz", "kind": "fuzz", "command": "c", "folder": "", "reason": "r", "outcome": "skipped"}],
            "failures": [{"check": "fuzz", "scope": "perhaps", "reason": "r", "signature": "s", "text": "t", "added": 1}],
            "terminalStatus": "perhaps", "added": 1});
        let read = Verification::of(&stored).expect("it says something");
        assert_eq!(
            (read.stack.as_deref(), read.terminal_status.as_deref()),
            (Some("zig"), Some("perhaps"))
        );
        assert_eq!(
            (
                read.checks[0].kind.as_deref(),
                read.failures[0].scope.as_deref()
            ),
            (Some("fuzz"), Some("perhaps"))
        );
    }

    #[test]
    fn a_record_of_another_shape_is_no_reason_to_fail() {
        for nothing in [
            json!(null),
            json!("passed"),
            json!([1]),
            json!({}),
            json!({"checks": 3, "goal": {"a": 1}, "failures": [1, {}]}),
        ] {
            assert_eq!(Verification::of(&nothing), None, "{nothing}");
        }
        let partly = Verification::of(&json!({"baseline": "HEAD", "checks": [{"command": "make"}, 7, {"id": "lint", "command": " "}],
            "failures": [{"signature": "s"}]}))
        .expect("it says something");
        let commands: Vec<&str> = partly
            .checks
            .iter()
            .map(|check| check.command.as_str())
            .collect();
        assert_eq!(
            (commands, partly.failures[0].text.as_str()),
            (vec!["make", "lint"], "s")
        );
        assert_eq!(
            partly.baseline,
            Some(VerifiedBaseline {
                name: "HEAD".to_owned()
            })
        );
    }
}
