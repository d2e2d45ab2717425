//! An agent's prompts, messages and actions, as parts in reading order.

use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::Value;

use crate::domain::Redacted;

/// One message, tool call or result.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct TranscriptPart {
    /// The speaker, in the source's word. `None` for a note on omitted text.
    pub role: Option<String>,
    pub text: String,
    /// Only on a message's first part.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub spent: Option<MessageUsage>,
}

/// The usage of one message, as far as its entry reports it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct MessageUsage {
    /// Tokens that the model wrote.
    pub output_tokens: Option<u64>,
    pub cost_usd: Option<f64>,
}

/// Reads the entries of one transcript in order.
#[derive(Debug, Default)]
pub struct TranscriptReader {
    parts: Vec<TranscriptPart>,
    /// Id of the newest message with reported usage, and the index of its first part.
    last: Option<(String, usize)>,
    /// Names of called tools by the id of the call, which its result repeats.
    tools: BTreeMap<String, String>,
}

impl TranscriptReader {
    pub fn add_entry(&mut self, entry: &Value) {
        note_calls(entry, &mut self.tools);
        let mut parts = transcript_parts(entry, &self.tools);
        if let (Some(spent), Some(first)) = (MessageUsage::from_entry(entry), parts.first_mut()) {
            let id = unwrap_message(entry).get("id").and_then(Value::as_str);
            // Each entry of a split message reports the usage so far: the last report counts.
            if let (Some(id), Some((known, place))) = (id, &self.last)
                && id == known
            {
                self.parts[*place].spent = None;
            }
            first.spent = Some(spent);
            self.last = id.map(|id| (id.to_owned(), self.parts.len()));
        }
        self.parts.extend(parts);
    }

    pub fn into_parts(self) -> Vec<TranscriptPart> {
        self.parts
    }
}

impl MessageUsage {
    /// Returns `None` if an entry reports neither tokens nor cost. The totals of a whole session do not belong to a message.
    fn from_entry(entry: &Value) -> Option<Self> {
        let message = unwrap_message(entry);
        let part = entry.get("part").unwrap_or(&Value::Null);
        let usage = message
            .get("usage")
            .or_else(|| entry.get("usage"))
            .or_else(|| part.get("tokens"))?;
        if entry.get("total_cost_usd").is_some() {
            return None;
        }
        let output_tokens = ["output_tokens", "completion_tokens", "output"]
            .iter()
            .find_map(|key| usage.get(*key)?.as_u64());
        let cost = |value: &Value| {
            ["cost_usd", "costUSD", "cost"]
                .iter()
                .find_map(|key| value.get(*key)?.as_f64())
        };
        let cost_usd = [usage, message, entry, part]
            .into_iter()
            .find_map(cost)
            .filter(|cost| cost.is_finite() && *cost >= 0.0);
        (output_tokens.is_some() || cost_usd.is_some()).then_some(Self {
            output_tokens,
            cost_usd,
        })
    }
}

impl TranscriptPart {
    fn new(role: impl Into<String>, text: String) -> Self {
        Self {
            role: Some(role.into()),
            text,
            spent: None,
        }
    }

    /// Returns whether the part is a tool call or a tool result.
    pub fn is_of_tool(&self) -> bool {
        self.role.as_deref().is_some_and(|role| {
            role == "tool" || role.starts_with(TOOL_RESULT) || role.contains(TOOL_CALL)
        })
    }
}

const TOOL_CALL: &str = ", tool call";
const TOOL_RESULT: &str = "tool result";

/// Unwraps a message. Some programs wrap each message in an envelope with the same keys.
fn unwrap_message(entry: &Value) -> &Value {
    entry
        .get("message")
        .filter(|message| message.is_object())
        .unwrap_or(entry)
}

