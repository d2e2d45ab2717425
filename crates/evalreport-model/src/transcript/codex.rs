//! Codex sessions: events as printed by `codex exec --json`, as stored in session files, and as printed by older releases.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::ModelRequest;
use super::usage::as_count;
use crate::domain::{Repeated, Usage};

/// Types of items that are tool calls, which are counted under the type's name. A call to an MCP server is counted under its server and
/// tool.
const CALL_TYPES: [&str; 5] = [
    "command_execution",
    "file_change",
    "mcp_tool_call",
    "collab_tool_call",
    "web_search",
];

/// The usage of a session so far.
#[derive(Clone, Debug, Default)]
pub struct CodexTranscript {
    usage: Option<Usage>,
    /// The last total that the session reported.
    told: Option<CodexTotal>,
    /// Totals before the session began to sum up anew.
    earlier: Option<CodexTotal>,
    /// The part of the first total that came before the first request counted here: of a session that this one continues.
    inherited: Option<CodexTotal>,
    requests: Vec<ModelRequest>,
    models: Vec<String>,
    /// The ids of messages and calls.
    steps: BTreeSet<String>,
    calls: BTreeMap<String, String>,
    /// The ids of calls that were not asked for.
    new_calls: BTreeSet<String>,
    pub version: Option<String>,
    pub repeated: Option<Repeated>,
    /// The number of the last announced retry, and its reason. `None` once the service has answered.
    again: Option<(u64, String)>,
    /// Whether any event came in a form that also reports tools.
    tells_tools: bool,
}

/// A total over the session, as reported.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CodexTotal {
    pub usage: Usage,
    pub total: Option<u64>,
}

impl CodexTotal {
    fn from_json(total: &Value) -> Self {
        Self {
            usage: parse_usage(total),
            total: total.get("total_tokens").and_then(as_count),
        }
    }

    fn plus(self, other: Option<Self>) -> Self {
        let Some(other) = other else { return self };
        let total = self
            .total
            .zip(other.total)
            .map(|(total, other)| total.saturating_add(other));
        Self {
            usage: self.usage.plus(&other.usage),
            total,
        }
    }

    fn minus(self, other: Option<Self>) -> Self {
        let Some(other) = other else { return self };
        let total = self
            .total
            .map(|total| total.saturating_sub(other.total.or(other.usage.total()).unwrap_or(0)));
        Self {
            usage: subtract_usage(&self.usage, &other.usage),
            total,
        }
    }

    /// Returns whether the session began to sum up anew after `before`.
    fn restarts_after(&self, before: &Self) -> bool {
        self.usage.input_total() < before.usage.input_total()
            || self.usage.output < before.usage.output
    }
}

impl CodexTranscript {
    pub fn add_line(&mut self, line: &Value) {
        match line["type"].as_str() {
            Some("item.started" | "item.updated" | "item.completed") => self.add_item(line),
            Some("thread.started" | "turn.started") => self.tells_tools = true,
            // In a session with several turns, each event holds the total so far.
            Some("turn.completed") => {
                self.usage = line.get("usage").map(parse_usage).or(self.usage);
            }
            Some("turn.failed") => {}
            Some("error") => {
                let message = line["message"].as_str().unwrap_or_default();
                if is_retry_notice(message) {
                    self.note_retry(message);
                }
            }
            _ => {
                let (kind, event) = split_event(line);
                self.add_event(kind, event, line);
            }
        }
    }

    /// Handles the announcement `Reconnecting... 2/5 (why)`. The first retries may be unannounced.
    fn note_retry(&mut self, message: &str) {
        let (announced, why) = message.split_once(" (").unwrap_or((message, message));
        let before = self.again.as_ref().map_or(0, |(number, _)| *number);
        let number = announced
            .rsplit(' ')
            .next()
            .and_then(|count| count.split_once('/')?.0.parse().ok());
        let retries = number.map_or(
            1,
            |number: u64| if number > before { number - before } else { 1 },
        );
        let again = Repeated {
            retries,
            throttled: if Repeated::reports_throttling(why) {
                retries
            } else {
                0
            },
            waited_seconds: None,
        };
        self.repeated = Some(self.repeated.unwrap_or_default().plus(&again));
        self.again = Some((
            number.unwrap_or(before),
            why.trim_end_matches(')').to_owned(),
        ));
    }

