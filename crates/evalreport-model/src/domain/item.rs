//! Outcomes of items.

use serde::{Deserialize, Serialize};

use super::{ItemDetails, ItemKind, ItemStatus, RunId};

/// The identity of an item within a suite: its kind, evaluator and id.
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
    /// Items of one cluster, such as a passage, a repository or a template, are dependent. Clusters are samples from a population.
    pub cluster: Option<String>,
    /// A subject, language or tag from a fixed list, by which items are reported. Never a sampling unit.
    pub category: Option<String>,
    /// Number of the attempt, from 1.
    pub attempt: u32,
    pub status: ItemStatus,
    /// The source's own score of the attempt, in its own unit.
    pub score: Option<f64>,
    /// Who decided: `answers`, `shared_tests`, `own_tests`, `requirementFulfillment`, or a name from the importer.
    pub evaluator: String,
    /// 0 for the first evaluation. Each later judgement has a higher number.
    pub revision: u32,
    pub duration_seconds: Option<f64>,
    pub cost_usd: Option<f64>,
    pub input_tokens: Option<u64>,
    pub output_tokens: Option<u64>,
}

impl ItemOutcome {
    pub fn key(&self) -> ItemKey {
        ItemKey {
            kind: self.kind,
            evaluator: self.evaluator.clone(),
            item: self.item.clone(),
        }
    }

    /// Returns the category. In lines of earlier versions, it is in the details.
    pub fn category_in<'a>(&'a self, details: &'a ItemDetails) -> Option<&'a str> {
        self.category.as_deref().or(details.category.as_deref())
    }
}
