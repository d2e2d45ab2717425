//! Non-blank texts of a suite.

use crate::document::{Fields, ValueForm, quote_text};
use crate::domain::Problem;

/// Reads an optional text that must not be blank.
pub(super) fn read_nonblank(fields: &mut Fields, key: &str) -> Option<String> {
    fields.note_form(key, || ValueForm::Filled);
    fields.child(key)?;
    fields.required_text(key)
}

/// Reads a list of non-blank texts.
pub(super) fn read_commands(fields: &mut Fields, key: &str) -> Vec<String> {
    fields.note_form(key, || ValueForm::list_of(ValueForm::Filled));
    let items = fields.list(key).unwrap_or_default();
    let path = fields.path_of(key);
    let mut commands = Vec::new();
    for (index, item) in items.iter().enumerate() {
        let path = format!("{path}[{index}]");
        let Some(text) = fields.text_of(item, &path) else {
            continue;
        };
        if text.trim().is_empty() {
            let problem = Problem::at_position(
                fields.file(),
                item.line,
                item.column,
                format!("{} is empty", quote_text(&path)),
            );
            fields.problems().push(problem);
        }
        commands.push(text);
    }
    commands
}
