//! Google's Gemini CLI: `gemini --output-format stream-json`, or `json` if the configuration asks for it.
//!
//! The output is one JSON object per event and line, as defined in `packages/core/src/output/types.ts` of google-gemini/gemini-cli:
//!
//! | `type` | fields |
//! | --- | --- |
//! | `init` | `model` as requested; an alias stands for several models |
//! | `message` | `role`, `content`; the assistant's messages come in pieces |
//! | `tool_use`, `tool_result` | `tool_id`; `tool_name`; `status` |
//! | `error` | `severity`, `message`; an `error` alone does not end the session |
//! | `result` | `status`, `error`, and `stats` with tokens by model: `input_tokens`, of which `cached`; `output_tokens` without thoughts, which are counted only in `total_tokens` |
//!
//! With `json`, the single object has `response`, `error` and `stats.models`, which lists the requests and each kind of token
//! (`packages/core/src/telemetry/uiTelemetry.ts`). Exit codes are those of `packages/core/src/utils/errors.ts`. Neither form holds the
//! cost.

use std::collections::BTreeMap;
use std::time::Duration;

use serde_json::Value;

use super::reply::{AgentFailure, AgentFailureKind, Reply, ReplyMeasurements};
use super::session::{self, ReportedEnd, SessionReport, add_note, json_objects, text_at};
use super::tool::{
    CodingAgent, CommandLine, DefaultOption, EDITS_ONLY, InvocationOptions, ProgramHome, Rights,
};
use crate::domain::{Repeated, Usage};
use crate::process::{FinishedProgram, ProgramExit};
use crate::transcript::as_count;

pub const CODING_AGENT: CodingAgent = CodingAgent {
    program: "gemini",
    keys: &["GEMINI_*", "GOOGLE_*"],
    // Without it, newer releases refuse to work in a folder that is not marked as trusted.
    variables: &[("GEMINI_CLI_TRUST_WORKSPACE", "true")],
    homes: &[ProgramHome {
        variable: "GEMINI_CLI_HOME",
        then: ".gemini",
        place: ".gemini",
    }],
    writing: &[DefaultOption {
        names: &["--approval-mode", "--yolo", "-y"],
        words: &["--approval-mode", "auto_edit"],
        confined: &["--approval-mode", "yolo"],
        full: &["--yolo", "-y", "yolo"],
    }],
    free_rights: EDITS_ONLY,
    // It would look for a sandbox of its own.
    writing_variables: Rights {
        confined: &[("GEMINI_SANDBOX", "false")],
        free: &[],
    },
    takes_system: false,
    complete: complete_command,
    read: read_reply,
};

/// Exit code if the limit of turns is reached.
const TURN_LIMIT_EXIT_CODE: i32 = 53;
/// Exit codes of setup faults: sign-in, input, sandbox, configuration and trust.
const SETUP_EXIT_CODES: [i32; 5] = [41, 42, 44, 52, 55];

fn complete_command(line: &mut CommandLine, asked: &InvocationOptions<'_>) {
    // This format reports each tool call as it happens. Plain `json` does not.
    line.add_words_unless(
        &["--output-format", "-o"],
        &["--output-format", "stream-json"],
    );
    line.add_model(&["--model", "-m"], asked.model);
}

fn read_reply(finished: &FinishedProgram, wall: Duration) -> Result<Reply, AgentFailure> {
    session::read_reply_with_complaints(finished, wall, read_session, read_complaints).map_err(
        |failure| match (failure.kind, finished.end) {
            (AgentFailureKind::Error, ProgramExit::Exited(TURN_LIMIT_EXIT_CODE)) => AgentFailure {
                kind: AgentFailureKind::Limit,
                ..failure
            },
            (AgentFailureKind::Error, ProgramExit::Exited(code))
                if SETUP_EXIT_CODES.contains(&code) =>
            {
                AgentFailure {
                    kind: AgentFailureKind::Infra,
                    ..failure
                }
            }
            _ => failure,
        },
    )
}

