//! Every Eval Ever: one record per run with its samples beside it, in the folders of a public collection.
//!
//! If the format requires a value that the store lacks, it is `unknown` if the schema has such a word, and omitted otherwise. A sample must
//! have a score: a missing outcome has -1, which the metric declares as unknown. A skipped outcome is no sample.

use serde_json::{Map, Value, json};
use uuid::Uuid;

use crate::domain::{
    Direction, ItemDetails, ItemKind, ItemOutcome, ItemStatus, Run, ScoreRecord, Unit,
    is_model_name,
};
use crate::views::{OutcomeGroup, RunTally, Share};

use super::super::html::slug;
use super::{nonblank_reason, token_counts};

const SCHEMA_VERSION: &str = "0.3.0";
const UNKNOWN_NAME: &str = "unknown";
/// Maximum bytes of one part of a path.
const MAX_PATH_PART_BYTES: usize = 80;

/// Folder and name of a run's files.
pub struct ExportedRunPaths {
    /// Path below the folder of the export, with `/` between its parts.
    pub folder: String,
    uuid: Uuid,
}

impl ExportedRunPaths {
    /// Returns the place of a run's files, the same for every export.
    pub fn from_run(run: &Run) -> Self {
        let name = model_name(run);
        let (developer, model) = name.split_once('/').unwrap_or((UNKNOWN_NAME, name));
        let part = |name: &str| {
            slug::unique_segments([name], MAX_PATH_PART_BYTES)
                .into_values()
                .next()
                .unwrap_or_default()
        };
        let folder = ["data", &part(&run.suite), &part(developer), &part(model)].join("/");
        // The collection only takes ids of the random version of UUIDs; this one is derived from the run's id.
        let drawn = Uuid::new_v5(&Uuid::NAMESPACE_OID, run.id.as_str().as_bytes());
        Self {
            folder,
            uuid: uuid::Builder::from_random_bytes(drawn.into_bytes()).into_uuid(),
        }
    }

    pub fn record_path(&self) -> String {
        format!("{}/{}.json", self.folder, self.uuid)
    }

    pub fn samples_path(&self) -> String {
        format!("{}/{}_samples.jsonl", self.folder, self.uuid)
    }
}

/// The written samples, for a reference from the record.
pub struct WrittenSamples {
    pub sha256: String,
    pub rows: u64,
}

/// Writes a run's record, or returns `None` if there is no figure to publish.
pub fn write_record(
    run: &Run,
    tally: &RunTally,
    place: &ExportedRunPaths,
    samples: Option<&WrittenSamples>,
) -> Option<String> {
    let mut results: Vec<Value> = tally
        .outcome_groups()
        .iter()
        .filter_map(|group| group_result(run, group))
        .collect();
    // Without outcomes, fall back to the run's own counts.
    if let (true, Some(passed), Some(total)) = (
        results.is_empty(),
        run.shared_tests_passed,
        run.shared_tests_total,
    ) && let Some(share) = Share::new(passed, total, true)
    {
        let mut details = json!({"passed": passed.to_string(), "counted": total.to_string()});
        if let Some(kind) = run.counted {
            details["kind"] = json!(kind);
        }
        results.push(evaluation_result(
            run,
            HEADLINE,
            &pass_rate_metric(HEADLINE),
            &score_details(share.value, share.standard_error, Some(share.n), &details),
        ));
    }
    results.extend(
        run.scores
            .iter()
            .filter_map(|score| score_result(run, score)),
    );
    if results.is_empty() {
        return None;
    }
    let ended = unix_seconds(run);
    let mut record = json!({
        "schema_version": SCHEMA_VERSION,
        "evaluation_id": evaluation_id(run),
        "retrieved_timestamp": ended.clone().unwrap_or_else(|| UNKNOWN_NAME.to_owned()),
        "source_metadata": {
            "source_name": "evalreport",
            "source_type": "evaluation_run",
            "source_organization_name": UNKNOWN_NAME,
            "evaluator_relationship": "other",
            "additional_details": {"run_id": run.id, "run_status": run.status.name()},
        },
        "eval_library": {
            "name": run.provenance.as_ref().map_or("evalreport", |provenance| provenance.importer.as_str()),
            "version": run.tool_version.as_deref().unwrap_or(UNKNOWN_NAME),
        },
        "model_info": {
            "name": model_name(run),
            "id": model_name(run),
            "additional_details": {"deployment_type": UNKNOWN_NAME, "model_availability": UNKNOWN_NAME},
        },
        "evaluation_results": results,
    });
    if let Some(ended) = ended {
        record["evaluation_timestamp"] = json!(ended);
    }
    if let Some((developer, _)) = run.model.split_once('/') {
        record["model_info"]["developer"] = json!(developer);
    }
    if let Some(samples) = samples {
        record["detailed_evaluation_results"] = json!({
            "format": "jsonl",
            "file_path": place.samples_path(),
            "hash_algorithm": "sha256",
            "checksum": samples.sha256,
            "total_rows": samples.rows,
        });
    }
    let mut text = serde_json::to_string_pretty(&record).expect("a JSON value is JSON");
    text.push('\n');
    Some(text)
}

