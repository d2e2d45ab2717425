//! Other tools' results as arguments of reading commands. They are imported into the cache, so the store stays unchanged.

use std::collections::BTreeSet;
use std::io::Write;
use std::path::{Path, PathBuf};

use crate::domain::{Problem, shell_word, visible};
use crate::files;
use crate::import::{
    Destination, Hints, ImportReport, Mode, NoProposal, SourceOutcome, SourceReport, StoredRuns,
    are_tables, import_foreign, import_table, may_be_table, propose_tables,
};
use crate::render::format::integer;
use crate::results::StoreError;
use crate::warehouse::{Options, SOURCE, Warehouse};

use super::failure::Failure;
use super::file_arms::{self, AskedOfFiles, Decided};
use super::progress::Bar;
use super::settings::Settings;
use super::shown::shown;
use super::{import, missing, output, proposal};

/// Separates names from paths. A word is a path if it begins like one, if it has a separator and exists, or if it is an existing file with
/// an extension. Names of suites may contain a slash. Any other existing path, and a word that ends like one, is a path unless a run has
/// that name. Fails if a path is not there.
pub(super) fn split(
    settings: &Settings,
    words: &[String],
) -> Result<(Vec<String>, Vec<PathBuf>), Failure> {
    let mut store = None;
    let (mut names, mut paths) = (Vec::new(), Vec::new());
    for word in words {
        let path = Path::new(word);
        // An address is not a name either; the error for paths says what to do.
        let begins = path.is_absolute()
            || ["./", "../"].iter().any(|start| word.starts_with(start))
            || word.contains("://");
        let has_separator = word.contains(['/', std::path::MAIN_SEPARATOR]);
        let is_clear = begins
            || (has_separator && path.exists())
            || (path.extension().is_some() && path.is_file());
        // A file that does not exist is reported as that, and not as an unknown suite.
        let is_below = has_separator && path.parent().is_some_and(Path::exists);
        let may_be =
            path.exists() || is_below || may_be_table(word) || missing::looks_like_path(word);
        let is_path = is_clear || (may_be && !is_name(word, settings, &mut store)?);
        if is_path {
            paths.push(path.to_owned())
        } else {
            names.push(word.clone())
        }
    }
    missing::check(paths.iter().map(PathBuf::as_path))?;
    Ok((names, paths))
}

/// Says whether the word is a suite, approach or model of a run, or the beginning of a run's id.
fn is_name(
    word: &str,
    settings: &Settings,
    store: &mut Option<Warehouse>,
) -> Result<bool, Failure> {
    if store.is_none() {
        *store = Some(settings.open()?);
    }
    let mut runs = store.iter().flat_map(Warehouse::runs);
    Ok(runs.any(|row| {
        [&row.run.suite, &row.run.approach, &row.run.model].contains(&&word.to_owned())
            || row.run.id.as_str().starts_with(word)
    }))
}

/// Returns settings that read the results at the paths in addition to the stores.
pub(super) fn with_paths(
    settings: &Settings,
    paths: &[PathBuf],
    asked: &AskedOfFiles,
) -> Result<Settings, Failure> {
    Ok(with_stores(settings, paths, asked)?.0)
}

/// Like [`with_paths`], for the new side of a gate. Also returns the stores that hold the paths' results. They come first: a run that another
/// store holds too is the one of the paths.
pub(super) fn with_side(
    settings: &Settings,
    paths: &[PathBuf],
    asked: &AskedOfFiles,
) -> Result<(Settings, Vec<PathBuf>), Failure> {
    let (mut with, stores) = with_stores(settings, paths, asked)?;
    with.results.rotate_left(settings.results.len());
    Ok((with, stores))
}

