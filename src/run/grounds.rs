//! What one run stands on: its suite as it was, and the files that are not its own.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use crate::domain::RunId;
use crate::results::{PlannedArm, PlannedContent, Store, scan};
use crate::suite;

use super::suite_copy::SuiteCopy;
use super::tampering::Census;
use super::{CodeWork, Context};

/// The copies that the runs of a plan share.
#[derive(Default)]
pub struct Suites(Mutex<HashMap<PathBuf, Arc<SuiteCopy>>>);

impl Suites {
    /// Returns a copy that is as the suite was when the runs were planned. The error says why there is none.
    pub fn copy(&self, work: &CodeWork, planned: &PlannedArm, context: &Context<'_>) -> Result<Arc<SuiteCopy>, String> {
        let mut copies = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(copy) = copies.get(&work.suite.folder)
            && copy.changes().is_empty()
        {
            return Ok(Arc::clone(copy));
        }
        let now = suite::suite_contents(&context.root, &work.suite).map_err(|_| "the suite can no longer be read".to_owned())?;
        let now = PlannedContent { version: now.version, bytes: now.bytes, parts: now.parts };
        if planned.suite_version.is_some() && !now.is_of(planned) {
            return Err("the suite is not as it was when the runs were planned".to_owned());
        }
        let left_out = [context.store.root().to_owned()].map(|path| path.canonicalize().unwrap_or(path));
        let copy = SuiteCopy::create(work, &context.root, &context.scratch, &left_out)
            .map_err(|error| format!("no copy of the suite: {error}"))?;
        let copy = Arc::new(copy);
        copies.insert(work.suite.folder.clone(), Arc::clone(&copy));
        Ok(copy)
    }
}

/// What a run may not change, as it was before the run. Nothing is looked at where the system keeps programs from it.
pub struct Watched<'a> {
    root: &'a Path,
    copy: Option<&'a SuiteCopy>,
    files: Census,
    store: Census,
    own: Census,
}

impl<'a> Watched<'a> {
    pub fn begin(run: &RunId, work: &CodeWork, copy: &'a SuiteCopy, context: &'a Context<'_>) -> Self {
        // What a sandbox of the user's keeps programs from is not known.
        let is_wrapped = [work.wrap_of_agent(&context.root), work.wrap_of_tests(&context.root)].iter().any(|wrap| !wrap.is_empty());
        if context.isolation.is_enforced() && !is_wrapped {
            let nothing = Census::default;
            return Self { root: &context.root, copy: None, files: nothing(), store: nothing(), own: nothing() };
        }
        let parts = suite::parts(&context.root, &work.suite).into_iter().chain([work.suite.folder.clone()]);
        Self {
            root: &context.root,
            copy: Some(copy),
            // A tombstone that somebody else writes meanwhile is taken for the run's: a result that is taken back is worse than a run again.
            files: Census::of(parts.chain(context.watched.iter().cloned()).chain([context.store.retractions_path()])),
            store: Census::growing(committed(context.store)),
            own: Census::of([context.store.run_dir(run)]),
        }
    }

    /// Says what was changed while the approach worked, when nothing of ours had been written for this run.
    pub fn changes_by_approach(&self) -> Vec<String> {
        let mut changes = self.own.changes(self.root);
        changes.extend(self.changes());
        changes
    }

    /// Says what was changed until now.
    pub fn changes(&self) -> Vec<String> {
        let mut changes = self.copy.map(SuiteCopy::changes).unwrap_or_default();
        changes.extend(self.files.changes(self.root));
        changes.extend(self.store.changes(self.root));
        changes.sort();
        changes.dedup();
        changes
    }
}

/// The files of a store that are never rewritten.
fn committed(store: &Store) -> Vec<PathBuf> {
    let contents = scan(store);
    let mut files = Vec::new();
    for header in contents.headers {
        files.push(header.path.with_extension("").join("transcript.jsonl"));
        files.push(header.path);
        files.extend(header.items.into_iter().chain(header.scores));
    }
    // What judges said of imported runs, and no run that goes on beside this one.
    let judged = contents.headless.into_iter().filter(|one| !one.has_transcript);
    files.extend(judged.flat_map(|one| one.items.into_iter().chain(one.scores)));
    files.extend(contents.sealed.into_iter().flat_map(|pair| pair.items.into_iter().chain([pair.runs])));
    files.extend(contents.batches);
    files
}
