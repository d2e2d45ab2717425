//! Reads rows that lie deeper in a JSON or YAML document than in one list: in lists of lists, or in objects by their keys. The whole
//! document is in memory, within a limit.

use std::io::Read;

use crate::document::quote;

use super::cell::{CellKind, Refused};
use super::list_path::{BY_COLUMNS, Found, each_row, value_of};
use super::rows::{Rows, Stop};
use super::tree::Tree;

/// Maximum size of a document with nested rows, which is held in memory.
pub(super) const MOST_BYTES: u64 = 256 << 20;

/// Reads a JSON document, or JSON lines as a list of documents.
pub(super) fn read_tree(mut input: impl Read, rows: &Rows<'_>) -> Result<Tree, Stop> {
    let mut bytes = Vec::new();
    input
        .by_ref()
        .take(MOST_BYTES + 1)
        .read_to_end(&mut bytes)
        .map_err(|error| rows.io(None, &error))?;
    if bytes.len() as u64 > MOST_BYTES {
        let problem = rows.unreadable(
            None,
            format!(
                "is longer than {} MiB, too long for rows nested in a document",
                MOST_BYTES >> 20
            ),
        );
        return Err(problem
            .with_hint("write its rows as JSON lines or as a list, which are read row by row")
            .into());
    }
    let text = bytes.strip_prefix("\u{feff}".as_bytes()).unwrap_or(&bytes);
    let documents = serde_json::Deserializer::from_slice(text)
        .into_iter::<Tree>()
        .collect::<Result<Vec<_>, _>>();
    let mut documents = documents.map_err(|error| {
        rows.unreadable(
            Some(error.line() as u64),
            format!("is not valid JSON: {error}"),
        )
    })?;
    if let Some(key) = documents.iter().find_map(Tree::doubled_key) {
        let problem = rows.unreadable(
            None,
            format!(
                "has an object with the key {} twice, with different values",
                quote(key)
            ),
        );
        return Err(problem
            .with_hint("which of them is meant is not known; give each entry its own key")
            .into());
    }
    match documents.len() {
        0 => Err(rows.unreadable(None, "is empty").into()),
        1 => Ok(documents.remove(0)),
        _ => Ok(Tree::List(documents)),
    }
}

/// Reads the rows at the path.
pub(super) fn read_nested(
    tree: &Tree,
    path: Option<&str>,
    rows: &mut Rows<'_>,
) -> Result<(), Stop> {
    if path == Some(BY_COLUMNS) {
        return match tree.by_rows() {
            Some(turned) => read_nested(&turned, None, rows),
            None => {
                Err(rows.unreadable(None, "is neither an object of columns of the same length nor a list of rows below their names").into())
            }
        };
    }
    let mut cells = rows.columns.cells();
    let walked = each_row(tree, path, &mut |frames, row| {
        if let Tree::Map(entries) = row {
            for (key, _) in entries {
                rows.columns.add_known(key);
            }
        }
        let mut has_any = false;
        for (slot, cell) in cells.iter_mut().enumerate() {
            match value_of(rows.columns.name(slot), frames, row) {
                Some(found) => {
                    match found {
                        Found::Value(value) => value.set(cell),
                        Found::Key(key) => cell.set(CellKind::Text, &key),
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
            rows.refuse(None, Refused::because("has none of the columns"))
        }
    })?;
    walked.map_err(|why| {
        Stop::from(rows.unreadable(
            None,
            format!("has no rows at `{}`: {why}", path.unwrap_or(".")),
        ))
    })
}
