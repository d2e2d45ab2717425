//! Sessions of Codex: one or several files of lines per session below `~/.codex/sessions`.
//!
//! They record a person's work, not an evaluation, so the run has no outcomes. The thread's own totals are checked.

use std::path::{Path, PathBuf};

use chrono::{DateTime, TimeDelta, Utc};
use serde_json::Value;

use crate::domain::{ItemKind, Unit};
use crate::transcript::{CodexTranscript, split_event};

use super::super::rows::ReadStop;
use super::claim::Claim;
use super::format::FormatFacts;
use super::importer::FormatImporter;
use super::json_reader::read_lines_to_cut;
use super::peek::{ContentKind, Peek};
use super::session::{AgentSession, SessionMessage, message_key, safe_file_name};
use super::sink::{ImportSink, RunHandle};
use super::source::{ForeignFileGroup, strip_ending};
use super::times::read_time;

const FORMAT_NAME: &str = "codex";
const EVENT_KINDS: [&str; 5] = [
    "session_meta",
    "turn_context",
    "event_msg",
    "response_item",
    "compacted",
];
/// Prefix of a session file's name, before the time and the session's id.
const ROLLOUT_PREFIX: &str = "rollout-";
/// Characters of the time in a session file's name: `2026-05-13T09-00-00-`.
const TIME_CHARS: usize = 20;

/// Seconds after the start of a fork in which the agent copies the history of the session that it continues.
const COPYING_SECONDS: i64 = 1;

pub(super) const FORMAT: FormatImporter = FormatImporter::new(
    FormatFacts {
        name: FORMAT_NAME,
        title: "Codex",
        kind: ItemKind::Task,
        reads_names: true,
        version: 2,
    },
    claim_file,
    read_source,
)
.with_prices();

fn claim_file(peek: &Peek) -> Option<Claim> {
    let is_event = peek
        .text("type")
        .is_some_and(|kind| EVENT_KINDS.contains(&kind))
        && peek.has("payload");
    if peek.content != ContentKind::Json || !is_event {
        return None;
    }
    let first: Option<Value> = peek
        .head
        .split(|byte| *byte == b'\n')
        .next()
        .and_then(|line| serde_json::from_slice(line).ok());
    let said = first
        .as_ref()
        .filter(|line| line["type"] == "session_meta")
        .and_then(|line| line["payload"]["id"].as_str());
    let name = session_id_from_name(&peek.name);
    let id = said
        .or_else(|| peek.name.starts_with(ROLLOUT_PREFIX).then_some(name))
        .and_then(safe_file_name);
    Some(id.map_or(Claim::Alone, |id| {
        Claim::PartOf(sessions_folder(&peek.path).join(id))
    }))
}

/// Returns the folder above those of year, month and day. Segments of a session may have different days.
fn sessions_folder(path: &Path) -> PathBuf {
    let is_date = |folder: &&Path| {
        folder.file_name().is_some_and(|name| {
            name.to_string_lossy()
                .bytes()
                .all(|byte| byte.is_ascii_digit())
        })
    };
    let mut folder = path.parent().unwrap_or(Path::new(""));
    for _ in 0..3 {
        folder = Some(folder)
            .filter(is_date)
            .and_then(Path::parent)
            .unwrap_or(folder);
    }
    folder.to_owned()
}

/// Returns the session's id from the file's name, without the segment's.
fn session_id_from_name(name: &str) -> &str {
    let stem = strip_ending(name, ".jsonl");
    let id = stem
        .strip_prefix(ROLLOUT_PREFIX)
        .and_then(|rest| rest.get(TIME_CHARS..)?.split('_').next())
        .filter(|id| !id.is_empty());
    id.unwrap_or(stem)
}

