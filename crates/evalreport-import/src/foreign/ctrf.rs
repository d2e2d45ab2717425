//! CTRF, the common test report format: one JSON file per run. A retried test has the outcome of its last try.
//!
//! Times are in milliseconds. Some writers use seconds, which the run's start time reveals. The report is read twice because its summary,
//! with that time, may follow its tests.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::Value;
use sha2::{Digest, Sha256};

use crate::domain::{Git, ItemKind, ItemOutcome, ItemStatus, Problem, to_hex};

use super::super::cell::{Refused, parse_date_time};
use super::super::rows::ReadStop;
use super::super::stored::RunMoment;
use super::claim::Claim;
use super::duplicate_names::DuplicateNames;
use super::format::FormatFacts;
use super::importer::FormatImporter;
use super::json::{Lenient, to_amount, to_count, to_filled_text, to_number, to_text};
use super::json_reader::read_object;
use super::peek::{ContentKind, Peek};
use super::property_metrics::{self, ReportedNames, UNNAMED_SUITE};
use super::reported_tests::{REPEATED_QUIRK, ReportedTest, ReportedTests};
use super::sink::{ImportSink, RunHandle, clip_text};
use super::source::{ForeignFileGroup, strip_ending};
use super::test_retries::{FLAKY_TAG, UncountedAttempt};
use super::times::time_from_unix_seconds;

const HEADER_KEYS: [&str; 8] = [
    "specVersion",
    "reportId",
    "runId",
    "generatedBy",
    "timestamp",
    "results.tool",
    "results.summary",
    "results.environment",
];
/// Least moment that is taken for milliseconds: 1973 in milliseconds, after the year 5000 in seconds.
const MIN_MILLISECONDS: f64 = 1e11;
const MAX_RETRIES: usize = 100;
/// Prefix of `generatedBy` in reports of `export ctrf`.
const OWN_PREFIX: &str = "evalreport ";

