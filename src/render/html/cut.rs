//! The beginning of a long text.

use crate::domain::beginning;

/// Characters of a reason, an answer or what was expected, and bytes of all such texts of a page.
pub(super) const MOST_OF_A_TEXT: usize = 240;

/// The beginning of a text that may be pages long; the data beside the page have all that was kept.
pub(super) fn cut(text: &str) -> String {
    beginning(text, MOST_OF_A_TEXT)
}
