//! Content of a run, summed up: from a source that is read, and from the store's own record.

use std::collections::{BTreeMap, BTreeSet};
use std::io::BufReader;
use std::path::{Path, PathBuf};

use crate::domain::{
    ImportedContent, ItemDetails, ItemOutcome, Problem, Problems, Run, RunId, RunStatus,
};
use crate::results::{
    ItemLine, SealedPair, SealedReader, Store, StoreError, details_of, for_each_line, parse_header,
    scan_store, to_json, write_journal_line,
};

use super::content::{ContentSum, add_digest};
use super::source::digest_parts;

/// Tag of a run that another run of the same task replaces. Its value is the other run's id.
pub(super) const SUPERSEDED_TAG: &str = "superseded_by";

/// Sums over the outcomes of a run, in any order.
#[derive(Clone, Debug, Default)]
pub(super) struct RunContentSums {
    content: ContentSum,
    lines: u128,
}

/// Content of a run.
#[derive(Clone, Debug)]
pub(super) struct RunContent {
    /// The outcomes and their results.
    pub content: ImportedContent,
    /// Sum over the outcomes with all their details.
    lines: u128,
    /// The run's own facts, without its id and provenance.
    figures: Run,
}

impl RunContentSums {
    pub fn add_outcome(&mut self, outcome: &ItemOutcome, details: &ItemDetails) {
        self.content.add_outcome(outcome);
        let mut line = String::new();
        write_journal_line(outcome, &mut line);
        let details = if *details == ItemDetails::default() {
            String::new()
        } else {
            serde_json::to_string(details).unwrap_or_default()
        };
        let digest = digest_parts(&[line.as_bytes(), details.as_bytes()], true);
        self.lines = add_digest(self.lines, &digest);
    }

    /// Completes the sums with the finished run.
    pub fn to_content(&self, run: &Run) -> RunContent {
        // Written and read back, so that values which a record cannot hold make no difference.
        let read =
            parse_header(to_json(run).as_bytes(), "", None, None).unwrap_or_else(|_| run.clone());
        let figures = Run {
            id: placeholder_run_id(),
            provenance: None,
            carried: None,
            ..read
        };
        RunContent {
            content: self.content.run_content(run),
            lines: self.lines,
            figures,
        }
    }
}

fn placeholder_run_id() -> RunId {
    Store::imported_run_id("", &[])
}

impl RunContent {
    /// Returns whether both have equal content in every field. Whether a run is superseded is ignored, because its source does not say it.
    pub fn has_same_content(&self, other: &Self) -> bool {
        let is_superseded = [self, other]
            .iter()
            .any(|held| held.figures.tags.contains_key(SUPERSEDED_TAG));
        let bare = |held: &Self| {
            let mut figures = held.figures.clone();
            if is_superseded {
                figures.status = RunStatus::Cancelled;
                figures.tags.remove(SUPERSEDED_TAG);
            }
            figures
        };
        self.lines == other.lines && self.content == other.content && bare(self) == bare(other)
    }

    /// Returns a text that differs if the content differs.
    pub fn content_digest(&self) -> String {
        let figures = digest_parts(&[to_json(&self.figures).as_bytes()], false);
        format!(
            "{}{:032x}{}",
            self.content.sum,
            self.lines,
            crate::domain::to_hex(&figures[..16])
        )
    }
}

/// The store's own records of imported runs.
#[derive(Clone, Debug, Default)]
pub(super) struct StoredRecords {
    /// Pairs whose runs are known.
    known: BTreeSet<PathBuf>,
    pair_of: BTreeMap<RunId, SealedPair>,
}

impl StoredRecords {
    /// Reads the records of these runs. Fails if a file of theirs cannot be read: without them nobody can say what replaces what.
    pub fn read_contents(
        &mut self,
        store: &Store,
        ids: &BTreeSet<RunId>,
    ) -> Result<BTreeMap<RunId, RunContent>, StoreError> {
        if ids.is_empty() {
            return Ok(BTreeMap::new());
        }
        self.index_pairs(store)?;
        let pairs: BTreeSet<&SealedPair> =
            ids.iter().filter_map(|id| self.pair_of.get(id)).collect();
        let held: Vec<Vec<(RunId, RunContent)>> = pairs
            .into_iter()
            .map(|pair| read_pair_contents(pair, ids))
            .collect::<Result<_, StoreError>>()?;
        Ok(held.into_iter().flatten().collect())
    }

