//! Records for files that others read: where they are stored, and the outcomes that count, run by run.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::io;
use std::path::PathBuf;
use std::sync::Arc;

use crate::domain::{Filter, ItemDetails, ItemOutcome, Run, RunId};
use crate::results::{ItemLine, SealedPair, details_of, standing_revision};

use super::ingest::{ItemFile, each_item_line, path_text};
use super::open::{RunRow, Warehouse};
use super::spool::{RunLines, RunOutcomes, Spool};

/// Where runs are stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StoredAt {
    /// One run, in a file of its own.
    Own(PathBuf),
    /// Runs of a sealed pair.
    Sealed(SealedPair, BTreeSet<RunId>),
}

impl Warehouse {
    /// Returns the selected runs under their own names, by id.
    pub fn stored_runs(&self, filter: &Filter) -> Vec<Arc<Run>> {
        let selected: HashSet<&RunId> = self.select(filter).map(|row| &row.run.id).collect();
        let mut found: BTreeMap<&RunId, &Arc<Run>> = BTreeMap::new();
        for run in self.snapshot.headers.iter().flat_map(|header| &header.runs) {
            if selected.contains(&run.id) {
                // Of two of one id the first stands.
                found.entry(&run.id).or_insert(run);
            }
        }
        found.into_values().map(Arc::clone).collect()
    }

    /// Returns where the selected runs are stored: those with a file of their own by id, then sealed pairs by their first id, each with the
    /// ids of its runs that are selected.
    pub fn stored_at(&self, filter: &Filter) -> Vec<StoredAt> {
        let mut selected: BTreeSet<&RunId> = self.select(filter).map(|row| &row.run.id).collect();
        let (mut own, mut sealed) = (BTreeMap::new(), BTreeMap::new());
        for header in &self.snapshot.headers {
            // Of two runs of one id the first stands.
            let ids: BTreeSet<RunId> = header.runs.iter().map(|run| &run.id).filter(|id| selected.remove(id)).cloned().collect();
            let Some(first) = ids.first().cloned() else { continue };
            let path = PathBuf::from(&header.path);
            match header.path.strip_suffix(".runs.jsonl").map(|stem| PathBuf::from(format!("{stem}.items.jsonl.zst"))) {
                Some(items) => {
                    let pair = SealedPair { items: self.files.iter().find(|file| file.path == items).map(|_| items), runs: path };
                    sealed.insert(first, StoredAt::Sealed(pair, ids));
                }
                None => {
                    own.insert(first, StoredAt::Own(path));
                }
            }
        }
        own.into_values().chain(sealed.into_values()).collect()
    }

    /// Calls `each` with every selected run, as it is shown, and its outcomes that count. Runs that share a file come together.
    ///
    /// Lines wait on disk for their run's turn: a file may hold more of them than memory, in any order.
    pub fn each_run<E: From<io::Error>>(
        &self,
        filter: &Filter,
        mut each: impl FnMut(&Run, &mut RunOutcomes<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        let files: HashMap<String, &ItemFile> = self.files.iter().map(|file| (path_text(&file.path), file)).collect();
        let unit_of = |run: &Run| self.unit_of.get(&run.id).copied();
        let rows: Vec<&RunRow> = self.select(filter).collect();
        let mut sharing: HashMap<u32, Vec<&RunRow>> = HashMap::new();
        for row in &rows {
            if let Some(unit) = unit_of(&row.run) {
                sharing.entry(unit).or_default().push(row);
            }
        }
        for row in rows {
            let Some(unit) = unit_of(&row.run) else {
                each(&row.run, &mut RunOutcomes::new(&row.run.id, &self.aliases().item, RunLines::default()))?;
                continue;
            };
            // The first of those that share a file has come with the others.
            let Some(together) = sharing.remove(&unit) else { continue };
            let file = self.snapshot.items.get(unit as usize).and_then(|unit| files.get(&unit.path));
            let mut spool = match file {
                Some(file) => Spool::of(file, together.iter().map(|row| &row.run.id))?,
                None => Spool::default(),
            };
            for row in together {
                let mut lines = spool.take(&row.run.id)?;
                if let Some(file) = file {
                    lines.keep_standing(file, &row.run.id)?;
                }
                each(&row.run, &mut RunOutcomes::new(&row.run.id, &self.aliases().item, lines))?;
            }
        }
        Ok(())
    }

    /// Reads the outcomes of one run with what else its lines say of each, in the order of the lines: the first revision, and where a judge
    /// decided, what stands.
    pub fn detailed(&self, run: &Arc<Run>) -> io::Result<Vec<(ItemOutcome, ItemDetails)>> {
        let mut found = Vec::new();
        let Some(file) = self.file_of(&run.id) else { return Ok(found) };
        each_item_line(file, |line| {
            if let Some(outcome) = outcome_of(line, file, &run.id)
                && (outcome.revision == 0 || self.stands(&outcome))
            {
                found.push((outcome, details_of(line)));
            }
        })?;
        Ok(found)
    }

    /// Returns the file of a run's item lines.
    fn file_of(&self, run: &RunId) -> Option<&ItemFile> {
        let unit = self.snapshot.items.get(*self.unit_of.get(run)? as usize)?;
        self.files.iter().find(|file| path_text(&file.path) == unit.path)
    }

    /// Says whether an outcome in a run's own journal is of the revision that stands. What was imported came whole.
    pub(super) fn stands(&self, outcome: &ItemOutcome) -> bool {
        // An evaluator that is never asked again has no such revision.
        if standing_revision(&outcome.evaluator, []).is_none() {
            return true;
        }
        let Some(file) = self.file_of(&outcome.run).filter(|file| file.journal_of.is_some()) else { return true };
        outcome.revision == file.standing_of(&outcome.evaluator)
    }
}

/// Reads a line where it is of the run. One that cannot be read was told when the store was opened.
fn outcome_of(line: &[u8], file: &ItemFile, run: &RunId) -> Option<ItemOutcome> {
    let item = ItemLine::parse(line).ok()?;
    let is_its = match &file.journal_of {
        Some(own) => own == run,
        None => item.run.as_deref() == Some(run.as_str()),
    };
    (ItemLine { run: None, ..item }).to_outcome(run).ok().filter(|_| is_its)
}
