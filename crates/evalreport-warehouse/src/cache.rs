//! What is in the cache, and what of it can go.
//!
//! Commands read snapshots and records of sites at once, so these can be deleted at any time. Segments and imported stores are opened
//! again and again; a command that uses them holds the folder ([`crate::files::FolderUse`]), and they are deleted only if nobody does.

use std::collections::BTreeSet;
use std::fs::{self, Metadata};
use std::io;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use serde::{Deserialize, Serialize};
use tracing::debug;
use walkdir::WalkDir;

use crate::files::{self, IN_USE};

use super::snapshot::Snapshot;

/// Folder of the segments, and the begin of the names of other parts.
pub(super) const SEGMENTS_FOLDER: &str = "segments";
pub(super) const SNAPSHOT_PREFIX: &str = "snapshot-";
/// What names a lake instead of a folder of results, before its folder.
pub const LAKE_PREFIX: &str = "lake:";
/// Begin of the names of folders with stores of imported files, one folder for each state of the importers.
pub const IMPORTED_PREFIX: &str = "foreign-";
/// Begin of the names of records of sites.
pub const SITE_PREFIX: &str = "site-";
/// Extensions of the files that say what segments belong to some stores, and what file an imported store was read from.
pub(super) const LIST_EXTENSION: &str = "list";
pub const SOURCE_EXTENSION: &str = "source";

/// A kind of part.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum CacheKind {
    /// Runs and outcomes of some stores and lakes, for boards and pages.
    Snapshot,
    /// Outcomes of some stores as Parquet, for `sql` and `export`.
    Segments,
    /// Another tool's file as a store.
    Imported,
    /// State of a built site.
    Site,
    /// Anything else, such as parts of other versions of this program.
    Other,
}

impl CacheKind {
    pub fn name(self) -> &'static str {
        match self {
            Self::Snapshot => "snapshot",
            Self::Segments => "segments",
            Self::Imported => "imported",
            Self::Site => "site",
            Self::Other => "other",
        }
    }
}

/// A part of the cache.
#[derive(Clone, Debug)]
pub struct CachePart {
    pub kind: CacheKind,
    /// The stores, or the imported file. Empty if unknown.
    pub of: Vec<String>,
    pub files: u64,
    pub bytes: u64,
    /// When a command last used it. `None` if the system does not say.
    pub used: Option<SystemTime>,
    pub paths: Vec<PathBuf>,
}

/// The segments of some stores.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct SegmentList {
    pub stores: Vec<String>,
    /// Names of the segments without their extension.
    pub segments: BTreeSet<String>,
}

/// Lists the parts of a cache by kind, stores and last use. A missing cache has none.
pub fn cache_parts(cache: &Path) -> io::Result<Vec<CachePart>> {
    let mut parts = Vec::new();
    for (path, name) in list_folder(cache)? {
        match name.as_str() {
            IN_USE => {}
            SEGMENTS_FOLDER => parts.extend(segment_parts(&path)?),
            _ if name.starts_with(files::WRITING_PREFIX) => {}
            _ if name.starts_with(SNAPSHOT_PREFIX) => {
                let of = Snapshot::stores_of(&path).unwrap_or_default();
                parts.push(measure_part(CacheKind::Snapshot, of, vec![path]));
            }
            _ if name.starts_with(IMPORTED_PREFIX) && path.is_dir() => {
                parts.extend(imported_parts(&path)?);
            }
            _ if name.starts_with(SITE_PREFIX) => {
                parts.push(measure_part(CacheKind::Site, Vec::new(), vec![path]));
            }
            _ => parts.push(measure_part(CacheKind::Other, Vec::new(), vec![path])),
        }
    }
    parts.sort_by(|left, right| {
        (left.kind, &left.of, left.used).cmp(&(right.kind, &right.of, right.used))
    });
    Ok(parts)
}

/// Deletes superseded parts: segments that no stores have any more, and snapshots and segments of stores that are gone. With the name of
/// the importers' folder also imported stores of earlier importers, or of an earlier content of their file. Deletes nothing while another
/// command uses the cache.
pub fn sweep_cache(cache: &Path, reading: Option<&str>) {
    let swept = files::run_as_only_user(cache, || {
        superseded_parts(cache, reading).map(|parts| parts.iter().map(remove_part).sum::<u64>())
    });
    match swept {
        Ok(Some(Ok(removed))) => {
            debug!(folder = %cache.display(), files = removed, "superseded parts of the cache removed");
        }
        Ok(None) => debug!(folder = %cache.display(), "cache not swept: another command uses it"),
        Ok(Some(Err(error))) | Err(error) => {
            debug!(folder = %cache.display(), %error, "cache not swept");
        }
    }
}

/// Deletes the parts that were not used since `before`, or all parts. Returns the deleted ones, or `None` if another command uses the cache.
pub fn clear_cache(cache: &Path, before: Option<SystemTime>) -> io::Result<Option<Vec<CachePart>>> {
    let is_due =
        |part: &CachePart| before.is_none_or(|before| part.used.is_none_or(|used| used < before));
    if !cache.exists() {
        return Ok(Some(Vec::new()));
    }
    let cleared = files::run_as_only_user(cache, || {
        let parts: Vec<CachePart> = cache_parts(cache)?.into_iter().filter(is_due).collect();
        for part in &parts {
            remove_part(part);
        }
        Ok(parts)
    });
    cleared?.transpose()
}

