//! The fixed basis of a run: a copy of its suite, and the files that it may not change.

use std::cell::Cell;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use crate::domain::RunId;
use crate::process::Allowance;
use crate::results::{PlannedArm, PlannedContent, Store, scan_store};
use crate::suite;

use super::modes::{self, FileModes};
use super::suite_copy::SuiteCopy;
use super::tampering::FileSnapshot;
use super::{CodeWork, PlanContext};

/// The suite copies that the runs of a plan share.
#[derive(Default)]
pub struct SuiteSnapshots(Mutex<HashMap<PathBuf, Arc<SuiteCopy>>>);

impl SuiteSnapshots {
    /// Returns a copy of the suite as of the planning of the runs. The error says why there is none.
    pub fn get_or_copy(
        &self,
        work: &CodeWork,
        planned: &PlannedArm,
        context: &PlanContext<'_>,
    ) -> Result<Arc<SuiteCopy>, String> {
        let mut copies = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(copy) = copies.get(&work.suite.folder)
            && copy.list_changes().is_empty()
        {
            return Ok(Arc::clone(copy));
        }
        let now = suite::suite_contents(&context.root, &work.suite)
            .map_err(|_| "the suite can no longer be read".to_owned())?;
        let now = PlannedContent {
            version: now.version,
            earlier: now.earlier,
            bytes: now.bytes,
            parts: now.parts,
        };
        if planned.suite_version.is_some() && !now.matches_arm(planned) {
            return Err("the suite is not as it was when the runs were planned".to_owned());
        }
        let left_out =
            [context.store.root().to_owned()].map(|path| path.canonicalize().unwrap_or(path));
        let copy = SuiteCopy::create(work, &context.root, &context.scratch, &left_out)
            .map_err(|error| format!("no copy of the suite: {error}"))?;
        let copy = Arc::new(copy);
        copies.insert(work.suite.folder.clone(), Arc::clone(&copy));
        Ok(copy)
    }
}

/// The state before the run of the files, and of this process, that it may not change. If the system protects them, only of the modes and owners
/// of files, which none does.
pub struct ProtectedState<'a> {
    root: &'a Path,
    copy: Option<&'a SuiteCopy>,
    files: FileSnapshot,
    store: FileSnapshot,
    own: FileSnapshot,
    /// Empty if the system protects them, too.
    modes: FileModes,
    /// `None` if the system protects it, too.
    allowance: Option<Allowance>,
    is_limited: Cell<bool>,
}

impl<'a> ProtectedState<'a> {
    pub fn new(
        run: &RunId,
        work: &CodeWork,
        copy: &'a SuiteCopy,
        context: &'a PlanContext<'_>,
    ) -> Self {
        let parts = || {
            suite::versioned_paths(&context.root, &work.suite)
                .into_iter()
                .chain([work.suite.folder.clone()])
        };
        let tops = parts()
            .chain(context.watched.iter().cloned())
            .chain([copy.root().to_owned()]);
        let home = context.environment.variable("HOME").map(Path::new);
        let store = Some(context.store.root().to_owned());
        // It is unknown what the user's own sandbox protects.
        let is_wrapped = [
            work.agent_wrap(&context.root),
            work.tests_wrap(&context.root),
        ]
        .iter()
        .any(|wrap| !wrap.is_empty());
        let modes = if context.isolation.protects_modes() && !is_wrapped {
            FileModes::default()
        } else {
            FileModes::new(
                tops,
                store,
                std::iter::once(context.root.clone())
                    .chain(home.into_iter().flat_map(modes::compared_folders)),
            )
        };
        if context.isolation.is_enforced() && !is_wrapped {
            let nothing = FileSnapshot::default;
            let allowance = (!context.isolation.protects_processes()).then(Allowance::now);
            let is_limited = Cell::default();
            return Self {
                root: &context.root,
                copy: None,
                files: nothing(),
                store: nothing(),
                own: nothing(),
                modes,
                allowance,
                is_limited,
            };
        }
        Self {
            root: &context.root,
            copy: Some(copy),
            // Another process may write a tombstone or an acceptance meanwhile. It is blamed on this run, because repeating a run is better than reviving a
            // retracted result.
            files: FileSnapshot::new(parts().chain(context.watched.iter().cloned()).chain([
                context.store.retractions_path(),
                context.store.acceptances_path(),
            ])),
            store: FileSnapshot::new_growing(committed_files(context.store)),
            own: FileSnapshot::new([context.store.run_dir(run)]),
            modes,
            allowance: Some(Allowance::now()),
            is_limited: Cell::default(),
        }
    }

    /// Returns the changes made while the approach worked, including to this run's own store files, which this process had not written yet.
    pub fn changes_by_approach(&self) -> Vec<String> {
        let mut changes = self.list_changes();
        changes.extend(self.own.list_changes(self.root));
        changes
    }

    /// Returns the changes up to now.
    pub fn list_changes(&self) -> Vec<String> {
        // First, because what is in a closed folder cannot be compared.
        let restored = self.modes.restore(self.root);
        let mut changes = self.copy.map(SuiteCopy::list_changes).unwrap_or_default();
        changes.extend(self.files.list_changes(self.root));
        changes.extend(self.store.list_changes(self.root));
        for (name, what) in restored {
            // It may have been said that the file was changed.
            if !changes
                .iter()
                .any(|change| change.strip_prefix(name.as_str()) == Some(" was changed"))
            {
                changes.push(format!("{name} was changed: {what}"));
            }
        }
        if let Some(allowance) = &self.allowance {
            let (changed, is_whole) = allowance.restore();
            changes.extend(changed);
            self.is_limited.set(self.is_limited.get() || !is_whole);
        }
        changes.sort();
        changes.dedup();
        changes
    }

    /// Returns whether this process was limited in a way that it cannot undo, so that it cannot be trusted with further runs.
    pub fn is_limited(&self) -> bool {
        self.is_limited.get()
    }
}

/// Returns the files of a store that are never rewritten.
fn committed_files(store: &Store) -> Vec<PathBuf> {
    let contents = scan_store(store);
    let mut files = Vec::new();
    for header in contents.headers {
        files.push(header.path.with_extension("").join("transcript.jsonl"));
        files.push(header.path);
        files.extend(header.items.into_iter().chain(header.scores));
    }
    // Judgements of imported runs. Runs with a transcript are excluded, as they may be in progress.
    let judged = contents
        .headless
        .into_iter()
        .filter(|one| !one.has_transcript);
    files.extend(judged.flat_map(|one| one.items.into_iter().chain(one.scores)));
    files.extend(
        contents
            .sealed
            .into_iter()
            .flat_map(|pair| pair.items.into_iter().chain([pair.runs])),
    );
    files.extend(contents.batches);
    files
}
