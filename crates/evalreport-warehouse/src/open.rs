//! Opening the stores: scan, ingest new files, merge by id, hide retracted runs.

use std::cell::LazyCell;
use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::io;
use std::ops::Deref;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use rayon::prelude::*;
use sha2::{Digest, Sha256};
use tracing::{debug, info};

use crate::domain::{
    Acceptance, Aliases, ArmSettings, Filter, GivenRunNames, ItemKey, ItemKind, NamesByRun,
    Problem, Problems, Redacted, Run, RunId, UnfinishedRun, escape_invisible, model_with_settings,
    to_hex,
};
use crate::files::{self, FolderUse, HeldFolder};
use crate::results::{
    ItemTextDigests, Retractions, ScoreLine, Store, StoreContents, load_acceptances, scan_store,
    to_json, unfinished_runs,
};

use super::cache::{LAKE_PREFIX, SNAPSHOT_PREFIX, sweep_cache};
use super::display_names::{DisplayNames, NameKind};
use super::engine_answer::EngineAnswer;
use super::external_rows::{ExternalJoin, ExternalSource, JoinedLake, JoinedSnapshot};
use super::facts::{FactVotes, ItemFacts};
use super::hidden::{HiddenBy, HiddenRun};
use super::ingest::{self, IngestedStores};
use super::item_file::{ItemFile, JudgeRevisions, path_text};
use super::lake;
use super::matrix::{MatrixItem, MatrixRow, OutcomeMatrix, RowScores};
use super::progress::Progress;
use super::run_row::RunRow;
use super::snapshot::{JudgedFolder, NO_FACT_COLUMN, Snapshot, StoredRow};
use super::statuses::status_code;
use super::totals::ItemTotals;

/// The stores and files to open.
#[derive(Clone, Debug, Default)]
pub struct WarehouseOptions {
    /// The first store is the main one; others are only read. Of runs with the same id, the first store's counts.
    pub stores: Vec<PathBuf>,
    /// Lakes, which are only read, after the stores: of a run that a store has too, the store's counts.
    pub lakes: Vec<PathBuf>,
    /// The suites whose outcomes are read from lakes, by stored name; `None` for all. Runs of others have no outcomes then.
    pub suites: Option<Vec<String>>,
    /// Single result files beside the stores.
    pub files: Vec<PathBuf>,
    /// Folder for derived files. With `None`, nothing is cached.
    pub cache: Option<PathBuf>,
    pub aliases: Aliases,
    /// Runs and outcomes that engines answered.
    pub answers: Vec<Arc<EngineAnswer>>,
}

/// Judgements of an imported run, stored beside its sealed pair.
pub(super) struct RunJudgements {
    pub folder: PathBuf,
    /// The item unit of the judged outcomes, if there are any.
    pub unit: Option<u32>,
}

/// Two files with one run and other results of it. The first is used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DifferingCopy {
    pub run: RunId,
    pub used: String,
    pub unused: String,
}

/// The content of the stores, in memory.
pub struct Warehouse {
    pub(super) runs: Vec<RunRow>,
    hidden: Vec<HiddenRun>,
    retractions: Retractions,
    accepted: Vec<Acceptance>,
    problems: Vec<Problem>,
    /// Hints of what may be wrong with sources that could be read.
    notes: Vec<Problem>,
    differing_copies: Vec<DifferingCopy>,
    /// Files that could be read when the stores were opened, but not later.
    late_problems: Mutex<Vec<Problem>>,
    /// Why something could not be cached.
    cache_trouble: Mutex<Option<String>>,
    /// Folders of runs without a header.
    unfinished: Vec<PathBuf>,
    aliases: Aliases,
    names: DisplayNames,
    pub(super) files: Vec<ItemFile>,
    pub(super) cache: Option<PathBuf>,
    pub(super) snapshot: Snapshot,
    /// Short name of the stores.
    pub(super) name: String,
    /// The path of the snapshot, if it is new, and the numbers of its units of headers and of items from files of stores.
    unsaved: Option<(PathBuf, usize, usize)>,
    /// Begun with the first use of segments in the cache.
    pub(super) cache_use: std::sync::OnceLock<Option<FolderUse>>,
    /// Folder of the segments if there is no cache.
    temporary: std::sync::OnceLock<Option<HeldFolder>>,
    /// Number of item units from files of stores; those that were joined come after them.
    stored_units: usize,
    /// The lakes among the units after those.
    lakes: Vec<JoinedLake>,
    /// Names of what was joined to the stores.
    pub(super) elsewhere: BTreeSet<String>,
    /// By run that is not in a store: what evaluators said of it.
    score_lines: HashMap<RunId, Vec<ScoreLine>>,
    /// By run: the item unit of its outcomes.
    pub(super) unit_of: HashMap<RunId, u32>,
    /// By imported run: its judgements.
    pub(super) judged: HashMap<RunId, RunJudgements>,
    run_numbers: HashMap<RunId, u32>,
    /// Texts of items by their digest, filled on demand.
    pub(super) texts: Mutex<BTreeMap<String, ItemTextDigests>>,
}

/// A warehouse whose shown runs were all checked for content that must not be published. Sites are built only from this type.
///
/// Only [`Warehouse::show_redacted`] creates one, from runs that a [`Redactor`](crate::domain::Redactor) checked.
#[derive(Clone)]
pub struct RedactedWarehouse<'a>(Redacted<&'a Warehouse>);

