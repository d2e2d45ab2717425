//! A transcript as text: who wrote each message, tool calls with their arguments, and tool results.
//!
//! Every agent writes transcripts in its own format. The known formats (content blocks, chat messages with tool calls, events of Codex,
//! Gemini and OpenCode) become lines of text; any other message is shown as its JSON.

use serde_json::Value;

use super::budget::MaterialBudget;
use crate::agent::shorten_middle;
use crate::domain::escape_invisible;

/// Maximum length of a role's or tool's name, in bytes.
const MAX_NAME_BYTES: usize = 80;

pub(super) struct TranscriptParts {
    /// Parts of the text; each part ends at the end of a message.
    pub parts: Vec<String>,
    /// Number of messages in the middle that did not fit into the parts.
    pub left_out: usize,
}

/// Formats the messages and splits them, between messages, into at most as many parts as the budget allows.
pub(super) fn split_transcript(messages: &[Value], budget: &MaterialBudget) -> TranscriptParts {
    let told: Vec<String> = messages
        .iter()
        .enumerate()
        .map(|(index, message)| format_numbered_message(index + 1, message, budget))
        .collect();
    let mut groups: Vec<(usize, String)> = Vec::new();
    for message in &told {
        match groups.last_mut() {
            Some((count, text)) if text.len() + message.len() <= budget.transcript_bytes => {
                *count += 1;
                text.push_str(message);
            }
            Some(_) | None => groups.push((1, message.clone())),
        }
    }
    // Keep the beginning, which shows the request, and the end, which shows the result.
    let head = budget.parts.div_ceil(2);
    let tail = budget.parts - head;
    let dropped: Vec<(usize, String)> = if groups.len() > budget.parts {
        groups.drain(head..groups.len() - tail).collect()
    } else {
        Vec::new()
    };
    TranscriptParts {
        parts: groups.into_iter().map(|(_, text)| text).collect(),
        left_out: dropped.iter().map(|(count, _)| count).sum(),
    }
}

fn format_numbered_message(number: usize, message: &Value, budget: &MaterialBudget) -> String {
    let most = budget.message_bytes.min(budget.transcript_bytes);
    format!(
        "[{number}] {}\n",
        shorten_middle(format_message(message).trim_end(), most)
    )
}

/// Formats one message, starting with its role.
fn format_message(message: &Value) -> String {
    let inner = message
        .get("message")
        .filter(|inner| inner.is_object())
        .unwrap_or(message);
    let role = [inner.get("role"), message.get("type")]
        .into_iter()
        .flatten()
        .find_map(Value::as_str);
    let Some(role) = role else {
        return message.to_string();
    };
    if let Some(told) = format_event(message) {
        return told;
    }
    let mut lines: Vec<String> = Vec::new();
    match inner.get("content").or_else(|| inner.get("result")) {
        Some(Value::String(text)) => lines.push(text.clone()),
        Some(Value::Array(blocks)) => lines.extend(blocks.iter().map(format_block)),
        Some(Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_)) | None => {}
    }
    for call in inner
        .get("tool_calls")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
    {
        let function = call.get("function").unwrap_or(call);
        lines.push(format_tool_call(function, "arguments"));
    }
    if lines.is_empty() {
        lines.push(inner.to_string());
    }
    format!("{}: {}", format_tool_name(role), lines.join("\n"))
}

/// Formats an event that holds, in one line, a message, a tool call or a tool result. `None` if the event is unknown.
fn format_event(event: &Value) -> Option<String> {
    let within = ["item", "part"]
        .iter()
        .find_map(|key| event.get(*key).filter(|value| value.is_object()));
    let body = within.unwrap_or(event);
    let text = |pointer: &str| body.pointer(pointer).and_then(Value::as_str);
    let called = |tool: &str, given: &Value| {
        format!(
            "assistant: calls the tool {} with {given}",
            format_tool_name(tool)
        )
    };
    match (event["type"].as_str()?, body["type"].as_str()) {
        ("item.completed", Some("agent_message")) | ("text", Some("text")) => {
            Some(format!("assistant: {}", text("/text")?))
        }
        ("item.completed", Some("command_execution")) => {
            let how = if body["exit_code"].as_i64().is_some_and(|code| code != 0) {
                "failed"
            } else {
                "returned"
            };
            let call = called("command_execution", &body["command"]);
            Some(format!(
                "{call}\nthe tool {how}: {}",
                text("/aggregated_output").unwrap_or_default()
            ))
        }
        ("tool_use", Some("tool")) => {
            let state = &body["state"];
            let how = if state["status"] == "error" {
                "failed"
            } else {
                "returned"
            };
            let back = text("/state/output")
                .or_else(|| text("/state/error"))
                .unwrap_or_default();
            Some(format!(
                "{}\nthe tool {how}: {back}",
                called(text("/tool")?, &state["input"])
            ))
        }
        ("tool_use", _) => Some(called(text("/tool_name")?, &event["parameters"])),
        ("tool_result", _) if event["tool_id"].is_string() => {
            let how = if event["status"] == "error" {
                "failed"
            } else {
                "returned"
            };
            Some(format!(
                "the tool {how}: {}",
                text("/output")
                    .or_else(|| text("/error/message"))
                    .unwrap_or_default()
            ))
        }
        _ => None,
    }
}

