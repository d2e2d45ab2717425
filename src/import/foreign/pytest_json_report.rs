//! pytest-json-report: one JSON file per run of pytest.

use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::Value;

use crate::domain::{ItemDetails, ItemKind, ItemStatus, Problem, RunStatus, Unit};

use super::super::cell::Refused;
use super::super::rows::Stop;
use super::claim::Claim;
use super::format::Facts;
use super::importer::Format;
use super::json::{Lenient, amount, count, filled, text};
use super::json_reader::read_object;
use super::measured::{self, Names, UNNAMED_SUITE};
use super::peek::{Content, Peek};
use super::sink::{Handle, Moment, Sink, clip};
use super::source::{ForeignSource, stem};
use super::times::unix_moment;

pub(super) const FORMAT: Format = Format::new(
    Facts {
        name: "pytest-json-report",
        title: "pytest-json-report",
        kind: ItemKind::Test,
        reads_names: true,
        version: 3,
    },
    claim,
    read,
);

const HEADER: [&str; 6] = [
    "created",
    "duration",
    "exitcode",
    "root",
    "environment",
    "summary",
];
/// Outcomes of a test, as the plugin counts them.
const OUTCOMES: [&str; 6] = ["passed", "failed", "error", "skipped", "xfailed", "xpassed"];

