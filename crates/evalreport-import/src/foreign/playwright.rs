//! Playwright Test's JSON: one file per run.
//!
//! Source: `JSONReport` of playwright's `types/testReporter.d.ts`. A test ends as its tries do, seen by its `expectedStatus`, which is no
//! outcome. Its projects, such as browsers, are tests of their own.

use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::Value;

use crate::domain::{Git, ItemKind, ItemStatus, Problem, RunStatus, strip_terminal_codes};

use super::super::cell::Refused;
use super::super::rows::ReadStop;
use super::claim::Claim;
use super::duplicate_names::DuplicateNames;
use super::format::FormatFacts;
use super::importer::FormatImporter;
use super::json::{Lenient, ObjectList, to_amount, to_count, to_filled_text, to_text};
use super::json_reader::read_object;
use super::peek::{ContentKind, Peek};
use super::property_metrics::ReportedNames;
use super::reported_tests::{self, EXPECTED_FAILURE_QUIRK, ReportedTest, ReportedTests, WHOLE_RUN};
use super::sink::{ImportSink, RunHandle};
use super::source::{ForeignFileGroup, strip_ending};
use super::test_retries::UncountedAttempt;
use super::times::{read_time, time_from_unix_seconds};

pub(super) const FORMAT: FormatImporter = FormatImporter::new(
    FormatFacts {
        name: "playwright",
        title: "Playwright JSON",
        kind: ItemKind::Test,
        reads_names: true,
        version: 1,
    },
    claim_file,
    read_source,
);

const HEADER_KEYS: [&str; 5] = [
    "config.version",
    "config.rootDir",
    "config.metadata",
    "errors",
    "stats",
];
const SUITES: &str = "suites";
const SECONDS: f64 = 1e-3;

