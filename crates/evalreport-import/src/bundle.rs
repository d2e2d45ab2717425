//! Imports bundles of another store into this store or into the cache.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use tracing::info;

use crate::domain::{Problem, Run, RunId, Signer, escape_invisible};
use crate::results::{
    BundleDecisions, Store, preview_bundle, unpack_into_folder, unpack_into_store,
};

use super::foreign::Destination;
use super::mode::ImportMode;
use super::report::{ImportReport, SourceOutcome, SourceReport, SourceRun};
use super::source::{digest_file, hex_digest};
use super::stored::StoredRuns;

/// Imports each file as one bundle. Runs in `existing` are kept as they are. `signers` has the signers of files whose signatures were
/// checked. `progress` is called with the number of further bytes read.
///
/// A damaged bundle is reported; the others are imported all the same.
pub fn import_bundles(
    store: &Store,
    files: &[impl AsRef<Path>],
    existing: &StoredRuns,
    signers: &BTreeMap<PathBuf, Signer>,
    mode: ImportMode,
    progress: &mut dyn FnMut(u64),
) -> ImportReport {
    let mut report = ImportReport {
        dry_run: mode == ImportMode::DryRun,
        ..ImportReport::default()
    };
    let mut taken = existing.ids().clone();
    for file in files {
        let source = import_bundle(
            Destination::Store(store, existing),
            file.as_ref(),
            signers.get(file.as_ref()),
            &taken,
            mode,
            progress,
        );
        taken.extend(source.runs_new.iter().map(|run| run.id.clone()));
        report.sources.push(source);
    }
    report
}

/// Imports one bundle: into the store, next to the `taken` runs, or whole into its own store in the cache.
pub(super) fn import_bundle(
    place: Destination<'_>,
    path: &Path,
    signer: Option<&Signer>,
    taken: &BTreeSet<RunId>,
    mode: ImportMode,
    progress: &mut dyn FnMut(u64),
) -> SourceReport {
    let mut report = SourceReport::new(&path.display().to_string());
    let sha256 = match digest_file(path) {
        Ok((sha256, bytes)) => {
            progress(bytes);
            sha256
        }
        Err(error) => {
            report.problems.push(Problem::in_file(
                escape_invisible(&report.file),
                format!("cannot be read: {error}"),
            ));
            return report;
        }
    };
    report.sha256 = Some(sha256.clone());
    let unpacked = match (place, mode) {
        (Destination::Store(store, _), ImportMode::Store) => {
            unpack_into_store(path, store, taken, signer)
        }
        (Destination::Store(store, _), ImportMode::DryRun) => preview_bundle(path, store, taken),
        (Destination::Cache(_), _) => {
            let key = hex_digest(&[b"bundle", sha256.as_bytes()], true);
            let store = place.store_for(&key);
            report.key = Some(key);
            if store.root().is_dir() {
                report.outcome = SourceOutcome::AlreadyImported;
                return report;
            }
            unpack_into_folder(path, store.root())
        }
    };
    match unpacked {
        Ok(unpacked) => {
            let sources = |runs: &[Run]| {
                runs.iter()
                    .map(|run| imported_run(run, &report.file))
                    .collect()
            };
            (report.runs_new, report.runs_repeated) =
                (sources(&unpacked.new), sources(&unpacked.repeated));
            report.items = unpacked.items;
            report.notes = describe_decisions(&unpacked.decisions);
            report.outcome = match (report.runs_new.is_empty(), report.runs_repeated.is_empty()) {
                (false, _) => SourceOutcome::Imported,
                (true, false) => SourceOutcome::NothingNew,
                (true, true) => SourceOutcome::NothingAccepted,
            };
        }
        Err(problem) => report.problems.push(problem),
    }
    info!(file = report.file, outcome = ?report.outcome, runs = report.runs_new.len(), outcomes = report.items, "bundle imported");
    report
}

/// Says what people decided elsewhere, which now holds here too.
fn describe_decisions(decisions: &BundleDecisions) -> Vec<String> {
    let accepted = decisions.accepted.iter().map(|one| {
        let since = one
            .since
            .map_or_else(String::new, |time| format!(" since {}", time.date_naive()));
        let by = one
            .who
            .as_deref()
            .map_or_else(String::new, |who| format!("{who}, "));
        let day = one.time.date_naive();
        format!(
            "an accepted regression of {} {}/{}{since} ({by}{day}): {}",
            one.suite, one.approach, one.model, one.reason
        )
    });
    let retracted = decisions
        .retracted
        .iter()
        .map(|one| format!("retracted: {}: {}", one.selector.ids.join(", "), one.reason));
    accepted
        .chain(retracted)
        .map(|text| escape_invisible(&text))
        .collect()
}

fn imported_run(run: &Run, file: &str) -> SourceRun {
    SourceRun {
        id: run.id.clone(),
        suite: run.suite.clone(),
        approach: run.approach.clone(),
        model: run.model.clone(),
        identity: None,
        file: file.to_owned(),
        line: None,
    }
}
