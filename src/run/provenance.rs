//! Which state of the repository a run belongs to.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use crate::domain::Git;
use crate::process::{self, Command, End, Limits, Stop};

/// A repository that takes longer to answer is one to do without.
const PATIENCE: Duration = Duration::from_secs(10);

/// Asks git about the folder; none where it is in no repository or there is no git.
pub fn git_state(folder: &Path) -> Option<Git> {
    let rev = ask(folder, &["rev-parse", "HEAD"])?;
    let branch = ask(folder, &["rev-parse", "--abbrev-ref", "HEAD"]).filter(|branch| branch != "HEAD");
    // The store itself grows with every run; that is no change of what is evaluated.
    let dirty = ask(folder, &["status", "--porcelain", "--untracked-files=no"]).is_some_and(|changes| !changes.is_empty());
    Some(Git { rev, branch, dirty })
}

/// The trimmed answer of a git command that succeeded.
pub(super) fn ask(folder: &Path, arguments: &[&str]) -> Option<String> {
    let argv = ["git"].iter().chain(arguments).map(Into::into).collect();
    let limits = Limits { wall: Some(PATIENCE), ..Limits::default() };
    let command = Command { argv, cwd: folder.to_owned(), env: BTreeMap::new(), input: Vec::new(), limits, confinement: None };
    let finished = process::run(&command, &Stop::new()).ok()?;
    (finished.end == End::Exited(0)).then(|| finished.stdout.text().trim().to_owned())
}
