//! One item on which two arms ended differently, with what each of them did.

use schemars::JsonSchema;
use serde::Serialize;

use super::flips::ListedItem;
use super::run::{ItemRow, RunPage};
use super::short_text::cut;
use super::transcript::RunTranscripts;

/// Items of one pair that are laid side by side.
pub const MOST_SIDES: usize = 12;

/// One item on which two arms ended differently, with what each of them did.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct SideBySide {
    #[serde(flatten)]
    pub item: ListedItem,
    /// The right answers, where the item has some.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub expected: Vec<String>,
    pub first: Side,
    pub second: Side,
}

/// What one arm did on one item: the first attempt that ended as most of the arm's attempts did. Texts are cut to a bounded length.
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
    /// Why it ended so: what the evaluator or judge gave.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Who judged, where a judge did.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub judge: Option<String>,
    /// Address of the transcript, from the run's page; absent where none is shown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub transcript: Option<String>,
}

impl Side {
    pub(super) fn of(page: &RunPage, row: &ItemRow, transcripts: &RunTranscripts) -> Self {
        let text = |text: &Option<String>| text.as_deref().filter(|text| !text.trim().is_empty()).map(cut);
        Self {
            run: page.line.id.clone(),
            attempt: row.attempt,
            status: row.status.clone(),
            transcript: transcripts.links.get(&row.item).or_else(|| transcripts.links.get("")).cloned(),
            answer: text(&row.answer),
            reply: text(&row.reply),
            reason: text(&row.reason),
            judge: page.judge_of(&row.evaluator),
        }
    }

    /// Says whether there is more to read than how it ended.
    pub fn has_words(&self) -> bool {
        self.answer.is_some() || self.reply.is_some() || self.reason.is_some()
    }
}
