//! A file of item lines.

use std::fmt::Debug;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::domain::{RunId, can_judge_again};
use crate::results::ItemLine;

/// Re-run evaluators, by name, each with its current revision.
pub(super) type JudgeRevisions<'a> = &'a [(String, u32)];

/// A file of item lines to read.
#[derive(Clone, Debug)]
pub(super) struct ItemFile {
    pub path: PathBuf,
    /// The run of a journal. `None` for the items of an import, whose lines name their runs.
    pub journal_of: Option<RunId>,
    /// Whether the run was imported, so that its outcomes are in a sealed pair and this file has only judgements.
    pub is_of_judges: bool,
    /// Current revision per re-run evaluator. Absent if it is revision 0.
    pub standing: Vec<(String, u32)>,
    /// Where the lines are if no store has them. Only lines that count are there.
    pub elsewhere: Option<Arc<dyn ExternalLines>>,
}

/// The lines of outcomes that count, outside of stores.
pub(super) trait ExternalLines: Debug + Send + Sync {
    /// Returns the name of the place for messages. Two places have two names.
    fn source_name(&self) -> &str;

    /// Returns a text that changes if the lines may have changed.
    fn content_stamp(&self) -> String;

    /// Calls `each` with every line of the wanted runs, in the form of an import's lines, which name their run. A run's lines are in the order
    /// of its source.
    fn for_each_line(
        &self,
        is_wanted: &dyn Fn(&str) -> bool,
        each: &mut dyn FnMut(&[u8]),
    ) -> io::Result<()>;

    /// Calls `each` with the same lines without their details, which need not be read then.
    fn for_each_item(
        &self,
        is_wanted: &dyn Fn(&str) -> bool,
        each: &mut dyn FnMut(&ItemLine<'_>),
    ) -> io::Result<()> {
        self.for_each_line(is_wanted, &mut |line| {
            if let Ok(item) = ItemLine::parse(line) {
                each(&item);
            }
        })
    }
}

impl ItemFile {
    /// Returns a file in name only.
    pub fn from_external(lines: Arc<dyn ExternalLines>) -> Self {
        let path = PathBuf::from(lines.source_name());
        Self {
            path,
            journal_of: None,
            is_of_judges: false,
            standing: Vec::new(),
            elsewhere: Some(lines),
        }
    }

    /// Returns whether outcomes of a revision may count. For a judge in a run's own journal, one whole revision counts; for all other
    /// evaluators, and for imported runs, the highest revision of each outcome.
    pub fn may_count(&self, evaluator: &str, revision: u32) -> bool {
        let standing = || {
            self.standing
                .iter()
                .find(|(one, _)| one == evaluator)
                .map_or(0, |(_, revision)| *revision)
        };
        self.journal_of.is_none() || !can_judge_again(evaluator) || revision == standing()
    }

    /// Returns whether a line of this file can count at all. Beside a sealed pair only later judgements count.
    pub fn accepts_line(&self, line: &[u8]) -> bool {
        !self.is_of_judges
            || ItemLine::parse(line)
                .is_ok_and(|item| item.revision > 0 && can_judge_again(&item.evaluator))
    }
}

/// Returns a path as text for the cache. The scan refuses paths that are not UTF-8.
pub(super) fn path_text(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}
