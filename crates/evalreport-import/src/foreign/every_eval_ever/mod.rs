//! Every Eval Ever: records of evaluations as a public collection keeps them, each with a file of samples beside it.
//!
//! Each evaluation of a record is a run, and its results are scores. Samples belong to one result each. The samples of the first result
//! that has any are the run's questions, and their mean is compared with the published score. The format has neither costs nor numbers of
//! attempts.

mod wire;

use std::collections::BTreeMap;
use std::path::Path;

use chrono::{DateTime, Utc};
use serde_json::Value;

use crate::domain::{
    Direction, ItemKind, ItemStatus, MODEL_SETTING_PREFIX, Problem, Resources, ScoreRecord,
    StatedFigure, Unit,
};

use super::super::cell::{Refused, count_decimals, parse_date_time};
use super::super::rows::ReadStop;
use super::claim::Claim;
use super::format::FormatFacts;
use super::importer::FormatImporter;
use super::json::{to_amount, to_count, to_filled_text, to_text};
use super::json_reader::{read_lines, read_value};
use super::peek::{ContentKind, Peek};
use super::running_mean::{RunningMean, passed_from_share};
use super::sink::{ImportSink, RunHandle, clip_text};
use super::source::{ForeignFile, ForeignFileGroup};
use super::system_settings::setting_tags;
use super::times::time_from_unix_seconds;
use wire::{EvaluationRecord, RecordSample, ResultEntry};

const MAX_RECORD_BYTES: u64 = 256 << 20;

pub(super) const FORMAT: FormatImporter = FormatImporter::new(
    FormatFacts {
        name: "every-eval-ever",
        title: "Every Eval Ever",
        kind: ItemKind::Question,
        reads_names: false,
        version: 7,
    },
    claim_file,
    read_source,
);

fn claim_file(peek: &Peek) -> Option<Claim> {
    if peek.content != ContentKind::Json || !(is_record(peek) || is_samples(peek)) {
        return None;
    }
    let name = peek
        .name
        .strip_suffix(".gz")
        .or_else(|| peek.name.strip_suffix(".zst"))
        .unwrap_or(&peek.name);
    let stem = name
        .strip_suffix(".jsonl")
        .or_else(|| name.strip_suffix(".json"))
        .unwrap_or(name);
    let stem = stem.strip_suffix("_samples").unwrap_or(stem);
    Some(Claim::PartOf(
        peek.path.parent().unwrap_or(Path::new("")).join(stem),
    ))
}

fn is_record(peek: &Peek) -> bool {
    !peek.is_lines && peek.has_all(&["schema_version", "evaluation_id", "evaluation_results"])
}

fn is_samples(peek: &Peek) -> bool {
    peek.has_all(&["evaluation_id", "evaluation_name", "sample_id"])
}

