//! What other evaluation tools write, recognised by content: one module a format.
//!
//! Each format's module has private structs of what its files hold, in which nothing has to be there, and two functions: `claim`, which
//! says from a first look whether a file is of the format and which files belong together, and `read`, which tells a [`Sink`] what a
//! source holds. The sink keeps the account: what is refused, odd, held, lacking, and what the source states about itself beside the same
//! recomputed.

mod aider;
mod attempts;
mod claim;
mod cogni;
mod ctrf;
mod destination;
mod elements;
mod evalperf;
mod every_eval_ever;
mod format;
mod harbor;
mod helm;
mod inspect;
mod json;
mod junit;
mod kotef;
mod lm_eval;
mod measured;
mod moments;
mod namesakes;
mod near;
mod peek;
mod promptfoo;
mod ralph;
mod readers;
mod sink;
mod source;
mod swe_bench;
mod terminal_bench;
mod times;
mod tries;
mod unread;
mod walk;
mod zelda;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use tracing::{debug, info};

use crate::domain::{Problem, Provenance, Run, RunId, visible};
use crate::results::{SealedWriter, Store, StoreError};

use super::bundle::import_bundle;
use super::names::GivenNames;
use super::report::{ImportReport, ReplacedRun, SourceOutcome, SourceReport};
use super::rows::Stop;
use super::source::hex_digest;
use super::stored::{Read, Relation, StoredRuns};
use super::table::Mode;

pub use destination::Destination;
pub use format::ForeignFormat;
pub use inspect::superseded;
use sink::Sink;
use source::ForeignSource;
use walk::walk;

/// Changes when importers give other records for the same bytes: what was imported before is then read again, and replaced where it differs.
const READING: &[u8] = b"reading 2";

/// Imports what lies at the paths, folders and all; `forced` names the format instead of looking for it. `progress` is told how many more
/// bytes were read.
///
/// A source that cannot be read is reported and keeps no other from being imported. The error is one of writing to the store.
pub fn import_foreign(
    place: Destination<'_>,
    paths: &[impl AsRef<Path>],
    forced: Option<ForeignFormat>,
    names: &GivenNames,
    mode: Mode,
    progress: &mut dyn FnMut(u64),
) -> Result<ImportReport, StoreError> {
    let mut walked = walk(paths, forced);
    inspect::mark_superseded(&mut walked.sources);
    let other_exports = promptfoo::prefer_json(&mut walked.sources);
    let mut report = ImportReport {
        dry_run: mode == Mode::DryRun,
        unrecognised: walked.unrecognised,
        passed_over: walked.passed_over,
        ..ImportReport::default()
    };
    let mut taken = match place {
        Destination::Store(_, existing) => existing.clone(),
        Destination::Cache(_) => StoredRuns::default(),
    };
    for bundle in &walked.bundles {
        let imported = if names.is_empty() {
            import_bundle(place, bundle, None, taken.ids(), mode, progress)
        } else {
            keeps_names(&bundle.display().to_string())
        };
        // What is kept of a source in a cache must not depend on the others.
        if let Destination::Store(..) = place {
            imported.runs_new.iter().for_each(|run| taken.add_id(run.id.clone()));
        }
        report.sources.push(imported);
    }
    report.sources.extend(walked.problems.into_iter().map(|problem| {
        let mut unreadable = SourceReport::new(&problem.file);
        unreadable.problems.push(problem);
        unreadable
    }));
    let mut keys = BTreeSet::new();
    for source in &walked.sources {
        let (imported, runs) = import_source(place, source, names, &taken, &mut keys, mode, progress)?;
        info!(
            source = imported.file,
            format = source.format.name(),
            outcome = ?imported.outcome,
            runs = imported.runs_new.len(),
            outcomes = imported.items,
            "source imported"
        );
        if let Destination::Store(..) = place {
            for replaced in &imported.runs_replaced {
                taken.replaced(&replaced.run);
            }
            for run in &runs {
                taken.add(run, true);
            }
        }
        report.sources.push(imported);
    }
    report.sources.extend(other_exports);
    Ok(report)
}

/// Says whether nothing at the paths is of a format that is read, or known and not read: what is there may be tables.
pub(super) fn is_nothing_known(paths: &[impl AsRef<Path>]) -> bool {
    let walked = walk(paths, None);
    walked.sources.is_empty()
        && walked.bundles.is_empty()
        && walked.is_known == 0
        && walked.unrecognised.iter().all(|file| file.tool.is_none())
}

