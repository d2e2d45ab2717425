//! One trace of an agent: its usage and its evaluations.

use std::collections::{BTreeMap, BTreeSet};

use crate::domain::{ItemStatus, Resources, Usage};
use crate::transcript::ModelRequest;

use super::super::property_metrics::count_tool;
use super::wire::{Attributes, OtlpSpan};

/// Operations that query a model. An agent's own span may have the sum of the spans below it.
const MODEL_OPERATIONS: [&str; 4] = ["chat", "generate_content", "text_completion", "embeddings"];
const AGENT_OPERATIONS: [&str; 2] = ["invoke_agent", "create_agent"];
/// Attributes that name the case of a trace. Without one, the trace's own id is the item.
const CASE_ATTRIBUTES: [&str; 4] = [
    "test.case.id",
    "test.case.name",
    "gen_ai.evaluation.case.id",
    "langfuse.dataset.item.id",
];

/// Sums over the spans of a trace.
#[derive(Default)]
pub(super) struct AgentTrace {
    pub service: String,
    pub instance: String,
    pub version: Option<String>,
    /// The machine, as the resource of its spans says.
    pub machine: Resources,
    pub agent: Option<String>,
    pub conversation: Option<String>,
    /// Case of a set, if a span names it.
    pub case: Option<String>,
    /// Who served the models.
    pub providers: BTreeSet<String>,
    requests: Vec<ModelRequest>,
    /// Usage by the agent's own spans.
    invoked: Vec<ModelRequest>,
    pub tools: BTreeMap<String, u64>,
    /// Start and end, in seconds since 1970.
    pub times: Option<(f64, f64)>,
    pub error: Option<String>,
    pub evaluations: Vec<TraceEvaluation>,
}

/// An evaluation of a trace or of one of its spans.
#[derive(Clone, Debug, Default)]
pub(super) struct TraceEvaluation {
    pub name: String,
    pub span: String,
    pub score: Option<f64>,
    pub label: Option<String>,
    pub explanation: Option<String>,
    pub error: Option<String>,
}

impl TraceEvaluation {
    /// Returns the evaluation, or `None` if the event names none.
    pub fn from_attributes(attributes: &Attributes, span: String) -> Option<Self> {
        Some(Self {
            name: attributes.text(&["gen_ai.evaluation.name"])?,
            span,
            score: attributes.number("gen_ai.evaluation.score.value"),
            label: attributes.text(&["gen_ai.evaluation.score.label"]),
            explanation: attributes.text(&["gen_ai.evaluation.explanation"]),
            error: attributes.text(&["error.type"]),
        })
    }

    /// Returns the status by the label. A number without a label has no known threshold.
    pub fn status(&self) -> ItemStatus {
        if self.error.is_some() {
            return ItemStatus::NotEvaluated;
        }
        match self.label.as_deref().map(str::to_lowercase).as_deref() {
            Some("pass" | "passed" | "true" | "yes" | "correct" | "success") => ItemStatus::Pass,
            Some("fail" | "failed" | "false" | "no" | "incorrect" | "failure") => ItemStatus::Fail,
            Some(_) => ItemStatus::Skipped,
            None if self.score.is_some() => ItemStatus::Skipped,
            None => ItemStatus::NotEvaluated,
        }
    }
}

/// Returns the tokens of a span. Its input tokens include the cached ones.
fn read_usage(attributes: &Attributes) -> Usage {
    let cache_read = attributes.count(&[
        "gen_ai.usage.cache_read.input_tokens",
        "gen_ai.usage.cache_read_input_tokens",
    ]);
    let cache_write = attributes.count(&[
        "gen_ai.usage.cache_creation.input_tokens",
        "gen_ai.usage.cache_creation_input_tokens",
    ]);
    let input = attributes.count(&["gen_ai.usage.input_tokens", "gen_ai.usage.prompt_tokens"]);
    let cached = cache_read
        .unwrap_or(0)
        .saturating_add(cache_write.unwrap_or(0));
    Usage {
        input: input.map(|input| input.saturating_sub(cached)),
        cache_write,
        cache_read,
        output: attributes.count(&[
            "gen_ai.usage.output_tokens",
            "gen_ai.usage.completion_tokens",
        ]),
    }
}

impl AgentTrace {
    /// Takes a span. Each span may be taken only once.
    pub fn add_span(&mut self, span: &OtlpSpan, parent: Option<&str>) {
        let attributes = &span.attributes;
        if let Some((start, end)) = span.start_and_end() {
            self.times = Some(self.times.map_or((start, end), |(first, last)| {
                (first.min(start), last.max(end))
            }));
        }
        let operation = attributes
            .text(&["gen_ai.operation.name"])
            .unwrap_or_default();
        self.case = self
            .case
            .take()
            .or_else(|| attributes.text(&CASE_ATTRIBUTES));
        self.conversation = self
            .conversation
            .take()
            .or_else(|| attributes.text(&["gen_ai.conversation.id", "session.id"]));
        if AGENT_OPERATIONS.contains(&operation.as_str())
            || (self.agent.is_none() && parent.is_none())
        {
            let agent = attributes.text(&["gen_ai.agent.name"]);
            // The root's agent comes before agents that it delegated to.
            self.agent = if parent.is_none() {
                agent.or(self.agent.take())
            } else {
                self.agent.take().or(agent)
            };
        }
        let usage = read_usage(attributes);
        let request = || ModelRequest {
            model: attributes.text(&["gen_ai.request.model", "gen_ai.response.model"]),
            usage,
            ..ModelRequest::default()
        };
        if MODEL_OPERATIONS.contains(&operation.as_str())
            || (operation.is_empty() && usage != Usage::default())
        {
            self.requests.push(request());
            // The second name is the first one's name before 2025.
            self.providers
                .extend(attributes.text(&["gen_ai.provider.name", "gen_ai.system"]));
        } else if usage != Usage::default() {
            self.invoked.push(request());
        }
        if operation == "execute_tool" {
            let tool = attributes
                .text(&["gen_ai.tool.name"])
                .unwrap_or_else(|| "tool".to_owned());
            count_tool(&mut self.tools, tool);
        }
        if parent.is_none() && span.is_error() {
            let why = attributes
                .text(&["error.type"])
                .or_else(|| span.status["message"].as_str().map(str::to_owned));
            self.error = Some(why.unwrap_or_else(|| "the trace ended with an error".to_owned()));
        }
    }

    /// Returns the requests to models: the spans of the requests, or without them the sums of the agent's own spans.
    pub fn requests(&self) -> &[ModelRequest] {
        if self.requests.is_empty() {
            &self.invoked
        } else {
            &self.requests
        }
    }

    /// Returns the names of the models, each once.
    pub fn model_names(&self) -> String {
        let mut models: Vec<&str> = self
            .requests()
            .iter()
            .filter_map(|request| request.model.as_deref())
            .collect();
        models.sort_unstable();
        models.dedup();
        models.join(" + ")
    }

    pub fn sum_usage(&self) -> Usage {
        self.requests()
            .iter()
            .fold(Usage::default(), |sum, request| sum.plus(&request.usage))
    }
}
