//! The chain of a store: one small file for each command that added records, so that a record that is taken away is missed.
//!
//! ```text
//! {"format":"evalreport/chain/1","time":"2026-…","command":"import","previous":["<entry>"],
//!  "files":{"imports/<key>.runs.jsonl":"<sha256>"},"lines":{"retractions.jsonl":["<sha256 of a line>"]}}
//! ```
//!
//! An entry is called after its own digest and names the newest entries before it, so it cannot be changed, nor an older one be removed, unless
//! all later ones are. Two machines, or two commands at once, add entries beside each other, and the next entry names both: copies of a store
//! are merged by copying files. Lines are named one by one, because such a merge may put others between them.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use chrono::{DateTime, SecondsFormat, Utc};
use serde::{Deserialize, Serialize};

use crate::domain::{Problem, escape_invisible};
use crate::files;

use super::added::AddedDigests;
use super::seal::sha256_hex;
use super::{Store, StoreError, durable};

/// Name of the folder in the store.
pub(super) const CHAIN_FOLDER: &str = "chain";
const CHAIN_FORMAT: &str = "evalreport/chain/1";
/// Length of an entry's id: 128 bits of its digest.
const ENTRY_ID_LENGTH: usize = 32;
/// How many of the newest entries a new one looks at.
const MAX_NEWEST_ENTRIES: usize = 64;

#[derive(Serialize, Deserialize)]
struct ChainEntry {
    format: String,
    /// RFC 3339.
    time: String,
    command: String,
    /// The entries that no entry named when this one was made.
    #[serde(default)]
    previous: Vec<String>,
    /// Path in the store → SHA-256 of a file that never changes.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    files: BTreeMap<String, String>,
    /// Path in the store → SHA-256 of lines, without line breaks.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    lines: BTreeMap<String, Vec<String>>,
}

impl Store {
    /// Adds an entry about everything that was added since the last one, if that is anything.
    ///
    /// A command that is killed before leaves records that no entry names, which is no damage.
    pub fn append_chain_entry(&self, command: &str, time: DateTime<Utc>) -> Result<(), StoreError> {
        let AddedDigests { files, lines } = self.added_records().take_digests();
        if files.is_empty() && lines.is_empty() {
            return Ok(());
        }
        let previous = self.newest_entries()?;
        let entry = ChainEntry {
            format: CHAIN_FORMAT.to_owned(),
            time: time.to_rfc3339_opts(SecondsFormat::Secs, true),
            command: command.to_owned(),
            previous,
            files,
            lines,
        };
        let mut text =
            serde_json::to_string(&entry).expect("an entry is JSON: every key of it is text");
        text.push('\n');
        let name = format!(
            "{}-{}.jsonl",
            time.format("%Y%m%dT%H%M%S%3f"),
            entry_id(text.as_bytes())
        );
        let path = self.chain_dir().join(name);
        durable::create_new(&path, text.as_bytes()).map_err(StoreError::io("cannot write", &path))
    }

    pub(super) fn chain_dir(&self) -> PathBuf {
        self.root().join(CHAIN_FOLDER)
    }

    /// Returns the ids of the entries that no other names, among the newest.
    pub(super) fn newest_entries(&self) -> Result<Vec<String>, StoreError> {
        let folder = self.chain_dir();
        let mut paths = entry_paths(&folder).map_err(StoreError::io("cannot read", &folder))?;
        let first = paths.len().saturating_sub(MAX_NEWEST_ENTRIES);
        let mut named = BTreeSet::new();
        let mut ids = Vec::new();
        for path in paths.drain(first..) {
            let bytes = files::read(&path).map_err(StoreError::io("cannot read", &path))?;
            ids.push(entry_id(&bytes));
            // A damaged entry names nothing; the check of the store reports it.
            named.extend(
                serde_json::from_slice::<ChainEntry>(&bytes)
                    .map(|entry| entry.previous)
                    .unwrap_or_default(),
            );
        }
        ids.retain(|id| !named.contains(id));
        ids.sort_unstable();
        Ok(ids)
    }
}