fn keeps_names(bundle: &str) -> SourceReport {
    let mut report = SourceReport::new(bundle);
    let problem = Problem::in_file(visible(bundle), "is a bundle, whose runs keep their names");
    report.problems.push(problem.with_hint("--set is for files of other kinds"));
    report
}

fn import_source(
    place: Destination<'_>,
    source: &ForeignSource,
    names: &GivenNames,
    taken: &StoredRuns,
    keys: &mut BTreeSet<String>,
    mode: Mode,
    progress: &mut dyn FnMut(u64),
) -> Result<(SourceReport, Vec<Run>), StoreError> {
    let mut report = SourceReport::new(&source.shown);
    let examined = match source.examine() {
        Ok(examined) => examined,
        Err(problem) => {
            report.problems.push(problem);
            return Ok((report, Vec::new()));
        }
    };
    progress(examined.bytes);
    report.sha256 = Some(examined.sha256.clone());
    if examined.bytes == 0 {
        report.problems.push(Problem::in_file(&source.shown, "is empty"));
        return Ok((report, Vec::new()));
    }
    let mut parts = vec![READING, source.format.name().as_bytes(), examined.sha256.as_bytes()];
    if source.format.reads_names() {
        parts.push(source.name.as_bytes());
    }
    parts.extend(names.parts());
    parts.extend(source.superseded_by.as_ref().map(|id| id.as_str().as_bytes()));
    let key = hex_digest(&parts, true);
    report.key = Some(key.clone());
    let store = place.store_of(&key);
    if SealedWriter::exists(&store, &key) || !keys.insert(key.clone()) {
        report.outcome = SourceOutcome::AlreadyImported;
        return Ok((report, Vec::new()));
    }

    let mut sink = Sink::new(source, names, taken, &store, &key, mode);
    if !read(source, &mut sink, &mut report)? {
        return Ok((report, Vec::new()));
    }
    if sink.has_repeated() {
        // Some runs of the file are there, and the file is not the one they came from. It is read again, to see whether it says the same.
        let nothing = StoredRuns::default();
        let mut look = Sink::new(source, names, &nothing, &store, &key, Mode::DryRun);
        if !read(source, &mut look, &mut report)? {
            return Ok((report, Vec::new()));
        }
        let bytes = Read { file: &source.name, sha256: &examined.sha256 };
        let ids = replace(&mut sink, look, taken, bytes, &mut report);
        if !ids.is_empty() {
            sink = Sink::new(source, names, taken, &store, &key, mode).under(ids);
            if !read(source, &mut sink, &mut report)? {
                return Ok((report, Vec::new()));
            }
        }
    }
    let provenance = Provenance {
        importer: source.format.name().to_owned(),
        file: source.name.clone(),
        sha256: examined.sha256,
        map: None,
        map_sha256: None,
        url: None,
        content: None,
        first: None,
    };
    let runs = sink.finish(&provenance, &mut report)?;
    if let Some(foreign) = &mut report.foreign {
        foreign.files = source.files.len();
    }
    debug!(source = report.file, key, "source done");
    Ok((report, runs))
}

/// Says whether the source could be read; if not, the report says why.
fn read(source: &ForeignSource, sink: &mut Sink<'_>, report: &mut SourceReport) -> Result<bool, StoreError> {
    match readers::read(source.format, source, sink) {
        Ok(()) => Ok(true),
        Err(Stop::Store(error)) => Err(error),
        Err(Stop::Unreadable(problems)) => {
            report.problems = problems;
            Ok(false)
        }
    }
}

/// Compares the runs that are in the store already with what was seen on a second look, and returns new ids for those that are to be
/// replaced, by the ids that they have.
fn replace(sink: &mut Sink<'_>, look: Sink<'_>, stored: &StoredRuns, read: Read<'_>, report: &mut SourceReport) -> BTreeMap<RunId, RunId> {
    let mut ids = BTreeMap::new();
    for (run, content) in look.contents().into_iter().filter(|(run, _)| stored.contains(&run.id)) {
        match stored.relation(&run, &content, read) {
            Relation::Same => {}
            Relation::Less { stored, found } => {
                sink.quirk(&format!("the store has more outcomes of the run than the file ({stored}, here {found}): it is kept as it is"));
            }
            Relation::Other { file } => {
                sink.quirk(&format!("`{}` holds the same run with other results, and stands", visible(&file)));
            }
            Relation::Changed { stands, stored, found } => {
                let by = Store::imported_run_id("again", &[run.id.as_str(), &content.sum]);
                report.runs_replaced.push(ReplacedRun { run: stands, by: by.clone(), stored, found });
                ids.insert(run.id, by);
            }
        }
    }
    ids
}
