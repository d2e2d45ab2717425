//! A submission of the experiments repository: `evaluation/<split>/<date>_<name>/`.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use serde::Deserialize;
use serde_json::Value;

use crate::document::{self, Node};
use crate::domain::{CostSource, ItemDetails, ItemStatus, Unit};

use super::super::super::cell::parse_date_time;
use super::super::super::rows::ReadStop;
use super::super::json::{Lenient, to_amount, to_count};
use super::super::json_reader::read_value;
use super::super::sink::{ImportSink, RunHandle, RunMoment};
use super::super::source::{ForeignFile, ForeignFileGroup};
use super::instance::{EVALUATOR, instance_ids, instance_repository, split_date};
use super::run::read_run_report;

const MAX_METADATA_BYTES: u64 = 1 << 20;
/// Numbers of instances of the benchmark's splits.
const SPLIT_SIZES: [(&str, u64); 4] = [
    ("verified", 500),
    ("lite", 300),
    ("test", 2294),
    ("bash-only", 500),
];

#[derive(Default)]
pub(super) struct SubmissionFiles<'a> {
    pub results: Option<&'a ForeignFile>,
    pub totals: Option<&'a ForeignFile>,
    pub instances: Option<&'a ForeignFile>,
    pub metadata: Option<&'a ForeignFile>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct PerInstanceDetails {
    cost: Value,
    api_calls: Value,
    resolved: Value,
}

/// Lists of results. On the benchmark's board every instance that is not resolved counts as failed. Older results have a list for each
/// result; newer ones omit failed instances. If an instance is in several lists, the first counts.
const RESULT_LISTS: [(&str, ItemStatus, Option<&str>); 12] = [
    ("resolved", ItemStatus::Pass, None),
    (
        "no_generation",
        ItemStatus::Fail,
        Some("no patch was generated"),
    ),
    (
        "install_fail",
        ItemStatus::Error,
        Some("installation failed"),
    ),
    ("reset_failed", ItemStatus::Error, Some("reset failed")),
    ("no_logs", ItemStatus::Error, Some("no logs")),
    (
        "no_apply",
        ItemStatus::Fail,
        Some("the patch does not apply"),
    ),
    (
        "test_timeout",
        ItemStatus::Limit,
        Some("the tests ran out of time"),
    ),
    (
        "test_errored",
        ItemStatus::Error,
        Some("the tests failed to run"),
    ),
    ("applied", ItemStatus::Fail, None),
    ("with_logs", ItemStatus::Fail, None),
    ("unresolved", ItemStatus::Fail, None),
    ("generated", ItemStatus::Fail, None),
];

pub(super) fn read_submission(
    source: &ForeignFileGroup,
    files: &SubmissionFiles<'_>,
    sink: &mut ImportSink<'_>,
) -> Result<(), ReadStop> {
    let folder = Path::new(&source.shown);
    let split = folder
        .parent()
        .and_then(|folder| folder.file_name()?.to_str())
        .unwrap_or_default()
        .to_lowercase();
    let size = SPLIT_SIZES
        .iter()
        .find(|(name, _)| *name == split)
        .map(|(_, size)| *size);
    let suite = if size.is_some() || matches!(split.as_str(), "multimodal" | "multilingual") {
        format!("swe-bench-{split}")
    } else {
        "swe-bench".to_owned()
    };
    let metadata = files.metadata.and_then(|file| read_metadata(file, sink));
    let (date, name) = split_date(&source.name);
    let metadata = metadata.as_ref();
    let approach = metadata_text(metadata, &["info", "name"]).unwrap_or_else(|| name.to_owned());
    let model = metadata_text(metadata, &["tags", "model"]).unwrap_or_default();
    let Some(run) = sink.begin_run_of_bytes(
        &[&split, &source.name],
        [&suite, &approach, &model],
        RunMoment::Unread,
    ) else {
        return Ok(());
    };
    let record = sink.run_mut(run);
    if let Some(time) = date.and_then(|date| parse_date_time("date", &date).ok()) {
        record.timestamp = Some(time);
        record.tags.insert("zone".to_owned(), "unknown".to_owned());
    }
    for (tag, path) in [
        ("organisation", &["tags", "org"][..]),
        ("attempts", &["tags", "system", "attempts"][..]),
    ] {
        if let Some(word) = metadata_text(metadata, path) {
            record.tags.insert(tag.to_owned(), word);
        }
    }

    let results: Value = match files.results {
        Some(file) => read_value(file.open()?, &file.shown)?,
        None => Value::Null,
    };
    let counted = match files.instances {
        Some(file) => add_instances(run, file, &results, sink)?,
        None if results.get("generated").is_some_and(Value::is_array) => {
            add_listed(run, &results, sink)?
        }
        None => {
            let total = files.totals.and_then(read_total_instances).or(size);
            set_counts_only(run, &results, total, sink)
        }
    };
    // In percent, as on the board.
    if let Some(stated) = metadata_text(metadata, &["info", "resolved"])
        .and_then(|word| word.trim_end_matches('%').trim().parse::<f64>().ok())
    {
        let recomputed = counted
            .filter(|(_, total)| *total > 0)
            .map(|(passed, total)| passed as f64 / total as f64);
        sink.add_published_figure(
            run,
            "resolved",
            stated / 100.0,
            Unit::Fraction,
            recomputed,
            Some(0.000_51),
        );
    }
    Ok(())
}

