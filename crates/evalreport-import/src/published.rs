//! Tables of published figures: every column as it is printed, with no map and no meaning yet.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Read;
use std::path::Path;

use crate::domain::{Problem, PublishedRow, PublishedTable};

use super::cell::CellKind;
use super::columns::SourceColumns;
use super::list_path::{COLUMNS_PATH, ENCLOSING_PREFIX, ROW_COLUMN, covers_path};
use super::markdown_rows::parse_tables;
use super::rows::{MAX_RECORD_BYTES, ReadStop, RowSink, SourceRow};
use super::sample::{SampleRole, TableSample, non_empty_text, sample_source};
use super::source::{RowFormat, SourceFile};

/// Maximum number of rows read of a table.
const MAX_ROWS: u64 = 20_000;

/// Reads the tables of a file in any format of tables, compressed or not: each table of a Markdown text, each sheet of a workbook, each member
/// of an archive, and each list of a document. Fails if the file has no table.
pub fn read_published_tables(path: &Path) -> Result<Vec<PublishedTable>, Vec<Problem>> {
    let source = SourceFile::from_path(path).map_err(|problem| vec![problem])?;
    let tables = if may_be_markdown(&source)? {
        read_markdown_tables(&source)?
    } else {
        read_sampled_tables(&source)?
    };
    let tables: Vec<PublishedTable> = tables
        .into_iter()
        .filter(|table| !table.rows.is_empty())
        .collect();
    if tables.is_empty() {
        return Err(vec![Problem::in_file(&source.shown, "has no table")]);
    }
    Ok(tables)
}

fn may_be_markdown(source: &SourceFile) -> Result<bool, Vec<Problem>> {
    let mut is_markdown = false;
    for_each_part(source, &mut |part| {
        is_markdown |= part.format == RowFormat::Markdown;
        Ok(())
    })?;
    Ok(is_markdown)
}

