//! Details of an item's outcomes beside their status: the question, answers and reasons.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::domain::{Redacted, RunStatus, shorten_to};

use super::run::{ItemPage, ItemRow, RunPage};
use super::transcript::RunTranscripts;
use crate::inference::Arm;

/// Maximum distinct notes kept per item and arm.
const MAX_NOTES: usize = 4;
/// Maximum characters kept of a question; then of an answer or a reason.
const MAX_ASKED: usize = 1_500;
const MAX_OF_A_TEXT: usize = 400;
/// Maximum bytes of text kept per suite. A store may hold far more than pages can show.
const MAX_BYTES: usize = 64 << 20;

/// Details of a suite's items, as far as the caller read them in the runs.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SuiteItemAnswers {
    /// Keyed by item and kind: an item's evaluators judge the same answers.
    stories: BTreeMap<(String, String), ItemAnswers>,
    bytes: usize,
    /// Whether an item has a category.
    is_sorted: bool,
}

/// The category of one item, as pages of several suites need it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ItemCategory {
    pub item: String,
    pub kind: String,
    pub category: String,
}

/// Details of one item.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ItemAnswers {
    /// The beginning of the question, from an import's source or else from a shown transcript.
    pub asked: Option<String>,
    /// The author's category of the item.
    pub category: Option<String>,
    pub expected: Vec<String>,
    /// Notes by arm, in the order of the runs.
    pub notes: BTreeMap<Arm, Vec<ItemNote>>,
    /// Number of outcomes with details that are not kept.
    pub untold: u64,
}

/// The answer and reason of one or more outcomes with identical texts.
#[derive(Clone, Debug, PartialEq)]
pub struct ItemNote {
    /// The first run with these texts.
    pub run: String,
    pub status: String,
    pub answer: Option<String>,
    pub reason: Option<String>,
    /// Scores beside the deciding one, by scorer name.
    pub scores: BTreeMap<String, f64>,
    /// Address of the first run's transcript, relative to the run's page.
    pub transcript: Option<String>,
    pub times: u64,
}

impl SuiteItemAnswers {
    /// Makes the details of a suite whose pages are kept: other pages need no more than the categories.
    pub fn from_categories(categories: &[ItemCategory]) -> Self {
        let story = |known: &ItemCategory| {
            let answers = ItemAnswers {
                category: Some(known.category.clone()),
                ..ItemAnswers::default()
            };
            ((known.item.clone(), known.kind.clone()), answers)
        };
        Self {
            stories: categories.iter().map(story).collect(),
            bytes: 0,
            is_sorted: !categories.is_empty(),
        }
    }

    /// Lists the categories of items, for [`Self::from_categories`].
    pub fn categories(&self) -> Vec<ItemCategory> {
        let category = |((item, kind), known): (&(String, String), &ItemAnswers)| {
            Some(ItemCategory {
                item: item.clone(),
                kind: kind.clone(),
                category: known.category.clone()?,
            })
        };
        self.stories.iter().filter_map(category).collect()
    }

    /// Returns the details of an item.
    pub fn get(&self, item: &str, kind: &str) -> Option<&ItemAnswers> {
        self.stories.get(&(item.to_owned(), kind.to_owned()))
    }

    /// Returns whether any item has a category.
    pub fn have_categories(&self) -> bool {
        self.is_sorted
    }

    /// Adds the details of one run's items, if the run counts for its arm.
    pub fn add_run(
        &mut self,
        page: &Redacted<RunPage>,
        items: &Redacted<Vec<ItemPage>>,
        transcripts: &RunTranscripts,
    ) {
        if !RunStatus::from_name(&page.line.status).is_some_and(RunStatus::is_counted) {
            return;
        }
        let asked: BTreeMap<&str, &str> = transcripts
            .pages
            .iter()
            .flatten()
            .filter_map(|entry| {
                let first = entry
                    .parts
                    .iter()
                    .find(|part| part.role.as_deref() == Some("user"))?;
                Some((entry.item.as_deref()?, first.text.as_str()))
            })
            .collect();
        for row in items
            .iter()
            .flat_map(|page| &page.rows)
            .chain(&page.criteria)
        {
            let answer = row
                .answer
                .as_deref()
                .or(row.reply.as_deref())
                .filter(|text| !text.trim().is_empty());
            let reason = row.reason.as_deref().filter(|text| !text.trim().is_empty());
            let transcript = transcripts.links.get(&row.item);
            let question = row
                .question
                .as_deref()
                .filter(|text| !text.trim().is_empty());
            let asked = question.or_else(|| asked.get(row.item.as_str()).copied());
            let is_told = answer.is_some()
                || reason.is_some()
                || transcript.is_some()
                || !row.scores.is_empty();
            if !is_told && question.is_none() && row.expected.is_empty() && row.category.is_none() {
                continue;
            }
            let note = ItemNote {
                run: page.line.id.clone(),
                status: row.status.clone(),
                answer: answer.map(|text| shorten_to(text, MAX_OF_A_TEXT)),
                reason: reason.map(|text| shorten_to(text, MAX_OF_A_TEXT)),
                scores: row.scores.clone(),
                transcript: transcript.cloned(),
                times: 1,
            };
            let story = self
                .stories
                .entry((row.item.clone(), row.kind.clone()))
                .or_default();
            self.is_sorted |= row.category.is_some();
            self.bytes += story.add_note(
                &page.line.arm,
                row,
                note,
                asked,
                MAX_BYTES.saturating_sub(self.bytes),
            );
        }
    }
}

impl ItemAnswers {
    /// Adds one outcome's details and returns the bytes of text kept, at most `most`.
    fn add_note(
        &mut self,
        arm: &Arm,
        row: &ItemRow,
        note: ItemNote,
        asked: Option<&str>,
        most: usize,
    ) -> usize {
        let mut kept = 0;
        if let Some(asked) = asked.filter(|_| self.asked.is_none() && most > 0) {
            let asked = shorten_to(asked, MAX_ASKED);
            kept += asked.len();
            self.asked = Some(asked);
        }
        if self.category.is_none() {
            self.category.clone_from(&row.category);
        }
        if self.expected.is_empty() {
            self.expected.clone_from(&row.expected);
        }
        if note.answer.is_none()
            && note.reason.is_none()
            && note.transcript.is_none()
            && note.scores.is_empty()
        {
            return kept;
        }
        let size = [&note.answer, &note.reason]
            .into_iter()
            .flatten()
            .chain(note.scores.keys())
            .map(String::len)
            .sum::<usize>();
        let notes = self.notes.entry(arm.clone()).or_default();
        let same = |known: &&mut ItemNote| {
            (&known.status, &known.answer, &known.reason, &known.scores)
                == (&note.status, &note.answer, &note.reason, &note.scores)
        };
        if let Some(known) = notes.iter_mut().find(same) {
            known.times += 1;
        } else if notes.len() < MAX_NOTES && size <= most {
            notes.push(note);
            kept += size;
        } else {
            self.untold += 1;
        }
        kept
    }
}
