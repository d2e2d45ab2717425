//! Judging a committed run again: a whole new revision is appended, and earlier ones stay. For an imported run all judgements are stored
//! this way, because its sealed pair does not change.
//!
//! Item lines come first and their score line last, so a revision without its score line is unfinished and does not count.

use std::fs;

use crate::domain::{
    ItemDetails, ItemOutcome, Problem, Problems, RunId, ScoreRecord, latest_revision,
};

use super::append_log::AppendLog;
use super::seal::Seal;
use super::{ItemLine, ScoreLine, Store, StoreError, durable, item_line};

/// All judgements of a run by one evaluator.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Judgements {
    /// All revisions, in the order in which they were written.
    pub scores: Vec<ScoreLine>,
    /// Outcomes of finished revisions.
    pub items: Vec<(ItemOutcome, ItemDetails)>,
    /// The number of the next revision: above 0 and above every existing one, even an unfinished one.
    pub next: u32,
}

impl Judgements {
    /// Returns the current score.
    pub fn latest_score(&self) -> Option<&ScoreLine> {
        latest_revision(&self.scores, |line| line.score.revision)
    }

    /// Returns the outcomes of a revision.
    pub fn items_of_revision(
        &self,
        revision: u32,
    ) -> impl Iterator<Item = &(ItemOutcome, ItemDetails)> {
        self.items
            .iter()
            .filter(move |(outcome, _)| outcome.revision == revision)
    }
}

impl Store {
    /// Reads an evaluator's judgements of a committed or imported run, by revision. Unreadable lines are skipped.
    pub fn read_judgements(&self, id: &RunId, evaluator: &str) -> Result<Judgements, StoreError> {
        let mut problems = Vec::new();
        let all = ScoreLine::read_all(&self.scores_path(id), &mut problems);
        let scores: Vec<ScoreLine> = all
            .into_iter()
            .filter(|line| line.score.metric == evaluator)
            .collect();
        let is_finished = |revision: u32| {
            revision == 0 || scores.iter().any(|line| line.score.revision == revision)
        };
        let mut items = self.read_all_items(id)?.unwrap_or_default();
        items.retain(|(outcome, _)| outcome.evaluator == evaluator);
        let revisions = items
            .iter()
            .map(|(outcome, _)| outcome.revision)
            .chain(scores.iter().map(|line| line.score.revision));
        // Revision 0 belongs to the run itself and counts without a score.
        let next = revisions.max().unwrap_or(0).saturating_add(1);
        items.retain(|(outcome, _)| is_finished(outcome.revision));
        Ok(Judgements {
            scores,
            items,
            next,
        })
    }

    /// Appends one revision of a judgement to a committed or imported run, under the lock of its journal.
    ///
    /// Fails if another process is writing there. After a crash either the whole revision counts or nothing. Returns the revision, which is
    /// a later one if another process has meanwhile used that of the score.
    pub fn append_judgement(
        &self,
        id: &RunId,
        items: &[(ItemOutcome, ItemDetails)],
        score: &ScoreLine,
    ) -> Result<u32, StoreError> {
        if !self.has_run(id)? && !self.has_sealed(id)? {
            let name = self.header_path(id).display().to_string();
            return Err(StoreError::Invalid(Problems(vec![Problem::in_file(
                name,
                "is not there: the run is not finished",
            )])));
        }
        let folder = self.run_dir(id);
        fs::create_dir_all(&folder).map_err(StoreError::io("cannot create", &folder))?;
        durable::sync_folder(self.root()).map_err(StoreError::io("cannot sync", self.root()))?;
        let mut journal = AppendLog::open(folder.join("items.jsonl"))?;
        journal.lock_for_run(id)?;
        journal.end_last_line(|line| ItemLine::parse(line).is_ok())?;
        let mut scores = AppendLog::open(self.scores_path(id))?;
        scores.end_last_line(|line| serde_json::from_slice::<ScoreLine>(line).is_ok())?;
        let revision = free_revision(&score.score, &journal.read_lines()?, &scores.read_lines()?);
        let mut text = String::new();
        for (outcome, details) in items {
            item_line::write_journal_line_with(
                &ItemOutcome {
                    revision,
                    ..outcome.clone()
                },
                details,
                &mut text,
            );
        }
        if !text.is_empty() {
            journal.append(self.secrets().hide(&text).as_bytes())?;
            journal.sync()?;
        }
        // The header's seal covers the files at commit; this seal covers everything up to now.
        let seal = Seal {
            items: journal.read_prefix()?,
            scores: scores.read_prefix()?,
            ..Seal::default()
        };
        let score = ScoreLine {
            score: ScoreRecord {
                revision,
                ..score.score.clone()
            },
            ..score.clone()
        };
        let line = seal.seal_record(self.secrets().hide(&score.to_line()).trim_end());
        scores.append(format!("{line}\n").as_bytes())?;
        scores.sync()?;
        self.added_records()
            .note_line(self.root(), &self.scores_path(id), line.as_bytes());
        durable::sync_folder(&folder).map_err(StoreError::io("cannot sync", &folder))?;
        Ok(revision)
    }
}

