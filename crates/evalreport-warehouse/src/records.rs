//! Records for exported files: where runs are stored, the outcomes that count, run by run, and the texts of items.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::io;
use std::path::PathBuf;
use std::sync::{Arc, PoisonError};

use tracing::debug;

use crate::domain::{Acceptance, Filter, ItemDetails, ItemOutcome, Run, RunId, can_judge_again};
use crate::results::{
    BundleDecisions, ItemLine, ItemTextDigests, Retraction, SealedPair, details_of, item_hash_of,
};

use super::hidden::HiddenBy;
use super::ingest::for_each_item_line;
use super::item_file::{ItemFile, path_text};
use super::matrix::MatrixItem;
use super::open::Warehouse;
use super::run_row::RunRow;
use super::source_stamp::FileStamp;
use super::spool::{LineSpool, RunLines, RunOutcomes};

/// Where runs are stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StoredLocation {
    /// One run, in a file of its own.
    Own(PathBuf),
    /// A sealed pair, the ids of its selected runs, and the folders of its judged runs.
    Sealed(SealedPair, BTreeSet<RunId>, BTreeMap<RunId, PathBuf>),
}

impl StoredLocation {
    /// Returns the number of selected runs stored here.
    pub fn run_count(&self) -> usize {
        match self {
            Self::Own(_) => 1,
            Self::Sealed(_, ids, _) => ids.len(),
        }
    }
}

impl Warehouse {
    /// Returns the selected runs with their stored names, by id.
    pub fn stored_runs(&self, filter: &Filter) -> Vec<Arc<Run>> {
        let selected: HashSet<&RunId> = self.select_runs(filter).map(|row| &row.run.id).collect();
        let mut found: BTreeMap<&RunId, &Arc<Run>> = BTreeMap::new();
        for run in self.snapshot.headers.iter().flat_map(|header| &header.runs) {
            if selected.contains(&run.id) {
                // Of two runs with one id the first counts.
                found.entry(&run.id).or_insert(run);
            }
        }
        found.into_values().map(Arc::clone).collect()
    }

    /// Returns the number of selected runs that are outside of stores, so that they have no records to copy.
    pub fn count_without_records(&self, filter: &Filter) -> usize {
        let stored: usize = self
            .stored_locations(filter)
            .iter()
            .map(StoredLocation::run_count)
            .sum();
        self.select_runs(filter).count() - stored
    }

    /// Returns the places of the selected runs that stores have: runs with a file of their own by id, then sealed pairs by their first id, each with the ids
    /// of its selected runs.
    pub fn stored_locations(&self, filter: &Filter) -> Vec<StoredLocation> {
        let mut selected: BTreeSet<&RunId> =
            self.select_runs(filter).map(|row| &row.run.id).collect();
        let (mut own, mut sealed) = (BTreeMap::new(), BTreeMap::new());
        for header in &self.snapshot.headers {
            // Of two runs with one id the first counts.
            let ids: BTreeSet<RunId> = header
                .runs
                .iter()
                .map(|run| &run.id)
                .filter(|id| selected.remove(id))
                .cloned()
                .collect();
            let Some(first) = ids
                .first()
                .cloned()
                .filter(|_| !self.elsewhere.contains(&header.path))
            else {
                continue;
            };
            let path = PathBuf::from(&header.path);
            match header
                .path
                .strip_suffix(".runs.jsonl")
                .map(|stem| PathBuf::from(format!("{stem}.items.jsonl.zst")))
            {
                Some(items) => {
                    let pair = SealedPair {
                        items: self
                            .files
                            .iter()
                            .find(|file| file.path == items)
                            .map(|_| items),
                        runs: path,
                    };
                    let judged = ids
                        .iter()
                        .filter_map(|id| Some((id.clone(), self.judgement_folder(id)?.to_owned())))
                        .collect();
                    sealed.insert(first, StoredLocation::Sealed(pair, ids, judged));
                }
                None => {
                    own.insert(first, StoredLocation::Own(path));
                }
            }
        }
        own.into_values().chain(sealed.into_values()).collect()
    }

