//! Failures of commands.

use std::path::Path;

use crate::domain::{Problem, Problems};
use crate::files;
use crate::publish::PublishError;
use crate::results::StoreError;

use super::display_path::display_path;
use super::exit_code;

/// A failed command: messages for the user, and the exit code.
#[derive(Clone, Debug)]
pub(super) struct CommandFailure {
    /// Lower case, without a final full stop.
    pub message: String,
    /// Advice on what to do.
    pub hint: Option<String>,
    /// Details that are printed in full, such as every problem of a file.
    pub details: Vec<String>,
    pub code: u8,
}

impl CommandFailure {
    pub fn new(message: impl Into<String>) -> Self {
        Self {
            message: message.into(),
            hint: None,
            details: Vec::new(),
            code: exit_code::BAD_INPUT,
        }
    }

    pub fn with_hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// Adds a hint if there is none.
    pub fn with_default_hint(mut self, hint: &str) -> Self {
        self.hint.get_or_insert_with(|| hint.to_owned());
        self
    }

    /// Makes a failure of a document's problems, each with its line if the file can still be read.
    pub fn from_document(path: &Path, problems: &[Problem]) -> Self {
        let source = files::read_to_string(path).unwrap_or_default();
        let count = problems.len();
        let details = problems
            .iter()
            .map(|problem| crate::document::render_problem(problem, &source))
            .collect();
        Self {
            details,
            ..Self::new(format!(
                "{} has {count} {}",
                display_path(path),
                if count == 1 { "problem" } else { "problems" }
            ))
        }
    }
}

/// Fails, under `--strict`, if arms are not comparable.
pub(super) fn refuse_incomparable(reasons: &[String]) -> Result<(), CommandFailure> {
    if reasons.is_empty() {
        return Ok(());
    }
    let details = reasons
        .iter()
        .map(|reason| crate::domain::escape_invisible(reason))
        .collect();
    let failure = CommandFailure {
        details,
        ..CommandFailure::new("arms were not measured alike, and --strict refuses to compare them")
    };
    Err(failure.with_hint(
        "without --strict the shared part is compared, and the answer names the differences",
    ))
}

impl From<StoreError> for CommandFailure {
    fn from(error: StoreError) -> Self {
        Self::new(error.full_message())
    }
}

impl From<PublishError> for CommandFailure {
    fn from(error: PublishError) -> Self {
        Self {
            hint: error.hint,
            ..Self::new(error.message)
        }
    }
}

impl From<Problem> for CommandFailure {
    fn from(problem: Problem) -> Self {
        Self::from(Problems(vec![problem]))
    }
}

impl From<Problems> for CommandFailure {
    fn from(problems: Problems) -> Self {
        match problems.0.as_slice() {
            [one] => Self {
                hint: one.hint.clone(),
                ..Self::new(one.to_string())
            },
            several => {
                let details = several.iter().map(ToString::to_string).collect();
                Self {
                    details,
                    ..Self::new(format!("{} problems", several.len()))
                }
            }
        }
    }
}
