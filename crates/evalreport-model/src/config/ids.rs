//! Ids defined in the file, and references to them.

use std::collections::BTreeMap;

use crate::document::{Fields, nearest_hint, quote_text};

/// The ids of one list, such as `agents`, with their lines.
pub(super) struct Ids {
    /// The noun for the ids in messages, such as `agent`.
    noun: &'static str,
    lines: BTreeMap<String, usize>,
}

impl Ids {
    pub(super) fn new(noun: &'static str) -> Self {
        Self {
            noun,
            lines: BTreeMap::new(),
        }
    }

    /// Takes the required `id` of an entry: one word, used once. An id counts even if the rest of its entry is invalid, so that one error
    /// does not invalidate every reference to it.
    /// mistake does not make every reference to it another.
    pub(super) fn read_id(&mut self, fields: &mut Fields) -> Option<String> {
        let id = fields.required_text("id")?;
        // `@` separates task and agent in a selector.
        if id.chars().any(|character| {
            character.is_whitespace() || character.is_control() || character == '@'
        }) {
            let message = format!(
                "{} must be one word without `@`, not {}",
                quote_text(&fields.path_of("id")),
                quote_text(&id)
            );
            fields.reject("id", message, None);
            return None;
        }
        let line = fields.line_of("id");
        if let Some(first) = self.lines.get(&id) {
            let message = format!("duplicate {} {}", self.noun, quote_text(&id));
            fields.reject(
                "id",
                message,
                Some(format!(
                    "it is already on line {first}; give one of them another id"
                )),
            );
            return None;
        }
        self.lines.insert(id.clone(), line);
        Some(id)
    }

    /// Reads a key whose value must be one of these ids.
    pub(super) fn read_reference(&self, fields: &mut Fields, key: &str) -> Option<String> {
        let id = fields.text(key)?;
        if self.lines.contains_key(&id) {
            return Some(id);
        }
        let message = format!(
            "{} names the unknown {} {}",
            quote_text(&fields.path_of(key)),
            self.noun,
            quote_text(&id)
        );
        let hint = nearest_hint(&id, self.lines.keys().map(String::as_str))
            .unwrap_or_else(|| self.describe_known());
        fields.reject(key, message, Some(hint));
        None
    }

    fn describe_known(&self) -> String {
        if self.lines.is_empty() {
            return format!("no {} is declared", self.noun);
        }
        let names: Vec<String> = self.lines.keys().map(|id| quote_text(id)).collect();
        format!("known {}s: {}", self.noun, names.join(", "))
    }
}
