//! Executes verification: lists a tree, runs its checks before and after the change, and attributes failures to the change or not.
//! [`crate::verify`] decides on the checks and the blame; this module handles files, git and programs.
//!
//! Checks run in the tree itself, as its author would run them. The tree before the change gets a folder of its own.

mod aids;
mod baseline;
mod checks;
mod git;
mod settings;
mod ticket;
mod tree;
mod workspace;

use std::path::{Path, PathBuf};

use crate::agent::AgentEnvironment;
use crate::domain::{Profile, Verification, VerifiedFailure, escape_invisible};
use crate::process::StopSignal;
use crate::verify::{
    self, CheckResult, CheckSelection, DetectedProject, FailureScope, Listing, Overrides,
    PlannedCheck, TerminalStatus, VerificationTask,
};

use super::shell::CommandShell;
use baseline::BaselineTree;
use checks::CheckSite;
use git::GitFolder;

pub use settings::VerificationSettings;
pub use workspace::verify_workspace;

/// The default revision to compare with.
const DEFAULT_REVISION: &str = "HEAD";
const SHORT_COMMIT: usize = 10;

/// A folder to verify, and the goal.
pub struct VerificationInput<'a> {
    /// Absolute, without links.
    pub folder: &'a Path,
    pub goal: &'a str,
    pub profile: Profile,
    /// The goal's files, relative to the folder.
    pub files: Vec<String>,
    /// The revision to compare with. `None` means the last commit.
    pub base: Option<&'a str>,
    pub overrides: &'a Overrides,
    /// The folder for tickets.
    pub tickets: Option<&'a Tickets>,
    pub environment: &'a AgentEnvironment,
    /// Parent of the tree before the change; outside the folder.
    pub scratch: &'a Path,
    pub stop: &'a StopSignal,
    /// Called with the name of each step.
    pub step: &'a dyn Fn(&str),
}

/// The plan of a verification, made before anything runs.
pub struct PreparedVerification {
    detected: DetectedProject,
    task: VerificationTask,
    selection: CheckSelection,
    /// The commit to compare with and its display name, or why there is none.
    before: BaselineCommit,
    listing: Listing,
}

/// Why a verification is impossible.
#[derive(Debug, thiserror::Error)]
pub enum VerificationError {
    #[error("{} is not in a git repository, so there is no revision `{}`", escape_invisible(.folder), escape_invisible(.revision))]
    NoRepository { folder: String, revision: String },
    #[error("there is no revision `{}`", escape_invisible(.revision))]
    NoRevision { revision: String },
    #[error("git: {0}")]
    Git(String),
}

/// Inspects a checkout and decides what to run.
pub fn prepare_verification(
    verifying: &VerificationInput<'_>,
) -> Result<PreparedVerification, VerificationError> {
    let git = GitFolder {
        folder: verifying.folder,
        stop: verifying.stop,
    };
    let (listing, changed, before) = if git.is_checkout() {
        let listing = tree::list_checkout(&git).map_err(VerificationError::Git)?;
        let (changed, before) = compare_revision(&git, verifying.base, &listing)?;
        (listing, changed, before)
    } else if let Some(revision) = verifying.base {
        let folder = verifying.folder.display().to_string();
        return Err(VerificationError::NoRepository {
            folder,
            revision: revision.to_owned(),
        });
    } else {
        (
            tree::list_folder(verifying.folder),
            Vec::new(),
            Err(NoBaseline::Unknown(
                "not a git checkout, so changes are unknown".to_owned(),
            )),
        )
    };
    let task = VerificationTask {
        goal: verifying.goal.to_owned(),
        profile: verifying.profile,
        files: verifying.files.clone(),
        changed,
    };
    Ok(select_checks(task, listing, verifying.overrides, before))
}

type BaselineCommit = Result<(String, String), NoBaseline>;

/// Why no other tree is compared.
#[derive(Clone, Debug, PartialEq, Eq)]
enum NoBaseline {
    /// Nothing is changed, so every failure is as it was.
    Unchanged(String),
    Unknown(String),
}

impl NoBaseline {
    fn reason(&self) -> &str {
        match self {
            Self::Unchanged(reason) | Self::Unknown(reason) => reason,
        }
    }
}

