//! Verification carried out: a tree is listed, its checks are run on it as it was and as it is, and what fails is put down to the change
//! or not. Which checks, and whose the failures are, is decided in [`crate::verify`]; here are the files, git and the programs.
//!
//! Checks run in the tree itself, as the person who changed it would run them. The tree as it was is made in a folder for it alone.

mod aids;
mod baseline;
mod checks;
mod git;
mod settings;
mod ticket;
mod tree;
mod workspace;

use std::path::{Path, PathBuf};

use crate::agent::Environment;
use crate::domain::{Profile, Verification, VerifiedFailure, visible};
use crate::process::Stop;
use crate::verify::{self, Check, CheckResult, Detected, Listing, Overrides, Scope, Selection, Task, TerminalStatus};

use super::shell::Shell;
use baseline::Baseline;
use checks::Place;
use git::Git;

pub use settings::VerificationSettings;
pub use workspace::verify_workspace;

/// What is compared with where nobody names a revision.
const HEAD: &str = "HEAD";
const SHORT_COMMIT: usize = 10;

/// A folder to verify, and what for.
pub struct Verifying<'a> {
    /// Absolute, and without links.
    pub folder: &'a Path,
    pub goal: &'a str,
    pub profile: Profile,
    /// What the goal is about, below the folder.
    pub files: Vec<String>,
    /// The revision to compare with; the last commit where none is named.
    pub base: Option<&'a str>,
    pub overrides: &'a Overrides,
    /// Where tickets go.
    pub tickets: Option<&'a Tickets>,
    pub environment: &'a Environment,
    /// Where the tree as it was is made; outside of the folder.
    pub scratch: &'a Path,
    pub stop: &'a Stop,
    /// Is told what begins now.
    pub step: &'a dyn Fn(&str),
}

/// What was decided before anything runs.
pub struct Prepared {
    detected: Detected,
    task: Task,
    selection: Selection,
    /// The commit to compare with and how it is called, or why there is none.
    before: Result<(String, String), String>,
    listing: Listing,
}

/// Why nothing can be verified.
#[derive(Debug, thiserror::Error)]
pub enum VerificationError {
    #[error("{} is not in a git repository, so there is no revision `{}`", visible(.folder), visible(.revision))]
    NoRepository { folder: String, revision: String },
    #[error("there is no revision `{}`", visible(.revision))]
    NoRevision { revision: String },
    #[error("git: {0}")]
    Git(String),
}

/// Looks at a checkout and decides what to run.
pub fn prepare(verifying: &Verifying<'_>) -> Result<Prepared, VerificationError> {
    let git = Git { folder: verifying.folder, stop: verifying.stop };
    let (listing, changed, before) = if git.is_checkout() {
        let listing = tree::of_checkout(&git).map_err(VerificationError::Git)?;
        let (changed, before) = compared(&git, verifying.base, &listing)?;
        (listing, changed, before)
    } else if let Some(revision) = verifying.base {
        let folder = verifying.folder.display().to_string();
        return Err(VerificationError::NoRepository { folder, revision: revision.to_owned() });
    } else {
        let reason = "this is no git checkout, so nobody knows what is changed".to_owned();
        (tree::of_folder(verifying.folder), Vec::new(), Err(reason))
    };
    let task = Task { goal: verifying.goal.to_owned(), profile: verifying.profile, files: verifying.files.clone(), changed };
    Ok(decide(task, listing, verifying.overrides, before))
}

type Before = Result<(String, String), String>;

fn compared(git: &Git<'_>, base: Option<&str>, listing: &Listing) -> Result<(Vec<String>, Before), VerificationError> {
    let revision = base.unwrap_or(HEAD);
    let Some(commit) = git.commit(revision) else {
        return match base {
            Some(revision) => Err(VerificationError::NoRevision { revision: revision.to_owned() }),
            None => Ok((listing.files.iter().cloned().collect(), Err("the repository has no commit yet: every file is new".to_owned()))),
        };
    };
    let short: String = commit.chars().take(SHORT_COMMIT).collect();
    let name = if commit.starts_with(revision) { short } else { format!("{revision} ({short})") };
    let changed = git.changed(&commit).map_err(VerificationError::Git)?;
    let before = if changed.is_empty() {
        Err(format!("nothing is changed since {}: there is nothing that failures could be put down to", visible(&name)))
    } else {
        Ok((commit, name))
    };
    Ok((changed, before))
}

fn decide(task: Task, listing: Listing, overrides: &Overrides, before: Before) -> Prepared {
    let detected = verify::detect(&listing);
    let selection = verify::select(&detected, &listing, &task, overrides);
    Prepared { detected, task, selection, before, listing }
}

impl Prepared {
    /// Returns what would be done.
    pub fn record(&self) -> Verification {
        let mut record = verify::planned(&self.detected, &self.task, &self.selection);
        if let Err(reason) = &self.before {
            record.reasons.push(format!("no baseline: {reason}"));
        }
        record
    }

    /// Runs the checks, on the tree as it was and on the tree as it is. None where that was stopped.
    pub fn verify(&self, verifying: &Verifying<'_>) -> Option<(Verification, TerminalStatus)> {
        let path = verifying.environment.variables.get("PATH").map(String::as_str);
        let mut shell = shell(verifying.environment);
        // Without it, checks say what they miss.
        let (_aids, path) = match aids::lend(&mut shell, path, verifying.scratch) {
            Ok((folder, path)) => (Some(folder), path),
            Err(_) => (None, path.map(str::to_owned)),
        };
        let git = Git { folder: verifying.folder, stop: verifying.stop };
        let make = || match &self.before {
            Ok((commit, name)) => {
                (verifying.step)("making the tree as it was");
                Some(Baseline::of_commit(&git, commit, verifying.scratch).map(|baseline| (baseline, name.clone())))
            }
            // Said in the plan.
            Err(_) => None,
        };
        let on = Grounds {
            root: verifying.folder,
            checkout: Some(verifying.folder),
            shell: &shell,
            path: path.as_deref(),
            stop: verifying.stop,
            step: verifying.step,
            tickets: verifying.tickets,
        };
        self.carry_out(&on, make)
    }

