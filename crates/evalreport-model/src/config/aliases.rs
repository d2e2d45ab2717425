//! Aliases: names in records, and the names that pages show instead.

use std::collections::BTreeMap;

use crate::document::{Fields, quote_text};
use crate::domain::Aliases;

pub(super) fn read_section(fields: &mut Fields) -> Aliases {
    let Some(mut fields) = fields.fields("aliases") else {
        return Aliases::default();
    };
    let aliases = Aliases {
        suite: read_names(&mut fields, "suite"),
        approach: read_names(&mut fields, "approach"),
        model: read_names(&mut fields, "model"),
        item: read_names(&mut fields, "item"),
    };
    fields.finish();
    aliases
}

/// Reads a map of names. An alias is resolved only once, so chains are rejected.
fn read_names(fields: &mut Fields, key: &str) -> BTreeMap<String, String> {
    let names = fields.text_map(key);
    let path = fields.path_of(key);
    for (name, target) in &names {
        let place = quote_text(&format!("{path}.{name}"));
        if target.trim().is_empty() {
            fields.reject_entry(key, name, format!("{place} is empty"), None);
        } else if name == target {
            fields.reject_entry(
                key,
                name,
                format!("{place} is an alias of itself"),
                Some("remove it".to_owned()),
            );
        } else if let Some(end) = names.get(target) {
            let message = format!(
                "{place} leads to {}, which is itself an alias",
                quote_text(target)
            );
            fields.reject_entry(
                key,
                name,
                message,
                Some(format!("give the final name, such as {}", quote_text(end))),
            );
        }
    }
    names
}
