//! The files of a store, by name only; nothing is parsed.

use std::collections::HashMap;
use std::ffi::OsStr;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::domain::{Problem, escape_invisible};

use super::{Store, chain, presence};

/// A run's header and the files beside it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct HeaderFile {
    pub path: PathBuf,
    /// `<id>/items.jsonl`, if it exists.
    pub items: Option<PathBuf>,
    /// `<id>/scores.jsonl`, if it exists.
    pub scores: Option<PathBuf>,
}

/// A run's folder without a header beside it. Either the run is in progress or abandoned, or the folder has judgements of an imported run,
/// whose header is in a sealed pair. Only reading the pairs tells which.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct HeaderlessFolder {
    pub folder: PathBuf,
    /// `items.jsonl`, if it exists.
    pub items: Option<PathBuf>,
    /// `scores.jsonl`, if it exists.
    pub scores: Option<PathBuf>,
    /// Whether there is a transcript file. An own run has one before its first outcome; a folder of judgements has none.
    pub has_transcript: bool,
}

impl HeaderlessFolder {
    /// Returns the id of the folder's run. Names in a store are UTF-8.
    pub fn run_id(&self) -> &str {
        self.folder
            .file_name()
            .and_then(OsStr::to_str)
            .unwrap_or_default()
    }
}

/// The two files of one imported source.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct SealedPair {
    pub runs: PathBuf,
    pub items: Option<PathBuf>,
}

/// A file of item lines.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ItemSource {
    /// One run's journal; the header names the run.
    Journal(PathBuf),
    /// A sealed pair's items; each line names its run.
    Sealed(PathBuf),
}

/// The paths of all files in a store, sorted.
#[derive(Clone, Debug, Default)]
pub struct StoreContents {
    pub headers: Vec<HeaderFile>,
    pub sealed: Vec<SealedPair>,
    pub batches: Vec<PathBuf>,
    pub headless: Vec<HeaderlessFolder>,
    /// Item files of crashed imports, whose runs were never written.
    pub orphaned_items: Vec<PathBuf>,
    pub problems: Vec<Problem>,
}

impl StoreContents {
    /// Lists single result files anywhere, with the files beside each.
    pub fn from_files(files: &[PathBuf]) -> Self {
        let mut problems = Vec::new();
        let mut headers = Vec::with_capacity(files.len());
        for path in files {
            let folder = path.with_extension("");
            let (items, scores) = (
                find_journal(&folder, "items.jsonl", &mut problems),
                find_journal(&folder, "scores.jsonl", &mut problems),
            );
            headers.push(HeaderFile {
                path: path.clone(),
                items,
                scores,
            });
        }
        Self {
            headers,
            problems,
            ..Self::default()
        }
    }

    /// Returns the folders of runs in progress or abandoned. `is_sealed` tells whether a sealed pair of this store has a run id.
    pub fn unfinished_folders(
        &self,
        is_sealed: impl Fn(&str) -> bool,
    ) -> impl Iterator<Item = &HeaderlessFolder> {
        let is_begun = |one: &&HeaderlessFolder| one.items.is_some() || one.has_transcript;
        self.headless
            .iter()
            .filter(is_begun)
            .filter(move |one| !is_sealed(one.run_id()))
    }
}

/// Lists the files of a store. A missing folder is an empty store.
pub fn scan_store(store: &Store) -> StoreContents {
    let mut contents = StoreContents::default();
    let mut folders = Vec::new();
    for entry in list_entries(store.root(), &mut contents.problems) {
        let name = entry.file_name.as_str();
        match entry.kind {
            StoreEntryKind::Folder
                if matches!(name, "batches" | "imports" | chain::CHAIN_FOLDER) => {}
            StoreEntryKind::Folder if is_result_name(name) => {
                contents.problems.push(Problem::in_file(
                    display_path(&entry.path),
                    "is a folder, not a result file",
                ));
            }
            StoreEntryKind::Folder => folders.push(entry.path),
            StoreEntryKind::File if is_result_name(name) => {
                contents.headers.push(HeaderFile {
                    path: entry.path,
                    items: None,
                    scores: None,
                });
            }
            StoreEntryKind::File => {}
        }
    }
    let by_stem: HashMap<&OsStr, usize> = if folders.is_empty() {
        HashMap::new()
    } else {
        contents
            .headers
            .iter()
            .enumerate()
            .filter_map(|(index, header)| Some((header.path.file_stem()?, index)))
            .collect()
    };
    let headers: Vec<Option<usize>> = folders
        .iter()
        .map(|folder| {
            folder
                .file_name()
                .and_then(|name| by_stem.get(name))
                .copied()
        })
        .collect();
    for (folder, header) in folders.into_iter().zip(headers) {
        let mut journal = |name: &str| find_journal(&folder, name, &mut contents.problems);
        match header {
            Some(index) => {
                let (items, scores) = (journal("items.jsonl"), journal("scores.jsonl"));
                contents.headers[index].items = items;
                contents.headers[index].scores = scores;
            }
            None => {
                let (items, scores) = (journal("items.jsonl"), journal("scores.jsonl"));
                let has_transcript = journal("transcript.jsonl").is_some();
                if items.is_some() || scores.is_some() || has_transcript {
                    contents.headless.push(HeaderlessFolder {
                        folder,
                        items,
                        scores,
                        has_transcript,
                    });
                }
            }
        }
    }
    let imports = list_entries(&store.imports_dir(), &mut contents.problems);
    for entry in &imports {
        let file = |suffix: &str| {
            imports
                .iter()
                .find(|other| other.file_name == suffix)
                .map(|other| other.path.clone())
        };
        if let Some(key) = entry.file_name.strip_suffix(".runs.jsonl") {
            let items = file(&format!("{key}.items.jsonl.zst"));
            if items.is_none() {
                contents.problems.push(
                    Problem::in_file(display_path(&entry.path), "its items file is missing")
                        .with_hint("import the source again after deleting this file"),
                );
            }
            contents.sealed.push(SealedPair {
                runs: entry.path.clone(),
                items,
            });
        } else if let Some(key) = entry.file_name.strip_suffix(".items.jsonl.zst")
            && file(&format!("{key}.runs.jsonl")).is_none()
        {
            contents.orphaned_items.push(entry.path.clone());
        }
    }
    contents.batches = list_plans(store, &mut contents.problems);
    contents
}

