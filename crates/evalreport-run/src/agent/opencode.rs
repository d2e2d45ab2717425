//! OpenCode: `opencode run --format json`.
//!
//! The output is one JSON object per event and line, as printed by `packages/opencode/src/cli/cmd/run.ts` of sst/opencode (now
//! anomalyco/opencode). Each event's details are in `part`:
//!
//! | `type` | `part` |
//! | --- | --- |
//! | `step_start`, `step_finish` | a turn of the model; `step_finish` has `reason`, `cost` in dollars and `tokens` |
//! | `text`, `reasoning` | `text` of the message `messageID`; reasoning only if requested |
//! | `tool_use` | a finished call: `tool`, `callID`, `state` with `status` |
//! | `error` | absent; the event itself has `error` with `name` and `data.message` |
//! | `done` | absent; only newer releases send it |
//!
//! `tokens` has `input` without the cache, `cache.read`, `cache.write`, `output` and `reasoning`. Older releases also count reasoning as
//! output, which shows in their `total`. OpenCode computes the cost from its own price table; 0 means that it has no price. The output does
//! not name the model.

use std::collections::BTreeMap;

use chrono::{DateTime, Utc};
use serde_json::Value;

use super::reply::{AgentFailureKind, Cost, ReplyMeasurements};
use super::session::{self, ReportedEnd, SessionReport, json_objects, text_at};
use super::tool::{
    CodingAgent, CommandLine, DefaultOption, EDITS_ONLY, InvocationOptions, ProgramHome, Rights,
};
use crate::domain::{Repeated, Usage};
use crate::transcript::{as_amount, as_count};

pub const CODING_AGENT: CodingAgent = CodingAgent {
    program: "opencode",
    keys: &["OPENCODE_*"],
    variables: &[],
    homes: &[
        ProgramHome {
            variable: "XDG_CONFIG_HOME",
            then: "opencode",
            place: ".config/opencode",
        },
        ProgramHome {
            variable: "XDG_DATA_HOME",
            then: "opencode",
            place: ".local/share/opencode",
        },
        ProgramHome {
            variable: "XDG_STATE_HOME",
            then: "opencode",
            place: ".local/state/opencode",
        },
    ],
    writing: &[
        DefaultOption {
            names: &["run"],
            words: &["run"],
            confined: &["run"],
            full: &[],
        },
        DefaultOption {
            names: &["--auto"],
            words: &[],
            confined: &["--auto"],
            full: &["--auto"],
        },
    ],
    free_rights: EDITS_ONLY,
    // By itself it lets models run any command. Only edits are for programs that nobody confines.
    writing_variables: Rights {
        confined: &[],
        free: &[("OPENCODE_PERMISSION", "{\"bash\": \"deny\"}")],
    },
    takes_system: false,
    complete: complete_command,
    read: |finished, wall| {
        session::read_reply_with_complaints(finished, wall, read_session, read_complaints)
    },
};

fn complete_command(line: &mut CommandLine, asked: &InvocationOptions<'_>) {
    line.add_words_unless(&["run"], &["run"]);
    line.add_words_unless(&["--format"], &["--format", "json"]);
    // Without a title, OpenCode asks a model for one and does not report those tokens.
    line.add_words_unless(
        &["--title", "--continue", "-c", "--session", "-s"],
        &["--title", "evalreport"],
    );
    // Only the log mentions repeated requests.
    line.add_words_unless(&["--print-logs"], &["--print-logs"]);
    line.add_words_unless(&["--log-level"], &["--log-level", "ERROR"]);
    line.add_model(&["--model", "-m"], asked.model);
}

