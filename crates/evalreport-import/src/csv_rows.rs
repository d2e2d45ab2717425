//! Rows of a CSV file: the header names the columns, every record is a row.

use std::cell::Cell as Shared;
use std::io::{self, Read};
use std::rc::Rc;

use crate::domain::{Problem, escape_invisible};

use super::cell::{CellKind, Refused};
use super::rows::{MAX_RECORD_BYTES, ReadStop, RowSink};
use super::titles::HeaderLines;

/// Read size of the CSV reader. A record may exceed the limit by this much.
const BUFFER_BYTES: usize = 64 << 10;
/// Delimiter of columns that are aligned with blanks: any number of them parts two cells, and no cell is empty.
pub(super) const BLANK_DELIMITER: u8 = b' ';

/// Reads a CSV file. Calls `ready` when the header is known; a problem that it returns stops the reading.
pub(super) fn read_csv(
    input: impl Read,
    delimiter: u8,
    header: HeaderLines,
    rows: &mut RowSink<'_>,
    ready: impl FnOnce(&RowSink<'_>) -> Option<Problem>,
) -> Result<(), ReadStop> {
    let left = Rc::new(Shared::new(MAX_RECORD_BYTES));
    let has_returns = Rc::new(Shared::new(None));
    let input = RecordLimitedReader {
        input,
        left: Rc::clone(&left),
        has_returns: Rc::clone(&has_returns),
    };
    let mut reader = csv::ReaderBuilder::new()
        .delimiter(delimiter)
        .has_headers(false)
        .flexible(true)
        .buffer_capacity(BUFFER_BYTES)
        .from_reader(input);
    let mut record = csv::ByteRecord::new();
    let mut is_body = false;
    let mut next = |record: &mut csv::ByteRecord,
                    rows: &RowSink<'_>|
     -> Result<Option<u64>, ReadStop> {
        left.set(MAX_RECORD_BYTES);
        let after_header = std::mem::replace(&mut is_body, true);
        let line = reader.position().line();
        match reader.read_byte_record(record) {
            Ok(false) => Ok(None),
            Ok(true) => {
                let place = record.position().map_or(line, csv::Position::line);
                if delimiter == BLANK_DELIMITER {
                    *record = record.iter().filter(|cell| !cell.is_empty()).collect();
                }
                // If lines end in CR LF, the reader ends a record at the CR and has not counted the LF yet.
                Ok(Some(
                    place + u64::from(after_header && has_returns.get() == Some(true)),
                ))
            }
            Err(error) => match error.into_kind() {
                csv::ErrorKind::Io(error) if left.get() == 0 => {
                    let hint = "a quote that is never closed does this, and so does a file that is not CSV";
                    Err(rows
                        .unreadable_problem(Some(line), error.to_string())
                        .with_hint(hint)
                        .into())
                }
                csv::ErrorKind::Io(error) => Err(rows.read_error(Some(line), &error)),
                other => Err(rows
                    .unreadable_problem(Some(line), format!("{other:?}"))
                    .into()),
            },
        }
    };

    let mut lines = Vec::new();
    for number in 1..header.line + header.lines {
        if next(&mut record, rows)?.is_none() {
            return Err(rows.unreadable_problem(None, "is empty").into());
        }
        if number < header.line {
            continue;
        }
        let names: Result<Vec<String>, _> = record
            .iter()
            .map(|name| std::str::from_utf8(name).map(|name| name.trim().to_owned()))
            .collect();
        let Ok(names) = names else {
            return Err(rows
                .unreadable_problem(Some(1), "the header is not UTF-8")
                .with_hint("save the file as UTF-8")
                .into());
        };
        lines.push(names);
    }
    let header = HeaderLines::column_names(&lines);
    let width = header.len();
    let places = rows
        .columns
        .locate_in_header(&header)
        .map_err(|message| rows.unreadable_problem(Some(1), message))?;
    if let Some(problem) = ready(rows) {
        return Err(problem.into());
    }

    let mut cells = rows.columns.empty_cells();
    while let Some(line) = next(&mut record, rows)? {
        // A row may end before cells that are empty, and may go on with empty ones. One that lacks half of its cells is damaged. Between
        // blanks, any cell may be the empty one.
        let is_short = delimiter != BLANK_DELIMITER
            && record.len() < width
            && record.len() * 2 > width
            && !record
                .iter()
                .any(|field| memchr::memchr(b'\n', field).is_some());
        let is_fit = record.len() == width
            || is_short
            || (record.len() > width && record.iter().skip(width).all(<[u8]>::is_empty));
        if !is_fit {
            let lines = record
                .iter()
                .map(|field| memchr::memchr_iter(b'\n', field).count())
                .sum::<usize>();
            let quote = if lines > 0 {
                format!(
                    " and runs over {} lines; is a quote never closed?",
                    lines + 1
                )
            } else {
                String::new()
            };
            let detail = format!("it has {}, the header {width}{quote}", record.len());
            rows.refuse(
                Some(line),
                Refused::with_detail("wrong number of columns", detail),
            )?;
            continue;
        }
        for (cell, place) in cells.iter_mut().zip(&places) {
            match place.and_then(|place| record.get(place)) {
                Some(bytes) => cell.set_bytes(bytes),
                None => cell.set(CellKind::Absent, ""),
            }
        }
        rows.accept(Some(line), &cells)?;
    }
    Ok(())
}

/// Parses a delimiter from the word in a map: `tab` or one ASCII character.
pub(super) fn parse_delimiter(word: &str) -> Result<u8, String> {
    match word.as_bytes() {
        _ if word == "tab" => Ok(b'\t'),
        [byte]
            if byte.is_ascii()
                && !byte.is_ascii_alphanumeric()
                && !matches!(byte, b'"' | b'\n' | b'\r') =>
        {
            Ok(*byte)
        }
        _ => Err(format!("`{}` is not a delimiter", escape_invisible(word))),
    }
}

/// Input that fails if a record is longer than the limit.
struct RecordLimitedReader<R> {
    input: R,
    left: Rc<Shared<u64>>,
    /// Whether the first line ends in CR LF. `None` until the first newline.
    has_returns: Rc<Shared<Option<bool>>>,
}

impl<R: Read> Read for RecordLimitedReader<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.left.get() == 0 {
            return Err(io::Error::other(format!(
                "a record is longer than {} MiB",
                MAX_RECORD_BYTES >> 20
            )));
        }
        let read = self.input.read(buffer)?;
        self.left.set(self.left.get().saturating_sub(read as u64));
        if self.has_returns.get().is_none()
            && let Some(newline) = memchr::memchr(b'\n', &buffer[..read])
        {
            self.has_returns
                .set(Some(newline > 0 && buffer[newline - 1] == b'\r'));
        }
        Ok(read)
    }
}

