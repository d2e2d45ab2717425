//! How much material a judge is shown.

use crate::document::{Fields, quote_text};

/// How much material a judge is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct MaterialBudget {
    /// Limit for all files together.
    pub files_bytes: usize,
    /// Limit for one file. A longer file is cut in the middle.
    pub file_bytes: usize,
    /// Limit for the transcript in one question.
    pub transcript_bytes: usize,
    /// Limit for one message. A longer message is cut in the middle.
    pub message_bytes: usize,
    /// Maximum number of questions that a long transcript is split into.
    pub parts: usize,
    /// Maximum number of criteria in one question. The judge's reply to more criteria might exceed its output limit.
    pub criteria_per_question: usize,
}

impl Default for MaterialBudget {
    fn default() -> Self {
        Self {
            files_bytes: 96 << 10,
            file_bytes: 24 << 10,
            transcript_bytes: 96 << 10,
            message_bytes: 4 << 10,
            parts: 8,
            criteria_per_question: 40,
        }
    }
}

impl MaterialBudget {
    /// Reads the keys of the budget and ignores all other keys.
    pub fn read_fields(&mut self, fields: &mut Fields) {
        let sizes = [
            ("files_bytes", &mut self.files_bytes),
            ("file_bytes", &mut self.file_bytes),
            ("transcript_bytes", &mut self.transcript_bytes),
            ("message_bytes", &mut self.message_bytes),
            ("parts", &mut self.parts),
            ("criteria_per_question", &mut self.criteria_per_question),
        ];
        for (key, size) in sizes {
            match fields.unsigned(key) {
                Some(0) => fields.reject(
                    key,
                    format!("{} must be at least 1", quote_text(&fields.path_of(key))),
                    None,
                ),
                Some(given) => *size = usize::try_from(given).unwrap_or(usize::MAX),
                None => {}
            }
        }
    }
}
