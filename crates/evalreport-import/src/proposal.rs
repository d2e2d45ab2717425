//! Proposes one map for files that no format claims, with the first rows as the map reads them.

use std::collections::BTreeSet;
use std::io::Read;
use std::path::{Path, PathBuf};

use walkdir::WalkDir;

use crate::domain::{ItemOutcome, ItemStatus, Problem, Problems, Run, shell_word, split_title};
use crate::files;
use crate::results::Store;

use super::foreign::has_no_known_format;
use super::layout::RowLayout;
use super::ledger::{Ledger, SourceContext, run_sort_key};
use super::list_path::covers_path;
use super::map::{TABLE_IMPORTER, TableMap};
use super::map_rows::map_columns;
use super::markdown_rows::parse_tables;
use super::mode::ImportMode;
use super::path_part::{PathPart, folder_keys, strip_extensions};
use super::propose::{MappingQuestion, RecordCheck, TableHints, check_record, propose_map};
use super::rows::ReadStop;
use super::sample::{SampleRole, SampledPart, TableSample, sample_source};
use super::source::{SourceFile, hex_digest, may_be_table};
use super::stored::{SourceFingerprint, StoredRuns};
use super::table::{names_in_path, read_source};
use super::table_runs::TableRuns;

/// Number of rows shown in a proposal.
const MAX_SHOWN_ROWS: u64 = 5;
/// Maximum number of files that a hint names.
const MAX_NAMED: usize = 5;
/// Maximum depth of folders with tables.
const MAX_DEPTH: usize = 8;

/// A map for tables that had none.
#[derive(Debug)]
pub struct MapProposal {
    pub files: Vec<PathBuf>,
    pub map: TableMap,
    /// The map's text, as it can be saved in a file.
    pub text: String,
    /// Assumptions, unread columns and skipped rows.
    pub notes: Vec<String>,
    pub rows: Vec<ProposedRow>,
    /// Key of the files' content and of the map.
    pub key: String,
    /// The suite's name, if the table has none and the files' names or their folder's make it.
    pub guessed_suite: Option<String>,
}

impl MapProposal {
    /// Takes another name for the map, so that none of its runs is a run that the table's own map makes.
    #[must_use]
    pub fn with_map_name(mut self, name: &str) -> Self {
        self.key = hex_digest(&[self.key.as_bytes(), name.as_bytes()], true);
        name.clone_into(&mut self.map.name);
        self
    }
}

/// One of the first rows, as the map reads it.
#[derive(Clone, Debug, PartialEq)]
pub struct ProposedRow {
    pub suite: String,
    pub approach: String,
    pub model: String,
    /// The item and its status. `None` if rows are runs.
    pub item: Option<(String, ItemStatus)>,
    /// The item's score, or the run's first figure.
    pub score: Option<f64>,
    /// Passed and total of a run.
    pub counts: Option<(u64, u64)>,
}

/// Reason why there is no proposal.
#[derive(Debug)]
pub enum NoProposal {
    Unreadable(Vec<Problem>),
    /// No part of the files is a table.
    NoTable,
    /// The table can be read in several ways or in none.
    Open(Vec<MappingQuestion>),
}

impl From<Problem> for NoProposal {
    fn from(problem: Problem) -> Self {
        Self::Unreadable(vec![problem])
    }
}

/// Returns whether the paths have files that may hold tables, and no other known files.
pub fn are_tables(paths: &[PathBuf]) -> bool {
    let may_be = |path: &PathBuf| {
        path.file_name()
            .is_some_and(|name| may_be_table(&name.to_string_lossy()))
    };
    let files = table_files(paths);
    !files.is_empty() && files.iter().all(may_be) && has_no_known_format(paths)
}

