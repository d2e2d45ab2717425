//! Problems of documents in any language.

use super::{MapKey, quote_text};
use crate::domain::Problem;

/// Maximum nesting depth of lists and maps.
pub(super) const MAX_DEPTH: usize = 100;

pub(super) fn empty_file(file: &str) -> Problem {
    Problem::in_file(file, "the file is empty")
}

pub(super) fn too_deep(file: &str, line: usize, column: usize) -> Problem {
    Problem::at_position(
        file,
        line,
        column,
        format!("nested deeper than {MAX_DEPTH} levels"),
    )
}

pub(super) fn duplicate_key(file: &str, key: &MapKey, first_line: usize) -> Problem {
    Problem::at_position(
        file,
        key.line,
        key.column,
        format!("duplicate key {}", quote_text(&key.text)),
    )
    .with_hint(format!(
        "it is already on line {first_line}; remove one of the two"
    ))
}
