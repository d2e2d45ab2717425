//! Langfuse: scores as its API returns them page by page and as its pages export them: an object with `data`, a list, or one score per
//! line.
//!
//! Scores of one dataset run, or of one trace name, are a run. An item is a trace or one of its observations. Only yes-or-no scores can
//! pass: no threshold is known for numbers.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::Value;

use crate::domain::{Direction, ItemDetails, ItemKind, ItemStatus, Problem, ScoreRecord, Unit};

use super::super::cell::Refused;
use super::super::rows::Stop;
use super::claim::Claim;
use super::elements::read_list;
use super::format::Facts;
use super::importer::Format;
use super::json::{Lenient, count, filled, number, read_lines_to_cut, read_object};
use super::moments::Moments;
use super::peek::{Content, Peek};
use super::sink::{Handle, Moment, Sink};
use super::source::ForeignSource;
use super::times::Span;

pub(super) const FORMAT: Format =
    Format::new(Facts { name: "langfuse", title: "Langfuse", kind: ItemKind::Question, reads_names: false, version: 2 }, claim, read);

const PAGE: &str = "data";
const SUITE: &str = "langfuse";
/// Labels that mean yes or no.
const YES: [&str; 6] = ["pass", "passed", "true", "yes", "correct", "1"];
const NO: [&str; 6] = ["fail", "failed", "false", "no", "incorrect", "0"];

