//! Reads a run: its report and its instances' reports.

use std::collections::{BTreeMap, BTreeSet};

use serde::Deserialize;
use serde_json::Value;

use crate::domain::{Direction, ItemDetails, ItemStatus, ScoreRecord, Unit};

use super::super::super::cell::Refused;
use super::super::super::rows::ReadStop;
use super::super::json::{Lenient, to_count, to_text};
use super::super::json_reader::read_value;
use super::super::sink::{ImportSink, RunHandle, RunMoment};
use super::super::source::{ForeignFile, ForeignFileGroup};
use super::instance::{EVALUATOR, instance_ids, instance_repository, is_unnamed, stem};

const MAX_FAILED_SHOWN: usize = 10;

#[derive(Default)]
pub(super) struct RunReportFiles<'a> {
    pub report: Option<&'a ForeignFile>,
    pub instances: Vec<&'a ForeignFile>,
}

/// Lists of a report, each with its status. If an instance is in several lists, the first counts.
const REPORT_LISTS: [(&str, &str, ItemStatus, Option<&str>); 6] = [
    ("resolved_ids", "resolved_instances", ItemStatus::Pass, None),
    // The benchmark counts it as not resolved, whoever is to blame.
    (
        "infra_failure_ids",
        "infra_failure_instances",
        ItemStatus::Error,
        Some("infrastructure failure"),
    ),
    (
        "unresolved_ids",
        "unresolved_instances",
        ItemStatus::Fail,
        None,
    ),
    (
        "empty_patch_ids",
        "empty_patch_instances",
        ItemStatus::Fail,
        Some("empty patch"),
    ),
    (
        "error_ids",
        "error_instances",
        ItemStatus::Error,
        Some("error"),
    ),
    (
        "incomplete_ids",
        "incomplete_instances",
        ItemStatus::Fail,
        Some("no prediction was submitted"),
    ),
];

#[derive(Default, Deserialize)]
#[serde(default)]
struct InstanceReport {
    #[serde(rename = "patch_is_None")]
    patch_is_none: Value,
    patch_exists: Value,
    patch_successfully_applied: Value,
    resolved: Value,
    infra_failure: Value,
    infra_failure_reason: Value,
    tests_status: Value,
}

pub(super) fn read_run(
    source: &ForeignFileGroup,
    files: &RunReportFiles<'_>,
    sink: &mut ImportSink<'_>,
) -> Result<(), ReadStop> {
    let name = stem(&source.name);
    let (model, run_id) = match name.rsplit_once('.') {
        Some(parts) => parts,
        None if is_unnamed(name) => ("", ""),
        None => (name, ""),
    };
    // A slash in the model's name is written as two underscores.
    let model = if model.matches("__").count() == 1 {
        model.replacen("__", "/", 1)
    } else {
        model.to_owned()
    };
    let Some(run) = sink.begin_run_of_bytes(
        &[&model, run_id],
        ["swe-bench", "", &model],
        RunMoment::Unread,
    ) else {
        return Ok(());
    };

    let report: Value = match files.report {
        Some(file) => rename_lists(read_value(file.open()?, &file.shown)?),
        None => {
            sink.note_quirk(
                "the run's report is missing: instances without a report of their own are unknown",
            );
            Value::Null
        }
    };
    if let Some(version) = report.get("schema_version").and_then(to_text) {
        sink.note_version(&format!("report schema {version}"));
    }
    let mut endings = listed_outcomes(&report);
    if files.instances.is_empty() && count_unlisted(run, &report, endings.len() as u64, sink) {
        endings.clear();
    }
    if !run_id.is_empty() {
        sink.run_mut(run)
            .tags
            .insert("run_id".to_owned(), run_id.to_owned());
    }
    for file in &files.instances {
        let instances: BTreeMap<String, Lenient<InstanceReport>> =
            read_value(file.open()?, &file.shown)?;
        for (id, instance) in instances {
            let Some(instance) = instance.0 else {
                sink.refuse_part(
                    &file.name,
                    Refused::new("the instance's report is no object"),
                );
                continue;
            };
            let (own, why) = instance_outcome(&instance);
            let (status, said) = endings.remove(&id).unwrap_or((own, None));
            if (status == ItemStatus::Pass) != (own == ItemStatus::Pass) {
                sink.note_quirk("an instance's report and the run's disagree: the run's counts");
            }
            let (scores, failed) = summarise_tests(&instance.tests_status);
            let reason = if status == ItemStatus::Pass {
                None
            } else {
                said.or(why).or(failed)
            };
            add_instance(
                run,
                &file.name,
                &id,
                status,
                ItemDetails {
                    reason,
                    scores,
                    ..ItemDetails::default()
                },
                sink,
            )?;
        }
    }
    for (id, (status, reason)) in endings {
        add_instance(
            run,
            &id,
            &id,
            status,
            ItemDetails {
                reason,
                ..ItemDetails::default()
            },
            sink,
        )?;
    }
    add_published_counts(run, &report, sink);
    Ok(())
}

