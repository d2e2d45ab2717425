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

use super::super::ledger::{Ledger, Told};
use super::super::mode::Mode;
use super::super::names::GivenNames;
use super::super::origin::Origins;
use super::super::report::SourceReport;
use super::super::rows::Stop;
use super::super::stored::{Read, StoredRuns};
use super::claim::Claim;
use super::format::{Facts, ForeignFormat};
use super::importer::Format;
use super::json::{Lenient, count, text};
use super::json_reader::{read_first, read_list, read_object, read_value};
use super::peek::{Content, Peek};
use super::sink::Sink;
use super::source::{Archive, ForeignFile, ForeignSource};
use log::{Log, TASK_TAG};
use wire::{Brief, HEADER, Header, Sample};

const MOST_HEADER_BYTES: u64 = 256 << 20;
/// Folder of a journal's summaries: one file for every few samples.
const JOURNAL: &str = "_journal/summaries/";

pub(super) const FORMAT: Format = Format::new(
    Facts {
        name: "inspect",
        title: "Inspect AI",
        kind: ItemKind::Question,
        reads_names: false,
        version: 4,
    },
    claim,
    read,
)
.with_arrangement(|own, sources| mark_superseded(own, sources))
.with_retries(TASK_TAG);

fn claim(peek: &Peek) -> Option<Claim> {
    let is_log = match peek.content {
        Content::Zip => {
            peek.has_member("_journal/start.json")
                || (peek.has_member("header.json") && peek.has_member_in("samples/"))
        }
        // `eval.run_id` or its successor `eval.eval_id` tells a log from other tools' files with a key `eval`.
        Content::Json => {
            peek.has_all(&["status", "eval.task", "eval.model"])
                && (peek.has("eval.run_id") || peek.has("eval.eval_id"))
                && !peek.is_lines
        }
        Content::Xml | Content::Text => false,
    };
    is_log.then_some(Claim::Alone)
}

fn read(source: &ForeignSource, sink: &mut Sink<'_>) -> Result<(), Stop> {
    let [file] = source.files.as_slice() else {
        return Err(Problem::in_file(&source.shown, "is not one log").into());
    };
    if let Some(newer) = &source.superseded_by {
        sink.quirk(&format!("superseded by run `{newer}`, another log of the same task: imported as cancelled, and not counted"));
    }
    if file.is_archive() {
        read_archive(&mut file.archive()?, sink)
    } else {
        read_json(file, sink)
    }
}

