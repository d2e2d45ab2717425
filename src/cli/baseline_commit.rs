//! `--baseline main`: the runs of a commit that git knows by this name.

use std::collections::BTreeSet;

use crate::domain::{Run, RunId, escape_invisible};
use crate::run::{NoCommit, commit_named, first_parents};
use crate::warehouse::Warehouse;

use super::failure::CommandFailure;
use super::output;
use super::settings::Settings;

/// Number of commits among which the nearest one with runs is looked for.
const MAX_COMMITS: usize = 10_000;
/// Characters of a commit's id in a sentence.
const SHOWN_DIGITS: usize = 7;

/// The runs of a commit.
pub(super) struct CommitRuns {
    pub ids: BTreeSet<RunId>,
    /// Says which commit and which runs.
    pub said: String,
}

/// Finds the runs of the commit that a name means, or those of the nearest commit before it that has runs. Returns why there are none
/// otherwise.
pub(super) fn find_commit_runs(
    settings: &Settings,
    warehouse: &Warehouse,
    name: &str,
) -> Result<Result<CommitRuns, String>, CommandFailure> {
    let root = settings.project_root()?;
    let commit = match commit_named(&root, name) {
        Ok(commit) => commit,
        Err(NoCommit::NoRepository) => return Ok(Err("git has no repository here".to_owned())),
        Err(NoCommit::Unknown) if name.contains("..") => {
            return Ok(Err(
                "a range is no commit: name the commit before".to_owned()
            ));
        }
        Err(NoCommit::Unknown) => return Ok(Err("git knows no commit of that name".to_owned())),
    };
    let of = |commit: &str| -> Vec<&Run> {
        let is_of = |run: &&Run| {
            run.git.as_ref().is_some_and(|git| {
                git.rev.len() >= SHOWN_DIGITS && commit.starts_with(git.rev.as_str())
            })
        };
        warehouse
            .runs()
            .iter()
            .map(|row| &*row.run)
            .filter(is_of)
            .collect()
    };
    let name = escape_invisible(name);
    let shown = &commit[..SHOWN_DIGITS];
    let own = of(&commit);
    if !own.is_empty() {
        return Ok(Ok(prefer_committed(&own, |runs| {
            format!("{name} = {shown}, {runs}")
        })));
    }
    // Only runs that name a commit can be of one.
    let before = first_parents(&root, &commit, MAX_COMMITS);
    let nearest = before
        .iter()
        .enumerate()
        .map(|(steps, commit)| (steps, commit, of(commit)))
        .find(|(_, _, runs)| !runs.is_empty());
    Ok(match nearest {
        Some((steps, other, runs)) => Ok(prefer_committed(&runs, |runs| {
            let earlier = output::format_count(steps, "commit");
            format!(
                "{name} = {shown} has no runs; taken: its ancestor {}, {earlier} earlier, {runs}",
                &other[..SHOWN_DIGITS]
            )
        })),
        None => Err(format!(
            "git knows it as {shown}, but neither that commit nor one before it has runs"
        )),
    })
}

/// Takes the runs, without those of uncommitted changes if there are others.
fn prefer_committed(runs: &[&Run], say: impl FnOnce(&str) -> String) -> CommitRuns {
    let is_clean = |run: &&&Run| run.git.as_ref().is_some_and(|git| !git.dirty);
    let clean: Vec<&Run> = runs.iter().filter(is_clean).copied().collect();
    let (runs, more) = if clean.is_empty() {
        (runs, ", with uncommitted changes")
    } else {
        (clean.as_slice(), "")
    };
    let days: BTreeSet<String> = runs
        .iter()
        .filter_map(|run| run.timestamp)
        .map(|time| time.format("%Y-%m-%d").to_string())
        .collect();
    let days = match (days.first(), days.last()) {
        (Some(first), Some(last)) if first == last => format!(" of {first}"),
        (Some(first), Some(last)) => format!(" of {first} to {last}"),
        _ => String::new(),
    };
    let counted = format!("{}{days}{more}", output::format_count(runs.len(), "run"));
    CommitRuns {
        ids: runs.iter().map(|run| run.id.clone()).collect(),
        said: format!("Baseline: {}.", say(&counted)),
    }
}

/// Says that a name is a path and a commit too, and that the path is taken.
pub(super) fn note_namesake(settings: &Settings, name: &str) -> Result<(), CommandFailure> {
    if !name.contains(['/', std::path::MAIN_SEPARATOR])
        && commit_named(&settings.project_root()?, name).is_ok()
    {
        let name = escape_invisible(name);
        output::print_message(
            settings,
            &format!(
                "note: `{name}` is a path here, and git knows it as a commit too: the path is taken; for the commit write refs/heads/{name} or its id"
            ),
        );
    }
    Ok(())
}
