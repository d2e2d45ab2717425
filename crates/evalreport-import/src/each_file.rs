//! Imports files that are no tool's own format: tables by a map, and rubrics.

use std::collections::BTreeSet;
use std::path::Path;

use tracing::{debug, info};

use crate::domain::Provenance;
use crate::results::{Store, StoreError};

use super::ledger::{Ledger, SourceContext, read_into_ledger};
use super::mode::ImportMode;
use super::reimport::{location_digest, unused_seal_key};
use super::report::{ImportReport, SourceOutcome, SourceReport};
use super::rows::ReadStop;
use super::source::SourceFile;
use super::stored::{SourceFingerprint, StoredRuns};

/// How files are read.
pub(super) struct FileImporter<'r> {
    /// Name in provenance, with the version there.
    pub importer: &'static str,
    pub version: u32,
    /// Returns the key of a file's sealed pair: with the same key, the same bytes are the same import.
    pub key_of: &'r dyn Fn(&SourceFile) -> String,
    /// Adds what the provenance has besides the file.
    pub provenance: &'r dyn Fn(Provenance) -> Provenance,
    pub read: &'r ReadIntoLedger<'r>,
}

/// Reads a file into the ledger. The number of further bytes read is passed on.
type ReadIntoLedger<'r> = dyn for<'a> Fn(
        &SourceFile,
        Ledger<'a>,
        &mut dyn FnMut(u64),
        &mut SourceReport,
    ) -> Result<Ledger<'a>, ReadStop>
    + 'r;

/// Imports each source, which is a file or several files. `existing` are the runs of the store; a run that grew or changed replaces its stored version. `progress` is called
/// with the number of further bytes read.
///
/// If the disk does not give a file, it is reported and nothing is imported. A file whose content cannot be understood is reported; the
/// others are imported all the same. Returns an error only if writing to the store fails. Earlier files are imported then.
pub(super) fn import_files(
    reading: &FileImporter<'_>,
    store: &Store,
    sources: &[Vec<&Path>],
    existing: &StoredRuns,
    mode: ImportMode,
    progress: &mut dyn FnMut(u64),
) -> Result<ImportReport, StoreError> {
    let mut report = ImportReport {
        dry_run: mode == ImportMode::DryRun,
        ..ImportReport::default()
    };
    let mut examined = Vec::new();
    for paths in sources {
        match SourceFile::from_paths(paths) {
            Ok(source) => examined.push(source),
            Err(problem) => report.sources.push(SourceReport::from_problem(problem)),
        }
    }
    if !report.sources.is_empty() {
        return Ok(report);
    }
    let mut taken = existing.clone();
    taken.begin_import(examined.iter().map(|source| source.sha256.as_str()));
    let mut keys = BTreeSet::new();
    for source in &examined {
        let source = import_source(
            reading,
            store,
            source,
            (&mut taken, &mut keys),
            mode,
            progress,
        )?;
        info!(
            file = source.file,
            outcome = ?source.outcome,
            rows = source.rows_read,
            accepted = source.rows_accepted,
            refused = source.count_refused_rows(),
            new_runs = source.runs_new.len(),
            repeated_runs = source.runs_repeated.len(),
            outcomes = source.items,
            "file imported"
        );
        report.sources.push(source);
    }
    Ok(report)
}

fn import_source(
    reading: &FileImporter<'_>,
    store: &Store,
    source: &SourceFile,
    (taken, keys): (&mut StoredRuns, &mut BTreeSet<String>),
    mode: ImportMode,
    progress: &mut dyn FnMut(u64),
) -> Result<SourceReport, StoreError> {
    if let Some(problem) = source.emptiness() {
        return Ok(SourceReport::from_problem(problem));
    }
    let mut report = SourceReport::new(&source.shown);
    if source.count_parts() > 1 {
        report.notes.push(format!(
            "{} files are parts of one source: no two have the same outcome of a run",
            source.count_parts()
        ));
    }
    let key = (reading.key_of)(source);
    debug!(
        file = report.file,
        bytes = source.bytes,
        key,
        "file examined"
    );
    report.sha256 = Some(source.sha256.clone());
    let place = location_digest(taken, store, source.path());
    let read = SourceFingerprint {
        file: &source.name,
        place: place.as_deref(),
        sha256: &source.sha256,
    };
    let Some(key) = unused_seal_key(taken, store, keys, &key, read, &mut report) else {
        progress(source.bytes);
        report.outcome = SourceOutcome::AlreadyImported;
        return Ok(report);
    };
    let told = SourceContext::for_rows(reading.importer, (taken, store, &key), read, mode);
    let mut is_first = true;
    let ledger = read_into_ledger(told, &mut report, &mut |ledger, report| {
        let on_bytes: &mut dyn FnMut(u64) = if std::mem::take(&mut is_first) {
            progress
        } else {
            &mut |_| {}
        };
        Ok(((reading.read)(source, ledger, on_bytes, report)?, ()))
    })?;
    if let Some((ledger, ())) = ledger {
        let provenance = (reading.provenance)(Provenance {
            importer: reading.importer.to_owned(),
            version: Some(reading.version),
            file: source.name.clone(),
            sha256: source.sha256.clone(),
            together_with: taken.together_with(),
            ..Provenance::default()
        });
        let runs = ledger.finish(&provenance, &mut report)?;
        taken.add_new_runs(&runs, &report.runs_replaced);
    }
    Ok(report)
}