    fn add_item(&mut self, line: &Value) {
        self.tells_tools = true;
        let item = &line["item"];
        let (Some(kind), id) = (
            item["type"].as_str(),
            item["id"].as_str().unwrap_or_default(),
        ) else {
            return;
        };
        let is_done = line["type"] == "item.completed";
        // Any item other than an error means that the service has answered.
        self.again = self.again.take().filter(|_| kind == "error");
        if kind == "agent_message" && is_done {
            self.steps.insert(id.to_owned());
        } else if CALL_TYPES.contains(&kind) {
            let name = match (kind, text_field(item, "server"), text_field(item, "tool")) {
                ("mcp_tool_call", Some(server), Some(tool)) => format!("{server}.{tool}"),
                _ => kind.to_owned(),
            };
            self.calls.insert(id.to_owned(), name);
            self.steps.insert(id.to_owned());
        } else if kind == "error"
            && is_done
            && let Some((from, to)) = text_field(item, "message").and_then(parse_reroute)
        {
            self.models = vec![from.to_owned(), to.to_owned()];
        }
    }

    fn add_event(&mut self, kind: &str, event: &Value, line: &Value) {
        match kind {
            "turn_context" | "session_configured" => self.note_model(text_field(event, "model")),
            "session_meta" => self.version = text_field(event, "cli_version").map(str::to_owned),
            "token_count" => self.count_tokens(&event["info"], line),
            _ if kind.ends_with("_call") => {
                self.tells_tools = true;
                let id = text_field(event, "call_id")
                    .map_or_else(|| format!("#{}", self.calls.len()), str::to_owned);
                if !self.calls.contains_key(&id) {
                    self.new_calls.insert(id.clone());
                }
                self.calls.insert(
                    id,
                    text_field(event, "name")
                        .unwrap_or_else(|| call_name(kind))
                        .to_owned(),
                );
            }
            _ => {}
        }
    }

    fn note_model(&mut self, model: Option<&str>) {
        if let Some(model) = model
            && self.models.last().is_none_or(|last| last != model)
        {
            self.models.push(model.to_owned());
        }
    }

    /// Adds the tokens of the last request to the current model, or else the increase of the total. A repeated total adds nothing.
    fn count_tokens(&mut self, info: &Value, line: &Value) {
        self.note_model(text_field(info, "model"));
        let before = self.told;
        let [told, last] = ["total_token_usage", "last_token_usage"]
            .map(|name| info.get(name).map(CodexTotal::from_json));
        if told.is_some() && told == before {
            return;
        }
        let since = before.filter(|before| !told.is_some_and(|told| told.restarts_after(before)));
        let Some(part) = last.or_else(|| Some(told?.minus(since))) else {
            return;
        };
        if self.requests.is_empty() {
            self.inherited = told.map(|told| told.minus(Some(part)));
        } else if since.is_none() {
            self.earlier = before
                .map(|before| before.plus(self.earlier))
                .or(self.earlier);
        }
        let part = part.usage;
        self.told = told.or(before);
        self.usage = Some(self.usage.unwrap_or_default().plus(&part));
        let time = text_field(line, "timestamp").map(str::to_owned);
        self.requests.push(ModelRequest {
            model: self.models.last().cloned(),
            usage: part,
            time,
            long_writes: 0,
            has_other_price: false,
        });
    }

    /// Takes a line of the session that this one continues: its model and total hold, and nothing of it counts here.
    pub fn inherit_line(&mut self, line: &Value) {
        let mut other = Self {
            told: self.told,
            models: std::mem::take(&mut self.models),
            ..Self::default()
        };
        other.add_line(line);
        (self.told, self.models) = (other.told, other.models);
    }

    pub fn usage(&self) -> Option<Usage> {
        self.usage
    }

