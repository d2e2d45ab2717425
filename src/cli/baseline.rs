//! `--baseline WHAT`: finds the runs that the user means. Shared by `compare` and `gate`.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::Metadata;
use std::io;
use std::path::{Path, PathBuf};

use tracing::info;

use crate::domain::{NamesByRun, Problems, Run, RunId, RunNames, nearest, visible};
use crate::files;
use crate::results::{Store, is_bundle, unpack};
use crate::views::{Baseline, Grouping};
use crate::warehouse::{Options, RunRow, Warehouse};

use super::baseline_commit::Taken;
use super::failure::Failure;
use super::file_arms::{AskedOfFiles, share_items, stem_of};
use super::settings::{self, Settings};
use super::shown::shown;
use super::{baseline_commit, foreign, output, selection};

/// Prefix of `last:K`.
const LAST: &str = "last:";
/// Minimum length of an abbreviated id or revision. Shorter ones match too much.
const SHORTEST: usize = 4;

/// The results, including the baseline.
pub(super) struct Opened {
    pub warehouse: Warehouse,
    pub baseline: Baseline,
    /// Says which runs were taken, if the baseline is a commit's name.
    pub taken: Option<String>,
    /// Whether the warehouse consists only of stores, so that later commands can reuse its cache.
    pub lasts: bool,
    /// Suites that got their names from the files of tables.
    guessed_suites: BTreeSet<String>,
}

impl Opened {
    /// Returns the results with a baseline among them.
    pub fn of(warehouse: Warehouse, baseline: Baseline) -> Self {
        Self {
            warehouse,
            baseline,
            taken: None,
            lasts: true,
            guessed_suites: BTreeSet::new(),
        }
    }
}

/// Finds the baseline. `head` gives the sources of the other results; `pooled` takes every batch of a store; `named` are the ids of runs that
/// the user named as new, and `asked` is what the user asks of files.
///
/// Fails if `what` is ambiguous, cannot be read or names no run: a typo must not look like a first night. Only `last:K` may find nothing.
pub(super) fn open(
    settings: &Settings,
    what: &str,
    head: Options,
    pooled: bool,
    (asked, named): (&AskedOfFiles, &[String]),
) -> Result<Opened, Failure> {
    let mut opened = find(settings, what, head, pooled, (asked, named))?;
    opened
        .guessed_suites
        .extend(settings.guessed_suites.iter().cloned());
    share_suites(&mut opened, named);
    if let Baseline::Runs { ids, both, .. } = &mut opened.baseline {
        let rows = opened.warehouse.runs();
        let is_named = |id: &RunId| named.iter().any(|own| own == id.as_str());
        let sources: BTreeSet<Source<'_>> = rows
            .iter()
            .filter(|row| is_named(&row.run.id))
            .filter_map(|row| source(&row.run))
            .collect();
        // Under other names, the runs of a file have other ids.
        let is_new = |run: &Run| {
            is_named(&run.id) || source(run).is_some_and(|source| sources.contains(&source))
        };
        let others: BTreeSet<&str> = rows
            .iter()
            .filter(|row| ids.contains(&row.run.id) && !is_new(&row.run))
            .map(|row| row.run.suite.as_str())
            .collect();
        // A new run is no baseline of itself. Only if the baseline has nothing else of its suite, the same files were named twice.
        let is_own = |row: &&RunRow| is_new(&row.run) && others.contains(row.run.suite.as_str());
        for row in rows.iter().filter(is_own) {
            ids.remove(&row.run.id);
        }
        both.extend(ids.iter().filter(|id| is_named(id)).cloned());
    }
    Ok(opened)
}