fn read_source(source: &ForeignFileGroup, sink: &mut ImportSink<'_>) -> Result<(), ReadStop> {
    let mut session = AgentSession {
        id: session_id_from_name(&source.name).to_owned(),
        agent: "Codex",
        ..AgentSession::default()
    };
    let (mut thread, mut named, mut next) =
        (CodexTranscript::default(), None, SessionMessage::default());
    let mut files: Vec<_> = source.files.iter().collect();
    files.sort_by_key(|file| file.name.rsplit('/').next().map(str::to_owned));
    for file in files {
        let (mut began, mut is_fork) = (None, false);
        read_lines_to_cut(
            file.open()?,
            &file.shown,
            &mut |number, line: Result<Value, _>| {
                let line = match line {
                    Ok(line) => line,
                    Err(why) => {
                        session.damaged += 1;
                        let place = if source.files.len() > 1 {
                            format!("{}:{number}", file.name)
                        } else {
                            format!("line {number}")
                        };
                        sink.refuse_part(&place, why);
                        return Ok(());
                    }
                };
                let (kind, event) = split_event(&line);
                let text = |key: &str| {
                    event
                        .get(key)
                        .and_then(Value::as_str)
                        .filter(|text| !text.is_empty())
                        .map(str::to_owned)
                };
                let time = read_time(&line["timestamp"]);
                if kind == "session_meta" {
                    let id = text("id");
                    if began.is_none() {
                        began = time.or_else(|| read_time(&event["timestamp"]));
                        named = named.take().or_else(|| id.clone());
                    }
                    // A fork begins with its own id, and goes on with all that the other session said.
                    is_fork |= id != named || text("forked_from_id").is_some();
                }
                if is_fork
                    && is_copied(began, time)
                    && (kind != "session_meta" || text("id") != named)
                {
                    thread.inherit_line(&line);
                    return Ok(());
                }
                session.span.add_times(&line["timestamp"], &Value::Null);
                match kind {
                    "session_meta" | "turn_context" => {
                        session.folder = session.folder.take().or_else(|| text("cwd"));
                    }
                    "user_message" => next.prompts += 1,
                    _ => {}
                }
                let requests = thread.requests().len();
                thread.add_line(&line);
                if let Some(request) = thread.requests().get(requests).cloned() {
                    let own = format!("{} {requests}", named.as_deref().unwrap_or(&session.id));
                    let key = message_key(&[
                        FORMAT_NAME,
                        request.time.as_deref().unwrap_or(&own),
                        &event["info"].to_string(),
                    ]);
                    let tools = thread.take_new_calls();
                    session.said.push(SessionMessage {
                        key: Some(key),
                        time: request.time.clone(),
                        request: Some(request),
                        tools,
                        ..std::mem::take(&mut next)
                    });
                }
                Ok(())
            },
        )?;
    }
    next.tools = thread.take_new_calls();
    if next.prompts > 0 || !next.tools.is_empty() {
        session.said.push(next);
    }
    session.id = named.unwrap_or(session.id);
    session.version.clone_from(&thread.version);
    if let Some(run) = session.add_run(sink) {
        add_published_totals(run, &thread, sink);
    }
    Ok(())
}

/// Returns whether a line of a fork was copied from the session that it continues.
fn is_copied(began: Option<DateTime<Utc>>, time: Option<DateTime<Utc>>) -> bool {
    began
        .zip(time)
        .is_some_and(|(began, time)| time <= began + TimeDelta::seconds(COPYING_SECONDS))
}

/// Checks the thread's own totals. `total_tokens` may count reasoning twice, because reasoning is part of the output.
fn add_published_totals(run: RunHandle, thread: &CodexTranscript, sink: &mut ImportSink<'_>) {
    let Some([told, counted]) = thread.reported_and_counted() else {
        return;
    };
    let figures = [
        (
            "input_tokens",
            told.usage.input_total(),
            counted.usage.input_total(),
        ),
        (
            "cached_input_tokens",
            told.usage.cache_read,
            counted.usage.cache_read,
        ),
        ("output_tokens", told.usage.output, counted.usage.output),
        ("total_tokens", told.total, counted.total),
    ];
    for (name, stated, counted) in figures {
        if let Some(stated) = stated {
            sink.add_published_figure(
                run,
                name,
                stated as f64,
                Unit::Tokens,
                counted.map(|tokens| tokens as f64),
                None,
            );
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_named_by_time_and_session() {
        assert_eq!(
            session_id_from_name("rollout-2026-05-13T09-00-00-0199a.jsonl"),
            "0199a"
        );
        assert_eq!(
            session_id_from_name("session-alpha.jsonl.gz"),
            "session-alpha"
        );
        assert_eq!(session_id_from_name("rollout-é.jsonl"), "rollout-é");
        assert_eq!(
            session_id_from_name("rollout-2026-05-13T09-00-00-0199a_0199b.jsonl"),
            "0199a"
        );
        assert_eq!(
            sessions_folder(Path::new("a/2026/05/13/r.jsonl")),
            Path::new("a")
        );
        assert_eq!(
            (
                sessions_folder(Path::new("a/b/r.jsonl")),
                sessions_folder(Path::new("r.jsonl"))
            ),
            (PathBuf::from("a/b"), PathBuf::new())
        );
    }
}
