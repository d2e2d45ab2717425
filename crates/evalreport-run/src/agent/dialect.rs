//! The two chat interfaces: their requests, answers and errors.

use serde_json::{Map, Value, json};

use super::reply::AgentPrompt;
use crate::domain::Usage;
use crate::transcript::find_usage;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dialect {
    /// Anthropic's Messages API.
    Anthropic,
    /// OpenAI's chat completions API, which many other servers offer.
    Openai,
}

/// The parameters of a request.
#[derive(Clone, Debug)]
pub struct ChatRequest<'a> {
    pub model: &'a str,
    pub temperature: Option<f64>,
    pub max_tokens: Option<u64>,
    /// Whether the request goes to the service that the dialect is named after.
    pub is_original: bool,
}

/// A well-formed answer.
#[derive(Clone, Debug, PartialEq)]
pub struct ChatAnswer {
    pub text: String,
    pub content: Value,
    pub usage: Usage,
    pub model: Option<String>,
    pub end: AnswerEnd,
}

/// Why the model stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AnswerEnd {
    Whole,
    /// The reply reached its token limit.
    Truncated,
    /// The service filtered the reply.
    Filtered,
}

/// The Messages API requires a limit. This one leaves room for an explanation.
const DEFAULT_MAX_TOKENS: u64 = 4096;

impl Dialect {
    pub fn default_base_url(self) -> &'static str {
        match self {
            Self::Anthropic => "https://api.anthropic.com",
            Self::Openai => "https://api.openai.com/v1",
        }
    }

    pub fn default_key_variable(self) -> &'static str {
        match self {
            Self::Anthropic => "ANTHROPIC_API_KEY",
            Self::Openai => "OPENAI_API_KEY",
        }
    }

    /// Returns the URL to post to. Appends the endpoint's path, or the part of it that `base` lacks.
    pub fn endpoint_url(self, base: &str) -> String {
        let (whole, versioned) = match self {
            Self::Anthropic => ("/v1/messages", "/messages"),
            Self::Openai => ("/chat/completions", "/chat/completions"),
        };
        if base.ends_with(versioned) {
            base.to_owned()
        } else if base.ends_with("/v1") {
            format!("{base}{versioned}")
        } else {
            format!("{base}{whole}")
        }
    }

    pub fn request_headers(self, key: Option<&str>) -> Vec<(&'static str, String)> {
        match self {
            Self::Anthropic => {
                let version = ("anthropic-version", "2023-06-01".to_owned());
                std::iter::once(version)
                    .chain(key.map(|key| ("x-api-key", key.to_owned())))
                    .collect()
            }
            Self::Openai => key
                .map(|key| ("authorization", format!("Bearer {key}")))
                .into_iter()
                .collect(),
        }
    }

    pub fn request_body(self, request: &ChatRequest, prompt: &AgentPrompt) -> Value {
        let user = json!({"role": "user", "content": prompt.text});
        let mut body = Map::new();
        body.insert("model".to_owned(), json!(request.model));
        match self {
            Self::Anthropic => {
                body.insert(
                    "max_tokens".to_owned(),
                    json!(request.max_tokens.unwrap_or(DEFAULT_MAX_TOKENS)),
                );
                if let Some(system) = prompt.system {
                    body.insert("system".to_owned(), json!(system));
                }
                body.insert("messages".to_owned(), json!([user]));
            }
            Self::Openai => {
                if let Some(most) = request.max_tokens {
                    // OpenAI has renamed this parameter. Compatible servers may only know the old name.
                    let name = if request.is_original {
                        "max_completion_tokens"
                    } else {
                        "max_tokens"
                    };
                    body.insert(name.to_owned(), json!(most));
                }
                let system = prompt
                    .system
                    .map(|system| json!({"role": "system", "content": system}));
                body.insert(
                    "messages".to_owned(),
                    system.into_iter().chain([user]).collect(),
                );
            }
        }
        if let Some(temperature) = request.temperature {
            body.insert("temperature".to_owned(), json!(temperature));
        }
        Value::Object(body)
    }

    /// Reads an answer, or returns `None` if its shape is unknown.
    pub fn read_answer(self, body: &Value) -> Option<ChatAnswer> {
        let (content, end) = match self {
            Self::Anthropic => (body.get("content")?.clone(), body["stop_reason"].as_str()),
            Self::Openai => {
                let choice = body.get("choices")?.get(0)?;
                let message = choice.get("message")?;
                let content = [message.get("content"), message.get("refusal")]
                    .into_iter()
                    .flatten()
                    .find(|content| !content.is_null());
                (
                    content.cloned().unwrap_or_else(|| json!("")),
                    choice["finish_reason"].as_str(),
                )
            }
        };
        let end = match end {
            Some("max_tokens" | "length" | "model_context_window_exceeded") => AnswerEnd::Truncated,
            Some("content_filter") => AnswerEnd::Filtered,
            Some(_) | None => AnswerEnd::Whole,
        };
        let text = match &content {
            Value::String(text) => text.clone(),
            Value::Array(blocks) => blocks
                .iter()
                .filter(|block| block["type"] == "text")
                .filter_map(|block| block["text"].as_str())
                .collect(),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_) => return None,
        };
        let usage = body.get("usage").map(find_usage).unwrap_or_default();
        Some(ChatAnswer {
            text,
            content,
            usage,
            model: body["model"].as_str().map(str::to_owned),
            end,
        })
    }
}