fn find(
    settings: &Settings,
    what: &str,
    head: Options,
    pooled: bool,
    (asked, named): (&AskedOfFiles, &[String]),
) -> Result<Opened, Failure> {
    let path = Path::new(what);
    let grouping = if pooled {
        Grouping::AllBatches
    } else {
        Grouping::NewestBatch
    };
    if let Some(lake) = settings::lake(path) {
        info!(folder = %lake.display(), "baseline is a lake");
        let own = Options {
            stores: Vec::new(),
            lakes: vec![lake],
            files: Vec::new(),
            cache: None,
            ..head.clone()
        };
        return beside(settings, what, (head, named), own, grouping, true);
    }
    // A path that exists but cannot be inspected is not taken for another kind of name.
    let is_name = |error: &io::Error| {
        files::is_absence(error)
            || matches!(
                error.kind(),
                io::ErrorKind::InvalidInput | io::ErrorKind::InvalidFilename
            )
    };
    let found = match path.metadata() {
        Err(error) if is_name(&error) => None,
        found => Some(
            found.map_err(|error| Failure::new(format!("cannot read {}: {error}", shown(path))))?,
        ),
    };
    if found.is_some() {
        baseline_commit::note_namesake(settings, what)?;
    }
    if found.as_ref().is_some_and(Metadata::is_dir) {
        let own = Options {
            stores: vec![path.to_owned()],
            files: Vec::new(),
            answers: Vec::new(),
            lakes: Vec::new(),
            ..head.clone()
        };
        if let Some((own, settings)) = foreign(settings, path, (asked, &own))? {
            return beside(&settings, what, (head, named), own, grouping, true);
        }
        info!(folder = %path.display(), "baseline is a store");
        return beside(settings, what, (head, named), own, grouping, true);
    }
    // A path that is not a regular file is refused when it is opened.
    if found.as_ref().is_some_and(|metadata| !metadata.is_dir()) {
        if !is_bundle(path)
            .map_err(|error| Failure::new(format!("cannot read {}: {error}", shown(path))))?
        {
            let own = Options {
                stores: Vec::new(),
                files: vec![path.to_owned()],
                cache: None,
                answers: Vec::new(),
                lakes: Vec::new(),
                ..head.clone()
            };
            if let Some((own, settings)) = foreign(settings, path, (asked, &own))? {
                return beside(&settings, what, (head, named), own, grouping, true);
            }
            info!(file = %path.display(), "baseline is a result file");
            return beside(
                settings,
                what,
                (head, named),
                own,
                Grouping::AllBatches,
                false,
            );
        }
        info!(file = %path.display(), "baseline is a bundle");
        // Until the command ends: some outcomes are read only when an answer lists its items.
        let folder = settings.temporary_folder()?.join("baseline");
        unpack(path, &Store::at(&folder))
            .map_err(|problem| Failure::from(Problems(vec![problem])))?;
        let own = Options {
            stores: vec![folder],
            files: Vec::new(),
            cache: None,
            answers: Vec::new(),
            lakes: Vec::new(),
            ..head.clone()
        };
        return beside(
            settings,
            what,
            (
                Options {
                    cache: None,
                    ..head
                },
                named,
            ),
            own,
            grouping,
            false,
        );
    }
    let warehouse = opened(settings, &head)?;
    if let Some(baseline) = among(&warehouse, what)? {
        return Ok(Opened::of(warehouse, baseline));
    }
    match baseline_commit::runs_of(settings, &warehouse, what)? {
        Ok(Taken { ids, said }) => {
            let baseline = Baseline::Runs {
                ids,
                both: BTreeSet::new(),
                grouping: Grouping::AllBatches,
            };
            Ok(Opened {
                taken: Some(said),
                ..Opened::of(warehouse, baseline)
            })
        }
        Err(why) => Err(not_found(&warehouse, what, &why)),
    }
}

/// Imports another tool's results at a path that holds no runs of ours. Returns what to open, and the settings that name its runs. `None` if
/// there are none.
fn foreign(
    settings: &Settings,
    path: &Path,
    (asked, own): (&AskedOfFiles, &Options),
) -> Result<Option<(Options, Settings)>, Failure> {
    if !settings.open_with(own)?.runs().is_empty() {
        return Ok(None);
    }
    let (stores, settings) = foreign::baseline(settings, path, asked)?;
    if stores.is_empty() {
        return Ok(None);
    }
    info!(path = %path.display(), files = stores.len(), "baseline is of another tool");
    Ok(Some((
        Options {
            stores,
            lakes: Vec::new(),
            files: Vec::new(),
            cache: settings.options().cache,
            ..own.clone()
        },
        settings,
    )))
}