impl Deref for RedactedWarehouse<'_> {
    type Target = Warehouse;

    fn deref(&self) -> &Warehouse {
        &self.0
    }
}

impl RedactedWarehouse<'_> {
    /// Computes a publishable value from the checked warehouse alone.
    pub fn derive_redacted<T>(&self, make: impl FnOnce(&Warehouse) -> T) -> Redacted<T> {
        self.0.clone().map(make)
    }
}

/// Compares two copies of a run from files of different names. `None` if they have the same figures.
fn differing_copy(used: &Run, unused: &Run) -> Option<DifferingCopy> {
    let (first, second) = used.provenance.as_ref().zip(unused.provenance.as_ref())?;
    let bare = |run: &Run| Run {
        carried: None,
        provenance: None,
        ..run.clone()
    };
    let is_other =
        first.file != second.file && first.sha256 != second.sha256 && bare(used) != bare(unused);
    is_other.then(|| DifferingCopy {
        run: used.id.clone(),
        used: first.file.clone(),
        unused: second.file.clone(),
    })
}

impl Warehouse {
    /// Reads the changes since the last time. Unreadable files are problems and the rest is still read. Unreadable tombstones are an error,
    /// because it is then unknown what may be shown.
    pub fn open(options: &WarehouseOptions, progress: &Progress) -> Result<Self, Problems> {
        let mut stores: Vec<Store> = Vec::with_capacity(options.stores.len());
        for store in options.stores.iter().map(Store::new) {
            // A store given twice is opened once.
            if !stores.iter().any(|known| known.root() == store.root()) {
                stores.push(store);
            }
        }
        let mut contents: Vec<StoreContents> = stores.iter().map(scan_store).collect();
        for (store, contents) in stores.iter().zip(&contents) {
            info!(
                store = %store.root().display(),
                runs = contents.headers.len(),
                imports = contents.sealed.len(),
                without_header = contents.headless.len(),
                problems = contents.problems.len(),
                "files listed"
            );
        }
        contents.push(StoreContents::from_files(&options.files));
        let mut problems: Vec<Problem> = contents
            .iter_mut()
            .flat_map(|contents| std::mem::take(&mut contents.problems))
            .collect();
        let absolute = |place: &PathBuf| {
            path_text(&std::path::absolute(place).unwrap_or_else(|_| place.clone()))
        };
        let lakes = options
            .lakes
            .iter()
            .map(|lake| format!("{LAKE_PREFIX}{}", absolute(lake)));
        let places: Vec<String> = options.stores.iter().map(absolute).chain(lakes).collect();
        let name = stores_digest(&places);
        let snapshot_path = options
            .cache
            .as_ref()
            .map(|cache| cache.join(format!("{SNAPSHOT_PREFIX}{name}")));
        let old = snapshot_path.as_deref().and_then(Snapshot::load);
        debug!(
            file = snapshot_path
                .as_ref()
                .map(|path| path.display().to_string()),
            found = old.is_some(),
            files = old
                .as_ref()
                .map_or(0, |old| old.headers.len() + old.items.len()),
            "cache read"
        );
        let IngestedStores {
            snapshot,
            files,
            changed,
        } = ingest::ingest_stores(&contents, old, progress);
        let (stored_headers, stored_units) = (snapshot.headers.len(), snapshot.items.len());
        let JoinedSnapshot {
            mut snapshot,
            files,
            standing,
            lakes,
            notes,
        } = Self::join_external(snapshot, files, options, progress)?;
        let changed = changed || lakes.iter().any(|lake| lake.changed);
        let unsaved = snapshot_path
            .filter(|_| changed)
            .map(|path| (path, stored_headers, stored_units));
        snapshot.stores = places;
        problems.extend(
            snapshot
                .headers
                .iter()
                .flat_map(|unit| unit.problems.iter().cloned()),
        );
        problems.extend(
            snapshot
                .items
                .iter()
                .flat_map(|unit| unit.problems.iter().cloned()),
        );

        let (mut retractions, mut accepted, mut unreadable) =
            (Retractions::default(), Vec::new(), Vec::new());
        for store in &stores {
            match Retractions::load(store) {
                Ok(standing) => retractions.standing.extend(standing.standing),
                Err(problems) => unreadable.extend(problems.0),
            }
        }
        // A lake's tombstones are in its table of runs; its acceptances are a file, as those of a store.
        for place in stores
            .iter()
            .cloned()
            .chain(options.lakes.iter().map(Store::new))
        {
            match load_acceptances(&place) {
                Ok(lines) => accepted.extend(lines),
                Err(problems) => unreadable.extend(problems.0),
            }
        }
        if !unreadable.is_empty() {
            return Err(Problems(unreadable));
        }
        debug!(standing = retractions.standing.len(), "tombstones read");
        let mut warehouse = Self {
            runs: Vec::new(),
            hidden: Vec::new(),
            retractions: retractions.clone(),
            accepted,
            problems,
            notes,
            differing_copies: Vec::new(),
            late_problems: Mutex::default(),
            cache_trouble: Mutex::default(),
            unfinished: Vec::new(),
            aliases: options.aliases.clone(),
            names: DisplayNames::from_aliases(&options.aliases),
            files,
            cache: options.cache.clone(),
            unsaved,
            cache_use: std::sync::OnceLock::new(),
            name,
            temporary: std::sync::OnceLock::new(),
            stored_units,
            lakes,
            elsewhere: standing.keys().cloned().collect(),
            score_lines: HashMap::new(),
            unit_of: HashMap::new(),
            judged: HashMap::new(),
            run_numbers: HashMap::new(),
            texts: Mutex::default(),
            snapshot,
        };
        let judged: HashSet<&str> = warehouse
            .snapshot
            .headers
            .iter()
            .flat_map(|unit| &unit.judged)
            .map(|judged| judged.folder.as_str())
            .collect();
        let is_judged =
            |store: &Store, id: &str| judged.contains(path_text(&store.root().join(id)).as_str());
        let folders_of = |(store, contents): (&Store, &StoreContents)| {
            contents
                .unfinished_folders(|id| is_judged(store, id))
                .map(|headless| headless.folder.clone())
                .collect::<Vec<_>>()
        };
        let unfinished = stores.iter().zip(&contents).flat_map(folders_of).collect();
        warehouse.unfinished = unfinished;
        warehouse.merge_runs(&contents, &retractions, standing);
        Ok(warehouse)
    }