/// Multi-SWE-bench's names for some lists and counts, each with SWE-bench's name.
const MULTI_SWE_BENCH_NAMES: [(&str, &str); 3] = [
    ("resolved", "resolved_ids"),
    ("empty_error_patch_ids", "error_ids"),
    ("empty_error_patch_instances", "error_instances"),
];

fn rename_lists(mut report: Value) -> Value {
    if let Some(report) = report.as_object_mut() {
        for (other, name) in MULTI_SWE_BENCH_NAMES {
            if let Some(value) = report.remove(other) {
                report.entry(name).or_insert(value);
            }
        }
    }
    report
}

/// Keeps only counts if the report lists fewer instances than it counts, since the benchmark's rate is over all of them. Returns whether it
/// does.
fn count_unlisted(run: RunHandle, report: &Value, listed: u64, sink: &mut ImportSink<'_>) -> bool {
    let Some(total) = report
        .get("total_instances")
        .and_then(to_count)
        .filter(|total| *total > listed)
    else {
        return false;
    };
    let passed = report
        .get("resolved_ids")
        .map(instance_ids)
        .unwrap_or_default()
        .into_iter()
        .collect::<BTreeSet<String>>()
        .len() as u64;
    let why = format!(
        "{} of {total} instances are in no list: the run has counts and no outcomes",
        total - listed
    );
    sink.note_quirk(&why);
    let record = sink.run_mut(run);
    (record.shared_tests_passed, record.shared_tests_total) = (Some(passed), Some(total));
    true
}

/// Reads a run that only has its report.
pub(super) fn read_run_report(
    run: RunHandle,
    report: Value,
    sink: &mut ImportSink<'_>,
) -> Result<(), ReadStop> {
    let report = &rename_lists(report);
    let mut endings = listed_outcomes(report);
    if count_unlisted(run, report, endings.len() as u64, sink) {
        endings.clear();
    }
    for (id, (status, reason)) in endings {
        add_instance(
            run,
            &id,
            &id,
            status,
            ItemDetails {
                reason,
                ..ItemDetails::default()
            },
            sink,
        )?;
    }
    add_published_counts(run, report, sink);
    Ok(())
}

fn add_instance(
    run: RunHandle,
    place: &str,
    id: &str,
    status: ItemStatus,
    details: ItemDetails,
    sink: &mut ImportSink<'_>,
) -> Result<(), ReadStop> {
    let mut outcome = sink.new_outcome(run, id, status);
    EVALUATOR.clone_into(&mut outcome.evaluator);
    outcome.cluster = instance_repository(id);
    sink.add_outcome(run, place, outcome, details)
}

type InstanceOutcome = (ItemStatus, Option<String>);

fn listed_outcomes(report: &Value) -> BTreeMap<String, InstanceOutcome> {
    let mut endings: BTreeMap<String, InstanceOutcome> = BTreeMap::new();
    for (list, _, status, reason) in REPORT_LISTS {
        for id in report.get(list).map(instance_ids).unwrap_or_default() {
            let stated = report
                .get("failure_reasons")
                .and_then(|reasons| to_text(reasons.get(&id)?))
                .filter(|_| status != ItemStatus::Pass);
            endings
                .entry(id)
                .or_insert_with(|| (status, stated.or_else(|| reason.map(str::to_owned))));
        }
    }
    endings
}

