//! Reads rows of a YAML list. YAML cannot be split without parsing it, so the whole file is in memory. The limit is tighter than a
//! record's, because the tree is many times as large as its text.

use std::io::Read;

use crate::document::{self, MapKey, Node, Scalar, ScalarKind, Value, quote_text};

use super::cell::{CellKind, Refused, RowCell};
use super::rows::{ReadStop, RowSink};

const MAX_BYTES: u64 = 32 << 20;

/// Reads a document of limited size. Several documents in a file are a list of them.
pub(super) fn read_document(input: impl Read, rows: &RowSink<'_>) -> Result<Node, ReadStop> {
    let mut bytes = Vec::new();
    input
        .take(MAX_BYTES + 1)
        .read_to_end(&mut bytes)
        .map_err(|error| rows.read_error(None, &error))?;
    if bytes.len() as u64 > MAX_BYTES {
        let problem = rows.unreadable_problem(
            None,
            format!("is longer than {} MiB, too long for YAML", MAX_BYTES >> 20),
        );
        return Err(problem
            .with_hint("convert it to JSON or JSON lines, which are read row by row")
            .into());
    }
    let text = String::from_utf8(bytes).map_err(|error| {
        rows.unreadable_problem(None, format!("is not UTF-8: {}", error.utf8_error()))
    })?;
    let mut documents = Vec::new();
    for (before, text) in split_documents(&text) {
        let parsed = document::parse_table(rows.label, text).map_err(|mut problems| {
            for line in problems
                .iter_mut()
                .filter_map(|problem| problem.line.as_mut())
            {
                *line += before;
            }
            ReadStop::Unreadable(problems)
        })?;
        documents.push(shift_lines(parsed, before));
    }
    Ok(match documents.len() {
        1 => documents.remove(0),
        _ => Node {
            value: Value::List(documents),
            line: 1,
            column: 1,
        },
    })
}

/// Returns the documents of a file, each with the number of lines before it. A file without any is one empty document.
fn split_documents(text: &str) -> Vec<(usize, &str)> {
    let is_mark = |line: &str| line.trim_end() == "---" || line.starts_with("--- ");
    let (mut found, mut start, mut start_line, mut place) = (Vec::new(), 0, 0, 0);
    for (number, line) in text.split_inclusive('\n').enumerate() {
        if is_mark(line) {
            found.push((start_line, &text[start..place]));
            (start, start_line) = (place, number);
        }
        place += line.len();
    }
    found.push((start_line, &text[start..]));
    let is_blank =
        |line: &str| matches!(line.trim(), "" | "---" | "...") || line.starts_with(['#', '%']);
    found.retain(|(_, document)| !document.lines().all(is_blank));
    if found.len() <= 1 {
        vec![(0, text)]
    } else {
        found
    }
}

/// Adds the lines before a document to the lines of its nodes.
fn shift_lines(mut node: Node, by: usize) -> Node {
    node.line += by;
    node.value = match node.value {
        Value::List(items) => Value::List(
            items
                .into_iter()
                .map(|item| shift_lines(item, by))
                .collect(),
        ),
        Value::Map(entries) => Value::Map(
            entries
                .into_iter()
                .map(|(key, value)| {
                    (
                        MapKey {
                            line: key.line + by,
                            ..key
                        },
                        shift_lines(value, by),
                    )
                })
                .collect(),
        ),
        scalar @ Value::Scalar(_) => scalar,
    };
    node
}

pub(super) fn read_yaml(
    input: impl Read,
    path: Option<&str>,
    rows: &mut RowSink<'_>,
) -> Result<(), ReadStop> {
    let document = read_document(input, rows)?;
    let mut node = &document;
    for key in path.into_iter().flat_map(|path| path.split('.')) {
        node = node.get(key).ok_or_else(|| {
            let shown = quote_text(path.unwrap_or_default());
            rows.unreadable_problem(
                Some(node.line as u64),
                format!("has no list at {shown}: no key {}", quote_text(key)),
            )
        })?;
    }
    let Value::List(items) = &node.value else {
        return Err(rows
            .unreadable_problem(
                Some(node.line as u64),
                format!("is not a list but {}", node.kind_noun()),
            )
            .into());
    };
    let mut cells = rows.columns.empty_cells();
    for item in items {
        let line = Some(item.line as u64);
        let Value::Map(entries) = &item.value else {
            rows.refuse(
                line,
                Refused::with_detail("not a map of keys", format!("it is {}", item.kind_noun())),
            )?;
            continue;
        };
        for (key, _) in entries {
            rows.columns.add_known(&key.text);
        }
        for (slot, cell) in cells.iter_mut().enumerate() {
            match find_value(item, rows.columns.name(slot)) {
                Some(found) => {
                    set_cell(cell, found);
                    rows.columns.mark_seen(slot);
                }
                None => cell.clear(),
            }
            if is_ambiguous(entries, rows.columns.name(slot)) {
                cell.set(CellKind::Ambiguous, "");
            }
        }
        rows.accept(line, &cells)?;
    }
    Ok(())
}

