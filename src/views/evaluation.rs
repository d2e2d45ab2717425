//! What evaluators said of a run: scores, judges, and how its criteria ended.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use crate::domain::{Direction, Evaluator, Unit, takes_over};

/// What one evaluator said of a run, newest revision.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct EvaluatorScore {
    /// The metric, which goes by the evaluator's name.
    pub evaluator: String,
    /// From 0 to 100; absent where it was not evaluated.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub value: Option<f64>,
    pub unit: Unit,
    pub direction: Direction,
    pub revision: u32,
    /// Earlier revisions that are in the store.
    pub earlier: u64,
    /// Why there is no value.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub not_evaluated: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reasoning: Option<String>,
    /// The numbers that the score was made of, in the evaluator's own shape.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub details: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub judge: Option<JudgeView>,
}

/// Who judged, by which words, and what that took: apart from what the run itself took.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct JudgeView {
    pub agent: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    pub prompt_sha256: String,
    pub votes: u64,
    /// The share of votes that agreed with the majority.
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

/// Keeps what stands of each evaluator, the weightiest first, and counts the others.
pub fn newest_scores(lines: Vec<EvaluatorScore>) -> Vec<EvaluatorScore> {
    let mut newest = BTreeMap::<String, EvaluatorScore>::new();
    for line in lines {
        let before = newest.remove(&line.evaluator);
        let stands = match before {
            None => line,
            Some(before) if takes_over(line.revision, before.revision) => EvaluatorScore { earlier: before.earlier + 1, ..line },
            Some(before) => EvaluatorScore { earlier: before.earlier + 1, ..before },
        };
        newest.insert(stands.evaluator.clone(), stands);
    }
    let mut newest: Vec<EvaluatorScore> = newest.into_values().collect();
    newest.sort_by_key(|score| Evaluator::place_by_weight(&score.evaluator));
    newest
}

/// How the criteria of a run ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct CriteriaCount {
    pub passed: u64,
    /// Those that were decided.
    pub total: u64,
    /// Those that nobody decided.
    pub missing: u64,
}

impl JudgeView {
    /// Names the judge: another model, or other words, is another judge.
    pub fn name(&self) -> String {
        let model = self.model.as_ref().map_or_else(String::new, |model| format!(":{model}"));
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
        let scores =
            newest_scores(vec![score("b", 0, 1.0), score("a", 2, 2.0), score("a", 1, 3.0), score("a", 0, 4.0), score("b", 0, 5.0)]);
        let found: Vec<_> = scores.iter().map(|score| (score.evaluator.as_str(), score.value, score.earlier)).collect();
        assert_eq!(found, [("a", Some(2.0), 2), ("b", Some(5.0), 1)]);
    }
}
