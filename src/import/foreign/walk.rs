//! Finds the sources at paths: walks folders in the order of names, looks at each file, and groups the files of one run.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use walkdir::{DirEntry, WalkDir};

use crate::domain::Problem;
use crate::results::{begins_bundle, in_site, is_bundle};

use super::super::report::Unrecognised;
use super::super::source::unreadable;
use super::claim::Claim;
use super::format::ForeignFormat;
use super::peek::{Content, Peek};
use super::registry;
use super::source::{ForeignFile, ForeignSource, shown};
use super::unread::{self, Unread};

/// Maximum depth of folders. Result folders are not deeper.
const MOST_DEPTH: usize = 24;
const MOST_FILES: usize = 2_000_000;
const AS_RUBRIC: &str = "--as rubric reads it; see `evalreport help import/rubric`";
/// Extensions of files that may hold results.
const ENDINGS: [&str; 14] = [
    "eval", "bundle", "json", "jsonl", "ndjson", "yaml", "yml", "xml", "gz", "zst", "zip", "csv",
    "parquet", "html",
];
/// Hidden names that tools use for results.
const HIDDEN: [&str; 5] = [
    ".aider.results.json",
    ".zelda",
    ".deepeval",
    ".latest_run_full.json",
    ".latest_test_run.json",
];

/// Sources and other files at some paths.
#[derive(Default)]
pub(super) struct Walked {
    pub sources: Vec<ForeignSource>,
    /// Bundles: runs of another store.
    pub bundles: Vec<PathBuf>,
    /// Problems of paths that cannot be imported.
    pub problems: Vec<Problem>,
    pub unrecognised: Vec<Unrecognised>,
    /// Symbolic links in the folders.
    pub links: Vec<String>,
    pub passed_over: u64,
}

/// Finds the sources at the paths. `forced` reads every file as that format.
pub(super) fn walk(paths: &[impl AsRef<Path>], forced: Option<ForeignFormat>) -> Walked {
    let mut walked = Walked::default();
    let mut files: Vec<(PathBuf, bool)> = Vec::new();
    for path in paths {
        let path = path.as_ref();
        match fs::metadata(path) {
            Ok(metadata) if metadata.is_dir() => walk_folder(path, &mut files, &mut walked),
            Ok(metadata) if metadata.is_file() => files.push(named(path)),
            Ok(_) => walked
                .problems
                .push(Problem::in_file(shown(path), "is not a regular file")),
            Err(error) => walked.problems.push(unreadable(shown(path), &error)),
        }
    }
    // Two of the paths may contain the same file.
    let mut known = BTreeSet::new();
    files.retain(|(path, _)| known.insert(path.clone()));

    // Sources by format and shared folder or stem, in the order of their first files.
    let mut groups: BTreeMap<(ForeignFormat, PathBuf), usize> = BTreeMap::new();
    let mut unknown: Vec<(PathBuf, Unrecognised)> = Vec::new();
    for (path, is_named) in files {
        let peek = match Peek::of(&path) {
            Ok(peek) => peek,
            Err(error) => {
                walked.problems.push(Problem::in_file(
                    shown(&path),
                    format!("cannot be read: {error}"),
                ));
                continue;
            }
        };
        if forced.is_none() && holds_bundle(&peek) {
            walked.bundles.push(path);
            continue;
        }
        let claim = match forced {
            Some(format) => (format.importer().claim)(&peek)
                .or_else(|| is_named.then_some(Claim::Alone))
                .map(|claim| (format, claim)),
            None => {
                registry::all().find_map(|format| Some((format.handle(), (format.claim)(&peek)?)))
            }
        };
        match claim {
            Some((format, Claim::Alone)) => walked.sources.push(alone(format, &path)),
            Some((format, Claim::PartOf(group))) => {
                let place = *groups.entry((format, group.clone())).or_insert_with(|| {
                    walked.sources.push(ForeignSource {
                        format,
                        shown: shown(&group),
                        name: group
                            .file_name()
                            .map_or_else(String::new, |name| name.to_string_lossy().into_owned()),
                        files: Vec::new(),
                        superseded_by: None,
                    });
                    walked.sources.len() - 1
                });
                // The group may be a common beginning of names instead of a folder.
                let name = path
                    .strip_prefix(&group)
                    .ok()
                    .or_else(|| path.strip_prefix(group.parent()?).ok())
                    .unwrap_or(&path);
                let name = name
                    .components()
                    .map(|part| part.as_os_str().to_string_lossy())
                    .collect::<Vec<_>>()
                    .join("/");
                let file = ForeignFile::new(&path, name);
                walked.sources[place].files.push(file);
            }
            None => {
                let file = shown(&path);
                let unread = unread::recognise(&peek);
                if is_named {
                    walked
                        .problems
                        .push(unrecognised(file, unread.as_ref(), &peek));
                } else {
                    let (tool, hint) = unread.map(|unread| (unread.tool, unread.hint)).unzip();
                    let hint = hint.or(is_rubric(&peek).then_some(AS_RUBRIC));
                    unknown.push((path, Unrecognised { file, tool, hint }));
                }
            }
        }
    }
    for (path, file) in unknown {
        let is_companion = groups.keys().any(|(format, folder)| {
            path.strip_prefix(folder)
                .is_ok_and(|below| (format.importer().is_companion)(below))
        });
        if file.tool.is_none() && is_companion {
            walked.passed_over += 1;
        } else {
            walked.unrecognised.push(file);
        }
    }
    walked
}

