//! Reading files with one record per line.

use std::io::{self, BufRead};

/// Maximum length of a line. A longer one is refused without being held in memory.
pub const MAX_LINE_BYTES: usize = 64 << 20;

/// A line that could not be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LineProblem {
    /// Longer than [`MAX_LINE_BYTES`].
    TooLong { bytes: u64 },
}

impl LineProblem {
    pub fn message(self) -> String {
        match self {
            Self::TooLong { bytes } => {
                format!("line is {bytes} bytes long; at most {MAX_LINE_BYTES} are read")
            }
        }
    }
}

/// One line of a file.
pub struct NumberedLine<'a> {
    /// Number of the line, from 1.
    pub number: usize,
    /// The bytes without the line break.
    pub text: Result<&'a [u8], LineProblem>,
    /// A line break ends it, which only the last line may lack.
    pub is_ended: bool,
}

/// Reads lines one by one. Holds at most one line of [`MAX_LINE_BYTES`] in memory.
pub struct LineReader<R> {
    input: R,
    line: Vec<u8>,
    number: usize,
}

impl<R: BufRead> LineReader<R> {
    pub fn new(input: R) -> Self {
        Self {
            input,
            line: Vec::new(),
            number: 0,
        }
    }

    /// Returns the next line that is not blank, or `None` if there is none.
    pub fn next_line(&mut self) -> io::Result<Option<NumberedLine<'_>>> {
        loop {
            let (bytes, is_ended) = self.read_line()?;
            let is_whole = bytes == self.line.len() as u64;
            if bytes > 0 && !(is_whole && self.line.trim_ascii().is_empty()) {
                let text = self.line.strip_suffix(b"\n").unwrap_or(&self.line);
                let text = text.strip_suffix(b"\r").unwrap_or(text);
                let text = if is_whole {
                    Ok(text)
                } else {
                    Err(LineProblem::TooLong { bytes })
                };
                return Ok(Some(NumberedLine {
                    number: self.number,
                    text,
                    is_ended,
                }));
            }
            if !is_ended {
                return Ok(None);
            }
        }
    }

    /// Reads up to and including the next line break. Returns the number of bytes, and whether a line break came.
    fn read_line(&mut self) -> io::Result<(u64, bool)> {
        self.line.clear();
        self.number += 1;
        let mut bytes = 0;
        loop {
            let available = match self.input.fill_buf() {
                Ok(available) => available,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(error),
            };
            let end = memchr::memchr(b'\n', available);
            let used = end.map_or(available.len(), |end| end + 1);
            bytes += used as u64;
            if self.line.len() + used <= MAX_LINE_BYTES {
                self.line.extend_from_slice(&available[..used]);
            }
            self.input.consume(used);
            if end.is_some() || used == 0 {
                return Ok((bytes, end.is_some()));
            }
        }
    }
}

/// Calls `each` with every line's number (from 1) and its bytes without the line break. Blank lines are skipped.
pub fn for_each_line(
    reader: impl BufRead,
    mut each: impl FnMut(usize, Result<&[u8], LineProblem>),
) -> io::Result<()> {
    let mut lines = LineReader::new(reader);
    while let Some(line) = lines.next_line()? {
        each(line.number, line.text);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_numbered_and_blank_ones_skipped() {
        let mut seen = Vec::new();
        for_each_line(&b"a\r\n\n  \nb\nc"[..], |number, line| {
            seen.push((number, line.expect("short").to_vec()));
        })
        .expect("memory reads");
        assert_eq!(
            seen,
            [(1, b"a".to_vec()), (4, b"b".to_vec()), (5, b"c".to_vec())]
        );
    }

    #[test]
    fn a_line_beyond_the_limit_is_refused_and_the_next_one_read() {
        let text = [vec![b'x'; MAX_LINE_BYTES + 5], b"\nok\n".to_vec()].concat();
        let mut seen = Vec::new();
        for_each_line(io::BufReader::new(&text[..]), |number, line| {
            seen.push((number, line.map(<[u8]>::len)));
        })
        .expect("memory reads");
        assert_eq!(
            seen,
            [
                (
                    1,
                    Err(LineProblem::TooLong {
                        bytes: MAX_LINE_BYTES as u64 + 6
                    })
                ),
                (2, Ok(2))
            ]
        );
    }
}