    /// Joins what stands outside of the stores.
    fn join_external(
        snapshot: Snapshot,
        files: Vec<ItemFile>,
        options: &WarehouseOptions,
        progress: &Progress,
    ) -> Result<JoinedSnapshot, Problems> {
        if options.lakes.is_empty() && options.answers.is_empty() {
            return Ok(JoinedSnapshot {
                snapshot,
                files,
                standing: HashMap::new(),
                lakes: Vec::new(),
                notes: Vec::new(),
            });
        }
        let mut joining = ExternalJoin::from_snapshot(snapshot, files);
        let mut last = String::new();
        for lake in &options.lakes {
            lake::join_lake(&mut joining, lake, options.suites.as_deref(), progress)
                .map_err(|problem| Problems(vec![problem]))?;
            last = escape_invisible(&path_text(lake));
        }
        let problem =
            |place: String, message: String| Problems(vec![Problem::in_file(place, message)]);
        for answer in &options.answers {
            answer
                .join_into(&mut joining)
                .map_err(|message| problem(escape_invisible(&answer.name), message))?;
            last = escape_invisible(&answer.name);
        }
        joining.finish().map_err(|message| problem(last, message))
    }

    /// Fills in the runs; the first of each id counts. A second one in the same store is a problem; another store may have a copy.
    fn merge_runs(
        &mut self,
        contents: &[StoreContents],
        retractions: &Retractions,
        mut elsewhere: HashMap<String, ExternalSource>,
    ) {
        let item_units: HashMap<&str, u32> = self
            .snapshot
            .items
            .iter()
            .zip(0..)
            .map(|(unit, index)| (unit.path.as_str(), index))
            .collect();
        let mut items_of_header: HashMap<String, String> = HashMap::new();
        for contents in contents {
            let own = contents
                .headers
                .iter()
                .filter_map(|header| Some((&header.path, header.items.as_ref()?)));
            let sealed = contents
                .sealed
                .iter()
                .filter_map(|pair| Some((&pair.runs, pair.items.as_ref()?)));
            items_of_header.extend(
                own.chain(sealed)
                    .map(|(header, items)| (path_text(header), path_text(items))),
            );
        }
        // Computed only if an id occurs twice.
        let store_of = LazyCell::new(|| -> HashMap<String, usize> {
            let paths = contents.iter().enumerate().flat_map(|(store, contents)| {
                let own = contents.headers.iter().map(|header| &header.path);
                own.chain(contents.sealed.iter().map(|pair| &pair.runs))
                    .map(move |path| (path_text(path), store))
            });
            paths.collect()
        });
        let run_numbers: HashMap<&str, u32> = self
            .snapshot
            .run_ids
            .iter()
            .zip(0..)
            .map(|(id, number)| (id.as_str(), number))
            .collect();
        let headers = &self.snapshot.headers;
        let judged_of: HashMap<(&str, &str), &JudgedFolder> = headers
            .iter()
            .flat_map(|unit| {
                unit.judged
                    .iter()
                    .map(|judged| ((unit.path.as_str(), judged.run.as_str()), judged))
            })
            .collect();
        let runs = headers
            .iter()
            .enumerate()
            .flat_map(|(unit, header)| header.runs.iter().map(move |run| (unit, run)));
        let mut first_of = HashMap::<&RunId, usize>::with_capacity(headers.len());
        for (unit, run) in runs {
            let path = &headers[unit].path;
            if let Some(first) = first_of.get(&run.id) {
                let copies = headers[*first].runs.iter();
                self.differing_copies.extend(
                    copies
                        .filter(|used| used.id == run.id)
                        .find_map(|used| differing_copy(used, run)),
                );
                let first = &headers[*first].path;
                if store_of
                    .get(path)
                    .is_some_and(|store| store_of.get(first) == Some(store))
                {
                    self.problems.push(
                        Problem::in_file(
                            escape_invisible(path),
                            format!(
                                "duplicate id `{}`, also in {}",
                                run.id,
                                escape_invisible(first)
                            ),
                        )
                        .with_hint("the first one is used"),
                    );
                }
                continue;
            }
            first_of.insert(&run.id, unit);
            // A tombstone may use a run's stored names or its display names.
            let hiding_before = retractions.tombstone_for(run);
            let run = self.aliases.apply_to(run);
            let mut standing = elsewhere.get_mut(path);
            if let Some(lines) = standing
                .as_mut()
                .and_then(|standing| standing.score_lines.remove(run.id.as_str()))
            {
                self.score_lines.insert(run.id.clone(), lines);
            }
            let unit = match &standing {
                Some(standing) => standing.unit_of.get(run.id.as_str()).copied(),
                None => items_of_header
                    .get(path)
                    .and_then(|items| item_units.get(items.as_str()))
                    .copied(),
            };
            let number = run_numbers.get(run.id.as_str()).copied();
            if let (Some(unit), Some(number)) = (unit, number) {
                self.unit_of.insert(run.id.clone(), unit);
                self.run_numbers.insert(run.id.clone(), number);
            }
            if let Some(judged) = judged_of.get(&(path.as_str(), run.id.as_str())) {
                let unit = judged
                    .items
                    .as_deref()
                    .and_then(|items| item_units.get(items))
                    .copied();
                if let Some(number) = unit.and(number) {
                    self.run_numbers.insert(run.id.clone(), number);
                }
                self.judged.insert(
                    run.id.clone(),
                    RunJudgements {
                        folder: PathBuf::from(&judged.folder),
                        unit,
                    },
                );
            }
            let tombstone = hiding_before
                .or_else(|| retractions.tombstone_for(&run))
                .map(|tombstone| {
                    let by = if tombstone.names_runs() {
                        HiddenBy::Tombstone
                    } else {
                        HiddenBy::Selection
                    };
                    (by, tombstone.reason.clone())
                });
            match tombstone.or_else(|| standing?.hidden.remove(run.id.as_str())) {
                Some((by, reason)) => self.hidden.push(HiddenRun { run, reason, by }),
                None => {
                    let items = self.totals_of(&run.id);
                    self.runs.push(RunRow {
                        run,
                        items,
                        settings: Vec::new(),
                    });
                }
            }
        }
        self.hide_replaced();
        // Outcomes are read where their run counts, not again from a copy. Files and units have the same order.
        let judged = self.judged.values().filter_map(|judged| judged.unit);
        let standing: HashSet<u32> = self.unit_of.values().copied().chain(judged).collect();
        let mut units = 0..;
        self.files
            .retain(|_| units.next().is_some_and(|unit| standing.contains(&unit)));
        self.runs
            .par_sort_by(|left, right| compare_runs(&left.run, &right.run));
        self.hidden
            .sort_by(|left, right| compare_runs(&left.run, &right.run));
    }

