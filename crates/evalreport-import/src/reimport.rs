//! Imports sources again, alike for tables, rubrics and formats of other tools: decides about runs that the store already has.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Component, Path};

use crate::domain::{Run, RunId, escape_invisible};
use crate::results::{SealedReader, SealedWriter, Store, StoreError};

use super::report::{ReplacedRun, SourceReport};
use super::run_content::RunContent;
use super::run_visibility::RunVisibility;
use super::source::hex_digest;
use super::stored::{SourceFingerprint, StoredRelation, StoredRuns};

/// Decides about each run that the store already has, and reports it. Returns new ids for the runs to be stored again, keyed by their first
/// id.
pub(super) fn resolve_known_runs(
    stored: &StoredRuns,
    store: &Store,
    found: Vec<(Run, RunContent)>,
    read: SourceFingerprint<'_>,
    report: &mut SourceReport,
) -> Result<BTreeMap<RunId, RunId>, StoreError> {
    let found: Vec<(Run, RunContent)> = found
        .into_iter()
        .filter(|(run, _)| stored.contains(&run.id))
        .collect();
    let records = stored.read_records(store, found.iter().map(|(run, _)| &run.id))?;
    let mut ids = BTreeMap::new();
    for (run, held) in found {
        let name = display_name(stored, &run);
        let mut again = |of: RunId, before: Option<u64>| {
            let by = unused_run_id(&run.id, &held, stored);
            ids.insert(run.id.clone(), by.clone());
            ReplacedRun {
                run: of,
                by,
                stored: before,
                found: held.content.outcomes,
                unit: content_unit(&run),
            }
        };
        match stored.relate_to_stored(&run, &held, &records, read) {
            StoredRelation::Same => {}
            StoredRelation::Less { stored, found } => report.notes.push(format!(
                "the store has more {}s of the run {name} than the file ({stored}, here {found}): it is kept as it is; --again replaces it",
                content_unit(&run)
            )),
            StoredRelation::Other { file } => report
                .notes
                .push(format!("`{}` has the same run with other results and is kept: {name}; --again replaces it", escape_invisible(&file))),
            StoredRelation::Hidden { standing } => report.notes.extend(describe_hidden_run(&standing, &name)),
            StoredRelation::Restored { of } => {
                let restored = again(of, None);
                report.notes.push(format!("the run {name} was retracted and is imported again as {}", restored.by));
                report.runs_restored.push(restored);
            }
            StoredRelation::Changed { stands, stored: before, .. } => {
                report.runs_replaced.push(again(stands, before));
                report.notes.extend(stored.hidden_by(&run).and_then(|standing| describe_hidden_run(standing, &name)));
            }
        }
    }
    Ok(ids)
}

/// Says that a run does not count, and which command changes that.
fn describe_hidden_run(standing: &RunVisibility, name: &str) -> Option<String> {
    match standing {
        RunVisibility::Counts => None,
        RunVisibility::Retracted(reason) => Some(format!(
            "the run {name} is retracted ({}): --again imports it again",
            escape_invisible(reason)
        )),
        RunVisibility::Covered(reason) => Some(format!(
            "the run {name} is hidden by a tombstone of several runs ({}): `evalreport retract --undo` with the same selection shows them",
            escape_invisible(reason)
        )),
    }
}

/// Notes in each run's provenance which run it replaces, so that an interrupted import can be completed.
pub(super) fn note_replaced(runs: &mut [Run], report: &SourceReport) {
    for run in runs {
        let replaced = report
            .runs_replaced
            .iter()
            .chain(&report.runs_restored)
            .find(|replaced| replaced.by == run.id);
        if let Some((provenance, replaced)) = run.provenance.as_mut().zip(replaced) {
            provenance.replaces = Some(replaced.run.clone());
        }
    }
}

/// Returns what the content of a run is counted in: messages of a session, or outcomes.
fn content_unit(run: &Run) -> &'static str {
    let is_session = run
        .provenance
        .as_ref()
        .is_some_and(|provenance| provenance.messages.is_some());
    if is_session { "message" } else { "outcome" }
}

/// Returns the run's names, as the store and its pages have them.
fn display_name(stored: &StoredRuns, run: &Run) -> String {
    let [approach, model] = stored
        .names_of(&run.id)
        .map_or([&run.approach, &run.model], |[_, approach, model]| {
            [approach, model]
        });
    escape_invisible(&format!("{approach} · {model}"))
}

/// Returns an unused id. The same run with the same content gets the same id.
fn unused_run_id(first: &RunId, held: &RunContent, stored: &StoredRuns) -> RunId {
    let sum = held.content_digest();
    let mut numbered = (1_u32..).map(|number| {
        Store::imported_run_id("again", &[first.as_str(), &sum, &number.to_string()])
    });
    numbered
        .find(|id| !stored.contains(id))
        .unwrap_or_else(|| first.clone())
}

/// Returns the key for sealing a source, or `None` if the source is already sealed or was met earlier in the command. If sources are
/// imported anew, or the source at this place was something else since, a sealed source gets a numbered key.
pub(super) fn unused_seal_key(
    stored: &StoredRuns,
    store: &Store,
    keys: &mut BTreeSet<String>,
    key: &str,
    read: SourceFingerprint<'_>,
    report: &mut SourceReport,
) -> Option<String> {
    if !keys.insert(key.to_owned()) {
        return None;
    }
    let numbered = (1_u32..)
        .map(|number| hex_digest(&[key.as_bytes(), b"again", &number.to_le_bytes()], true));
    for key in std::iter::once(key.to_owned()).chain(numbered) {
        let Some(path) = SealedWriter::existing_runs_path(store, &key) else {
            return Some(key);
        };
        if stored.is_anew() {
            continue;
        }
        if stored.ids().is_empty() {
            return None;
        }
        let runs = SealedReader::read_runs(&path).0;
        if !stored.is_outdated(&runs, read) {
            let hidden = runs.iter().filter_map(|run| {
                describe_hidden_run(stored.hidden_by(run)?, &display_name(stored, run))
            });
            report.notes.extend(hidden);
            return None;
        }
    }
    None
}

/// Returns a digest of a source's location: its path relative to the folder with the store, or its whole path if it lies elsewhere.
/// `None` in a cache: nothing is imported again there, and no page may depend on the folder that it was made in.
pub(super) fn location_digest(stored: &StoredRuns, store: &Store, path: &Path) -> Option<String> {
    if !stored.keeps_places() {
        return None;
    }
    let (path, store) = (
        std::path::absolute(path).ok()?,
        std::path::absolute(store.root()).ok()?,
    );
    let below = store
        .parent()
        .and_then(|home| path.strip_prefix(home).ok())
        .unwrap_or(&path);
    let parts: Vec<Vec<u8>> = below
        .components()
        .filter(|part| !matches!(part, Component::CurDir))
        .map(|part| part.as_os_str().to_string_lossy().into_owned().into_bytes())
        .collect();
    let parts: Vec<&[u8]> = parts.iter().map(Vec::as_slice).collect();
    Some(hex_digest(&parts, true)[..32].to_owned())
}
