//! The run that takes trials one by one.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::domain::{Direction, Git, ItemDetails, ItemStatus, RunStatus, ScoreRecord, Unit};

use super::super::super::cell::Refused;
use super::super::super::counts::part_of;
use super::super::super::rows::Stop;
use super::super::super::source::hex_digest;
use super::super::attempts::Attempted;
use super::super::json::{count, filled, number, text};
use super::super::sink::{Handle, Moment, Sink};
use super::super::source::ForeignSource;
use super::super::times::{Span, seconds};
use super::holdings::Holdings;
use super::trial_name::numbered;
use super::wire::{Metadata, Results, Trial};

const EVALUATOR: &str = "tests";
const MOST_FAILED_SHOWN: usize = 10;

/// State of the run that takes the trials.
pub(super) enum Opened {
    NotYet,
    /// The run is stored already.
    Before,
    Now(Box<TrialRun>),
}

/// Facts for beginning the run.
pub(super) struct Opening<'a> {
    pub metadata: Option<&'a Metadata>,
    pub lacks_results: bool,
    pub holdings: Holdings,
    pub source: &'a ForeignSource,
    pub run: Opened,
}

impl Opening<'_> {
    /// Begins the run with the first trial, whose name may be the only source of the run's id. Returns `None` if the run is stored already.
    pub fn open(&mut self, trial: Option<&Trial>, sink: &mut Sink<'_>) -> Option<&mut TrialRun> {
        if matches!(self.run, Opened::NotYet) {
            self.run = TrialRun::begin(self, trial, sink)
                .map_or(Opened::Before, |run| Opened::Now(Box::new(run)));
        }
        match &mut self.run {
            Opened::Now(run) => Some(run),
            Opened::NotYet | Opened::Before => None,
        }
    }
}

/// A run while its trials are read.
pub(super) struct TrialRun {
    run: Handle,
    is_unfinished: bool,
    holdings: Holdings,
    seen: BTreeSet<String>,
    /// Number of trials by task.
    trials: BTreeMap<String, u32>,
    /// As in Terminal-Bench, a trial that was not judged counts as not resolved.
    resolved: Attempted,
    /// Numbers of judged trials, and of resolved ones among them.
    judged: [u64; 2],
    span: Span,
}

impl TrialRun {
    fn begin(opening: &Opening<'_>, trial: Option<&Trial>, sink: &mut Sink<'_>) -> Option<Self> {
        let Opening {
            metadata,
            lacks_results,
            holdings,
            source,
            ..
        } = opening;
        let named = trial
            .and_then(|trial| Some(numbered(&text(&trial.trial_name)?, &text(&trial.task_id)?)?.1));
        let own = metadata
            .and_then(|metadata| filled(&metadata.run_id))
            .or(named.filter(|named| !named.is_empty()));
        let id = own.clone().unwrap_or_else(|| source.name.clone());
        let uuid = metadata
            .and_then(|metadata| filled(&metadata.uuid))
            .unwrap_or_default();
        let is_unfinished =
            *lacks_results && metadata.is_some_and(|metadata| filled(&metadata.end_time).is_none());
        let mut identity = vec![id.as_str()];
        if !uuid.is_empty() {
            identity.push(&uuid);
        }
        if is_unfinished {
            // The finished run is a separate import.
            identity.push("unfinished");
        }
        let suite = metadata
            .and_then(|metadata| filled(&metadata.dataset_name))
            .unwrap_or_else(|| "terminal-bench".to_owned());
        let agent = metadata
            .and_then(|metadata| filled(&metadata.agent_name))
            .unwrap_or_default();
        let model = metadata
            .and_then(|metadata| {
                filled(&metadata.model_name)
                    .or_else(|| filled(metadata.agent_kwargs.get("model_name")?))
            })
            .unwrap_or_default();
        if let Some(submission) = submission(source, &id) {
            sink.origin(submission);
        }
        if metadata.is_none() {
            sink.quirk(
                "`run_metadata.json` is missing: agent and model are unknown; name them with --set",
            );
        } else if model.is_empty() {
            sink.quirk("the run names no model: custom agents need not");
        }
        let arm = [suite.as_str(), &agent, &model];
        let run = if own.is_some() {
            sink.begin_run(&identity, arm)
        } else {
            sink.begin_run_of_bytes(&identity, arm, Moment::Unread)
        }?;
        Some(Self {
            run,
            is_unfinished,
            holdings: *holdings,
            seen: BTreeSet::new(),
            trials: BTreeMap::new(),
            resolved: Attempted::default(),
            judged: [0; 2],
            span: Span::default(),
        })
    }

    pub fn has_seen(&self, trial: &Trial) -> bool {
        self.seen.contains(&trial.key())
    }