/// The transcript of one item, or of the whole run if it is one piece of work.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ItemTranscript {
    pub item: Option<String>,
    /// SHA-256 of the full transcript, before anything was cut.
    pub digest: String,
    /// Bytes of all texts; then bytes that were cut.
    pub bytes: u64,
    pub left_out: u64,
    /// Address, from the site's root, of an identical transcript. If set, there are no parts.
    pub same_as: Option<String>,
    pub parts: Redacted<Vec<TranscriptPart>>,
}

/// The transcripts shown on a run's pages.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct RunTranscripts {
    /// The transcripts of each page.
    pub pages: Vec<Vec<ItemTranscript>>,
    /// By item: the address of its transcript, relative to the run's page. The empty name is the whole run's.
    pub links: BTreeMap<String, String>,
    pub shown: u64,
    /// Number of transcripts that are not shown; then their bytes.
    pub left_out: u64,
    pub left_out_bytes: u64,
    /// Number of shown transcripts whose middle was cut.
    pub cut: u64,
}

/// Returns the name of the tool that a call names: in the call itself, or in its function.
fn called_tool(call: &Value) -> Option<&str> {
    let within = call.get("function").unwrap_or(call);
    within
        .get("name")?
        .as_str()
        .filter(|name| !name.trim().is_empty())
}

/// Notes the names of the tools that an entry calls.
fn note_calls(entry: &Value, tools: &mut BTreeMap<String, String>) {
    let message = unwrap_message(entry);
    let list = |key: &str| {
        message
            .get(key)
            .and_then(Value::as_array)
            .into_iter()
            .flatten()
    };
    let blocks = list("content")
        .filter(|block| block.get("type").and_then(Value::as_str) == Some("tool_use"));
    for call in list("tool_calls").chain(blocks) {
        if let Some((id, name)) = call
            .get("id")
            .and_then(Value::as_str)
            .zip(called_tool(call))
        {
            tools.insert(id.to_owned(), name.to_owned());
        }
    }
}

/// Returns the role of a tool's result: with the tool's name if the result or its call has one.
fn result_role(result: &Value, tools: &BTreeMap<String, String>) -> String {
    let id = ["tool_call_id", "tool_use_id"]
        .iter()
        .find_map(|key| result.get(*key)?.as_str());
    let name = called_tool(result).or_else(|| tools.get(id?).map(String::as_str));
    name.map_or_else(
        || TOOL_RESULT.to_owned(),
        |name| format!("{TOOL_RESULT}: {name}"),
    )
}

/// Parses one entry into parts. An entry of unknown form is shown as it is. `tools` has the tools' names by the ids of calls.
fn transcript_parts(entry: &Value, tools: &BTreeMap<String, String>) -> Vec<TranscriptPart> {
    let message = unwrap_message(entry);
    let word = |value: &Value, key: &str| value.get(key).and_then(Value::as_str).map(str::to_owned);
    let role = word(message, "role")
        .or_else(|| word(message, "type"))
        .unwrap_or_else(|| "entry".to_owned());
    if let Some(part) = event_part(message) {
        return vec![part];
    }
    let role = if matches!(role.as_str(), "tool" | "function") {
        result_role(message, tools)
    } else {
        role
    };
    let mut parts = Vec::new();
    let mut push = |role: String, text: String| {
        if !text.trim().is_empty() {
            parts.push(TranscriptPart::new(role, text));
        }
    };
    match message.get("content") {
        Some(Value::String(text)) => push(role.clone(), text.clone()),
        Some(Value::Array(blocks)) => {
            for block in blocks {
                let (role, text) = block_part(&role, block, tools);
                push(role, text);
            }
        }
        Some(Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_)) | None => {}
    }
    for call in message
        .get("tool_calls")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
    {
        match called_tool(call) {
            // The arguments are often JSON within a text.
            Some(name) => {
                let given = call
                    .pointer("/function/arguments")
                    .or_else(|| call.get("arguments"))
                    .unwrap_or(&Value::Null);
                let text = given.as_str().map_or_else(
                    || pretty_json(given),
                    |text| {
                        serde_json::from_str(text)
                            .map_or_else(|_| text.to_owned(), |value: Value| pretty_json(&value))
                    },
                );
                push(format!("{role}{TOOL_CALL}: {name}"), text);
            }
            None => push(format!("{role}{TOOL_CALL}"), pretty_json(call)),
        }
    }
    if parts.is_empty() {
        parts.push(TranscriptPart::new(role, pretty_json(entry)));
    }
    parts
}

