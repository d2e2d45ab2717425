//! `import`: imports other tools' results, tables, rubrics and other stores' bundles into the store.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use crate::document::nearest_hint;
use crate::domain::{Filter, PriceTable, Problem, Run, RunId, Signer, StatedFigure, Unit, visible};
use crate::import::{
    Destination, FieldHeld, ForeignFormat, ForeignReport, GivenNames, ImportReport, ImportedRun,
    Map, Mode, ReplacedRun, SourceOutcome, SourceReport, Standing, StoredRuns, import_bundles,
    import_foreign, import_rubrics, import_table, join_sessions, superseded, table_files,
};
use crate::render::format;
use crate::results::{AllowedSigners, ImportLock, Retraction, is_bundle};
use crate::warehouse::{HiddenBy, Warehouse};

use super::arguments::{Format, Import, ImportAs};
use super::assignments::assignments;
use super::failure::Failure;
use super::progress::Bar;
use super::proposal::Agreed;
use super::settings::Settings;
use super::shown::shown;
use super::{clock, exit_code, import_answer, label_import, output, proposal};

/// How to read the files.
enum Reading {
    Table(Box<Map>),
    Rubric(GivenNames),
    /// In the requested format, or in the format detected by content.
    Foreign(Option<ForeignFormat>, GivenNames),
    /// With the signer of each file, if signatures are required.
    Bundle(BTreeMap<PathBuf, Signer>),
}

pub(super) fn run(settings: &Settings, arguments: &Import) -> Result<u8, Failure> {
    proposal::refuse_unread(arguments)?;
    if let Some(path) = label_import::file(arguments) {
        let _alone = alone(settings, arguments)?;
        return label_import::run(settings, arguments, path);
    }
    let set = assignments("--set", &arguments.set, "--set suite=aider-edit")?;
    let (reading, files) = match &arguments.signed_by {
        Some(allowed) => (
            Reading::Bundle(signers(settings, arguments, allowed)?),
            arguments.files.clone(),
        ),
        None => match proposal::agreed(settings, arguments, set.clone())? {
            Agreed::Read(map, files) => (Reading::Table(map), files),
            Agreed::Written => return Ok(exit_code::DONE),
            Agreed::NoTable => (reading(settings, arguments, set)?, arguments.files.clone()),
        },
    };
    // After the questions, whose answers may take long, and before the stored runs are read.
    let _alone = alone(settings, arguments)?;
    let existing = stored_runs(settings)?;
    let existing = if arguments.again {
        existing.anew()
    } else {
        existing
    };
    let mode = if arguments.dry_run {
        Mode::DryRun
    } else {
        Mode::Store
    };
    if settings.strict && mode == Mode::Store {
        // A strict import stores all or nothing, so problems must be known before it writes.
        refuse_refused(
            &import(settings, &files, &reading, &existing, Mode::DryRun)?,
            &reading,
        )?;
    }
    let report = import(settings, &files, &reading, &existing, mode)?;
    if mode == Mode::Store && !matches!(reading, Reading::Bundle(_)) {
        retract_replaced(settings, &report, &existing)?;
    }
    let is_new = report
        .sources
        .iter()
        .any(|source| !source.runs_new.is_empty());
    if mode == Mode::Store
        && !matches!(reading, Reading::Bundle(_))
        && is_new
        && existing.has_sessions()
    {
        join(settings)?;
    }
    if mode == Mode::Store && matches!(reading, Reading::Foreign(..)) && !existing.ids().is_empty()
    {
        retract_superseded(settings, &report)?;
    }
    match settings.format {
        Format::Json | Format::Full => output::print(&crate::render::json::document(
            "import",
            import_answer::of(&report),
        ))?,
        Format::Table | Format::Markdown | Format::Csv => {
            output::print(&describe(&report, &reading))?
        }
        Format::Junit => return Err(output::no_junit()),
    }
    if settings.strict {
        refuse_refused(&report, &reading)?;
    }
    // A folder without results is as bad as a missing one: whoever names it means to import something.
    let failed = report.sources.is_empty()
        || report.sources.iter().any(|source| {
            matches!(
                source.outcome,
                SourceOutcome::Unreadable | SourceOutcome::NothingAccepted
            )
        });
    Ok(if failed {
        exit_code::BAD_INPUT
    } else {
        exit_code::DONE
    })
}

