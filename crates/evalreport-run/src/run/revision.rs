//! Commits by the names that people give them: branches, tags, `HEAD~1`.

use std::path::Path;

use super::git::git_output as ask;

/// Why a name means no commit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoCommit {
    /// Git cannot be started, or the folder is in no repository.
    NoRepository,
    /// The repository knows no commit of that name.
    Unknown,
}

/// Returns the full id of the commit that a name means in the repository around the folder. A name is never taken for an option.
pub fn commit_named(folder: &Path, name: &str) -> Result<String, NoCommit> {
    ask(folder, &["rev-parse", "--git-dir"]).ok_or(NoCommit::NoRepository)?;
    // Git reads what begins like an option as one, and refuses these characters in names.
    if name.is_empty()
        || name.starts_with('-')
        || name.contains("..")
        || name.contains(char::is_whitespace)
    {
        return Err(NoCommit::Unknown);
    }
    let commit = ask(
        folder,
        &[
            "rev-parse",
            "--verify",
            "--quiet",
            &format!("{name}^{{commit}}"),
        ],
    );
    commit
        .filter(|commit| commit.len() >= 40 && commit.bytes().all(|byte| byte.is_ascii_hexdigit()))
        .ok_or(NoCommit::Unknown)
}

/// Returns the commit and those before it, along first parents: at most `most`.
pub fn first_parents(folder: &Path, commit: &str, most: usize) -> Vec<String> {
    let listed = ask(
        folder,
        &[
            "rev-list",
            "--first-parent",
            &format!("--max-count={most}"),
            commit,
            "--",
        ],
    );
    listed.map_or_else(Vec::new, |listed| {
        listed.lines().map(str::to_owned).collect()
    })
}
