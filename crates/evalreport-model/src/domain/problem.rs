//! Problems of inputs: what is wrong, where, and how to fix it.

use std::fmt;

use serde::{Deserialize, Serialize};

/// One problem of an input.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Problem {
    /// The file as the user named it.
    pub file: String,
    /// Line and column from 1, if known.
    pub line: Option<usize>,
    pub column: Option<usize>,
    /// Starts in lower case, has no final period, and quotes values.
    pub message: String,
    /// How to fix it, shown on a separate line.
    pub hint: Option<String>,
    /// Whether the file could not be read, for reasons other than its content. It may be readable later.
    #[serde(default)]
    pub is_unread: bool,
}

impl Problem {
    pub fn in_file(file: impl Into<String>, message: impl Into<String>) -> Self {
        Self {
            file: file.into(),
            line: None,
            column: None,
            message: message.into(),
            hint: None,
            is_unread: false,
        }
    }

    /// Creates the problem of a file that the system does not let us read, or not completely.
    pub fn unread_file(file: impl Into<String>, error: &impl fmt::Display) -> Self {
        Self {
            is_unread: true,
            ..Self::in_file(file, format!("cannot read: {error}"))
        }
    }

    pub fn at_line(file: impl Into<String>, line: usize, message: impl Into<String>) -> Self {
        Self {
            line: Some(line),
            ..Self::in_file(file, message)
        }
    }

    pub fn at_position(
        file: impl Into<String>,
        line: usize,
        column: usize,
        message: impl Into<String>,
    ) -> Self {
        Self {
            column: Some(column),
            ..Self::at_line(file, line, message)
        }
    }

    #[must_use]
    pub fn with_hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// Returns `file`, `file:line` or `file:line:column`.
    pub fn format_place(&self) -> String {
        match (self.line, self.column) {
            (Some(line), Some(column)) => format!("{}:{line}:{column}", self.file),
            (Some(line), None) => format!("{}:{line}", self.file),
            (None, _) => self.file.clone(),
        }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}: {}", self.format_place(), self.message)
    }
}

/// All problems of an input.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Problems(pub Vec<Problem>);

impl fmt::Display for Problems {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, problem) in self.0.iter().enumerate() {
            if index > 0 {
                writeln!(formatter)?;
            }
            write!(formatter, "{problem}")?;
        }
        Ok(())
    }
}

impl std::error::Error for Problems {}