/// Returns the paths of all entries, in the order of their names, which is mostly that of time.
fn entry_paths(folder: &Path) -> std::io::Result<Vec<PathBuf>> {
    let Some(entries) = files::missing_as_none(fs::read_dir(folder))? else {
        return Ok(Vec::new());
    };
    let mut paths = Vec::new();
    for entry in entries {
        let path = entry?.path();
        let name = path
            .file_name()
            .and_then(|name| name.to_str())
            .unwrap_or_default();
        if !name.starts_with('.')
            && path
                .extension()
                .is_some_and(|extension| extension == "jsonl")
        {
            paths.push(path);
        }
    }
    paths.sort_unstable();
    Ok(paths)
}

fn entry_id(bytes: &[u8]) -> String {
    let mut id = sha256_hex(bytes);
    id.truncate(ENTRY_ID_LENGTH);
    id
}

/// The chain of a store.
#[derive(Clone, Debug, Default)]
pub struct ChainState {
    pub entries: usize,
    /// The ids of the entries that no other names: one, unless machines or commands added entries beside each other.
    pub newest: Vec<String>,
    /// Plans, imports and headers without a plan that no entry names: of an earlier version, or of a killed command.
    pub unchained: usize,
}

/// Compares a store with its chain. `known` has the files that were found to be changed, which are reported once. `since` is an entry that must
/// be there.
pub(super) fn verify_chain(
    store: &Store,
    since: Option<&str>,
    known: &BTreeSet<String>,
) -> (ChainState, BTreeSet<String>, Vec<Problem>) {
    let mut problems = Vec::new();
    let mut entries: BTreeMap<String, ChainEntry> = BTreeMap::new();
    let folder = store.chain_dir();
    let paths = entry_paths(&folder).unwrap_or_else(|error| {
        problems.push(Problem::unread_file(display_path(&folder), &error));
        Vec::new()
    });
    for path in paths {
        let bytes = match files::read(&path) {
            Ok(bytes) => bytes,
            Err(error) => {
                problems.push(Problem::unread_file(display_path(&path), &error));
                continue;
            }
        };
        let id = entry_id(&bytes);
        let is_named = path
            .file_stem()
            .and_then(|stem| stem.to_str())
            .is_some_and(|stem| stem.ends_with(&id));
        match serde_json::from_slice::<ChainEntry>(&bytes) {
            Ok(entry) if is_named => {
                // An entry of a newer version may hold what this one does not understand.
                entries.insert(id, entry);
            }
            Ok(_) | Err(_) => {
                problems.push(
                    Problem::in_file(
                        display_path(&path),
                        "this entry of the chain was changed after it was made",
                    )
                    .with_hint(COPY_HINT),
                );
            }
        }
    }
    let named: BTreeSet<&String> = entries.values().flat_map(|entry| &entry.previous).collect();
    for (id, entry) in &entries {
        for lost in entry
            .previous
            .iter()
            .filter(|previous| !entries.contains_key(*previous))
        {
            let message = format!(
                "has no entry {lost}, which the entry {id} of {} names: what was added before was taken away",
                entry.time
            );
            problems.push(Problem::in_file(display_path(&folder), message).with_hint(COPY_HINT));
        }
    }
    if let Some(since) = since.filter(|since| !entries.keys().any(|id| id.starts_with(*since))) {
        let message = format!(
            "has no entry {}: the store is older than that, or was put back to an earlier state",
            escape_invisible(since)
        );
        problems.push(Problem::in_file(display_path(&folder), message).with_hint(COPY_HINT));
    }
    let newest = entries
        .keys()
        .filter(|id| !named.contains(*id))
        .cloned()
        .collect();
    let chained = compare_records(store, &entries, known, &mut problems);
    (
        ChainState {
            entries: entries.len(),
            newest,
            unchained: 0,
        },
        chained,
        problems,
    )
}

