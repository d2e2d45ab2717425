//! Runs that a later attempt at the same replaces, in a store that has both.

use std::collections::{BTreeMap, BTreeSet};

use crate::domain::{Run, RunId, RunStatus};

use super::super::held::SUPERSEDED_TAG;
use super::registry;

/// Returns the runs of a store that one of the `new` runs replaces, or that are new and replaced by one that was there: each with the run
/// that stands.
///
/// Attempts at a task come one a night as well as together, and what is in the store keeps its record.
pub fn superseded<'r>(stored: impl Iterator<Item = &'r Run>, new: &BTreeSet<RunId>) -> Vec<(&'r Run, &'r Run)> {
    let mut by_task: BTreeMap<[&str; 5], Vec<&Run>> = BTreeMap::new();
    for run in stored {
        let Some(importer) = run.provenance.as_ref().map(|provenance| provenance.importer.as_str()) else { continue };
        let tag = registry::named(importer).and_then(|format| format.retry_tag);
        if let Some(task) = tag.and_then(|tag| run.tags.get(tag)).filter(|_| !run.tags.contains_key(SUPERSEDED_TAG)) {
            by_task.entry([importer, task, &run.suite, &run.approach, &run.model]).or_default().push(run);
        }
    }
    let mut pairs = Vec::new();
    for runs in by_task.into_values().filter(|runs| runs.iter().any(|run| new.contains(&run.id))) {
        let best = runs.iter().copied().max_by_key(|run| (run.status == RunStatus::Completed, run.timestamp, &run.id));
        pairs.extend(best.into_iter().flat_map(|best| runs.iter().filter(move |run| run.id != best.id).map(move |run| (*run, best))));
    }
    pairs
}