fn read_source(source: &ForeignFileGroup, sink: &mut ImportSink<'_>) -> Result<(), ReadStop> {
    let (mut record, mut samples): (Option<EvaluationRecord>, Vec<&ForeignFile>) =
        (None, Vec::new());
    for file in &source.files {
        if Peek::from_path(&file.path).is_ok_and(|peek| is_samples(&peek)) {
            samples.push(file);
        } else if record.is_some() {
            sink.refuse_part(&file.name, Refused::new("a second record of one name"));
        } else {
            record = Some(read_value(
                file.read_bytes(MAX_RECORD_BYTES)?.as_slice(),
                &file.shown,
            )?);
        }
    }
    let Some(record) = record else {
        return Err(Problem::in_file(
            &source.shown,
            "has samples without the record that they belong to",
        )
        .into());
    };
    if record
        .evaluation_results
        .iter()
        .all(|result| result.0.is_none())
    {
        return Err(Problem::in_file(&source.shown, "holds no results of evaluations").into());
    }
    if let Some(version) = to_text(&record.schema_version) {
        sink.note_version(&format!("schema {version}"));
    }
    let mut evaluations: Vec<RecordEvaluation<'_>> = Vec::new();
    let mut places = ResultIndex::default();
    for result in record
        .evaluation_results
        .iter()
        .filter_map(|result| result.0.as_ref())
    {
        let name = result.name();
        let place = *places.by_name.entry(name.clone()).or_insert_with(|| {
            evaluations.push(RecordEvaluation {
                name,
                results: Vec::new(),
                attempts: BTreeMap::new(),
            });
            evaluations.len() - 1
        });
        if let Some(id) = to_text(&result.evaluation_result_id) {
            places
                .by_id
                .entry(id)
                .or_insert((place, evaluations[place].results.len()));
        }
        evaluations[place].results.push(ResultSamples::new(result));
    }

    let mut rows = 0_u64;
    for file in &samples {
        read_samples(file, &mut |_, sample| {
            rows += 1;
            let Ok(sample) = sample else { return Ok(()) };
            if let Some((evaluation, result)) = places.find_result(&sample) {
                evaluations[evaluation].results[result].add_sample(&sample);
            }
            Ok(())
        })?;
    }
    let total = record
        .detailed_evaluation_results
        .get("total_rows")
        .and_then(to_count);
    let is_truncated = total.is_some_and(|total| total > rows);
    if is_truncated && rows > 0 {
        sink.note_quirk(&format!(
            "{rows} of {} samples are in the file: the published figures count, and cannot be recomputed",
            total.unwrap_or(0)
        ));
    }
    let mut runs = Vec::new();
    for evaluation in &evaluations {
        runs.push(begin_run(&record, evaluation, sink));
    }
    if !is_truncated {
        for file in &samples {
            add_samples(file, &mut evaluations, &places, &runs, sink)?;
        }
    }
    for (evaluation, run) in evaluations.iter().zip(runs) {
        if let Some(run) = run {
            add_scores(evaluation, run, !is_truncated, sink);
        }
    }
    Ok(())
}

/// The results of one evaluation: one run.
struct RecordEvaluation<'r> {
    name: String,
    results: Vec<ResultSamples<'r>>,
    /// Number of attempts so far, by sample.
    attempts: BTreeMap<String, u32>,
}

/// A result with the sums of its samples.
struct ResultSamples<'r> {
    result: &'r ResultEntry,
    values: RunningMean,
    rows: u64,
    /// Samples whose score is the level `unknown`.
    unknown: u64,
}

impl<'r> ResultSamples<'r> {
    fn new(result: &'r ResultEntry) -> Self {
        Self {
            result,
            values: RunningMean::default(),
            rows: 0,
            unknown: 0,
        }
    }

    fn add_sample(&mut self, sample: &RecordSample) {
        self.rows += 1;
        match sample.score() {
            Some(score) if self.result.is_unknown(score) => self.unknown += 1,
            Some(score) => self.values.add(score),
            None => {}
        }
    }
}

impl RecordEvaluation<'_> {
    /// Returns the result whose samples are the run's questions.
    fn deciding_result(&self) -> Option<usize> {
        self.results.iter().position(|scored| scored.rows > 0)
    }
}

fn read_samples(
    file: &ForeignFile,
    each: &mut dyn FnMut(usize, Result<RecordSample, Refused>) -> Result<(), ReadStop>,
) -> Result<(), ReadStop> {
    read_lines(file.open()?, &file.shown, each)
}

/// Indexes of evaluations and their results.
#[derive(Default)]
struct ResultIndex {
    by_name: BTreeMap<String, usize>,
    by_id: BTreeMap<String, (usize, usize)>,
}

impl ResultIndex {
    /// Finds the result of a sample by its id, else takes the first result of the evaluation that it names.
    fn find_result(&self, sample: &RecordSample) -> Option<(usize, usize)> {
        let by_id =
            to_text(&sample.evaluation_result_id).and_then(|id| self.by_id.get(&id).copied());
        by_id.or_else(|| Some((*self.by_name.get(&to_text(&sample.evaluation_name)?)?, 0)))
    }
}

