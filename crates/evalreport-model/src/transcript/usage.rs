//! Finds tokens, cost and turns anywhere in an agent's JSON.
//!
//! Programs and services use different names and nesting, so each figure is searched under all its names at any depth. The outermost match
//! wins, because totals are outside their parts. Values below `content` and `input` come from the model, not the program, so figures there
//! are ignored.

use std::collections::VecDeque;

use serde_json::{Map, Value};

use crate::domain::{Usage, is_amount};

/// Fields whose contents come from a model or a tool.
const SPOKEN_FIELDS: [&str; 7] = [
    "content",
    "input",
    "tool_input",
    "structured_output",
    "arguments",
    "choices",
    "transcript",
];

/// Finds token counts by any of their usual names, as numbers or numeric texts.
///
/// Anthropic's `input_tokens` excludes cached tokens. OpenAI's `prompt_tokens` includes them, so they are subtracted: the parts of
/// [`Usage`] never overlap.
pub fn find_usage(value: &Value) -> Usage {
    let details = find_field(value, &["cached_tokens"], as_count);
    let cache_read = find_field(value, &["cache_read_input_tokens"], as_count).or(details);
    let anthropic = find_field(value, &["input_tokens"], as_count);
    let input = match (anthropic, details) {
        // OpenAI's newer API also uses `input_tokens`, with `cached_tokens` included in it.
        (Some(input), Some(cached)) => Some(input.saturating_sub(cached)),
        (Some(input), None) => Some(input),
        (None, cached) => find_field(value, &["prompt_tokens"], as_count)
            .map(|prompt| prompt.saturating_sub(cached.unwrap_or(0))),
    };
    Usage {
        input,
        cache_write: find_field(value, &["cache_creation_input_tokens"], as_count),
        cache_read,
        output: find_field(value, &["output_tokens", "completion_tokens"], as_count),
    }
}

pub fn find_cost(value: &Value) -> Option<f64> {
    ["total_cost_usd", "cost_usd", "total_cost", "cost"]
        .iter()
        .find_map(|name| find_field(value, &[name], as_amount))
}

pub fn find_count(value: &Value, name: &str) -> Option<u64> {
    find_field(value, &[name], as_count)
}

/// Searches breadth first, and in document order within a level.
fn find_field<T>(value: &Value, names: &[&str], read: fn(&Value) -> Option<T>) -> Option<T> {
    let mut waiting = VecDeque::from([value]);
    while let Some(value) = waiting.pop_front() {
        match value {
            Value::Object(fields) => {
                if let Some(found) = own_field(fields, names, read) {
                    return Some(found);
                }
                waiting.extend(
                    fields
                        .iter()
                        .filter(|(name, _)| !SPOKEN_FIELDS.contains(&name.as_str()))
                        .map(|(_, value)| value),
                );
            }
            Value::Array(values) => waiting.extend(values),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
        }
    }
    None
}

fn own_field<T>(
    fields: &Map<String, Value>,
    names: &[&str],
    read: fn(&Value) -> Option<T>,
) -> Option<T> {
    names
        .iter()
        .find_map(|name| fields.get(*name).and_then(read))
}

/// Reads a count: a whole number, or a text that holds one.
pub fn as_count(value: &Value) -> Option<u64> {
    match value {
        Value::Number(number) => number.as_u64().or_else(|| whole_number(number.as_f64()?)),
        Value::String(text) => text.trim().parse().ok(),
        Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => None,
    }
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a whole number within 2^53, checked just before"
)]
fn whole_number(number: f64) -> Option<u64> {
    (number >= 0.0 && number.fract() == 0.0 && number <= 9_007_199_254_740_992.0)
        .then_some(number as u64)
}

/// Reads an amount of at least 0.
pub fn as_amount(value: &Value) -> Option<f64> {
    let amount = match value {
        Value::Number(number) => number.as_f64(),
        Value::String(text) => text.trim().trim_start_matches('$').parse().ok(),
        Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => None,
    };
    amount.filter(|amount| is_amount(*amount))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_cache_counts_as_input_and_is_kept_apart() {
        let usage = find_usage(&json!({"usage": {
            "input_tokens": 2, "cache_creation_input_tokens": 6843, "cache_read_input_tokens": 91983, "output_tokens": 400
        }}));
        assert_eq!(
            usage,
            Usage {
                input: Some(2),
                cache_write: Some(6843),
                cache_read: Some(91983),
                output: Some(400)
            }
        );
        assert_eq!(
            (usage.input_total(), usage.total()),
            (Some(98_828), Some(99_228))
        );
    }

    #[test]
    fn openai_counts_its_cache_within_the_prompt() {
        let usage = find_usage(&json!({"usage": {
            "prompt_tokens": 100, "completion_tokens": 5, "prompt_tokens_details": {"cached_tokens": 60}
        }}));
        assert_eq!(
            usage,
            Usage {
                input: Some(40),
                cache_write: None,
                cache_read: Some(60),
                output: Some(5)
            }
        );
        assert_eq!(usage.input_total(), Some(100));
    }

    #[test]
    fn figures_are_found_at_any_depth_as_numbers_or_text() {
        let value = json!({"a": [{"b": {"prompt_tokens": " 12 ", "completion_tokens": 3.0}}], "cost": "$0.5", "x": {"num_turns": "4"}});
        assert_eq!(
            find_usage(&value),
            Usage {
                input: Some(12),
                output: Some(3),
                ..Usage::default()
            }
        );
        assert_eq!(
            (find_cost(&value), find_count(&value, "num_turns")),
            (Some(0.5), Some(4))
        );
    }

    #[test]
    fn a_total_stands_above_its_parts_and_a_model_is_not_believed() {
        let value = json!({
            "content": [{"input": {"cost_usd": 99, "output_tokens": 1}}],
            "models": [{"cost": 1.0, "output_tokens": 7}],
            "usage": {"output_tokens": 9},
            "total_cost_usd": 2.0
        });
        assert_eq!(
            (find_cost(&value), find_usage(&value).output),
            (Some(2.0), Some(9))
        );
        assert_eq!(
            find_cost(&json!({"permission": {"tool_input": {"cost": 3}}})),
            None
        );
    }

    #[test]
    fn what_is_no_figure_is_absent() {
        for value in [
            json!({"output_tokens": -1}),
            json!({"output_tokens": "many"}),
            json!({"output_tokens": 1.5}),
            json!(null),
            json!([]),
        ] {
            assert_eq!(find_usage(&value), Usage::default(), "{value}");
        }
        assert_eq!(find_cost(&json!({"cost": -1.0})), None);
        assert_eq!(find_cost(&json!({"cost": "NaN"})), None);
        assert_eq!(Usage::default().total(), None);
    }
}
