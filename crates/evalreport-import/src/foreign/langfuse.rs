//! Langfuse: scores as its API returns them page by page, in version 2 and 3, and as its pages export them: an object with `data`, a list,
//! or one score per line. Pages in one folder are one source.
//!
//! Scores of one dataset run, or of one trace name, are a run. An item is a trace, or one of its observations if no trace is scored.
//! Observations beside scored traces are steps of the items, so they are checks. Files are read twice, because that has to be known first. Only
//! yes-or-no scores can pass: no threshold is known for numbers.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use serde::Deserialize;
use serde_json::Value;

use crate::domain::{Direction, ItemDetails, ItemKind, ItemStatus, ScoreRecord, Unit};

use super::super::cell::Refused;
use super::super::rows::ReadStop;
use super::attempts::AttemptNumbers;
use super::claim::Claim;
use super::format::FormatFacts;
use super::importer::FormatImporter;
use super::json::{Lenient, to_count, to_filled_text, to_number};
use super::json_reader::{read_lines_to_cut, read_list, read_object};
use super::peek::{ContentKind, Peek};
use super::running_mean::RunningMean;
use super::sink::{ImportSink, RunHandle, RunMoment};
use super::source::{ForeignFile, ForeignFileGroup};
use super::times::TimeSpan;

pub(super) const FORMAT: FormatImporter = FormatImporter::new(
    FormatFacts {
        name: "langfuse",
        title: "Langfuse",
        kind: ItemKind::Question,
        reads_names: false,
        version: 4,
    },
    claim_file,
    read_source,
);

const PAGE_KEY: &str = "data";
const SUITE: &str = "langfuse";
/// Labels that mean yes or no.
const YES_LABELS: [&str; 6] = ["pass", "passed", "true", "yes", "correct", "1"];
const NO_LABELS: [&str; 6] = ["fail", "failed", "false", "no", "incorrect", "0"];

