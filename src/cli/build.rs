//! `build`: the static site.

use std::path::PathBuf;

use clap::Args;
use tracing::warn;

use crate::domain::{Problem, Problems, PublishedFigures, Run};
use crate::import::read_published_tables;
use crate::publish::{self, BuildInputs, BuildResult, BuildTarget, SecretPolicy, TranscriptChoice};
use crate::views::SiteOptions;
use crate::warehouse::{FileStamp, Warehouse};

use super::command::{Command, Example, Invocation, ResultsUse};
use super::display_path::display_path;
use super::failure::CommandFailure;
use super::file_arms::FileOptions;
use super::options::{OfFiles, Selection};
use super::progress::ProgressReporter;
use super::settings::Settings;
use super::{ad_hoc_import, exit_code, output, policy, selection};

/// Write the static site
#[derive(Args)]
pub(super) struct BuildArguments {
    /// Other tools' results to show beside the stored runs; read through the cache, not stored
    #[arg(value_name = "PATH")]
    pub paths: Vec<PathBuf>,
    /// Folder of the site: empty, new, or an earlier site
    #[arg(long, short, value_name = "DIR", default_value = "site")]
    pub out: PathBuf,
    /// Replace a site that shows runs by one without any
    #[arg(long)]
    pub allow_empty: bool,
    #[command(flatten)]
    pub publishing: Publishing,
    #[command(flatten)]
    pub of_files: OfFiles,
    #[command(flatten)]
    pub selection: Selection,
}

impl Command for BuildArguments {
    const NAME: &'static str = "build";
    const EXAMPLES: [Example; 2] = [
        ("evalreport build", "the site, into site/index.html"),
        (
            "evalreport build --single-file report.html --redact",
            "one file to mail, without keys and names",
        ),
    ];
    const UNREAD: &'static [&'static str] = &["out", "single_file"];

    fn output_paths(&self) -> Vec<PathBuf> {
        vec![
            self.publishing
                .single_file
                .as_ref()
                .unwrap_or(&self.out)
                .clone(),
        ]
    }

    fn run(&self, invocation: &Invocation<'_>) -> Result<u8, CommandFailure> {
        invocation.with_settings(ResultsUse::Read, |settings| run_command(settings, self))
    }
}

/// Options of a published site.
#[derive(Args, Clone, Default)]
pub(super) struct Publishing {
    /// Write overview, suites and comparisons into one HTML file instead of a folder
    #[arg(long, value_name = "FILE", help_heading = "Publishing")]
    pub single_file: Option<PathBuf>,
    /// Address of the published site, for absolute links [default: site.base_url of the configuration]
    #[arg(long, value_name = "URL", help_heading = "Publishing")]
    pub base_url: Option<String>,
    /// Ask search engines not to list the site
    #[arg(long, help_heading = "Publishing")]
    pub noindex: bool,
    /// Remove keys, tokens, passwords, e-mail addresses and user names from every text, and count them
    #[arg(long, help_heading = "Publishing")]
    pub redact: bool,

    /// Do not include the results file that `import` reads back
    #[arg(long)]
    pub without_results: bool,
    /// Transcripts to show: usual (failing, disagreeing and some passing), all, failing, disagreeing, none, or budget:SIZE
    #[arg(
        long,
        value_name = "WHICH",
        default_value = "usual",
        help_heading = "Publishing"
    )]
    pub transcripts: TranscriptChoice,
}

/// Writes the site of all stored runs, as `evalreport build` does without further options.
pub(super) fn write_site(settings: &Settings, out: PathBuf) -> Result<u8, CommandFailure> {
    run_command(
        settings,
        &BuildArguments {
            paths: Vec::new(),
            out,
            allow_empty: false,
            publishing: Publishing::default(),
            of_files: OfFiles::default(),
            selection: Selection::default(),
        },
    )
}

pub(super) fn run_command(
    settings: &Settings,
    arguments: &BuildArguments,
) -> Result<u8, CommandFailure> {
    let mut filter = arguments.selection.to_filter()?;
    let asked = FileOptions::from_arguments(
        &arguments.of_files,
        &mut filter,
        !arguments.paths.is_empty(),
    )?
    .for_comparison();
    let settings = &ad_hoc_import::with_paths(settings, &arguments.paths, &asked)?;
    let mut warehouse = settings.open_warehouse()?;
    let filter = selection::with_model_names(&warehouse, filter);
    if warehouse.runs().is_empty() {
        output::print_message(settings, "note: no results yet; the site says so");
    } else {
        selection::check_filter(&warehouse, &filter)?;
    }
    let order = BuildInputs {
        stores: settings.stores(),
        policy: policy::configured_policy(settings)?,
        options: site_options(settings, &warehouse, &arguments.publishing)?,
        published: read_published_figures(settings, &warehouse)?,
        filter,
        patterns: &settings.config.site.redact,
        secrets: settings.secrets().clone(),
        found: if arguments.publishing.redact {
            SecretPolicy::TakenOut
        } else {
            SecretPolicy::Named
        },
        transcripts: arguments.publishing.transcripts,
        program: program_stamp(),
        version: env!("CARGO_PKG_VERSION"),
        may_be_empty: arguments.allow_empty,
    };
    let target = match &arguments.publishing.single_file {
        Some(file) => BuildTarget::File(file),
        None => BuildTarget::Folder {
            folder: &arguments.out,
            cache: &settings.cache,
        },
    };
    let bar = ProgressReporter::new(settings.interactive);
    let built = bar.run_with_progress(|progress| {
        publish::build_site(order, &mut warehouse, target, progress)
    })?;
    let say = |lines: &[String]| {
        for line in lines {
            output::print_message(settings, line);
        }
    };
    match (built, &arguments.publishing.single_file) {
        (BuildResult::File { bytes, notes }, file) => {
            say(&notes);
            let file = file.as_deref().map_or_else(String::new, display_path);
            output::print_message(
                settings,
                &format!(
                    "{file}: {}\nopen {file}",
                    output::format_count(bytes, "byte")
                ),
            );
        }
        (
            BuildResult::Folder {
                written,
                kept,
                removed,
                notes,
            },
            _,
        ) => {
            let written = output::format_count(written, "file");
            let (folder, page) = (
                display_path(&arguments.out),
                display_path(&arguments.out.join("index.html")),
            );
            output::print_message(
                settings,
                &format!(
                    "{folder}: {written} written, {kept} unchanged, {removed} removed\nopen {page}"
                ),
            );
            say(&notes);
        }
    }
    settings.close_warehouse(&mut warehouse)?;
    Ok(exit_code::DONE)
}

