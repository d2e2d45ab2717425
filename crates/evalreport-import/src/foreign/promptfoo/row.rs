//! Turns one row into one outcome: its test, status and usage.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::domain::{CostSource, ItemDetails, ItemKind, ItemStatus, Usage};

use super::super::super::rows::ReadStop;
use super::super::super::source::hex_digest;
use super::super::json::{to_amount, to_count, to_filled_text, to_number, to_text};
use super::super::sink::{ImportSink, RunHandle, clip_text};
use super::wire::{AssertionResult, PromptfooRow, TokenUsage};

/// Variables that promptfoo sets itself, with new values in each run.
const OWN_VARS: [&str; 6] = [
    "_conversation",
    "sessionId",
    "sessionIds",
    "__evalId",
    "__evalStepId",
    "__repeatIndex",
];
const MAX_NAME_CHARS: usize = 60;

/// A test. promptfoo has no stable name for it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct PromptfooTest {
    /// SHA-256 of the description, the variables and the assertions.
    pub hash: String,
    pub name: String,
}

impl PromptfooTest {
    pub fn from_row(row: &PromptfooRow) -> Self {
        let case = row.test_case.0.as_ref();
        let description = case
            .and_then(|case| to_text(&case.description))
            .or_else(|| to_text(&row.description))
            .unwrap_or_default();
        let vars = case
            .map(|case| &case.vars)
            .filter(|vars| vars.is_object())
            .unwrap_or(&row.vars);
        // Sorted, because files order them differently.
        let vars: BTreeMap<&str, &Value> = vars
            .as_object()
            .into_iter()
            .flatten()
            .map(|(name, value)| (name.as_str(), value))
            .filter(|(name, _)| !OWN_VARS.contains(name))
            .collect();
        let assertions = case.map(|case| case.assert.to_string()).unwrap_or_default();
        let told = serde_json::to_string(&vars).unwrap_or_default();
        let hash = hex_digest(
            &[
                description.as_bytes(),
                told.as_bytes(),
                assertions.as_bytes(),
            ],
            true,
        );
        let words = if description.trim().is_empty() {
            let shown = |value: &Value| to_text(value).unwrap_or_else(|| value.to_string());
            vars.iter()
                .map(|(name, value)| format!("{name}={}", shown(value)))
                .collect::<Vec<_>>()
                .join(", ")
        } else {
            description
        };
        let words = words.split_whitespace().collect::<Vec<_>>().join(" ");
        let words = if words.is_empty() { "test" } else { &words };
        // Tests may share a description. A part of the hash makes the name unique and equal in every run.
        let name = format!("{} #{}", clip_text(words, MAX_NAME_CHARS), &hash[..8]);
        Self { hash, name }
    }

    /// Returns the hash of the item's content.
    fn item_hash(&self) -> String {
        self.hash[..32].to_owned()
    }

    /// Returns a short key of the test, for counting its rows.
    pub fn key(&self) -> u64 {
        u64::from_str_radix(&self.hash[..16], 16).unwrap_or_default()
    }
}

/// Returns a row's status. Errors of a provider count as wrong, as in promptfoo. `error` also holds reasons of failed assertions, so it
/// cannot tell.
pub(super) fn row_status(row: &PromptfooRow) -> ItemStatus {
    if row.success == Value::Bool(true) {
        let grading = row.grading_result.0.as_ref();
        let response = row.response.0.as_ref();
        // A pass that its own grading or its answer contradicts is none.
        let is_contradicted = grading.is_some_and(|grading| grading.pass == false)
            || response.is_some_and(|response| to_text(&response.error).is_some());
        return if is_contradicted {
            ItemStatus::NotEvaluated
        } else {
            ItemStatus::Pass
        };
    }
    let mut failed = assertion_results(row)
        .filter(|result| result.pass != true)
        .peekable();
    let is_ungraded = failed.peek().is_some() && failed.all(AssertionResult::is_ungraded);
    match to_count(&row.failure_reason) {
        Some(2) => ItemStatus::Error,
        // A grader that failed tells nothing about the answer.
        _ if is_ungraded => ItemStatus::NotEvaluated,
        Some(_) => ItemStatus::Fail,
        // Older files do not tell: a graded row failed, and an ungraded row has an error instead of an answer.
        None if row.grading_result.0.is_some() => ItemStatus::Fail,
        None if to_text(&row.error).is_some() => ItemStatus::Error,
        None if row.success.is_boolean() => ItemStatus::Fail,
        None => ItemStatus::NotEvaluated,
    }
}