    /// Hides runs that a counted run replaces or was joined from, so that no run counts twice, whichever tombstones were taken back.
    fn hide_replaced(&mut self) {
        let mut replaced: HashMap<RunId, String> = HashMap::new();
        for (by, from) in self
            .runs
            .iter()
            .filter_map(|row| Some((&row.run.id, row.run.provenance.as_ref()?)))
        {
            replaced.extend(
                from.joined
                    .iter()
                    .map(|part| (part.run.clone(), format!("joined into `{by}`"))),
            );
            let earlier = from.replaces.clone();
            replaced.extend(earlier.map(|run| {
                (
                    run,
                    format!("replaced by `{by}`, the same run imported again"),
                )
            }));
        }
        if replaced.is_empty() {
            return;
        }
        for row in std::mem::take(&mut self.runs) {
            match replaced.get(&row.run.id) {
                Some(reason) => {
                    self.hidden.push(HiddenRun {
                        run: row.run,
                        reason: reason.clone(),
                        by: HiddenBy::Replacement,
                    });
                }
                None => self.runs.push(row),
            }
        }
    }

    /// Returns the runs that are not retracted, by suite, time (unknown first) and id.
    pub fn runs(&self) -> &[RunRow] {
        &self.runs
    }

    /// Returns the selected runs.
    pub fn select_runs<'a>(&'a self, filter: &'a Filter) -> impl Iterator<Item = &'a RunRow> {
        self.runs.iter().filter(|row| filter.matches(&row.run))
    }

    pub fn hidden_runs(&self) -> &[HiddenRun] {
        &self.hidden
    }

    /// Returns whether the item files have lines of hidden runs.
    pub(super) fn has_hidden_lines(&self) -> bool {
        let held: usize = self
            .snapshot
            .items
            .iter()
            .map(|unit| unit.totals.len())
            .sum();
        !self.hidden.is_empty() || self.unit_of.len() < held
    }

    /// Returns a folder that lives as long as this value, or `None` if it cannot be created.
    pub(super) fn temporary_folder(&self) -> Option<PathBuf> {
        let made = self.temporary.get_or_init(|| HeldFolder::create().ok());
        made.as_ref().map(|folder| folder.path().to_owned())
    }

    /// Keeps the first reason why nothing was cached.
    pub(super) fn note_cache_trouble(&self, message: String) {
        self.cache_trouble
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .get_or_insert(message);
    }

    /// Returns the aliases of the configuration.
    pub fn aliases(&self) -> &Aliases {
        &self.aliases
    }

