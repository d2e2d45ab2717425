//! kotef: one list of scenarios per run. Dry runs claim success without a result, so they are ignored.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::Value;

use crate::domain::{ItemDetails, ItemKind, ItemStatus, Run};

use super::super::cell::{Refused, parse_date_time};
use super::super::rows::ReadStop;
use super::super::source::hex_digest;
use super::claim::Claim;
use super::format::FormatFacts;
use super::importer::FormatImporter;
use super::json::{Lenient, to_count, to_filled_text, to_number, to_text};
use super::json_reader::read_list;
use super::peek::{ContentKind, Peek};
use super::sink::{ImportSink, RunHandle};
use super::source::ForeignFileGroup;

const FORMAT_NAME: &str = "kotef";
const DRY_RUN: &str = "dry_run";

pub(super) const FORMAT: FormatImporter = FormatImporter::new(
    FormatFacts {
        name: "kotef",
        title: "kotef",
        kind: ItemKind::Task,
        reads_names: true,
        version: 3,
    },
    claim_file,
    read_source,
);

fn claim_file(peek: &Peek) -> Option<Claim> {
    let is_ours = peek.has_all(&["[].scenarioId", "[].success"])
        && (peek.has("[].terminalStatus") || peek.has("[].metrics"));
    (peek.content == ContentKind::Json && !peek.is_lines && is_ours).then_some(Claim::Alone)
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Scenario {
    #[serde(rename = "scenarioId")]
    id: Value,
    success: Value,
    terminal_status: Value,
    metrics: Lenient<ScenarioMetrics>,
    violations: Value,
    run_report_path: Value,
    error: Value,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct ScenarioMetrics {
    steps: Value,
    commands_used: Value,
    test_runs_used: Value,
    web_requests_used: Value,
    terminal_status: Value,
    quality_score: Value,
}

impl Scenario {
    fn end_status(&self) -> String {
        let of_metrics = || to_text(&self.metrics.0.as_ref()?.terminal_status);
        to_text(&self.terminal_status)
            .or_else(of_metrics)
            .unwrap_or_default()
    }
}

fn read_source(source: &ForeignFileGroup, sink: &mut ImportSink<'_>) -> Result<(), ReadStop> {
    let Some(file) = source.files.first() else {
        return Ok(());
    };
    // Every run has its own report paths, so they identify a run whose file was renamed.
    let mut told = String::new();
    read_list(file.open()?, &file.shown, &mut |scenario: Lenient<
        Scenario,
    >| {
        let scenario = scenario.0.unwrap_or_default();
        let parts = [&scenario.id, &scenario.run_report_path, &scenario.success]
            .map(|part| to_text(part).unwrap_or_default());
        told = hex_digest(
            &[
                told.as_bytes(),
                parts[0].as_bytes(),
                parts[1].as_bytes(),
                parts[2].as_bytes(),
            ],
            false,
        );
        Ok(())
    })?;
    let began = parse_start(&source.name);
    let mut run: Option<Option<RunHandle>> = None;
    let mut attempts: BTreeMap<String, u32> = BTreeMap::new();
    let mut place = 0;
    read_list(file.open()?, &file.shown, &mut |scenario: Lenient<
        Scenario,
    >| {
        place += 1;
        let shown = format!("scenario {place}");
        let Some(scenario) = scenario.0 else {
            sink.refuse_part(&shown, Refused::new("the scenario is no object"));
            return Ok(());
        };
        if scenario.end_status() == DRY_RUN {
            sink.note_quirk("dry runs are skipped");
            return Ok(());
        }
        let handle = *run.get_or_insert_with(|| {
            let run = sink.begin_run(
                &[began.as_deref().unwrap_or_default(), &told],
                [FORMAT_NAME, FORMAT_NAME, ""],
            )?;
            if let Some(began) = &began {
                set_start_time(sink.run_mut(run), began);
            }
            Some(run)
        });
        let Some(run) = handle else { return Ok(()) };
        let item = to_text(&scenario.id).unwrap_or_default();
        let attempt = attempts.entry(item.clone()).or_default();
        *attempt += 1;
        add_scenario(run, &shown, &item, *attempt, &scenario, sink)
    })
}

fn add_scenario(
    run: RunHandle,
    place: &str,
    item: &str,
    attempt: u32,
    scenario: &Scenario,
    sink: &mut ImportSink<'_>,
) -> Result<(), ReadStop> {
    let ended = scenario.end_status();
    let error = to_filled_text(&scenario.error);
    let status = match (scenario.success.as_bool(), ended.as_str()) {
        (Some(true), _) => ItemStatus::Pass,
        (_, "aborted_constraint") => ItemStatus::Limit,
        (_, "done_success" | "done_partial" | "aborted_stuck") => ItemStatus::Fail,
        _ if error.is_some() => ItemStatus::Error,
        (Some(false), _) => ItemStatus::Fail,
        (None, _) => ItemStatus::NotEvaluated,
    };
    let is_told = !matches!(ended.as_str(), "" | "unknown");
    if is_told
        && scenario
            .success
            .as_bool()
            .is_some_and(|success| success != (ended == "done_success"))
    {
        sink.note_quirk("`success` and `terminalStatus` disagree: `success` counts");
    }
    let mut outcome = sink.new_outcome(run, item, status);
    outcome.attempt = attempt;
    let metrics = scenario.metrics.0.as_ref();
    let used =
        |of: fn(&ScenarioMetrics) -> &Value| metrics.and_then(|metrics| to_count(of(metrics)));
    let tools: [(&str, Option<u64>); 3] = [
        ("commands", used(|metrics| &metrics.commands_used)),
        ("test_runs", used(|metrics| &metrics.test_runs_used)),
        ("web_requests", used(|metrics| &metrics.web_requests_used)),
    ];
    let violations: Vec<String> = scenario
        .violations
        .as_array()
        .into_iter()
        .flatten()
        .map(|violation| to_text(violation).unwrap_or_else(|| violation.to_string()))
        .collect();
    let mut said: Vec<String> = Some(ended)
        .filter(|ended| !ended.is_empty() && status != ItemStatus::Pass)
        .into_iter()
        .collect();
    said.extend(error);
    if !violations.is_empty() {
        said.push(format!("violations: {}", violations.join(", ")));
    }
    let quality = metrics.and_then(|metrics| to_number(&metrics.quality_score));
    let details = ItemDetails {
        reason: Some(said.join("; ")).filter(|reason| !reason.is_empty()),
        steps: used(|metrics| &metrics.steps),
        tools: tools
            .into_iter()
            .filter_map(|(name, count)| Some((name.to_owned(), count?)))
            .collect(),
        scores: quality
            .map(|quality| ("quality".to_owned(), quality))
            .into_iter()
            .collect(),
        ..ItemDetails::default()
    };
    sink.add_outcome(run, place, outcome, details)
}

/// Reads the run's start from the file's name, `eval-<time>.json`, in which colons and dots may be dashes.
fn parse_start(name: &str) -> Option<String> {
    let stamp = name.strip_prefix("eval-")?.split(".json").next()?;
    let (day, clock) = stamp.split_once('T')?;
    let is_local = !clock.ends_with('Z');
    let parts: Vec<&str> = clock
        .trim_end_matches('Z')
        .split(['-', ':', '.', '_'])
        .collect();
    let clock = match parts.as_slice() {
        [hour, minute, second] => format!("{hour}:{minute}:{second}"),
        [hour, minute, second, fraction] => format!("{hour}:{minute}:{second}.{fraction}"),
        _ => return None,
    };
    let text = format!("{day}T{clock}{}", if is_local { "" } else { "Z" });
    parse_date_time("date", &text).is_ok().then_some(text)
}

fn set_start_time(run: &mut Run, text: &str) {
    run.timestamp = parse_date_time("date", text).ok();
    if !text.ends_with('Z') {
        run.tags.insert("zone".to_owned(), "unknown".to_owned());
    }
}

#[cfg(test)]
mod unit_tests {
    use super::parse_start;

    #[test]
    fn names_say_when_the_run_was() {
        for (name, expected) in [
            (
                "eval-2026-01-02T03-04-05-678Z.json",
                Some("2026-01-02T03:04:05.678Z"),
            ),
            (
                "eval-2026-01-02T03:04:05.678Z.json",
                Some("2026-01-02T03:04:05.678Z"),
            ),
            ("eval-2026-01-02T03-04-05.json", Some("2026-01-02T03:04:05")),
            ("eval-nightly.json", None),
            ("2026-01-02T03-04-05Z.json", None),
        ] {
            assert_eq!(parse_start(name).as_deref(), expected, "{name}");
        }
    }
}
