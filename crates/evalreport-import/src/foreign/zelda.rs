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

use super::super::rows::ReadStop;
use super::super::source::hex_digest;
use super::claim::Claim;
use super::format::FormatFacts;
use super::importer::FormatImporter;
use super::json::{ObjectTable, to_amount, to_count, to_filled_text, to_number, to_text};
use super::json_reader::{read_object, read_value};
use super::peek::{ContentKind, Peek};
use super::sink::{ImportSink, RunHandle};
use super::source::ForeignFileGroup;
use super::times::TimeSpan;

const RESULT_FILE: &str = "result.json";
const TRANSCRIPT_FILE: &str = "transcript.json";
const FULFILMENT_METRIC: &str = "requirementFulfillment";
/// Half of the last digit: scores have one decimal.
const ROUNDING: f64 = 0.05;

pub(super) const FORMAT: FormatImporter = FormatImporter::new(
    FormatFacts {
        name: "zelda",
        title: "zelda",
        kind: ItemKind::Criterion,
        reads_names: false,
        version: 4,
    },
    claim_file,
    read_source,
);

fn claim_file(peek: &Peek) -> Option<Claim> {
    let is_in_run = peek.folder_name(1) == Some("runs") && peek.folder_name(2) == Some(".zelda");
    // A broken file shows no keys, but its location tells.
    let is_ours = match peek.name.as_str() {
        RESULT_FILE => is_in_run || is_result(peek),
        TRANSCRIPT_FILE => {
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
    peek.content == ContentKind::Json
        && peek.has_all(&["id", "timestamp", "metrics", "testSuite.name"])
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct ZeldaResult {
    id: Value,
    timestamp: Value,
    test_suite: Value,
    metrics: ObjectTable<ZeldaMetric>,
    execution_backend: Value,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct ZeldaMetric {
    score: Value,
    details: Value,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct ZeldaTranscript {
    metadata: Value,
}

fn read_source(source: &ForeignFileGroup, sink: &mut ImportSink<'_>) -> Result<(), ReadStop> {
    let alone = source
        .files
        .first()
        .filter(|file| source.files.len() == 1 && !file.name.ends_with(TRANSCRIPT_FILE));
    let result = source.find_file(RESULT_FILE).or(alone);
    let results: Option<ZeldaResult> = match result {
        Some(file) => read_value(file.open()?, &file.shown).ok(),
        None => None,
    };
    let results =
        results.filter(|results| results.test_suite.is_object() || !results.metrics.is_empty());
    let transcript: Option<ZeldaTranscript> = match source.find_file(TRANSCRIPT_FILE) {
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
            .all(|file| file.name != RESULT_FILE && file.name != TRANSCRIPT_FILE)
    {
        return Err(
            Problem::in_file(&source.shown, "holds no result and no transcript of a run").into(),
        );
    }
    let crashed = results.is_none();
    let results = results.unwrap_or_default();
    let of_suite = |key: &str| results.test_suite.get(key).and_then(to_filled_text);
    let suite = of_suite("name").unwrap_or_else(|| "zelda".to_owned());
    let approach = to_text(&results.execution_backend).unwrap_or_else(|| "zelda".to_owned());
    let Some(run) = sink.begin_run_with(
        to_text(&results.id).as_deref(),
        &[],
        [&suite, &approach, ""],
    ) else {
        return Ok(());
    };
    if !sink.is_model_given() {
        sink.note_quirk("the run names no model: name it with --set");
    }
    if crashed {
        sink.note_quirk("a folder without a valid result.json is a crashed run");
    }
    let record = sink.run_mut(run);
    let mut span = TimeSpan::default();
    span.add_times(&results.timestamp, &results.timestamp);
    span.set_run_times(record);
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
        set_usage(record, &transcript.metadata);
        if to_count(&transcript.metadata["inputTokens"]).is_some_and(|tokens| tokens > 0) {
            sink.note_quirk(
                "input tokens exclude the cache: they become a tag, and the total is unknown",
            );
        }
    }
    for (name, metric) in results.metrics.iter() {
        let Some(score) = to_number(&metric.score) else {
            continue;
        };
        sink.run_mut(run).scores.push(ScoreRecord {
            evaluator: Some(name.clone()),
            ..ScoreRecord::new(name.clone(), score, Unit::Points, Direction::Up)
        });
        let share = add_criteria(run, name, &metric.details, sink)?;
        if name == FULFILMENT_METRIC {
            sink.add_published_figure(
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
fn set_usage(run: &mut Run, metadata: &Value) {
    let measured = |key: &str| to_count(&metadata[key]).filter(|count| *count > 0);
    run.duration_seconds =
        to_amount(&metadata["durationMs"]).map(|milliseconds| milliseconds / 1000.0);
    run.total_calls = measured("turnCount");
    run.output_tokens = measured("outputTokens");
    // A cost of zero means not measured.
    run.cost_usd = to_amount(&metadata["costUsd"]).filter(|cost| *cost > 0.0);
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
fn add_criteria(
    run: RunHandle,
    metric: &str,
    details: &Value,
    sink: &mut ImportSink<'_>,
) -> Result<Option<f64>, ReadStop> {
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
        let asked = criterion.get("criterion").and_then(to_filled_text);
        let item = format!("criterion {}", index + 1);
        let mut outcome = sink.new_outcome(run, &item, status);
        outcome.kind = ItemKind::Criterion;
        metric.clone_into(&mut outcome.evaluator);
        let details = ItemDetails {
            reason: criterion.get("reasoning").and_then(to_text),
            item_hash: asked
                .as_deref()
                .map(|asked| hex_digest(&[asked.trim().as_bytes()], false)[..32].to_owned()),
            question: asked,
            ..ItemDetails::default()
        };
        sink.add_outcome(run, &item, outcome, details)?;
    }
    Ok((!criteria.is_empty()).then(|| passed as f64 / criteria.len() as f64))
}
