//! OpenAI's Codex: `codex exec --json`.
//!
//! Events, one JSON object a line, as `codex-rs/exec/src/exec_events.rs` of openai/codex defines them:
//!
//! | `type` | holds |
//! | --- | --- |
//! | `thread.started`, `turn.started` | nothing that is measured |
//! | `item.started`, `item.updated`, `item.completed` | `item`: `id`, `type`, and what the type has; an `error` item is a warning |
//! | `turn.completed` | `usage` of the thread until then: `input_tokens`, of which `cached_input_tokens` and `cache_write_input_tokens`, and `output_tokens`, of which `reasoning_output_tokens` |
//! | `turn.failed` | `error.message` |
//! | `error` | `message`; also before each new try to reach the service, so that it ends nothing by itself |
//!
//! The files of its sessions (`~/.codex/sessions`) and its older releases say the same in another form, an event within `payload` or `msg`,
//! and tell the model as well. Money is in neither.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::reply::{FailureKind, Measured};
use super::session::{self, Ending, Said, add_note, objects, text};
use super::tool::{Asked, Choice, Home, Line, Tool};
use super::usage::as_count;
use crate::domain::{Repeated, Usage};

pub const TOOL: Tool = Tool {
    program: "codex",
    keys: &["OPENAI_*", "CODEX_*"],
    variables: &[],
    homes: &[Home { variable: "CODEX_HOME", then: "", below_home: ".codex" }],
    writing: &[
        Choice { names: &["exec", "e"], words: &["exec"], confined: &["exec"] },
        Choice {
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
            // Its sandbox needs to mount, which no confined program may: with it every command would fail.
            confined: &["--sandbox", "danger-full-access"],
        },
    ],
    takes_system: false,
    complete,
    read: |finished, wall| session::reply(finished, wall, read),
};

/// Items that are calls of tools, by the name under which they are counted. Of an MCP server the tool's own name is.
const TOOLS: [&str; 5] = ["command_execution", "file_change", "mcp_tool_call", "collab_tool_call", "web_search"];

fn complete(line: &mut Line, asked: &Asked<'_>) {
    line.add_unless(&["exec", "e"], &["exec"]);
    line.add_unless(&["--json", "--experimental-json"], &["--json"]);
    // A workspace is no repository, and the folder of a run is nobody's to trust.
    line.add_unless(&["--skip-git-repo-check"], &["--skip-git-repo-check"]);
    line.add_model(&["--model", "-m"], asked.model);
}

fn read(stdout: &str, measured: &mut Measured) -> Said {
    let lines = objects(stdout);
    let mut session = Session::default();
    for line in &lines {
        session.take(line);
    }
    measured.transcript = lines;
    session.finish(measured)
}

#[derive(Debug, Default)]
struct Session {
    text: Option<String>,
    ending: Ending,
    usage: Option<Usage>,
    by_model: BTreeMap<String, Usage>,
    models: Vec<String>,
    /// Items that are done, messages and calls alike.
    steps: BTreeSet<String>,
    calls: BTreeMap<String, String>,
    version: Option<String>,
    repeated: Option<Repeated>,
    /// The number of the try that was announced last, and why there was one; none once the service has answered.
    again: Option<(u64, String)>,
    /// Whether anything was told in a form that also tells of tools.
    tells_tools: bool,
}

impl Session {
    fn take(&mut self, line: &Value) {
        match line["type"].as_str() {
            Some("item.started" | "item.updated" | "item.completed") => self.item(line),
            Some("thread.started" | "turn.started") => self.tells_tools = true,
            Some("turn.completed") => {
                self.ending = Ending::Success;
                // Of a thread of several turns each tells the sum.
                self.usage = line.get("usage").map(usage).or(self.usage);
            }
            Some("turn.failed") => self.ending = failure(text(line, "/error/message").unwrap_or("that the turn failed")),
            Some("error") if text(line, "/message").is_some_and(|message| message.starts_with("Reconnecting")) => {
                self.again(text(line, "/message").unwrap_or_default());
            }
            Some("error") => {
                // The last word only where nothing better comes.
                if !matches!(self.ending, Ending::Success) {
                    self.ending = failure(text(line, "/message").unwrap_or("an error"));
                }
            }
            _ => {
                let event = line.get("payload").or_else(|| line.get("msg"));
                self.event(line["type"].as_str(), event.unwrap_or(&Value::Null));
            }
        }
    }

