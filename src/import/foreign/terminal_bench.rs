//! Terminal-Bench before version 2 (`tb`): a folder a run, with a folder for each trial in it.
//!
//! A run is one agent with one model at one dataset, a task is a question, and its trials are the attempts, which their names number. The
//! trials' own files are read before the run's, which has them all once more but may be missing.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use serde::Deserialize;
use serde_json::Value;

use crate::domain::{Git, ItemDetails, ItemStatus, Problem, RunStatus, Unit};

use super::super::cell::Refused;
use super::super::rows::Stop;
use super::super::source::hex_digest;
use super::Claim;
use super::attempts::Attempted;
use super::json::{Lenient, count, number, read_object, read_value, text};
use super::peek::{Content, Peek};
use super::sink::{Handle, Sink};
use super::source::{ForeignFile, ForeignSource};
use super::times::{Span, seconds};

const EVALUATOR: &str = "tests";
const METADATA: &str = "run_metadata.json";
const MOST_FAILED_SHOWN: usize = 10;

pub(super) fn claim(peek: &Peek) -> Option<Claim> {
    if peek.content != Content::Json {
        return None;
    }
    let levels = if is_trial(peek) {
        // `<run>/<task>/<trial>/results.json`; a file that was moved is a run with what lies beside it.
        if peek.folder_name(0).is_some_and(|folder| folder.contains("-of-")) { 3 } else { 1 }
    } else if is_results(peek) || (peek.name == METADATA && peek.has_all(&["run_id", "agent_name"])) {
        1
    } else {
        return None;
    };
    let folder = peek.path.ancestors().nth(levels)?;
    Some(Claim::PartOf(if folder.as_os_str().is_empty() { PathBuf::from(".") } else { folder.to_owned() }))
}

fn is_trial(peek: &Peek) -> bool {
    peek.has_all(&["trial_name", "task_id", "is_resolved"])
}

fn is_results(peek: &Peek) -> bool {
    peek.has_all(&["results[].trial_name", "results[].task_id"]) || peek.has_all(&["results", "n_resolved", "accuracy"])
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Metadata {
    run_id: Value,
    uuid: Value,
    dataset_name: Value,
    dataset_version: Value,
    agent_name: Value,
    model_name: Value,
    agent_kwargs: Value,
    start_time: Value,
    end_time: Value,
    accuracy: Value,
    pass_at_k: Value,
    commit_hash: Value,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Trial {
    #[serde(alias = "uuid")]
    id: Value,
    trial_name: Value,
    task_id: Value,
    instruction: Value,
    is_resolved: Value,
    failure_mode: Value,
    parser_results: Value,
    total_input_tokens: Value,
    total_output_tokens: Value,
    trial_started_at: Value,
    trial_ended_at: Value,
    agent_started_at: Value,
    agent_ended_at: Value,
}

/// The keys of a run's results that are read; its trials pass by.
const RESULTS: [&str; 3] = ["accuracy", "n_resolved", "pass_at_k"];

#[derive(Default, Deserialize)]
#[serde(default)]
struct Results {
    accuracy: Value,
    n_resolved: Value,
    pass_at_k: Value,
}

pub(super) fn read(source: &ForeignSource, sink: &mut Sink<'_>) -> Result<(), Stop> {
    let metadata: Option<Metadata> = match source.file(METADATA) {
        Some(file) => Some(read_value(file.open()?, &file.shown)?),
        None => None,
    };
    let (mut trials, mut results): (Vec<&ForeignFile>, Option<&ForeignFile>) = (Vec::new(), None);
    for file in source.files.iter().filter(|file| !file.name.ends_with(METADATA)) {
        let peek = Peek::of(&file.path).map_err(|error| file.problem(format!("cannot be read: {error}")))?;
        if is_trial(&peek) {
            trials.push(file);
        } else if is_results(&peek) {
            results = Some(file);
        }
    }
    if trials.is_empty() && results.is_none() {
        return Err(Problem::in_file(&source.shown, "holds no results of a run").into());
    }
    let mut run = None;
    for file in trials {
        let trial: Trial = read_value(file.open()?, &file.shown)?;
        let Some(run) = open(&mut run, metadata.as_ref(), Some(&trial), results.is_none(), source, sink) else { return Ok(()) };
        run.take(&trial, &file.name, sink)?;
    }
    let mut stated = Results::default();
    if let Some(file) = results {
        let mut place = 0;
        stated = read_object(file.open()?, &file.shown, &RESULTS, "results", &mut |trial: Lenient<Trial>| {
            place += 1;
            let Some(trial) = trial.0 else { return Ok(()) };
            match open(&mut run, metadata.as_ref(), Some(&trial), false, source, sink) {
                Some(run) if !run.seen.contains(&trial_key(&trial)) => run.take(&trial, &format!("trial {place}"), sink),
                Some(_) | None => Ok(()),
            }
        })?;
        open(&mut run, metadata.as_ref(), None, false, source, sink);
    }
    if let Some(Some(run)) = run {
        run.end(metadata.as_ref(), &stated, sink);
    }
    Ok(())
}

/// Begins the run with the first trial, whose name has the run's id where nothing else says it. None where the run is there already.
fn open<'r>(
    run: &'r mut Option<Option<TrialRun>>,
    metadata: Option<&Metadata>,
    trial: Option<&Trial>,
    lacks_results: bool,
    source: &ForeignSource,
    sink: &mut Sink<'_>,
) -> Option<&'r mut TrialRun> {
    run.get_or_insert_with(|| TrialRun::begin(metadata, trial, lacks_results, source, sink)).as_mut()
}

