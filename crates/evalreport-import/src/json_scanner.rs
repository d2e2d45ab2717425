//! Finds where JSON values begin and end, by their brackets and quotes only, in input of any length.
//!
//! Parsing a whole value from memory is several times as fast as parsing byte by byte, and an invalid value does not affect others. So
//! lists and objects are split here. Only a block and the current value are in memory.

use std::io::{self, BufRead, Read};

use memchr::{memchr_iter, memchr2};

use super::rows::MAX_RECORD_BYTES;

/// Finds the end of each JSON value.
pub(super) struct JsonScanner<R> {
    input: R,
    /// The line of the next byte, from 1.
    pub line: u64,
    is_at_start: bool,
}

impl<R: BufRead> JsonScanner<R> {
    pub fn new(input: R) -> Self {
        Self {
            input,
            line: 1,
            is_at_start: true,
        }
    }

    /// Skips white space, and at the start a byte order mark. Returns the next byte without taking it.
    pub fn peek_byte(&mut self) -> io::Result<Option<u8>> {
        if std::mem::take(&mut self.is_at_start)
            && self.input.fill_buf()?.starts_with("\u{feff}".as_bytes())
        {
            self.input.consume(3);
        }
        loop {
            let buffer = self.input.fill_buf()?;
            if buffer.is_empty() {
                return Ok(None);
            }
            let space = buffer
                .iter()
                .take_while(|byte| byte.is_ascii_whitespace())
                .count();
            self.line += memchr_iter(b'\n', &buffer[..space]).count() as u64;
            let next = buffer.get(space).copied();
            self.input.consume(space);
            if next.is_some() {
                return Ok(next);
            }
        }
    }

    /// Returns the next byte like [`Self::peek_byte`]. The end of the input is [`io::ErrorKind::UnexpectedEof`].
    pub fn require_byte(&mut self) -> io::Result<u8> {
        self.peek_byte()?
            .ok_or_else(|| io::ErrorKind::UnexpectedEof.into())
    }

    fn is_before_value(&mut self) -> io::Result<bool> {
        Ok(!matches!(self.require_byte()?, b',' | b':' | b']' | b'}'))
    }

    /// Consumes the value that begins at the next byte, and copies it into `record` if it fits there. Returns whether it does.
    ///
    /// # Errors
    ///
    /// Fails if the input cannot be read, and with [`io::ErrorKind::UnexpectedEof`] if it ends inside the value.
    pub fn copy_value(&mut self, record: &mut Vec<u8>) -> io::Result<bool> {
        let mut state = JsonNesting::default();
        let mut fits = true;
        loop {
            let buffer = self.input.fill_buf()?;
            if buffer.is_empty() {
                // A word may end with the input.
                return if state.in_word && state.depth == 0 {
                    Ok(fits)
                } else {
                    Err(io::ErrorKind::UnexpectedEof.into())
                };
            }
            let (used, is_complete) = state.advance(buffer);
            self.line += memchr_iter(b'\n', &buffer[..used]).count() as u64;
            fits &= record.len() + used <= usize::try_from(MAX_RECORD_BYTES).unwrap_or(usize::MAX);
            if fits {
                record.extend_from_slice(&buffer[..used]);
            }
            self.input.consume(used);
            if is_complete {
                return Ok(fits);
            }
        }
    }

    /// Returns a reader of the value that begins at the next byte, which may have any length. The scanner goes on after what is read.
    pub fn value_reader(&mut self) -> JsonValueReader<'_, R> {
        JsonValueReader {
            scanner: self,
            state: JsonNesting::default(),
            is_complete: false,
        }
    }

    /// Consumes the value that begins at the next byte.
    pub fn skip_value(&mut self) -> io::Result<()> {
        io::copy(&mut self.value_reader(), &mut io::sink()).map(drop)
    }
}

/// The bytes of one value. They end early if the input does.
pub(super) struct JsonValueReader<'s, R> {
    scanner: &'s mut JsonScanner<R>,
    state: JsonNesting,
    is_complete: bool,
}

impl<R: BufRead> Read for JsonValueReader<'_, R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        if self.is_complete {
            return Ok(0);
        }
        let buffer = self.scanner.input.fill_buf()?;
        let (used, is_complete) = self.state.advance(&buffer[..buffer.len().min(into.len())]);
        into[..used].copy_from_slice(&buffer[..used]);
        self.is_complete = is_complete;
        self.scanner.line += memchr_iter(b'\n', &buffer[..used]).count() as u64;
        self.scanner.input.consume(used);
        Ok(used)
    }
}

/// The next part of a list or an object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum JsonPart<K> {
    /// The scanner is before a value. In an object it has a key.
    Value(K),
    /// The closing bracket was taken.
    End,
    /// The input is not JSON; the text says what was expected.
    Wrong(&'static str),
}

/// A list or an object being read.
pub(super) struct JsonParts {
    /// No part, and so no comma, came before.
    is_first: bool,
}

impl JsonParts {
    /// Takes the opening bracket, which is the next byte.
    pub fn new<R: BufRead>(scanner: &mut JsonScanner<R>) -> Self {
        scanner.input.consume(1);
        Self { is_first: true }
    }

    /// Goes to the next element of a list.
    ///
    /// # Errors
    ///
    /// Fails if the input cannot be read, and with [`io::ErrorKind::UnexpectedEof`] if it ends inside the list.
    pub fn next_element<R: BufRead>(
        &mut self,
        scanner: &mut JsonScanner<R>,
    ) -> io::Result<JsonPart<()>> {
        Ok(
            match self.next_part(scanner, b']', "expected `,` or `]`")? {
                JsonPart::Value(()) if !scanner.is_before_value()? => {
                    JsonPart::Wrong("expected value")
                }
                next => next,
            },
        )
    }

