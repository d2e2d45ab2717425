//! Why an agent cannot be used at all, found before anything is asked.

use std::fmt;

use crate::domain::Problems;

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SetupError {
    /// The configuration and the environment do not fit together.
    Refused { agent: String, message: String, hint: String },
    /// The file of recorded answers is wrong.
    Recording(Problems),
}

impl SetupError {
    pub(super) fn refused(agent: &str, message: String, hint: &str) -> Self {
        Self::Refused { agent: agent.to_owned(), message, hint: hint.to_owned() }
    }
}

impl fmt::Display for SetupError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Refused { agent, message, .. } => write!(formatter, "agent `{agent}` cannot be asked: {message}"),
            Self::Recording(problems) => problems.fmt(formatter),
        }
    }
}

impl std::error::Error for SetupError {}
