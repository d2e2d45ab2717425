//! Output of Claude's command line program: one JSON object, a list, or one line per message, sometimes with other text around it.

use std::collections::BTreeMap;

use serde_json::Value;

use super::reply::{Cost, ReplyMeasurements};
use super::session::json_objects;
use crate::domain::{Repeated, Usage};
use crate::transcript::{ClaudeMessages, as_amount, as_count, find_cost, find_count, find_usage};

#[derive(Clone, Debug, Default)]
pub struct ClaudeOutput {
    /// The last result message.
    result: Option<Value>,
    /// All other messages, in order.
    messages: Vec<Value>,
}

impl ClaudeOutput {
    pub fn parse(stdout: &str) -> Self {
        let objects = json_objects(stdout);
        let is_result = |value: &Value| value["type"] == "result";
        // Older programs and wrappers write no `type`. Lines of a session without one are messages.
        let is_old_result = |value: &Value| {
            value.get("type").is_none() && value.get("message").is_none_or(Value::is_string)
        };
        let untyped = || objects.iter().rposition(is_old_result);
        let Some(place) = objects.iter().rposition(is_result).or_else(untyped) else {
            return Self {
                result: None,
                messages: objects,
            };
        };
        let mut messages = objects;
        let result = messages.remove(place);
        Self {
            result: Some(result),
            messages,
        }
    }

    pub fn has_result(&self) -> bool {
        self.result.is_some()
    }

    /// Returns whether the lines are a session file, which has no result, and the model ended its last turn.
    pub fn is_ended_session(&self) -> bool {
        let is_ended = |message: &Value| message["message"]["stop_reason"] == "end_turn";
        !self.has_result()
            && self
                .messages
                .iter()
                .any(|line| line.get("sessionId").is_some())
            && self.assistant_messages().next_back().is_some_and(is_ended)
    }

    /// Returns the HTTP status with which the service refused the last request, if the result has it.
    pub fn refusal_status(&self) -> Option<u64> {
        as_count(self.result.as_ref()?.get("api_error_status")?)
    }

    /// Returns why the service did not answer, if the last message announces another try.
    pub fn pending_retry_reason(&self) -> Option<String> {
        let last = self
            .messages
            .last()
            .filter(|message| self.result.is_none() && is_retry_message(message))?;
        let status = last
            .get("error_status")
            .and_then(as_count)
            .map(|status| format!("status {status}"));
        Some(
            [status.as_deref(), last["error"].as_str()]
                .into_iter()
                .flatten()
                .collect::<Vec<_>>()
                .join(", "),
        )
    }

    /// Returns the kind of the reported failure, or `None` if none was reported.
    pub fn failure_kind(&self) -> Option<String> {
        let result = self.result.as_ref()?;
        match (
            result.get("subtype").and_then(Value::as_str),
            result.get("stop_reason").and_then(Value::as_str),
        ) {
            (Some(subtype), _) if subtype != "success" => Some(subtype.to_owned()),
            // The model declined, or its answer was cut off.
            (_, Some("refusal")) => Some("refusal".to_owned()),
            (_, Some("max_tokens" | "model_context_window_exceeded")) => {
                Some("error_max_tokens".to_owned())
            }
            (Some(_) | None, _) => (result["is_error"] == true).then(|| "error".to_owned()),
        }
    }

    /// Returns the result's message, or else the model's last text.
    pub fn answer_text(&self) -> Option<String> {
        if let Some(result) = &self.result {
            if let Some(text) = ["result", "error", "message"]
                .iter()
                .find_map(|name| result.get(*name)?.as_str())
            {
                return Some(text.to_owned());
            }
            if let Some(errors) = result.get("errors").and_then(Value::as_array) {
                return Some(
                    errors
                        .iter()
                        .map(|error| {
                            error
                                .as_str()
                                .map_or_else(|| error.to_string(), str::to_owned)
                        })
                        .collect::<Vec<_>>()
                        .join("; "),
                );
            }
        }
        let texts = |message: &Value| {
            let blocks = content_blocks(message)
                .iter()
                .filter(|block| block["type"] == "text")
                .filter_map(|block| block["text"].as_str());
            blocks.collect::<Vec<_>>().concat()
        };
        self.assistant_messages()
            .map(texts)
            .rfind(|text| !text.is_empty())
    }

