//! A stand-in for the services behind coding agents' programs: it speaks Anthropic's Messages, OpenAI's Responses and chat completions, and
//! Gemini's `streamGenerateContent`, streamed as the programs ask for them. It counts what it gives, so that a record can be held against it.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;

/// The key that it wants, and never sees in full elsewhere.
pub const KEY: &str = "sk-test-4f9a1c7e";
/// What the model says when it is done.
pub const ANSWER: &str = "I am done. <answer>Blue</answer>";
/// The file that it writes, if it is to write one, and the text in it.
pub const FILE: (&str, &str) = ("made.txt", "made by a model");

/// What the service does with every request for a model's reply.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Act {
    /// Says the answer.
    Answer,
    /// Calls the tool that writes files, and says the answer when it has the tool's result.
    Write,
    /// Writes the file by a command instead.
    Start,
    /// Calls a tool again and again.
    WriteOn,
    /// Refuses with this status, in the words of each service.
    Refuse(u16),
}

/// Tokens of one reply. Their sums differ in every kind, so that no kind can pass for another.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tokens {
    /// Without the cache.
    pub input: u64,
    pub cached: u64,
    /// With reasoning.
    pub output: u64,
    pub reasoning: u64,
}

const OF_CALL: Tokens = Tokens {
    input: 1100,
    cached: 307,
    output: 53,
    reasoning: 20,
};
const OF_ANSWER: Tokens = Tokens {
    input: 211,
    cached: 1409,
    output: 31,
    reasoning: 7,
};

/// What was given so far.
#[derive(Clone, Debug, Default)]
pub struct Given {
    /// The head and body of each request, side requests included.
    pub requests: Vec<String>,
    /// Tokens of all replies together.
    pub tokens: Tokens,
    pub replies: u64,
    pub calls: u64,
    pub refusals: u64,
}

pub struct Models {
    pub port: u16,
    given: Arc<Mutex<Given>>,
}

