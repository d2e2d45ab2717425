//! The journals of a run in progress.

use std::collections::BTreeSet;
use std::fs::{self};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::domain::{ItemDetails, ItemOutcome, RunId, Secrets};
use crate::files;

use super::append_log::AppendLog;
use super::seal::{self, FilePrefix, FolderDigest, Seal};
use super::{ItemLine, ScoreLine, StoreError, durable, item_line};

/// One message or tool call, in chronological order.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TranscriptLine {
    /// Its item. Absent if the run is one piece of work.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub item: Option<String>,
    pub entry: serde_json::Value,
}

/// Appends to `<id>/items.jsonl`, `<id>/transcript.jsonl` and, once something is scored, `<id>/scores.jsonl`. Holds the lock of the first,
/// so that other processes can tell a run in progress from an abandoned one.
#[derive(Debug)]
pub struct RunJournal {
    run: RunId,
    items: AppendLog,
    transcript: AppendLog,
    /// Opened for the first score, because most runs have none.
    scores: Option<AppendLog>,
    /// Redacted from every line.
    secrets: Arc<Secrets>,
}

impl RunJournal {
    /// Opens the journals of a run without a header, and drops half lines of a crash.
    ///
    /// Fails if another process has the lock, or has committed the run since the caller looked: a committed run never changes.
    pub(super) fn open(
        run_dir: &Path,
        header: &Path,
        run: &RunId,
        secrets: Arc<Secrets>,
    ) -> Result<Self, StoreError> {
        let refuse_committed = || match header.try_exists() {
            Ok(false) => Ok(()),
            Ok(true) => Err(StoreError::Exists {
                id: run.to_string(),
                path: header.to_owned(),
            }),
            Err(error) => Err(StoreError::io("cannot look for", header)(error)),
        };
        refuse_committed()?;
        fs::create_dir_all(run_dir).map_err(StoreError::io("cannot create", run_dir))?;
        let items = AppendLog::open(run_dir.join("items.jsonl"))?;
        items.lock_for_run(run)?;
        // The previous lock owner may have finished the run between opening and locking.
        refuse_committed()?;
        durable::drop_temporary_in(run_dir).map_err(StoreError::io("cannot clean", run_dir))?;
        let transcript = AppendLog::open(run_dir.join("transcript.jsonl"))?;
        durable::sync_folder(run_dir).map_err(StoreError::io("cannot sync", run_dir))?;
        if let Some(store) = run_dir.parent() {
            durable::sync_folder(store).map_err(StoreError::io("cannot sync", store))?;
        }
        let mut journal = Self {
            run: run.clone(),
            items,
            transcript,
            scores: None,
            secrets,
        };
        journal.items.drop_cut_line()?;
        journal.transcript.drop_cut_line()?;
        journal.drop_damaged_lines()?;
        Ok(journal)
    }

    /// Drops everything from the first invalid line on: after a power cut, parts of the file may never have been written.
    fn drop_damaged_lines(&mut self) -> Result<(), StoreError> {
        let mut whole = 0;
        for line in self.items.read_lines()? {
            if self.parse_outcome(&line).is_none() {
                return self.items.truncate_to(whole);
            }
            whole += line.len() as u64 + 1;
        }
        Ok(())
    }

    fn parse_outcome(&self, line: &[u8]) -> Option<ItemOutcome> {
        ItemLine::parse(line).ok()?.to_outcome(&self.run).ok()
    }

    /// Reads the outcomes decided so far.
    pub fn read_outcomes(&self) -> Result<Vec<(ItemOutcome, ItemDetails)>, StoreError> {
        let lines = self.items.read_lines()?;
        Ok(lines
            .iter()
            .map_while(|line| Some((self.parse_outcome(line)?, details_of(line))))
            .collect())
    }

    /// Deletes all content, so that the run starts again.
    pub fn clear(&mut self) -> Result<(), StoreError> {
        self.items.truncate_to(0)?;
        self.transcript.truncate_to(0)?;
        self.scores = None;
        let scores = self.scores_path();
        files::missing_as_none(fs::remove_file(&scores))
            .map(|_| ())
            .map_err(StoreError::io("cannot delete", &scores))
    }

    fn scores_path(&self) -> PathBuf {
        self.items.path.with_file_name("scores.jsonl")
    }

    /// Appends one score, after the items that the evaluator decided.
    pub fn append_score(&mut self, score: &ScoreLine) -> Result<(), StoreError> {
        let scores = match &mut self.scores {
            Some(scores) => scores,
            none => none.insert(AppendLog::open(
                self.items.path.with_file_name("scores.jsonl"),
            )?),
        };
        scores.append(self.secrets.hide(&score.to_line()).as_bytes())
    }

