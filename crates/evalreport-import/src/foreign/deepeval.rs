//! DeepEval: one JSON file per test run. Test cases are questions, metrics are checks.
//!
//! The file of the latest run wraps the run in `testRunData`. Cases of whole conversations are in a list of their own. `evaluationCost` is
//! the cost of the judges and `runDuration` includes their time, so neither is read as the run's own.

use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};

use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::Value;

use crate::domain::{Direction, ItemDetails, ItemKind, ItemStatus, Problem};

use super::super::cell::Refused;
use super::super::rows::ReadStop;
use super::super::source::hex_digest;
use super::attempts::AttemptValues;
use super::claim::Claim;
use super::format::FormatFacts;
use super::importer::FormatImporter;
use super::json::{Lenient, ObjectList, to_amount, to_filled_text, to_number};
use super::json_reader::read_object;
use super::peek::{ContentKind, Peek};
use super::property_metrics::{ReportedNames, count_tool};
use super::sink::{ImportSink, RunHandle, RunMoment, clip_text};
use super::source::{ForeignFile, ForeignFileGroup, strip_ending};

pub(super) const FORMAT: FormatImporter = FormatImporter::new(
    FormatFacts {
        name: "deepeval",
        title: "DeepEval",
        kind: ItemKind::Question,
        reads_names: true,
        version: 4,
    },
    claim_file,
    read_source,
);

const WRAPPER: &str = "testRunData";
const CASE_LISTS: [&str; 2] = ["testCases", "conversationalTestCases"];
const HEADER_KEYS: [&str; 8] = [
    "metricsScores",
    "traceMetricsScores",
    "testPassed",
    "testFailed",
    "runDuration",
    "hyperparameters",
    "identifier",
    "testFile",
];
/// Evaluator of a case: all its metrics together.
const CASE_EVALUATOR: &str = "test cases";

