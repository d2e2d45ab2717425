//! Sessions of Claude Code: one file of lines per session below `~/.claude/projects`, and more files for delegated tasks.
//!
//! All files of one session are one run. They record a person's work, not an evaluation, so the run has no outcomes.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::domain::{ItemKind, format_count};
use crate::transcript::{ClaudeMessages, ModelRequest, is_model_message};

use super::super::report::SourceReport;
use super::super::rows::ReadStop;
use super::claim::Claim;
use super::format::{ForeignFormat, FormatFacts};
use super::importer::FormatImporter;
use super::json_reader::read_lines_to_cut;
use super::peek::{ContentKind, Peek};
use super::session::{AgentSession, SessionMessage, message_key, safe_file_name};
use super::sink::ImportSink;
use super::source::{ForeignFileGroup, strip_ending};

/// Number of lines searched for a message. A session may begin with other lines.
const MAX_LINES_LOOKED_AT: usize = 50;
/// Folder of delegated tasks, below a folder named by the session's id.
const SUBAGENTS_FOLDER: &str = "subagents";

const FORMAT_NAME: &str = "claude-code";

pub(super) const FORMAT: FormatImporter = FormatImporter::new(
    FormatFacts {
        name: FORMAT_NAME,
        title: "Claude Code",
        kind: ItemKind::Task,
        reads_names: true,
        version: 2,
    },
    claim_file,
    read_source,
)
.with_arrangement(order_by_size)
.with_prices();

fn claim_file(peek: &Peek) -> Option<Claim> {
    let may_be = peek.content == ContentKind::Json
        && ["message", "sessionId", "session_id", "type"]
            .iter()
            .any(|key| peek.has(key));
    if !may_be {
        return None;
    }
    let lines = peek
        .head
        .split(|byte| *byte == b'\n')
        .take(MAX_LINES_LOOKED_AT);
    let lines: Vec<Value> = lines
        .filter_map(|line| serde_json::from_slice(line).ok())
        .collect();
    if !lines.iter().any(is_message) {
        return None;
    }
    let folder = peek.path.parent().unwrap_or(Path::new(""));
    let id = lines.iter().find_map(session_id).and_then(safe_file_name);
    Some(match id {
        Some(id)
            if folder.ends_with(SUBAGENTS_FOLDER)
                && folder.parent().is_some_and(|folder| folder.ends_with(id)) =>
        {
            Claim::PartOf(folder.parent().map(Path::to_owned).unwrap_or_default())
        }
        Some(id) => Claim::PartOf(folder.join(id)),
        None => Claim::Alone,
    })
}

/// Returns whether a line is a model's message with its tokens, or a message with the marks of a session.
fn is_message(line: &Value) -> bool {
    let message = &line["message"];
    let is_counted = is_model_message(line) && message["usage"].get("input_tokens").is_some();
    let is_marked =
        session_id(line).is_some() && matches!(line["type"].as_str(), Some("user" | "assistant"));
    message.is_object() && (is_counted || is_marked)
}

