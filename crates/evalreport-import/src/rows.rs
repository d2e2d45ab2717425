//! Common parts of all readers of rows: the target of rows, and early ends of reading.

use std::io;

use crate::domain::Problem;
use crate::results::StoreError;

use super::cell::{Refused, RowCell};
use super::columns::SourceColumns;

/// Maximum size of one record (line, list element). Real rows are smaller, and a file without line ends must not fill the memory.
pub(super) const MAX_RECORD_BYTES: u64 = 64 << 20;

/// One row of a source: its wanted cells, or the reason why it was refused.
pub(super) struct SourceRow<'a> {
    /// Row number within the part, from 1.
    pub number: u64,
    pub line: Option<u64>,
    pub cells: Result<&'a [RowCell], Refused>,
}

/// Reason why reading ended early.
#[derive(Debug)]
pub(super) enum ReadStop {
    /// The source as a whole cannot be read. Without a problem, enough of it was read.
    Unreadable(Vec<Problem>),
    /// The store cannot be written.
    Store(StoreError),
}

impl From<Problem> for ReadStop {
    fn from(problem: Problem) -> Self {
        Self::Unreadable(vec![problem])
    }
}

impl From<StoreError> for ReadStop {
    fn from(error: StoreError) -> Self {
        Self::Store(error)
    }
}

type RowCallback<'a> = dyn FnMut(&SourceRow<'_>) -> Result<(), StoreError> + 'a;

/// Takes the rows of one part: a file, or a member of an archive.
pub(super) struct RowSink<'a> {
    /// Name of the part in messages.
    pub label: &'a str,
    pub columns: &'a mut SourceColumns,
    count: u64,
    /// Maximum number of rows to read.
    most: u64,
    on_row: &'a mut RowCallback<'a>,
}

impl<'a> RowSink<'a> {
    pub fn new(
        label: &'a str,
        columns: &'a mut SourceColumns,
        on_row: &'a mut RowCallback<'a>,
    ) -> Self {
        Self {
            label,
            columns,
            count: 0,
            most: u64::MAX,
            on_row,
        }
    }

    /// Ends the reading after `most` rows, with [`ReadStop::Unreadable`] without a problem.
    pub fn up_to(mut self, most: u64) -> Self {
        self.most = most;
        self
    }

    fn check_limit(&self) -> Result<(), ReadStop> {
        if self.count >= self.most {
            Err(ReadStop::Unreadable(Vec::new()))
        } else {
            Ok(())
        }
    }

    pub fn count(&self) -> u64 {
        self.count
    }

    pub fn accept(&mut self, line: Option<u64>, cells: &[RowCell]) -> Result<(), ReadStop> {
        self.count += 1;
        (self.on_row)(&SourceRow {
            number: self.count,
            line,
            cells: Ok(cells),
        })?;
        self.check_limit()
    }

    pub fn refuse(&mut self, line: Option<u64>, refused: Refused) -> Result<(), ReadStop> {
        self.count += 1;
        (self.on_row)(&SourceRow {
            number: self.count,
            line,
            cells: Err(refused),
        })?;
        self.check_limit()
    }

    /// Returns the problem of a source that cannot be read further.
    pub fn unreadable_problem(&self, line: Option<u64>, message: impl Into<String>) -> Problem {
        Problem {
            line: line.and_then(|line| usize::try_from(line).ok()),
            ..Problem::in_file(self.label, message)
        }
    }

    /// Returns the error for a failed read, with the number of rows so far.
    pub fn read_error(&self, line: Option<u64>, error: &io::Error) -> ReadStop {
        let message = match error.kind() {
            io::ErrorKind::UnexpectedEof => format!("is cut off after row {}", self.count),
            io::ErrorKind::InvalidData | io::ErrorKind::InvalidInput => {
                format!("is damaged after row {}: {error}", self.count)
            }
            _ => format!("cannot be read after row {}: {error}", self.count),
        };
        self.unreadable_problem(line, message)
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
        read: impl FnOnce(&mut RowSink<'_>) -> Result<(), ReadStop>,
    ) -> (Vec<String>, Option<Problem>) {
        let mut found = Vec::new();
        let mut columns =
            SourceColumns::new(columns.iter().map(|name| (*name).to_owned()).collect());
        let mut on_row = |row: &SourceRow<'_>| {
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
        let end = read(&mut RowSink::new("f", &mut columns, &mut on_row));
        let problem = match end {
            Ok(()) => None,
            Err(ReadStop::Unreadable(problems)) => problems.into_iter().next(),
            Err(ReadStop::Store(error)) => panic!("no store is involved: {error}"),
        };
        (found, problem)
    }

    fn shown(cell: &RowCell) -> String {
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
