//! Inspect AI: `.eval` archives and `.json` logs of the UK AI Security Institute's evaluation framework.
//!
//! A log is one run, its samples are questions, and each epoch is an attempt. An archive has a summary of every sample with everything that
//! is kept. So samples with their transcripts are opened only if summaries are missing or old. The header's results are kept as published
//! figures and recomputed from the samples.

mod grade;
mod log;
mod planned;
mod resources;
mod roles;
mod wire;

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use chrono::{DateTime, Utc};
use serde::de::IgnoredAny;
use serde_json::Value;
use tracing::debug;

use crate::domain::{ItemKind, Problem, RunStatus};
use crate::results::Store;

use super::super::ledger::{Ledger, SourceContext};
use super::super::mode::ImportMode;
use super::super::name_overrides::NameOverrides;
use super::super::origin::SourceOrigins;
use super::super::report::SourceReport;
use super::super::rows::ReadStop;
use super::super::stored::{SourceFingerprint, StoredRuns};
use super::claim::Claim;
use super::format::{ForeignFormat, FormatFacts};
use super::importer::FormatImporter;
use super::json::{Lenient, to_count, to_text};
use super::json_reader::{read_first_element, read_list, read_object, read_value};
use super::peek::{ContentKind, Peek};
use super::sink::ImportSink;
use super::source::{ForeignFile, ForeignFileGroup, ZipMembers};
use log::{LogImporter, TASK_TAG};
use wire::{HEADER_KEYS, InspectHeader, InspectSample, InspectSampleSummary};

const MAX_HEADER_BYTES: u64 = 256 << 20;
/// Folder of a journal's summaries: one file for every few samples.
const JOURNAL_FOLDER: &str = "_journal/summaries/";

pub(super) const FORMAT: FormatImporter = FormatImporter::new(
    FormatFacts {
        name: "inspect",
        title: "Inspect AI",
        kind: ItemKind::Question,
        reads_names: false,
        version: 5,
    },
    claim_file,
    read_source,
)
.with_arrangement(|own, sources| mark_superseded(own, sources))
.with_retries(TASK_TAG);

fn claim_file(peek: &Peek) -> Option<Claim> {
    let is_log = match peek.content {
        ContentKind::Zip => {
            peek.has_member("_journal/start.json")
                || (peek.has_member("header.json") && peek.has_member_in("samples/"))
        }
        // `eval.run_id` or its successor `eval.eval_id` tells a log from other tools' files with a key `eval`.
        ContentKind::Json => {
            peek.has_all(&["status", "eval.task", "eval.model"])
                && (peek.has("eval.run_id") || peek.has("eval.eval_id"))
                && !peek.is_lines
        }
        ContentKind::Xml | ContentKind::Text => false,
    };
    is_log.then_some(Claim::Alone)
}

fn read_source(source: &ForeignFileGroup, sink: &mut ImportSink<'_>) -> Result<(), ReadStop> {
    let [file] = source.files.as_slice() else {
        return Err(Problem::in_file(&source.shown, "is not one log").into());
    };
    if let Some(newer) = &source.superseded_by {
        sink.note_quirk(&format!("superseded by run `{newer}`, another log of the same task: imported as cancelled, and not counted"));
    }
    if file.is_archive() {
        read_archive(&mut file.open_archive()?, sink)
    } else {
        read_json(file, sink)
    }
}

/// Marks logs that another log of the same task replaces, as retries of an evaluation set do. The newest complete log is kept, or the
/// newest if none is complete. A log that cannot be read to its end is not imported and replaces none.
fn mark_superseded(own: ForeignFormat, sources: &mut [ForeignFileGroup]) -> Vec<SourceReport> {
    let mut by_task: BTreeMap<String, Vec<usize>> = BTreeMap::new();
    for (place, source) in sources
        .iter()
        .enumerate()
        .filter(|(_, source)| source.format == own)
    {
        if let Some(task) = source.files.first().and_then(task_id) {
            by_task.entry(task).or_default().push(place);
        }
    }
    for places in by_task.into_values().filter(|places| places.len() > 1) {
        let mut logs: Vec<(LogRank, usize)> = places
            .into_iter()
            .filter_map(|place| Some((rank_log(sources[place].files.first()?)?, place)))
            .collect();
        logs.sort();
        let Some((best, _)) = logs
            .iter()
            .rev()
            .find(|(_, place)| is_readable(&sources[*place]))
        else {
            continue;
        };
        for (standing, place) in logs
            .iter()
            .filter(|(standing, _)| standing.identity != best.identity)
        {
            debug!(
                log = sources[*place].shown,
                status = standing.is_complete,
                "superseded"
            );
            let parts: Vec<&str> = best.identity.iter().map(String::as_str).collect();
            sources[*place].superseded_by = Some(Store::imported_run_id(own.name(), &parts));
        }
    }
    Vec::new()
}

