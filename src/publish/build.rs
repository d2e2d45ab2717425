//! Building a site from start to finish.

use std::collections::BTreeMap;
use std::path::Path;

use rayon::prelude::*;
use serde::Serialize;
use tracing::info;

use crate::domain::{Filter, OwnPattern, PublishedFigures, Redacted, Secrets, format_count};
use crate::files;
use crate::render::html::{
    SitePart, badge_and_feed_files, common_parts, crawler_files, plan_site, shows_runs,
    single_file, suite_parts,
};
use crate::render::json;
use crate::results::BUNDLE_PATH_IN_SITE;
use crate::views::{AnswerGatherer, Policy, SiteOptions, build_overview, list_news};
use crate::warehouse::{DisplayNames, FileStamp, Progress, Warehouse};

use super::error::PublishError;
use super::folder::SiteFolder;
use super::replace::replace_file;
use super::results;
use super::secret_scan::{ScannedPage, SecretPolicy, SecretScan};
use super::site::{CarriedState, SiteBuilder, WrittenSuites};
use super::source_key::to_stamp_text;
use super::stored::{NamedStores, display_path};
use super::transcripts::{TranscriptChoice, TranscriptSelection};

/// The data of a site and the options for its pages.
pub struct BuildInputs<'a> {
    pub stores: NamedStores<'a>,
    pub filter: Filter,
    pub policy: Policy,
    pub options: SiteOptions,
    /// Tables of published figures to check.
    pub published: Vec<PublishedFigures>,
    /// The project's own kinds of text that must not be published.
    pub patterns: &'a [OwnPattern],
    /// Secrets of this process's environment: never published.
    pub secrets: Secrets,
    pub found: SecretPolicy,
    pub transcripts: TranscriptChoice,
    /// Identifies this program's binary, because another may render the same data differently. `None` if unknown.
    pub program: Option<FileStamp>,
    /// This program's version, as pages show it.
    pub version: &'a str,
    /// Whether a site without runs may replace one that shows some.
    pub may_be_empty: bool,
}

/// The place where a site is written.
#[derive(Clone, Copy)]
pub enum BuildTarget<'a> {
    /// Overview, suites and comparisons in one self-contained file.
    File(&'a Path),
    /// A folder. `cache` keeps a record of the last build, so that the next one can reuse its files.
    Folder { folder: &'a Path, cache: &'a Path },
}

/// Result of a build.
pub enum BuildResult {
    File {
        bytes: usize,
        /// Messages for the person who started the build.
        notes: Vec<String>,
    },
    Folder {
        written: usize,
        kept: usize,
        removed: usize,
        notes: Vec<String>,
    },
}

/// Everything besides the data that affects pages of runs.
#[derive(Serialize)]
struct BuildRules<'a, T: Serialize> {
    program: FileStamp,
    stores: Vec<String>,
    filter: &'a Filter,
    policy: &'a Policy,
    options: &'a SiteOptions,
    names: &'a DisplayNames,
    patterns: &'a [OwnPattern],
    transcripts: TranscriptChoice,
    texts: T,
}

/// Fails if what is at the target shows runs: nobody means to replace them by nothing, and a job whose results were not fetched does not know.
fn refuse_empty_site(target: BuildTarget<'_>) -> Result<(), PublishError> {
    let (place, has_runs) = match target {
        BuildTarget::File(file) => (
            file,
            files::read(file).is_ok_and(|bytes| shows_runs(&bytes)),
        ),
        BuildTarget::Folder { folder, .. } => (folder, SiteFolder::shows_runs(folder)),
    };
    if !has_runs {
        return Ok(());
    }
    let hint = "name the results with --results, or write --allow-empty to replace the site";
    Err(PublishError::new(format!(
        "there are no runs to show, and {} shows some: it stays as it was",
        display_path(place)
    ))
    .with_hint(hint))
}

