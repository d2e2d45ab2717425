//! `build`: the static site.

use std::borrow::Cow;
use std::collections::BTreeMap;

use tracing::{info, warn};

use crate::domain::{Filter, ItemDetails, ItemKind, ItemOutcome, Run, RunId};
use crate::render::html::{ITEMS_PER_PAGE, Plan, crawler_files, run_files, site_files};
use crate::views::{CriteriaTally, DetailsByItem, ItemRow, Overview, SiteOptions, criteria_of, items_of, overview, run_page};
use crate::warehouse::{RunRow, Warehouse};

use super::arguments::Build;
use super::failure::Failure;
use super::progress::Bar;
use super::settings::{Settings, shown};
use super::site_folder::SiteFolder;
use super::{exit_code, output, policy, selection, show};

/// Outcomes held in memory at once.
const BATCH_LINES: u64 = 250_000;

pub(super) fn run(settings: &Settings, arguments: &Build) -> Result<u8, Failure> {
    let filter = arguments.selection.filter()?;
    let mut warehouse = settings.open()?;
    if warehouse.runs().is_empty() {
        output::say(settings, "note: the store holds no runs; the site says so");
    } else {
        selection::check(&warehouse, &filter)?;
    }
    let policy = policy::configured(settings)?;
    let options = options(settings, &warehouse);
    let mut overview = overview(&warehouse, &filter, &policy, &options, env!("CARGO_PKG_VERSION"), &warehouse.digest());
    let plan = Plan::new(&overview);
    info!(suites = overview.suites.len(), runs = overview.runs_by_name().len(), "overview made");
    let mut folder = SiteFolder::open(&arguments.out)?;
    let tallies = write_runs(settings, &warehouse, &filter, &overview, &plan, &mut folder)?;
    for (suite, tally) in tallies {
        if let Some(suite) = overview.suites.get_mut(suite) {
            suite.criteria = tally.tables();
        }
    }
    for file in site_files(&overview, &plan) {
        folder.write(&file.path, &file.bytes)?;
    }
    info!(written = folder.written, kept = folder.kept, "suite pages");
    for file in crawler_files(&overview.context, folder.paths()) {
        folder.write(&file.path, &file.bytes)?;
    }
    let (written, kept) = (folder.written, folder.kept);
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
    settings.keep(&mut warehouse);
    Ok(exit_code::DONE)
}

/// Takes the configuration's word about the site. A name that no run has is a slip, not a reason to write no site.
fn options(settings: &Settings, warehouse: &Warehouse) -> SiteOptions {
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
    SiteOptions {
        title: site.title.clone().unwrap_or_else(|| "evalreport".to_owned()),
        base_url: site.base_url.clone(),
        noindex: site.noindex,
        default_suite: site.default_suite.clone(),
        baseline: site.baseline.clone(),
    }
}

/// Writes the pages of single runs, some runs at a time. Returns what their criteria add up to, by place of the suite.
fn write_runs(
    settings: &Settings,
    warehouse: &Warehouse,
    filter: &Filter,
    overview: &Overview,
    plan: &Plan,
    folder: &mut SiteFolder,
) -> Result<BTreeMap<usize, CriteriaTally>, Failure> {
    let suite_of: BTreeMap<&str, usize> =
        (0..).zip(&overview.suites).flat_map(|(place, suite)| suite.runs.iter().map(move |run| (run.id.as_str(), place))).collect();
    let mut tallies = BTreeMap::<usize, CriteriaTally>::new();
    let rows: Vec<&RunRow> = warehouse.select(filter).collect();
    let bar = Bar::new(settings.interactive);
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
            let outcomes = warehouse.outcomes(&with_items).map_err(|error| Failure::new(crate::domain::visible(&error.to_string())))?;
            for row in batch {
                let start = outcomes.partition_point(|outcome: &ItemOutcome| outcome.run < row.run.id);
                let length = outcomes[start..].partition_point(|outcome| outcome.run == row.run.id);
                let details = details(settings, row)?;
                let (criteria, others) = without_criteria(&outcomes[start..start + length], &details);
                let items = items_of(row.run.id.as_str(), &others, &details, ITEMS_PER_PAGE);
                let mut page = run_page(warehouse, row);
                let store = show::store_of(settings, &row.run.id);
                page.add_judgements(store.map(|store| show::evaluators(&store, &row.run.id)).unwrap_or_default(), criteria);
                if let Some(suite) = suite_of.get(row.run.id.as_str()).filter(|_| !page.criteria.is_empty()) {
                    tallies.entry(*suite).or_default().add(&page);
                }
                for file in run_files(overview, plan, &page, &items) {
                    folder.write(&file.path, &file.bytes)?;
                }
            }
            (progress.advance)(batch.len() as u64);
        }
        (progress.end)();
        Ok(tallies)
    })
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

/// What the run's own journal says of its items; nothing for an imported run.
fn details(settings: &Settings, row: &RunRow) -> Result<DetailsByItem, Failure> {
    let id = &row.run.id;
    let Some(store) = show::store_of(settings, id) else { return Ok(DetailsByItem::new()) };
    let mut items = show::detailed(settings, &store, id)?.unwrap_or_default();
    // The highest revision is collected last, and stays.
    items.sort_by_key(|(outcome, _)| outcome.revision);
    let is_known = |(_, details): &(ItemOutcome, ItemDetails)| *details != ItemDetails::default();
    Ok(items.into_iter().filter(is_known).map(|(outcome, details)| ((outcome.key(), outcome.attempt), details)).collect())
}

fn lines_of(row: &RunRow) -> u64 {
    row.items.map_or(0, |items| items.lines)
}
