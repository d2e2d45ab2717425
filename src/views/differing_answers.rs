//! One item on which two arms differ, with the answers of both.

use schemars::JsonSchema;
use serde::Serialize;

use super::flips::ListedItem;
use super::run::{ItemRow, RunPage};
use super::short_text::cut_text;
use super::transcript::RunTranscripts;

/// Maximum number of items shown per pair.
pub const MAX_SIDES: usize = 12;

/// One item on which two arms differ, with the answers of both.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct SideBySide {
    #[serde(flatten)]
    pub item: ListedItem,
    /// The right answers, if the item has any.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub expected: Vec<String>,
    pub first: Side,
    pub second: Side,
}

/// One arm's attempt at an item: the first that passed of the better arm, the first that did not of the other. Texts are cut to a bounded
/// length.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Side {
    pub run: String,
    pub attempt: u32,
    pub status: String,
    /// The answer that was read from the reply.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub answer: Option<String>,
    /// The end of the agent's last message.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reply: Option<String>,
    /// Why the attempt passed or failed, from the evaluator or judge.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The judge, if one decided.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub judge: Option<String>,
    /// Address of the transcript, relative to the run's page. Absent if the site shows none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub transcript: Option<String>,
}

impl Side {
    pub(super) fn from_row(page: &RunPage, row: &ItemRow, transcripts: &RunTranscripts) -> Self {
        let text = |text: &Option<String>| {
            text.as_deref()
                .filter(|text| !text.trim().is_empty())
                .map(cut_text)
        };
        Self {
            run: page.line.id.clone(),
            attempt: row.attempt,
            status: row.status.clone(),
            transcript: transcripts
                .links
                .get(&row.item)
                .or_else(|| transcripts.links.get(""))
                .cloned(),
            answer: text(&row.answer),
            reply: text(&row.reply),
            reason: text(&row.reason),
            judge: page.judge_by_evaluator(&row.evaluator),
        }
    }

    /// Returns whether there is text to read beside the outcome.
    pub fn has_words(&self) -> bool {
        self.answer.is_some() || self.reply.is_some() || self.reason.is_some()
    }
}