/// Checks the signatures of all files before reading the content of any.
fn signers(
    settings: &Settings,
    arguments: &Import,
    allowed: &Path,
) -> Result<BTreeMap<PathBuf, Signer>, Failure> {
    if arguments.kind.is_some_and(|kind| kind != ImportAs::Bundle) {
        return Err(Failure::new("--signed-by is for bundles"));
    }
    let allowed = AllowedSigners::read(allowed)?;
    let mut signers = BTreeMap::new();
    for file in &arguments.files {
        let signer = allowed.signer_of(file)?;
        output::say(
            settings,
            &format!(
                "{}: signed by {} ({})",
                shown(file),
                visible(&signer.name),
                signer.key
            ),
        );
        signers.insert(file.clone(), signer);
    }
    Ok(signers)
}

/// Waits until no other import works on the store. A dry run stores nothing, and waits for nobody.
fn alone(settings: &Settings, arguments: &Import) -> Result<Option<ImportLock>, Failure> {
    if arguments.dry_run {
        return Ok(None);
    }
    let waits = || {
        output::say(
            settings,
            "another import works on these results: waiting for its end",
        )
    };
    Ok(Some(ImportLock::take(&settings.store(), waits)?))
}

fn stored_runs(settings: &Settings) -> Result<StoredRuns, Failure> {
    let warehouse = settings.open()?;
    // A stored run that is overlooked would be imported a second time.
    output::refuse_unread("the list of what is imported already", warehouse.problems())?;
    Ok(standing_of(&warehouse).collect())
}

/// Returns each run of the store with whether it counts.
fn standing_of(warehouse: &Warehouse) -> impl Iterator<Item = (&Run, Standing)> {
    let counted = warehouse
        .runs()
        .iter()
        .map(|row| (row.run.as_ref(), Standing::Counts));
    let hidden = warehouse.hidden().iter().map(|hidden| {
        let standing = match hidden.by {
            HiddenBy::Tombstone => Standing::Retracted(hidden.reason.clone()),
            HiddenBy::Selection => Standing::Covered(hidden.reason.clone()),
            // No tombstone says so yet: the import that replaced it was interrupted, or its tombstone was taken back.
            HiddenBy::Replacement => Standing::Counts,
        };
        (hidden.run.as_ref(), standing)
    });
    counted.chain(hidden)
}

/// Retracts runs whose sources have changed, including those that an interrupted import left behind.
fn retract_replaced(
    settings: &Settings,
    report: &ImportReport,
    before: &StoredRuns,
) -> Result<(), Failure> {
    let replaced = report
        .sources
        .iter()
        .flat_map(|source| &source.runs_replaced)
        .map(|one| (one.run.clone(), one.by.clone()));
    for (run, by) in before.doubled().into_iter().chain(replaced) {
        retract(
            settings,
            &run,
            format!(
                "replaced by `{by}`, the same run read again: its source holds something else now, or is read otherwise"
            ),
        )?;
    }
    Ok(())
}

/// Joins runs with the sessions in which they were made.
fn join(settings: &Settings) -> Result<(), Failure> {
    let warehouse = settings.open()?;
    let joined = join_sessions(
        &settings.store(),
        &standing_of(&warehouse).collect::<Vec<_>>(),
    )?;
    for note in joined.notes {
        output::say(settings, &format!("note: {note}"));
    }
    for (run, reason) in joined.retracted {
        retract(settings, &run, reason)?;
    }
    for run in joined.restored {
        output::say(
            settings,
            &format!("note: run `{run}` counts again: it is joined with no session any more"),
        );
        let selector = Filter {
            ids: vec![run.to_string()],
            ..Filter::default()
        };
        Retraction {
            selector,
            reason: String::new(),
            time: clock::now(),
            undo: true,
        }
        .append(&settings.store())?;
    }
    Ok(())
}

