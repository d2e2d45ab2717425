//! A copy of a repository in which one commit after another is checked out.

use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::process::StopSignal;

use super::git::{GitQuery, GitReach, git_output};

/// Time limit of a clone or a checkout.
const CHECKOUT_LIMIT: Duration = Duration::from_mins(30);

/// A commit, as people look for it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamedCommit {
    /// The full id.
    pub id: String,
    /// Day of the author's time, `2026-03-24`.
    pub date: String,
    pub subject: String,
}

/// Returns the place of a folder below the top of its repository. Empty at the top, and outside of a repository.
pub fn prefix_in_repository(folder: &Path) -> PathBuf {
    git_output(folder, &["rev-parse", "--show-prefix"])
        .unwrap_or_default()
        .into()
}

/// Returns the commit that a full id means.
pub fn describe_commit(folder: &Path, id: &str) -> Option<NamedCommit> {
    list_commits(folder, &["--max-count=1", id]).pop()
}

/// Returns the commits after `good` up to `bad`, the oldest first, along first parents. `None` if `good` is no ancestor of `bad`.
pub fn commits_after(folder: &Path, good: &str, bad: &str) -> Option<Vec<NamedCommit>> {
    git_output(folder, &["merge-base", "--is-ancestor", good, bad])?;
    let range = format!("{good}..{bad}");
    let mut commits = list_commits(folder, &["--first-parent", &range]);
    commits.reverse();
    Some(commits)
}

fn list_commits(folder: &Path, which: &[&str]) -> Vec<NamedCommit> {
    let mut arguments = vec!["log", "--format=%H%x09%as%x09%s"];
    arguments.extend(which);
    arguments.push("--");
    let listed = git_output(folder, &arguments).unwrap_or_default();
    let commit = |line: &str| {
        let mut parts = line.splitn(3, '\t').map(str::to_owned);
        Some(NamedCommit {
            id: parts.next()?,
            date: parts.next()?,
            subject: parts.next().unwrap_or_default(),
        })
    };
    listed.lines().filter_map(commit).collect()
}

/// A copy of a repository, which shares its objects and changes nothing in it.
#[derive(Debug)]
pub struct Checkout {
    folder: PathBuf,
}

impl Checkout {
    /// Copies the repository around `from` to `folder`, which must not exist. Nothing is checked out yet.
    ///
    /// # Errors
    ///
    /// What git says.
    pub fn create(from: &Path, folder: &Path, stop: &StopSignal) -> Result<Self, String> {
        let top = git_output(from, &["rev-parse", "--show-toplevel"])
            .ok_or("the folder is in no repository with files")?;
        let to = folder.display().to_string();
        let clone = [
            "clone",
            "--quiet",
            "--shared",
            "--no-checkout",
            "--no-tags",
            "--template=",
            "--",
            &top,
            &to,
        ];
        GitQuery {
            reach: GitReach::Copy,
            ..GitQuery::new(from, &clone, CHECKOUT_LIMIT)
        }
        .read_output(stop)?;
        Ok(Self {
            folder: folder.to_owned(),
        })
    }

    /// Checks a commit out. Files that git ignores stay, such as what a build made; other files that are not the commit's go.
    ///
    /// # Errors
    ///
    /// What git says.
    pub fn switch_to(&self, commit: &str, stop: &StopSignal) -> Result<(), String> {
        for arguments in [
            &["checkout", "--quiet", "--force", "--detach", commit][..],
            &["clean", "--quiet", "--force", "-d"],
        ] {
            GitQuery {
                // The repository's own programs are about to run in any case.
                reach: GitReach::Remotes,
                ..GitQuery::new(&self.folder, arguments, CHECKOUT_LIMIT)
            }
            .read_output(stop)?;
        }
        Ok(())
    }

    pub fn folder(&self) -> &Path {
        &self.folder
    }
}