fn claim(peek: &Peek) -> Option<Claim> {
    let is_ours = peek.has_all(&["created", "exitcode", "summary"])
        && ["tests", "collectors", "environment"]
            .iter()
            .any(|key| peek.has(key));
    (peek.content == Content::Json && !peek.is_lines && is_ours).then_some(Claim::Alone)
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Header {
    created: Value,
    duration: Value,
    exitcode: Value,
    root: Value,
    environment: Value,
    summary: Value,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Test {
    nodeid: Value,
    outcome: Value,
    setup: Lenient<Phase>,
    call: Lenient<Phase>,
    teardown: Lenient<Phase>,
    metadata: Value,
    user_properties: Value,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Phase {
    duration: Value,
    outcome: Value,
    crash: Value,
    longrepr: Value,
}

fn read(source: &ForeignSource, sink: &mut Sink<'_>) -> Result<(), Stop> {
    let [file] = source.files.as_slice() else {
        return Err(Problem::in_file(&source.shown, "is not one report").into());
    };
    // The run's header may follow its tests.
    let header: Header = read_object(
        file.open()?,
        &file.shown,
        &HEADER,
        "tests",
        &mut |_: IgnoredAny| Ok(()),
    )?;
    let Some(run) = begin(&header, stem(&source.name, ".json"), sink) else {
        return Ok(());
    };
    let mut counted = Counted::default();
    let mut place = 0;
    read_object::<IgnoredAny, Lenient<Test>>(
        file.open()?,
        &file.shown,
        &[],
        "tests",
        &mut |test| {
            place += 1;
            let place = format!("test {place}");
            match test.0 {
                Some(test) => counted.take(run, &place, &test, sink),
                None => {
                    sink.refuse(&place, Refused::because("the test is no object"));
                    Ok(())
                }
            }
        },
    )?;
    let is_alone = counted.tests == 0;
    if is_alone {
        count_alone(run, &header.summary, sink);
    }
    for (name, n) in OUTCOMES
        .into_iter()
        .zip(counted.by_outcome)
        .chain([("total", counted.tests)])
    {
        if let Some(stated) = header.summary.get(name).and_then(count) {
            sink.stated(
                run,
                name,
                stated as f64,
                Unit::Count,
                Some(n as f64).filter(|_| !is_alone),
                None,
            );
        }
    }
    Ok(())
}

/// Takes the counts of a report without tests.
fn count_alone(run: Handle, summary: &Value, sink: &mut Sink<'_>) {
    let of = |names: &[&str]| {
        names
            .iter()
            .filter_map(|name| summary.get(name).and_then(count))
            .fold(0_u64, u64::saturating_add)
    };
    let (passed, failed) = (of(&["passed", "xpassed"]), of(&["failed", "error"]));
    sink.record();
    if let Some(total) = passed.checked_add(failed).filter(|total| *total > 0) {
        sink.quirk("the report has only a summary: the run has counts, and no outcomes");
        let record = sink.run(run);
        (record.shared_tests_passed, record.shared_tests_total) = (Some(passed), Some(total));
    }
}

fn begin(header: &Header, stem: &str, sink: &mut Sink<'_>) -> Option<Handle> {
    let mut names = Names::default();
    for (name, value) in header.environment.as_object().into_iter().flatten() {
        names.take(name, &text(value).unwrap_or_default());
    }
    let root = text(&header.root).unwrap_or_default();
    let folder = root
        .trim_end_matches(['/', '\\'])
        .rsplit(['/', '\\'])
        .next()
        .unwrap_or_default();
    let suite = names.suite.unwrap_or_else(|| {
        if folder.is_empty() {
            UNNAMED_SUITE
        } else {
            folder
        }
        .to_owned()
    });
    let (approach, model) = (
        names.approach.unwrap_or_default(),
        names.model.unwrap_or_default(),
    );
    let created = amount(&header.created).and_then(unix_moment);
    let run =
        sink.begin_run_of_bytes(&[stem], [&suite, &approach, &model], Moment::Said(created))?;
    let record = sink.run(run);
    record.timestamp = created;
    record.duration_seconds = amount(&header.duration);
    // Codes 0, 1 and 5 follow from the tests; the others are failures of pytest itself.
    if let Some(code @ 2..=4) = count(&header.exitcode) {
        record.status = RunStatus::Failed;
        record.error = Some(format!("pytest ended with exit code {code}"));
    }
    for key in ["Python", "Platform"] {
        if let Some(value) = header.environment.get(key).and_then(text) {
            record
                .tags
                .insert(key.to_lowercase(), clip(&value, 500).into_owned());
        }
    }
    Some(run)
}

/// Numbers of tests by outcome.
#[derive(Default)]
struct Counted {
    tests: u64,
    by_outcome: [u64; OUTCOMES.len()],
}

impl Counted {
    fn take(
        &mut self,
        run: Handle,
        place: &str,
        test: &Test,
        sink: &mut Sink<'_>,
    ) -> Result<(), Stop> {
        let said = text(&test.outcome).unwrap_or_default();
        self.tests += 1;
        if let Some(place) = OUTCOMES.iter().position(|outcome| *outcome == said) {
            self.by_outcome[place] += 1;
        }
        let Some(id) = filled(&test.nodeid) else {
            sink.refuse(place, Refused::because("the test has no name"));
            return Ok(());
        };
        let status = match said.as_str() {
            "passed" => ItemStatus::Pass,
            "failed" => ItemStatus::Fail,
            "error" => ItemStatus::Error,
            "skipped" => ItemStatus::Skipped,
            "xfailed" => {
                sink.quirk("tests that fail as expected are skipped");
                ItemStatus::Skipped
            }
            "xpassed" => {
                sink.quirk("tests that pass although they were expected to fail are passes");
                ItemStatus::Pass
            }
            _ => {
                sink.quirk("tests whose outcome is unknown are not evaluated");
                ItemStatus::NotEvaluated
            }
        };
        let phases: Vec<&Phase> = [&test.setup, &test.call, &test.teardown]
            .into_iter()
            .filter_map(|phase| phase.0.as_ref())
            .collect();
        let mut outcome = sink.outcome(run, &id, status);
        // A test's duration includes its set-up and teardown.
        outcome.duration_seconds = phases
            .iter()
            .map(|phase| amount(&phase.duration))
            .sum::<Option<f64>>()
            .filter(|_| !phases.is_empty());
        outcome.category = id.split_once("::").map(|(file, _)| file.to_owned());
        let mut details = ItemDetails {
            reason: reason(status, &phases),
            ..ItemDetails::default()
        };
        let pairs = test
            .user_properties
            .as_array()
            .into_iter()
            .flatten()
            .flat_map(|pair| pair.as_object().into_iter().flatten());
        for (name, value) in test.metadata.as_object().into_iter().flatten().chain(pairs) {
            measured::take(
                name,
                &text(value).unwrap_or_default(),
                &mut outcome,
                &mut details,
            );
        }
        sink.item(run, place, outcome, details)
    }
}

/// Returns the reason of the phase that ended the test.
fn reason(status: ItemStatus, phases: &[&Phase]) -> Option<String> {
    if status == ItemStatus::Pass {
        return None;
    }
    let ended = phases.iter().find(|phase| phase.outcome != "passed")?;
    ended
        .crash
        .get("message")
        .and_then(text)
        .or_else(|| text(&ended.longrepr))
        .filter(|reason| !reason.trim().is_empty())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_phase_that_ended_the_test_says_why() {
        let phase = |value: Value| Phase::deserialize(value).expect("a phase");
        let setup = phase(json!({"outcome": "passed", "duration": 0.1}));
        let call = phase(
            json!({"outcome": "failed", "crash": {"message": "assert 1 == 2"}, "longrepr": "long"}),
        );
        assert_eq!(
            reason(ItemStatus::Fail, &[&setup, &call]).as_deref(),
            Some("assert 1 == 2")
        );
        let error = phase(json!({"outcome": "failed", "longrepr": "fixture not found"}));
        assert_eq!(
            reason(ItemStatus::Error, &[&error]).as_deref(),
            Some("fixture not found")
        );
        assert_eq!(reason(ItemStatus::Pass, &[&setup, &call]), None);
    }
}