fn read_session(stdout: &str, measured: &mut ReplyMeasurements) -> SessionReport {
    let lines = json_objects(stdout);
    let mut tools = BTreeMap::new();
    let mut message: Vec<(&str, &str)> = Vec::new();
    let (mut usage, mut usd, mut steps, mut is_session) = (Usage::default(), None, 0_u64, false);
    let (mut reason, mut error) = (None, None);
    for line in &lines {
        let part = &line["part"];
        match line["type"].as_str() {
            Some("step_start") => is_session = true,
            Some("text") => message.push((
                text_at(part, "/messageID").unwrap_or_default(),
                part["text"].as_str().unwrap_or_default(),
            )),
            Some("tool_use") => {
                *tools
                    .entry(text_at(part, "/tool").unwrap_or("unnamed").to_owned())
                    .or_insert(0) += 1;
            }
            Some("step_finish") => {
                steps += 1;
                usage = usage.plus(&read_tokens(&part["tokens"]));
                usd = part
                    .get("cost")
                    .and_then(as_amount)
                    .map(|cost| cost + usd.unwrap_or(0.0))
                    .or(usd);
                // A step that ends well overrides earlier errors.
                (reason, error) = (text_at(part, "/reason"), None);
            }
            Some("error") => error = Some(classify_failure(&line["error"])),
            _ => {}
        }
    }
    measured.usage = usage;
    measured.cost = usd
        .filter(|usd| *usd > 0.0)
        .map(Cost::from_report)
        .unwrap_or_default();
    measured.steps = (steps > 0).then_some(steps);
    measured.tools = (is_session || !tools.is_empty()).then_some(tools);
    let last = message.last().map(|(id, _)| *id);
    let texts: Vec<&str> = message
        .iter()
        .filter(|(id, _)| Some(*id) == last)
        .map(|(_, text)| *text)
        .collect();
    let said = last.map(|_| texts.join("\n"));
    let ending = error.unwrap_or_else(|| classify_end(reason));
    measured.transcript = lines;
    SessionReport {
        text: said,
        ending,
        awaited: None,
    }
}

/// Reads log lines such as `timestamp=… level=ERROR … message="stream error" … error.error="AI_APICallError: Too many requests."`. A line
/// newer than the last event is about an unanswered request, so it is returned.
fn read_complaints(stderr: &str, measured: &mut ReplyMeasurements) -> Option<String> {
    let refused: Vec<&str> = stderr
        .lines()
        .filter(|line| line.contains("message=\"stream error\""))
        .collect();
    let last = refused.last()?;
    let event = measured.transcript.last();
    // The request that finally failed was not repeated.
    let retries = (refused.len() as u64).saturating_sub(u64::from(
        event.is_some_and(|event| event["type"] == "error"),
    ));
    if retries > 0 {
        let is_throttled = |line: &&&str| {
            let line = line.to_lowercase();
            [
                "too many requests",
                "rate limit",
                "overloaded",
                "unavailable",
            ]
            .iter()
            .any(|phrase| line.contains(phrase))
        };
        let throttled = (refused.iter().filter(is_throttled).count() as u64).min(retries);
        measured.repeated = Some(Repeated {
            retries,
            throttled,
            waited_seconds: None,
        });
    }
    let at = last
        .split("timestamp=")
        .nth(1)
        .and_then(|rest| rest.split(' ').next())
        .and_then(|time| time.parse::<DateTime<Utc>>().ok())?;
    let is_newer = event
        .and_then(|event| event["timestamp"].as_i64())
        .is_none_or(|event| event < at.timestamp_millis());
    is_newer.then(|| {
        last.split("error.error=")
            .nth(1)
            .unwrap_or("an error")
            .trim_matches('"')
            .to_owned()
    })
}

fn classify_end(reason: Option<&str>) -> ReportedEnd {
    match reason {
        None | Some("tool-calls") => ReportedEnd::Unsaid,
        Some("length") => ReportedEnd::Failure(
            AgentFailureKind::Limit,
            "a reply that was cut at its most tokens".to_owned(),
        ),
        Some("content-filter") => ReportedEnd::Failure(
            AgentFailureKind::Error,
            "a reply that the service filtered".to_owned(),
        ),
        Some("error") => ReportedEnd::Failure(
            AgentFailureKind::Error,
            "a step that ended in an error".to_owned(),
        ),
        // Providers name their stop reasons freely.
        Some(_) => ReportedEnd::Success,
    }
}

fn classify_failure(error: &Value) -> ReportedEnd {
    let name = text_at(error, "/name").unwrap_or("an error");
    let status = error.pointer("/data/statusCode").and_then(as_count);
    let kind = match (name, status) {
        ("MessageOutputLengthError" | "ContextOverflowError", _) => AgentFailureKind::Limit,
        ("APIError", Some(400 | 413)) => AgentFailureKind::Error,
        ("ProviderAuthError" | "ProviderModelNotFoundError" | "ProviderInitError", _)
        | ("APIError", Some(_)) => AgentFailureKind::Infra,
        ("APIError", None) if error.pointer("/data/isRetryable") == Some(&Value::Bool(true)) => {
            AgentFailureKind::Infra
        }
        _ => AgentFailureKind::Error,
    };
    let message = text_at(error, "/data/message").or_else(|| text_at(error, "/message"));
    ReportedEnd::Failure(
        kind,
        message.map_or_else(|| name.to_owned(), |message| format!("{name}: {message}")),
    )
}

