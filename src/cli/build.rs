//! `build`: the static site.

use std::borrow::Cow;
use std::collections::BTreeMap;

use rayon::prelude::*;
use serde::Serialize;
use sha2::{Digest, Sha256};
use tracing::{info, warn};

use crate::domain::{Filter, ItemDetails, ItemKind, ItemOutcome, Run, RunId, hex};
use crate::render::html::{ITEMS_PER_PAGE, Plan, SiteFile, crawler_files, published_files, run_files, run_stamp, single_file, site_parts};
use crate::render::json;
use crate::views::{
    CriteriaTally, DetailsByItem, ItemPage, ItemRow, ItemStories, Overview, RunPage, RunTranscripts, Sides, SiteOptions, criteria_of,
    items_of, news, overview, run_page,
};
use crate::warehouse::{RunRow, Warehouse};

use super::arguments::{Build, Publishing};
use super::failure::Failure;
use super::progress::Bar;
use super::redaction::{self, Found, Texts};
use super::settings::{Settings, shown};
use super::site_folder::SiteFolder;
use super::transcripts::Transcripts;
use super::{exit_code, foreign, output, policy, selection, show, site_folder};

/// Outcomes held in memory at once.
const BATCH_LINES: u64 = 250_000;
/// Runs held in memory at once with their answers and transcripts.
const RUNS_AT_ONCE: usize = 4;

pub(super) fn run(settings: &Settings, arguments: &Build) -> Result<u8, Failure> {
    let mut filter = arguments.selection.filter()?;
    let settings = &foreign::with_paths(settings, &arguments.paths)?;
    let mut warehouse = settings.open()?;
    if warehouse.runs().is_empty() {
        output::say(settings, "note: the store holds no runs; the site says so");
    } else {
        selection::check(&warehouse, &filter)?;
    }
    let mut policy = policy::configured(settings)?;
    let mut options = options(settings, &warehouse, &arguments.publishing)?;
    let found = if arguments.publishing.redact { Found::TakenOut } else { Found::Named };
    let mut texts = Texts::new(settings, &warehouse, &filter, found)?;
    texts.apply(settings, &mut warehouse, &mut filter, &mut policy, &mut options);
    // What was said of names holds for the journals that are read from here on.
    let mut config = settings.config.clone();
    config.aliases = warehouse.aliases().clone();
    let settings = &Settings { config, ..settings.clone() };
    let mut overview = overview(&warehouse, &filter, &policy, &options, env!("CARGO_PKG_VERSION"), &warehouse.digest());
    let plan = Plan::new(&overview);
    info!(suites = overview.suites.len(), runs = overview.runs_by_name().len(), "overview made");
    if let Some(file) = &arguments.publishing.single_file {
        let bytes = single_file(&overview, &plan);
        site_folder::replace(file, &bytes).map_err(|error| Failure::new(format!("cannot write {}: {error}", shown(file))))?;
        texts.say(settings);
        output::say(settings, &format!("{}: {}\nopen {0}", shown(file), output::count(bytes.len(), "byte")));
        settings.keep(&mut warehouse);
        return Ok(exit_code::DONE);
    }
    let folder = SiteFolder::open(&arguments.out)?;
    let mut transcripts = Transcripts::new(&warehouse, &filter, arguments.publishing.transcripts);
    let site = Site { settings, warehouse: &warehouse, filter: &filter, overview: &overview, plan: &plan, program: program() };
    let mut sides = Sides::of(&overview);
    let told = site.write_runs(&mut texts, &mut transcripts, &mut sides, &folder)?;
    for (place, told) in told {
        if let Some(suite) = overview.suites.get_mut(place) {
            suite.criteria = told.criteria.tables();
            suite.stories = told.stories;
        }
    }
    sides.give(&mut overview);
    site_parts(&overview, &plan).into_par_iter().try_for_each(|part| write_all(&folder, part))?;
    let (written, kept) = folder.counts();
    info!(written, kept, "suite pages");
    write_all(&folder, published_files(&overview, &plan, &news(&warehouse, &filter, &policy)))?;
    if let Some(report) = texts.report() {
        folder.write("redactions.json", &report)?;
    }
    let digests = json::document("digests", Digests { files: folder.digests("data/") });
    folder.write("data/digests.json", digests.as_bytes())?;
    write_all(&folder, crawler_files(&overview.context, folder.paths().iter().map(String::as_str)))?;
    let (written, kept) = folder.counts();
    let removed = folder.finish()?;
    info!(folder = %arguments.out.display(), written, kept, removed, "site written");
    output::say(
        settings,
        &format!(
            "{}: {} written, {kept} unchanged, {removed} removed\nopen {}",
            shown(&arguments.out),
            output::count(written, "file"),
            shown(&arguments.out.join("index.html"))
        ),
    );
    transcripts.say(settings);
    texts.say(settings);
    settings.keep(&mut warehouse);
    Ok(exit_code::DONE)
}

