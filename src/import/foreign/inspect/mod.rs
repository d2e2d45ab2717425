//! Inspect AI: `.eval` archives and `.json` logs of the UK AI Security Institute's evaluation framework.
//!
//! A log is one run; its samples are questions, each epoch an attempt. An archive has a summary of every sample, which holds all that is
//! kept of one, so the samples themselves, with their transcripts, are only opened where summaries are missing or old. The header's
//! results are kept as stated and computed anew from the samples.

mod grade;
mod log;
mod wire;

use serde::de::IgnoredAny;

use crate::domain::Problem;

use super::super::rows::Stop;
use super::Claim;
use super::json::{read_list, read_object, read_value};
use super::peek::{Content, Peek};
use super::sink::Sink;
use super::source::{Archive, ForeignFile, ForeignSource};
use log::Log;
use wire::{HEADER, Header, Sample};

const MOST_HEADER_BYTES: u64 = 256 << 20;
/// Journals have a file of summaries for every few samples.
const JOURNAL: &str = "_journal/summaries/";

pub(super) fn claim(peek: &Peek) -> Option<Claim> {
    let is_log = match peek.content {
        Content::Zip => peek.has_member("_journal/start.json") || (peek.has_member("header.json") && peek.has_member_in("samples/")),
        Content::Json => peek.has_all(&["version", "eval.task", "eval.model"]) && peek.has("status"),
        Content::Xml | Content::Text => false,
    };
    is_log.then_some(Claim::Alone)
}

pub(super) fn read(source: &ForeignSource, sink: &mut Sink<'_>) -> Result<(), Stop> {
    let [file] = source.files.as_slice() else {
        return Err(Problem::in_file(&source.shown, "is not one log").into());
    };
    let is_archive = Peek::of(&file.path).is_ok_and(|peek| peek.content == Content::Zip);
    if is_archive { read_archive(&mut file.archive()?, sink) } else { read_json(file, sink) }
}

/// Reads the log twice: a log may state its results after its samples, and what it states decides how they are read.
fn read_json(file: &ForeignFile, sink: &mut Sink<'_>) -> Result<(), Stop> {
    let mut samples = 0;
    let header: Header = read_object(file.open()?, &file.shown, &HEADER, "samples", &mut |_: IgnoredAny| {
        samples += 1;
        Ok(())
    })?;
    let Some(mut log) = Log::begin(header, samples, &file.shown, sink)? else { return Ok(()) };
    let mut place = 0;
    read_object::<IgnoredAny, Sample>(file.open()?, &file.shown, &[], "samples", &mut |sample| {
        place += 1;
        log.take(&sample, &format!("sample {place}"), sink)
    })?;
    log.end(sink);
    Ok(())
}

fn read_archive(archive: &mut Archive<'_>, sink: &mut Sink<'_>) -> Result<(), Stop> {
    let names = archive.names();
    let is_crashed = !archive.has("header.json");
    let start = if is_crashed { "_journal/start.json" } else { "header.json" };
    let label = archive.label(start);
    let header = archive.read(start, MOST_HEADER_BYTES)?;
    let header: Header = read_value(header.as_slice(), &label)?;
    if is_crashed {
        sink.quirk("the log was never finished: read from its journal");
    }
    let members: Vec<String> = names.iter().filter(|name| name.starts_with("samples/") && name.ends_with(".json")).cloned().collect();
    let summaries: Vec<String> = if archive.has("summaries.json") {
        vec!["summaries.json".to_owned()]
    } else {
        let mut journal: Vec<String> = names.into_iter().filter(|name| name.starts_with(JOURNAL)).collect();
        // `10.json` comes after `9.json`.
        journal.sort_by_key(|name| (name.len(), name.clone()));
        journal
    };
    let mut count = 0;
    let mut has_usage = true;
    for name in &summaries {
        let label = archive.label(name);
        archive.with(name, |reader| {
            read_list(reader, &label, &mut |sample: Sample| {
                count += 1;
                has_usage &= !sample.model_usage.is_empty();
                Ok(())
            })
        })?;
    }
    // Summaries of before 2025 have no tokens.
    let needs_samples = count < members.len() as u64 || (!has_usage && !members.is_empty() && log::has_usage(&header));
    let samples = if needs_samples { members.len() as u64 } else { count };
    let Some(mut log) = Log::begin(header, samples, &archive.file.shown, sink)? else { return Ok(()) };
    if needs_samples {
        for name in &members {
            let label = archive.label(name);
            let sample: Sample = archive.with(name, |reader| read_value(reader, &label))?;
            log.take(&sample, name, sink)?;
        }
    } else {
        let mut place = 0;
        for name in &summaries {
            let label = archive.label(name);
            archive.with(name, |reader| {
                read_list(reader, &label, &mut |sample: Sample| {
                    place += 1;
                    log.take(&sample, &format!("sample {place}"), sink)
                })
            })?;
        }
    }
    log.end(sink);
    Ok(())
}