/// Parses an event of Codex (its `item`), OpenCode (its `part`) or Gemini, which name the speaker or tool in one line.
fn event_part(event: &Value) -> Option<TranscriptPart> {
    let within = ["item", "part"]
        .iter()
        .find_map(|key| event.get(*key).filter(|value| value.is_object()));
    let (kind, body) = (event.get("type")?.as_str()?, within.unwrap_or(event));
    let text = |pointer: &str| {
        body.pointer(pointer)
            .and_then(Value::as_str)
            .filter(|text| !text.trim().is_empty())
    };
    let part = |role: &str, text: String| Some(TranscriptPart::new(role, text));
    match (kind, body.get("type").and_then(Value::as_str)) {
        ("item.completed", Some("agent_message")) | ("text", Some("text")) => {
            part("assistant", text("/text")?.to_owned())
        }
        ("item.completed" | "reasoning", Some("reasoning")) => {
            part("assistant, thinking", text("/text")?.to_owned())
        }
        ("item.completed", Some("command_execution")) => part(
            &format!("assistant{TOOL_CALL}: command_execution"),
            [text("/command"), text("/aggregated_output")]
                .into_iter()
                .flatten()
                .collect::<Vec<_>>()
                .join("\n"),
        ),
        ("item.completed", Some(kind)) => part(&format!("assistant, {kind}"), pretty_json(body)),
        ("tool_use", Some("tool")) => part(
            &format!("assistant{TOOL_CALL}: {}", text("/tool")?),
            pretty_json(body.get("state")?),
        ),
        ("tool_use", _) if event.get("tool_name").is_some() => part(
            &format!("assistant{TOOL_CALL}: {}", text("/tool_name")?),
            pretty_json(event.get("parameters").unwrap_or(&Value::Null)),
        ),
        ("tool_result", _) if event.get("tool_id").is_some() => part(
            TOOL_RESULT,
            text("/output")
                .or_else(|| text("/error/message"))
                .map_or_else(|| pretty_json(event), str::to_owned),
        ),
        _ => None,
    }
}

fn block_part(role: &str, block: &Value, tools: &BTreeMap<String, String>) -> (String, String) {
    let text = |key: &str| block.get(key).and_then(Value::as_str);
    match (block, text("type"), text("text")) {
        (Value::String(text), _, _) => (role.to_owned(), text.clone()),
        (_, None | Some("text" | "input_text" | "output_text"), Some(text)) => {
            (role.to_owned(), text.to_owned())
        }
        (_, Some("thinking"), _) => (
            format!("{role}, thinking"),
            text("thinking").unwrap_or_default().to_owned(),
        ),
        (_, Some("tool_use"), _) => {
            let name = text("name").unwrap_or("unnamed");
            (
                format!("{role}{TOOL_CALL}: {name}"),
                pretty_json(block.get("input").unwrap_or(&Value::Null)),
            )
        }
        (_, Some("tool_result"), _) => (
            result_role(block, tools),
            result_text(block.get("content").unwrap_or(&Value::Null)),
        ),
        (_, kind, _) => (
            format!("{role}, {}", kind.unwrap_or("part")),
            pretty_json(block),
        ),
    }
}

fn result_text(content: &Value) -> String {
    match content {
        Value::String(text) => text.clone(),
        Value::Array(blocks) => blocks
            .iter()
            .map(|block| block_part("", block, &BTreeMap::new()).1)
            .collect::<Vec<String>>()
            .join("\n"),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_) => pretty_json(content),
    }
}

fn pretty_json(value: &Value) -> String {
    serde_json::to_string_pretty(value).expect("a JSON value is JSON")
}

