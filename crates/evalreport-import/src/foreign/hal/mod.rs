//! HAL, the holistic agent leaderboard: one JSON object per run of a benchmark, plain or encrypted in a zip.
//!
//! A run tells which tasks were solved and which were not. Its transcripts are not imported.

mod encrypted;

use std::collections::BTreeMap;
use std::io::Read;

use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::Value;

use crate::domain::{
    CostSource, Direction, ItemDetails, ItemKind, ItemStatus, Problem, ScoreRecord, Unit, Usage,
};

use super::super::rows::ReadStop;
use super::claim::Claim;
use super::format::FormatFacts;
use super::importer::FormatImporter;
use super::json::{to_amount, to_count, to_filled_text, to_number};
use super::json_reader::read_object;
use super::peek::{ContentKind, Peek};
use super::sink::{ImportSink, RunHandle, RunMoment, clip_text};
use super::source::ForeignFileGroup;
use super::times::read_time;

pub(super) const FORMAT: FormatImporter = FormatImporter::new(
    FormatFacts {
        name: "hal",
        title: "HAL",
        kind: ItemKind::Task,
        reads_names: false,
        version: 2,
    },
    claim_file,
    read_source,
);

/// Key of the transcripts, which are skipped.
const TRANSCRIPTS_KEY: &str = "raw_logging_results";
const ACCURACY_KEY: &str = "accuracy";
const COST_KEY: &str = "total_cost";
const HEADER_KEYS: [&str; 5] = ["config", "results", "total_usage", COST_KEY, "git_info"];

