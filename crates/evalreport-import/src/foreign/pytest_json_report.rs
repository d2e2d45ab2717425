//! pytest-json-report: one JSON file per run of pytest.

use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::Value;

use crate::domain::{ItemDetails, ItemKind, ItemStatus, Problem, RunStatus};

use super::super::cell::Refused;
use super::super::rows::ReadStop;
use super::claim::Claim;
use super::format::FormatFacts;
use super::importer::FormatImporter;
use super::json::{Lenient, to_amount, to_count, to_filled_text, to_text};
use super::json_reader::read_object;
use super::peek::{ContentKind, Peek};
use super::property_metrics::{self, ReportedNames};
use super::reported_tests;
use super::sink::{ImportSink, RunHandle, clip_text};
use super::source::{ForeignFile, ForeignFileGroup, strip_ending};
use super::times::time_from_unix_seconds;

pub(super) const FORMAT: FormatImporter = FormatImporter::new(
    FormatFacts {
        name: "pytest-json-report",
        title: "pytest-json-report",
        kind: ItemKind::Test,
        reads_names: true,
        version: 4,
    },
    claim_file,
    read_source,
);

const HEADER_KEYS: [&str; 6] = [
    "created",
    "duration",
    "exitcode",
    "root",
    "environment",
    "summary",
];
/// Outcomes of a test, as the plugin counts them.
const OUTCOMES: [&str; 6] = ["passed", "failed", "error", "skipped", "xfailed", "xpassed"];