/// Returns the ids of the runs of one source, which one of the stores holds: in the cache, or elsewhere if the cache takes nothing.
fn ids_of(
    settings: &Settings,
    source: &SourceReport,
    stores: &[PathBuf],
) -> Result<Vec<String>, Failure> {
    let usual = source.key.as_ref().map(|key| {
        Destination::Cache(&settings.imported_folder())
            .store_of(key)
            .root()
            .to_owned()
    });
    let store = usual.and_then(|usual| {
        stores
            .iter()
            .find(|store| store.file_name() == usual.file_name())
    });
    store.map_or_else(
        || Ok(Vec::new()),
        |store| ids_in(settings, std::slice::from_ref(store)),
    )
}

/// Like [`with_side`], with what else is known of the side.
pub(super) fn with_stores(
    settings: &Settings,
    paths: &[PathBuf],
    asked: &AskedOfFiles,
) -> Result<(Settings, Vec<PathBuf>), Failure> {
    if paths.is_empty() {
        return Ok((settings.clone(), Vec::new()));
    }
    let imported = imported(settings, paths, asked)?;
    say(settings, paths, &imported.report)?;
    let decided = named(settings, paths, asked, &imported)?;
    let mut results = settings.results.clone();
    results.extend(
        imported
            .stores
            .iter()
            .filter(|store| !settings.results.contains(store))
            .cloned(),
    );
    Ok((Settings { results, ..decided }, imported.stores))
}

/// Like [`with_paths`], for a command about the runs at the paths alone. Also returns their ids: none if there is no path.
pub(super) fn with_runs(
    settings: &Settings,
    paths: &[PathBuf],
) -> Result<(Settings, Vec<String>), Failure> {
    let (with, stores) = with_stores(settings, paths, &AskedOfFiles::default())?;
    let ids = if stores.is_empty() {
        Vec::new()
    } else {
        ids_in(&with, &stores)?
    };
    Ok((with, ids))
}

/// Returns the ids of the runs in some stores.
pub(super) fn ids_in(settings: &Settings, stores: &[PathBuf]) -> Result<Vec<String>, Failure> {
    let options = Options {
        stores: stores.to_vec(),
        lakes: Vec::new(),
        answers: Vec::new(),
        cache: None,
        ..settings.options()
    };
    Ok(settings
        .open_with(&options)?
        .runs()
        .iter()
        .map(|row| row.run.id.to_string())
        .collect())
}

/// Imports the baseline of a comparison. Returns its stores in the cache, and settings that name its runs. No stores if nothing has a known
/// format.
pub(super) fn baseline(
    settings: &Settings,
    path: &Path,
    asked: &AskedOfFiles,
) -> Result<(Vec<PathBuf>, Settings), Failure> {
    let paths = [path.to_owned()];
    let imported = imported(settings, &paths, asked)?;
    if imported.stores.is_empty() {
        return Ok((Vec::new(), settings.clone()));
    }
    say(settings, &paths, &imported.report)?;
    let decided = named(settings, &paths, asked, &imported)?;
    Ok((imported.stores, decided))
}

/// Decides which arms the files are, and says so.
fn named(
    settings: &Settings,
    paths: &[PathBuf],
    asked: &AskedOfFiles,
    imported: &Imported,
) -> Result<Settings, Failure> {
    let Decided {
        settings: mut decided,
        note,
        coincide,
    } = file_arms::decide(
        settings,
        asked,
        paths,
        (&imported.report, &imported.stores),
        &|source| ids_of(settings, source, &imported.stores),
    )?;
    if let Some(refused) = imported
        .unless_files_coincide
        .as_ref()
        .filter(|_| !coincide)
    {
        return Err(refused.clone());
    }
    if let Some(note) = note {
        output::say(settings, &note);
    }
    decided
        .guessed_suites
        .extend(imported.guessed_suite.clone());
    Ok(decided)
}

/// Files in stores of the cache.
#[derive(Default)]
struct Imported {
    report: ImportReport,
    /// Each store once: first those of files, in their order, then the tables' store.
    stores: Vec<PathBuf>,
    /// Suite of tables that have none, by their files' names.
    guessed_suite: Option<String>,
    /// Why the tables are unclear, unless their files hold the same arms and items.
    unless_files_coincide: Option<Failure>,
}

