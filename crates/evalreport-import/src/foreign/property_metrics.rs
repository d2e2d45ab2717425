//! Cost, tokens and names that reports give in free-form properties, and counts of tool calls.

use std::collections::BTreeMap;

use serde_json::Value;

use super::super::cell::{NumberRange, parse_count, parse_number};
use super::json::to_text;
use crate::domain::{CostSource, ItemDetails, ItemOutcome};

/// Takes a test's property if its name is a common one for a cost, tokens, a score or steps.
///
/// A cost of zero is not taken: it means that the price was unknown.
pub(super) fn apply_property(
    name: &str,
    value: &str,
    outcome: &mut ItemOutcome,
    details: &mut ItemDetails,
) {
    let value = value.trim();
    match name
        .trim()
        .to_lowercase()
        .replace(['-', '.', ' '], "_")
        .as_str()
    {
        "cost_usd" | "cost" | "total_cost" | "total_cost_usd" => {
            if let Some(cost) = parse_number("cost", value, NumberRange::NotNegative)
                .ok()
                .filter(|cost| *cost > 0.0)
            {
                outcome.cost_usd = Some(cost);
                details.cost_source = Some(CostSource::Reported);
            }
        }
        "tokens_in" | "input_tokens" | "prompt_tokens" => {
            outcome.input_tokens = parse_count("tokens", value).ok().or(outcome.input_tokens);
        }
        "tokens_out" | "output_tokens" | "completion_tokens" => {
            outcome.output_tokens = parse_count("tokens", value).ok().or(outcome.output_tokens);
        }
        "score" => {
            outcome.score = parse_number("score", value, NumberRange::Any)
                .ok()
                .or(outcome.score);
        }
        "steps" | "turns" | "num_turns" => {
            details.steps = parse_count("steps", value).ok().or(details.steps);
        }
        _ => {}
    }
}

/// Takes the properties of an object. Any other value has none.
pub(super) fn apply_properties(
    properties: &Value,
    outcome: &mut ItemOutcome,
    details: &mut ItemDetails,
) {
    for (name, value) in properties.as_object().into_iter().flatten() {
        apply_property(name, &to_text(value).unwrap_or_default(), outcome, details);
    }
}

/// Maximum number of different tools of an item whose calls are counted.
pub(super) const MAX_TOOLS: usize = 500;

/// Counts a call of a tool. Further tools beyond [`MAX_TOOLS`] are not counted.
pub(super) fn count_tool(tools: &mut BTreeMap<String, u64>, name: String) {
    if tools.len() < MAX_TOOLS || tools.contains_key(&name) {
        *tools.entry(name).or_default() += 1;
    }
}

/// Suite of a report of tests that names none. The file's name does not: it is another one in each night and on each machine.
pub(super) const UNNAMED_SUITE: &str = "tests";

/// Suite, approach and model, as properties of a whole report name them.
#[derive(Clone, Debug, Default)]
pub(super) struct ReportedNames {
    pub suite: Option<String>,
    pub approach: Option<String>,
    pub model: Option<String>,
}

impl ReportedNames {
    /// Returns the names in an object's properties. Any other value has none.
    pub fn from_properties(properties: &Value) -> Self {
        let mut names = Self::default();
        for (name, value) in properties.as_object().into_iter().flatten() {
            names.add_property(name, &to_text(value).unwrap_or_default());
        }
        names
    }

    pub fn add_property(&mut self, name: &str, value: &str) {
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
