//! A coding agent's output, line by line, and how its session ended.

use std::time::Duration;

use serde_json::Value;

use super::outage::is_outage;
use super::program::{crash, interrupted, measure};
use super::reply::{Failure, FailureKind, Measured, Reply};
use crate::process::{End, Finished};

/// What a program's output says, apart from the measurements.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Said {
    /// The agent's last message.
    pub text: Option<String>,
    pub ending: Ending,
    /// Why the service did not answer, if the output breaks off while the program was about to try again.
    pub awaited: Option<String>,
}

/// How a program reports its own end.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Ending {
    /// Not reported: the program was cut off, or it crashed.
    #[default]
    Unsaid,
    Success,
    /// The failure, in the program's words.
    Failure(FailureKind, String),
}

/// Returns every JSON object of the output: one per line, or the whole text if it is a single JSON value. Skips incomplete lines.
pub fn objects(stdout: &str) -> Vec<Value> {
    let parsed = match serde_json::from_str::<Value>(stdout.trim()) {
        Ok(Value::Array(values)) => values,
        Ok(value) => vec![value],
        Err(_) => stdout
            .lines()
            .filter_map(|line| serde_json::from_str(line.trim()).ok())
            .collect(),
    };
    parsed.into_iter().filter(Value::is_object).collect()
}

/// Turns an ended program into a reply or a failure. `read` parses the output and adds the measurements.
pub fn reply(
    finished: &Finished,
    wall: Duration,
    read: fn(&str, &mut Measured) -> Said,
) -> Result<Reply, Failure> {
    reply_with_complaints(finished, wall, read, |_, _| None)
}

/// Like [`reply`], for programs that report refused requests only on standard error. `complaints` runs last on that stream and returns a
/// value for [`Said::awaited`].
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

fn judge(
    said: Said,
    finished: &Finished,
    wall: Duration,
    mut measured: Measured,
) -> Result<Reply, Failure> {
    let fail = |kind, reason: &str, measured| Err(Failure::new(kind, reason, measured));
    if let Some((kind, reason)) = interrupted(finished.end, wall) {
        return match (kind, said.awaited) {
            // The agent was waiting for its service, so the time-out is not its fault.
            (FailureKind::Limit, Some(why)) => fail(
                FailureKind::Infra,
                &format!("{reason}, while its service did not answer: {why}"),
                measured,
            ),
            (kind, _) => fail(kind, &reason, measured),
        };
    }
    match (said.ending, said.text) {
        (Ending::Success, Some(text)) => {
            if finished.end != End::Exited(0) {
                add_note(
                    &mut measured,
                    &format!(
                        "the result was a success, but the program {}",
                        crash(finished)
                    ),
                );
            }
            if finished.stdout.dropped == 0 && std::str::from_utf8(&finished.stdout.bytes).is_err()
            {
                return fail(FailureKind::Error, "printed what is not UTF-8", measured);
            }
            Ok(Reply { text, measured })
        }
        (Ending::Success, None) => fail(
            FailureKind::Error,
            "reported success without a message",
            measured,
        ),
        (Ending::Failure(kind, reason), _) => {
            let is_ours = kind == FailureKind::Error
                && (is_outage(&reason) || is_outage(&finished.stderr.text()));
            fail(
                if is_ours { FailureKind::Infra } else { kind },
                &format!("reported {reason}"),
                measured,
            )
        }
        (Ending::Unsaid, _) => {
            let outage = finished.end != End::Exited(0)
                && (is_outage(&finished.stderr.text()) || is_outage(&finished.stdout.text()));
            let kind = if outage {
                FailureKind::Infra
            } else {
                FailureKind::Error
            };
            fail(
                kind,
                &format!("gave no result; it {}", crash(finished)),
                measured,
            )
        }
    }
}

/// Adds a note to the existing ones.
pub fn add_note(measured: &mut Measured, note: &str) {
    measured.note = Some(match measured.note.take() {
        Some(before) => format!("{before}; {note}"),
        None => note.to_owned(),
    });
}

/// Returns the text at a JSON pointer, or `None` if it is empty or absent.
pub fn text<'a>(value: &'a Value, pointer: &str) -> Option<&'a str> {
    value
        .pointer(pointer)
        .and_then(Value::as_str)
        .filter(|text| !text.is_empty())
}

#[cfg(test)]
pub mod testing {
    //! Helpers for the tests of all tools.

    use super::*;

    /// Parses the output of a session with `read`, and returns what it says and the measurements.
    pub fn measured(read: fn(&str, &mut Measured) -> Said, stdout: &str) -> (Said, Measured) {
        let mut measured = Measured::default();
        (read(stdout, &mut measured), measured)
    }
}