/// Writes the line of a sample, or returns `None` if the outcome is no sample.
pub fn write_sample(
    run: &Run,
    groups: &[OutcomeGroup],
    outcome: &ItemOutcome,
    details: &ItemDetails,
) -> Option<String> {
    let group = groups
        .iter()
        .find(|group| group.contains_outcome(outcome) && group.tally.counted_total() > 0)?;
    let score = match outcome.status {
        ItemStatus::Pass => 1.0,
        ItemStatus::Fail | ItemStatus::Error | ItemStatus::Limit => 0.0,
        ItemStatus::Infra | ItemStatus::NotEvaluated => -1.0,
        ItemStatus::Skipped => return None,
    };
    let calls: u64 = details.tools.values().sum();
    // Single-turn if there is one question and one reply, as far as known. Anything else is an agent at work; of its messages only the last
    // is stored.
    let is_single = outcome.kind == ItemKind::Question
        && calls == 0
        && details.steps.is_none_or(|steps| steps <= 1);
    let reply = details.reply.as_deref();
    let mut sample = json!({
        "schema_version": SCHEMA_VERSION,
        "evaluation_id": evaluation_id(run),
        "model_id": model_name(run),
        "evaluation_name": run.suite,
        "evaluation_result_id": group_name(group),
        "sample_id": outcome.item,
        "interaction_type": if is_single { "single_turn" } else { "agentic" },
        "input": {"raw": details.question.as_deref().unwrap_or_default(), "reference": details.expected},
        "answer_attribution": [],
        "evaluation": {"score": score, "is_correct": outcome.status == ItemStatus::Pass},
        "metadata": sample_metadata(outcome, details),
    });
    let source = if is_single {
        sample["output"] = json!({"raw": reply.into_iter().collect::<Vec<_>>()});
        "output.raw"
    } else {
        sample["messages"] = json!(
            reply
                .map(|reply| json!({"turn_idx": 0, "role": "assistant", "content": reply}))
                .into_iter()
                .collect::<Vec<_>>()
        );
        if let Some(steps) = details.steps.filter(|steps| *steps > 0) {
            sample["evaluation"]["num_turns"] = json!(steps);
        }
        if calls > 0 {
            sample["evaluation"]["tool_calls_count"] = json!(calls);
        }
        "messages[0].content"
    };
    if let (Some(answer), Some(_)) = (&details.answer, reply) {
        sample["answer_attribution"] = json!([
            {"turn_idx": 0, "source": source, "extracted_value": answer, "extraction_method": outcome.evaluator, "is_terminal": true}
        ]);
    }
    if let Some(hash) = &details.item_hash {
        sample["sample_hash"] = json!(hash);
    }
    if let Some(usage) = token_usage(outcome, details) {
        sample["token_usage"] = usage;
    }
    if let Some(seconds) = outcome.duration_seconds {
        sample["performance"] = json!({"latency_ms": seconds * 1000.0});
    }
    if let Some(error) = error_status(outcome.status) {
        sample["error"] = json!(
            nonblank_reason(details)
                .map_or_else(|| error.to_owned(), |reason| format!("{error}: {reason}"))
        );
    }
    Some(sample.to_string())
}

