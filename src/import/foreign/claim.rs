//! What a format says of a file that it recognises.

use std::path::PathBuf;

/// What a format says of a file that it recognises.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::import) enum Claim {
    /// The file is a source.
    Alone,
    /// It belongs with the others that name the same folder, or the same beginning of their names.
    PartOf(PathBuf),
}
