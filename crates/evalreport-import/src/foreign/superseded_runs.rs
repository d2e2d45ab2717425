//! Runs of a store that a later run of the same task replaces.

use std::collections::{BTreeMap, BTreeSet};

use crate::domain::{Run, RunId, RunStatus};

use super::super::run_content::SUPERSEDED_TAG;
use super::registry;

/// Returns pairs of a replaced run and the run that replaces it. In each pair, at least one run of the task is `new`.
///
/// Runs of a task may come on different nights or together. The store keeps the records of replaced runs.
pub fn superseded_runs<'r>(
    stored: impl Iterator<Item = &'r Run>,
    new: &BTreeSet<RunId>,
) -> Vec<(&'r Run, &'r Run)> {
    let mut by_task: BTreeMap<[&str; 5], Vec<&Run>> = BTreeMap::new();
    for run in stored {
        let Some(importer) = run
            .provenance
            .as_ref()
            .map(|provenance| provenance.importer.as_str())
        else {
            continue;
        };
        let tag = registry::find_importer(importer).and_then(|format| format.retry_tag);
        if let Some(task) = tag
            .and_then(|tag| run.tags.get(tag))
            .filter(|_| !run.tags.contains_key(SUPERSEDED_TAG))
        {
            by_task
                .entry([importer, task, &run.suite, &run.approach, &run.model])
                .or_default()
                .push(run);
        }
    }
    let mut pairs = Vec::new();
    for runs in by_task
        .into_values()
        .filter(|runs| runs.iter().any(|run| new.contains(&run.id)))
    {
        let best = runs
            .iter()
            .copied()
            .max_by_key(|run| (run.status == RunStatus::Completed, run.timestamp, &run.id));
        pairs.extend(best.into_iter().flat_map(|best| {
            runs.iter()
                .filter(move |run| run.id != best.id)
                .map(move |run| (*run, best))
        }));
    }
    pairs
}
