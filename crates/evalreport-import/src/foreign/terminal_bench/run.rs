//! The run that takes trials one by one.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::domain::{Direction, Git, ItemDetails, ItemStatus, RunStatus, ScoreRecord, Unit};

use super::super::super::cell::Refused;
use super::super::super::counts::count_from_share;
use super::super::super::rows::ReadStop;
use super::super::super::source::hex_digest;
use super::super::attempts::AttemptValues;
use super::super::json::{to_count, to_filled_text, to_number, to_text};
use super::super::sink::{ImportSink, RunHandle, RunMoment};
use super::super::source::ForeignFileGroup;
use super::super::times::{TimeSpan, seconds_between};
use super::holdings::TrialCoverage;
use super::trial_name::parse_trial_name;
use super::wire::{RunMetadataFile, RunResultsFile, TrialRecord};

const EVALUATOR: &str = "tests";
const MAX_FAILED_SHOWN: usize = 10;

/// State of the run that takes the trials.
pub(super) enum TrialRunState {
    NotYet,
    /// The run is stored already.
    Before,
    Now(Box<TrialRun>),
}

/// Facts for beginning the run.
pub(super) struct TrialRunOpener<'a> {
    pub metadata: Option<&'a RunMetadataFile>,
    pub lacks_results: bool,
    pub holdings: TrialCoverage,
    pub source: &'a ForeignFileGroup,
    pub run: TrialRunState,
}

impl TrialRunOpener<'_> {
    /// Begins the run with the first trial, whose name may be the only source of the run's id. Returns `None` if the run is stored already.
    pub fn get_or_begin(
        &mut self,
        trial: Option<&TrialRecord>,
        sink: &mut ImportSink<'_>,
    ) -> Option<&mut TrialRun> {
        if matches!(self.run, TrialRunState::NotYet) {
            self.run = TrialRun::from_first_trial(self, trial, sink)
                .map_or(TrialRunState::Before, |run| {
                    TrialRunState::Now(Box::new(run))
                });
        }
        match &mut self.run {
            TrialRunState::Now(run) => Some(run),
            TrialRunState::NotYet | TrialRunState::Before => None,
        }
    }
}

/// A run while its trials are read.
pub(super) struct TrialRun {
    run: RunHandle,
    is_unfinished: bool,
    holdings: TrialCoverage,
    seen: BTreeSet<String>,
    /// Number of trials by task.
    trials: BTreeMap<String, u32>,
    /// As in Terminal-Bench, a trial that was not judged counts as not resolved.
    resolved: AttemptValues,
    /// Numbers of judged trials, and of resolved ones among them.
    judged: [u64; 2],
    span: TimeSpan,
}

impl TrialRun {
    fn from_first_trial(
        opening: &TrialRunOpener<'_>,
        trial: Option<&TrialRecord>,
        sink: &mut ImportSink<'_>,
    ) -> Option<Self> {
        let TrialRunOpener {
            metadata,
            lacks_results,
            holdings,
            source,
            ..
        } = opening;
        let named = trial.and_then(|trial| {
            Some(parse_trial_name(&to_text(&trial.trial_name)?, &to_text(&trial.task_id)?)?.1)
        });
        let own = metadata
            .and_then(|metadata| to_filled_text(&metadata.run_id))
            .or(named.filter(|named| !named.is_empty()));
        let id = own.clone().unwrap_or_else(|| source.name.clone());
        let uuid = metadata
            .and_then(|metadata| to_filled_text(&metadata.uuid))
            .unwrap_or_default();
        let is_unfinished = *lacks_results
            && metadata.is_some_and(|metadata| to_filled_text(&metadata.end_time).is_none());
        let mut identity = vec![id.as_str()];
        if !uuid.is_empty() {
            identity.push(&uuid);
        }
        if is_unfinished {
            // The finished run is a separate import.
            identity.push("unfinished");
        }
        let suite = metadata
            .and_then(|metadata| to_filled_text(&metadata.dataset_name))
            .unwrap_or_else(|| "terminal-bench".to_owned());
        let agent = metadata
            .and_then(|metadata| to_filled_text(&metadata.agent_name))
            .unwrap_or_default();
        let model = metadata
            .and_then(|metadata| {
                to_filled_text(&metadata.model_name)
                    .or_else(|| to_filled_text(metadata.agent_kwargs.get("model_name")?))
            })
            .unwrap_or_default();
        if let Some(submission) = submission_folder(source, &id) {
            sink.set_origin_folder(submission);
        }
        if metadata.is_none() {
            sink.note_quirk(
                "`run_metadata.json` is missing: agent and model are unknown; name them with --set",
            );
        } else if model.is_empty() {
            sink.note_quirk("the run names no model: custom agents need not");
        }
        let arm = [suite.as_str(), &agent, &model];
        let run = if own.is_some() {
            sink.begin_run(&identity, arm)
        } else {
            sink.begin_run_of_bytes(&identity, arm, RunMoment::Unread)
        }?;
        Some(Self {
            run,
            is_unfinished,
            holdings: *holdings,
            seen: BTreeSet::new(),
            trials: BTreeMap::new(),
            resolved: AttemptValues::default(),
            judged: [0; 2],
            span: TimeSpan::default(),
        })
    }

    pub fn has_seen(&self, trial: &TrialRecord) -> bool {
        self.seen.contains(&trial.key())
    }