/// Imports tables and files of known formats.
fn imported(
    settings: &Settings,
    paths: &[PathBuf],
    asked: &AskedOfFiles,
) -> Result<Imported, Failure> {
    let (tables, mut others): (Vec<PathBuf>, Vec<PathBuf>) = paths
        .iter()
        .cloned()
        .partition(|path| are_tables(std::slice::from_ref(path)));
    let read = if tables.is_empty() {
        None
    } else {
        imported_tables(settings, &tables, asked)?
    };
    if read.is_none() {
        // They are reported like all files that no importer reads.
        others.extend(tables);
    }
    let (mut report, mut stores) = if others.is_empty() {
        Default::default()
    } else {
        imported_foreign(settings, &others, asked)?
    };
    let Some(read) = read else {
        return Ok(Imported {
            report,
            stores,
            ..Imported::default()
        });
    };
    report.sources.extend(read.report.sources);
    stores.extend(read.stores);
    Ok(Imported {
        report,
        stores,
        ..read
    })
}

/// Imports tables by the proposed map, and prints a note. Fails if the map is ambiguous. `None` if the files hold no table.
fn imported_tables(
    settings: &Settings,
    paths: &[PathBuf],
    asked: &AskedOfFiles,
) -> Result<Option<Imported>, Failure> {
    let own = |more: &str| {
        asked
            .set
            .iter()
            .map(|(field, value)| format!("--set {}", shell_word(&format!("{field}={value}"))))
            .chain([more.to_owned()])
            .collect::<Vec<_>>()
    };
    let command = |option: &str| proposal::import_command(settings, paths, &own(option));
    let hints = Hints {
        set: asked.set.clone(),
        ..Hints::default()
    };
    let proposal = match propose_tables(paths, &hints) {
        Err(NoProposal::NoTable) => return Ok(None),
        // Files of one arm, as the command line says, are its runs.
        Err(open @ NoProposal::Open(_)) if asked.settles_arms() => {
            let as_runs = Hints {
                attempt: Some("@file".to_owned()),
                ..hints
            };
            propose_tables(paths, &as_runs).map_err(|_| proposal::refused(open, &command))?
        }
        // Each file may be an arm.
        Err(open @ NoProposal::Open(_)) if asked.may_be_arms(paths) => {
            return one_by_one(settings, paths, asked, proposal::refused(open, &command));
        }
        proposed => proposed.map_err(|why| proposal::refused(why, &command))?,
    };
    let look = command("--dry-run");
    output::say(
        settings,
        &format!(
            "note: {} read as a table; `{look}` shows how",
            output::count(proposal.files.len(), "file")
        ),
    );
    for note in &proposal.notes {
        output::say(settings, &format!("note: {}", visible(note)));
    }
    let store_in = |folder: &Path| Destination::Cache(folder).store_of(&proposal.key);
    let (mut report, folder) = through_cache(settings, &|folder| {
        import_table(
            &store_in(folder),
            &proposal.files,
            &proposal.map,
            &StoredRuns::default(),
            Mode::Store,
            &mut |_| {},
        )
    })?;
    for source in &mut report.sources {
        remember_refused(source, &folder, &proposal.key);
    }
    remember_source(
        store_in(&folder).root(),
        report.sources.iter().map(|source| source.file.as_str()),
    );
    let stores = vec![store_in(&folder).root().to_owned()];
    Ok(Some(Imported {
        report,
        stores,
        guessed_suite: proposal.guessed_suite,
        unless_files_coincide: None,
    }))
}

