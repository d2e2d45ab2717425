//! Asks git about a checkout: its files, its changes, and a second tree at an older commit.
//!
//! Names are read raw and separated by zero bytes, so that no name can pass for two.

use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::process::StopSignal;
use crate::run::git::{GitQuery, GitReach};

/// Time limit of a git command.
const COMMAND_LIMIT: Duration = Duration::from_mins(2);
/// Runs git in one folder.
pub struct GitFolder<'a> {
    pub folder: &'a Path,
    pub stop: &'a StopSignal,
}

impl GitFolder<'_> {
    /// Returns whether the folder is in a repository's working tree.
    pub fn is_checkout(&self) -> bool {
        self.command_output(&["rev-parse", "--is-inside-work-tree"])
            .is_ok_and(|answer| answer.starts_with(b"true"))
    }

    /// Returns the commit of a revision, or `None` if there is none.
    pub fn resolve_commit(&self, revision: &str) -> Option<String> {
        let answer = self
            .command_output(&[
                "rev-parse",
                "--verify",
                "--quiet",
                "--end-of-options",
                &format!("{revision}^{{commit}}"),
            ])
            .ok()?;
        Some(lossy_text(&answer).trim().to_owned()).filter(|commit| !commit.is_empty())
    }

    /// Returns the top of the working tree, and the folder's path below it.
    pub fn top_folder(&self) -> Option<(PathBuf, String)> {
        let top = lossy_text(
            &self
                .command_output(&["rev-parse", "--show-toplevel"])
                .ok()?,
        );
        let prefix = lossy_text(&self.command_output(&["rev-parse", "--show-prefix"]).ok()?);
        let one_line = |text: &str| text.strip_suffix('\n').unwrap_or(text).to_owned();
        Some((PathBuf::from(one_line(&top)), one_line(&prefix)))
    }

    /// Lists the files below the folder that are tracked, or new and not ignored.
    pub fn list_files(&self) -> Result<Vec<String>, String> {
        Ok(split_names(&self.command_output(&[
            "ls-files",
            "-z",
            "--cached",
            "--others",
            "--exclude-standard",
        ])?))
    }

    /// Lists the files below the folder that differ from `commit`: edited, removed or new.
    pub fn list_changed(&self, commit: &str) -> Result<Vec<String>, String> {
        let diff = [
            "diff",
            "--name-only",
            "-z",
            "--relative",
            "--no-renames",
            "--no-ext-diff",
            "--no-textconv",
            "--ignore-submodules=dirty",
        ];
        let mut changed =
            split_names(&self.command_output(&[&diff[..], &[commit, "--"]].concat())?);
        changed.extend(split_names(&self.command_output(&[
            "ls-files",
            "-z",
            "--others",
            "--exclude-standard",
        ])?));
        changed.sort();
        changed.dedup();
        Ok(changed)
    }

    /// Makes a second tree, in which checks are to be run. So filters and remotes of the repository may be used, too: with Git LFS or a partial
    /// clone, files would be missing without them.
    pub fn add_worktree(&self, at: &Path, commit: &str) -> Result<(), String> {
        let arguments = [
            "worktree",
            "add",
            "--detach",
            "--quiet",
            &at.display().to_string(),
            commit,
        ];
        GitQuery {
            reach: GitReach::Remotes,
            ..GitQuery::new(self.folder, &arguments, COMMAND_LIMIT)
        }
        .read_output(self.stop)
        .map(drop)
    }

    pub fn remove_worktree(&self, at: &Path) {
        // Ignores a stop: the worktree must not be left behind.
        let git = GitFolder {
            folder: self.folder,
            stop: &StopSignal::new(),
        };
        let _ = git.command_output(&["worktree", "remove", "--force", &at.display().to_string()]);
    }

    /// Returns the output of a git command, or its error message if it failed.
    fn command_output(&self, arguments: &[&str]) -> Result<Vec<u8>, String> {
        GitQuery::new(self.folder, arguments, COMMAND_LIMIT).read_output(self.stop)
    }
}

fn lossy_text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Returns sorted file names. Invalid UTF-8 becomes replacement characters.
fn split_names(bytes: &[u8]) -> Vec<String> {
    let mut names: Vec<String> = bytes
        .split(|byte| *byte == 0)
        .filter(|name| !name.is_empty())
        .map(lossy_text)
        .collect();
    names.sort();
    names.dedup();
    names
}