/// Reads a submission to Multi-SWE-bench, `evaluation/<language>/<split>/<date>_<agent>_<model>/`. Its results are a run's report with
/// other names for some of its lists.
pub(super) fn read_multi_swe_bench(
    source: &ForeignFileGroup,
    file: &ForeignFile,
    sink: &mut ImportSink<'_>,
) -> Result<(), ReadStop> {
    let report: Value = read_value(file.open()?, &file.shown)?;
    let folders: Vec<&str> = Path::new(&source.shown)
        .ancestors()
        .skip(1)
        .filter_map(|folder| folder.file_name()?.to_str())
        .collect();
    let suite = match folders.as_slice() {
        [_, language, "evaluation", ..] => format!("multi-swe-bench-{language}"),
        _ => "multi-swe-bench".to_owned(),
    };
    let (date, name) = split_date(&source.name);
    let (approach, model) = name.split_once('_').unwrap_or((name, ""));
    let Some(run) = sink.begin_run_of_bytes(
        &[&suite, &source.name],
        [&suite, approach, model],
        RunMoment::Unread,
    ) else {
        return Ok(());
    };
    if !model.is_empty() {
        sink.note_quirk("agent and model are taken from the folder name");
    }
    if let Some(time) = date.and_then(|date| parse_date_time("date", &date).ok()) {
        let record = sink.run_mut(run);
        record.timestamp = Some(time);
        record.tags.insert("zone".to_owned(), "unknown".to_owned());
    }
    read_run_report(run, report, sink)
}

/// Numbers of passed and of all instances.
type PassedOfTotal = Option<(u64, u64)>;

fn add_instances(
    run: RunHandle,
    file: &ForeignFile,
    results: &Value,
    sink: &mut ImportSink<'_>,
) -> Result<PassedOfTotal, ReadStop> {
    let instances: BTreeMap<String, Lenient<PerInstanceDetails>> =
        read_value(file.open()?, &file.shown)?;
    let listed = listed_outcomes(results);
    let knows_resolved = results.get("resolved").is_some_and(Value::is_array);
    let (mut passed, mut total, mut calls) = (0, 0, Some(0_u64));
    for (id, details) in instances {
        let details = details.0.unwrap_or_default();
        let own = match &details.resolved {
            Value::Bool(true) => ItemStatus::Pass,
            Value::Bool(false) => ItemStatus::Fail,
            Value::Null
            | Value::Number(_)
            | Value::String(_)
            | Value::Array(_)
            | Value::Object(_) => ItemStatus::NotEvaluated,
        };
        let (status, reason) = match listed.get(&id) {
            Some(listed) => listed.clone(),
            None if knows_resolved => (ItemStatus::Fail, None),
            None => (own, None),
        };
        if knows_resolved && (status == ItemStatus::Pass) != (own == ItemStatus::Pass) {
            sink.note_quirk(
                "results and per-instance details disagree about instances: the results count",
            );
        }
        // A cost of zero means not measured.
        let cost = to_amount(&details.cost).filter(|cost| *cost > 0.0);
        let steps = to_count(&details.api_calls);
        calls = calls.zip(steps).and_then(|(sum, one)| sum.checked_add(one));
        let mut outcome = sink.new_outcome(run, &id, status);
        EVALUATOR.clone_into(&mut outcome.evaluator);
        outcome.cluster = instance_repository(&id);
        outcome.cost_usd = cost;
        total += 1;
        passed += u64::from(status == ItemStatus::Pass);
        let details = ItemDetails {
            reason,
            steps,
            cost_source: cost.map(|_| CostSource::Reported),
            ..ItemDetails::default()
        };
        sink.add_outcome(run, &id, outcome, details)?;
    }
    sink.run_mut(run).total_calls = calls.filter(|_| total > 0);
    Ok(Some((passed, total)))
}

