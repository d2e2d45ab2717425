//! A run's journals while the run is going on.

use std::collections::BTreeSet;
use std::fs::{self, File, OpenOptions};
use std::io::{self, BufRead, BufReader, BufWriter, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::domain::{ItemDetails, ItemOutcome, RunId};

use super::{ItemLine, ScoreLine, StoreError, durable, item_line};

/// One message or tool call, in the order they came.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TranscriptLine {
    /// The item it belongs to; none where the run is one piece of work.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub item: Option<String>,
    pub entry: serde_json::Value,
}

/// Appends to `<id>/items.jsonl`, `<id>/transcript.jsonl` and, once something is scored, `<id>/scores.jsonl`. Holds the lock of the first,
/// so that others can tell a run in flight from an abandoned one.
#[derive(Debug)]
pub struct Journal {
    run: RunId,
    items: Appended,
    transcript: Appended,
    /// Opened with the first score: most runs have none.
    scores: Option<Appended>,
}

impl Journal {
    /// Opens the journals of a run that has no header, and drops what a crash left half-written.
    ///
    /// Fails where another process holds them, or has committed the run since the caller looked: what is committed stays as it is.
    pub(super) fn open(run_dir: &Path, header: &Path, run: &RunId) -> Result<Self, StoreError> {
        let refuse_committed =
            || if header.exists() { Err(StoreError::Exists { id: run.to_string(), path: header.to_owned() }) } else { Ok(()) };
        refuse_committed()?;
        fs::create_dir_all(run_dir).map_err(StoreError::io("cannot create", run_dir))?;
        let items = Appended::open(run_dir.join("items.jsonl"))?;
        items.lock(run)?;
        // Whoever held it may have finished the run between the opening and the lock.
        refuse_committed()?;
        durable::drop_temporary_in(run_dir).map_err(StoreError::io("cannot clean", run_dir))?;
        let transcript = Appended::open(run_dir.join("transcript.jsonl"))?;
        durable::sync_folder(run_dir).map_err(StoreError::io("cannot sync", run_dir))?;
        if let Some(store) = run_dir.parent() {
            durable::sync_folder(store).map_err(StoreError::io("cannot sync", store))?;
        }
        let mut journal = Self { run: run.clone(), items, transcript, scores: None };
        journal.items.drop_cut_line()?;
        journal.transcript.drop_cut_line()?;
        journal.drop_damaged_lines()?;
        Ok(journal)
    }

    /// Drops the first line that is none, with everything after it: after a power cut, parts of the file may never have been written.
    fn drop_damaged_lines(&mut self) -> Result<(), StoreError> {
        let mut whole = 0;
        for line in self.items.lines()? {
            if self.outcome(&line).is_none() {
                return self.items.cut(whole);
            }
            whole += line.len() as u64 + 1;
        }
        Ok(())
    }

    fn outcome(&self, line: &[u8]) -> Option<ItemOutcome> {
        ItemLine::parse(line).ok()?.to_outcome(&self.run).ok()
    }

    /// Reads what was decided before.
    pub fn decided(&self) -> Result<Vec<(ItemOutcome, ItemDetails)>, StoreError> {
        let lines = self.items.lines()?;
        Ok(lines.iter().map_while(|line| Some((self.outcome(line)?, details_of(line)))).collect())
    }