/// Builds a site of the warehouse's runs. Afterwards the warehouse shows the same names and texts as the site.
pub fn build_site(
    order: BuildInputs<'_>,
    warehouse: &mut Warehouse,
    target: BuildTarget<'_>,
    progress: &Progress<'_>,
) -> Result<BuildResult, PublishError> {
    // Selects runs by their own names: the filter knows those until they are redacted.
    let without_records = warehouse.count_without_records(&order.filter);
    let places = (order.options.has_results && without_records == 0).then(|| {
        (
            warehouse.stored_locations(&order.filter),
            warehouse.collect_decisions(&order.filter),
        )
    });
    let BuildInputs {
        stores,
        mut filter,
        mut policy,
        mut options,
        published,
        patterns,
        secrets,
        found,
        transcripts: choice,
        program,
        version,
        may_be_empty,
    } = order;
    let (mut texts, warehouse) = SecretScan::scan_warehouse(
        &stores,
        (patterns, &secrets),
        found,
        warehouse,
        (&mut filter, &mut policy, &mut options),
    )?;
    // Journals that are read from here on use the redacted names.
    let names = warehouse.display_names().clone();
    let stores = NamedStores {
        names: &names,
        ..stores
    };
    let (results, unpacked) = match places
        .map(|(places, decisions)| results::pack_results((&places, &decisions), &texts, &secrets))
        .transpose()?
    {
        Some(Ok(packed)) => (Some(packed), None),
        Some(Err(why)) => (None, Some(why)),
        None if options.has_results => {
            let runs = format_count(without_records as u64, "run");
            (
                None,
                Some(format!(
                    "note: the site does not hold the results: a lake has no records to copy, and it has {runs} of the site"
                )),
            )
        }
        None => (None, None),
    };
    options.has_results = results.is_some();
    let published = redact_figures(&mut texts, published);
    let overview = build_overview(
        &warehouse,
        (&filter, &policy, &options),
        &published,
        version,
        &warehouse.content_digest(),
    );
    let plan = plan_site(&overview);
    info!(
        suites = overview.suites.len(),
        runs = overview.runs_by_name().len(),
        "overview made"
    );
    if overview.runs_by_name().is_empty() && !may_be_empty {
        refuse_empty_site(target)?;
    }
    let (root, cache) = match target {
        BuildTarget::File(file) => {
            let (held, note) = results
                .as_deref()
                .map_or_else(Default::default, results::results_element);
            let bytes = single_file(&overview, &plan, &held);
            replace_file(file, &bytes).map_err(|error| {
                PublishError::new(format!("cannot write {}: {error}", display_path(file)))
            })?;
            return Ok(BuildResult::File {
                bytes: bytes.len(),
                notes: unpacked
                    .into_iter()
                    .chain(note)
                    .chain(texts.terminal_notes())
                    .collect(),
            });
        }
        BuildTarget::Folder { folder, cache } => (folder, cache),
    };
    let folder = SiteFolder::open(root, Some(cache))?;
    let mut transcripts = TranscriptSelection::new(&warehouse, &filter, choice);
    let mut sides = AnswerGatherer::from_overview(&overview);
    let rules = program.map(|program| {
        to_stamp_text(&BuildRules {
            program,
            stores: stores
                .folders
                .iter()
                .map(|folder| folder.display().to_string())
                .collect(),
            filter: &filter,
            policy: &policy,
            options: &options,
            names: &names,
            patterns,
            transcripts: choice,
            texts: texts.stamp_rules(),
        })
    });
    let site = SiteBuilder {
        stores,
        warehouse: &warehouse,
        filter: &filter,
        overview: &overview,
        plan: &plan,
        folder: &folder,
        progress,
        rules,
    };
    let WrittenSuites {
        unmade: mut suites,
        kept,
    } = site.write_runs(&mut CarriedState {
        texts: &mut texts,
        transcripts: &mut transcripts,
        sides: &mut sides,
    })?;
    let told = suites
        .iter_mut()
        .flat_map(|suite| std::mem::take(&mut suite.told));
    // The criteria and stories come from pages whose texts were already searched for secrets.
    let overview = overview.map(|mut overview| {
        for (place, told) in told {
            if let Some(suite) = overview.suites.get_mut(place) {
                suite.criteria = told.criteria.into_tables();
                suite.stories = told.stories;
            }
        }
        for (place, stories) in kept {
            if let Some(suite) = overview.suites.get_mut(place) {
                suite.stories = stories;
            }
        }
        for suite in &mut overview.suites {
            suite.explain_changes();
        }
        sides.fill_pairs(&mut overview);
        overview
    });
    let of_suite = |number: usize| {
        suites[number]
            .places
            .iter()
            .flat_map(|place| suite_parts(&overview, &plan, *place))
    };
    let parts =
        (0..suites.len()).flat_map(|number| of_suite(number).map(move |part| (Some(number), part)));
    let parts: Vec<(Option<usize>, SitePart<'_>)> = parts
        .chain(
            common_parts(&overview, &plan)
                .into_iter()
                .map(|part| (None, part)),
        )
        .collect();
    let written: Vec<(Option<usize>, Vec<String>)> = parts
        .into_par_iter()
        .map(|(suite, part)| Ok((suite, folder.write_files(part)?)))
        .collect::<Result<_, PublishError>>()?;
    for (suite, paths) in written {
        if let Some(suite) = suite.and_then(|suite| suites.get_mut(suite)) {
            suite.made.paths.extend(paths);
        }
    }
    for suite in suites {
        if let Some(stamp) = suite.stamp {
            folder.note_pages(stamp, suite.made);
        }
    }
    let (written, kept) = folder.file_counts();
    info!(written, kept, "suite pages");
    folder.write_files(badge_and_feed_files(
        &overview,
        &plan,
        &list_news(&warehouse, &filter, &policy, &overview),
    ))?;
    if let Some(report) = texts.redaction_report() {
        folder.write_file("redactions.json", &report)?;
    }
    if let Some(results) = &results {
        folder.write_file(BUNDLE_PATH_IN_SITE, results)?;
    }
    let digests = json::write_document(
        "digests",
        DataFileDigests {
            files: folder.digests_below("data/"),
        },
    );
    folder.write_file(DIGESTS_PATH_IN_SITE, digests.as_bytes())?;
    folder.write_files(crawler_files(
        &overview.context,
        folder.paths().iter().map(String::as_str),
    ))?;
    texts.refuse_known_secrets()?;
    let (written, kept) = folder.file_counts();
    let removed = folder.finish()?;
    info!(folder = %root.display(), written, kept, removed, "site written");
    let notes = unpacked
        .into_iter()
        .chain(transcripts.summary_note())
        .chain(texts.terminal_notes())
        .collect();
    Ok(BuildResult::Folder {
        written,
        kept,
        removed,
        notes,
    })
}

/// Searches the texts of published tables.
fn redact_figures(
    texts: &mut SecretScan,
    published: Vec<PublishedFigures>,
) -> Vec<Redacted<PublishedFigures>> {
    let searched = |mut figures: PublishedFigures| {
        texts.rename_suite(&mut figures.suite);
        texts.redact_value(ScannedPage::Names, &figures.file.clone(), figures)
    };
    published.into_iter().map(searched).collect()
}

/// Where a site keeps the digests of its data files. Every built folder has it.
pub const DIGESTS_PATH_IN_SITE: &str = "data/digests.json";

/// Content of [`DIGESTS_PATH_IN_SITE`].
#[derive(Serialize)]
struct DataFileDigests {
    /// SHA-256 of every other file below data/, by path from the site's root.
    files: BTreeMap<String, String>,
}