fn claim_file(peek: &Peek) -> Option<Claim> {
    let is_ours = peek.has_all(&["created", "exitcode", "summary"])
        && ["tests", "collectors", "environment"]
            .iter()
            .any(|key| peek.has(key));
    (peek.content == ContentKind::Json && !peek.is_lines && is_ours).then_some(Claim::Alone)
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct PytestHeader {
    created: Value,
    duration: Value,
    exitcode: Value,
    root: Value,
    environment: Value,
    summary: Value,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct PytestTest {
    nodeid: Value,
    outcome: Value,
    setup: Lenient<PytestPhase>,
    call: Lenient<PytestPhase>,
    teardown: Lenient<PytestPhase>,
    metadata: Value,
    user_properties: Value,
}

/// A file, class or folder in which pytest looked for tests.
#[derive(Default, Deserialize)]
#[serde(default)]
struct PytestCollector {
    nodeid: Value,
    outcome: Value,
    longrepr: Value,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct PytestPhase {
    duration: Value,
    outcome: Value,
    crash: Value,
    longrepr: Value,
}

fn read_source(source: &ForeignFileGroup, sink: &mut ImportSink<'_>) -> Result<(), ReadStop> {
    let [file] = source.files.as_slice() else {
        return Err(Problem::in_file(&source.shown, "is not one report").into());
    };
    // The run's header may follow its tests.
    let header: PytestHeader = read_object(
        file.open()?,
        &file.shown,
        &HEADER_KEYS,
        "tests",
        &mut |_: IgnoredAny| Ok(()),
    )?;
    let Some(run) = begin_run(&header, strip_ending(&source.name, ".json"), sink) else {
        return Ok(());
    };
    let mut counted = PytestTotals::default();
    let mut place = 0;
    read_object::<IgnoredAny, Lenient<PytestTest>>(
        file.open()?,
        &file.shown,
        &[],
        "tests",
        &mut |test| {
            place += 1;
            let place = format!("test {place}");
            match test.0 {
                Some(test) => counted.add_test(run, &place, &test, sink),
                None => {
                    sink.refuse_part(&place, Refused::new("the test is no object"));
                    Ok(())
                }
            }
        },
    )?;
    add_failed_collectors(file, run, sink)?;
    let is_alone = counted.tests == 0;
    if is_alone {
        fill_summary_counts(run, &header.summary, sink);
    }
    for (name, n) in OUTCOMES
        .into_iter()
        .zip(counted.by_outcome)
        .chain([("total", counted.tests)])
    {
        if let Some(stated) = header.summary.get(name) {
            sink.add_published_count(run, name, stated, Some(n).filter(|_| !is_alone));
        }
    }
    Ok(())
}

/// Adds what could not be collected, and so has no test in the report, as items that are not evaluated.
fn add_failed_collectors(
    file: &ForeignFile,
    run: RunHandle,
    sink: &mut ImportSink<'_>,
) -> Result<(), ReadStop> {
    let mut names: Vec<String> = Vec::new();
    let mut place = 0;
    read_object::<IgnoredAny, Lenient<PytestCollector>>(
        file.open()?,
        &file.shown,
        &[],
        "collectors",
        &mut |collector| {
            place += 1;
            let Some(collector) = collector.0.filter(|found| found.outcome == "failed") else {
                return Ok(());
            };
            let place = format!("collector {place}");
            let name = to_filled_text(&collector.nodeid).unwrap_or_else(|| place.clone());
            let outcome = sink.new_outcome(run, &name, ItemStatus::NotEvaluated);
            let details = ItemDetails {
                reason: to_filled_text(&collector.longrepr),
                ..ItemDetails::default()
            };
            names.push(name);
            sink.add_outcome(run, &place, outcome, details)
        },
    )?;
    if let Some((first, others)) = names.split_first() {
        let failed = reported_tests::first_and_more(first, others.len() as u64);
        let record = sink.run_mut(run);
        record.status = RunStatus::Failed;
        record.error = Some(format!("{failed} could not be collected"));
    }
    Ok(())
}

/// Takes the counts of a report without tests.
fn fill_summary_counts(run: RunHandle, summary: &Value, sink: &mut ImportSink<'_>) {
    let of = |names: &[&str]| {
        names
            .iter()
            .filter_map(|name| summary.get(name).and_then(to_count))
            .fold(0_u64, u64::saturating_add)
    };
    let (passed, failed) = (of(&["passed", "xpassed"]), of(&["failed", "error"]));
    reported_tests::fill_summary_counts(run, passed, failed, sink);
}

fn begin_run(header: &PytestHeader, stem: &str, sink: &mut ImportSink<'_>) -> Option<RunHandle> {
    let mut names = ReportedNames::from_properties(&header.environment);
    let root = to_text(&header.root).unwrap_or_default();
    let folder = root
        .trim_end_matches(['/', '\\'])
        .rsplit(['/', '\\'])
        .next()
        .unwrap_or_default();
    names.suite = names
        .suite
        .or_else(|| Some(folder.to_owned()).filter(|folder| !folder.is_empty()));
    let created = to_amount(&header.created).and_then(time_from_unix_seconds);
    let run = reported_tests::begin_run(names, stem, created, sink)?;
    let record = sink.run_mut(run);
    record.duration_seconds = to_amount(&header.duration);
    // Codes 0, 1 and 5 follow from the tests; the others are failures of pytest itself.
    if let Some(code @ 2..=4) = to_count(&header.exitcode) {
        record.status = RunStatus::Failed;
        record.error = Some(format!("pytest ended with exit code {code}"));
    }
    for key in ["Python", "Platform"] {
        if let Some(value) = header.environment.get(key).and_then(to_text) {
            record
                .tags
                .insert(key.to_lowercase(), clip_text(&value, 500).into_owned());
        }
    }
    Some(run)
}

/// Numbers of tests by outcome.
#[derive(Default)]
struct PytestTotals {
    tests: u64,
    by_outcome: [u64; OUTCOMES.len()],
}

impl PytestTotals {
    fn add_test(
        &mut self,
        run: RunHandle,
        place: &str,
        test: &PytestTest,
        sink: &mut ImportSink<'_>,
    ) -> Result<(), ReadStop> {
        let said = to_text(&test.outcome).unwrap_or_default();
        self.tests += 1;
        if let Some(place) = OUTCOMES.iter().position(|outcome| *outcome == said) {
            self.by_outcome[place] += 1;
        }
        let Some(id) = to_filled_text(&test.nodeid) else {
            sink.refuse_part(place, Refused::new("the test has no name"));
            return Ok(());
        };
        let status = match said.as_str() {
            "passed" => ItemStatus::Pass,
            "failed" => ItemStatus::Fail,
            "error" => ItemStatus::Error,
            "skipped" => ItemStatus::Skipped,
            "xfailed" => {
                sink.note_quirk("tests that fail as expected are skipped");
                ItemStatus::Skipped
            }
            "xpassed" => {
                sink.note_quirk("tests that pass although they were expected to fail are passes");
                ItemStatus::Pass
            }
            _ => {
                sink.note_quirk("tests whose outcome is unknown are not evaluated");
                ItemStatus::NotEvaluated
            }
        };
        let phases: Vec<&PytestPhase> = [&test.setup, &test.call, &test.teardown]
            .into_iter()
            .filter_map(|phase| phase.0.as_ref())
            .collect();
        let mut outcome = sink.new_outcome(run, &id, status);
        // A test's duration includes its set-up and teardown.
        outcome.duration_seconds = phases
            .iter()
            .map(|phase| to_amount(&phase.duration))
            .sum::<Option<f64>>()
            .filter(|_| !phases.is_empty());
        outcome.category = id.split_once("::").map(|(file, _)| file.to_owned());
        let mut details = ItemDetails {
            reason: failure_reason(status, &phases),
            ..ItemDetails::default()
        };
        let pairs = test.user_properties.as_array().into_iter().flatten();
        for properties in std::iter::once(&test.metadata).chain(pairs) {
            property_metrics::apply_properties(properties, &mut outcome, &mut details);
        }
        sink.add_outcome(run, place, outcome, details)
    }
}

/// Returns the reason of the phase that ended the test.
fn failure_reason(status: ItemStatus, phases: &[&PytestPhase]) -> Option<String> {
    if status == ItemStatus::Pass {
        return None;
    }
    let ended = phases.iter().find(|phase| phase.outcome != "passed")?;
    ended
        .crash
        .get("message")
        .and_then(to_text)
        .or_else(|| to_text(&ended.longrepr))
        .filter(|reason| !reason.trim().is_empty())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_phase_that_ended_the_test_says_why() {
        let phase = |value: Value| PytestPhase::deserialize(value).expect("a phase");
        let setup = phase(json!({"outcome": "passed", "duration": 0.1}));
        let call = phase(
            json!({"outcome": "failed", "crash": {"message": "assert 1 == 2"}, "longrepr": "long"}),
        );
        assert_eq!(
            failure_reason(ItemStatus::Fail, &[&setup, &call]).as_deref(),
            Some("assert 1 == 2")
        );
        let error = phase(json!({"outcome": "failed", "longrepr": "fixture not found"}));
        assert_eq!(
            failure_reason(ItemStatus::Error, &[&error]).as_deref(),
            Some("fixture not found")
        );
        assert_eq!(failure_reason(ItemStatus::Pass, &[&setup, &call]), None);
    }
}
