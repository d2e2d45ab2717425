//! Proposes one map for files that no format claims, with the first rows as the map reads them.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use walkdir::WalkDir;

use crate::domain::{ItemOutcome, ItemStatus, Problem, Problems, Provenance};

use super::fold::{Fold, Known};
use super::foreign::is_nothing_known;
use super::map::Map;
use super::propose::{Hints, Question, propose};
use super::rows::Stop;
use super::sample::{Sample, samples_of};
use super::source::{Source, hex_digest, may_be_table};
use super::table::{columns_of, read_source};

/// Number of rows shown in a proposal.
const SHOWN_ROWS: u64 = 5;
/// Maximum depth of folders with tables.
const MOST_DEPTH: usize = 8;

/// A map for tables that had none.
#[derive(Debug)]
pub struct Proposal {
    pub files: Vec<PathBuf>,
    pub map: Map,
    /// The map's text, as it can be saved in a file.
    pub text: String,
    /// Assumptions, unread columns and skipped rows.
    pub notes: Vec<String>,
    pub rows: Vec<ProposedRow>,
    /// Key of the files' content and of the map.
    pub key: String,
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
    Open(Vec<Question>),
}

impl From<Problem> for NoProposal {
    fn from(problem: Problem) -> Self {
        Self::Unreadable(vec![problem])
    }
}

/// Returns whether the paths have files that may hold tables, and no other known files.
pub fn are_tables(paths: &[PathBuf]) -> bool {
    let may_be = |path: &PathBuf| path.file_name().is_some_and(|name| may_be_table(&name.to_string_lossy()));
    let files = table_files(paths);
    !files.is_empty() && files.iter().all(may_be) && is_nothing_known(paths)
}

/// Returns the files at the paths that may hold tables, sorted by name. A file that is named itself is always included.
pub fn table_files(paths: &[PathBuf]) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for path in paths {
        if !path.is_dir() {
            files.push(path.clone());
            continue;
        }
        let is_shown = |entry: &walkdir::DirEntry| entry.depth() == 0 || !entry.file_name().to_string_lossy().starts_with('.');
        let below = WalkDir::new(path).max_depth(MOST_DEPTH).sort_by_file_name().into_iter().filter_entry(is_shown).filter_map(Result::ok);
        // Ignore notes (`txt`, `dat`) in folders.
        let is_note = |name: &str| name.rsplit('.').next().is_some_and(|ending| ["txt", "dat"].contains(&ending));
        let is_table = |name: &str| may_be_table(name) && !is_note(name);
        files.extend(
            below
                .filter(|entry| entry.file_type().is_file() && is_table(&entry.file_name().to_string_lossy()))
                .map(walkdir::DirEntry::into_path),
        );
    }
    files
}

/// Proposes one map for all files, which must share one layout.
pub fn propose_tables(paths: &[PathBuf], hints: &Hints) -> Result<Proposal, NoProposal> {
    let files = table_files(paths);
    let mut sources = Vec::new();
    for file in &files {
        sources.push(Source::examine(file)?);
    }
    let Some(first) = sources.first() else {
        let shown = paths.iter().map(|path| path.display().to_string()).collect::<Vec<_>>().join(", ");
        return Err(Problem::in_file(shown, "holds no file that may be a table").into());
    };
    let mut samples = samples_of(first).map_err(NoProposal::Unreadable)?;
    let mut others = Vec::new();
    for source in &sources[1..] {
        let found = samples_of(source).map_err(NoProposal::Unreadable)?;
        if !extend(&mut samples, found) {
            let problem = Problem::in_file(source.shown.clone(), format!("has other columns than {}", first.shown));
            others.push(problem.with_hint("files of one layout are one import: import these apart"));
        }
    }
    if !others.is_empty() {
        return Err(NoProposal::Unreadable(others));
    }
    let suite = hints.set.get("suite").cloned().unwrap_or_else(|| suite_of(paths, &files));
    let reading = propose(&samples, hints, &suite)
        .map_err(|questions| if questions.is_empty() { NoProposal::NoTable } else { NoProposal::Open(questions) })?;
    let mut map =
        Map::parse("the proposed map", &reading.map, &hints.set).map_err(|Problems(problems)| NoProposal::Unreadable(problems))?;
    "proposed".clone_into(&mut map.file);
    let rows = first_rows(&map, first)?;
    let digests = sources.iter().flat_map(|source| [source.name.as_bytes(), source.sha256.as_bytes()]);
    let key = hex_digest(&std::iter::once(map.sha256.as_bytes()).chain(digests).collect::<Vec<_>>(), true);
    Ok(Proposal { files, map, text: reading.map, notes: reading.notes, rows, key })
}

