//! Problems of documents in any language.

use super::{Key, quote};
use crate::domain::Problem;

/// Maximum nesting depth of lists and maps.
pub(super) const DEEPEST: usize = 100;

pub(super) fn empty(file: &str) -> Problem {
    Problem::in_file(file, "the file is empty")
}

pub(super) fn too_deep(file: &str, line: usize, column: usize) -> Problem {
    Problem::at(
        file,
        line,
        column,
        format!("nested deeper than {DEEPEST} levels"),
    )
}

pub(super) fn duplicate(file: &str, key: &Key, first_line: usize) -> Problem {
    Problem::at(
        file,
        key.line,
        key.column,
        format!("duplicate key {}", quote(&key.text)),
    )
    .with_hint(format!(
        "it is already on line {first_line}; remove one of the two"
    ))
}
