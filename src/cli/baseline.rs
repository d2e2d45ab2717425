//! `--baseline WHAT`: finds the runs that the user means. Shared by `compare` and `gate`.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::Metadata;
use std::io;
use std::path::{Path, PathBuf};

use tracing::info;

use crate::domain::{
    Filter, GivenRunNames, NamesByRun, Problems, Run, RunId, escape_invisible, nearest_name,
};
use crate::files;
use crate::inference::Arm;
use crate::results::{Store, is_bundle, unpack_figures};
use crate::views::{BaselineComparison, BaselineSelection, BatchSelection};
use crate::warehouse::{RunRow, Warehouse, WarehouseOptions};

use super::baseline_commit::CommitRuns;
use super::display_path::display_path;
use super::failure::CommandFailure;
use super::file_arms::{FileOptions, file_stem, share_items};
use super::settings::{self, Settings};
use super::{ad_hoc_import, baseline_commit, output, selection};

/// Prefix of `last:K`.
const LAST_PREFIX: &str = "last:";
/// Minimum length of an abbreviated id or revision. Shorter ones match too much.
const MIN_ABBREVIATION: usize = 4;

/// The results, including the baseline.
pub(super) struct ResultsWithBaseline {
    pub warehouse: Warehouse,
    pub baseline: BaselineSelection,
    /// Says which runs were taken, if the baseline is a commit's name.
    pub taken: Option<String>,
    /// Whether the warehouse consists only of stores, so that later commands can reuse its cache.
    pub lasts: bool,
    /// Suites that got their names from the files of tables.
    guessed_suites: BTreeSet<String>,
}

