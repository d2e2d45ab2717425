//! Verifies the work of an approach, for suites that ask for it.
//!
//! Git is not used in the workspace: the approach may have changed which programs git runs. Changes are found by comparing files.

use std::path::PathBuf;

use serde_json::Value;

use crate::run::examine::{PhaseShell, WorkspaceExamination};
use crate::verify::VerificationTask;

use super::baseline::BaselineTree;
use super::{
    CheckEnvironment, NoBaseline, VerificationSettings, select_checks, set_check_variables, tree,
};

/// Verifies a finished workspace against the tree it started with. Returns `None` if stopped.
///
/// `shell` is the environment of the suite's tests, with everything installed for them.
pub fn verify_workspace(
    settings: &VerificationSettings,
    examination: &WorkspaceExamination<'_>,
    shell: &PhaseShell,
) -> Option<Value> {
    let WorkspaceExamination {
        work,
        workspace,
        context,
        step,
        ..
    } = *examination;
    let begin = work
        .start
        .as_deref()
        .map(|start| BaselineTree::from_start(start, &context.scratch));
    let listing = tree::list_folder(workspace.folder());
    let (changed, before) = match &begin {
        Some(Ok(baseline)) => {
            let changed = tree::changed_files(baseline.folder(), workspace.folder());
            let before = if changed.is_empty() {
                Err(NoBaseline::Unchanged(
                    "nothing is changed, so every failure is as it was".to_owned(),
                ))
            } else {
                Ok((String::new(), String::new()))
            };
            (changed, before)
        }
        Some(Err(reason)) => (
            listing.files.iter().cloned().collect(),
            Err(NoBaseline::Unknown(reason.clone())),
        ),
        None => (
            listing.files.iter().cloned().collect(),
            Err(NoBaseline::Unknown("the workspace began empty".to_owned())),
        ),
    };
    let is_compared = before.is_ok();
    let task = VerificationTask {
        goal: settings.goal.clone(),
        profile: settings.profile,
        files: settings.files.clone(),
        changed,
    };
    let prepared = select_checks(task, listing, &settings.overrides, before);
    // Checks also write to the starting tree.
    let writes: Vec<PathBuf> = begin
        .iter()
        .flatten()
        .map(|baseline| baseline.path_beside(""))
        .collect();
    let mut shell = examination.shell_with_writes(shell, &writes).ok()?;
    set_check_variables(&mut shell);
    let say = |what: &str| step(&format!("verification: {what}"));
    let grounds = CheckEnvironment {
        root: workspace.folder(),
        checkout: None,
        shell: &shell,
        path: None,
        stop: context.stop,
        step: &say,
        tickets: settings.tickets.as_ref(),
    };
    let make = || {
        let baseline = begin.and_then(Result::ok).filter(|_| is_compared)?;
        Some(Ok((baseline, "the suite's workspace".to_owned())))
    };
    let (record, _) = prepared.run_on_trees(&grounds, make)?;
    Some(
        serde_json::to_value(record)
            .expect("a record is JSON: its numbers are finite and its keys are text"),
    )
}
