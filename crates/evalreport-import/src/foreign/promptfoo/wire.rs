//! Fields of promptfoo's files that are read. Every field is optional, and any value may have an unexpected type.

use serde::Deserialize;
use serde_json::Value;

use super::super::json::{Lenient, ObjectList};

/// Keys of an evaluation that are read. Its rows are streamed.
pub(super) const HEAD_KEYS: [&str; 11] = [
    "evalId",
    "results.version",
    "results.timestamp",
    "results.prompts",
    "results.stats",
    "results.table.head",
    "config.description",
    "config.defaultTest.options.provider",
    "metadata.promptfooVersion",
    "runtimeOptions.repeat",
    "createdAt",
];

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct PromptfooHead {
    pub eval_id: Value,
    pub created_at: Value,
    pub results: Lenient<PromptfooResults>,
    pub config: Value,
    pub metadata: Value,
    pub runtime_options: Value,
}

#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct PromptfooResults {
    pub version: Value,
    pub timestamp: Value,
    /// One entry per column: a prompt with a provider.
    pub prompts: Value,
    pub stats: Value,
    /// In versions 1 and 2, a table instead of prompts.
    pub table: Lenient<PromptfooTable>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct PromptfooTable {
    pub head: Lenient<TableHead>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct TableHead {
    pub prompts: Value,
    /// Names of the variables, in the order of a row's values.
    pub vars: Value,
}

/// One column's prompt, provider and metrics.
#[derive(Clone, Default, Deserialize)]
#[serde(default)]
pub(super) struct PromptfooPrompt {
    pub id: Value,
    pub raw: Value,
    pub label: Value,
    /// The provider's label if it has one, else its id.
    pub provider: Value,
    pub metrics: Lenient<PromptfooMetrics>,
}

#[derive(Clone, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct PromptfooMetrics {
    pub score: Value,
    pub test_pass_count: Value,
    pub test_fail_count: Value,
    pub test_error_count: Value,
    pub assert_pass_count: Value,
    pub assert_fail_count: Value,
    pub total_latency_ms: Value,
    pub token_usage: Lenient<TokenUsage>,
    pub named_scores: Value,
    pub cost: Value,
}

/// One test in one column.
#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct PromptfooRow {
    pub id: Value,
    pub prompt_idx: Value,
    pub test_idx: Value,
    /// For future versions.
    pub repeat_index: Value,
    pub prompt_id: Value,
    pub prompt: Lenient<PromptfooPrompt>,
    /// An object, or a label in tables.
    pub provider: Value,
    pub test_case: Lenient<TestCase>,
    pub vars: Value,
    pub description: Value,
    pub success: Value,
    pub failure_reason: Value,
    pub error: Value,
    pub score: Value,
    pub named_scores: Value,
    pub grading_result: Lenient<PromptfooGrading>,
    pub response: Lenient<PromptfooResponse>,
    pub token_usage: Lenient<TokenUsage>,
    pub cost: Value,
    pub latency_ms: Value,
}

#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct TestCase {
    pub description: Value,
    pub vars: Value,
    pub assert: Value,
    pub metadata: Value,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct PromptfooGrading {
    pub pass: Value,
    pub reason: Value,
    /// One result per assertion.
    pub component_results: ObjectList<AssertionResult>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct AssertionResult {
    pub pass: Value,
    pub score: Value,
    pub reason: Value,
    pub assertion: Lenient<Assertion>,
    pub metadata: Value,
}

impl AssertionResult {
    /// Returns whether the assertion could not be graded: the model that grades gave no verdict.
    pub fn is_ungraded(&self) -> bool {
        self.metadata.get("graderError") == Some(&Value::Bool(true))
    }
}

#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct Assertion {
    #[serde(rename = "type")]
    pub kind: Value,
    pub value: Value,
    /// The name that the assertion's score has among the named scores.
    pub metric: Value,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct PromptfooResponse {
    pub output: Value,
    pub error: Value,
    pub cached: Value,
    pub token_usage: Lenient<TokenUsage>,
}

/// Prompt tokens include the provider's cache. `cached` counts tokens from promptfoo's own cache.
#[derive(Clone, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct TokenUsage {
    pub prompt: Value,
    pub completion: Value,
    pub total: Value,
    pub cached: Value,
    pub completion_details: Lenient<CompletionDetails>,
}

#[derive(Clone, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct CompletionDetails {
    pub cache_read_input_tokens: Value,
    pub cache_creation_input_tokens: Value,
}

/// One test in all columns, in the tables of versions 1 and 2.
#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct TableRow {
    /// One output per column. Empty if the test never ran.
    pub outputs: ObjectList<PromptfooOutput>,
    pub vars: Value,
    pub description: Value,
    pub test: Lenient<TestCase>,
    pub test_idx: Value,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct PromptfooOutput {
    pub id: Value,
    pub pass: Value,
    pub score: Value,
    pub named_scores: Value,
    pub failure_reason: Value,
    pub error: Value,
    /// The provider's answer, or its error.
    pub text: Value,
    /// The rendered prompt.
    pub prompt: Value,
    pub latency_ms: Value,
    pub cost: Value,
    pub token_usage: Lenient<TokenUsage>,
    pub grading_result: Lenient<PromptfooGrading>,
}

impl TableRow {
    /// Returns the rows of newer versions for this test, one per column.
    pub fn into_rows(self, place: u64, names: &Value) -> impl Iterator<Item = PromptfooRow> {
        let names = names.as_array().into_iter().flatten();
        let values = self.vars.as_array().into_iter().flatten();
        let vars: serde_json::Map<String, Value> = names
            .zip(values)
            .filter_map(|(name, value)| Some((name.as_str()?.to_owned(), value.clone())))
            .collect();
        let test_idx = if self.test_idx.is_null() {
            Value::from(place)
        } else {
            self.test_idx
        };
        let test = self.test.0.unwrap_or_default();
        let description = if self.description.is_null() {
            test.description
        } else {
            self.description
        };
        self.outputs
            .0
            .into_iter()
            .enumerate()
            .filter_map(move |(column, output)| {
                let output = output.0?;
                Some(PromptfooRow {
                    id: output.id,
                    prompt_idx: Value::from(column),
                    test_idx: test_idx.clone(),
                    prompt: Lenient(Some(PromptfooPrompt {
                        raw: output.prompt,
                        ..PromptfooPrompt::default()
                    })),
                    test_case: Lenient(Some(TestCase {
                        description: description.clone(),
                        vars: Value::Object(vars.clone()),
                        assert: test.assert.clone(),
                        metadata: test.metadata.clone(),
                    })),
                    success: output.pass,
                    failure_reason: output.failure_reason,
                    error: output.error,
                    score: output.score,
                    named_scores: output.named_scores,
                    grading_result: output.grading_result,
                    response: Lenient(Some(PromptfooResponse {
                        output: output.text,
                        ..PromptfooResponse::default()
                    })),
                    token_usage: output.token_usage,
                    cost: output.cost,
                    latency_ms: output.latency_ms,
                    ..PromptfooRow::default()
                })
            })
    }
}
