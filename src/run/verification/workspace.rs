//! Verifies the work of an approach, for suites that ask for it.
//!
//! Git is not used in the workspace: the approach may have changed which programs git runs. Changes are found by comparing files.

use std::path::PathBuf;

use serde_json::Value;

use crate::run::examine::{Examination, InPhase};
use crate::verify::Task;

use super::baseline::Baseline;
use super::{Grounds, NoBaseline, VerificationSettings, decide, settle, tree};

/// Verifies a finished workspace against the tree it started with. Returns `None` if stopped.
///
/// `shell` is the environment of the suite's tests, with everything installed for them.
pub fn verify_workspace(
    settings: &VerificationSettings,
    examination: &Examination<'_>,
    shell: &InPhase,
) -> Option<Value> {
    let Examination {
        work,
        workspace,
        context,
        step,
        ..
    } = *examination;
    let begin = work
        .start
        .as_deref()
        .map(|start| Baseline::of_start(start, &context.scratch));
    let listing = tree::of_folder(workspace.folder());
    let (changed, before) = match &begin {
        Some(Ok(baseline)) => {
            let changed = tree::changed(baseline.folder(), workspace.folder());
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
    let task = Task {
        goal: settings.goal.clone(),
        profile: settings.profile,
        files: settings.files.clone(),
        changed,
    };
    let prepared = decide(task, listing, &settings.overrides, before);
    // Checks also write to the starting tree.
    let writes: Vec<PathBuf> = begin
        .iter()
        .flatten()
        .map(|baseline| baseline.beside(""))
        .collect();
    let mut shell = examination.reaching(shell, &writes).ok()?;
    settle(&mut shell);
    let say = |what: &str| step(&format!("verification: {what}"));
    let grounds = Grounds {
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
    let (record, _) = prepared.carry_out(&grounds, make)?;
    Some(
        serde_json::to_value(record)
            .expect("a record is JSON: its numbers are finite and its keys are text"),
    )
}
