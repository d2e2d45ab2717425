//! The first rows of a table without a map, with all its columns.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::io::{BufRead, Read};

use crate::domain::Problem;
use crate::results::StoreError;

use super::cell::{CellKind, RowCell};
use super::columns::SourceColumns;
use super::csv_rows::BLANK_DELIMITER;
use super::encoding::TextEncoding;
use super::layout::RowLayout;
use super::list_path::{
    COLUMNS_PATH, ENCLOSING_PREFIX, ListPathStep, PathFrame, ROW_COLUMN, for_each_row, parse_path,
};
use super::path_part::PathPart;
use super::rows::{ReadStop, RowSink, SourceRow};
use super::source::{PartInput, RowFormat, SourceFile, SourcePart};
use super::titles::HeaderLines;
use super::tree::DocumentTree;
use super::workbook::Workbook;
use super::yaml_rows::read_document;

/// Maximum number of rows examined per file.
pub(super) const MAX_ROWS: u64 = 20_000;
/// Maximum bytes of text examined to find the delimiter.
const MAX_HEAD_BYTES: u64 = 256 << 10;
const MAX_RECORDS: usize = 400;
/// Maximum number of columns of a JSON document. Every path is a column.
const MAX_COLUMNS: usize = 2000;
/// Maximum number of columns of a table that is written column by column.
const MAX_TURNED: usize = 200;
/// Maximum number of keys of an object around the rows. A larger object is a table itself.
const MAX_AROUND: usize = 60;
/// Minimum number of single values in an object that is a table. A smaller object is a record.
const MIN_FLAT: usize = 3;
/// Maximum depth of tables in a document, and their number.
const MAX_DEPTH: usize = 6;
const MAX_PATHS: usize = 60;
/// Maximum number of values at one path that are compared.
const MAX_NODES: usize = 50;

/// What a part of a document is beside its other parts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SampleRole {
    Table,
    /// One of several lists of the same kind, which another sample has together.
    Part,
    /// The same rows as another sample, with a key of their path as a name. It is meant if the key is another one in other files.
    Keyed,
    /// A single object, which is a row if other files have more of its kind.
    Object,
}

/// A possible reading of a file as a table. A file with several sheets or lists has several.
#[derive(Clone, Debug)]
pub(super) struct TableSample {
    pub layout: RowLayout,
    pub role: SampleRole,
    pub columns: Vec<String>,
    /// For each row, the text of each column. `None` if the cell is empty or missing.
    pub rows: Vec<Vec<Option<String>>>,
    /// Columns that are lists or objects in some row.
    pub compound: BTreeSet<usize>,
    /// Names that several columns of the header have. These columns are not read.
    pub doubled: Vec<String>,
    /// Number of cells by column whose formula has no stored value.
    pub uncomputed: BTreeMap<usize, usize>,
}

/// A file or a member of an archive, with the tables that it may be.
#[derive(Debug)]
pub(super) struct SampledPart {
    /// Name in messages.
    pub label: String,
    /// Whole path, through the archive.
    pub path: String,
    pub tables: Vec<TableSample>,
}

/// Reads the beginning of a file, or of each member of an archive, and returns the tables that they may be.
pub(super) fn sample_source(source: &SourceFile) -> Result<Vec<SampledPart>, Vec<Problem>> {
    let mut found = Vec::new();
    let encoding = detect_encoding(source)?;
    let read = source.for_each_part(encoding, &mut |_| {}, |part| {
        let (label, path) = (part.label.clone(), part.path.clone());
        found.push(SampledPart {
            label,
            path,
            tables: sample_part(part, encoding)?,
        });
        Ok(())
    });
    match read {
        Ok(()) => Ok(found),
        Err(ReadStop::Unreadable(problems)) => Err(problems),
        Err(ReadStop::Store(error)) => {
            Err(vec![Problem::in_file(&source.shown, error.to_string())])
        }
    }
}

/// Returns the file's encoding. Text that is not UTF-8 is taken as Windows-1252, the Western encoding of spreadsheets.
fn detect_encoding(source: &SourceFile) -> Result<TextEncoding, Vec<Problem>> {
    let mut encoding = TextEncoding::Utf8;
    let read = source.for_each_part(TextEncoding::Utf8, &mut |_| {}, |part| {
        if let (RowFormat::Csv | RowFormat::Tsv, PartInput::Text(text)) = (part.format, part.input)
        {
            let mut head = Vec::new();
            // An error will occur again when the rows are read.
            let _ = text.take(MAX_HEAD_BYTES).read_to_end(&mut head);
            // The last character may be incomplete.
            let is_text = std::str::from_utf8(&head)
                .map_or_else(|error| error.error_len().is_none(), |_| true);
            if !is_text && !head.contains(&0) {
                encoding = TextEncoding::Windows1252;
            }
        }
        Ok(())
    });
    match read {
        Ok(()) | Err(ReadStop::Store(_)) => Ok(encoding),
        Err(ReadStop::Unreadable(problems)) => Err(problems),
    }
}

