//! Evaluators' results for a run: scores, judges, and counts of its criteria.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use crate::domain::{Direction, Evaluator, Unit, replaces_revision};

/// One evaluator's score of a run, in its newest revision.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct EvaluatorScore {
    /// The metric, named after the evaluator.
    pub evaluator: String,
    /// From 0 to 100. Absent if not evaluated.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub value: Option<f64>,
    pub unit: Unit,
    pub direction: Direction,
    pub revision: u32,
    /// Number of earlier revisions in the store.
    pub earlier: u64,
    /// Why there is no value.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub not_evaluated: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reasoning: Option<String>,
    /// The numbers behind the score, in the evaluator's own shape.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub details: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub judge: Option<JudgeView>,
}

/// The judge, its prompt, and the cost of judging, which is not part of the run's cost.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct JudgeView {
    pub agent: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    pub prompt_sha256: String,
    pub votes: u64,
    /// The share of votes that agreed with the majority vote.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agreement: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub input_tokens: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output_tokens: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cost_usd: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cost_source: Option<String>,
}

/// Keeps the current score of each evaluator, the weightiest evaluator first, and counts earlier revisions.
pub fn newest_scores(lines: Vec<EvaluatorScore>) -> Vec<EvaluatorScore> {
    let mut newest = BTreeMap::<String, EvaluatorScore>::new();
    for line in lines {
        let before = newest.remove(&line.evaluator);
        let stands = match before {
            None => line,
            Some(before) if replaces_revision(line.revision, before.revision) => EvaluatorScore {
                earlier: before.earlier + 1,
                ..line
            },
            Some(before) => EvaluatorScore {
                earlier: before.earlier + 1,
                ..before
            },
        };
        newest.insert(stands.evaluator.clone(), stands);
    }
    let mut newest: Vec<EvaluatorScore> = newest.into_values().collect();
    newest.sort_by_key(|score| Evaluator::importance_rank(&score.evaluator));
    newest
}

/// Counts of a run's criteria.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct CriteriaCount {
    pub passed: u64,
    /// Decided criteria.
    pub total: u64,
    /// Undecided criteria.
    pub missing: u64,
}

impl JudgeView {
    /// Returns the judge's name. Another model or another prompt is another judge.
    pub fn name(&self) -> String {
        let model = self
            .model
            .as_ref()
            .map_or_else(String::new, |model| format!(":{model}"));
        let words: String = self.prompt_sha256.chars().take(8).collect();
        format!("{}{model} #{words}", self.agent)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn score(evaluator: &str, revision: u32, value: f64) -> EvaluatorScore {
        EvaluatorScore {
            evaluator: evaluator.to_owned(),
            value: Some(value),
            unit: Unit::Points,
            direction: Direction::Up,
            revision,
            earlier: 0,
            not_evaluated: None,
            reasoning: None,
            details: None,
            judge: None,
        }
    }

    #[test]
    fn the_newest_revision_stands_wherever_its_line_is() {
        let scores = newest_scores(vec![
            score("b", 0, 1.0),
            score("a", 2, 2.0),
            score("a", 1, 3.0),
            score("a", 0, 4.0),
            score("b", 0, 5.0),
        ]);
        let found: Vec<_> = scores
            .iter()
            .map(|score| (score.evaluator.as_str(), score.value, score.earlier))
            .collect();
        assert_eq!(found, [("a", Some(2.0), 2), ("b", Some(5.0), 1)]);
    }
}