/// Returns whether no file at the paths is of a supported or otherwise known format, so that they may be tables. Returns false if a path
/// cannot be read.
pub(in crate::import) fn is_nothing_known(paths: &[impl AsRef<Path>]) -> bool {
    let mut files = Vec::new();
    for path in paths {
        let path = path.as_ref();
        match fs::metadata(path) {
            Ok(metadata) if metadata.is_dir() => {
                walk_folder(path, &mut files, &mut Walked::default())
            }
            Ok(metadata) if metadata.is_file() => files.push(named(path)),
            Ok(_) | Err(_) => return false,
        }
    }
    // The first known file decides, so no further file of a results folder is opened.
    files
        .iter()
        .all(|(path, is_named)| Peek::of(path).map_or(true, |peek| !is_known(&peek, *is_named)))
}

/// Returns whether the file is of a supported or otherwise known format.
fn is_known(peek: &Peek, is_named: bool) -> bool {
    holds_bundle(peek)
        || registry::all().any(|format| (format.claim)(peek).is_some())
        || unread::recognise(peek).is_some()
        || is_rubric(peek)
        || (is_named && (peek.content == Content::Xml || is_called_bundle(peek)))
}

fn holds_bundle(peek: &Peek) -> bool {
    begins_bundle(&peek.head)
        || peek.content == Content::Xml && is_bundle(&peek.path).unwrap_or(false)
}

fn is_rubric(peek: &Peek) -> bool {
    peek.has_all(&["requirements", "sub_tasks"])
}

fn is_called_bundle(peek: &Peek) -> bool {
    peek.name.ends_with(".bundle")
}

fn unrecognised(file: String, unread: Option<&Unread>, peek: &Peek) -> Problem {
    match unread {
        None if is_rubric(peek) => Problem::in_file(file, "seems to be a graded rubric, which needs names").with_hint(AS_RUBRIC),
        Some(Unread { tool, hint }) => Problem::in_file(file, format!("is a result of {tool}, not supported yet")).with_hint(*hint),
        // Too little of the file is left to recognise it.
        None if is_called_bundle(peek) => {
            Problem::in_file(file, "is no bundle, or is damaged or cut off").with_hint("fetch the file again")
        }
        None if peek.head.is_empty() => {
            Problem::in_file(file, "is empty").with_hint("run what writes it again, and look at what that says: an empty report is no pass")
        }
        None => Problem::in_file(file, "has an unknown format")
            .with_hint("--map MAP reads a table, --as FORMAT says what the file is; see `evalreport help import`"),
    }
}

fn alone(format: ForeignFormat, path: &Path) -> ForeignSource {
    let name = path
        .file_name()
        .map_or_else(String::new, |name| name.to_string_lossy().into_owned());
    ForeignSource {
        format,
        shown: shown(path),
        name: name.clone(),
        files: vec![ForeignFile::new(path, name)],
        superseded_by: None,
    }
}

/// Returns the file to import for a named path.
fn named(path: &Path) -> (PathBuf, bool) {
    (bundle_beside(path).unwrap_or_else(|| path.to_owned()), true)
}

/// Returns the bundle of a site, if the path is the site's first page.
fn bundle_beside(path: &Path) -> Option<PathBuf> {
    let is_first_page = path.file_name().is_some_and(|name| name == "index.html");
    path.parent()
        .filter(|_| is_first_page)
        .map(in_site)
        .filter(|bundle| bundle.is_file())
}

/// Finds the files in a folder. Symbolic links are not followed, because they may lead outside the named folder.
fn walk_folder(folder: &Path, files: &mut Vec<(PathBuf, bool)>, walked: &mut Walked) {
    let is_wanted = |entry: &DirEntry| {
        let name = entry.file_name().to_string_lossy();
        entry.depth() == 0
            || ((!name.starts_with('.') || HIDDEN.contains(&name.as_ref()))
                && name != "node_modules"
                && name != "__MACOSX")
    };
    let mut entries = WalkDir::new(folder)
        .max_depth(MOST_DEPTH)
        .sort_by_file_name()
        .into_iter()
        .filter_entry(is_wanted);
    while let Some(entry) = entries.next() {
        if files.len() >= MOST_FILES {
            walked.problems.push(Problem::in_file(
                shown(folder),
                format!("holds more than {MOST_FILES} files"),
            ));
            return;
        }
        match entry {
            Ok(entry) if entry.file_type().is_file() => {
                let name = entry.file_name().to_string_lossy().to_lowercase();
                if name
                    .rsplit_once('.')
                    .is_some_and(|(_, ending)| ENDINGS.contains(&ending))
                {
                    files.push((entry.into_path(), false));
                } else {
                    walked.passed_over += 1;
                }
            }
            // A site's other files show the content of its bundle.
            Ok(entry) if entry.file_type().is_dir() && in_site(entry.path()).is_file() => {
                files.push((in_site(entry.path()), false));
                entries.skip_current_dir();
            }
            Ok(entry) if entry.file_type().is_symlink() => walked.links.push(shown(entry.path())),
            Ok(_) => {}
            Err(error) => {
                let path = shown(error.path().unwrap_or(folder));
                let why = error
                    .into_io_error()
                    .map_or_else(|| "a loop of links".to_owned(), |error| error.to_string());
                walked
                    .problems
                    .push(Problem::in_file(path, format!("cannot be read: {why}")));
            }
        }
    }
}