fn sample_part(part: SourcePart<'_>, encoding: TextEncoding) -> Result<Vec<TableSample>, ReadStop> {
    let SourcePart {
        label,
        format,
        input,
        ..
    } = part;
    let layout = RowLayout {
        encoding,
        ..RowLayout::default()
    };
    match (format, input) {
        (RowFormat::Csv | RowFormat::Tsv, PartInput::Text(mut text)) => {
            let mut head = Vec::new();
            text.by_ref()
                .take(MAX_HEAD_BYTES)
                .read_to_end(&mut head)
                .map_err(|error| Problem::in_file(&label, error.to_string()))?;
            let usual = if format == RowFormat::Tsv {
                b'\t'
            } else {
                b','
            };
            let (delimiter, header) = detect_delimiter(&head, usual);
            if delimiter == usual && is_blank_aligned(&head) {
                let problem = Problem::in_file(
                    &label,
                    "has columns aligned with blanks, and not as many words in each line: a cell may be empty or have several words",
                );
                return Err(problem.with_hint("convert it to CSV; pandas does: `pandas.read_fwf(FILE).to_csv(OTHER, index=False)`").into());
            }
            let layout = RowLayout {
                delimiter: (delimiter != usual).then_some(delimiter),
                header,
                ..layout
            };
            let whole: Box<dyn BufRead> = Box::new(std::io::BufReader::new(
                std::io::Cursor::new(head).chain(text),
            ));
            Ok(vec![TableSample::from_rows(
                &label,
                format,
                PartInput::Text(whole),
                layout,
            )?])
        }
        (RowFormat::Workbook, PartInput::File(file)) => {
            let problem = |why: String| Problem::in_file(&label, why);
            let mut workbook = Workbook::open(file).map_err(problem)?;
            let mut found = Vec::new();
            let names = workbook.sheet_names();
            for sheet in names.iter().cloned() {
                let lines = workbook.first_rows(&sheet, MAX_RECORDS).map_err(problem)?;
                let header = HeaderLines::from_lines(
                    &lines
                        .iter()
                        .map(|line| count_filled(line))
                        .collect::<Vec<_>>(),
                    &lines,
                );
                let layout = RowLayout {
                    sheet: Some(sheet),
                    header,
                    ..layout.clone()
                };
                let read = |layout: &RowLayout, rows: &mut RowSink<'_>| {
                    workbook.read_sheet(layout.sheet.as_deref(), header, rows, |_| None)
                };
                found.extend(TableSample::from_reader(&label, layout, read).ok());
            }
            // Workbooks with one table each are read together, whatever their sheets are called.
            if let [alone] = found.as_mut_slice()
                && alone.layout.sheet.as_ref() == names.first()
            {
                alone.layout.sheet = None;
            }
            Ok(found)
        }
        (RowFormat::Json | RowFormat::JsonLines, PartInput::Text(mut text)) => {
            let start = text.fill_buf().unwrap_or_default();
            let start = start
                .strip_prefix("\u{feff}".as_bytes())
                .unwrap_or(start)
                .trim_ascii_start();
            let is_list = start.first() == Some(&b'[');
            let mut columns = SourceColumns::for_all_columns();
            let mut elements = Vec::new();
            let mut on_row = |row: &SourceRow<'_>| -> Result<(), StoreError> {
                let element = row.cells.as_ref().ok().and_then(|cells| {
                    serde_json::from_str::<DocumentTree>(&cells.first()?.text).ok()
                });
                elements.extend(element);
                Ok(())
            };
            let mut rows = RowSink::new(&label, &mut columns, &mut on_row).up_to(MAX_ROWS);
            // A JSON list with the extension of JSON lines is read as JSON.
            let read = match format {
                RowFormat::JsonLines if !is_list => layout.read_rows(
                    RowFormat::JsonLines,
                    PartInput::Text(text),
                    &mut rows,
                    |_| None,
                ),
                _ => layout.read_rows(RowFormat::Json, PartInput::Text(text), &mut rows, |_| None),
            };
            allow_early_stop(read)?;
            if elements.len() != 1 || is_list {
                return Ok(find_tables(&DocumentTree::List(elements)));
            }
            let object = elements.remove(0);
            let mut found = find_tables(&object);
            let alone = sample_path(&DocumentTree::List(vec![object]), "[]");
            found.extend(alone.map(|alone| TableSample {
                role: SampleRole::Object,
                ..alone
            }));
            Ok(found)
        }
        (RowFormat::Yaml, PartInput::Text(text)) => {
            let mut columns = SourceColumns::for_all_columns();
            let mut on_row = |_: &SourceRow<'_>| Ok(());
            let rows = RowSink::new(&label, &mut columns, &mut on_row);
            Ok(find_tables(&DocumentTree::from(&read_document(
                text, &rows,
            )?)))
        }
        (format, input) => Ok(vec![TableSample::from_rows(&label, format, input, layout)?]),
    }
}

