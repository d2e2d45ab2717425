//! A failure in the form that a parser finds it.

use std::collections::BTreeSet;

/// A failure as a parser found it. Its paths are those that the program printed.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct ParsedFailure {
    /// The program that reported the failure.
    pub tool: &'static str,
    pub test: Option<String>,
    pub files: BTreeSet<String>,
    /// One line that distinguishes the failure from others of the same test or file.
    pub message: String,
    pub text: String,
}

pub(super) const MAX_TEXT: usize = 2000;
