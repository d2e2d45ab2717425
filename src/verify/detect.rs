//! What a folder is made with, and which commands it has, each with the reason.

use super::{Listing, Readiness, Stack};

/// A folder with a stack and commands of its own. All commands are lines for `sh -c` in that folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Part {
    /// Below the root; empty for the root itself.
    pub folder: String,
    pub stack: Stack,
    pub primary_test: Option<String>,
    pub smoke_test: Option<String>,
    pub build: Option<String>,
    pub lint: Option<String>,
    pub syntax_check: Option<String>,
    /// How the smoke test shows that it is up, where it may stay up.
    pub server: Option<Readiness>,
    pub reasons: Vec<String>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Detected {
    pub stack: Stack,
    /// By folder, the root first.
    pub parts: Vec<Part>,
    /// What was seen that belongs to no part.
    pub reasons: Vec<String>,
}

pub fn detect(_listing: &Listing) -> Detected {
    Detected { stack: Stack::Unknown, parts: Vec::new(), reasons: Vec::new() }
}