    /// Takes the announcement `Reconnecting... 2/5 (why)`. The first of several tries may go unannounced.
    fn again(&mut self, message: &str) {
        let (announced, why) = message.split_once(" (").unwrap_or((message, message));
        let before = self.again.as_ref().map_or(0, |(number, _)| *number);
        let number = announced.rsplit(' ').next().and_then(|count| count.split_once('/')?.0.parse().ok());
        let retries = number.map_or(1, |number: u64| if number > before { number - before } else { 1 });
        let is_throttled = ["429", "503", "529"].iter().any(|status| why.contains(&format!("status {status}")));
        let again = Repeated { retries, throttled: if is_throttled { retries } else { 0 }, waited_seconds: None };
        self.repeated = Some(self.repeated.unwrap_or_default().plus(&again));
        self.again = Some((number.unwrap_or(before), why.trim_end_matches(')').to_owned()));
    }

    fn item(&mut self, line: &Value) {
        self.tells_tools = true;
        let item = &line["item"];
        let (Some(kind), id) = (item["type"].as_str(), item["id"].as_str().unwrap_or_default()) else { return };
        let is_done = line["type"] == "item.completed";
        // What is no complaint comes of an answer of the service.
        self.again = self.again.take().filter(|_| kind == "error");
        if kind == "agent_message" && is_done {
            self.text = item["text"].as_str().map(str::to_owned);
            self.steps.insert(id.to_owned());
        } else if TOOLS.contains(&kind) {
            let name = match (kind, text(item, "/server"), text(item, "/tool")) {
                ("mcp_tool_call", Some(server), Some(tool)) => format!("{server}.{tool}"),
                _ => kind.to_owned(),
            };
            self.calls.insert(id.to_owned(), name);
            self.steps.insert(id.to_owned());
        } else if kind == "error"
            && is_done
            && let Some((from, to)) = text(item, "/message").and_then(rerouted)
        {
            self.models = vec![from.to_owned(), to.to_owned()];
        }
    }

    /// One event of a session's file (its line's type beside it) or of an older release.
    fn event(&mut self, outer: Option<&str>, event: &Value) {
        let kind = match outer {
            Some("event_msg" | "response_item") | None => event["type"].as_str().unwrap_or_default(),
            Some(outer) => outer,
        };
        match kind {
            "turn_context" | "session_configured" => self.answers(text(event, "/model")),
            "session_meta" => self.version = text(event, "/cli_version").map(str::to_owned),
            "token_count" => self.count(&event["info"]),
            "agent_message" => self.text = text(event, "/message").map(str::to_owned).or(self.text.take()),
            "task_complete" => {
                self.text = text(event, "/last_agent_message").map(str::to_owned).or(self.text.take());
                self.ending = Ending::Success;
            }
            "turn_aborted" => self.ending = failure(&format!("an aborted turn: {}", text(event, "/reason").unwrap_or("no reason given"))),
            "error" => self.ending = failure(text(event, "/message").unwrap_or("an error")),
            "function_call" | "custom_tool_call" | "local_shell_call" => {
                self.tells_tools = true;
                let id = text(event, "/call_id").map_or_else(|| format!("#{}", self.calls.len()), str::to_owned);
                self.calls.insert(id, text(event, "/name").unwrap_or("shell").to_owned());
            }
            _ => {}
        }
    }

    fn answers(&mut self, model: Option<&str>) {
        if let Some(model) = model
            && self.models.last().is_none_or(|last| last != model)
        {
            self.models.push(model.to_owned());
        }
    }

    /// Takes a cumulative count: what it adds to the one before belongs to the model that answers now. A count that is told twice adds nothing.
    fn count(&mut self, info: &Value) {
        self.answers(text(info, "/model"));
        let before = self.usage.unwrap_or_default();
        let (total, last) = (info.get("total_token_usage").map(usage), info.get("last_token_usage").map(usage));
        let Some(total) = total.or_else(|| last.map(|last| before.plus(&last))) else { return };
        self.usage = Some(total);
        if let Some(model) = self.models.last() {
            let part = self.by_model.entry(model.clone()).or_default();
            *part = part.plus(&minus(&total, &before));
        }
    }

    fn finish(self, measured: &mut Measured) -> Said {
        measured.usage = self.usage.unwrap_or_default();
        measured.model = self.models.last().cloned();
        measured.served.version = self.version;
        measured.repeated = self.repeated;
        let mut names = self.models;
        names.dedup();
        if names.len() > 1 {
            add_note(measured, &format!("more than one model answered: {}", names.join(", then ")));
        }
        if self.by_model.len() > 1 {
            measured.by_model = self.by_model;
        }
        measured.steps = (!self.steps.is_empty()).then_some(self.steps.len() as u64);
        measured.tools = self.tells_tools.then(|| {
            let mut tools = BTreeMap::new();
            for name in self.calls.into_values() {
                *tools.entry(name).or_insert(0) += 1;
            }
            tools
        });
        Said { text: self.text, ending: self.ending, awaited: self.again.map(|(_, why)| why) }
    }
}

