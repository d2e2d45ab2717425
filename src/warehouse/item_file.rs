//! A file of item lines.

use std::path::{Path, PathBuf};

use crate::domain::{RunId, is_asked_again};
use crate::results::ItemLine;

/// Evaluators that were asked again, by name, each with the revision that stands.
pub(super) type Judges<'a> = &'a [(String, u32)];

/// A file of item lines to read.
#[derive(Clone, Debug)]
pub(super) struct ItemFile {
    pub path: PathBuf,
    /// The run of a journal; none for the items of an import, whose lines name their runs.
    pub journal_of: Option<RunId>,
    /// The run was imported: its outcomes lie in a sealed pair, and this file holds what judges said.
    pub is_of_judges: bool,
    /// By evaluator that is asked again: the revision that stands, where it is not the first.
    pub standing: Vec<(String, u32)>,
}

impl ItemFile {
    /// Says whether outcomes of a revision may stand. Of a judge in a run's own journal it is one revision as a whole; of everybody else, and
    /// of what was imported, the highest revision of each outcome.
    pub fn may_stand(&self, evaluator: &str, revision: u32) -> bool {
        let standing = || self.standing.iter().find(|(one, _)| one == evaluator).map_or(0, |(_, revision)| *revision);
        self.journal_of.is_none() || !is_asked_again(evaluator) || revision == standing()
    }
}

impl ItemFile {
    /// Says whether a line of this file can count at all: beside a sealed pair nothing does but what a judge said
    /// later.
    pub fn takes(&self, line: &[u8]) -> bool {
        !self.is_of_judges || ItemLine::parse(line).is_ok_and(|item| item.revision > 0 && is_asked_again(&item.evaluator))
    }
}

/// A path as text for the cache; paths that are not UTF-8 are refused by the scan.
pub(super) fn path_text(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}