    /// Returns the regressions that somebody accepted, in order of creation, under the names of that time.
    pub fn acceptances(&self) -> &[Acceptance] {
        &self.accepted
    }

    /// Returns the tombstones that count.
    pub(super) fn retractions(&self) -> &Retractions {
        &self.retractions
    }

    /// Returns the names under which outcomes are shown.
    pub fn display_names(&self) -> &DisplayNames {
        &self.names
    }

    /// Visits the shown names of all stored outcomes, each with a file that has it. A name can be visited more than once.
    pub fn for_each_name(&self, visit: &mut dyn FnMut(NameKind, &str, &str)) {
        let mut seen = vec![false; self.snapshot.item_sets.len()];
        let mut facts_seen = vec![false; self.snapshot.fact_columns.len()];
        for unit in &self.snapshot.items {
            for row in &unit.rows {
                if !std::mem::replace(&mut seen[row.items as usize], true) {
                    for key in &self.snapshot.item_sets[row.items as usize] {
                        let ItemKey {
                            kind: _,
                            evaluator,
                            item,
                        } = self.names.display_key(&self.snapshot.keys[*key as usize]);
                        visit(NameKind::Item, &item, &unit.path);
                        visit(NameKind::Evaluator, &evaluator, &unit.path);
                    }
                }
                if row.facts != NO_FACT_COLUMN
                    && !std::mem::replace(&mut facts_seen[row.facts as usize], true)
                {
                    for facts in &self.snapshot.fact_columns[row.facts as usize] {
                        let ItemFacts { cluster } = self
                            .names
                            .display_facts(self.snapshot.facts[*facts as usize].clone());
                        if let Some(cluster) = cluster {
                            visit(NameKind::Cluster, &cluster, &unit.path);
                        }
                    }
                }
            }
        }
    }

    /// Shows runs of one suite, approach and model as runs of several arms where they differ in a setting of the system that is not in
    /// `pooled`. What was changed between the `baseline` and the other runs splits nothing. Stored files and the cache do not change.
    pub fn split_arms_by_settings(
        &mut self,
        pooled: &BTreeSet<String>,
        baseline: &BTreeSet<RunId>,
    ) {
        let runs = self
            .runs
            .iter()
            .map(|row| (&*row.run, baseline.contains(&row.run.id)));
        let settings = ArmSettings::find_varying(runs, pooled);
        let mut names = NamesByRun::default();
        for row in &mut self.runs {
            row.settings = settings.tags_of(&row.run).to_vec();
            if !row.settings.is_empty() {
                names.set_names(
                    row.run.id.clone(),
                    GivenRunNames {
                        model: Some(model_with_settings(&row.run, &row.settings)),
                        ..GivenRunNames::default()
                    },
                );
            }
        }
        self.apply_run_names(&names);
    }

    /// Shows runs under the names that a command gives them. Stored files and the cache do not change.
    pub fn apply_run_names(&mut self, names: &NamesByRun) {
        if names.is_empty() {
            return;
        }
        self.runs
            .iter_mut()
            .for_each(|row| row.run = names.apply_to(&row.run));
        self.runs
            .par_sort_by(|left, right| compare_runs(&left.run, &right.run));
    }