fn find_value<'a>(row: &'a Node, name: &str) -> Option<&'a Node> {
    row.get(name)
        .or_else(|| name.split('.').try_fold(row, |node, key| node.get(key)))
}

/// Returns whether the key occurs more than once with different values.
fn is_ambiguous(entries: &[(MapKey, Node)], name: &str) -> bool {
    let name = name.split('.').next().unwrap_or(name);
    let mut values = entries
        .iter()
        .filter(|(key, _)| key.text == name)
        .map(|(_, node)| &node.value);
    let first = values.next();
    values.any(|value| Some(value) != first)
}

fn set_cell(cell: &mut RowCell, node: &Node) {
    match &node.value {
        Value::Map(_) => cell.set(CellKind::Compound, ""),
        Value::List(items) => cell.set_list(items.iter().map(|item| match &item.value {
            Value::Scalar(Scalar {
                kind: ScalarKind::Bool(flag),
                ..
            }) => Some(*flag),
            _ => None,
        })),
        Value::Scalar(scalar) => match scalar.kind {
            ScalarKind::Text => cell.set(CellKind::Text, &scalar.text),
            ScalarKind::Null => cell.set(CellKind::Null, ""),
            ScalarKind::Bool(value) => {
                cell.set(CellKind::Boolean, if value { "true" } else { "false" });
            }
            // As printed: an unquoted commit hash such as 0012345 keeps its zeros, and a figure its digits.
            ScalarKind::Integer(_) | ScalarKind::Float(_) => {
                cell.set(CellKind::Number, &scalar.text);
            }
        },
    }
}

#[cfg(test)]
mod tests {
    use super::super::rows::testing::rows_of;
    use super::*;

    fn read(yaml: &[u8], path: Option<&str>) -> (Vec<String>, Option<String>) {
        let (rows, problem) = rows_of(&["id", "info.cost"], |rows| read_yaml(yaml, path, rows));
        (rows, problem.map(|problem| problem.to_string()))
    }

    #[test]
    fn a_list_of_maps_gives_their_cells() {
        let yaml = b"- id: 0012\n  info: {cost: 0.10}\n- id: ~\n- 5\n- id: 'x'\n  info: [1]\n";
        assert_eq!(
            read(yaml, None),
            (
                vec![
                    "1: 0012|0.10".to_owned(),
                    "3: null|-".to_owned(),
                    "4! not a map of keys (it is a number)".to_owned(),
                    "5: 'x'|-".to_owned()
                ],
                None
            )
        );
        assert_eq!(
            read(b"data: {rows: [{id: 1}]}", Some("data.rows")).0,
            ["1: 1|-"]
        );
    }

    #[test]
    fn several_documents_are_a_list() {
        let yaml = b"---\nid: 1\ninfo: {cost: 2}\n---\nid: 3\n---\n";
        assert_eq!(read(yaml, None).0, ["2: 1|2", "5: 3|-"]);
        assert_eq!(read(b"---\n- {id: 1}\n...\n", None).0, ["2: 1|-"]);
        assert!(
            read(b"id: 1\n---\nid: [\n", None)
                .1
                .is_some_and(|problem| problem.starts_with("f:3") || problem.starts_with("f:4"))
        );
    }

    #[test]
    fn a_key_that_says_two_things_says_nothing() {
        assert_eq!(
            read(
                b"- {id: 1, id: 1}\n- {id: 1, id: 2}\n- {x: 1, x: 2, id: 3}\n",
                None
            )
            .0,
            ["1: 1|-", "2: 2x|-", "3: 3|-"]
        );
    }

    #[test]
    fn what_is_no_list_is_one_problem() {
        assert_eq!(
            read(b"a: 1\n", None).1.as_deref(),
            Some("f:1: is not a list but a map")
        );
        assert_eq!(
            read(b"a: 1\n", Some("b")).1.as_deref(),
            Some("f:1: has no list at `b`: no key `b`")
        );
        assert_eq!(read(b"", None).1.as_deref(), Some("f: the file is empty"));
        assert!(
            read(b"- [1", None)
                .1
                .is_some_and(|problem| problem.starts_with("f:"))
        );
        assert!(
            read(b"\xff", None)
                .1
                .is_some_and(|problem| problem.starts_with("f: is not UTF-8"))
        );
    }
}