fn read_tokens(tokens: &Value) -> Usage {
    let count = |pointer: &str| tokens.pointer(pointer).and_then(as_count);
    let (input, output, reasoning) = (
        count("/input"),
        count("/output"),
        count("/reasoning").unwrap_or(0),
    );
    let (cache_read, cache_write) = (count("/cache/read"), count("/cache/write"));
    let without_reasoning = [input, output, cache_read, cache_write]
        .into_iter()
        .flatten()
        .fold(0, u64::saturating_add);
    let is_within = count("/total") == Some(without_reasoning);
    let output = output.map(|output| output.saturating_add(if is_within { 0 } else { reasoning }));
    Usage {
        input,
        cache_write,
        cache_read,
        output,
    }
}

#[cfg(test)]
mod tests {
    use super::super::session::testing;
    use super::super::tool::testing::command_words;
    use super::*;
    use crate::domain::CostSource;

    const STREAM: &str = r#"{"type":"step_start","timestamp":1,"sessionID":"s","part":{"messageID":"m1","type":"step-start"}}
{"type":"text","timestamp":1,"sessionID":"s","part":{"messageID":"m1","type":"text","text":"I look."}}
{"type":"tool_use","timestamp":2,"sessionID":"s","part":{"type":"tool","tool":"read","callID":"c1","state":{"status":"completed","input":{"cost":9},"output":"x"},"messageID":"m1"}}
{"type":"step_finish","timestamp":3,"sessionID":"s","part":{"reason":"tool-calls","messageID":"m1","type":"step-finish","tokens":{"total":8011,"input":7952,"output":35,"reasoning":24,"cache":{"write":0,"read":0}},"cost":0.25}}
{"type":"step_start","timestamp":4,"sessionID":"s","part":{"messageID":"m2","type":"step-start"}}
{"type":"text","timestamp":4,"sessionID":"s","part":{"messageID":"m2","type":"text","text":"<answer>Blue</answer>"}}
{"type":"text","timestamp":4,"sessionID":"s","part":{"messageID":"m2","type":"text","text":"Bye."}}
{"type":"step_finish","timestamp":5,"sessionID":"s","part":{"reason":"stop","messageID":"m2","type":"step-finish","tokens":{"total":8113,"input":397,"output":16,"reasoning":4,"cache":{"write":0,"read":7700}},"cost":0.5}}"#;

    fn measured(stdout: &str) -> (SessionReport, ReplyMeasurements) {
        testing::read_measured(read_session, stdout)
    }

    #[test]
    fn the_command_is_completed_not_contradicted() {
        let line = |own: &str, model| {
            command_words(
                &CODING_AGENT,
                own,
                &InvocationOptions {
                    model,
                    ..InvocationOptions::default()
                },
            )
        };
        assert_eq!(
            line("opencode", Some("a/m")),
            "opencode run --format json --title evalreport --print-logs --log-level ERROR --model a/m"
        );
        assert_eq!(
            line("opencode run --agent x", None),
            "opencode run --agent x --format json --title evalreport --print-logs --log-level ERROR"
        );
    }

    #[test]
    fn steps_add_up_and_reasoning_is_counted_once() {
        let (said, measured) = measured(STREAM);
        assert_eq!(
            said,
            SessionReport {
                text: Some("<answer>Blue</answer>\nBye.".to_owned()),
                ending: ReportedEnd::Success,
                awaited: None
            }
        );
        // The first step reports reasoning beside the output, the second within it.
        let expected = Usage {
            input: Some(8349),
            cache_write: Some(0),
            cache_read: Some(7700),
            output: Some(75),
        };
        assert_eq!(
            (measured.usage, measured.steps, measured.model),
            (expected, Some(2), None)
        );
        assert_eq!(
            (measured.cost.usd, measured.cost.source),
            (Some(0.75), CostSource::Reported)
        );
        assert_eq!(
            (measured.tools, measured.transcript.len()),
            (Some(BTreeMap::from([("read".to_owned(), 1)])), 8)
        );
    }