    /// Renames the shown outcomes and replaces the shown runs by the result of `published`; runs for which it returns `None` are hidden. No
    /// run may change its id. Replaces the acceptances by the result of `accepted`. Stored files and the cache do not change.
    pub fn show_redacted(
        &mut self,
        names: Redacted<DisplayNames>,
        (mut published, mut accepted): (
            impl FnMut(&Run) -> Option<Redacted<Run>>,
            impl FnMut(&Acceptance) -> Redacted<Acceptance>,
        ),
    ) -> RedactedWarehouse<'_> {
        let names = names.map(|names| self.names.then_rename(names));
        // Texts are keyed by shown names.
        self.texts = Mutex::default();
        self.runs.retain_mut(|row| {
            let Some(run) = published(&row.run) else {
                return false;
            };
            row.run = Arc::new(Run::clone(&run));
            true
        });
        self.runs
            .par_sort_by(|left, right| compare_runs(&left.run, &right.run));
        self.accepted = self
            .accepted
            .iter()
            .map(|one| Acceptance::clone(&accepted(one)))
            .collect();
        RedactedWarehouse(names.map(|()| &*self))
    }

    /// Returns what could not be read, in the order of the stores.
    pub fn problems(&self) -> &[Problem] {
        &self.problems
    }

    /// Returns the runs of imported files of which another file has other results.
    pub fn differing_copies(&self) -> &[DifferingCopy] {
        &self.differing_copies
    }

    /// Returns hints of what may be wrong with sources that could be read.
    pub fn source_notes(&self) -> &[Problem] {
        &self.notes
    }

    /// Returns the files that could not be read since the stores were opened, each once.
    pub fn late_problems(&self) -> Vec<Problem> {
        let mut problems = self
            .late_problems
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone();
        problems.sort();
        problems.dedup();
        problems
    }

    /// Records that a file could not be read although the answer goes on without it.
    pub(super) fn note_unreadable(&self, path: &Path, error: &io::Error) {
        let problem = Problem::unread_file(escape_invisible(&path_text(path)), error);
        self.late_problems
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .push(problem);
    }

    /// Returns the number of runs with a folder but no header.
    pub fn unfinished_count(&self) -> usize {
        self.unfinished.len()
    }

    /// Looks at the runs with a folder but no header.
    pub fn unfinished_runs(&self) -> Vec<UnfinishedRun> {
        unfinished_runs(self.unfinished.iter().map(PathBuf::as_path))
    }

    /// Returns the unit of a run's outcomes, and the run's number in it.
    pub(super) fn locate_outcomes(&self, run: &RunId) -> Option<(u32, u32)> {
        Some((*self.unit_of.get(run)?, *self.run_numbers.get(run)?))
    }

    /// Returns the totals of a run, also of one that does not count.
    pub(super) fn totals_of(&self, run: &RunId) -> Option<ItemTotals> {
        let (unit, number) = self.locate_outcomes(run)?;
        let totals = &self.snapshot.items.get(unit as usize)?.totals;
        totals
            .binary_search_by_key(&number, |(run, _)| *run)
            .ok()
            .map(|place| totals[place].1)
    }

    /// Returns the place of a run's outcomes, then that of an imported run's judgements.
    pub(super) fn locate_all_outcomes(
        &self,
        run: &RunId,
    ) -> impl Iterator<Item = (u32, u32)> + use<> {
        let judged = self
            .judged
            .get(run)
            .and_then(|judged| judged.unit)
            .zip(self.run_numbers.get(run).copied());
        self.locate_outcomes(run).into_iter().chain(judged)
    }

    /// Returns whether a run's outcomes are outside of stores, with their texts.
    pub fn is_external(&self, run: &RunId) -> bool {
        self.unit_of
            .get(run)
            .is_some_and(|unit| *unit as usize >= self.stored_units)
    }

    /// Returns what evaluators said of a run that is not in a store, in every revision. Empty for runs in stores, which have it in a file.
    pub fn score_lines(&self, run: &RunId) -> &[ScoreLine] {
        self.score_lines.get(run).map_or(&[], Vec::as_slice)
    }

    /// Returns the folder with an imported run's judgements, or `None` if it has none. Runs with a file of their own have none.
    pub fn judgement_folder(&self, run: &RunId) -> Option<&Path> {
        self.judged.get(run).map(|judged| judged.folder.as_path())
    }

    /// Returns the files with a run's outcomes: its own file or its sealed pair, then the judgements of an imported run.
    pub(super) fn files_of(&self, run: &RunId) -> impl Iterator<Item = &str> {
        let judged = self.judged.get(run).and_then(|judged| judged.unit);
        let units = self.unit_of.get(run).copied().into_iter().chain(judged);
        units.filter_map(|unit| Some(self.snapshot.items.get(unit as usize)?.path.as_str()))
    }

    /// Returns the items of a kind that have outcomes in the given runs, whether or not the pass rate counts them.
    pub fn items_of_kind<'a>(
        &self,
        kind: ItemKind,
        runs: impl IntoIterator<Item = &'a RunId>,
    ) -> BTreeSet<ItemKey> {
        let wanted: HashSet<(u32, u32)> = runs
            .into_iter()
            .flat_map(|id| self.locate_all_outcomes(id))
            .collect();
        let units: BTreeSet<u32> = wanted.iter().map(|(unit, _)| *unit).collect();
        let rows = units.iter().flat_map(|unit| {
            self.snapshot.items[*unit as usize]
                .rows
                .iter()
                .map(move |row| (*unit, row))
        });
        let sets: BTreeSet<u32> = rows
            .filter(|(unit, row)| wanted.contains(&(*unit, row.run)))
            .map(|(_, row)| row.items)
            .collect();
        let keys: BTreeSet<u32> = sets
            .iter()
            .flat_map(|set| &self.snapshot.item_sets[*set as usize])
            .copied()
            .collect();
        let key = |number: u32| {
            let key = &self.snapshot.keys[number as usize];
            (key.kind == kind).then(|| self.names.display_key(key))
        };
        keys.into_iter().filter_map(key).collect()
    }

    /// Returns the outcomes of the given runs at the items of their pass rate (questions, else shared tests, else criteria, else checks).
    ///
    /// Facts about the items come from these runs alone. Pass runs of one suite version: items of other versions are other items. If runs
    /// contradict each other, the majority counts; on a tie, the clustering that sorts first.
    pub fn outcome_matrix<'a>(&self, runs: impl IntoIterator<Item = &'a RunId>) -> OutcomeMatrix {
        let mut wanted: Vec<&RunId> = runs.into_iter().collect();
        wanted.sort();
        wanted.dedup();
        // One pass over each unit's rows, for any number of runs.
        let mut by_unit: BTreeMap<u32, HashMap<u32, usize>> = BTreeMap::new();
        for (place, run) in wanted.iter().enumerate() {
            for (unit, number) in self.locate_all_outcomes(run) {
                by_unit.entry(unit).or_default().insert(number, place);
            }
        }
        let mut found = Vec::new();
        for (unit, numbers) in &by_unit {
            for row in &self.snapshot.items[*unit as usize].rows {
                if let Some(place) = numbers.get(&row.run) {
                    found.push((*place, *unit, row));
                }
            }
        }
        // The sort is stable: an imported run's judgements come last.
        found.sort_by_key(|(place, _, row)| (*place, row.attempt));

        let mut used = vec![false; self.snapshot.keys.len()];
        let mut set_used = vec![false; self.snapshot.item_sets.len()];
        for (_, _, row) in &found {
            if !std::mem::replace(&mut set_used[row.items as usize], true) {
                for key in &self.snapshot.item_sets[row.items as usize] {
                    used[*key as usize] = true;
                }
            }
        }
        let keys = &self.snapshot.keys;
        let Some(headline) = headline_kind(
            used.iter()
                .zip(keys)
                .filter(|(used, _)| **used)
                .map(|(_, key)| (key.kind, key.evaluator.as_str())),
        ) else {
            return OutcomeMatrix::default();
        };
        let mut named: Vec<(ItemKey, u32)> = (0..)
            .zip(keys)
            .filter(|(number, key)| {
                used[*number as usize] && is_headline(headline, key.kind, &key.evaluator)
            })
            .map(|(number, key)| (self.names.display_key(key), number))
            .collect();
        // Keys are numbered by first occurrence, which must not affect the result. Of two items with one display name, the first by stored
        // name counts.
        named.sort_by(|(left, one), (right, other)| {
            (left, &keys[*one as usize].item).cmp(&(right, &keys[*other as usize].item))
        });
        // Aliases can give two keys one name, which makes them one item.
        let mut index_of = vec![NOT_IN_MATRIX; keys.len()];
        let mut order_of = vec![NOT_IN_MATRIX; keys.len()];
        let mut merged: Vec<ItemKey> = Vec::with_capacity(named.len());
        for (order, (key, number)) in (0..).zip(named) {
            if merged.last() != Some(&key) {
                merged.push(key);
            }
            index_of[number as usize] = super::intern::id_from_len(merged.len() - 1);
            order_of[number as usize] = order;
        }
        let facts = self.resolve_facts(&found, &index_of, merged.len());
        let facts = facts
            .into_iter()
            .map(|facts| self.names.display_facts(facts));
        let items = merged
            .into_iter()
            .zip(facts)
            .map(|(key, ItemFacts { cluster })| MatrixItem { key, cluster })
            .collect();
        // For each used item set: the indices to take, in the order of the matrix's items.
        let mut plans: HashMap<(u32, JudgeRevisions<'_>), RowSelection> = HashMap::new();
        let rows = found
            .into_iter()
            .map(|(place, unit, row)| {
                let judges = self.overriding_judges(wanted[place], unit);
                let (indices, places) = plans.entry((row.items, judges)).or_insert_with(|| {
                    let mut taken: Vec<(u32, u32, u32)> = (0..)
                        .zip(&self.snapshot.item_sets[row.items as usize])
                        .filter(|(_, key)| {
                            !judges
                                .iter()
                                .any(|(judge, _)| *judge == keys[**key as usize].evaluator)
                        })
                        .map(|(place, key)| {
                            (index_of[*key as usize], order_of[*key as usize], place)
                        })
                        .filter(|(index, _, _)| *index != NOT_IN_MATRIX)
                        .collect();
                    taken.sort_unstable();
                    taken.dedup_by_key(|(index, _, _)| *index);
                    let places: Vec<u32> = taken.iter().map(|(_, _, place)| *place).collect();
                    let is_whole = places.len() == row.statuses.len()
                        && (0..).zip(&places).all(|(own, place)| own == *place);
                    (
                        taken.iter().map(|(index, _, _)| *index).collect(),
                        (!is_whole).then_some(places),
                    )
                });
                let (statuses, scores) = match places {
                    None => (row.statuses.clone(), row.scores.clone()),
                    Some(places) => {
                        let places = || places.iter().map(|place| *place as usize);
                        (row.statuses.select(places()), row.scores.select(places()))
                    }
                };
                MatrixRow {
                    run: wanted[place].clone(),
                    attempt: row.attempt,
                    items: Arc::clone(indices),
                    statuses,
                    scores,
                }
            })
            .filter(|row: &MatrixRow| !row.items.is_empty())
            .collect();
        OutcomeMatrix {
            items,
            rows: self.merge_attempt_rows(rows),
        }
    }

    /// Returns the facts of each matrix item from the matrix's own rows, given with their runs' indices.
    fn resolve_facts(
        &self,
        found: &[(usize, u32, &StoredRow)],
        index_of: &[u32],
        items: usize,
    ) -> Vec<ItemFacts<String>> {
        let mut voices = FactVotes::new(&self.snapshot.facts, items);
        // Runs that agree about the same items are added together.
        let mut alike: BTreeMap<(u32, u32), BTreeSet<usize>> = BTreeMap::new();
        for (place, _, row) in found.iter().filter(|(.., row)| row.facts != NO_FACT_COLUMN) {
            alike
                .entry((row.items, row.facts))
                .or_default()
                .insert(*place);
        }
        for ((set, column), runs) in alike {
            let (set, column) = (
                &self.snapshot.item_sets[set as usize],
                &self.snapshot.fact_columns[column as usize],
            );
            let said = set
                .iter()
                .zip(column)
                .map(|(key, facts)| (index_of[*key as usize], *facts));
            voices.add_runs(runs, said.filter(|(index, _)| *index != NOT_IN_MATRIX));
        }
        voices.resolve_facts()
    }

    /// Returns a digest of all shown runs and outcomes, whatever files they came from.
    pub fn content_digest(&self) -> String {
        let mut hasher = Sha256::new();
        for suite in self
            .runs
            .chunk_by(|left, right| left.run.suite == right.run.suite)
        {
            for row in suite {
                hasher.update(to_json(&row.run));
                hasher.update(b"\n");
            }
            let mut versions: BTreeMap<Option<&str>, Vec<&RunId>> = BTreeMap::new();
            for row in suite {
                versions
                    .entry(row.run.suite_version.as_deref())
                    .or_default()
                    .push(&row.run.id);
            }
            for runs in versions.into_values() {
                self.digest_outcomes(runs, &mut hasher);
            }
        }
        to_hex(&hasher.finalize())
    }

    fn digest_outcomes(&self, runs: Vec<&RunId>, hasher: &mut Sha256) {
        let matrix = self.outcome_matrix(runs);
        for item in &matrix.items {
            hasher.update(format!("{:?}\n", item.key));
            if let Some(cluster) = &item.cluster {
                hasher.update(format!("{cluster:?}\n"));
            }
        }
        for row in &matrix.rows {
            hasher.update(format!("{} {} {:?}\n", row.run, row.attempt, row.items));
            hasher.update(row.statuses.iter().map(status_code).collect::<Vec<u8>>());
            if let RowScores::Own(scores) = &row.scores {
                hasher.update(format!("{scores:?}"));
            }
        }
    }

    /// Writes the snapshot. Units of lakes go with what is known of their lake, and those of engines' answers are left out.
    fn write_snapshot(&mut self, path: &Path, headers: usize, items: usize) -> io::Result<()> {
        let (joined_headers, joined_items) = (
            self.snapshot.headers.split_off(headers),
            self.snapshot.items.split_off(items),
        );
        let mut joined_items = joined_items.into_iter();
        let mut spares = Vec::with_capacity(self.lakes.len());
        for JoinedLake { kept, units, .. } in &mut self.lakes {
            spares.push(kept.units.len());
            kept.units.extend(joined_items.by_ref().take(*units));
        }
        self.snapshot.lakes = self
            .lakes
            .iter_mut()
            .map(|lake| std::mem::take(&mut lake.kept))
            .collect();
        let saved = self.snapshot.save(path);
        self.snapshot.headers.extend(joined_headers);
        for (lake, (mut kept, spare)) in self.lakes.iter_mut().zip(
            std::mem::take(&mut self.snapshot.lakes)
                .into_iter()
                .zip(spares),
        ) {
            self.snapshot.items.extend(kept.units.split_off(spare));
            lake.kept = kept;
        }
        self.snapshot.items.extend(joined_items);
        saved
    }

    /// Writes the cache for the next command, and removes what is superseded. A cache that cannot be written only costs time. Fails with the
    /// reason of this or an earlier failed write.
    pub fn save_cache(&mut self) -> Result<(), String> {
        let path = self
            .cache
            .as_ref()
            .map(|cache| cache.join(format!("{SNAPSHOT_PREFIX}{}", self.name)));
        let is_first = path.as_ref().is_some_and(|path| !path.exists());
        if let Some((path, headers, items)) = self.unsaved.take() {
            match self.write_snapshot(&path, headers, items) {
                Ok(()) => info!(file = %path.display(), "cache written"),
                Err(error) => self.note_cache_trouble(error.to_string()),
            }
        } else if let Some(path) = path {
            files::mark_used(&path);
        }
        let had_segments = self.cache_use.take().flatten().is_some();
        if let Some(cache) = self.cache.as_ref().filter(|_| is_first || had_segments) {
            sweep_cache(cache, None);
        }
        self.cache_trouble
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take()
            .map_or(Ok(()), Err)
    }
}

