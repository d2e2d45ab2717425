//! Paths to the rows inside a document: `data.results`, `runs[].results`, `tasks{}`.
//!
//! A path is a chain of keys. After a key, `[]` goes into each element of the list there, and `{}` into each entry of the object there;
//! `{before,after}` goes into these entries alone.
//! Both may occur without a key. The last list need not be marked: its elements are the rows.
//! A column that begins with `$.` belongs to the values around the row: `$.model`, `$.runs[].model`. If it ends in `{}` it is the entry's
//! key, if it ends in `[]` the place in the list, from 1. The column `.` is the row itself, if it is a single value.
//! The path `()` means a document that is written column by column.

use super::tree::DocumentTree;

/// Prefix of a column outside the row.
pub(super) const ENCLOSING_PREFIX: &str = "$.";
/// Column for the row itself.
pub(super) const ROW_COLUMN: &str = ".";

/// Path of a document of columns. Each row consists of the values at one place of each column.
pub(super) const COLUMNS_PATH: &str = "()";

/// Returns whether a path leads into several lists or into objects by their keys.
pub(super) fn is_nested_path(path: &str) -> bool {
    path.contains("[]")
        || path.ends_with('}')
        || path.contains("}.")
        || path.contains("}{")
        || path == COLUMNS_PATH
}

/// Returns whether a column needs the values around its row.
pub(super) fn is_enclosing_column(column: &str) -> bool {
    column == ROW_COLUMN || column.starts_with(ENCLOSING_PREFIX)
}

/// One step into a document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum ListPathStep {
    Key(String),
    Each,
    /// The entries with these keys, or all.
    Entries(Vec<String>),
}

impl ListPathStep {
    /// Returns whether the step goes wherever the other goes.
    fn covers(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Entries(keys), Self::Key(key)) => keys.is_empty() || keys.contains(key),
            (own, other) => own == other,
        }
    }
}

/// Returns whether a path leads, beside other rows, to all rows of another path.
pub(super) fn covers_path(path: &str, other: &str) -> bool {
    let (steps, others) = (row_steps(path), row_steps(other));
    path != other
        && steps.len() == others.len()
        && steps
            .iter()
            .zip(&others)
            .all(|(step, other)| step.covers(other))
}

/// Parses a path into steps.
pub(super) fn parse_path(path: &str) -> Vec<ListPathStep> {
    let mut steps = Vec::new();
    for part in path.split('.').filter(|part| !part.is_empty()) {
        let mut key = part;
        let mut marks = Vec::new();
        loop {
            if let Some(rest) = key.strip_suffix("[]") {
                key = rest;
                marks.push(ListPathStep::Each);
            } else if let Some((rest, keys)) =
                key.strip_suffix('}').and_then(|rest| rest.rsplit_once('{'))
            {
                key = rest;
                let keys = keys.split(',').filter(|key| !key.is_empty());
                marks.push(ListPathStep::Entries(keys.map(str::to_owned).collect()));
            } else {
                break;
            }
        }
        if !key.is_empty() {
            steps.push(ListPathStep::Key(key.to_owned()));
        }
        steps.extend(marks.into_iter().rev());
    }
    steps
}

/// Parses a path to rows: the last list need not be marked.
fn row_steps(path: &str) -> Vec<ListPathStep> {
    let mut steps = parse_path(path);
    if !matches!(
        steps.last(),
        Some(ListPathStep::Each | ListPathStep::Entries(_))
    ) {
        steps.push(ListPathStep::Each);
    }
    steps
}

/// A value around a row. Frames are listed from the document inwards.
#[derive(Debug)]
pub(super) struct PathFrame<'t> {
    /// Path to the value.
    pub path: String,
    pub value: &'t DocumentTree,
    /// Key of the entry, or place in the list, if the last step was one.
    pub key: Option<String>,
}

/// Callback that takes the frames around a row, and the row.
type OnFramedRow<'a, 't, E> = dyn FnMut(&[PathFrame<'t>], &'t DocumentTree) -> Result<(), E> + 'a;

/// Calls `on_row` with each row of a document. The inner error is the reason why there are no rows.
pub(super) fn for_each_row<'t, E>(
    tree: &'t DocumentTree,
    path: Option<&str>,
    on_row: &mut OnFramedRow<'_, 't, E>,
) -> Result<Result<(), String>, E> {
    let steps = row_steps(path.unwrap_or_default());
    let mut frames = vec![PathFrame {
        path: String::new(),
        value: tree,
        key: None,
    }];
    walk_steps(&steps, &mut frames, on_row)
}

