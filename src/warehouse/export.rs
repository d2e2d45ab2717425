//! The four tables as files for other programs.

use std::fs::{self, File};
use std::path::{Path, PathBuf};

use polars::prelude::*;

use super::open::Warehouse;
use super::sql::SqlError;
use super::tables::TABLES;

/// What the files are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExportFormat {
    Parquet,
    Csv,
}

impl Warehouse {
    /// Writes every table to `folder`, replacing earlier exports, and returns the files with their rows.
    pub fn export(&self, folder: &Path, format: ExportFormat) -> Result<Vec<(PathBuf, usize)>, SqlError> {
        fs::create_dir_all(folder).map_err(|error| SqlError::cache(folder, &error))?;
        let mut written = Vec::new();
        for table in TABLES {
            let mut frame = self.table(table)?.collect()?;
            let extension = match format {
                ExportFormat::Parquet => "parquet",
                ExportFormat::Csv => "csv",
            };
            let path = folder.join(format!("{table}.{extension}"));
            let temporary =
                tempfile::Builder::new().prefix(".writing-").tempfile_in(folder).map_err(|error| SqlError::cache(folder, &error))?;
            match format {
                ExportFormat::Parquet => {
                    ParquetWriter::new(temporary.as_file()).with_compression(ParquetCompression::Zstd(None)).finish(&mut frame)?;
                }
                ExportFormat::Csv => write_csv(&frame, temporary.as_file()).map_err(|error| SqlError::Failed(error.to_string()))?,
            }
            temporary.persist(&path).map_err(|error| SqlError::cache(&path, &error.error))?;
            written.push((path, frame.height()));
        }
        Ok(written)
    }
}

/// Writes the frame as it is: for programs, so cells keep their text, formulas or not. Absent values are empty.
fn write_csv(frame: &DataFrame, file: &File) -> Result<(), Box<dyn std::error::Error>> {
    let mut writer = csv::Writer::from_writer(std::io::BufWriter::new(file));
    writer.write_record(frame.get_column_names().iter().map(|name| name.as_str()))?;
    for row in 0..frame.height() {
        let mut record = csv::StringRecord::new();
        for column in frame.columns() {
            match column.get(row)? {
                AnyValue::Null => record.push_field(""),
                AnyValue::String(text) => record.push_field(text),
                // What a filter leaves is owned; its own words would be quoted.
                AnyValue::StringOwned(text) => record.push_field(text.as_str()),
                other => record.push_field(&other.to_string()),
            }
        }
        writer.write_record(&record)?;
    }
    writer.flush()?;
    Ok(())
}
