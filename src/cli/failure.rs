//! Why a command could not do what it was asked.

use crate::domain::{Problem, Problems};
use crate::results::StoreError;

use super::exit_code;

/// A failed command: what to say, and the exit code.
#[derive(Debug)]
pub(super) struct Failure {
    /// Lower case, no final period.
    pub message: String,
    /// What to do.
    pub hint: Option<String>,
    /// Details that are printed whole, such as every problem of a file.
    pub details: Vec<String>,
    pub code: u8,
}

impl Failure {
    pub fn new(message: impl Into<String>) -> Self {
        Self { message: message.into(), hint: None, details: Vec::new(), code: exit_code::BAD_INPUT }
    }

    pub fn with_hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// Says what to do where nothing more fitting is known.
    pub fn with_no_hint_as(mut self, hint: &str) -> Self {
        self.hint.get_or_insert_with(|| hint.to_owned());
        self
    }

    /// Reports every problem of a document, each with its line where the source is at hand.
    pub fn of_document(what: &str, problems: &[Problem], source: Option<&str>) -> Self {
        let count = problems.len();
        let details = problems.iter().map(|problem| crate::document::render(problem, source.unwrap_or_default())).collect();
        Self { details, ..Self::new(format!("{what} has {count} {}", if count == 1 { "problem" } else { "problems" })) }
    }
}

impl From<StoreError> for Failure {
    fn from(error: StoreError) -> Self {
        let mut message = error.to_string();
        if let Some(source) = std::error::Error::source(&error) {
            message.push_str(&format!(": {source}"));
        }
        Self::new(crate::domain::visible(&message))
    }
}

impl From<Problems> for Failure {
    fn from(problems: Problems) -> Self {
        match problems.0.as_slice() {
            [one] => Self { hint: one.hint.clone(), ..Self::new(one.to_string()) },
            several => {
                let details = several.iter().map(ToString::to_string).collect();
                Self { details, ..Self::new(format!("{} problems", several.len())) }
            }
        }
    }
}