fn add_listed(
    run: RunHandle,
    results: &Value,
    sink: &mut ImportSink<'_>,
) -> Result<PassedOfTotal, ReadStop> {
    let endings = listed_outcomes(results);
    let (mut passed, total) = (0, endings.len() as u64);
    for (id, (status, reason)) in endings {
        passed += u64::from(status == ItemStatus::Pass);
        let mut outcome = sink.new_outcome(run, &id, status);
        EVALUATOR.clone_into(&mut outcome.evaluator);
        outcome.cluster = instance_repository(&id);
        sink.add_outcome(
            run,
            &id,
            outcome,
            ItemDetails {
                reason,
                ..ItemDetails::default()
            },
        )?;
    }
    Ok(Some((passed, total)))
}

/// Sets counts only: outcomes of the passed instances alone would make every submission perfect.
fn set_counts_only(
    run: RunHandle,
    results: &Value,
    total: Option<u64>,
    sink: &mut ImportSink<'_>,
) -> PassedOfTotal {
    let of = |list: &str| {
        results
            .get(list)
            .map(instance_ids)
            .unwrap_or_default()
            .into_iter()
            .collect::<BTreeSet<String>>()
    };
    let passed = of("resolved").len() as u64;
    let Some(total) = total.filter(|total| *total >= passed) else {
        sink.note_quirk("the file gives neither the failed instances nor their number: only the number of resolved ones is kept");
        sink.add_published_figure(
            run,
            "resolved_instances",
            passed as f64,
            Unit::Count,
            None,
            None,
        );
        return None;
    };
    sink.note_quirk(
        "the file does not name the failed instances: the run has counts, and no outcomes",
    );
    let record = sink.run_mut(run);
    (record.shared_tests_passed, record.shared_tests_total) = (Some(passed), Some(total));
    Some((passed, total))
}

fn listed_outcomes(results: &Value) -> BTreeMap<String, (ItemStatus, Option<String>)> {
    let mut endings = BTreeMap::new();
    for (list, status, reason) in RESULT_LISTS {
        for id in results.get(list).map(instance_ids).unwrap_or_default() {
            endings
                .entry(id)
                .or_insert_with(|| (status, reason.map(str::to_owned)));
        }
    }
    endings
}

fn read_total_instances(file: &ForeignFile) -> Option<u64> {
    let groups: Value = read_value(file.open().ok()?, &file.shown).ok()?;
    let totals: Option<Vec<u64>> = groups
        .as_object()?
        .values()
        .map(|group| to_count(group.get("total")?))
        .collect();
    totals?
        .into_iter()
        .try_fold(0_u64, u64::checked_add)
        .filter(|total| *total > 0)
}

fn read_metadata(file: &ForeignFile, sink: &mut ImportSink<'_>) -> Option<Node> {
    let bytes = file.read_bytes(MAX_METADATA_BYTES).ok();
    let read = bytes.and_then(|bytes| {
        document::parse_table(&file.shown, &String::from_utf8_lossy(&bytes)).ok()
    });
    if read.is_none() {
        sink.note_quirk("unreadable metadata is ignored");
    }
    read
}

/// Returns the text at a path. The texts of a list are joined.
fn metadata_text(node: Option<&Node>, path: &[&str]) -> Option<String> {
    let node = path.iter().try_fold(node?, |node, key| node.get(key))?;
    let one = |node: &Node| match &node.value {
        document::Value::Scalar(scalar) if !node.is_null() => {
            Some(scalar.text.trim().to_owned()).filter(|text| !text.is_empty())
        }
        document::Value::Scalar(_) | document::Value::List(_) | document::Value::Map(_) => None,
    };
    match &node.value {
        document::Value::List(nodes) => {
            Some(nodes.iter().filter_map(one).collect::<Vec<_>>().join(", "))
                .filter(|text| !text.is_empty())
        }
        document::Value::Scalar(_) | document::Value::Map(_) => one(node),
    }
}
