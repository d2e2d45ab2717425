//! CTRF, the common test report format: one report per run, because a report is about one run of one tool.
//!
//! An outcome is a test; attempts at one item are tests with the same name. If the format requires a number that was not measured, it is 0
//! and an `extra` beside it says so.

use serde_json::{Map, Value, json};

use crate::domain::{ItemDetails, ItemOutcome, ItemStatus, Run, is_model_name};
use crate::views::RunTally;

use super::{nonblank_reason, token_counts, whole_milliseconds};

const SPEC_VERSION: &str = "1.0.0";

/// Text after the last test.
pub const DOCUMENT_END: &str = "\n]}}\n";

/// Writes everything before the first test. `version` is this program's version.
pub fn write_head(run: &Run, tally: &RunTally, version: &str) -> String {
    let all = tally.sum_groups();
    let count = |status| all.count(status);
    let mut summary = json!({
        "tests": all.total(),
        "passed": count(ItemStatus::Pass),
        "failed": count(ItemStatus::Fail) + count(ItemStatus::Error) + count(ItemStatus::Limit),
        "skipped": count(ItemStatus::Skipped),
        "pending": 0,
        "other": count(ItemStatus::Infra) + count(ItemStatus::NotEvaluated),
    });
    let took = run.duration_seconds.map(whole_milliseconds);
    let ended = run.timestamp.map(|time| time.timestamp_millis());
    summary["start"] =
        json!(ended.map_or(0, |ended| ended.saturating_sub(took.unwrap_or(0)).max(0)));
    summary["stop"] = json!(ended.unwrap_or(0));
    if let Some(took) = took {
        summary["duration"] = json!(took);
    }
    if ended.is_none() {
        summary["extra"] = json!({"start": "unknown", "stop": "unknown"});
    }
    let importer = run
        .provenance
        .as_ref()
        .map_or("evalreport", |provenance| provenance.importer.as_str());
    let mut environment = Map::new();
    if let Some(git) = &run.git {
        environment.insert("commit".to_owned(), json!(git.rev));
        if let Some(branch) = &git.branch {
            environment.insert("branchName".to_owned(), json!(branch));
        }
    }
    environment.insert("extra".to_owned(), run_facts(run, tally));
    let text = |value: Value| value.to_string();
    format!(
        "{{\"reportFormat\":\"CTRF\",\"specVersion\":\"{SPEC_VERSION}\",\"runId\":{},\"generatedBy\":{},\"results\":{{\"tool\":{},\"summary\":{},\"environment\":{},\"tests\":[\n",
        text(json!(run.id)),
        text(json!(format!("evalreport {version}"))),
        text(json!({"name": importer})),
        text(summary),
        text(Value::Object(environment)),
    )
}

/// Returns the arm, suite and other known facts of the run.
fn run_facts(run: &Run, tally: &RunTally) -> Value {
    let mut names =
        json!({"suite": run.suite, "approach": run.approach, "status": run.status.name()});
    let counts = super::counts_without_outcomes(run, tally);
    let more = [
        (
            "model",
            Some(run.model.as_str())
                .filter(|model| is_model_name(model))
                .map(|model| json!(model)),
        ),
        (
            "suite_version",
            run.suite_version.as_ref().map(|version| json!(version)),
        ),
        ("cost_usd", run.cost_usd.map(|cost| json!(cost))),
        ("input_tokens", run.input_tokens.map(|tokens| json!(tokens))),
        (
            "output_tokens",
            run.output_tokens.map(|tokens| json!(tokens)),
        ),
        (super::PASSED_KEY, counts.map(|(passed, _)| json!(passed))),
        (super::TOTAL_KEY, counts.map(|(_, total)| json!(total))),
        (
            super::COUNTED_KEY,
            counts.and(run.counted).map(|kind| json!(kind)),
        ),
    ];
    more.into_iter()
        .filter_map(|(name, value)| Some((name, value?)))
        .for_each(|(name, value)| names[name] = value);
    names
}

/// Writes one test, without a separator.
pub fn write_test(tally: &RunTally, outcome: &ItemOutcome, details: &ItemDetails) -> String {
    let status = match outcome.status {
        ItemStatus::Pass => "passed",
        ItemStatus::Fail | ItemStatus::Error | ItemStatus::Limit => "failed",
        ItemStatus::Skipped => "skipped",
        ItemStatus::Infra | ItemStatus::NotEvaluated => "other",
    };
    // CTRF forbids empty names. A stored item can only lack one if the record was written by hand.
    let name = if outcome.item.is_empty() {
        "unnamed"
    } else {
        outcome.item.as_str()
    };
    let mut test = json!({
        "name": name,
        "status": status,
        "duration": outcome.duration_seconds.map_or(0, whole_milliseconds),
        "rawStatus": outcome.status.name(),
        "type": outcome.kind.name(),
    });
    if !tally.has_one_evaluator() {
        test["suite"] = json!([outcome.evaluator]);
    }
    if let Some(reason) = nonblank_reason(details) {
        test["message"] = json!(reason);
    }
    let mut extra = json!({"attempt": outcome.attempt, "evaluator": outcome.evaluator});
    let more = [
        (
            "duration",
            outcome.duration_seconds.is_none().then(|| json!("unknown")),
        ),
        ("score", outcome.score.map(|score| json!(score))),
        ("cost_usd", outcome.cost_usd.map(|cost| json!(cost))),
        (
            "input_tokens",
            outcome.input_tokens.map(|tokens| json!(tokens)),
        ),
        (
            "output_tokens",
            outcome.output_tokens.map(|tokens| json!(tokens)),
        ),
        (
            "total_tokens",
            token_counts(outcome).map(|(input, output)| json!(input.saturating_add(output))),
        ),
        (
            "cluster",
            outcome.cluster.as_ref().map(|cluster| json!(cluster)),
        ),
        (
            "category",
            outcome.category_in(details).map(|category| json!(category)),
        ),
    ];
    more.into_iter()
        .filter_map(|(name, value)| Some((name, value?)))
        .for_each(|(name, value)| extra[name] = value);
    test["extra"] = extra;
    test.to_string()
}
