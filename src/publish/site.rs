//! The pages of a site's runs: finds those to make, reads their data, and collects what suites' pages need of it.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use rayon::prelude::*;
use sha2::{Digest, Sha256};

use crate::domain::{
    Filter, ItemDetails, ItemKind, ItemOutcome, Redacted, Run, RunId, latest_of_each, to_hex,
};
use crate::files;
use crate::render::html::{
    ITEMS_PER_PAGE, SiteRoutes, other_outcome_dependencies, run_dependencies, run_files,
    suite_dependencies,
};
use crate::results::to_json;
use crate::views::{
    AnswerGatherer, CriteriaTally, DetailsByItem, ItemPage, ItemRow, Overview, RunPage,
    RunTranscripts, SuiteItemAnswers, criterion_rows, item_pages, reasons_in_rows, run_page,
};
use crate::warehouse::{FileStamp, Progress, RunRow, Warehouse};

use super::build_cache::{CachedPages, PageTotals, SecretMatches};
use super::error::PublishError;
use super::folder::SiteFolder;
use super::secret_scan::{ScannedPage, SecretScan};
use super::source_key::to_stamp_text;
use super::stored::{self, JOURNAL_FILES, NamedStores, display_path};
use super::transcripts::TranscriptSelection;

/// Outcomes held in memory at once, with their answers and transcripts. The second limit is of runs.
const MAX_LINES_AT_ONCE: u64 = 80_000;
const MAX_RUNS_AT_ONCE: usize = 64;

/// The data of a site and the folder it goes to.
pub(super) struct SiteBuilder<'a> {
    pub stores: NamedStores<'a>,
    pub warehouse: &'a Warehouse,
    pub filter: &'a Filter,
    pub overview: &'a Redacted<Overview>,
    pub plan: &'a SiteRoutes,
    pub folder: &'a SiteFolder,
    pub progress: &'a Progress<'a>,
    /// Stamp of everything besides the data that affects pages: equal rules and equal data give equal pages. `None` if unknown.
    pub rules: Option<String>,
}

/// State that is carried from suite to suite.
pub(super) struct CarriedState<'a> {
    pub texts: &'a mut SecretScan,
    pub transcripts: &'a mut TranscriptSelection,
    pub sides: &'a mut AnswerGatherer,
}

/// A suite, in all its versions. Its runs' pages are made; its own pages are not yet.
#[derive(Default)]
pub(super) struct UnmadeSuite {
    /// Indices in the overview.
    pub places: Vec<usize>,
    /// Collected from its runs, by index in the overview.
    pub told: BTreeMap<usize, SuiteRunData>,
    /// Stamp of all sources of its files. `None` if unknown.
    pub stamp: Option<String>,
    /// Its runs' files, with the totals for messages about them.
    pub made: CachedPages,
}

/// The suites of a site after the pages of their runs.
#[derive(Default)]
pub(super) struct WrittenSuites {
    /// Those whose own pages are to be made.
    pub unmade: Vec<UnmadeSuite>,
    /// What other pages say of the suites whose pages are kept, by index in the overview.
    pub kept: BTreeMap<usize, SuiteItemAnswers>,
}

/// Data of a suite that is collected from its runs.
#[derive(Default)]
pub(super) struct SuiteRunData {
    pub criteria: CriteriaTally,
    pub stories: SuiteItemAnswers,
}

/// Parsed lines of a run's journal.
#[derive(Default)]
struct JournalLines {
    outcomes: Vec<ItemOutcome>,
    details: DetailsByItem,
}

/// Content of a run's pages.
struct RunPagesContent<'a> {
    row: &'a RunRow,
    page: Redacted<RunPage>,
    items: Redacted<Vec<ItemPage>>,
    transcripts: RunTranscripts,
}

/// A run's pages before its scores and transcripts are read.
struct PartialRunPages<'a> {
    row: &'a RunRow,
    page: RunPage,
    items: Redacted<Vec<ItemPage>>,
    criteria: Redacted<Vec<ItemRow>>,
}

