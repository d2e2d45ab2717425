//! `export`: the four tables as files.

use tracing::info;

use crate::warehouse::ExportFormat;

use super::arguments::{Export, ExportAs};
use super::failure::Failure;
use super::settings::{Settings, shown};
use super::{exit_code, output};

pub(super) fn run(settings: &Settings, arguments: &Export) -> Result<u8, Failure> {
    let mut warehouse = settings.open()?;
    let format = match arguments.format {
        ExportAs::Parquet => ExportFormat::Parquet,
        ExportAs::Csv => ExportFormat::Csv,
    };
    let written = warehouse.export(&arguments.folder, format).map_err(|error| Failure::new(crate::domain::visible(&error.to_string())))?;
    for (path, rows) in written {
        info!(file = %path.display(), rows, "file written");
        output::say(settings, &format!("{}: {}", shown(&path), output::count(rows, "row")));
    }
    settings.keep(&mut warehouse);
    Ok(exit_code::DONE)
}