fn failure(message: &str) -> Ending {
    let lower = message.to_lowercase();
    let is_limit = ["context window", "context_length", "token budget exhausted"].iter().any(|phrase| lower.contains(phrase));
    Ending::Failure(if is_limit { FailureKind::Limit } else { FailureKind::Error }, message.to_owned())
}

/// The two models of `model rerouted: A -> B (why)`.
fn rerouted(message: &str) -> Option<(&str, &str)> {
    let (from, to) = message.strip_prefix("model rerouted: ")?.split_once(" -> ")?;
    Some((from, to.split_once(" (").map_or(to, |(to, _)| to)))
}

/// The input holds what was cached, so that this is taken out; the output holds the reasoning, as it is billed.
fn usage(usage: &Value) -> Usage {
    let count = |name: &str| usage.get(name).and_then(as_count);
    let (cache_read, cache_write) = (count("cached_input_tokens"), count("cache_write_input_tokens").filter(|tokens| *tokens > 0));
    let cached = cache_read.unwrap_or(0).saturating_add(cache_write.unwrap_or(0));
    let input = count("input_tokens").map(|input| input.saturating_sub(cached));
    Usage { input, cache_write, cache_read, output: count("output_tokens") }
}

fn minus(total: &Usage, before: &Usage) -> Usage {
    let part = |total: Option<u64>, before: Option<u64>| total.map(|total| total.saturating_sub(before.unwrap_or(0)));
    Usage {
        input: part(total.input, before.input),
        cache_write: part(total.cache_write, before.cache_write),
        cache_read: part(total.cache_read, before.cache_read),
        output: part(total.output, before.output),
    }
}

#[cfg(test)]
mod tests {
    use super::super::session::testing;
    use super::super::tool::testing::command_words;
    use super::*;

    const STREAM: &str = r#"{"type":"thread.started","thread_id":"0199"}
{"type":"turn.started"}
{"type":"item.completed","item":{"id":"item_0","type":"reasoning","text":"Look first."}}
{"type":"item.started","item":{"id":"item_1","type":"command_execution","command":"ls","aggregated_output":"","exit_code":null,"status":"in_progress"}}
{"type":"error","message":"Reconnecting... 1/5 (stream disconnected before completion)"}
{"type":"item.completed","item":{"id":"item_1","type":"command_execution","command":"ls","aggregated_output":"a.py","exit_code":0,"status":"completed"}}
{"type":"item.completed","item":{"id":"item_2","type":"mcp_tool_call","server":"docs","tool":"find","arguments":{"input_tokens":9},"status":"completed"}}
{"type":"item.completed","item":{"id":"item_3","type":"agent_message","text":"<answer>Blue</answer>"}}
{"type":"turn.completed","usage":{"input_tokens":24763,"cached_input_tokens":24448,"output_tokens":122,"reasoning_output_tokens":64}}"#;
    /// The shape of a session's file, in which the model changes.
    const SESSION: &str = r#"{"timestamp":"2026-05-13T09:00:00.000Z","type":"turn_context","payload":{"model":"one"}}
{"type":"event_msg","payload":{"type":"token_count","info":{"last_token_usage":{"input_tokens":10,"cached_input_tokens":4,"output_tokens":3},"total_token_usage":{"input_tokens":10,"cached_input_tokens":4,"output_tokens":3}}}}
{"type":"event_msg","payload":{"type":"token_count","info":{"last_token_usage":{"input_tokens":10,"cached_input_tokens":4,"output_tokens":3},"total_token_usage":{"input_tokens":10,"cached_input_tokens":4,"output_tokens":3}}}}
{"type":"response_item","payload":{"type":"function_call","name":"shell","call_id":"c1","arguments":"{}"}}
{"type":"event_msg","payload":{"type":"token_count","info":{"model":"two","last_token_usage":{"input_tokens":20,"cached_input_tokens":5,"output_tokens":7}}}}
{"type":"event_msg","payload":{"type":"agent_message","message":"Done."}}
{"type":"event_msg","payload":{"type":"task_complete","last_agent_message":null}}"#;

    fn measured(stdout: &str) -> (Said, Measured) {
        testing::measured(read, stdout)
    }

    #[test]
    fn the_command_is_completed_not_contradicted() {
        let line = |own: &str, model| command_words(&TOOL, own, &Asked { model, max_steps: Some(3), system: None });
        assert_eq!(line("codex", Some("m")), "codex exec --json --skip-git-repo-check --model m");
        assert_eq!(line("codex exec --sandbox workspace-write", None), "codex exec --sandbox workspace-write --json --skip-git-repo-check");
        assert_eq!(line("codex e -m x --json", Some("m")), "codex e -m x --json --skip-git-repo-check");
        assert_eq!(line("exec --profile {model}", Some("m")), "exec --profile m exec --json --skip-git-repo-check");
    }

