//! `--baseline WHAT`: finds the runs that the user means. Shared by `compare` and `gate`.

use std::collections::BTreeSet;
use std::fs::Metadata;
use std::io;
use std::path::{Path, PathBuf};

use tracing::info;

use crate::domain::{Problems, Run, RunId, visible};
use crate::files;
use crate::results::{Store, is_bundle, unpack};
use crate::views::{Baseline, Grouping};
use crate::warehouse::{Options, RunRow, Warehouse};

use super::failure::Failure;
use super::settings::{self, Settings};
use super::shown::shown;
use super::{foreign, output, selection};

/// Prefix of `last:K`.
const LAST: &str = "last:";
/// Minimum length of an abbreviated id or revision. Shorter ones match too much.
const SHORTEST: usize = 4;

/// The results, including the baseline.
pub(super) struct Opened {
    pub warehouse: Warehouse,
    pub baseline: Baseline,
    /// Why there is no baseline: the places that were tried.
    pub missing: Option<String>,
    /// Whether the warehouse consists only of stores, so that later commands can reuse its cache.
    pub lasts: bool,
}

/// Finds the baseline. `head` gives the sources of the other results; `pooled` takes every batch of a store; `named` are the ids of runs that
/// the user named as new.
///
/// Fails if `what` is ambiguous or cannot be read. If `what` names nothing, the baseline is reported as missing.
pub(super) fn open(settings: &Settings, what: &str, head: Options, pooled: bool, named: &[String]) -> Result<Opened, Failure> {
    let mut opened = find(settings, what, head, pooled, named)?;
    if let Baseline::Runs { ids, both, .. } = &mut opened.baseline {
        let rows = opened.warehouse.runs();
        let is_named = |id: &RunId| named.iter().any(|own| own == id.as_str());
        let sources: BTreeSet<Source<'_>> = rows.iter().filter(|row| is_named(&row.run.id)).filter_map(|row| source(&row.run)).collect();
        // Under other names, the runs of a file have other ids.
        let is_new = |run: &Run| is_named(&run.id) || source(run).is_some_and(|source| sources.contains(&source));
        let others: BTreeSet<&str> =
            rows.iter().filter(|row| ids.contains(&row.run.id) && !is_new(&row.run)).map(|row| row.run.suite.as_str()).collect();
        // A new run is no baseline of itself. Only if the baseline has nothing else of its suite, the same files were named twice.
        let is_own = |row: &&RunRow| is_new(&row.run) && others.contains(row.run.suite.as_str());
        for row in rows.iter().filter(is_own) {
            ids.remove(&row.run.id);
        }
        both.extend(ids.iter().filter(|id| is_named(id)).cloned());
    }
    Ok(opened)
}