fn retract(settings: &Settings, run: &RunId, reason: String) -> Result<(), Failure> {
    output::say(
        settings,
        &format!("note: run `{run}` is retracted: {reason}"),
    );
    let selector = Filter {
        ids: vec![run.to_string()],
        ..Filter::default()
    };
    Ok(Retraction {
        selector,
        reason,
        time: clock::now(),
        undo: false,
    }
    .append(&settings.store())?)
}

/// Retracts runs that a retry replaces, if the two were imported by different commands. Their records stay, and the retraction can be
/// undone.
fn retract_superseded(settings: &Settings, report: &ImportReport) -> Result<(), Failure> {
    let format = |source: &SourceReport| {
        source
            .foreign
            .as_ref()
            .and_then(|foreign| ForeignFormat::from_name(foreign.format))
    };
    let has_retries =
        |source: &&SourceReport| format(source).is_some_and(ForeignFormat::has_retries);
    let new: BTreeSet<RunId> = report
        .sources
        .iter()
        .filter(has_retries)
        .flat_map(|source| &source.runs_new)
        .map(|run| run.id.clone())
        .collect();
    if new.is_empty() {
        return Ok(());
    }
    let warehouse = settings.open()?;
    for (run, by) in superseded(warehouse.runs().iter().map(|row| row.run.as_ref()), &new) {
        retract(
            settings,
            &run.id,
            format!("superseded by `{}`, a later log of the same task", by.id),
        )?;
    }
    Ok(())
}

fn import(
    settings: &Settings,
    files: &[PathBuf],
    reading: &Reading,
    existing: &StoredRuns,
    mode: Mode,
) -> Result<ImportReport, Failure> {
    if let Reading::Foreign(None, names) = reading
        && !names.is_empty()
        && let Some(bundle) = files
            .iter()
            .find(|file| file.is_file() && is_bundle(file).unwrap_or(false))
    {
        return Err(keeps_names(bundle));
    }
    let bar = Bar::new(settings.interactive);
    let total = bytes_of(files);
    let report = bar.watch(|progress| {
        (progress.begin)("importing", total);
        let store = settings.store();
        let mut on_bytes = |bytes| (progress.advance)(bytes);
        if mode == Mode::Store {
            store.sweep();
        }
        let report = match reading {
            Reading::Table(map) => import_table(
                &store,
                &table_files(files),
                map,
                existing,
                mode,
                &mut on_bytes,
            ),
            Reading::Rubric(names) => import_rubrics(
                &store,
                &table_files(files),
                names,
                existing,
                mode,
                &mut on_bytes,
            ),
            Reading::Bundle(signers) => Ok(import_bundles(
                &store,
                files,
                existing,
                signers,
                mode,
                &mut on_bytes,
            )),
            Reading::Foreign(format, names) => import_foreign(
                Destination::Store(&store, existing),
                files,
                *format,
                names,
                mode,
                &mut on_bytes,
            ),
        };
        (progress.end)();
        report
    })?;
    Ok(report)
}

fn keeps_names(bundle: &std::path::Path) -> Failure {
    Failure::new(format!(
        "the runs of the bundle {} keep their names",
        shown(bundle)
    ))
    .with_hint("--set is for files of other kinds")
}

/// Returns the total size of the files. Folders are not counted, because their size is unknown.
pub(super) fn bytes_of(paths: &[PathBuf]) -> u64 {
    paths
        .iter()
        .filter_map(|path| std::fs::metadata(path).ok())
        .filter(std::fs::Metadata::is_file)
        .map(|metadata| metadata.len())
        .sum()
}

