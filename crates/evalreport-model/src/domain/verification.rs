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
    #[schemars(extend("examples" = ["node", "vite_frontend", "python", "go", "rust", "java", "swift", "dotnet", "php", "ruby", "mixed", "unknown"]))]
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
    pub fn from_record(record: &Value) -> Option<Self> {
        let found = Self {
            stack: nonblank_field(record, "stack"),
            primary_test: nonblank_field(record, "primaryTest"),
            smoke_test: nonblank_field(record, "smokeTest"),
            build_command: nonblank_field(record, "buildCommand"),
            lint_command: nonblank_field(record, "lintCommand"),
            syntax_check: nonblank_field(record, "syntaxCheck"),
            parts: list_field(record, "parts", VerifiedPart::from_value),
            goal: nonblank_field(record, "goal"),
            task_kind: nonblank_field(record, "taskKind"),
            profile: nonblank_field(record, "profile"),
            files: texts_field(record, "files"),
            changed: texts_field(record, "changed"),
            checks: list_field(record, "checks", VerifiedCheck::from_value),
            failures: list_field(record, "failures", VerifiedFailure::from_value),
            fixed: list_field(record, "fixed", VerifiedFailure::from_value),
            baseline: VerifiedBaseline::from_value(record),
            manual: nonblank_field(record, "manual"),
            reasons: texts_field(record, "reasons"),
            terminal_status: Self::read_status(record),
            next: nonblank_field(record, "next"),
            alternative: nonblank_field(record, "alternative"),
            reason: nonblank_field(record, "reason"),
            ticket: nonblank_field(record, "ticket"),
        };
        (found != Self::default()).then_some(found)
    }

    /// Reads only the terminal status of a stored record.
    pub fn read_status(record: &Value) -> Option<String> {
        nonblank_field(record, "terminalStatus")
    }
}

impl VerifiedPart {
    fn from_value(part: &Value) -> Option<Self> {
        Some(Self {
            folder: text_field(part, "folder").unwrap_or_default(),
            stack: nonblank_field(part, "stack")?,
            reasons: texts_field(part, "reasons"),
        })
    }
}

impl VerifiedCheck {
    fn from_value(check: &Value) -> Option<Self> {
        let id = nonblank_field(check, "id");
        Some(Self {
            kind: nonblank_field(check, "kind"),
            command: nonblank_field(check, "command").or_else(|| id.clone())?,
            id: id.unwrap_or_default(),
            folder: text_field(check, "folder"),
            reason: nonblank_field(check, "reason"),
            outcome: nonblank_field(check, "outcome"),
            message: nonblank_field(check, "message"),
            seconds: check.get("seconds").and_then(Value::as_f64),
            baseline: nonblank_field(check, "baseline"),
        })
    }
}

impl VerifiedFailure {
    fn from_value(failure: &Value) -> Option<Self> {
        let signature = nonblank_field(failure, "signature");
        Some(Self {
            check: nonblank_field(failure, "check").unwrap_or_default(),
            scope: nonblank_field(failure, "scope"),
            reason: nonblank_field(failure, "reason"),
            text: nonblank_field(failure, "text").or_else(|| signature.clone())?,
            signature,
            files: texts_field(failure, "files"),
            test: nonblank_field(failure, "test"),
            at_baseline: failure.get("atBaseline").and_then(Value::as_bool),
        })
    }
}

impl VerifiedBaseline {
    /// Reads `{"name": "HEAD"}`, or only the name.
    fn from_value(record: &Value) -> Option<Self> {
        let name = nonblank_field(record, "baseline")
            .or_else(|| nonblank_field(record.get("baseline")?, "name"))?;
        Some(Self { name })
    }
}

fn text_field(record: &Value, key: &str) -> Option<String> {
    record.get(key).and_then(Value::as_str).map(str::to_owned)
}

/// Returns a text that is not blank.
fn nonblank_field(record: &Value, key: &str) -> Option<String> {
    text_field(record, key).filter(|text| !text.trim().is_empty())
}

fn list_field<T>(record: &Value, key: &str, of: impl Fn(&Value) -> Option<T>) -> Vec<T> {
    record
        .get(key)
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
        .filter_map(of)
        .collect()
}

fn texts_field(record: &Value, key: &str) -> Vec<String> {
    list_field(record, key, |text| text.as_str().map(str::to_owned))
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
        let read = Verification::from_record(&stored).expect("every field of a record");
        assert_eq!(serde_json::to_value(&read).expect("JSON"), stored);
    }

    #[test]
    fn words_and_keys_of_another_version_still_read() {
        let stored = json!({"stack": "zig", "goal": "g", "taskKind": "new", "profile": "slow", "reasons": [], "fixed": [],
            "checks": [{"id": "fuzz", "kind": "fuzz", "command": "c", "folder": "", "reason": "r", "outcome": "skipped"}],
            "failures": [{"check": "fuzz", "scope": "perhaps", "reason": "r", "signature": "s", "text": "t", "added": 1}],
            "terminalStatus": "perhaps", "added": 1});
        let read = Verification::from_record(&stored).expect("it says something");
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
            assert_eq!(Verification::from_record(&nothing), None, "{nothing}");
        }
        let partly = Verification::from_record(&json!({"baseline": "HEAD", "checks": [{"command": "make"}, 7, {"id": "lint", "command": " "}],
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
