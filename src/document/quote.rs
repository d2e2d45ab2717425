//! Quotes foreign text for messages: visible and short.

use crate::domain::{nearest, visible};

const LONGEST: usize = 80;

/// Returns `text` in backticks, with control characters made visible and long text cut.
pub fn quote(text: &str) -> String {
    format!("`{}`", clip(text))
}

/// Returns the hint "did you mean `…`?" if a candidate is near enough.
pub fn nearest_hint<'a>(
    name: &str,
    candidates: impl IntoIterator<Item = &'a str>,
) -> Option<String> {
    // Edit distance takes time proportional to the product of the lengths, and a long name is no typo.
    if name.chars().take(LONGEST + 1).count() > LONGEST {
        return None;
    }
    nearest(name, candidates).map(|candidate| format!("did you mean {}?", quote(candidate)))
}

pub(super) fn clip(text: &str) -> String {
    match text.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}…", visible(&text[..end])),
        None => visible(text),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quoted_text_is_visible_and_short() {
        assert_eq!(quote("a\x1b[2J"), "`a␛[2J`");
        assert_eq!(quote(&"é".repeat(80)).chars().count(), 82);
        assert_eq!(quote(&"é".repeat(81)).chars().count(), 83);
        assert!(quote(&"é".repeat(81)).ends_with("…`"));
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
