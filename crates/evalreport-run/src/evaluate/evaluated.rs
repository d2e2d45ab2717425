//! Input and result of an evaluator.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::Value;

use crate::agent::Cost;
use crate::domain::{Evaluator, ItemDetails, ItemKind, ItemStatus, Usage};
use crate::suite::Suite;

/// An agent's finished work and the record of how it was done. Evaluators read it and change nothing.
pub struct Workpiece<'a> {
    pub suite: &'a Suite,
    /// The finished workspace, or the part of it that was kept. `None` if nothing was kept.
    pub folder: Option<&'a Path>,
    /// Files that the agent made or changed, relative to the folder, sorted by name.
    pub files: &'a [PathBuf],
    /// Messages and tool calls in order, in the agent's own format.
    pub transcript: &'a [Value],
    pub effort: Effort,
}

/// The effort of the work, as far as it was measured.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Effort {
    pub usage: Usage,
    pub cost_usd: Option<f64>,
    pub turns: Option<u64>,
    pub duration: Option<Duration>,
    /// Number of calls by tool name; `None` if the agent does not report them.
    pub tools: Option<BTreeMap<String, u64>>,
}

/// One evaluator's result for one workpiece.
#[derive(Clone, Debug, PartialEq)]
pub struct EvaluatorResult {
    pub evaluator: Evaluator,
    /// Score from 0 to 100, or why there is none: not configured, judge not reachable, a tool missing.
    pub score: Result<f64, String>,
    /// The numbers behind the score, in the evaluator's own shape.
    pub details: Value,
    pub reasoning: Option<String>,
    /// Outcomes of single criteria or checks.
    pub items: Vec<EvaluatorItem>,
    /// Record of the judge, if the evaluator used one.
    pub judged: Option<JudgeRecord>,
}

/// The outcome of one criterion or check.
#[derive(Clone, Debug, PartialEq)]
pub struct EvaluatorItem {
    pub kind: ItemKind,
    pub item: String,
    pub status: ItemStatus,
    pub details: ItemDetails,
}

/// Which judge decided, with which prompt, and at what effort. The agent's own effort is recorded separately.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct JudgeRecord {
    /// Id of the judge's agent.
    pub agent: String,
    pub model: Option<String>,
    /// Hash of the system prompt and the question template: a different prompt makes a different judge.
    pub prompt_sha256: String,
    /// Number of times that each part was asked.
    pub votes: u64,
    /// Share of votes that agreed with the majority; `None` if no question had more than one vote.
    pub agreement: Option<f64>,
    pub usage: Usage,
    pub cost: Cost,
    /// The judge's replies, in the order of asking. Long replies are shortened in the middle.
    pub raw: Vec<String>,
}

impl EvaluatorResult {
    /// Creates an evaluation without a score, with the reason.
    pub fn without_score(evaluator: Evaluator, reason: impl Into<String>) -> Self {
        Self {
            evaluator,
            score: Err(reason.into()),
            details: Value::Null,
            reasoning: None,
            items: Vec::new(),
            judged: None,
        }
    }
}

/// Clamps a score to 0 to 100 and rounds it to one decimal.
pub fn clamp_score(score: f64) -> f64 {
    (score.clamp(0.0, 100.0) * 10.0).round() / 10.0
}
