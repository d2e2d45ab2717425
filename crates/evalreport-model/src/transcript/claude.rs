//! Claude's messages, as printed by its command line program and as stored in its session files.
//!
//! A message spans several lines, one per content block, and each line holds the message's tokens so far. Messages are also repeated when a
//! session continues in another one, or when a task moves to a side chain.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::ModelRequest;
use super::usage::{as_amount, as_count, find_usage};
use crate::domain::Usage;

/// The messages of one session, without repetitions.
#[derive(Clone, Debug, Default)]
pub struct ClaudeMessages {
    /// In order of first appearance.
    all: Vec<ClaudeMessage>,
    by_id: BTreeMap<String, Vec<usize>>,
    /// The ids of tool calls.
    calls: BTreeSet<String>,
    lines: u64,
}

/// One message from the model.
#[derive(Clone, Debug, Default)]
pub struct ClaudeMessage {
    id: Option<String>,
    request_id: Option<String>,
    pub request: ModelRequest,
    /// The message's cost, which older versions report.
    pub usd: Option<f64>,
    is_side_chain: bool,
    /// Tool calls in the message's blocks.
    called: BTreeMap<String, u64>,
    /// Requests to the service's own tools, as the usage counts them.
    served: BTreeMap<String, u64>,
}

/// Returns whether the line is a message from the model, or a part of one.
pub fn is_model_message(line: &Value) -> bool {
    match line.get("type") {
        Some(kind) => kind == "assistant",
        None => line["message"]["role"] == "assistant",
    }
}

impl ClaudeMessage {
    fn from_line(line: &Value) -> Self {
        let text = |value: &Value| {
            value
                .as_str()
                .filter(|text| !text.is_empty())
                .map(str::to_owned)
        };
        let message = &line["message"];
        let usage = find_usage(&message["usage"]);
        let counted = |(name, count): (&String, &Value)| {
            let count = as_count(count).filter(|count| *count > 0)?;
            Some((name.strip_suffix("_requests")?.to_owned(), count))
        };
        Self {
            id: text(&message["id"]),
            request_id: text(&line["requestId"]),
            // Messages that the program writes itself, such as errors, have a model name in angle brackets.
            request: ModelRequest {
                model: text(&message["model"]).filter(|name| !name.starts_with('<')),
                usage,
                long_writes: message
                    .pointer("/usage/cache_creation/ephemeral_1h_input_tokens")
                    .and_then(as_count)
                    .unwrap_or(0),
                time: text(&line["timestamp"]),
                has_other_price: message["usage"]["speed"] == "fast",
            },
            usd: line.get("costUSD").and_then(as_amount),
            is_side_chain: line["isSidechain"] == true,
            called: BTreeMap::new(),
            served: message["usage"]["server_tool_use"]
                .as_object()
                .into_iter()
                .flatten()
                .filter_map(counted)
                .collect(),
        }
    }

    /// Returns the message's id and the request's, which identify it in every session. `None` if the message has no id.
    pub fn identity(&self) -> Option<[&str; 2]> {
        Some([
            self.id.as_deref()?,
            self.request_id.as_deref().unwrap_or_default(),
        ])
    }

    /// Returns the message's tool calls by name. Of the service's own tools, some requests are not in the message's blocks.
    pub fn tool_calls(&self) -> BTreeMap<String, u64> {
        let mut tools = self.called.clone();
        for (name, requests) in &self.served {
            let called = tools.entry(name.clone()).or_default();
            *called = (*called).max(*requests);
        }
        tools
    }

    /// Returns whether two messages with the same id are the same: they answer the same request, or a side chain repeats one from outside.
    fn is_copy_of(&self, other: &Self) -> bool {
        self.request_id == other.request_id || self.is_side_chain != other.is_side_chain
    }

    /// Returns a key for choosing between copies. The larger one wins: outside a side chain, then more tokens, then a higher cost, then the
    /// fast mode.
    fn copy_rank(&self) -> (bool, u64, f64, bool) {
        (
            !self.is_side_chain,
            self.request.usage.total().unwrap_or(0),
            self.usd.unwrap_or(0.0),
            self.request.has_other_price,
        )
    }
}

impl ClaudeMessages {
    /// Adds a line of the transcript. Ignores lines that are not messages from the model.
    pub fn add_line(&mut self, line: &Value) {
        if !is_model_message(line) {
            return;
        }
        self.lines += 1;
        let place = self.insert_message(ClaudeMessage::from_line(line));
        let blocks = line["message"]["content"]
            .as_array()
            .map_or(&[][..], Vec::as_slice);
        // Tools of the program, of an MCP server and of the service: `tool_use`, `mcp_tool_use`, `server_tool_use`.
        for block in blocks.iter().filter(|block| {
            block["type"]
                .as_str()
                .is_some_and(|kind| kind.ends_with("tool_use"))
        }) {
            let is_new = block["id"]
                .as_str()
                .is_none_or(|id| self.calls.insert(id.to_owned()));
            if is_new && let Some(name) = block["name"].as_str() {
                *self.all[place].called.entry(name.to_owned()).or_insert(0) += 1;
            }
        }
    }

    /// Adds the message or a part of it, and returns its place.
    fn insert_message(&mut self, message: ClaudeMessage) -> usize {
        let Some(id) = &message.id else {
            self.all.push(message);
            return self.all.len() - 1;
        };
        let places = self.by_id.entry(id.clone()).or_default();
        match places
            .iter()
            .copied()
            .find(|place| self.all[*place].is_copy_of(&message))
        {
            Some(place) => {
                let known = &mut self.all[place];
                // Among equal copies, the last counts.
                if message.copy_rank() >= known.copy_rank() {
                    *known = ClaudeMessage {
                        called: std::mem::take(&mut known.called),
                        ..message
                    };
                }
                place
            }
            None => {
                places.push(self.all.len());
                self.all.push(message);
                self.all.len() - 1
            }
        }
    }

