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
    let mut found: Option<(Vec<String>, Vec<String>, Vec<Vec<Option<f64>>>)> = None;
    let mut problems = Vec::new();
    let read = source.each_part(Encoding::default(), &mut |_| {}, |part| {
        if found.is_some() {
            return Err(Problem::in_file(&part.label, "is a second table, where one matrix was expected").into());
        }
        let (mut systems, mut scores) = (Vec::new(), Vec::new());
        let mut columns = Columns::all();
        let mut on_row = |row: &Row<'_>| {
            match &row.cells {
                Ok([system, cells @ ..]) => {
                    systems.push(system.text.trim().to_owned());
                    scores.push(
                        cells
                            .iter()
                            .enumerate()
                            .map(|(place, cell)| score(cell).map_err(|_| (place, row.line, cell.text.clone())))
                            .collect::<Vec<_>>(),
                    );
                }
                Ok([]) => {}
                Err(refused) => {
                    let message =
                        refused.detail.clone().map_or_else(|| refused.reason.clone(), |detail| format!("{}: {detail}", refused.reason));
                    problems.push(Problem {
                        line: row.line.and_then(|line| usize::try_from(line).ok()),
                        ..Problem::in_file(&part.label, message)
                    });
                }
            }
            Ok(())
        };
        let label = part.label.clone();
        let mut rows = Rows::new(&label, &mut columns, &mut on_row);
        Layout::default().read(part.format, part.input, &mut rows, |_| None)?;
        for name in columns.doubled() {
            problems.push(Problem::in_file(&label, format!("has the column {} twice", quote(name))));
        }
        let items: Vec<String> = columns.names().iter().skip(1).cloned().collect();
        let scores = scores
            .into_iter()
            .map(|row| {
                row.into_iter()
                    .map(|score| {
                        score.unwrap_or_else(|(place, line, text)| {
                            let item = items.get(place).map_or_else(String::new, |item| format!(" in the column {}", quote(item)));
                            let problem = Problem::in_file(&label, format!("{} is no score from -1 to 1{item}", quote(&text)));
                            problems.push(Problem { line: line.and_then(|line: u64| usize::try_from(line).ok()), ..problem });
                            None
                        })
                    })
                    .collect()
            })
            .collect();
        found = Some((systems, items, scores));
        Ok(())
    });
    match read {
        Ok(()) => {}
        Err(Stop::Unreadable(stopped)) => problems.extend(stopped),
        Err(Stop::Store(error)) => problems.push(Problem::in_file(&source.shown, error.to_string())),
    }
    let (systems, items, scores) = found.unwrap_or_default();
    let mut known = BTreeSet::new();
    for system in systems.iter().filter(|system| !known.insert(system.as_str())) {
        problems.push(Problem::in_file(&source.shown, format!("has two rows for the system {}", quote(system))));
    }
    if problems.is_empty() && (systems.len() < 2 || items.len() < 2) {
        let message = format!("holds {} systems and {} items, and a matrix needs two of each", systems.len(), items.len());
        problems.push(Problem::in_file(&source.shown, message));
    }
    if problems.is_empty() {
        return Ok(ForeignMatrix { sha256: source.sha256, systems, items, scores });
    }
    let more = problems.len().saturating_sub(MOST_PROBLEMS);
    problems.truncate(MOST_PROBLEMS);
    if more > 0 {
        problems.push(Problem::in_file(&source.shown, format!("has {more} more problems like these")));
    }
    if let Some(last) = problems.last_mut() {
        let hint = "a matrix has the names of systems in its first column, and a column of scores from -1 to 1 for each item";
        last.hint.get_or_insert_with(|| hint.to_owned());
    }
    Err(problems)
}

/// Reads a score. Fails for text, and for a number beyond −1 and 1.
fn score(cell: &Cell) -> Result<Option<f64>, ()> {
    let text = cell.text.trim();
    match cell.kind {
        CellKind::Absent | CellKind::Null => Ok(None),
        CellKind::Boolean => Ok(Some(f64::from(u8::from(text == "true")))),
        CellKind::Text | CellKind::Number if MISSING.contains(&text.to_lowercase().as_str()) => Ok(None),
        CellKind::Text | CellKind::Number => {
            let score = text.parse().ok().filter(|score: &f64| score.abs() <= 1.0).ok_or(())?;
            Ok(Some(score))
        }
        CellKind::Compound | CellKind::Ambiguous | CellKind::Invalid | CellKind::Uncomputed => Err(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<ForeignMatrix, Vec<String>> {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("board.csv");
        std::fs::write(&path, text).expect("written");
        let plain = |problem: Problem| format!("{}: {}", problem.line.map_or_else(String::new, |line| line.to_string()), problem.message);
        read_matrix(&path).map_err(|problems| problems.into_iter().map(plain).collect())
    }

    #[test]
    fn systems_by_items() {
        let found = read(",one,two\r\n\"a, b\",0.5,1\r\nc,-1,\r\n").expect("a matrix");
        assert_eq!((found.systems, found.items), (vec!["a, b".to_owned(), "c".to_owned()], vec!["one".to_owned(), "two".to_owned()]));
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
            [": holds 2 systems and 1 items, and a matrix needs two of each"]
        );
        assert!(read("system,one,one\na,1,0\nb,0,1\n").expect_err("doubled")[0].contains("twice"));
    }
}
