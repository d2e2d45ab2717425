//! Programs with their arguments. No shell is involved: each argument reaches the program unchanged.

use crate::document::{Fields, Value, ValueForm, quote_text};

/// Shell metacharacters. Their use in plain text suggests that the writer expects a shell.
const SHELL_CHARACTERS: &[char] = &[
    '\'', '"', '\\', '|', '&', ';', '<', '>', '$', '`', '*', '?', '~', '#', '(', ')',
];

/// Reads a list of arguments, or a text split at spaces. Returns an empty list if the key is absent.
pub(super) fn read_arguments(fields: &mut Fields, key: &str) -> Vec<String> {
    fields.note_form(key, || {
        ValueForm::OneOf(vec![ValueForm::Filled, ValueForm::list_of(ValueForm::Text)])
    });
    let Some(node) = fields.child(key) else {
        return Vec::new();
    };
    let path = quote_text(&fields.path_of(key));
    let command = match &node.value {
        Value::List(_) => fields.texts(key),
        Value::Scalar(_) | Value::Map(_) => {
            let Some(text) = fields.text(key) else {
                return Vec::new();
            };
            if text.contains(SHELL_CHARACTERS) {
                let hint = "no shell reads it: write a list with one item for each argument, such as [\"program\", \"--flag\", \"two words\"]";
                fields.reject(
                    key,
                    format!("{path} has characters that only a shell would understand"),
                    Some(hint.to_owned()),
                );
            }
            text.split_whitespace().map(str::to_owned).collect()
        }
    };
    if command
        .first()
        .is_none_or(|program| program.trim().is_empty())
    {
        fields.reject(key, format!("{path} names no program"), None);
    }
    command
}
