//! The repository's state at a run.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use crate::domain::Git;

use super::git::git_output as ask;

/// Asks git about the folder. Returns `None` outside a repository or without git.
pub fn read_git_state(folder: &Path) -> Option<Git> {
    let rev = ask(folder, &["rev-parse", "HEAD"])?;
    let branch =
        ask(folder, &["rev-parse", "--abbrev-ref", "HEAD"]).filter(|branch| branch != "HEAD");
    // Ignore untracked files: the store itself grows with every run, without changing what is evaluated.
    let dirty = ask(
        folder,
        &[
            "status",
            "--porcelain",
            "--untracked-files=no",
            "--ignore-submodules=dirty",
        ],
    )
    .is_some_and(|changes| !changes.is_empty());
    Some(Git { rev, branch, dirty })
}

/// Returns the name of git's user, or `None` without git or a name.
pub fn git_user(folder: &Path) -> Option<String> {
    ask(folder, &["config", "user.name"]).filter(|name| !name.is_empty())
}

/// Returns the place of each commit that the folder's repository has, by the name as given: parents before children. Names that are no
/// abbreviated revision, and those that the repository does not have, are absent. Two names of one commit have one place.
pub fn commit_positions(folder: &Path, names: &BTreeSet<&str>) -> BTreeMap<String, usize> {
    let is_revision =
        |name: &&&str| name.len() >= 7 && name.bytes().all(|byte| byte.is_ascii_hexdigit());
    let mut commits = BTreeMap::<&str, String>::new();
    for name in names.iter().filter(is_revision) {
        if let Some(full) = ask(
            folder,
            &[
                "rev-parse",
                "--quiet",
                "--verify",
                &format!("{name}^{{commit}}"),
            ],
        ) {
            commits.insert(name, full);
        }
    }
    let full: BTreeSet<&str> = commits.values().map(String::as_str).collect();
    let mut asked = vec!["merge-base", "--octopus"];
    asked.extend(&full);
    let base = ask(folder, &asked);
    // Older history than the last common commit says nothing about their order.
    let until = base.map(|base| format!("{base}^@"));
    let mut arguments = vec!["rev-list", "--topo-order", "--reverse"];
    arguments.extend(&full);
    arguments.extend(until.iter().flat_map(|until| ["--not", until.as_str()]));
    let Some(listed) = ask(folder, &arguments) else {
        return BTreeMap::new();
    };
    let places: BTreeMap<&str, usize> = listed
        .lines()
        .enumerate()
        .map(|(place, commit)| (commit, place))
        .collect();
    commits
        .iter()
        .filter_map(|(name, full)| Some(((*name).to_owned(), *places.get(full.as_str())?)))
        .collect()
}
