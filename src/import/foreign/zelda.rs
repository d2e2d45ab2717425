//! zelda: one folder per run, with its evaluators' results in `result.json` and the conversation in `transcript.json`.
//!
//! A run has scores from 0 to 100 and no tests. If criteria were judged one by one, they are outcomes. A folder without a valid result is a
//! crashed run.

use std::path::PathBuf;

use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::Value;

use crate::domain::{
    Direction, ItemDetails, ItemKind, ItemStatus, Problem, Run, RunStatus, ScoreRecord, Unit,
};

use super::super::rows::Stop;
use super::super::source::hex_digest;
use super::claim::Claim;
use super::format::Facts;
use super::importer::Format;
use super::json::{Table, amount, count, filled, number, text};
use super::json_reader::{read_object, read_value};
use super::peek::{Content, Peek};
use super::sink::{Handle, Sink};
use super::source::ForeignSource;
use super::times::Span;

const RESULT: &str = "result.json";
const TRANSCRIPT: &str = "transcript.json";
const FULFILMENT: &str = "requirementFulfillment";
/// Half of the last digit: scores have one decimal.
const ROUNDING: f64 = 0.05;

pub(super) const FORMAT: Format = Format::new(
    Facts {
        name: "zelda",
        title: "zelda",
        kind: ItemKind::Criterion,
        reads_names: false,
        version: 4,
    },
    claim,
    read,
);

fn claim(peek: &Peek) -> Option<Claim> {
    let is_in_run = peek.folder_name(1) == Some("runs") && peek.folder_name(2) == Some(".zelda");
    // A broken file shows no keys, but its location tells.
    let is_ours = match peek.name.as_str() {
        RESULT => is_in_run || is_result(peek),
        TRANSCRIPT => {
            is_in_run || peek.has_all(&["messages", "metadata.turnCount", "metadata.durationMs"])
        }
        _ => return is_result(peek).then_some(Claim::Alone),
    };
    let folder = peek.path.parent()?;
    is_ours.then(|| {
        Claim::PartOf(if folder.as_os_str().is_empty() {
            PathBuf::from(".")
        } else {
            folder.to_owned()
        })
    })
}