fn begin_run(
    record: &EvaluationRecord,
    evaluation: &RecordEvaluation<'_>,
    sink: &mut ImportSink<'_>,
) -> Option<RunHandle> {
    let first = evaluation.results.first()?.result;
    let word = |value: Option<&Value>| value.and_then(to_filled_text);
    let id = word(Some(&record.evaluation_id));
    let model = word(record.model_info.get("id"))
        .or_else(|| word(record.model_info.get("name")))
        .unwrap_or_default();
    let library = word(record.eval_library.get("name")).filter(|name| name != "unknown");
    let run = sink.begin_run_with(
        id.as_deref(),
        &[&evaluation.name],
        [
            &evaluation.name,
            &approach_name(record, first, library.as_deref()),
            &model,
        ],
    )?;
    let when = |value: &Value| -> Option<DateTime<Utc>> {
        let said = to_text(value)?;
        match said.trim().parse::<f64>() {
            Ok(seconds) => time_from_unix_seconds(seconds),
            Err(_) => parse_date_time("time", said.trim()).ok(),
        }
    };
    let version = word(record.eval_library.get("version")).filter(|version| version != "unknown");
    let arguments = first.generation_config.get("generation_args");
    let argument = |key: &str| word(arguments.and_then(|arguments| arguments.get(key)));
    let limit =
        |key: &str| word(arguments.and_then(|arguments| arguments.get("eval_limits")?.get(key)));
    let mut judges: Vec<String> = evaluation
        .results
        .iter()
        .flat_map(|scored| scored.result.judge_models())
        .collect();
    judges.sort_unstable();
    judges.dedup();
    let facts = [
        (
            "source",
            word(record.source_metadata.get("source_name"))
                .or_else(|| word(record.source_metadata.get("source_organization_name"))),
        ),
        (
            "relationship",
            word(record.source_metadata.get("evaluator_relationship")),
        ),
        (
            "library",
            library.map(|library| {
                version.map_or(library.clone(), |version| format!("{library} {version}"))
            }),
        ),
        ("dataset", word(first.source_data.get("dataset_name"))),
        ("judge", Some(judges.join(", "))),
        ("temperature", argument("temperature")),
        ("max_tokens", argument("max_tokens")),
        ("time_limit", limit("time_limit")),
        ("message_limit", limit("message_limit")),
        ("token_limit", limit("token_limit")),
    ];
    let record_of = sink.run_mut(run);
    let provider =
        word(record.model_info.get("inference_platform")).filter(|platform| platform != "unknown");
    record_of.resources = provider.map(|provider| Resources {
        provider: Some(clip_text(&provider, 200).into_owned()),
        ..Resources::default()
    });
    record_of.timestamp =
        when(&first.evaluation_timestamp).or_else(|| when(&record.evaluation_timestamp));
    let known = [
        "top_p",
        "top_k",
        "reasoning",
        "reasoning_effort",
        "prompt_template",
    ];
    let settings = known.into_iter().filter_map(|setting| {
        let argument = arguments?.get(setting)?;
        Some((setting.to_owned(), argument.clone()))
    });
    record_of.tags.extend(setting_tags(
        MODEL_SETTING_PREFIX,
        &Value::Object(settings.collect()),
    ));
    for (key, fact) in facts {
        if let Some(fact) = fact.filter(|fact| !fact.is_empty()) {
            record_of
                .tags
                .insert(key.to_owned(), clip_text(&fact, 500).into_owned());
        }
    }
    Some(run)
}

/// Returns the approach as far as a record tells: a name in one of its free-form parts, else the plan of solvers, else the library.
fn approach_name(record: &EvaluationRecord, result: &ResultEntry, library: Option<&str>) -> String {
    let named = [
        &result.generation_config,
        &record.eval_library,
        &record.model_info,
        &record.source_metadata,
    ]
    .into_iter()
    .find_map(|place| to_text(place.get("additional_details")?.get("approach")?));
    let plan = || {
        to_text(
            result
                .generation_config
                .get("generation_args")?
                .get("eval_plan")?
                .get("name")?,
        )
    };
    named
        .or_else(plan)
        .or_else(|| library.map(str::to_owned))
        .unwrap_or_default()
}