/// Tells this program from others of the same version, which may draw other pages of the same data.
fn program() -> Option<String> {
    let bytes = std::env::current_exe().and_then(std::fs::read).ok()?;
    Some(hex(&Sha256::digest(bytes)[..8]))
}

fn write_all(folder: &SiteFolder, files: impl IntoIterator<Item = SiteFile>) -> Result<(), Failure> {
    files.into_iter().try_for_each(|file| folder.write(&file.path, &file.bytes))
}

/// Takes the configuration's word about the site. A name that no run has is a slip, not a reason to write no site.
fn options(settings: &Settings, warehouse: &Warehouse, publishing: &Publishing) -> Result<SiteOptions, Failure> {
    let site = &settings.config.site;
    let runs = warehouse.runs();
    let check = |key: &str, what: &str, name: Option<&String>, of: fn(&Run) -> &str| {
        if let Some(name) = name.filter(|name| !runs.is_empty() && runs.iter().all(|row| of(&row.run) != name.as_str())) {
            let unknown = selection::unknown(what, name, runs.iter().map(|row| of(&row.run)));
            warn!(key, name, "unknown name");
            let hint = unknown.hint.map_or_else(String::new, |hint| format!("\n  hint: {hint}"));
            output::say(settings, &format!("warning: `{key}` in the configuration: {}{hint}", unknown.message));
        }
    };
    check("site.default_suite", "suite", site.default_suite.as_ref(), |run| &run.suite);
    check("site.baseline", "approach", site.baseline.as_ref(), |run| &run.approach);
    let base_url = match &publishing.base_url {
        None => site.base_url.clone(),
        Some(text) => {
            let address = crate::config::folder_address(text).ok_or_else(|| {
                Failure::new(format!("--base-url `{}` is not the web address of a folder", crate::domain::visible(text)))
                    .with_hint("as in --base-url https://example.org/evaluations")
            })?;
            Some(address.to_owned())
        }
    };
    Ok(SiteOptions {
        title: site.title.clone().unwrap_or_else(|| "evalreport".to_owned()),
        base_url,
        noindex: site.noindex || publishing.noindex,
        default_suite: site.default_suite.clone(),
        baseline: site.baseline.clone(),
    })
}

/// What `data/digests.json` says.
#[derive(Serialize)]
struct Digests {
    /// SHA-256 of every other file below data/, by its path from the site's root.
    files: BTreeMap<String, String>,
}

/// What the runs of a suite tell about it.
#[derive(Default)]
struct Told {
    criteria: CriteriaTally,
    stories: ItemStories,
}

/// What is on the pages of a run.
struct OfRun {
    page: RunPage,
    items: Vec<ItemPage>,
    transcripts: RunTranscripts,
}

/// What is published.
struct Site<'a> {
    settings: &'a Settings,
    warehouse: &'a Warehouse,
    filter: &'a Filter,
    overview: &'a Overview,
    plan: &'a Plan,
    program: Option<String>,
}

