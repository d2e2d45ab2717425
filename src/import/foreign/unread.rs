//! Recognises files of known tools that are not supported. Naming the tool and a remedy helps more than an unknown file.

use super::peek::{Content, Peek};

/// A file that is recognised but not supported.
pub(super) struct Unread {
    /// The tool, and the kind of file if other files of the tool are supported.
    pub tool: &'static str,
    pub hint: &'static str,
}

const AS_TABLE: &str = "read its rows as a table: --map MAP, with `list` as their place; see `evalreport help import/tables`";
const EVENTS: &str = "read its events as a table with a map that keeps the type `match`; see `evalreport help import/tables`";
const AS_JSON: &str =
    "export it as JSON: `promptfoo export eval ID -o results.json`, or run with `-o results.json`";
const JUDGE_FIRST: &str =
    "predictions have no verdicts: import the report of swebench.harness.run_evaluation";

/// Recognises the file's tool.
pub(super) fn recognise(peek: &Peek) -> Option<Unread> {
    let (tool, hint) = match peek.content {
        Content::Json => json(peek)?,
        Content::Text => (text(peek)?, AS_JSON),
        Content::Zip | Content::Xml => return None,
    };
    Some(Unread { tool, hint })
}

fn json(peek: &Peek) -> Option<(&'static str, &'static str)> {
    let has_all = |keys: &[&str]| peek.has_all(keys);
    let hint_of = |tool| match tool {
        "OpenAI evals" => EVENTS,
        _ => AS_TABLE,
    };
    let tool = if has_all(&["spec.completion_fns", "spec.eval_name"])
        || has_all(&["event_id", "sample_id", "type", "data"])
    {
        "OpenAI evals"
    } else if peek.has("htmls") && peek.has("convos")
        || (peek.has("score") && peek.has("score:std"))
    {
        "simple-evals"
    } else if is_predictions(peek) {
        return Some(("SWE-bench (predictions)", JUDGE_FIRST));
    } else {
        return None;
    };
    Some((tool, hint_of(tool)))
}

/// Returns whether the file has predictions: a list or lines of patches, or an object of them by instance.
fn is_predictions(peek: &Peek) -> bool {
    let below = |parent: &str| {
        ["instance_id", "model_name_or_path", "model_patch"]
            .iter()
            .all(|key| peek.has(&format!("{parent}{key}")))
    };
    below("") || below("[].") || peek.keys_below("").any(|id| below(&format!("{id}.")))
}

fn text(peek: &Peek) -> Option<&'static str> {
    let head = String::from_utf8_lossy(&peek.head);
    let has_line = |start: &str| head.lines().any(|line| line.starts_with(start));
    let header = head.lines().next().unwrap_or_default();
    // promptfoo names a column of answers by its provider in brackets, and begins each answer with its grade.
    let is_csv = header.contains('[')
        && header.contains("] ")
        && ["[PASS] ", "[FAIL] ", "[ERROR] "]
            .iter()
            .any(|mark| head.contains(mark));
    if has_line("evalId:") && has_line("results:") {
        Some("promptfoo (YAML)")
    } else if is_csv {
        Some("promptfoo (CSV)")
    } else {
        None
    }
}
