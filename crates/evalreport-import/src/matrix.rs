//! A table of scores: one row for each system, one column for each item, the names of the systems in the first column.

use std::collections::BTreeSet;
use std::path::Path;

use crate::document::quote_text;
use crate::domain::Problem;

use super::cell::{CellKind, RowCell};
use super::columns::SourceColumns;
use super::encoding::TextEncoding;
use super::layout::RowLayout;
use super::rows::{ReadStop, RowSink, SourceRow};
use super::source::SourceFile;

/// Scores as a file holds them.
#[derive(Clone, Debug, PartialEq)]
pub struct ImportedScores {
    /// SHA-256 of the file's bytes, in hex.
    pub sha256: String,
    pub systems: Vec<String>,
    pub items: Vec<String>,
    /// By system and item; `None` for an empty cell.
    pub scores: Vec<Vec<Option<f64>>>,
}

/// Words for a score that is not there.
const MISSING_SCORES: [&str; 6] = ["", "-", "–", "na", "n/a", "nan"];
/// Maximum number of problems listed.
const MAX_PROBLEMS: usize = 20;

/// Reads a matrix of scores from −1 to 1, in any format of tables, compressed or not. Fails with all problems of the file at once.
pub fn read_matrix(path: &Path) -> Result<ImportedScores, Vec<Problem>> {
    let source = SourceFile::from_path(path).map_err(|problem| vec![problem])?;
    let mut found: Option<ImportedScores> = None;
    let mut problems = Vec::new();
    let read = source.for_each_part(TextEncoding::default(), &mut |_| {}, |part| {
        if found.is_some() {
            return Err(Problem::in_file(
                &part.label,
                "is a second table, where one matrix was expected",
            )
            .into());
        }
        let mut matrix = ImportedScores {
            sha256: source.sha256.clone(),
            systems: Vec::new(),
            items: Vec::new(),
            scores: Vec::new(),
        };
        // Their columns have names only when the file is read.
        let mut unread: Vec<(usize, Option<usize>, String)> = Vec::new();
        let label = part.label.clone();
        let mut columns = SourceColumns::for_all_columns();
        let mut on_row = |row: &SourceRow<'_>| {
            let line = row.line.and_then(|line| usize::try_from(line).ok());
            match &row.cells {
                Ok([]) => {}
                Ok([system, cells @ ..]) => {
                    matrix.systems.push(system.text.trim().to_owned());
                    let mut score = |(place, cell): (usize, &RowCell)| {
                        parse_score(cell).unwrap_or_else(|()| {
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
        let mut rows = RowSink::new(&label, &mut columns, &mut on_row);
        RowLayout::default().read_rows(part.format, part.input, &mut rows, |_| None)?;
        problems.extend(columns.duplicate_names().iter().map(|name| {
            Problem::in_file(&label, format!("has the column {} twice", quote_text(name)))
        }));
        matrix.items = columns.names().iter().skip(1).cloned().collect();
        for (place, line, text) in unread {
            let item = matrix.items.get(place).map_or_else(String::new, |item| {
                format!(" in the column {}", quote_text(item))
            });
            problems.push(Problem {
                line,
                ..Problem::in_file(
                    &label,
                    format!("{} is no score from -1 to 1{item}", quote_text(&text)),
                )
            });
        }
        found = Some(matrix);
        Ok(())
    });
    match read {
        Ok(()) => {}
        Err(ReadStop::Unreadable(stopped)) => problems.extend(stopped),
        Err(ReadStop::Store(error)) => {
            problems.push(Problem::in_file(&source.shown, error.to_string()));
        }
    }
    if let Some(matrix) = &found {
        problems.extend(find_contradictions(matrix, &source.shown));
    }
    match found {
        Some(matrix) if problems.is_empty() => Ok(matrix),
        _ => Err(shorten_problems(problems, &source.shown)),
    }
}

fn find_contradictions(matrix: &ImportedScores, shown: &str) -> Vec<Problem> {
    let mut known = BTreeSet::new();
    let twice = matrix
        .systems
        .iter()
        .filter(|system| !known.insert(system.as_str()));
    let mut problems: Vec<Problem> = twice
        .map(|system| {
            Problem::in_file(
                shown,
                format!("has two rows for the system {}", quote_text(system)),
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
fn shorten_problems(mut problems: Vec<Problem>, shown: &str) -> Vec<Problem> {
    let more = problems.len().saturating_sub(MAX_PROBLEMS);
    problems.truncate(MAX_PROBLEMS);
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
fn parse_score(cell: &RowCell) -> Result<Option<f64>, ()> {
    let text = cell.text.trim();
    match cell.kind {
        CellKind::Absent | CellKind::Null => Ok(None),
        CellKind::Boolean => Ok(Some(f64::from(u8::from(text == "true")))),
        CellKind::Text | CellKind::Number
            if MISSING_SCORES.contains(&text.to_lowercase().as_str()) =>
        {
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

    fn read(text: &str) -> Result<ImportedScores, Vec<String>> {
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
