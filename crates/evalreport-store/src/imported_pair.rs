//! Imported runs: one sealed pair of files per source.
//!
//! The items are written to a temporary file while the source is read. The pair is complete when `<key>.runs.jsonl` exists, which is
//! written last.

use std::collections::HashMap;
use std::fs;
use std::io::{self, BufReader, BufWriter, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use tempfile::NamedTempFile;

use crate::domain::{ItemDetails, ItemOutcome, Problem, Problems, Run, RunId, Secrets};
use crate::files::{self, BoundedReader, ReadAllowance};

use super::added::AddedRecords;
use super::header::StoredHeader;
use super::seal::{self, RunningDigest, Seal};
use super::{Store, StoreError, durable, for_each_line, header, item_line};

/// Fast enough to keep up with a CSV reader. Compresses text to about a twentieth.
const COMPRESSION_LEVEL: i32 = 3;
/// Suffix of a pair's header file.
const RUNS_SUFFIX: &str = ".runs.jsonl";
/// Bytes per call of the compressor, because a call costs as much as a line.
const WRITE_BUFFER_BYTES: usize = 64 << 10;

/// Writes one pair. Dropping it without [`SealedWriter::commit`] leaves nothing behind.
pub struct SealedWriter {
    items_path: PathBuf,
    runs_path: PathBuf,
    items: BufWriter<zstd::Encoder<'static, NamedTempFile>>,
    line: String,
    /// Redacted from every line.
    secrets: Arc<Secrets>,
    /// Digests of each run's lines.
    sums: HashMap<RunId, RunningDigest>,
    /// The store's folder, and the note of what is added to it.
    root: PathBuf,
    added: AddedRecords,
}

impl SealedWriter {
    /// Creates the pair named `key`, the lower-case hex digest of the imported content.
    pub fn create(store: &Store, key: &str) -> Result<Self, StoreError> {
        let folder = store.imports_dir();
        fs::create_dir_all(&folder).map_err(StoreError::io("cannot create", &folder))?;
        let file = files::create_temporary_in(&folder)
            .map_err(StoreError::io("cannot write in", &folder))?;
        let mut items = zstd::Encoder::new(file, COMPRESSION_LEVEL)
            .map_err(StoreError::io("cannot write in", &folder))?;
        items
            .include_checksum(true)
            .map_err(StoreError::io("cannot write in", &folder))?;
        Ok(Self {
            items_path: folder.join(format!("{key}.items.jsonl.zst")),
            runs_path: folder.join(format!("{key}.runs.jsonl")),
            items: BufWriter::with_capacity(WRITE_BUFFER_BYTES, items),
            line: String::new(),
            secrets: Arc::clone(store.secrets()),
            sums: HashMap::new(),
            root: store.root().to_owned(),
            added: store.added_records().clone(),
        })
    }

    /// Returns whether the pair is already in the store.
    pub fn pair_exists(store: &Store, key: &str) -> bool {
        Self::existing_runs_path(store, key).is_some()
    }

    /// Returns the path of the pair's runs, if the pair is already in the store.
    pub fn existing_runs_path(store: &Store, key: &str) -> Option<PathBuf> {
        Some(store.imports_dir().join(format!("{key}.runs.jsonl"))).filter(|path| path.exists())
    }

    pub fn write_item(&mut self, outcome: &ItemOutcome) -> Result<(), StoreError> {
        self.line.clear();
        item_line::write_item_line(outcome, true, &mut self.line);
        self.write_line(&outcome.run)
    }

    /// Appends an outcome with its details.
    pub fn write_item_with_details(
        &mut self,
        outcome: &ItemOutcome,
        details: &ItemDetails,
    ) -> Result<(), StoreError> {
        self.line.clear();
        item_line::write_detailed_line(outcome, details, true, &mut self.line);
        self.write_line(&outcome.run)
    }

    /// Appends a run's line unchanged, because it was sealed elsewhere.
    pub(super) fn write_sealed_item(&mut self, run: &RunId, line: &str) -> Result<(), StoreError> {
        self.line.clear();
        self.line.push_str(line);
        self.line.push('\n');
        self.write_line(run)
    }

    fn write_line(&mut self, run: &RunId) -> Result<(), StoreError> {
        let line = self.secrets.hide(&self.line);
        match self.sums.get_mut(run) {
            Some(sum) => sum.add(line.as_bytes()),
            None => self
                .sums
                .entry(run.clone())
                .or_default()
                .add(line.as_bytes()),
        }
        self.items
            .write_all(line.as_bytes())
            .map_err(StoreError::io("cannot write", &self.items_path))
    }

    /// Commits the pair: first the items, then the runs.
    pub fn commit(mut self, runs: &[Run]) -> Result<(), StoreError> {
        let mut lines = String::new();
        for run in runs {
            let seal = Seal {
                items: self.sums.remove(&run.id).and_then(|sum| sum.to_prefix()),
                ..Seal::default()
            };
            lines.push_str(&seal.seal_record(&self.secrets.hide(&header::to_json(run))));
            lines.push('\n');
        }
        self.write_pair(&lines)
    }

    /// Commits the pair with headers sealed by another store. Fails if the outcomes differ from the sealed ones.
    pub(super) fn commit_headers(mut self, runs: &[StoredHeader]) -> Result<(), StoreError> {
        let mut lines = String::new();
        for written in runs {
            let items = self
                .sums
                .remove(&written.run.id)
                .and_then(|sum| sum.to_prefix());
            if written
                .sealed
                .as_ref()
                .is_some_and(|sealed| sealed.seal.items != items)
            {
                let message = format!(
                    "the outcomes of the run `{}` were changed after they were sealed",
                    written.run.id
                );
                return Err(StoreError::Invalid(Problems(vec![Problem::in_file(
                    "", message,
                )])));
            }
            lines.push_str(&seal::with_carried(
                &written.header_text(),
                written.run.carried.as_ref(),
            ));
            lines.push('\n');
        }
        self.write_pair(&lines)
    }

    fn write_pair(self, lines: &str) -> Result<(), StoreError> {
        let encoder = self.items.into_inner().map_err(|error| {
            StoreError::io("cannot write", &self.items_path)(error.into_error())
        })?;
        let items = encoder
            .finish()
            .map_err(StoreError::io("cannot write", &self.items_path))?;
        // An items file without its runs is left over from a crashed import of the same source. It is replaced.
        items
            .as_file()
            .sync_all()
            .map_err(StoreError::io("cannot sync", &self.items_path))?;
        items
            .persist(&self.items_path)
            .map_err(|error| StoreError::io("cannot write", &self.items_path)(error.error))?;
        durable::create_new(&self.runs_path, lines.as_bytes())
            .map_err(StoreError::io("cannot write", &self.runs_path))?;
        self.added
            .note_file(&self.root, &self.runs_path, lines.as_bytes());
        Ok(())
    }
}

impl Store {
    /// Returns whether a sealed pair of this store has the run.
    pub fn has_sealed(&self, id: &RunId) -> Result<bool, StoreError> {
        let folder = self.imports_dir();
        let cannot = StoreError::io("cannot read", &folder);
        let Some(entries) = files::missing_as_none(fs::read_dir(&folder)).map_err(cannot)? else {
            return Ok(false);
        };
        // Nearly all lines are of other runs and need no parsing.
        let named = memchr::memmem::Finder::new(id.as_str());
        for entry in entries {
            let path = entry
                .map_err(StoreError::io("cannot read", &folder))?
                .path();
            let is_runs = path
                .file_name()
                .and_then(|name| name.to_str())
                .is_some_and(|name| !name.starts_with('.') && name.ends_with(RUNS_SUFFIX));
            if !is_runs {
                continue;
            }
            let name = path.display().to_string();
            let mut is_there = false;
            let read = files::open(&path).and_then(|file| {
                for_each_line(BufReader::with_capacity(1 << 20, file), |_, line| {
                    let line = line
                        .ok()
                        .filter(|line| !is_there && named.find(line).is_some());
                    is_there |= line.is_some_and(|line| {
                        header::parse_header(line, &name, None, None).is_ok_and(|run| run.id == *id)
                    });
                })
            });
            read.map_err(StoreError::io("cannot read", &path))?;
            if is_there {
                return Ok(true);
            }
        }
        Ok(false)
    }
}

/// Opens the items of a pair for reading.
pub struct SealedReader;

impl SealedReader {
    pub fn open_items(path: &Path) -> io::Result<impl Read + use<>> {
        let file = files::open(path)?;
        let left = ReadAllowance::of_file(file.metadata()?.len());
        Ok(BoundedReader::new(zstd::Decoder::new(file)?, &left))
    }

    /// Reads the runs of a pair, and all problems of the file.
    pub fn read_runs(path: &Path) -> (Vec<Run>, Vec<Problem>) {
        let name = path.display().to_string();
        let read = Self::parse_lines(path, |line, number| {
            header::parse_header(line, &name, Some(number), None)
        });
        read.unwrap_or_else(|error| (Vec::new(), vec![Problem::unread_file(&name, &error)]))
    }

    /// Reads the runs of a pair with their sealed headers. A changed header gives an error for its run.
    pub(super) fn read_stored_headers(
        path: &Path,
    ) -> io::Result<Vec<(Run, Result<StoredHeader, Problems>)>> {
        let name = path.display().to_string();
        let read = Self::parse_lines(path, |line, number| {
            let run = header::parse_header(line, &name, Some(number), None)?;
            Ok((run, StoredHeader::parse(line, &name, Some(number), None)))
        });
        // Callers have already reported invalid lines.
        read.map(|(runs, _)| runs)
    }

    fn parse_lines<T>(
        path: &Path,
        parse: impl Fn(&[u8], usize) -> Result<T, Problems>,
    ) -> io::Result<(Vec<T>, Vec<Problem>)> {
        let name = path.display().to_string();
        let (mut runs, mut problems) = (Vec::new(), Vec::new());
        for_each_line(
            BufReader::new(files::open(path)?),
            |number, line| match line {
                Ok(line) => match parse(line, number) {
                    Ok(run) => runs.push(run),
                    Err(found) => problems.extend(found.0),
                },
                Err(problem) => problems.push(Problem::at_line(&name, number, problem.message())),
            },
        )?;
        Ok((runs, problems))
    }
}