    /// Adds the measurements: from the result, or else from the messages.
    pub fn add_measurements(&self, measured: &mut ReplyMeasurements) {
        let result = self.result.as_ref();
        let mut messages = ClaudeMessages::default();
        self.messages
            .iter()
            .for_each(|message| messages.add_line(message));
        measured.usage = result.map(find_usage).unwrap_or_default();
        let by_model = self.usage_by_model();
        let all = by_model
            .values()
            .fold(Usage::default(), |sum, usage| sum.plus(usage));
        if all.total() > measured.usage.total() {
            // The result's own usage leaves out side requests, such as one for a title. Its cost includes them.
            measured.usage = all;
            if by_model.len() > 1 {
                measured.by_model = by_model;
            }
        } else if measured.usage.total().is_none() {
            measured.usage = messages.total_usage();
        }
        measured.repeated = self.repeated_requests();
        // Session files and programs that were cut off have no result. Then each request has its own price.
        let is_by_request = measured.usage == messages.total_usage();
        let usd = result
            .and_then(find_cost)
            .or_else(|| messages.reported_cost().filter(|_| is_by_request));
        measured.cost = usd.map(Cost::from_report).unwrap_or_default();
        if is_by_request && usd.is_none() {
            measured.requests = messages.requests().cloned().collect();
        }
        measured.steps = result
            .and_then(|result| find_count(result, "num_turns"))
            .or_else(|| messages.turn_count());
        measured.tools = messages.tool_calls();
        measured.model = self.model_name();
        let version = self
            .messages
            .iter()
            .find_map(|message| message.get("claude_code_version")?.as_str());
        measured.served.version = version.map(str::to_owned);
        let reports = self.messages.iter().chain(result);
        measured.transcript = reports.cloned().collect();
    }

    fn assistant_messages(&self) -> impl DoubleEndedIterator<Item = &Value> {
        self.messages
            .iter()
            .filter(|message| message["type"] == "assistant")
    }

    /// Returns the tokens of all requests of the session, by model.
    fn usage_by_model(&self) -> BTreeMap<String, Usage> {
        let models = self
            .result
            .as_ref()
            .and_then(|result| result.get("modelUsage")?.as_object());
        let usage = |model: &Value| {
            let count = |name: &str| model.get(name).and_then(as_count);
            Usage {
                input: count("inputTokens"),
                cache_write: count("cacheCreationInputTokens"),
                cache_read: count("cacheReadInputTokens"),
                output: count("outputTokens"),
            }
        };
        models
            .into_iter()
            .flatten()
            .map(|(name, model)| (name.clone(), usage(model)))
            .collect()
    }

    fn repeated_requests(&self) -> Option<Repeated> {
        let one = |message: &Value| {
            let is_throttled = message
                .get("error_status")
                .and_then(as_count)
                .is_some_and(Repeated::is_throttled);
            let waited_seconds = message
                .get("retry_delay_ms")
                .and_then(as_amount)
                .map(|milliseconds| milliseconds / 1000.0);
            Repeated {
                retries: 1,
                throttled: u64::from(is_throttled),
                waited_seconds,
            }
        };
        // If the last message announces a try, neither the try nor the pause before it happened.
        let made = self.messages.len() - usize::from(self.pending_retry_reason().is_some());
        self.messages[..made]
            .iter()
            .filter(|message| is_retry_message(message))
            .map(one)
            .reduce(|sum, one| sum.plus(&one))
    }

    fn model_name(&self) -> Option<String> {
        // Messages that the program writes itself, such as errors, have a model name in angle brackets.
        let is_model = |name: &&str| !name.starts_with('<');
        let said = self
            .assistant_messages()
            .filter_map(|message| message["message"]["model"].as_str())
            .rfind(is_model);
        let started = || {
            self.messages
                .iter()
                .find_map(|message| message.get("model")?.as_str())
        };
        // Small helper models are listed beside the answering model, so a list of several does not tell which one answered.
        let only = || {
            let models = self.result.as_ref()?.get("modelUsage")?.as_object()?;
            models
                .keys()
                .next()
                .filter(|_| models.len() == 1)
                .map(String::as_str)
        };
        said.or_else(started).or_else(only).map(str::to_owned)
    }
}

/// Returns whether a message announces that a request is repeated.
fn is_retry_message(message: &Value) -> bool {
    message["type"] == "system" && message["subtype"] == "api_retry"
}