/// Adds the rows of tables with the same layout. Returns whether there were any.
fn extend(samples: &mut [Sample], found: Vec<Sample>) -> bool {
    let mut is_any = false;
    for other in found {
        let names: BTreeSet<&String> = other.columns.iter().collect();
        let is_same = |sample: &&mut Sample| {
            let shared = sample.columns.iter().filter(|name| names.contains(name)).count();
            // A key that some rows omit does not make another layout.
            sample.layout == other.layout && shared * 10 >= sample.columns.len().max(names.len()) * 6
        };
        if let Some(sample) = samples.iter_mut().find(is_same) {
            sample.extend(other);
            is_any = true;
        }
    }
    is_any
}

/// Returns the suite's name for a table without one: the named folder's or the file's name.
fn suite_of(paths: &[PathBuf], files: &[PathBuf]) -> String {
    let name = |path: &Path| path.file_name().map(|name| name.to_string_lossy().into_owned());
    let folder = match (paths, files) {
        ([path], _) if path.is_dir() => Some(path.clone()),
        ([path], _) => return name(path).map_or_else(|| "table".to_owned(), |name| stem(&name).to_owned()),
        (_, [first, ..]) => first.parent().map(Path::to_owned),
        _ => None,
    };
    let folder = folder.and_then(|folder| std::path::absolute(folder).ok());
    folder.and_then(|folder| name(&folder)).filter(|name| !name.is_empty()).unwrap_or_else(|| "table".to_owned())
}

fn stem(name: &str) -> &str {
    let mut stem = name;
    while let Some((before, ending)) = stem.rsplit_once('.') {
        let is_ending = matches!(ending.to_lowercase().as_str(), "gz" | "gzip" | "zst" | "zip") || may_be_table(stem);
        if !is_ending || before.is_empty() {
            break;
        }
        stem = before;
    }
    stem
}

fn first_rows(map: &Map, source: &Source) -> Result<Vec<ProposedRow>, NoProposal> {
    let known = |run: &crate::domain::Run| Known::Not(run.id.clone());
    let mut fold = Fold::new(map, &known);
    let mut outcomes: Vec<ItemOutcome> = Vec::new();
    let read = read_source(source, map, SHOWN_ROWS, &mut columns_of(map), &mut fold, &mut |_| {}, &mut |outcome, _| {
        outcomes.push(outcome.clone());
        Ok(())
    });
    if let Err(Stop::Unreadable(problems)) = read
        && !problems.is_empty()
    {
        return Err(NoProposal::Unreadable(problems));
    }
    let provenance = Provenance::default();
    let (folded, _) = fold.finish(&provenance);
    let row_of = |run: &crate::domain::Run, item: Option<&ItemOutcome>| ProposedRow {
        suite: run.suite.clone(),
        approach: run.approach.clone(),
        model: run.model.clone(),
        item: item.map(|outcome| (outcome.item.clone(), outcome.status)),
        score: item.map_or_else(|| run.scores.first().and_then(|score| score.value), |outcome| outcome.score),
        counts: if item.is_some() { None } else { run.shared_tests_passed.zip(run.shared_tests_total) },
    };
    let mut rows: Vec<ProposedRow> =
        outcomes.iter().filter_map(|outcome| Some(row_of(folded.runs.iter().find(|run| run.id == outcome.run)?, Some(outcome)))).collect();
    if map.item.is_none() {
        rows.extend(folded.runs.iter().map(|run| row_of(run, None)));
    }
    rows.truncate(usize::try_from(SHOWN_ROWS).unwrap_or(usize::MAX));
    Ok(rows)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_suite_is_called_as_its_file_or_folder() {
        for (name, expected) in [("out.csv.gz", "out"), ("v1.2.xlsx", "v1.2"), ("a.b", "a.b"), (".csv", ".csv")] {
            assert_eq!(stem(name), expected);
        }
    }
}
