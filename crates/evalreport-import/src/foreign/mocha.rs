//! Mocha's JSON and mochawesome's: one file per run.
//!
//! Source: `lib/reporters/json.js` of mocha, and `src/mochawesome.js`. Mocha lists each test in `tests` and, with its outcome, in one of
//! three further lists. A hook that failed is in `failures` alone, and mocha counts it there.

use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::Value;

use crate::domain::{ItemKind, ItemStatus, Problem};

use super::super::cell::Refused;
use super::super::rows::ReadStop;
use super::claim::Claim;
use super::common_folder::CommonFolder;
use super::duplicate_names::DuplicateNames;
use super::format::FormatFacts;
use super::importer::FormatImporter;
use super::json::{Lenient, ObjectList, to_amount, to_count, to_filled_text, to_text};
use super::json_reader::read_object;
use super::peek::{ContentKind, Peek};
use super::property_metrics::ReportedNames;
use super::reported_tests::{self, ReportedTest, ReportedTests};
use super::sink::ImportSink;
use super::source::{ForeignFile, ForeignFileGroup, strip_ending};
use super::times::read_time;

pub(super) const FORMAT: FormatImporter = FormatImporter::new(
    FormatFacts {
        name: "mocha",
        title: "Mocha JSON",
        kind: ItemKind::Test,
        reads_names: true,
        version: 1,
    },
    claim_file,
    read_source,
);

/// The lists of mocha's report, with the status of their tests.
const LISTS: [(&str, ItemStatus); 3] = [
    ("passes", ItemStatus::Pass),
    ("failures", ItemStatus::Fail),
    ("pending", ItemStatus::Skipped),
];
/// The list of suites in mochawesome's report.
const SUITES: &str = "results";
const SECONDS: f64 = 1e-3;

