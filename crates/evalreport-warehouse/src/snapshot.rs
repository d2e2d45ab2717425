//! The cached result of the last command: runs, and a status for each run, attempt and item, with a score if it contains more than the
//! status.
//!
//! The file is one zstd frame with a checksum. A snapshot that is missing, damaged or of another version is ignored.

use std::fs::{self};
use std::io::{self, Read, Write};
use std::path::Path;
use std::sync::Arc;

use serde::{Deserialize, Serialize, Serializer};

use crate::domain::{ItemKey, Problem, Run};
use crate::files;

use super::facts::ItemFacts;
use super::hidden::HiddenBy;
use super::matrix::RowScores;
use super::source_stamp::FileStamp;
use super::statuses::Statuses;
use super::stored_run;
use super::totals::ItemTotals;

/// Changes whenever the meaning of the stored data changes.
const SNAPSHOT_VERSION: &str = concat!("evalreport snapshot 15 ", env!("CARGO_PKG_VERSION"));
const COMPRESSION_LEVEL: i32 = 1;
/// More than the names of stores need.
const MAX_STORES_BYTES: u64 = 1 << 20;

/// A file of headers: one run's header, or the runs of a sealed pair.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct HeaderUnit {
    pub path: String,
    pub stamp: FileStamp,
    /// Stamp of the scores file, if there is one.
    pub scores_stamp: Option<FileStamp>,
    /// For a sealed pair: the folders with judgements of its runs.
    pub judged: Vec<JudgedFolder>,
    #[serde(with = "stored_run")]
    pub runs: Vec<Arc<Run>>,
    pub problems: Vec<Problem>,
}

/// The folder with an imported run's judgements.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct JudgedFolder {
    pub run: String,
    pub folder: String,
    /// Path of `items.jsonl`, if it exists.
    pub items: Option<String>,
    /// Stamp of the scores file, if there is one.
    pub scores_stamp: Option<FileStamp>,
}

/// Serializes only files without a read error: a temporary system error must not be cached as an empty file.
fn serialize_readable<'u, U: Serialize, S: Serializer>(
    units: &'u [U],
    problems: impl Fn(&'u U) -> &'u [Problem],
    serializer: S,
) -> Result<S::Ok, S::Error> {
    let was_read = |unit: &&'u U| !problems(unit).iter().any(|problem| problem.is_unread);
    serializer.collect_seq(units.iter().filter(was_read).collect::<Vec<&U>>())
}

fn read_headers<S: Serializer>(units: &[HeaderUnit], serializer: S) -> Result<S::Ok, S::Error> {
    serialize_readable(units, |unit| &unit.problems, serializer)
}

fn read_items<S: Serializer>(units: &[ItemUnit], serializer: S) -> Result<S::Ok, S::Error> {
    serialize_readable(units, |unit| &unit.problems, serializer)
}

/// Leaves out the unit of runs without lines.
fn of_files<S: Serializer>(units: &[ItemUnit], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(
        units
            .iter()
            .filter(|unit| unit.stamp != FileStamp::default())
            .collect::<Vec<&ItemUnit>>(),
    )
}

impl HeaderUnit {
    /// Returns the run if the file has exactly one.
    pub fn only_run(&self) -> Option<&Run> {
        match self.runs.as_slice() {
            [run] => Some(run),
            _ => None,
        }
    }
}

/// A file of item lines.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct ItemUnit {
    pub path: String,
    pub stamp: FileStamp,
    /// The current revisions when it was read, see [`super::item_file::ItemFile`].
    pub standing: Vec<(String, u32)>,
    pub rows: Vec<StoredRow>,
    /// By run: its index in [`Snapshot::run_ids`] and its totals.
    pub totals: Vec<(u32, ItemTotals)>,
    pub problems: Vec<Problem>,
}

/// What was read of a lake: the next command reads again only what changed.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct CachedLake {
    /// `lake:` and its folder.
    pub name: String,
    /// Of the files of its runs.
    pub stamp: FileStamp,
    /// By id.
    #[serde(with = "stored_run")]
    pub runs: Vec<Arc<Run>>,
    /// In the same order.
    pub facts: Vec<CachedLakeRun>,
    /// Outcomes by file. A command that asks for some suites reads some files.
    #[serde(serialize_with = "of_files")]
    pub units: Vec<ItemUnit>,
}

/// What a lake says of a run beside the run itself.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct CachedLakeRun {
    pub publish: String,
    pub totals: Option<ItemTotals>,
    pub hidden: Option<(HiddenBy, String)>,
    pub content: String,
    /// Number of standing outcomes, and a sum over them.
    pub outcomes: u64,
    pub check: u64,
    /// JSON; empty if there are none.
    pub score_lines: String,
}

/// One attempt of one run.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct StoredRow {
    /// Index into [`Snapshot::run_ids`].
    pub run: u32,
    pub attempt: u32,
    /// Index into [`Snapshot::item_sets`].
    pub items: u32,
    /// Index into [`Snapshot::fact_columns`]: this run's facts about these items.
    pub facts: u32,
    /// One per item of the set.
    pub statuses: Statuses,
    /// Scores, one per item of the set, if there are any.
    pub scores: RowScores,
}

/// The column without any facts.
pub(super) const NO_FACT_COLUMN: u32 = 0;

