//! EvalPerf: one file per model, with its pass@1 at each task and the speed of its right programs.
//!
//! Many samples are drawn per task. The file has the percentage of right samples, not which they were. If the percentage is a whole number
//! of samples, the attempts are known except for their order, on which nothing depends. The differential performance score (`dps`) exists
//! only for tasks with enough right samples, and its mean is over these tasks.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::Value;

use crate::domain::{Direction, ItemDetails, ItemKind, ItemStatus, ScoreRecord, Unit};

use super::super::cell::Refused;
use super::super::counts::count_from_share;
use super::super::rows::ReadStop;
use super::claim::Claim;
use super::format::FormatFacts;
use super::importer::FormatImporter;
use super::json::{ObjectTable, to_amount, to_count, to_number, to_text};
use super::json_reader::read_value;
use super::peek::{ContentKind, Peek};
use super::running_mean::RunningMean;
use super::sink::{ImportSink, RunHandle, RunMoment};
use super::source::ForeignFileGroup;
use super::times::read_time;

const EVALUATOR: &str = "tests";
const SUITE: &str = "evalperf";
const MAX_SAMPLES: u64 = 1000;
/// Maximum number of outcomes, so that a short file cannot claim any number of them.
const MAX_OUTCOMES: u64 = 2_000_000;
/// Scores that the summary and each task have.
const SPEED_METRICS: [&str; 2] = ["dps", "dps_norm"];

pub(super) const FORMAT: FormatImporter = FormatImporter::new(
    FormatFacts {
        name: "evalperf",
        title: "EvalPerf",
        kind: ItemKind::Task,
        reads_names: true,
        version: 4,
    },
    claim_file,
    read_source,
);