/// What tells trials apart: their names are numbered, ids are random.
fn trial_key(trial: &Trial) -> String {
    text(&trial.trial_name).or_else(|| text(&trial.id)).unwrap_or_default()
}

/// A run whose trials pass by.
struct TrialRun {
    run: Handle,
    is_unfinished: bool,
    seen: BTreeSet<String>,
    /// By task, how many trials there were.
    trials: BTreeMap<String, u32>,
    /// A trial that was not judged counts as not resolved, as Terminal-Bench has it.
    resolved: Attempted,
    span: Span,
}

impl TrialRun {
    fn begin(
        metadata: Option<&Metadata>,
        trial: Option<&Trial>,
        lacks_results: bool,
        source: &ForeignSource,
        sink: &mut Sink<'_>,
    ) -> Option<Self> {
        let word = |value: &Value| text(value).filter(|text| !text.trim().is_empty());
        let named = trial.and_then(|trial| Some(numbered(&text(&trial.trial_name)?, &text(&trial.task_id)?)?.1));
        let id = metadata.and_then(|metadata| word(&metadata.run_id)).or(named).unwrap_or_else(|| source.name.clone());
        let uuid = metadata.and_then(|metadata| word(&metadata.uuid)).unwrap_or_default();
        let is_unfinished = lacks_results && metadata.is_some_and(|metadata| word(&metadata.end_time).is_none());
        let mut identity = vec![id.as_str()];
        if !uuid.is_empty() {
            identity.push(&uuid);
        }
        if is_unfinished {
            // The finished run is another import.
            identity.push("unfinished");
        }
        let suite = metadata.and_then(|metadata| word(&metadata.dataset_name)).unwrap_or_else(|| "terminal-bench".to_owned());
        let agent = metadata.and_then(|metadata| word(&metadata.agent_name)).unwrap_or_default();
        let model = metadata
            .and_then(|metadata| word(&metadata.model_name).or_else(|| word(metadata.agent_kwargs.get("model_name")?)))
            .unwrap_or_default();
        if metadata.is_none() {
            sink.quirk("without run_metadata.json agent and model are not known; --set can name them");
        } else if model.is_empty() {
            sink.quirk("the run names no model, as custom agents may");
        }
        let run = sink.begin_run(&identity, [&suite, &agent, &model])?;
        Some(Self {
            run,
            is_unfinished,
            seen: BTreeSet::new(),
            trials: BTreeMap::new(),
            resolved: Attempted::default(),
            span: Span::default(),
        })
    }

