//! Evalite's JSON: one file of `evalite --outputPath`. Each evaluation in it is a run, and each of its results an item.
//!
//! Source: `exportResultsToJSON` of evalite. Evalite has scores and no verdicts. Scores of 0 and 1 are grades, others are outside of the
//! pass rate.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::Value;

use crate::domain::{Direction, ItemDetails, ItemKind, ItemStatus, Problem, RunStatus, Unit};

use super::super::cell::Refused;
use super::super::rows::ReadStop;
use super::attempts::{AttemptNumbers, AttemptValues};
use super::claim::Claim;
use super::format::FormatFacts;
use super::importer::FormatImporter;
use super::json::{Lenient, ObjectList, to_amount, to_count, to_filled_text, to_number, to_text};
use super::json_reader::read_object;
use super::peek::{ContentKind, Peek};
use super::sink::{ImportSink, RunHandle, RunMoment};
use super::source::{ForeignFileGroup, strip_ending};
use super::times::read_time;

pub(super) const FORMAT: FormatImporter = FormatImporter::new(
    FormatFacts {
        name: "evalite",
        title: "Evalite",
        kind: ItemKind::Question,
        reads_names: true,
        version: 1,
    },
    claim_file,
    read_source,
);

const EVALS: &str = "evals";
/// Evaluator of a result: all its scorers together.
const RESULT_EVALUATOR: &str = "all scorers";
const AVERAGE: &str = "averageScore";
const SECONDS: f64 = 1e-3;