fn compare_revision(
    git: &GitFolder<'_>,
    base: Option<&str>,
    listing: &Listing,
) -> Result<(Vec<String>, BaselineCommit), VerificationError> {
    let revision = base.unwrap_or(DEFAULT_REVISION);
    let Some(commit) = git.resolve_commit(revision) else {
        return match base {
            Some(revision) => Err(VerificationError::NoRevision {
                revision: revision.to_owned(),
            }),
            None => Ok((
                listing.files.iter().cloned().collect(),
                Err(NoBaseline::Unknown(
                    "the repository has no commit yet: every file is new".to_owned(),
                )),
            )),
        };
    };
    let short: String = commit.chars().take(SHORT_COMMIT).collect();
    let name = if commit.starts_with(revision) {
        short
    } else {
        format!("{revision} ({short})")
    };
    let changed = git.list_changed(&commit).map_err(VerificationError::Git)?;
    let before = if changed.is_empty() {
        Err(NoBaseline::Unchanged(format!(
            "nothing is changed since {}, so every failure is as it was",
            escape_invisible(&name)
        )))
    } else {
        Ok((commit, name))
    };
    Ok((changed, before))
}

fn select_checks(
    task: VerificationTask,
    listing: Listing,
    overrides: &Overrides,
    before: BaselineCommit,
) -> PreparedVerification {
    let detected = verify::detect_stacks(&listing);
    let selection = verify::select_checks(&detected, &listing, &task, overrides);
    PreparedVerification {
        detected,
        task,
        selection,
        before,
        listing,
    }
}

impl PreparedVerification {
    /// Returns the planned verification.
    pub fn planned_record(&self) -> Verification {
        let mut record = verify::planned_record(&self.detected, &self.task, &self.selection);
        if let Err(why) = &self.before {
            record
                .reasons
                .push(format!("no baseline: {}", why.reason()));
        }
        record
    }

    /// Runs the checks on the trees before and after the change. Returns `None` if stopped.
    pub fn run_checks(
        &self,
        verifying: &VerificationInput<'_>,
    ) -> Option<(Verification, TerminalStatus)> {
        let path = verifying
            .environment
            .variables
            .get("PATH")
            .map(String::as_str);
        let mut shell = check_shell(verifying.environment);
        // If this fails, the checks report what is missing.
        let (_aids, path) = match aids::lend_aids(&mut shell, path, verifying.scratch) {
            Ok((folder, path)) => (Some(folder), path),
            Err(_) => (None, path.map(str::to_owned)),
        };
        let git = GitFolder {
            folder: verifying.folder,
            stop: verifying.stop,
        };
        let make = || match &self.before {
            Ok((commit, name)) => {
                (verifying.step)("making the tree as it was");
                Some(
                    BaselineTree::from_commit(&git, commit, verifying.scratch)
                        .map(|baseline| (baseline, name.clone())),
                )
            }
            // The plan already says why.
            Err(_) => None,
        };
        let on = CheckEnvironment {
            root: verifying.folder,
            checkout: Some(verifying.folder),
            shell: &shell,
            path: path.as_deref(),
            stop: verifying.stop,
            step: verifying.step,
            tickets: verifying.tickets,
        };
        self.run_on_trees(&on, make)
    }

    fn run_on_trees(
        &self,
        on: &CheckEnvironment<'_>,
        make: impl FnOnce() -> Option<Result<(BaselineTree, String), String>>,
    ) -> Option<(Verification, TerminalStatus)> {
        let mut record = self.planned_record();
        // Without checks there is nothing to compare.
        let tree = if self.selection.checks.is_empty() {
            None
        } else {
            make()
        };
        let mut base: Option<(String, Vec<CheckResult>)> = None;
        match tree {
            Some(Ok((mut baseline, name))) => {
                baseline.link_dependencies(on.root, &self.listing);
                record.reasons.extend(
                    baseline
                        .notes
                        .iter()
                        .map(|note| format!("baseline: {note}")),
                );
                // With a shared build folder, Cargo cannot tell two trees of one package apart and would run outdated tests.
                let mut shell = on.shell.clone();
                for name in ["CARGO_TARGET_DIR", "CARGO_BUILD_BUILD_DIR"] {
                    shell.set_variable(name, baseline.path_beside("cargo-target"));
                }
                let before = CheckEnvironment {
                    shell: &shell,
                    ..*on
                };
                base = Some((
                    name,
                    before.run_checks(
                        &self.selection.checks,
                        baseline.folder(),
                        "before the change",
                    )?,
                ));
            }
            Some(Err(_)) if on.stop.is_stopped() => return None,
            Some(Err(reason)) => record.reasons.push(format!("no baseline: {reason}")),
            None => {}
        }
        let head = on.run_checks(&self.selection.checks, on.root, "now")?;
        let before = base
            .as_ref()
            .map(|(name, results)| (name.as_str(), results.as_slice()));
        // An unchanged tree is its own baseline.
        let is_unchanged = matches!(self.before, Err(NoBaseline::Unchanged(_)));
        let compared = before
            .map(|(_, results)| results)
            .or(is_unchanged.then_some(head.as_slice()));
        let classification = verify::classify_failures(&self.task, &head, compared);
        let verdict = verify::conclude_verdict(&self.task, &self.selection, &head, &classification);
        let mut record = verify::concluded_record(record, &head, before, &classification, &verdict);
        if verdict.status == TerminalStatus::DonePartial
            && let Some(tickets) = on.tickets
        {
            match file_ticket(&tickets.folder, &record) {
                Ok(filed) => record.ticket = Some(tickets.ticket_name(&filed.path)),
                Err(error) => record.reasons.push(format!("no ticket: {error}")),
            }
        }
        Some((record, verdict.status))
    }
}