    /// Goes to the value of the next entry of an object, and reads its key.
    ///
    /// # Errors
    ///
    /// Fails if the input cannot be read, and with [`io::ErrorKind::UnexpectedEof`] if it ends inside the object.
    pub fn next_entry<R: BufRead>(
        &mut self,
        scanner: &mut JsonScanner<R>,
    ) -> io::Result<JsonPart<String>> {
        match self.next_part(scanner, b'}', "expected `,` or `}`")? {
            JsonPart::Value(()) => {}
            JsonPart::End => return Ok(JsonPart::End),
            JsonPart::Wrong(what) => return Ok(JsonPart::Wrong(what)),
        }
        if scanner.require_byte()? != b'"' {
            return Ok(JsonPart::Wrong("key must be a string"));
        }
        let mut text = Vec::new();
        let fits = scanner.copy_value(&mut text)?;
        let Some(key) = serde_json::from_slice(&text).ok().filter(|_| fits) else {
            return Ok(JsonPart::Wrong("expected a key"));
        };
        if scanner.require_byte()? != b':' {
            return Ok(JsonPart::Wrong("expected `:`"));
        }
        scanner.input.consume(1);
        Ok(if scanner.is_before_value()? {
            JsonPart::Value(key)
        } else {
            JsonPart::Wrong("expected value")
        })
    }

    /// Takes the comma before the next part, or the closing bracket.
    fn next_part<R: BufRead>(
        &mut self,
        scanner: &mut JsonScanner<R>,
        end: u8,
        expected: &'static str,
    ) -> io::Result<JsonPart<()>> {
        let byte = scanner.require_byte()?;
        let is_first = std::mem::take(&mut self.is_first);
        if byte != end && is_first {
            return Ok(JsonPart::Value(()));
        }
        if byte != end && byte != b',' {
            return Ok(JsonPart::Wrong(expected));
        }
        scanner.input.consume(1);
        Ok(if byte == end {
            JsonPart::End
        } else {
            JsonPart::Value(())
        })
    }
}

/// Position of the scanner within a value.
#[derive(Default)]
struct JsonNesting {
    depth: u64,
    in_string: bool,
    is_escaped: bool,
    /// Inside a number, `true`, `false`, `null` or an invalid word.
    in_word: bool,
}

impl JsonNesting {
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
                let Some(found) = memchr2(b'"', b'\\', &buffer[at..]) else {
                    return (buffer.len(), false);
                };
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
            if self.depth == 0
                && self.in_word
                && (byte.is_ascii_whitespace() || matches!(byte, b',' | b']' | b'}'))
            {
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
        let text = br#"[{"a\\\"": ["\\", "}]"], "b": -1.5} ,-Infinity, "x\"" , [[1], {}]] "#;
        let expected = [
            r#"{"a\\\"": ["\\", "}]"], "b": -1.5}"#,
            "-Infinity",
            r#""x\"""#,
            "[[1], {}]",
        ];
        for capacity in 1..text.len() {
            for is_streamed in [false, true] {
                let mut scanner = JsonScanner::new(BufReader::with_capacity(capacity, &text[..]));
                assert_eq!(scanner.peek_byte().expect("it is in memory"), Some(b'['));
                let (mut list, mut found) = (JsonParts::new(&mut scanner), Vec::new());
                while list.next_element(&mut scanner).expect("it is in memory")
                    == JsonPart::Value(())
                {
                    let mut value = Vec::new();
                    if is_streamed {
                        // A block of the reader ends at another place than one of the scanner.
                        let mut blocks = BufReader::with_capacity(3, scanner.value_reader());
                        blocks.read_to_end(&mut value).expect("it is in memory");
                    } else {
                        assert!(scanner.copy_value(&mut value).expect("it is whole"));
                    }
                    found.push(String::from_utf8(value).expect("text"));
                }
                assert_eq!(found, expected, "{capacity} {is_streamed}");
                assert_eq!(scanner.peek_byte().expect("it is in memory"), None);
            }
        }
    }

    #[test]
    fn entries_have_keys() {
        let entries = |text: &str| {
            let mut scanner = JsonScanner::new(text.as_bytes());
            scanner.peek_byte().expect("it is in memory");
            let (mut object, mut found) = (JsonParts::new(&mut scanner), Vec::new());
            loop {
                match object.next_entry(&mut scanner) {
                    Ok(JsonPart::Value(key)) => found.push(key),
                    Ok(JsonPart::End) => return found.join("|"),
                    Ok(JsonPart::Wrong(what)) => return what.to_owned(),
                    Err(error) => return error.kind().to_string(),
                }
                scanner.skip_value().expect("it is in memory");
            }
        };
        for (text, expected) in [
            ("\u{feff} {}", ""),
            (r#"{"a": 1 , "b\"\u00e9":{"c": [2]} }"#, "a|b\"é"),
            (r#"{"a": 1 "b": 2}"#, "expected `,` or `}`"),
            (r#"{"a": 1,}"#, "key must be a string"),
            (r#"{"a" 1}"#, "expected `:`"),
            (r#"{"a": ,}"#, "expected value"),
            (r#"{"\x": 1}"#, "expected a key"),
            (r#"{"a": [1"#, "unexpected end of file"),
            (r#"{"a"#, "unexpected end of file"),
        ] {
            assert_eq!(entries(text), expected, "{text}");
        }
    }
}
