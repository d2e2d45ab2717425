//! DeepEval: one JSON file per test run. Test cases are questions, metrics are checks.
//!
//! The file of the latest run wraps the run in `testRunData`. Cases of whole conversations are in a list of their own. `evaluationCost` is
//! the cost of the judges, so it is not read as the run's cost.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::Value;

use crate::domain::{ItemDetails, ItemKind, ItemStatus, Problem, Unit};

use super::super::cell::Refused;
use super::super::rows::Stop;
use super::super::source::hex_digest;
use super::claim::Claim;
use super::format::Facts;
use super::importer::Format;
use super::json::{Lenient, List, amount, count, filled, number, text};
use super::json_reader::read_object;
use super::measured::{Names, count_tool};
use super::peek::{Content, Peek};
use super::sink::{Handle, Moment, Sink, clip};
use super::source::{ForeignFile, ForeignSource, stem};

pub(super) const FORMAT: Format = Format::new(
    Facts {
        name: "deepeval",
        title: "DeepEval",
        kind: ItemKind::Question,
        reads_names: true,
        version: 2,
    },
    claim,
    read,
);

const WRAPPER: &str = "testRunData";
const LISTS: [&str; 2] = ["testCases", "conversationalTestCases"];
const HEADER: [&str; 7] = [
    "metricsScores",
    "testPassed",
    "testFailed",
    "runDuration",
    "hyperparameters",
    "identifier",
    "testFile",
];
/// Evaluator of a case: all its metrics together.
const CASES: &str = "test cases";