/// Returns the status as an error if the outcome is no answer.
fn error_status(status: ItemStatus) -> Option<&'static str> {
    match status {
        ItemStatus::Pass | ItemStatus::Fail | ItemStatus::Skipped => None,
        ItemStatus::Error | ItemStatus::Limit | ItemStatus::Infra | ItemStatus::NotEvaluated => {
            Some(status.name())
        }
    }
}

/// Fields without a place of their own in the format. All values are text.
fn sample_metadata(outcome: &ItemOutcome, details: &ItemDetails) -> Value {
    let all = [
        ("status", Some(outcome.status.name().to_owned())),
        ("kind", Some(outcome.kind.name().to_owned())),
        ("attempt", Some(outcome.attempt.to_string())),
        ("score", outcome.score.map(|score| score.to_string())),
        ("cost_usd", outcome.cost_usd.map(|cost| cost.to_string())),
        ("cluster", outcome.cluster.clone()),
        ("category", outcome.category_in(details).map(str::to_owned)),
        // A reason for a wrong answer is not an error.
        (
            "reason",
            nonblank_reason(details)
                .filter(|_| error_status(outcome.status).is_none())
                .map(str::to_owned),
        ),
    ];
    Value::Object(
        all.into_iter()
            .filter_map(|(name, value)| Some((name.to_owned(), json!(value?))))
            .collect(),
    )
}

/// Returns `None` unless all three required numbers are known.
fn token_usage(outcome: &ItemOutcome, details: &ItemDetails) -> Option<Value> {
    let parts = details
        .usage
        .and_then(|usage| Some((usage, usage.input?, usage.output?, usage.total()?)));
    if let Some((usage, input, output, total)) = parts {
        let mut tokens =
            json!({"input_tokens": input, "output_tokens": output, "total_tokens": total});
        for (name, part) in [
            ("input_tokens_cache_write", usage.cache_write),
            ("input_tokens_cache_read", usage.cache_read),
        ] {
            if let Some(part) = part {
                tokens[name] = json!(part);
            }
        }
        return Some(tokens);
    }
    let (input, output) = token_counts(outcome)?;
    Some(
        json!({"input_tokens": input, "output_tokens": output, "total_tokens": input.saturating_add(output)}),
    )
}

const HEADLINE: &str = "pass_rate";

fn group_name(group: &OutcomeGroup) -> String {
    match group.evaluators.first() {
        Some(evaluator) if !group.is_headline => format!("{HEADLINE}.{}.{evaluator}", group.kind),
        Some(_) | None => HEADLINE.to_owned(),
    }
}

fn group_result(run: &Run, group: &OutcomeGroup) -> Option<Value> {
    let share = group.tally.pass_share()?;
    let name = group_name(group);
    let mut metric = pass_rate_metric(&name);
    if group.tally.missing_total() > 0 {
        // Then a score of -1 means unknown.
        metric["has_unknown_level"] = json!(true);
    }
    let counts = json!({
        "kind": group.kind.name(),
        "evaluators": group.evaluators.iter().cloned().collect::<Vec<_>>().join(", "),
        "passed": group.tally.count(ItemStatus::Pass).to_string(),
        "counted": share.n.to_string(),
        "missing": group.tally.missing_total().to_string(),
        "skipped": group.tally.count(ItemStatus::Skipped).to_string(),
    });
    Some(evaluation_result(
        run,
        &name,
        &metric,
        &score_details(share.value, share.standard_error, Some(share.n), &counts),
    ))
}