impl SiteBuilder<'_> {
    /// Writes the pages of runs. Keeps all pages of suites that are unchanged since the last build, and returns the other suites.
    pub fn write_runs(
        &self,
        gathered: &mut CarriedState<'_>,
    ) -> Result<WrittenSuites, PublishError> {
        let rows: Vec<&RunRow> = self.warehouse.select_runs(self.filter).collect();
        (self.progress.begin)("writing run pages", rows.len() as u64);
        let mut suites = WrittenSuites::default();
        for rows in rows.chunk_by(|left, right| left.run.suite == right.run.suite) {
            let suite = rows[0].run.suite.as_str();
            let sources: Vec<String> = rows
                .par_iter()
                .map(|row| self.describe_sources(row))
                .collect::<Result<_, PublishError>>()?;
            let around = suite_dependencies(self.overview, self.plan, suite);
            let made_of = std::iter::once(&around).chain(&sources).map(String::as_str);
            let stamp = self
                .digest_sources(made_of)
                .filter(|_| !gathered.texts.counts_redactions());
            let would_repeat =
                |said: &PageTotals| gathered.transcripts.would_repeat(&said.transcripts);
            let kept = stamp
                .as_ref()
                .and_then(|stamp| self.folder.keep_files(stamp, would_repeat));
            match kept {
                Some(CachedPages {
                    said, categories, ..
                }) => {
                    let told = categories
                        .iter()
                        .map(|known| SuiteItemAnswers::from_categories(known));
                    suites
                        .kept
                        .extend(self.version_indices(suite).into_iter().zip(told));
                    gathered.transcripts.repeat_suite(&said.transcripts);
                    gathered.texts.repeat_matches(&said.places);
                    (self.progress.advance)(rows.len() as u64);
                }
                None => {
                    let mut suite = UnmadeSuite {
                        stamp,
                        places: self.version_indices(suite),
                        ..UnmadeSuite::default()
                    };
                    self.write_suite(rows, &sources, &mut suite, gathered)?;
                    suites.unmade.push(suite);
                }
            }
        }
        (self.progress.end)();
        Ok(suites)
    }

    /// Writes the pages of a suite's runs in groups, and collects the suite's data from them. `sources` has one text per run, see
    /// [`SiteBuilder::describe_sources`].
    fn write_suite(
        &self,
        rows: &[&RunRow],
        sources: &[String],
        suite: &mut UnmadeSuite,
        gathered: &mut CarriedState<'_>,
    ) -> Result<(), PublishError> {
        let around = |place: &usize| {
            (
                *place,
                to_hex(&Sha256::digest(run_dependencies(
                    self.overview,
                    self.plan,
                    *place,
                ))),
            )
        };
        let around: BTreeMap<usize, String> = suite.places.iter().map(around).collect();
        let mut done = 0;
        while done < rows.len() {
            let some = &rows[done..][..count_read_together(&rows[done..])];
            let made = self.read_runs(some, gathered.texts, gathered.transcripts)?;
            let write = |(made, sources): (&RunPagesContent<'_>, &String)| {
                let around = around.get(&self.plan.suite_of_run(made.row.run.id.as_str())?)?;
                let turn = to_stamp_text(&self.plan.run_turn(made.row.run.id.as_str()));
                let transcripts = to_stamp_text(&made.transcripts);
                let beside = other_outcome_dependencies(
                    self.overview,
                    self.plan,
                    &made.page,
                    &made.items,
                    &made.transcripts,
                );
                Some(self.write_run(
                    made,
                    self.digest_sources([around.as_str(), sources, &turn, &transcripts, &beside]),
                ))
            };
            let runs: Vec<Option<String>> = made
                .par_iter()
                .zip(&sources[done..])
                .filter_map(write)
                .collect::<Result<_, PublishError>>()?;
            done += some.len();
            suite.made.parts.extend(runs.into_iter().flatten());
            for made in &made {
                self.add_run_data(made, suite, gathered.sides);
            }
            (self.progress.advance)(some.len() as u64);
        }
        let found: SecretMatches = rows
            .iter()
            .flat_map(|row| gathered.texts.matches_of_run(&self.stores, row))
            .collect();
        suite.made.said = PageTotals {
            transcripts: gathered.transcripts.end_suite(),
            places: found,
        };
        let categories = |place: &usize| {
            suite
                .told
                .get(place)
                .map_or_else(Vec::new, |told| told.stories.categories())
        };
        suite.made.categories = suite.places.iter().map(categories).collect();
        Ok(())
    }

    /// Returns the indices in the overview of a suite's versions.
    fn version_indices(&self, suite: &str) -> Vec<usize> {
        (0..)
            .zip(&self.overview.suites)
            .filter(|(_, own)| own.board.suite == suite)
            .map(|(place, _)| place)
            .collect()
    }

    /// Describes the sources of a run's pages as text. Equal texts mean an unchanged run.
    fn describe_sources(&self, row: &RunRow) -> Result<String, PublishError> {
        let mut journals = Vec::new();
        if let Some(store) = self.stores.score_store_of(self.warehouse, &row.run.id)? {
            for name in JOURNAL_FILES {
                let path = store.run_dir(&row.run.id).join(name);
                let stamp = files::missing_as_none(FileStamp::from_path(&path));
                journals.push(stamp.map_err(|error| {
                    PublishError::new(format!("cannot read {}: {error}", display_path(&path)))
                })?);
            }
        }
        Ok(to_stamp_text(&(
            to_json(&row.run),
            self.warehouse.outcomes_stamp(&row.run.id),
            journals,
        )))
    }

    /// Returns the digest of the rules and these sources, or `None` if the rules are unknown.
    fn digest_sources<'s>(&self, made_of: impl IntoIterator<Item = &'s str>) -> Option<String> {
        let mut hasher = Sha256::new_with_prefix(self.rules.as_ref()?);
        for text in made_of {
            hasher.update((text.len() as u64).to_le_bytes());
            hasher.update(text);
        }
        Some(to_hex(&hasher.finalize()))
    }

    /// Adds the data of one run to its suite.
    fn add_run_data(
        &self,
        made: &RunPagesContent<'_>,
        suite: &mut UnmadeSuite,
        sides: &mut AnswerGatherer,
    ) {
        let RunPagesContent {
            page,
            items,
            transcripts,
            ..
        } = made;
        sides.add_run(page, items, transcripts);
        if let Some(place) = self.plan.suite_of_run(&page.line.id) {
            let told = suite.told.entry(place).or_default();
            told.criteria.add_run(page, items);
            told.stories.add_run(page, items, transcripts);
        }
    }

    /// Writes the pages of a run, unless the last build made them from the same sources. Returns the stamp.
    fn write_run(
        &self,
        made: &RunPagesContent<'_>,
        stamp: Option<String>,
    ) -> Result<Option<String>, PublishError> {
        let RunPagesContent {
            page,
            items,
            transcripts,
            ..
        } = made;
        if stamp
            .as_ref()
            .is_some_and(|stamp| self.folder.keep_files(stamp, |_| true).is_some())
        {
            return Ok(stamp);
        }
        let paths = self.folder.write_files(run_files(
            self.overview,
            self.plan,
            page,
            items,
            transcripts,
        ))?;
        if let Some(stamp) = &stamp {
            self.folder.note_pages(
                stamp.clone(),
                CachedPages {
                    paths,
                    ..CachedPages::default()
                },
            );
        }
        Ok(stamp)
    }

    /// Reads the content of some runs' pages. Texts and transcripts are searched run by run, because they are counted.
    fn read_runs<'r>(
        &self,
        rows: &[&'r RunRow],
        texts: &mut SecretScan,
        transcripts: &mut TranscriptSelection,
    ) -> Result<Vec<RunPagesContent<'r>>, PublishError> {
        let lines: Vec<Redacted<(Vec<ItemOutcome>, DetailsByItem)>> = rows
            .iter()
            .zip(self.read_lines(rows)?)
            .map(|(row, JournalLines { outcomes, details })| {
                let file = self.stores.name_journal_file(&row.run.id, "items.jsonl");
                texts
                    .redact_outcomes(&file, outcomes)
                    .pair_with(texts.redact_value(ScannedPage::Items, &file, details))
            })
            .collect();
        let page = |(row, lines): (&&'r RunRow, Redacted<(Vec<ItemOutcome>, DetailsByItem)>)| {
            let rows = lines.map(|(outcomes, details)| {
                let (criteria, others) = split_criteria(&outcomes, &details);
                (
                    item_pages(row.run.id.as_str(), &others, &details, ITEMS_PER_PAGE),
                    criteria,
                )
            });
            let (items, criteria) = rows.split_pair();
            PartialRunPages {
                row,
                page: run_page(self.warehouse, row),
                items,
                criteria,
            }
        };
        let begun: Vec<PartialRunPages<'r>> = rows.par_iter().zip(lines).map(page).collect();
        begun
            .into_iter()
            .map(|run| self.complete_run(run, texts, transcripts))
            .collect()
    }

    /// Adds to a run what is in other files than its outcomes.
    fn complete_run<'r>(
        &self,
        run: PartialRunPages<'r>,
        texts: &mut SecretScan,
        transcripts: &mut TranscriptSelection,
    ) -> Result<RunPagesContent<'r>, PublishError> {
        let PartialRunPages {
            row,
            page,
            items,
            criteria,
        } = run;
        let id = &row.run.id;
        let items = items.map(|pages| {
            let reasons = reasons_in_rows(pages.iter().flat_map(|page| &page.rows));
            (pages, reasons)
        });
        let (items, reasons) = items.split_pair();
        let transcripts = match self.plan.run_segment(id.as_str()) {
            Some(segment) => {
                let arms = self
                    .plan
                    .suite_of_run(id.as_str())
                    .map_or(0, |place| self.overview.suites[place].items.arms.len());
                transcripts.take_run(&self.stores, texts, row, &items, segment, arms)?
            }
            None => RunTranscripts::default(),
        };
        let store = self.stores.score_store_of(self.warehouse, id)?;
        let scores = stored::read_evaluator_scores(store.as_ref(), self.warehouse, id);
        let scores = texts.redact_value(
            ScannedPage::Runs,
            &self.stores.name_journal_file(id, "scores.jsonl"),
            scores,
        );
        // The rest of the page comes from the warehouse, which was searched as a whole.
        let page =
            scores
                .pair_with(criteria)
                .pair_with(reasons)
                .map(|((scores, criteria), reasons)| {
                    let mut page = page;
                    page.add_judgements(scores, criteria);
                    page.reasons = reasons;
                    page
                });
        Ok(RunPagesContent {
            row,
            page,
            items,
            transcripts,
        })
    }

    /// Reads the lines of some runs. Runs with a journal are read from it, in parallel; imports that keep texts from their files. Other
    /// imports are large and have only outcomes, so those come from the segments.
    fn read_lines(&self, rows: &[&RunRow]) -> Result<Vec<JournalLines>, PublishError> {
        let journal = |row: &&RunRow| {
            let id = &row.run.id;
            let items = self
                .stores
                .store_of(id)?
                .map(|store| self.stores.read_journal(&store, id));
            Ok(items
                .transpose()?
                .map(|items| JournalLines::from_items(items.unwrap_or_default())))
        };
        let mut read: Vec<Option<JournalLines>> = rows
            .par_iter()
            .map(journal)
            .collect::<Result<_, PublishError>>()?;
        let imported = |keep_texts: bool| {
            let unread = rows
                .iter()
                .zip(&read)
                .filter(|(row, lines)| lines.is_none() && row.items.is_some());
            unread
                .map(|(row, _)| *row)
                .filter(move |row| stored::has_details(self.warehouse, row) == keep_texts)
        };
        let with_texts: Vec<Arc<Run>> = imported(true).map(|row| Arc::clone(&row.run)).collect();
        let without: Vec<&RunId> = imported(false).map(|row| &row.run.id).collect();
        let mut found: BTreeMap<RunId, Vec<(ItemOutcome, ItemDetails)>> = BTreeMap::new();
        for item in self
            .stores
            .read_detailed_imports(self.warehouse, &with_texts)?
        {
            found.entry(item.0.run.clone()).or_default().push(item);
        }
        for item in self
            .stores
            .read_imported_outcomes(self.warehouse, &without)?
        {
            found.entry(item.0.run.clone()).or_default().push(item);
        }
        for (row, lines) in rows
            .iter()
            .zip(&mut read)
            .filter(|(_, lines)| lines.is_none())
        {
            *lines = found.remove(&row.run.id).map(JournalLines::from_items);
        }
        Ok(read.into_iter().map(Option::unwrap_or_default).collect())
    }
}