/// Formats one block of a message's content.
fn format_block(block: &Value) -> String {
    match block["type"].as_str() {
        Some("text") => block["text"].as_str().unwrap_or_default().to_owned(),
        Some("tool_use") => format_tool_call(block, "input"),
        Some("tool_result") => {
            let how = if block["is_error"] == true {
                "failed"
            } else {
                "returned"
            };
            format!("the tool {how}: {}", format_tool_result(&block["content"]))
        }
        Some(_) | None => block.to_string(),
    }
}

fn format_tool_call(call: &Value, key: &str) -> String {
    let given = match call.get(key) {
        Some(Value::String(text)) => text.clone(),
        Some(value) => value.to_string(),
        None => String::new(),
    };
    format!(
        "calls the tool {} with {given}",
        format_tool_name(call["name"].as_str().unwrap_or("without a name"))
    )
}

fn format_tool_result(content: &Value) -> String {
    match content {
        Value::String(text) => text.clone(),
        Value::Array(blocks) => blocks
            .iter()
            .map(format_block)
            .collect::<Vec<_>>()
            .join("\n"),
        Value::Null => String::new(),
        Value::Bool(_) | Value::Number(_) | Value::Object(_) => content.to_string(),
    }
}

fn format_tool_name(text: &str) -> String {
    shorten_middle(&escape_invisible(text), MAX_NAME_BYTES)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn messages_tool_calls_and_results_are_told() {
        for (message, expected) in [
            (
                json!({"role": "user", "content": "make it"}),
                "user: make it",
            ),
            (
                json!({"type": "assistant", "message": {"role": "assistant", "content": [{"type": "text", "text": "I look."},
                    {"type": "tool_use", "id": "t", "name": "Bash", "input": {"command": "ls"}}]}}),
                "assistant: I look.\ncalls the tool Bash with {\"command\":\"ls\"}",
            ),
            (
                json!({"type": "user", "message": {"content": [{"type": "tool_result", "content": [{"type": "text", "text": "a.py"}]}]}}),
                "user: the tool returned: a.py",
            ),
            (
                json!({"role": "user", "content": [{"type": "tool_result", "content": "no", "is_error": true}]}),
                "user: the tool failed: no",
            ),
            (
                json!({"role": "assistant", "content": null, "tool_calls": [{"function": {"name": "ls", "arguments": "{}"}}]}),
                "assistant: calls the tool ls with {}",
            ),
            (json!({"type": "result", "result": "done"}), "result: done"),
            (
                json!({"type": "item.completed", "item": {"type": "agent_message", "text": "Blue"}}),
                "assistant: Blue",
            ),
            (
                json!({"type": "item.completed", "item": {"type": "command_execution", "command": "ls", "aggregated_output": "no", "exit_code": 2}}),
                "assistant: calls the tool command_execution with \"ls\"\nthe tool failed: no",
            ),
            (
                json!({"type": "tool_use", "part": {"type": "tool", "tool": "read", "state": {"status": "completed", "input": {"p": 1}, "output": "x"}}}),
                "assistant: calls the tool read with {\"p\":1}\nthe tool returned: x",
            ),
            (
                json!({"type": "tool_use", "tool_name": "ls", "tool_id": "t", "parameters": {}}),
                "assistant: calls the tool ls with {}",
            ),
            (
                json!({"type": "tool_result", "tool_id": "t", "status": "error", "error": {"message": "no"}}),
                "the tool failed: no",
            ),
            (json!({"step": 1}), "{\"step\":1}"),
            (
                json!({"message": {"role": "a\nb"}}),
                "a␊b: {\"role\":\"a\\nb\"}",
            ),
            (json!("text"), "\"text\""),
        ] {
            assert_eq!(format_message(&message), expected);
        }
    }

    #[test]
    fn a_long_transcript_is_split_between_messages() {
        let messages: Vec<Value> = (0..10)
            .map(|number| json!({"role": "user", "content": format!("{number}{}", "x".repeat(40))}))
            .collect();
        let budget = |transcript_bytes, parts| MaterialBudget {
            transcript_bytes,
            parts,
            ..MaterialBudget::default()
        };
        let whole = split_transcript(&messages, &budget(10_000, 3));
        assert_eq!((whole.parts.len(), whole.left_out), (1, 0));
        let split = split_transcript(&messages, &budget(120, 5));
        assert_eq!((split.parts.len(), split.left_out), (5, 0));
        assert!(
            split
                .parts
                .iter()
                .all(|part| part.len() <= 120 && part.starts_with('[') && part.ends_with("x\n"))
        );
        assert_eq!(split.parts.concat(), whole.parts.concat());
        let cut = split_transcript(&messages, &budget(120, 3));
        assert_eq!((cut.parts.len(), cut.left_out), (3, 4));
        assert!(
            cut.parts[1].contains("] user: 3") && cut.parts[2].contains("[10] user: 9"),
            "{:?}",
            cut.parts
        );
        assert_eq!(split_transcript(&[], &budget(1, 1)).parts.len(), 0);
    }

    #[test]
    fn one_long_message_is_cut_in_the_middle() {
        let messages =
            [json!({"role": "tool", "content": format!("begin{}end", "x".repeat(100_000))})];
        let told = split_transcript(&messages, &MaterialBudget::default())
            .parts
            .concat();
        assert!(
            told.contains("begin") && told.ends_with("end\n") && told.len() < 4300,
            "{}",
            told.len()
        );
    }
}