    /// Forgets everything: the run begins again.
    pub fn clear(&mut self) -> Result<(), StoreError> {
        self.items.cut(0)?;
        self.transcript.cut(0)?;
        self.scores = None;
        let scores = self.scores_path();
        match fs::remove_file(&scores) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(StoreError::io("cannot delete", &scores)(error)),
            Ok(()) | Err(_) => Ok(()),
        }
    }

    fn scores_path(&self) -> PathBuf {
        self.items.path.with_file_name("scores.jsonl")
    }

    /// Appends what one evaluator said; the items it decided on come before it.
    pub fn append_score(&mut self, score: &ScoreLine) -> Result<(), StoreError> {
        let scores = match &mut self.scores {
            Some(scores) => scores,
            none => none.insert(Appended::open(self.items.path.with_file_name("scores.jsonl"))?),
        };
        scores.append(score.to_line().as_bytes())
    }

    /// Drops the transcript of items that were not decided: they will be asked again.
    pub fn keep_transcript_of(&mut self, items: &BTreeSet<String>) -> Result<(), StoreError> {
        let lines = self.transcript.lines()?;
        let is_kept = |line: &Vec<u8>| {
            serde_json::from_slice::<TranscriptLine>(line).is_ok_and(|line| line.item.is_none_or(|item| items.contains(&item)))
        };
        let kept: Vec<&Vec<u8>> = lines.iter().filter(|line| is_kept(line)).collect();
        if kept.len() == lines.len() {
            return Ok(());
        }
        let bytes: Vec<u8> = kept.into_iter().flat_map(|line| line.iter().copied().chain([b'\n'])).collect();
        self.transcript.replace(&bytes)
    }

    /// Appends one outcome with one write, so that a crash leaves whole lines and at most one cut one.
    pub fn append(&mut self, outcome: &ItemOutcome, details: &ItemDetails) -> Result<(), StoreError> {
        let mut line = String::new();
        item_line::write_line_with(outcome, details, &mut line);
        self.items.append(line.as_bytes())
    }

    /// Appends messages and tool calls, which are written before what was concluded from them.
    pub fn append_transcript(&mut self, item: Option<&str>, entries: &[serde_json::Value]) -> Result<(), StoreError> {
        let mut bytes = Vec::new();
        for entry in entries {
            let line = TranscriptLine { item: item.map(str::to_owned), entry: entry.clone() };
            serde_json::to_writer(&mut bytes, &line).expect("a JSON value is JSON");
            bytes.push(b'\n');
        }
        if bytes.is_empty() { Ok(()) } else { self.transcript.append(&bytes) }
    }

    /// Puts the outcomes in the order of `rank`, whatever order they were decided in. The run has no header yet, so nobody reads them.
    pub fn sort_by_key(&mut self, rank: impl Fn(&ItemOutcome) -> usize) -> Result<(), StoreError> {
        let decided = self.decided()?;
        if decided.is_sorted_by_key(|(outcome, _)| rank(outcome)) {
            return Ok(());
        }
        let mut sorted = decided;
        sorted.sort_by_key(|(outcome, _)| rank(outcome));
        let mut text = String::new();
        for (outcome, details) in &sorted {
            item_line::write_line_with(outcome, details, &mut text);
        }
        self.items.replace(text.as_bytes())
    }

    /// Makes what was appended survive a power cut.
    pub fn sync(&self) -> Result<(), StoreError> {
        self.transcript.sync()?;
        self.items.sync()?;
        self.scores.as_ref().map_or(Ok(()), Appended::sync)
    }
}

/// Reads the details of one line of an item journal; empty where it has none.
pub fn details_of(line: &[u8]) -> ItemDetails {
    #[derive(Default, Deserialize)]
    struct Detailed {
        #[serde(default)]
        details: ItemDetails,
    }
    // Most lines have none, and need not be read as a whole for that.
    match memchr::memmem::find(line, b"details") {
        Some(_) => serde_json::from_slice::<Detailed>(line).unwrap_or_default().details,
        None => ItemDetails::default(),
    }
}

/// A file of lines that grows.
#[derive(Debug)]
pub(super) struct Appended {
    path: PathBuf,
    file: File,
    /// Up to here every line is whole.
    length: u64,
}

impl Appended {
    pub(super) fn open(path: PathBuf) -> Result<Self, StoreError> {
        let file = OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .open(&path)
            .map_err(StoreError::io("cannot open", &path))?;
        let length = file.metadata().map_err(StoreError::io("cannot read", &path))?.len();
        Ok(Self { path, file, length })
    }

    /// Takes the file for this process alone, as long as it is open.
    pub(super) fn lock(&self, run: &RunId) -> Result<(), StoreError> {
        let in_flight = || {
            let folder = self.path.parent().unwrap_or(&self.path);
            StoreError::InFlight { id: run.to_string(), path: folder.to_owned() }
        };
        match self.file.try_lock() {
            // Another file may have been put in its place between the opening and the lock.
            Ok(()) if !self.is_current() => Err(in_flight()),
            Ok(()) => Ok(()),
            Err(fs::TryLockError::WouldBlock) => Err(in_flight()),
            Err(fs::TryLockError::Error(error)) => Err(StoreError::io("cannot lock", &self.path)(error)),
        }
    }