    /// Returns what people decided about the selected runs: regressions that they accepted on nights of these runs, under the runs' stored names,
    /// and tombstones of runs that would be selected otherwise, each by its id.
    pub fn collect_decisions(&self, filter: &Filter) -> BundleDecisions {
        let stored = self.stored_runs(filter);
        let mut accepted = Vec::new();
        for one in self.acceptances() {
            let mut arms = BTreeMap::<[&str; 3], Vec<&Run>>::new();
            for run in stored.iter().filter(|run| self.is_accepted(run, one)) {
                arms.entry([&run.suite, &run.approach, &run.model])
                    .or_default()
                    .push(run);
            }
            for ([suite, approach, model], runs) in arms {
                let times = || runs.iter().filter_map(|run| run.timestamp);
                let batches: BTreeSet<&str> = runs.iter().map(|run| run.batch_name()).collect();
                let own = Acceptance {
                    suite: suite.to_owned(),
                    approach: approach.to_owned(),
                    model: model.to_owned(),
                    batches: one
                        .batches
                        .iter()
                        .filter(|batch| batches.contains(batch.as_str()))
                        .cloned()
                        .collect(),
                    since: one
                        .since
                        .and_then(|since| times().min().map(|first| first.max(since))),
                    through: one
                        .through
                        .and_then(|through| times().max().map(|last| last.min(through))),
                    ..one.clone()
                };
                accepted.extend((!own.batches.is_empty()).then_some(own));
            }
        }
        let mut retracted: Vec<Retraction> = Vec::new();
        for hidden in self
            .hidden_runs()
            .iter()
            .filter(|hidden| hidden.by != HiddenBy::Replacement && filter.matches(&hidden.run))
        {
            let Some(by) = self.retractions().tombstone_for(&hidden.run) else {
                continue;
            };
            let id = hidden.run.id.to_string();
            match retracted
                .iter_mut()
                .find(|one| (&one.reason, one.time) == (&by.reason, by.time))
            {
                Some(one) => one.selector.ids.push(id),
                None => retracted.push(Retraction {
                    selector: Filter {
                        ids: vec![id],
                        ..Filter::default()
                    },
                    ..by.clone()
                }),
            }
        }
        BundleDecisions {
            accepted,
            retracted,
        }
    }

    /// Returns whether a stored run is on a night of an accepted regression. Names may have got an alias since.
    fn is_accepted(&self, run: &Arc<Run>, one: &Acceptance) -> bool {
        let names = |run: &Run| {
            run.suite == one.suite && run.approach == one.approach && run.model == one.model
        };
        let is_of = names(run) || names(&self.aliases().apply_to(run));
        let is_within = match (run.timestamp, one.since, one.through) {
            (Some(time), Some(since), Some(through)) => since <= time && time <= through,
            _ => false,
        };
        is_of
            && one.suite_version == run.suite_version
            && (is_within || one.batches.iter().any(|batch| batch == run.batch_name()))
    }

