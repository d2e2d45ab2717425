//! Formats that are recognised and not read: saying which tool wrote a file is more helpful than not knowing it.

use super::peek::{Content, Peek};

/// Returns the tool whose results the file holds, where they are not read yet.
pub(super) fn tool(peek: &Peek) -> Option<&'static str> {
    if peek.content != Content::Json {
        return None;
    }
    if peek.has("raw_eval_results") || (peek.has_all(&["config.agent_name", "config.benchmark_name"]) && peek.has("results")) {
        Some("HAL")
    } else if peek.has("testCases[].metricsData")
        || peek.has("testRunData.testCases")
        || (peek.has("testCases") && peek.has("metricsScores"))
    {
        Some("DeepEval")
    } else if peek.has_all(&["spec.completion_fns", "spec.eval_name"]) || peek.has_all(&["event_id", "sample_id", "type", "data"]) {
        Some("OpenAI evals")
    } else if peek.has("htmls") && peek.has("convos") || (peek.has("score") && peek.has("score:std")) {
        Some("simple-evals")
    } else if peek.has_all(&["task_id", "task_family", "score_binarized"]) || peek.has_all(&["task_id", "human_minutes", "alias"]) {
        Some("METR")
    } else if peek.has_all(&["created", "exitcode", "summary"]) && peek.has("tests") {
        Some("pytest-json-report")
    } else {
        None
    }
}
