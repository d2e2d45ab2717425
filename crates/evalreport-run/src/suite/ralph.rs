//! Suites of `ralph eval`. They name the kind of program to make, but no tests: those are built into `ralph`.

use crate::document::Fields;

/// The values of `type`. They tell `ralph` how to start the produced program.
const PROGRAM_TYPES: [(&str, ()); 2] = [("web", ()), ("cli", ())];

/// Reads `type`, and returns whether it is present.
pub(super) fn read_type(fields: &mut Fields) -> bool {
    let is_there = fields.child("type").is_some();
    fields.one_of("type", &PROGRAM_TYPES);
    is_there
}

/// Returns the command with which `ralph` tests another program's result. It starts at the repository's root, where `ralph` looks for the
/// suite.
pub(super) fn test_commands(name: &str) -> Vec<String> {
    let name = name.replace('\'', "'\\''");
    vec![format!(
        "ralph eval run '{name}' --test-only \"$EVAL_WORKSPACE\""
    )]
}
