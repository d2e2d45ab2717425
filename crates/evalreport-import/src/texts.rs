//! Cuts texts in records to a readable length.

use std::borrow::Cow;

/// Maximum characters of a text that is kept with an outcome.
pub(super) const MAX_TEXT_CHARS: usize = 2000;

/// Cuts a text to at most `most` characters. The last character of a cut text is `…`.
pub(crate) fn clip_text(text: &str, most: usize) -> Cow<'_, str> {
    match text.char_indices().nth(most) {
        None => text.into(),
        Some(_) => {
            let end = text
                .char_indices()
                .nth(most - 1)
                .map_or(text.len(), |(end, _)| end);
            format!("{}…", &text[..end]).into()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_that_is_cut_ends_in_a_mark() {
        for (text, expected) in [("abc", "abc"), ("äbcd", "äb…"), ("", "")] {
            assert_eq!(clip_text(text, 3), expected);
        }
    }
}
