//! `export`: the four tables as files, or runs as one bundle.

use std::io;

use tracing::info;

use crate::results::{BundleWriter, is_bundle};
use crate::warehouse::{ExportFormat, Warehouse};

use super::arguments::{Export, ExportAs};
use super::failure::Failure;
use super::settings::{Settings, shown};
use super::{exit_code, output, selection};

pub(super) fn run(settings: &Settings, arguments: &Export) -> Result<u8, Failure> {
    let filter = arguments.selection.filter()?;
    let format = match arguments.format {
        ExportAs::Parquet => Some(ExportFormat::Parquet),
        ExportAs::Csv => Some(ExportFormat::Csv),
        ExportAs::Bundle => None,
    };
    if format.is_some() && !filter.is_empty() {
        return Err(
            Failure::new("only a bundle holds a selection of runs").with_hint("the tables are written whole; `evalreport sql` selects")
        );
    }
    let mut warehouse = settings.open()?;
    match format {
        Some(format) => {
            let written =
                warehouse.export(&arguments.path, format).map_err(|error| Failure::new(crate::domain::visible(&error.to_string())))?;
            for (path, rows) in written {
                info!(file = %path.display(), rows, "file written");
                output::say(settings, &format!("{}: {}", shown(&path), output::count(rows, "row")));
            }
        }
        None => {
            selection::check(&warehouse, &filter)?;
            bundle(settings, arguments, &warehouse)?;
        }
    }
    settings.keep(&mut warehouse);
    Ok(exit_code::DONE)
}

fn bundle(settings: &Settings, arguments: &Export, warehouse: &Warehouse) -> Result<(), Failure> {
    let path = &arguments.path;
    let is_other = match path.metadata() {
        Ok(metadata) => !metadata.is_file() || !is_bundle(path).unwrap_or(false),
        Err(_) => false,
    };
    if is_other {
        return Err(Failure::new(format!("{} is there and is no bundle", shown(path))).with_hint("give the name of a new file"));
    }
    let runs = warehouse.stored_runs(&arguments.selection.filter()?);
    let mut writer = BundleWriter::create(path, runs.iter().map(AsRef::as_ref))?;
    warehouse.each_outcome(&runs, |outcome| writer.item(outcome).map_err(Failure::from))?;
    let items = usize::try_from(writer.commit()?).unwrap_or(usize::MAX);
    info!(file = %path.display(), runs = runs.len(), outcomes = items, "bundle written");
    output::say(settings, &format!("{}: {}, {}", shown(path), output::count(runs.len(), "run"), output::count(items, "outcome")));
    Ok(())
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        Self::new(format!("cannot read the outcomes: {error}"))
    }
}