impl Site<'_> {
    /// Writes the pages of single runs, some runs at a time. Returns what they tell, by place of the suite.
    fn write_runs(
        &self,
        texts: &mut Texts,
        transcripts: &mut Transcripts,
        sides: &mut Sides,
        folder: &SiteFolder,
    ) -> Result<BTreeMap<usize, Told>, Failure> {
        let suites = (0..).zip(&self.overview.suites);
        let suite_of: BTreeMap<&str, usize> =
            suites.flat_map(|(place, suite)| suite.runs.iter().map(move |run| (run.id.as_str(), place))).collect();
        let mut told = BTreeMap::<usize, Told>::new();
        let rows: Vec<&RunRow> = self.warehouse.select(self.filter).collect();
        let bar = Bar::new(self.settings.interactive);
        bar.watch(|progress| {
            (progress.begin)("writing run pages", rows.len() as u64);
            let mut rest = rows.as_slice();
            while !rest.is_empty() {
                let mut lines = 0;
                let length = rest.iter().take_while(|row| {
                    let fits = lines == 0 || lines + lines_of(row) <= BATCH_LINES;
                    lines += lines_of(row);
                    fits
                });
                let (batch, later) = rest.split_at(length.count());
                rest = later;
                let with_items: Vec<&RunId> = batch.iter().filter(|row| row.items.is_some()).map(|row| &row.run.id).collect();
                let outcomes =
                    self.warehouse.outcomes(&with_items).map_err(|error| Failure::new(crate::domain::visible(&error.to_string())))?;
                for some in batch.chunks(RUNS_AT_ONCE) {
                    let mut made = Vec::with_capacity(some.len());
                    for row in some {
                        let start = outcomes.partition_point(|outcome: &ItemOutcome| outcome.run < row.run.id);
                        let length = outcomes[start..].partition_point(|outcome| outcome.run == row.run.id);
                        made.push(self.run(row, &outcomes[start..start + length], texts, transcripts)?);
                    }
                    made.par_iter().try_for_each(|made| self.write_run(made, folder))?;
                    for made in &made {
                        let items = || made.items.iter().flat_map(|page| &page.rows);
                        sides.add(&made.page, items());
                        if let Some(suite) = suite_of.get(made.page.line.id.as_str()) {
                            let told = told.entry(*suite).or_default();
                            told.criteria.add(&made.page, items().chain(&made.page.criteria));
                            told.stories.add(&made.page, items().chain(&made.page.criteria), &made.transcripts);
                        }
                    }
                }
                (progress.advance)(batch.len() as u64);
            }
            (progress.end)();
            Ok(told)
        })
    }

    /// Writes the pages of a run, unless the last build by the same program made them of the same.
    fn write_run(&self, made: &OfRun, folder: &SiteFolder) -> Result<(), Failure> {
        let OfRun { page, items, transcripts } = made;
        let stamp = self.program.as_ref().zip(run_stamp(self.overview, self.plan, page, items, transcripts));
        let stamp = stamp.map(|(program, stamp)| format!("{program}-{stamp}"));
        if stamp.as_ref().is_some_and(|stamp| folder.keep(stamp)) {
            return Ok(());
        }
        let files = run_files(self.overview, self.plan, page, items, transcripts);
        let paths = files.iter().map(|file| file.path.clone()).collect();
        write_all(folder, files)?;
        if let Some(stamp) = stamp {
            folder.note(stamp, paths);
        }
        Ok(())
    }

    /// Reads what is on the pages of a run.
    fn run(&self, row: &RunRow, outcomes: &[ItemOutcome], texts: &mut Texts, transcripts: &mut Transcripts) -> Result<OfRun, Failure> {
        let file = redaction::journal_of(self.settings, row, "items.jsonl");
        let mut details = details(self.settings, self.warehouse, row)?;
        for details in details.values_mut() {
            texts.details(&file, details);
        }
        let (criteria, others) = without_criteria(outcomes, &details);
        let mut items = items_of(row.run.id.as_str(), &others, &details, ITEMS_PER_PAGE);
        items.iter_mut().flat_map(|page| &mut page.rows).for_each(|item| texts.row(&file, item));
        let transcripts = match self.plan.run_segment(row.run.id.as_str()) {
            Some(segment) => transcripts.of_run(self.settings, texts, row, &items, segment)?,
            None => RunTranscripts::default(),
        };
        let mut page = run_page(self.warehouse, row);
        let store = show::store_of(self.settings, &row.run.id);
        let mut scores = store.map(|store| show::evaluators(&store, &row.run.id)).unwrap_or_default();
        let file = redaction::journal_of(self.settings, row, "scores.jsonl");
        for score in &mut scores {
            texts.score(&file, score);
        }
        page.add_judgements(scores, criteria);
        Ok(OfRun { page, items, transcripts })
    }
}

/// Takes the criteria out of a run's outcomes, unless they are more than a page has room for: those are items like others.
fn without_criteria<'o>(outcomes: &'o [ItemOutcome], details: &DetailsByItem) -> (Vec<ItemRow>, Cow<'o, [ItemOutcome]>) {
    let is_criterion = |outcome: &&ItemOutcome| outcome.kind == ItemKind::Criterion;
    let found = outcomes.iter().filter(is_criterion).count();
    if found == 0 || found > ITEMS_PER_PAGE {
        return (Vec::new(), Cow::Borrowed(outcomes));
    }
    let (criteria, others): (Vec<&ItemOutcome>, Vec<&ItemOutcome>) = outcomes.iter().partition(is_criterion);
    let with_details = |outcome: &ItemOutcome| {
        let details = details.get(&(outcome.key(), outcome.attempt)).cloned().unwrap_or_default();
        (outcome.clone(), details)
    };
    let criteria: Vec<(ItemOutcome, ItemDetails)> = criteria.into_iter().map(with_details).collect();
    (criteria_of(&criteria), Cow::Owned(others.into_iter().cloned().collect()))
}

/// What the run's lines say of its items beside the outcomes; nothing for an imported table.
fn details(settings: &Settings, warehouse: &Warehouse, row: &RunRow) -> Result<DetailsByItem, Failure> {
    let id = &row.run.id;
    let mut items = match show::store_of(settings, id) {
        Some(store) => show::detailed(settings, &store, id)?.unwrap_or_default(),
        None if show::has_details(row) => show::detailed_import(settings, warehouse, row)?,
        None => return Ok(DetailsByItem::new()),
    };
    // The highest revision is collected last, and stays.
    items.sort_by_key(|(outcome, _)| outcome.revision);
    let is_known = |(_, details): &(ItemOutcome, ItemDetails)| *details != ItemDetails::default();
    Ok(items.into_iter().filter(is_known).map(|(outcome, details)| ((outcome.key(), outcome.attempt), details)).collect())
}

fn lines_of(row: &RunRow) -> u64 {
    row.items.map_or(0, |items| items.lines)
}