fn is_result(peek: &Peek) -> bool {
    peek.content == Content::Json && peek.has_all(&["id", "timestamp", "metrics", "testSuite.name"])
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Results {
    id: Value,
    timestamp: Value,
    test_suite: Value,
    metrics: Table<Metric>,
    execution_backend: Value,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Metric {
    score: Value,
    details: Value,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Transcript {
    metadata: Value,
}

fn read(source: &ForeignSource, sink: &mut Sink<'_>) -> Result<(), Stop> {
    let alone = source
        .files
        .first()
        .filter(|file| source.files.len() == 1 && !file.name.ends_with(TRANSCRIPT));
    let result = source.file(RESULT).or(alone);
    let results: Option<Results> = match result {
        Some(file) => read_value(file.open()?, &file.shown).ok(),
        None => None,
    };
    let results =
        results.filter(|results| results.test_suite.is_object() || !results.metrics.is_empty());
    let transcript: Option<Transcript> = match source.file(TRANSCRIPT) {
        Some(file) => read_object(
            file.open()?,
            &file.shown,
            &["metadata"],
            "messages",
            &mut |_: IgnoredAny| Ok(()),
        )
        .ok(),
        None => None,
    };
    if results.is_none()
        && transcript.is_none()
        && source
            .files
            .iter()
            .all(|file| file.name != RESULT && file.name != TRANSCRIPT)
    {
        return Err(
            Problem::in_file(&source.shown, "holds no result and no transcript of a run").into(),
        );
    }
    let crashed = results.is_none();
    let results = results.unwrap_or_default();
    let of_suite = |key: &str| results.test_suite.get(key).and_then(filled);
    let suite = of_suite("name").unwrap_or_else(|| "zelda".to_owned());
    let approach = text(&results.execution_backend).unwrap_or_else(|| "zelda".to_owned());
    let Some(run) = sink.begin_run_with(text(&results.id).as_deref(), &[], [&suite, &approach, ""])
    else {
        return Ok(());
    };
    if !sink.is_model_given() {
        sink.quirk("the run names no model: name it with --set");
    }
    if crashed {
        sink.quirk("a folder without a valid result.json is a crashed run");
    }
    let record = sink.run(run);
    let mut span = Span::default();
    span.take(&results.timestamp, &results.timestamp);
    span.tell(record);
    if crashed {
        record.status = RunStatus::Failed;
        record.error = Some("the run left no valid result.json".to_owned());
    } else {
        let asked = [
            of_suite("prompt").unwrap_or_default(),
            results
                .test_suite
                .get("acceptanceCriteria")
                .map(Value::to_string)
                .unwrap_or_default(),
        ];
        record.suite_version =
            Some(hex_digest(&[asked[0].as_bytes(), asked[1].as_bytes()], false)[..32].to_owned());
    }
    if let Some(transcript) = transcript {
        tell(record, &transcript.metadata);
        if count(&transcript.metadata["inputTokens"]).is_some_and(|tokens| tokens > 0) {
            sink.quirk(
                "input tokens exclude the cache: they become a tag, and the total is unknown",
            );
        }
    }
    for (name, metric) in results.metrics.iter() {
        let Some(score) = number(&metric.score) else {
            continue;
        };
        sink.run(run).scores.push(ScoreRecord {
            evaluator: Some(name.clone()),
            ..ScoreRecord::new(name.clone(), score, Unit::Points, Direction::Up)
        });
        let share = take_criteria(run, name, &metric.details, sink)?;
        if name == FULFILMENT {
            sink.stated(
                run,
                name,
                score,
                Unit::Points,
                share.map(|share| share * 100.0),
                Some(ROUNDING),
            );
        }
    }
    Ok(())
}

/// Sets the conversation's duration, calls, tokens and cost.
fn tell(run: &mut Run, metadata: &Value) {
    let measured = |key: &str| count(&metadata[key]).filter(|count| *count > 0);
    run.duration_seconds =
        amount(&metadata["durationMs"]).map(|milliseconds| milliseconds / 1000.0);
    run.total_calls = measured("turnCount");
    run.output_tokens = measured("outputTokens");
    // A cost of zero means not measured.
    run.cost_usd = amount(&metadata["costUsd"]).filter(|cost| *cost > 0.0);
    for (tag, key) in [
        ("uncached_input_tokens", "inputTokens"),
        ("errors", "errorCount"),
    ] {
        if let Some(count) = measured(key) {
            run.tags.insert(tag.to_owned(), count.to_string());
        }
    }
}

/// Stores criteria that were judged one by one, and returns the share of passed ones.
fn take_criteria(
    run: Handle,
    metric: &str,
    details: &Value,
    sink: &mut Sink<'_>,
) -> Result<Option<f64>, Stop> {
    let criteria = details
        .get("criteria")
        .and_then(Value::as_array)
        .map(Vec::as_slice)
        .unwrap_or_default();
    let mut passed = 0;
    for (index, criterion) in criteria.iter().enumerate() {
        let status = match criterion.get("passed").and_then(Value::as_bool) {
            Some(true) => ItemStatus::Pass,
            Some(false) => ItemStatus::Fail,
            None => ItemStatus::NotEvaluated,
        };
        passed += u64::from(status == ItemStatus::Pass);
        let asked = criterion.get("criterion").and_then(filled);
        let item = format!("criterion {}", index + 1);
        let mut outcome = sink.outcome(run, &item, status);
        outcome.kind = ItemKind::Criterion;
        metric.clone_into(&mut outcome.evaluator);
        let details = ItemDetails {
            reason: criterion.get("reasoning").and_then(text),
            item_hash: asked
                .as_deref()
                .map(|asked| hex_digest(&[asked.trim().as_bytes()], false)[..32].to_owned()),
            question: asked,
            ..ItemDetails::default()
        };
        sink.item(run, &item, outcome, details)?;
    }
    Ok((!criteria.is_empty()).then(|| passed as f64 / criteria.len() as f64))
}