/// Messages nest under `message.content`.
fn content_blocks(message: &Value) -> &[Value] {
    message["message"]["content"]
        .as_array()
        .map_or(&[], Vec::as_slice)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::domain::Usage;

    fn measured(stdout: &str) -> (ClaudeOutput, ReplyMeasurements) {
        let output = ClaudeOutput::parse(stdout);
        let mut measured = ReplyMeasurements::default();
        output.add_measurements(&mut measured);
        (output, measured)
    }

    const RESULT: &str = r#"{"type":"result","subtype":"success","is_error":false,"duration_ms":1534,"num_turns":"3","result":"<answer>Blue</answer>","total_cost_usd":0.0345,"usage":{"input_tokens":2,"cache_creation_input_tokens":6843,"cache_read_input_tokens":91983,"output_tokens":400},"permission_denials":[{"tool_input":{"cost":9}}],"modelUsage":{"claude-x":{"costUSD":0.0345}}}"#;
    const STREAM: &str = r#"{"type":"system","subtype":"init","model":"claude-x"}
{"type":"assistant","message":{"id":"m1","model":"claude-x-1","content":[{"type":"text","text":"I look."}],"usage":{"input_tokens":2,"output_tokens":1}}}
{"type":"assistant","message":{"id":"m1","model":"claude-x-1","content":[{"type":"tool_use","id":"t1","name":"Bash","input":{"cost":5}}],"usage":{"input_tokens":2,"output_tokens":8}}}
{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"t1","content":"ok"}]}}
{"type":"assistant","message":{"id":"m2","model":"claude-x-1","content":[{"type":"tool_use","id":"t2","name":"Bash"},{"type":"tool_use","id":"t3","name":"Read"},{"type":"text","text":"Blue."}],"usage":{"input_tokens":"10","cache_read_input_tokens":5,"output_tokens":4}}}"#;

    #[test]
    fn a_result_is_found_alone_in_a_list_and_between_other_text() {
        for stdout in [
            RESULT.to_owned(),
            format!("[{{\"type\":\"system\"}},{RESULT}]"),
            format!("npm warn\n{{\"type\":\"system\"}}\n{RESULT}\nbye {{"),
            RESULT.replace("\"type\":\"result\",", ""),
        ] {
            let (output, measured) = measured(&stdout);
            assert!(
                output.has_result() && output.failure_kind().is_none(),
                "{stdout}"
            );
            assert_eq!(
                output.answer_text().as_deref(),
                Some("<answer>Blue</answer>")
            );
            assert_eq!(measured.usage.input_total(), Some(98_828));
            assert_eq!(
                (measured.cost.usd, measured.steps, measured.tools),
                (Some(0.0345), Some(3), None)
            );
            assert_eq!(measured.model.as_deref(), Some("claude-x"));
        }
    }

    #[test]
    fn a_stream_that_was_cut_tells_what_was_used_until_then() {
        let (output, measured) = measured(&format!("{STREAM}\n{{\"type\":\"result\",\"subt"));
        assert!(!output.has_result() && output.failure_kind().is_none());
        assert_eq!(
            measured.usage,
            Usage {
                input: Some(12),
                cache_write: None,
                cache_read: Some(5),
                output: Some(12)
            }
        );
        assert_eq!(
            measured.tools,
            Some(BTreeMap::from([
                ("Bash".to_owned(), 2),
                ("Read".to_owned(), 1)
            ]))
        );
        assert_eq!(
            (measured.steps, measured.cost.usd, measured.transcript.len()),
            (Some(2), None, 5)
        );
        assert_eq!(measured.model.as_deref(), Some("claude-x-1"));
    }

    #[test]
    fn a_recorded_session_has_the_cost_of_each_request_and_ends_with_its_last_turn() {
        let line = |id: &str, model: &str, more: &str, stop: &str| {
            format!(
                "{{\"type\":\"assistant\",\"sessionId\":\"s\",\"requestId\":\"r{id}\",\"timestamp\":\"2026-02-01T10:00:00Z\"{more},\"message\":\
                 {{\"id\":\"{id}\",\"model\":\"{model}\",\"stop_reason\":\"{stop}\",\"content\":[{{\"type\":\"text\",\"text\":\"{id}\"}}],\
                 \"usage\":{{\"input_tokens\":10,\"output_tokens\":4}}}}}}\n"
            )
        };
        let session = |more: &str, stop: &str| {
            measured(&(line("1", "small", more, "tool_use") + &line("2", "large", more, stop)))
        };
        let (output, found) = session("", "end_turn");
        assert!(output.is_ended_session() && output.answer_text().as_deref() == Some("2"));
        let models: Vec<Option<&str>> = found
            .requests
            .iter()
            .map(|request| request.model.as_deref())
            .collect();
        assert_eq!(
            (found.cost.usd, models),
            (None, vec![Some("small"), Some("large")])
        );
        assert!(
            !session("", "tool_use").0.is_ended_session(),
            "it was cut off"
        );
        let (_, told) = session(",\"costUSD\":0.25", "end_turn");
        assert_eq!(
            (told.cost.usd, told.requests.len()),
            (Some(0.5), 0),
            "as older versions report it"
        );
        assert!(
            !measured(STREAM).0.is_ended_session(),
            "printed output ends with a result"
        );
    }

    #[test]
    fn the_result_counts_where_there_is_one_and_the_last_message_where_it_has_no_text() {
        let (output, measured) = measured(&format!(
            "{STREAM}\n{{\"type\":\"result\",\"subtype\":\"success\",\"num_turns\":7}}"
        ));
        assert_eq!(
            (
                output.answer_text().as_deref(),
                measured.steps,
                measured.transcript.len()
            ),
            (Some("Blue."), Some(7), 6)
        );
    }

    #[test]
    fn tokens_are_those_of_all_requests_and_of_each_model() {
        let model = |input, output| {
            format!(
                "{{\"inputTokens\":{input},\"outputTokens\":{output},\"cacheReadInputTokens\":5,\"cacheCreationInputTokens\":0}}"
            )
        };
        let result = |models: &str| {
            format!(
                "{{\"type\":\"result\",\"subtype\":\"success\",\"usage\":{{\"input_tokens\":10,\"output_tokens\":4}},\"modelUsage\":{{{models}}}}}"
            )
        };
        let usage = |input, output, cache_read| Usage {
            input: Some(input),
            cache_write: Some(0),
            cache_read: Some(cache_read),
            output: Some(output),
        };
        let (_, one) = measured(&result(&format!("\"x\":{}", model(30, 6))));
        assert_eq!((one.usage, one.by_model.len()), (usage(30, 6, 5), 0));
        let (_, two) = measured(&result(&format!(
            "\"x\":{},\"small\":{}",
            model(30, 6),
            model(7, 1)
        )));
        assert_eq!(
            (two.usage, two.by_model["small"]),
            (usage(37, 7, 10), usage(7, 1, 5))
        );
    }

    #[test]
    fn a_request_that_is_sent_again_is_counted_and_the_last_one_is_awaited() {
        let again = |status| {
            format!(
                "{{\"type\":\"system\",\"subtype\":\"api_retry\",\"retry_delay_ms\":500,\"error_status\":{status},\"error\":\"rate_limit\"}}\n"
            )
        };
        let stream = format!(
            "{{\"type\":\"system\",\"subtype\":\"init\",\"model\":\"claude-x\"}}\n{}{}{}",
            again(429),
            again(500),
            again(529)
        );
        let (output, cut) = measured(&stream);
        assert_eq!(
            output.pending_retry_reason().as_deref(),
            Some("status 529, rate_limit")
        );
        assert_eq!(
            cut.repeated,
            Some(Repeated {
                retries: 2,
                throttled: 1,
                waited_seconds: Some(1.0)
            })
        );
        let (output, whole) = measured(&format!("{stream}{RESULT}"));
        assert_eq!(
            (
                output.pending_retry_reason(),
                whole.repeated.map(|repeated| repeated.retries)
            ),
            (None, Some(3))
        );
    }

    #[test]
    fn an_error_in_the_models_place_is_no_model() {
        let refused = "{\"type\":\"system\",\"subtype\":\"init\",\"model\":\"nope\"}\n{\"type\":\"assistant\",\"message\":{\"model\":\"<synthetic>\",\"content\":[]}}\n{\"type\":\"result\",\"subtype\":\"success\",\"is_error\":true,\"api_error_status\":404,\"result\":\"no\"}";
        let (output, measured) = measured(refused);
        assert_eq!(
            (output.refusal_status(), measured.model.as_deref()),
            (Some(404), Some("nope"))
        );
    }

    #[test]
    fn failures_name_their_kind() {
        let failure = |text: &str| ClaudeOutput::parse(text).failure_kind();
        assert_eq!(
            failure("{\"type\":\"result\",\"subtype\":\"error_max_turns\"}").as_deref(),
            Some("error_max_turns")
        );
        assert_eq!(
            failure("{\"type\":\"result\",\"subtype\":\"success\",\"is_error\":true}").as_deref(),
            Some("error")
        );
        for (reason, kind) in [
            ("refusal", Some("refusal")),
            ("max_tokens", Some("error_max_tokens")),
            ("end_turn", None),
        ] {
            let result = format!(
                "{{\"type\":\"result\",\"subtype\":\"success\",\"stop_reason\":\"{reason}\",\"result\":\"x\"}}"
            );
            assert_eq!(failure(&result).as_deref(), kind);
        }
        assert_eq!(failure(RESULT), None);
        assert_eq!(failure("nothing"), None);
    }

    proptest::proptest! {
        #[test]
        fn no_output_crashes_the_parser(text in ".{0,200}", cut in 0..1500_usize) {
            measured(&text);
            let stream = format!("{STREAM}\n{RESULT}");
            measured(&stream[..stream.floor_char_boundary(cut.min(stream.len()))]);
        }
    }
}
