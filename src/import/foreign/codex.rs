//! Sessions of Codex: one file of lines per session below `~/.codex/sessions`.
//!
//! They record a person's work, not an evaluation, so the run has no outcomes. The thread's own totals are checked.

use serde_json::Value;

use crate::domain::{ItemKind, Unit};
use crate::transcript::{Thread, event};

use super::super::rows::Stop;
use super::claim::Claim;
use super::format::Facts;
use super::importer::Format;
use super::json::read_lines_to_cut;
use super::peek::{Content, Peek};
use super::session::Session;
use super::sink::{Handle, Sink};
use super::source::{ForeignSource, stem};

const KINDS: [&str; 5] = ["session_meta", "turn_context", "event_msg", "response_item", "compacted"];
/// Prefix of a session file's name, before the time and the session's id.
const ROLLOUT: &str = "rollout-";
/// Characters of the time in a session file's name: `2026-05-13T09-00-00-`.
const TIME_CHARS: usize = 20;

pub(super) const FORMAT: Format =
    Format::new(Facts { name: "codex", title: "Codex", kind: ItemKind::Task, reads_names: true, version: 1 }, claim, read).with_prices();

fn claim(peek: &Peek) -> Option<Claim> {
    let is_event = peek.text("type").is_some_and(|kind| KINDS.contains(&kind)) && peek.has("payload");
    (peek.content == Content::Json && is_event).then_some(Claim::Alone)
}

/// Returns the session's id from the file's name.
fn named_by_file(name: &str) -> String {
    let stem = stem(name, ".jsonl");
    let id = stem.strip_prefix(ROLLOUT).and_then(|rest| rest.get(TIME_CHARS..)).filter(|id| !id.is_empty());
    id.unwrap_or(stem).to_owned()
}

fn read(source: &ForeignSource, sink: &mut Sink<'_>) -> Result<(), Stop> {
    let Some(file) = source.files.first() else { return Ok(()) };
    let mut session = Session { id: named_by_file(&source.name), agent: "Codex", ..Session::default() };
    let mut thread = Thread::default();
    read_lines_to_cut(file.open()?, &file.shown, &mut |number, line: Result<Value, _>| {
        let line = match line {
            Ok(line) => line,
            Err(why) => {
                session.damaged += 1;
                sink.refuse(&format!("line {number}"), why);
                return Ok(());
            }
        };
        session.span.take(&line["timestamp"], &Value::Null);
        let (kind, event) = event(&line);
        let text = |key: &str| event.get(key).and_then(Value::as_str).filter(|text| !text.is_empty()).map(str::to_owned);
        match kind {
            "session_meta" => {
                session.id = text("id").unwrap_or_else(|| session.id.clone());
                session.folder = text("cwd").or(session.folder.take());
            }
            "turn_context" => session.folder = session.folder.take().or_else(|| text("cwd")),
            "user_message" => session.prompts += 1,
            _ => {}
        }
        thread.take(&line);
        Ok(())
    })?;
    session.version.clone_from(&thread.version);
    session.requests = thread.requests().to_vec();
    session.tools = thread.tools();
    if let Some(run) = session.tell(sink) {
        state(run, &thread, sink);
    }
    Ok(())
}

/// Checks the thread's own totals. `total_tokens` may count reasoning twice, because reasoning is part of the output.
fn state(run: Handle, thread: &Thread, sink: &mut Sink<'_>) {
    let Some(told) = thread.told else { return };
    let counted = thread.usage().unwrap_or_default();
    let sum = told.usage;
    let figures = [
        ("input_tokens", sum.input_total(), counted.input_total()),
        ("cached_input_tokens", sum.cache_read, counted.cache_read),
        ("output_tokens", sum.output, counted.output),
        ("total_tokens", told.total, counted.total()),
    ];
    for (name, stated, counted) in figures {
        if let Some(stated) = stated {
            sink.stated(run, name, stated as f64, Unit::Tokens, counted.map(|tokens| tokens as f64), None);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_named_by_time_and_session() {
        assert_eq!(named_by_file("rollout-2026-05-13T09-00-00-0199a.jsonl"), "0199a");
        assert_eq!(named_by_file("session-alpha.jsonl.gz"), "session-alpha");
        assert_eq!(named_by_file("rollout-é.jsonl"), "rollout-é");
    }
}
