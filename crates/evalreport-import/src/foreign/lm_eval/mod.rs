//! lm-evaluation-harness: the results of one evaluation and the samples of each of its tasks, in files with one time stamp.
//!
//! Every task is a run: it has its own version, its own figures and, if samples were logged, its own file of them. A group of tasks only
//! has figures, which are recomputed from its tasks' figures. Samples have one line per filter of an answer. The first filter and the first
//! metric of grades decide what passes; the others are scores.

mod metric;
mod sample;
mod task;
mod wire;

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::Value;

use crate::domain::{ItemKind, Problem};

use super::super::cell::Refused;
use super::super::rows::ReadStop;
use super::claim::Claim;
use super::format::FormatFacts;
use super::importer::FormatImporter;
use super::json_reader::read_value;
use super::peek::{ContentKind, Peek};
use super::sink::ImportSink;
use super::source::{ForeignFile, ForeignFileGroup};
use task::TaskImporter;
use wire::{LmEvalResults, is_time};

const MAX_RESULTS_BYTES: u64 = 256 << 20;
/// Maximum of groups times tasks, because every group may hold every task.
const MAX_GROUPED: usize = 4_000_000;

pub(super) const FORMAT: FormatImporter = FormatImporter::new(
    FormatFacts {
        name: "lm-eval",
        title: "lm-evaluation-harness",
        kind: ItemKind::Question,
        reads_names: true,
        version: 5,
    },
    claim_file,
    read_source,
);

fn claim_file(peek: &Peek) -> Option<Claim> {
    let is_samples = is_samples(peek);
    if !is_samples && !is_results(peek) {
        return None;
    }
    let folder = peek.path.parent().unwrap_or(Path::new(""));
    let (stem, stamp) = split_name(&peek.name);
    match stamp {
        Some(stamp) => Some(Claim::PartOf(folder.join(stamp))),
        // Before 0.4.3 names had no stamp, and a folder held one evaluation.
        None if is_samples || stem == "results" => Some(Claim::PartOf(folder.to_owned())),
        None => Some(Claim::Alone),
    }
}

fn is_samples(peek: &Peek) -> bool {
    peek.content == ContentKind::Json
        && (peek.has_all(&["doc_id", "doc"]) || peek.has_all(&["[].doc_id", "[].doc"]))
}

/// Returns whether a file is results: its metrics' names have a filter, or, before 0.4, `versions` and a `config` are beside them. Three
/// relatives are read as well: evalchemy's tasks are repeated, lighteval writes `config_general`, and results of many jobs that were merged
/// have a level of times.
fn is_results(peek: &Peek) -> bool {
    let is_stamped = split_name(&peek.name).1.is_some();
    let has_versions = peek.has("versions");
    let tells = |task: &str| {
        let has = |key: &str| peek.has(&format!("results.{task}.{key}"));
        has("run_stats")
            || (has("examples") && is_stamped)
            || peek
                .keys_below(&format!("results.{task}"))
                .any(|key| key.contains(',') || (has_versions && is_time(key)))
    };
    let has_any = |keys: &[&str]| keys.iter().any(|key| peek.has(key));
    peek.content == ContentKind::Json
        && !peek.is_lines
        && peek.has("results")
        && (peek.keys_below("results").any(tells)
            || (has_versions && has_any(&["config.model", "config.model_args", "config_general"]))
            || peek.has_all(&["config.model", "config.model_args", "git_hash"]))
}

/// Splits a file's name, without its extensions, before its time stamp.
fn split_name(name: &str) -> (&str, Option<&str>) {
    let name = name
        .strip_suffix(".gz")
        .or_else(|| name.strip_suffix(".zst"))
        .unwrap_or(name);
    let name = name
        .strip_suffix(".jsonl")
        .or_else(|| name.strip_suffix(".json"))
        .unwrap_or(name);
    match name.rsplit_once('_') {
        Some((stem, stamp)) if is_stamp(stamp) => (stem, Some(stamp)),
        _ => (name, None),
    }
}

/// Returns whether a text is a time stamp such as `2026-01-21T03-44-18.458309`. Whole seconds have no fraction.
fn is_stamp(text: &str) -> bool {
    let pattern = b"0000-00-00T00-00-00";
    let fits = |(byte, like): (&u8, &u8)| {
        if *like == b'0' {
            byte.is_ascii_digit()
        } else {
            byte == like
        }
    };
    let bytes = text.as_bytes();
    bytes.len() >= pattern.len()
        && bytes.iter().zip(pattern).all(fits)
        && bytes[pattern.len()..]
            .iter()
            .all(|byte| byte.is_ascii_digit() || *byte == b'.')
}

