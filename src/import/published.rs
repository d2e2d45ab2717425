//! Tables of published figures: every column as it is printed, with no map and no meaning yet.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Read;
use std::path::Path;

use crate::domain::{ClaimedRow, ClaimedTable, Problem};

use super::cell::CellKind;
use super::columns::Columns;
use super::list_path::{BY_COLUMNS, ENCLOSING, ITSELF};
use super::markdown_rows::tables_of;
use super::rows::{MOST_RECORD_BYTES, Row, Rows, Stop};
use super::sample::{Sample, samples_of, text_of};
use super::source::{Format, Source};

/// Maximum number of rows read of a table.
const MOST_ROWS: u64 = 20_000;

/// Reads the tables of a file in any format of tables, compressed or not: each table of a Markdown text, each sheet of a workbook, each member
/// of an archive, and each list of a document. Fails if the file has no table.
pub fn read_published(path: &Path) -> Result<Vec<ClaimedTable>, Vec<Problem>> {
    let source = Source::examine(path).map_err(|problem| vec![problem])?;
    let tables = if may_be_markdown(&source)? {
        of_markdown(&source)?
    } else {
        of_samples(&source)?
    };
    let tables: Vec<ClaimedTable> = tables
        .into_iter()
        .filter(|table| !table.rows.is_empty())
        .collect();
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

fn each(
    source: &Source,
    on_part: &mut dyn FnMut(super::source::Part<'_>) -> Result<(), Stop>,
) -> Result<(), Vec<Problem>> {
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
        let read = part
            .input
            .text()
            .take(MOST_RECORD_BYTES)
            .read_to_string(&mut text);
        read.map_err(|error| Problem::in_file(&part.label, format!("cannot be read: {error}")))?;
        for table in tables_of(&text) {
            let rows = (1..).zip(&table.rows).map(|(number, (line, record))| {
                let cells = (0..table.header.len())
                    .map(|place| record.get(place).filter(|text| !text.is_empty()).cloned());
                ClaimedRow {
                    number,
                    line: Some(*line),
                    cells: cells.collect(),
                    doubled: Vec::new(),
                }
            });
            found.push(ClaimedTable {
                name: part.label.clone(),
                rows: rows.collect(),
                columns: table.header,
            });
        }
        Ok(())
    })?;
    Ok(found)
}

fn of_samples(source: &Source) -> Result<Vec<ClaimedTable>, Vec<Problem>> {
    let mut found = Vec::new();
    for sampled in samples_of(source)? {
        let sheets = sampled
            .tables
            .iter()
            .filter(|sample| sample.layout.sheet.is_some())
            .count();
        for sample in if sheets == 0 {
            lists_apart(sampled.tables)
        } else {
            sampled.tables
        } {
            let part = sample.layout.sheet.as_ref().or(sample.layout.list.as_ref());
            let name = part.map_or_else(
                || sampled.label.clone(),
                |part| format!("{} ({part})", sampled.label),
            );
            let read = read_again(source, &sampled.label, &sample);
            let rows = read.unwrap_or_else(|| {
                let rows = (1..).zip(sample.rows.clone());
                rows.map(|(number, cells)| ClaimedRow {
                    number,
                    line: None,
                    cells,
                    doubled: Vec::new(),
                })
                .collect()
            });
            found.push(ClaimedTable {
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
fn lists_apart(mut tables: Vec<Sample>) -> Vec<Sample> {
    let filled = |sample: &Sample| sample.rows.iter().flatten().flatten().count();
    tables.sort_by_key(|sample| std::cmp::Reverse((filled(sample), sample.rows.len())));
    let is_by_columns = tables
        .first()
        .is_some_and(|sample| sample.layout.list.as_deref() == Some(BY_COLUMNS));
    if is_by_columns || tables.len() == 1 {
        tables.truncate(1);
        return tables;
    }
    let mut found: Vec<Sample> = tables.iter().filter_map(of_own_figures).collect();
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
fn of_own_figures(sample: &Sample) -> Option<Sample> {
    /// An object of more entries is a table of its own, not columns of its row.
    const MOST_ENTRIES: usize = 40;
    let mut entries: BTreeMap<&str, usize> = BTreeMap::new();
    for (name, _) in sample
        .columns
        .iter()
        .filter_map(|name| name.split_once('.'))
        .filter(|_| sample.columns.len() > MOST_ENTRIES)
    {
        *entries.entry(name).or_default() += 1;
    }
    let is_entry = |name: &str| {
        name.split_once('.').is_some_and(|(first, _)| {
            entries
                .get(first)
                .is_some_and(|count| *count > MOST_ENTRIES)
        })
    };
    let is_text = |place: usize| {
        let mut values = sample.rows.iter().filter_map(|row| row[place].as_deref());
        values.all(|text| text.trim_end_matches('%').parse::<f64>().is_err())
    };
    let is_kept = |place: &usize| {
        let name = sample.columns[*place].as_str();
        if name.starts_with(ENCLOSING) {
            name.ends_with(['}', ']']) || is_text(*place)
        } else {
            name != ITSELF && !is_entry(name)
        }
    };
    let kept: Vec<usize> = (0..sample.columns.len()).filter(is_kept).collect();
    let has_own = kept
        .iter()
        .any(|place| !sample.columns[*place].starts_with(ENCLOSING));
    let take = |row: &Vec<Option<String>>| kept.iter().map(|place| row[*place].clone()).collect();
    (has_own && sample.rows.len() > 1).then(|| Sample {
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
fn read_again(source: &Source, label: &str, sample: &Sample) -> Option<Vec<ClaimedRow>> {
    let mut found = Vec::new();
    let read = source.each_part(sample.layout.encoding, &mut |_| {}, |part| {
        if part.label != label {
            return Ok(());
        }
        let mut columns = Columns::of(sample.columns.clone());
        let mut on_row = |row: &Row<'_>| {
            if let Ok(cells) = &row.cells {
                let doubled = cells
                    .iter()
                    .enumerate()
                    .filter(|(_, cell)| cell.kind == CellKind::Ambiguous)
                    .map(|(place, _)| place)
                    .collect();
                found.push(ClaimedRow {
                    number: row.number,
                    line: row.line,
                    cells: cells.iter().map(text_of).collect(),
                    doubled,
                });
            }
            Ok(())
        };
        let mut rows = Rows::new(label, &mut columns, &mut on_row).up_to(MOST_ROWS);
        sample
            .layout
            .read(part.format, part.input, &mut rows, |_| None)
    });
    let is_read = match read {
        Ok(()) => true,
        Err(Stop::Unreadable(problems)) => problems.is_empty(),
        Err(Stop::Store(_)) => false,
    };
    (is_read && !found.is_empty()).then_some(found)
}
