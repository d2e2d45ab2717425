//! A folder with its own stack and commands.

use crate::listing::path_below;
use crate::{Readiness, Stack};

/// A folder with its own stack and commands. All commands are shell lines for `sh -c` in that folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProjectPart {
    /// Path relative to the root. Empty for the root itself.
    pub folder: String,
    pub stack: Stack,
    pub primary_test: Option<String>,
    pub smoke_test: Option<String>,
    pub build: Option<String>,
    pub lint: Option<String>,
    pub syntax_check: Option<String>,
    /// How the smoke test shows that it is up, if it may stay up.
    pub server: Option<Readiness>,
    pub reasons: Vec<String>,
}

impl ProjectPart {
    pub(super) fn new(folder: &str, stack: Stack) -> Self {
        Self {
            folder: folder.to_owned(),
            stack,
            primary_test: None,
            smoke_test: None,
            build: None,
            lint: None,
            syntax_check: None,
            server: None,
            reasons: Vec::new(),
        }
    }

    pub(super) fn add_reason(&mut self, reason: impl Into<String>) {
        self.reasons.push(reason.into());
    }
}

/// Result of looking for one stack in one folder.
pub(super) enum DetectionResult {
    Nothing,
    Part(Box<ProjectPart>),
    /// The folder has signs of the stack but is not a part; the text says why.
    Note(String),
}

/// Returns the nearest part with one of the stacks in an outer folder of `folder`.
pub(super) fn outer_part<'p>(
    parts: &'p [ProjectPart],
    folder: &str,
    stacks: &[Stack],
) -> Option<&'p ProjectPart> {
    let is_around = |part: &&ProjectPart| {
        stacks.contains(&part.stack)
            && part.folder != folder
            && path_below(&part.folder, folder).is_some()
    };
    parts
        .iter()
        .filter(is_around)
        .max_by_key(|part| part.folder.len())
}
