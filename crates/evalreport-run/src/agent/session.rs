//! A coding agent's output, line by line, and how its session ended.

use std::time::Duration;

use serde_json::Value;

use super::program::{describe_crash, describe_interruption, measure_process};
use super::reply::{AgentFailure, AgentFailureKind, Reply, ReplyMeasurements};
use crate::domain::is_outage;
use crate::process::{FinishedProgram, ProgramExit};

/// What a program's output says, apart from the measurements.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SessionReport {
    /// The agent's last message.
    pub text: Option<String>,
    pub ending: ReportedEnd,
    /// Why the service did not answer, if the output breaks off while the program was about to try again.
    pub awaited: Option<String>,
}

/// How a program reports its own end.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum ReportedEnd {
    /// Not reported: the program was cut off, or it crashed.
    #[default]
    Unsaid,
    Success,
    /// The failure, in the program's words.
    Failure(AgentFailureKind, String),
}

/// Returns every JSON object of the output: one per line, or the whole text if it is a single JSON value. Skips incomplete lines.
pub fn json_objects(stdout: &str) -> Vec<Value> {
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
pub fn read_reply(
    finished: &FinishedProgram,
    wall: Duration,
    read: fn(&str, &mut ReplyMeasurements) -> SessionReport,
) -> Result<Reply, AgentFailure> {
    read_reply_with_complaints(finished, wall, read, |_, _| None)
}

/// Like [`read_reply`], for programs that report refused requests only on standard error. `complaints` runs last on that stream and returns a
/// value for [`SessionReport::awaited`].
pub fn read_reply_with_complaints(
    finished: &FinishedProgram,
    wall: Duration,
    read: fn(&str, &mut ReplyMeasurements) -> SessionReport,
    complaints: fn(&str, &mut ReplyMeasurements) -> Option<String>,
) -> Result<Reply, AgentFailure> {
    let mut measured = measure_process(finished);
    let mut said = read(&finished.stdout.text(), &mut measured);
    said.awaited = complaints(&finished.stderr.text(), &mut measured).or(said.awaited);
    conclude_session(said, finished, wall, measured)
}

fn conclude_session(
    said: SessionReport,
    finished: &FinishedProgram,
    wall: Duration,
    mut measured: ReplyMeasurements,
) -> Result<Reply, AgentFailure> {
    let fail = |kind, reason: &str, measured| Err(AgentFailure::new(kind, reason, measured));
    if let Some((kind, reason)) = describe_interruption(finished.end, wall) {
        return match (kind, said.awaited) {
            // The agent was waiting for its service, so the time-out is not its fault.
            (AgentFailureKind::Limit, Some(why)) => fail(
                AgentFailureKind::Infra,
                &format!("{reason}, while its service did not answer: {why}"),
                measured,
            ),
            (kind, _) => fail(kind, &reason, measured),
        };
    }
    match (said.ending, said.text) {
        (ReportedEnd::Success, Some(text)) => {
            if finished.end != ProgramExit::Exited(0) {
                add_note(
                    &mut measured,
                    &format!(
                        "the result was a success, but the program {}",
                        describe_crash(finished)
                    ),
                );
            }
            if finished.stdout.dropped == 0 && std::str::from_utf8(&finished.stdout.bytes).is_err()
            {
                return fail(
                    AgentFailureKind::Error,
                    "printed what is not UTF-8",
                    measured,
                );
            }
            Ok(Reply { text, measured })
        }
        (ReportedEnd::Success, None) => fail(
            AgentFailureKind::Error,
            "reported success without a message",
            measured,
        ),
        (ReportedEnd::Failure(kind, reason), _) => {
            let is_ours = kind == AgentFailureKind::Error
                && (is_outage(&reason) || is_outage(&finished.stderr.text()));
            fail(
                if is_ours {
                    AgentFailureKind::Infra
                } else {
                    kind
                },
                &format!("reported {reason}"),
                measured,
            )
        }
        (ReportedEnd::Unsaid, _) => {
            let outage = finished.end != ProgramExit::Exited(0)
                && (is_outage(&finished.stderr.text()) || is_outage(&finished.stdout.text()));
            let kind = if outage {
                AgentFailureKind::Infra
            } else {
                AgentFailureKind::Error
            };
            fail(
                kind,
                &format!("gave no result; it {}", describe_crash(finished)),
                measured,
            )
        }
    }
}

/// Adds a note to the existing ones.
pub fn add_note(measured: &mut ReplyMeasurements, note: &str) {
    measured.note = Some(match measured.note.take() {
        Some(before) => format!("{before}; {note}"),
        None => note.to_owned(),
    });
}

/// Returns the text at a JSON pointer, or `None` if it is empty or absent.
pub fn text_at<'a>(value: &'a Value, pointer: &str) -> Option<&'a str> {
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
    pub fn read_measured(
        read: fn(&str, &mut ReplyMeasurements) -> SessionReport,
        stdout: &str,
    ) -> (SessionReport, ReplyMeasurements) {
        let mut measured = ReplyMeasurements::default();
        (read(stdout, &mut measured), measured)
    }
}
