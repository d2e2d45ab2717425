//! Rows of the table in a Markdown text.

use std::io::{BufRead, Read};

use crate::domain::Problem;

use super::cell::{CellKind, Refused};
use super::rows::{MAX_RECORD_BYTES, ReadStop, RowSink};
use super::titles::HeaderLines;

/// Reads the one table of a Markdown text. Calls `ready` when the header is known; a problem that it returns stops the reading.
pub(super) fn read_markdown(
    input: impl BufRead,
    rows: &mut RowSink<'_>,
    ready: impl FnOnce(&RowSink<'_>) -> Option<Problem>,
) -> Result<(), ReadStop> {
    let mut text = String::new();
    let read = input
        .take(MAX_RECORD_BYTES + 1)
        .read_to_string(&mut text)
        .map_err(|error| rows.read_error(None, &error))?;
    if read as u64 > MAX_RECORD_BYTES {
        return Err(rows
            .unreadable_problem(
                None,
                format!("is longer than {} MiB", MAX_RECORD_BYTES >> 20),
            )
            .into());
    }
    let mut tables = parse_tables(&text);
    if tables.len() != 1 {
        let problem = match tables.get(1) {
            Some(second) => rows.unreadable_problem(Some(second.line + 1), "has a second table"),
            None => rows.unreadable_problem(None, "has no table"),
        };
        return Err(problem
            .with_hint("put each table into a file of its own")
            .into());
    }
    let MarkdownTable {
        line,
        header,
        rows: records,
    } = tables.remove(0);
    let header: Vec<String> = header.iter().map(|name| strip_emphasis(name)).collect();
    let header = HeaderLines::column_names(&[header]);
    let places = rows
        .columns
        .locate_in_header(&header)
        .map_err(|message| rows.unreadable_problem(Some(line), message))?;
    if let Some(problem) = ready(rows) {
        return Err(problem.into());
    }
    let mut cells = rows.columns.empty_cells();
    for (line, record) in records {
        if record.len() > header.len() {
            let detail = format!("it has {}, the header {}", record.len(), header.len());
            rows.refuse(
                Some(line),
                Refused::with_detail("wrong number of columns", detail),
            )?;
            continue;
        }
        for (cell, place) in cells.iter_mut().zip(&places) {
            match place.and_then(|place| record.get(place)) {
                Some(text) => cell.set(CellKind::Text, &strip_emphasis(text)),
                None => cell.set(CellKind::Absent, ""),
            }
        }
        rows.accept(Some(line), &cells)?;
    }
    Ok(())
}

/// A table of a text.
pub(super) struct MarkdownTable {
    /// Line of the header, from 1.
    pub line: u64,
    pub header: Vec<String>,
    /// Each row with its line. It may be shorter or longer than the header.
    pub rows: Vec<(u64, Vec<String>)>,
}

/// Returns the tables of a text.
pub(super) fn parse_tables(text: &str) -> Vec<MarkdownTable> {
    let lines: Vec<(u64, Vec<String>)> = (1..).zip(text.lines().map(split_cells)).collect();
    // The line below the header has dashes only.
    let rules =
        (1..lines.len()).filter(|place| is_rule(&lines[*place].1) && lines[*place - 1].1.len() > 1);
    let table = |rule: usize| MarkdownTable {
        line: lines[rule - 1].0,
        header: lines[rule - 1].1.clone(),
        rows: lines[rule + 1..]
            .iter()
            .take_while(|(_, record)| !record.is_empty())
            .cloned()
            .collect(),
    };
    rules.map(table).collect()
}

/// Splits a line at its bars. A bar after a backslash belongs to its cell. Empty if the line has no bar.
fn split_cells(line: &str) -> Vec<String> {
    let line = line.trim();
    if !line.contains('|') {
        return Vec::new();
    }
    let line = line.strip_prefix('|').unwrap_or(line);
    let (mut cells, mut cell, mut letters) = (Vec::new(), String::new(), line.chars().peekable());
    while let Some(letter) = letters.next() {
        match letter {
            '\\' if letters.peek() == Some(&'|') => cell.extend(letters.next()),
            '|' => cells.push(std::mem::take(&mut cell).trim().to_owned()),
            _ => cell.push(letter),
        }
    }
    if !cell.trim().is_empty() {
        cells.push(cell.trim().to_owned());
    }
    cells
}

/// Returns the text of a cell without the marks of the best value of a column: `92.1 (0.4)` of `**92.1** (0.4)`.
fn strip_emphasis(cell: &str) -> String {
    let cell = cell.trim();
    if cell.starts_with("**") && cell.matches("**").count() == 2 {
        cell.replace("**", "")
    } else {
        cell.to_owned()
    }
}

fn is_rule(cells: &[String]) -> bool {
    !cells.is_empty()
        && cells.iter().all(|cell| {
            cell.contains('-') && cell.chars().all(|letter| matches!(letter, '-' | ':'))
        })
}

#[cfg(test)]
mod tests {
    use super::super::rows::testing::rows_of;
    use super::*;

    fn check(text: &str, expected: &[&str], problem: Option<&str>) {
        let (rows, found) = rows_of(&["a", "b"], |rows| {
            read_markdown(text.as_bytes(), rows, |_| None)
        });
        assert_eq!(
            (
                rows.iter().map(String::as_str).collect::<Vec<_>>(),
                found.map(|found| found.message)
            ),
            (expected.to_vec(), problem.map(str::to_owned))
        );
    }

    #[test]
    fn the_table_of_a_text_is_read() {
        check(
            "# Results\n\n| b | a |\n|---|:-:|\n| 1 | x \\| y |\n| 2 |\n\nThat is | all.\n",
            &["5: 'x | y'|'1'", "6: -|'2'"],
            None,
        );
        check(
            "| a | **b** |\n|---|---|\n| **1** (2) | __init__.py |\n| a ** b ** c | 2 |\n",
            &["3: '1 (2)'|'__init__.py'", "4: 'a ** b ** c'|'2'"],
            None,
        );
        check(
            "a|b\n-|-\n1|2\n1|2|3\n",
            &[
                "3: '1'|'2'",
                "4! wrong number of columns (it has 3, the header 2)",
            ],
            None,
        );
        check("text\n", &[], Some("has no table"));
        check(
            "|a|b|\n|-|-|\n|1|2|\n\n|a|b|\n|-|-|\n",
            &[],
            Some("has a second table"),
        );
    }
}