/// Gives files that share their items one suite if only their names tell them apart: a table without a suite is called after its file.
fn share_suites(opened: &mut Opened, named: &[String]) {
    let Opened {
        warehouse,
        baseline,
        guessed_suites,
        ..
    } = opened;
    let is_new = |row: &RunRow| named.iter().any(|id| id == row.run.id.as_str());
    let is_old = |row: &RunRow| match &*baseline {
        Baseline::Runs { ids, .. } => ids.contains(&row.run.id),
        Baseline::Last(_) => !is_new(row),
    };
    let is_guess = |row: &RunRow| {
        let from = row.run.provenance.as_ref();
        from.is_some_and(|from| row.run.suite == stem_of(Path::new(&from.file)))
            || guessed_suites.contains(&row.run.suite)
                && from.is_some_and(|from| from.map.is_some())
    };
    let of = |is_wanted: &dyn Fn(&RunRow) -> bool| {
        let mut suites = BTreeMap::<&str, Vec<&RunRow>>::new();
        for row in warehouse.runs().iter().filter(|row| is_wanted(row)) {
            suites.entry(&row.run.suite).or_default().push(row);
        }
        suites
    };
    let (new, old) = (of(&is_new), of(&is_old));
    let mut names = NamesByRun::default();
    for (suite, rows) in new.iter().filter(|(suite, _)| !old.contains_key(**suite)) {
        let mut alike = old
            .iter()
            .filter(|(_, others)| share_items(warehouse, rows, others));
        let (Some((other, others)), None) = (alike.next(), alike.next()) else {
            continue;
        };
        let (renamed, name) = match (
            rows.iter().all(|row| is_guess(row)),
            others.iter().all(|row| is_guess(row)),
        ) {
            (_, true) => (others, suite),
            (true, false) => (rows, other),
            (false, false) => continue,
        };
        for row in renamed {
            names.give(
                row.run.id.clone(),
                RunNames {
                    suite: Some((*name).to_owned()),
                    ..RunNames::default()
                },
            );
        }
    }
    warehouse.give_names(&names);
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
        return Err(Failure::new(format!("no baseline: {} holds no runs", shown(Path::new(what))))
            .with_hint("put the baseline's results there, or name another baseline; only `last:K` may find no runs, on a first night"));
    }
    // A part that cannot be read now might be readable a moment later, and would then not count as the baseline's.
    output::refuse_unread("the baseline", alone.problems())?;
    let joined = |first: Vec<PathBuf>, second: Vec<PathBuf>| {
        let new: Vec<PathBuf> = second
            .into_iter()
            .filter(|path| !first.contains(path))
            .collect();
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
        let Some(other) = warehouse
            .runs()
            .iter()
            .find(|other| other.run.id == row.run.id)
        else {
            continue;
        };
        // How a run came here is not part of it: it may be imported on one side, and from a bundle only the data behind figures are unpacked.
        let bare = |row: &RunRow| Run {
            carried: None,
            provenance: None,
            ..(*row.run).clone()
        };
        let is_same = bare(other) == bare(row);
        // Files that were named as new and imported into the baseline before are the same runs, perhaps under other names.
        let is_new = named.iter().any(|own| own == row.run.id.as_str())
            && source(&row.run).is_some()
            && source(&row.run) == source(&other.run);
        if !is_new && (!is_same || other.items != row.items) {
            let what = format!(
                "the run `{}` of the baseline {} is another in the results",
                row.run.id,
                shown(Path::new(what))
            );
            let hint = if source(&row.run).is_some() && source(&other.run).is_some() {
                "its file was changed after it was imported: give the files of each run names of their own"
            } else {
                "ids must be unique: give each run its own"
            };
            return Err(Failure::new(what).with_hint(hint));
        }
    }
    let ids = alone.runs().iter().map(|row| row.run.id.clone()).collect();
    let baseline = Baseline::Runs {
        ids,
        both: BTreeSet::new(),
        grouping,
    };
    Ok(Opened {
        lasts,
        guessed_suites: settings.guessed_suites.clone(),
        ..Opened::of(warehouse, baseline)
    })
}