fn claim(peek: &Peek) -> Option<Claim> {
    let is_score = |below: &str| {
        let has = |key: &str| peek.has(&format!("{below}{key}"));
        has("name") && has("dataType") && has("source") && ["traceId", "sessionId", "datasetRunId"].iter().any(|key| has(key))
    };
    let is_ours = [String::new(), "[].".to_owned(), format!("{PAGE}[].")].iter().any(|below| is_score(below));
    (peek.content == Content::Json && is_ours).then_some(Claim::Alone)
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Score {
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
    trace_name: Value,
    trace: Value,
    environment: Value,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Page {
    meta: Value,
}

/// Totals of the scores of one run.
#[derive(Default)]
struct Tally {
    /// `None` if the run is stored already.
    run: Option<Handle>,
    span: Span,
    /// The numeric values by score name.
    numbers: BTreeMap<String, Moments>,
    attempts: BTreeMap<(String, String), u32>,
}

#[derive(Default)]
struct Reading {
    tallies: BTreeMap<String, Tally>,
    scores: u64,
    first: Option<Handle>,
}

fn read(source: &ForeignSource, sink: &mut Sink<'_>) -> Result<(), Stop> {
    let [file] = source.files.as_slice() else {
        return Err(Problem::in_file(&source.shown, "is not one export").into());
    };
    let peek = Peek::at(file)?;
    let mut reading = Reading::default();
    let mut place = 0;
    let mut take = |score: Lenient<Score>, sink: &mut Sink<'_>| {
        place += 1;
        match score.0 {
            Some(score) => reading.take(&score, &format!("score {place}"), sink),
            None => {
                sink.refuse(&format!("score {place}"), Refused::because("the score is no object"));
                Ok(())
            }
        }
    };
    let mut total = None;
    if peek.has(PAGE) && !peek.is_lines {
        let page: Page = read_object(file.open()?, &file.shown, &["meta"], PAGE, &mut |score| take(score, sink))?;
        total = page.meta.get("totalItems").and_then(count);
    } else if peek.is_lines || peek.head.trim_ascii_start().first() == Some(&b'{') {
        read_lines_to_cut(file.open()?, &file.shown, &mut |number, score: Result<Lenient<Score>, Refused>| match score {
            Ok(score) => take(score, sink),
            Err(why) => {
                sink.refuse(&format!("line {number}"), why);
                Ok(())
            }
        })?;
    } else {
        read_list(file.open()?, &file.shown, &mut |score| take(score, sink))?;
    }
    reading.end(total, sink);
    Ok(())
}

impl Reading {
    fn take(&mut self, score: &Score, place: &str, sink: &mut Sink<'_>) -> Result<(), Stop> {
        let Some(name) = filled(&score.name) else {
            sink.refuse(place, Refused::because("the score has no name"));
            return Ok(());
        };
        let scored = [&score.trace_id, &score.session_id, &score.dataset_run_id].into_iter().find_map(filled);
        let Some(scored) = scored else {
            sink.refuse(place, Refused::because("the score does not say what is scored"));
            return Ok(());
        };
        self.scores += 1;
        let trace_name = filled(&score.trace_name).or_else(|| score.trace.get("name").and_then(filled));
        let of_run = filled(&score.dataset_run_id);
        let named = of_run.clone().or_else(|| trace_name.clone()).unwrap_or_default();
        let environment = filled(&score.environment).filter(|environment| environment != "default");
        let key = format!("{}/{named}", environment.clone().unwrap_or_default());
        if !self.tallies.contains_key(&key) {
            let suite = trace_name.as_deref().unwrap_or(SUITE);
            let approach = of_run.as_deref().or(environment.as_deref()).unwrap_or_default();
            let (identity, arm) = ([environment.as_deref().unwrap_or_default(), &named], [suite, approach, ""]);
            let run = match &of_run {
                Some(_) => sink.begin_run(&identity, arm),
                None => sink.begin_run_of_bytes(&identity, arm, Moment::Unread),
            };
            self.first = self.first.or(run);
            self.tallies.insert(key.clone(), Tally { run, ..Tally::default() });
        }
        let Some(tally) = self.tallies.get_mut(&key) else { return Ok(()) };
        tally.span.take(&score.timestamp, &Value::Null);
        if filled(&score.trace_id).is_none() {
            // A score of a session or of a whole dataset run is a figure of the run.
            if let Some(value) = number(&score.value) {
                tally.numbers.entry(name).or_default().add(value);
            }
            sink.quirk("scores of sessions and dataset runs are means of the run, and no outcomes");
            return Ok(());
        }
        let item = filled(&score.observation_id).map_or_else(|| scored.clone(), |observation| format!("{scored}/{observation}"));
        let status = status(score);
        if status == ItemStatus::Skipped {
            sink.quirk("numbers and labels without a mark that passes: kept as scores, outside of pass rates");
        }
        if let Some(value) = number(&score.value).filter(|_| status == ItemStatus::Skipped) {
            tally.numbers.entry(name.clone()).or_default().add(value);
        }
        let Some(run) = tally.run else { return Ok(()) };
        let evaluator = match filled(&score.source).as_deref() {
            None | Some("API") => name,
            Some(source) => format!("{name} ({})", source.to_lowercase()),
        };
        let attempt = tally.attempts.entry((evaluator.clone(), item.clone())).or_default();
        *attempt += 1;
        if *attempt > 1 {
            sink.quirk("scores of one name that a trace has several times are so many attempts");
        }
        let mut outcome = sink.outcome(run, &item, status);
        outcome.evaluator = evaluator;
        outcome.attempt = *attempt;
        outcome.score = number(&score.value);
        outcome.cluster = filled(&score.session_id).or_else(|| Some(scored).filter(|scored| *scored != item));
        let label = filled(&score.string_value).or_else(|| score.value.as_str().map(str::to_owned));
        let details = ItemDetails { reason: filled(&score.comment), answer: label, ..ItemDetails::default() };
        let named = filled(&score.id).map_or_else(|| place.to_owned(), |id| format!("{place}, {id}"));
        sink.item(run, &named, outcome, details)
    }

    fn end(self, total: Option<u64>, sink: &mut Sink<'_>) {
        for tally in self.tallies.values() {
            let Some(run) = tally.run else { continue };
            let record = sink.run(run);
            tally.span.tell(record);
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
        if let (Some(total), Some(run)) = (total, self.first) {
            if total > self.scores {
                sink.quirk(&format!("{} of {total} scores are there: the file is one page of several", self.scores));
                sink.run(run).tags.insert("truncated".to_owned(), format!("{} of {total} scores in the file", self.scores));
            }
            sink.stated(run, "totalItems", total as f64, Unit::Count, Some(self.scores as f64), None);
        }
    }
}

/// Returns the status of the scored trace: skipped if the score does not say yes or no.
fn status(score: &Score) -> ItemStatus {
    let is_boolean = score.data_type == "BOOLEAN";
    let label = filled(&score.string_value).or_else(|| score.value.as_str().map(str::to_owned)).map(|label| label.trim().to_lowercase());
    let of_label = |label: &str| match label {
        label if YES.contains(&label) => Some(true),
        label if NO.contains(&label) => Some(false),
        _ => None,
    };
    let by_label = label.as_deref().filter(|_| is_boolean || score.data_type == "CATEGORICAL").and_then(of_label);
    let by_number = number(&score.value).filter(|_| is_boolean).map(|value| value > 0.0);
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
        let of = |value: Value| status(&serde_json::from_value(value).expect("a score"));
        assert_eq!(of(json!({"dataType": "BOOLEAN", "value": 1, "stringValue": "True"})), ItemStatus::Pass);
        assert_eq!(of(json!({"dataType": "BOOLEAN", "value": 0})), ItemStatus::Fail);
        assert_eq!(of(json!({"dataType": "CATEGORICAL", "stringValue": "Correct"})), ItemStatus::Pass);
        assert_eq!(of(json!({"dataType": "CATEGORICAL", "value": "partially correct"})), ItemStatus::Skipped);
        assert_eq!(of(json!({"dataType": "NUMERIC", "value": 1})), ItemStatus::Skipped);
    }
}
