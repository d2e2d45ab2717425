//! Shows a text in the user's pager.

use std::io::Write;
use std::process::{Command, Stdio};

/// Shows a text in a pager until the user ends it. Returns whether the pager could be started.
///
/// The pager owns the terminal, so it is not in a group of its own.
pub fn show_in_pager(words: &[&str], variables: &[(&str, &str)], text: &str) -> bool {
    let Some((program, arguments)) = words.split_first() else {
        return false;
    };
    let mut command = Command::new(program);
    command
        .args(arguments)
        .envs(variables.iter().copied())
        .stdin(Stdio::piped());
    let Ok(mut pager) = command.spawn() else {
        return false;
    };
    if let Some(mut input) = pager.stdin.take() {
        // The user may end the pager before the end of the text.
        drop(input.write_all(text.as_bytes()));
    }
    drop(pager.wait());
    true
}