fn claim_file(peek: &Peek) -> Option<Claim> {
    let has_stats = peek.has_all(&[
        "stats.suites",
        "stats.tests",
        "stats.passes",
        "stats.pending",
        "stats.failures",
    ]);
    (peek.content == ContentKind::Json && !peek.is_lines && has_stats).then_some(Claim::Alone)
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct MochaHeader {
    stats: Lenient<MochaStats>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct MochaStats {
    tests: Value,
    passes: Value,
    pending: Value,
    failures: Value,
    end: Value,
    duration: Value,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct MochaTest {
    title: Value,
    full_title: Value,
    file: Value,
    duration: Value,
    current_retry: Value,
    err: Lenient<MochaError>,
    /// In mochawesome's report alone, as the two below. Null if a hook kept the test from running.
    state: Value,
    timed_out: Value,
    is_hook: Value,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct MochaError {
    message: Value,
    stack: Value,
    code: Value,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct MochawesomeSuite {
    full_file: Value,
    file: Value,
    before_hooks: ObjectList<MochaTest>,
    after_hooks: ObjectList<MochaTest>,
    tests: ObjectList<MochaTest>,
    suites: ObjectList<MochawesomeSuite>,
}

/// Calls `each` with each test of the report, the file it lies in and the status that its place gives it.
fn for_each_test(
    file: &ForeignFile,
    each: &mut dyn FnMut(&MochaTest, &str, ItemStatus) -> Result<(), ReadStop>,
) -> Result<MochaHeader, ReadStop> {
    for (list, status) in LISTS {
        read_object::<IgnoredAny, Lenient<MochaTest>>(
            file.open()?,
            &file.shown,
            &[],
            list,
            &mut |test| {
                let test = test.0.unwrap_or_default();
                let file = to_text(&test.file).unwrap_or_default();
                each(&test, &file, test.status(status))
            },
        )?;
    }
    read_object(
        file.open()?,
        &file.shown,
        &["stats"],
        SUITES,
        &mut |suite: Lenient<MochawesomeSuite>| suite.0.unwrap_or_default().for_each_test("", each),
    )
}

fn read_source(source: &ForeignFileGroup, sink: &mut ImportSink<'_>) -> Result<(), ReadStop> {
    let [file] = source.files.as_slice() else {
        return Err(Problem::in_file(&source.shown, "is not one report").into());
    };
    let (mut folder, mut names) = (CommonFolder::default(), DuplicateNames::default());
    let header = for_each_test(file, &mut |test, path, _| {
        folder.add_file(path);
        names.add_name(test.full_title(), path, &[]);
        Ok(())
    })?;
    let nothing = MochaStats::default();
    let stats = header.stats.0.as_ref().unwrap_or(&nothing);
    let (names_said, ended) = (ReportedNames::default(), read_time(&stats.end));
    let stem = strip_ending(&source.name, ".json");
    let Some(run) = reported_tests::begin_run(names_said, stem, ended, sink) else {
        return Ok(());
    };
    sink.run_mut(run).duration_seconds = to_amount(&stats.duration).map(|time| time * SECONDS);

    let mut tests = ReportedTests::new(run, &names);
    let mut counted = MochaTotals::default();
    let mut number = 0;
    for_each_test(file, &mut |test, path, status| {
        number += 1;
        let place = format!("test {number}");
        counted.count_test(test, status);
        let name = test.full_title();
        if name.is_empty() {
            sink.refuse_part(&place, Refused::new("the test has no name"));
            return Ok(());
        }
        if status == ItemStatus::NotEvaluated {
            sink.note_quirk("tests that a failed hook kept from running are not evaluated");
        }
        let reported = ReportedTest {
            name,
            file: folder.path_below(path),
            status,
            reason: test.err.0.as_ref().and_then(MochaError::text),
            seconds: to_amount(&test.duration).map(|time| time * SECONDS),
            was_retried: to_count(&test.current_retry).is_some_and(|retries| retries > 0),
            ..ReportedTest::default()
        };
        tests.add_test(reported, &place, sink)
    })?;
    tests.finish_run(sink);
    let is_alone = number == 0;
    if is_alone {
        let of = |count: &Value| to_count(count).unwrap_or(0);
        let (passed, failed) = (of(&stats.passes), of(&stats.failures));
        reported_tests::fill_summary_counts(run, passed, failed, sink);
    }
    let figures = [
        ("tests", &stats.tests, counted.tests),
        ("passes", &stats.passes, counted.passes),
        ("pending", &stats.pending, counted.pending),
        ("failures", &stats.failures, counted.failures),
    ];
    for (name, stated, counted) in figures {
        sink.add_published_count(run, name, stated, Some(counted).filter(|_| !is_alone));
    }
    Ok(())
}

/// Numbers of tests as `stats` has them.
#[derive(Default)]
struct MochaTotals {
    tests: u64,
    passes: u64,
    pending: u64,
    failures: u64,
}

impl MochaTotals {
    /// Counts a test. Mocha counts a failed hook among the failures, mochawesome does not, and neither does so among the tests.
    fn count_test(&mut self, test: &MochaTest, status: ItemStatus) {
        let is_hook = test.is_hook();
        self.tests += u64::from(!is_hook && status != ItemStatus::NotEvaluated);
        self.passes += u64::from(status == ItemStatus::Pass);
        self.pending += u64::from(status == ItemStatus::Skipped);
        let has_failed = matches!(
            status,
            ItemStatus::Fail | ItemStatus::Error | ItemStatus::Limit
        );
        self.failures += u64::from(has_failed && !(is_hook && test.is_hook == true));
    }
}

impl MochaTest {
    fn full_title(&self) -> String {
        to_filled_text(&self.full_title)
            .or_else(|| to_filled_text(&self.title))
            .unwrap_or_default()
            .trim()
            .to_owned()
    }

    /// Returns whether this is no test but a hook, which mocha names so.
    fn is_hook(&self) -> bool {
        let title = to_text(&self.title).unwrap_or_default();
        let is_named_so = ["before all", "before each", "after all", "after each"]
            .iter()
            .any(|hook| title.starts_with(&format!("\"{hook}\" hook")));
        self.is_hook == true || is_named_so
    }

    /// Returns the status of a test in a list of tests that ended so. A hook that failed is an error.
    fn status(&self, listed: ItemStatus) -> ItemStatus {
        let is_timeout = self.timed_out == true
            || self
                .err
                .0
                .as_ref()
                .is_some_and(|err| err.code == "ERR_MOCHA_TIMEOUT");
        match listed {
            ItemStatus::Fail if self.is_hook() => ItemStatus::Error,
            ItemStatus::Fail if is_timeout => ItemStatus::Limit,
            listed => listed,
        }
    }

    /// Returns the status of a test of mochawesome.
    fn own_status(&self) -> ItemStatus {
        let listed = match to_text(&self.state).unwrap_or_default().as_str() {
            "passed" => ItemStatus::Pass,
            "failed" => ItemStatus::Fail,
            "pending" => ItemStatus::Skipped,
            _ => ItemStatus::NotEvaluated,
        };
        self.status(listed)
    }
}

impl MochaError {
    fn text(&self) -> Option<String> {
        to_filled_text(&self.message).or_else(|| to_filled_text(&self.stack))
    }
}

impl MochawesomeSuite {
    fn for_each_test(
        &self,
        file: &str,
        each: &mut dyn FnMut(&MochaTest, &str, ItemStatus) -> Result<(), ReadStop>,
    ) -> Result<(), ReadStop> {
        let file = to_filled_text(&self.full_file)
            .or_else(|| to_filled_text(&self.file))
            .unwrap_or_else(|| file.to_owned());
        for test in self.tests.iter() {
            each(test, &file, test.own_status())?;
        }
        let hooks = self.before_hooks.iter().chain(self.after_hooks.iter());
        for hook in hooks.filter(|hook| hook.state == "failed") {
            each(hook, &file, hook.own_status())?;
        }
        for suite in self.suites.iter() {
            suite.for_each_test(&file, each)?;
        }
        Ok(())
    }
}
