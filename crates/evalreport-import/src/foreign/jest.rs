//! Jest's and Vitest's JSON: one file per run. Vitest writes Jest's layout, and keeps what tests note in `meta`, such as vitest-evals' scores.
//!
//! Source: `formatTestResults` of jest-util, `JsonReporter` of vitest, and `EvalMeta` of vitest-evals. Times are in milliseconds. The
//! results that Jest passes to reporters have other names for the same parts.

use std::collections::{BTreeMap, BTreeSet};

use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::Value;

use crate::domain::{
    Direction, ItemDetails, ItemKind, ItemOutcome, ItemStatus, Problem, RunStatus,
};

use super::super::cell::Refused;
use super::super::rows::ReadStop;
use super::attempts::AttemptValues;
use super::claim::Claim;
use super::common_folder::CommonFolder;
use super::duplicate_names::DuplicateNames;
use super::format::FormatFacts;
use super::importer::FormatImporter;
use super::json::{Lenient, ObjectList, to_amount, to_count, to_filled_text, to_number, to_text};
use super::json_reader::read_object;
use super::peek::{ContentKind, Peek};
use super::property_metrics::{self, ReportedNames, count_tool};
use super::reported_tests::{self, EXPECTED_FAILURE_QUIRK, ReportedTest, ReportedTests, WHOLE_RUN};
use super::sink::{ImportSink, RunHandle};
use super::source::{ForeignFileGroup, strip_ending};
use super::test_retries::UncountedAttempt;
use super::times::time_from_unix_seconds;

pub(super) const FORMAT: FormatImporter = FormatImporter::new(
    FormatFacts {
        name: "jest",
        title: "Jest and Vitest JSON",
        kind: ItemKind::Test,
        reads_names: true,
        version: 1,
    },
    claim_file,
    read_source,
);

const HEADER_KEYS: [&str; 9] = [
    "numTotalTests",
    "numPassedTests",
    "numFailedTests",
    "numPendingTests",
    "numTodoTests",
    "numRuntimeErrorTestSuites",
    "startTime",
    "success",
    "wasInterrupted",
];
const FILES: &str = "testResults";
/// Score of a test: the mean of its judges.
const AVERAGE: &str = "avgScore";
const SECONDS: f64 = 1e-3;

