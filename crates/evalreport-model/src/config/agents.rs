//! Agents, which answer prompts.

use std::collections::BTreeSet;
use std::time::Duration;

use super::ids::Ids;
use super::{command, duration};
use crate::document::{Fields, Value, ValueForm, quote_text};
use crate::domain::Problem;

/// The place of the question in a prompt.
pub const QUESTION_PLACE: &str = "{question}";

#[derive(Clone, Debug, PartialEq)]
pub struct AgentConfig {
    pub id: String,
    pub kind: AgentKind,
    /// The model's provider, as pages show it.
    pub provider: Option<String>,
    pub model: Option<String>,
    /// The program and its arguments. Only for `command` and for coding agents with their own program; empty otherwise.
    pub command: Vec<String>,
    pub base_url: Option<String>,
    /// The environment variable that holds the key, never the key itself.
    pub api_key_env: Option<String>,
    /// The secrets that its program gets as environment variables: names, or prefixes followed by `*`.
    pub env: Vec<String>,
    /// The file with recorded answers, for `replay`.
    pub file: Option<String>,
    /// What the model is told before a question, for `openai` and `anthropic`.
    pub system: Option<InstructionText>,
    /// What it is asked, with `{question}` in it, for `openai` and `anthropic`.
    pub prompt: Option<InstructionText>,
    pub max_steps: Option<u64>,
    pub max_tokens: Option<u64>,
    pub temperature: Option<f64>,
    pub timeout: Option<Duration>,
    /// How fast its service may be asked, for `openai` and `anthropic`.
    pub rate: RateLimit,
}

/// Limits of an agent per minute, over all prompts to it. `None` is no limit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RateLimit {
    /// At least 1.
    pub requests_per_minute: Option<u64>,
    /// Tokens in and out, cached or not. At least 1.
    pub tokens_per_minute: Option<u64>,
}

/// An instruction to a model, or the file that has it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum InstructionText {
    Inline(String),
    /// Path from the configuration's folder.
    File(String),
}

/// The type of an agent: how it is called.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AgentKind {
    /// Any program.
    Command,
    /// Claude Code's command line program.
    Claude,
    /// Codex's command line program.
    Codex,
    /// Gemini's command line program.
    Gemini,
    /// OpenCode's command line program.
    Opencode,
    /// Anthropic's Messages API.
    Anthropic,
    /// An API compatible with OpenAI's chat completions.
    Openai,
    /// Answers recorded in a file.
    Replay,
}

impl AgentKind {
    pub const ALL: [Self; 8] = [
        Self::Command,
        Self::Claude,
        Self::Codex,
        Self::Gemini,
        Self::Opencode,
        Self::Anthropic,
        Self::Openai,
        Self::Replay,
    ];

    pub fn name(self) -> &'static str {
        match self {
            Self::Command => "command",
            Self::Claude => "claude",
            Self::Codex => "codex",
            Self::Gemini => "gemini",
            Self::Opencode => "opencode",
            Self::Anthropic => "anthropic",
            Self::Openai => "openai",
            Self::Replay => "replay",
        }
    }

    /// Returns whether the agent is a program, which can write files.
    pub fn is_program(self) -> bool {
        self.own_keys().contains(&"command")
    }

    /// Returns the type-specific keys that this type uses.
    fn own_keys(self) -> &'static [&'static str] {
        match self {
            Self::Anthropic | Self::Openai => &[
                "base_url",
                "api_key_env",
                "system",
                "prompt",
                "requests_per_minute",
                "tokens_per_minute",
            ],
            Self::Replay => &["file"],
            Self::Command | Self::Claude | Self::Codex | Self::Gemini | Self::Opencode => {
                &["command", "env"]
            }
        }
    }

    /// Returns the key that this type requires, if any.
    fn required_key(self) -> Option<&'static str> {
        match self {
            Self::Command => Some("command"),
            Self::Replay => Some("file"),
            Self::Claude
            | Self::Codex
            | Self::Gemini
            | Self::Opencode
            | Self::Anthropic
            | Self::Openai => None,
        }
    }
}

pub(super) fn read_section(fields: &mut Fields) -> (Vec<AgentConfig>, Ids) {
    let mut ids = Ids::new("agent");
    let agents = fields.read_each("agents", |fields| read_agent(fields, &mut ids));
    (agents, ids)
}