/// Treats a reading that ended because it had enough rows as complete.
fn allow_early_stop(read: Result<(), ReadStop>) -> Result<(), ReadStop> {
    match read {
        Err(ReadStop::Unreadable(problems)) if problems.is_empty() => Ok(()),
        read => read,
    }
}

impl TableSample {
    fn from_rows(
        label: &str,
        format: RowFormat,
        input: PartInput<'_>,
        layout: RowLayout,
    ) -> Result<Self, ReadStop> {
        Self::from_reader(label, layout, |layout, rows| {
            layout.read_rows(format, input, rows, |_| None)
        })
    }

    fn from_reader(
        label: &str,
        layout: RowLayout,
        read: impl FnOnce(&RowLayout, &mut RowSink<'_>) -> Result<(), ReadStop>,
    ) -> Result<Self, ReadStop> {
        let mut columns = SourceColumns::for_all_columns();
        let (mut found, mut compound, mut uncomputed) =
            (Vec::new(), BTreeSet::new(), BTreeMap::new());
        let mut on_row = |row: &SourceRow<'_>| {
            if let Ok(cells) = &row.cells {
                for (place, _) in cells
                    .iter()
                    .enumerate()
                    .filter(|(_, cell)| cell.kind == CellKind::Uncomputed)
                {
                    *uncomputed.entry(place).or_default() += 1;
                }
                compound.extend(
                    cells
                        .iter()
                        .enumerate()
                        .filter(|(_, cell)| is_compound_cell(cell))
                        .map(|(place, _)| place),
                );
                found.push(cells.iter().map(non_empty_text).collect());
            }
            Ok(())
        };
        let mut rows = RowSink::new(label, &mut columns, &mut on_row).up_to(MAX_ROWS);
        allow_early_stop(read(&layout, &mut rows))?;
        let doubled = columns.duplicate_names().to_vec();
        let columns = columns.names().to_vec();
        Ok(Self {
            layout,
            role: SampleRole::Table,
            columns,
            rows: found,
            compound,
            doubled,
            uncomputed,
        })
    }

    /// Returns whether another file has the same layout. A key that some rows omit does not make another layout.
    pub fn has_same_layout(&self, other: &Self) -> bool {
        let own = |sample: &Self| -> BTreeSet<String> {
            sample
                .columns
                .iter()
                .filter(|name| PathPart::from_column(name).is_none())
                .cloned()
                .collect()
        };
        let (names, others) = (own(self), own(other));
        // A single row omits more than many do together.
        let is_row_of = |one: &Self, own: &BTreeSet<String>, others: &BTreeSet<String>| {
            one.rows.len() == 1 && own.is_subset(others)
        };
        self.layout == other.layout
            && (names.intersection(&others).count() * 10 >= names.len().max(others.len()) * 6
                || is_row_of(self, &names, &others)
                || is_row_of(other, &others, &names))
    }

    /// Adds the rows of another file with the same layout. Its columns may be in another order.
    pub fn extend(&mut self, other: Self) {
        let place_of =
            |columns: &[String], name: &String| columns.iter().position(|known| known == name);
        for name in &other.columns {
            if place_of(&self.columns, name).is_none() {
                self.columns.push(name.clone());
                self.rows.iter_mut().for_each(|row| row.push(None));
            }
        }
        let places: Vec<Option<usize>> = self
            .columns
            .iter()
            .map(|name| place_of(&other.columns, name))
            .collect();
        self.compound.extend(
            other
                .compound
                .iter()
                .filter_map(|place| place_of(&self.columns, &other.columns[*place])),
        );
        self.rows.extend(other.rows.into_iter().map(|mut row| {
            let cells = places
                .iter()
                .map(|place| place.and_then(|place| row.get_mut(place)?.take()));
            cells.collect()
        }));
        self.doubled.extend(other.doubled);
        self.doubled.sort();
        self.doubled.dedup();
    }

