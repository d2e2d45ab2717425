//! The record of a verification: which checks were run for which goal, what failed and whose it is, and what to do next.
//!
//! One shape for what is stored with a run, answered as JSON and laid out as tables. Words that only name something are text, so that a
//! record of another version still reads.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The whole of a verification. One that was only planned has no outcomes and no status.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Verification {
    /// What the folder is made with.
    #[schemars(extend("enum" = ["node", "vite_frontend", "python", "go", "rust", "java", "mixed", "unknown"]))]
    pub stack: String,
    /// Every test, as detected.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub primary_test: Option<String>,
    /// What shows that it starts, as detected.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub smoke_test: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub build_command: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lint_command: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub syntax_check: Option<String>,
    /// Folders with a stack of their own.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub parts: Vec<VerifiedPart>,
    pub goal: String,
    /// What sort of goal it is, by its words.
    pub task_kind: String,
    #[schemars(extend("enum" = ["strict", "fast", "smoke", "yolo"]))]
    pub profile: String,
    /// What the goal is about, as declared.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<String>,
    /// What was edited, removed or added since the baseline.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub changed: Vec<String>,
    /// In the order they were run.
    pub checks: Vec<VerifiedCheck>,
    pub failures: Vec<VerifiedFailure>,
    /// Failures of the baseline that are gone.
    pub fixed: Vec<FixedFailure>,
    /// Absent where there was nothing to compare with; the reasons say why.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub baseline: Option<VerifiedBaseline>,
    /// What a person has to look at.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub manual: Option<String>,
    /// Why these stacks and checks, and what was done for the baseline.
    pub reasons: Vec<String>,
    #[schemars(extend("enum" = ["done_success", "done_partial", "not_done", "blocked", "unverified"]))]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub terminal_status: Option<String>,
    /// What whoever asked does next.
    #[schemars(extend("enum" = ["stop", "accept_partial", "continue", "escalate"]))]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next: Option<String>,
    /// Why this status.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The file of what is left to do.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ticket: Option<String>,
}

/// A folder with a stack of its own.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct VerifiedPart {
    /// Below the root; empty for the root itself.
    pub folder: String,
    pub stack: String,
    pub reasons: Vec<String>,
}

/// A command, why it was chosen, and how it ended.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct VerifiedCheck {
    pub id: String,
    #[schemars(extend("enum" = ["test", "targeted", "smoke", "build", "lint", "syntax"]))]
    pub kind: String,
    pub command: String,
    pub folder: String,
    pub reason: String,
    /// Absent where it was not run.
    #[schemars(extend("enum" = ["passed", "failed", "timed_out", "not_runnable"]))]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub outcome: Option<String>,
    /// Why it could not be run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seconds: Option<f64>,
    /// How it ended on the baseline.
    #[schemars(extend("enum" = ["passed", "failed", "timed_out", "not_runnable"]))]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub baseline: Option<String>,
}

/// Something that fails, and whether that is the change's business.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct VerifiedFailure {
    /// The check's id.
    pub check: String,
    #[schemars(extend("enum" = ["blocking", "out_of_scope", "unknown"]))]
    pub scope: String,
    pub reason: String,
    /// The same for the same failure at another time and place.
    pub signature: String,
    pub text: String,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub test: Option<String>,
    /// Whether it stood before the change; absent where that is not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at_baseline: Option<bool>,
}

/// A failure of the baseline that is gone.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct FixedFailure {
    pub check: String,
    pub signature: String,
    pub text: String,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub test: Option<String>,
}

/// What was compared with.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct VerifiedBaseline {
    pub name: String,
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
        let read: Verification = serde_json::from_value(stored.clone()).expect("every field of a record");
        assert_eq!(serde_json::to_value(&read).expect("JSON"), stored);
    }

    #[test]
    fn words_and_keys_of_another_version_still_read() {
        let stored = json!({"stack": "zig", "goal": "g", "taskKind": "new", "profile": "slow", "reasons": [], "fixed": [],
            "checks": [{"id": "fuzz", "kind": "fuzz", "command": "c", "folder": "", "reason": "r", "outcome": "skipped"}],
            "failures": [{"check": "fuzz", "scope": "perhaps", "reason": "r", "signature": "s", "text": "t", "added": 1}],
            "terminalStatus": "perhaps", "added": 1});
        let read: Verification = serde_json::from_value(stored).expect("it has all that it needs");
        assert_eq!((read.stack.as_str(), read.terminal_status.as_deref()), ("zig", Some("perhaps")));
        assert_eq!((read.checks[0].kind.as_str(), read.failures[0].scope.as_str()), ("fuzz", "perhaps"));
    }
}