fn instance_outcome(instance: &InstanceReport) -> InstanceOutcome {
    let is = |value: &Value| *value == Value::Bool(true);
    let is_not = |value: &Value| *value == Value::Bool(false);
    if is(&instance.resolved) {
        (ItemStatus::Pass, None)
    } else if is(&instance.infra_failure) {
        (
            ItemStatus::Error,
            to_text(&instance.infra_failure_reason)
                .or_else(|| Some("infrastructure failure".to_owned())),
        )
    } else if is(&instance.patch_is_none) || is_not(&instance.patch_exists) {
        (ItemStatus::Fail, Some("empty patch".to_owned()))
    } else if is_not(&instance.patch_successfully_applied) {
        (
            ItemStatus::Fail,
            Some("the patch does not apply".to_owned()),
        )
    } else if instance.resolved.is_boolean() {
        (ItemStatus::Fail, None)
    } else {
        (ItemStatus::NotEvaluated, None)
    }
}

/// Returns the shares of tests with the expected result by kind, and a text with the other tests.
fn summarise_tests(status: &Value) -> (BTreeMap<String, f64>, Option<String>) {
    let mut scores = BTreeMap::new();
    let mut failed = Vec::new();
    for kind in ["FAIL_TO_PASS", "PASS_TO_PASS"] {
        let of = |key: &str| {
            status
                .get(kind)
                .and_then(|kind| kind.get(key))
                .map(instance_ids)
                .unwrap_or_default()
        };
        let (passed, failures) = (of("success").len(), of("failure"));
        let total = passed + failures.len();
        if total > 0 {
            scores.insert(kind.to_owned(), passed as f64 / total as f64);
        }
        failed.extend(failures);
    }
    if failed.is_empty() {
        return (scores, None);
    }
    let shown = failed
        .iter()
        .take(MAX_FAILED_SHOWN)
        .map(String::as_str)
        .collect::<Vec<_>>()
        .join(", ");
    let more = if failed.len() > MAX_FAILED_SHOWN {
        ", …"
    } else {
        ""
    };
    (
        scores,
        Some(format!("{} tests failed: {shown}{more}", failed.len())),
    )
}

/// Keeps the report's counts, beside the counts from its lists, and its rates over total and completed instances.
fn add_published_counts(run: RunHandle, report: &Value, sink: &mut ImportSink<'_>) {
    let unique = |list: &str| {
        report
            .get(list)
            .filter(|list| list.is_array())
            .map(|list| instance_ids(list).into_iter().collect::<BTreeSet<String>>())
    };
    let mut state = |name: &str, recomputed: Option<usize>| {
        if let Some(stated) = report.get(name).and_then(to_count) {
            sink.add_published_figure(
                run,
                name,
                stated as f64,
                Unit::Count,
                recomputed.map(|n| n as f64),
                None,
            );
        }
    };
    for (list, name, _, _) in REPORT_LISTS {
        state(name, unique(list).map(|ids| ids.len()));
    }
    state(
        "submitted_instances",
        unique("submitted_ids").map(|ids| ids.len()),
    );
    state(
        "completed_instances",
        unique("completed_ids").map(|ids| ids.len()),
    );
    state(
        "total_instances",
        unique("incomplete_ids").map(|_| listed_outcomes(report).len()),
    );
    let figure = |name: &str| report.get(name).and_then(to_count);
    let resolved = figure("resolved_instances");
    // Like the benchmark, `resolved_of_total` counts instances without a submission as failed; `resolved_of_completed` leaves them out.
    for (metric, of) in [
        ("resolved_of_total", figure("total_instances")),
        ("resolved_of_completed", figure("completed_instances")),
    ] {
        let Some((resolved, total)) = resolved
            .zip(of)
            .filter(|(resolved, total)| *total > 0 && resolved <= total)
        else {
            continue;
        };
        let share = resolved as f64 / total as f64;
        sink.run_mut(run).scores.push(ScoreRecord {
            standard_error: Some((share * (1.0 - share) / total as f64).max(0.0).sqrt()),
            n: Some(total),
            evaluator: Some(EVALUATOR.to_owned()),
            ..ScoreRecord::new(metric, share, Unit::Fraction, Direction::Up)
        });
    }
}
