//! Recognises files of known tools that are not supported. Naming the tool and a remedy helps more than an unknown file.

use super::peek::{ContentKind, Peek};

/// A file that is recognised but not supported.
pub(super) struct UnsupportedFile {
    /// The tool, and the kind of file if other files of the tool are supported.
    pub tool: &'static str,
    pub hint: &'static str,
}

const TABLE_HINT: &str = "read its rows as a table: --map MAP, with `list` as their place; see `evalreport help import/tables`";
const EVENTS_HINT: &str = "read its events as a table with a map that keeps the type `match`; see `evalreport help import/tables`";
const JSON_HINT: &str =
    "export it as JSON: `promptfoo export eval ID -o results.json`, or run with `-o results.json`";
const UPLOADED_HINT: &str = "the run was uploaded to Confident AI, and this file has only its address: import `.deepeval/.latest_run_full.json`, or run again with `DEEPEVAL_RESULTS_FOLDER` set";
const PREDICTIONS_HINT: &str =
    "predictions have no verdicts: import the report of swebench.harness.run_evaluation";

/// Recognises the file's tool.
pub(super) fn recognise_unsupported(peek: &Peek) -> Option<UnsupportedFile> {
    let (tool, hint) = match peek.content {
        ContentKind::Json => recognise_json(peek)?,
        ContentKind::Text => (recognise_text(peek)?, JSON_HINT),
        ContentKind::Zip | ContentKind::Xml => return None,
    };
    Some(UnsupportedFile { tool, hint })
}

fn recognise_json(peek: &Peek) -> Option<(&'static str, &'static str)> {
    let has_all = |keys: &[&str]| peek.has_all(keys);
    let hint_of = |tool| match tool {
        "OpenAI evals" => EVENTS_HINT,
        _ => TABLE_HINT,
    };
    let tool = if has_all(&["spec.completion_fns", "spec.eval_name"])
        || has_all(&["event_id", "sample_id", "type", "data"])
    {
        "OpenAI evals"
    } else if peek.has("htmls") && peek.has("convos")
        || (peek.has("score") && peek.has("score:std"))
    {
        "simple-evals"
    } else if peek.has("testRunLink") {
        return Some(("DeepEval (link to an uploaded run)", UPLOADED_HINT));
    } else if is_predictions(peek) {
        return Some(("SWE-bench (predictions)", PREDICTIONS_HINT));
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

fn recognise_text(peek: &Peek) -> Option<&'static str> {
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
