//! Foreign texts, cut to a page's length.

use crate::domain::shorten_to;

/// Maximum characters of a foreign text.
pub(super) const MAX_OF_A_TEXT: usize = 2_000;

/// Returns the beginning of a text.
pub(super) fn cut_text(text: &str) -> String {
    shorten_to(text, MAX_OF_A_TEXT)
}
