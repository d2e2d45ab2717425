//! A table of scores: one row for each system, one column for each item, the names of the systems in the first column.

use std::collections::BTreeSet;
use std::path::Path;

use crate::document::quote;
use crate::domain::Problem;

use super::cell::{Cell, CellKind};
use super::columns::Columns;
use super::encoding::Encoding;
use super::layout::Layout;
use super::rows::{Row, Rows, Stop};
use super::source::Source;

/// Scores as a file holds them.
#[derive(Clone, Debug, PartialEq)]
pub struct ForeignMatrix {
    /// SHA-256 of the file's bytes, in hex.
    pub sha256: String,
    pub systems: Vec<String>,
    pub items: Vec<String>,
    /// By system and item; `None` for an empty cell.
    pub scores: Vec<Vec<Option<f64>>>,
}

/// Words for a score that is not there.
const MISSING: [&str; 6] = ["", "-", "–", "na", "n/a", "nan"];
/// Maximum number of problems listed.
const MOST_PROBLEMS: usize = 20;

/// Reads a matrix of scores from −1 to 1, in any format of tables, compressed or not. Fails with all problems of the file at once.
pub fn read_matrix(path: &Path) -> Result<ForeignMatrix, Vec<Problem>> {
    let source = Source::examine(path).map_err(|problem| vec![problem])?;
    let mut found: Option<ForeignMatrix> = None;
    let mut problems = Vec::new();
    let read =
        source.each_part(Encoding::default(), &mut |_| {}, |part| {
            if found.is_some() {
                return Err(Problem::in_file(
                    &part.label,
                    "is a second table, where one matrix was expected",
                )
                .into());
            }
            let mut matrix = ForeignMatrix {
                sha256: source.sha256.clone(),
                systems: Vec::new(),
                items: Vec::new(),
                scores: Vec::new(),
            };
            // Their columns have names only when the file is read.
            let mut unread: Vec<(usize, Option<usize>, String)> = Vec::new();
            let label = part.label.clone();
            let mut columns = Columns::all();
            let mut on_row = |row: &Row<'_>| {
                let line = row.line.and_then(|line| usize::try_from(line).ok());
                match &row.cells {
                    Ok([]) => {}
                    Ok([system, cells @ ..]) => {
                        matrix.systems.push(system.text.trim().to_owned());
                        let mut score = |(place, cell): (usize, &Cell)| {
                            score(cell).unwrap_or_else(|()| {
                                unread.push((place, line, cell.text.clone()));
                                None
                            })
                        };
                        matrix
                            .scores
                            .push(cells.iter().enumerate().map(&mut score).collect());
                    }
                    Err(refused) => {
                        let detail = refused
                            .detail
                            .as_ref()
                            .map_or_else(String::new, |detail| format!(": {detail}"));
                        problems.push(Problem {
                            line,
                            ..Problem::in_file(&label, format!("{}{detail}", refused.reason))
                        });
                    }
                }
                Ok(())
            };
            let mut rows = Rows::new(&label, &mut columns, &mut on_row);
            Layout::default().read(part.format, part.input, &mut rows, |_| None)?;
            problems.extend(columns.doubled().iter().map(|name| {
                Problem::in_file(&label, format!("has the column {} twice", quote(name)))
            }));
            matrix.items = columns.names().iter().skip(1).cloned().collect();
            for (place, line, text) in unread {
                let item = matrix.items.get(place).map_or_else(String::new, |item| {
                    format!(" in the column {}", quote(item))
                });
                problems.push(Problem {
                    line,
                    ..Problem::in_file(
                        &label,
                        format!("{} is no score from -1 to 1{item}", quote(&text)),
                    )
                });
            }
            found = Some(matrix);
            Ok(())
        });
    match read {
        Ok(()) => {}
        Err(Stop::Unreadable(stopped)) => problems.extend(stopped),
        Err(Stop::Store(error)) => {
            problems.push(Problem::in_file(&source.shown, error.to_string()))
        }
    }
    if let Some(matrix) = &found {
        problems.extend(contradictions(matrix, &source.shown));
    }
    match found {
        Some(matrix) if problems.is_empty() => Ok(matrix),
        _ => Err(shortened(problems, &source.shown)),
    }
}