fn for_each_part(
    source: &SourceFile,
    on_part: &mut dyn FnMut(super::source::SourcePart<'_>) -> Result<(), ReadStop>,
) -> Result<(), Vec<Problem>> {
    match source.for_each_part(
        super::encoding::TextEncoding::default(),
        &mut |_| {},
        on_part,
    ) {
        Ok(()) => Ok(()),
        Err(ReadStop::Unreadable(problems)) => Err(problems),
        Err(ReadStop::Store(error)) => {
            Err(vec![Problem::in_file(&source.shown, error.to_string())])
        }
    }
}

fn read_markdown_tables(source: &SourceFile) -> Result<Vec<PublishedTable>, Vec<Problem>> {
    let mut found = Vec::new();
    for_each_part(source, &mut |part| {
        let mut text = String::new();
        let read = part
            .input
            .into_reader()
            .take(MAX_RECORD_BYTES)
            .read_to_string(&mut text);
        read.map_err(|error| Problem::in_file(&part.label, format!("cannot be read: {error}")))?;
        for table in parse_tables(&text) {
            let rows = (1..).zip(&table.rows).map(|(number, (line, record))| {
                let cells = (0..table.header.len())
                    .map(|place| record.get(place).filter(|text| !text.is_empty()).cloned());
                PublishedRow {
                    number,
                    line: Some(*line),
                    cells: cells.collect(),
                    doubled: Vec::new(),
                }
            });
            found.push(PublishedTable {
                name: part.label.clone(),
                rows: rows.collect(),
                columns: table.header,
            });
        }
        Ok(())
    })?;
    Ok(found)
}

fn read_sampled_tables(source: &SourceFile) -> Result<Vec<PublishedTable>, Vec<Problem>> {
    let mut found = Vec::new();
    for sampled in sample_source(source)? {
        let sheets = sampled
            .tables
            .iter()
            .filter(|sample| sample.layout.sheet.is_some())
            .count();
        for sample in if sheets == 0 {
            separate_lists(sampled.tables)
        } else {
            sampled.tables
        } {
            let part = sample.layout.sheet.as_ref().or(sample.layout.list.as_ref());
            let name = part.map_or_else(
                || sampled.label.clone(),
                |part| format!("{} ({part})", sampled.label),
            );
            let read = reread_rows(source, &sampled.label, &sample);
            let rows = read.unwrap_or_else(|| {
                let rows = (1..).zip(sample.rows.clone());
                rows.map(|(number, cells)| PublishedRow {
                    number,
                    line: None,
                    cells,
                    doubled: Vec::new(),
                })
                .collect()
            });
            found.push(PublishedTable {
                name,
                columns: sample.columns,
                rows,
            });
        }
    }
    Ok(found)
}

/// Returns the lists of a document, each with the figures of its own rows and the texts around them: a list within a row repeats that row's
/// figures. A document that is written column by column is one table.
fn separate_lists(mut tables: Vec<TableSample>) -> Vec<TableSample> {
    // Lists that another table has together stand for themselves here.
    let list_of = |sample: &TableSample| sample.layout.list.clone().unwrap_or_default();
    let parts: Vec<String> = tables
        .iter()
        .filter(|sample| sample.role == SampleRole::Part)
        .map(list_of)
        .collect();
    tables.retain(|sample| {
        matches!(sample.role, SampleRole::Table | SampleRole::Part)
            && !parts.iter().any(|part| covers_path(&list_of(sample), part))
    });
    let filled = |sample: &TableSample| sample.rows.iter().flatten().flatten().count();
    tables.sort_by_key(|sample| std::cmp::Reverse((filled(sample), sample.rows.len())));
    let is_by_columns = tables
        .first()
        .is_some_and(|sample| sample.layout.list.as_deref() == Some(COLUMNS_PATH));
    if is_by_columns || tables.len() == 1 {
        tables.truncate(1);
        return tables;
    }
    let mut found: Vec<TableSample> = tables.iter().filter_map(keep_own_figures).collect();
    if found.is_empty() {
        tables.truncate(1);
        return tables;
    }
    // Lists in the order of the document, the outer before the inner ones.
    found.sort_by_key(|sample| {
        sample
            .layout
            .list
            .as_deref()
            .map_or(0, |list| list.matches(['[', '{']).count())
    });
    found
}

/// Keeps a list's own columns, and the columns of texts around its rows. `None` for a list of single texts, such as tags.
fn keep_own_figures(sample: &TableSample) -> Option<TableSample> {
    /// An object of more entries is a table of its own, not columns of its row.
    const MAX_ENTRIES: usize = 40;
    let mut entries: BTreeMap<&str, usize> = BTreeMap::new();
    for (name, _) in sample
        .columns
        .iter()
        .filter_map(|name| name.split_once('.'))
        .filter(|_| sample.columns.len() > MAX_ENTRIES)
    {
        *entries.entry(name).or_default() += 1;
    }
    let is_entry = |name: &str| {
        name.split_once('.')
            .is_some_and(|(first, _)| entries.get(first).is_some_and(|count| *count > MAX_ENTRIES))
    };
    let is_text = |place: usize| {
        let mut values = sample.rows.iter().filter_map(|row| row[place].as_deref());
        values.all(|text| text.trim_end_matches('%').parse::<f64>().is_err())
    };
    let is_kept = |place: &usize| {
        let name = sample.columns[*place].as_str();
        if name.starts_with(ENCLOSING_PREFIX) {
            name.ends_with(['}', ']']) || is_text(*place)
        } else {
            name != ROW_COLUMN && !is_entry(name)
        }
    };
    let kept: Vec<usize> = (0..sample.columns.len()).filter(is_kept).collect();
    let has_own = kept
        .iter()
        .any(|place| !sample.columns[*place].starts_with(ENCLOSING_PREFIX));
    let take = |row: &Vec<Option<String>>| kept.iter().map(|place| row[*place].clone()).collect();
    (has_own && sample.rows.len() > 1).then(|| TableSample {
        columns: kept
            .iter()
            .map(|place| sample.columns[*place].clone())
            .collect(),
        rows: sample.rows.iter().map(take).collect(),
        compound: BTreeSet::new(),
        uncomputed: BTreeMap::new(),
        ..sample.clone()
    })
}

/// Reads the rows again by the known columns, for their lines and doubled keys. `None` if this layout cannot be read so.
fn reread_rows(
    source: &SourceFile,
    label: &str,
    sample: &TableSample,
) -> Option<Vec<PublishedRow>> {
    let mut found = Vec::new();
    let read = source.for_each_part(sample.layout.encoding, &mut |_| {}, |part| {
        if part.label != label {
            return Ok(());
        }
        let mut columns = SourceColumns::new(sample.columns.clone());
        let mut on_row = |row: &SourceRow<'_>| {
            if let Ok(cells) = &row.cells {
                let doubled = cells
                    .iter()
                    .enumerate()
                    .filter(|(_, cell)| cell.kind == CellKind::Ambiguous)
                    .map(|(place, _)| place)
                    .collect();
                found.push(PublishedRow {
                    number: row.number,
                    line: row.line,
                    cells: cells.iter().map(non_empty_text).collect(),
                    doubled,
                });
            }
            Ok(())
        };
        let mut rows = RowSink::new(label, &mut columns, &mut on_row).up_to(MAX_ROWS);
        sample
            .layout
            .read_rows(part.format, part.input, &mut rows, |_| None)
    });
    let is_read = match read {
        Ok(()) => true,
        Err(ReadStop::Unreadable(problems)) => problems.is_empty(),
        Err(ReadStop::Store(_)) => false,
    };
    (is_read && !found.is_empty()).then_some(found)
}
