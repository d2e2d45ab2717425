//! What an evaluator is given, and what it says.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::Value;

use crate::agent::Cost;
use crate::domain::{Evaluator, ItemDetails, ItemKind, ItemStatus, Usage};
use crate::suite::Suite;

/// What an agent left behind, and how it got there. Evaluators read it and change nothing.
pub struct Workpiece<'a> {
    pub suite: &'a Suite,
    /// The finished workspace, or what was kept of it. Absent where nothing was kept.
    pub folder: Option<&'a Path>,
    /// What the agent made or changed, below the folder, in the order of their names.
    pub files: &'a [PathBuf],
    /// Messages and tool calls in order, in the agent's own form.
    pub transcript: &'a [Value],
    pub effort: Effort,
}

/// What the work took, as far as it was measured.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Effort {
    pub usage: Usage,
    pub cost_usd: Option<f64>,
    pub turns: Option<u64>,
    pub duration: Option<Duration>,
    /// Calls by the tool's name; absent where the agent does not tell.
    pub tools: Option<BTreeMap<String, u64>>,
}

/// What one evaluator says about one workpiece.
#[derive(Clone, Debug, PartialEq)]
pub struct Evaluated {
    pub evaluator: Evaluator,
    /// From 0 to 100, or why there is none: not configured, judge not reachable, a tool missing.
    pub score: Result<f64, String>,
    /// The numbers that the score was made of, in the evaluator's own shape.
    pub details: Value,
    pub reasoning: Option<String>,
    /// Outcomes of single criteria or checks.
    pub items: Vec<EvaluatedItem>,
    /// Who judged, where a judge did.
    pub judged: Option<Judged>,
}

/// The outcome of one criterion or check.
#[derive(Clone, Debug, PartialEq)]
pub struct EvaluatedItem {
    pub kind: ItemKind,
    pub item: String,
    pub status: ItemStatus,
    pub details: ItemDetails,
}

/// Who judged, by which words, and what it took. Apart from what the agent took.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Judged {
    /// The id of the agent.
    pub agent: String,
    pub model: Option<String>,
    /// Of the system prompt and the template of the question: other words are another judge.
    pub prompt_sha256: String,
    /// How often each part was asked.
    pub votes: u64,
    /// The share of votes that agreed with the majority, where there was more than one.
    pub agreement: Option<f64>,
    pub usage: Usage,
    pub cost: Cost,
    /// What it replied, shortened in the middle, in the order of asking.
    pub raw: Vec<String>,
}

impl Evaluated {
    /// Says that there is no score, and why.
    pub fn missing(evaluator: Evaluator, reason: impl Into<String>) -> Self {
        Self { evaluator, score: Err(reason.into()), details: Value::Null, reasoning: None, items: Vec::new(), judged: None }
    }
}

/// Keeps a score on its scale, to one decimal.
pub fn points(score: f64) -> f64 {
    (score.clamp(0.0, 100.0) * 10.0).round() / 10.0
}