fn read_agent(mut fields: Fields, ids: &mut Ids) -> Option<AgentConfig> {
    let id = ids.read_id(&mut fields);
    let kind = read_kind(&mut fields);
    if let Some(kind) = kind {
        check_keys(&mut fields, kind);
    }
    refuse_key(&mut fields);
    let provider = fields.text("provider");
    let model = fields.text("model");
    let command = command::read_arguments(&mut fields, "command");
    let base_url = super::site::read_url(&mut fields, "base_url");
    let api_key_env = fields.text("api_key_env");
    let env = fields.texts("env");
    let file = fields.text("file");
    let system = read_instruction(&mut fields, "system");
    let prompt = read_instruction(&mut fields, "prompt");
    if let Some(InstructionText::Inline(text)) = &prompt
        && !text.contains(QUESTION_PLACE)
    {
        let message = format!(
            "{} has no `{QUESTION_PLACE}`, so no question would be asked",
            quote_text(&fields.path_of("prompt"))
        );
        let hint = "what comes before each question can be `system`";
        fields.reject("prompt", message, Some(hint.to_owned()));
    }
    let max_steps = fields.unsigned("max_steps");
    let max_tokens = fields.unsigned("max_tokens");
    let temperature = fields.amount("temperature");
    let timeout = duration::read_duration(&mut fields, "timeout");
    let rate = RateLimit {
        requests_per_minute: fields.positive("requests_per_minute"),
        tokens_per_minute: fields.positive("tokens_per_minute"),
    };
    fields.finish();
    Some(AgentConfig {
        id: id?,
        kind: kind?,
        provider,
        model,
        command,
        base_url,
        api_key_env,
        env,
        file,
        system,
        prompt,
        max_steps,
        max_tokens,
        temperature,
        timeout,
        rate,
    })
}

/// Reads a text, or `{file: PATH}`.
fn read_instruction(fields: &mut Fields, key: &str) -> Option<InstructionText> {
    let form = || {
        let file = vec![("file", ValueForm::Filled)];
        ValueForm::OneOf(vec![ValueForm::Filled, ValueForm::Known(file, None)])
    };
    fields.note_form(key, form);
    let node = fields.child(key)?;
    if !matches!(node.value, Value::Map(_)) {
        return fields.required_text(key).map(InstructionText::Inline);
    }
    let mut inner = fields.fields(key)?;
    let file = inner.required_text("file");
    inner.finish();
    file.map(InstructionText::File)
}

fn read_kind(fields: &mut Fields) -> Option<AgentKind> {
    // The type of agents in cogni.
    let is_builtin =
        |value: &Value| matches!(value, Value::Scalar(scalar) if scalar.text == "builtin");
    if fields
        .child("type")
        .is_some_and(|node| is_builtin(&node.value))
    {
        let message = format!(
            "{} is `builtin`, which evalreport does not have",
            quote_text(&fields.path_of("type"))
        );
        let hint = "write `type: claude` or `type: command` for an agent with tools, `type: openai` or `type: anthropic` for one without";
        fields.reject("type", message, Some(hint.to_owned()));
        return None;
    }
    let kind = fields.one_of("type", &AgentKind::ALL.map(|kind| (kind.name(), kind)));
    if fields.child("type").is_none() {
        fields.reject_missing("type");
    }
    kind
}

fn join_names(names: &[String]) -> String {
    match names {
        [before @ .., last] if !before.is_empty() => format!("{} and {last}", before.join(", ")),
        _ => names.concat(),
    }
}

fn refuse_key(fields: &mut Fields) {
    if fields.child("api_key").is_none() {
        return;
    }
    // The message names the line. A problem's place would print the line itself, and with it the key.
    let message = format!(
        "{} on line {} must not be in a file",
        quote_text(&fields.path_of("api_key")),
        fields.line_of("api_key")
    );
    let hint = "keys come from the environment: name the variable in `api_key_env`, and replace the key that was written here";
    let problem = Problem::in_file(fields.file(), message).with_hint(hint);
    fields.problems().push(problem);
}

/// Rejects keys that the agent's type would ignore, and reports a missing required key.
fn check_keys(fields: &mut Fields, kind: AgentKind) {
    let mut own = BTreeSet::new();
    let keys = AgentKind::ALL
        .into_iter()
        .flat_map(AgentKind::own_keys)
        .filter(|key| own.insert(**key));
    for key in keys.copied() {
        if fields.child(key).is_some() && !kind.own_keys().contains(&key) {
            let users: Vec<String> = AgentKind::ALL
                .iter()
                .filter(|kind| kind.own_keys().contains(&key))
                .map(|kind| format!("`{}`", kind.name()))
                .collect();
            let message = format!(
                "{} is not used by an agent of type `{}`",
                quote_text(&fields.path_of(key)),
                kind.name()
            );
            fields.reject(
                key,
                message,
                Some(format!("it belongs to type {}", join_names(&users))),
            );
        }
    }
    if let Some(key) = kind.required_key()
        && fields.child(key).is_none()
    {
        let message = format!(
            "{} is missing, which an agent of type `{}` needs",
            quote_text(&fields.path_of(key)),
            kind.name()
        );
        fields.reject(key, message, None);
    }
}