#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Snapshot {
    /// The stores and lakes that it is of. First, so that they can be read alone.
    pub stores: Vec<String>,
    #[serde(serialize_with = "read_headers")]
    pub headers: Vec<HeaderUnit>,
    #[serde(serialize_with = "read_items")]
    pub items: Vec<ItemUnit>,
    /// Lakes whose units are not among those above.
    pub lakes: Vec<CachedLake>,
    pub run_ids: Vec<String>,
    pub keys: Vec<ItemKey>,
    /// Ascending indices into `keys`. Runs with the same items share one set.
    pub item_sets: Vec<Vec<u32>>,
    /// All distinct facts; the first is empty.
    pub facts: Vec<ItemFacts<String>>,
    /// Indices into `facts`, one per item of a row's set. Runs that agree share a column; the first is empty and has no facts.
    pub fact_columns: Vec<Vec<u32>>,
}

impl Snapshot {
    /// Reads the snapshot, or returns `None` if there is no valid one.
    pub fn load(path: &Path) -> Option<Self> {
        let mut bytes = Vec::new();
        zstd::Decoder::new(files::open(path).ok()?)
            .ok()?
            .read_to_end(&mut bytes)
            .ok()?;
        let payload = bytes.strip_prefix(SNAPSHOT_VERSION.as_bytes())?;
        let snapshot: Self = postcard::from_bytes(payload).ok()?;
        snapshot.is_consistent().then_some(snapshot)
    }

    /// Reads only which stores a snapshot is of. `None` if that is unknown.
    pub fn stores_of(path: &Path) -> Option<Vec<String>> {
        let mut bytes = Vec::new();
        zstd::Decoder::new(files::open(path).ok()?)
            .ok()?
            .take(MAX_STORES_BYTES)
            .read_to_end(&mut bytes)
            .ok()?;
        let (stores, _) =
            postcard::take_from_bytes(bytes.strip_prefix(SNAPSHOT_VERSION.as_bytes())?).ok()?;
        Some(stores)
    }

    /// Writes the snapshot to a temporary file and moves it into place.
    pub fn save(&self, path: &Path) -> io::Result<()> {
        let folder = path.parent().unwrap_or(Path::new("."));
        fs::create_dir_all(folder)?;
        files::sweep_files(folder);
        let file = files::create_temporary_in(folder)?;
        let mut encoder = zstd::Encoder::new(file, COMPRESSION_LEVEL)?;
        encoder.include_checksum(true)?;
        encoder.write_all(SNAPSHOT_VERSION.as_bytes())?;
        encoder.write_all(&postcard::to_stdvec(self).map_err(io::Error::other)?)?;
        encoder
            .finish()?
            .persist(path)
            .map_err(|error| error.error)?;
        Ok(())
    }

    /// Checks that every index is in range. The checksum guards against damage, this check against a writer's mistake.
    fn is_consistent(&self) -> bool {
        let in_range = |index: u32, length: usize| (index as usize) < length;
        self.item_sets
            .iter()
            .flatten()
            .all(|key| in_range(*key, self.keys.len()))
            && self
                .fact_columns
                .iter()
                .flatten()
                .all(|facts| in_range(*facts, self.facts.len()))
            && self
                .lakes
                .iter()
                .all(|lake| lake.runs.len() == lake.facts.len())
            && self
                .items
                .iter()
                .chain(self.lakes.iter().flat_map(|lake| &lake.units))
                .all(|unit| {
                    unit.totals
                        .iter()
                        .all(|(run, _)| in_range(*run, self.run_ids.len()))
                        && unit.rows.iter().all(|row| {
                            in_range(row.run, self.run_ids.len())
                                && in_range(row.items, self.item_sets.len())
                                && self
                                    .fact_columns
                                    .get(row.facts as usize)
                                    .is_some_and(|column| {
                                        row.facts == NO_FACT_COLUMN
                                            || column.len()
                                                == self.item_sets[row.items as usize].len()
                                    })
                                && row.statuses.is_consistent()
                                && row.statuses.len() == self.item_sets[row.items as usize].len()
                                && row
                                    .scores
                                    .len()
                                    .is_none_or(|length| length == row.statuses.len())
                        })
                })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_damaged_snapshot_is_none() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let path = folder.path().join("snapshot");
        let snapshot = Snapshot {
            stores: vec!["store".to_owned()],
            run_ids: vec!["r".to_owned(); 50],
            ..Snapshot::default()
        };
        snapshot.save(&path).expect("a writable folder");
        assert_eq!(Snapshot::stores_of(&path), Some(vec!["store".to_owned()]));
        assert_eq!(
            Snapshot::load(&path).expect("just written").run_ids.len(),
            50
        );
        let bytes = fs::read(&path).expect("just written");
        for cut in [0, 1, bytes.len() / 2, bytes.len() - 1] {
            fs::write(&path, &bytes[..cut]).expect("a writable folder");
            assert!(Snapshot::load(&path).is_none(), "cut at {cut}");
        }
        for place in 0..bytes.len() {
            let mut damaged = bytes.clone();
            damaged[place] ^= 0x10;
            fs::write(&path, &damaged).expect("a writable folder");
            if let Some(read) = Snapshot::load(&path) {
                assert_eq!(read.run_ids, snapshot.run_ids, "flipped a bit at {place}");
            }
        }
    }
}
