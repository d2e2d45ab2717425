//! Foreign texts, cut to a page's length.

use crate::domain::beginning;

/// Maximum characters of a foreign text.
pub(super) const MOST_OF_A_TEXT: usize = 2_000;

/// Returns the beginning of a text.
pub(super) fn cut(text: &str) -> String {
    beginning(text, MOST_OF_A_TEXT)
}