    pub fn add_trial(
        &mut self,
        trial: &TrialRecord,
        place: &str,
        sink: &mut ImportSink<'_>,
    ) -> Result<(), ReadStop> {
        let task = to_text(&trial.task_id).unwrap_or_default();
        if task.trim().is_empty() {
            sink.refuse_part(place, Refused::new("the trial names no task"));
            return Ok(());
        }
        self.seen.insert(trial.key());
        self.span
            .add_times(&trial.trial_started_at, &trial.trial_ended_at);
        self.resolved.add_value(
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
        let attempt = to_text(&trial.trial_name)
            .and_then(|name| parse_trial_name(&name, &task))
            .map_or(*trials, |(attempt, _)| attempt);

        let mode = to_text(&trial.failure_mode)
            .filter(|mode| !matches!(mode.as_str(), "" | "unset" | "none"));
        if trial.is_resolved == Value::Bool(true) && mode.is_some() {
            sink.note_quirk("resolved trials with a failure mode pass");
        }
        let mut outcome = sink.new_outcome(
            self.run,
            &task,
            trial_status(&trial.is_resolved, mode.as_deref()),
        );
        EVALUATOR.clone_into(&mut outcome.evaluator);
        outcome.attempt = attempt;
        outcome.duration_seconds = seconds_between(&trial.agent_started_at, &trial.agent_ended_at)
            .or_else(|| seconds_between(&trial.trial_started_at, &trial.trial_ended_at));
        // Agents that do not count tokens report 0.
        let tokens = |value: &Value, sink: &mut ImportSink<'_>| match to_count(value) {
            Some(0) => {
                sink.note_quirk("0 tokens is read as not counted");
                None
            }
            counted => counted,
        };
        outcome.input_tokens = tokens(&trial.total_input_tokens, sink);
        outcome.output_tokens = tokens(&trial.total_output_tokens, sink);
        let question = to_filled_text(&trial.instruction);
        let (passed_share, failed) = summarise_tests(&trial.parser_results);
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
        sink.add_outcome(self.run, place, outcome, details)
    }

    pub fn finish(
        self,
        metadata: Option<&RunMetadataFile>,
        stated: &RunResultsFile,
        sink: &mut ImportSink<'_>,
    ) {
        let record = sink.run_mut(self.run);
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
            let mut whole = TimeSpan::default();
            whole.add_times(&metadata.start_time, &metadata.end_time);
            span = if to_text(&metadata.end_time).is_some() {
                whole
            } else {
                span
            };
            record.suite_version = to_text(&metadata.dataset_version);
            record.agent = to_text(&metadata.agent_name);
            record.git = to_text(&metadata.commit_hash)
                .filter(|commit| !matches!(commit.as_str(), "" | "unknown"))
                .map(|rev| Git {
                    rev,
                    branch: None,
                    dirty: false,
                });
        }
        span.set_run_times(record);
        let own = |of: fn(&RunMetadataFile) -> &Value| metadata.map_or(&Value::Null, of);
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
        let accuracy = to_number(&either(
            &stated.accuracy,
            own(|metadata| &metadata.accuracy),
        ));
        let is_whole = self.holdings.part.is_none() && self.holdings.damaged == 0;
        if let Some(accuracy) = accuracy {
            sink.add_published_figure(
                self.run,
                "accuracy",
                accuracy,
                Unit::Fraction,
                self.resolved.mean().filter(|_| is_whole),
                None,
            );
        }
        if let Some(resolved) = to_count(&stated.n_resolved) {
            sink.add_published_figure(
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
            sink.run_mut(self.run).scores.push(fraction_score(
                "resolved_of_judged",
                resolved as f64 / judged as f64,
                Some(judged),
            ));
        }
        if let (Some((there, total)), Some(accuracy)) = (self.holdings.part, accuracy) {
            self.use_published_accuracy(there, total, accuracy, sink);
        }
        let pass_at = either(&stated.pass_at_k, own(|metadata| &metadata.pass_at_k));
        for (k, value) in pass_at.as_object().into_iter().flatten() {
            let recomputed = k
                .parse()
                .ok()
                .filter(|_| is_whole)
                .and_then(|k| self.resolved.pass_at(k));
            if let Some(value) = to_number(value) {
                sink.add_published_figure(
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
    fn use_published_accuracy(
        &self,
        there: u64,
        total: Option<u64>,
        accuracy: f64,
        sink: &mut ImportSink<'_>,
    ) {
        let there = match total {
            Some(total) => format!("{there} of {total} trials"),
            None => format!("{there} of more trials"),
        };
        sink.note_quirk(&format!(
            "{there} are present: the run's published figures count, and cannot be recomputed"
        ));
        let passed = total.and_then(|total| Some((count_from_share(accuracy, total)?, total)));
        let record = sink.run_mut(self.run);
        record
            .tags
            .insert("truncated".to_owned(), format!("{there} in the folder"));
        match passed {
            Some((passed, total)) => {
                (record.shared_tests_passed, record.shared_tests_total) =
                    (Some(passed), Some(total));
            }
            None => record
                .scores
                .push(fraction_score("accuracy", accuracy, total)),
        }
    }
}

fn fraction_score(metric: &str, value: f64, n: Option<u64>) -> ScoreRecord {
    ScoreRecord {
        n,
        evaluator: Some(EVALUATOR.to_owned()),
        ..ScoreRecord::new(metric, value, Unit::Fraction, Direction::Up)
    }
}

/// Returns the submission's folder: the nearest one whose name does not contain the run's id.
fn submission_folder(source: &ForeignFileGroup, id: &str) -> Option<PathBuf> {
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
fn trial_status(is_resolved: &Value, mode: Option<&str>) -> ItemStatus {
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
fn summarise_tests(results: &Value) -> (Option<f64>, Option<String>) {
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
        .take(MAX_FAILED_SHOWN)
        .copied()
        .collect::<Vec<_>>()
        .join(", ");
    let more = if failed.len() > MAX_FAILED_SHOWN {
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
            assert_eq!(
                trial_status(resolved, mode),
                expected,
                "{resolved} {mode:?}"
            );
        }
    }
}
