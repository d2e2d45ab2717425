//! Details of an outcome, for pages and people. Never used for statistics.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{CostSource, Repeated, Usage};

/// Texts are as the agent or the tests gave them, cut to a bounded length.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(default)]
pub struct ItemDetails {
    /// Why it did not pass: a kind such as `missing` or `wrong_choice`, or a message.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The end of the agent's last message.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reply: Option<String>,
    /// The answer that was read from it, trimmed and in lower case.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub answer: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub expected: Vec<String>,
    /// The outcome's category, which lines of earlier versions have in here.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub category: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub usage: Option<Usage>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cost_source: Option<CostSource>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub steps: Option<u64>,
    /// What the agent calls the model that answered.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// Calls by the tool's name.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub tools: BTreeMap<String, u64>,
    /// What the agent's requests had to repeat; absent where nothing was repeated or nobody tells.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub repeated: Option<Repeated>,
    /// What was asked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub question: Option<String>,
    /// Hash of the item's content, as the source gives it or as an importer makes it from the text: runs of one suite whose hashes
    /// differ did not answer the same item.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub item_hash: Option<String>,
    /// Scores beside the one that decided, by the scorer's name.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub scores: BTreeMap<String, f64>,
}
