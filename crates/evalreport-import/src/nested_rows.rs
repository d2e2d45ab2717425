//! Reads rows that lie deeper in a JSON or YAML document than in one list: in lists of lists, or in objects by their keys. The whole
//! document is in memory, within a limit.

use std::io::Read;

use crate::document::quote_text;

use super::cell::{CellKind, Refused};
use super::list_path::{COLUMNS_PATH, ColumnValue, find_column_value, for_each_row};
use super::rows::{ReadStop, RowSink};
use super::tree::DocumentTree;

/// Maximum size of a document with nested rows, which is held in memory.
pub(super) const MAX_BYTES: u64 = 256 << 20;

/// Reads a JSON document, or JSON lines as a list of documents.
pub(super) fn read_json_tree(
    mut input: impl Read,
    rows: &RowSink<'_>,
) -> Result<DocumentTree, ReadStop> {
    let mut bytes = Vec::new();
    input
        .by_ref()
        .take(MAX_BYTES + 1)
        .read_to_end(&mut bytes)
        .map_err(|error| rows.read_error(None, &error))?;
    if bytes.len() as u64 > MAX_BYTES {
        let problem = rows.unreadable_problem(
            None,
            format!(
                "is longer than {} MiB, too long for rows nested in a document",
                MAX_BYTES >> 20
            ),
        );
        return Err(problem
            .with_hint("write its rows as JSON lines or as a list, which are read row by row")
            .into());
    }
    let text = bytes.strip_prefix("\u{feff}".as_bytes()).unwrap_or(&bytes);
    let documents = serde_json::Deserializer::from_slice(text)
        .into_iter::<DocumentTree>()
        .collect::<Result<Vec<_>, _>>();
    let mut documents = documents.map_err(|error| {
        rows.unreadable_problem(
            Some(error.line() as u64),
            format!("is not valid JSON: {error}"),
        )
    })?;
    if let Some(key) = documents.iter().find_map(DocumentTree::duplicate_key) {
        let problem = rows.unreadable_problem(
            None,
            format!(
                "has an object with the key {} twice, with different values",
                quote_text(key)
            ),
        );
        return Err(problem
            .with_hint("which of them is meant is not known; give each entry its own key")
            .into());
    }
    match documents.len() {
        0 => Err(rows.unreadable_problem(None, "is empty").into()),
        1 => Ok(documents.remove(0)),
        _ => Ok(DocumentTree::List(documents)),
    }
}

/// Reads the rows at the path.
pub(super) fn read_nested_rows(
    tree: &DocumentTree,
    path: Option<&str>,
    rows: &mut RowSink<'_>,
) -> Result<(), ReadStop> {
    if path == Some(COLUMNS_PATH) {
        return match tree.to_rows() {
            Some(turned) => read_nested_rows(&turned, None, rows),
            None => {
                Err(rows.unreadable_problem(None, "is neither an object of columns of the same length nor a list of rows below their names").into())
            }
        };
    }
    let mut cells = rows.columns.empty_cells();
    let walked = for_each_row(tree, path, &mut |frames, row| {
        if let DocumentTree::Map(entries) = row {
            for (key, _) in entries {
                rows.columns.add_known(key);
            }
        }
        let mut has_any = false;
        for (slot, cell) in cells.iter_mut().enumerate() {
            match find_column_value(rows.columns.name(slot), frames, row) {
                Some(found) => {
                    match found {
                        ColumnValue::Value(value) => value.write_to_cell(cell),
                        ColumnValue::Key(key) => cell.set(CellKind::Text, &key),
                    }
                    has_any = true;
                    rows.columns.mark_seen(slot);
                }
                None => cell.clear(),
            }
        }
        if has_any {
            rows.accept(None, &cells)
        } else {
            rows.refuse(None, Refused::new("has none of the columns"))
        }
    })?;
    walked.map_err(|why| {
        ReadStop::from(rows.unreadable_problem(
            None,
            format!("has no rows at `{}`: {why}", path.unwrap_or(".")),
        ))
    })
}