fn find(settings: &Settings, what: &str, head: Options, pooled: bool, named: &[String]) -> Result<Opened, Failure> {
    let path = Path::new(what);
    let grouping = if pooled { Grouping::AllBatches } else { Grouping::NewestBatch };
    if let Some(lake) = settings::lake(path) {
        info!(folder = %lake.display(), "baseline is a lake");
        let own = Options { stores: Vec::new(), lakes: vec![lake], files: Vec::new(), cache: None, ..head.clone() };
        return beside(settings, what, (head, named), own, grouping, true);
    }
    // A path that exists but cannot be inspected is not taken for another kind of name.
    let is_name = |error: &io::Error| {
        files::is_absence(error) || matches!(error.kind(), io::ErrorKind::InvalidInput | io::ErrorKind::InvalidFilename)
    };
    let found = match path.metadata() {
        Err(error) if is_name(&error) => None,
        found => Some(found.map_err(|error| Failure::new(format!("cannot read {}: {error}", shown(path))))?),
    };
    if found.as_ref().is_some_and(Metadata::is_dir) {
        let own = Options { stores: vec![path.to_owned()], files: Vec::new(), answers: Vec::new(), lakes: Vec::new(), ..head.clone() };
        if let Some(own) = foreign(settings, path, &own)? {
            return beside(settings, what, (head, named), own, grouping, true);
        }
        info!(folder = %path.display(), "baseline is a store");
        return beside(settings, what, (head, named), own, grouping, true);
    }
    // A path that is not a regular file is refused when it is opened.
    if found.as_ref().is_some_and(|metadata| !metadata.is_dir()) {
        if !is_bundle(path).map_err(|error| Failure::new(format!("cannot read {}: {error}", shown(path))))? {
            let own = Options {
                stores: Vec::new(),
                files: vec![path.to_owned()],
                cache: None,
                answers: Vec::new(),
                lakes: Vec::new(),
                ..head.clone()
            };
            if let Some(own) = foreign(settings, path, &own)? {
                return beside(settings, what, (head, named), own, grouping, true);
            }
            info!(file = %path.display(), "baseline is a result file");
            return beside(settings, what, (head, named), own, Grouping::AllBatches, false);
        }
        info!(file = %path.display(), "baseline is a bundle");
        // Until the command ends: some outcomes are read only when an answer lists its items.
        let folder = settings.temporary_folder()?.join("baseline");
        unpack(path, &Store::at(&folder)).map_err(|problem| Failure::from(Problems(vec![problem])))?;
        let own = Options { stores: vec![folder], files: Vec::new(), cache: None, answers: Vec::new(), lakes: Vec::new(), ..head.clone() };
        return beside(settings, what, (Options { cache: None, ..head }, named), own, grouping, false);
    }
    let warehouse = opened(settings, &head)?;
    let (baseline, missing) = among(&warehouse, what)?;
    Ok(Opened { warehouse, baseline, missing, lasts: true })
}

/// Imports another tool's results at a path that holds no runs of ours. `None` if there are none.
fn foreign(settings: &Settings, path: &Path, own: &Options) -> Result<Option<Options>, Failure> {
    if !settings.open_with(own)?.runs().is_empty() {
        return Ok(None);
    }
    let stores = foreign::stores_of_side(settings, &[path.to_owned()])?;
    if stores.is_empty() {
        return Ok(None);
    }
    info!(path = %path.display(), files = stores.len(), "baseline is of another tool");
    Ok(Some(Options { stores, lakes: Vec::new(), files: Vec::new(), cache: settings.options().cache, ..own.clone() }))
}

/// Opens the head's stores and files together with the baseline's.
fn beside(
    settings: &Settings,
    what: &str,
    (head, named): (Options, &[String]),
    own: Options,
    grouping: Grouping,
    lasts: bool,
) -> Result<Opened, Failure> {
    let mut alone = settings.open_with(&own)?;
    settings.keep(&mut alone)?;
    if alone.runs().is_empty() {
        // A baseline that cannot be read is an error, not a missing baseline.
        if !alone.problems().is_empty() {
            return Err(Problems(alone.problems().to_vec()).into());
        }
        let warehouse = opened(settings, &head)?;
        let missing = Some(format!("no baseline: {} holds no runs", shown(Path::new(what))));
        return Ok(Opened { warehouse, baseline: nothing(), missing, lasts });
    }
    // A part that cannot be read now might be readable a moment later, and would then not count as the baseline's.
    output::refuse_unread("the baseline", alone.problems())?;
    let joined = |first: Vec<PathBuf>, second: Vec<PathBuf>| {
        let new: Vec<PathBuf> = second.into_iter().filter(|path| !first.contains(path)).collect();
        first.into_iter().chain(new).collect()
    };
    let both = Options {
        stores: joined(head.stores, own.stores),
        lakes: joined(head.lakes, own.lakes),
        files: joined(head.files, own.files),
        ..head
    };
    let warehouse = opened(settings, &both)?;
    for row in alone.runs() {
        let Some(other) = warehouse.runs().iter().find(|other| other.run.id == row.run.id) else { continue };
        // How a run came here is not part of it: from a bundle, only the data behind figures are unpacked.
        let is_same = Run { carried: None, ..(*other.run).clone() } == Run { carried: None, ..(*row.run).clone() };
        // Files that were named as new and imported into the baseline before are the same runs, perhaps under other names.
        let is_new =
            named.iter().any(|own| own == row.run.id.as_str()) && source(&row.run).is_some() && source(&row.run) == source(&other.run);
        if !is_new && (!is_same || other.items != row.items) {
            let what = format!("the run `{}` of the baseline {} is another in the results", row.run.id, shown(Path::new(what)));
            let hint = if source(&row.run).is_some() && source(&other.run).is_some() {
                "its file was changed after it was imported: give the files of each run names of their own"
            } else {
                "ids must be unique: give each run its own"
            };
            return Err(Failure::new(what).with_hint(hint));
        }
    }
    let ids = alone.runs().iter().map(|row| row.run.id.clone()).collect();
    Ok(Opened { warehouse, baseline: Baseline::Runs { ids, both: BTreeSet::new(), grouping }, missing: None, lasts })
}

