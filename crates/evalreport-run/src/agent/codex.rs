//! OpenAI's Codex: `codex exec --json`.
//!
//! The output is one JSON object per event and line, as defined in `codex-rs/exec/src/exec_events.rs` of openai/codex:
//!
//! | `type` | fields |
//! | --- | --- |
//! | `thread.started`, `turn.started` | nothing measured |
//! | `item.started`, `item.updated`, `item.completed` | `item` with `id`, `type` and fields of that type; an `error` item is a warning |
//! | `turn.completed` | `usage` of the thread so far: `input_tokens`, of which `cached_input_tokens` and `cache_write_input_tokens`, and `output_tokens`, of which `reasoning_output_tokens` |
//! | `turn.failed` | `error.message` |
//! | `error` | `message`; also sent before each new try to reach the service, so an `error` alone does not end the turn |
//!
//! Session files (`~/.codex/sessions`) and the output of older releases hold the same events inside `payload` or `msg`, and also name the
//! model. No form holds the cost.

use serde_json::Value;

use super::reply::{AgentFailureKind, ReplyMeasurements};
use super::session::{self, ReportedEnd, SessionReport, add_note, json_objects, text_at};
use super::tool::{
    CodingAgent, CommandLine, DefaultOption, InvocationOptions, ProgramHome, Rights,
};
use crate::transcript::{CodexTranscript, is_retry_notice, split_event};

pub const CODING_AGENT: CodingAgent = CodingAgent {
    program: "codex",
    keys: &["OPENAI_*", "CODEX_*"],
    variables: &[],
    homes: &[ProgramHome {
        variable: "CODEX_HOME",
        then: "",
        place: ".codex",
    }],
    writing: &[
        DefaultOption {
            names: &["exec", "e"],
            words: &["exec"],
            confined: &["exec"],
            full: &[],
        },
        DefaultOption {
            names: &[
                "--sandbox",
                "-s",
                "--full-auto",
                "--dangerously-bypass-approvals-and-sandbox",
                "--yolo",
                "--profile",
                "-p",
                "sandbox_mode",
                "default_permissions",
            ],
            words: &["--sandbox", "workspace-write"],
            // Its own sandbox needs to mount, which confined programs may not do: every command would fail.
            confined: &["--sandbox", "danger-full-access"],
            full: &[
                "--dangerously-bypass-approvals-and-sandbox",
                "--yolo",
                "danger-full-access",
            ],
        },
    ],
    free_rights: "edits, and commands in its own sandbox",
    writing_variables: Rights {
        confined: &[],
        free: &[],
    },
    takes_system: false,
    complete: complete_command,
    read: |finished, wall| session::read_reply(finished, wall, read_session),
};

fn complete_command(line: &mut CommandLine, asked: &InvocationOptions<'_>) {
    line.add_words_unless(&["exec", "e"], &["exec"]);
    line.add_words_unless(&["--json", "--experimental-json"], &["--json"]);
    // A workspace is not a git repository, and nobody has marked the run's folder as trusted.
    line.add_words_unless(&["--skip-git-repo-check"], &["--skip-git-repo-check"]);
    line.add_model(&["--model", "-m"], asked.model);
}

fn read_session(stdout: &str, measured: &mut ReplyMeasurements) -> SessionReport {
    let lines = json_objects(stdout);
    let mut session = CodexSession::default();
    for line in &lines {
        session.read_line(line);
    }
    measured.transcript = lines;
    session.into_report(measured)
}

#[derive(Debug, Default)]
struct CodexSession {
    text: Option<String>,
    ending: ReportedEnd,
    thread: CodexTranscript,
}

impl CodexSession {
    fn read_line(&mut self, line: &Value) {
        self.thread.add_line(line);
        match line["type"].as_str() {
            Some("item.completed") if line["item"]["type"] == "agent_message" => {
                self.text = line["item"]["text"].as_str().map(str::to_owned);
            }
            Some("turn.completed") => self.ending = ReportedEnd::Success,
            Some("turn.failed") => {
                self.ending = classify_failure(
                    text_at(line, "/error/message").unwrap_or("that the turn failed"),
                );
            }
            Some("error") if text_at(line, "/message").is_some_and(is_retry_notice) => {}
            Some("error") => {
                // An `error` event counts only if the turn does not complete or fail.
                if !matches!(self.ending, ReportedEnd::Success) {
                    self.ending = classify_failure(text_at(line, "/message").unwrap_or("an error"));
                }
            }
            _ => self.read_nested_event(line),
        }
    }

    fn read_nested_event(&mut self, line: &Value) {
        let (kind, event) = split_event(line);
        match kind {
            "agent_message" => {
                self.text = text_at(event, "/message")
                    .map(str::to_owned)
                    .or(self.text.take());
            }
            "task_complete" => {
                self.text = text_at(event, "/last_agent_message")
                    .map(str::to_owned)
                    .or(self.text.take());
                self.ending = ReportedEnd::Success;
            }
            "turn_aborted" => {
                self.ending = classify_failure(&format!(
                    "an aborted turn: {}",
                    text_at(event, "/reason").unwrap_or("no reason given")
                ));
            }
            "error" => {
                self.ending = classify_failure(text_at(event, "/message").unwrap_or("an error"));
            }
            _ => {}
        }
    }