/// Fails, under `--strict`, if a row was refused or a file could not be read.
fn refuse_refused(report: &ImportReport, reading: &Reading) -> Result<(), Failure> {
    let refused: u64 = report.sources.iter().map(SourceReport::rows_refused).sum();
    let unreadable = report
        .sources
        .iter()
        .any(|source| source.outcome == SourceOutcome::Unreadable);
    if refused == 0 && !unreadable {
        return Ok(());
    }
    let mut failure = Failure::new(format!(
        "{} refused, and --strict imports all or nothing",
        rows(refused)
    ));
    failure.details = vec![describe(report, reading).trim_end().to_owned()];
    Err(failure)
}

fn reading(
    settings: &Settings,
    arguments: &Import,
    set: BTreeMap<String, String>,
) -> Result<Reading, Failure> {
    match (arguments.kind, &arguments.map) {
        (Some(ImportAs::Table) | None, Some(map)) => {
            let read =
                Map::load(map, &set).map_err(|problems| Failure::of_document(map, &problems.0))?;
            Ok(Reading::Table(Box::new(read)))
        }
        (Some(ImportAs::Rubric | ImportAs::Bundle | ImportAs::Foreign(_)), Some(_)) => Err(
            Failure::new("--map is for tables; files of a known format explain themselves"),
        ),
        (Some(ImportAs::Rubric), None) => given_names(settings, set).map(Reading::Rubric),
        (Some(ImportAs::Bundle), None) if set.is_empty() => Ok(Reading::Bundle(BTreeMap::new())),
        (Some(ImportAs::Bundle), None) => Err(keeps_names(&arguments.files[0])),
        (Some(ImportAs::Foreign(format)), None) => {
            Ok(Reading::Foreign(Some(format), given_names(settings, set)?))
        }
        (Some(ImportAs::Table) | None, None) => {
            Ok(Reading::Foreign(None, given_names(settings, set)?))
        }
    }
}

/// Returns the names that `--set` gives to runs of other tools' files.
pub(super) fn given_names(
    settings: &Settings,
    mut set: BTreeMap<String, String>,
) -> Result<GivenNames, Failure> {
    let [suite, approach, model] = ["suite", "approach", "model"].map(|name| set.remove(name));
    let names = GivenNames {
        suite,
        approach,
        model,
        prices: PriceTable::new(&settings.config.prices),
    };
    if let Some(other) = set.keys().next() {
        let hint = nearest_hint(other, ["suite", "approach", "model"]);
        return Err(Failure::new(format!("`{}` cannot be set", visible(other)))
            .with_hint(hint.unwrap_or_else(|| "suite, approach and model can".to_owned())));
    }
    if let Some((field, _)) = [
        ("suite", &names.suite),
        ("approach", &names.approach),
        ("model", &names.model),
    ]
    .into_iter()
    .find(|(_, name)| name.as_ref().is_some_and(|name| name.trim().is_empty()))
    {
        return Err(Failure::new(format!("--set {field}= gives no name")));
    }
    Ok(names)
}

/// Words for the parts of a source.
struct Words {
    row: &'static str,
    figure: &'static str,
    /// The data that figures are checked against.
    grounds: &'static str,
    /// What is missing for figures that cannot be checked.
    lacking: &'static str,
    same_way: &'static str,
}

impl Words {
    fn of(reading: &Reading) -> Self {
        match reading {
            Reading::Table(_) => Self {
                row: "row",
                figure: "published figure",
                grounds: "the source's counts",
                lacking: "counts",
                same_way: "with the same map",
            },
            Reading::Rubric(_) => Self {
                row: "node",
                figure: "branch score",
                grounds: "the grades below them",
                lacking: "all the grades",
                same_way: "under the same names",
            },
            Reading::Bundle(_) | Reading::Foreign(..) => Self {
                row: "record",
                figure: "published figure",
                grounds: "the source's records",
                lacking: "records",
                same_way: "under the same names",
            },
        }
    }