fn walk_steps<'t, E>(
    steps: &[ListPathStep],
    frames: &mut Vec<PathFrame<'t>>,
    on_row: &mut OnFramedRow<'_, 't, E>,
) -> Result<Result<(), String>, E> {
    let Some(here) = frames.last() else {
        return Ok(Ok(()));
    };
    let (value, path) = (here.value, here.path.clone());
    let Some((step, rest)) = steps.split_first() else {
        on_row(frames, value)?;
        return Ok(Ok(()));
    };
    let shown = if path.is_empty() {
        "the document".to_owned()
    } else {
        format!("`{path}`")
    };
    match (step, value) {
        (ListPathStep::Key(key), DocumentTree::Map(_)) => {
            let Some(child) = value.get(key) else {
                return Ok(Err(format!("{shown} has no key `{key}`")));
            };
            let path = if path.is_empty() {
                key.clone()
            } else {
                format!("{path}.{key}")
            };
            frames.push(PathFrame {
                path,
                value: child,
                key: None,
            });
            let walked = walk_steps(rest, frames, on_row);
            frames.pop();
            walked
        }
        (ListPathStep::Each, DocumentTree::List(items)) => {
            for (index, item) in items.iter().enumerate() {
                frames.push(PathFrame {
                    path: format!("{path}[]"),
                    value: item,
                    key: Some((index + 1).to_string()),
                });
                let walked = walk_steps(rest, frames, on_row)?;
                frames.pop();
                // A later part without the list is skipped; if the first lacks it, the path is wrong.
                if let (Err(why), 0) = (walked, index) {
                    return Ok(Err(why));
                }
            }
            Ok(Ok(()))
        }
        (ListPathStep::Entries(keys), DocumentTree::Map(entries)) => {
            let mut first = None;
            let is_meant = |key: &String| keys.is_empty() || keys.contains(key);
            for (key, item) in entries.iter().filter(|(key, _)| is_meant(key)) {
                frames.push(PathFrame {
                    path: format!("{path}{{}}"),
                    value: item,
                    key: Some(key.clone()),
                });
                let walked = walk_steps(rest, frames, on_row)?;
                frames.pop();
                // Single values beside the entries that lead on are around the rows.
                if first.as_ref().is_none_or(Result::is_err) {
                    first = Some(walked);
                }
            }
            Ok(first.unwrap_or(Ok(())))
        }
        (ListPathStep::Key(key), _) => Ok(Err(format!(
            "{shown} is {}, which has no key `{key}`",
            value.noun()
        ))),
        (ListPathStep::Each, _) => Ok(Err(format!("{shown} is not a list but {}", value.noun()))),
        (ListPathStep::Entries(_), _) => Ok(Err(format!(
            "{shown} is not an object but {}",
            value.noun()
        ))),
    }
}

/// Finds a column's value for a row: in the row, or in the values around it.
pub(super) fn find_column_value<'t>(
    column: &str,
    frames: &[PathFrame<'t>],
    row: &'t DocumentTree,
) -> Option<ColumnValue<'t>> {
    if column == ROW_COLUMN {
        return Some(ColumnValue::Value(row));
    }
    let Some(path) = column.strip_prefix(ENCLOSING_PREFIX) else {
        return row.get_path(column).map(ColumnValue::Value);
    };
    if let Some(frame) = frames
        .iter()
        .find(|frame| frame.key.is_some() && frame.path == path)
    {
        return frame.key.clone().map(ColumnValue::Key);
    }
    let below = |frame: &PathFrame<'t>| {
        let rest = path.strip_prefix(frame.path.as_str())?;
        let rest = if frame.path.is_empty() {
            rest
        } else {
            rest.strip_prefix('.')?
        };
        frame.value.get_path(rest)
    };
    frames.iter().rev().find_map(below).map(ColumnValue::Value)
}

/// A value of the document, or a key or place in the document.
pub(super) enum ColumnValue<'t> {
    Value(&'t DocumentTree),
    Key(String),
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(json: &str, path: Option<&str>, columns: &[&str]) -> Vec<String> {
        let tree: DocumentTree = serde_json::from_str(json).expect("JSON");
        let mut found = Vec::new();
        let walked = for_each_row(&tree, path, &mut |frames, row| {
            let cells = columns
                .iter()
                .map(|column| match find_column_value(column, frames, row) {
                    Some(ColumnValue::Key(key)) => key,
                    Some(ColumnValue::Value(value)) => value.as_text().unwrap_or("…").to_owned(),
                    None => "-".to_owned(),
                });
            found.push(cells.collect::<Vec<_>>().join("|"));
            Ok::<(), ()>(())
        });
        if let Ok(Err(why)) = walked {
            found.push(why);
        }
        found
    }

    #[test]
    fn rows_know_what_they_are_in() {
        let runs = r#"{"suite": "s", "runs": [{"model": "m", "results": [{"id": 1}, {"id": 2}]}, {"model": "n", "results": [{"id": 1}]}]}"#;
        let columns = ["$.suite", "$.runs[].model", "$.runs[].results[]", "id"];
        assert_eq!(
            rows(runs, Some("runs[].results"), &columns),
            ["s|m|1|1", "s|m|2|2", "s|n|1|1"]
        );
        let keyed = r#"{"m": {"q1": true, "q2": false}}"#;
        assert_eq!(
            rows(keyed, Some("{}{}"), &["$.{}", "$.{}{}", "."]),
            ["m|q1|true", "m|q2|false"]
        );
        let tasks = r#"{"tasks": {"t1": {"ok": true}}, "model": "m"}"#;
        assert_eq!(
            rows(tasks, Some("tasks{}"), &["$.tasks{}", "ok", "$.model", "x"]),
            ["t1|true|m|-"]
        );
    }

    #[test]
    fn a_path_that_leads_nowhere_says_where_it_ends() {
        assert_eq!(
            rows("{}", Some("runs[].results"), &[]),
            ["the document has no key `runs`"]
        );
        assert_eq!(
            rows(r#"{"runs": 1}"#, Some("runs[].results"), &[]),
            ["`runs` is not a list but a number"]
        );
        assert_eq!(
            rows("[]", Some("{}"), &[]),
            ["the document is not an object but a list"]
        );
    }
}