impl ResultsWithBaseline {
    /// Returns the results with a baseline among them.
    pub fn new(warehouse: Warehouse, baseline: BaselineSelection) -> Self {
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
pub(super) fn open_with_baseline(
    settings: &Settings,
    what: &str,
    head: WarehouseOptions,
    pooled: bool,
    (asked, named): (&FileOptions, &[String]),
) -> Result<ResultsWithBaseline, CommandFailure> {
    let mut opened = find_baseline(settings, what, head, pooled, (asked, named))?;
    opened
        .guessed_suites
        .extend(settings.guessed_suites.iter().cloned());
    share_suites(&mut opened, named);
    if let BaselineSelection::Runs { ids, both, .. } = &mut opened.baseline {
        let rows = opened.warehouse.runs();
        let is_named = |id: &RunId| named.iter().any(|own| own == id.as_str());
        let sources: BTreeSet<ImportedSourceKey<'_>> = rows
            .iter()
            .filter(|row| is_named(&row.run.id))
            .filter_map(|row| imported_source_key(&row.run))
            .collect();
        // Under other names, the runs of a file have other ids.
        let is_new = |run: &Run| {
            is_named(&run.id)
                || imported_source_key(run).is_some_and(|source| sources.contains(&source))
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
    let none = BTreeSet::new();
    let baseline = match &opened.baseline {
        BaselineSelection::Runs { ids, .. } => ids,
        BaselineSelection::Last(_) => &none,
    };
    opened
        .warehouse
        .split_arms_by_settings(&settings.pooled, baseline);
    Ok(opened)
}

fn find_baseline(
    settings: &Settings,
    what: &str,
    head: WarehouseOptions,
    pooled: bool,
    (asked, named): (&FileOptions, &[String]),
) -> Result<ResultsWithBaseline, CommandFailure> {
    let path = Path::new(what);
    let grouping = if pooled {
        BatchSelection::AllBatches
    } else {
        BatchSelection::NewestBatch
    };
    if let Some(lake) = settings::lake_folder(path) {
        info!(folder = %lake.display(), "baseline is a lake");
        let own = WarehouseOptions {
            stores: Vec::new(),
            lakes: vec![lake],
            files: Vec::new(),
            cache: None,
            ..head.clone()
        };
        return open_together(settings, what, (head, named), own, grouping, true)?;
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
        found => Some(found.map_err(|error| {
            CommandFailure::new(format!("cannot read {}: {error}", display_path(path)))
        })?),
    };
    if found.is_some() {
        baseline_commit::note_namesake(settings, what)?;
    }
    if found.as_ref().is_some_and(Metadata::is_dir) {
        let own = WarehouseOptions {
            stores: vec![path.to_owned()],
            files: Vec::new(),
            answers: Vec::new(),
            lakes: Vec::new(),
            ..head.clone()
        };
        if let Some(opened) = open_imported(settings, what, &head, &own, grouping, (asked, named))?
        {
            return Ok(opened);
        }
        info!(folder = %path.display(), "baseline is a store");
        return open_together(settings, what, (head, named), own, grouping, true)?;
    }
    // A path that is not a regular file is refused when it is opened.
    if found.as_ref().is_some_and(|metadata| !metadata.is_dir()) {
        if !is_bundle(path).map_err(|error| {
            CommandFailure::new(format!("cannot read {}: {error}", display_path(path)))
        })? {
            let own = WarehouseOptions {
                stores: Vec::new(),
                files: vec![path.to_owned()],
                cache: None,
                answers: Vec::new(),
                lakes: Vec::new(),
                ..head.clone()
            };
            if let Some(opened) =
                open_imported(settings, what, &head, &own, grouping, (asked, named))?
            {
                return Ok(opened);
            }
            info!(file = %path.display(), "baseline is a result file");
            return open_together(
                settings,
                what,
                (head, named),
                own,
                BatchSelection::AllBatches,
                false,
            )?;
        }
        info!(file = %path.display(), "baseline is a bundle");
        // Until the command ends: some outcomes are read only when an answer lists its items.
        let folder = settings.temporary_folder()?.join("baseline");
        unpack_figures(path, &Store::new(&folder))
            .map_err(|problem| CommandFailure::from(Problems(vec![problem])))?;
        let own = WarehouseOptions {
            stores: vec![folder],
            files: Vec::new(),
            cache: None,
            answers: Vec::new(),
            lakes: Vec::new(),
            ..head.clone()
        };
        return open_together(
            settings,
            what,
            (
                WarehouseOptions {
                    cache: None,
                    ..head
                },
                named,
            ),
            own,
            grouping,
            false,
        )?;
    }
    let warehouse = open_checked(settings, &head)?;
    if let Some(baseline) = find_among_runs(&warehouse, what)? {
        return Ok(ResultsWithBaseline::new(warehouse, baseline));
    }
    match baseline_commit::find_commit_runs(settings, &warehouse, what)? {
        Ok(CommitRuns { ids, said }) => {
            let baseline = BaselineSelection::Runs {
                ids,
                both: BTreeSet::new(),
                grouping: BatchSelection::AllBatches,
                is_among_new: true,
            };
            Ok(ResultsWithBaseline {
                taken: Some(said),
                ..ResultsWithBaseline::new(warehouse, baseline)
            })
        }
        Err(why) => Err(baseline_not_found(&warehouse, what, &why)),
    }
}

/// Opens another tool's results as the baseline. `None` if the path holds runs of ours, or nothing of a known format.
fn open_imported(
    settings: &Settings,
    what: &str,
    head: &WarehouseOptions,
    own: &WarehouseOptions,
    grouping: BatchSelection,
    (asked, named): (&FileOptions, &[String]),
) -> Result<Option<ResultsWithBaseline>, CommandFailure> {
    let path = Path::new(what);
    let open = |(own, settings): (WarehouseOptions, Settings)| {
        open_together(&settings, what, (head.clone(), named), own, grouping, true)
    };
    let Some(imported) = import_path(settings, path, (asked, own))? else {
        return Ok(None);
    };
    let failure = match open(imported)? {
        Ok(opened) => return Ok(Some(opened)),
        Err(failure) => failure,
    };
    // Two tables may call their runs alike, by days or numbers, and each has runs of its own.
    let apart = asked.with_map_name("baseline");
    // What there is to say was said.
    let silent = Settings {
        quiet: true,
        ..settings.clone()
    };
    let Some((own, named_by)) = import_path(&silent, path, (&apart, own))? else {
        return Err(failure);
    };
    let quiet = settings.quiet;
    open((own, Settings { quiet, ..named_by }))?.map(Some)
}

/// Imports another tool's results at a path that holds no runs of ours. Returns what to open, and the settings that name its runs. `None` if
/// there are none.
fn import_path(
    settings: &Settings,
    path: &Path,
    (asked, own): (&FileOptions, &WarehouseOptions),
) -> Result<Option<(WarehouseOptions, Settings)>, CommandFailure> {
    if !settings.open_with(own)?.runs().is_empty() {
        return Ok(None);
    }
    let (stores, settings) = ad_hoc_import::import_baseline(settings, path, asked)?;
    if stores.is_empty() {
        return Ok(None);
    }
    info!(path = %path.display(), files = stores.len(), "baseline is of another tool");
    Ok(Some((
        WarehouseOptions {
            stores,
            lakes: Vec::new(),
            files: Vec::new(),
            cache: settings.source_options().cache,
            ..own.clone()
        },
        settings,
    )))
}

/// Gives files that share their items one suite if only their names tell them apart: a table without a suite is called after its file.
fn share_suites(opened: &mut ResultsWithBaseline, named: &[String]) {
    let ResultsWithBaseline {
        warehouse,
        baseline,
        guessed_suites,
        ..
    } = opened;
    let is_new = |row: &RunRow| named.iter().any(|id| id == row.run.id.as_str());
    let is_old = |row: &RunRow| match &*baseline {
        BaselineSelection::Runs { ids, .. } => ids.contains(&row.run.id),
        BaselineSelection::Last(_) => !is_new(row),
    };
    let is_guess = |row: &RunRow| {
        let from = row.run.provenance.as_ref();
        from.is_some_and(|from| row.run.suite == file_stem(Path::new(&from.file)))
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
        let mut alike = old.iter().filter(|(_, others)| {
            share_items(warehouse, rows, others) || share_figures(rows, others)
        });
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
            names.set_names(
                row.run.id.clone(),
                GivenRunNames {
                    suite: Some((*name).to_owned()),
                    ..GivenRunNames::default()
                },
            );
        }
    }
    warehouse.apply_run_names(&names);
}

/// Returns whether the runs have figures and no items, and are of one arm at least in common.
fn share_figures(first: &[&RunRow], other: &[&RunRow]) -> bool {
    let arms = |rows: &[&RunRow]| -> BTreeSet<Arm> {
        rows.iter().map(|row| Arm::from_run(&row.run)).collect()
    };
    first.iter().chain(other).all(|row| row.items.is_none())
        && !arms(first).is_disjoint(&arms(other))
}

/// Opens the head's stores and files together with the baseline's. The inner failure says that a run of the baseline is another in the results.
fn open_together(
    settings: &Settings,
    what: &str,
    (head, named): (WarehouseOptions, &[String]),
    own: WarehouseOptions,
    grouping: BatchSelection,
    lasts: bool,
) -> Result<Result<ResultsWithBaseline, CommandFailure>, CommandFailure> {
    let mut alone = settings.open_with(&own)?;
    settings.close_warehouse(&mut alone)?;
    if alone.runs().is_empty() {
        // A baseline that cannot be read is an error, not a missing baseline.
        if !alone.problems().is_empty() {
            return Err(Problems(alone.problems().to_vec()).into());
        }
        return Err(CommandFailure::new(format!("no baseline: {} holds no runs", display_path(Path::new(what))))
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
    let both = WarehouseOptions {
        stores: joined(head.stores, own.stores),
        lakes: joined(head.lakes, own.lakes),
        files: joined(head.files, own.files),
        ..head
    };
    let warehouse = open_checked(settings, &both)?;
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
            && imported_source_key(&row.run).is_some()
            && imported_source_key(&row.run) == imported_source_key(&other.run);
        if !is_new && (!is_same || other.items != row.items) {
            let what = format!(
                "the run `{}` of the baseline {} is another in the results",
                row.run.id,
                display_path(Path::new(what))
            );
            let hint = if imported_source_key(&row.run).is_some()
                && imported_source_key(&other.run).is_some()
            {
                "its file was changed after it was imported: give the files of each run names of their own"
            } else {
                "ids must be unique: give each run its own"
            };
            return Ok(Err(CommandFailure::new(what).with_hint(hint)));
        }
    }
    let ids = alone.runs().iter().map(|row| row.run.id.clone()).collect();
    let baseline = BaselineSelection::Runs {
        ids,
        both: BTreeSet::new(),
        grouping,
        is_among_new: false,
    };
    Ok(Ok(ResultsWithBaseline {
        lasts,
        guessed_suites: settings.guessed_suites.clone(),
        ..ResultsWithBaseline::new(warehouse, baseline)
    }))
}

/// Importer and digest of the file that a run was imported from.
type ImportedSourceKey<'a> = (&'a str, &'a str);

fn imported_source_key(run: &Run) -> Option<ImportedSourceKey<'_>> {
    run.provenance
        .as_ref()
        .map(|from| (from.importer.as_str(), from.sha256.as_str()))
}

fn open_checked(
    settings: &Settings,
    options: &WarehouseOptions,
) -> Result<Warehouse, CommandFailure> {
    if options.files.is_empty() || !options.stores.is_empty() {
        settings.check_folders()?;
    }
    let warehouse = settings.open_with(options)?;
    settings.report_contradictions(&warehouse)?;
    Ok(warehouse)
}

/// Finds the baseline among the results, by a run id, a tag or a revision.
/// Says why there are no new runs.
pub(super) fn no_new_runs(
    warehouse: &Warehouse,
    filter: &Filter,
    baseline: &BaselineSelection,
) -> CommandFailure {
    let none = BTreeSet::new();
    let ids = match baseline {
        BaselineSelection::Runs { ids, .. } => ids,
        BaselineSelection::Last(_) => &none,
    };
    let newest = |is_wanted: &dyn Fn(&Run) -> bool| {
        let runs = warehouse.runs().iter().map(|row| &*row.run);
        let times = runs
            .filter(|run| is_wanted(run))
            .filter_map(|run| run.timestamp);
        times.max().map(|time| time.format("%Y-%m-%d %H:%M:%S"))
    };
    let is_new = |run: &Run| filter.matches(run) && !ids.contains(&run.id);
    match newest(&is_new).zip(newest(&|run| ids.contains(&run.id))) {
        Some((new, baseline)) => CommandFailure::new(format!(
            "no new runs: the newest began at {new}, and the baseline's at {baseline} (UTC)"
        ))
        .with_hint("older runs are not new; choose by --batch or --tag"),
        None => CommandFailure::new("no new runs: all selected runs belong to the baseline")
            .with_hint(
                "runs of the baseline are never new runs; --results must contain the new runs",
            ),
    }
}

/// Says which runs are new, if the selection holds older ones.
pub(super) fn print_older_runs(settings: &Settings, groups: &[BaselineComparison<'_>]) {
    for held in groups.iter().filter(|held| held.older > 0) {
        let new: usize = held.head.iter().map(|arm| arm.all_runs().count()).sum();
        output::print_message(
            settings,
            &format!(
                "note: {}: of each arm only the newest night is new: {}; {} left out (--since, --batch or --tag chooses others)",
                escape_invisible(&held.suite),
                output::format_count(new, "run"),
                match held.older {
                    1 => "1 older run is".to_owned(),
                    older => format!("{older} older runs are"),
                },
            ),
        );
    }
}

fn find_among_runs(
    warehouse: &Warehouse,
    what: &str,
) -> Result<Option<BaselineSelection>, CommandFailure> {
    if let Some(batches) = what.strip_prefix(LAST_PREFIX) {
        let batches = batches.parse().ok().filter(|batches| *batches > 0);
        return batches
            .map(|batches| Some(BaselineSelection::Last(batches)))
            .ok_or_else(|| {
                CommandFailure::new(format!(
                    "--baseline `{}` has no number of batches above 0",
                    escape_invisible(what)
                ))
                .with_hint("as in --baseline last:3")
            });
    }
    let runs = || warehouse.runs().iter().map(|row| &row.run);
    let found = |ids: BTreeSet<RunId>| {
        Ok(Some(BaselineSelection::Runs {
            ids,
            both: BTreeSet::new(),
            grouping: BatchSelection::AllBatches,
            is_among_new: true,
        }))
    };
    let ids = selection::match_ids(what, runs().map(|run| &run.id));
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
    let of_revision = |rev: &str| what.len() >= MIN_ABBREVIATION && rev.starts_with(what);
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
        (revisions, ids) => Err(CommandFailure::new(format!(
            "--baseline `{}` is the beginning of {} and {}",
            escape_invisible(what),
            output::format_count(ids, "run id"),
            output::format_count(revisions, "git revision")
        ))
        .with_hint("give more of it")),
    }
}

/// Says what was tried, and proposes the nearest name: of a file beside the one that was asked for, of a run, or of a tag.
fn baseline_not_found(warehouse: &Warehouse, what: &str, why: &str) -> CommandFailure {
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
    let failure = CommandFailure::new(format!(
        "no baseline `{}`: no folder or file has that name, and no run has it as its id, as a tag KEY=VALUE or as its git revision (or as \
         the beginning of one, from {MIN_ABBREVIATION} characters on); {why}",
        escape_invisible(what)
    ));
    match nearest_name(what, names.iter().map(String::as_str)) {
        Some(near) => failure.with_hint(format!("did you mean `{}`?", escape_invisible(near))),
        None => failure.with_hint(
            "to make a baseline, run `evalreport export bundle FILE` beside its results, then use --baseline FILE; only `last:K` may find no \
             runs, on a first night",
        ),
    }
}