fn add_samples(
    file: &ForeignFile,
    evaluations: &mut [RecordEvaluation<'_>],
    places: &ResultIndex,
    runs: &[Option<RunHandle>],
    sink: &mut ImportSink<'_>,
) -> Result<(), ReadStop> {
    read_samples(file, &mut |line, sample| {
        let place = format!("{}, line {line}", file.name);
        let sample = match sample {
            Ok(sample) => sample,
            Err(refused) => {
                sink.refuse_part(&place, refused);
                return Ok(());
            }
        };
        let Some((evaluation, result)) = places.find_result(&sample) else {
            sink.refuse_part(
                &place,
                Refused::new("the sample is of an evaluation that the record does not have"),
            );
            return Ok(());
        };
        let Some(run) = runs[evaluation] else {
            return Ok(());
        };
        let Some(id) = to_text(&sample.sample_id).filter(|id| !id.is_empty()) else {
            sink.refuse_part(&place, Refused::new("the sample has no sample_id"));
            return Ok(());
        };
        let evaluation = &mut evaluations[evaluation];
        if evaluation.deciding_result() != Some(result) {
            sink.note_quirk("samples of further results of an evaluation are counted, not stored");
            return Ok(());
        }
        let scored = &evaluation.results[result];
        // Of what is better the lower, a 1 is no pass.
        let is_graded = scored.values.is_graded() && scored.result.direction() != Direction::Down;
        let result = scored.result;
        let attempt = evaluation.attempts.entry(id.clone()).or_default();
        *attempt = attempt.saturating_add(1);
        if *attempt == 2 {
            sink.note_quirk("repeated samples are attempts, in file order");
        }
        let score = sample.score().filter(|score| !result.is_unknown(*score));
        let mut outcome = sink.new_outcome(run, &id, sample_status(&sample, score, is_graded));
        outcome.attempt = *attempt;
        outcome.kind = sample.item_kind().unwrap_or(outcome.kind);
        (outcome.cluster, outcome.category) = (
            sample.metadata_text("cluster"),
            sample.metadata_text("category"),
        );
        outcome.evaluator = result.metric_name();
        outcome.score = score;
        outcome.duration_seconds = sample
            .performance
            .get("latency_ms")
            .and_then(to_amount)
            .map(|time| time / 1000.0);
        let details = sample.to_details();
        outcome.input_tokens = details.usage.and_then(|usage| usage.input_total());
        outcome.output_tokens = details.usage.and_then(|usage| usage.output);
        sink.add_outcome(run, &place, outcome, details)
    })
}

/// Returns a sample's status. `is_graded` means that all scores of its result are 0 or 1.
fn sample_status(sample: &RecordSample, score: Option<f64>, is_graded: bool) -> ItemStatus {
    let error = sample.error().map(|error| error.to_lowercase());
    let begins = |word: &str| {
        error.as_deref().is_some_and(|error| {
            error == word
                || error
                    .strip_prefix(word)
                    .is_some_and(|rest| rest.starts_with(':'))
        })
    };
    // A score of the level `unknown` is undecided, whatever `is_correct` says.
    if score.is_none() && sample.score().is_some() {
        return if begins("infra") {
            ItemStatus::Infra
        } else {
            ItemStatus::NotEvaluated
        };
    }
    if let Some(error) = &error {
        let is_limit = begins("limit") || error.contains("timeout") || error.contains("timed out");
        return if is_limit {
            ItemStatus::Limit
        } else {
            ItemStatus::Error
        };
    }
    match (score, sample.is_correct()) {
        (_, Some(true)) => ItemStatus::Pass,
        (_, Some(false)) => ItemStatus::Fail,
        // Nothing tells which score passes, so the sample stays out of pass rates.
        (Some(_), None) if !is_graded => ItemStatus::Skipped,
        (Some(score), None) => {
            if score >= 1.0 {
                ItemStatus::Pass
            } else {
                ItemStatus::Fail
            }
        }
        (None, None) => ItemStatus::NotEvaluated,
    }
}

/// Returns how far rounding a share moves the standard error that is computed from it.
fn standard_error_shift(share: f64, rounding: f64, n: u64) -> f64 {
    let of = |share: f64| {
        (share * (1.0 - share) / n.saturating_sub(1).max(1) as f64)
            .max(0.0)
            .sqrt()
    };
    let moved = |by: f64| (of((share + by).clamp(0.0, 1.0)) - of(share)).abs();
    if share > 0.0 && share < 1.0 {
        moved(rounding).max(moved(-rounding))
    } else {
        0.0
    }
}

/// Ends a run: stores its scores, and the published figures beside the values recomputed from samples.
fn add_scores(
    evaluation: &RecordEvaluation<'_>,
    run: RunHandle,
    is_whole: bool,
    sink: &mut ImportSink<'_>,
) {
    let deciding = evaluation.deciding_result().filter(|_| is_whole);
    for (place, scored) in evaluation.results.iter().enumerate() {
        let result = scored.result;
        let Some(stated) = result.score() else {
            continue;
        };
        let percent = result.percent_divisor(stated);
        let scale = percent.unwrap_or(1.0);
        let score = stated / scale;
        let unit = if percent.is_some() {
            Unit::Fraction
        } else {
            result.score_unit(score)
        };
        let is_all = is_whole
            && scored.rows > 0
            && result.sample_count().is_none_or(|samples| {
                samples == scored.rows || samples == scored.rows - scored.unknown
            });
        if is_whole && scored.rows > 0 && !is_all {
            sink.note_quirk("the file has another number of samples than a published score counts");
        }
        // Percentages may be published for grades that are 0 and 1 in the samples.
        let factor = if scored.values.is_graded() {
            1.0
        } else {
            scale.recip()
        };
        // The digits are the percentage's. Trailing zeros are lost: one half may be 0.50.
        let half = |value: f64| {
            (StatedFigure::max_rounding(count_decimals(&value.to_string())) / scale)
                .min(StatedFigure::max_rounding(2))
        };
        let rounding = percent
            .filter(|_| score > 0.0 && score < 1.0)
            .map(|_| half(stated));
        let over = Some(scored.values).filter(|_| is_all && result.is_mean());
        let recomputed = over
            .and_then(|values| values.mean())
            .map(|mean| mean * factor);
        let error = over
            .and_then(|values| values.standard_error())
            .map(|error| error * factor);
        let metric = result.metric_name();
        sink.add_published_figure(run, &metric, score, unit, recomputed, rounding);
        let stated_error = result.standard_error().map(|error| error / scale);
        if let Some(stated_error) = stated_error {
            let of_score = if scored.values.is_graded() {
                standard_error_shift(score, half(stated), scored.values.n())
            } else {
                0.0
            };
            let rounding = (percent.is_some() || of_score > 0.0)
                .then(|| half(stated_error * scale) + of_score);
            sink.add_published_figure(
                run,
                &format!("{metric} standard error"),
                stated_error,
                unit,
                error,
                rounding,
            );
        }
        if place == 0
            && deciding.is_none()
            && unit == Unit::Fraction
            && result.direction() != Direction::Down
            && result.is_mean()
            && let Some(total) = result.sample_count()
            && let Some(passed) = passed_from_share(score, stated_error, total)
        {
            let record = sink.run_mut(run);
            (record.shared_tests_passed, record.shared_tests_total) = (Some(passed), Some(total));
            record.counted = result.item_kind();
            sink.note_quirk(
                "passed and total are computed from the published score and its standard error",
            );
            continue;
        }
        let are_passes = scored.values.is_graded() && result.direction() != Direction::Down;
        if deciding == Some(place) && are_passes && is_all {
            continue;
        }
        sink.run_mut(run).scores.push(ScoreRecord {
            range: result.score_range().filter(|_| unit == Unit::Number),
            standard_error: stated_error,
            n: result.sample_count(),
            evaluator: Some("every-eval-ever".to_owned()),
            ..ScoreRecord::new(metric, score, unit, result.direction())
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_error_of_a_rounded_share_explains_as_much() {
        let of = |share: f64| (share * (1.0 - share) / 2.0).sqrt();
        let apart = (of(0.333) - of(1.0 / 3.0)).abs();
        let (one, ten) = (
            standard_error_shift(0.333, 0.000_5, 3),
            standard_error_shift(0.333, 0.000_05, 3),
        );
        assert!(
            apart > 1e-5 && apart < one && apart > ten,
            "{apart} {one} {ten}"
        );
        assert_eq!(
            (
                standard_error_shift(1.0, 0.005, 3),
                standard_error_shift(0.5, 0.0, 3)
            ),
            (0.0, 0.0)
        );
    }
}
