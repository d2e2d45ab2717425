//! Layout of a file's rows, and reading them from any kind of file.

use crate::domain::Problem;

use super::arrow_rows::{read_arrow, read_parquet, read_stream};
use super::csv_rows::read_csv;
use super::encoding::Encoding;
use super::json_rows::{read_json, read_lines};
use super::list_path::{is_enclosing, is_nested};
use super::markdown_rows::read_markdown;
use super::nested_rows::{read_nested, read_tree};
use super::rows::{Rows, Stop};
use super::source::{Format, Input};
use super::titles::Header;
use super::tree::Tree;
use super::workbook::read_workbook;
use super::yaml_rows::{read_document, read_yaml};

/// Layout of a file's rows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Layout {
    /// Path of the list inside a document.
    pub list: Option<String>,
    /// Delimiter of CSV cells, unless it is the usual one.
    pub delimiter: Option<u8>,
    pub header: Header,
    /// Sheet of a workbook. `None` means the first.
    pub sheet: Option<String>,
    pub encoding: Encoding,
}

impl Default for Layout {
    fn default() -> Self {
        Self {
            list: None,
            delimiter: None,
            header: Header::default(),
            sheet: None,
            encoding: Encoding::Utf8,
        }
    }
}

impl Layout {
    /// Returns whether finding the rows or their columns needs the whole document, not just one list.
    fn is_nested(&self, rows: &Rows<'_>) -> bool {
        self.list.as_deref().is_some_and(is_nested)
            || rows
                .columns
                .names()
                .iter()
                .any(|column| is_enclosing(column))
    }

    /// Reads the rows of one part. Calls `ready` when the columns of a table are known; a problem that it returns stops the reading.
    pub fn read(
        &self,
        format: Format,
        input: Input<'_>,
        rows: &mut Rows<'_>,
        ready: impl FnOnce(&Rows<'_>) -> Option<Problem>,
    ) -> Result<(), Stop> {
        let list = self.list.as_deref();
        match (format, input) {
            (Format::Parquet, Input::File(file)) => read_parquet(file, rows, ready),
            (Format::Arrow, Input::File(file)) => read_arrow(&file, rows, ready),
            (Format::ArrowStream, Input::File(file)) => read_stream(&file, rows, ready),
            (Format::Workbook, Input::File(file)) => {
                read_workbook(file, self.sheet.as_deref(), self.header, rows, ready)
            }
            (Format::Markdown, input) => read_markdown(input.text(), rows, ready),
            (
                Format::Csv
                | Format::Tsv
                | Format::Parquet
                | Format::Arrow
                | Format::ArrowStream
                | Format::Workbook,
                input,
            ) => {
                let delimiter =
                    self.delimiter
                        .unwrap_or(if format == Format::Tsv { b'\t' } else { b',' });
                read_csv(input.text(), delimiter, self.header, rows, ready)
            }
            (Format::Json | Format::JsonLines, input) if self.is_nested(rows) => {
                read_nested(&read_tree(input.text(), rows)?, list, rows)
            }
            (Format::Yaml, input) if self.is_nested(rows) => {
                read_nested(&Tree::from(&read_document(input.text(), rows)?), list, rows)
            }
            (Format::Json, input) => read_json(input.text(), list, rows),
            (Format::JsonLines, input) => read_lines(input.text(), rows),
            (Format::Yaml, input) => read_yaml(input.text(), list, rows),
        }
    }
}
