//! Texts of any length, cut for a page.

use crate::domain::beginning;

/// Characters of a text that somebody else wrote.
pub(super) const MOST_OF_A_TEXT: usize = 2_000;

/// The beginning of a text.
pub(super) fn cut(text: &str) -> String {
    beginning(text, MOST_OF_A_TEXT)
}
