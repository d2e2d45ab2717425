//! Judgements of an imported run, unpacked from a bundle.

use std::fs::File;
use std::io::{self, BufWriter};
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::super::seal::Seal;
use super::super::{ItemLine, ScoreLine, verify_digests};
use super::record::{append_line, parse_record};
use crate::domain::{RunId, ScoreRecord};

/// The first record of an imported run's judgements.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct JudgementsHeader {
    pub run: String,
}

/// An imported run of this bundle, with the data that its judgements need.
pub(super) struct ImportedRun {
    pub scores: Vec<ScoreRecord>,
    pub is_sealed: bool,
}

pub(super) struct JudgementsSection {
    run: RunId,
    /// The run's folder, or `None` if it is not wanted.
    folder: Option<PathBuf>,
    items: Option<BufWriter<File>>,
    scores: Option<BufWriter<File>>,
}

impl JudgementsSection {
    pub fn new(run: RunId, folder: Option<PathBuf>) -> Self {
        Self {
            run,
            folder,
            items: None,
            scores: None,
        }
    }

    pub fn run_id(&self) -> &RunId {
        &self.run
    }

    /// Takes one outcome unchanged, because the seals of the scores cover its bytes.
    pub fn take_item(&mut self, record: &[u8], item: &ItemLine<'_>) -> Result<(), String> {
        if item
            .run
            .as_ref()
            .is_some_and(|named| named != self.run.as_str())
        {
            return Err("is of another run than the lines before it".to_owned());
        }
        append_line(
            self.folder.as_deref(),
            "items.jsonl",
            &mut self.items,
            &to_line(record),
        )
    }

    pub fn take_score(&mut self, record: &[u8]) -> Result<(), String> {
        parse_record::<ScoreLine>(record, "is not what an evaluator said")?;
        append_line(
            self.folder.as_deref(),
            "scores.jsonl",
            &mut self.scores,
            &to_line(record),
        )
    }

    /// Closes the files and checks their seals. `of` is the imported run, if it is new. Returns the run's id if its folder was written.
    pub fn finish(self, of: Option<&ImportedRun>) -> Result<Option<RunId>, String> {
        for file in [self.items, self.scores].into_iter().flatten() {
            let synced = file
                .into_inner()
                .map_err(io::IntoInnerError::into_error)
                .and_then(|file| file.sync_all());
            synced.map_err(|error| format!("cannot be unpacked: {error}"))?;
        }
        let (Some(of), Some(folder)) = (of, self.folder.filter(|folder| folder.is_dir())) else {
            return Ok(None);
        };
        let nothing = Seal::default();
        let changes = verify_digests::find_changes(
            of.is_sealed.then_some(&nothing),
            &of.scores,
            &[],
            &folder,
        );
        match changes
            .map_err(|error| format!("cannot be read again: {error}"))?
            .first()
        {
            Some(change) => Err(format!(
                "ends the judgements of run `{}`, which are not as they were sealed: {}",
                self.run, change.message
            )),
            None => Ok(Some(self.run)),
        }
    }
}

fn to_line(record: &[u8]) -> String {
    format!("{}\n", String::from_utf8_lossy(record))
}