/// Returns the kinds and the message of an error response.
pub fn error_text(body: &[u8]) -> String {
    let text = String::from_utf8_lossy(body);
    let Ok(value) = serde_json::from_str::<Value>(&text) else {
        return text.chars().take(300).collect::<String>().trim().to_owned();
    };
    let error = value.get("error").unwrap_or(&value);
    if let Some(text) = error.as_str() {
        return text.to_owned();
    }
    let parts = ["type", "code", "message"]
        .iter()
        .filter_map(|name| error.get(name)?.as_str());
    parts.collect::<Vec<_>>().join(": ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::QuestionBudget;

    #[test]
    fn addresses_are_completed() {
        assert_eq!(
            Dialect::Anthropic.endpoint_url("https://api.anthropic.com"),
            "https://api.anthropic.com/v1/messages"
        );
        assert_eq!(
            Dialect::Anthropic.endpoint_url("https://g.example/v1"),
            "https://g.example/v1/messages"
        );
        assert_eq!(
            Dialect::Openai.endpoint_url("http://localhost:8080/v1"),
            "http://localhost:8080/v1/chat/completions"
        );
        assert_eq!(
            Dialect::Openai.endpoint_url("http://g.example/x/chat/completions"),
            "http://g.example/x/chat/completions"
        );
    }

    #[test]
    fn requests_have_their_dialects_form() {
        let prompt = AgentPrompt {
            text: "q",
            system: Some("s"),
            item: None,
            seed: 0,
            limits: QuestionBudget::default(),
            folder: None,
        };
        let request = ChatRequest {
            model: "m",
            temperature: Some(0.0),
            max_tokens: None,
            is_original: true,
        };
        assert_eq!(
            Dialect::Anthropic.request_body(&request, &prompt),
            json!({"model": "m", "max_tokens": 4096, "system": "s", "messages": [{"role": "user", "content": "q"}], "temperature": 0.0})
        );
        let request = ChatRequest {
            max_tokens: Some(9),
            ..request
        };
        let messages =
            json!([{"role": "system", "content": "s"}, {"role": "user", "content": "q"}]);
        assert_eq!(
            Dialect::Openai.request_body(&request, &prompt),
            json!({"model": "m", "max_completion_tokens": 9, "messages": messages, "temperature": 0.0})
        );
        let other = ChatRequest {
            is_original: false,
            ..request
        };
        assert_eq!(
            Dialect::Openai.request_body(&other, &prompt)["max_tokens"],
            9
        );
    }

    #[test]
    fn answers_are_read_and_other_forms_are_not() {
        let anthropic = json!({"model": "m-1", "content": [{"type": "thinking", "thinking": "…"}, {"type": "text", "text": "Bl"},
            {"type": "text", "text": "ue"}], "stop_reason": "end_turn", "usage": {"input_tokens": 3, "output_tokens": 4}});
        let answer = Dialect::Anthropic
            .read_answer(&anthropic)
            .expect("it is an answer");
        assert_eq!(
            (answer.text.as_str(), answer.model.as_deref(), answer.end),
            ("Blue", Some("m-1"), AnswerEnd::Whole)
        );
        assert_eq!(
            answer.usage,
            Usage {
                input: Some(3),
                output: Some(4),
                ..Usage::default()
            }
        );
        let openai = |message: Value, reason: &str| {
            Dialect::Openai
                .read_answer(&json!({"choices": [{"message": message, "finish_reason": reason}]}))
                .map(|answer| (answer.text, answer.end))
        };
        assert_eq!(
            openai(json!({"content": "Blue"}), "stop"),
            Some(("Blue".to_owned(), AnswerEnd::Whole))
        );
        assert_eq!(
            openai(json!({"content": null, "refusal": "No."}), "stop"),
            Some(("No.".to_owned(), AnswerEnd::Whole))
        );
        assert_eq!(
            openai(
                json!({"content": [{"type": "text", "text": "Bl"}]}),
                "length"
            ),
            Some(("Bl".to_owned(), AnswerEnd::Truncated))
        );
        assert_eq!(
            openai(json!({"content": ""}), "content_filter"),
            Some((String::new(), AnswerEnd::Filtered))
        );
        for body in [
            json!({}),
            json!([]),
            json!({"choices": []}),
            json!({"content": 7}),
            json!({"content": "x", "choices": [{"message": 1}]}),
        ] {
            assert_eq!(
                Dialect::Openai
                    .read_answer(&body)
                    .filter(|answer| !answer.text.is_empty()),
                None,
                "{body}"
            );
        }
    }

    #[test]
    fn errors_are_read_in_any_form() {
        assert_eq!(
            error_text(br#"{"type":"error","error":{"type":"a","message":"b"}}"#),
            "a: b"
        );
        assert_eq!(
            error_text(br#"{"error":{"message":"b","code":"c","type":null}}"#),
            "c: b"
        );
        assert_eq!(error_text(br#"{"error":"plain"}"#), "plain");
        assert_eq!(error_text(b" <html>\xff "), "<html>\u{fffd}");
        assert_eq!(error_text(b""), "");
    }
}