fn pass_rate_metric(name: &str) -> Value {
    json!({
        "metric_id": name,
        "metric_name": name,
        "metric_kind": HEADLINE,
        "metric_unit": "proportion",
        "lower_is_better": false,
        "score_type": "binary",
        "min_score": 0.0,
        "max_score": 1.0,
    })
}

/// Returns an evaluator's score of the run, or `None` if its better direction is unknown: the format requires one.
fn score_result(run: &Run, score: &ScoreRecord) -> Option<Value> {
    let value = score.value?;
    let lower_is_better = match score.direction {
        Direction::Up => false,
        Direction::Down => true,
        Direction::None => return None,
    };
    let (unit, bounds) = match score.unit {
        Unit::Fraction => (Some("proportion"), Some((0.0, 1.0))),
        Unit::Points => (Some("points"), Some((0.0, 100.0))),
        Unit::Seconds => (Some("seconds"), None),
        Unit::Tokens => (Some("tokens"), None),
        Unit::Usd => (Some("usd"), None),
        Unit::Count => (Some("count"), None),
        Unit::Number => (None, None),
    };
    let bounds = score.range.map(|[least, most]| (least, most)).or(bounds);
    let mut metric = json!({
        "metric_id": score.metric,
        "metric_name": score.metric,
        "lower_is_better": lower_is_better,
        "score_type": "continuous",
        "min_score": bounds.map(|(least, _)| least),
        "max_score": bounds.map(|(_, most)| most),
    });
    if let Some(unit) = unit {
        metric["metric_unit"] = json!(unit);
    }
    let evaluator = score
        .evaluator
        .as_ref()
        .map_or_else(|| json!({}), |evaluator| json!({"evaluator": evaluator}));
    let name = format!("score.{}.{}", score.metric, score.revision);
    Some(evaluation_result(
        run,
        &name,
        &metric,
        &score_details(value, score.standard_error, score.n, &evaluator),
    ))
}

fn score_details(
    score: f64,
    standard_error: Option<f64>,
    n: Option<u64>,
    details: &Value,
) -> Value {
    let mut uncertainty = Map::new();
    if let Some(error) = standard_error {
        uncertainty.insert(
            "standard_error".to_owned(),
            json!({"value": error, "method": "analytic"}),
        );
    }
    if let Some(n) = n {
        uncertainty.insert("num_samples".to_owned(), json!(n));
    }
    let mut described = json!({"score": score, "details": details});
    if !uncertainty.is_empty() {
        described["uncertainty"] = Value::Object(uncertainty);
    }
    described
}

fn evaluation_result(run: &Run, id: &str, metric: &Value, score: &Value) -> Value {
    let mut source = json!({"dataset_name": run.suite, "source_type": "other"});
    if let Some(version) = &run.suite_version {
        source["additional_details"] = json!({"suite_version": version});
    }
    let mut approach = json!({"approach": run.approach});
    if let Some(seed) = run.seed {
        approach["seed"] = json!(seed.to_string());
    }
    json!({
        "evaluation_result_id": id,
        "evaluation_name": run.suite,
        "source_data": source,
        "metric_config": metric,
        "score_details": score,
        "generation_config": {"additional_details": approach},
    })
}

/// Returns the id that the format recommends, plus the run's id, because an arm has several runs.
fn evaluation_id(run: &Run) -> String {
    let ended = unix_seconds(run).unwrap_or_else(|| UNKNOWN_NAME.to_owned());
    format!(
        "{}/{}/{ended}/{}",
        run.suite.replace('/', "_"),
        model_name(run).replace('/', "_"),
        run.id
    )
}

fn model_name(run: &Run) -> &str {
    if is_model_name(&run.model) {
        &run.model
    } else {
        UNKNOWN_NAME
    }
}

/// Formats the time of a run as seconds since 1970.
fn unix_seconds(run: &Run) -> Option<String> {
    run.timestamp.map(|time| time.timestamp().to_string())
}
