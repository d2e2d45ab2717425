//! Why a site could not be made.

use crate::results::StoreError;

/// A message with an optional remedy.
#[derive(Debug)]
pub struct PublishError {
    /// Lower case, no final period.
    pub message: String,
    pub hint: Option<String>,
}

impl PublishError {
    pub(super) fn new(message: impl Into<String>) -> Self {
        Self {
            message: message.into(),
            hint: None,
        }
    }

    pub(super) fn with_hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }
}

impl From<StoreError> for PublishError {
    fn from(error: StoreError) -> Self {
        let mut message = error.to_string();
        if let Some(source) = std::error::Error::source(&error) {
            message.push_str(&format!(": {source}"));
        }
        Self::new(crate::domain::escape_invisible(&message))
    }
}