fn superseded_parts(cache: &Path, reading: Option<&str>) -> io::Result<Vec<CachePart>> {
    let own = std::path::absolute(cache)?;
    let is_gone = |stores: &[String]| {
        let folders: Vec<&Path> = stores
            .iter()
            .map(|store| Path::new(store.strip_prefix(LAKE_PREFIX).unwrap_or(store)))
            .collect();
        let mut missing = folders.iter().filter(|folder| !folder.exists()).peekable();
        // A missing folder may come back, but no imported store of the cache under its old name.
        missing.peek().is_some()
            && (folders.iter().all(|folder| !folder.exists())
                || missing.any(|folder| folder.starts_with(&own)))
    };
    let is_earlier = |part: &CachePart, next: Option<&CachePart>| {
        reading.is_some_and(|reading| {
            let is_of_reading = |path: &PathBuf| {
                path.parent()
                    .is_some_and(|folder| folder.ends_with(reading))
            };
            // Parts are sorted by last use.
            part.of.is_empty()
                || !part.paths.iter().all(is_of_reading)
                || next.is_some_and(|next| (next.kind, &next.of) == (part.kind, &part.of))
        })
    };
    let parts = cache_parts(cache)?;
    let is_superseded = |(place, part): &(usize, &CachePart)| match part.kind {
        CacheKind::Snapshot => is_gone(&part.of),
        CacheKind::Segments => part.of.is_empty() || is_gone(&part.of),
        CacheKind::Imported => is_earlier(part, parts.get(place + 1)),
        CacheKind::Site | CacheKind::Other => false,
    };
    Ok(parts
        .iter()
        .enumerate()
        .filter(is_superseded)
        .map(|(_, part)| part.clone())
        .collect())
}

/// Returns one part for each list of segments, and one for each segment without a list.
fn segment_parts(folder: &Path) -> io::Result<Vec<CachePart>> {
    let mut parts = Vec::new();
    for (path, _) in list_folder(folder)? {
        if path
            .extension()
            .is_some_and(|extension| extension == LIST_EXTENSION)
            && let Some(list) = files::read(&path)
                .ok()
                .and_then(|bytes| serde_json::from_slice::<SegmentList>(&bytes).ok())
        {
            let own = list.segments.iter().flat_map(|name| {
                [
                    folder.join(format!("{name}.parquet")),
                    folder.join(format!("{name}.sha256")),
                ]
            });
            parts.push(measure_part(
                CacheKind::Segments,
                list.stores,
                std::iter::once(path).chain(own).collect(),
            ));
        }
    }
    let listed: BTreeSet<PathBuf> = parts.iter().flat_map(|part| part.paths.clone()).collect();
    let rest: Vec<PathBuf> = list_folder(folder)?
        .into_iter()
        .map(|(path, _)| path)
        .filter(|path| !listed.contains(path))
        .collect();
    parts.extend((!rest.is_empty()).then(|| measure_part(CacheKind::Segments, Vec::new(), rest)));
    Ok(parts)
}

/// Returns one part for each store of an imported file.
fn imported_parts(folder: &Path) -> io::Result<Vec<CachePart>> {
    let mut parts = Vec::new();
    for (path, name) in list_folder(folder)? {
        if path.is_dir() {
            let source = folder.join(format!("{name}.{SOURCE_EXTENSION}"));
            let of = files::read_to_string(&source).ok().into_iter().collect();
            let beside = list_folder(folder)?
                .into_iter()
                .filter(|(_, other)| other.starts_with(&name) && *other != name)
                .map(|(path, _)| path);
            let mut part = measure_part(
                CacheKind::Imported,
                of,
                std::iter::once(path).chain(beside).collect(),
            );
            part.used = modified_time(&source).or(part.used);
            parts.push(part);
        }
    }
    Ok(parts)
}

/// Lists a folder by name. A missing one is empty.
fn list_folder(folder: &Path) -> io::Result<Vec<(PathBuf, String)>> {
    let Some(listing) = files::missing_as_none(fs::read_dir(folder))? else {
        return Ok(Vec::new());
    };
    let mut entries = Vec::new();
    for entry in listing {
        let entry = entry?;
        entries.push((
            entry.path(),
            entry.file_name().to_string_lossy().into_owned(),
        ));
    }
    entries.sort();
    Ok(entries)
}

fn measure_part(kind: CacheKind, of: Vec<String>, paths: Vec<PathBuf>) -> CachePart {
    let (mut files, mut bytes, mut used) = (0, 0, None);
    for metadata in paths.iter().flat_map(metadata_below) {
        files += 1;
        bytes += metadata.len();
        used = used.max(metadata.modified().ok());
    }
    CachePart {
        kind,
        of,
        files,
        bytes,
        used,
        paths,
    }
}

/// Returns the state of a file, or of all files in a folder.
fn metadata_below(path: &PathBuf) -> impl Iterator<Item = Metadata> {
    let entries = WalkDir::new(path).into_iter().filter_map(Result::ok);
    entries
        .filter(|entry| entry.file_type().is_file())
        .filter_map(|entry| entry.metadata().ok())
}

fn modified_time(path: &Path) -> Option<SystemTime> {
    fs::metadata(path).ok()?.modified().ok()
}

/// Deletes a part. Returns the number of its files; ignores what cannot be deleted.
fn remove_part(part: &CachePart) -> u64 {
    for path in &part.paths {
        let _ = if path.is_dir() {
            fs::remove_dir_all(path)
        } else {
            fs::remove_file(path)
        };
        // The folder of earlier importers, once it is empty.
        let _ = path
            .parent()
            .filter(|_| part.kind == CacheKind::Imported)
            .map(fs::remove_dir);
    }
    part.files
}