/// Returns the files at the paths that may hold tables, sorted by name. A file that is named itself is always included.
pub fn table_files(paths: &[PathBuf]) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for path in paths {
        if !path.is_dir() {
            files.push(path.clone());
            continue;
        }
        let is_shown = |entry: &walkdir::DirEntry| {
            entry.depth() == 0 || !entry.file_name().to_string_lossy().starts_with('.')
        };
        let below = WalkDir::new(path)
            .max_depth(MAX_DEPTH)
            .sort_by_file_name()
            .into_iter()
            .filter_entry(is_shown)
            .filter_map(Result::ok);
        // Ignore notes (`txt`, `dat`, `md`) in folders.
        let is_note = |name: &str| {
            name.rsplit('.')
                .next()
                .is_some_and(|ending| ["txt", "dat", "md", "markdown"].contains(&ending))
        };
        let (notes, tables): (Vec<PathBuf>, Vec<PathBuf>) = below
            .filter(|entry| {
                entry.file_type().is_file() && may_be_table(&entry.file_name().to_string_lossy())
            })
            .map(walkdir::DirEntry::into_path)
            .partition(|path| {
                path.file_name()
                    .is_some_and(|name| is_note(&name.to_string_lossy()))
            });
        // A board in a text is what a folder has if nothing else in it may be a table.
        if tables.is_empty() {
            files.extend(notes.into_iter().filter(|path| has_board(path)));
        }
        files.extend(tables);
    }
    files
}

/// Returns whether a file is Markdown with one table.
fn has_board(path: &Path) -> bool {
    const MAX_BYTES: u64 = 1 << 20;
    let is_markdown = path
        .extension()
        .is_some_and(|ending| ending == "md" || ending == "markdown");
    let read = || {
        let mut text = String::new();
        let mut head = files::open(path).ok()?.take(MAX_BYTES);
        head.read_to_string(&mut text).ok().map(|_| text)
    };
    is_markdown && read().is_some_and(|text| parse_tables(&text).len() == 1)
}

/// Proposes one map for all files, which must share one layout.
pub fn propose_tables(paths: &[PathBuf], hints: &TableHints) -> Result<MapProposal, NoProposal> {
    let mut files = table_files(paths);
    let mut sources = Vec::new();
    for file in &files {
        sources.push(SourceFile::from_path(file)?);
    }
    if sources.is_empty() {
        let shown = paths
            .iter()
            .map(|path| path.display().to_string())
            .collect::<Vec<_>>()
            .join(", ");
        return Err(Problem::in_file(shown, "holds no file that may be a table").into());
    }
    let mut sampled = Vec::new();
    for source in &sources {
        sampled.push(sample_source(source).map_err(NoProposal::Unreadable)?);
    }
    keep_single_rows(&mut sampled);
    let mut notes = drop_records(&mut sampled);
    let (mut found, mut passed_over) = (Vec::new(), Vec::new());
    for (place, parts) in sampled.into_iter().enumerate() {
        let is_table = parts.iter().any(|part| !part.tables.is_empty());
        if is_table || (paths.contains(&files[place]) && files.len() == 1) {
            found.extend(parts);
        } else {
            passed_over.push(place);
        }
    }
    notes.extend(
        passed_over
            .iter()
            .filter(|place| {
                !notes
                    .iter()
                    .any(|note| note.starts_with(&sources[**place].shown))
            })
            .map(|place| format!("{} has no rows and is passed over", sources[*place].shown))
            .collect::<Vec<_>>(),
    );
    for place in passed_over.into_iter().rev() {
        files.remove(place);
        sources.remove(place);
    }
    let Some(first) = sources.first() else {
        return Err(NoProposal::NoTable);
    };
    add_path_columns(&mut found);
    let samples = join_layouts(found)?;
    let suite = hints
        .set
        .get("suite")
        .cloned()
        .unwrap_or_else(|| guess_suite(paths));
    let without_rows = |source: &SourceFile| {
        Problem::in_file(source.shown.clone(), "has a table without rows")
            .with_hint("run what writes it again, and look at what that says")
    };
    // An option is named in a hint only if it leads somewhere.
    let works = |question: &MappingQuestion| {
        let Some(hints) = hints
            .with_option(question.given_option())
            .filter(|other| !question.option.is_empty() && other != hints)
        else {
            return false;
        };
        match propose_map(&samples, &hints, &suite) {
            Ok(reading) => TableMap::parse("the proposed map", &reading.map, &hints.set)
                .is_ok_and(|map| read_first_rows(&map, first).is_ok_and(|rows| !rows.is_empty())),
            Err(next) => next.first().is_some_and(|next| {
                !next.is_of_no_rows()
                    && !next.option.is_empty()
                    && next.given_option() != question.given_option()
            }),
        }
    };
    let reading = propose_map(&samples, hints, &suite).map_err(|mut questions| {
        if let Some(question) = questions.iter_mut().find(|question| works(question)) {
            question.works = true;
        }
        if questions.is_empty() {
            NoProposal::NoTable
        } else if questions.iter().all(MappingQuestion::is_of_no_rows) {
            NoProposal::Unreadable(sources.iter().map(without_rows).collect())
        } else {
            NoProposal::Open(questions)
        }
    })?;
    let mut map = TableMap::parse("the proposed map", &reading.map, &hints.set)
        .map_err(|Problems(problems)| NoProposal::Unreadable(problems))?;
    "proposed".clone_into(&mut map.file);
    let rows = read_first_rows(&map, first)?;
    let mut parts = vec![map.sha256.clone()];
    for source in &sources {
        parts.extend([source.name.clone(), source.sha256.clone()]);
        parts.extend(names_in_path(source, &map));
    }
    let key = hex_digest(
        &parts.iter().map(String::as_bytes).collect::<Vec<_>>(),
        true,
    );
    notes.extend(reading.notes);
    let is_guess = |name: &String| {
        !hints.set.contains_key("suite")
            && name
                .strip_prefix(&suite)
                .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
            && rows.iter().all(|row| row.suite == *name)
    };
    let known = rows.first().map_or(&suite, |row| &row.suite);
    let guessed_suite = is_guess(known).then(|| known.clone());
    Ok(MapProposal {
        files,
        map,
        text: reading.map,
        notes,
        rows,
        key,
        guessed_suite,
    })
}