    fn rows(&self, count: u64) -> String {
        output::count(usize::try_from(count).unwrap_or(usize::MAX), self.row)
    }

    fn figures(&self, count: u64) -> String {
        output::count(usize::try_from(count).unwrap_or(usize::MAX), self.figure)
    }
}

fn rows(count: u64) -> String {
    output::count(usize::try_from(count).unwrap_or(usize::MAX), "row")
}

fn runs(count: usize) -> String {
    output::count(count, "run")
}

fn describe(report: &ImportReport, reading: &Reading) -> String {
    let words = Words::of(reading);
    let mut text = String::new();
    for source in &report.sources {
        describe_source(source, &words, report.dry_run, &mut text);
    }
    if report.sources.len() > 1 {
        let sum = |of: fn(&SourceReport) -> u64| report.sources.iter().map(of).sum::<u64>();
        let new: usize = report
            .sources
            .iter()
            .map(|source| source.runs_new.len())
            .sum();
        text.push_str(&format!(
            "{} in all: {} read, {} accepted, {} refused; {} new, {} checked: {} with {}, {}\n",
            output::count(report.sources.len(), "file"),
            words.rows(sum(|source| source.rows_read)),
            format::integer(sum(|source| source.rows_accepted)),
            format::integer(sum(SourceReport::rows_refused)),
            runs(new),
            words.figures(sum(|source| source.stated.checked)),
            agree(sum(|source| source.stated.agree)),
            words.grounds,
            do_not(sum(|source| source.stated.disagreements.len() as u64)),
        ));
        let named: BTreeSet<&RunId> = report
            .sources
            .iter()
            .flat_map(|source| &source.stated.disagreements)
            .map(|one| &one.run.id)
            .collect();
        if !named.is_empty() {
            text.push_str(&format!(
                "the figures that do not agree are in {}\n",
                runs(named.len())
            ));
        }
    }
    describe_unrecognised(report, &mut text);
    if report.dry_run {
        text.push_str("dry run: nothing was written\n");
    }
    text
}

/// Describes files of walked folders that are not sources. They are counted, and a dry run names them.
fn describe_unrecognised(report: &ImportReport, text: &mut String) {
    let files = |count: usize| output::count(count, "file");
    let (known, unknown): (Vec<_>, Vec<_>) = report
        .unrecognised
        .iter()
        .partition(|file| file.tool.is_some());
    let mut tools: BTreeMap<(&str, &str), usize> = BTreeMap::new();
    for file in known {
        *tools
            .entry((file.tool.unwrap_or_default(), file.hint.unwrap_or_default()))
            .or_default() += 1;
    }
    for ((tool, hint), count) in tools {
        text.push_str(&format!(
            "{} of {tool}, not supported yet: {hint}\n",
            files(count)
        ));
    }
    if !unknown.is_empty() {
        // A dry run names them all below.
        let names = unknown.iter().map(|file| file.file.as_str());
        let listed = if report.dry_run {
            String::new()
        } else {
            format!(": {}", few(names))
        };
        text.push_str(&format!(
            "{} of no format that is recognised{listed}\n",
            files(unknown.len())
        ));
    }
    if let Some(hint) = report
        .unrecognised
        .iter()
        .find_map(|file| file.hint.filter(|_| file.tool.is_none()))
    {
        text.push_str(&format!("  hint: {hint}\n"));
    }
    if !report.links.is_empty() {
        let links = output::count(report.links.len(), "symbolic link");
        let names = few(report.links.iter().map(String::as_str));
        text.push_str(&format!("{links} not followed: {names}\n  hint: name the files or folders themselves to import them\n"));
    }
    if report.dry_run {
        for file in &report.unrecognised {
            let tool = file
                .tool
                .map_or_else(String::new, |tool| format!(" ({tool})"));
            text.push_str(&format!("  {}{tool}\n", visible(&file.file)));
        }
    }
    if report.sources.is_empty() && report.unrecognised.is_empty() {
        text.push_str("nothing to import: no results of a known format were found at the paths\n");
    }
}

