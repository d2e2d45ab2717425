//! The four tables as files for other programs.

use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use polars::prelude::*;

use crate::domain::Filter;

use super::open::Warehouse;
use super::sql_error::SqlError;
use super::tables::TABLES;

/// The format of the files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExportFormat {
    Parquet,
    Csv,
}

impl Warehouse {
    /// Writes every table to `folder`, with the rows of the selected runs, replacing earlier exports. Returns the files with their row
    /// counts.
    pub fn export_tables(
        &self,
        folder: &Path,
        format: ExportFormat,
        filter: &Filter,
    ) -> Result<Vec<(PathBuf, usize)>, SqlError> {
        fs::create_dir_all(folder).map_err(|error| SqlError::from_cache_error(folder, &error))?;
        let ids: Vec<&str> = self
            .select_runs(filter)
            .map(|row| row.run.id.as_str())
            .collect();
        let ids = Series::new("selected".into(), ids);
        let mut written = Vec::new();
        for table in TABLES {
            let rows = self.table_frame(table)?;
            let rows = if filter.is_empty() {
                rows
            } else {
                rows.filter(col("run_id").is_in(lit(ids.clone()).implode(false), false))
            };
            let mut frame = match format {
                ExportFormat::Parquet => rows
                    .with_columns([signed_integers(), utc_times()])
                    .collect()?,
                ExportFormat::Csv => rows.collect()?,
            };
            let extension = match format {
                ExportFormat::Parquet => "parquet",
                ExportFormat::Csv => "csv",
            };
            let path = folder.join(format!("{table}.{extension}"));
            let temporary = crate::files::create_temporary_in(folder)
                .map_err(|error| SqlError::from_cache_error(folder, &error))?;
            match format {
                ExportFormat::Parquet => {
                    // The Parquet writer writes single bytes.
                    let mut buffered = BufWriter::new(temporary.as_file());
                    ParquetWriter::new(&mut buffered)
                        .with_compression(ParquetCompression::Zstd(None))
                        .finish(&mut frame)?;
                    buffered
                        .flush()
                        .map_err(|error| SqlError::from_cache_error(&path, &error))?;
                }
                ExportFormat::Csv => write_csv(&frame, temporary.as_file())
                    .map_err(|error| SqlError::Failed(error.to_string()))?,
            }
            temporary
                .persist(&path)
                .map_err(|error| SqlError::from_cache_error(&path, &error.error))?;
            written.push((path, frame.height()));
        }
        Ok(written)
    }
}

/// Casts whole numbers to signed ones, which every Parquet reader supports.
pub(super) fn signed_integers() -> Expr {
    dtype_cols([
        DataType::UInt8,
        DataType::UInt16,
        DataType::UInt32,
        DataType::UInt64,
    ])
    .as_selector()
    .as_expr()
    .cast(DataType::Int64)
}

/// Marks times as UTC.
pub(super) fn utc_times() -> Expr {
    let (unit, zone) = (TimeUnit::Microseconds, Some(TimeZone::UTC));
    dtype_cols([DataType::Datetime(TimeUnit::Milliseconds, None)])
        .as_selector()
        .as_expr()
        .cast(DataType::Datetime(unit, zone))
}

/// Writes the frame unchanged, for programs: formulas in cells are not escaped. Missing values are empty.
fn write_csv(frame: &DataFrame, file: &File) -> Result<(), Box<dyn std::error::Error>> {
    let mut writer = csv::Writer::from_writer(BufWriter::new(file));
    writer.write_record(frame.get_column_names().iter().map(|name| name.as_str()))?;
    for row in 0..frame.height() {
        let mut record = csv::StringRecord::new();
        for column in frame.columns() {
            match column.get(row)? {
                AnyValue::Null => record.push_field(""),
                AnyValue::String(text) => record.push_field(text),
                // A filter's result is owned; its own formatting would add quotes.
                AnyValue::StringOwned(text) => record.push_field(text.as_str()),
                // Its own formatting would round numbers.
                AnyValue::Float64(number) => record.push_field(&format!("{number:?}")),
                other => record.push_field(&other.to_string()),
            }
        }
        writer.write_record(&record)?;
    }
    writer.flush()?;
    Ok(())
}