fn session_id(line: &Value) -> Option<&str> {
    ["sessionId", "session_id"]
        .iter()
        .find_map(|key| line.get(key)?.as_str())
        .filter(|id| !id.is_empty())
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

fn read_source(source: &ForeignFileGroup, sink: &mut ImportSink<'_>) -> Result<(), ReadStop> {
    let mut session = AgentSession {
        id: strip_ending(&source.name, ".jsonl").to_owned(),
        agent: "Claude Code",
        ..AgentSession::default()
    };
    let mut messages = ClaudeMessages::default();
    let (mut named, mut prompts, mut refused) = (None, BTreeSet::new(), Vec::new());
    for file in &source.files {
        read_lines_to_cut(
            file.open()?,
            &file.shown,
            &mut |number, line: Result<Value, _>| {
                match line {
                    Ok(line) => {
                        named = named
                            .take()
                            .or_else(|| session_id(&line).map(str::to_owned));
                        session.span.add_times(&line["timestamp"], &Value::Null);
                        let text = |key: &str| {
                            line.get(key)
                                .and_then(Value::as_str)
                                .filter(|text| !text.is_empty())
                                .map(str::to_owned)
                        };
                        session.version = text("version").or(session.version.take());
                        session.folder = session.folder.take().or_else(|| text("cwd"));
                        let prompt =
                            text("uuid").map(|uuid| message_key(&[FORMAT_NAME, "prompt", &uuid]));
                        if is_prompt(&line) && prompt.is_none_or(|key| prompts.insert(key)) {
                            session.said.push(SessionMessage {
                                key: prompt,
                                time: text("timestamp"),
                                prompts: 1,
                                ..SessionMessage::default()
                            });
                        }
                        messages.add_line(&line);
                    }
                    Err(why) => {
                        session.damaged += 1;
                        refused.push((format!("{}:{number}", file.name), why));
                    }
                }
                Ok(())
            },
        )?;
    }
    if let Some(named) = named {
        session.id = named;
    }
    for (number, message) in messages.as_slice().iter().enumerate() {
        // A message without an id repeats nothing, but is known again in the same session.
        let key = match message.identity() {
            Some([id, request]) => message_key(&[FORMAT_NAME, id, request]),
            None => message_key(&[FORMAT_NAME, "session", &session.id, &number.to_string()]),
        };
        // Messages of the program itself name no model and take no tokens.
        let took = |request: &&ModelRequest| {
            request.model.is_some() || request.usage.total().is_some_and(|tokens| tokens > 0)
        };
        session.said.push(SessionMessage {
            key: Some(key),
            time: message.request.time.clone(),
            request: Some(&message.request).filter(took).cloned(),
            usd: message.usd,
            tools: message.tool_calls(),
            prompts: 0,
        });
    }
    let repeated = messages.line_count() - messages.as_slice().len() as u64;
    if repeated > 0 {
        sink.note_quirk(&format!(
            "ignored {} with a message that is counted already",
            format_count(repeated, "line")
        ));
    }
    for (place, why) in refused {
        sink.refuse_part(&place, why);
    }
    session.add_run(sink);
    Ok(())
}

/// Puts shorter sessions before longer ones: a session that goes on in another file is repeated there, and its messages belong to it.
fn order_by_size(own: ForeignFormat, sources: &mut Vec<ForeignFileGroup>) -> Vec<SourceReport> {
    let places: Vec<usize> = (0..sources.len())
        .filter(|place| sources[*place].format == own)
        .collect();
    let bytes = |place: &usize| {
        let lengths = sources[*place]
            .files
            .iter()
            .filter_map(|file| fs::metadata(&file.path).ok());
        lengths.map(|metadata| metadata.len()).sum::<u64>()
    };
    let mut ordered: Vec<(u64, usize)> =
        places.iter().map(|place| (bytes(place), *place)).collect();
    ordered.sort_unstable();
    let mut from: BTreeMap<usize, usize> = places
        .into_iter()
        .zip(ordered.into_iter().map(|(_, place)| place))
        .collect();
    let mut taken: Vec<Option<ForeignFileGroup>> =
        std::mem::take(sources).into_iter().map(Some).collect();
    sources.extend(
        (0..taken.len()).filter_map(|place| taken[from.remove(&place).unwrap_or(place)].take()),
    );
    Vec::new()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn people_ask_and_tools_answer() {
        let user = |content: Value| json!({"type": "user", "message": {"role": "user", "content": content}});
        assert!(is_prompt(&user(json!("Fix it."))));
        assert!(is_prompt(&user(
            json!([{"type": "text", "text": "Fix it."}])
        )));
        assert!(!is_prompt(&user(
            json!([{"type": "tool_result", "content": "ok"}])
        )));
        assert!(!is_prompt(
            &json!({"type": "user", "isMeta": true, "message": {"content": "x"}})
        ));
        assert!(!is_prompt(
            &json!({"type": "assistant", "message": {"content": "x"}})
        ));
    }
}