    pub fn take(&mut self, trial: &Trial, place: &str, sink: &mut Sink<'_>) -> Result<(), Stop> {
        let task = text(&trial.task_id).unwrap_or_default();
        if task.trim().is_empty() {
            sink.refuse(place, Refused::because("the trial names no task"));
            return Ok(());
        }
        self.seen.insert(trial.key());
        self.span
            .take(&trial.trial_started_at, &trial.trial_ended_at);
        self.resolved.take(
            &task,
            f64::from(u8::from(trial.is_resolved == Value::Bool(true))),
        );
        if let Value::Bool(is_resolved) = trial.is_resolved {
            self.judged[0] += 1;
            self.judged[1] += u64::from(is_resolved);
        }
        let trials = self.trials.entry(task.clone()).or_default();
        *trials += 1;
        if self.holdings.part.is_some() {
            return Ok(());
        }
        let attempt = text(&trial.trial_name)
            .and_then(|name| numbered(&name, &task))
            .map_or(*trials, |(attempt, _)| attempt);

        let mode = text(&trial.failure_mode)
            .filter(|mode| !matches!(mode.as_str(), "" | "unset" | "none"));
        if trial.is_resolved == Value::Bool(true) && mode.is_some() {
            sink.quirk("resolved trials with a failure mode pass");
        }
        let mut outcome =
            sink.outcome(self.run, &task, status(&trial.is_resolved, mode.as_deref()));
        EVALUATOR.clone_into(&mut outcome.evaluator);
        outcome.attempt = attempt;
        outcome.duration_seconds = seconds(&trial.agent_started_at, &trial.agent_ended_at)
            .or_else(|| seconds(&trial.trial_started_at, &trial.trial_ended_at));
        // Agents that do not count tokens report 0.
        let tokens = |value: &Value, sink: &mut Sink<'_>| match count(value) {
            Some(0) => {
                sink.quirk("0 tokens is read as not counted");
                None
            }
            counted => counted,
        };
        outcome.input_tokens = tokens(&trial.total_input_tokens, sink);
        outcome.output_tokens = tokens(&trial.total_output_tokens, sink);
        let question = filled(&trial.instruction);
        let (passed_share, failed) = tests(&trial.parser_results);
        let details = ItemDetails {
            reason: mode
                .or_else(|| (!trial.is_resolved.is_boolean()).then(|| "not judged".to_owned()))
                .or(failed.filter(|_| trial.is_resolved != Value::Bool(true))),
            item_hash: question
                .as_deref()
                .map(|question| hex_digest(&[question.trim().as_bytes()], false)[..32].to_owned()),
            question,
            scores: passed_share
                .map(|share| ("tests_passed".to_owned(), share))
                .into_iter()
                .collect(),
            ..ItemDetails::default()
        };
        sink.item(self.run, place, outcome, details)
    }

    pub fn end(self, metadata: Option<&Metadata>, stated: &Results, sink: &mut Sink<'_>) {
        let record = sink.run(self.run);
        if self.is_unfinished {
            record.status = RunStatus::Cancelled;
            record.error = Some("the run was not finished".to_owned());
        } else if self.holdings.damaged > 0 && self.holdings.part.is_none() {
            record.status = RunStatus::Failed;
            let results = self.seen.len() as u64 + self.holdings.damaged;
            record.error = Some(format!(
                "{} of the run's {results} results cannot be read",
                self.holdings.damaged
            ));
        }
        let mut span = self.span;
        if let Some(metadata) = metadata {
            let mut whole = Span::default();
            whole.take(&metadata.start_time, &metadata.end_time);
            span = if text(&metadata.end_time).is_some() {
                whole
            } else {
                span
            };
            record.suite_version = text(&metadata.dataset_version);
            record.agent = text(&metadata.agent_name);
            record.git = text(&metadata.commit_hash)
                .filter(|commit| !matches!(commit.as_str(), "" | "unknown"))
                .map(|rev| Git {
                    rev,
                    branch: None,
                    dirty: false,
                });
        }
        span.tell(record);
        let own = |of: fn(&Metadata) -> &Value| metadata.map_or(&Value::Null, of);
        // A run writes an empty object for a missing value.
        let is_nothing = |value: &Value| {
            value.is_null() || value.as_object().is_some_and(serde_json::Map::is_empty)
        };
        let either = |value: &'_ Value, other: &'_ Value| {
            if is_nothing(value) {
                other.clone()
            } else {
                value.clone()
            }
        };
        let accuracy = number(&either(
            &stated.accuracy,
            own(|metadata| &metadata.accuracy),
        ));
        let is_whole = self.holdings.part.is_none() && self.holdings.damaged == 0;
        if let Some(accuracy) = accuracy {
            sink.stated(
                self.run,
                "accuracy",
                accuracy,
                Unit::Fraction,
                self.resolved.mean().filter(|_| is_whole),
                None,
            );
        }
        if let Some(resolved) = count(&stated.n_resolved) {
            sink.stated(
                self.run,
                "n_resolved",
                resolved as f64,
                Unit::Count,
                Some(self.resolved.sum()).filter(|_| is_whole),
                None,
            );
        }
        let [judged, resolved] = self.judged;
        if is_whole && judged > 0 && judged < self.seen.len() as u64 {
            sink.run(self.run).scores.push(score(
                "resolved_of_judged",
                resolved as f64 / judged as f64,
                Some(judged),
            ));
        }
        if let (Some((there, total)), Some(accuracy)) = (self.holdings.part, accuracy) {
            self.stand_by(there, total, accuracy, sink);
        }
        let pass_at = either(&stated.pass_at_k, own(|metadata| &metadata.pass_at_k));
        for (k, value) in pass_at.as_object().into_iter().flatten() {
            let recomputed = k
                .parse()
                .ok()
                .filter(|_| is_whole)
                .and_then(|k| self.resolved.pass_at(k));
            if let Some(value) = number(value) {
                sink.stated(
                    self.run,
                    &format!("pass@{k}"),
                    value,
                    Unit::Fraction,
                    recomputed,
                    None,
                );
            }
        }
    }

    /// Takes the published accuracy as the run's result, because some of its trials are missing.
    fn stand_by(&self, there: u64, total: Option<u64>, accuracy: f64, sink: &mut Sink<'_>) {
        let there = match total {
            Some(total) => format!("{there} of {total} trials"),
            None => format!("{there} of more trials"),
        };
        sink.quirk(&format!(
            "{there} are present: the run's published figures count, and cannot be recomputed"
        ));
        let passed = total.and_then(|total| Some((part_of(accuracy, total)?, total)));
        let record = sink.run(self.run);
        record
            .tags
            .insert("truncated".to_owned(), format!("{there} in the folder"));
        match passed {
            Some((passed, total)) => {
                (record.shared_tests_passed, record.shared_tests_total) =
                    (Some(passed), Some(total))
            }
            None => record.scores.push(score("accuracy", accuracy, total)),
        }
    }
}