#[cfg(test)]
mod tests {
    use super::super::rows::testing::rows_of;
    use super::*;

    fn check(input: &[u8], expected: &[&str]) {
        let (rows, problem) = rows_of(&["a", "b"], |rows| {
            read_csv(input, b',', HeaderLines::default(), rows, |_| None)
        });
        assert_eq!(problem, None);
        assert_eq!(rows, expected);
    }

    #[test]
    fn cells_are_found_by_name() {
        check(
            b"b,x,a\n1,2,3\n\"4\n4\",5,\"6\"\"\"\n",
            &["2: '3'|'1'", "3: '6\"'|'4\n4'"],
        );
        check("\u{feff}a,b\r\n1,2\r\n".as_bytes(), &["2: '1'|'2'"]);
        check(b"a,c\n1,2", &["2: '1'|-"]);
    }

    #[test]
    fn a_bad_row_is_refused_alone() {
        check(
            b"a,b\n1\n2,3\n4,5,6\n\xff,7\n8,9\n",
            &[
                "2! wrong number of columns (it has 1, the header 2)",
                "3: '2'|'3'",
                "4! wrong number of columns (it has 3, the header 2)",
                "5: ?|'7'",
                "6: '8'|'9'",
            ],
        );
        check(
            b"a,b\n1,2\n\"3,4\n5,6\n",
            &[
                "2: '1'|'2'",
                "3! wrong number of columns (it has 1, the header 2 and runs over 3 lines; is a quote never closed?)",
            ],
        );
    }

    #[test]
    fn empty_cells_at_the_end_may_be_missing_or_too_many() {
        check(
            b"a,x,b,y\n1,2,3\n4,5,6,7,,\n1,2\n1,2,3,4,5\n",
            &[
                "2: '1'|'3'",
                "3: '4'|'6'",
                "4! wrong number of columns (it has 2, the header 4)",
                "5! wrong number of columns (it has 5, the header 4)",
            ],
        );
    }

    #[test]
    fn a_header_must_be_there_and_unambiguous() {
        for (input, message) in [
            (&b""[..], "is empty"),
            (b"a,a\n1,2", "the header has two columns `a`"),
            (b"\xff,a\n", "the header is not UTF-8"),
        ] {
            let (_, problem) = rows_of(&["a", "b"], |rows| {
                read_csv(input, b',', HeaderLines::default(), rows, |_| None)
            });
            assert_eq!(
                problem.map(|problem| problem.message),
                Some(message.to_owned())
            );
        }
    }

    #[test]
    fn a_record_without_an_end_does_not_fill_the_memory() {
        let endless = io::Cursor::new(b"a,b\n\"").chain(io::repeat(b'x'));
        let (_, problem) = rows_of(&["a"], |rows| {
            read_csv(endless, b',', HeaderLines::default(), rows, |_| None)
        });
        assert_eq!(
            problem.map(|problem| problem.to_string()),
            Some("f:2: a record is longer than 64 MiB".to_owned())
        );
    }
}
