//! The numbers behind a score, as tables. Their shape is the evaluator's own, which may belong to another tool.

use serde_json::{Map, Value};

use crate::render::format;

use super::cut::truncate_text;
use super::grid::{ColumnLook, Grid, GridCell, GridColumn, SortOrder};

/// Maximum rows of one table, and maximum tables.
const MAX_ROWS: usize = 100;
const MAX_TABLES: usize = 8;
/// Maximum columns of one table.
const MAX_COLUMNS: usize = 12;

/// Makes one table of the single values, and one for each list of records. The tables' ids begin with `id`.
pub(super) fn build_grids(details: &Value, id: &str) -> Vec<Grid> {
    let mut found = FlattenedDetails::default();
    found.walk("", details);
    let mut grids = Vec::new();
    if !found.said.is_empty() {
        let mut grid = Grid::new(format!("{id}-details"), "Made of")
            .with_about(more_rows_note(found.said.len()));
        let said = || found.said.iter().take(MAX_ROWS);
        grid.add_column(
            GridColumn::new("Part", ColumnLook::Key, SortOrder::None),
            said().map(|(path, _)| GridCell::head(truncate_text(path))),
        );
        grid.add_column(
            GridColumn::new("Value", ColumnLook::Words, SortOrder::None),
            said().map(|(_, value)| GridCell::words(format_value(value))),
        );
        grids.push(grid);
    }
    let lists = found.lists.iter().take(MAX_TABLES).enumerate();
    grids.extend(lists.map(|(place, (path, records))| {
        record_grid(format!("{id}-details-{place}"), path, records)
    }));
    grids
}

/// Content of the details: single values and lists of records, by path.
#[derive(Default)]
struct FlattenedDetails<'a> {
    said: Vec<(String, &'a Value)>,
    lists: Vec<(String, Vec<&'a Map<String, Value>>)>,
}

impl<'a> FlattenedDetails<'a> {
    fn walk(&mut self, path: &str, value: &'a Value) {
        match value {
            Value::Object(fields) => {
                for (key, value) in fields {
                    let below = if path.is_empty() {
                        key.clone()
                    } else {
                        format!("{path} · {key}")
                    };
                    self.walk(&below, value);
                }
            }
            Value::Array(items) if !items.is_empty() && items.iter().all(Value::is_object) => {
                self.lists.push((
                    path.to_owned(),
                    items.iter().filter_map(Value::as_object).collect(),
                ));
            }
            Value::Array(items) if items.is_empty() => {}
            Value::Null => {}
            Value::Array(_) | Value::Bool(_) | Value::Number(_) | Value::String(_) => {
                self.said.push((path.to_owned(), value));
            }
        }
    }
}

fn record_grid(id: String, path: &str, records: &[&Map<String, Value>]) -> Grid {
    let mut keys: Vec<&String> = Vec::new();
    for key in records.iter().flat_map(|record| record.keys()) {
        if !keys.contains(&key) && keys.len() < MAX_COLUMNS {
            keys.push(key);
        }
    }
    let mut grid = Grid::new(
        id,
        if path.is_empty() {
            "Made of".to_owned()
        } else {
            truncate_text(path)
        },
    )
    .with_about(more_rows_note(records.len()));
    let shown = &records[..records.len().min(MAX_ROWS)];
    for key in keys {
        let value = |record: &&Map<String, Value>| {
            record
                .get(key.as_str())
                .filter(|value| !value.is_null())
                .cloned()
        };
        if shown
            .iter()
            .filter_map(value)
            .all(|value| value.is_number())
        {
            let cells = shown.iter().map(|record| {
                GridCell::number_or_unknown(
                    value(record)
                        .and_then(|value| value.as_f64())
                        .map(format_number),
                )
            });
            grid.add_column(
                GridColumn::new(
                    truncate_text(key),
                    ColumnLook::Number,
                    SortOrder::Descending,
                ),
                cells,
            );
        } else {
            let cells = shown.iter().map(|record| {
                GridCell::words(
                    value(record)
                        .map(|value| format_value(&value))
                        .unwrap_or_default(),
                )
            });
            grid.add_column(
                GridColumn::new(truncate_text(key), ColumnLook::Words, SortOrder::Ascending),
                cells,
            );
        }
    }
    grid
}

fn format_number(number: f64) -> (String, f64) {
    (format::unscaled_number(number), number)
}

fn more_rows_note(rows: usize) -> String {
    let more = rows.saturating_sub(MAX_ROWS);
    if more > 0 {
        format!("and {} more", format::format_integer(more as u64))
    } else {
        String::new()
    }
}

/// Formats a value for one cell. Lists and objects become JSON.
fn format_value(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::Bool(true) => "yes".to_owned(),
        Value::Bool(false) => "no".to_owned(),
        Value::Number(found) => found
            .as_f64()
            .map_or_else(|| found.to_string(), format::unscaled_number),
        Value::String(text) => truncate_text(text),
        Value::Array(items)
            if items
                .iter()
                .all(|item| !item.is_object() && !item.is_array()) =>
        {
            truncate_text(
                &items
                    .iter()
                    .map(format_value)
                    .collect::<Vec<_>>()
                    .join(", "),
            )
        }
        Value::Array(_) | Value::Object(_) => truncate_text(&value.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// Returns captions, column names and rows as text.
    fn read(details: &Value) -> Vec<(String, Vec<String>, Vec<Vec<String>>)> {
        let text = |cell: &GridCell| cell.text.to_string();
        let of = |grid: Grid| {
            let rows = grid
                .rows
                .iter()
                .map(|row| row.iter().map(text).collect())
                .collect();
            (
                grid.caption.to_string(),
                grid.columns
                    .iter()
                    .map(|column| column.name.to_string())
                    .collect(),
                rows,
            )
        };
        build_grids(details, "x").into_iter().map(of).collect()
    }

    fn words(words: &[&str]) -> Vec<String> {
        words.iter().map(|word| (*word).to_owned()).collect()
    }

    #[test]
    fn values_and_records_are_tables() {
        let details = json!({
            "turns": 25, "taken_off": {"turns": 10.5, "errors": []}, "unmeasured": ["cost", "tokens"], "none": null,
            "files": [{"file": "a.py", "score": 3.5, "ok": true}, {"file": "b.py", "score": 4, "parts": {"calls": 1}}],
        });
        let said = [
            ["turns", "25"],
            ["taken_off · turns", "10.50"],
            ["unmeasured", "cost, tokens"],
        ];
        let expected = [
            (
                "Made of".to_owned(),
                words(&["Part", "Value"]),
                said.map(|row| words(&row)).to_vec(),
            ),
            (
                "files".to_owned(),
                words(&["file", "score", "ok", "parts"]),
                vec![
                    words(&["a.py", "3.50", "yes", ""]),
                    words(&["b.py", "4", "", "{\"calls\":1}"]),
                ],
            ),
        ];
        assert_eq!(read(&details), expected);
        assert!(read(&json!({})).is_empty() && read(&json!([])).is_empty());
    }

    #[test]
    fn what_is_long_is_cut_and_says_so() {
        let many: Vec<Value> = (0..150).map(|number| json!({"n": number})).collect();
        let grids = build_grids(&json!({ "many": many }), "x");
        assert_eq!(
            (grids.len(), grids[0].rows.len(), grids[0].about.to_string()),
            (1, 100, "and 50 more".to_owned())
        );
    }
}