/// Identifies this program: another version may draw other pages of the same data.
fn program_stamp() -> Option<FileStamp> {
    FileStamp::from_path(&std::env::current_exe().ok()?).ok()
}

/// Reads the tables of published figures that the configuration names.
fn read_published_figures(
    settings: &Settings,
    warehouse: &Warehouse,
) -> Result<Vec<PublishedFigures>, CommandFailure> {
    let root = settings.project_root()?;
    let (mut found, mut problems) = (Vec::new(), Vec::<Problem>::new());
    for named in &settings.config.published {
        check_name(
            settings,
            warehouse,
            "published",
            "suite",
            Some(&named.suite),
            |run| &run.suite,
        );
        let path = root.join(&named.file);
        match read_published_tables(&path) {
            Ok(mut tables) => {
                // Pages name the file as the configuration does.
                let whole = path.display().to_string();
                for table in &mut tables {
                    table.name = table.name.replace(&whole, &named.file);
                }
                let (suite, file, source) = (
                    named.suite.clone(),
                    named.file.clone(),
                    named.source.clone(),
                );
                found.push(PublishedFigures {
                    suite,
                    file,
                    source,
                    tables,
                });
            }
            Err(wrong) => problems.extend(wrong),
        }
    }
    if problems.is_empty() {
        Ok(found)
    } else {
        Err(Problems(problems).into())
    }
}

/// Warns of a configured name that no run has.
fn check_name(
    settings: &Settings,
    warehouse: &Warehouse,
    key: &str,
    what: &str,
    name: Option<&String>,
    of: fn(&Run) -> &str,
) {
    let runs = warehouse.runs();
    if let Some(name) =
        name.filter(|name| !runs.is_empty() && runs.iter().all(|row| of(&row.run) != name.as_str()))
    {
        let unknown = selection::unknown_name(what, name, runs.iter().map(|row| of(&row.run)));
        warn!(key, name, "unknown name");
        warn_of_mistake(
            settings,
            CommandFailure {
                message: format!("`{key}` in the configuration: {}", unknown.message),
                ..unknown
            },
        );
    }
}

/// Warns of a mistake in the configuration that does not prevent the site.
fn warn_of_mistake(settings: &Settings, unknown: CommandFailure) {
    let hint = unknown
        .hint
        .map_or_else(String::new, |hint| format!("\n  hint: {hint}"));
    output::print_message(settings, &format!("warning: {}{hint}", unknown.message));
}

/// Reads the options of the site. A configured name that no run has is only a warning.
fn site_options(
    settings: &Settings,
    warehouse: &Warehouse,
    publishing: &Publishing,
) -> Result<SiteOptions, CommandFailure> {
    let site = &settings.config.site;
    let check = |key: &str, what: &str, name: Option<&String>, of: fn(&Run) -> &str| {
        check_name(settings, warehouse, key, what, name, of);
    };
    if let Err(unknown) = policy::check_primaries(settings, warehouse) {
        warn_of_mistake(settings, unknown);
    }
    check(
        "site.default_suite",
        "suite",
        site.default_suite.as_ref(),
        |run| &run.suite,
    );
    check("site.baseline", "approach", site.baseline.as_ref(), |run| {
        &run.approach
    });
    let base_url = match &publishing.base_url {
        None => site.base_url.clone(),
        Some(text) => {
            let address = crate::config::folder_address(text).ok_or_else(|| {
                CommandFailure::new(format!(
                    "--base-url `{}` is not the web address of a folder",
                    crate::domain::escape_invisible(text)
                ))
                .with_hint("as in --base-url https://example.org/evaluations")
            })?;
            Some(address.to_owned())
        }
    };
    Ok(SiteOptions {
        title: site
            .title
            .clone()
            .unwrap_or_else(|| "evalreport".to_owned()),
        base_url,
        noindex: site.noindex || publishing.noindex,
        default_suite: site.default_suite.clone(),
        baseline: site.baseline.clone(),
        has_results: !publishing.without_results,
    })
}