fn read_source(source: &ForeignFileGroup, sink: &mut ImportSink<'_>) -> Result<(), ReadStop> {
    let mut samples = Vec::new();
    let mut results: Option<LmEvalResults> = None;
    for file in &source.files {
        if Peek::from_path(&file.path).is_ok_and(|peek| is_samples(&peek)) {
            samples.push(file);
        } else if results.is_some() {
            let refused =
                Refused::with_detail("a second file of results of one evaluation", &file.shown);
            sink.refuse_part(&file.name, refused);
        } else {
            results = Some(read_value(
                file.read_bytes(MAX_RESULTS_BYTES)?.as_slice(),
                &file.shown,
            )?);
        }
    }
    let has_results = results.is_some();
    let mut results = results.unwrap_or_default();
    if has_results && results.figures.is_empty() {
        return Err(Problem::in_file(&source.shown, "holds no results of tasks").into());
    }
    if !has_results {
        sink.note_quirk(
            "samples without a results file: task and model are taken from the file names",
        );
        results = results_from_names(source, &samples);
    }
    if results.remove_averages() {
        sink.note_quirk("means over tasks are left out: `--overall macro` gives them");
    }
    if let Some(version) = results.version() {
        sink.note_version(&format!("lm_eval {version}"));
    }
    let parts = results.split_by_time();
    if let [results] = parts.as_slice() {
        return import_tasks(results, &samples, has_results, sink);
    }
    sink.note_quirk("results of many jobs in one file: each time of a task is a run");
    parts
        .iter()
        .try_for_each(|part| import_tasks(part, &[], has_results, sink))
}

/// Imports the tasks and the groups of an evaluation.
fn import_tasks(
    results: &LmEvalResults,
    samples: &[&ForeignFile],
    has_results: bool,
    sink: &mut ImportSink<'_>,
) -> Result<(), ReadStop> {
    let mut by_task = assign_samples(results, samples, has_results, sink);
    let groups = results.group_names();
    for name in results.figures.keys() {
        if !groups.contains(name.as_str()) {
            let file = by_task.remove(name.as_str());
            TaskImporter::new(results, name).import_run(file, sink)?;
        }
    }
    if groups.len().saturating_mul(results.figures.len()) > MAX_GROUPED {
        sink.refuse_part(
            "groups",
            Refused::new("more groups of tasks than can be looked through"),
        );
        return Ok(());
    }
    for name in results
        .figures
        .keys()
        .filter(|name| groups.contains(name.as_str()))
    {
        task::read_group(results, name, sink);
    }
    Ok(())
}

/// Assigns each file of samples to the task at the end of its name.
fn assign_samples<'f>(
    results: &LmEvalResults,
    samples: &[&'f ForeignFile],
    has_results: bool,
    sink: &mut ImportSink<'_>,
) -> BTreeMap<String, &'f ForeignFile> {
    let mut by_task = BTreeMap::new();
    let tasks: Vec<(&String, String)> = results
        .figures
        .keys()
        .map(|task| (task, sanitize_name(task)))
        .collect();
    for file in samples {
        let stem = sanitize_name(split_name(&file.name).0);
        let ends = |(_, task): &&(&String, String)| {
            stem.strip_suffix(task.as_str())
                .is_some_and(|rest| rest.is_empty() || rest.ends_with('_'))
        };
        let found = tasks
            .iter()
            .filter(ends)
            .max_by_key(|(task, _)| task.len())
            .map(|(task, _)| *task);
        match found {
            Some(task) if !by_task.contains_key(task) => {
                by_task.insert(task.clone(), *file);
            }
            Some(_) => sink.refuse_part(
                &file.name,
                Refused::new("a second file of samples of one task"),
            ),
            None if has_results => sink.refuse_part(
                &file.name,
                Refused::new("samples of a task that the results do not have"),
            ),
            None => {}
        }
    }
    by_task
}

/// Returns a name as in file names: every character except letters, digits, `.` and `-` becomes `_`.
fn sanitize_name(name: &str) -> String {
    name.chars()
        .map(|letter| {
            if letter.is_alphanumeric() || matches!(letter, '.' | '-') {
                letter
            } else {
                '_'
            }
        })
        .collect()
}

/// Builds results from the names of the files of samples.
fn results_from_names(source: &ForeignFileGroup, samples: &[&ForeignFile]) -> LmEvalResults {
    let mut results = LmEvalResults {
        date: Value::String(source.name.clone()),
        ..LmEvalResults::default()
    };
    for file in samples {
        let (stem, _) = split_name(&file.name);
        let task = stem.strip_prefix("samples_").unwrap_or(stem);
        results
            .figures
            .insert(task.to_owned(), Value::Object(serde_json::Map::new()));
        let folder = file
            .path
            .parent()
            .and_then(Path::file_name)
            .map(|name| name.to_string_lossy().replace("__", "/"));
        results.model_name = folder.map_or(Value::Null, Value::String);
    }
    results
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stamp_ends_a_name() {
        for (name, expected) in [
            (
                "results_2026-01-21T03-44-18.458309.json",
                ("results", Some("2026-01-21T03-44-18.458309")),
            ),
            (
                "samples_a_b_2026-01-21T03-44-18.jsonl.gz",
                ("samples_a_b", Some("2026-01-21T03-44-18")),
            ),
            ("results.json", ("results", None)),
            ("samples_a_2026-01-21.jsonl", ("samples_a_2026-01-21", None)),
            ("_é026-01-21T03-44-18.json", ("_é026-01-21T03-44-18", None)),
        ] {
            assert_eq!(split_name(name), expected, "{name}");
        }
    }
}
