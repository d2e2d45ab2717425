//! Finds the sources at paths: walks folders in the order of names, looks at each file, and groups the files of one run.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use walkdir::{DirEntry, WalkDir};

use crate::domain::Problem;
use crate::results::{begins_bundle, bundle_path_in_site, is_bundle};

use super::super::report::UnrecognisedSource;
use super::super::source::unreadable_path;
use super::claim::Claim;
use super::format::ForeignFormat;
use super::peek::{ContentKind, Peek};
use super::registry;
use super::source::{ForeignFile, ForeignFileGroup, visible_path};
use super::unread::{self, UnsupportedFile};

/// Maximum depth of folders. Result folders are not deeper.
const MAX_DEPTH: usize = 24;
const MAX_FILES: usize = 2_000_000;
const RUBRIC_HINT: &str = "--as rubric reads it; see `evalreport help import/rubric`";
/// Extensions of files that may hold results.
const RESULT_EXTENSIONS: [&str; 14] = [
    "eval", "bundle", "json", "jsonl", "ndjson", "yaml", "yml", "xml", "gz", "zst", "zip", "csv",
    "parquet", "html",
];
/// Hidden names that tools use for results.
const HIDDEN_RESULTS: [&str; 5] = [
    ".aider.results.json",
    ".zelda",
    ".deepeval",
    ".latest_run_full.json",
    ".latest_test_run.json",
];

/// Sources and other files at some paths.
#[derive(Default)]
pub(super) struct FoundSources {
    pub sources: Vec<ForeignFileGroup>,
    /// Bundles: runs of another store.
    pub bundles: Vec<PathBuf>,
    /// Problems of paths that cannot be imported.
    pub problems: Vec<Problem>,
    pub unrecognised: Vec<UnrecognisedSource>,
    /// Symbolic links in the folders.
    pub links: Vec<String>,
    pub passed_over: u64,
}

