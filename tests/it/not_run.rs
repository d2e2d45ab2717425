//! Where tests that are not run are recorded until the end of `cargo test`: one file for each, which says what is missing.

use std::path::{Path, PathBuf};

/// The folder of this run of all tests: its processes have one parent.
pub fn folder() -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR"))
        .join("not-run")
        .join(parent())
}

/// The number of the parent, and when that process began where the system tells, since numbers come again.
#[cfg(unix)]
fn parent() -> String {
    let parent = std::os::unix::process::parent_id();
    let stat = std::fs::read_to_string(format!("/proc/{parent}/stat")).unwrap_or_default();
    // The name in parentheses may hold anything; the start is the twentieth field after it.
    let start = stat
        .rsplit(')')
        .next()
        .and_then(|fields| fields.split_ascii_whitespace().nth(19))
        .unwrap_or("0");
    format!("{parent}-{start}")
}

#[cfg(not(unix))]
fn parent() -> String {
    "all".to_owned()
}
