//! What Claude's command line program prints: one JSON object, a list, or a line for each message, with other text around it at times.

use serde_json::Value;

use super::reply::{Cost, Measured};
use super::session::objects;
use crate::transcript::{Messages, find_cost, find_count, find_usage};

#[derive(Clone, Debug, Default)]
pub struct Output {
    /// The last report of how it ended.
    result: Option<Value>,
    /// Everything else, in order.
    messages: Vec<Value>,
}

impl Output {
    pub fn parse(stdout: &str) -> Self {
        let objects = objects(stdout);
        let is_result = |value: &Value| value["type"] == "result";
        // Older programs and wrappers name no type.
        let untyped = || objects.iter().rposition(|value| value.get("type").is_none());
        let Some(place) = objects.iter().rposition(is_result).or_else(untyped) else { return Self { result: None, messages: objects } };
        let mut messages = objects;
        let result = messages.remove(place);
        Self { result: Some(result), messages }
    }

    pub fn is_success(&self) -> bool {
        self.result.is_some() && self.failure().is_none()
    }

    /// What kind of failure was reported.
    pub fn failure(&self) -> Option<String> {
        let result = self.result.as_ref()?;
        match result.get("subtype").and_then(Value::as_str) {
            Some(subtype) if subtype != "success" => Some(subtype.to_owned()),
            Some(_) | None => (result["is_error"] == true).then(|| "error".to_owned()),
        }
    }

    /// The last message: of the result, else what the model said last.
    pub fn text(&self) -> Option<String> {
        if let Some(result) = &self.result {
            if let Some(text) = ["result", "error", "message"].iter().find_map(|name| result.get(*name)?.as_str()) {
                return Some(text.to_owned());
            }
            if let Some(errors) = result.get("errors").and_then(Value::as_array) {
                return Some(
                    errors
                        .iter()
                        .map(|error| error.as_str().map_or_else(|| error.to_string(), str::to_owned))
                        .collect::<Vec<_>>()
                        .join("; "),
                );
            }
        }
        let texts = |message: &Value| {
            let blocks = blocks(message).iter().filter(|block| block["type"] == "text").filter_map(|block| block["text"].as_str());
            blocks.collect::<Vec<_>>().concat()
        };
        self.spoken().map(texts).rfind(|text| !text.is_empty())
    }

    /// Adds what was measured: from the result, else from the messages until then.
    pub fn fill(&self, measured: &mut Measured) {
        let result = self.result.as_ref();
        let mut messages = Messages::default();
        self.messages.iter().for_each(|message| messages.take(message));
        measured.usage = result.map(find_usage).unwrap_or_default();
        if measured.usage.total().is_none() {
            measured.usage = messages.usage();
        }
        measured.cost = result.and_then(find_cost).map(Cost::reported).unwrap_or_default();
        measured.steps = result.and_then(|result| find_count(result, "num_turns")).or_else(|| messages.turns());
        measured.tools = messages.tools().cloned();
        measured.model = self.model();
        let version = self.messages.iter().find_map(|message| message.get("claude_code_version")?.as_str());
        measured.served.version = version.map(str::to_owned);
        let reports = self.messages.iter().chain(result);
        measured.transcript = reports.cloned().collect();
    }

    fn spoken(&self) -> impl DoubleEndedIterator<Item = &Value> {
        self.messages.iter().filter(|message| message["type"] == "assistant")
    }

    fn model(&self) -> Option<String> {
        let said = self.spoken().filter_map(|message| message["message"]["model"].as_str()).next_back();
        let started = || self.messages.iter().find_map(|message| message.get("model")?.as_str());
        // Smaller models that only help are listed beside the one that answers, so several say nothing.
        let only = || {
            let models = self.result.as_ref()?.get("modelUsage")?.as_object()?;
            models.keys().next().filter(|_| models.len() == 1).map(String::as_str)
        };
        said.or_else(started).or_else(only).map(str::to_owned)
    }
}

/// Messages nest under `message.content`.
fn blocks(message: &Value) -> &[Value] {
    message["message"]["content"].as_array().map_or(&[], Vec::as_slice)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::domain::Usage;

    fn measured(stdout: &str) -> (Output, Measured) {
        let output = Output::parse(stdout);
        let mut measured = Measured::default();
        output.fill(&mut measured);
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
            assert!(output.is_success(), "{stdout}");
            assert_eq!(output.text().as_deref(), Some("<answer>Blue</answer>"));
            assert_eq!(measured.usage.input_total(), Some(98_828));
            assert_eq!((measured.cost.usd, measured.steps, measured.tools), (Some(0.0345), Some(3), None));
            assert_eq!(measured.model.as_deref(), Some("claude-x"));
        }
    }

    #[test]
    fn a_stream_that_was_cut_tells_what_was_used_until_then() {
        let (output, measured) = measured(&format!("{STREAM}\n{{\"type\":\"result\",\"subt"));
        assert!(!output.is_success() && output.failure().is_none());
        assert_eq!(measured.usage, Usage { input: Some(12), cache_write: None, cache_read: Some(5), output: Some(12) });
        assert_eq!(measured.tools, Some(BTreeMap::from([("Bash".to_owned(), 2), ("Read".to_owned(), 1)])));
        assert_eq!((measured.steps, measured.cost.usd, measured.transcript.len()), (Some(2), None, 5));
        assert_eq!(measured.model.as_deref(), Some("claude-x-1"));
    }

    #[test]
    fn the_result_counts_where_there_is_one_and_the_last_message_where_it_has_no_text() {
        let (output, measured) = measured(&format!("{STREAM}\n{{\"type\":\"result\",\"subtype\":\"success\",\"num_turns\":7}}"));
        assert_eq!((output.text().as_deref(), measured.steps, measured.transcript.len()), (Some("Blue."), Some(7), 6));
    }

    #[test]
    fn failures_name_their_kind() {
        let failure = |text: &str| Output::parse(text).failure();
        assert_eq!(failure("{\"type\":\"result\",\"subtype\":\"error_max_turns\"}").as_deref(), Some("error_max_turns"));
        assert_eq!(failure("{\"type\":\"result\",\"subtype\":\"success\",\"is_error\":true}").as_deref(), Some("error"));
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