fn claim_file(peek: &Peek) -> Option<Claim> {
    let is_ours = peek.has(EVALS)
        && (peek.has("run.runType") || peek.has_all(&["evals[].results", "evals[].averageScore"]));
    (peek.content == ContentKind::Json && !peek.is_lines && is_ours).then_some(Claim::Alone)
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct EvaliteEval {
    name: Value,
    status: Value,
    duration: Value,
    variant_name: Value,
    variant_group: Value,
    created_at: Value,
    average_score: Value,
    results: ObjectList<EvaliteResult>,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct EvaliteResult {
    input: Value,
    output: Value,
    expected: Value,
    status: Value,
    duration: Value,
    scores: ObjectList<EvaliteScore>,
    traces: ObjectList<EvaliteTrace>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct EvaliteScore {
    name: Value,
    score: Value,
    metadata: Value,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct EvaliteTrace {
    input_tokens: Value,
    output_tokens: Value,
}

fn read_source(source: &ForeignFileGroup, sink: &mut ImportSink<'_>) -> Result<(), ReadStop> {
    let [file] = source.files.as_slice() else {
        return Err(Problem::in_file(&source.shown, "is not one export").into());
    };
    let stem = strip_ending(&source.name, ".json");
    let mut number = 0;
    read_object::<IgnoredAny, Lenient<EvaliteEval>>(
        file.open()?,
        &file.shown,
        &[],
        EVALS,
        &mut |eval| {
            number += 1;
            let place = format!("evaluation {number}");
            match eval.0 {
                Some(eval) => add_eval(&eval, stem, &place, sink),
                None => {
                    sink.refuse_part(&place, Refused::new("the evaluation is no object"));
                    Ok(())
                }
            }
        },
    )?;
    Ok(())
}

fn add_eval(
    eval: &EvaliteEval,
    stem: &str,
    place: &str,
    sink: &mut ImportSink<'_>,
) -> Result<(), ReadStop> {
    let name = to_filled_text(&eval.name).unwrap_or_default();
    let suite = to_filled_text(&eval.variant_group).unwrap_or_else(|| name.clone());
    let approach = to_filled_text(&eval.variant_name).unwrap_or_default();
    let ended = read_time(&eval.created_at);
    let begun = sink.begin_run_of_bytes(
        &[stem, &name],
        [&suite, &approach, ""],
        RunMoment::Said(ended),
    );
    let Some(run) = begun else {
        return Ok(());
    };
    let record = sink.run_mut(run);
    record.timestamp = ended;
    record.duration_seconds = to_amount(&eval.duration)
        .map(|time| time * SECONDS)
        .filter(|seconds| *seconds > 0.0);
    let mut reading = EvaliteRunImporter {
        run,
        are_grades: eval.are_grades(),
        attempts: AttemptNumbers::default(),
        scores: BTreeMap::new(),
        sum: 0.0,
        count: 0,
    };
    if !reading.are_grades {
        sink.note_quirk("scores other than 0 and 1 are kept as scores, outside of the pass rate");
    }
    for (number, result) in (1..).zip(&eval.results.0) {
        let place = format!("{place}, result {number}");
        match &result.0 {
            Some(result) => reading.add_result(result, &place, sink)?,
            None => sink.refuse_part(&place, Refused::new("the result is no object")),
        }
    }
    reading.finish_run(eval, sink);
    Ok(())
}

impl EvaliteEval {
    /// Returns whether every score says yes or no.
    #[expect(clippy::float_cmp, reason = "grades are exactly 0 and 1")]
    fn are_grades(&self) -> bool {
        let scores = self.results.iter().flat_map(|result| result.scores.iter());
        let mut values = scores
            .filter_map(|score| to_number(&score.score))
            .peekable();
        values.peek().is_some() && values.all(|value| value == 0.0 || value == 1.0)
    }
}

impl EvaliteResult {
    /// Returns the mean of the scores, or `None` if there are none or one is missing.
    fn mean(&self) -> Option<f64> {
        let scores: Option<Vec<f64>> = self
            .scores
            .iter()
            .map(|score| to_number(&score.score))
            .collect();
        let scores = scores.filter(|scores| !scores.is_empty())?;
        Some(scores.iter().sum::<f64>() / scores.len() as f64)
    }

    /// Returns the sum of a count over all calls of models, or `None` if a call has none.
    fn sum_tokens(&self, of: impl Fn(&EvaliteTrace) -> &Value) -> Option<u64> {
        let counts: Option<Vec<u64>> = self
            .traces
            .iter()
            .map(|trace| to_count(of(trace)))
            .collect();
        counts
            .filter(|counts| !counts.is_empty())?
            .into_iter()
            .try_fold(0_u64, u64::checked_add)
    }
}

/// Returns a text as it is, and any other value as JSON.
fn shown_value(value: &Value) -> Option<String> {
    match value {
        Value::Null => None,
        Value::Array(_) | Value::Object(_) => Some(value.to_string()),
        value => to_filled_text(value),
    }
}

/// State while results are stored.
struct EvaliteRunImporter {
    run: RunHandle,
    are_grades: bool,
    attempts: AttemptNumbers,
    /// Scores by scorer, and the results' averages.
    scores: BTreeMap<String, AttemptValues>,
    sum: f64,
    count: u64,
}

impl EvaliteRunImporter {
    fn add_result(
        &mut self,
        result: &EvaliteResult,
        place: &str,
        sink: &mut ImportSink<'_>,
    ) -> Result<(), ReadStop> {
        let Some(item) = shown_value(&result.input) else {
            sink.refuse_part(place, Refused::new("the result has no input"));
            return Ok(());
        };
        let mean = result.mean();
        let status = match to_text(&result.status).as_deref() {
            Some("fail") if self.are_grades => ItemStatus::Error,
            Some("success") | None => self.grade(mean),
            // If no score is a grade, nothing else of the evaluation counts in a pass rate, so a failure does not either.
            Some(_) => ItemStatus::NotEvaluated,
        };
        let attempt = self.attempts.next_attempt(&item, "");
        if attempt > 1 {
            sink.note_quirk("results of one input are attempts");
        }
        let mut outcome = sink.new_outcome(self.run, &item, status);
        RESULT_EVALUATOR.clone_into(&mut outcome.evaluator);
        outcome.attempt = attempt;
        outcome.score = mean;
        outcome.duration_seconds = to_amount(&result.duration).map(|time| time * SECONDS);
        outcome.input_tokens = result.sum_tokens(|trace| &trace.input_tokens);
        outcome.output_tokens = result.sum_tokens(|trace| &trace.output_tokens);
        let has_failed = result.status == "fail";
        let error = result.output.get("message").and_then(to_filled_text);
        let details = ItemDetails {
            reason: error.filter(|_| has_failed),
            question: Some(item.clone()),
            answer: shown_value(&result.output).filter(|_| !has_failed),
            expected: shown_value(&result.expected).into_iter().collect(),
            ..ItemDetails::default()
        };
        sink.add_outcome(self.run, place, outcome, details)?;
        if let Some(mean) = mean {
            let all = self.scores.entry(AVERAGE.to_owned()).or_default();
            all.add_value(&item, mean);
        }
        for score in result.scores.iter() {
            self.add_score(&item, score, place, sink)?;
        }
        Ok(())
    }

    fn add_score(
        &mut self,
        item: &str,
        score: &EvaliteScore,
        place: &str,
        sink: &mut ImportSink<'_>,
    ) -> Result<(), ReadStop> {
        let Some(name) = to_filled_text(&score.name) else {
            return Ok(());
        };
        let value = to_number(&score.score);
        let mut outcome = sink.new_outcome(self.run, item, self.grade(value));
        outcome.kind = ItemKind::Check;
        outcome.attempt = self.attempts.next_attempt(item, &name);
        outcome.score = value;
        let details = ItemDetails {
            reason: score.metadata.get("rationale").and_then(to_filled_text),
            ..ItemDetails::default()
        };
        if let Some(value) = value {
            self.sum += value;
            self.count += 1;
            let all = self.scores.entry(name.clone()).or_default();
            all.add_value(item, value);
        }
        let place = format!("{place}, {name}");
        outcome.evaluator = name;
        sink.add_outcome(self.run, &place, outcome, details)
    }

    /// Returns the status of a score, or of a mean of scores.
    fn grade(&self, value: Option<f64>) -> ItemStatus {
        match value {
            None => ItemStatus::NotEvaluated,
            Some(_) if !self.are_grades => ItemStatus::Skipped,
            Some(value) if value >= 1.0 => ItemStatus::Pass,
            Some(_) => ItemStatus::Fail,
        }
    }

    fn finish_run(&self, eval: &EvaliteEval, sink: &mut ImportSink<'_>) {
        for (metric, values) in &self.scores {
            let score = values.to_score(metric, Direction::Up, "evalite");
            sink.run_mut(self.run).scores.extend(score);
        }
        if eval.status == "running" {
            let record = sink.run_mut(self.run);
            record.status = RunStatus::Cancelled;
            record.error = Some("the evaluation had not ended".to_owned());
        }
        // Evalite's mean over all scores counts none of a result without scores, and says 0 if there is no score at all.
        if let Some(stated) = to_number(&eval.average_score).filter(|_| self.count > 0) {
            let recomputed = Some(self.sum / self.count as f64);
            sink.add_published_figure(self.run, AVERAGE, stated, Unit::Number, recomputed, None);
        }
    }
}
