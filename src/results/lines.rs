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
            Self::TooLong { bytes } => format!("line is {bytes} bytes long; at most {MAX_LINE_BYTES} are read"),
        }
    }
}

/// Calls `each` with every line's number (from 1) and its bytes without the line break. Blank lines are skipped.
///
/// Holds at most one line of [`MAX_LINE_BYTES`] in memory.
pub fn for_each_line(mut reader: impl BufRead, mut each: impl FnMut(usize, Result<&[u8], LineProblem>)) -> io::Result<()> {
    let mut line = Vec::new();
    for number in 1.. {
        line.clear();
        let mut bytes = 0u64;
        let ended = loop {
            let available = match reader.fill_buf() {
                Ok(available) => available,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(error),
            };
            if available.is_empty() {
                break true;
            }
            let (used, complete) = match memchr::memchr(b'\n', available) {
                Some(end) => (end + 1, true),
                None => (available.len(), false),
            };
            bytes += used as u64;
            if line.len() + used <= MAX_LINE_BYTES {
                line.extend_from_slice(&available[..used]);
            }
            reader.consume(used);
            if complete {
                break false;
            }
        };
        if bytes > 0 {
            if bytes > line.len() as u64 {
                each(number, Err(LineProblem::TooLong { bytes }));
            } else {
                let content = line.strip_suffix(b"\n").unwrap_or(&line);
                let content = content.strip_suffix(b"\r").unwrap_or(content);
                if !content.trim_ascii().is_empty() {
                    each(number, Ok(content));
                }
            }
        }
        if ended {
            return Ok(());
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_numbered_and_blank_ones_skipped() {
        let mut seen = Vec::new();
        for_each_line(&b"a\r\n\n  \nb\nc"[..], |number, line| seen.push((number, line.expect("short").to_vec()))).expect("memory reads");
        assert_eq!(seen, [(1, b"a".to_vec()), (4, b"b".to_vec()), (5, b"c".to_vec())]);
    }

    #[test]
    fn a_line_beyond_the_limit_is_refused_and_the_next_one_read() {
        let text = [vec![b'x'; MAX_LINE_BYTES + 5], b"\nok\n".to_vec()].concat();
        let mut seen = Vec::new();
        for_each_line(io::BufReader::new(&text[..]), |number, line| seen.push((number, line.map(<[u8]>::len)))).expect("memory reads");
        assert_eq!(seen, [(1, Err(LineProblem::TooLong { bytes: MAX_LINE_BYTES as u64 + 6 })), (2, Ok(2))]);
    }
}
