//! A path as it is printed.

use std::path::Path;

/// A path as it is printed.
pub(super) fn shown(path: &Path) -> String {
    crate::domain::visible(&path.display().to_string())
}