/// Returns the revision of a new score, or, if it is taken, the first one above all of its evaluator.
fn free_revision(new: &ScoreRecord, items: &[Vec<u8>], scores: &[Vec<u8>]) -> u32 {
    let items = items.iter().filter_map(|line| ItemLine::parse(line).ok());
    let items = items
        .filter(|item| item.evaluator == new.metric)
        .map(|item| item.revision);
    let scores = scores
        .iter()
        .filter_map(|line| serde_json::from_slice::<ScoreLine>(line).ok())
        .map(|line| line.score);
    let scores = scores
        .filter(|score| score.metric == new.metric)
        .map(|score| score.revision);
    match items.chain(scores).max() {
        Some(highest) if highest >= new.revision => highest.saturating_add(1),
        Some(_) | None => new.revision,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::{Direction, Evaluator, ItemKind, ItemStatus, Run, ScoreRecord, Unit};

    fn id() -> RunId {
        RunId::parse("r1").expect("a valid id")
    }

    fn outcome(item: &str, revision: u32, status: ItemStatus) -> (ItemOutcome, ItemDetails) {
        let outcome = ItemOutcome {
            run: id(),
            kind: ItemKind::Criterion,
            item: item.to_owned(),
            cluster: None,
            category: None,
            attempt: 1,
            status,
            score: None,
            evaluator: Evaluator::RequirementFulfillment.name().to_owned(),
            revision,
            duration_seconds: None,
            cost_usd: None,
            input_tokens: None,
            output_tokens: None,
        };
        (outcome, ItemDetails::default())
    }

    fn score(revision: u32) -> ScoreLine {
        ScoreLine::from_score(ScoreRecord {
            metric: Evaluator::RequirementFulfillment.name().to_owned(),
            value: Some(50.0),
            unit: Unit::Points,
            direction: Direction::Up,
            range: None,
            standard_error: None,
            n: None,
            evaluator: Some("judge #0".to_owned()),
            revision,
        })
    }

    fn committed(folder: &std::path::Path) -> Store {
        let store = Store::new(folder);
        store
            .save_run(&Run::new(id(), "s", "a", "m"))
            .expect("writable");
        store
    }

    fn standing(store: &Store) -> Vec<(String, u32)> {
        let items = store
            .read_detailed_items(&id())
            .expect("readable")
            .unwrap_or_default();
        items
            .into_iter()
            .map(|(outcome, _)| (outcome.item, outcome.revision))
            .collect()
    }

    #[test]
    fn only_whole_revisions_stand() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let store = committed(folder.path());
        store
            .append_judgement(
                &id(),
                &[
                    outcome("a", 0, ItemStatus::Pass),
                    outcome("b", 0, ItemStatus::Fail),
                ],
                &score(0),
            )
            .expect("writable");
        let scores = std::fs::read(store.scores_path(&id())).expect("written");
        assert_eq!(
            store
                .read_judgements(&id(), Evaluator::RequirementFulfillment.name())
                .expect("readable")
                .next,
            1
        );

        // The state after a kill between the item lines and the score line, with a whole and with a half last line.
        store
            .append_judgement(&id(), &[outcome("a", 1, ItemStatus::Fail)], &score(1))
            .expect("writable");
        let whole = std::fs::read(store.scores_path(&id())).expect("written");
        for left in [scores.len(), whole.len() - 10] {
            std::fs::write(store.scores_path(&id()), &whole[..left]).expect("writable");
            assert_eq!(
                standing(&store),
                [("a".to_owned(), 0), ("b".to_owned(), 0)],
                "{left}"
            );
        }

        let next = store
            .read_judgements(&id(), Evaluator::RequirementFulfillment.name())
            .expect("readable")
            .next;
        assert_eq!(next, 2, "an unfinished revision is not gone on with");
        store
            .append_judgement(&id(), &[outcome("a", 2, ItemStatus::Pass)], &score(2))
            .expect("writable");
        assert_eq!(
            standing(&store),
            [("a".to_owned(), 2)],
            "a criterion that is no longer asked for is gone"
        );
        let lines = std::fs::read_to_string(store.scores_path(&id())).expect("text");
        assert_eq!(lines.lines().count(), 2, "{lines}");
    }

    #[test]
    fn a_last_line_without_its_break_is_kept_where_it_is_whole() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let store = committed(folder.path());
        store
            .append_judgement(&id(), &[outcome("a", 0, ItemStatus::Pass)], &score(0))
            .expect("writable");
        for path in [
            store.run_dir(&id()).join("items.jsonl"),
            store.scores_path(&id()),
        ] {
            let text = std::fs::read_to_string(&path).expect("text");
            std::fs::write(&path, text.trim_end()).expect("writable");
        }
        store
            .append_judgement(&id(), &[outcome("a", 1, ItemStatus::Fail)], &score(1))
            .expect("writable");
        let judgements = store
            .read_judgements(&id(), Evaluator::RequirementFulfillment.name())
            .expect("readable");
        assert_eq!((judgements.scores.len(), judgements.items.len()), (2, 2));
    }

    #[test]
    fn two_judges_never_have_one_revision() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let store = committed(folder.path());
        // Both processes looked before either had written.
        for (item, given) in [("a", 1), ("b", 2)] {
            assert_eq!(
                store
                    .append_judgement(&id(), &[outcome(item, 1, ItemStatus::Pass)], &score(1))
                    .expect("writable"),
                given
            );
        }
        assert_eq!(standing(&store), [("b".to_owned(), 2)]);
        assert_eq!(
            store
                .read_judgements(&id(), Evaluator::RequirementFulfillment.name())
                .expect("readable")
                .next,
            3
        );
    }

    #[test]
    fn what_judges_say_of_an_imported_run_needs_its_pair() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let store = Store::new(folder.path());
        assert!(matches!(
            store.append_judgement(&id(), &[], &score(1)),
            Err(StoreError::Invalid(_))
        ));
        let pair = |key: &str, run: &str| {
            let writer = super::super::SealedWriter::create(&store, key).expect("writable");
            writer
                .commit(&[Run::new(
                    RunId::parse(run).expect("a valid id"),
                    "s",
                    "about r1",
                    "m",
                )])
                .expect("writable");
        };
        // A line that only mentions the run is not its header.
        pair("aa", "r10");
        assert!(matches!(store.has_sealed(&id()), Ok(false)));
        pair("bb", "r1");
        assert_eq!(
            store
                .append_judgement(&id(), &[outcome("a", 1, ItemStatus::Pass)], &score(1))
                .expect("writable"),
            1
        );
        assert_eq!(
            store.read_detailed_items(&id()).expect("readable"),
            None,
            "its outcomes lie in the pair"
        );
    }

    #[test]
    fn a_run_that_begins_again_has_no_scores() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let store = Store::new(folder.path());
        let mut journal = store.open_journal(&id()).expect("a journal");
        assert!(!store.scores_path(&id()).exists(), "most runs have none");
        journal
            .append_score(&score(0))
            .and_then(|()| journal.append_score(&score(0)))
            .and_then(|()| journal.sync())
            .expect("writable");
        assert_eq!(
            ScoreLine::read_all(&store.scores_path(&id()), &mut Vec::new()).len(),
            2
        );
        drop(journal);
        store
            .open_journal(&id())
            .and_then(|mut journal| journal.clear())
            .expect("it was abandoned");
        assert!(!store.scores_path(&id()).exists());
    }

    #[test]
    fn what_is_not_finished_is_not_judged() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let store = Store::new(folder.path());
        let journal = store.open_journal(&id()).expect("a journal");
        assert!(matches!(
            store.append_judgement(&id(), &[], &score(0)),
            Err(StoreError::Invalid(_))
        ));
        drop(journal);
        store
            .save_run(&Run::new(id(), "s", "a", "m"))
            .expect("writable");
        let held = AppendLog::open(store.run_dir(&id()).join("items.jsonl")).expect("opened");
        held.lock_for_run(&id()).expect("free");
        assert!(matches!(
            store.append_judgement(&id(), &[], &score(0)),
            Err(StoreError::InFlight { .. })
        ));
    }
}