/// Returns the results of the single assertions.
pub(super) fn assertion_results(row: &PromptfooRow) -> impl Iterator<Item = &AssertionResult> {
    row.grading_result
        .0
        .iter()
        .flat_map(|grading| grading.component_results.iter())
}

/// Stores the results of the single assertions as criteria of the row's item. An assertion's evaluator is its metric, else its type.
pub(super) fn add_assertions(
    run: RunHandle,
    row: &PromptfooRow,
    (test, attempt): (&PromptfooTest, u32),
    label: &str,
    sink: &mut ImportSink<'_>,
) -> Result<(), ReadStop> {
    let mut places: BTreeMap<String, u32> = BTreeMap::new();
    for result in assertion_results(row) {
        let assertion = result.assertion.0.as_ref();
        let name = assertion
            .and_then(|assertion| {
                to_filled_text(&assertion.metric).or_else(|| to_filled_text(&assertion.kind))
            })
            .unwrap_or_else(|| "assertion".to_owned());
        let place = places.entry(name.clone()).or_default();
        *place += 1;
        let status = match result.pass.as_bool() {
            _ if result.is_ungraded() => ItemStatus::NotEvaluated,
            Some(true) => ItemStatus::Pass,
            Some(false) => ItemStatus::Fail,
            None => ItemStatus::NotEvaluated,
        };
        let mut outcome = sink.new_outcome(run, &test.name, status);
        outcome.kind = ItemKind::Criterion;
        outcome.attempt = attempt;
        outcome.score = to_number(&result.score);
        outcome.evaluator = match *place {
            1 => name,
            place => format!("{name} ({place})"),
        };
        let details = ItemDetails {
            reason: to_filled_text(&result.reason).filter(|_| status != ItemStatus::Pass),
            question: assertion.and_then(|assertion| shown_text(&assertion.value)),
            item_hash: Some(test.item_hash()),
            ..ItemDetails::default()
        };
        let label = format!("{label}, {}", outcome.evaluator);
        sink.add_outcome(run, &label, outcome, details)?;
    }
    Ok(())
}

/// Returns a value as text, lists and objects as JSON.
fn shown_text(value: &Value) -> Option<String> {
    let text = match value {
        Value::Null => None,
        Value::Array(_) | Value::Object(_) => Some(value.to_string()),
        Value::Bool(_) | Value::Number(_) | Value::String(_) => to_text(value),
    };
    text.filter(|text| !text.trim().is_empty())
}

/// Returns the tokens of a row's answer. promptfoo adds up those of the response; a row's own also count its graders, and a table's row has
/// no response. `None` if nothing was counted.
pub(super) fn answer_tokens(row: &PromptfooRow) -> Option<&TokenUsage> {
    let response = row.response.0.as_ref();
    let of_response = response.and_then(|response| response.token_usage.0.as_ref());
    of_response
        .into_iter()
        .chain(row.token_usage.0.as_ref())
        .find(|usage| {
            [&usage.total, &usage.prompt, &usage.completion]
                .into_iter()
                .any(|tokens| to_count(tokens).is_some_and(|tokens| tokens > 0))
        })
}

/// Usage of a row.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct RowUsage {
    pub usage: Option<Usage>,
    pub cost: Option<f64>,
    pub seconds: Option<f64>,
}

