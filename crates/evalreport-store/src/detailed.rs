//! A committed run's item lines with all details.

use std::io::BufReader;
use std::path::PathBuf;

use crate::domain::{ItemDetails, ItemOutcome, RunId, ScoreRecord, latest_outcome_revision};
use crate::files;

use super::{
    ItemLine, ScoreLine, Store, StoreError, TranscriptLine, details_of, for_each_line, presence,
};

impl Store {
    /// Reads the outcomes of an own run with their details, in line order. Returns `None` if this store has no item lines of the run.
    ///
    /// Of re-judged outcomes only the current revision is included, of other outcomes all revisions. Unreadable lines are skipped; opening
    /// the store reports them.
    pub fn read_detailed_items(
        &self,
        id: &RunId,
    ) -> Result<Option<Vec<(ItemOutcome, ItemDetails)>>, StoreError> {
        if !self.has_run(id)? {
            return Ok(None);
        }
        let mut items = self.read_all_items(id)?;
        if let Some(items) = &mut items {
            let scores: Vec<ScoreRecord> =
                ScoreLine::read_all(&self.scores_path(id), &mut Vec::new())
                    .into_iter()
                    .map(|line| line.score)
                    .collect();
            items.retain(|(outcome, _)| {
                latest_outcome_revision(&outcome.evaluator, &scores)
                    .is_none_or(|standing| outcome.revision == standing)
            });
        }
        Ok(items)
    }

    /// Reads the outcomes that a run has so far, whether it is committed or not.
    pub fn read_items_so_far(
        &self,
        id: &RunId,
    ) -> Result<Vec<(ItemOutcome, ItemDetails)>, StoreError> {
        Ok(self.read_all_items(id)?.unwrap_or_default())
    }

    /// Reads the outcomes of every revision in a run's folder.
    pub(super) fn read_all_items(
        &self,
        id: &RunId,
    ) -> Result<Option<Vec<(ItemOutcome, ItemDetails)>>, StoreError> {
        let path = self.run_dir(id).join("items.jsonl");
        if !presence::is_file(&path).map_err(StoreError::io("cannot look for", &path))? {
            return Ok(None);
        }
        let cannot = StoreError::io("cannot read", &path);
        let mut items = Vec::new();
        let read = files::open(&path).and_then(|file| {
            for_each_line(BufReader::new(file), |_, line| {
                let Ok(line) = line else { return };
                if let Some(outcome) = ItemLine::parse(line)
                    .ok()
                    .and_then(|item| item.to_outcome(id).ok())
                {
                    items.push((outcome, details_of(line)));
                }
            })
        });
        read.map_err(cannot)?;
        Ok(Some(items))
    }

    /// Returns the file of a run's messages and tool calls, or `None` if it is missing or empty.
    pub fn transcript_path(&self, id: &RunId) -> Result<Option<PathBuf>, StoreError> {
        let path = self.run_dir(id).join("transcript.jsonl");
        let has_some =
            presence::is_filled(&path).map_err(StoreError::io("cannot look for", &path))?;
        Ok(has_some.then_some(path))
    }

    /// Reads a run's messages and tool calls in order. Empty if there are none. Unreadable lines are skipped.
    pub fn read_transcript(&self, id: &RunId) -> Result<Vec<TranscriptLine>, StoreError> {
        let Some(path) = self.transcript_path(id)? else {
            return Ok(Vec::new());
        };
        let mut lines = Vec::new();
        let read = files::open(&path).and_then(|file| {
            for_each_line(BufReader::new(file), |_, line| {
                lines.extend(
                    line.ok()
                        .and_then(|line| serde_json::from_slice::<TranscriptLine>(line).ok()),
                );
            })
        });
        read.map_err(StoreError::io("cannot read", &path))?;
        Ok(lines)
    }

    /// Returns the folder of a run's artefacts, or `None` if they were not kept.
    pub fn output_path(&self, id: &RunId) -> Result<Option<PathBuf>, StoreError> {
        let path = self.run_dir(id).join("output");
        let is_there =
            presence::is_folder(&path).map_err(StoreError::io("cannot look for", &path))?;
        Ok(is_there.then_some(path))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::{ItemStatus, Run};

    #[test]
    fn lines_come_with_their_details_and_bad_ones_are_left_out() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let store = Store::new(folder.path());
        let id = RunId::parse("r1").expect("a valid id");
        let line = |item: &str, more: &str| {
            format!(
                "{{\"item\":\"{item}\",\"kind\":\"question\",\"evaluator\":\"answers\",\"attempt\":1,\"revision\":0,\"status\":\"fail\"{more}}}\n"
            )
        };
        let text = [
            line(
                "a",
                ",\"details\":{\"reason\":\"missing\",\"expected\":[\"x\"]}",
            ),
            "nonsense\n".to_owned(),
            line("b", ""),
        ]
        .concat();
        std::fs::create_dir(store.run_dir(&id)).expect("writable");
        std::fs::write(store.run_dir(&id).join("items.jsonl"), text).expect("writable");
        assert_eq!(
            store.read_detailed_items(&id).expect("readable"),
            None,
            "a run without a header is nobody's to read"
        );

        store
            .save_run(&Run::new(id.clone(), "s", "a", "m"))
            .expect("writable");
        let items = store
            .read_detailed_items(&id)
            .expect("readable")
            .expect("there are lines");
        let names: Vec<(&str, ItemStatus)> = items
            .iter()
            .map(|(outcome, _)| (outcome.item.as_str(), outcome.status))
            .collect();
        assert_eq!(names, [("a", ItemStatus::Fail), ("b", ItemStatus::Fail)]);
        assert_eq!(
            (items[0].1.reason.as_deref(), items[0].1.expected.as_slice()),
            (Some("missing"), &["x".to_owned()][..])
        );
        assert_eq!(items[1].1, ItemDetails::default());
        assert!(matches!(
            (store.transcript_path(&id), store.output_path(&id)),
            (Ok(None), Ok(None))
        ));
        std::fs::write(store.run_dir(&id).join("transcript.jsonl"), "{}\n").expect("writable");
        assert!(matches!(store.transcript_path(&id), Ok(Some(_))));
        // If the system cannot answer, that is an error: here a link that leads to itself.
        #[cfg(unix)]
        {
            std::os::unix::fs::symlink("output", store.run_dir(&id).join("output"))
                .expect("writable");
            assert!(store.output_path(&id).is_err());
        }
    }
}
