//! Common parts of all readers of rows: the target of rows, and early ends of reading.

use std::io;

use crate::domain::Problem;
use crate::results::StoreError;

use super::cell::{Cell, Refused};
use super::columns::Columns;

/// Maximum size of one record (line, list element). Real rows are smaller, and a file without line ends must not fill the memory.
pub(super) const MOST_RECORD_BYTES: u64 = 64 << 20;

/// One row of a source: its wanted cells, or the reason why it was refused.
pub(super) struct Row<'a> {
    /// Row number within the part, from 1.
    pub number: u64,
    pub line: Option<u64>,
    pub cells: Result<&'a [Cell], Refused>,
}

/// Reason why reading ended early.
#[derive(Debug)]
pub(super) enum Stop {
    /// The source as a whole cannot be read. Without a problem, enough of it was read.
    Unreadable(Vec<Problem>),
    /// The store cannot be written.
    Store(StoreError),
}

impl From<Problem> for Stop {
    fn from(problem: Problem) -> Self {
        Self::Unreadable(vec![problem])
    }
}

impl From<StoreError> for Stop {
    fn from(error: StoreError) -> Self {
        Self::Store(error)
    }
}

type OnRow<'a> = dyn FnMut(&Row<'_>) -> Result<(), StoreError> + 'a;

/// Takes the rows of one part: a file, or a member of an archive.
pub(super) struct Rows<'a> {
    /// Name of the part in messages.
    pub label: &'a str,
    pub columns: &'a mut Columns,
    count: u64,
    /// Maximum number of rows to read.
    most: u64,
    on_row: &'a mut OnRow<'a>,
}

impl<'a> Rows<'a> {
    pub fn new(label: &'a str, columns: &'a mut Columns, on_row: &'a mut OnRow<'a>) -> Self {
        Self {
            label,
            columns,
            count: 0,
            most: u64::MAX,
            on_row,
        }
    }

    /// Ends the reading after `most` rows, with [`Stop::Unreadable`] without a problem.
    pub fn up_to(mut self, most: u64) -> Self {
        self.most = most;
        self
    }

    fn enough(&self) -> Result<(), Stop> {
        if self.count >= self.most {
            Err(Stop::Unreadable(Vec::new()))
        } else {
            Ok(())
        }
    }

    pub fn count(&self) -> u64 {
        self.count
    }

    pub fn accept(&mut self, line: Option<u64>, cells: &[Cell]) -> Result<(), Stop> {
        self.count += 1;
        (self.on_row)(&Row {
            number: self.count,
            line,
            cells: Ok(cells),
        })?;
        self.enough()
    }

    pub fn refuse(&mut self, line: Option<u64>, refused: Refused) -> Result<(), Stop> {
        self.count += 1;
        (self.on_row)(&Row {
            number: self.count,
            line,
            cells: Err(refused),
        })?;
        self.enough()
    }

    /// Returns the problem of a source that cannot be read further.
    pub fn unreadable(&self, line: Option<u64>, message: impl Into<String>) -> Problem {
        Problem {
            line: line.and_then(|line| usize::try_from(line).ok()),
            ..Problem::in_file(self.label, message)
        }
    }

    /// Returns the error for a failed read, with the number of rows so far.
    pub fn io(&self, line: Option<u64>, error: &io::Error) -> Stop {
        let message = match error.kind() {
            io::ErrorKind::UnexpectedEof => format!("is cut off after row {}", self.count),
            io::ErrorKind::InvalidData | io::ErrorKind::InvalidInput => {
                format!("is damaged after row {}: {error}", self.count)
            }
            _ => format!("cannot be read after row {}: {error}", self.count),
        };
        self.unreadable(line, message)
            .with_hint("nothing of it was imported; fetch the file again")
            .into()
    }
}

/// Reads from text in memory, to test the readers.
#[cfg(test)]
pub(super) mod testing {
    use super::*;

    /// Returns one line per row, `line: cell|cell` or `line! reason (detail)`, and the problem that ended the reading.
    pub fn rows_of(
        columns: &[&str],
        read: impl FnOnce(&mut Rows<'_>) -> Result<(), Stop>,
    ) -> (Vec<String>, Option<Problem>) {
        let mut found = Vec::new();
        let mut columns = Columns::of(columns.iter().map(|name| (*name).to_owned()).collect());
        let mut on_row = |row: &Row<'_>| {
            let line = row
                .line
                .map_or_else(|| format!("#{}", row.number), |line| line.to_string());
            found.push(match &row.cells {
                Ok(cells) => {
                    let cells: Vec<String> = cells.iter().map(shown).collect();
                    format!("{line}: {}", cells.join("|"))
                }
                Err(refused) => format!(
                    "{line}! {} ({})",
                    refused.reason,
                    refused.detail.as_deref().unwrap_or("")
                ),
            });
            Ok(())
        };
        let end = read(&mut Rows::new("f", &mut columns, &mut on_row));
        let problem = match end {
            Ok(()) => None,
            Err(Stop::Unreadable(problems)) => problems.into_iter().next(),
            Err(Stop::Store(error)) => panic!("no store is involved: {error}"),
        };
        (found, problem)
    }

    fn shown(cell: &Cell) -> String {
        use super::super::cell::CellKind;
        match cell.kind {
            CellKind::Absent => "-".to_owned(),
            CellKind::Null => "null".to_owned(),
            CellKind::Text => format!("'{}'", cell.text),
            CellKind::Number | CellKind::Boolean => cell.text.clone(),
            CellKind::Compound => "[…]".to_owned(),
            CellKind::Ambiguous => "2x".to_owned(),
            CellKind::Invalid | CellKind::Uncomputed => "?".to_owned(),
        }
    }
}