/// Looks for every file and line that the entries name. Returns the paths of the files.
fn compare_records(
    store: &Store,
    entries: &BTreeMap<String, ChainEntry>,
    known: &BTreeSet<String>,
    problems: &mut Vec<Problem>,
) -> BTreeSet<String> {
    type EntriesByDigest<'a> = BTreeMap<&'a str, BTreeMap<&'a str, &'a ChainEntry>>;
    let (mut of_files, mut of_lines): (EntriesByDigest<'_>, EntriesByDigest<'_>) =
        (BTreeMap::new(), BTreeMap::new());
    for entry in entries.values() {
        for (path, digest) in &entry.files {
            of_files.entry(path).or_default().insert(digest, entry);
        }
        for (path, digests) in &entry.lines {
            of_lines
                .entry(path)
                .or_default()
                .extend(digests.iter().map(|digest| (digest.as_str(), entry)));
        }
    }
    let added = |entry: &ChainEntry| {
        format!(
            "that `{}` added at {}",
            escape_invisible(&entry.command),
            escape_invisible(&entry.time)
        )
    };
    for (path, digests) in &of_files {
        let Some(place) = path_in_store(store, path) else {
            continue;
        };
        let Some(entry) = digests.values().next() else {
            continue;
        };
        if known.contains(&display_path(&place)) {
            continue;
        }
        match files::missing_as_none(files::read(&place)) {
            // It may have been added twice, if somebody deleted it in between.
            Ok(Some(bytes)) if digests.contains_key(sha256_hex(&bytes).as_str()) => {}
            Ok(Some(_)) => problems.push(
                Problem::in_file(
                    display_path(&place),
                    format!("is not the file {}", added(entry)),
                )
                .with_hint(COPY_HINT),
            ),
            Ok(None) => problems.push(
                Problem::in_file(
                    display_path(&place),
                    format!("the file {} is gone", added(entry)),
                )
                .with_hint(COPY_HINT),
            ),
            Err(error) => problems.push(Problem::unread_file(display_path(&place), &error)),
        }
    }
    for (path, digests) in &of_lines {
        let Some(place) = path_in_store(store, path) else {
            continue;
        };
        if known.contains(&display_path(&place)) {
            continue;
        }
        let bytes = match files::missing_as_none(files::read(&place)) {
            Ok(bytes) => bytes.unwrap_or_default(),
            Err(error) => {
                problems.push(Problem::unread_file(display_path(&place), &error));
                continue;
            }
        };
        let there: BTreeSet<String> = bytes
            .split(|byte| *byte == b'\n')
            .map(|line| sha256_hex(line.trim_ascii_end()))
            .collect();
        let lost: Vec<&&ChainEntry> = digests
            .iter()
            .filter(|(digest, _)| !there.contains(**digest))
            .map(|(_, entry)| entry)
            .collect();
        if let Some(first) = lost.first() {
            let lines = if lost.len() == 1 {
                "a line".to_owned()
            } else {
                format!("{} lines", lost.len())
            };
            let message = format!("has no longer {lines} {}", added(first));
            problems.push(Problem::in_file(display_path(&place), message).with_hint(COPY_HINT));
        }
    }
    of_files
        .keys()
        .chain(of_lines.keys())
        .map(|path| (*path).to_owned())
        .collect()
}

/// Returns the path of a record. Entries are read from other machines: a path that leads out of the store names nothing.
fn path_in_store(store: &Store, path: &str) -> Option<PathBuf> {
    let relative = Path::new(path);
    let is_below = relative
        .components()
        .all(|part| matches!(part, std::path::Component::Normal(_)));
    is_below.then(|| store.root().join(relative))
}

const COPY_HINT: &str =
    "put the file back from a copy; `evalreport help reliability` says what the chain is";

fn display_path(path: &Path) -> String {
    escape_invisible(&path.display().to_string())
}

#[cfg(test)]
mod tests {
    use crate::domain::{Run, RunId};

    use super::*;

    fn added(store: &Store, run: &str, time: i64) {
        store
            .save_run(&Run::new(RunId::parse(run).expect("an id"), "s", "a", "m"))
            .expect("room");
        store
            .append_chain_entry("record", DateTime::from_timestamp(time, 0).expect("a time"))
            .expect("room");
    }

    fn messages(store: &Store, since: Option<&str>) -> Vec<String> {
        verify_chain(store, since, &BTreeSet::new())
            .2
            .into_iter()
            .map(|problem| problem.message)
            .collect()
    }