/// Lists the plans of a store.
pub fn list_plans(store: &Store, problems: &mut Vec<Problem>) -> Vec<PathBuf> {
    list_entries(&store.batches_dir(), problems)
        .into_iter()
        .filter(|entry| is_result_name(&entry.file_name))
        .map(|entry| entry.path)
        .collect()
}

/// Returns a journal in a run's folder, or `None` if it does not exist.
fn find_journal(folder: &Path, name: &str, problems: &mut Vec<Problem>) -> Option<PathBuf> {
    let path = folder.join(name);
    match presence::is_file(&path) {
        Ok(is_there) => is_there.then_some(path),
        Err(error) => {
            problems.push(Problem::unread_file(display_path(&path), &error));
            None
        }
    }
}

enum StoreEntryKind {
    File,
    Folder,
}

struct StoreEntry {
    path: PathBuf,
    file_name: String,
    kind: StoreEntryKind,
}

/// Lists a folder by name. A missing folder is empty. Symbolic links are followed once; loops are problems.
fn list_entries(folder: &Path, problems: &mut Vec<Problem>) -> Vec<StoreEntry> {
    match fs::metadata(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Vec::new(),
        Err(error) => {
            problems.push(Problem::unread_file(display_path(folder), &error));
            return Vec::new();
        }
        Ok(metadata) if !metadata.is_dir() => {
            problems.push(Problem::in_file(display_path(folder), "is not a folder"));
            return Vec::new();
        }
        Ok(_) => {}
    }
    let listing = match fs::read_dir(folder) {
        Ok(listing) => listing,
        Err(error) => {
            problems.push(Problem::unread_file(display_path(folder), &error));
            return Vec::new();
        }
    };
    let mut entries = Vec::new();
    for entry in listing {
        let found = entry.and_then(|entry| entry.file_type().map(|file_type| (entry, file_type)));
        let (entry, file_type) = match found {
            Ok(found) => found,
            Err(error) => {
                problems.push(Problem::unread_file(display_path(folder), &error));
                continue;
            }
        };
        let Ok(file_name) = entry.file_name().into_string() else {
            problems.push(Problem::in_file(
                display_path(&entry.path()),
                "has a name that is not UTF-8",
            ));
            continue;
        };
        if file_name.starts_with('.') {
            continue;
        }
        let path = folder.join(&file_name);
        let kind = if file_type.is_symlink() {
            match fs::metadata(&path) {
                Ok(metadata) if metadata.is_dir() => StoreEntryKind::Folder,
                Ok(_) => StoreEntryKind::File,
                Err(error) => {
                    problems.push(Problem::in_file(
                        display_path(&path),
                        format!("cannot follow the symbolic link: {error}"),
                    ));
                    continue;
                }
            }
        } else if file_type.is_dir() {
            StoreEntryKind::Folder
        } else {
            StoreEntryKind::File
        };
        entries.push(StoreEntry {
            path,
            file_name,
            kind,
        });
    }
    entries.sort_unstable_by(|left, right| left.file_name.cmp(&right.file_name));
    entries
}

/// Returns whether a name is that of a result or a plan. The store writes lower case.
fn is_result_name(name: &str) -> bool {
    name.strip_suffix(".json").is_some()
}

fn display_path(path: &Path) -> String {
    escape_invisible(&path.display().to_string())
}