fn contradictions(matrix: &ForeignMatrix, shown: &str) -> Vec<Problem> {
    let mut known = BTreeSet::new();
    let twice = matrix
        .systems
        .iter()
        .filter(|system| !known.insert(system.as_str()));
    let mut problems: Vec<Problem> = twice
        .map(|system| {
            Problem::in_file(
                shown,
                format!("has two rows for the system {}", quote(system)),
            )
        })
        .collect();
    let (systems, items) = (matrix.systems.len(), matrix.items.len());
    if systems < 2 || items < 2 {
        let message = format!("systems: {systems}, items: {items}; a matrix needs two of each");
        problems.push(Problem::in_file(shown, message));
    }
    problems
}

/// Keeps the first problems, counts the others, and says what a matrix is.
fn shortened(mut problems: Vec<Problem>, shown: &str) -> Vec<Problem> {
    let more = problems.len().saturating_sub(MOST_PROBLEMS);
    problems.truncate(MOST_PROBLEMS);
    if more > 0 {
        problems.push(Problem::in_file(
            shown,
            format!("has {more} more problems like these"),
        ));
    }
    if let Some(last) = problems.last_mut() {
        let hint = "a matrix has the names of systems in its first column, and a column of scores from -1 to 1 for each item";
        last.hint.get_or_insert_with(|| hint.to_owned());
    }
    problems
}

/// Reads a score. Fails for text, and for a number beyond −1 and 1.
fn score(cell: &Cell) -> Result<Option<f64>, ()> {
    let text = cell.text.trim();
    match cell.kind {
        CellKind::Absent | CellKind::Null => Ok(None),
        CellKind::Boolean => Ok(Some(f64::from(u8::from(text == "true")))),
        CellKind::Text | CellKind::Number if MISSING.contains(&text.to_lowercase().as_str()) => {
            Ok(None)
        }
        CellKind::Text | CellKind::Number => {
            let score = text
                .parse()
                .ok()
                .filter(|score: &f64| score.abs() <= 1.0)
                .ok_or(())?;
            Ok(Some(score))
        }
        CellKind::Compound | CellKind::Ambiguous | CellKind::Invalid | CellKind::Uncomputed => {
            Err(())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<ForeignMatrix, Vec<String>> {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("board.csv");
        std::fs::write(&path, text).expect("written");
        let plain = |problem: Problem| {
            format!(
                "{}: {}",
                problem
                    .line
                    .map_or_else(String::new, |line| line.to_string()),
                problem.message
            )
        };
        read_matrix(&path).map_err(|problems| problems.into_iter().map(plain).collect())
    }

    #[test]
    fn systems_by_items() {
        let found = read(",one,two\r\n\"a, b\",0.5,1\r\nc,-1,\r\n").expect("a matrix");
        assert_eq!(
            (found.systems, found.items),
            (
                vec!["a, b".to_owned(), "c".to_owned()],
                vec!["one".to_owned(), "two".to_owned()]
            )
        );
        assert_eq!(found.scores, [[Some(0.5), Some(1.0)], [Some(-1.0), None]]);
        assert_eq!(found.sha256.len(), 64);
    }

    #[test]
    fn all_problems_at_once() {
        let found = read("system,one,two\na,1.5,x\na,0,1\n").expect_err("no matrix");
        assert_eq!(
            found,
            [
                "2: `1.5` is no score from -1 to 1 in the column `one`",
                "2: `x` is no score from -1 to 1 in the column `two`",
                ": has two rows for the system `a`",
            ]
        );
        assert_eq!(
            read("system,one\na,1\nb,0\n").expect_err("one item"),
            [": systems: 2, items: 1; a matrix needs two of each"]
        );
        assert!(read("system,one,one\na,1,0\nb,0,1\n").expect_err("doubled")[0].contains("twice"));
    }
}