/// Reads retry messages such as `Attempt 2 failed with status 429. Retrying with backoff... _ApiError: {…}`. They do not name their
/// request. The last one can be about an unanswered request only if it is the model's turn, so only then is it returned.
fn read_complaints(stderr: &str, measured: &mut ReplyMeasurements) -> Option<String> {
    let is_attempt =
        |line: &&str| line.starts_with("Attempt ") && line.contains("Retrying with backoff");
    let attempts: Vec<&str> = stderr.lines().filter(is_attempt).collect();
    let last = attempts.last()?;
    let throttled = attempts
        .iter()
        .filter(|line| Repeated::reports_throttling(line))
        .count() as u64;
    measured.repeated = Some(Repeated {
        retries: attempts.len() as u64,
        throttled,
        waited_seconds: None,
    });
    let line = measured.transcript.last()?;
    let is_models_turn = match line["type"].as_str() {
        Some("message") => line["role"] == "user",
        Some(kind) => matches!(kind, "init" | "tool_result"),
        None => false,
    };
    is_models_turn.then(|| last.split(". Retrying").next().unwrap_or(last).to_owned())
}

fn read_session(stdout: &str, measured: &mut ReplyMeasurements) -> SessionReport {
    let lines = json_objects(stdout);
    let said = match lines.iter().rfind(|line| {
        line.get("type").is_none()
            && (line.get("response").is_some() || line.get("error").is_some())
    }) {
        Some(summary) => read_summary(summary, measured),
        None => read_stream(&lines, measured),
    };
    measured.transcript = lines;
    said
}

