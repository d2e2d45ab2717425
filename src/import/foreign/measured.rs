//! What tests say about what they cost, in properties whose names are anybody's, and how often tools were called.

use std::collections::BTreeMap;

use super::super::cell::{Range, number, whole};
use crate::domain::{CostSource, ItemDetails, ItemOutcome};

/// Notes a property of a test that is a cost or a number of tokens, by the names that are in use.
///
/// A cost of zero beside tokens is a price that nobody knew.
pub(super) fn take(name: &str, value: &str, outcome: &mut ItemOutcome, details: &mut ItemDetails) {
    let value = value.trim();
    match name.trim().to_lowercase().replace(['-', '.', ' '], "_").as_str() {
        "cost_usd" | "cost" | "total_cost" | "total_cost_usd" => {
            if let Some(cost) = number("cost", value, Range::NotNegative).ok().filter(|cost| *cost > 0.0) {
                outcome.cost_usd = Some(cost);
                details.cost_source = Some(CostSource::Reported);
            }
        }
        "tokens_in" | "input_tokens" | "prompt_tokens" => outcome.input_tokens = whole("tokens", value).ok().or(outcome.input_tokens),
        "tokens_out" | "output_tokens" | "completion_tokens" => {
            outcome.output_tokens = whole("tokens", value).ok().or(outcome.output_tokens);
        }
        "score" => outcome.score = number("score", value, Range::Any).ok().or(outcome.score),
        "steps" | "turns" | "num_turns" => details.steps = whole("steps", value).ok().or(details.steps),
        _ => {}
    }
}

/// Different tools of an item whose calls are counted.
pub(super) const MOST_TOOLS: usize = 500;

/// Counts a call of a tool. Those beyond the bound on different tools are not counted.
pub(super) fn count_tool(tools: &mut BTreeMap<String, u64>, name: String) {
    if tools.len() < MOST_TOOLS || tools.contains_key(&name) {
        *tools.entry(name).or_default() += 1;
    }
}

/// The names that a report gives what was tested, in properties of the whole.
#[derive(Clone, Debug, Default)]
pub(super) struct Names {
    pub suite: Option<String>,
    pub approach: Option<String>,
    pub model: Option<String>,
}

impl Names {
    pub fn take(&mut self, name: &str, value: &str) {
        let place = match name.trim().to_lowercase().as_str() {
            "suite" | "benchmark" => &mut self.suite,
            "approach" | "agent" => &mut self.approach,
            "model" => &mut self.model,
            _ => return,
        };
        if place.is_none() && !value.trim().is_empty() {
            *place = Some(value.trim().to_owned());
        }
    }
}