/// Importer and digest of the file that a run was imported from.
type Source<'a> = (&'a str, &'a str);

fn source(run: &Run) -> Option<Source<'_>> {
    run.provenance.as_ref().map(|from| (from.importer.as_str(), from.sha256.as_str()))
}

fn opened(settings: &Settings, options: &Options) -> Result<Warehouse, Failure> {
    if options.files.is_empty() || !options.stores.is_empty() {
        settings.check_folders()?;
    }
    let warehouse = settings.open_with(options)?;
    output::conflicts(settings, &warehouse.conflicts())?;
    Ok(warehouse)
}

fn nothing() -> Baseline {
    Baseline::Runs { ids: BTreeSet::new(), both: BTreeSet::new(), grouping: Grouping::AllBatches }
}

/// Finds the baseline among the results, by a run id, a tag or a revision.
fn among(warehouse: &Warehouse, what: &str) -> Result<(Baseline, Option<String>), Failure> {
    if let Some(batches) = what.strip_prefix(LAST) {
        let batches = batches.parse().ok().filter(|batches| *batches > 0);
        return batches.map(|batches| (Baseline::Last(batches), None)).ok_or_else(|| {
            Failure::new(format!("--baseline `{}` has no number of batches above 0", visible(what))).with_hint("as in --baseline last:3")
        });
    }
    let runs = || warehouse.runs().iter().map(|row| &row.run);
    let found = |ids: BTreeSet<RunId>| Ok((Baseline::Runs { ids, both: BTreeSet::new(), grouping: Grouping::AllBatches }, None));
    let ids = selection::named(what, runs().map(|run| &run.id));
    if let [one] = ids.as_slice() {
        return found(BTreeSet::from([(*one).clone()]));
    }
    if let Some((key, value)) = what.split_once('=') {
        let tagged: BTreeSet<RunId> =
            runs().filter(|run| run.tags.get(key).is_some_and(|tag| tag == value)).map(|run| run.id.clone()).collect();
        if !tagged.is_empty() {
            return found(tagged);
        }
    }
    let of_revision = |rev: &str| what.len() >= SHORTEST && rev.starts_with(what);
    let revisions: BTreeSet<&str> =
        runs().filter_map(|run| run.git.as_ref()).map(|git| git.rev.as_str()).filter(|rev| of_revision(rev)).collect();
    match (revisions.len(), ids.len()) {
        (0, 0) => Ok((nothing(), Some(tried(what)))),
        (1, 0) => {
            let of_it = |run: &&std::sync::Arc<Run>| run.git.as_ref().is_some_and(|git| of_revision(&git.rev));
            found(runs().filter(of_it).map(|run| run.id.clone()).collect())
        }
        (revisions, ids) => Err(Failure::new(format!(
            "--baseline `{}` is the beginning of {} and {}",
            visible(what),
            output::count(ids, "run id"),
            output::count(revisions, "git revision")
        ))
        .with_hint("give more of it")),
    }
}

fn tried(what: &str) -> String {
    format!(
        "no baseline `{}`: no folder or file has that name, and no run has it as its id, as a tag KEY=VALUE or as its git revision (or as \
         the beginning of one, from {SHORTEST} characters on)",
        visible(what)
    )
}