fn score(metric: &str, value: f64, n: Option<u64>) -> ScoreRecord {
    ScoreRecord {
        n,
        evaluator: Some(EVALUATOR.to_owned()),
        ..ScoreRecord::new(metric, value, Unit::Fraction, Direction::Up)
    }
}

/// Returns the submission's folder: the nearest one whose name does not contain the run's id.
fn submission(source: &ForeignSource, id: &str) -> Option<PathBuf> {
    let is_named_otherwise = |path: &&Path| {
        path.file_name()
            .and_then(|name| name.to_str())
            .is_some_and(|name| !name.contains(id))
    };
    Path::new(&source.shown)
        .ancestors()
        .find(is_named_otherwise)
        .map(Path::to_owned)
}

/// Returns a trial's status. As in Terminal-Bench, a resolved trial passes despite any failure, and every other trial counts as not
/// resolved.
fn status(is_resolved: &Value, mode: Option<&str>) -> ItemStatus {
    if *is_resolved == Value::Bool(true) {
        return ItemStatus::Pass;
    }
    match mode {
        // A timeout of the tests waits for the agent's program.
        Some(
            "agent_timeout" | "test_timeout" | "context_length_exceeded" | "output_length_exceeded",
        ) => ItemStatus::Limit,
        Some(
            "agent_installation_failed"
            | "unknown_agent_error"
            | "fatal_llm_parse_error"
            | "unknown",
        ) => ItemStatus::Error,
        Some(_) | None => ItemStatus::Fail,
    }
}

/// Returns the share of passed tests, and a text with the failed ones.
fn tests(results: &Value) -> (Option<f64>, Option<String>) {
    let Some(tests) = results.as_object().filter(|tests| !tests.is_empty()) else {
        return (None, None);
    };
    let failed: Vec<&str> = tests
        .iter()
        .filter(|(_, result)| *result != "passed")
        .map(|(name, _)| name.as_str())
        .collect();
    let share = (tests.len() - failed.len()) as f64 / tests.len() as f64;
    let shown = failed
        .iter()
        .take(MOST_FAILED_SHOWN)
        .copied()
        .collect::<Vec<_>>()
        .join(", ");
    let more = if failed.len() > MOST_FAILED_SHOWN {
        ", …"
    } else {
        ""
    };
    (
        Some(share),
        (!failed.is_empty()).then(|| {
            format!(
                "{} of {} tests failed: {shown}{more}",
                failed.len(),
                tests.len()
            )
        }),
    )
}

#[cfg(test)]
mod unit_tests {
    use super::*;

    #[test]
    fn failures_say_whose_fault_it_was() {
        let (no, unjudged) = (Value::Bool(false), Value::Null);
        for (resolved, mode, expected) in [
            (&Value::Bool(true), Some("agent_timeout"), ItemStatus::Pass),
            (&no, None, ItemStatus::Fail),
            (&no, Some("agent_timeout"), ItemStatus::Limit),
            (&unjudged, Some("test_timeout"), ItemStatus::Limit),
            (&no, Some("parse_error"), ItemStatus::Fail),
            (&unjudged, Some("parse_error"), ItemStatus::Fail),
            (&unjudged, None, ItemStatus::Fail),
            (&no, Some("unknown_agent_error"), ItemStatus::Error),
            (
                &unjudged,
                Some("agent_installation_failed"),
                ItemStatus::Error,
            ),
        ] {
            assert_eq!(status(resolved, mode), expected, "{resolved} {mode:?}");
        }
    }
}
