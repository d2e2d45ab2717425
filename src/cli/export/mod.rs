//! `export`: writes the selected runs as files for other programs, or as one bundle for another store.

mod bundle;
mod lake;
mod reports;
mod written;

use std::io;

use tracing::info;

use crate::domain::escape_invisible;
use crate::warehouse::ExportFormat;

use super::arguments::{Export, ExportAs};
use super::display_path::display_path;
use super::failure::CommandFailure;
use super::settings::Settings;
use super::{exit_code, output, selection};

pub(super) fn run_command(settings: &Settings, arguments: &Export) -> Result<u8, CommandFailure> {
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
        ExportAs::Bundle => bundle::write_runs(settings, arguments, &warehouse, &filter)?,
    }
    settings.close_warehouse(&mut warehouse)?;
    Ok(exit_code::DONE)
}

impl From<io::Error> for CommandFailure {
    fn from(error: io::Error) -> Self {
        Self::new(format!("cannot read the outcomes: {error}"))
    }
}