fn claim_file(peek: &Peek) -> Option<Claim> {
    let is_score = |below: &str| {
        let has = |key: &str| peek.has(&format!("{below}{key}"));
        let targets = [
            "traceId",
            "sessionId",
            "datasetRunId",
            "subject",
            "subject.kind",
        ];
        has("name") && has("dataType") && has("source") && targets.iter().any(|key| has(key))
    };
    let page = format!("{PAGE_KEY}[].");
    // Version 3 gives the scored object only if it is asked for.
    let is_page = is_score(&page)
        || ["id", "projectId", "dataType", "source"]
            .iter()
            .all(|key| peek.has(&format!("{page}{key}")));
    let is_ours = peek.content == ContentKind::Json
        && (is_page || ["", "[]."].iter().any(|below| is_score(below)));
    let folder = peek
        .path
        .parent()
        .filter(|folder| !folder.as_os_str().is_empty())
        .map_or_else(|| PathBuf::from("."), PathBuf::from);
    is_ours.then_some(if is_page {
        Claim::PartOf(folder)
    } else {
        Claim::Alone
    })
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct LangfuseScore {
    id: Value,
    name: Value,
    value: Value,
    string_value: Value,
    data_type: Value,
    source: Value,
    comment: Value,
    timestamp: Value,
    trace_id: Value,
    observation_id: Value,
    session_id: Value,
    dataset_run_id: Value,
    /// What is scored, in version 3 of the API: its `kind` and `id`, and an observation's `traceId`.
    subject: Value,
    trace_name: Value,
    trace: Value,
    environment: Value,
}

impl LangfuseScore {
    /// Writes the scored object of version 3 as that of version 2.
    fn with_target(mut self) -> Self {
        let Value::Object(subject) = &self.subject else {
            return self;
        };
        let of = |key: &str| subject.get(key).cloned().unwrap_or_default();
        match subject.get("kind").and_then(Value::as_str) {
            Some("trace") => self.trace_id = of("id"),
            Some("observation") => (self.trace_id, self.observation_id) = (of("traceId"), of("id")),
            Some("session") => self.session_id = of("id"),
            Some("experiment") => self.dataset_run_id = of("id"),
            _ => {}
        }
        self
    }

    /// Returns the number, unless it is the code of a category or stands beside a text.
    fn numeric_value(&self) -> Option<f64> {
        match self.data_type.as_str() {
            Some("CATEGORICAL" | "TEXT" | "CORRECTION") => None,
            _ => to_number(&self.value)
                .or_else(|| self.value.as_bool().map(|yes| if yes { 1.0 } else { 0.0 })),
        }
    }

    /// Returns the environment, unless it is the one that everybody has.
    fn environment(&self) -> Option<String> {
        to_filled_text(&self.environment).filter(|environment| environment != "default")
    }

    fn trace_name(&self) -> Option<String> {
        to_filled_text(&self.trace_name).or_else(|| self.trace.get("name").and_then(to_filled_text))
    }

    /// Returns the key of the run within the source: the environment with the dataset run, or else the trace's name.
    fn run_key(&self) -> (String, String) {
        let named = to_filled_text(&self.dataset_run_id).or_else(|| self.trace_name());
        (
            self.environment().unwrap_or_default(),
            named.unwrap_or_default(),
        )
    }

    /// Returns the evaluator: the score's name and, unless the API was told it, its source.
    fn evaluator_name(&self, name: &str) -> String {
        match to_filled_text(&self.source).as_deref() {
            None | Some("API") => name.to_owned(),
            Some(source) => format!("{name} ({})", source.to_lowercase()),
        }
    }
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct LangfusePage {
    meta: Value,
}

/// Totals of the scores of one run.
#[derive(Default)]
struct ScoreRunTally {
    /// `None` if the run is stored already.
    run: Option<RunHandle>,
    span: TimeSpan,
    /// The numeric values by score name.
    numbers: BTreeMap<String, RunningMean>,
    attempts: AttemptNumbers,
}

#[derive(Default)]
struct LangfuseImporter {
    tallies: BTreeMap<(String, String), ScoreRunTally>,
    /// The runs with scores of whole traces.
    runs_of_traces: BTreeSet<(String, String)>,
    /// Ids of the scores. Pages that were asked for while scores came in repeat some.
    ids: BTreeSet<String>,
    scores: u64,
    /// The number of scores that the pages state.
    total: Option<u64>,
    first: Option<RunHandle>,
}

fn read_source(source: &ForeignFileGroup, sink: &mut ImportSink<'_>) -> Result<(), ReadStop> {
    let mut reading = LangfuseImporter::default();
    for file in &source.files {
        read_scores(file, &mut |_, score| {
            if let Ok(score) = score
                && to_filled_text(&score.trace_id).is_some()
                && to_filled_text(&score.observation_id).is_none()
            {
                reading.runs_of_traces.insert(score.run_key());
            }
            Ok(())
        })?;
    }
    for file in &source.files {
        // Messages begin with the file's name if there are several.
        let name = if source.files.len() > 1 {
            format!("{}, ", file.shown)
        } else {
            String::new()
        };
        let total = read_scores(file, &mut |place, score| {
            let place = format!("{name}{place}");
            match score {
                Ok(score) => reading.add_score(&score, &place, sink),
                Err(why) => {
                    sink.refuse_part(&place, why);
                    Ok(())
                }
            }
        })?;
        reading.total = reading.total.max(total);
    }
    reading.finish_runs(sink);
    Ok(())
}

type OnScore<'a> = dyn FnMut(&str, Result<LangfuseScore, Refused>) -> Result<(), ReadStop> + 'a;

/// Calls `each` with every score and its place in the file. Returns the number of scores that the page states, if it is a page.
fn read_scores(file: &ForeignFile, each: &mut OnScore<'_>) -> Result<Option<u64>, ReadStop> {
    let peek = Peek::from_source_file(file)?;
    let mut number = 0;
    let mut read = |line: usize, score: Result<Lenient<LangfuseScore>, Refused>| match score {
        Ok(score) => {
            number += 1;
            let score = score.0.map(LangfuseScore::with_target);
            each(
                &format!("score {number}"),
                score.ok_or_else(|| Refused::new("the score is no object")),
            )
        }
        Err(why) => each(&format!("line {line}"), Err(why)),
    };
    if peek.has(PAGE_KEY) && !peek.is_lines {
        let page: LangfusePage = read_object(
            file.open()?,
            &file.shown,
            &["meta"],
            PAGE_KEY,
            &mut |score| read(0, Ok(score)),
        )?;
        return Ok(page.meta.get("totalItems").and_then(to_count));
    }
    if peek.is_lines || peek.head.trim_ascii_start().first() == Some(&b'{') {
        read_lines_to_cut(file.open()?, &file.shown, &mut read)?;
    } else {
        read_list(file.open()?, &file.shown, &mut |score| read(0, Ok(score)))?;
    }
    Ok(None)
}

impl LangfuseImporter {
    fn add_score(
        &mut self,
        score: &LangfuseScore,
        place: &str,
        sink: &mut ImportSink<'_>,
    ) -> Result<(), ReadStop> {
        let Some(name) = to_filled_text(&score.name) else {
            sink.refuse_part(place, Refused::new("the score has no name"));
            return Ok(());
        };
        let scored = [&score.trace_id, &score.session_id, &score.dataset_run_id]
            .into_iter()
            .find_map(to_filled_text);
        let Some(scored) = scored else {
            let why = "the score does not say what is scored; version 3 of the API needs fields=subject,details";
            sink.refuse_part(place, Refused::new(why));
            return Ok(());
        };
        if to_filled_text(&score.id).is_some_and(|id| !self.ids.insert(id)) {
            sink.note_quirk("a repeated score counts once: the first one");
            return Ok(());
        }
        self.scores += 1;
        let evaluator = score.evaluator_name(&name);
        let key = score.run_key();
        if !self.tallies.contains_key(&key) {
            let (trace_name, of_run) = (score.trace_name(), to_filled_text(&score.dataset_run_id));
            let (environment, named) = &key;
            let (identity, arm) = (
                [environment.as_str(), named],
                [
                    trace_name.as_deref().unwrap_or(SUITE),
                    of_run.as_deref().unwrap_or(environment),
                    "",
                ],
            );
            let run = match &of_run {
                Some(_) => sink.begin_run(&identity, arm),
                None => sink.begin_run_of_bytes(&identity, arm, RunMoment::Unread),
            };
            self.first = self.first.or(run);
            self.tallies.insert(
                key.clone(),
                ScoreRunTally {
                    run,
                    ..ScoreRunTally::default()
                },
            );
        }
        let Some(tally) = self.tallies.get_mut(&key) else {
            return Ok(());
        };
        tally.span.add_times(&score.timestamp, &Value::Null);
        if to_filled_text(&score.trace_id).is_none() {
            // A score of a session or of a whole dataset run is a figure of the run.
            if let Some(value) = score.numeric_value() {
                tally.numbers.entry(evaluator).or_default().add(value);
            }
            sink.note_quirk(
                "scores of sessions and dataset runs count in the run's means, not as outcomes",
            );
            return Ok(());
        }
        let item = to_filled_text(&score.observation_id).map_or_else(
            || scored.clone(),
            |observation| format!("{scored}/{observation}"),
        );
        let status = score_status(score);
        if status == ItemStatus::Skipped {
            sink.note_quirk("numbers and labels without a passing mark are kept as scores, outside of the pass rate");
        }
        let is_step = item != scored && self.runs_of_traces.contains(&key);
        if is_step {
            sink.note_quirk(
                "scores of observations beside scores of traces are checks, outside of the pass rate",
            );
        }
        if let Some(value) = score
            .numeric_value()
            .filter(|_| status == ItemStatus::Skipped)
        {
            let metric = if is_step {
                format!("{evaluator} of observations")
            } else {
                evaluator.clone()
            };
            tally.numbers.entry(metric).or_default().add(value);
        }
        let Some(run) = tally.run else { return Ok(()) };
        let attempt = tally.attempts.next_attempt(&item, &evaluator);
        if attempt > 1 {
            sink.note_quirk("repeated scores of one name in a trace are attempts");
        }
        let mut outcome = sink.new_outcome(run, &item, status);
        if is_step {
            outcome.kind = ItemKind::Check;
        }
        outcome.evaluator = evaluator;
        outcome.attempt = attempt;
        outcome.score = score.numeric_value();
        outcome.cluster = to_filled_text(&score.session_id)
            .or_else(|| Some(scored).filter(|scored| *scored != item));
        let label =
            to_filled_text(&score.string_value).or_else(|| score.value.as_str().map(str::to_owned));
        let details = ItemDetails {
            reason: to_filled_text(&score.comment),
            answer: label,
            ..ItemDetails::default()
        };
        let named = to_filled_text(&score.id)
            .map_or_else(|| place.to_owned(), |id| format!("{place}, {id}"));
        sink.add_outcome(run, &named, outcome, details)
    }

    fn finish_runs(self, sink: &mut ImportSink<'_>) {
        for tally in self.tallies.values() {
            let Some(run) = tally.run else { continue };
            let record = sink.run_mut(run);
            tally.span.set_run_times(record);
            // The time between the first and the last score is not the agent's working time.
            record.duration_seconds = None;
            for (name, numbers) in &tally.numbers {
                let Some(mean) = numbers.mean() else { continue };
                record.scores.push(ScoreRecord {
                    standard_error: numbers.standard_error(),
                    n: Some(numbers.n()),
                    // Only the evaluator knows which direction is better.
                    ..ScoreRecord::new(name.clone(), mean, Unit::Number, Direction::None)
                });
            }
        }
        if let (Some(total), Some(run)) = (self.total, self.first) {
            if total > self.scores {
                sink.note_quirk(&format!(
                    "the file has {} of {total} scores: pages are missing",
                    self.scores
                ));
                sink.run_mut(run).tags.insert(
                    "truncated".to_owned(),
                    format!("{} of {total} scores", self.scores),
                );
            }
            sink.add_published_figure(
                run,
                "totalItems",
                total as f64,
                Unit::Count,
                Some(self.scores as f64),
                None,
            );
        }
    }
}

/// Returns the status of the scored trace: skipped if the score does not say yes or no.
fn score_status(score: &LangfuseScore) -> ItemStatus {
    let is_boolean = score.data_type == "BOOLEAN";
    let label = to_filled_text(&score.string_value)
        .or_else(|| score.value.as_str().map(str::to_owned))
        .map(|label| label.trim().to_lowercase());
    let of_label = |label: &str| match label {
        label if YES_LABELS.contains(&label) => Some(true),
        label if NO_LABELS.contains(&label) => Some(false),
        _ => None,
    };
    let by_label = label
        .as_deref()
        .filter(|_| is_boolean || score.data_type == "CATEGORICAL")
        .and_then(of_label);
    let by_number = to_number(&score.value)
        .filter(|_| is_boolean)
        .map(|value| value > 0.0);
    let by_word = score.value.as_bool().filter(|_| is_boolean);
    match by_label.or(by_word).or(by_number) {
        Some(true) => ItemStatus::Pass,
        Some(false) => ItemStatus::Fail,
        None => ItemStatus::Skipped,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn only_what_says_yes_or_no_has_passed() {
        let of = |value: Value| score_status(&serde_json::from_value(value).expect("a score"));
        assert_eq!(
            of(json!({"dataType": "BOOLEAN", "value": 1, "stringValue": "True"})),
            ItemStatus::Pass
        );
        assert_eq!(
            of(json!({"dataType": "BOOLEAN", "value": 0})),
            ItemStatus::Fail
        );
        assert_eq!(
            of(json!({"dataType": "CATEGORICAL", "stringValue": "Correct"})),
            ItemStatus::Pass
        );
        assert_eq!(
            of(json!({"dataType": "CATEGORICAL", "value": "partially correct"})),
            ItemStatus::Skipped
        );
        assert_eq!(
            of(json!({"dataType": "NUMERIC", "value": 1})),
            ItemStatus::Skipped
        );
        assert_eq!(
            of(json!({"dataType": "BOOLEAN", "value": true})),
            ItemStatus::Pass
        );
    }

    #[test]
    fn the_scored_object_of_version_3_is_that_of_version_2() {
        let of = |value: Value| {
            serde_json::from_value::<LangfuseScore>(value)
                .expect("a score")
                .with_target()
        };
        let observation =
            of(json!({"subject": {"kind": "observation", "id": "o", "traceId": "t"}}));
        assert_eq!(
            (
                to_filled_text(&observation.trace_id).as_deref(),
                to_filled_text(&observation.observation_id).as_deref()
            ),
            (Some("t"), Some("o"))
        );
        assert_eq!(
            to_filled_text(
                &of(json!({"subject": {"kind": "experiment", "id": "e"}})).dataset_run_id
            )
            .as_deref(),
            Some("e")
        );
        assert_eq!(
            of(json!({"dataType": "CORRECTION", "value": 0})).numeric_value(),
            None
        );
    }
}