/// Names of files with the figures or the settings of a whole run, beside files with its rows.
const RECORD_NAMES: [&str; 20] = [
    "summary",
    "metadata",
    "meta",
    "metrics",
    "overall",
    "aggregate",
    "aggregated",
    "stats",
    "statistics",
    "config",
    "configuration",
    "settings",
    "params",
    "parameters",
    "args",
    "info",
    "manifest",
    "environment",
    "scores",
    "averages",
];

/// Makes a file of one object a table of one row, if other files have tables whose rows have all of its keys.
fn keep_single_rows(sampled: &mut [Vec<SampledPart>]) {
    let known: Vec<(RowLayout, BTreeSet<String>)> = sampled
        .iter()
        .flatten()
        .flat_map(|part| &part.tables)
        .filter(|table| table.role == SampleRole::Table && table.rows.len() > 1)
        .map(|table| {
            (
                table.layout.clone(),
                table.columns.iter().cloned().collect(),
            )
        })
        .collect();
    let is_row = |object: &TableSample| {
        object.role == SampleRole::Object
            && known.iter().any(|(layout, columns)| {
                *layout == object.layout && object.columns.iter().all(|name| columns.contains(name))
            })
    };
    for part in sampled.iter_mut().flatten() {
        if let Some(place) = part.tables.iter().position(is_row) {
            let row = part.tables.swap_remove(place);
            part.tables = vec![TableSample {
                role: SampleRole::Table,
                ..row
            }];
        }
    }
}