    /// Adds a column with one value in all rows, unless the table has a column of this name.
    pub fn add_column(&mut self, name: &str, value: &str) {
        if !self.columns.iter().any(|known| known == name) {
            self.columns.push(name.to_owned());
            self.rows
                .iter_mut()
                .for_each(|row| row.push(Some(value.to_owned())));
        }
    }
}

/// Returns a cell's text without blanks around it. `None` if it has no value.
pub(super) fn non_empty_text(cell: &RowCell) -> Option<String> {
    match cell.kind {
        CellKind::Text | CellKind::Number | CellKind::Boolean | CellKind::Compound => {
            Some(cell.text.trim().to_owned()).filter(|text| !text.is_empty())
        }
        CellKind::Absent
        | CellKind::Null
        | CellKind::Ambiguous
        | CellKind::Invalid
        | CellKind::Uncomputed => None,
    }
}

/// Returns whether a cell is a list or an object without a text.
fn is_compound_cell(cell: &RowCell) -> bool {
    cell.kind == CellKind::Compound && cell.text.is_empty()
}

fn count_filled(line: &[String]) -> usize {
    line.iter().filter(|cell| !cell.trim().is_empty()).count()
}

/// Returns the delimiter of a text's cells, and its header.
fn detect_delimiter(head: &[u8], usual: u8) -> (u8, HeaderLines) {
    let records = |delimiter: u8| -> Vec<Vec<String>> {
        let mut reader = csv::ReaderBuilder::new()
            .delimiter(delimiter)
            .has_headers(false)
            .flexible(true)
            .from_reader(head);
        let records = reader
            .byte_records()
            .take(MAX_RECORDS)
            .map_while(Result::ok);
        records
            .map(|record| {
                record
                    .iter()
                    .map(|cell| String::from_utf8_lossy(cell).trim().to_owned())
                    .collect()
            })
            .collect()
    };
    // Number of records with the most frequent width, and that width.
    let fit = |records: &[Vec<String>]| -> (usize, usize) {
        let mut widths: Vec<usize> = records
            .iter()
            .map(Vec::len)
            .filter(|width| *width > 1)
            .collect();
        widths.sort_unstable();
        let best = widths
            .chunk_by(|left, right| left == right)
            .max_by_key(|same| same.len());
        best.map_or((0, 0), |same| (same.len(), same[0]))
    };
    let mut best = (usual, records(usual));
    for delimiter in [b',', b';', b'\t', b'|'] {
        let found = records(delimiter);
        if fit(&found) > fit(&best.1) {
            best = (delimiter, found);
        }
    }
    let (_, width) = fit(&best.1);
    // Cells that blanks part have no blank in them if all lines have as many as the first.
    if width == 0
        && let words = split_lines_at_blanks(head)
        && words.len() > 1
        && words
            .iter()
            .all(|line| line.len() > 1 && line.len() == words[0].len())
    {
        return (BLANK_DELIMITER, HeaderLines::default());
    }
    // A line of another width is not the header, however many cells it fills.
    let filled: Vec<usize> = best
        .1
        .iter()
        .map(|line| {
            if line.len() == width {
                count_filled(line)
            } else {
                0
            }
        })
        .collect();
    (best.0, HeaderLines::from_lines(&filled, &best.1))
}

/// Splits the first lines at their blanks.
fn split_lines_at_blanks(head: &[u8]) -> Vec<Vec<String>> {
    let mut reader = csv::ReaderBuilder::new()
        .delimiter(BLANK_DELIMITER)
        .has_headers(false)
        .flexible(true)
        .from_reader(head);
    let mut records: Vec<csv::ByteRecord> = reader
        .byte_records()
        .take(MAX_RECORDS)
        .map_while(Result::ok)
        .collect();
    // The last line may be incomplete.
    if head.len() as u64 == MAX_HEAD_BYTES && records.len() < MAX_RECORDS {
        records.pop();
    }
    let words = |record: &csv::ByteRecord| -> Vec<String> {
        record
            .iter()
            .filter(|cell| !cell.is_empty())
            .map(|cell| String::from_utf8_lossy(cell).into_owned())
            .collect()
    };
    records
        .iter()
        .map(words)
        .filter(|words| !words.is_empty())
        .collect()
}

/// Returns whether the lines of a text without another delimiter have gaps of several blanks, the first line among them.
fn is_blank_aligned(head: &[u8]) -> bool {
    let has_gap = |line: &&str| line.trim_end().contains("  ");
    let text = String::from_utf8_lossy(head);
    let lines: Vec<&str> = text
        .lines()
        .filter(|line| !line.trim().is_empty())
        .take(MAX_RECORDS)
        .collect();
    lines.len() > 1
        && !head.contains(&b'\t')
        && !lines.iter().any(|line| line.contains([',', ';', '|']))
        && has_gap(&lines[0])
        && lines.iter().filter(|line| has_gap(line)).count() * 2 > lines.len()
}

