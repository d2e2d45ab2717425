//! Sessions of Claude Code: one file of lines per session below `~/.claude/projects`, and more files for delegated tasks.
//!
//! All files of one session are one run. They record a person's work, not an evaluation, so the run has no outcomes.

use std::path::Path;

use serde_json::Value;

use crate::domain::ItemKind;
use crate::transcript::{Messages, Request, speaks};

use super::super::rows::Stop;
use super::claim::Claim;
use super::format::Facts;
use super::importer::Format;
use super::json::read_lines_to_cut;
use super::peek::{Content, Peek};
use super::session::Session;
use super::sink::Sink;
use super::source::{ForeignSource, stem};
use super::times::Span;

/// Number of lines searched for a message. A session may begin with other lines.
const MOST_LINES_LOOKED_AT: usize = 50;
/// Folder of delegated tasks, below a folder named by the session's id.
const SUBAGENTS: &str = "subagents";

pub(super) const FORMAT: Format =
    Format::new(Facts { name: "claude-code", title: "Claude Code", kind: ItemKind::Task, reads_names: true, version: 1 }, claim, read)
        .with_prices();

fn claim(peek: &Peek) -> Option<Claim> {
    let may_be = peek.content == Content::Json && ["message", "sessionId", "session_id", "type"].iter().any(|key| peek.has(key));
    if !may_be {
        return None;
    }
    let lines = peek.head.split(|byte| *byte == b'\n').take(MOST_LINES_LOOKED_AT);
    let lines: Vec<Value> = lines.filter_map(|line| serde_json::from_slice(line).ok()).collect();
    if !lines.iter().any(is_message) {
        return None;
    }
    let folder = peek.path.parent().unwrap_or(Path::new(""));
    let id = lines.iter().find_map(session_of).and_then(file_name);
    Some(match id {
        Some(id) if folder.ends_with(SUBAGENTS) && folder.parent().is_some_and(|folder| folder.ends_with(id)) => {
            Claim::PartOf(folder.parent().map(Path::to_owned).unwrap_or_default())
        }
        Some(id) => Claim::PartOf(folder.join(id)),
        None => Claim::Alone,
    })
}

/// Returns whether a line is a model's message with its tokens, or a message with the marks of a session.
fn is_message(line: &Value) -> bool {
    let message = &line["message"];
    let is_counted = speaks(line) && message["usage"].get("input_tokens").is_some();
    let is_marked = session_of(line).is_some() && matches!(line["type"].as_str(), Some("user" | "assistant"));
    message.is_object() && (is_counted || is_marked)
}

fn session_of(line: &Value) -> Option<&str> {
    ["sessionId", "session_id"].iter().find_map(|key| line.get(key)?.as_str()).filter(|id| !id.is_empty())
}

/// Returns an id if it can be part of a path. A file's content is never used as a path unchecked.
fn file_name(id: &str) -> Option<&str> {
    let is_plain = id.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.')) && !id.starts_with('.');
    (is_plain && id.len() <= 200).then_some(id)
}

/// Returns whether a line is a person's prompt, not a tool's answer.
fn is_prompt(line: &Value) -> bool {
    if line["type"] != "user" || line["isMeta"] == true || line["isSidechain"] == true {
        return false;
    }
    match &line["message"]["content"] {
        Value::String(text) => !text.trim().is_empty(),
        Value::Array(blocks) => blocks.iter().any(|block| block["type"] == "text"),
        _ => false,
    }
}

fn read(source: &ForeignSource, sink: &mut Sink<'_>) -> Result<(), Stop> {
    let mut session =
        Session { id: stem(&source.name, ".jsonl").to_owned(), agent: "Claude Code", span: Span::default(), ..Session::default() };
    let mut messages = Messages::default();
    let mut named = None;
    let mut refused = Vec::new();
    for file in &source.files {
        read_lines_to_cut(file.open()?, &file.shown, &mut |number, line: Result<Value, _>| {
            match line {
                Ok(line) => {
                    named = named.take().or_else(|| session_of(&line).map(str::to_owned));
                    session.span.take(&line["timestamp"], &Value::Null);
                    session.prompts += u64::from(is_prompt(&line));
                    let text = |key: &str| line.get(key).and_then(Value::as_str).filter(|text| !text.is_empty()).map(str::to_owned);
                    session.version = text("version").or(session.version.take());
                    session.folder = session.folder.take().or_else(|| text("cwd"));
                    messages.take(&line);
                }
                Err(why) => {
                    session.damaged += 1;
                    refused.push((format!("{}:{number}", file.name), why));
                }
            }
            Ok(())
        })?;
    }
    if let Some(named) = named {
        session.id = named;
    }
    let all = messages.all();
    session.usd = all.iter().map(|message| message.usd).sum::<Option<f64>>().filter(|_| !all.is_empty());
    session.has_other_prices = all.iter().any(|message| message.is_fast);
    // Messages of the program itself name no model and take no tokens.
    let took = |request: &&Request| request.model.is_some() || request.usage.total().is_some_and(|tokens| tokens > 0);
    session.requests = all.iter().map(|message| &message.request).filter(took).cloned().collect();
    session.tools = messages.tools().cloned();
    let repeated = messages.lines() - all.len() as u64;
    if repeated > 0 {
        sink.quirk(&format!("{repeated} lines repeat a message, which is counted once"));
    }
    for (place, why) in refused {
        sink.refuse(&place, why);
    }
    session.tell(sink);
    Ok(())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn people_ask_and_tools_answer() {
        let user = |content: Value| json!({"type": "user", "message": {"role": "user", "content": content}});
        assert!(is_prompt(&user(json!("Fix it."))));
        assert!(is_prompt(&user(json!([{"type": "text", "text": "Fix it."}]))));
        assert!(!is_prompt(&user(json!([{"type": "tool_result", "content": "ok"}]))));
        assert!(!is_prompt(&json!({"type": "user", "isMeta": true, "message": {"content": "x"}})));
        assert!(!is_prompt(&json!({"type": "assistant", "message": {"content": "x"}})));
    }

    #[test]
    fn an_id_is_no_path() {
        assert_eq!(
            (file_name("73cc9f9a-2775"), file_name("../x"), file_name("a/b"), file_name(".x")),
            (Some("73cc9f9a-2775"), None, None, None)
        );
    }
}