/// Drops single objects, unless the files are objects of one kind, which are the rows of a table. Files with nothing else are noted.
fn drop_records(sampled: &mut [Vec<SampledPart>]) -> Vec<String> {
    let has =
        |part: &SampledPart, role: SampleRole| part.tables.iter().any(|table| table.role == role);
    let is_named = |part: &SampledPart| {
        let stem = PathPart::File.text_in(&part.path).unwrap_or_default();
        has(part, SampleRole::Object)
            && split_title(&stem)
                .iter()
                .any(|word| RECORD_NAMES.contains(&word.as_str()))
    };
    let parts = || sampled.iter().flatten();
    let has_rows = parts().any(|part| has(part, SampleRole::Table) && !is_named(part));
    let are_objects = parts().count() > 1
        && parts()
            .filter(|part| !(has_rows && is_named(part)))
            .all(|part| has(part, SampleRole::Object));
    // Objects of one kind have most of their keys in common.
    let first = parts()
        .flat_map(|part| &part.tables)
        .find(|table| table.role == SampleRole::Object);
    let are_alike = |part: &SampledPart| {
        let mut objects = part
            .tables
            .iter()
            .filter(|table| table.role == SampleRole::Object);
        first.is_some_and(|first| objects.any(|table| table.has_same_layout(first)))
    };
    let are_objects = are_objects
        && parts()
            .filter(|part| !(has_rows && is_named(part)))
            .all(are_alike);
    let is_record = |part: &SampledPart| {
        has(part, SampleRole::Object)
            && has_rows
            && (is_named(part) || (!are_objects && !has(part, SampleRole::Table)))
    };
    let beside = |record: &SampledPart| {
        let folder = |part: &SampledPart| {
            part.path
                .rsplit_once('/')
                .map(|(folder, _)| folder.to_owned())
        };
        let mut tables = parts()
            .filter(|part| !is_record(part) && folder(part) == folder(record))
            .flat_map(|part| &part.tables)
            .filter(|table| table.role == SampleRole::Table);
        // Of several files with rows, any may be the record's.
        tables.next().filter(|_| tables.next().is_none())
    };
    let checks: Vec<Option<RecordCheck>> = parts()
        .map(|part| {
            let object = part
                .tables
                .iter()
                .find(|table| table.role == SampleRole::Object);
            is_record(part).then(|| match (object, beside(part)) {
                (Some(object), Some(table)) => check_record(object, table),
                _ => RecordCheck::default(),
            })
        })
        .collect();
    let mut notes = Vec::new();
    for (part, check) in sampled.iter_mut().flatten().zip(checks) {
        if let Some(check) = check {
            part.tables.clear();
            notes.extend(note_record(&part.label, &check));
        } else if !are_objects {
            part.tables.retain(|table| table.role != SampleRole::Object);
        }
    }
    notes
}

/// Says of a file about a whole run that it is passed over, and which of its figures the rows contradict.
fn note_record(label: &str, check: &RecordCheck) -> Vec<String> {
    let checked = match (check.agreeing, check.disagreements.len()) {
        (0, 0) => "its figures are not checked".to_owned(),
        (agreeing, 0) => format!("{agreeing} of its figures agree with the rows"),
        (agreeing, other) => {
            format!("{agreeing} of its figures agree with the rows, and {other} do not")
        }
    };
    let passed_over = format!(
        "{label} has figures or settings of a whole run and no rows: it is passed over, and {checked}"
    );
    let contradicted = (!check.disagreements.is_empty())
        .then(|| format!("{label}: {}", check.disagreements.join("; ")));
    std::iter::once(passed_over).chain(contradicted).collect()
}

/// Keeps of two readings of the same rows the one that more files have: below another key in each file, the key is a name.
fn choose_keyed(samples: CountedSamples) -> Vec<TableSample> {
    let list_of = |sample: &TableSample| sample.layout.list.clone().unwrap_or_default();
    let keyed: Vec<(String, usize)> = samples
        .iter()
        .filter(|(sample, _)| sample.role == SampleRole::Keyed)
        .map(|(sample, files)| (list_of(sample), *files))
        .collect();
    let is_kept = |(sample, files): &(TableSample, usize)| {
        let own = list_of(sample);
        if sample.role == SampleRole::Keyed {
            samples
                .iter()
                .any(|(other, others)| covers_path(&own, &list_of(other)) && others < files)
        } else {
            !keyed
                .iter()
                .any(|(list, more)| covers_path(list, &own) && more > files)
        }
    };
    let kept: Vec<bool> = samples.iter().map(is_kept).collect();
    samples
        .into_iter()
        .zip(kept)
        .filter(|(_, is_kept)| *is_kept)
        .map(|((sample, _), _)| sample)
        .collect()
}