    fn take(&mut self, trial: &Trial, place: &str, sink: &mut Sink<'_>) -> Result<(), Stop> {
        let task = text(&trial.task_id).unwrap_or_default();
        if task.trim().is_empty() {
            sink.refuse(place, Refused::because("the trial names no task"));
            return Ok(());
        }
        self.seen.insert(trial_key(trial));
        self.span.take(&trial.trial_started_at, &trial.trial_ended_at);
        self.resolved.take(&task, f64::from(u8::from(trial.is_resolved == Value::Bool(true))));
        let trials = self.trials.entry(task.clone()).or_default();
        *trials += 1;
        let attempt = text(&trial.trial_name).and_then(|name| numbered(&name, &task)).map_or(*trials, |(attempt, _)| attempt);

        let mode = text(&trial.failure_mode).filter(|mode| !matches!(mode.as_str(), "" | "unset" | "none"));
        if trial.is_resolved == Value::Bool(true) && mode.is_some() {
            sink.quirk("resolved trials with a failure: resolved is what passes");
        }
        let mut outcome = sink.outcome(self.run, &task, status(&trial.is_resolved, mode.as_deref()));
        EVALUATOR.clone_into(&mut outcome.evaluator);
        outcome.attempt = attempt;
        outcome.duration_seconds =
            seconds(&trial.agent_started_at, &trial.agent_ended_at).or_else(|| seconds(&trial.trial_started_at, &trial.trial_ended_at));
        // Agents that do not count tokens have 0 here.
        let tokens = |value: &Value, sink: &mut Sink<'_>| match count(value) {
            Some(0) => {
                sink.quirk("0 tokens are read as not counted");
                None
            }
            counted => counted,
        };
        outcome.input_tokens = tokens(&trial.total_input_tokens, sink);
        outcome.output_tokens = tokens(&trial.total_output_tokens, sink);
        let question = text(&trial.instruction).filter(|text| !text.trim().is_empty());
        let (passed_share, failed) = tests(&trial.parser_results);
        let details = ItemDetails {
            reason: mode.or(failed.filter(|_| trial.is_resolved != Value::Bool(true))),
            item_hash: question.as_deref().map(|question| hex_digest(&[question.trim().as_bytes()], false)[..32].to_owned()),
            question,
            scores: passed_share.map(|share| ("tests_passed".to_owned(), share)).into_iter().collect(),
            ..ItemDetails::default()
        };
        sink.item(self.run, place, outcome, details)
    }

    fn end(self, metadata: Option<&Metadata>, stated: &Results, sink: &mut Sink<'_>) {
        let record = sink.run(self.run);
        if self.is_unfinished {
            record.status = RunStatus::Cancelled;
            record.error = Some("the run was not finished".to_owned());
        }
        let mut span = self.span;
        if let Some(metadata) = metadata {
            let mut whole = Span::default();
            whole.take(&metadata.start_time, &metadata.end_time);
            span = if text(&metadata.end_time).is_some() { whole } else { span };
            record.suite_version = text(&metadata.dataset_version);
            record.agent = text(&metadata.agent_name);
            record.git = text(&metadata.commit_hash).filter(|commit| !matches!(commit.as_str(), "" | "unknown")).map(|rev| Git {
                rev,
                branch: None,
                dirty: false,
            });
        }
        span.tell(record);
        let own = |of: fn(&Metadata) -> &Value| metadata.map_or(&Value::Null, of);
        let either = |value: &'_ Value, other: &'_ Value| if value.is_null() { other.clone() } else { value.clone() };
        if let Some(accuracy) = number(&either(&stated.accuracy, own(|metadata| &metadata.accuracy))) {
            sink.stated(self.run, "accuracy", accuracy, Unit::Fraction, self.resolved.mean(), None);
        }
        if let Some(resolved) = count(&stated.n_resolved) {
            sink.stated(self.run, "n_resolved", resolved as f64, Unit::Count, Some(self.resolved.sum()), None);
        }
        let pass_at = either(&stated.pass_at_k, own(|metadata| &metadata.pass_at_k));
        for (k, value) in pass_at.as_object().into_iter().flatten() {
            let recomputed = k.parse().ok().and_then(|k| self.resolved.pass_at(k));
            if let Some(value) = number(value) {
                sink.stated(self.run, &format!("pass@{k}"), value, Unit::Fraction, recomputed, None);
            }
        }
    }
}

