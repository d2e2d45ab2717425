//! Approaches: how a suite's requirements become a result.

use std::time::Duration;

use super::ids::Ids;
use super::{command, duration};
use crate::document::{Fields, nearest_hint, quote};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Approach {
    pub id: String,
    /// The words pages show instead of the id.
    pub name: Option<String>,
    /// The program and its arguments, which may hold [`PLACEHOLDERS`]; empty only for a built-in approach.
    pub command: Vec<String>,
    pub timeout: Option<Duration>,
}

/// What a command's arguments may hold in braces, filled in for each run.
pub const PLACEHOLDERS: [&str; 4] = ["model", "requirements", "output_dir", "prompt_file"];

/// Approaches that need no command of their own.
const BUILT_IN: [&str; 2] = ["oneshot", "ralph"];

pub(super) fn read(fields: &mut Fields) -> Vec<Approach> {
    let mut ids = Ids::of("approach");
    fields.each("approaches", |fields| read_approach(fields, &mut ids))
}

fn read_approach(mut fields: Fields, ids: &mut Ids) -> Option<Approach> {
    let id = ids.take(&mut fields);
    let name = fields.text("name");
    let command = command::read(&mut fields, "command");
    if let Some(id) = &id
        && fields.child("command").is_none()
        && !BUILT_IN.contains(&id.as_str())
    {
        let hint = "only `oneshot` and `ralph` are built in; any other approach is a command";
        let message = format!("{} is missing", quote(&fields.path_of("command")));
        fields.reject("command", message, Some(hint.to_owned()));
    }
    for unknown in command.iter().flat_map(|argument| placeholders(argument)).filter(|name| !PLACEHOLDERS.contains(name)) {
        let hint = nearest_hint(unknown, PLACEHOLDERS).unwrap_or_else(|| format!("known placeholders: {}", PLACEHOLDERS.join(", ")));
        let message = format!("{} has the unknown placeholder {}", quote(&fields.path_of("command")), quote(unknown));
        fields.reject("command", message, Some(hint));
    }
    let timeout = duration::read(&mut fields, "timeout");
    fields.finish();
    Some(Approach { id: id?, name, command, timeout })
}

/// Finds `{word}`. Braces around anything else, such as JSON, are just text.
fn placeholders(argument: &str) -> impl Iterator<Item = &str> {
    let is_word = |name: &str| !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_');
    argument.split('{').skip(1).filter_map(|after| after.split_once('}')).map(|(name, _)| name).filter(move |name| is_word(name))
}