fn claim(peek: &Peek) -> Option<Claim> {
    let has_cases = |below: &str| {
        let has = |key: &str| peek.has(&format!("{below}{key}"));
        LISTS
            .iter()
            .any(|list| has(&format!("{list}[].metricsData")))
            || (LISTS.iter().any(|list| has(list)) && has("metricsScores"))
    };
    let is_ours = has_cases("")
        || has_cases("testRunData.")
        || LISTS
            .iter()
            .any(|list| peek.has(&format!("{WRAPPER}.{list}")));
    (peek.content == Content::Json && !peek.is_lines && is_ours).then_some(Claim::Alone)
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Header {
    metrics_scores: List<MetricScores>,
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
struct Case {
    name: Value,
    input: Value,
    scenario: Value,
    actual_output: Value,
    expected_output: Value,
    expected_outcome: Value,
    success: Value,
    metrics_data: List<Metric>,
    run_duration: Value,
    token_cost: Value,
    completion_time: Value,
    tools_called: List<Tool>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Tool {
    name: Value,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Metric {
    name: Value,
    success: Value,
    score: Value,
    reason: Value,
    error: Value,
    skipped: Value,
}

fn read(source: &ForeignSource, sink: &mut Sink<'_>) -> Result<(), Stop> {
    let [file] = source.files.as_slice() else {
        return Err(Problem::in_file(&source.shown, "is not one test run").into());
    };
    let peek = Peek::at(file)?;
    let below = if peek.has(WRAPPER) {
        format!("{WRAPPER}.")
    } else {
        String::new()
    };
    let header = read_header(file, &below)?;
    let Some(run) = begin(&header, stem(&source.name, ".json"), sink) else {
        return Ok(());
    };
    let mut counted = Counted::default();
    for list in LISTS {
        let mut place = 0;
        read_object::<IgnoredAny, Lenient<Case>>(
            file.open()?,
            &file.shown,
            &[],
            &format!("{below}{list}"),
            &mut |case| {
                place += 1;
                let place = format!("{list} {place}");
                match case.0 {
                    Some(case) => counted.take(run, &place, &case, sink),
                    None => {
                        sink.refuse(&place, Refused::because("the test case is no object"));
                        Ok(())
                    }
                }
            },
        )?;
    }
    counted.state(run, &header, sink);
    Ok(())
}

fn read_header(file: &ForeignFile, below: &str) -> Result<Header, Stop> {
    let wanted: Vec<String> = HEADER.iter().map(|key| format!("{below}{key}")).collect();
    let wanted: Vec<&str> = wanted.iter().map(String::as_str).collect();
    // Any list will do: its elements are ignored.
    let list = format!("{below}{}", LISTS[0]);
    if below.is_empty() {
        return read_object(
            file.open()?,
            &file.shown,
            &wanted,
            &list,
            &mut |_: IgnoredAny| Ok(()),
        );
    }
    let mut whole: BTreeMap<String, Lenient<Header>> = read_object(
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

fn begin(header: &Header, stem: &str, sink: &mut Sink<'_>) -> Option<Handle> {
    let mut names = Names::default();
    for (name, value) in header.hyperparameters.as_object().into_iter().flatten() {
        names.take(name, &text(value).unwrap_or_default());
    }
    let suite = names
        .suite
        .or_else(|| filled(&header.test_file))
        .unwrap_or_else(|| "deepeval".to_owned());
    let (approach, model) = (
        names.approach.unwrap_or_default(),
        names.model.unwrap_or_default(),
    );
    let identifier = filled(&header.identifier).unwrap_or_default();
    let run = sink.begin_run_of_bytes(
        &[stem, &identifier],
        [&suite, &approach, &model],
        Moment::Unread,
    )?;
    let record = sink.run(run);
    record.duration_seconds = amount(&header.run_duration).filter(|seconds| *seconds > 0.0);
    if !identifier.is_empty() {
        record
            .tags
            .insert("identifier".to_owned(), clip(&identifier, 500).into_owned());
    }
    Some(run)
}

/// Totals of the cases read so far.
#[derive(Default)]
struct Counted {
    passed: u64,
    failed: u64,
    /// Passes, fails and errors of each metric.
    metrics: BTreeMap<String, [u64; 3]>,
    attempts: BTreeMap<String, u32>,
    /// The questions of each name, in their order.
    asked: BTreeMap<String, Vec<Option<String>>>,
}

impl Counted {
    fn take(
        &mut self,
        run: Handle,
        place: &str,
        case: &Case,
        sink: &mut Sink<'_>,
    ) -> Result<(), Stop> {
        let Some(name) = filled(&case.name) else {
            sink.refuse(place, Refused::because("the test case has no name"));
            return Ok(());
        };
        let question = filled(&case.input).or_else(|| filled(&case.scenario));
        let id = self.item(name, question.as_ref());
        let (status, reason) = self.judge(case);
        let attempt = self.attempts.entry(id.clone()).or_default();
        *attempt += 1;
        let attempt = *attempt;
        let mut outcome = sink.outcome(run, &id, status);
        CASES.clone_into(&mut outcome.evaluator);
        outcome.attempt = attempt;
        outcome.duration_seconds = amount(&case.completion_time);
        outcome.cost_usd = amount(&case.token_cost).filter(|cost| *cost > 0.0);
        let metrics = case.metrics_data.iter();
        let mut tools = BTreeMap::new();
        for tool in case
            .tools_called
            .iter()
            .filter_map(|tool| filled(&tool.name))
        {
            count_tool(&mut tools, tool);
        }
        let details = ItemDetails {
            tools,
            reason,
            item_hash: question
                .as_deref()
                .map(|asked| hex_digest(&[asked.trim().as_bytes()], false)[..32].to_owned()),
            question,
            answer: filled(&case.actual_output),
            expected: filled(&case.expected_output)
                .or_else(|| filled(&case.expected_outcome))
                .into_iter()
                .collect(),
            scores: metrics
                .filter_map(|metric| Some((filled(&metric.name)?, number(&metric.score)?)))
                .collect(),
            ..ItemDetails::default()
        };
        sink.item(run, place, outcome, details)?;
        for metric in case.metrics_data.iter() {
            self.take_metric(run, &id, attempt, metric, sink)?;
        }
        Ok(())
    }

    fn judge(&mut self, case: &Case) -> (ItemStatus, Option<String>) {
        let failed = |metric: &Metric| {
            let why = filled(&metric.error).or_else(|| filled(&metric.reason));
            let name = filled(&metric.name).unwrap_or_default();
            (metric.success != true)
                .then(|| why.map_or_else(|| name.clone(), |why| format!("{name}: {why}")))
        };
        let reasons: Vec<String> = case.metrics_data.iter().filter_map(failed).collect();
        let reason = (!reasons.is_empty()).then(|| reasons.join("; "));
        match case.success.as_bool() {
            Some(true) => {
                self.passed += 1;
                (ItemStatus::Pass, None)
            }
            Some(false) => {
                self.failed += 1;
                // A judge that failed tells nothing about the answer.
                let wrong = case
                    .metrics_data
                    .iter()
                    .any(|metric| metric.success == false && filled(&metric.error).is_none());
                let is_judged = wrong
                    || case
                        .metrics_data
                        .iter()
                        .all(|metric| filled(&metric.error).is_none());
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
    fn item(&mut self, name: String, question: Option<&String>) -> String {
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

    fn take_metric(
        &mut self,
        run: Handle,
        id: &str,
        attempt: u32,
        metric: &Metric,
        sink: &mut Sink<'_>,
    ) -> Result<(), Stop> {
        let Some(name) = filled(&metric.name) else {
            return Ok(());
        };
        let counts = self.metrics.entry(name.clone()).or_default();
        let error = filled(&metric.error);
        let status = match (metric.skipped == true, &error, metric.success.as_bool()) {
            (true, _, _) => ItemStatus::Skipped,
            (false, Some(_), _) => {
                counts[2] += 1;
                ItemStatus::NotEvaluated
            }
            (false, None, Some(true)) => {
                counts[0] += 1;
                ItemStatus::Pass
            }
            (false, None, Some(false)) => {
                counts[1] += 1;
                ItemStatus::Fail
            }
            (false, None, None) => ItemStatus::NotEvaluated,
        };
        let mut outcome = sink.outcome(run, id, status);
        outcome.kind = ItemKind::Check;
        name.clone_into(&mut outcome.evaluator);
        outcome.attempt = attempt;
        outcome.score = number(&metric.score);
        let details = ItemDetails {
            reason: error.or_else(|| filled(&metric.reason)),
            ..ItemDetails::default()
        };
        sink.item(run, &format!("{id}, {name}"), outcome, details)
    }

    fn state(&self, run: Handle, header: &Header, sink: &mut Sink<'_>) {
        for (name, stated, counted) in [
            ("testPassed", &header.test_passed, self.passed),
            ("testFailed", &header.test_failed, self.failed),
        ] {
            if let Some(stated) = count(stated) {
                sink.stated(
                    run,
                    name,
                    stated as f64,
                    Unit::Count,
                    Some(counted as f64),
                    None,
                );
            }
        }
        for scores in header.metrics_scores.iter() {
            let Some(metric) = filled(&scores.metric) else {
                continue;
            };
            let counts = self.metrics.get(&metric).copied().unwrap_or_default();
            for ((name, stated), counted) in [
                ("passes", &scores.passes),
                ("fails", &scores.fails),
                ("errors", &scores.errors),
            ]
            .into_iter()
            .zip(counts)
            {
                if let Some(stated) = count(stated) {
                    sink.stated(
                        run,
                        &format!("{metric}/{name}"),
                        stated as f64,
                        Unit::Count,
                        Some(counted as f64),
                        None,
                    );
                }
            }
        }
    }
}