    pub fn as_slice(&self) -> &[ClaudeMessage] {
        &self.all
    }

    /// Returns the number of message lines, including repetitions.
    pub fn line_count(&self) -> u64 {
        self.lines
    }

    /// Returns the number of distinct message ids, or `None` if no message has an id.
    pub fn turn_count(&self) -> Option<u64> {
        (!self.by_id.is_empty()).then_some(self.by_id.len() as u64)
    }

    /// Returns the tokens of all messages.
    pub fn total_usage(&self) -> Usage {
        self.all.iter().fold(Usage::default(), |sum, message| {
            sum.plus(&message.request.usage)
        })
    }

    /// Returns the requests to models. Messages of the program itself name no model and take no tokens.
    pub fn requests(&self) -> impl Iterator<Item = &ModelRequest> {
        self.model_messages().map(|message| &message.request)
    }

    /// Returns the cost that the messages report, or `None` if one of them does not.
    pub fn reported_cost(&self) -> Option<f64> {
        self.model_messages().next()?;
        self.model_messages().map(|message| message.usd).sum()
    }

    fn model_messages(&self) -> impl Iterator<Item = &ClaudeMessage> {
        let took = |request: &ModelRequest| {
            request.model.is_some() || request.usage.total().is_some_and(|tokens| tokens > 0)
        };
        self.all
            .iter()
            .filter(move |message| took(&message.request))
    }

    /// Returns tool calls by name, or `None` if there are no messages.
    pub fn tool_calls(&self) -> Option<BTreeMap<String, u64>> {
        (self.lines > 0).then(|| {
            let mut tools = BTreeMap::new();
            for (name, calls) in self.all.iter().flat_map(ClaudeMessage::tool_calls) {
                *tools.entry(name).or_insert(0) += calls;
            }
            tools
        })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn counted(lines: &[Value]) -> ClaudeMessages {
        let mut messages = ClaudeMessages::default();
        for line in lines {
            messages.add_line(line);
        }
        messages
    }

    fn line(id: &str, request: &str, output: u64, is_side_chain: bool) -> Value {
        json!({"type": "assistant", "requestId": request, "isSidechain": is_side_chain,
            "message": {"id": id, "model": "m", "usage": {"input_tokens": 2, "output_tokens": output}}})
    }

    #[test]
    fn a_message_in_several_lines_counts_once_and_whole() {
        let streamed = counted(&[
            line("m1", "r1", 1, false),
            line("m1", "r1", 8, false),
            line("m1", "r1", 3, false),
            line("m2", "r2", 5, false),
        ]);
        assert_eq!(
            streamed.total_usage(),
            Usage {
                input: Some(4),
                output: Some(13),
                ..Usage::default()
            }
        );
        assert_eq!(
            (
                streamed.as_slice().len(),
                streamed.line_count(),
                streamed.turn_count()
            ),
            (2, 4, Some(2))
        );
    }

    #[test]
    fn a_side_chain_repeats_what_was_said_outside_of_it() {
        for lines in [
            [line("m1", "r1", 8, false), line("m1", "r9", 9, true)],
            [line("m1", "r9", 9, true), line("m1", "r1", 8, false)],
        ] {
            assert_eq!(counted(&lines).total_usage().output, Some(8));
        }
        let two = counted(&[line("m1", "r1", 8, false), line("m1", "r2", 9, false)]);
        assert_eq!(
            two.total_usage().output,
            Some(17),
            "two requests that were answered outside of a side chain"
        );
    }

    #[test]
    fn messages_without_an_id_are_no_repetitions_and_others_say_nothing() {
        let nameless = json!({"message": {"role": "assistant", "usage": {"input_tokens": 1, "output_tokens": 1}}});
        let user =
            json!({"type": "user", "message": {"role": "assistant", "usage": {"input_tokens": 9}}});
        let found = counted(&[nameless.clone(), nameless, user]);
        assert_eq!(
            (
                found.total_usage().total(),
                found.turn_count(),
                found.as_slice().len()
            ),
            (Some(4), None, 2)
        );
    }

    #[test]
    fn tools_of_the_service_are_tools() {
        let block =
            |kind: &str, name: &str| json!({"type": kind, "id": name, "name": name, "input": {}});
        let message = |blocks: Value| {
            json!({"type": "assistant", "message": {"id": "m", "content": blocks,
                "usage": {"input_tokens": 1, "server_tool_use": {"web_search_requests": 3, "web_fetch_requests": 0}}}})
        };
        let found = counted(&[
            message(json!([block("server_tool_use", "web_search")])),
            message(json!([
                block("mcp_tool_use", "lookup"),
                block("tool_use", "Bash"),
                block("text", "x")
            ])),
        ]);
        let expected = [("Bash", 1), ("lookup", 1), ("web_search", 3)]
            .map(|(name, calls)| (name.to_owned(), calls));
        assert_eq!(found.tool_calls(), Some(BTreeMap::from(expected)));
    }

    #[test]
    fn the_program_itself_is_no_model() {
        let synthetic = json!({"type": "assistant", "message": {"id": "s", "model": "<synthetic>", "usage": {"input_tokens": 0, "output_tokens": 0}}});
        assert_eq!(counted(&[synthetic]).as_slice()[0].request.model, None);
    }
}