fn claim_file(peek: &Peek) -> Option<Claim> {
    let is_ours = peek.has(SUITES)
        && (peek.has("suites[].specs")
            || peek.has_all(&["config.rootDir", "config.workers"])
            || peek.has_all(&["stats.expected", "stats.unexpected", "stats.flaky"]));
    (peek.content == ContentKind::Json && !peek.is_lines && is_ours).then_some(Claim::Alone)
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct PlaywrightHeader {
    config: Lenient<PlaywrightConfig>,
    errors: ObjectList<PlaywrightError>,
    stats: Lenient<PlaywrightStats>,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct PlaywrightConfig {
    version: Value,
    /// Folder that the files of tests are named below.
    root_dir: Value,
    metadata: Value,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct PlaywrightStats {
    start_time: Value,
    duration: Value,
    expected: Value,
    unexpected: Value,
    flaky: Value,
    skipped: Value,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct PlaywrightError {
    message: Value,
    value: Value,
    location: Lenient<ErrorPlace>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct ErrorPlace {
    file: Value,
}

/// A file, or a group of tests in one.
#[derive(Default, Deserialize)]
#[serde(default)]
struct PlaywrightSuite {
    title: Value,
    file: Value,
    specs: ObjectList<PlaywrightSpec>,
    suites: ObjectList<PlaywrightSuite>,
}

/// A test as it is written, with one test for each project.
#[derive(Default, Deserialize)]
#[serde(default)]
struct PlaywrightSpec {
    title: Value,
    file: Value,
    tests: ObjectList<PlaywrightTest>,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct PlaywrightTest {
    expected_status: Value,
    project_name: Value,
    status: Value,
    results: ObjectList<PlaywrightResult>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct PlaywrightResult {
    status: Value,
    duration: Value,
    error: Lenient<PlaywrightError>,
    errors: ObjectList<PlaywrightError>,
}

/// How a test ended, in the words of `stats`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum TestEnd {
    Expected,
    Unexpected,
    Flaky,
    Skipped,
}

impl TestEnd {
    const ALL: [Self; 4] = [Self::Expected, Self::Unexpected, Self::Flaky, Self::Skipped];

    fn name(self) -> &'static str {
        match self {
            Self::Expected => "expected",
            Self::Unexpected => "unexpected",
            Self::Flaky => "flaky",
            Self::Skipped => "skipped",
        }
    }
}

fn read_source(source: &ForeignFileGroup, sink: &mut ImportSink<'_>) -> Result<(), ReadStop> {
    let [file] = source.files.as_slice() else {
        return Err(Problem::in_file(&source.shown, "is not one report").into());
    };
    // Names need the whole report, so it is read twice.
    let mut names = DuplicateNames::default();
    let header: PlaywrightHeader = read_object(
        file.open()?,
        &file.shown,
        &HEADER_KEYS,
        SUITES,
        &mut |suite: Lenient<PlaywrightSuite>| {
            let suite = suite.0.unwrap_or_default();
            suite.for_each_test(&mut Vec::new(), &mut |name, file, _| {
                names.add_name(name, &file, &[]);
                Ok(())
            })
        },
    )?;
    let Some(run) = begin_run(&header, strip_ending(&source.name, ".json"), sink) else {
        return Ok(());
    };
    let mut reading = PlaywrightRunImporter {
        tests: ReportedTests::new(run, &names),
        counted: [0; TestEnd::ALL.len()],
    };
    let mut place = 0;
    read_object::<IgnoredAny, Lenient<PlaywrightSuite>>(
        file.open()?,
        &file.shown,
        &[],
        SUITES,
        &mut |suite| {
            let suite = suite.0.unwrap_or_default();
            suite.for_each_test(&mut Vec::new(), &mut |name, file, test| {
                place += 1;
                reading.add_test(name, file, test, &format!("test {place}"), sink)
            })
        },
    )?;
    reading.finish_run(&header, sink)
}

fn begin_run(
    header: &PlaywrightHeader,
    stem: &str,
    sink: &mut ImportSink<'_>,
) -> Option<RunHandle> {
    let nothing = PlaywrightConfig::default();
    let config = header.config.0.as_ref().unwrap_or(&nothing);
    if let Some(version) = to_filled_text(&config.version) {
        sink.note_version(&format!("Playwright {version}"));
    }
    let stats = header.stats.0.as_ref();
    let began = stats.and_then(|stats| read_time(&stats.start_time));
    let seconds = stats
        .and_then(|stats| to_amount(&stats.duration))
        .map(|time| time * SECONDS);
    let ended = began.map(|began| {
        let ended = began.timestamp_millis() as f64 * SECONDS + seconds.unwrap_or(0.0);
        time_from_unix_seconds(ended).unwrap_or(began)
    });
    let names = ReportedNames::from_properties(&config.metadata);
    let run = reported_tests::begin_run(names, stem, ended, sink)?;
    let record = sink.run_mut(run);
    record.duration_seconds = seconds.filter(|seconds| *seconds > 0.0);
    let commit = config.metadata.get("gitCommit");
    let of_commit = |key: &str| commit.and_then(|commit| to_filled_text(commit.get(key)?));
    record.git = of_commit("hash").map(|rev| Git {
        rev,
        branch: of_commit("branch"),
        dirty: false,
    });
    Some(run)
}

impl PlaywrightHeader {
    /// Returns a file's path as tests have it.
    fn path_below_root<'p>(&self, path: &'p str) -> &'p str {
        let root = self
            .config
            .0
            .as_ref()
            .and_then(|config| to_filled_text(&config.root_dir));
        root.and_then(|root| path.strip_prefix(root.as_str())?.strip_prefix(['/', '\\']))
            .unwrap_or(path)
    }
}

impl PlaywrightSuite {
    /// Calls `each` with the name, the file and the test of each project. `titles` has those of the suites around this one, but the file's.
    fn for_each_test(
        &self,
        titles: &mut Vec<String>,
        each: &mut dyn FnMut(String, String, &PlaywrightTest) -> Result<(), ReadStop>,
    ) -> Result<(), ReadStop> {
        for spec in self.specs.iter() {
            let file = to_filled_text(&spec.file).or_else(|| to_filled_text(&self.file));
            titles.push(to_text(&spec.title).unwrap_or_default());
            for test in spec.tests.iter() {
                each(test.name(titles), file.clone().unwrap_or_default(), test)?;
            }
            titles.pop();
        }
        for suite in self.suites.iter() {
            titles.push(to_text(&suite.title).unwrap_or_default());
            suite.for_each_test(titles, each)?;
            titles.pop();
        }
        Ok(())
    }
}

impl PlaywrightTest {
    /// Returns the titles below the file, and the project if it has a name.
    fn name(&self, titles: &[String]) -> String {
        let titles: Vec<&str> = titles
            .iter()
            .map(|title| title.trim())
            .filter(|title| !title.is_empty())
            .collect();
        let project = to_filled_text(&self.project_name)
            .filter(|_| !titles.is_empty())
            .map(|project| format!(" [{project}]"));
        format!("{}{}", titles.join(" > "), project.unwrap_or_default())
    }

    fn expected_status(&self) -> String {
        to_filled_text(&self.expected_status).unwrap_or_else(|| "passed".to_owned())
    }

    /// Returns how the test ended by its tries, as Playwright decides it: interrupted tries do not count, nor do tries skipped by an earlier
    /// test's failure. Without tries, returns what the report says.
    fn end(&self) -> TestEnd {
        let expected = self.expected_status();
        let (mut has_expected, mut has_unexpected, mut has_skipped) = (false, false, false);
        let mut has_results = false;
        for result in self.results.iter() {
            has_results = true;
            match to_text(&result.status).unwrap_or_default().as_str() {
                "interrupted" => {}
                "skipped" => has_skipped |= expected == "skipped",
                status => {
                    has_expected |= status == expected;
                    has_unexpected |= status != expected;
                }
            }
        }
        if !has_results {
            let said = |end: &TestEnd| self.status == end.name();
            return TestEnd::ALL
                .into_iter()
                .find(said)
                .unwrap_or(TestEnd::Skipped);
        }
        match (has_expected, has_unexpected) {
            (false, false) => TestEnd::Skipped,
            (true, false) => TestEnd::Expected,
            (false, true) if !has_skipped => TestEnd::Unexpected,
            (_, true) => TestEnd::Flaky,
        }
    }

    /// Returns the status of a test that ended so. A test that did not run though nobody skipped it is not evaluated.
    fn status(&self, end: TestEnd, sink: &mut ImportSink<'_>) -> ItemStatus {
        let expected = self.expected_status();
        match end {
            TestEnd::Expected | TestEnd::Flaky if expected == "failed" => {
                sink.note_quirk(EXPECTED_FAILURE_QUIRK);
                ItemStatus::Skipped
            }
            TestEnd::Expected | TestEnd::Flaky => ItemStatus::Pass,
            TestEnd::Unexpected => match self.results.iter().last() {
                Some(last) if last.status == "timedOut" => ItemStatus::Limit,
                Some(_) | None => ItemStatus::Fail,
            },
            TestEnd::Skipped if expected == "skipped" => ItemStatus::Skipped,
            TestEnd::Skipped => {
                sink.note_quirk("tests that did not run or were interrupted are not evaluated");
                ItemStatus::NotEvaluated
            }
        }
    }
}

impl PlaywrightError {
    fn text(&self) -> Option<String> {
        to_filled_text(&self.message)
            .or_else(|| to_filled_text(&self.value))
            .map(|text| strip_terminal_codes(&text))
    }
}

impl PlaywrightResult {
    fn reason(&self) -> Option<String> {
        let all: Vec<String> = self
            .errors
            .iter()
            .filter_map(PlaywrightError::text)
            .collect();
        if all.is_empty() {
            return self.error.0.as_ref()?.text();
        }
        Some(all.join("\n"))
    }

    fn to_uncounted(&self) -> UncountedAttempt {
        let status = match to_text(&self.status).unwrap_or_default().as_str() {
            "passed" => ItemStatus::Pass,
            "timedOut" => ItemStatus::Limit,
            "skipped" => ItemStatus::Skipped,
            "interrupted" => ItemStatus::NotEvaluated,
            _ => ItemStatus::Fail,
        };
        UncountedAttempt {
            status,
            reason: self.reason(),
        }
    }
}

/// State while tests are stored.
struct PlaywrightRunImporter<'n> {
    tests: ReportedTests<'n>,
    /// Numbers of tests, in the order of [`TestEnd::ALL`].
    counted: [u64; TestEnd::ALL.len()],
}

impl PlaywrightRunImporter<'_> {
    fn add_test(
        &mut self,
        name: String,
        file: String,
        test: &PlaywrightTest,
        place: &str,
        sink: &mut ImportSink<'_>,
    ) -> Result<(), ReadStop> {
        let end = test.end();
        if let Some(place) = TestEnd::ALL.iter().position(|known| *known == end) {
            self.counted[place] += 1;
        }
        if name.is_empty() {
            sink.refuse_part(place, Refused::new("the test has no name"));
            return Ok(());
        }
        let mut tries: Vec<&PlaywrightResult> = test.results.iter().collect();
        let last = tries.pop();
        let status = test.status(end, sink);
        let is_surprise =
            end == TestEnd::Unexpected && last.is_some_and(|last| last.status == "passed");
        let reason = if is_surprise {
            Some("passed although it is expected to fail".to_owned())
        } else {
            last.and_then(PlaywrightResult::reason)
        };
        // Tries of a test that did not run say nothing.
        let earlier = tries.into_iter().filter(|_| end != TestEnd::Skipped);
        let reported = ReportedTest {
            name,
            file,
            status,
            reason,
            seconds: last
                .filter(|_| end != TestEnd::Skipped)
                .and_then(|last| to_amount(&last.duration))
                .map(|time| time * SECONDS),
            earlier: earlier.map(PlaywrightResult::to_uncounted).collect(),
            was_retried: end == TestEnd::Flaky,
            ..ReportedTest::default()
        };
        self.tests.add_test(reported, place, sink)
    }

    fn finish_run(
        mut self,
        header: &PlaywrightHeader,
        sink: &mut ImportSink<'_>,
    ) -> Result<(), ReadStop> {
        let run = self.tests.run;
        let has_tests = self.counted.iter().any(|count| *count > 0);
        let mut first_error = None;
        for (place, error) in (1..).zip(header.errors.iter()) {
            let reason = error.text();
            let file = error
                .location
                .0
                .as_ref()
                .and_then(|place| to_filled_text(&place.file));
            let place = format!("error {place}");
            first_error.get_or_insert_with(|| reason.clone().unwrap_or_else(|| place.clone()));
            let name = match &file {
                Some(file) => header.path_below_root(file),
                None if has_tests => WHOLE_RUN,
                // Such as that there are no tests.
                None => continue,
            };
            self.tests.add_outside_failure(name, reason, &place, sink)?;
        }
        self.tests.finish_run(sink);
        if let Some(error) = first_error {
            let record = sink.run_mut(run);
            record.status = RunStatus::Failed;
            record.error.get_or_insert(error);
        }
        let Some(stats) = &header.stats.0 else {
            return Ok(());
        };
        let stated = [
            &stats.expected,
            &stats.unexpected,
            &stats.flaky,
            &stats.skipped,
        ];
        let [expected, unexpected, flaky, _] = stated.map(|count| to_count(count).unwrap_or(0));
        let is_alone = !has_tests && (expected > 0 || unexpected > 0 || flaky > 0);
        if is_alone {
            let passed = expected.saturating_add(flaky);
            reported_tests::fill_summary_counts(run, passed, unexpected, sink);
        }
        for ((end, stated), counted) in TestEnd::ALL.into_iter().zip(stated).zip(self.counted) {
            sink.add_published_count(run, end.name(), stated, Some(counted).filter(|_| !is_alone));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn end(test: Value) -> TestEnd {
        let test: PlaywrightTest = serde_json::from_value(test).expect("a test");
        test.end()
    }

    #[test]
    fn a_test_ends_as_its_tries_do_and_not_as_it_was_expected() {
        let tries = |expected: &str, statuses: &[&str]| {
            let results: Vec<Value> = statuses
                .iter()
                .map(|status| json!({"status": status}))
                .collect();
            end(json!({"expectedStatus": expected, "results": results}))
        };
        assert_eq!(tries("passed", &["passed"]), TestEnd::Expected);
        assert_eq!(tries("passed", &["failed"]), TestEnd::Unexpected);
        assert_eq!(tries("passed", &["failed", "passed"]), TestEnd::Flaky);
        assert_eq!(
            tries("passed", &["timedOut", "timedOut"]),
            TestEnd::Unexpected
        );
        assert_eq!(tries("failed", &["failed"]), TestEnd::Expected);
        assert_eq!(tries("failed", &["passed"]), TestEnd::Unexpected);
        assert_eq!(tries("skipped", &["skipped"]), TestEnd::Skipped);
        assert_eq!(tries("passed", &["skipped"]), TestEnd::Skipped);
        assert_eq!(tries("passed", &["interrupted"]), TestEnd::Skipped);
        assert_eq!(tries("passed", &["failed", "skipped"]), TestEnd::Unexpected);
    }

    #[test]
    fn a_test_without_tries_ends_as_the_report_says() {
        assert_eq!(end(json!({"status": "unexpected"})), TestEnd::Unexpected);
        assert_eq!(end(json!({"expectedStatus": "passed"})), TestEnd::Skipped);
    }

    #[test]
    fn a_test_is_named_by_its_titles_and_its_project() {
        let name = |project: &str, titles: &[&str]| {
            let test: PlaywrightTest =
                serde_json::from_value(json!({"projectName": project})).expect("a test");
            test.name(
                &titles
                    .iter()
                    .map(|title| (*title).to_owned())
                    .collect::<Vec<_>>(),
            )
        };
        assert_eq!(name("", &["math", "adds"]), "math > adds");
        assert_eq!(name("firefox", &["", "adds"]), "adds [firefox]");
        assert_eq!(name("firefox", &[""]), "");
    }
}
