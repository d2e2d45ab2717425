//! Tables of published figures: every column as it is printed, with no map and no meaning yet.

use std::io::Read;
use std::path::Path;

use crate::domain::{ClaimedRow, ClaimedTable, Problem};

use super::cell::CellKind;
use super::columns::Columns;
use super::markdown_rows::tables_of;
use super::rows::{MOST_RECORD_BYTES, Row, Rows, Stop};
use super::sample::{Sample, samples_of, text_of};
use super::source::{Format, Source};

/// Maximum number of rows read of a table.
const MOST_ROWS: u64 = 20_000;

/// Reads the tables of a file in any format of tables, compressed or not: each table of a Markdown text, each sheet of a workbook, each member
/// of an archive, and the largest list of a document. Fails if the file has no table.
pub fn read_published(path: &Path) -> Result<Vec<ClaimedTable>, Vec<Problem>> {
    let source = Source::examine(path).map_err(|problem| vec![problem])?;
    let tables = if may_be_markdown(&source)? { of_markdown(&source)? } else { of_samples(&source)? };
    let tables: Vec<ClaimedTable> = tables.into_iter().filter(|table| !table.rows.is_empty()).collect();
    if tables.is_empty() {
        return Err(vec![Problem::in_file(&source.shown, "has no table")]);
    }
    Ok(tables)
}

fn may_be_markdown(source: &Source) -> Result<bool, Vec<Problem>> {
    let mut is_markdown = false;
    each(source, &mut |part| {
        is_markdown |= part.format == Format::Markdown;
        Ok(())
    })?;
    Ok(is_markdown)
}

fn each(source: &Source, on_part: &mut dyn FnMut(super::source::Part<'_>) -> Result<(), Stop>) -> Result<(), Vec<Problem>> {
    match source.each_part(super::encoding::Encoding::default(), &mut |_| {}, on_part) {
        Ok(()) => Ok(()),
        Err(Stop::Unreadable(problems)) => Err(problems),
        Err(Stop::Store(error)) => Err(vec![Problem::in_file(&source.shown, error.to_string())]),
    }
}

fn of_markdown(source: &Source) -> Result<Vec<ClaimedTable>, Vec<Problem>> {
    let mut found = Vec::new();
    each(source, &mut |part| {
        let mut text = String::new();
        let read = part.input.text().take(MOST_RECORD_BYTES).read_to_string(&mut text);
        read.map_err(|error| Problem::in_file(&part.label, format!("cannot be read: {error}")))?;
        for table in tables_of(&text) {
            let rows = (1..).zip(&table.rows).map(|(number, (line, record))| {
                let cells = (0..table.header.len()).map(|place| record.get(place).filter(|text| !text.is_empty()).cloned());
                ClaimedRow { number, line: Some(*line), cells: cells.collect(), doubled: Vec::new() }
            });
            found.push(ClaimedTable { name: part.label.clone(), rows: rows.collect(), columns: table.header });
        }
        Ok(())
    })?;
    Ok(found)
}

fn of_samples(source: &Source) -> Result<Vec<ClaimedTable>, Vec<Problem>> {
    let mut found = Vec::new();
    for sampled in samples_of(source)? {
        let filled = |sample: &Sample| sample.rows.iter().flatten().flatten().count();
        let sheets = sampled.tables.iter().filter(|sample| sample.layout.sheet.is_some()).count();
        let mut tables = sampled.tables;
        // Lists inside a document lead to the same values in several ways: the longest way round knows most of them.
        if sheets == 0 {
            tables.sort_by_key(|sample| std::cmp::Reverse((filled(sample), sample.rows.len())));
            tables.truncate(1);
        }
        for sample in tables {
            let part = sample.layout.sheet.as_ref().or(sample.layout.list.as_ref());
            let name = part.map_or_else(|| sampled.label.clone(), |part| format!("{} ({part})", sampled.label));
            let read = read_again(source, &sampled.label, &sample);
            let rows = read.unwrap_or_else(|| {
                let rows = (1..).zip(sample.rows.clone());
                rows.map(|(number, cells)| ClaimedRow { number, line: None, cells, doubled: Vec::new() }).collect()
            });
            found.push(ClaimedTable { name, columns: sample.columns, rows });
        }
    }
    Ok(found)
}

/// Reads the rows again by the known columns, for their lines and doubled keys. `None` if this layout cannot be read so.
fn read_again(source: &Source, label: &str, sample: &Sample) -> Option<Vec<ClaimedRow>> {
    let mut found = Vec::new();
    let read = source.each_part(sample.layout.encoding, &mut |_| {}, |part| {
        if part.label != label {
            return Ok(());
        }
        let mut columns = Columns::of(sample.columns.clone());
        let mut on_row = |row: &Row<'_>| {
            if let Ok(cells) = &row.cells {
                let doubled =
                    cells.iter().enumerate().filter(|(_, cell)| cell.kind == CellKind::Ambiguous).map(|(place, _)| place).collect();
                found.push(ClaimedRow { number: row.number, line: row.line, cells: cells.iter().map(text_of).collect(), doubled });
            }
            Ok(())
        };
        let mut rows = Rows::new(label, &mut columns, &mut on_row).up_to(MOST_ROWS);
        sample.layout.read(part.format, part.input, &mut rows, |_| None)
    });
    let is_read = match read {
        Ok(()) => true,
        Err(Stop::Unreadable(problems)) => problems.is_empty(),
        Err(Stop::Store(_)) => false,
    };
    (is_read && !found.is_empty()).then_some(found)
}
