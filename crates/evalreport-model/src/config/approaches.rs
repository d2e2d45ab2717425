//! Approaches: they turn a suite's requirements into a result.

use std::time::Duration;

use super::ids::Ids;
use super::{command, duration};
use crate::document::{Fields, nearest_hint, quote_text};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ApproachConfig {
    pub id: String,
    /// The name that pages show instead of the id.
    pub name: Option<String>,
    /// The program and its arguments, which may hold [`PLACEHOLDERS`]. Empty only for a built-in approach.
    pub command: Vec<String>,
    pub timeout: Option<Duration>,
    /// The id of the agent for an approach without a command. For `oneshot`, absent means the default agent, or Claude's program.
    pub agent: Option<String>,
    /// Arguments added to those of its agent's program.
    pub args: Vec<String>,
    /// The file with the agent's instructions, which precede the requirements.
    pub prompt: Option<String>,
    /// The folder whose files are added to the workspace before it starts.
    pub files: Option<String>,
    /// A sandbox's program and arguments, which start the command. Empty for none.
    pub wrap: Vec<String>,
    /// Files and folders that it and its code may read. `~` is the home folder.
    pub reads: Vec<String>,
    /// Files and folders outside its workspace that it may change. `~` is the home folder.
    pub writes: Vec<String>,
    /// The secrets that it gets as environment variables: names, or prefixes followed by `*`.
    pub env: Vec<String>,
}

/// Placeholders in a command's arguments, written in braces and filled in for each run.
pub const PLACEHOLDERS: [&str; 6] = [
    "model",
    "requirements",
    "output_dir",
    "prompt_file",
    "suite",
    "root",
];

/// Approaches that need no command of their own.
const BUILT_IN: [&str; 2] = ["oneshot", "ralph"];

pub(super) fn read_section(fields: &mut Fields, agents: &Ids) -> Vec<ApproachConfig> {
    let mut ids = Ids::new("approach");
    fields.read_each("approaches", |fields| {
        read_approach(fields, &mut ids, agents)
    })
}

fn read_approach(mut fields: Fields, ids: &mut Ids, agents: &Ids) -> Option<ApproachConfig> {
    let id = ids.read_id(&mut fields);
    let name = fields.text("name");
    let command = command::read_arguments(&mut fields, "command");
    if let Some(id) = &id
        && ["command", "agent"]
            .iter()
            .all(|key| fields.child(key).is_none())
        && !BUILT_IN.contains(&id.as_str())
    {
        let hint = "only `oneshot` and `ralph` are built in; any other approach is a command, or names the `agent` that it asks";
        let message = format!("{} is missing", quote_text(&fields.path_of("command")));
        fields.reject("command", message, Some(hint.to_owned()));
    }
    for unknown in command
        .iter()
        .flat_map(|argument| find_placeholders(argument))
        .filter(|name| !PLACEHOLDERS.contains(name))
    {
        let hint = nearest_hint(unknown, PLACEHOLDERS)
            .unwrap_or_else(|| format!("known placeholders: {}", PLACEHOLDERS.join(", ")));
        let message = format!(
            "{} has the unknown placeholder {}",
            quote_text(&fields.path_of("command")),
            quote_text(unknown)
        );
        fields.reject("command", message, Some(hint));
    }
    let timeout = duration::read_duration(&mut fields, "timeout");
    let agent = agents.read_reference(&mut fields, "agent");
    let args = fields.texts("args");
    let prompt = fields.text("prompt");
    for key in ["agent", "args", "prompt"] {
        if fields.child(key).is_some() && (!command.is_empty() || id.as_deref() == Some("ralph")) {
            let message = format!(
                "{} is only used by an approach that asks an agent, which has no command",
                quote_text(&fields.path_of(key))
            );
            fields.reject(key, message, None);
        }
    }
    let files = fields.text("files");
    let wrap = command::read_arguments(&mut fields, "wrap");
    let reads = fields.texts("reads");
    let writes = fields.texts("writes");
    let env = fields.texts("env");
    fields.finish();
    Some(ApproachConfig {
        id: id?,
        name,
        command,
        timeout,
        agent,
        args,
        prompt,
        files,
        wrap,
        reads,
        writes,
        env,
    })
}

/// Finds placeholders such as `{word}`. Braces around anything else, such as JSON, are plain text.
fn find_placeholders(argument: &str) -> impl Iterator<Item = &str> {
    let is_word = |name: &str| {
        !name.is_empty()
            && name
                .bytes()
                .all(|byte| byte.is_ascii_lowercase() || byte == b'_')
    };
    argument
        .split('{')
        .skip(1)
        .filter_map(|after| after.split_once('}'))
        .map(|(name, _)| name)
        .filter(move |name| is_word(name))
}