    #[test]
    fn a_turn_is_measured_and_a_new_try_ends_nothing() {
        let (said, measured) = measured(STREAM);
        assert_eq!(said, Said { text: Some("<answer>Blue</answer>".to_owned()), ending: Ending::Success, awaited: None });
        let expected = Usage { input: Some(315), cache_write: None, cache_read: Some(24448), output: Some(122) };
        assert_eq!((measured.usage, measured.steps, measured.model), (expected, Some(3), None));
        assert_eq!(measured.repeated, Some(Repeated { retries: 1, throttled: 0, waited_seconds: None }));
        let tools = [("command_execution".to_owned(), 1), ("docs.find".to_owned(), 1)];
        assert_eq!((measured.tools, measured.transcript.len()), (Some(BTreeMap::from(tools)), 9));
    }

    #[test]
    fn a_service_that_does_not_answer_is_awaited() {
        let again = |text: &str| format!("{{\"type\":\"error\",\"message\":\"Reconnecting... {text}\"}}\n");
        let stream = again("2/5 (unexpected status 529 <unknown status code>: x)") + &again("3/5 (unexpected status 529: y)");
        let (said, waited) = measured(&stream);
        assert_eq!(said.awaited.as_deref(), Some("unexpected status 529: y"));
        assert_eq!(waited.repeated, Some(Repeated { retries: 3, throttled: 3, waited_seconds: None }));
        let (said, waited) = measured(&again("waiting for network (Connection failed: z)"));
        assert_eq!((said.awaited.as_deref(), waited.repeated.map(|repeated| repeated.retries)), (Some("Connection failed: z"), Some(1)));
        assert_eq!(measured(&format!("{stream}{STREAM}")).0.awaited, None);
    }

    #[test]
    fn a_session_file_tells_the_models_and_counts_each_count_once() {
        let (said, measured) = measured(SESSION);
        assert_eq!(said, Said { text: Some("Done.".to_owned()), ending: Ending::Success, awaited: None });
        let part =
            |input, cache_read, output| Usage { input: Some(input), cache_write: None, cache_read: Some(cache_read), output: Some(output) };
        assert_eq!((measured.usage, measured.model.as_deref()), (part(21, 9, 10), Some("two")));
        assert_eq!(measured.by_model, BTreeMap::from([("one".to_owned(), part(6, 4, 3)), ("two".to_owned(), part(15, 5, 7))]));
        assert_eq!(measured.note.as_deref(), Some("more than one model answered: one, then two"));
        assert_eq!(measured.tools, Some(BTreeMap::from([("shell".to_owned(), 1)])));
    }

    #[test]
    fn an_older_release_says_the_same_in_another_form() {
        let stream = r#"{"model":"gpt-x","sandbox":"read-only"}
{"id":"0","msg":{"type":"session_configured","model":"gpt-x"}}
{"id":"0","msg":{"type":"token_count","info":{"total_token_usage":{"input_tokens":10,"cached_input_tokens":4,"output_tokens":3}}}}
{"id":"0","msg":{"type":"task_complete","last_agent_message":"Blue"}}"#;
        let (said, measured) = measured(stream);
        assert_eq!(said, Said { text: Some("Blue".to_owned()), ending: Ending::Success, awaited: None });
        assert_eq!((measured.usage.total(), measured.model.as_deref(), measured.tools), (Some(13), Some("gpt-x"), None));
    }

    #[test]
    fn failures_have_their_kind_and_another_model_is_said() {
        let failed = |message: &str| measured(&format!("{{\"type\":\"turn.failed\",\"error\":{{\"message\":\"{message}\"}}}}")).0.ending;
        assert_eq!(failed("boom"), Ending::Failure(FailureKind::Error, "boom".to_owned()));
        assert!(matches!(failed("Codex ran out of room in the model's context window."), Ending::Failure(FailureKind::Limit, _)));
        assert!(matches!(failed("shared rollout token budget exhausted"), Ending::Failure(FailureKind::Limit, _)));
        let rerouted = r#"{"type":"item.completed","item":{"id":"i","type":"error","message":"model rerouted: a -> b (HighRisk)"}}"#;
        let (said, measured) = measured(&format!("{rerouted}\n{STREAM}"));
        assert_eq!((said.ending, measured.model.as_deref()), (Ending::Success, Some("b")));
        assert_eq!(measured.note.as_deref(), Some("more than one model answered: a, then b"));
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