    fn carry_out(
        &self,
        on: &Grounds<'_>,
        make: impl FnOnce() -> Option<Result<(Baseline, String), String>>,
    ) -> Option<(Verification, TerminalStatus)> {
        let mut record = self.record();
        // Where nothing is run there is nothing to compare.
        let tree = if self.selection.checks.is_empty() { None } else { make() };
        let mut base: Option<(String, Vec<CheckResult>)> = None;
        match tree {
            Some(Ok((mut baseline, name))) => {
                baseline.borrow(on.root, &self.listing);
                record.reasons.extend(baseline.notes.iter().map(|note| format!("baseline: {note}")));
                // Cargo takes two trees of one package for the same where they share a folder of builds, and would run the older tests.
                let mut shell = on.shell.clone();
                for name in ["CARGO_TARGET_DIR", "CARGO_BUILD_BUILD_DIR"] {
                    shell.set(name, baseline.beside("cargo-target"));
                }
                let before = Grounds { shell: &shell, ..*on };
                base = Some((name, before.run(&self.selection.checks, baseline.folder(), "before the change")?));
            }
            Some(Err(_)) if on.stop.is_stopped() => return None,
            Some(Err(reason)) => record.reasons.push(format!("no baseline: {reason}")),
            None => {}
        }
        let head = on.run(&self.selection.checks, on.root, "now")?;
        let before = base.as_ref().map(|(name, results)| (name.as_str(), results.as_slice()));
        let classification = verify::classify(&self.task, &head, before.map(|(_, results)| results));
        let verdict = verify::conclude(&self.task, &self.selection, &head, &classification);
        let mut record = verify::concluded(record, &head, before, &classification, &verdict);
        if verdict.status == TerminalStatus::DonePartial
            && let Some(tickets) = on.tickets
        {
            match file_ticket(&tickets.folder, &record) {
                Ok(filed) => record.ticket = Some(tickets.name_of(&filed.path)),
                Err(error) => record.reasons.push(format!("no ticket: {error}")),
            }
        }
        Some((record, verdict.status))
    }
}

/// Where the checks run, and with what.
struct Grounds<'a> {
    root: &'a Path,
    checkout: Option<&'a Path>,
    shell: &'a Shell,
    path: Option<&'a str>,
    stop: &'a Stop,
    step: &'a dyn Fn(&str),
    tickets: Option<&'a Tickets>,
}

impl Grounds<'_> {
    fn run(&self, checks: &[Check], root: &Path, when: &str) -> Option<Vec<CheckResult>> {
        let tell = |check: &Check| (self.step)(&format!("{}, {when}", visible(&check.command)));
        let (checkout, shell, path, stop) = (self.checkout, self.shell, self.path, self.stop);
        checks::run(checks, &Place { root, checkout, shell, path, stop, step: &tell })
    }
}

/// The surroundings of checks: no secrets, no colours, nobody who could be asked, and no repository but the one they are in.
fn shell(environment: &Environment) -> Shell {
    let mut shell = Shell::without_secrets(environment, &[]);
    settle(&mut shell);
    shell
}

fn settle(shell: &mut Shell) {
    for name in git::PLACES {
        shell.variables.insert(name.into(), None);
    }
    for (name, value) in [("CI", "true"), ("NO_COLOR", "1"), ("TERM", "dumb")] {
        shell.set(name, value);
    }
    // It would overrule the wish for no colours.
    shell.variables.insert("FORCE_COLOR".into(), None);
}

fn file_ticket(folder: &Path, record: &Verification) -> std::io::Result<ticket::Filed> {
    let command = |id: &str| record.checks.iter().find(|check| check.id == id).map_or(id.to_owned(), |check| check.command.clone());
    // A blocking one has nothing to do with a partial success.
    let is_left = |failure: &&VerifiedFailure| failure.scope.as_deref() != Some(Scope::Blocking.name());
    let left: Vec<(String, &VerifiedFailure)> =
        record.failures.iter().filter(is_left).map(|failure| (command(&failure.check), failure)).collect();
    let issues: Vec<ticket::Issue<'_>> = left
        .iter()
        .map(|(command, failure)| ticket::Issue { command, text: &failure.text, reason: failure.reason.as_deref().unwrap_or_default() })
        .collect();
    ticket::file(folder, record.goal.as_deref().unwrap_or_default(), &issues)
}

/// Where a project's tickets go.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tickets {
    folder: PathBuf,
    /// The project's folder, from which records name a ticket: they are published, and the machine is not.
    root: PathBuf,
}

impl Tickets {
    /// The folder that the overrides name, if they do; it starts from that of the file which names it.
    pub fn of(overrides: &Overrides, folder: &Path, root: &Path) -> Option<Self> {
        let named = overrides.tickets.as_ref()?;
        Some(Self { folder: folder.join(named), root: root.to_owned() })
    }

    /// The path below the project, or the name alone of what lies elsewhere.
    fn name_of(&self, ticket: &Path) -> String {
        let below = ticket.strip_prefix(&self.root).ok().or_else(|| ticket.file_name().map(Path::new));
        below.unwrap_or(ticket).display().to_string()
    }
}
