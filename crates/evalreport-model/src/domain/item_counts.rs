//! Counts of outcomes, where the outcomes themselves are not known.

use super::ItemKey;

/// How often a run passed an item.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ItemCounts {
    /// `None` if no item of the arm has more than one outcome, which makes them one run.
    pub run: Option<String>,
    pub suite: String,
    pub suite_version: Option<String>,
    pub approach: String,
    pub model: String,
    pub key: ItemKey,
    pub cluster: Option<String>,
    pub passed: u32,
    /// Outcomes that count, passed or not.
    pub counted: u32,
    /// Outcomes lost to outages or without a judgement.
    pub missing: u32,
    pub skipped: u32,
}