/// Finds every table in a document: lists of objects, objects of objects, and lists and objects of single values.
fn find_tables(tree: &DocumentTree) -> Vec<TableSample> {
    let has_names = match tree {
        DocumentTree::Map(columns) => columns.len() <= MAX_TURNED,
        DocumentTree::List(rows) => {
            matches!(rows.first(), Some(DocumentTree::List(names)) if names.len() <= MAX_TURNED)
        }
        _ => false,
    };
    if let Some(turned) = has_names.then(|| tree.to_rows()).flatten() {
        // If a table has as many columns as rows, the names must be those of its columns.
        let by_columns = sample_path(&turned, "[]").map(|sample| TableSample {
            layout: RowLayout {
                list: Some(COLUMNS_PATH.to_owned()),
                ..RowLayout::default()
            },
            ..sample
        });
        // Rows that are lists have no names of their own.
        let are_lists = |rows: Option<&DocumentTree>| matches!(rows, Some(DocumentTree::List(rows)) if matches!(rows.first(), Some(DocumentTree::List(_))));
        let is_named_apart =
            are_lists(Some(tree)) || (tree.get("columns").is_some() && are_lists(tree.get("data")));
        let mut found = if is_named_apart {
            Vec::new()
        } else {
            sample_all_paths(tree)
        };
        found.extend(by_columns);
        return found;
    }
    sample_all_paths(tree)
}

fn sample_all_paths(tree: &DocumentTree) -> Vec<TableSample> {
    let mut paths = Vec::new();
    find_table_paths(&[tree], "", 0, &mut paths);
    let mut known = BTreeSet::new();
    paths.retain(|(path, _)| known.insert(path.clone()));
    paths
        .into_iter()
        .filter_map(|(path, role)| {
            let sample = sample_path(tree, &path)?;
            Some(TableSample { role, ..sample })
        })
        .collect()
}

/// Paths of the tables in a document, and what each is.
type TablePaths = Vec<(String, SampleRole)>;

/// Finds the tables below the values that one path leads to.
fn find_table_paths(nodes: &[&DocumentTree], path: &str, depth: usize, paths: &mut TablePaths) {
    if depth > MAX_DEPTH || paths.len() > MAX_PATHS {
        return;
    }
    let (mut items, mut maps) = (Vec::new(), Vec::new());
    let mut are_several = false;
    for node in nodes {
        match node {
            DocumentTree::List(list) => {
                are_several |= list.len() > 1;
                items.extend(list);
            }
            DocumentTree::Map(entries) => maps.push(entries),
            _ => {}
        }
    }
    if maps.is_empty() {
        items.retain(|item| !matches!(item, DocumentTree::Null));
        let here = format!("{path}[]");
        let Some(first) = items.first() else { return };
        let is_table = are_several || first.is_compound();
        paths.extend(is_table.then(|| (here.clone(), SampleRole::Table)));
        if first.is_compound() {
            items.truncate(MAX_NODES);
            find_table_paths(&items, &here, depth + 1, paths);
        }
        return;
    }
    // The values of each key, in the order of the document.
    let mut entries: Vec<(&String, Vec<&DocumentTree>)> = Vec::new();
    let mut places: HashMap<&String, usize> = HashMap::new();
    for (key, value) in maps.iter().flat_map(|map| map.iter()) {
        match places.get(key) {
            Some(place) => entries[*place].1.push(value),
            None => {
                places.insert(key, entries.len());
                entries.push((key, vec![value]));
            }
        }
    }
    let is_map_of = |kind: fn(&DocumentTree) -> bool| {
        entries
            .iter()
            .all(|(_, values)| values.iter().all(|value| kind(value)))
    };
    let is_keyed = is_map_of(DocumentTree::is_compound);
    // Keys that hardly any two of the objects share are names.
    let are_names = is_keyed
        && maps.len() > 1
        && entries
            .iter()
            .all(|(_, values)| values.len() * 2 <= maps.len());
    let is_flat = entries.len() > 1
        && (is_map_of(|value| matches!(value, DocumentTree::Bool(_)))
            || is_map_of(|value| matches!(value, DocumentTree::Number(_)))
            || is_map_of(|value| matches!(value, DocumentTree::Text(_))));
    let here = format!("{path}{{}}");
    if (is_keyed && entries.len() > 1)
        || (is_flat && (entries.len() >= MIN_FLAT || path.ends_with("{}")))
    {
        paths.push((here.clone(), SampleRole::Table));
    }
    let mut values: Vec<&DocumentTree> = entries
        .iter()
        .flat_map(|(_, values)| values.iter().copied())
        .collect();
    values.truncate(MAX_NODES);
    // Entries that are alike form a table by their keys. None of them is a table of its own.
    let are_alike = match entries.as_slice() {
        [(_, first), (_, second), ..] => {
            matches!(first[0], DocumentTree::Map(_)) && have_same_keys(first[0], second[0])
        }
        _ => false,
    };
    if is_keyed && entries.len() > 1 {
        let meant = if are_alike || are_names {
            &values
        } else {
            &entries[0].1
        };
        find_table_paths(meant, &here, depth + 1, paths);
        if are_alike || are_names {
            return;
        }
    }
    // One key in each object may be a name, too.
    if is_keyed && entries.len() == 1 && path.ends_with(['}', ']']) {
        let mut keyed = Vec::new();
        find_table_paths(&values, &here, depth + 1, &mut keyed);
        paths.extend(keyed.into_iter().map(|(path, _)| (path, SampleRole::Keyed)));
    }
    let below: Vec<KeyTables<'_>> = entries
        .iter()
        .filter(|(_, values)| values[0].is_compound())
        .take(MAX_PATHS)
        .map(|(key, values)| KeyTables::new(key, values, depth + 1))
        .collect();
    join_sibling_lists(&below, (path, entries.len().min(MAX_PATHS)), paths);
}

