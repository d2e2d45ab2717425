//! Why an engine gave no answer.

use thiserror::Error;

use crate::domain::escape_invisible;

/// Longest part of a foreign message that is shown, in characters.
const MAX_CHARACTERS: usize = 400;

/// Why there is no answer, in lower case and without a final full stop. Texts of the engine are made visible.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{message}")]
pub struct EngineError {
    pub message: String,
    pub hint: Option<&'static str>,
    /// Whether the answers of several queries contradict each other, so that another try may help.
    pub is_contradiction: bool,
}

impl EngineError {
    pub(super) fn new(message: impl Into<String>) -> Self {
        Self {
            message: message.into(),
            hint: None,
            is_contradiction: false,
        }
    }

    pub(super) fn contradiction(message: impl Into<String>) -> Self {
        let hint = Some(
            "somebody may have published in between: try again; if it stays, the engine does not order or sum as asked",
        );
        Self {
            message: message.into(),
            hint,
            is_contradiction: true,
        }
    }

    /// The engine's tables are not whole, or not of the same time. Another try may help: somebody may have published in between.
    pub(super) fn incomplete(message: impl Into<String>) -> Self {
        let hint = Some(
            "the engine's tables `runs` and `outcomes` are incomplete, older than each other, or changed: load both again from the lake",
        );
        Self {
            message: message.into(),
            hint,
            is_contradiction: true,
        }
    }

    pub(super) fn with_hint(self, hint: &'static str) -> Self {
        Self {
            hint: Some(hint),
            ..self
        }
    }
}

/// Returns the beginning of a foreign message, on one line.
pub(super) fn shorten_message(text: &str) -> String {
    let line: Vec<&str> = text.split_whitespace().collect();
    crate::domain::shorten_to(&escape_invisible(&line.join(" ")), MAX_CHARACTERS)
}
