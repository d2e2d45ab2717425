//! What a coding agent's program printed, line by line, and how the end of its session counts.

use std::time::Duration;

use serde_json::Value;

use super::outage::is_outage;
use super::program::{crash, interrupted, measure};
use super::reply::{Failure, FailureKind, Measured, Reply};
use crate::process::{End, Finished};

/// What a program said, besides what it used.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Said {
    /// The agent's last message.
    pub text: Option<String>,
    pub ending: Ending,
    /// Why its service did not answer the last request, where the program was about to try again when it fell silent.
    pub awaited: Option<String>,
}

/// What a program said of its own end.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Ending {
    /// Nothing: it was cut off, or it died.
    #[default]
    Unsaid,
    Success,
    /// What went wrong, in the program's words.
    Failure(FailureKind, String),
}

/// Takes every line that is a JSON object, or the whole text where that is one value; half a line is none.
pub fn objects(stdout: &str) -> Vec<Value> {
    let parsed = match serde_json::from_str::<Value>(stdout.trim()) {
        Ok(Value::Array(values)) => values,
        Ok(value) => vec![value],
        Err(_) => stdout.lines().filter_map(|line| serde_json::from_str(line.trim()).ok()).collect(),
    };
    parsed.into_iter().filter(Value::is_object).collect()
}

/// Turns what a program left behind into an answer or a failure. `read` takes the text of its output, and adds what was measured.
pub fn reply(finished: &Finished, wall: Duration, read: fn(&str, &mut Measured) -> Said) -> Result<Reply, Failure> {
    reply_with_complaints(finished, wall, read, |_, _| None)
}

/// The same of a program that tells only on its error stream what its service refuses: `complaints` takes that stream's text after all else
/// was measured, and returns what [`Said::awaited`] holds.
pub fn reply_with_complaints(
    finished: &Finished,
    wall: Duration,
    read: fn(&str, &mut Measured) -> Said,
    complaints: fn(&str, &mut Measured) -> Option<String>,
) -> Result<Reply, Failure> {
    let mut measured = measure(finished);
    let mut said = read(&finished.stdout.text(), &mut measured);
    said.awaited = complaints(&finished.stderr.text(), &mut measured).or(said.awaited);
    judge(said, finished, wall, measured)
}

fn judge(said: Said, finished: &Finished, wall: Duration, mut measured: Measured) -> Result<Reply, Failure> {
    let fail = |kind, reason: &str, measured| Err(Failure::new(kind, reason, measured));
    if let Some((kind, reason)) = interrupted(finished.end, wall) {
        return match (kind, said.awaited) {
            // The agent had nothing to do.
            (FailureKind::Limit, Some(why)) => {
                fail(FailureKind::Infra, &format!("{reason}, while its service did not answer: {why}"), measured)
            }
            (kind, _) => fail(kind, &reason, measured),
        };
    }
    match (said.ending, said.text) {
        (Ending::Success, Some(text)) => {
            if finished.end != End::Exited(0) {
                add_note(&mut measured, &format!("the result was a success, but the program {}", crash(finished)));
            }
            if finished.stdout.dropped == 0 && std::str::from_utf8(&finished.stdout.bytes).is_err() {
                return fail(FailureKind::Error, "printed what is not UTF-8", measured);
            }
            Ok(Reply { text, measured })
        }
        (Ending::Success, None) => fail(FailureKind::Error, "reported success without a message", measured),
        (Ending::Failure(kind, reason), _) => {
            let is_ours = kind == FailureKind::Error && (is_outage(&reason) || is_outage(&finished.stderr.text()));
            fail(if is_ours { FailureKind::Infra } else { kind }, &format!("reported {reason}"), measured)
        }
        (Ending::Unsaid, _) => {
            let outage = finished.end != End::Exited(0) && (is_outage(&finished.stderr.text()) || is_outage(&finished.stdout.text()));
            let kind = if outage { FailureKind::Infra } else { FailureKind::Error };
            fail(kind, &format!("gave no result; it {}", crash(finished)), measured)
        }
    }
}

/// Adds something odd to what is already noted.
pub fn add_note(measured: &mut Measured, note: &str) {
    measured.note = Some(match measured.note.take() {
        Some(before) => format!("{before}; {note}"),
        None => note.to_owned(),
    });
}

/// The text of a field, if it has any.
pub fn text<'a>(value: &'a Value, pointer: &str) -> Option<&'a str> {
    value.pointer(pointer).and_then(Value::as_str).filter(|text| !text.is_empty())
}

#[cfg(test)]
pub mod testing {
    //! Checks that the tools share.

    use super::*;

    /// Returns what a tool reads from the output of a session.
    pub fn measured(read: fn(&str, &mut Measured) -> Said, stdout: &str) -> (Said, Measured) {
        let mut measured = Measured::default();
        (read(stdout, &mut measured), measured)
    }
}
