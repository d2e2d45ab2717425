//! One outcome of one item.

use serde::{Deserialize, Serialize};

use super::{ItemDetails, ItemKind, ItemStatus, RunId};

/// What tells one item of a suite from another: its kind, who evaluates it, and its id.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct ItemKey {
    pub kind: ItemKind,
    pub evaluator: String,
    pub item: String,
}

/// The outcome of one attempt at one item in one run: one line of `items.jsonl`.
#[derive(Clone, Debug, PartialEq)]
pub struct ItemOutcome {
    pub run: RunId,
    pub kind: ItemKind,
    pub item: String,
    /// Items with the same cluster are not independent of each other (a passage, a repository, a template): draws from a population of such
    /// groups.
    pub cluster: Option<String>,
    /// The subject, the language, the tag: one of a fixed list that the items are reported by, and never a unit.
    pub category: Option<String>,
    /// Counts from 1.
    pub attempt: u32,
    pub status: ItemStatus,
    /// The source's own score for the attempt, in the source's unit.
    pub score: Option<f64>,
    /// Who decided: `answers`, `shared_tests`, `own_tests`, `requirementFulfillment`, or the importer's word.
    pub evaluator: String,
    /// 0 for the first evaluation; re-judging appends higher ones.
    pub revision: u32,
    pub duration_seconds: Option<f64>,
    pub cost_usd: Option<f64>,
    pub input_tokens: Option<u64>,
    pub output_tokens: Option<u64>,
}

impl ItemOutcome {
    pub fn key(&self) -> ItemKey {
        ItemKey { kind: self.kind, evaluator: self.evaluator.clone(), item: self.item.clone() }
    }

    /// Returns the category, which lines of earlier versions have among the details.
    pub fn category_in<'a>(&'a self, details: &'a ItemDetails) -> Option<&'a str> {
        self.category.as_deref().or(details.category.as_deref())
    }
}
