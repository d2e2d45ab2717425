//! Layout of a file's rows, and reading them from any kind of file.

use crate::domain::Problem;

use super::arrow_rows::{read_arrow, read_arrow_stream, read_parquet};
use super::csv_rows::read_csv;
use super::encoding::TextEncoding;
use super::json_rows::{read_json, read_json_lines};
use super::list_path::{is_enclosing_column, is_nested_path};
use super::markdown_rows::read_markdown;
use super::nested_rows::{read_json_tree, read_nested_rows};
use super::rows::{ReadStop, RowSink};
use super::source::{PartInput, RowFormat};
use super::titles::HeaderLines;
use super::tree::DocumentTree;
use super::workbook::read_workbook;
use super::yaml_rows::{read_document, read_yaml};

/// Layout of a file's rows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct RowLayout {
    /// Path of the list inside a document.
    pub list: Option<String>,
    /// Delimiter of CSV cells, unless it is the usual one.
    pub delimiter: Option<u8>,
    pub header: HeaderLines,
    /// Sheet of a workbook. `None` means the first.
    pub sheet: Option<String>,
    pub encoding: TextEncoding,
}

impl Default for RowLayout {
    fn default() -> Self {
        Self {
            list: None,
            delimiter: None,
            header: HeaderLines::default(),
            sheet: None,
            encoding: TextEncoding::Utf8,
        }
    }
}

impl RowLayout {
    /// Returns whether finding the rows or their columns needs the whole document, not just one list.
    fn needs_whole_document(&self, rows: &RowSink<'_>) -> bool {
        self.list.as_deref().is_some_and(is_nested_path)
            || rows
                .columns
                .names()
                .iter()
                .any(|column| is_enclosing_column(column))
    }

    /// Reads the rows of one part. Calls `ready` when the columns of a table are known; a problem that it returns stops the reading.
    pub fn read_rows(
        &self,
        format: RowFormat,
        input: PartInput<'_>,
        rows: &mut RowSink<'_>,
        ready: impl FnOnce(&RowSink<'_>) -> Option<Problem>,
    ) -> Result<(), ReadStop> {
        let list = self.list.as_deref();
        match (format, input) {
            (RowFormat::Parquet, PartInput::File(file)) => read_parquet(file, rows, ready),
            (RowFormat::Arrow, PartInput::File(file)) => read_arrow(&file, rows, ready),
            (RowFormat::ArrowStream, PartInput::File(file)) => {
                read_arrow_stream(&file, rows, ready)
            }
            (RowFormat::Workbook, PartInput::File(file)) => {
                read_workbook(file, self.sheet.as_deref(), self.header, rows, ready)
            }
            (RowFormat::Markdown, input) => read_markdown(input.into_reader(), rows, ready),
            (
                RowFormat::Csv
                | RowFormat::Tsv
                | RowFormat::Parquet
                | RowFormat::Arrow
                | RowFormat::ArrowStream
                | RowFormat::Workbook,
                input,
            ) => {
                let delimiter = self.delimiter.unwrap_or(if format == RowFormat::Tsv {
                    b'\t'
                } else {
                    b','
                });
                read_csv(input.into_reader(), delimiter, self.header, rows, ready)
            }
            (RowFormat::Json | RowFormat::JsonLines, input) if self.needs_whole_document(rows) => {
                read_nested_rows(&read_json_tree(input.into_reader(), rows)?, list, rows)
            }
            (RowFormat::Yaml, input) if self.needs_whole_document(rows) => read_nested_rows(
                &DocumentTree::from(&read_document(input.into_reader(), rows)?),
                list,
                rows,
            ),
            (RowFormat::Json, input) => read_json(input.into_reader(), list, rows),
            (RowFormat::JsonLines, input) => read_json_lines(input.into_reader(), rows),
            (RowFormat::Yaml, input) => read_yaml(input.into_reader(), list, rows),
        }
    }
}