    #[test]
    fn branches_of_two_machines_are_merged_by_copying_files() {
        let folders = [
            tempfile::tempdir().expect("a folder"),
            tempfile::tempdir().expect("a folder"),
        ];
        let [here, there] = [0, 1].map(|number| Store::new(folders[number].path().join("results")));
        let copy = |from: &Store, to: &Store| {
            for entry in walkdir::WalkDir::new(from.root())
                .into_iter()
                .filter_map(Result::ok)
                .filter(|entry| entry.file_type().is_file())
            {
                let target = to
                    .root()
                    .join(entry.path().strip_prefix(from.root()).expect("below"));
                fs::create_dir_all(target.parent().expect("a folder")).expect("room");
                fs::copy(entry.path(), target).expect("room");
            }
        };
        added(&here, "r1", 10);
        copy(&here, &there);
        added(&here, "r2", 20);
        added(&there, "r3", 20);
        added(&there, "r4", 30);
        copy(&here, &there);
        copy(&there, &here);
        let (state, ..) = verify_chain(&here, None, &BTreeSet::new());
        assert_eq!((state.entries, state.newest.len()), (4, 2));
        assert_eq!(messages(&here, None), Vec::<String>::new());
        let two = state.newest;
        added(&here, "r5", 40);
        let (state, ..) = verify_chain(&here, None, &BTreeSet::new());
        assert_eq!(
            (state.entries, state.newest.len()),
            (5, 1),
            "the next entry names both"
        );
        for newest in &two {
            assert_eq!(messages(&here, Some(&newest[..12])), Vec::<String>::new());
        }
        assert!(
            messages(&there, Some(&state.newest[0]))[0].contains("has no entry"),
            "the other machine is behind"
        );
    }

    #[test]
    fn what_was_added_and_is_gone_or_changed_is_missed() {
        let folder = tempfile::tempdir().expect("a folder");
        let store = Store::new(folder.path().join("results"));
        for (run, minute) in [("r1", 10), ("r2", 20), ("r3", 30)] {
            added(&store, run, minute);
        }
        assert_eq!(messages(&store, None), Vec::<String>::new());
        let with = |path: &Path, bytes: Option<&[u8]>| {
            let whole = fs::read(path).expect("readable");
            match bytes {
                Some(bytes) => fs::write(path, bytes).expect("room"),
                None => fs::remove_file(path).expect("it is there"),
            }
            let said = messages(&store, None).join("; ");
            fs::write(path, whole).expect("room");
            said
        };
        let header = store.root().join("r2.json");
        assert!(
            with(&header, None)
                .contains("the file that `record` added at 1970-01-01T00:00:20Z is gone")
        );
        assert!(with(&header, Some(b"{}")).contains("is not the file that"));
        let entries = entry_paths(&store.chain_dir()).expect("readable");
        assert!(with(&entries[0], None).contains("has no entry"));
        assert!(with(&entries[1], Some(b"{}")).contains("was changed after it was made"));
        // Nothing inside says that the newest entry was there, so whoever wants to know keeps its id.
        let newest = store.newest_entries().expect("readable");
        fs::remove_file(&entries[2]).expect("it is there");
        fs::remove_file(store.root().join("r3.json")).expect("it is there");
        assert_eq!(messages(&store, None), Vec::<String>::new());
        assert!(messages(&store, Some(&newest[0]))[0].contains("put back to an earlier state"));
    }

    #[test]
    fn an_entry_from_elsewhere_reads_nothing_outside_of_the_store() {
        let folder = tempfile::tempdir().expect("a folder");
        let store = Store::new(folder.path().join("results"));
        added(&store, "r1", 10);
        let text = r#"{"format":"evalreport/chain/1","time":"x","command":"y","files":{"../secret":"0","/etc/passwd":"0"}}"#;
        fs::write(
            store
                .chain_dir()
                .join(format!("x-{}.jsonl", entry_id(text.as_bytes()))),
            text,
        )
        .expect("room");
        assert_eq!(messages(&store, None), Vec::<String>::new());
    }
}
