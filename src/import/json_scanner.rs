//! Finds where JSON values begin and end, by their brackets and quotes only, in input of any length.
//!
//! Parsing a whole value from memory is several times as fast as parsing byte by byte, and an invalid value does not affect others. So
//! lists are split here. Only a block and the current element are in memory.

use std::io::{self, BufRead};

use memchr::{memchr_iter, memchr2};

use super::rows::MOST_RECORD_BYTES;

/// Finds the end of each JSON value.
pub(super) struct Scanner<R> {
    input: R,
    /// The line of the next byte, from 1.
    pub line: u64,
}

impl<R: BufRead> Scanner<R> {
    pub fn of(input: R) -> Self {
        Self { input, line: 1 }
    }

    /// Skips a byte order mark.
    pub fn skip_mark(&mut self) -> io::Result<()> {
        if self.input.fill_buf()?.starts_with("\u{feff}".as_bytes()) {
            self.input.consume(3);
        }
        Ok(())
    }

    /// Skips white space and returns the next byte without taking it.
    pub fn next(&mut self) -> io::Result<Option<u8>> {
        loop {
            let buffer = self.input.fill_buf()?;
            if buffer.is_empty() {
                return Ok(None);
            }
            let space = buffer.iter().take_while(|byte| byte.is_ascii_whitespace()).count();
            self.line += memchr_iter(b'\n', &buffer[..space]).count() as u64;
            let next = buffer.get(space).copied();
            self.input.consume(space);
            if next.is_some() {
                return Ok(next);
            }
        }
    }

    /// Consumes the byte that [`Self::next`] returned.
    pub fn take(&mut self) {
        self.input.consume(1);
    }

    /// Consumes the value that begins at the next byte, and copies it into `record` if given. Returns whether it fits there.
    ///
    /// # Errors
    ///
    /// Fails if the input cannot be read, and with [`io::ErrorKind::UnexpectedEof`] if it ends inside the value.
    pub fn value(&mut self, mut record: Option<&mut Vec<u8>>) -> io::Result<bool> {
        let mut state = Nesting::default();
        let mut fits = true;
        loop {
            let buffer = self.input.fill_buf()?;
            if buffer.is_empty() {
                // A word may end with the input.
                return if state.in_word && state.depth == 0 { Ok(fits) } else { Err(io::ErrorKind::UnexpectedEof.into()) };
            }
            let (used, is_complete) = state.advance(buffer);
            self.line += memchr_iter(b'\n', &buffer[..used]).count() as u64;
            if let Some(record) = record.as_deref_mut() {
                fits &= record.len() + used <= usize::try_from(MOST_RECORD_BYTES).unwrap_or(usize::MAX);
                if fits {
                    record.extend_from_slice(&buffer[..used]);
                }
            }
            self.input.consume(used);
            if is_complete {
                return Ok(fits);
            }
        }
    }
}

/// A list whose opening bracket was taken: finds its elements.
#[derive(Clone, Copy)]
pub(super) struct List {
    /// No element, and so no comma, came before.
    is_first: bool,
}

/// What comes next in a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Next {
    /// The scanner is before the element.
    Element,
    /// The closing bracket was taken.
    End,
    NoValue,
    NoComma,
}

impl List {
    /// Takes the opening bracket, which is the next byte.
    pub fn begin<R: BufRead>(scanner: &mut Scanner<R>) -> Self {
        scanner.take();
        Self { is_first: true }
    }

    /// Goes to the next element.
    ///
    /// # Errors
    ///
    /// Fails if the input cannot be read, and with [`io::ErrorKind::UnexpectedEof`] if it ends inside the list.
    pub fn next<R: BufRead>(&mut self, scanner: &mut Scanner<R>) -> io::Result<Next> {
        let byte = |scanner: &mut Scanner<R>| scanner.next()?.ok_or_else(|| io::Error::from(io::ErrorKind::UnexpectedEof));
        match byte(scanner)? {
            b']' => {
                scanner.take();
                return Ok(Next::End);
            }
            _ if std::mem::take(&mut self.is_first) => {}
            b',' => scanner.take(),
            _ => return Ok(Next::NoComma),
        }
        Ok(if matches!(byte(scanner)?, b',' | b':' | b']' | b'}') { Next::NoValue } else { Next::Element })
    }
}

/// Position of the scanner within a value.
#[derive(Default)]
struct Nesting {
    depth: u64,
    in_string: bool,
    is_escaped: bool,
    /// Inside a number, `true`, `false`, `null` or an invalid word.
    in_word: bool,
}

impl Nesting {
    /// Returns how many bytes belong to the value, and whether they complete it.
    fn advance(&mut self, buffer: &[u8]) -> (usize, bool) {
        let mut at = 0;
        while at < buffer.len() {
            if self.in_string {
                if self.is_escaped {
                    self.is_escaped = false;
                    at += 1;
                    continue;
                }
                let Some(found) = memchr2(b'"', b'\\', &buffer[at..]) else { return (buffer.len(), false) };
                at += found + 1;
                if buffer[at - 1] == b'\\' {
                    self.is_escaped = true;
                } else {
                    self.in_string = false;
                    if self.depth == 0 {
                        return (at, true);
                    }
                }
                continue;
            }
            let byte = buffer[at];
            if self.depth == 0 && self.in_word && (byte.is_ascii_whitespace() || matches!(byte, b',' | b']' | b'}')) {
                return (at, true);
            }
            at += 1;
            match byte {
                b'"' => self.in_string = true,
                b'{' | b'[' => self.depth += 1,
                b'}' | b']' => {
                    self.depth = self.depth.saturating_sub(1);
                    if self.depth == 0 {
                        return (at, true);
                    }
                }
                _ => self.in_word = self.depth == 0,
            }
        }
        (at, false)
    }
}

#[cfg(test)]
mod tests {
    use std::io::BufReader;

    use super::*;

    #[test]
    fn values_end_where_they_end_wherever_the_blocks_do() {
        let text = br#"{"a\\\"": ["\\", "}]"], "b": -1.5} -Infinity, "x\"" [[1], {}]"#;
        for capacity in 1..text.len() {
            let mut scanner = Scanner::of(BufReader::with_capacity(capacity, &text[..]));
            let mut found = Vec::new();
            while let Some(byte) = scanner.next().expect("it is in memory") {
                if byte == b',' {
                    scanner.take();
                    continue;
                }
                let mut value = Vec::new();
                assert!(scanner.value(Some(&mut value)).expect("it is whole"));
                found.push(String::from_utf8(value).expect("text"));
            }
            assert_eq!(found, [r#"{"a\\\"": ["\\", "}]"], "b": -1.5}"#, "-Infinity", r#""x\"""#, "[[1], {}]"], "{capacity}");
        }
    }
}