    /// Returns the session's total as it reports it, and as counted here, both with the part that it inherited.
    pub fn reported_and_counted(&self) -> Option<[CodexTotal; 2]> {
        let counted = self.usage.unwrap_or_default();
        let counted = CodexTotal {
            usage: counted,
            total: counted.total(),
        };
        Some([self.told?.plus(self.earlier), counted.plus(self.inherited)])
    }

    /// Returns the tool calls by name since it was last asked.
    pub fn take_new_calls(&mut self) -> BTreeMap<String, u64> {
        let mut tools = BTreeMap::new();
        for id in std::mem::take(&mut self.new_calls) {
            *tools.entry(self.calls[&id].clone()).or_insert(0) += 1;
        }
        tools
    }

    /// Returns the usage of each request, if reported.
    pub fn requests(&self) -> &[ModelRequest] {
        &self.requests
    }

    /// Returns why the service did not answer, if the session ended while waiting for a retry.
    pub fn pending_retry_reason(&self) -> Option<&str> {
        self.again.as_ref().map(|(_, why)| why.as_str())
    }

    /// Returns the models in the order in which they answered.
    pub fn models(&self) -> &[String] {
        &self.models
    }

    pub fn by_model(&self) -> BTreeMap<String, Usage> {
        let mut by_model: BTreeMap<String, Usage> = BTreeMap::new();
        for request in &self.requests {
            let Some(model) = &request.model else {
                continue;
            };
            let part = by_model.entry(model.clone()).or_default();
            *part = part.plus(&request.usage);
        }
        by_model
    }

    pub fn step_count(&self) -> Option<u64> {
        (!self.steps.is_empty()).then_some(self.steps.len() as u64)
    }

    /// Returns tool calls by name, or `None` if no event came in a form that reports tools.
    pub fn tool_calls(&self) -> Option<BTreeMap<String, u64>> {
        self.tells_tools.then(|| {
            let mut tools = BTreeMap::new();
            for name in self.calls.values() {
                *tools.entry(name.clone()).or_insert(0) += 1;
            }
            tools
        })
    }
}

/// Returns the kind and content of an event, from a session file (where the line has a type of its own) or from an older release.
pub fn split_event(line: &Value) -> (&str, &Value) {
    let event = line
        .get("payload")
        .or_else(|| line.get("msg"))
        .unwrap_or(&Value::Null);
    let kind = match line["type"].as_str() {
        Some("event_msg" | "response_item") | None => event["type"].as_str().unwrap_or_default(),
        Some(outer) => outer,
    };
    (kind, event)
}

/// Returns the name of a call that has none, from its type.
fn call_name(kind: &str) -> &str {
    match kind.trim_end_matches("_call") {
        "local_shell" | "function" | "custom_tool" => "shell",
        name => name,
    }
}

/// Returns whether an error only announces another try to reach the service.
pub fn is_retry_notice(message: &str) -> bool {
    message.starts_with("Reconnecting")
}

fn text_field<'a>(value: &'a Value, key: &str) -> Option<&'a str> {
    value
        .get(key)
        .and_then(Value::as_str)
        .filter(|text| !text.is_empty())
}

/// Returns the two models of `model rerouted: A -> B (why)`.
fn parse_reroute(message: &str) -> Option<(&str, &str)> {
    let (from, to) = message
        .strip_prefix("model rerouted: ")?
        .split_once(" -> ")?;
    Some((from, to.split_once(" (").map_or(to, |(to, _)| to)))
}

/// Reads token counts. Cached tokens are subtracted from the input, which includes them. The output includes reasoning, as it is billed.
fn parse_usage(usage: &Value) -> Usage {
    let count = |name: &str| usage.get(name).and_then(as_count);
    let (cache_read, cache_write) = (
        count("cached_input_tokens"),
        count("cache_write_input_tokens").filter(|tokens| *tokens > 0),
    );
    let cached = cache_read
        .unwrap_or(0)
        .saturating_add(cache_write.unwrap_or(0));
    let input = count("input_tokens").map(|input| input.saturating_sub(cached));
    Usage {
        input,
        cache_write,
        cache_read,
        output: count("output_tokens"),
    }
}

