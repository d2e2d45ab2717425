//! Formatting of paths.

use std::path::Path;

/// Formats a path for printing.
pub(super) fn shown(path: &Path) -> String {
    crate::domain::visible(&path.display().to_string())
}