impl JournalLines {
    fn from_items(items: Vec<(ItemOutcome, ItemDetails)>) -> Self {
        let mut items = items;
        if items.iter().any(|(outcome, _)| outcome.revision > 0) {
            items = latest_of_each(
                items,
                |(outcome, _)| (outcome.key(), outcome.attempt),
                |(outcome, _)| outcome.revision,
            );
        }
        let mut lines = Self {
            outcomes: Vec::with_capacity(items.len()),
            details: DetailsByItem::new(),
        };
        let mut first_place: HashMap<&str, usize> = HashMap::new();
        for (place, (outcome, _)) in items.iter().enumerate() {
            first_place.entry(&outcome.item).or_insert(place);
        }
        let mut places: Vec<usize> = (0..items.len()).collect();
        // Sorts indices: the lines themselves are too large to move. Items stay in the order in which they first come.
        places.sort_by_key(|place| {
            let outcome = &items[*place].0;
            (
                outcome.kind.name(),
                &outcome.evaluator,
                first_place[outcome.item.as_str()],
                outcome.attempt,
            )
        });
        let mut items: Vec<Option<(ItemOutcome, ItemDetails)>> =
            items.into_iter().map(Some).collect();
        for (outcome, details) in places.into_iter().filter_map(|place| items[place].take()) {
            if details != ItemDetails::default() {
                lines
                    .details
                    .insert((outcome.key(), outcome.attempt), details);
            }
            lines.outcomes.push(outcome);
        }
        lines
    }
}

