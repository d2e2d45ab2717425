//! The beginning of a long text.

use crate::domain::shorten_to;

/// Maximum characters of a reason, an answer or an expected answer.
pub(super) const MAX_OF_A_TEXT: usize = 240;

/// Returns the beginning of a text that may be pages long. The data beside the page have the stored text.
pub(super) fn truncate_text(text: &str) -> String {
    shorten_to(text, MAX_OF_A_TEXT)
}
