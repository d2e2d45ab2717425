//! A format's claim on a file that it recognises.

use std::path::PathBuf;

/// A format's claim on a file that it recognises.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Claim {
    /// The file is a source by itself.
    Alone,
    /// The file belongs with all files that name the same folder, or the same beginning of their names.
    PartOf(PathBuf),
}