impl RowUsage {
    pub fn from_row(row: &PromptfooRow, sink: &mut ImportSink<'_>) -> Self {
        let response = row.response.0.as_ref();
        let usage = answer_tokens(row);
        let is_from_cache = response.is_some_and(|response| response.cached == Value::Bool(true))
            || usage.is_some_and(|usage| {
                to_count(&usage.prompt).unwrap_or(0) == 0
                    && to_count(&usage.cached).is_some_and(|cached| cached > 0)
            });
        if is_from_cache {
            sink.note_quirk(
                "answers from promptfoo's cache have no time, tokens or cost of their own",
            );
            return Self::default();
        }
        Self {
            usage: usage.map(to_usage),
            // promptfoo writes 0 both for no cost and for an unknown price.
            cost: to_amount(&row.cost).filter(|cost| *cost > 0.0),
            seconds: to_amount(&row.latency_ms).map(|milliseconds| milliseconds / 1000.0),
        }
    }
}

/// Returns the tokens. The prompt's tokens include the provider's cache; our input excludes it.
fn to_usage(usage: &TokenUsage) -> Usage {
    let details = usage.completion_details.0.clone().unwrap_or_default();
    let prompt = to_count(&usage.prompt);
    let part = |value: &Value| to_count(value).filter(|tokens| *tokens > 0);
    let (read, write) = (
        part(&details.cache_read_input_tokens),
        part(&details.cache_creation_input_tokens),
    );
    let cached = read.unwrap_or(0).saturating_add(write.unwrap_or(0));
    // The cache cannot exceed the prompt. If it does, the cache is unknown.
    let (read, write, cached) = if prompt.is_some_and(|prompt| cached <= prompt) {
        (read, write, cached)
    } else {
        (None, None, 0)
    };
    Usage {
        input: prompt.map(|prompt| prompt - cached),
        cache_write: write,
        cache_read: read,
        output: to_count(&usage.completion),
    }
}

/// Returns the test's category, or the plug-in that generated it.
pub(super) fn row_category(row: &PromptfooRow) -> Option<String> {
    let metadata = &row.test_case.0.as_ref()?.metadata;
    let named = |key: &str| metadata.get(key).and_then(to_filled_text);
    named("category").or_else(|| named("pluginId"))
}

pub(super) fn row_details(
    row: &PromptfooRow,
    test: &PromptfooTest,
    status: ItemStatus,
    used: &RowUsage,
) -> ItemDetails {
    let case = row.test_case.0.as_ref();
    let filled = |text: Option<String>| text.filter(|text| !text.trim().is_empty());
    let graded = row
        .grading_result
        .0
        .as_ref()
        .and_then(|grading| to_text(&grading.reason));
    let reason = match status {
        ItemStatus::Pass => None,
        ItemStatus::Error => filled(to_text(&row.error)).or(graded),
        ItemStatus::Fail
        | ItemStatus::Limit
        | ItemStatus::Infra
        | ItemStatus::Skipped
        | ItemStatus::NotEvaluated => filled(graded).or_else(|| to_text(&row.error)),
    };
    let assertions = case
        .and_then(|case| case.assert.as_array())
        .into_iter()
        .flatten();
    ItemDetails {
        reason: filled(reason),
        reply: row
            .response
            .0
            .as_ref()
            .and_then(|response| shown_text(&response.output)),
        expected: assertions
            .filter_map(|assertion| shown_text(assertion.get("value")?))
            .collect(),
        question: row
            .prompt
            .0
            .as_ref()
            .and_then(|prompt| shown_text(&prompt.raw)),
        usage: used.usage,
        cost_source: used.cost.map(|_| CostSource::Reported),
        item_hash: Some(test.item_hash()),
        scores: named_scores(&row.named_scores),
        ..ItemDetails::default()
    }
}