/// Adds columns with the names in the paths: those of files and folders if they differ, and keys of folders such as `model=nova`.
fn add_path_columns(found: &mut [SampledPart]) {
    const MAX_LEVELS: usize = 4;
    let levels = (2..=MAX_LEVELS).map(PathPart::Folder);
    let mut parts: Vec<PathPart> = [PathPart::File, PathPart::Folder(1)]
        .into_iter()
        .chain(levels)
        .collect();
    let differs = |part: &PathPart| {
        found
            .iter()
            .map(|one| part.text_in(&one.path))
            .collect::<BTreeSet<_>>()
            .len()
            > 1
    };
    let is_key = |part: &PathPart| {
        !matches!(part, PathPart::File)
            && found.iter().all(|one| {
                part.text_in(&one.path)
                    .is_some_and(|name| name.contains('='))
            })
    };
    parts.retain(|part| differs(part) && !is_key(part));
    let keys: BTreeSet<String> = found
        .iter()
        .flat_map(|one| folder_keys(&one.path))
        .collect();
    let mut columns: Vec<PathPart> = keys.into_iter().map(PathPart::Key).collect();
    columns.extend(parts.into_iter().filter(|_| found.len() > 1));
    for one in found {
        let names: Vec<(String, String)> = columns
            .iter()
            .filter_map(|part| Some((part.column_name(), part.text_in(&one.path)?)))
            .collect();
        for table in &mut one.tables {
            for (column, name) in &names {
                // A key of a folder may be a column of the file too.
                let is_known = column
                    .strip_suffix('=')
                    .is_some_and(|key| table.columns.iter().any(|known| known == key));
                if !is_known {
                    table.add_column(column, name);
                }
            }
        }
    }
}

/// The tables that files of one layout may be, each with the number of files that have it.
type CountedSamples = Vec<(TableSample, usize)>;

/// Joins the tables of one layout. Fails if files have other layouts, and names the fewest files whose absence would help.
fn join_layouts(found: Vec<SampledPart>) -> Result<Vec<TableSample>, NoProposal> {
    // The files of each layout, with their rows.
    let mut layouts: Vec<(CountedSamples, Vec<String>)> = Vec::new();
    for SampledPart { label, tables, .. } in found {
        let is_like = |(samples, _): &&mut (CountedSamples, Vec<String>)| {
            tables.iter().any(|table| {
                samples
                    .iter()
                    .any(|(sample, _)| sample.has_same_layout(table))
            }) || tables.is_empty() && samples.is_empty()
        };
        match layouts.iter_mut().find(is_like) {
            Some((samples, labels)) => {
                labels.push(label);
                for table in tables {
                    match samples
                        .iter_mut()
                        .find(|(sample, _)| sample.has_same_layout(&table))
                    {
                        Some((sample, files)) => {
                            sample.extend(table);
                            *files += 1;
                        }
                        None => samples.push((table, 1)),
                    }
                }
            }
            None => {
                let samples = tables.into_iter().map(|table| (table, 1)).collect();
                layouts.push((samples, vec![label]));
            }
        }
    }
    let most = layouts
        .iter()
        .map(|(_, labels)| labels.len())
        .max()
        .unwrap_or(0);
    let Some(place) = layouts.iter().position(|(_, labels)| labels.len() == most) else {
        return Ok(Vec::new());
    };
    let (samples, usual) = layouts.remove(place);
    let samples = choose_keyed(samples);
    let odd: Vec<String> = layouts.into_iter().flat_map(|(_, labels)| labels).collect();
    let [first, rest @ ..] = odd.as_slice() else {
        return Ok(samples);
    };
    let also = match rest {
        [] => String::new(),
        [one] => format!(", and so has {one}"),
        several => format!(", and so have {}", several.join(", ")),
    };
    let more = if usual.len() > 1 {
        format!(" and {} more", usual.len() - 1)
    } else {
        String::new()
    };
    let problem = Problem::in_file(
        first.clone(),
        format!("has other columns than {}{more}{also}", usual[0]),
    );
    if most == 1 && odd.len() > 1 {
        return Err(problem
            .with_hint("each file has columns of its own: import them one by one")
            .into());
    }
    let named: Vec<String> = usual
        .iter()
        .take(MAX_NAMED)
        .map(|label| shell_word(label))
        .collect();
    let hint = if usual.len() > MAX_NAMED {
        "files of one layout are one import: leave this file out, or name the others one by one"
            .to_owned()
    } else {
        format!(
            "files of one layout are one import: name {} alone, and the others apart",
            named.join(" ")
        )
    };
    Err(problem.with_hint(hint).into())
}