    /// Returns the record of a run, or `None` if no pair of the store has it.
    pub fn find_run(&mut self, store: &Store, id: &RunId) -> Result<Option<Run>, StoreError> {
        self.index_pairs(store)?;
        let Some(pair) = self.pair_of.get(id) else {
            return Ok(None);
        };
        Ok(read_runs(pair)?.into_iter().find(|run| run.id == *id))
    }

    /// Passes the outcomes of a run with their details to `each`.
    pub fn for_each_outcome_of(
        &mut self,
        store: &Store,
        id: &RunId,
        mut each: impl FnMut(ItemOutcome, ItemDetails) -> Result<(), StoreError>,
    ) -> Result<(), StoreError> {
        self.index_pairs(store)?;
        let Some(pair) = self.pair_of.get(id) else {
            return Ok(());
        };
        let mut told = Ok(());
        if let Some(path) = &pair.items {
            for_each_outcome(path, |line, outcome| {
                if told.is_ok() && outcome.run == *id {
                    told = each(outcome, details_of(line));
                }
            })?;
        }
        told
    }

    fn index_pairs(&mut self, store: &Store) -> Result<(), StoreError> {
        let contents = scan_store(store);
        // What cannot be read now may hold the run that is asked for.
        let unread: Vec<Problem> = contents
            .problems
            .into_iter()
            .filter(|problem| problem.is_unread)
            .collect();
        if !unread.is_empty() {
            return Err(StoreError::Invalid(Problems(unread)));
        }
        for pair in contents.sealed {
            if self.known.insert(pair.runs.clone()) {
                self.pair_of.extend(
                    read_runs(&pair)?
                        .into_iter()
                        .map(|run| (run.id, pair.clone())),
                );
            }
        }
        Ok(())
    }
}

fn for_each_outcome(
    path: &Path,
    mut each: impl FnMut(&[u8], ItemOutcome),
) -> Result<(), StoreError> {
    let cannot = |error| StoreError::Io {
        action: "cannot read",
        path: path.to_owned(),
        source: error,
    };
    let items = SealedReader::open_items(path).map_err(cannot)?;
    for_each_line(BufReader::new(items), |_, line| {
        let outcome = |line: &[u8]| {
            ItemLine::parse(line)
                .ok()?
                .to_outcome(&placeholder_run_id())
                .ok()
        };
        if let Some((line, outcome)) = line.ok().and_then(|line| Some((line, outcome(line)?))) {
            each(line, outcome);
        }
    })
    .map_err(cannot)
}

/// Reads the runs of a pair. Skips damaged ones, which opening the store reported: no source can replace them.
fn read_runs(pair: &SealedPair) -> Result<Vec<Run>, StoreError> {
    let (runs, problems) = SealedReader::read_runs(&pair.runs);
    if problems.iter().any(|problem| problem.is_unread) {
        return Err(StoreError::Invalid(Problems(problems)));
    }
    Ok(runs)
}

fn read_pair_contents(
    pair: &SealedPair,
    ids: &BTreeSet<RunId>,
) -> Result<Vec<(RunId, RunContent)>, StoreError> {
    let runs: Vec<Run> = read_runs(pair)?
        .into_iter()
        .filter(|run| ids.contains(&run.id))
        .collect();
    let mut sums: BTreeMap<RunId, RunContentSums> = runs
        .iter()
        .map(|run| (run.id.clone(), RunContentSums::default()))
        .collect();
    if let Some(path) = &pair.items {
        for_each_outcome(path, |line, outcome| {
            if let Some(sums) = sums.get_mut(&outcome.run) {
                sums.add_outcome(&outcome, &details_of(line));
            }
        })?;
    }
    Ok(runs
        .into_iter()
        .map(|run| {
            (
                run.id.clone(),
                sums.remove(&run.id).unwrap_or_default().to_content(&run),
            )
        })
        .collect())
}