/// Names the first few files, and counts the others.
fn few<'n>(names: impl ExactSizeIterator<Item = &'n str>) -> String {
    const SHOWN: usize = 3;
    let more = names.len().saturating_sub(SHOWN);
    let shown: Vec<String> = names.take(SHOWN).map(visible).collect();
    let more = if more > 0 {
        format!(" and {more} more")
    } else {
        String::new()
    };
    format!("{}{more}", shown.join(", "))
}

/// Describes which fields a source of a known format holds and lacks.
fn describe_foreign(foreign: &ForeignReport, line: &mut dyn FnMut(String)) {
    let version = foreign
        .version
        .as_ref()
        .map_or_else(String::new, |version| format!(", {}", visible(version)));
    line(format!(
        "  format {}{version}, {}",
        foreign.format,
        output::count(foreign.files, "file")
    ));
    let (held, lacking): (Vec<&FieldHeld>, Vec<&FieldHeld>) =
        foreign.fields.iter().partition(|field| field.held > 0);
    let share = |field: &&FieldHeld| {
        if field.held == field.of {
            field.field.to_owned()
        } else {
            format!(
                "{} ({} of {})",
                field.field,
                format::integer(field.held),
                format::integer(field.of)
            )
        }
    };
    if !held.is_empty() {
        line(format!(
            "  holds {}",
            held.iter().map(share).collect::<Vec<_>>().join(", ")
        ));
    }
    if !lacking.is_empty() {
        line(format!(
            "  lacks {}",
            lacking
                .iter()
                .map(|field| field.field)
                .collect::<Vec<_>>()
                .join(", ")
        ));
    }
    for one in &foreign.stated {
        let StatedFigure {
            name,
            value,
            unit,
            recomputed,
            ..
        } = &one.figure;
        let checked = match (recomputed, one.figure.disagrees()) {
            (Some(recomputed), Some(true)) => format!(
                "recomputed {}: they do not agree",
                figure(*recomputed, *unit)
            ),
            (Some(recomputed), _) => format!("recomputed {}", figure(*recomputed, *unit)),
            (None, _) => "not recomputable".to_owned(),
        };
        line(format!(
            "  published {} {}, {checked}",
            visible(name),
            figure(*value, *unit)
        ));
    }
}