fn claim_file(peek: &Peek) -> Option<Claim> {
    let has_cases = |below: &str| {
        let has = |key: &str| peek.has(&format!("{below}{key}"));
        CASE_LISTS
            .iter()
            .any(|list| has(&format!("{list}[].metricsData")))
            || (CASE_LISTS.iter().any(|list| has(list)) && has("metricsScores"))
    };
    let is_ours = has_cases("")
        || has_cases("testRunData.")
        || CASE_LISTS
            .iter()
            .any(|list| peek.has(&format!("{WRAPPER}.{list}")));
    (peek.content == ContentKind::Json && !peek.is_lines && is_ours).then_some(Claim::Alone)
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct DeepevalHeader {
    metrics_scores: ObjectList<MetricScores>,
    /// Metrics of steps within the cases' traces, which `metrics_scores` counts too.
    trace_metrics_scores: Value,
    test_passed: Value,
    test_failed: Value,
    run_duration: Value,
    hyperparameters: Value,
    identifier: Value,
    test_file: Value,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct MetricScores {
    metric: Value,
    passes: Value,
    fails: Value,
    errors: Value,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct DeepevalCase {
    name: Value,
    input: Value,
    scenario: Value,
    actual_output: Value,
    expected_output: Value,
    expected_outcome: Value,
    success: Value,
    metrics_data: ObjectList<DeepevalMetric>,
    run_duration: Value,
    token_cost: Value,
    completion_time: Value,
    tools_called: ObjectList<CalledTool>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct CalledTool {
    name: Value,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct DeepevalMetric {
    name: Value,
    success: Value,
    score: Value,
    threshold: Value,
    reason: Value,
    error: Value,
    skipped: Value,
    /// Decides nothing about the case.
    flaky: Value,
    evaluation_model: Value,
}

impl DeepevalMetric {
    /// Returns the score, or `None` if the metric was not computed: then it has an `error`, or only the score `NaN`, which is read as none.
    fn measured_score(&self) -> Option<f64> {
        to_number(&self.score).filter(|_| to_filled_text(&self.error).is_none())
    }

    /// Returns which scores are better, if this one tells: those on its side of the threshold.
    fn direction(&self) -> Option<Direction> {
        let (score, threshold) = (to_number(&self.score)?, to_number(&self.threshold)?);
        match (score.total_cmp(&threshold), self.success.as_bool()?) {
            (Ordering::Greater, true) | (Ordering::Less, false) => Some(Direction::Up),
            (Ordering::Less, true) | (Ordering::Greater, false) => Some(Direction::Down),
            (Ordering::Equal, _) => None,
        }
    }
}

/// The results of one metric over the cases.
#[derive(Default)]
struct MetricResults {
    /// Passes, fails and errors, as DeepEval counts them.
    counts: [u64; 3],
    scores: AttemptValues,
    directions: BTreeSet<Direction>,
}

fn read_source(source: &ForeignFileGroup, sink: &mut ImportSink<'_>) -> Result<(), ReadStop> {
    let [file] = source.files.as_slice() else {
        return Err(Problem::in_file(&source.shown, "is not one test run").into());
    };
    let peek = Peek::from_source_file(file)?;
    let below = if peek.has(WRAPPER) {
        format!("{WRAPPER}.")
    } else {
        String::new()
    };
    let header = read_header(file, &below)?;
    let Some(run) = begin_run(&header, strip_ending(&source.name, ".json"), sink) else {
        return Ok(());
    };
    let mut counted = DeepevalTotals::default();
    for list in CASE_LISTS {
        let mut place = 0;
        read_object::<IgnoredAny, Lenient<DeepevalCase>>(
            file.open()?,
            &file.shown,
            &[],
            &format!("{below}{list}"),
            &mut |case| {
                place += 1;
                let place = format!("{list} {place}");
                match case.0 {
                    Some(case) => counted.add_case(run, &place, &case, sink),
                    None => {
                        sink.refuse_part(&place, Refused::new("the test case is no object"));
                        Ok(())
                    }
                }
            },
        )?;
    }
    counted.add_published_counts(run, &header, sink);
    counted.add_scores(run, sink);
    Ok(())
}

fn read_header(file: &ForeignFile, below: &str) -> Result<DeepevalHeader, ReadStop> {
    let wanted: Vec<String> = HEADER_KEYS
        .iter()
        .map(|key| format!("{below}{key}"))
        .collect();
    let wanted: Vec<&str> = wanted.iter().map(String::as_str).collect();
    // Any list will do: its elements are ignored.
    let list = format!("{below}{}", CASE_LISTS[0]);
    if below.is_empty() {
        return read_object(
            file.open()?,
            &file.shown,
            &wanted,
            &list,
            &mut |_: IgnoredAny| Ok(()),
        );
    }
    let mut whole: BTreeMap<String, Lenient<DeepevalHeader>> = read_object(
        file.open()?,
        &file.shown,
        &wanted,
        &list,
        &mut |_: IgnoredAny| Ok(()),
    )?;
    Ok(whole
        .remove(WRAPPER)
        .and_then(|header| header.0)
        .unwrap_or_default())
}

fn begin_run(header: &DeepevalHeader, stem: &str, sink: &mut ImportSink<'_>) -> Option<RunHandle> {
    let names = ReportedNames::from_properties(&header.hyperparameters);
    let suite = names
        .suite
        .or_else(|| to_filled_text(&header.test_file))
        .unwrap_or_else(|| "deepeval".to_owned());
    let (approach, model) = (
        names.approach.unwrap_or_default(),
        names.model.unwrap_or_default(),
    );
    let identifier = to_filled_text(&header.identifier).unwrap_or_default();
    let run = sink.begin_run_of_bytes(
        &[stem, &identifier],
        [&suite, &approach, &model],
        RunMoment::Unread,
    )?;
    let record = sink.run_mut(run);
    if let Some(seconds) = to_amount(&header.run_duration).filter(|seconds| *seconds > 0.0) {
        record.tags.insert(
            "evaluation_seconds".to_owned(),
            format!("{seconds:.1} with the judges"),
        );
    }
    if !identifier.is_empty() {
        record.tags.insert(
            "identifier".to_owned(),
            clip_text(&identifier, 500).into_owned(),
        );
    }
    Some(run)
}

/// Totals of the cases read so far.
#[derive(Default)]
struct DeepevalTotals {
    passed: u64,
    failed: u64,
    metrics: BTreeMap<String, MetricResults>,
    judges: BTreeSet<String>,
    attempts: BTreeMap<String, u32>,
    /// The questions of each name, in their order.
    asked: BTreeMap<String, Vec<Option<String>>>,
}

impl DeepevalTotals {
    fn add_case(
        &mut self,
        run: RunHandle,
        place: &str,
        case: &DeepevalCase,
        sink: &mut ImportSink<'_>,
    ) -> Result<(), ReadStop> {
        let Some(name) = to_filled_text(&case.name) else {
            sink.refuse_part(place, Refused::new("the test case has no name"));
            return Ok(());
        };
        let question = to_filled_text(&case.input).or_else(|| to_filled_text(&case.scenario));
        let id = self.item_name(name, question.as_ref());
        let (status, reason) = self.decide_status(case);
        let attempt = self.attempts.entry(id.clone()).or_default();
        *attempt += 1;
        let attempt = *attempt;
        let mut outcome = sink.new_outcome(run, &id, status);
        CASE_EVALUATOR.clone_into(&mut outcome.evaluator);
        outcome.attempt = attempt;
        outcome.duration_seconds = to_amount(&case.completion_time);
        outcome.cost_usd = to_amount(&case.token_cost).filter(|cost| *cost > 0.0);
        let metrics = case.metrics_data.iter();
        let mut tools = BTreeMap::new();
        for tool in case
            .tools_called
            .iter()
            .filter_map(|tool| to_filled_text(&tool.name))
        {
            count_tool(&mut tools, tool);
        }
        let item_hash = question
            .as_deref()
            .map(|asked| hex_digest(&[asked.trim().as_bytes()], false)[..32].to_owned());
        let details = ItemDetails {
            tools,
            reason,
            item_hash: item_hash.clone(),
            question,
            answer: to_filled_text(&case.actual_output),
            expected: to_filled_text(&case.expected_output)
                .or_else(|| to_filled_text(&case.expected_outcome))
                .into_iter()
                .collect(),
            scores: metrics
                .filter_map(|metric| {
                    Some((to_filled_text(&metric.name)?, to_number(&metric.score)?))
                })
                .collect(),
            ..ItemDetails::default()
        };
        sink.add_outcome(run, place, outcome, details)?;
        for metric in case.metrics_data.iter() {
            self.add_metric(run, (&id, attempt, item_hash.as_ref()), metric, sink)?;
        }
        Ok(())
    }

    fn decide_status(&mut self, case: &DeepevalCase) -> (ItemStatus, Option<String>) {
        let failed = |metric: &DeepevalMetric| {
            let why = to_filled_text(&metric.error).or_else(|| to_filled_text(&metric.reason));
            let name = to_filled_text(&metric.name).unwrap_or_default();
            (metric.success != true)
                .then(|| why.map_or_else(|| name.clone(), |why| format!("{name}: {why}")))
        };
        let reasons: Vec<String> = case.metrics_data.iter().filter_map(failed).collect();
        let reason = (!reasons.is_empty()).then(|| reasons.join("; "));
        match case.success.as_bool() {
            Some(true) => {
                self.passed += 1;
                let mut metrics = case.metrics_data.iter().peekable();
                // A pass that nothing judged, or that a metric contradicts, is none.
                let is_judged = metrics.peek().is_some()
                    && !metrics.any(|metric| metric.success == false && metric.flaky != true);
                if is_judged {
                    (ItemStatus::Pass, None)
                } else {
                    (ItemStatus::NotEvaluated, reason)
                }
            }
            Some(false) => {
                self.failed += 1;
                let mut deciding = case
                    .metrics_data
                    .iter()
                    .filter(|metric| metric.success != true && metric.flaky != true)
                    .peekable();
                // A judge that failed tells nothing about the answer.
                let is_judged = deciding.peek().is_none()
                    || deciding
                        .any(|metric| metric.success == false && metric.measured_score().is_some());
                (
                    if is_judged {
                        ItemStatus::Fail
                    } else {
                        ItemStatus::NotEvaluated
                    },
                    reason,
                )
            }
            None => (ItemStatus::NotEvaluated, reason),
        }
    }

    /// Returns the item of a test case: its name, with a number if the name stands for several questions.
    fn item_name(&mut self, name: String, question: Option<&String>) -> String {
        let asked = self.asked.entry(name.clone()).or_default();
        let place = asked
            .iter()
            .position(|known| known.as_ref() == question)
            .unwrap_or_else(|| {
                asked.push(question.cloned());
                asked.len() - 1
            });
        if place == 0 {
            name
        } else {
            format!("{name} ({})", place + 1)
        }
    }

    fn add_metric(
        &mut self,
        run: RunHandle,
        (id, attempt, item_hash): (&str, u32, Option<&String>),
        metric: &DeepevalMetric,
        sink: &mut ImportSink<'_>,
    ) -> Result<(), ReadStop> {
        let Some(name) = to_filled_text(&metric.name) else {
            return Ok(());
        };
        let error = to_filled_text(&metric.error);
        let (counted, status) = match (metric.skipped == true, &error, metric.success.as_bool()) {
            (true, _, _) => (None, ItemStatus::Skipped),
            (false, None, Some(true)) => (Some(0), ItemStatus::Pass),
            (false, None, Some(false)) if metric.measured_score().is_some() => {
                (Some(1), ItemStatus::Fail)
            }
            // DeepEval counts a score of `NaN` as failed.
            (false, None, Some(false)) => (Some(1), ItemStatus::NotEvaluated),
            (false, Some(_), _) | (false, None, None) => (Some(2), ItemStatus::NotEvaluated),
        };
        let tally = self.metrics.entry(name.clone()).or_default();
        if let Some(counted) = counted {
            tally.counts[counted] += 1;
        }
        if let Some(score) = metric.measured_score() {
            tally.scores.add_value(id, score);
            tally.directions.extend(metric.direction());
        }
        self.judges.extend(to_filled_text(&metric.evaluation_model));
        let mut outcome = sink.new_outcome(run, id, status);
        outcome.kind = ItemKind::Check;
        name.clone_into(&mut outcome.evaluator);
        outcome.attempt = attempt;
        outcome.score = to_number(&metric.score);
        let details = ItemDetails {
            reason: error.or_else(|| to_filled_text(&metric.reason)),
            item_hash: item_hash.cloned(),
            ..ItemDetails::default()
        };
        sink.add_outcome(run, &format!("{id}, {name}"), outcome, details)
    }

    /// Keeps each metric's mean over the cases in which it was measured, and the judges.
    fn add_scores(&self, run: RunHandle, sink: &mut ImportSink<'_>) {
        let record = sink.run_mut(run);
        for (name, tally) in &self.metrics {
            let direction = match tally.directions.iter().collect::<Vec<_>>().as_slice() {
                [direction] => **direction,
                _ => Direction::None,
            };
            record
                .scores
                .extend(tally.scores.to_score(name, direction, name));
        }
        if !self.judges.is_empty() {
            let judges: Vec<&str> = self.judges.iter().map(String::as_str).collect();
            record.tags.insert(
                "judge".to_owned(),
                clip_text(&judges.join(", "), 500).into_owned(),
            );
        }
    }

    fn add_published_counts(
        &self,
        run: RunHandle,
        header: &DeepevalHeader,
        sink: &mut ImportSink<'_>,
    ) {
        for (name, stated, counted) in [
            ("testPassed", &header.test_passed, self.passed),
            ("testFailed", &header.test_failed, self.failed),
        ] {
            sink.add_published_count(run, name, stated, Some(counted));
        }
        // Steps of traces are not read, so sums that include them cannot be recomputed.
        let is_whole = header.trace_metrics_scores.is_null();
        for scores in header.metrics_scores.iter() {
            let Some(metric) = to_filled_text(&scores.metric) else {
                continue;
            };
            let counts = self
                .metrics
                .get(&metric)
                .map_or([0; 3], |tally| tally.counts);
            for ((name, stated), counted) in [
                ("passes", &scores.passes),
                ("fails", &scores.fails),
                ("errors", &scores.errors),
            ]
            .into_iter()
            .zip(counts)
            {
                let name = format!("{metric}/{name}");
                sink.add_published_count(run, &name, stated, is_whole.then_some(counted));
            }
        }
    }
}