    #[test]
    fn a_service_that_does_not_answer_is_awaited_after_the_last_event() {
        let at = |second: u32| {
            format!(
                "timestamp=1970-01-01T00:00:0{second}.000Z level=ERROR run=1 message=\"stream error\" error.error=\"AI_APICallError: Too many requests.\"\n"
            )
        };
        let of = |stream: &str, complaint: &str| {
            let (_, mut measured) = measured(stream);
            (
                read_complaints(complaint, &mut measured),
                measured
                    .repeated
                    .map(|repeated| (repeated.retries, repeated.throttled)),
            )
        };
        let awaited = Some("AI_APICallError: Too many requests.".to_owned());
        assert_eq!(of("", &(at(1) + &at(2))), (awaited.clone(), Some((2, 2))));
        let event = "{\"type\":\"step_start\",\"timestamp\":1500}";
        assert_eq!(of(event, &at(2)), (awaited, Some((1, 1))));
        assert_eq!(of(event, &at(1)), (None, Some((1, 1))));
        assert_eq!(
            of(
                "{\"type\":\"error\",\"timestamp\":1500,\"error\":{}}",
                &at(1)
            ),
            (None, None)
        );
    }

    #[test]
    fn a_cost_of_zero_is_no_price() {
        let (_, measured) = measured(
            &STREAM
                .replace("\"cost\":0.25", "\"cost\":0")
                .replace("\"cost\":0.5}", "\"cost\":0}"),
        );
        assert_eq!(measured.cost, Cost::default());
    }

    #[test]
    fn every_end_has_its_kind() {
        let cut = |reason: &str| {
            measured(&STREAM.replace("\"reason\":\"stop\"", &format!("\"reason\":\"{reason}\"")))
                .0
                .ending
        };
        assert!(matches!(
            cut("length"),
            ReportedEnd::Failure(AgentFailureKind::Limit, _)
        ));
        assert!(matches!(
            cut("content-filter"),
            ReportedEnd::Failure(AgentFailureKind::Error, _)
        ));
        assert_eq!(
            (cut("tool-calls"), cut("unknown")),
            (ReportedEnd::Unsaid, ReportedEnd::Success)
        );
        let failed = |error: &str| {
            measured(&format!(
                "{STREAM}\n{{\"type\":\"error\",\"error\":{error}}}"
            ))
            .0
            .ending
        };
        assert_eq!(
            failed(
                r#"{"name":"APIError","data":{"message":"Overloaded","statusCode":529,"isRetryable":true}}"#
            ),
            ReportedEnd::Failure(AgentFailureKind::Infra, "APIError: Overloaded".to_owned())
        );
        assert!(matches!(
            failed(r#"{"name":"ProviderAuthError","data":{"message":"no key"}}"#),
            ReportedEnd::Failure(AgentFailureKind::Infra, _)
        ));
        assert!(matches!(
            failed(r#"{"name":"ContextOverflowError","data":{"message":"long"}}"#),
            ReportedEnd::Failure(AgentFailureKind::Limit, _)
        ));
        assert_eq!(
            failed(r#"{"name":"UnknownError"}"#),
            ReportedEnd::Failure(AgentFailureKind::Error, "UnknownError".to_owned())
        );
        let before =
            format!("{{\"type\":\"error\",\"error\":{{\"name\":\"UnknownError\"}}}}\n{STREAM}");
        assert_eq!(measured(&before).0.ending, ReportedEnd::Success);
    }

    proptest::proptest! {
        #[test]
        fn no_output_crashes_the_parser(text in ".{0,200}", cut in 0..2000_usize, from in 0..2000_usize) {
            measured(&text);
            let (cut, from) = (cut.min(STREAM.len()), from.min(STREAM.len()));
            measured(&STREAM[..cut]);
            measured(&format!("{}{}", &STREAM[..cut.min(from)], &STREAM[cut.max(from)..]));
        }

        #[test]
        fn a_stream_that_was_cut_never_tells_more_than_the_whole(cut in 0..1500_usize) {
            let (said, part) = measured(&STREAM[..cut.min(STREAM.rfind('\n').expect("it has lines"))]);
            proptest::prop_assert!(said.ending == ReportedEnd::Unsaid && part.steps.unwrap_or(0) <= 1);
            proptest::prop_assert!(part.cost.usd.unwrap_or(0.0) <= 0.25 && part.usage.total().unwrap_or(0) <= 8011);
        }
    }
}
