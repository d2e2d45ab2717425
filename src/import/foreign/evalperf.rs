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
use super::super::counts::part_of;
use super::super::rows::Stop;
use super::claim::Claim;
use super::format::Facts;
use super::importer::Format;
use super::json::{Table, amount, count, number, text};
use super::json_reader::read_value;
use super::moments::Moments;
use super::peek::{Content, Peek};
use super::sink::{Handle, Moment, Sink};
use super::source::ForeignSource;
use super::times::moment;

const EVALUATOR: &str = "tests";
const SUITE: &str = "evalperf";
const MOST_SAMPLES: u64 = 1000;
/// Maximum number of outcomes, so that a short file cannot claim any number of them.
const MOST_OUTCOMES: u64 = 2_000_000;
/// Scores that the summary and each task have.
const SPEEDS: [&str; 2] = ["dps", "dps_norm"];

pub(super) const FORMAT: Format = Format::new(
    Facts {
        name: "evalperf",
        title: "EvalPerf",
        kind: ItemKind::Task,
        reads_names: true,
        version: 4,
    },
    claim,
    read,
);

fn claim(peek: &Peek) -> Option<Claim> {
    let is_configured = peek.has_all(&[
        "config.n_samples",
        "config.min_correct",
        "config.max_profile",
    ]);
    let is_ours =
        is_configured && (peek.has("eval") || peek.has_all(&["summary.dps", "summary.pass@1"]));
    (peek.content == Content::Json && !peek.is_lines && is_ours).then_some(Claim::Alone)
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Results {
    date: Value,
    config: Value,
    summary: Value,
    eval: Table<Task>,
}

/// A task without its programs, which are not read.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Task {
    #[serde(rename = "pass@1")]
    pass_at_1: Value,
    dps: Value,
    dps_norm: Value,
}

fn read(source: &ForeignSource, sink: &mut Sink<'_>) -> Result<(), Stop> {
    let Some(file) = source.files.first() else {
        return Ok(());
    };
    let results: Results = read_value(file.open()?, &file.shown)?;
    if results.eval.is_empty() && results.summary.as_object().is_none() {
        return Err(file.problem("holds no tasks and no summary"));
    }
    let named = Named::of(&source.name);
    let date = text(&results.date).unwrap_or_default();
    let said = Moment::Said(moment(&results.date));
    let Some(run) = sink.begin_run_of_bytes(
        &[named.whole, &date],
        [SUITE, named.variant, &named.model],
        said,
    ) else {
        return Ok(());
    };
    sink.quirk("the model is taken from the file name");
    let record = sink.run(run);
    if let Some(time) = moment(&results.date) {
        record.timestamp = Some(time);
        record.tags.insert("zone".to_owned(), "unknown".to_owned());
    }
    let configured = ["n_samples", "temperature", "min_correct", "max_profile"];
    let configured = configured
        .into_iter()
        .filter_map(|key| Some((key.to_owned(), text(results.config.get(key)?)?)));
    record.tags.extend(configured);
    if let Some(backend) = named.backend {
        record.tags.insert("backend".to_owned(), backend.to_owned());
    }

    let mut passed = Moments::default();
    let mut speeds = [Moments::default(), Moments::default()];
    for (_, task) in results.eval.iter() {
        if let Some(share) = share(&task.pass_at_1) {
            passed.add(share);
        }
        for (moments, speed) in speeds.iter_mut().zip([&task.dps, &task.dps_norm]) {
            if let Some(speed) = number(speed) {
                moments.add(speed);
            }
        }
    }
    let samples = results
        .config
        .get("n_samples")
        .and_then(count)
        .unwrap_or_default();
    if let Some(counts) = counts_of(&results.eval, samples) {
        sink.quirk("the file does not say which samples passed: the first attempts of each task are read as the passed ones");
        for (item, right) in &counts {
            take_task(run, item, *right, samples, &results.eval, sink)?;
        }
    } else if passed.n() > 0 {
        sink.quirk("pass@1 is not a whole number of samples: the run has its mean as a score, and no outcomes");
        push_score(run, "pass@1", Unit::Fraction, passed, sink);
    }
    for (item, _) in results
        .eval
        .iter()
        .filter(|(_, task)| share(&task.pass_at_1).is_none())
    {
        sink.refuse(
            item,
            Refused::because("the task has no pass@1 from 0 to 100"),
        );
    }

    let stated = |key: &str| results.summary.get(key).and_then(number);
    if let Some(stated) = stated("pass@1") {
        sink.stated(
            run,
            "pass@1",
            stated / 100.0,
            Unit::Fraction,
            passed.mean(),
            None,
        );
    }
    for (name, moments) in SPEEDS.into_iter().zip(speeds) {
        push_score(run, name, Unit::Points, moments, sink);
        if let Some(stated) = stated(name) {
            sink.stated(run, name, stated, Unit::Points, moments.mean(), None);
        }
    }
    Ok(())
}

/// Stores the attempts at a task. The first attempt carries the task's scores.
fn take_task(
    run: Handle,
    item: &str,
    right: u64,
    samples: u64,
    tasks: &Table<Task>,
    sink: &mut Sink<'_>,
) -> Result<(), Stop> {
    let mut scores = BTreeMap::new();
    if let Some(task) = tasks.get(item) {
        let known = SPEEDS.into_iter().zip([&task.dps, &task.dps_norm]);
        scores.extend(known.filter_map(|(name, value)| Some((name.to_owned(), number(value)?))));
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
        let mut outcome = sink.outcome(run, item, status);
        EVALUATOR.clone_into(&mut outcome.evaluator);
        outcome.category.clone_from(&category);
        outcome.attempt = u32::try_from(attempt).unwrap_or(u32::MAX);
        let details = ItemDetails {
            scores: std::mem::take(&mut scores),
            ..ItemDetails::default()
        };
        sink.item(run, item, outcome, details)?;
    }
    Ok(())
}

fn push_score(run: Handle, metric: &str, unit: Unit, moments: Moments, sink: &mut Sink<'_>) {
    let Some(mean) = moments.mean() else { return };
    sink.run(run).scores.push(ScoreRecord {
        standard_error: moments.standard_error(),
        n: Some(moments.n()),
        evaluator: Some(EVALUATOR.to_owned()),
        ..ScoreRecord::new(metric, mean, unit, Direction::Up)
    });
}

fn share(percent: &Value) -> Option<f64> {
    amount(percent)
        .filter(|percent| *percent <= 100.0)
        .map(|percent| percent / 100.0)
}

/// Returns the number of right samples of each task, or `None` if a share does not fit the number of samples.
fn counts_of(tasks: &Table<Task>, samples: u64) -> Option<Vec<(String, u64)>> {
    let shares: Vec<(&String, f64)> = tasks
        .iter()
        .filter_map(|(item, task)| Some((item, share(&task.pass_at_1)?)))
        .collect();
    if samples == 0
        || samples > MOST_SAMPLES
        || (shares.len() as u64).saturating_mul(samples) > MOST_OUTCOMES
    {
        return None;
    }
    shares
        .into_iter()
        .map(|(item, share)| Some((item.clone(), part_of(share, samples)?)))
        .collect()
}

/// Parts of a file's name: `<organisation>--<model>_<backend>_temp_<temperature>[-<variant>]_evalperf_results[.brief].json[.gz]`.
struct Named<'a> {
    /// The name without its fixed ending.
    whole: &'a str,
    model: String,
    backend: Option<&'a str>,
    /// The way in which the model was prompted.
    variant: &'a str,
}

impl<'a> Named<'a> {
    fn of(name: &'a str) -> Self {
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
            let named = Named::of(name);
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
