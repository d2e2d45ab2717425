//! Quotes foreign text for messages: visible and short.

use crate::domain::{escape_invisible, nearest_name};

const MAX_QUOTED: usize = 80;

/// Returns `text` in backticks, with control characters made visible and long text cut.
pub fn quote_text(text: &str) -> String {
    format!("`{}`", clip_text(text))
}

/// Returns the hint "did you mean `…`?" if a candidate is near enough.
pub fn nearest_hint<'a>(
    name: &str,
    candidates: impl IntoIterator<Item = &'a str>,
) -> Option<String> {
    // Edit distance takes time proportional to the product of the lengths, and a long name is no typo.
    if name.chars().take(MAX_QUOTED + 1).count() > MAX_QUOTED {
        return None;
    }
    nearest_name(name, candidates)
        .map(|candidate| format!("did you mean {}?", quote_text(candidate)))
}

pub(super) fn clip_text(text: &str) -> String {
    match text.char_indices().nth(MAX_QUOTED) {
        Some((end, _)) => format!("{}…", escape_invisible(&text[..end])),
        None => escape_invisible(text),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quoted_text_is_visible_and_short() {
        assert_eq!(quote_text("a\x1b[2J"), "`a␛[2J`");
        assert_eq!(quote_text(&"é".repeat(80)).chars().count(), 82);
        assert_eq!(quote_text(&"é".repeat(81)).chars().count(), 83);
        assert!(quote_text(&"é".repeat(81)).ends_with("…`"));
    }

    #[test]
    fn a_hint_needs_a_near_name_of_reasonable_length() {
        assert_eq!(
            nearest_hint("modell", ["id", "model"]),
            Some("did you mean `model`?".to_owned())
        );
        assert_eq!(nearest_hint("zzzzz", ["id", "model"]), None);
        let long = "x".repeat(81);
        assert_eq!(nearest_hint(&long, [long.as_str()]), None);
    }
}
