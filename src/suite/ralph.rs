//! Suites of `ralph eval`. They name the kind of program to make, but no tests: those are built into `ralph`.

use crate::document::Fields;

/// The values of `type`. They tell `ralph` how to start the produced program.
const KINDS: [(&str, ()); 2] = [("web", ()), ("cli", ())];

/// Reads `type`, and returns whether it is present.
pub(super) fn read(fields: &mut Fields) -> bool {
    let is_there = fields.child("type").is_some();
    fields.one_of("type", &KINDS);
    is_there
}

/// Returns the command with which `ralph` tests another program's result. It starts at the repository's root, where `ralph` looks for the
/// suite.
pub(super) fn tests(name: &str) -> Vec<String> {
    let name = name.replace('\'', "'\\''");
    vec![format!("ralph eval run '{name}' --test-only \"$EVAL_WORKSPACE\"")]
}

/// Adapts the `setup` commands. They are written for bash, and `ralph` never ran them: other shells call `source` `.`.
pub(super) fn setup(commands: Vec<String>) -> Vec<String> {
    let of_any_shell = |command: String| {
        let parts: Vec<String> =
            command.split(" && ").map(|part| part.strip_prefix("source ").map_or(part.to_owned(), |file| format!(". {file}"))).collect();
        parts.join(" && ")
    };
    commands.into_iter().map(of_any_shell).collect()
}

#[cfg(test)]
mod unit_tests {
    use super::*;

    #[test]
    fn source_is_a_dot_where_it_is_a_command() {
        let written = ["source venv/bin/activate && pip install flask", "python3 -m venv venv && source a/b", "echo source x"];
        let read = setup(written.map(str::to_owned).to_vec());
        assert_eq!(read, [". venv/bin/activate && pip install flask", "python3 -m venv venv && . a/b", "echo source x"]);
    }
}