    fn into_report(self, measured: &mut ReplyMeasurements) -> SessionReport {
        let CodexTranscript {
            version, repeated, ..
        } = &self.thread;
        measured.served.version.clone_from(version);
        measured.repeated.clone_from(repeated);
        measured.usage = self.thread.usage().unwrap_or_default();
        measured.model = self.thread.models().last().cloned();
        let mut names = self.thread.models().to_vec();
        names.dedup();
        if names.len() > 1 {
            add_note(
                measured,
                &format!("more than one model answered: {}", names.join(", then ")),
            );
        }
        let by_model = self.thread.by_model();
        if by_model.len() > 1 {
            measured.by_model = by_model;
        }
        measured.steps = self.thread.step_count();
        measured.tools = self.thread.tool_calls();
        SessionReport {
            text: self.text,
            ending: self.ending,
            awaited: self.thread.pending_retry_reason().map(str::to_owned),
        }
    }
}

fn classify_failure(message: &str) -> ReportedEnd {
    let lower = message.to_lowercase();
    let is_limit = ["context window", "context_length", "token budget exhausted"]
        .iter()
        .any(|phrase| lower.contains(phrase));
    ReportedEnd::Failure(
        if is_limit {
            AgentFailureKind::Limit
        } else {
            AgentFailureKind::Error
        },
        message.to_owned(),
    )
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::super::session::testing;
    use super::super::tool::testing::command_words;
    use super::*;
    use crate::domain::{Repeated, Usage};

    const STREAM: &str = r#"{"type":"thread.started","thread_id":"0199"}
{"type":"turn.started"}
{"type":"item.completed","item":{"id":"item_0","type":"reasoning","text":"Look first."}}
{"type":"item.started","item":{"id":"item_1","type":"command_execution","command":"ls","aggregated_output":"","exit_code":null,"status":"in_progress"}}
{"type":"error","message":"Reconnecting... 1/5 (stream disconnected before completion)"}
{"type":"item.completed","item":{"id":"item_1","type":"command_execution","command":"ls","aggregated_output":"a.py","exit_code":0,"status":"completed"}}
{"type":"item.completed","item":{"id":"item_2","type":"mcp_tool_call","server":"docs","tool":"find","arguments":{"input_tokens":9},"status":"completed"}}
{"type":"item.completed","item":{"id":"item_3","type":"agent_message","text":"<answer>Blue</answer>"}}
{"type":"turn.completed","usage":{"input_tokens":24763,"cached_input_tokens":24448,"output_tokens":122,"reasoning_output_tokens":64}}"#;
    /// A session file in which the model changes.
    const SESSION: &str = r#"{"timestamp":"2026-05-13T09:00:00.000Z","type":"turn_context","payload":{"model":"one"}}
{"type":"event_msg","payload":{"type":"token_count","info":{"last_token_usage":{"input_tokens":10,"cached_input_tokens":4,"output_tokens":3},"total_token_usage":{"input_tokens":10,"cached_input_tokens":4,"output_tokens":3}}}}
{"type":"event_msg","payload":{"type":"token_count","info":{"last_token_usage":{"input_tokens":10,"cached_input_tokens":4,"output_tokens":3},"total_token_usage":{"input_tokens":10,"cached_input_tokens":4,"output_tokens":3}}}}
{"type":"response_item","payload":{"type":"function_call","name":"shell","call_id":"c1","arguments":"{}"}}
{"type":"event_msg","payload":{"type":"token_count","info":{"model":"two","last_token_usage":{"input_tokens":20,"cached_input_tokens":5,"output_tokens":7}}}}
{"type":"event_msg","payload":{"type":"agent_message","message":"Done."}}
{"type":"event_msg","payload":{"type":"task_complete","last_agent_message":null}}"#;

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
                    max_steps: Some(3),
                    system: None,
                },
            )
        };
        assert_eq!(
            line("codex", Some("m")),
            "codex exec --json --skip-git-repo-check --model m"
        );
        assert_eq!(
            line("codex exec --sandbox workspace-write", None),
            "codex exec --sandbox workspace-write --json --skip-git-repo-check"
        );
        assert_eq!(
            line("codex e -m x --json", Some("m")),
            "codex e -m x --json --skip-git-repo-check"
        );
        assert_eq!(
            line("exec --profile {model}", Some("m")),
            "exec --profile m exec --json --skip-git-repo-check"
        );
    }

    #[test]
    fn a_turn_is_measured_and_a_new_try_ends_nothing() {
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
            input: Some(315),
            cache_write: None,
            cache_read: Some(24448),
            output: Some(122),
        };
        assert_eq!(
            (measured.usage, measured.steps, measured.model),
            (expected, Some(3), None)
        );
        assert_eq!(
            measured.repeated,
            Some(Repeated {
                retries: 1,
                throttled: 0,
                waited_seconds: None
            })
        );
        let tools = [
            ("command_execution".to_owned(), 1),
            ("docs.find".to_owned(), 1),
        ];
        assert_eq!(
            (measured.tools, measured.transcript.len()),
            (Some(BTreeMap::from(tools)), 9)
        );
    }

    #[test]
    fn a_service_that_does_not_answer_is_awaited() {
        let again =
            |text: &str| format!("{{\"type\":\"error\",\"message\":\"Reconnecting... {text}\"}}\n");
        let stream = again("2/5 (unexpected status 529 <unknown status code>: x)")
            + &again("3/5 (unexpected status 529: y)");
        let (said, waited) = measured(&stream);
        assert_eq!(said.awaited.as_deref(), Some("unexpected status 529: y"));
        assert_eq!(
            waited.repeated,
            Some(Repeated {
                retries: 3,
                throttled: 3,
                waited_seconds: None
            })
        );
        let (said, waited) = measured(&again("waiting for network (Connection failed: z)"));
        assert_eq!(
            (
                said.awaited.as_deref(),
                waited.repeated.map(|repeated| repeated.retries)
            ),
            (Some("Connection failed: z"), Some(1))
        );
        assert_eq!(measured(&format!("{stream}{STREAM}")).0.awaited, None);
    }

    #[test]
    fn a_session_file_tells_the_models_and_counts_each_count_once() {
        let (said, measured) = measured(SESSION);
        assert_eq!(
            said,
            SessionReport {
                text: Some("Done.".to_owned()),
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
            (measured.usage, measured.model.as_deref()),
            (part(21, 9, 10), Some("two"))
        );
        assert_eq!(
            measured.by_model,
            BTreeMap::from([
                ("one".to_owned(), part(6, 4, 3)),
                ("two".to_owned(), part(15, 5, 7))
            ])
        );
        assert_eq!(
            measured.note.as_deref(),
            Some("more than one model answered: one, then two")
        );
        assert_eq!(
            measured.tools,
            Some(BTreeMap::from([("shell".to_owned(), 1)]))
        );
    }

    #[test]
    fn an_older_release_says_the_same_in_another_form() {
        let stream = r#"{"model":"gpt-x","sandbox":"read-only"}
{"id":"0","msg":{"type":"session_configured","model":"gpt-x"}}
{"id":"0","msg":{"type":"token_count","info":{"total_token_usage":{"input_tokens":10,"cached_input_tokens":4,"output_tokens":3}}}}
{"id":"0","msg":{"type":"task_complete","last_agent_message":"Blue"}}"#;
        let (said, measured) = measured(stream);
        assert_eq!(
            said,
            SessionReport {
                text: Some("Blue".to_owned()),
                ending: ReportedEnd::Success,
                awaited: None
            }
        );
        assert_eq!(
            (
                measured.usage.total(),
                measured.model.as_deref(),
                measured.tools
            ),
            (Some(13), Some("gpt-x"), None)
        );
    }

    #[test]
    fn failures_have_their_kind_and_another_model_is_said() {
        let failed = |message: &str| {
            measured(&format!(
                "{{\"type\":\"turn.failed\",\"error\":{{\"message\":\"{message}\"}}}}"
            ))
            .0
            .ending
        };
        assert_eq!(
            failed("boom"),
            ReportedEnd::Failure(AgentFailureKind::Error, "boom".to_owned())
        );
        assert!(matches!(
            failed("Codex ran out of room in the model's context window."),
            ReportedEnd::Failure(AgentFailureKind::Limit, _)
        ));
        assert!(matches!(
            failed("shared rollout token budget exhausted"),
            ReportedEnd::Failure(AgentFailureKind::Limit, _)
        ));
        let rerouted = r#"{"type":"item.completed","item":{"id":"i","type":"error","message":"model rerouted: a -> b (HighRisk)"}}"#;
        let (said, measured) = measured(&format!("{rerouted}\n{STREAM}"));
        assert_eq!(
            (said.ending, measured.model.as_deref()),
            (ReportedEnd::Success, Some("b"))
        );
        assert_eq!(
            measured.note.as_deref(),
            Some("more than one model answered: a, then b")
        );
    }

    proptest::proptest! {
        #[test]
        fn no_output_crashes_the_parser(text in ".{0,200}", cut in 0..2500_usize, from in 0..200_usize) {
            measured(&text);
            let stream = format!("{STREAM}\n{SESSION}");
            let cut = stream.floor_char_boundary(cut.min(stream.len()));
            measured(&stream[..cut]);
            measured(&stream.replacen(&stream[..cut.min(from)], "", 1));
        }

        #[test]
        fn a_stream_that_was_cut_never_tells_more_than_the_whole(cut in 0..1200_usize) {
            let (whole, part) = (measured(STREAM).1, measured(&STREAM[..cut.min(STREAM.len())]).1);
            proptest::prop_assert!(part.usage.total().unwrap_or(0) <= whole.usage.total().unwrap_or(0));
            proptest::prop_assert!(part.steps.unwrap_or(0) <= 3 && part.transcript.len() <= 9);
        }
    }
}
