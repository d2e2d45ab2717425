//! `export`: writes the selected runs as files for other programs, or as one bundle for another store.

mod bundle;
mod lake;
mod reports;
mod written;

use std::path::PathBuf;
use std::{io, iter};

use clap::{Args, ValueEnum};
use tracing::info;

use crate::domain::escape_invisible;
use crate::results::{BundleExtent, signature_path};
use crate::warehouse::ExportFormat;

use super::command::{Command, Example, Invocation, ResultsUse};
use super::display_path::display_path;
use super::failure::CommandFailure;
use super::options::Selection;
use super::settings::Settings;
use super::{exit_code, output, selection};

/// Write tables or runs for other programs
#[derive(Args)]
pub(super) struct ExportArguments {
    /// Format
    // The id differs from `format`, which is the global option.
    #[arg(id = "file_format", value_enum, value_name = "FORMAT")]
    pub format: ExportAs,
    /// File to write for junit, json and bundle; a folder for parquet, csv, lake and eee; for ctrf a folder, or a .json file for one run
    #[arg(value_name = "DIR|FILE")]
    pub path: PathBuf,
    /// Bundle without messages and generated files, enough for figures and baselines
    #[arg(long)]
    pub slim: bool,
    /// Sign the bundle with this OpenSSH private key (Ed25519, without a passphrase), into FILE.sig
    #[arg(long, value_name = "KEY")]
    pub sign_key: Option<PathBuf>,
    #[command(flatten)]
    pub selection: Selection,
}

impl Command for ExportArguments {
    const NAME: &'static str = "export";
    const EXAMPLES: [Example; 2] = [
        (
            "evalreport export bundle main.bundle",
            "every record, for import or as a baseline",
        ),
        (
            "evalreport export parquet tables",
            "tables for pandas, polars or DuckDB",
        ),
    ];
    const UNREAD: &'static [&'static str] = &["path"];

    fn output_paths(&self) -> Vec<PathBuf> {
        let signature = self.sign_key.as_ref().map(|_| signature_path(&self.path));
        iter::once(self.path.clone()).chain(signature).collect()
    }

    fn run(&self, invocation: &Invocation<'_>) -> Result<u8, CommandFailure> {
        invocation.with_settings(ResultsUse::Read, |settings| run_command(settings, self))
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum ExportAs {
    /// The tables runs, items, scores and usage, one file each
    Parquet,
    /// The four tables as CSV
    Csv,
    /// A lake that grows: Delta Lake tables in a folder, to which each export adds what is new; read with --results lake:DIR
    Lake,
    /// Runs and their outcomes in one JSON document
    Json,
    /// JUnit XML: a test suite per run, a test case per outcome
    Junit,
    /// CTRF, the common test report format: a report per run
    Ctrf,
    /// Every Eval Ever: a record and its samples per run
    Eee,
    /// Every record of the runs in one file, for `import` and --baseline elsewhere; compressed unless it ends in .jsonl
    Bundle,
}

fn run_command(settings: &Settings, arguments: &ExportArguments) -> Result<u8, CommandFailure> {
    let filter = arguments.selection.to_filter()?;
    if arguments.slim && arguments.format != ExportAs::Bundle {
        return Err(CommandFailure::new("--slim is for bundles")
            .with_hint("other formats have no messages and files"));
    }
    if arguments.sign_key.is_some() && arguments.format != ExportAs::Bundle {
        return Err(CommandFailure::new("--sign-key is for bundles")
            .with_hint("`ssh-keygen -Y sign` signs any file"));
    }
    let mut warehouse = settings.open_complete("an export")?;
    let filter = selection::with_model_names(&warehouse, filter);
    let tables = |format| {
        let written = warehouse
            .export_tables(&arguments.path, format, &filter)
            .map_err(|error| CommandFailure::new(escape_invisible(&error.to_string())))?;
        for (path, rows) in written {
            info!(file = %path.display(), rows, "file written");
            output::print_message(
                settings,
                &format!(
                    "{}: {}",
                    display_path(&path),
                    output::format_count(rows, "row")
                ),
            );
        }
        Ok::<(), CommandFailure>(())
    };
    if !settings.has_results() {
        selection::check_filter(&warehouse, &filter)?;
    }
    // An empty store has empty tables, but a filter that selects nothing is a mistake.
    let is_table = matches!(
        arguments.format,
        ExportAs::Parquet | ExportAs::Csv | ExportAs::Lake
    );
    if !is_table || !filter.is_empty() {
        selection::check_filter(&warehouse, &filter)?;
    }
    match arguments.format {
        ExportAs::Parquet => tables(ExportFormat::Parquet)?,
        ExportAs::Csv => tables(ExportFormat::Csv)?,
        ExportAs::Lake => lake::publish_runs(settings, &arguments.path, &warehouse, &filter)?,
        ExportAs::Json => reports::export_json(settings, &arguments.path, &warehouse, &filter)?,
        ExportAs::Junit => reports::export_junit(settings, &arguments.path, &warehouse, &filter)?,
        ExportAs::Ctrf => reports::export_ctrf(settings, &arguments.path, &warehouse, &filter)?,
        ExportAs::Eee => reports::export_eee(settings, &arguments.path, &warehouse, &filter)?,
        ExportAs::Bundle => {
            let extent = if arguments.slim {
                BundleExtent::Figures
            } else {
                BundleExtent::Whole
            };
            let how = (extent, arguments.sign_key.as_deref());
            bundle::write_runs(settings, &arguments.path, how, &warehouse, &filter)?;
        }
    }
    settings.close_warehouse(&mut warehouse)?;
    Ok(exit_code::DONE)
}

impl From<io::Error> for CommandFailure {
    fn from(error: io::Error) -> Self {
        Self::new(format!("cannot read the outcomes: {error}"))
    }
}
