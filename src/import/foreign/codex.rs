//! Sessions of Codex: one or several files of lines per session below `~/.codex/sessions`.
//!
//! They record a person's work, not an evaluation, so the run has no outcomes. The thread's own totals are checked.

use std::path::{Path, PathBuf};

use chrono::{DateTime, TimeDelta, Utc};
use serde_json::Value;

use crate::domain::{ItemKind, Unit};
use crate::transcript::{Thread, event};

use super::super::rows::Stop;
use super::claim::Claim;
use super::format::Facts;
use super::importer::Format;
use super::json_reader::read_lines_to_cut;
use super::peek::{Content, Peek};
use super::session::{Said, Session, file_name, key};
use super::sink::{Handle, Sink};
use super::source::{ForeignSource, stem};
use super::times::moment;

const NAME: &str = "codex";
const KINDS: [&str; 5] = [
    "session_meta",
    "turn_context",
    "event_msg",
    "response_item",
    "compacted",
];
/// Prefix of a session file's name, before the time and the session's id.
const ROLLOUT: &str = "rollout-";
/// Characters of the time in a session file's name: `2026-05-13T09-00-00-`.
const TIME_CHARS: usize = 20;

/// Seconds after the start of a fork in which the agent copies the history of the session that it continues.
const COPYING_SECONDS: i64 = 1;

pub(super) const FORMAT: Format = Format::new(
    Facts {
        name: NAME,
        title: "Codex",
        kind: ItemKind::Task,
        reads_names: true,
        version: 2,
    },
    claim,
    read,
)
.with_prices();

fn claim(peek: &Peek) -> Option<Claim> {
    let is_event =
        peek.text("type").is_some_and(|kind| KINDS.contains(&kind)) && peek.has("payload");
    if peek.content != Content::Json || !is_event {
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
    let name = named_by_file(&peek.name);
    let id = said
        .or_else(|| peek.name.starts_with(ROLLOUT).then_some(name))
        .and_then(file_name);
    Some(id.map_or(Claim::Alone, |id| {
        Claim::PartOf(home_of(&peek.path).join(id))
    }))
}

/// Returns the folder above those of year, month and day. Segments of a session may have different days.
fn home_of(path: &Path) -> PathBuf {
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
fn named_by_file(name: &str) -> &str {
    let stem = stem(name, ".jsonl");
    let id = stem
        .strip_prefix(ROLLOUT)
        .and_then(|rest| rest.get(TIME_CHARS..)?.split('_').next())
        .filter(|id| !id.is_empty());
    id.unwrap_or(stem)
}

fn read(source: &ForeignSource, sink: &mut Sink<'_>) -> Result<(), Stop> {
    let mut session = Session {
        id: named_by_file(&source.name).to_owned(),
        agent: "Codex",
        ..Session::default()
    };
    let (mut thread, mut named, mut next) = (Thread::default(), None, Said::default());
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
                        sink.refuse(&place, why);
                        return Ok(());
                    }
                };
                let (kind, event) = event(&line);
                let text = |key: &str| {
                    event
                        .get(key)
                        .and_then(Value::as_str)
                        .filter(|text| !text.is_empty())
                        .map(str::to_owned)
                };
                let time = moment(&line["timestamp"]);
                if kind == "session_meta" {
                    let id = text("id");
                    if began.is_none() {
                        began = time.or_else(|| moment(&event["timestamp"]));
                        named = named.take().or_else(|| id.clone());
                    }
                    // A fork begins with its own id, and goes on with all that the other session said.
                    is_fork |= id != named || text("forked_from_id").is_some();
                }
                if is_fork
                    && is_copied(began, time)
                    && (kind != "session_meta" || text("id") != named)
                {
                    thread.inherit(&line);
                    return Ok(());
                }
                session.span.take(&line["timestamp"], &Value::Null);
                match kind {
                    "session_meta" | "turn_context" => {
                        session.folder = session.folder.take().or_else(|| text("cwd"))
                    }
                    "user_message" => next.prompts += 1,
                    _ => {}
                }
                let requests = thread.requests().len();
                thread.take(&line);
                if let Some(request) = thread.requests().get(requests).cloned() {
                    let own = format!("{} {requests}", named.as_deref().unwrap_or(&session.id));
                    let key = key(&[
                        NAME,
                        request.time.as_deref().unwrap_or(&own),
                        &event["info"].to_string(),
                    ]);
                    let tools = thread.new_calls();
                    session.said.push(Said {
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
    next.tools = thread.new_calls();
    if next.prompts > 0 || !next.tools.is_empty() {
        session.said.push(next);
    }
    session.id = named.unwrap_or(session.id);
    session.version.clone_from(&thread.version);
    if let Some(run) = session.tell(sink) {
        state(run, &thread, sink);
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
fn state(run: Handle, thread: &Thread, sink: &mut Sink<'_>) {
    let Some([told, counted]) = thread.totals() else {
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
            sink.stated(
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
            named_by_file("rollout-2026-05-13T09-00-00-0199a.jsonl"),
            "0199a"
        );
        assert_eq!(named_by_file("session-alpha.jsonl.gz"), "session-alpha");
        assert_eq!(named_by_file("rollout-é.jsonl"), "rollout-é");
        assert_eq!(
            named_by_file("rollout-2026-05-13T09-00-00-0199a_0199b.jsonl"),
            "0199a"
        );
        assert_eq!(home_of(Path::new("a/2026/05/13/r.jsonl")), Path::new("a"));
        assert_eq!(
            (
                home_of(Path::new("a/b/r.jsonl")),
                home_of(Path::new("r.jsonl"))
            ),
            (PathBuf::from("a/b"), PathBuf::new())
        );
    }
}