    /// Drops the transcript of undecided items, because they will be asked again.
    pub fn retain_transcript_of(&mut self, items: &BTreeSet<String>) -> Result<(), StoreError> {
        let lines = self.transcript.read_lines()?;
        let is_kept = |line: &Vec<u8>| {
            serde_json::from_slice::<TranscriptLine>(line)
                .is_ok_and(|line| line.item.is_none_or(|item| items.contains(&item)))
        };
        let kept: Vec<&Vec<u8>> = lines.iter().filter(|line| is_kept(line)).collect();
        if kept.len() == lines.len() {
            return Ok(());
        }
        let bytes: Vec<u8> = kept
            .into_iter()
            .flat_map(|line| line.iter().copied().chain([b'\n']))
            .collect();
        self.transcript.replace_content(&bytes)
    }

    /// Appends one outcome with one write, so that a crash leaves whole lines and at most one half line.
    pub fn append_outcome(
        &mut self,
        outcome: &ItemOutcome,
        details: &ItemDetails,
    ) -> Result<(), StoreError> {
        let mut line = String::new();
        item_line::write_journal_line_with(outcome, details, &mut line);
        self.items.append(self.secrets.hide(&line).as_bytes())
    }

    /// Appends messages and tool calls. They are written before the outcomes based on them.
    pub fn append_transcript(
        &mut self,
        item: Option<&str>,
        entries: &[serde_json::Value],
    ) -> Result<(), StoreError> {
        let mut bytes = Vec::new();
        for entry in entries {
            let line = TranscriptLine {
                item: item.map(str::to_owned),
                entry: entry.clone(),
            };
            serde_json::to_writer(&mut bytes, &line).expect("a JSON value is JSON");
            bytes.push(b'\n');
        }
        if bytes.is_empty() {
            Ok(())
        } else {
            self.transcript.append(&self.secrets.hide_bytes(&bytes))
        }
    }

    /// Sorts the outcomes by `rank`, whatever order they were decided in. The run has no header yet, so nobody reads them.
    pub fn sort_by_key(&mut self, rank: impl Fn(&ItemOutcome) -> usize) -> Result<(), StoreError> {
        let decided = self.read_outcomes()?;
        if decided.is_sorted_by_key(|(outcome, _)| rank(outcome)) {
            return Ok(());
        }
        let mut sorted = decided;
        sorted.sort_by_key(|(outcome, _)| rank(outcome));
        let mut text = String::new();
        for (outcome, details) in &sorted {
            item_line::write_journal_line_with(outcome, details, &mut text);
        }
        self.items.replace_content(text.as_bytes())
    }

    /// Returns the seal of the written files.
    pub(super) fn seal_files(&self) -> Result<Seal, StoreError> {
        let output = self.items.path.with_file_name(seal::OUTPUT_FOLDER);
        Ok(Seal {
            items: self.items.read_prefix()?,
            // Includes scores written before the run was resumed.
            scores: FilePrefix::from_file(&self.scores_path())
                .map_err(StoreError::io("cannot read", &self.scores_path()))?,
            transcript: self.transcript.read_prefix()?,
            output: FolderDigest::from_folder(&output)
                .map_err(StoreError::io("cannot read", &output))?,
        })
    }

    /// Makes what was appended survive a power cut.
    pub fn sync(&self) -> Result<(), StoreError> {
        self.transcript.sync()?;
        self.items.sync()?;
        self.scores.as_ref().map_or(Ok(()), AppendLog::sync)
    }
}

/// Reads the details of one line of an item journal. Empty if it has none.
pub fn details_of(line: &[u8]) -> ItemDetails {
    #[derive(Default, Deserialize)]
    struct LineWithDetails {
        #[serde(default)]
        details: ItemDetails,
    }
    // Most lines have no details and need no full parsing.
    match memchr::memmem::find(line, b"details") {
        Some(_) => {
            serde_json::from_slice::<LineWithDetails>(line)
                .unwrap_or_default()
                .details
        }
        None => ItemDetails::default(),
    }
}

/// Returns whether a process has the lock of a run's journal.
pub(super) fn is_in_flight(run_dir: &Path) -> bool {
    files::open(run_dir.join("items.jsonl"))
        .is_ok_and(|file| matches!(file.try_lock_shared(), Err(fs::TryLockError::WouldBlock)))
}
