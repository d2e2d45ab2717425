//! `build`: the static site.

use std::collections::BTreeMap;

use rayon::prelude::*;
use serde::Serialize;
use tracing::{info, warn};

use crate::domain::Run;
use crate::render::html::{Plan, SiteFile, SitePart, common_parts, crawler_files, published_files, single_file, suite_parts};
use crate::render::json;
use crate::views::{Sides, SiteOptions, news, overview};
use crate::warehouse::{FileStamp, Warehouse};

use super::arguments::{Build, Publishing};
use super::failure::Failure;
use super::redaction::{Found, Texts};
use super::settings::{Settings, shown};
use super::site::{Gathered, Site};
use super::site_folder::SiteFolder;
use super::transcripts::Transcripts;
use super::{exit_code, foreign, output, policy, selection, site_folder};

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
    let folder = SiteFolder::open(&arguments.out, Some(&settings.cache))?;
    let mut transcripts = Transcripts::new(&warehouse, &filter, arguments.publishing.transcripts);
    let mut sides = Sides::of(&overview);
    let rules = program().map(|program| {
        let texts = texts.rules();
        format!(
            "{program:?} {:?} {:?} {filter:?} {policy:?} {options:?} {:?} {texts}",
            settings.config, settings.results, arguments.publishing.transcripts
        )
    });
    let site = Site { settings, warehouse: &warehouse, filter: &filter, overview: &overview, plan: &plan, folder: &folder, rules };
    let mut suites = site.write_runs(&mut Gathered { texts: &mut texts, transcripts: &mut transcripts, sides: &mut sides })?;
    for (place, told) in suites.iter_mut().flat_map(|suite| std::mem::take(&mut suite.told)) {
        if let Some(suite) = overview.suites.get_mut(place) {
            suite.criteria = told.criteria.tables();
            suite.stories = told.stories;
        }
    }
    sides.give(&mut overview);
    let of_suite = |number: usize| suites[number].places.iter().flat_map(|place| suite_parts(&overview, &plan, *place));
    let parts = (0..suites.len()).flat_map(|number| of_suite(number).map(move |part| (Some(number), part)));
    let parts: Vec<(Option<usize>, SitePart<'_>)> =
        parts.chain(common_parts(&overview, &plan).into_iter().map(|part| (None, part))).collect();
    let written: Vec<(Option<usize>, Vec<String>)> =
        parts.into_par_iter().map(|(suite, part)| Ok((suite, write_all(&folder, part)?))).collect::<Result<_, Failure>>()?;
    for (suite, paths) in written {
        if let Some(suite) = suite.and_then(|suite| suites.get_mut(suite)) {
            suite.paths.extend(paths);
        }
    }
    for suite in suites {
        if let Some(stamp) = suite.stamp {
            folder.note(stamp, suite.paths, suite.said);
        }
    }
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

/// Tells this program from others, which may draw other pages of the same data.
fn program() -> Option<FileStamp> {
    FileStamp::of(&std::env::current_exe().ok()?).ok()
}

/// Writes files and returns their paths.
pub(super) fn write_all(folder: &SiteFolder, files: impl IntoIterator<Item = SiteFile>) -> Result<Vec<String>, Failure> {
    let write = |file: SiteFile| folder.write(&file.path, &file.bytes).map(|()| file.path);
    files.into_iter().map(write).collect()
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
