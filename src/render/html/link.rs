//! A link and its words.

use super::shell::Text;

/// A link and its words.
pub(super) struct PageLink {
    pub href: String,
    pub label: Text,
}

pub(super) struct ItemLink {
    pub name: Text,
    pub href: Option<String>,
    /// Anchor on the page with both answers side by side.
    pub beside: Option<String>,
}