/// The tables below a key of an object.
struct KeyTables<'t> {
    key: &'t str,
    /// For each path below the key, what the table is, and the keys of its first row.
    tables: Vec<(String, SampleRole, BTreeSet<String>)>,
}

impl<'t> KeyTables<'t> {
    fn new(key: &'t str, nodes: &[&DocumentTree], depth: usize) -> Self {
        let mut paths = Vec::new();
        find_table_paths(nodes, "", depth, &mut paths);
        let first_keys = |path: &str| {
            let mut found = BTreeSet::new();
            let _ = for_each_row(nodes[0], Some(path), &mut |_, row| {
                if let DocumentTree::Map(entries) = row {
                    found.extend(entries.iter().map(|(key, _)| key.clone()));
                }
                Err(())
            });
            found
        };
        let tables = paths
            .into_iter()
            .map(|(path, role)| {
                let keys = first_keys(&path);
                let is_key = !path.starts_with(['[', '{']);
                (
                    format!("{}{path}", if is_key { "." } else { "" }),
                    role,
                    keys,
                )
            })
            .collect();
        Self { key, tables }
    }

    fn has_alike(&self, path: &str, keys: &BTreeSet<String>) -> bool {
        self.tables
            .iter()
            .any(|(known, _, own)| known == path && are_similar(own, keys))
    }
}

/// Returns whether a path may name the key.
fn is_plain_key(key: &str) -> bool {
    !key.contains(['.', ',', '[', ']', '{', '}'])
}