/// Marks logs that another log of the same task replaces, as retries of an evaluation set do. The newest complete log is kept, or the
/// newest if none is complete. A log that cannot be read to its end is not imported and replaces none.
fn mark_superseded(own: ForeignFormat, sources: &mut [ForeignSource]) -> Vec<SourceReport> {
    let mut by_task: BTreeMap<String, Vec<usize>> = BTreeMap::new();
    for (place, source) in sources
        .iter()
        .enumerate()
        .filter(|(_, source)| source.format == own)
    {
        if let Some(task) = source.files.first().and_then(task_of) {
            by_task.entry(task).or_default().push(place);
        }
    }
    for places in by_task.into_values().filter(|places| places.len() > 1) {
        let mut logs: Vec<(Standing, usize)> = places
            .into_iter()
            .filter_map(|place| Some((standing(sources[place].files.first()?)?, place)))
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
fn is_readable(source: &ForeignSource) -> bool {
    let (names, taken, nowhere, origins) = (
        GivenNames::default(),
        StoredRuns::default(),
        Store::at(PathBuf::new()),
        Origins::default(),
    );
    let bytes = Read {
        file: &source.name,
        place: None,
        sha256: "",
    };
    let told = Told::rows(
        source.format.name(),
        (&taken, &nowhere, ""),
        bytes,
        Mode::DryRun,
    )
    .of_tool(source.format.kind());
    read(
        source,
        &mut Sink::new(Ledger::new(told), source, &names, &origins),
    )
    .is_ok()
}

/// Order of the logs of a task, of which the last is kept: complete logs after others, then by time.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Standing {
    is_complete: bool,
    created: Option<DateTime<Utc>>,
    identity: Vec<String>,
}

/// Returns the task that a log names near its beginning, or `None` if it names none or cannot be read. Reading the log reports errors.
fn task_of(file: &ForeignFile) -> Option<String> {
    let task = if file.is_archive() {
        text(&archived_header(file)?.eval.0?.task_id)
    } else {
        Peek::of(&file.path)
            .ok()?
            .text("eval.task_id")
            .map(str::to_owned)
    };
    task.filter(|task| !task.is_empty())
}

/// Reads the header that ranks a log. A log may say only at its end that it was invalidated.
fn standing(file: &ForeignFile) -> Option<Standing> {
    let header = if file.is_archive() {
        archived_header(file)?
    } else {
        read_object(
            file.open().ok()?,
            &file.shown,
            &HEADER,
            "samples",
            &mut |_: IgnoredAny| Ok(()),
        )
        .ok()?
    };
    let eval = header.eval.0.as_ref()?;
    let created = text(&eval.created)
        .and_then(|text| DateTime::parse_from_rfc3339(&text).ok())
        .map(|time| time.to_utc());
    let is_complete = log::status(&header) == RunStatus::Completed;
    Some(Standing {
        is_complete,
        created,
        identity: log::identity(&header.status, eval),
    })
}

fn archived_header(file: &ForeignFile) -> Option<Header> {
    let mut archive = file.archive().ok()?;
    let start = start_of(&archive);
    let bytes = archive.read(start, MOST_HEADER_BYTES).ok()?;
    read_value(bytes.as_slice(), "").ok()
}

fn start_of(archive: &Archive<'_>) -> &'static str {
    // A log that crashed or is still being written has only the journal's start.
    if archive.has("header.json") {
        "header.json"
    } else {
        "_journal/start.json"
    }
}

/// Reads the log twice: a log may have its results after its samples, and they decide how samples are read.
fn read_json(file: &ForeignFile, sink: &mut Sink<'_>) -> Result<(), Stop> {
    let mut samples = 0;
    let header: Header = read_object(
        file.open()?,
        &file.shown,
        &HEADER,
        "samples",
        &mut |_: IgnoredAny| {
            samples += 1;
            Ok(())
        },
    )?;
    let Some(mut log) = Log::begin(header, samples, &file.shown, sink)? else {
        return Ok(());
    };
    let mut place = 0;
    read_object::<IgnoredAny, Lenient<Sample>>(
        file.open()?,
        &file.shown,
        &[],
        "samples",
        &mut |sample| {
            place += 1;
            log.take(&sample, &format!("sample {place}"), sink)
        },
    )?;
    log.end(sink)
}

fn read_archive(archive: &mut Archive<'_>, sink: &mut Sink<'_>) -> Result<(), Stop> {
    let names = archive.names();
    let start = start_of(archive);
    let label = archive.label(start);
    let header = archive.read(start, MOST_HEADER_BYTES)?;
    let header: Header = read_value(header.as_slice(), &label)?;
    if start != "header.json" {
        sink.quirk("the log is unfinished: read from its journal");
    }
    let members: Vec<String> = names
        .iter()
        .filter(|name| is_sample(name))
        .cloned()
        .collect();
    let summaries: Vec<String> = if archive.has("summaries.json") {
        vec!["summaries.json".to_owned()]
    } else {
        let mut journal: Vec<String> = names
            .into_iter()
            .filter(|name| name.starts_with(JOURNAL))
            .collect();
        // `10.json` comes after `9.json`.
        journal.sort_by_key(|name| (name.len(), name.clone()));
        journal
    };
    // Summaries from before 2025 lack tokens that the header has. Then read the samples themselves.
    let summaries = if !log::has_usage(&header) || have_usage(archive, &summaries)? {
        summaries
    } else {
        Vec::new()
    };
    let mut samples = members.len() as u64;
    if log::total(&header).is_some_and(|total| total > samples) {
        samples = samples.max(told_of(archive, &summaries)?.len() as u64);
    }
    let Some(mut log) = Log::begin(header, samples, &archive.file.shown, sink)? else {
        return Ok(());
    };
    let mut place = 0;
    for name in &summaries {
        let label = archive.label(name);
        archive.with(name, |reader| {
            read_list(reader, &label, &mut |sample| {
                place += 1;
                log.take(&sample, &format!("sample {place}"), sink)
            })
        })?;
    }
    if place < members.len() {
        // A log that crashed may have samples without a summary.
        let told = told_of(archive, &summaries)?;
        for name in &members {
            let label = archive.label(name);
            let sample: Lenient<Sample> =
                archive.with(name, |reader| read_value(reader, &label))?;
            if sample
                .0
                .as_ref()
                .is_none_or(|sample| !told.contains(&key_of(&sample.id, &sample.epoch)))
            {
                log.take(&sample, name, sink)?;
            }
        }
    }
    log.end(sink)
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
fn have_usage(archive: &mut Archive<'_>, summaries: &[String]) -> Result<bool, Stop> {
    for name in summaries {
        let label = archive.label(name);
        if let Some(first) =
            archive.with(name, |reader| read_first::<Lenient<Brief>>(reader, &label))?
        {
            return Ok(first.0.is_some_and(|first| first.model_usage.is_some()));
        }
    }
    Ok(false)
}

/// Returns the keys of the samples that have a summary.
fn told_of(
    archive: &mut Archive<'_>,
    summaries: &[String],
) -> Result<BTreeSet<(String, u64)>, Stop> {
    let mut told = BTreeSet::new();
    for name in summaries {
        let label = archive.label(name);
        archive.with(name, |reader| {
            read_list(reader, &label, &mut |brief: Lenient<Brief>| {
                told.extend(brief.0.map(|brief| key_of(&brief.id, &brief.epoch)));
                Ok(())
            })
        })?;
    }
    Ok(told)
}

/// Returns the key of a sample within its log.
fn key_of(id: &Value, epoch: &Value) -> (String, u64) {
    (text(id).unwrap_or_default(), count(epoch).unwrap_or(1))
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