/// Returns how many of the first runs are read together, so that their outcomes fit into memory.
fn count_read_together(rows: &[&RunRow]) -> usize {
    let mut lines = 0;
    let fits = |row: &&&RunRow| {
        lines += row.items.map_or(0, |items| items.lines);
        lines <= MAX_LINES_AT_ONCE
    };
    rows.iter()
        .take(MAX_RUNS_AT_ONCE)
        .take_while(fits)
        .count()
        .max(1)
}

/// Takes the criteria out of a run's outcomes. If a page has no room for all of them, they stay among the items.
fn split_criteria<'o>(
    outcomes: &'o [ItemOutcome],
    details: &DetailsByItem,
) -> (Vec<ItemRow>, Cow<'o, [ItemOutcome]>) {
    let is_criterion = |outcome: &&ItemOutcome| outcome.kind == ItemKind::Criterion;
    let found = outcomes.iter().filter(is_criterion).count();
    if found == 0 || found > ITEMS_PER_PAGE {
        return (Vec::new(), Cow::Borrowed(outcomes));
    }
    let (criteria, others): (Vec<&ItemOutcome>, Vec<&ItemOutcome>) =
        outcomes.iter().partition(is_criterion);
    let with_details = |outcome: &ItemOutcome| {
        let details = details
            .get(&(outcome.key(), outcome.attempt))
            .cloned()
            .unwrap_or_default();
        (outcome.clone(), details)
    };
    let criteria: Vec<(ItemOutcome, ItemDetails)> =
        criteria.into_iter().map(with_details).collect();
    (
        criterion_rows(&criteria),
        Cow::Owned(others.into_iter().cloned().collect()),
    )
}