/// Orders by suite, time (unknown first) and id.
fn compare_runs(left: &Run, right: &Run) -> Ordering {
    (&left.suite, left.timestamp, &left.id).cmp(&(&right.suite, right.timestamp, &right.id))
}

/// The items of a row, and their indices in its stored item set; `None` if they are all of the set in its order.
type RowSelection = (Arc<[u32]>, Option<Vec<u32>>);

/// Marks a key that is no matrix item.
const NOT_IN_MATRIX: u32 = u32::MAX;

/// Returns the kind of item of the pass rate: questions, else shared tests, else criteria, else checks.
fn headline_kind<'a>(present: impl Iterator<Item = (ItemKind, &'a str)>) -> Option<ItemKind> {
    let mut best: Option<ItemKind> = None;
    for (kind, evaluator) in present {
        if is_headline(kind, kind, evaluator) && best.is_none_or(|best| kind < best) {
            best = Some(kind);
        }
    }
    best
}

/// Returns whether an outcome counts for the pass rate. An approach's own tests and the functional tests do not, because not every arm has
/// them.
fn is_headline(headline: ItemKind, kind: ItemKind, evaluator: &str) -> bool {
    kind == headline && !matches!(evaluator, "own_tests" | "functional_tests")
}

/// Returns a short name of a set of stores for files of the cache.
fn stores_digest(stores: &[String]) -> String {
    let name: String = stores.iter().flat_map(|store| [store, "\n"]).collect();
    to_hex(&Sha256::digest(name.as_bytes()))[..16].to_owned()
}
