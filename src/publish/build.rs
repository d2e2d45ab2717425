//! Building a site from start to finish.

use std::collections::BTreeMap;
use std::path::Path;

use rayon::prelude::*;
use serde::Serialize;
use tracing::info;

use crate::domain::{Filter, OwnPattern, Published, PublishedFigures, Secrets, count};
use crate::files;
use crate::render::html::{
    Plan, SitePart, common_parts, crawler_files, published_files, shows_runs, single_file,
    suite_parts,
};
use crate::render::json;
use crate::results::IN_SITE;
use crate::views::{Policy, Sides, SiteOptions, news, overview};
use crate::warehouse::{FileStamp, Progress, ShownNames, Warehouse};

use super::error::PublishError;
use super::folder::SiteFolder;
use super::replace::replace;
use super::results;
use super::site::{Gathered, Site};
use super::stamp::serialised;
use super::stored::{Stores, shown};
use super::texts::{Found, Page, Texts};
use super::transcripts::{Choice, Transcripts};

/// The data of a site and the options for its pages.
pub struct Order<'a> {
    pub stores: Stores<'a>,
    pub filter: Filter,
    pub policy: Policy,
    pub options: SiteOptions,
    /// Tables of published figures to check.
    pub published: Vec<PublishedFigures>,
    /// The project's own kinds of text that must not be published.
    pub patterns: &'a [OwnPattern],
    /// Secrets of this process's environment: never published.
    pub secrets: Secrets,
    pub found: Found,
    pub transcripts: Choice,
    /// Identifies this program's binary, because another may render the same data differently. `None` if unknown.
    pub program: Option<FileStamp>,
    /// This program's version, as pages show it.
    pub version: &'a str,
    /// Whether a site without runs may replace one that shows some.
    pub may_be_empty: bool,
}

/// The place where a site is written.
#[derive(Clone, Copy)]
pub enum Target<'a> {
    /// Overview, suites and comparisons in one self-contained file.
    File(&'a Path),
    /// A folder. `cache` keeps a record of the last build, so that the next one can reuse its files.
    Folder { folder: &'a Path, cache: &'a Path },
}

/// Result of a build.
pub enum Built {
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
struct Rules<'a, T: Serialize> {
    program: FileStamp,
    stores: Vec<String>,
    filter: &'a Filter,
    policy: &'a Policy,
    options: &'a SiteOptions,
    names: &'a ShownNames,
    patterns: &'a [OwnPattern],
    transcripts: Choice,
    texts: T,
}

/// Fails if what is at the target shows runs: nobody means to replace them by nothing, and a job whose results were not fetched does not know.
fn refuse_loss(target: Target<'_>) -> Result<(), PublishError> {
    let (place, has_runs) = match target {
        Target::File(file) => (
            file,
            files::read(file).is_ok_and(|bytes| shows_runs(&bytes)),
        ),
        Target::Folder { folder, .. } => (folder, SiteFolder::shows_runs(folder)),
    };
    if !has_runs {
        return Ok(());
    }
    let hint = "name the results with --results, or write --allow-empty to replace the site";
    Err(PublishError::new(format!(
        "there are no runs to show, and {} shows some: it stays as it was",
        shown(place)
    ))
    .with_hint(hint))
}

