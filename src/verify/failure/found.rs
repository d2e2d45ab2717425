//! A failure as a reader finds it.

use std::collections::BTreeSet;

/// A failure as a reader found it: paths are as the program said them.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Found {
    /// Who said so.
    pub tool: &'static str,
    pub test: Option<String>,
    pub files: BTreeSet<String>,
    /// What tells it from another failure of the same test or file: one line.
    pub message: String,
    pub text: String,
}

pub(super) const LONGEST_TEXT: usize = 2000;