/// Returns whether the log can be read to its end, by reading it and keeping nothing.
fn is_readable(source: &ForeignFileGroup) -> bool {
    let (names, taken, nowhere, origins) = (
        NameOverrides::default(),
        StoredRuns::default(),
        Store::new(PathBuf::new()),
        SourceOrigins::default(),
    );
    let bytes = SourceFingerprint {
        file: &source.name,
        place: None,
        sha256: "",
    };
    let told = SourceContext::for_rows(
        source.format.name(),
        (&taken, &nowhere, ""),
        bytes,
        ImportMode::DryRun,
    )
    .for_tool(source.format.kind());
    read_source(
        source,
        &mut ImportSink::new(Ledger::new(told), source, &names, &origins),
    )
    .is_ok()
}

/// Order of the logs of a task, of which the last is kept: complete logs after others, then by time.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct LogRank {
    is_complete: bool,
    created: Option<DateTime<Utc>>,
    identity: Vec<String>,
}

/// Returns the task that a log names near its beginning, or `None` if it names none or cannot be read. Reading the log reports errors.
fn task_id(file: &ForeignFile) -> Option<String> {
    let task = if file.is_archive() {
        to_text(&archived_header(file)?.eval.0?.task_id)
    } else {
        Peek::from_path(&file.path)
            .ok()?
            .text("eval.task_id")
            .map(str::to_owned)
    };
    task.filter(|task| !task.is_empty())
}

/// Reads the header that ranks a log. A log may say only at its end that it was invalidated.
fn rank_log(file: &ForeignFile) -> Option<LogRank> {
    let header = if file.is_archive() {
        archived_header(file)?
    } else {
        read_object(
            file.open().ok()?,
            &file.shown,
            &HEADER_KEYS,
            "samples",
            &mut |_: IgnoredAny| Ok(()),
        )
        .ok()?
    };
    let eval = header.eval.0.as_ref()?;
    let created = to_text(&eval.created)
        .and_then(|text| DateTime::parse_from_rfc3339(&text).ok())
        .map(|time| time.to_utc());
    let is_complete = log::run_status(&header) == RunStatus::Completed;
    Some(LogRank {
        is_complete,
        created,
        identity: log::run_identity(&header.status, eval),
    })
}

fn archived_header(file: &ForeignFile) -> Option<InspectHeader> {
    let mut archive = file.open_archive().ok()?;
    let start = header_member(&archive);
    let bytes = archive.read_member(start, MAX_HEADER_BYTES).ok()?;
    read_value(bytes.as_slice(), "").ok()
}