/// The tree for the checks and its environment.
struct CheckEnvironment<'a> {
    root: &'a Path,
    checkout: Option<&'a Path>,
    shell: &'a CommandShell,
    path: Option<&'a str>,
    stop: &'a StopSignal,
    step: &'a dyn Fn(&str),
    tickets: Option<&'a Tickets>,
}

impl CheckEnvironment<'_> {
    fn run_checks(
        &self,
        checks: &[PlannedCheck],
        root: &Path,
        when: &str,
    ) -> Option<Vec<CheckResult>> {
        let tell = |check: &PlannedCheck| {
            (self.step)(&format!("{}, {when}", escape_invisible(&check.command)));
        };
        let (checkout, shell, path, stop) = (self.checkout, self.shell, self.path, self.stop);
        checks::run_checks(
            checks,
            &CheckSite {
                root,
                checkout,
                shell,
                path,
                stop,
                step: &tell,
            },
        )
    }
}

/// Returns the environment of checks: no secrets, no colours, no prompts, and no git variables.
fn check_shell(environment: &AgentEnvironment) -> CommandShell {
    let mut shell = CommandShell::without_secrets(environment, &[]);
    set_check_variables(&mut shell);
    shell
}

fn set_check_variables(shell: &mut CommandShell) {
    for name in super::git::REPOSITORY_VARIABLES {
        shell.variables.insert(name.into(), None);
    }
    for (name, value) in [("CI", "true"), ("NO_COLOR", "1"), ("TERM", "dumb")] {
        shell.set_variable(name, value);
    }
    // It would override the setting for no colours.
    shell.variables.insert("FORCE_COLOR".into(), None);
}

fn file_ticket(folder: &Path, record: &Verification) -> std::io::Result<ticket::FiledTicket> {
    let command = |id: &str| {
        record
            .checks
            .iter()
            .find(|check| check.id == id)
            .map_or(id.to_owned(), |check| check.command.clone())
    };
    // A partial success leaves no blocking failures, so they are excluded.
    let is_left = |failure: &&VerifiedFailure| {
        failure.scope.as_deref() != Some(FailureScope::Blocking.name())
    };
    let left: Vec<(String, &VerifiedFailure)> = record
        .failures
        .iter()
        .filter(is_left)
        .map(|failure| (command(&failure.check), failure))
        .collect();
    let issues: Vec<ticket::TicketIssue<'_>> = left
        .iter()
        .map(|(command, failure)| ticket::TicketIssue {
            command,
            text: &failure.text,
            reason: failure.reason.as_deref().unwrap_or_default(),
        })
        .collect();
    ticket::write_ticket(folder, record.goal.as_deref().unwrap_or_default(), &issues)
}

/// The folder for a project's tickets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tickets {
    folder: PathBuf,
    /// The project's folder. Published records name tickets relative to it, without the machine's paths.
    root: PathBuf,
}

impl Tickets {
    /// Returns the folder that the overrides name, if any, relative to `folder` of the naming file.
    pub fn from_overrides(overrides: &Overrides, folder: &Path, root: &Path) -> Option<Self> {
        let named = overrides.tickets.as_ref()?;
        Some(Self {
            folder: folder.join(named),
            root: root.to_owned(),
        })
    }

    /// Returns the ticket's path below the project, or only its name if it is elsewhere.
    fn ticket_name(&self, ticket: &Path) -> String {
        let below = ticket
            .strip_prefix(&self.root)
            .ok()
            .or_else(|| ticket.file_name().map(Path::new));
        below.unwrap_or(ticket).display().to_string()
    }
}