/// Finds the sources at the paths. `forced` reads every file as that format.
pub(super) fn find_sources(
    paths: &[impl AsRef<Path>],
    forced: Option<ForeignFormat>,
) -> FoundSources {
    let mut walked = FoundSources::default();
    let mut files: Vec<(PathBuf, bool)> = Vec::new();
    for path in paths {
        let path = path.as_ref();
        match fs::metadata(path) {
            Ok(metadata) if metadata.is_dir() => walk_folder(path, &mut files, &mut walked),
            Ok(metadata) if metadata.is_file() => files.push(named_file(path)),
            Ok(_) => walked.problems.push(Problem::in_file(
                visible_path(path),
                "is not a regular file",
            )),
            Err(error) => walked
                .problems
                .push(unreadable_path(visible_path(path), &error)),
        }
    }
    // Two of the paths may contain the same file.
    let mut known = BTreeSet::new();
    files.retain(|(path, _)| known.insert(path.clone()));

    // Sources by format and shared folder or stem, in the order of their first files.
    let mut groups: BTreeMap<(ForeignFormat, PathBuf), usize> = BTreeMap::new();
    let mut unknown: Vec<(PathBuf, UnrecognisedSource)> = Vec::new();
    for (path, is_named) in files {
        let peek = match Peek::from_path(&path) {
            Ok(peek) => peek,
            Err(error) => {
                walked.problems.push(Problem::in_file(
                    visible_path(&path),
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
            None => registry::all_importers()
                .find_map(|format| Some((format.handle(), (format.claim)(&peek)?))),
        };
        match claim {
            Some((format, Claim::Alone)) => walked.sources.push(single_file_source(format, &path)),
            Some((format, Claim::PartOf(group))) => {
                let place = *groups.entry((format, group.clone())).or_insert_with(|| {
                    walked.sources.push(ForeignFileGroup {
                        format,
                        shown: visible_path(&group),
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
                let file = visible_path(&path);
                let unread = unread::recognise_unsupported(&peek);
                // A report that lost its content, as of a shard that was killed, is missing, and no file of another kind.
                let is_report = path
                    .extension()
                    .is_some_and(|extension| extension.eq_ignore_ascii_case("xml"));
                let is_lost = is_report && peek.head.is_empty();
                if is_named || is_lost {
                    walked
                        .problems
                        .push(unrecognised_problem(file, unread.as_ref(), &peek));
                } else {
                    let (tool, hint) = unread.map(|unread| (unread.tool, unread.hint)).unzip();
                    let hint = hint.or(is_rubric(&peek).then_some(RUBRIC_HINT));
                    unknown.push((path, UnrecognisedSource { file, tool, hint }));
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
pub(crate) fn has_no_known_format(paths: &[impl AsRef<Path>]) -> bool {
    let mut files = Vec::new();
    for path in paths {
        let path = path.as_ref();
        match fs::metadata(path) {
            Ok(metadata) if metadata.is_dir() => {
                walk_folder(path, &mut files, &mut FoundSources::default());
            }
            Ok(metadata) if metadata.is_file() => files.push(named_file(path)),
            Ok(_) | Err(_) => return false,
        }
    }
    // The first known file decides, so no further file of a results folder is opened.
    files.iter().all(|(path, is_named)| {
        Peek::from_path(path).map_or(true, |peek| !is_known(&peek, *is_named))
    })
}

/// Returns whether the file is of a supported or otherwise known format.
fn is_known(peek: &Peek, is_named: bool) -> bool {
    holds_bundle(peek)
        || registry::all_importers().any(|format| (format.claim)(peek).is_some())
        || unread::recognise_unsupported(peek).is_some()
        || is_rubric(peek)
        || (is_named && (peek.content == ContentKind::Xml || is_called_bundle(peek)))
}

fn holds_bundle(peek: &Peek) -> bool {
    begins_bundle(&peek.head)
        || peek.content == ContentKind::Xml && is_bundle(&peek.path).unwrap_or(false)
}

fn is_rubric(peek: &Peek) -> bool {
    peek.has_all(&["requirements", "sub_tasks"])
}

fn is_called_bundle(peek: &Peek) -> bool {
    peek.name.ends_with(".bundle")
}

fn unrecognised_problem(file: String, unread: Option<&UnsupportedFile>, peek: &Peek) -> Problem {
    match unread {
        None if is_rubric(peek) => Problem::in_file(file, "seems to be a graded rubric, which needs names").with_hint(RUBRIC_HINT),
        Some(UnsupportedFile { tool, hint }) => Problem::in_file(file, format!("is a result of {tool}, not supported yet")).with_hint(*hint),
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

fn single_file_source(format: ForeignFormat, path: &Path) -> ForeignFileGroup {
    let name = path
        .file_name()
        .map_or_else(String::new, |name| name.to_string_lossy().into_owned());
    ForeignFileGroup {
        format,
        shown: visible_path(path),
        name: name.clone(),
        files: vec![ForeignFile::new(path, name)],
        superseded_by: None,
    }
}

/// Returns the file to import for a named path.
fn named_file(path: &Path) -> (PathBuf, bool) {
    (bundle_beside(path).unwrap_or_else(|| path.to_owned()), true)
}

/// Returns the bundle of a site, if the path is the site's first page.
fn bundle_beside(path: &Path) -> Option<PathBuf> {
    let is_first_page = path.file_name().is_some_and(|name| name == "index.html");
    path.parent()
        .filter(|_| is_first_page)
        .map(bundle_path_in_site)
        .filter(|bundle| bundle.is_file())
}

/// Finds the files in a folder. Symbolic links are not followed, because they may lead outside the named folder.
fn walk_folder(folder: &Path, files: &mut Vec<(PathBuf, bool)>, walked: &mut FoundSources) {
    let is_wanted = |entry: &DirEntry| {
        let name = entry.file_name().to_string_lossy();
        entry.depth() == 0
            || ((!name.starts_with('.') || HIDDEN_RESULTS.contains(&name.as_ref()))
                && name != "node_modules"
                && name != "__MACOSX")
    };
    let mut entries = WalkDir::new(folder)
        .max_depth(MAX_DEPTH)
        .sort_by_file_name()
        .into_iter()
        .filter_entry(is_wanted);
    while let Some(entry) = entries.next() {
        if files.len() >= MAX_FILES {
            walked.problems.push(Problem::in_file(
                visible_path(folder),
                format!("holds more than {MAX_FILES} files"),
            ));
            return;
        }
        match entry {
            Ok(entry) if entry.file_type().is_file() => {
                let name = entry.file_name().to_string_lossy().to_lowercase();
                if name
                    .rsplit_once('.')
                    .is_some_and(|(_, ending)| RESULT_EXTENSIONS.contains(&ending))
                {
                    files.push((entry.into_path(), false));
                } else {
                    walked.passed_over += 1;
                }
            }
            // A site's other files show the content of its bundle.
            Ok(entry)
                if entry.file_type().is_dir() && bundle_path_in_site(entry.path()).is_file() =>
            {
                files.push((bundle_path_in_site(entry.path()), false));
                entries.skip_current_dir();
            }
            Ok(entry) if entry.file_type().is_symlink() => {
                walked.links.push(visible_path(entry.path()));
            }
            Ok(_) => {}
            Err(error) => {
                let path = visible_path(error.path().unwrap_or(folder));
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