fn describe_source(source: &SourceReport, words: &Words, dry_run: bool, text: &mut String) {
    let file = visible(&source.file);
    let mut line = |content: String| {
        text.push_str(&content);
        text.push('\n');
    };
    for problem in &source.problems {
        line(with_hint(problem));
    }
    let outcome = match source.outcome {
        SourceOutcome::Imported if dry_run => format!(
            "would import {} with {}",
            runs(source.runs_new.len()),
            outcomes(source.items)
        ),
        SourceOutcome::Imported => format!(
            "imported {} with {}",
            runs(source.runs_new.len()),
            outcomes(source.items)
        ),
        SourceOutcome::AlreadyImported => {
            format!("imported before, {}; nothing to do", words.same_way)
        }
        SourceOutcome::NothingNew if dry_run => {
            "every run of it is in the store or in an earlier file already; nothing to do"
                .to_owned()
        }
        SourceOutcome::NothingNew => {
            "every run of it is in the store already; nothing to do".to_owned()
        }
        SourceOutcome::NothingAccepted => "no row was accepted; nothing imported".to_owned(),
        SourceOutcome::Unreadable => "could not be read; nothing imported".to_owned(),
    };
    line(format!("{file}: {outcome}"));
    if source.rows_read > 0 {
        line(format!(
            "  {} read, {} accepted, {} refused",
            words.rows(source.rows_read),
            format::integer(source.rows_accepted),
            format::integer(source.rows_refused())
        ));
    }
    if source.rows_skipped > 0 {
        line(format!(
            "  {} skipped: totals or notes, by the map",
            rows(source.rows_skipped)
        ));
    }
    if let Some(foreign) = &source.foreign {
        if dry_run {
            describe_foreign(foreign, &mut line);
        }
        for (quirk, count) in &foreign.quirks {
            let times = if *count > 1 {
                format!(" ({} times)", format::integer(*count))
            } else {
                String::new()
            };
            line(format!("  note: {}{times}", visible(quirk)));
        }
    }
    for note in &source.notes {
        line(format!("  note: {}", visible(note)));
    }
    for refusal in &source.refusals {
        line(format!(
            "  refused {}: {}",
            rows(refusal.rows),
            visible(&refusal.reason)
        ));
        for example in &refusal.examples {
            line(format!("    {example}"));
        }
    }
    if !source.runs_repeated.is_empty() {
        line(format!(
            "  {} repeated: in the store or in an earlier file already, kept as they were",
            runs(source.runs_repeated.len())
        ));
    }
    for ReplacedRun {
        run,
        by,
        stored,
        found,
        unit,
    } in &source.runs_replaced
    {
        let before = stored.map_or_else(String::new, |stored| {
            format!(", {} before", format::integer(stored))
        });
        line(format!(
            "  run {run} is replaced by {by}: {}{before}",
            format::count(*found, unit)
        ));
    }
    for lacking in &source.columns_lacking {
        let hint = lacking
            .hint
            .as_ref()
            .map_or_else(String::new, |hint| format!("; {hint}"));
        line(format!(
            "  no row has column `{}` (for {}){hint}",
            visible(&lacking.column),
            lacking.fields.join(", ")
        ));
    }
    if dry_run && !source.columns_unused.is_empty() {
        let columns: Vec<String> = source
            .columns_unused
            .iter()
            .map(|column| visible(column))
            .collect();
        line(format!(
            "  columns the map does not read: {}",
            columns.join(", ")
        ));
    }
    let stated = &source.stated;
    if stated.checked > 0 {
        line(format!(
            "  {} checked against {}: {}, {}",
            words.figures(stated.checked),
            words.grounds,
            agree(stated.agree),
            do_not(stated.disagreements.len() as u64)
        ));
    }
    if stated.unchecked > 0 {
        line(format!(
            "  {} without {} to check them by",
            words.figures(stated.unchecked),
            words.lacking
        ));
    }
    for one in &stated.disagreements {
        line(format!(
            "    {}: {} published {}, recomputed {}",
            run_name(&one.run),
            visible(&one.figure),
            figure(one.stated, one.unit),
            figure(one.recomputed, one.unit)
        ));
    }
}

fn agree(count: u64) -> String {
    format!(
        "{} {}",
        format::integer(count),
        if count == 1 { "agrees" } else { "agree" }
    )
}

fn do_not(count: u64) -> String {
    format!(
        "{} {}",
        format::integer(count),
        if count == 1 { "does not" } else { "do not" }
    )
}

fn outcomes(count: u64) -> String {
    output::count(usize::try_from(count).unwrap_or(usize::MAX), "outcome")
}

fn with_hint(problem: &Problem) -> String {
    match &problem.hint {
        Some(hint) => format!("{problem}\n  hint: {hint}"),
        None => problem.to_string(),
    }
}

fn run_name(run: &ImportedRun) -> String {
    let place = run
        .line
        .map_or_else(|| run.file.clone(), |line| format!("{}:{line}", run.file));
    let name = run
        .identity
        .clone()
        .unwrap_or_else(|| format!("{} · {}", run.approach, run.model));
    visible(&format!("{place} {name}"))
}

/// Formats a published figure, as precisely as any source prints it.
pub(super) fn figure(value: f64, unit: Unit) -> String {
    match unit {
        Unit::Fraction => format!("{}%", format::fixed(value * 100.0, 2)),
        Unit::Points | Unit::Seconds | Unit::Tokens | Unit::Usd | Unit::Count | Unit::Number => {
            format::value(value, unit, 0)
        }
    }
}
