//! The repository's state at a run.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use crate::domain::Git;
use crate::process::{self, Command, End, Limits, Stop};

/// If git takes longer to answer, its state is not recorded.
const PATIENCE: Duration = Duration::from_secs(10);

/// Asks git about the folder. Returns `None` outside a repository or without git.
pub fn git_state(folder: &Path) -> Option<Git> {
    let rev = ask(folder, &["rev-parse", "HEAD"])?;
    let branch = ask(folder, &["rev-parse", "--abbrev-ref", "HEAD"]).filter(|branch| branch != "HEAD");
    // Ignore untracked files: the store itself grows with every run, without changing what is evaluated.
    let dirty = ask(folder, &["status", "--porcelain", "--untracked-files=no"]).is_some_and(|changes| !changes.is_empty());
    Some(Git { rev, branch, dirty })
}

/// Returns the name of git's user, or `None` without git or a name.
pub fn author(folder: &Path) -> Option<String> {
    ask(folder, &["config", "user.name"]).filter(|name| !name.is_empty())
}

/// Returns the trimmed output of a git command, or `None` if it failed.
pub(super) fn ask(folder: &Path, arguments: &[&str]) -> Option<String> {
    let argv = ["git"].iter().chain(arguments).map(Into::into).collect();
    let limits = Limits { wall: Some(PATIENCE), ..Limits::default() };
    let command = Command { argv, cwd: folder.to_owned(), env: BTreeMap::new(), input: Vec::new(), limits, confinement: None };
    let finished = process::run(&command, &Stop::new()).ok()?;
    (finished.end == End::Exited(0)).then(|| finished.stdout.text().trim().to_owned())
}