fn claim_file(peek: &Peek) -> Option<Claim> {
    let is_ours = peek.has_all(&["numTotalTests", "numPassedTests", "numFailedTests"])
        && (peek.has(FILES) || peek.has("numTotalTestSuites"));
    (peek.content == ContentKind::Json && !peek.is_lines && is_ours).then_some(Claim::Alone)
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct JestHeader {
    num_total_tests: Value,
    num_passed_tests: Value,
    num_failed_tests: Value,
    num_pending_tests: Value,
    num_todo_tests: Value,
    num_runtime_error_test_suites: Value,
    start_time: Value,
    success: Value,
    was_interrupted: Value,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct JestFile {
    name: Value,
    status: Value,
    message: Value,
    end_time: Value,
    assertion_results: ObjectList<JestTest>,
    // As reporters get them.
    test_file_path: Value,
    test_exec_error: Value,
    failure_message: Value,
    test_results: ObjectList<JestTest>,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct JestTest {
    ancestor_titles: Value,
    full_name: Value,
    title: Value,
    status: Value,
    duration: Value,
    failure_messages: Value,
    /// The test is expected to fail, and passes if it does.
    failing: Value,
    invocations: Value,
    retry_reasons: Value,
    retry_messages: Value,
    meta: Lenient<JestMeta>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct JestMeta {
    eval: Lenient<EvalMeta>,
    harness: Lenient<HarnessMeta>,
    #[serde(flatten)]
    properties: serde_json::Map<String, Value>,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct EvalMeta {
    scores: ObjectList<JudgeScore>,
    avg_score: Value,
    output: Value,
    tool_calls: ObjectList<MadeToolCall>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct JudgeScore {
    name: Value,
    score: Value,
    metadata: Value,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct MadeToolCall {
    name: Value,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct HarnessMeta {
    name: Value,
    run: Lenient<HarnessRun>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct HarnessRun {
    usage: Lenient<HarnessUsage>,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct HarnessUsage {
    model: Value,
    input_tokens: Value,
    output_tokens: Value,
    metadata: Value,
}

/// Facts of a report that its tests' outcomes need.
#[derive(Default)]
struct JestOutline {
    folder: CommonFolder,
    names: DuplicateNames,
    /// Approaches and models of the tests, no more than two of each.
    approaches: BTreeSet<String>,
    models: BTreeSet<String>,
    ended: Option<f64>,
}

fn read_source(source: &ForeignFileGroup, sink: &mut ImportSink<'_>) -> Result<(), ReadStop> {
    let [file] = source.files.as_slice() else {
        return Err(Problem::in_file(&source.shown, "is not one report").into());
    };
    // Names need the whole report, so it is read twice.
    let mut outline = JestOutline::default();
    let header: JestHeader = read_object(
        file.open()?,
        &file.shown,
        &HEADER_KEYS,
        FILES,
        &mut |file: Lenient<JestFile>| {
            file.0.iter().for_each(|file| outline.add_file(file));
            Ok(())
        },
    )?;
    let Some(run) = begin_run(&header, &outline, strip_ending(&source.name, ".json"), sink) else {
        return Ok(());
    };
    let mut reading = JestRunImporter {
        folder: &outline.folder,
        tests: ReportedTests::new(run, &outline.names),
        counted: JestTotals::default(),
        scores: BTreeMap::new(),
    };
    let mut place = 0;
    read_object::<IgnoredAny, Lenient<JestFile>>(
        file.open()?,
        &file.shown,
        &[],
        FILES,
        &mut |file| {
            place += 1;
            reading.add_file(&file.0.unwrap_or_default(), place, sink)
        },
    )?;
    reading.finish_run(&header, sink)
}

fn begin_run(
    header: &JestHeader,
    outline: &JestOutline,
    stem: &str,
    sink: &mut ImportSink<'_>,
) -> Option<RunHandle> {
    let only = |names: &BTreeSet<String>| names.first().filter(|_| names.len() == 1).cloned();
    let names = ReportedNames {
        suite: None,
        approach: only(&outline.approaches),
        model: only(&outline.models),
    };
    if outline.approaches.len() > 1 || outline.models.len() > 1 {
        sink.note_quirk(
            "tests name different harnesses or models: the report is a run of one unnamed arm",
        );
    }
    let began = to_amount(&header.start_time).map(|time| time * SECONDS);
    let ended = outline.ended.or(began);
    let run = reported_tests::begin_run(names, stem, ended.and_then(time_from_unix_seconds), sink)?;
    sink.run_mut(run).duration_seconds = ended
        .zip(began)
        .map(|(ended, began)| ended - began)
        .filter(|seconds| *seconds > 0.0);
    Some(run)
}

impl JestOutline {
    fn add_file(&mut self, file: &JestFile) {
        let path = file.path();
        self.folder.add_file(&path);
        let ended = to_amount(&file.end_time).map(|time| time * SECONDS);
        self.ended = self.ended.into_iter().chain(ended).reduce(f64::max);
        for test in file.tests().flatten() {
            self.names
                .add_name(test.full_name(), &path, &test.ancestors());
            let harness = test
                .meta
                .0
                .as_ref()
                .and_then(|meta| meta.harness.0.as_ref());
            let Some(harness) = harness else { continue };
            let named = [
                (&mut self.approaches, to_filled_text(&harness.name)),
                (&mut self.models, harness.model()),
            ];
            for (names, name) in named {
                names.extend(name.filter(|_| names.len() < 2));
            }
        }
    }
}

impl HarnessMeta {
    fn usage(&self) -> Option<&HarnessUsage> {
        self.run.0.as_ref()?.usage.0.as_ref()
    }

    fn model(&self) -> Option<String> {
        to_filled_text(&self.usage()?.model)
    }

    fn fill_outcome(&self, outcome: &mut ItemOutcome, details: &mut ItemDetails) {
        details.model = self.model();
        if let Some(usage) = self.usage() {
            outcome.input_tokens = to_count(&usage.input_tokens).or(outcome.input_tokens);
            outcome.output_tokens = to_count(&usage.output_tokens).or(outcome.output_tokens);
            property_metrics::apply_properties(&usage.metadata, outcome, details);
        }
    }
}

impl JestFile {
    fn path(&self) -> String {
        to_filled_text(&self.name)
            .or_else(|| to_filled_text(&self.test_file_path))
            .unwrap_or_default()
    }

    /// Returns the file's tests, and parts that are none.
    fn tests(&self) -> impl Iterator<Item = Option<&JestTest>> {
        let lists = [&self.assertion_results, &self.test_results];
        lists
            .into_iter()
            .flat_map(|list| &list.0)
            .map(|test| test.0.as_ref())
    }

    fn message(&self) -> Option<String> {
        to_filled_text(&self.message).or_else(|| to_filled_text(&self.failure_message))
    }

    /// Returns whether something outside of the file's tests failed: it did not load, has no tests, or a hook around all tests failed.
    fn failed_outside_tests(&self) -> bool {
        let has_failed = self.status == "failed" || !self.test_exec_error.is_null();
        has_failed && !self.tests().flatten().any(|test| test.status == "failed")
    }
}

impl JestTest {
    fn ancestors(&self) -> Vec<String> {
        texts_of(&self.ancestor_titles)
    }

    /// Returns the full name, which older versions of Vitest begin with a space.
    fn full_name(&self) -> String {
        let full = to_filled_text(&self.full_name).unwrap_or_else(|| {
            let title = to_filled_text(&self.title);
            self.ancestors()
                .into_iter()
                .chain(title)
                .collect::<Vec<_>>()
                .join(" ")
        });
        full.trim().to_owned()
    }

    /// Returns the messages of the tries before the one that counts. Vitest lists them as failures of the test, even if it passed.
    fn earlier_messages(&self) -> Vec<String> {
        let is_passed = self.status == "passed";
        [&self.retry_reasons, &self.retry_messages]
            .into_iter()
            .chain(Some(&self.failure_messages).filter(|_| is_passed))
            .map(texts_of)
            .find(|messages| !messages.is_empty())
            .unwrap_or_default()
    }
}

/// Returns the texts in a list. Any other value has none.
fn texts_of(value: &Value) -> Vec<String> {
    let texts = value.as_array().into_iter().flatten();
    texts.filter_map(to_filled_text).collect()
}

/// Numbers of tests by the runner's own words.
#[derive(Default)]
struct JestTotals {
    tests: u64,
    passed: u64,
    failed: u64,
    pending: u64,
    todo: u64,
    failed_files: u64,
}

/// State while tests are stored.
struct JestRunImporter<'o> {
    folder: &'o CommonFolder,
    tests: ReportedTests<'o>,
    counted: JestTotals,
    /// Scores of vitest-evals by judge, and the tests' averages.
    scores: BTreeMap<String, AttemptValues>,
}

impl JestRunImporter<'_> {
    fn add_file(
        &mut self,
        file: &JestFile,
        number: u64,
        sink: &mut ImportSink<'_>,
    ) -> Result<(), ReadStop> {
        let path = self.folder.path_below(&file.path());
        for (place, test) in (1..).zip(file.tests()) {
            let place = format!("file {number}, test {place}");
            match test {
                Some(test) => self.add_test(test, &path, &place, sink)?,
                None => sink.refuse_part(&place, Refused::new("the test is no object")),
            }
        }
        if !file.failed_outside_tests() {
            return Ok(());
        }
        self.counted.failed_files += 1;
        let place = format!("file {number}");
        let name = if path.is_empty() { &place } else { &path };
        self.tests
            .add_outside_failure(name, file.message(), &place, sink)
    }

    fn add_test(
        &mut self,
        test: &JestTest,
        file: &str,
        place: &str,
        sink: &mut ImportSink<'_>,
    ) -> Result<(), ReadStop> {
        let status = self.count_status(test, sink);
        let name = test.full_name();
        if name.is_empty() {
            sink.refuse_part(place, Refused::new("the test has no name"));
            return Ok(());
        }
        let earlier = test.earlier_messages().into_iter();
        let reported = ReportedTest {
            name,
            file: file.to_owned(),
            suites: test.ancestors(),
            status,
            reason: Some(texts_of(&test.failure_messages).join("\n"))
                .filter(|reason| !reason.is_empty()),
            seconds: to_amount(&test.duration).map(|time| time * SECONDS),
            earlier: earlier
                .map(|message| UncountedAttempt {
                    status: ItemStatus::Fail,
                    reason: Some(message),
                })
                .collect(),
            was_retried: to_count(&test.invocations).is_some_and(|tries| tries > 1),
        };
        let (mut outcome, mut details) = self.tests.new_outcome(reported, sink);
        if outcome.attempt > 1 {
            sink.note_quirk(reported_tests::REPEATED_QUIRK);
        }
        let Some(meta) = &test.meta.0 else {
            return self.tests.add_outcome(place, outcome, details, sink);
        };
        for (name, value) in &meta.properties {
            let value = to_text(value).unwrap_or_default();
            property_metrics::apply_property(name, &value, &mut outcome, &mut details);
        }
        if let Some(harness) = &meta.harness.0 {
            harness.fill_outcome(&mut outcome, &mut details);
        }
        let item = outcome.item.clone();
        if let Some(eval) = &meta.eval.0 {
            self.add_average(&item, eval, &mut outcome, sink);
            eval.fill_details(&mut details);
        }
        self.tests.add_outcome(place, outcome, details, sink)?;
        for score in meta.eval.0.iter().flat_map(|eval| eval.scores.iter()) {
            self.add_score(&item, score, place, sink)?;
        }
        Ok(())
    }

    fn count_status(&mut self, test: &JestTest, sink: &mut ImportSink<'_>) -> ItemStatus {
        self.counted.tests += 1;
        match to_text(&test.status).unwrap_or_default().as_str() {
            "passed" => {
                self.counted.passed += 1;
                if test.failing == true {
                    sink.note_quirk(EXPECTED_FAILURE_QUIRK);
                    ItemStatus::Skipped
                } else {
                    ItemStatus::Pass
                }
            }
            "failed" => {
                self.counted.failed += 1;
                ItemStatus::Fail
            }
            "pending" | "skipped" | "disabled" => {
                self.counted.pending += 1;
                ItemStatus::Skipped
            }
            "todo" => {
                self.counted.todo += 1;
                ItemStatus::Skipped
            }
            _ => {
                sink.note_quirk("tests whose status is unknown are not evaluated");
                ItemStatus::NotEvaluated
            }
        }
    }

    /// Takes the mean of a test's scores. vitest-evals counts a missing score as 0, which says nothing about the test.
    fn add_average(
        &mut self,
        item: &str,
        eval: &EvalMeta,
        outcome: &mut ItemOutcome,
        sink: &mut ImportSink<'_>,
    ) {
        if eval
            .scores
            .iter()
            .any(|score| to_number(&score.score).is_none())
        {
            sink.note_quirk("a test of which a judge gave no score has no average");
            return;
        }
        if let Some(average) = to_number(&eval.avg_score) {
            outcome.score = Some(average);
            let all = self.scores.entry(AVERAGE.to_owned()).or_default();
            all.add_value(item, average);
        }
    }

    /// Stores a judge's score, which is outside of the pass rate: the threshold is that of the average.
    fn add_score(
        &mut self,
        item: &str,
        score: &JudgeScore,
        place: &str,
        sink: &mut ImportSink<'_>,
    ) -> Result<(), ReadStop> {
        let Some(name) = to_filled_text(&score.name) else {
            return Ok(());
        };
        let value = to_number(&score.score);
        let status = if value.is_some() {
            ItemStatus::Skipped
        } else {
            ItemStatus::NotEvaluated
        };
        let mut outcome = sink.new_outcome(self.tests.run, item, status);
        outcome.kind = ItemKind::Check;
        outcome.attempt = self.tests.attempts.next_attempt(item, &name);
        outcome.score = value;
        let details = ItemDetails {
            reason: score.metadata.get("rationale").and_then(to_filled_text),
            ..ItemDetails::default()
        };
        if let Some(value) = value {
            let all = self.scores.entry(name.clone()).or_default();
            all.add_value(item, value);
        }
        let place = format!("{place}, {name}");
        outcome.evaluator = name;
        self.tests.add_outcome(&place, outcome, details, sink)
    }

    fn finish_run(
        mut self,
        header: &JestHeader,
        sink: &mut ImportSink<'_>,
    ) -> Result<(), ReadStop> {
        let (run, counted) = (self.tests.run, &self.counted);
        let is_alone = counted.tests == 0 && counted.failed_files == 0;
        let mut failed = counted.failed;
        if is_alone {
            let of = |count: &Value| to_count(count).unwrap_or(0);
            failed = of(&header.num_failed_tests);
            let passed = of(&header.num_passed_tests);
            reported_tests::fill_summary_counts(run, passed, failed, sink);
        }
        let says_failed = header.success == false && failed == 0 && counted.failed_files == 0;
        if says_failed && !is_alone {
            let reason = "the run failed, and none of its tests did".to_owned();
            self.tests
                .add_outside_failure(WHOLE_RUN, Some(reason), "success", sink)?;
        }
        self.tests.finish_run(sink);
        for (metric, values) in &self.scores {
            let score = values.to_score(metric, Direction::Up, "vitest-evals");
            sink.run_mut(run).scores.extend(score);
        }
        let record = sink.run_mut(run);
        if header.was_interrupted == true {
            record.status = RunStatus::Cancelled;
            record.error = Some("the run was interrupted".to_owned());
        } else if says_failed {
            record.status = RunStatus::Failed;
        }
        let figures = [
            ("numTotalTests", &header.num_total_tests, counted.tests),
            ("numPassedTests", &header.num_passed_tests, counted.passed),
            ("numFailedTests", &header.num_failed_tests, counted.failed),
            (
                "numPendingTests",
                &header.num_pending_tests,
                counted.pending,
            ),
            ("numTodoTests", &header.num_todo_tests, counted.todo),
            (
                "numRuntimeErrorTestSuites",
                &header.num_runtime_error_test_suites,
                counted.failed_files,
            ),
        ];
        for (name, stated, counted) in figures {
            sink.add_published_count(run, name, stated, Some(counted).filter(|_| !is_alone));
        }
        Ok(())
    }
}

impl EvalMeta {
    fn fill_details(&self, details: &mut ItemDetails) {
        details.answer = to_filled_text(&self.output);
        for tool in self.tool_calls.iter() {
            if let Some(name) = to_filled_text(&tool.name) {
                count_tool(&mut details.tools, name);
            }
        }
    }
}
