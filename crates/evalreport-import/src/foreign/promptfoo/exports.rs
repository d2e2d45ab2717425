//! Handles several exports of one evaluation in one import. JSON holds most, so it is read before JSON lines, and instead of JUnit XML.

use std::collections::BTreeMap;

use chrono::{DateTime, Utc};
use quick_xml::events::{BytesStart, Event};
use quick_xml::reader::Reader;

use crate::junit::read_attribute;

use super::super::super::report::{ForeignReport, SourceOutcome, SourceReport};
use super::super::format::ForeignFormat;
use super::super::json::to_count;
use super::super::peek::Peek;
use super::super::source::{ForeignFile, ForeignFileGroup};
use super::super::times::read_time;
use super::shape::{is_lines, locate_rows};

/// Format of the other export.
const JUNIT_FORMAT: &str = "junit";

/// Key of an evaluation in both kinds of file: its start to the millisecond, and its numbers of tests, failures and errors.
type EvaluationKey = (DateTime<Utc>, [u64; 3]);

/// Moves JSON lines behind all other sources, and removes JUnit exports of evaluations whose JSON is there. Returns a report on each.
pub(super) fn prefer_json(
    own: ForeignFormat,
    sources: &mut Vec<ForeignFileGroup>,
) -> Vec<SourceReport> {
    let is_own = |source: &&ForeignFileGroup| source.format == own;
    let is_report = |source: &&ForeignFileGroup| source.format.name() == JUNIT_FORMAT;
    if sources.iter().filter(is_own).count() == 0 || sources.len() < 2 {
        return Vec::new();
    }
    sources.sort_by_cached_key(|source| {
        let only = source.files.first().filter(|_| source.format == own);
        only.and_then(|file| Peek::from_path(&file.path).ok())
            .is_some_and(|peek| is_lines(&peek))
    });
    let reports = sources
        .iter()
        .filter(is_report)
        .filter_map(|source| Some((source.files.first()?, &source.shown)));
    let exports: Vec<(String, EvaluationKey)> = reports
        .filter_map(|(file, shown)| Some((shown.clone(), junit_key(file)?)))
        .collect();
    if exports.is_empty() {
        return Vec::new();
    }
    let evaluations = sources
        .iter()
        .filter(is_own)
        .filter_map(|source| source.files.first());
    let evaluations: BTreeMap<EvaluationKey, String> = evaluations
        .filter_map(|file| Some((json_key(file)?, file.shown.clone())))
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
            format: JUNIT_FORMAT,
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
fn json_key(file: &ForeignFile) -> Option<EvaluationKey> {
    if Peek::from_path(&file.path)
        .ok()
        .is_none_or(|peek| is_lines(&peek))
    {
        return None;
    }
    let (_, head) = locate_rows(file).ok()?;
    let results = head.results.0?;
    let stated = |key: &str| to_count(results.stats.get(key)?);
    let (passed, failures, errors) = (stated("successes")?, stated("failures")?, stated("errors")?);
    let tests = passed.checked_add(failures)?.checked_add(errors)?;
    Some((
        read_time(&results.timestamp).or_else(|| read_time(&head.created_at))?,
        [tests, failures, errors],
    ))
}

/// Reads the mark from the beginning of a JUnit report by promptfoo.
fn junit_key(file: &ForeignFile) -> Option<EvaluationKey> {
    let peek = Peek::from_path(&file.path).ok()?;
    let mut reader = Reader::from_reader(peek.head.as_slice());
    let mut counts = None;
    loop {
        match reader.read_event().ok()? {
            Event::Start(start) | Event::Empty(start) => {
                match (start.local_name().as_ref(), counts) {
                    (b"testsuites", None) => counts = Some(junit_counts(&start)?),
                    (b"testsuite", Some(counts)) => {
                        return Some((
                            read_time(
                                &read_attribute(&start, "timestamp")
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

fn junit_counts(whole: &BytesStart<'_>) -> Option<[u64; 3]> {
    read_attribute(whole, "name").filter(|name| name == "promptfoo")?;
    let counted = |name: &str| read_attribute(whole, name)?.parse().ok();
    Some([counted("tests")?, counted("failures")?, counted("errors")?])
}
