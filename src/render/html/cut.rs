//! The beginning of a long text.

use crate::domain::beginning;

/// Maximum characters of a reason, an answer or an expected answer.
pub(super) const MOST_OF_A_TEXT: usize = 240;

/// Returns the beginning of a text that may be pages long. The data beside the page have the stored text.
pub(super) fn cut(text: &str) -> String {
    beginning(text, MOST_OF_A_TEXT)
}