fn subtract_usage(total: &Usage, before: &Usage) -> Usage {
    let part = |total: Option<u64>, before: Option<u64>| {
        total.map(|total| total.saturating_sub(before.unwrap_or(0)))
    };
    Usage {
        input: part(total.input, before.input),
        cache_write: part(total.cache_write, before.cache_write),
        cache_read: part(total.cache_read, before.cache_read),
        output: part(total.output, before.output),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn count(total: Option<u64>, last: Option<u64>) -> Value {
        let usage = |output: u64| json!({"input_tokens": 10 * output, "output_tokens": output, "total_tokens": 11 * output});
        let info =
            json!({"total_token_usage": total.map(usage), "last_token_usage": last.map(usage)});
        let info: serde_json::Map<String, Value> = info
            .as_object()
            .expect("an object")
            .iter()
            .filter(|(_, value)| !value.is_null())
            .map(|(key, value)| (key.clone(), value.clone()))
            .collect();
        json!({"type": "event_msg", "payload": {"type": "token_count", "info": info}})
    }

    fn output_of(lines: &[Value]) -> Option<u64> {
        let mut thread = CodexTranscript::default();
        for line in lines {
            thread.add_line(line);
        }
        thread.usage().and_then(|usage| usage.output)
    }

    #[test]
    fn a_count_that_is_told_twice_adds_nothing() {
        assert_eq!(
            output_of(&[
                count(Some(3), Some(3)),
                count(Some(3), Some(3)),
                count(Some(8), Some(5))
            ]),
            Some(8)
        );
        assert_eq!(
            output_of(&[
                count(Some(3), None),
                count(Some(8), None),
                count(Some(8), None)
            ]),
            Some(8),
            "sums alone"
        );
        assert_eq!(
            output_of(&[count(None, Some(3)), count(None, Some(3))]),
            Some(6),
            "parts alone"
        );
    }

    #[test]
    fn a_sum_that_begins_again_loses_nothing() {
        assert_eq!(
            output_of(&[count(Some(8), Some(8)), count(Some(2), Some(2))]),
            Some(10)
        );
        let sums = [50, 80, 10, 30].map(|sum| count(Some(sum), None));
        assert_eq!(output_of(&sums), Some(110), "sums alone");
        let mut thread = CodexTranscript::default();
        for line in &sums {
            thread.add_line(line);
        }
        let totals = thread
            .reported_and_counted()
            .expect("totals")
            .map(|told| (told.usage.output, told.total));
        assert_eq!(totals, [(Some(110), Some(1210)); 2]);
        let nothing =
            json!({"type": "event_msg", "payload": {"type": "token_count", "info": null}});
        assert_eq!(output_of(&[nothing]), None);
    }

    #[test]
    fn what_another_session_counted_is_inherited() {
        let mut thread = CodexTranscript::default();
        thread.inherit_line(&count(Some(50), Some(50)));
        assert_eq!((thread.usage(), thread.requests().len()), (None, 0));
        thread.add_line(&count(Some(80), None));
        assert_eq!(thread.usage().and_then(|usage| usage.output), Some(30));
        assert_eq!(
            thread
                .reported_and_counted()
                .expect("totals")
                .map(|told| told.total),
            [Some(880); 2]
        );
        let mut segment = CodexTranscript::default();
        segment.add_line(&count(Some(80), Some(30)));
        assert_eq!(
            segment
                .reported_and_counted()
                .expect("totals")
                .map(|told| told.total),
            [Some(880); 2],
            "the file before was not read"
        );
    }

    #[test]
    fn searches_are_tools() {
        let mut thread = CodexTranscript::default();
        let line = |event: Value| json!({"type": "response_item", "payload": event});
        thread.add_line(&line(
            json!({"type": "web_search_call", "status": "completed", "action": {"type": "search"}}),
        ));
        thread.add_line(&line(json!({"type": "local_shell_call", "call_id": "c"})));
        thread.add_line(&line(
            json!({"type": "function_call", "call_id": "d", "name": "apply_patch"}),
        ));
        let expected = [("apply_patch", 1), ("shell", 1), ("web_search", 1)]
            .map(|(name, calls)| (name.to_owned(), calls));
        assert_eq!(thread.tool_calls(), Some(BTreeMap::from(expected)));
    }
}