/// Adds the tables below the keys of an object with so many entries. Lists of the same kind below several keys are one table, in which the
/// key is a name.
fn join_sibling_lists(below: &[KeyTables<'_>], (path, all): (&str, usize), paths: &mut TablePaths) {
    let dot = if path.is_empty() { "" } else { "." };
    for (place, own) in below.iter().enumerate() {
        for (rest, role, keys) in &own.tables {
            let has_alike = |other: &&KeyTables<'_>| other.has_alike(rest, keys);
            let alike: Vec<&str> = below
                .iter()
                .filter(has_alike)
                .map(|other| other.key)
                .collect();
            let is_joined = alike.len() > 1 && *role == SampleRole::Table;
            if is_joined
                && !below[..place]
                    .iter()
                    .any(|other| alike.contains(&other.key))
            {
                let named = if alike.len() == all || !alike.iter().all(|key| is_plain_key(key)) {
                    String::new()
                } else {
                    alike.join(",")
                };
                paths.push((format!("{path}{{{named}}}{rest}"), SampleRole::Table));
            }
            let role = if is_joined { SampleRole::Part } else { *role };
            if is_plain_key(own.key) {
                paths.push((format!("{path}{dot}{}{rest}", own.key), role));
            }
        }
    }
}

/// Returns whether two objects have most of their keys in common.
fn have_same_keys(first: &DocumentTree, second: &DocumentTree) -> bool {
    let keys = |value: &DocumentTree| -> BTreeSet<String> {
        match value {
            DocumentTree::Map(entries) => entries.iter().map(|(key, _)| key.clone()).collect(),
            _ => BTreeSet::new(),
        }
    };
    are_similar(&keys(first), &keys(second))
}

/// Returns whether two sets of names have most of their names in common.
fn are_similar(first: &BTreeSet<String>, second: &BTreeSet<String>) -> bool {
    !first.is_empty()
        && first.intersection(second).count() * 10 >= first.len().max(second.len()) * 6
}

/// The places of columns, each with its text.
type FlatCells = Vec<(usize, Option<String>)>;

/// The rows of a document while they are flattened.
#[derive(Default)]
struct FlatRows {
    columns: Vec<String>,
    places: HashMap<String, usize>,
    rows: Vec<Vec<Option<String>>>,
    compound: BTreeSet<usize>,
    filled: usize,
    cell: RowCell,
}

impl FlatRows {
    fn place_of(&mut self, name: &str) -> Option<usize> {
        if let Some(place) = self.places.get(name) {
            return Some(*place);
        }
        (self.columns.len() < MAX_COLUMNS).then(|| {
            self.places.insert(name.to_owned(), self.columns.len());
            self.columns.push(name.to_owned());
            self.columns.len() - 1
        })
    }

    fn flatten_value(
        &mut self,
        name: &str,
        value: &DocumentTree,
    ) -> Option<(usize, Option<String>)> {
        let place = self.place_of(name)?;
        value.write_to_cell(&mut self.cell);
        self.compound
            .extend(is_compound_cell(&self.cell).then_some(place));
        Some((place, non_empty_text(&self.cell)))
    }

    fn set(&mut self, place: usize, text: Option<String>) {
        let Some(row) = self.rows.last_mut() else {
            return;
        };
        if row.len() <= place {
            row.resize(place + 1, None);
        }
        if row[place].is_none() && text.is_some() {
            self.filled += 1;
            row[place] = text;
        }
    }

    /// Returns whether hardly a row has a value in most columns: the columns are data, and no titles.
    fn is_sparse(&self) -> bool {
        const MIN_ROWS: usize = 20;
        const MIN_COLUMNS: usize = 300;
        self.rows.len() >= MIN_ROWS
            && self.columns.len() >= MIN_COLUMNS
            && self.filled * 20 < self.rows.len() * self.columns.len()
    }

    /// Flattens the single values of an object beside the step that leads on to the rows.
    fn flatten_around(&mut self, frame: &PathFrame<'_>, step: &ListPathStep) -> FlatCells {
        let mut found = Vec::new();
        let DocumentTree::Map(entries) = frame.value else {
            return found;
        };
        let leads_on = |key: &String| match step {
            ListPathStep::Key(known) => key == known,
            ListPathStep::Entries(keys) => keys.is_empty() || keys.contains(key),
            ListPathStep::Each => true,
        };
        if entries.len() > MAX_AROUND {
            return found;
        }
        for (key, value) in entries.iter().filter(|(key, _)| !leads_on(key)) {
            let mut leaves = Vec::new();
            value.for_each_leaf(key, &mut |leaf, value| {
                if leaves.len() <= MAX_AROUND && !value.is_compound() {
                    leaves.push((leaf.to_owned(), value));
                }
            });
            if leaves.len() > MAX_AROUND {
                continue;
            }
            for (leaf, value) in leaves {
                let name = if frame.path.is_empty() {
                    format!("{ENCLOSING_PREFIX}{leaf}")
                } else {
                    format!("{ENCLOSING_PREFIX}{}.{leaf}", frame.path)
                };
                found.extend(self.flatten_value(&name, value));
            }
        }
        found
    }
}

/// Flattens the rows at the path, and the values around them. `None` if there is no row, or the keys of the rows are data.
fn sample_path(tree: &DocumentTree, path: &str) -> Option<TableSample> {
    let steps = parse_path(path);
    let mut flat = FlatRows::default();
    // What is around the rows changes less often than the rows.
    let mut around: Vec<(*const DocumentTree, FlatCells)> = Vec::new();
    let mut take = |frames: &[PathFrame<'_>], row: &DocumentTree| -> Result<(), ()> {
        let (last, outer) = frames.split_last().ok_or(())?;
        flat.rows.push(Vec::new());
        for (depth, frame) in outer.iter().enumerate() {
            if let Some(key) = &frame.key
                && frame.path.ends_with("{}")
                && let Some(place) = flat.place_of(&format!("{ENCLOSING_PREFIX}{}", frame.path))
            {
                flat.set(place, Some(key.clone()));
            }
            let here: *const DocumentTree = frame.value;
            if around.get(depth).is_none_or(|(known, _)| *known != here) {
                around.truncate(depth);
                let found = steps
                    .get(depth)
                    .map_or_else(Vec::new, |step| flat.flatten_around(frame, step));
                around.push((here, found));
            }
            for (place, text) in &around[depth].1 {
                flat.set(*place, text.clone());
            }
        }
        if let Some(key) = &last.key
            && (last.path.ends_with("{}") || !row.is_compound())
            && let Some(place) = flat.place_of(&format!("{ENCLOSING_PREFIX}{}", last.path))
        {
            flat.set(place, Some(key.clone()));
        }
        match row {
            DocumentTree::Map(_) => row.for_each_leaf("", &mut |leaf, value| {
                if let Some((place, text)) = flat.flatten_value(leaf, value) {
                    flat.set(place, text);
                }
            }),
            DocumentTree::List(_) => {}
            _ => {
                if let Some((place, text)) = flat.flatten_value(ROW_COLUMN, row) {
                    flat.set(place, text);
                }
            }
        }
        if flat.rows.len() as u64 >= MAX_ROWS || flat.is_sparse() {
            Err(())
        } else {
            Ok(())
        }
    };
    let _ = for_each_row(tree, Some(path), &mut take);
    if flat.rows.is_empty() || flat.is_sparse() {
        return None;
    }
    for row in &mut flat.rows {
        row.resize(flat.columns.len(), None);
    }
    // A list that is the document, or lies below keys only, is read row by row.
    let list = path
        .strip_suffix("[]")
        .filter(|list| !list.ends_with(['}', ']']))
        .unwrap_or(path);
    Some(TableSample {
        layout: RowLayout {
            list: (!list.is_empty()).then(|| list.to_owned()),
            ..RowLayout::default()
        },
        role: SampleRole::Table,
        columns: flat.columns,
        rows: flat.rows,
        compound: flat.compound,
        doubled: Vec::new(),
        uncomputed: BTreeMap::new(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_grid_of_a_text_is_found() {
        for (text, expected) in [
            ("a,b\n1,2\n", (b',', 1)),
            ("a;b\n1,5;2\n2,5;3\n", (b';', 1)),
            ("sep=;\na;b\n1;2\n", (b';', 2)),
            ("Results of today;;\n;;\na;b;c\n1;2;3\n", (b';', 3)),
            ("a\tb\n1, 2\t3\n", (b'\t', 1)),
            ("a   b\n1   2 \n 11 3\n", (b' ', 1)),
            ("a   b\n1   2 3\n", (b',', 1)),
            ("a\nb\n", (b',', 1)),
        ] {
            let (delimiter, header) = detect_delimiter(text.as_bytes(), b',');
            assert_eq!((delimiter, header.line), expected, "{text}");
        }
    }

    #[test]
    fn aligned_columns_are_seen() {
        for (text, expected) in [
            ("task    passed\nq 1     yes\nq 2     no\n", true),
            ("  passed\n0    yes\n1     no\n", true),
            ("task  a, b\nq1    yes\n", false),
            ("task passed\nq 1 yes\n", false),
            ("One sentence.  Another one.\nNo gap.\nNor here.\n", false),
        ] {
            assert_eq!(is_blank_aligned(text.as_bytes()), expected, "{text}");
        }
    }

    #[test]
    fn tables_are_found_in_documents() {
        let found = |json: &str| -> Vec<String> {
            let tree: DocumentTree = serde_json::from_str(json).expect("JSON");
            find_tables(&tree)
                .iter()
                .map(|sample| {
                    format!(
                        "{} {}",
                        sample.layout.list.as_deref().unwrap_or("-"),
                        sample.columns.join(",")
                    )
                })
                .collect()
        };
        assert_eq!(found(r#"[{"a": 1, "b": {"c": 2}}]"#), ["- a,b.c"]);
        assert!(
            found(r#"{"m": "x", "runs": [{"s": 1, "r": [{"id": 1}, {"id": 2}]}]}"#)
                .contains(&"runs[].r $.m,$.runs[].s,id".to_owned())
        );
        assert_eq!(found(r#"[["a", "b"], [1, 2], [3, null]]"#), ["() a,b"]);
        assert_eq!(
            found(r#"{"columns": ["a", "b"], "index": [0, 1], "data": [[1, 2], [3, 4]]}"#),
            ["() a,b"]
        );
        assert!(
            found(r#"{"x": {"q1": true, "q2": false}, "y": {"q1": true, "q2": true}}"#)
                .contains(&"{}{} $.{},$.{}{},.".to_owned())
        );
    }
}