fn claim_file(peek: &Peek) -> Option<Claim> {
    let is_configured = peek.has_all(&[
        "config.n_samples",
        "config.min_correct",
        "config.max_profile",
    ]);
    let is_ours =
        is_configured && (peek.has("eval") || peek.has_all(&["summary.dps", "summary.pass@1"]));
    (peek.content == ContentKind::Json && !peek.is_lines && is_ours).then_some(Claim::Alone)
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct EvalperfResults {
    date: Value,
    config: Value,
    summary: Value,
    eval: ObjectTable<EvalperfTask>,
}

/// A task without its programs, which are not read.
#[derive(Default, Deserialize)]
#[serde(default)]
struct EvalperfTask {
    #[serde(rename = "pass@1")]
    pass_at_1: Value,
    dps: Value,
    dps_norm: Value,
}

fn read_source(source: &ForeignFileGroup, sink: &mut ImportSink<'_>) -> Result<(), ReadStop> {
    let Some(file) = source.files.first() else {
        return Ok(());
    };
    let results: EvalperfResults = read_value(file.open()?, &file.shown)?;
    if results.eval.is_empty() && results.summary.as_object().is_none() {
        return Err(file.problem("holds no tasks and no summary"));
    }
    let named = EvalperfFileName::parse(&source.name);
    let date = to_text(&results.date).unwrap_or_default();
    let said = RunMoment::Said(read_time(&results.date));
    let Some(run) = sink.begin_run_of_bytes(
        &[named.whole, &date],
        [SUITE, named.variant, &named.model],
        said,
    ) else {
        return Ok(());
    };
    sink.note_quirk("the model is taken from the file name");
    let record = sink.run_mut(run);
    if let Some(time) = read_time(&results.date) {
        record.timestamp = Some(time);
        record.tags.insert("zone".to_owned(), "unknown".to_owned());
    }
    let configured = ["n_samples", "temperature", "min_correct", "max_profile"];
    let configured = configured
        .into_iter()
        .filter_map(|key| Some((key.to_owned(), to_text(results.config.get(key)?)?)));
    record.tags.extend(configured);
    if let Some(backend) = named.backend {
        record.tags.insert("backend".to_owned(), backend.to_owned());
    }

    let mut passed = RunningMean::default();
    let mut speeds = [RunningMean::default(), RunningMean::default()];
    for (_, task) in results.eval.iter() {
        if let Some(share) = parse_percent(&task.pass_at_1) {
            passed.add(share);
        }
        for (moments, speed) in speeds.iter_mut().zip([&task.dps, &task.dps_norm]) {
            if let Some(speed) = to_number(speed) {
                moments.add(speed);
            }
        }
    }
    let samples = results
        .config
        .get("n_samples")
        .and_then(to_count)
        .unwrap_or_default();
    if let Some(counts) = passed_counts(&results.eval, samples) {
        sink.note_quirk("the file does not say which samples passed: the first attempts of each task are read as the passed ones");
        for (item, right) in &counts {
            add_attempts(run, item, *right, samples, &results.eval, sink)?;
        }
    } else if passed.n() > 0 {
        sink.note_quirk("pass@1 is not a whole number of samples: the run has its mean as a score, and no outcomes");
        push_score(run, "pass@1", Unit::Fraction, passed, sink);
    }
    for (item, _) in results
        .eval
        .iter()
        .filter(|(_, task)| parse_percent(&task.pass_at_1).is_none())
    {
        sink.refuse_part(item, Refused::new("the task has no pass@1 from 0 to 100"));
    }

    let stated = |key: &str| results.summary.get(key).and_then(to_number);
    if let Some(stated) = stated("pass@1") {
        sink.add_published_figure(
            run,
            "pass@1",
            stated / 100.0,
            Unit::Fraction,
            passed.mean(),
            None,
        );
    }
    for (name, moments) in SPEED_METRICS.into_iter().zip(speeds) {
        push_score(run, name, Unit::Points, moments, sink);
        if let Some(stated) = stated(name) {
            sink.add_published_figure(run, name, stated, Unit::Points, moments.mean(), None);
        }
    }
    Ok(())
}

/// Stores the attempts at a task. The first attempt carries the task's scores.
fn add_attempts(
    run: RunHandle,
    item: &str,
    right: u64,
    samples: u64,
    tasks: &ObjectTable<EvalperfTask>,
    sink: &mut ImportSink<'_>,
) -> Result<(), ReadStop> {
    let mut scores = BTreeMap::new();
    if let Some(task) = tasks.get(item) {
        let known = SPEED_METRICS.into_iter().zip([&task.dps, &task.dps_norm]);
        scores.extend(known.filter_map(|(name, value)| Some((name.to_owned(), to_number(value)?))));
    }
    let category = item
        .split_once('/')
        .map(|(benchmark, _)| benchmark.to_owned());
    for attempt in 1..=samples {
        let status = if attempt <= right {
            ItemStatus::Pass
        } else {
            ItemStatus::Fail
        };
        let mut outcome = sink.new_outcome(run, item, status);
        EVALUATOR.clone_into(&mut outcome.evaluator);
        outcome.category.clone_from(&category);
        outcome.attempt = u32::try_from(attempt).unwrap_or(u32::MAX);
        let details = ItemDetails {
            scores: std::mem::take(&mut scores),
            ..ItemDetails::default()
        };
        sink.add_outcome(run, item, outcome, details)?;
    }
    Ok(())
}

fn push_score(
    run: RunHandle,
    metric: &str,
    unit: Unit,
    moments: RunningMean,
    sink: &mut ImportSink<'_>,
) {
    let Some(mean) = moments.mean() else { return };
    sink.run_mut(run).scores.push(ScoreRecord {
        standard_error: moments.standard_error(),
        n: Some(moments.n()),
        evaluator: Some(EVALUATOR.to_owned()),
        ..ScoreRecord::new(metric, mean, unit, Direction::Up)
    });
}

fn parse_percent(percent: &Value) -> Option<f64> {
    to_amount(percent)
        .filter(|percent| *percent <= 100.0)
        .map(|percent| percent / 100.0)
}

/// Returns the number of right samples of each task, or `None` if a share does not fit the number of samples.
fn passed_counts(tasks: &ObjectTable<EvalperfTask>, samples: u64) -> Option<Vec<(String, u64)>> {
    let shares: Vec<(&String, f64)> = tasks
        .iter()
        .filter_map(|(item, task)| Some((item, parse_percent(&task.pass_at_1)?)))
        .collect();
    if samples == 0
        || samples > MAX_SAMPLES
        || (shares.len() as u64).saturating_mul(samples) > MAX_OUTCOMES
    {
        return None;
    }
    shares
        .into_iter()
        .map(|(item, share)| Some((item.clone(), count_from_share(share, samples)?)))
        .collect()
}

/// Parts of a file's name: `<organisation>--<model>_<backend>_temp_<temperature>[-<variant>]_evalperf_results[.brief].json[.gz]`.
struct EvalperfFileName<'a> {
    /// The name without its fixed ending.
    whole: &'a str,
    model: String,
    backend: Option<&'a str>,
    /// The way in which the model was prompted.
    variant: &'a str,
}

impl<'a> EvalperfFileName<'a> {
    fn parse(name: &'a str) -> Self {
        let whole = name.split_once("_evalperf_results").map_or_else(
            || name.split(".json").next().unwrap_or(name),
            |(whole, _)| whole,
        );
        let (sampled, temperature) = whole.rsplit_once("_temp_").unwrap_or((whole, ""));
        let (model, backend) = match sampled.rsplit_once('_') {
            Some((model, backend)) if !temperature.is_empty() => (model, Some(backend)),
            Some(_) | None => (sampled, None),
        };
        let variant = temperature
            .split_once('-')
            .map_or("instruct", |(_, variant)| variant);
        Self {
            whole,
            model: model.replacen("--", "/", 1),
            backend,
            variant,
        }
    }
}

#[cfg(test)]
mod unit_tests {
    use super::*;

    #[test]
    fn names_say_who_was_asked_and_how() {
        let of = |name: &'static str| {
            let named = EvalperfFileName::parse(name);
            (named.model, named.backend, named.variant)
        };
        assert_eq!(
            of("acme--coder_x-9B_vllm_temp_1.0_evalperf_results.brief.json.gz"),
            ("acme/coder_x-9B".to_owned(), Some("vllm"), "instruct")
        );
        assert_eq!(
            of("big-1_openai_temp_1.0-perf-instruct_evalperf_results.json"),
            ("big-1".to_owned(), Some("openai"), "perf-instruct")
        );
        assert_eq!(of("renamed.json"), ("renamed".to_owned(), None, "instruct"));
    }
}
