//! `export`: writes the selected runs as files for other programs, or as one bundle for another store.

mod bundle;
mod lake;
mod reports;
mod written;

use std::io;

use tracing::info;

use crate::domain::visible;
use crate::warehouse::ExportFormat;

use super::arguments::{Export, ExportAs};
use super::failure::Failure;
use super::settings::Settings;
use super::shown::shown;
use super::{exit_code, output, selection};

pub(super) fn run(settings: &Settings, arguments: &Export) -> Result<u8, Failure> {
    let filter = arguments.selection.filter()?;
    if arguments.slim && arguments.format != ExportAs::Bundle {
        return Err(Failure::new("--slim is for bundles")
            .with_hint("other formats have no messages and files"));
    }
    if arguments.sign_key.is_some() && arguments.format != ExportAs::Bundle {
        return Err(Failure::new("--sign-key is for bundles")
            .with_hint("`ssh-keygen -Y sign` signs any file"));
    }
    let mut warehouse = settings.open_whole("an export")?;
    let filter = selection::with_model_names(&warehouse, filter);
    let tables = |format| {
        let written = warehouse
            .export(&arguments.path, format, &filter)
            .map_err(|error| Failure::new(visible(&error.to_string())))?;
        for (path, rows) in written {
            info!(file = %path.display(), rows, "file written");
            output::say(
                settings,
                &format!("{}: {}", shown(&path), output::count(rows, "row")),
            );
        }
        Ok::<(), Failure>(())
    };
    if !settings.has_results() {
        selection::check(&warehouse, &filter)?;
    }
    // An empty store has empty tables, but a filter that selects nothing is a mistake.
    let is_table = matches!(
        arguments.format,
        ExportAs::Parquet | ExportAs::Csv | ExportAs::Lake
    );
    if !is_table || !filter.is_empty() {
        selection::check(&warehouse, &filter)?;
    }
    match arguments.format {
        ExportAs::Parquet => tables(ExportFormat::Parquet)?,
        ExportAs::Csv => tables(ExportFormat::Csv)?,
        ExportAs::Lake => lake::publish(settings, &arguments.path, &warehouse, &filter)?,
        ExportAs::Json => reports::json(settings, &arguments.path, &warehouse, &filter)?,
        ExportAs::Junit => reports::junit(settings, &arguments.path, &warehouse, &filter)?,
        ExportAs::Ctrf => reports::ctrf(settings, &arguments.path, &warehouse, &filter)?,
        ExportAs::Eee => reports::eee(settings, &arguments.path, &warehouse, &filter)?,
        ExportAs::Bundle => bundle::write(settings, arguments, &warehouse, &filter)?,
    }
    settings.keep(&mut warehouse)?;
    Ok(exit_code::DONE)
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        Self::new(format!("cannot read the outcomes: {error}"))
    }
}