#[derive(Default, Deserialize)]
#[serde(default)]
struct CtrfHeader {
    #[serde(rename = "specVersion")]
    spec_version: Value,
    #[serde(rename = "reportId")]
    report_id: Value,
    #[serde(rename = "runId")]
    run_id: Value,
    #[serde(rename = "generatedBy")]
    generated_by: Value,
    timestamp: Value,
    results: Lenient<CtrfResults>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct CtrfResults {
    tool: Value,
    summary: Lenient<CtrfSummary>,
    environment: Value,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct CtrfSummary {
    tests: Value,
    passed: Value,
    failed: Value,
    pending: Value,
    skipped: Value,
    other: Value,
    flaky: Value,
    start: Value,
    stop: Value,
    duration: Value,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct CtrfTest {
    name: Value,
    status: Value,
    #[serde(rename = "rawStatus", alias = "raw_status")]
    raw_status: Value,
    duration: Value,
    /// A list, or one text in older reports.
    suite: Value,
    #[serde(rename = "filePath", alias = "filepath", alias = "file_path")]
    file_path: Value,
    browser: Value,
    message: Value,
    trace: Value,
    flaky: Value,
    retries: Value,
    #[serde(rename = "retryAttempts", alias = "retry_attempts")]
    retry_attempts: Value,
    #[serde(rename = "type")]
    kind: Value,
    labels: Value,
    extra: Value,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct CtrfRetry {
    status: Value,
    #[serde(rename = "rawStatus", alias = "raw_status")]
    raw_status: Value,
    duration: Value,
    message: Value,
}

pub(super) const FORMAT: FormatImporter = FormatImporter::new(
    FormatFacts {
        name: "ctrf",
        title: "CTRF",
        kind: ItemKind::Test,
        reads_names: true,
        version: 5,
    },
    claim_file,
    read_source,
);

fn claim_file(peek: &Peek) -> Option<Claim> {
    let is_named = peek.text("reportFormat") == Some("CTRF");
    // Some writers leave the name of the format out.
    let is_like = peek.has_all(&["results.tool", "results.summary", "results.tests"]);
    (peek.content == ContentKind::Json && !peek.is_lines && (is_named || is_like))
        .then_some(Claim::Alone)
}

/// Totals of a report's tests.
#[derive(Default)]
struct CtrfTotals {
    tests: u64,
    by_status: BTreeMap<String, u64>,
    /// Tests marked as flaky. `recovered` counts tests that passed after a retry.
    flaky: u64,
    recovered: u64,
    namesakes: DuplicateNames,
    digest: Sha256,
}

fn read_source(source: &ForeignFileGroup, sink: &mut ImportSink<'_>) -> Result<(), ReadStop> {
    let [file] = source.files.as_slice() else {
        return Err(Problem::in_file(&source.shown, "is not one report").into());
    };
    let mut counted = CtrfTotals::default();
    let header: CtrfHeader = read_object(
        file.open()?,
        &file.shown,
        &HEADER_KEYS,
        "results.tests",
        &mut |test: CtrfTest| {
            let status = to_text(&test.status).unwrap_or_default();
            counted.tests += 1;
            counted.flaky += u64::from(test.flaky == Value::Bool(true));
            counted.recovered += u64::from(status == "passed" && test.was_retried());
            let id = test.id();
            counted.digest.update(id.as_bytes());
            counted.namesakes.add_name(id, &test.file(), &[]);
            counted.digest.update(status.as_bytes());
            *counted.by_status.entry(status).or_default() += 1;
            Ok(())
        },
    )?;
    let results = header.results.0.as_ref();
    let nothing = CtrfSummary::default();
    let summary = results
        .and_then(|results| results.summary.0.as_ref())
        .unwrap_or(&nothing);
    let scale = time_unit_seconds(summary, sink);
    let Some(run) = begin_run(
        &header,
        summary,
        scale,
        strip_ending(&source.name, ".json"),
        &counted,
        sink,
    ) else {
        return Ok(());
    };

    let is_own = to_text(&header.generated_by).is_some_and(|by| by.starts_with(OWN_PREFIX));
    let mut reading = CtrfTestImporter {
        scale,
        is_own,
        tests: ReportedTests::new(run, &counted.namesakes),
    };
    let mut place = 0;
    read_object::<serde::de::IgnoredAny, CtrfTest>(
        file.open()?,
        &file.shown,
        &[],
        "results.tests",
        &mut |test| {
            place += 1;
            reading.add_test(&test, &format!("test {place}"), sink)
        },
    )?;
    if is_own && counted.tests == 0 {
        let extra = |key: &str| {
            results.and_then(|results| to_count(results.environment.get("extra")?.get(key)?))
        };
        let counts = extra("shared_tests_passed")
            .zip(extra("shared_tests_total"))
            .filter(|(passed, total)| passed <= total);
        let record = sink.run_mut(run);
        (record.shared_tests_passed, record.shared_tests_total) = counts.unzip();
        let kind = results.and_then(|results| {
            ItemKind::from_name(results.environment.get("extra")?.get("counted")?.as_str()?)
        });
        record.counted = kind.filter(|_| counts.is_some());
    }
    let by_status = |name: &str| counted.by_status.get(name).copied().unwrap_or(0);
    let figures = [
        ("tests", &summary.tests, counted.tests),
        ("passed", &summary.passed, by_status("passed")),
        ("failed", &summary.failed, by_status("failed")),
        ("pending", &summary.pending, by_status("pending")),
        ("skipped", &summary.skipped, by_status("skipped")),
        ("other", &summary.other, by_status("other")),
        ("flaky", &summary.flaky, counted.flaky),
    ];
    for (name, stated, counted) in figures {
        sink.add_published_count(run, name, stated, Some(counted));
    }
    Ok(())
}

/// Returns the length of the report's time unit in seconds.
fn time_unit_seconds(summary: &CtrfSummary, sink: &mut ImportSink<'_>) -> f64 {
    match to_number(&summary.start).or_else(|| to_number(&summary.stop)) {
        Some(moment) if moment > 0.0 && moment < MIN_MILLISECONDS => {
            sink.note_quirk("times are in seconds; the format has milliseconds");
            1.0
        }
        _ => 1e-3,
    }
}

fn begin_run(
    header: &CtrfHeader,
    summary: &CtrfSummary,
    scale: f64,
    stem: &str,
    counted: &CtrfTotals,
    sink: &mut ImportSink<'_>,
) -> Option<RunHandle> {
    if let Some(version) = to_text(&header.spec_version) {
        sink.note_version(&format!("CTRF {version}"));
    }
    let nothing = CtrfResults::default();
    let results = header.results.0.as_ref().unwrap_or(&nothing);
    let environment = |key: &str| results.environment.get(key).and_then(to_filled_text);
    let mut names = ReportedNames::default();
    for place in [
        results.environment.get("extra"),
        results.tool.get("extra"),
        Some(&results.environment),
    ] {
        for (name, value) in place.and_then(Value::as_object).into_iter().flatten() {
            names.add_property(name, &to_text(value).unwrap_or_default());
        }
    }
    let tool = results.tool.get("name").and_then(to_text);
    let suite = names
        .suite
        .or_else(|| environment("reportName"))
        .or_else(|| environment("appName"))
        .or_else(|| tool.clone());
    let (approach, model) = (
        names.approach.unwrap_or_default(),
        names.model.unwrap_or_default(),
    );
    let own = to_text(&header.report_id)
        .or_else(|| to_text(&header.run_id))
        .unwrap_or_default();
    let start = to_text(&summary.start).unwrap_or_default();
    let digest = to_hex(&counted.digest.clone().finalize());
    // A report's own id identifies it. Without one, its name, its start and the statuses of its tests do.
    let identity = if own.is_empty() {
        vec![stem, &start, &digest[..16]]
    } else {
        vec![own.as_str()]
    };
    let suite = suite.unwrap_or_else(|| UNNAMED_SUITE.to_owned());
    let (began, ended) = (
        to_number(&summary.start),
        to_number(&summary.stop).filter(|stop| *stop > 0.0),
    );
    let timestamp = ended
        .and_then(|ended| time_from_unix_seconds(ended * scale))
        .or_else(|| parse_date_time("timestamp", &to_text(&header.timestamp)?).ok());
    let names = [suite.as_str(), &approach, &model];
    let run = if own.is_empty() {
        sink.begin_unnamed_run(&identity, names, RunMoment::Said(timestamp))
    } else {
        sink.begin_run(&identity, names)
    }?;
    let record = sink.run_mut(run);
    record.timestamp = timestamp;
    record.duration_seconds =
        // A run that ends when it begins was not measured.
        to_amount(&summary.duration).map(|time| time * scale).or_else(|| Some((ended? - began?) * scale).filter(|seconds| *seconds > 0.0));
    record.git = environment("commit").map(|rev| Git {
        rev,
        branch: environment("branchName"),
        dirty: false,
    });
    let version = results.tool.get("version").and_then(to_text);
    let recovered = counted.recovered.max(counted.flaky);
    let facts = [
        (FLAKY_TAG, (recovered > 0).then(|| recovered.to_string())),
        (
            "tool",
            tool.map(|tool| version.map_or(tool.clone(), |version| format!("{tool} {version}"))),
        ),
        (
            "build",
            environment("buildNumber").or_else(|| environment("buildName")),
        ),
        ("environment", environment("testEnvironment")),
        ("os", environment("osPlatform")),
        ("run", to_text(&header.run_id)),
    ];
    for (key, fact) in facts {
        if let Some(fact) = fact {
            record
                .tags
                .insert(key.to_owned(), clip_text(&fact, 500).into_owned());
        }
    }
    Some(run)
}

impl CtrfTest {
    /// Returns the test's id: its suites, its name and, if known, the browser.
    fn id(&self) -> String {
        let suites: Vec<String> = match &self.suite {
            Value::Array(path) => path.iter().filter_map(to_text).collect(),
            one => to_text(one).into_iter().collect(),
        };
        let name = to_filled_text(&self.name).unwrap_or_default();
        if name.is_empty() {
            return name;
        }
        let browser = to_text(&self.browser)
            .filter(|browser| !browser.is_empty())
            .map(|browser| format!(" [{browser}]"));
        let path: Vec<String> = suites
            .into_iter()
            .filter(|suite| !suite.trim().is_empty())
            .chain([name])
            .collect();
        format!("{}{}", path.join(" > "), browser.unwrap_or_default())
    }

    fn file(&self) -> String {
        to_text(&self.file_path).unwrap_or_default()
    }

    /// Takes the fields that `export ctrf` adds to the format: the outcome's kind, category, evaluator and cluster.
    fn fill_own_fields(&self, outcome: &mut ItemOutcome) {
        let extra = |key: &str| self.extra.get(key).and_then(to_filled_text);
        if let Some(kind) = self.kind.as_str().and_then(ItemKind::from_name) {
            outcome.kind = kind;
            outcome.category = extra("category");
        }
        if let Some(evaluator) = extra("evaluator") {
            outcome.evaluator = evaluator;
        }
        outcome.cluster = extra("cluster");
    }

    fn was_retried(&self) -> bool {
        to_count(&self.retries).is_some_and(|retries| retries > 0)
            || !self.earlier_attempts().is_empty()
    }

    /// Returns the earlier attempts, without the attempt that is the test itself.
    fn earlier_attempts(&self) -> Vec<CtrfRetry> {
        let all = self.retry_attempts.as_array().into_iter().flatten();
        let mut all: Vec<CtrfRetry> = all
            .filter_map(|retry| CtrfRetry::deserialize(retry).ok())
            .take(MAX_RETRIES)
            .collect();
        let is_last_own = match to_count(&self.retries) {
            Some(retries) => all.len() as u64 > retries,
            None => all.last().is_some_and(|last| last.status == self.status),
        };
        if is_last_own {
            all.pop();
        }
        all
    }
}

/// State while tests are stored.
struct CtrfTestImporter<'c> {
    scale: f64,
    /// The report comes from `export ctrf`, which adds fields.
    is_own: bool,
    tests: ReportedTests<'c>,
}

impl CtrfTestImporter<'_> {
    fn add_test(
        &mut self,
        test: &CtrfTest,
        place: &str,
        sink: &mut ImportSink<'_>,
    ) -> Result<(), ReadStop> {
        let id = test.id();
        if id.is_empty() {
            sink.refuse_part(place, Refused::new("the test has no name"));
            return Ok(());
        }
        let mut earlier = Vec::new();
        for retry in test.earlier_attempts() {
            earlier.push(UncountedAttempt {
                status: parse_status(&retry.status, &retry.raw_status, sink),
                reason: to_filled_text(&retry.message),
            });
        }
        // Our own reports mark a duration that nobody measured, because the format requires a number.
        let is_measured = test
            .extra
            .get("duration")
            .is_none_or(|duration| duration != "unknown");
        let reported = ReportedTest {
            name: id,
            file: test.file(),
            status: parse_status(&test.status, &test.raw_status, sink),
            reason: to_filled_text(&test.message).or_else(|| to_filled_text(&test.trace)),
            seconds: to_amount(&test.duration)
                .map(|time| time * self.scale)
                .filter(|_| is_measured),
            earlier,
            was_retried: test.was_retried(),
            ..ReportedTest::default()
        };
        let (mut outcome, mut details) = self.tests.new_outcome(reported, sink);
        if outcome.attempt > 1 && !self.is_own {
            sink.note_quirk(REPEATED_QUIRK);
        }
        outcome.kind = ItemKind::Test;
        outcome.category = to_filled_text(&test.kind);
        for place in [&test.labels, &test.extra] {
            property_metrics::apply_properties(place, &mut outcome, &mut details);
        }
        if self.is_own {
            test.fill_own_fields(&mut outcome);
        }
        self.tests.add_outcome(place, outcome, details, sink)
    }
}

/// Returns the outcome of a status. If the format has no status for it, the runner's own word decides.
fn parse_status(status: &Value, raw: &Value, sink: &mut ImportSink<'_>) -> ItemStatus {
    match to_text(status).unwrap_or_default().as_str() {
        "passed" => ItemStatus::Pass,
        // The exact words of our own reports.
        "failed" => match raw.as_str().and_then(ItemStatus::from_name) {
            Some(status @ (ItemStatus::Error | ItemStatus::Limit)) => status,
            Some(_) | None => ItemStatus::Fail,
        },
        "other" if raw == "infra" => ItemStatus::Infra,
        "other" if raw == "not_evaluated" => ItemStatus::NotEvaluated,
        "skipped" | "pending" => ItemStatus::Skipped,
        other => {
            let raw = to_text(raw).unwrap_or_default().to_lowercase();
            if raw.contains("timeout") || raw.contains("timedout") || raw.contains("timed out") {
                ItemStatus::Limit
            } else if raw.contains("error") || raw.contains("broken") || raw.contains("crash") {
                ItemStatus::Error
            } else {
                let said = if other == "other" {
                    "`other`"
                } else {
                    "unknown"
                };
                sink.note_quirk(&format!(
                    "tests with the status {said} and no clearer raw status are not evaluated"
                ));
                ItemStatus::NotEvaluated
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn test(value: Value) -> CtrfTest {
        serde_json::from_value(value).expect("a test")
    }

    #[test]
    fn the_last_retry_may_be_the_test_itself() {
        let of = |value: Value| test(value).earlier_attempts().len();
        let (fail, pass) = (json!({"status": "failed"}), json!({"status": "passed"}));
        assert_eq!(
            of(json!({"status": "passed", "retries": 2, "retryAttempts": [fail, fail, pass]})),
            2
        );
        assert_eq!(
            of(json!({"status": "passed", "retries": 2, "retryAttempts": [fail, fail]})),
            2
        );
        assert_eq!(
            of(json!({"status": "failed", "retries": 1, "retryAttempts": [fail]})),
            1
        );
        assert_eq!(
            of(json!({"status": "passed", "retryAttempts": [fail, pass]})),
            1
        );
        assert_eq!(of(json!({"status": "passed", "retryAttempts": [fail]})), 1);
        assert_eq!(of(json!({"status": "passed"})), 0);
    }

    #[test]
    fn a_test_is_named_by_its_suites() {
        assert_eq!(
            test(json!({"name": "t", "suite": ["a", "b"]})).id(),
            "a > b > t"
        );
        assert_eq!(
            test(json!({"name": "t", "suite": "old", "browser": "firefox"})).id(),
            "old > t [firefox]"
        );
        assert_eq!(test(json!({"name": " "})).id(), "");
    }
}
