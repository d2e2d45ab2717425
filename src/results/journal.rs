//! A run's journals while the run is going on.

use std::collections::BTreeSet;
use std::fs::{self};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::domain::{ItemDetails, ItemOutcome, RunId, Secrets};
use crate::files;

use super::appended::Appended;
use super::seal::{self, Prefix, Seal, Tree};
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
    /// Taken out of every line.
    secrets: Arc<Secrets>,
}

impl Journal {
    /// Opens the journals of a run that has no header, and drops what a crash left half-written.
    ///
    /// Fails where another process holds them, or has committed the run since the caller looked: what is committed stays as it is.
    pub(super) fn open(run_dir: &Path, header: &Path, run: &RunId, secrets: Arc<Secrets>) -> Result<Self, StoreError> {
        let refuse_committed = || match header.try_exists() {
            Ok(false) => Ok(()),
            Ok(true) => Err(StoreError::Exists { id: run.to_string(), path: header.to_owned() }),
            Err(error) => Err(StoreError::io("cannot look for", header)(error)),
        };
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
        let mut journal = Self { run: run.clone(), items, transcript, scores: None, secrets };
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
        files::if_there(fs::remove_file(&scores)).map(|_| ()).map_err(StoreError::io("cannot delete", &scores))
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
        scores.append(self.secrets.hide(&score.to_line()).as_bytes())
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
        self.items.append(self.secrets.hide(&line).as_bytes())
    }

    /// Appends messages and tool calls, which are written before what was concluded from them.
    pub fn append_transcript(&mut self, item: Option<&str>, entries: &[serde_json::Value]) -> Result<(), StoreError> {
        let mut bytes = Vec::new();
        for entry in entries {
            let line = TranscriptLine { item: item.map(str::to_owned), entry: entry.clone() };
            serde_json::to_writer(&mut bytes, &line).expect("a JSON value is JSON");
            bytes.push(b'\n');
        }
        if bytes.is_empty() { Ok(()) } else { self.transcript.append(&self.secrets.hide_bytes(&bytes)) }
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

    /// Seals what was written.
    pub(super) fn seal(&self) -> Result<Seal, StoreError> {
        let output = self.items.path.with_file_name(seal::OUTPUT);
        Ok(Seal {
            items: self.items.prefix()?,
            // Also those that were written before the run was gone on with.
            scores: Prefix::of_file(&self.scores_path()).map_err(StoreError::io("cannot read", &self.scores_path()))?,
            transcript: self.transcript.prefix()?,
            output: Tree::of(&output).map_err(StoreError::io("cannot read", &output))?,
        })
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

/// Says whether a process holds the journal of a run without a header.
pub(super) fn is_in_flight(run_dir: &Path) -> bool {
    files::open(run_dir.join("items.jsonl")).is_ok_and(|file| matches!(file.try_lock_shared(), Err(fs::TryLockError::WouldBlock)))
}
