//! Handles several exports of one evaluation in one import. JSON holds most, so it is read before JSON lines, and instead of JUnit XML.

use std::collections::BTreeMap;

use chrono::{DateTime, Utc};
use quick_xml::events::{BytesStart, Event};
use quick_xml::reader::Reader;

use crate::junit::attribute;

use super::super::super::report::{ForeignReport, SourceOutcome, SourceReport};
use super::super::format::ForeignFormat;
use super::super::json::count;
use super::super::peek::Peek;
use super::super::source::{ForeignFile, ForeignSource};
use super::super::times::moment;
use super::shape::{is_lines, look};

/// Format of the other export.
const JUNIT: &str = "junit";

/// Key of an evaluation in both kinds of file: its start to the millisecond, and its numbers of tests, failures and errors.
type Mark = (DateTime<Utc>, [u64; 3]);

/// Moves JSON lines behind all other sources, and removes JUnit exports of evaluations whose JSON is there. Returns a report on each.
pub(super) fn prefer_json(
    own: ForeignFormat,
    sources: &mut Vec<ForeignSource>,
) -> Vec<SourceReport> {
    let is_own = |source: &&ForeignSource| source.format == own;
    let is_report = |source: &&ForeignSource| source.format.name() == JUNIT;
    if sources.iter().filter(is_own).count() == 0 || sources.len() < 2 {
        return Vec::new();
    }
    sources.sort_by_cached_key(|source| {
        let only = source.files.first().filter(|_| source.format == own);
        only.and_then(|file| Peek::of(&file.path).ok())
            .is_some_and(|peek| is_lines(&peek))
    });
    let reports = sources
        .iter()
        .filter(is_report)
        .filter_map(|source| Some((source.files.first()?, &source.shown)));
    let exports: Vec<(String, Mark)> = reports
        .filter_map(|(file, shown)| Some((shown.clone(), mark_of_report(file)?)))
        .collect();
    if exports.is_empty() {
        return Vec::new();
    }
    let evaluations = sources
        .iter()
        .filter(is_own)
        .filter_map(|source| source.files.first());
    let evaluations: BTreeMap<Mark, String> = evaluations
        .filter_map(|file| Some((mark_of(file)?, file.shown.clone())))
        .collect();
    let same: Vec<(String, &String)> = exports
        .into_iter()
        .filter_map(|(shown, mark)| Some((shown, evaluations.get(&mark)?)))
        .collect();
    sources.retain(|source| {
        !is_report(&source) || same.iter().all(|(shown, _)| *shown != source.shown)
    });
    let passed_over = same.into_iter().map(|(shown, json)| {
        let note =
            format!("the JUnit export of the evaluation in {json}, which holds more: passed over");
        let foreign = ForeignReport {
            format: JUNIT,
            files: 1,
            quirks: vec![(note, 1)],
            ..ForeignReport::default()
        };
        SourceReport {
            outcome: SourceOutcome::NothingNew,
            foreign: Some(foreign),
            ..SourceReport::new(&shown)
        }
    });
    passed_over.collect()
}

/// Reads the mark of an evaluation's JSON. Returns `None` for JSON lines, which have no head.
fn mark_of(file: &ForeignFile) -> Option<Mark> {
    if Peek::of(&file.path).ok().is_none_or(|peek| is_lines(&peek)) {
        return None;
    }
    let (_, head) = look(file).ok()?;
    let results = head.results.0?;
    let stated = |key: &str| count(results.stats.get(key)?);
    let (passed, failures, errors) = (stated("successes")?, stated("failures")?, stated("errors")?);
    let tests = passed.checked_add(failures)?.checked_add(errors)?;
    Some((
        moment(&results.timestamp).or_else(|| moment(&head.created_at))?,
        [tests, failures, errors],
    ))
}

/// Reads the mark from the beginning of a JUnit report by promptfoo.
fn mark_of_report(file: &ForeignFile) -> Option<Mark> {
    let peek = Peek::of(&file.path).ok()?;
    let mut reader = Reader::from_reader(peek.head.as_slice());
    let mut counts = None;
    loop {
        match reader.read_event().ok()? {
            Event::Start(start) | Event::Empty(start) => {
                match (start.local_name().as_ref(), counts) {
                    (b"testsuites", None) => counts = Some(counts_of(&start)?),
                    (b"testsuite", Some(counts)) => {
                        return Some((
                            moment(
                                &attribute(&start, "timestamp")
                                    .map_or_else(Default::default, Into::into),
                            )?,
                            counts,
                        ));
                    }
                    _ => return None,
                }
            }
            Event::Eof => return None,
            _ => {}
        }
    }
}

fn counts_of(whole: &BytesStart<'_>) -> Option<[u64; 3]> {
    attribute(whole, "name").filter(|name| name == "promptfoo")?;
    let counted = |name: &str| attribute(whole, name)?.parse().ok();
    Some([counted("tests")?, counted("failures")?, counted("errors")?])
}