fn read_summary(summary: &Value, measured: &mut ReplyMeasurements) -> SessionReport {
    let stats = &summary["stats"];
    add_models(stats, None, measured);
    let requests = |model: &Value| model.pointer("/api/totalRequests").and_then(as_count);
    measured.steps = stats["models"]
        .as_object()
        .and_then(|models| models.values().map(requests).sum());
    measured.tools = stats
        .pointer("/tools/byName")
        .and_then(Value::as_object)
        .map(|tools| {
            let counts = tools
                .iter()
                .filter_map(|(name, tool)| Some((name.clone(), as_count(tool.get("count")?)?)));
            counts.collect()
        });
    for warning in summary["warnings"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
    {
        add_note(measured, warning);
    }
    let ending = match text_at(summary, "/error/message") {
        Some(message) => classify_failure(text_at(summary, "/error/type"), message),
        None => ReportedEnd::Success,
    };
    SessionReport {
        text: summary["response"].as_str().map(str::to_owned),
        ending,
        awaited: None,
    }
}

fn read_stream(lines: &[Value], measured: &mut ReplyMeasurements) -> SessionReport {
    let mut said = SessionReport::default();
    let mut tools = BTreeMap::new();
    let (mut asked_model, mut turns, mut speaks, mut is_stream) = (None, 0_u64, false, false);
    let mut last_error = None;
    for line in lines {
        let is_assistant = line["role"] == "assistant";
        match line["type"].as_str() {
            Some("init") => (asked_model, is_stream) = (text_at(line, "/model"), true),
            Some("message") if is_assistant || line["role"] == "user" => {
                turns += u64::from(is_assistant && !speaks);
                // Text after tool results starts a new message.
                let before = if speaks {
                    said.text.take().unwrap_or_default()
                } else {
                    String::new()
                };
                if is_assistant {
                    said.text = Some(before + line["content"].as_str().unwrap_or_default());
                }
                speaks = is_assistant;
            }
            Some("tool_use") => {
                turns += u64::from(!speaks);
                speaks = true;
                *tools
                    .entry(text_at(line, "/tool_name").unwrap_or("unnamed").to_owned())
                    .or_insert(0) += 1;
            }
            Some("tool_result") => speaks = false,
            Some("error") => {
                last_error = Some((
                    line["severity"] == "error",
                    text_at(line, "/message").unwrap_or("an error"),
                ));
            }
            Some("result") => {
                add_models(&line["stats"], asked_model, measured);
                let message =
                    text_at(line, "/error/message").or(last_error.map(|(_, message)| message));
                said.ending = match (line["status"].as_str(), last_error) {
                    (Some("success"), Some((true, message))) if is_turn_limit(message) => {
                        ReportedEnd::Failure(AgentFailureKind::Limit, message.to_owned())
                    }
                    (Some("success"), _) => ReportedEnd::Success,
                    _ => classify_failure(
                        text_at(line, "/error/type"),
                        message.unwrap_or("an error"),
                    ),
                };
            }
            _ => {}
        }
    }
    if let (ReportedEnd::Success, Some((_, message))) = (&said.ending, last_error) {
        add_note(measured, message);
    }
    measured.steps = (turns > 0).then_some(turns);
    measured.tools = is_stream.then_some(tools);
    if measured.model.is_none() {
        measured.model = asked_model.map(str::to_owned);
    }
    said
}

fn is_turn_limit(message: &str) -> bool {
    let lower = message.to_lowercase();
    lower.contains("max session turns") || lower.contains("maximum session turns")
}

fn classify_failure(kind: Option<&str>, message: &str) -> ReportedEnd {
    let is_limit = kind.is_some_and(|kind| kind == "FatalTurnLimitedError")
        || is_turn_limit(message)
        || message.contains("exceeded the token limit")
        || message.contains("exceeds the maximum number of tokens");
    let is_ours = kind.is_some_and(|kind| {
        matches!(
            kind,
            "FatalAuthenticationError" | "FatalConfigError" | "FatalSandboxError"
        )
    });
    let failure = match (is_limit, is_ours) {
        (true, _) => AgentFailureKind::Limit,
        (false, true) => AgentFailureKind::Infra,
        (false, false) => AgentFailureKind::Error,
    };
    ReportedEnd::Failure(
        failure,
        [kind, Some(message)]
            .into_iter()
            .flatten()
            .collect::<Vec<_>>()
            .join(": "),
    )
}

/// Adds the tokens of all models. Sets the model to the only one with output or, if several have output, to the requested one if it is
/// among them.
fn add_models(stats: &Value, asked: Option<&str>, measured: &mut ReplyMeasurements) {
    let Some(models) = stats["models"].as_object() else {
        // Some releases give only the sums.
        measured.usage = read_usage(stats);
        return;
    };
    let by_model: BTreeMap<String, Usage> = models
        .iter()
        .map(|(name, model)| (name.clone(), read_usage(model)))
        .collect();
    if by_model.is_empty() {
        return;
    }
    measured.usage = by_model
        .values()
        .fold(Usage::default(), |sum, usage| sum.plus(usage));
    let wrote: Vec<&String> = by_model
        .iter()
        .filter(|(_, usage)| usage.output.is_some_and(|tokens| tokens > 0))
        .map(|(name, _)| name)
        .collect();
    measured.model = match wrote.as_slice() {
        [only] => Some((*only).clone()),
        several => {
            if several.len() > 1 {
                let names: Vec<&str> = several.iter().map(|name| name.as_str()).collect();
                add_note(
                    measured,
                    &format!("more than one model answered: {}", names.join(", ")),
                );
            }
            asked
                .filter(|asked| several.iter().any(|name| name == asked))
                .map(str::to_owned)
        }
    };
    if by_model.len() > 1 {
        measured.by_model = by_model;
    }
}

/// Reads one model's tokens. Cached tokens are subtracted from the prompt, which includes them. Thoughts count as output, as they are
/// billed.
fn read_usage(model: &Value) -> Usage {
    if let Some(tokens) = model.get("tokens") {
        let count = |name: &str| tokens.get(name).and_then(as_count);
        let sum = |one: Option<u64>, other: Option<u64>| {
            one.map(|one| one.saturating_add(other.unwrap_or(0)))
        };
        return Usage {
            input: sum(count("prompt"), count("tool"))
                .map(|prompt| prompt.saturating_sub(count("cached").unwrap_or(0))),
            cache_write: None,
            cache_read: count("cached"),
            output: sum(count("candidates"), count("thoughts")),
        };
    }
    let count = |name: &str| model.get(name).and_then(as_count);
    let (prompt, written) = (count("input_tokens"), count("output_tokens"));
    let all_but_prompt = count("total_tokens")
        .zip(prompt)
        .map(|(total, prompt)| total.saturating_sub(prompt));
    Usage {
        input: prompt.map(|prompt| prompt.saturating_sub(count("cached").unwrap_or(0))),
        cache_write: None,
        cache_read: count("cached"),
        output: written.map(|written| written.max(all_but_prompt.unwrap_or(0))),
    }
}

#[cfg(test)]
mod tests {
    use super::super::session::testing;
    use super::super::tool::testing::command_words;
    use super::*;

    const STREAM: &str = r#"{"type":"init","timestamp":"t","session_id":"s","model":"auto"}
{"type":"message","timestamp":"t","role":"user","content":"Which colour?"}
{"type":"message","timestamp":"t","role":"assistant","content":"I look.","delta":true}
{"type":"tool_use","timestamp":"t","tool_name":"read_file","tool_id":"t1","parameters":{"input_tokens":9}}
{"type":"tool_result","timestamp":"t","tool_id":"t1","status":"error","error":{"type":"x","message":"no"}}
{"type":"message","timestamp":"t","role":"assistant","content":"<answer>Bl","delta":true}
{"type":"message","timestamp":"t","role":"assistant","content":"ue</answer>","delta":true}
{"type":"result","timestamp":"t","status":"success","stats":{"total_tokens":12525,"input_tokens":12303,"output_tokens":58,"cached":303,"input":12000,"duration_ms":5,"tool_calls":1,"models":{"pro":{"total_tokens":12525,"input_tokens":12303,"output_tokens":58,"cached":303,"input":12000}}}}"#;
    const SUMMARY: &str = r#"{
  "session_id": "s",
  "response": "Blue",
  "stats": {"models": {
    "flash": {"api": {"totalRequests": 1, "totalErrors": 0}, "tokens": {"input": 90, "prompt": 100, "candidates": 5, "total": 108, "cached": 10, "thoughts": 3, "tool": 0}},
    "pro": {"api": {"totalRequests": 2, "totalErrors": 0}, "tokens": {"input": 200, "prompt": 200, "candidates": 7, "total": 217, "cached": 0, "thoughts": 10, "tool": 0}}},
   "tools": {"totalCalls": 2, "byName": {"read_file": {"count": 2, "success": 1, "fail": 1}}}}
}"#;

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
            line("gemini", Some("m")),
            "gemini --output-format stream-json --model m"
        );
        assert_eq!(
            line("gemini --yolo -o json -m x", Some("m")),
            "gemini --yolo -o json -m x"
        );
    }

    #[test]
    fn a_stream_is_measured_and_thoughts_are_output() {
        let (said, measured) = measured(STREAM);
        assert_eq!(
            said,
            SessionReport {
                text: Some("<answer>Blue</answer>".to_owned()),
                ending: ReportedEnd::Success,
                awaited: None
            }
        );
        let expected = Usage {
            input: Some(12000),
            cache_write: None,
            cache_read: Some(303),
            output: Some(222),
        };
        assert_eq!(
            (measured.usage, measured.steps, measured.model.as_deref()),
            (expected, Some(2), Some("pro"))
        );
        assert_eq!(
            (measured.tools, measured.by_model.len()),
            (Some(BTreeMap::from([("read_file".to_owned(), 1)])), 0)
        );
    }

    #[test]
    fn one_object_is_measured_and_several_models_stay_apart() {
        let (said, measured) = measured(SUMMARY);
        assert_eq!(
            said,
            SessionReport {
                text: Some("Blue".to_owned()),
                ending: ReportedEnd::Success,
                awaited: None
            }
        );
        let part = |input, cache_read, output| Usage {
            input: Some(input),
            cache_write: None,
            cache_read: Some(cache_read),
            output: Some(output),
        };
        assert_eq!(
            (measured.usage, measured.steps, measured.model),
            (part(290, 10, 25), Some(3), None)
        );
        assert_eq!(
            measured.by_model,
            BTreeMap::from([
                ("flash".to_owned(), part(90, 10, 8)),
                ("pro".to_owned(), part(200, 0, 17))
            ])
        );
        assert_eq!(
            measured.tools,
            Some(BTreeMap::from([("read_file".to_owned(), 2)]))
        );
        assert_eq!(
            measured.note.as_deref(),
            Some("more than one model answered: flash, pro")
        );
    }

    #[test]
    fn a_service_that_does_not_answer_is_awaited_where_the_model_is_to_speak() {
        let complaint = "Ripgrep is not available.\nAttempt 1 failed with status 429. Retrying with backoff... _ApiError: {}\n  status: 429\n}\nAttempt 2 failed with status 500. Retrying with backoff... _ApiError: {}\n}";
        let of = |stream: &str| {
            let (_, mut measured) = measured(stream);
            (read_complaints(complaint, &mut measured), measured.repeated)
        };
        let repeated = Some(Repeated {
            retries: 2,
            throttled: 1,
            waited_seconds: None,
        });
        let first = STREAM.lines().next().expect("it begins");
        assert_eq!(
            of(first),
            (
                Some("Attempt 2 failed with status 500".to_owned()),
                repeated
            )
        );
        assert_eq!(of(STREAM), (None, repeated));
        assert_eq!(read_complaints("", &mut ReplyMeasurements::default()), None);
    }

    #[test]
    fn failures_and_warnings_have_their_kind() {
        let ending = |lines: &str| measured(lines).0.ending;
        let blocked = r#"{"type":"error","severity":"error","message":"The model response was blocked due to safety settings."}"#;
        let turns =
            r#"{"type":"error","severity":"error","message":"Maximum session turns exceeded"}"#;
        let result = |status: &str| format!("{{\"type\":\"result\",\"status\":\"{status}\"}}");
        let because = "The model response was blocked due to safety settings.".to_owned();
        assert_eq!(
            ending(&format!("{blocked}\n{}", result("error"))),
            ReportedEnd::Failure(AgentFailureKind::Error, because)
        );
        assert!(matches!(
            ending(&format!("{turns}\n{}", result("success"))),
            ReportedEnd::Failure(AgentFailureKind::Limit, _)
        ));
        let fatal = |kind: &str| {
            format!(
                "{{\"type\":\"result\",\"status\":\"error\",\"error\":{{\"type\":\"{kind}\",\"message\":\"no\"}}}}"
            )
        };
        assert_eq!(
            ending(&fatal("FatalTurnLimitedError")),
            ReportedEnd::Failure(
                AgentFailureKind::Limit,
                "FatalTurnLimitedError: no".to_owned()
            )
        );
        assert!(matches!(
            ending(&fatal("FatalAuthenticationError")),
            ReportedEnd::Failure(AgentFailureKind::Infra, _)
        ));
        assert!(matches!(
            ending(r#"{"error":{"type":"Error","message":"boom","code":1}}"#),
            ReportedEnd::Failure(AgentFailureKind::Error, _)
        ));
        let (said, measured) = measured(&STREAM.replace(
            "{\"type\":\"result\"",
            "{\"type\":\"error\",\"severity\":\"warning\",\"message\":\"Loop detected, stopping execution\"}\n{\"type\":\"result\"",
        ));
        assert_eq!(
            (said.ending, measured.note.as_deref()),
            (
                ReportedEnd::Success,
                Some("Loop detected, stopping execution")
            )
        );
    }

    proptest::proptest! {
        #[test]
        fn no_output_crashes_the_parser(text in ".{0,200}", cut in 0..2000_usize, from in 0..2000_usize) {
            measured(&text);
            for stream in [STREAM, SUMMARY] {
                let (cut, from) = (cut.min(stream.len()), from.min(stream.len()));
                measured(&stream[..cut]);
                measured(&format!("{}{}", &stream[..cut.min(from)], &stream[cut.max(from)..]));
            }
        }

        #[test]
        fn a_stream_that_was_cut_is_no_success(cut in 0..1300_usize) {
            let result = STREAM.find("{\"type\":\"result\"").expect("it ends");
            let (said, measured) = measured(&STREAM[..cut.min(result)]);
            proptest::prop_assert!(said.ending == ReportedEnd::Unsaid && measured.steps.unwrap_or(0) <= 2);
        }
    }
}