    /// Calls `each` with every selected run, under its display names, and its outcomes that count. Runs that share a file come together.
    ///
    /// Lines are spooled to disk until their run's turn, because a file may have more lines than fit in memory, in any order.
    pub fn for_each_run<E: From<io::Error>>(
        &self,
        filter: &Filter,
        mut each: impl FnMut(&Run, &mut RunOutcomes<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        let files: HashMap<String, &ItemFile> = self
            .files
            .iter()
            .map(|file| (path_text(&file.path), file))
            .collect();
        let unit_of = |run: &Run| self.unit_of.get(&run.id).copied();
        let rows: Vec<&RunRow> = self.select_runs(filter).collect();
        let mut sharing: HashMap<u32, Vec<&RunRow>> = HashMap::new();
        for row in &rows {
            if let Some(unit) = unit_of(&row.run) {
                sharing.entry(unit).or_default().push(row);
            }
        }
        for row in rows {
            let Some(unit) = unit_of(&row.run) else {
                let lines = self.read_judged_lines(&row.run.id)?;
                each(
                    &row.run,
                    &mut RunOutcomes::new(&row.run.id, self.display_names(), vec![lines]),
                )?;
                continue;
            };
            // Runs that share a file came together with the first of them.
            let Some(together) = sharing.remove(&unit) else {
                continue;
            };
            let file = self
                .snapshot
                .items
                .get(unit as usize)
                .and_then(|unit| files.get(&unit.path));
            let mut spool = match file {
                Some(file) => {
                    LineSpool::from_item_file(file, together.iter().map(|row| &row.run.id))?
                }
                None => LineSpool::default(),
            };
            for row in together {
                let mut lines = spool.take_run(&row.run.id)?;
                if let Some(file) = self.judgement_file(&row.run.id).or(file.copied()) {
                    lines.keep_latest(file, &row.run.id)?;
                }
                let lines = vec![lines, self.read_judged_lines(&row.run.id)?];
                each(
                    &row.run,
                    &mut RunOutcomes::new(&row.run.id, self.display_names(), lines),
                )?;
            }
        }
        Ok(())
    }

    /// Returns the file with an imported run's judgements, which determines the revisions of the run that may count.
    fn judgement_file(&self, run: &RunId) -> Option<&ItemFile> {
        let unit = self
            .snapshot
            .items
            .get(self.judged.get(run)?.unit? as usize)?;
        self.files
            .iter()
            .find(|file| path_text(&file.path) == unit.path)
    }

    /// Returns the judged lines of an imported run.
    fn read_judged_lines(&self, run: &RunId) -> io::Result<RunLines> {
        let Some(file) = self.judgement_file(run) else {
            return Ok(RunLines::default());
        };
        let mut lines = LineSpool::from_item_file(file, std::iter::once(run))?.take_run(run)?;
        lines.keep_latest(file, run)?;
        Ok(lines)
    }

    /// Reads the judged outcomes of an imported run, with reasons. Empty for other runs.
    pub fn read_judged_outcomes(&self, run: &RunId) -> io::Result<Vec<(ItemOutcome, ItemDetails)>> {
        let mut found = Vec::new();
        RunOutcomes::new(
            run,
            self.display_names(),
            vec![self.read_judged_lines(run)?],
        )
        .for_each(|outcome, details| {
            found.push((outcome.clone(), details.clone()));
            Ok::<(), io::Error>(())
        })?;
        Ok(found)
    }

    /// Returns the stamp of the file with the run's outcomes, or `None` if it has no items file.
    pub fn outcomes_stamp(&self, run: &RunId) -> Option<FileStamp> {
        Some(
            self.snapshot
                .items
                .get(*self.unit_of.get(run)? as usize)?
                .stamp,
        )
    }

    /// Reads the outcomes of runs with all details, in line order. A file that several runs share is read once.
    pub fn read_detailed_outcomes(
        &self,
        runs: &[Arc<Run>],
    ) -> io::Result<Vec<(ItemOutcome, ItemDetails)>> {
        let mut found = Vec::new();
        self.for_each_outcome_line(runs, |outcome, line| {
            found.push((outcome.clone(), details_of(line)));
            Ok::<(), io::Error>(())
        })?;
        Ok(found)
    }

    /// Returns the category of each item of the runs that has one, by the names of its kind and of the item. The first run's counts.
    pub fn item_categories(
        &self,
        runs: &[Arc<Run>],
    ) -> io::Result<BTreeMap<(String, String), String>> {
        let mut found = BTreeMap::new();
        self.for_each_outcome_line(runs, |outcome, line| {
            let details = match outcome.category {
                Some(_) => ItemDetails::default(),
                None => details_of(line),
            };
            if let Some(category) = outcome.category_in(&details) {
                let item = self.display_names().item_name(&outcome.item);
                found
                    .entry((outcome.kind.name().to_owned(), item.to_owned()))
                    .or_insert_with(|| category.to_owned());
            }
            Ok::<(), io::Error>(())
        })?;
        Ok(found)
    }

    /// Returns one text id per arm and item. Equal ids mean equal texts; 0 means that no hash is known. Of runs with equal digests only one
    /// is read, and arms with the same digests share their texts.
    pub fn item_text_ids(&self, arms: &[Vec<&Arc<Run>>], items: &[MatrixItem]) -> Vec<Arc<[u64]>> {
        let digest_of = |run: &Run| Some(run.items_digest.as_ref()?.sha256.clone());
        let mut known = self.texts.lock().unwrap_or_else(PoisonError::into_inner);
        let mut unread: BTreeMap<String, Arc<Run>> = BTreeMap::new();
        for run in arms.iter().flatten() {
            if let Some(digest) = digest_of(run).filter(|digest| !known.contains_key(digest)) {
                unread.entry(digest).or_insert_with(|| Arc::clone(run));
            }
        }
        known.extend(self.read_texts(unread));
        let keys: Vec<u64> = items
            .iter()
            .map(|item| {
                ItemTextDigests::item_key(item.key.kind, &item.key.evaluator, &item.key.item)
            })
            .collect();
        let read = |digests: &BTreeSet<String>| -> Arc<[u64]> {
            let mut texts = ItemTextDigests::default();
            digests
                .iter()
                .filter_map(|digest| known.get(digest))
                .for_each(|own| texts.extend(own));
            keys.iter()
                .map(|key| texts.text_of(*key).unwrap_or(0))
                .collect()
        };
        let of_digests: Vec<BTreeSet<String>> = arms
            .iter()
            .map(|runs| runs.iter().filter_map(|run| digest_of(run)).collect())
            .collect();
        let texts: BTreeMap<&BTreeSet<String>, Arc<[u64]>> = of_digests
            .iter()
            .collect::<BTreeSet<_>>()
            .into_iter()
            .map(|digests| (digests, read(digests)))
            .collect();
        of_digests
            .iter()
            .map(|digests| Arc::clone(&texts[digests]))
            .collect()
    }

    /// Reads the text hashes of the runs' items, under display names. Items with unreadable lines stay unknown.
    fn read_texts(
        &self,
        by_digest: BTreeMap<String, Arc<Run>>,
    ) -> BTreeMap<String, ItemTextDigests> {
        let (digests, runs): (Vec<String>, Vec<Arc<Run>>) = by_digest.into_iter().unzip();
        let mut texts: HashMap<&RunId, ItemTextDigests> = runs
            .iter()
            .map(|run| (&run.id, ItemTextDigests::default()))
            .collect();
        let read = self.for_each_outcome_line(&runs, |outcome, line| {
            if let Some(texts) = texts.get_mut(&outcome.run) {
                let (evaluator, item) = (
                    self.display_names().evaluator_name(&outcome.evaluator),
                    self.display_names().item_name(&outcome.item),
                );
                texts.add_item(outcome.kind, evaluator, item, item_hash_of(line).as_deref());
            }
            Ok::<(), io::Error>(())
        });
        if let Err(error) = read {
            debug!(%error, "not all texts of items are known");
        }
        digests
            .into_iter()
            .zip(&runs)
            .map(|(digest, run)| (digest, texts.remove(&run.id).unwrap_or_default()))
            .collect()
    }

    fn for_each_outcome_line<E: From<io::Error>>(
        &self,
        runs: &[Arc<Run>],
        mut each: impl FnMut(&ItemOutcome, &[u8]) -> Result<(), E>,
    ) -> Result<(), E> {
        let files: HashMap<String, usize> = self
            .files
            .iter()
            .zip(0..)
            .map(|(file, place)| (path_text(&file.path), place))
            .collect();
        let mut wanted: BTreeMap<usize, HashSet<&RunId>> = BTreeMap::new();
        let mut order: Vec<usize> = Vec::new();
        for run in runs {
            for file in self.files_of(&run.id).filter_map(|path| files.get(path)) {
                let held = wanted.entry(*file).or_default();
                if held.is_empty() {
                    order.push(*file);
                }
                held.insert(&run.id);
            }
        }
        for place in order {
            let (file, held) = (&self.files[place], &wanted[&place]);
            let mut stopped = Ok(());
            let named: HashSet<&str> = held.iter().map(|run| run.as_str()).collect();
            let read = for_each_item_line(file, &|run| named.contains(run), |line| {
                if stopped.is_err() {
                    return;
                }
                // Unreadable lines were reported when the store was opened.
                let Ok(item) = ItemLine::parse(line) else {
                    return;
                };
                let run = match (&file.journal_of, &item.run) {
                    (Some(run), _) => Some(run.clone()),
                    (None, Some(text)) => RunId::parse(text).ok(),
                    (None, None) => None,
                };
                let Some(run) = run.filter(|run| held.contains(run)) else {
                    return;
                };
                if let Ok(outcome) = (ItemLine { run: None, ..item }).to_outcome(&run)
                    && (outcome.revision == 0 && !self.judged.contains_key(&run)
                        || self.is_counted(&outcome))
                {
                    stopped = each(&outcome, line);
                }
            });
            read.inspect_err(|error| self.note_unreadable(&file.path, error))?;
            stopped?;
        }
        Ok(())
    }

    /// Returns whether an outcome's revision may count, see [`ItemFile::may_count`].
    pub(super) fn is_counted(&self, outcome: &ItemOutcome) -> bool {
        // Check the evaluator first, because finding the file takes longer.
        if !can_judge_again(&outcome.evaluator) {
            return true;
        }
        let file = || {
            let path = self.files_of(&outcome.run).next()?;
            self.files.iter().find(|file| path_text(&file.path) == path)
        };
        self.judgement_file(&outcome.run)
            .or_else(file)
            .is_none_or(|file| file.may_count(&outcome.evaluator, outcome.revision))
    }
}
