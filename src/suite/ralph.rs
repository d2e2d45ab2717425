//! Suites of `ralph eval`: they name the kind of thing to make, and no tests, because the tests are part of that program.

use crate::document::Fields;

/// What `type` may be; `ralph` knows by it how to start what was made.
const KINDS: [(&str, ()); 2] = [("web", ()), ("cli", ())];

/// Reads `type`, and says whether it is there.
pub(super) fn read(fields: &mut Fields) -> bool {
    let is_there = fields.child("type").is_some();
    fields.one_of("type", &KINDS);
    is_there
}

/// The command by which `ralph` tests what another program made. It starts at the repository's root, where `ralph` looks for the suite.
pub(super) fn tests(name: &str) -> Vec<String> {
    let name = name.replace('\'', "'\\''");
    vec![format!("ralph eval run '{name}' --test-only \"$EVAL_WORKSPACE\"")]
}

/// `ralph` never ran the commands under `setup`, and they are written for bash: in other shells `source` is called `.`.
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