/// Keeps the first `head` and the last `tail` bytes, rounded to whole characters, with a note of the cut bytes in between. Returns the
/// parts and the number of cut bytes.
pub fn without_middle(
    parts: Vec<TranscriptPart>,
    head: usize,
    tail: usize,
) -> (Vec<TranscriptPart>, u64) {
    let total: usize = parts.iter().map(|part| part.text.len()).sum();
    if total <= head + tail {
        return (parts, 0);
    }
    let mut start = Vec::new();
    let mut end = Vec::new();
    let (mut at, mut kept) = (0, 0);
    for part in parts {
        let TranscriptPart { role, text, spent } = part;
        let first = floor_boundary(&text, head.saturating_sub(at));
        let last = ceil_boundary(&text, (total - tail).saturating_sub(at)).max(first);
        at += text.len();
        if first > 0 {
            kept += first;
            start.push(TranscriptPart {
                role: role.clone(),
                text: text[..first].to_owned(),
                spent,
            });
        }
        if last < text.len() {
            kept += text.len() - last;
            end.push(TranscriptPart {
                role,
                text: text[last..].to_owned(),
                spent: spent.filter(|_| first == 0),
            });
        }
    }
    let left_out = (total - kept) as u64;
    start.push(TranscriptPart {
        role: None,
        text: format!("{left_out} of {total} bytes are left out here"),
        spent: None,
    });
    start.extend(end);
    (start, left_out)
}

fn floor_boundary(text: &str, at: usize) -> usize {
    (0..=at.min(text.len()))
        .rev()
        .find(|at| text.is_char_boundary(*at))
        .unwrap_or(0)
}

