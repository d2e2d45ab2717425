//! Location of the rows in a file.

use serde::Deserialize;
use serde_json::Value;

use super::super::super::rows::ReadStop;
use super::super::json::Lenient;
use super::super::json_reader::read_object;
use super::super::peek::Peek;
use super::super::source::ForeignFile;
use super::wire::{HEAD_KEYS, PromptfooHead};

/// Returns whether a file has one row per line. A file with a single row counts too.
pub(super) fn is_lines(peek: &Peek) -> bool {
    peek.is_lines || peek.has("promptIdx")
}

/// Location of the rows in a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RowLocation {
    /// `results.results`, with one row per test and column.
    Rows,
    /// `results.table.body`, with one row per test, in versions 1 and 2.
    Table,
    /// One row per line, without a head.
    Lines,
}

/// Reads the head and finds the rows.
pub(super) fn locate_rows(file: &ForeignFile) -> Result<(RowLocation, PromptfooHead), ReadStop> {
    let mut has_numbers = false;
    let head: PromptfooHead = read_object(
        file.open()?,
        &file.shown,
        &HEAD_KEYS,
        "results.results",
        &mut |row: Lenient<ColumnNumber>| {
            has_numbers |= row.0.is_some_and(|row| !row.prompt_idx.is_null());
            Ok(())
        },
    )?;
    let has_table = head
        .results
        .0
        .as_ref()
        .is_some_and(|results| results.table.0.is_some());
    Ok((
        if has_table && !has_numbers {
            RowLocation::Table
        } else {
            RowLocation::Rows
        },
        head,
    ))
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct ColumnNumber {
    prompt_idx: Value,
}