fn claim_file(peek: &Peek) -> Option<Claim> {
    let is_ours = match peek.content {
        ContentKind::Zip => peek.has_member_ending(encrypted::ENCRYPTED_SUFFIX),
        ContentKind::Json => {
            let named = ["config.agent_name", "config.benchmark_name"].map(|key| peek.has(key));
            let is_run =
                named == [true; 2] || (named != [false; 2] && peek.has("raw_eval_results"));
            !peek.is_lines && is_run && peek.has("results")
        }
        ContentKind::Xml | ContentKind::Text => false,
    };
    is_ours.then_some(Claim::Alone)
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct HalUpload {
    config: Value,
    results: Value,
    total_usage: Value,
    total_cost: Value,
    git_info: Value,
}

fn read_source(source: &ForeignFileGroup, sink: &mut ImportSink<'_>) -> Result<(), ReadStop> {
    let [file] = source.files.as_slice() else {
        return Err(Problem::in_file(&source.shown, "is not one file of a run").into());
    };
    if !file.is_archive() {
        return add_upload(
            &read_upload(file.open()?, &file.shown)?,
            &source.name,
            &file.shown,
            sink,
        );
    }
    let mut archive = file.open_archive()?;
    let members = encrypted::encrypted_members(&archive);
    if members.is_empty() {
        return Err(file.problem("has no encrypted member"));
    }
    let mut keys = encrypted::DerivedKeys::for_archive(&archive);
    for member in members {
        let label = archive.member_label(&member);
        let bytes = encrypted::read_member(&mut archive, &member, &mut keys)?;
        add_upload(
            &read_upload(bytes.as_slice(), &label)?,
            &member,
            &label,
            sink,
        )?;
    }
    Ok(())
}

fn read_upload(reader: impl Read, label: &str) -> Result<HalUpload, ReadStop> {
    read_object(
        reader,
        label,
        &HEADER_KEYS,
        TRANSCRIPTS_KEY,
        &mut |_: IgnoredAny| Ok(()),
    )
}

/// Returns the tasks in one of the result lists.
fn listed_tasks(upload: &HalUpload, key: &str) -> Vec<String> {
    upload
        .results
        .get(key)
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
        .filter_map(to_filled_text)
        .collect()
}

/// Returns the named numbers of the whole run, without the cost.
fn result_numbers(upload: &HalUpload) -> Vec<(&String, f64)> {
    let all = upload
        .results
        .as_object()
        .into_iter()
        .flatten()
        .filter(|(name, _)| *name != COST_KEY);
    all.filter_map(|(name, value)| Some((name, value.as_f64().filter(|value| value.is_finite())?)))
        .collect()
}

fn add_upload(
    upload: &HalUpload,
    name: &str,
    label: &str,
    sink: &mut ImportSink<'_>,
) -> Result<(), ReadStop> {
    let (solved, failed) = (
        listed_tasks(upload, "successful_tasks"),
        listed_tasks(upload, "failed_tasks"),
    );
    if solved.is_empty() && failed.is_empty() && result_numbers(upload).is_empty() {
        return Err(Problem::in_file(
            label,
            "holds no results: no tasks that were solved or failed, and no numbers",
        )
        .into());
    }
    let of_config = |key: &str| upload.config.get(key).and_then(to_filled_text);
    let arguments = upload.config.get("agent_args");
    let argued = ["model_name", "model"]
        .iter()
        .find_map(|key| to_filled_text(arguments?.get(key)?));
    let used: Vec<&String> = upload
        .total_usage
        .as_object()
        .into_iter()
        .flatten()
        .map(|(model, _)| model)
        .collect();
    let only = used
        .first()
        .filter(|_| used.len() == 1)
        .map(|model| (*model).clone());
    let model = argued.or(only).unwrap_or_default();
    let benchmark = of_config("benchmark_name").unwrap_or_else(|| "hal".to_owned());
    let agent = of_config("agent_name").unwrap_or_default();
    let names = [benchmark.as_str(), &agent, &model];
    let run = match of_config("run_id") {
        Some(id) => sink.begin_run(&[&benchmark, &id], names),
        None => sink.begin_run_of_bytes(&[&benchmark, name], names, RunMoment::Unread),
    };
    let Some(run) = run else { return Ok(()) };
    fill_run(upload, run, sink);
    let latencies = upload.results.get("latencies");
    let (mut place, mut statuses) = (0, BTreeMap::new());
    for (task, status) in solved
        .iter()
        .map(|task| (task, ItemStatus::Pass))
        .chain(failed.iter().map(|task| (task, ItemStatus::Fail)))
    {
        place += 1;
        if statuses
            .insert(task, status)
            .is_some_and(|before| before != status)
        {
            sink.note_quirk("tasks listed as both solved and failed count as solved");
            continue;
        }
        let mut outcome = sink.new_outcome(run, task, status);
        outcome.duration_seconds =
            latencies.and_then(|latencies| to_amount(&latencies.get(task)?["total_time"]));
        sink.add_outcome(
            run,
            &format!("task {place}"),
            outcome,
            ItemDetails::default(),
        )?;
    }
    add_published_figures(upload, run, solved.len() as u64, place, sink);
    Ok(())
}

fn fill_run(upload: &HalUpload, run: RunHandle, sink: &mut ImportSink<'_>) {
    let usage = sum_usage(&upload.total_usage);
    let cost = upload
        .results
        .get(COST_KEY)
        .and_then(to_amount)
        .or_else(|| to_amount(&upload.total_cost));
    let cost = cost.filter(|cost| *cost > 0.0);
    let record = sink.run_mut(run);
    record.timestamp = upload.config.get("date").and_then(read_time);
    record.usage = usage;
    record.cost_usd = cost;
    record.cost_source = cost.map_or(CostSource::Unknown, |_| CostSource::Reported);
    record.agent = upload.config.get("agent_name").and_then(to_filled_text);
    let commit = upload
        .git_info
        .get("commit")
        .or_else(|| upload.git_info.get("commit_hash"))
        .and_then(to_filled_text);
    if let Some(commit) = commit {
        record
            .tags
            .insert("commit".to_owned(), clip_text(&commit, 500).into_owned());
    }
}

/// Adds up the tokens of all models. If HAL names prompt tokens, they include the cache.
fn sum_usage(total: &Value) -> Option<Usage> {
    let each = total.as_object()?.values().map(|of_model| {
        let of = |names: &[&str]| {
            names
                .iter()
                .find_map(|name| of_model.get(name).and_then(to_count))
        };
        let (read, write) = (
            of(&["cache_read_input_tokens", "prompt_tokens_cached"]),
            of(&["cache_creation_input_tokens"]),
        );
        let prompt = of(&["prompt_tokens"])
            .map(|tokens| tokens.saturating_sub(of(&["prompt_tokens_cached"]).unwrap_or(0)));
        Usage {
            input: of(&["input_tokens"]).or(prompt),
            cache_write: write,
            cache_read: read,
            output: of(&["output_tokens", "completion_tokens"]),
        }
    });
    each.reduce(|sum, one| sum.plus(&one))
        .filter(|usage| *usage != Usage::default())
}

/// Checks the accuracy. If no task is named, the numbers of the results become scores of the run.
fn add_published_figures(
    upload: &HalUpload,
    run: RunHandle,
    solved: u64,
    tasks: u64,
    sink: &mut ImportSink<'_>,
) {
    if let Some(accuracy) = upload.results.get(ACCURACY_KEY).and_then(to_number) {
        let recomputed = (tasks > 0).then(|| solved as f64 / tasks as f64);
        sink.add_published_figure(
            run,
            ACCURACY_KEY,
            accuracy,
            Unit::Fraction,
            recomputed,
            None,
        );
    }
    if tasks > 0 {
        return;
    }
    sink.note_quirk("the results name no tasks: their figures become scores of the run");
    sink.count_run_record();
    for (name, value) in result_numbers(upload) {
        // For other numbers, only the benchmark knows which direction is better.
        let is_accuracy = name == ACCURACY_KEY && (0.0..=1.0).contains(&value);
        let (unit, direction) = if is_accuracy {
            (Unit::Fraction, Direction::Up)
        } else {
            (Unit::Number, Direction::None)
        };
        sink.run_mut(run)
            .scores
            .push(ScoreRecord::new(name.clone(), value, unit, direction));
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_tokens_of_all_models_add_up() {
        let total = json!({"a": {"prompt_tokens": 100, "completion_tokens": 5}, "b": {"input_tokens": 10, "output_tokens": 2, "cache_read_input_tokens": 7}});
        let usage = sum_usage(&total).expect("tokens");
        assert_eq!(
            (usage.input, usage.cache_read, usage.output),
            (Some(110), Some(7), Some(7))
        );
    }
}
