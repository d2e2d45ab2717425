//! Imports tables by a map: files in, sealed pairs and a report out.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::path::Path;

use crate::domain::{Problem, Provenance, RunId};
use crate::results::{SealedWriter, Store, StoreError};

use super::columns::Columns;
use super::csv_rows::read_csv;
use super::fold::{Fold, Place};
use super::json_rows::{read_json, read_lines};
use super::map::Map;
use super::report::{ImportReport, LackingColumn, SourceOutcome, SourceReport};
use super::rows::{Row, Rows, Stop};
use super::source::{Format, Part, Source, hex_digest};
use super::yaml_rows::read_yaml;

/// Whether an import writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    Store,
    /// Everything but writing.
    DryRun,
}

/// Imports each file by the map. `existing` are the runs of the store; `progress` is told how many more bytes of a file were read.
///
/// A file that cannot be read, or has no row that the map fits, is reported and keeps no other from being imported. The error is one of
/// writing to the store; files before it were imported then.
pub fn import_table(
    store: &Store,
    files: &[impl AsRef<Path>],
    map: &Map,
    existing: &BTreeSet<RunId>,
    mode: Mode,
    progress: &mut dyn FnMut(u64),
) -> Result<ImportReport, StoreError> {
    let mut report = ImportReport { sources: Vec::new(), dry_run: mode == Mode::DryRun };
    let mut taken = BTreeSet::new();
    let mut keys = BTreeSet::new();
    for file in files {
        let is_stored = |id: &RunId| existing.contains(id) || taken.contains(id);
        let source = import_file(store, file.as_ref(), map, &is_stored, &mut keys, mode, progress)?;
        taken.extend(source.runs_new.iter().map(|run| run.id.clone()));
        report.sources.push(source);
    }
    Ok(report)
}

fn import_file(
    store: &Store,
    path: &Path,
    map: &Map,
    is_stored: &dyn Fn(&RunId) -> bool,
    keys: &mut BTreeSet<String>,
    mode: Mode,
    progress: &mut dyn FnMut(u64),
) -> Result<SourceReport, StoreError> {
    let mut report = SourceReport::new(&path.display().to_string());
    let source = match Source::examine(path) {
        Ok(source) => source,
        Err(problem) => {
            report.problems.push(problem);
            return Ok(report);
        }
    };
    let key = key_of(&source, map);
    report.sha256 = Some(source.sha256.clone());
    if SealedWriter::exists(store, &key) || !keys.insert(key.clone()) {
        progress(source.bytes);
        report.outcome = SourceOutcome::AlreadyImported;
        return Ok(report);
    }

    let mut columns = Columns::new(map);
    let mut fold = Fold::new(map, is_stored);
    // Begun with the first item of a new run, so that a source with nothing to store leaves no trace.
    let mut writer = None;
    let read = read_source(&source, map, &mut columns, &mut fold, progress, &mut |outcome| match mode {
        Mode::DryRun => Ok(()),
        Mode::Store => begun(&mut writer, store, &key)?.item(outcome),
    });
    (report.rows_read, report.rows_accepted, report.items) = (fold.rows_read, fold.rows_accepted, fold.items_written);
    let read = match read {
        Ok(()) if fold.rows_read == 0 => Err(Problem::in_file(&report.file, "has no rows").into()),
        // Without these columns every row was refused, and saying so once says more.
        Ok(()) => columns.missing_essential(map, &report.file).map_or(Ok(()), |problem| Err(Stop::from(problem))),
        Err(stop) => Err(stop),
    };
    match read {
        Ok(()) => {}
        Err(Stop::Store(error)) => return Err(error),
        Err(Stop::Unreadable(problems)) => {
            report.problems = problems;
            report.items = 0;
            return Ok(report);
        }
    }

    let provenance = Provenance {
        importer: "table".to_owned(),
        file: source.name.clone(),
        sha256: source.sha256.clone(),
        map: Some(map.file.clone()),
        map_sha256: Some(map.sha256.clone()),
        url: map.url.clone(),
    };
    let (folded, refusals) = fold.finish(&provenance);
    report.refusals = refusals.into_found();
    report.stated = folded.stated;
    report.columns_lacking = lacking(&columns, map);
    report.columns_unused = columns.unused();
    report.outcome = match (report.rows_accepted, folded.new.is_empty()) {
        (0, _) => SourceOutcome::NothingAccepted,
        (_, true) => SourceOutcome::NothingNew,
        (_, false) => SourceOutcome::Imported,
    };
    report.runs_new = folded.new;
    report.runs_repeated = folded.repeated;
    if mode == Mode::Store && report.outcome == SourceOutcome::Imported {
        begun(&mut writer, store, &key)?;
        if let Some(writer) = writer {
            writer.commit(&folded.runs)?;
        }
    }
    Ok(report)
}

/// Names the pair: the same bytes by the same map are the same import.
fn key_of(source: &Source, map: &Map) -> String {
    let mut parts = vec![source.sha256.as_bytes(), map.sha256.as_bytes()];
    if map.reads_file_name {
        parts.push(source.name.as_bytes());
    }
    hex_digest(&parts, true)
}

fn begun<'w>(writer: &'w mut Option<SealedWriter>, store: &Store, key: &str) -> Result<&'w mut SealedWriter, StoreError> {
    match writer {
        Some(writer) => Ok(writer),
        None => Ok(writer.insert(SealedWriter::create(store, key)?)),
    }
}

fn read_source(
    source: &Source,
    map: &Map,
    columns: &mut Columns,
    fold: &mut Fold<'_>,
    progress: &mut dyn FnMut(u64),
    write: &mut dyn FnMut(&crate::domain::ItemOutcome) -> Result<(), StoreError>,
) -> Result<(), Stop> {
    let (fold, write) = (RefCell::new(fold), RefCell::new(write));
    source.each_part(progress, |part: Part<'_>| {
        let place = Place { label: &part.label, file: &source.name, member: part.member.as_deref() };
        let mut on_row = |row: &Row<'_>| fold.borrow_mut().take(row, &place, &mut **write.borrow_mut());
        let mut rows = Rows::new(&part.label, columns, &mut on_row);
        let list = map.list.as_deref();
        match part.format {
            Format::Csv | Format::Tsv => {
                let delimiter = map.delimiter.unwrap_or(if part.format == Format::Tsv { b'\t' } else { b',' });
                read_csv(part.input, delimiter, &mut rows, |rows| rows.columns.missing_essential(map, rows.label))
            }
            Format::Json => read_json(part.input, list, &mut rows),
            Format::JsonLines => read_lines(part.input, &mut rows),
            Format::Yaml => read_yaml(part.input, list, &mut rows),
        }
    })
}

fn lacking(columns: &Columns, map: &Map) -> Vec<LackingColumn> {
    let describe = |name: &str| LackingColumn { column: name.to_owned(), fields: map.fields_of(name).to_vec(), hint: columns.near(name) };
    columns.lacking().map(describe).collect()
}