fn header_member(archive: &ZipMembers<'_>) -> &'static str {
    // A log that crashed or is still being written has only the journal's start.
    if archive.has_member("header.json") {
        "header.json"
    } else {
        "_journal/start.json"
    }
}

/// Reads the log twice: a log may have its results after its samples, and they decide how samples are read.
fn read_json(file: &ForeignFile, sink: &mut ImportSink<'_>) -> Result<(), ReadStop> {
    let mut samples = 0;
    let header: InspectHeader = read_object(
        file.open()?,
        &file.shown,
        &HEADER_KEYS,
        "samples",
        &mut |_: IgnoredAny| {
            samples += 1;
            Ok(())
        },
    )?;
    let Some(mut log) = LogImporter::begin_run(header, samples, &file.shown, sink)? else {
        return Ok(());
    };
    let mut place = 0;
    read_object::<IgnoredAny, Lenient<InspectSample>>(
        file.open()?,
        &file.shown,
        &[],
        "samples",
        &mut |sample| {
            place += 1;
            log.add_sample(&sample, &format!("sample {place}"), sink)
        },
    )?;
    log.finish_run(sink)
}

fn read_archive(archive: &mut ZipMembers<'_>, sink: &mut ImportSink<'_>) -> Result<(), ReadStop> {
    let names = archive.member_names();
    let start = header_member(archive);
    let label = archive.member_label(start);
    let header = archive.read_member(start, MAX_HEADER_BYTES)?;
    let header: InspectHeader = read_value(header.as_slice(), &label)?;
    if start != "header.json" {
        sink.note_quirk("the log is unfinished: read from its journal");
    }
    let members: Vec<String> = names
        .iter()
        .filter(|name| is_sample(name))
        .cloned()
        .collect();
    let summaries: Vec<String> = if archive.has_member("summaries.json") {
        vec!["summaries.json".to_owned()]
    } else {
        let mut journal: Vec<String> = names
            .into_iter()
            .filter(|name| name.starts_with(JOURNAL_FOLDER))
            .collect();
        // `10.json` comes after `9.json`.
        journal.sort_by_key(|name| (name.len(), name.clone()));
        journal
    };
    // Summaries from before 2025 lack tokens that the header has. Then read the samples themselves.
    let summaries = if !log::has_usage(&header) || summaries_have_usage(archive, &summaries)? {
        summaries
    } else {
        Vec::new()
    };
    let mut samples = members.len() as u64;
    if log::total_samples(&header).is_some_and(|total| total > samples) {
        samples = samples.max(summarised_samples(archive, &summaries)?.len() as u64);
    }
    let Some(mut log) = LogImporter::begin_run(header, samples, &archive.file.shown, sink)? else {
        return Ok(());
    };
    let mut place = 0;
    for name in &summaries {
        let label = archive.member_label(name);
        archive.read_member_with(name, |reader| {
            read_list(reader, &label, &mut |sample| {
                place += 1;
                log.add_sample(&sample, &format!("sample {place}"), sink)
            })
        })?;
    }
    if place < members.len() {
        // A log that crashed may have samples without a summary.
        let told = summarised_samples(archive, &summaries)?;
        for name in &members {
            let label = archive.member_label(name);
            let sample: Lenient<InspectSample> =
                archive.read_member_with(name, |reader| read_value(reader, &label))?;
            if sample
                .0
                .as_ref()
                .is_none_or(|sample| !told.contains(&sample_key(&sample.id, &sample.epoch)))
            {
                log.add_sample(&sample, name, sink)?;
            }
        }
    }
    log.finish_run(sink)
}

/// Returns whether an archive's member is a sample: a file of its own, or the first part of a sample whose events and messages lie in
/// chunks in a folder of its name.
fn is_sample(member: &str) -> bool {
    let Some(name) = member
        .strip_prefix("samples/")
        .filter(|name| !name.is_empty() && !name.ends_with('/'))
    else {
        return false;
    };
    let is_numbered = |folder: &str| {
        folder.rsplit_once("_epoch_").is_some_and(|(_, epoch)| {
            !epoch.is_empty() && epoch.bytes().all(|byte| byte.is_ascii_digit())
        })
    };
    let mut folders = name.match_indices('/').map(|(end, _)| &name[..end]);
    match folders.find(|folder| is_numbered(folder)) {
        Some(folder) => &name[folder.len()..] == "/sample.json",
        None => true,
    }
}

/// Returns whether the summaries have tokens, judging by the first one.
fn summaries_have_usage(
    archive: &mut ZipMembers<'_>,
    summaries: &[String],
) -> Result<bool, ReadStop> {
    for name in summaries {
        let label = archive.member_label(name);
        if let Some(first) = archive.read_member_with(name, |reader| {
            read_first_element::<Lenient<InspectSampleSummary>>(reader, &label)
        })? {
            return Ok(first.0.is_some_and(|first| first.model_usage.is_some()));
        }
    }
    Ok(false)
}

/// Returns the keys of the samples that have a summary.
fn summarised_samples(
    archive: &mut ZipMembers<'_>,
    summaries: &[String],
) -> Result<BTreeSet<(String, u64)>, ReadStop> {
    let mut told = BTreeSet::new();
    for name in summaries {
        let label = archive.member_label(name);
        archive.read_member_with(name, |reader| {
            read_list(reader, &label, &mut |brief: Lenient<
                InspectSampleSummary,
            >| {
                told.extend(brief.0.map(|brief| sample_key(&brief.id, &brief.epoch)));
                Ok(())
            })
        })?;
    }
    Ok(told)
}

/// Returns the key of a sample within its log.
fn sample_key(id: &Value, epoch: &Value) -> (String, u64) {
    (
        to_text(id).unwrap_or_default(),
        to_count(epoch).unwrap_or(1),
    )
}

#[cfg(test)]
mod unit_tests {
    use super::*;

    #[test]
    fn chunks_are_parts_of_their_sample() {
        for member in [
            "samples/1_epoch_1.json",
            "samples/s 1_epoch_12/sample.json",
            "samples/a/b_epoch_1.json",
            "samples/a/b_epoch_1/sample.json",
        ] {
            assert!(is_sample(member), "{member}");
        }
        for member in [
            "samples/1_epoch_1/metadata.json",
            "samples/1_epoch_1/events/0.json",
            "samples/1_epoch_1/events/sample.json",
            "samples/",
            "samples/1_epoch_1/",
            "header.json",
        ] {
            assert!(!is_sample(member), "{member}");
        }
    }
}