/// Importer and digest of the file that a run was imported from.
type Source<'a> = (&'a str, &'a str);

fn source(run: &Run) -> Option<Source<'_>> {
    run.provenance
        .as_ref()
        .map(|from| (from.importer.as_str(), from.sha256.as_str()))
}

fn opened(settings: &Settings, options: &Options) -> Result<Warehouse, Failure> {
    if options.files.is_empty() || !options.stores.is_empty() {
        settings.check_folders()?;
    }
    let warehouse = settings.open_with(options)?;
    output::conflicts(settings, &warehouse.conflicts())?;
    Ok(warehouse)
}

/// Finds the baseline among the results, by a run id, a tag or a revision.
fn among(warehouse: &Warehouse, what: &str) -> Result<Option<Baseline>, Failure> {
    if let Some(batches) = what.strip_prefix(LAST) {
        let batches = batches.parse().ok().filter(|batches| *batches > 0);
        return batches
            .map(|batches| Some(Baseline::Last(batches)))
            .ok_or_else(|| {
                Failure::new(format!(
                    "--baseline `{}` has no number of batches above 0",
                    visible(what)
                ))
                .with_hint("as in --baseline last:3")
            });
    }
    let runs = || warehouse.runs().iter().map(|row| &row.run);
    let found = |ids: BTreeSet<RunId>| {
        Ok(Some(Baseline::Runs {
            ids,
            both: BTreeSet::new(),
            grouping: Grouping::AllBatches,
        }))
    };
    let ids = selection::named(what, runs().map(|run| &run.id));
    if let [one] = ids.as_slice() {
        return found(BTreeSet::from([(*one).clone()]));
    }
    if let Some((key, value)) = what.split_once('=') {
        let tagged: BTreeSet<RunId> = runs()
            .filter(|run| run.tags.get(key).is_some_and(|tag| tag == value))
            .map(|run| run.id.clone())
            .collect();
        if !tagged.is_empty() {
            return found(tagged);
        }
    }
    let of_revision = |rev: &str| what.len() >= SHORTEST && rev.starts_with(what);
    let revisions: BTreeSet<&str> = runs()
        .filter_map(|run| run.git.as_ref())
        .map(|git| git.rev.as_str())
        .filter(|rev| of_revision(rev))
        .collect();
    match (revisions.len(), ids.len()) {
        (0, 0) => Ok(None),
        (1, 0) => {
            let of_it = |run: &&std::sync::Arc<Run>| {
                run.git.as_ref().is_some_and(|git| of_revision(&git.rev))
            };
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

/// Says what was tried, and proposes the nearest name: of a file beside the one that was asked for, of a run, or of a tag.
fn not_found(warehouse: &Warehouse, what: &str, why: &str) -> Failure {
    let path = Path::new(what);
    let folder = path
        .parent()
        .filter(|folder| !folder.as_os_str().is_empty());
    let beside = folder
        .unwrap_or(Path::new("."))
        .read_dir()
        .into_iter()
        .flatten()
        .flatten();
    let file = |name: PathBuf| {
        folder
            .map_or_else(|| name.clone(), |folder| folder.join(&name))
            .display()
            .to_string()
    };
    let mut names: BTreeSet<String> = beside.map(|entry| file(entry.file_name().into())).collect();
    for row in warehouse.runs() {
        names.insert(row.run.id.to_string());
        names.extend(
            row.run
                .tags
                .iter()
                .map(|(key, value)| format!("{key}={value}")),
        );
    }
    let failure = Failure::new(format!(
        "no baseline `{}`: no folder or file has that name, and no run has it as its id, as a tag KEY=VALUE or as its git revision (or as \
         the beginning of one, from {SHORTEST} characters on); {why}",
        visible(what)
    ));
    match nearest(what, names.iter().map(String::as_str)) {
        Some(near) => failure.with_hint(format!("did you mean `{}`?", visible(near))),
        None => failure.with_hint(
            "to make a baseline, run `evalreport export bundle FILE` beside its results, then use --baseline FILE; only `last:K` may find no \
             runs, on a first night",
        ),
    }
}