/// Builds a site of the warehouse's runs. Afterwards the warehouse shows the same names and texts as the site.
pub fn build(
    order: Order<'_>,
    warehouse: &mut Warehouse,
    target: Target<'_>,
    progress: &Progress<'_>,
) -> Result<Built, PublishError> {
    // Selects runs by their own names: the filter knows those until they are redacted.
    let without_records = warehouse.without_records(&order.filter);
    let places = (order.options.has_results && without_records == 0).then(|| {
        (
            warehouse.stored_at(&order.filter),
            warehouse.decisions(&order.filter),
        )
    });
    let Order {
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
    let (mut texts, warehouse) = Texts::looked_through(
        &stores,
        (patterns, &secrets),
        found,
        warehouse,
        (&mut filter, &mut policy, &mut options),
    )?;
    // Journals that are read from here on use the redacted names.
    let names = warehouse.names().clone();
    let stores = Stores {
        names: &names,
        ..stores
    };
    let (results, unpacked) = match places
        .map(|(places, decisions)| results::packed((&places, &decisions), &texts, &secrets))
        .transpose()?
    {
        Some(Ok(packed)) => (Some(packed), None),
        Some(Err(why)) => (None, Some(why)),
        None if options.has_results => {
            let runs = count(without_records as u64, "run");
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
    let published = looked_through(&mut texts, published);
    let overview = overview(
        &warehouse,
        (&filter, &policy, &options),
        &published,
        version,
        &warehouse.digest(),
    );
    let plan = Plan::new(&overview);
    info!(
        suites = overview.suites.len(),
        runs = overview.runs_by_name().len(),
        "overview made"
    );
    if overview.runs_by_name().is_empty() && !may_be_empty {
        refuse_loss(target)?;
    }
    let (root, cache) = match target {
        Target::File(file) => {
            let (held, note) = results
                .as_deref()
                .map_or_else(Default::default, results::for_page);
            let bytes = single_file(&overview, &plan, &held);
            replace(file, &bytes).map_err(|error| {
                PublishError::new(format!("cannot write {}: {error}", shown(file)))
            })?;
            return Ok(Built::File {
                bytes: bytes.len(),
                notes: unpacked
                    .into_iter()
                    .chain(note)
                    .chain(texts.notes())
                    .collect(),
            });
        }
        Target::Folder { folder, cache } => (folder, cache),
    };
    let folder = SiteFolder::open(root, Some(cache))?;
    let mut transcripts = Transcripts::new(&warehouse, &filter, choice);
    let mut sides = Sides::of(&overview);
    let rules = program.map(|program| {
        serialised(&Rules {
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
            texts: texts.rules(),
        })
    });
    let site = Site {
        stores,
        warehouse: &warehouse,
        filter: &filter,
        overview: &overview,
        plan: &plan,
        folder: &folder,
        progress,
        rules,
    };
    let mut suites = site.write_runs(&mut Gathered {
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
                suite.criteria = told.criteria.tables();
                suite.stories = told.stories;
            }
        }
        sides.give(&mut overview);
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
        .map(|(suite, part)| Ok((suite, folder.write_all(part)?)))
        .collect::<Result<_, PublishError>>()?;
    for (suite, paths) in written {
        if let Some(suite) = suite.and_then(|suite| suites.get_mut(suite)) {
            suite.made.paths.extend(paths);
        }
    }
    for suite in suites {
        if let Some(stamp) = suite.stamp {
            folder.note(stamp, suite.made);
        }
    }
    let (written, kept) = folder.counts();
    info!(written, kept, "suite pages");
    folder.write_all(published_files(
        &overview,
        &plan,
        &news(&warehouse, &filter, &policy, &overview),
    ))?;
    if let Some(report) = texts.report() {
        folder.write("redactions.json", &report)?;
    }
    if let Some(results) = &results {
        folder.write(IN_SITE, results)?;
    }
    let digests = json::document(
        "digests",
        Digests {
            files: folder.digests("data/"),
        },
    );
    folder.write("data/digests.json", digests.as_bytes())?;
    folder.write_all(crawler_files(
        &overview.context,
        folder.paths().iter().map(String::as_str),
    ))?;
    texts.refuse_known()?;
    let (written, kept) = folder.counts();
    let removed = folder.finish()?;
    info!(folder = %root.display(), written, kept, removed, "site written");
    let notes = unpacked
        .into_iter()
        .chain(transcripts.note())
        .chain(texts.notes())
        .collect();
    Ok(Built::Folder {
        written,
        kept,
        removed,
        notes,
    })
}

/// Searches the texts of published tables.
fn looked_through(
    texts: &mut Texts,
    published: Vec<PublishedFigures>,
) -> Vec<Published<PublishedFigures>> {
    let searched = |mut figures: PublishedFigures| {
        texts.rename_suite(&mut figures.suite);
        texts.published(Page::Names, &figures.file.clone(), figures)
    };
    published.into_iter().map(searched).collect()
}

/// Content of `data/digests.json`.
#[derive(Serialize)]
struct Digests {
    /// SHA-256 of every other file below data/, by path from the site's root.
    files: BTreeMap<String, String>,
}