/// Imports tables each by a map of its own. Fails as `refused` says if one of them is unclear by itself.
fn one_by_one(
    settings: &Settings,
    paths: &[PathBuf],
    asked: &AskedOfFiles,
    refused: Failure,
) -> Result<Option<Imported>, Failure> {
    let mut all = Imported::default();
    for path in paths {
        let Ok(Some(one)) = imported_tables(settings, std::slice::from_ref(path), asked) else {
            return Err(refused);
        };
        all.report.sources.extend(one.report.sources);
        all.stores.extend(
            one.stores
                .into_iter()
                .filter(|store| !all.stores.contains(store))
                .collect::<Vec<_>>(),
        );
    }
    Ok(Some(Imported {
        unless_files_coincide: Some(refused),
        ..all
    }))
}

/// Imports files of known formats. Returns each store once, in the order of the files.
fn imported_foreign(
    settings: &Settings,
    paths: &[PathBuf],
    asked: &AskedOfFiles,
) -> Result<(ImportReport, Vec<PathBuf>), Failure> {
    let names = import::given_names(settings, asked.set.clone())?;
    let (mut report, folder) = through_cache(settings, &|folder| {
        let bar = Bar::new(settings.interactive);
        bar.watch(|progress| {
            (progress.begin)("importing", import::bytes_of(paths));
            let mut on_bytes = |bytes| (progress.advance)(bytes);
            let report = import_foreign(
                Destination::Cache(folder),
                paths,
                None,
                &names,
                Mode::Store,
                &mut on_bytes,
            );
            (progress.end)();
            report
        })
    })?;
    let place = Destination::Cache(&folder);
    for source in &mut report.sources {
        if let Some(key) = source.key.clone() {
            remember_refused(source, &folder, &key);
            if source.outcome.is_there() {
                remember_source(
                    place.store_of(&key).root(),
                    std::iter::once(source.file.as_str()),
                );
            }
        }
    }
    let mut known = BTreeSet::new();
    let keys = report
        .sources
        .iter()
        .filter(|source| source.outcome.is_there())
        .filter_map(|source| source.key.as_ref());
    let stores = keys
        .map(|key| place.store_of(key).root().to_owned())
        .filter(|store| known.insert(store.clone()))
        .collect();
    Ok((report, stores))
}

/// Adds a problem to a source that was not taken in full. The cache remembers it beside the source's store, because a source that is cached
/// is not read again.
fn remember_refused(source: &mut SourceReport, cache: &Path, key: &str) {
    let sha256 = source.sha256.as_deref().unwrap_or_default();
    let name = |text: &str| text.chars().take(32).collect::<String>();
    let path = cache.join(format!("{}-{}.refused", name(key), name(sha256)));
    let message = match source.outcome {
        SourceOutcome::AlreadyImported => files::read_to_string(&path).ok(),
        _ => refused(source),
    };
    let Some(message) = message else { return };
    if source.outcome == SourceOutcome::Imported {
        // Without the file, the next command reads from the cache without this warning.
        let written = files::temporary_in(cache).and_then(|mut file| {
            file.write_all(message.as_bytes())?;
            file.persist(&path).map_err(|error| error.error)
        });
        if let Err(error) = written {
            tracing::warn!(%error, path = %path.display(), "refused rows are not remembered");
        }
    }
    let look = format!(
        "`evalreport import {} --dry-run` shows them",
        shell_word(&shown(Path::new(&source.file)))
    );
    source
        .problems
        .push(Problem::in_file(visible(&source.file), message).with_hint(look));
}

/// Says how much of a source was refused or repeated, or returns `None` if all of it was taken.
fn refused(source: &SourceReport) -> Option<String> {
    let noun = if source.foreign.is_some() {
        "record"
    } else {
        "row"
    };
    let count = |number: u64| output::count(usize::try_from(number).unwrap_or(usize::MAX), noun);
    let mut parts = Vec::new();
    if let [first, rest @ ..] = source.refusals.as_slice() {
        let more = if rest.is_empty() {
            String::new()
        } else {
            ", and for other reasons".to_owned()
        };
        parts.push(format!(
            "{} of {} refused: {}{more}",
            integer(source.rows_refused()),
            count(source.rows_read),
            visible(&first.reason)
        ));
    }
    if !source.runs_repeated.is_empty() && source.foreign.is_none() {
        parts.push(format!(
            "{} left out: an earlier file has them",
            output::count(source.runs_repeated.len(), "run")
        ));
    }
    (!parts.is_empty()).then(|| parts.join("; "))
}