impl Models {
    pub fn start(act: Act) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let port = listener.local_addr().expect("it is bound").port();
        let given = Arc::new(Mutex::new(Given::default()));
        let shared = Arc::clone(&given);
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let given = Arc::clone(&shared);
                // The program may hang up whenever it likes.
                thread::spawn(move || drop(serve(stream, act, &given)));
            }
        });
        Self { port, given }
    }

    pub fn given(&self) -> Given {
        self.given.lock().expect("no thread panics with it").clone()
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Api {
    Messages,
    Responses,
    Gemini,
    Chat,
}

/// One reply of a model.
enum Say {
    Text(&'static str),
    /// A call of a tool: its name and its arguments as JSON.
    Call(&'static str, String),
}

fn api_of(path: &str) -> Option<Api> {
    let path = path.split('?').next().unwrap_or_default();
    match path {
        _ if path.ends_with("/messages") => Some(Api::Messages),
        _ if path.ends_with("/responses") => Some(Api::Responses),
        _ if path.ends_with(":streamGenerateContent") || path.ends_with(":generateContent") => {
            Some(Api::Gemini)
        }
        _ if path.ends_with("/chat/completions") => Some(Api::Chat),
        _ => None,
    }
}

fn serve(mut stream: TcpStream, act: Act, given: &Mutex<Given>) -> std::io::Result<()> {
    let request = read_request(&mut stream)?;
    let (head, body) = request.split_once("\r\n\r\n").unwrap_or((&request, ""));
    let path = head.split(' ').nth(1).unwrap_or_default();
    let mut given = given.lock().expect("no thread panics with it");
    given.requests.push(request.clone());
    let Some(api) = api_of(path).filter(|_| head.starts_with("POST")) else {
        // Codex tries a web socket first, and goes on without where that is refused in this way.
        let status = if head.to_lowercase().contains("upgrade: websocket") {
            426
        } else {
            404
        };
        return send(&mut stream, status, "application/json", "{}");
    };
    let refused = match act {
        Act::Refuse(status) => Some(status),
        _ => (!head.contains(KEY)).then_some(401),
    };
    if let Some(status) = refused {
        given.refusals += 1;
        let (status, body) = refusal(api, status);
        return send(&mut stream, status, "application/json", &body);
    }
    let has_result = [
        "\"tool_result\"",
        "\"function_call_output\"",
        "\"functionResponse\"",
        "\"role\":\"tool\"",
    ]
    .iter()
    .any(|it| body.contains(it));
    let call = match act {
        Act::Write if !has_result => call(api, body),
        Act::Start if !has_result => command(api, body),
        Act::WriteOn => call(api, body),
        _ => None,
    };
    let (say, tokens) = call.map_or((Say::Text(ANSWER), OF_ANSWER), |call| (call, OF_CALL));
    given.replies += 1;
    given.calls += u64::from(matches!(say, Say::Call(..)));
    let sum = &mut given.tokens;
    *sum = Tokens {
        input: sum.input + tokens.input,
        cached: sum.cached + tokens.cached,
        output: sum.output + tokens.output,
        reasoning: sum.reasoning + tokens.reasoning,
    };
    let number = given.replies;
    drop(given);
    let is_streamed = path.contains("stream") || body.contains("\"stream\":true");
    let (kind, reply) = match api {
        Api::Messages => messages(&say, tokens, number, &model(body), is_streamed),
        Api::Responses => responses(&say, tokens, number),
        Api::Gemini => gemini(&say, tokens, path, is_streamed),
        Api::Chat => chat(&say, tokens, number, &model(body), is_streamed),
    };
    send(&mut stream, 200, kind, &reply)
}

/// A call of the tool that writes files, if the request offers one.
fn call(api: Api, body: &str) -> Option<Say> {
    let (name, text) = FILE;
    let offers = |tool: &str| body.contains(&format!("\"name\":\"{tool}\""));
    let shell = format!("printf '{text}' > {name}");
    let (tool, arguments) = match api {
        Api::Messages => (
            "Write",
            format!("{{\"file_path\":\"{name}\",\"content\":\"{text}\"}}"),
        ),
        Api::Responses if offers("exec_command") => {
            ("exec_command", format!("{{\"cmd\":\"{shell}\"}}"))
        }
        Api::Responses if offers("shell_command") => {
            ("shell_command", format!("{{\"command\":\"{shell}\"}}"))
        }
        Api::Responses => (
            "shell",
            format!("{{\"command\":[\"sh\",\"-c\",\"{shell}\"]}}"),
        ),
        Api::Gemini => (
            "write_file",
            format!("{{\"file_path\":\"{name}\",\"content\":\"{text}\"}}"),
        ),
        Api::Chat => (
            "write",
            format!("{{\"filePath\":\"{name}\",\"content\":\"{text}\"}}"),
        ),
    };
    offers(tool).then_some(Say::Call(tool, arguments))
}

/// A call of the tool that starts commands, if the request offers one.
fn command(api: Api, body: &str) -> Option<Say> {
    let (name, text) = FILE;
    let shell = format!("printf '{text}' > {name}");
    let tool = match api {
        Api::Messages => "Bash",
        Api::Responses => return call(api, body),
        Api::Gemini => "run_shell_command",
        Api::Chat => "bash",
    };
    let arguments = format!("{{\"command\":\"{shell}\",\"description\":\"Writes a file\"}}");
    body.contains(&format!("\"name\":\"{tool}\""))
        .then_some(Say::Call(tool, arguments))
}

/// The model that a request names.
fn model(body: &str) -> String {
    body.split_once("\"model\":\"")
        .and_then(|(_, rest)| rest.split('"').next())
        .unwrap_or_default()
        .to_owned()
}

fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}

fn events(events: &[(&str, String)]) -> (&'static str, String) {
    (
        "text/event-stream",
        events.iter().fold(String::new(), |text, (name, data)| {
            text + "event: " + name + "\ndata: " + data + "\n\n"
        }),
    )
}

fn messages(
    say: &Say,
    tokens: Tokens,
    number: u64,
    model: &str,
    is_streamed: bool,
) -> (&'static str, String) {
    let Tokens {
        input,
        cached,
        output,
        ..
    } = tokens;
    let (stop, block, delta, whole) = match say {
        Say::Text(text) => {
            let text = quoted(text);
            let block = |text: &str| format!("{{\"type\":\"text\",\"text\":{text}}}");
            (
                "end_turn",
                block("\"\""),
                format!("{{\"type\":\"text_delta\",\"text\":{text}}}"),
                block(&text),
            )
        }
        Say::Call(name, arguments) => {
            let block = |input: &str| {
                format!(
                    "{{\"type\":\"tool_use\",\"id\":\"toolu_{number}\",\"name\":\"{name}\",\"input\":{input}}}"
                )
            };
            (
                "tool_use",
                block("{}"),
                format!(
                    "{{\"type\":\"input_json_delta\",\"partial_json\":{}}}",
                    quoted(arguments)
                ),
                block(arguments),
            )
        }
    };
    let message = |content: &str, stop: &str, output: u64| {
        format!(
            "{{\"id\":\"msg_{number}\",\"type\":\"message\",\"role\":\"assistant\",\"model\":\"{model}\",\"content\":[{content}],\"stop_reason\":{stop},\
             \"stop_sequence\":null,\"usage\":{{\"input_tokens\":{input},\"cache_creation_input_tokens\":0,\"cache_read_input_tokens\":{cached},\
             \"output_tokens\":{output}}}}}"
        )
    };
    if !is_streamed {
        return ("application/json", message(&whole, &quoted(stop), output));
    }
    events(&[
        (
            "message_start",
            format!(
                "{{\"type\":\"message_start\",\"message\":{}}}",
                message("", "null", 1)
            ),
        ),
        (
            "content_block_start",
            format!("{{\"type\":\"content_block_start\",\"index\":0,\"content_block\":{block}}}"),
        ),
        (
            "content_block_delta",
            format!("{{\"type\":\"content_block_delta\",\"index\":0,\"delta\":{delta}}}"),
        ),
        (
            "content_block_stop",
            "{\"type\":\"content_block_stop\",\"index\":0}".to_owned(),
        ),
        (
            "message_delta",
            format!(
                "{{\"type\":\"message_delta\",\"delta\":{{\"stop_reason\":\"{stop}\",\"stop_sequence\":null}},\"usage\":{{\"output_tokens\":{output}}}}}"
            ),
        ),
        ("message_stop", "{\"type\":\"message_stop\"}".to_owned()),
    ])
}

fn responses(say: &Say, tokens: Tokens, number: u64) -> (&'static str, String) {
    let Tokens {
        input,
        cached,
        output,
        reasoning,
    } = tokens;
    let item = match say {
        Say::Text(text) => format!(
            "{{\"type\":\"message\",\"id\":\"msg_{number}\",\"role\":\"assistant\",\"content\":[{{\"type\":\"output_text\",\"text\":{}}}]}}",
            quoted(text)
        ),
        Say::Call(name, arguments) => format!(
            "{{\"type\":\"function_call\",\"id\":\"fc_{number}\",\"call_id\":\"call_{number}\",\"name\":\"{name}\",\"arguments\":{}}}",
            quoted(arguments)
        ),
    };
    let (all, total) = (input + cached, input + cached + output);
    let usage = format!(
        "{{\"input_tokens\":{all},\"input_tokens_details\":{{\"cached_tokens\":{cached}}},\"output_tokens\":{output},\
         \"output_tokens_details\":{{\"reasoning_tokens\":{reasoning}}},\"total_tokens\":{total}}}"
    );
    events(&[
        (
            "response.created",
            format!("{{\"type\":\"response.created\",\"response\":{{\"id\":\"resp_{number}\"}}}}"),
        ),
        (
            "response.output_item.done",
            format!(
                "{{\"type\":\"response.output_item.done\",\"output_index\":0,\"item\":{item}}}"
            ),
        ),
        (
            "response.completed",
            format!(
                "{{\"type\":\"response.completed\",\"response\":{{\"id\":\"resp_{number}\",\"usage\":{usage}}}}}"
            ),
        ),
    ])
}

fn gemini(say: &Say, tokens: Tokens, path: &str, is_streamed: bool) -> (&'static str, String) {
    let Tokens {
        input,
        cached,
        output,
        reasoning,
    } = tokens;
    let part = match say {
        Say::Text(text) => format!("{{\"text\":{}}}", quoted(text)),
        Say::Call(name, arguments) => {
            format!("{{\"functionCall\":{{\"name\":\"{name}\",\"args\":{arguments}}}}}")
        }
    };
    let model = path
        .rsplit('/')
        .next()
        .and_then(|last| last.split(':').next())
        .unwrap_or_default();
    let (prompt, written, total) = (input + cached, output - reasoning, input + cached + output);
    let reply = format!(
        "{{\"candidates\":[{{\"index\":0,\"content\":{{\"role\":\"model\",\"parts\":[{part}]}},\"finishReason\":\"STOP\"}}],\"usageMetadata\":\
         {{\"promptTokenCount\":{prompt},\"cachedContentTokenCount\":{cached},\"candidatesTokenCount\":{written},\"thoughtsTokenCount\":{reasoning},\
         \"totalTokenCount\":{total}}},\"modelVersion\":\"{model}\"}}"
    );
    if is_streamed {
        ("text/event-stream", format!("data: {reply}\r\n\r\n"))
    } else {
        ("application/json", reply)
    }
}

fn chat(
    say: &Say,
    tokens: Tokens,
    number: u64,
    model: &str,
    is_streamed: bool,
) -> (&'static str, String) {
    let Tokens {
        input,
        cached,
        output,
        reasoning,
    } = tokens;
    let (delta, stop) = match say {
        Say::Text(text) => (
            format!("\"role\":\"assistant\",\"content\":{}", quoted(text)),
            "stop",
        ),
        Say::Call(name, arguments) => (
            format!(
                "\"role\":\"assistant\",\"content\":null,\"tool_calls\":[{{\"index\":0,\"id\":\"call_{number}\",\"type\":\"function\",\
                 \"function\":{{\"name\":\"{name}\",\"arguments\":{}}}}}]",
                quoted(arguments)
            ),
            "tool_calls",
        ),
    };
    let (all, total) = (input + cached, input + cached + output);
    let usage = format!(
        "{{\"prompt_tokens\":{all},\"completion_tokens\":{output},\"total_tokens\":{total},\"prompt_tokens_details\":{{\"cached_tokens\":{cached}}},\
         \"completion_tokens_details\":{{\"reasoning_tokens\":{reasoning}}}}}"
    );
    let object = |kind: &str, choices: &str, usage: &str| {
        format!(
            "{{\"id\":\"chat_{number}\",\"object\":\"{kind}\",\"created\":1,\"model\":\"{model}\",\"choices\":[{choices}],\"usage\":{usage}}}"
        )
    };
    if !is_streamed {
        let choice =
            format!("{{\"index\":0,\"message\":{{{delta}}},\"finish_reason\":\"{stop}\"}}");
        return (
            "application/json",
            object("chat.completion", &choice, &usage),
        );
    }
    let chunk = |choices: &str, usage: &str| {
        format!(
            "data: {}\n\n",
            object("chat.completion.chunk", choices, usage)
        )
    };
    let said = chunk(
        &format!("{{\"index\":0,\"delta\":{{{delta}}},\"finish_reason\":null}}"),
        "null",
    );
    let end = chunk(
        &format!("{{\"index\":0,\"delta\":{{}},\"finish_reason\":\"{stop}\"}}"),
        "null",
    );
    (
        "text/event-stream",
        format!("{said}{end}{}data: [DONE]\n\n", chunk("", &usage)),
    )
}

/// What each service says of a refused key, of too many requests, of an overload and of a model that it does not know.
fn refusal(api: Api, status: u16) -> (u16, String) {
    let anthropic = |kind: &str, message: &str| {
        format!(
            "{{\"type\":\"error\",\"error\":{{\"type\":\"{kind}\",\"message\":\"{message}\"}}}}"
        )
    };
    let openai = |code: &str, message: &str| {
        format!(
            "{{\"error\":{{\"message\":\"{message}\",\"type\":\"invalid_request_error\",\"param\":null,\"code\":\"{code}\"}}}}"
        )
    };
    let google = |status: u16, kind: &str, message: &str| {
        (
            status,
            format!(
                "{{\"error\":{{\"code\":{status},\"message\":\"{message}\",\"status\":\"{kind}\"}}}}"
            ),
        )
    };
    match (api, status) {
        (Api::Messages, 401) => (
            status,
            anthropic("authentication_error", "invalid x-api-key"),
        ),
        (Api::Messages, 404) => (status, anthropic("not_found_error", "model: nope")),
        (Api::Messages, 429) => (
            status,
            anthropic(
                "rate_limit_error",
                "This request would exceed your rate limit.",
            ),
        ),
        (Api::Messages, _) => (status, anthropic("overloaded_error", "Overloaded")),
        (Api::Responses | Api::Chat, 401) => (
            status,
            openai("invalid_api_key", "Incorrect API key provided: sk-nope."),
        ),
        (Api::Responses | Api::Chat, 404) => (
            status,
            openai(
                "model_not_found",
                "The model `nope` does not exist or you do not have access to it.",
            ),
        ),
        (Api::Responses | Api::Chat, 429) => (
            status,
            openai("rate_limit_exceeded", "Rate limit reached for requests."),
        ),
        (Api::Responses | Api::Chat, _) => {
            (status, openai("server_error", "The server is overloaded."))
        }
        // It has no status of its own for a key that it does not know.
        (Api::Gemini, 401) => google(
            400,
            "INVALID_ARGUMENT",
            "API key not valid. Please pass a valid API key.",
        ),
        (Api::Gemini, 404) => google(
            404,
            "NOT_FOUND",
            "models/nope is not found for API version v1beta, or is not supported for generateContent.",
        ),
        (Api::Gemini, 429) => google(
            429,
            "RESOURCE_EXHAUSTED",
            "Resource has been exhausted (e.g. check quota).",
        ),
        (Api::Gemini, _) => google(
            503,
            "UNAVAILABLE",
            "The model is overloaded. Please try again later.",
        ),
    }
}

fn send(stream: &mut TcpStream, status: u16, kind: &str, body: &str) -> std::io::Result<()> {
    write!(
        stream,
        "HTTP/1.1 {status} Status\r\ncontent-type: {kind}\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{body}",
        body.len()
    )?;
    stream.flush()
}

fn read_request(stream: &mut TcpStream) -> std::io::Result<String> {
    let mut request = Vec::new();
    let mut block = [0; 1 << 13];
    loop {
        if let Some(end) = request.windows(4).position(|four| four == b"\r\n\r\n") {
            let head = String::from_utf8_lossy(&request[..end]).to_lowercase();
            let length = head
                .lines()
                .find_map(|line| line.strip_prefix("content-length:")?.trim().parse().ok())
                .unwrap_or(0_usize);
            let is_chunked = head.contains("transfer-encoding: chunked");
            if if is_chunked {
                request.ends_with(b"0\r\n\r\n")
            } else {
                request.len() >= end + 4 + length
            } {
                return Ok(String::from_utf8_lossy(&request).into_owned());
            }
        }
        match stream.read(&mut block)? {
            0 => return Ok(String::from_utf8_lossy(&request).into_owned()),
            count => request.extend(&block[..count]),
        }
    }
}