/// How a trial ended: what resolves passes, whatever the failure.
fn status(is_resolved: &Value, mode: Option<&str>) -> ItemStatus {
    if *is_resolved == Value::Bool(true) {
        return ItemStatus::Pass;
    }
    match mode {
        // Tests that run out of time wait for what the agent made.
        Some("agent_timeout" | "test_timeout" | "context_length_exceeded" | "output_length_exceeded") => ItemStatus::Limit,
        Some("agent_installation_failed") => ItemStatus::Infra,
        Some("unknown_agent_error" | "fatal_llm_parse_error" | "unknown") => ItemStatus::Error,
        Some(_) | None if is_resolved.is_boolean() => ItemStatus::Fail,
        Some(_) | None => ItemStatus::NotEvaluated,
    }
}

/// Reads the number of the attempt, and the run's id, off a trial's name: `<task>.<k>-of-<n>.<run>`.
fn numbered(name: &str, task: &str) -> Option<(u32, String)> {
    let (number, rest) = name.strip_prefix(task)?.strip_prefix('.')?.split_once("-of-")?;
    let run = rest.split_once('.').map(|(_, run)| run.to_owned()).unwrap_or_default();
    Some((number.parse().ok().filter(|number| *number > 0)?, run)).filter(|_| rest.starts_with(|first: char| first.is_ascii_digit()))
}

/// The share of a trial's tests that passed, and which failed.
fn tests(results: &Value) -> (Option<f64>, Option<String>) {
    let Some(tests) = results.as_object().filter(|tests| !tests.is_empty()) else { return (None, None) };
    let failed: Vec<&str> = tests.iter().filter(|(_, result)| *result != "passed").map(|(name, _)| name.as_str()).collect();
    let share = (tests.len() - failed.len()) as f64 / tests.len() as f64;
    let shown = failed.iter().take(MOST_FAILED_SHOWN).copied().collect::<Vec<_>>().join(", ");
    let more = if failed.len() > MOST_FAILED_SHOWN { ", …" } else { "" };
    (Some(share), (!failed.is_empty()).then(|| format!("{} of {} tests failed: {shown}{more}", failed.len(), tests.len())))
}

#[cfg(test)]
mod unit_tests {
    use super::*;

    #[test]
    fn names_number_the_attempts() {
        let run = |id: &str| id.to_owned();
        assert_eq!(numbered("hello.world.2-of-5.2025-06-01__10-00", "hello.world"), Some((2, run("2025-06-01__10-00"))));
        assert_eq!(numbered("hello.1-of-1", "hello"), Some((1, run(""))));
        for name in ["hello", "hello.x-of-2", "other.1-of-1", "hello.0-of-1", "hello.1-of-"] {
            assert_eq!(numbered(name, "hello"), None, "{name}");
        }
    }

    #[test]
    fn failures_say_whose_fault_it_was() {
        let (no, unjudged) = (Value::Bool(false), Value::Null);
        for (resolved, mode, expected) in [
            (&Value::Bool(true), Some("agent_timeout"), ItemStatus::Pass),
            (&no, None, ItemStatus::Fail),
            (&no, Some("agent_timeout"), ItemStatus::Limit),
            (&unjudged, Some("test_timeout"), ItemStatus::Limit),
            (&no, Some("parse_error"), ItemStatus::Fail),
            (&unjudged, Some("parse_error"), ItemStatus::NotEvaluated),
            (&unjudged, None, ItemStatus::NotEvaluated),
            (&no, Some("unknown_agent_error"), ItemStatus::Error),
            (&unjudged, Some("agent_installation_failed"), ItemStatus::Infra),
        ] {
            assert_eq!(status(resolved, mode), expected, "{resolved} {mode:?}");
        }
    }
}