/// Imports into the cache, or into a temporary folder if the cache cannot be written. Returns the folder.
fn through_cache(
    settings: &Settings,
    import: &dyn Fn(&Path) -> Result<ImportReport, StoreError>,
) -> Result<(ImportReport, PathBuf), Failure> {
    settings.use_cache();
    let cache = settings.imported_folder();
    let why = match import(&cache) {
        Ok(report) => match unwritable(&report, &cache) {
            None => return Ok((report, cache)),
            Some(why) => why,
        },
        Err(error) => error.whole(),
    };
    settings.say_not_cached(&why);
    let folder = settings.temporary_folder()?;
    Ok((import(folder)?, folder.to_owned()))
}

/// Records beside a store in the cache which files it was read from, and that it was used now.
fn remember_source<'a>(store: &Path, names: impl Iterator<Item = &'a str>) {
    let place = store.with_extension(SOURCE);
    let absolute = |file: &str| {
        std::path::absolute(file).map_or_else(
            |_| file.to_owned(),
            |path| path.to_string_lossy().into_owned(),
        )
    };
    let file = names.map(absolute).collect::<Vec<_>>().join(", ");
    if files::read_to_string(&place).is_ok_and(|known| known == file) {
        files::touch(&place);
    } else if let Err(error) = std::fs::write(&place, file) {
        tracing::debug!(%error, path = %place.display(), "the source of an imported store is not remembered");
    }
}

/// Returns why the cache cannot be written, if that may be why a source was not read.
fn unwritable(report: &ImportReport, cache: &Path) -> Option<String> {
    let is_unread = report
        .sources
        .iter()
        .any(|source| source.outcome == SourceOutcome::Unreadable);
    let written = || std::fs::create_dir_all(cache).and_then(|()| tempfile::tempfile_in(cache));
    if is_unread {
        written().err().map(|error| error.to_string())
    } else {
        None
    }
}

/// Warns of unreadable results. Fails instead under `--strict`, or if there are no other results.
fn say(settings: &Settings, paths: &[PathBuf], report: &ImportReport) -> Result<(), Failure> {
    let problems: Vec<_> = report
        .sources
        .iter()
        .flat_map(|source| source.problems.iter().cloned())
        .collect();
    if !report
        .sources
        .iter()
        .any(|source| source.outcome.is_there())
    {
        let mut failure = Failure::new(match problems.as_slice() {
            [] => format!(
                "no results of a known format were found in {}",
                paths
                    .iter()
                    .map(|path| shown(path))
                    .collect::<Vec<_>>()
                    .join(", ")
            ),
            _ => "no results of a known format were found at the paths".to_owned(),
        });
        failure.details = problems.iter().map(ToString::to_string).collect();
        let own = problems.iter().find_map(|problem| problem.hint.clone());
        return Err(failure.with_hint(own.unwrap_or_else(|| {
            "`evalreport import PATH --dry-run` shows the detected formats".to_owned()
        })));
    }
    output::warnings(settings, &problems)?;
    if !report.unrecognised.is_empty() {
        let count = output::count(report.unrecognised.len(), "file");
        output::say(
            settings,
            &format!(
                "note: {count} of no format that is read; `evalreport import PATH --dry-run` names them"
            ),
        );
    }
    for source in &report.sources {
        for one in &source.stated.disagreements {
            output::say(
                settings,
                &format!(
                    "note: {}: {} is published as {}, and recomputed as {}",
                    shown(Path::new(&source.file)),
                    visible(&one.figure),
                    import::figure(one.stated, one.unit),
                    import::figure(one.recomputed, one.unit)
                ),
            );
        }
    }
    Ok(())
}