    pub(super) fn append(&mut self, bytes: &[u8]) -> Result<(), StoreError> {
        match self.file.seek(SeekFrom::Start(self.length)).and_then(|_| self.file.write_all(bytes)) {
            Ok(()) => {
                self.length += bytes.len() as u64;
                Ok(())
            }
            Err(error) => {
                // A full disk may have taken the first half of the line.
                let _ = self.file.set_len(self.length);
                Err(StoreError::io("cannot append to", &self.path)(error))
            }
        }
    }

    fn cut(&mut self, length: u64) -> Result<(), StoreError> {
        self.file.set_len(length).map_err(StoreError::io("cannot shorten", &self.path))?;
        self.length = length;
        Ok(())
    }

    /// Makes the last line end with a line break: a whole one that another hand left without gets one, half of one goes.
    pub(super) fn end_last_line(&mut self, is_whole: impl Fn(&[u8]) -> bool) -> Result<(), StoreError> {
        let before = self.length;
        let mut ends = [0];
        if before == 0 {
            return Ok(());
        }
        let mut file = &self.file;
        file.seek(SeekFrom::Start(before - 1))
            .and_then(|_| file.read_exact(&mut ends))
            .map_err(StoreError::io("cannot read", &self.path))?;
        if ends == *b"\n" {
            return Ok(());
        }
        if self.lines()?.last().is_some_and(|line| is_whole(line)) { self.append(b"\n") } else { self.drop_cut_line() }
    }

    fn drop_cut_line(&mut self) -> Result<(), StoreError> {
        let mut position = self.length;
        let mut block = vec![0; 64 << 10];
        while position > 0 {
            let start = position.saturating_sub(block.len() as u64);
            let part = &mut block[..usize::try_from(position - start).unwrap_or(0)];
            let mut read = || -> io::Result<()> {
                let mut file = &self.file;
                file.seek(SeekFrom::Start(start))?;
                file.read_exact(part)
            };
            read().map_err(StoreError::io("cannot read", &self.path))?;
            if let Some(end) = memchr::memrchr(b'\n', part) {
                let whole = start + end as u64 + 1;
                return if whole < self.length { self.cut(whole) } else { Ok(()) };
            }
            position = start;
        }
        if self.length > 0 { self.cut(0) } else { Ok(()) }
    }

    fn lines(&self) -> Result<Vec<Vec<u8>>, StoreError> {
        // Through the file that is locked: another handle may be refused where locks are binding.
        let read = || -> io::Result<Vec<Vec<u8>>> {
            let mut file = &self.file;
            file.seek(SeekFrom::Start(0))?;
            BufReader::new(file).split(b'\n').collect()
        };
        read().map_err(StoreError::io("cannot read", &self.path))
    }

    /// Puts other bytes in its place, whole or not at all.
    fn replace(&mut self, bytes: &[u8]) -> Result<(), StoreError> {
        let folder = self.path.parent().unwrap_or(Path::new("."));
        let write = || -> io::Result<File> {
            let mut file = BufWriter::new(durable::temporary_in(folder)?);
            file.write_all(bytes)?;
            let file = file.into_inner().map_err(io::IntoInnerError::into_error)?;
            file.as_file().sync_all()?;
            // Held before it has the name, so that the journal is never without a lock.
            file.as_file().lock()?;
            let file = file.persist(&self.path).map_err(|error| error.error)?;
            durable::sync_folder(folder)?;
            Ok(file)
        };
        let file = write().map_err(StoreError::io("cannot rewrite", &self.path))?;
        self.file = file;
        self.length = bytes.len() as u64;
        Ok(())
    }

    /// Says whether the file still has its name. Where files have no identity, one that is open cannot lose its name either.
    #[cfg(unix)]
    fn is_current(&self) -> bool {
        use std::os::unix::fs::MetadataExt;
        let identity = |metadata: fs::Metadata| (metadata.dev(), metadata.ino());
        self.file.metadata().map(identity).ok() == fs::metadata(&self.path).map(identity).ok()
    }

    #[cfg(not(unix))]
    fn is_current(&self) -> bool {
        self.path.is_file()
    }

    pub(super) fn sync(&self) -> Result<(), StoreError> {
        self.file.sync_all().map_err(StoreError::io("cannot sync", &self.path))
    }
}

/// Says whether a process holds the journal of a run without a header.
pub(super) fn is_in_flight(run_dir: &Path) -> bool {
    File::open(run_dir.join("items.jsonl")).is_ok_and(|file| matches!(file.try_lock_shared(), Err(fs::TryLockError::WouldBlock)))
}
