//! Errors that make an agent unusable, found before the first prompt.

use std::fmt;

use crate::domain::Problems;

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SetupError {
    /// Configuration and environment do not match.
    Refused {
        agent: String,
        message: String,
        hint: String,
    },
    /// The file of recorded answers is invalid.
    Recording(Problems),
}

impl SetupError {
    pub(super) fn refused(agent: &str, message: String, hint: &str) -> Self {
        Self::Refused {
            agent: agent.to_owned(),
            message,
            hint: hint.to_owned(),
        }
    }
}

impl fmt::Display for SetupError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Refused { agent, message, .. } => {
                write!(formatter, "agent `{agent}` cannot be asked: {message}")
            }
            Self::Recording(problems) => problems.fmt(formatter),
        }
    }
}

impl std::error::Error for SetupError {}