/// Returns the suite's name for a table without one: that of the file, of the named folder, or of the folder around all files.
pub fn guess_suite(paths: &[PathBuf]) -> String {
    let name = |path: &Path| {
        path.file_name()
            .map(|name| name.to_string_lossy().into_owned())
    };
    if let [path] = paths
        && !path.is_dir()
    {
        return name(path).map_or_else(
            || "table".to_owned(),
            |name| strip_extensions(&name).to_owned(),
        );
    }
    let absolute: Vec<PathBuf> = paths
        .iter()
        .filter_map(|path| std::path::absolute(path).ok())
        .collect();
    let folder = match absolute.as_slice() {
        [] => None,
        [folder] => Some(folder.clone()),
        [first, rest @ ..] => first
            .ancestors()
            .skip(1)
            .find(|folder| rest.iter().all(|path| path.starts_with(folder)))
            .map(Path::to_owned),
    };
    folder
        .and_then(|folder| name(&folder))
        .filter(|name| !name.is_empty())
        .unwrap_or_else(|| "table".to_owned())
}

fn read_first_rows(map: &TableMap, source: &SourceFile) -> Result<Vec<ProposedRow>, NoProposal> {
    let (stored, store) = (StoredRuns::default(), Store::new(""));
    let read = SourceFingerprint {
        file: &source.name,
        place: None,
        sha256: &source.sha256,
    };
    let mut fold = TableRuns::new(
        map,
        Ledger::new(SourceContext::for_rows(
            TABLE_IMPORTER,
            (&stored, &store, ""),
            read,
            ImportMode::DryRun,
        )),
    );
    let mut outcomes: Vec<ItemOutcome> = Vec::new();
    let read = read_source(
        source,
        map,
        MAX_SHOWN_ROWS,
        &mut map_columns(map),
        &mut fold,
        &mut |_| {},
        &mut |outcome| {
            outcomes.push(outcome.clone());
        },
    );
    if let Err(ReadStop::Unreadable(problems)) = read
        && !problems.is_empty()
    {
        return Err(NoProposal::Unreadable(problems));
    }
    let mut ledger = fold.finish();
    let mut runs: Vec<&mut Run> = ledger.runs_mut().collect();
    runs.sort_by_cached_key(|run| run_sort_key(run, None));
    let row_of = |run: &Run, item: Option<&ItemOutcome>| ProposedRow {
        suite: run.suite.clone(),
        approach: run.approach.clone(),
        model: run.model.clone(),
        item: item.map(|outcome| (outcome.item.clone(), outcome.status)),
        score: item.map_or_else(
            || run.scores.first().and_then(|score| score.value),
            |outcome| outcome.score,
        ),
        counts: if item.is_some() {
            None
        } else {
            run.shared_tests_passed.zip(run.shared_tests_total)
        },
    };
    let mut rows: Vec<ProposedRow> = outcomes
        .iter()
        .filter_map(|outcome| {
            Some(row_of(
                runs.iter().find(|run| run.id == outcome.run)?,
                Some(outcome),
            ))
        })
        .collect();
    if map.item.is_none() {
        rows.extend(runs.iter().map(|run| row_of(run, None)));
    }
    rows.truncate(usize::try_from(MAX_SHOWN_ROWS).unwrap_or(usize::MAX));
    Ok(rows)
}