pub(super) fn named_scores(scores: &Value) -> BTreeMap<String, f64> {
    scores
        .as_object()
        .into_iter()
        .flatten()
        .filter_map(|(name, value)| Some((name.clone(), to_number(value)?)))
        .collect()
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;
    use serde_json::json;

    use super::*;

    fn row(value: Value) -> PromptfooRow {
        PromptfooRow::deserialize(value).expect("anything goes")
    }

    #[test]
    fn a_test_is_what_it_asks_and_asserts() {
        let test = |case: Value| PromptfooTest::from_row(&row(json!({"testCase": case})));
        let plain = test(
            json!({"description": "sum", "vars": {"a": 1, "b": "x"}, "assert": [{"type": "equals", "value": "2"}]}),
        );
        assert!(plain.name.starts_with("sum #"), "{}", plain.name);
        let moved = test(
            json!({"vars": {"b": "x", "sessionId": "s-1", "a": 1}, "assert": [{"type": "equals", "value": "2"}], "description": "sum"}),
        );
        assert_eq!(plain, moved);
        for other in [
            json!({"description": "sum", "vars": {"a": 2, "b": "x"}, "assert": [{"type": "equals", "value": "2"}]}),
            json!({"description": "sum", "vars": {"a": 1, "b": "x"}, "assert": [{"type": "equals", "value": "3"}]}),
        ] {
            assert_ne!(plain.hash, test(other).hash);
        }
        assert!(
            test(json!({"vars": {"q": "one\ntwo"}}))
                .name
                .starts_with("q=one two #")
        );
    }

    #[test]
    fn only_the_failure_reason_tells_an_error() {
        for (value, expected) in [
            (
                json!({"success": true, "failureReason": 0}),
                ItemStatus::Pass,
            ),
            (
                json!({"success": false, "failureReason": 1, "error": "expected x"}),
                ItemStatus::Fail,
            ),
            (
                json!({"success": false, "failureReason": 2, "error": "HTTP 500"}),
                ItemStatus::Error,
            ),
            (
                json!({"success": false, "error": "HTTP 500", "gradingResult": null}),
                ItemStatus::Error,
            ),
            (
                json!({"success": false, "error": "expected x", "gradingResult": {"pass": false}}),
                ItemStatus::Fail,
            ),
            (json!({"success": false}), ItemStatus::Fail),
            (
                json!({"success": false, "failureReason": 1, "gradingResult": {"componentResults": [
                    {"pass": true}, {"pass": false, "metadata": {"graderError": true}}]}}),
                ItemStatus::NotEvaluated,
            ),
            (
                json!({"success": false, "failureReason": 1, "gradingResult": {"componentResults": [
                    {"pass": false}, {"pass": false, "metadata": {"graderError": true}}]}}),
                ItemStatus::Fail,
            ),
            (json!({}), ItemStatus::NotEvaluated),
        ] {
            assert_eq!(row_status(&row(value.clone())), expected, "{value}");
        }
    }

    #[test]
    fn the_answers_tokens_come_before_those_of_the_row() {
        let total = |value: Value| {
            let row = row(value);
            answer_tokens(&row).and_then(|usage| to_count(&usage.total))
        };
        let with_graders = json!({"total": 9, "assertions": {"total": 4}});
        assert_eq!(
            total(json!({"tokenUsage": with_graders, "response": {"tokenUsage": {"total": 5}}})),
            Some(5)
        );
        assert_eq!(
            total(json!({"tokenUsage": {"total": 9}, "response": {"tokenUsage": {"total": 0}}})),
            Some(9)
        );
        assert_eq!(total(json!({"tokenUsage": {"prompt": 0}})), None);
    }

    #[test]
    fn the_providers_cache_is_within_the_prompt() {
        let usage =
            |value: Value| to_usage(&TokenUsage::deserialize(value).expect("anything goes"));
        let details = json!({"cacheReadInputTokens": 60, "cacheCreationInputTokens": 10});
        let known = usage(json!({"prompt": 100, "completion": 5, "completionDetails": details}));
        assert_eq!(
            (
                known.input,
                known.cache_read,
                known.cache_write,
                known.input_total()
            ),
            (Some(30), Some(60), Some(10), Some(100))
        );
        let odd = usage(json!({"prompt": 50, "completionDetails": details}));
        assert_eq!(
            (odd.input, odd.cache_read, odd.input_total()),
            (Some(50), None, Some(50))
        );
    }
}