fn ceil_boundary(text: &str, at: usize) -> usize {
    (at.min(text.len())..=text.len())
        .find(|at| text.is_char_boundary(*at))
        .unwrap_or(text.len())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn check(entry: &Value, expected: &[(&str, &str)]) {
        let parts = transcript_parts(entry, &BTreeMap::new());
        let found: Vec<(&str, &str)> = parts
            .iter()
            .map(|part| (part.role.as_deref().unwrap_or_default(), part.text.as_str()))
            .collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn messages_and_tool_calls_are_parts() {
        check(&json!({"role": "user", "content": "hi"}), &[("user", "hi")]);
        check(
            &json!({"type": "assistant", "message": {"role": "assistant", "content": [
                {"type": "text", "text": "I look"}, {"type": "tool_use", "name": "Bash", "input": {"command": "ls"}}]}}),
            &[
                ("assistant", "I look"),
                ("assistant, tool call: Bash", "{\n  \"command\": \"ls\"\n}"),
            ],
        );
        check(
            &json!({"role": "user", "content": [{"type": "tool_result", "content": [{"type": "text", "text": "a.py"}]}]}),
            &[("tool result", "a.py")],
        );
        check(
            &json!({"role": "assistant", "content": null, "tool_calls": [1]}),
            &[("assistant, tool call", "1")],
        );
        let call = json!({"id": "c0", "type": "function", "function": {"name": "read", "arguments": "{\"path\": \"a.py\"}"}});
        check(
            &json!({"role": "assistant", "content": null, "tool_calls": [call]}),
            &[("assistant, tool call: read", "{\n  \"path\": \"a.py\"\n}")],
        );
        check(
            &json!({"role": "tool", "name": "read", "content": "x = 1"}),
            &[("tool result: read", "x = 1")],
        );
        check(
            &json!({"role": "tool", "content": "x = 1"}),
            &[("tool result", "x = 1")],
        );
        let mut reader = TranscriptReader::default();
        reader.add_entry(&json!({"role": "assistant", "tool_calls": [call]}));
        reader.add_entry(&json!({"role": "tool", "tool_call_id": "c0", "content": "x = 1"}));
        assert_eq!(
            reader.into_parts()[1].role.as_deref(),
            Some("tool result: read")
        );
        check(
            &json!({"type": "system", "cwd": "x"}),
            &[("system", "{\n  \"type\": \"system\",\n  \"cwd\": \"x\"\n}")],
        );
        check(&json!("bare"), &[("entry", "\"bare\"")]);
    }

    #[test]
    fn events_of_coding_agents_are_parts() {
        let codex = |item: Value| json!({"type": "item.completed", "item": item});
        check(
            &codex(json!({"type": "agent_message", "text": "Blue"})),
            &[("assistant", "Blue")],
        );
        check(
            &codex(json!({"type": "reasoning", "text": "Hm."})),
            &[("assistant, thinking", "Hm.")],
        );
        check(
            &codex(
                json!({"type": "command_execution", "command": "ls", "aggregated_output": "a.py", "exit_code": 0}),
            ),
            &[("assistant, tool call: command_execution", "ls\na.py")],
        );
        check(
            &json!({"type": "text", "part": {"type": "text", "text": "Blue"}}),
            &[("assistant", "Blue")],
        );
        check(
            &json!({"type": "tool_use", "part": {"type": "tool", "tool": "read", "state": {"status": "error"}}}),
            &[(
                "assistant, tool call: read",
                "{\n  \"status\": \"error\"\n}",
            )],
        );
        check(
            &json!({"type": "tool_use", "tool_name": "read_file", "tool_id": "t", "parameters": {"path": "a"}}),
            &[("assistant, tool call: read_file", "{\n  \"path\": \"a\"\n}")],
        );
        check(
            &json!({"type": "tool_result", "tool_id": "t", "status": "error", "error": {"message": "no"}}),
            &[("tool result", "no")],
        );
        check(
            &json!({"type": "message", "role": "assistant", "content": "Bl"}),
            &[("assistant", "Bl")],
        );
    }

    #[test]
    fn a_message_says_once_what_it_used() {
        let said = |id: &str, text: &str, tokens: u64| json!({"message": {"id": id, "role": "assistant", "content": text, "usage": {"output_tokens": tokens}}});
        let mut reader = TranscriptReader::default();
        for entry in [
            json!({"role": "user", "content": "hi"}),
            said("m1", "I look", 3),
            said("m1", "and see", 212),
            said("m2", "Blue", 7),
            json!({"role": "assistant", "content": "Green", "usage": {"completion_tokens": 5, "cost": 0.25}}),
            // Totals of a session.
            json!({"type": "result", "total_cost_usd": 1.5, "usage": {"output_tokens": 999}}),
        ] {
            reader.add_entry(&entry);
        }
        let spent: Vec<_> = reader
            .into_parts()
            .iter()
            .map(|part| {
                part.spent
                    .map(|spent| (spent.output_tokens, spent.cost_usd))
            })
            .collect();
        let tokens = |tokens: u64| Some((Some(tokens), None));
        assert_eq!(
            spent,
            [
                None,
                None,
                tokens(212),
                tokens(7),
                Some((Some(5), Some(0.25))),
                None
            ]
        );
    }

    #[test]
    fn the_middle_is_left_out_and_counted() {
        let part = |role: &str, text: &str| TranscriptPart::new(role, text.to_owned());
        let parts = vec![part("a", "12345"), part("b", "é6789"), part("c", "xyz")];
        assert_eq!(without_middle(parts.clone(), 6, 8), (parts.clone(), 0));
        let (kept, left_out) = without_middle(parts, 6, 4);
        let texts: Vec<&str> = kept.iter().map(|part| part.text.as_str()).collect();
        // Two bytes make one letter, which is kept whole or not at all.
        assert_eq!(
            (texts, left_out),
            (
                vec!["12345", "5 of 14 bytes are left out here", "9", "xyz"],
                5
            )
        );
        let (kept, left_out) = without_middle(vec![part("a", "0123456789")], 2, 3);
        assert_eq!(
            kept.iter()
                .map(|part| part.text.as_str())
                .collect::<Vec<_>>(),
            ["01", "5 of 10 bytes are left out here", "789"]
        );
        assert_eq!(left_out, 5);
    }
}
