//! What is wrong with an input, where, and what to do about it.

use std::fmt;

use serde::{Deserialize, Serialize};

/// One thing wrong with an input.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Problem {
    /// The file as the user named it.
    pub file: String,
    /// Line and column, both from 1, where they are known.
    pub line: Option<usize>,
    pub column: Option<usize>,
    /// Lower case, no final period, values quoted.
    pub message: String,
    /// What to do, on a line of its own.
    pub hint: Option<String>,
    /// The file was not read, through no fault of its content: another time it may be.
    #[serde(default)]
    pub is_unread: bool,
}

impl Problem {
    pub fn in_file(file: impl Into<String>, message: impl Into<String>) -> Self {
        Self { file: file.into(), line: None, column: None, message: message.into(), hint: None, is_unread: false }
    }

    /// The system would not let the file, or the rest of it, be read.
    pub fn unread(file: impl Into<String>, error: &impl fmt::Display) -> Self {
        Self { is_unread: true, ..Self::in_file(file, format!("cannot read: {error}")) }
    }

    pub fn at_line(file: impl Into<String>, line: usize, message: impl Into<String>) -> Self {
        Self { line: Some(line), ..Self::in_file(file, message) }
    }

    pub fn at(file: impl Into<String>, line: usize, column: usize, message: impl Into<String>) -> Self {
        Self { column: Some(column), ..Self::at_line(file, line, message) }
    }

    #[must_use]
    pub fn with_hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// Returns `file`, `file:line` or `file:line:column`.
    pub fn place(&self) -> String {
        match (self.line, self.column) {
            (Some(line), Some(column)) => format!("{}:{line}:{column}", self.file),
            (Some(line), None) => format!("{}:{line}", self.file),
            (None, _) => self.file.clone(),
        }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}: {}", self.place(), self.message)
    }
}

/// All problems of an input, reported together.
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
