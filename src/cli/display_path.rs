//! Formatting of paths.

use std::path::Path;

/// Formats a path for printing.
pub(super) fn display_path(path: &Path) -> String {
    crate::domain::escape_invisible(&path.display().to_string())
}
