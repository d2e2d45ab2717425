//! JSON without the numbers that JSON does not have.

use std::io::{self, BufRead, BufReader, Read};

use memchr::{memchr, memchr2, memchr3};

/// Larger buffers are no faster, and files are often small.
const BUFFER_BYTES: usize = 32 << 10;

/// Replaces `NaN` and infinities, and buffers the result, because the parser requests single bytes.
pub(super) fn plain<R: Read>(reader: R) -> BufReader<Plain<R>> {
    BufReader::with_capacity(BUFFER_BYTES, Plain::new(reader))
}

/// Reader that replaces `NaN`, `Infinity` and `-Infinity` by `null` (not measured). Python writes them, but JSON does not allow them.
pub(super) struct Plain<R> {
    input: BufReader<R>,
    state: State,
    /// Bytes to return before more input is read.
    pending: &'static [u8],
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    Outside,
    /// A minus was read, which may begin a number or `-Infinity`.
    Minus,
    Inside,
    Escaped,
}

impl<R: Read> Plain<R> {
    pub fn new(reader: R) -> Self {
        Self {
            input: BufReader::with_capacity(BUFFER_BYTES, reader),
            state: State::Outside,
            pending: b"",
        }
    }

    /// Skips the word that begins at the current byte.
    fn skip_word(&mut self) -> io::Result<()> {
        loop {
            let available = self.input.fill_buf()?;
            let letters = available
                .iter()
                .take_while(|byte| byte.is_ascii_alphabetic())
                .count();
            let is_over = letters < available.len() || available.is_empty();
            self.input.consume(letters);
            if is_over {
                return Ok(());
            }
        }
    }
}

impl<R: Read> Read for Plain<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let mut filled = 0;
        while filled < buffer.len() {
            if !self.pending.is_empty() {
                let count = self.pending.len().min(buffer.len() - filled);
                buffer[filled..filled + count].copy_from_slice(&self.pending[..count]);
                self.pending = &self.pending[count..];
                filled += count;
                continue;
            }
            // Return the bytes found so far before waiting for more.
            if filled > 0 && self.input.buffer().is_empty() {
                break;
            }
            match self.step(&mut buffer[filled..]) {
                Ok(Step::Copied(count)) => filled += count,
                Ok(Step::Pending) => {}
                Ok(Step::End) => break,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(filled)
    }
}

enum Step {
    Copied(usize),
    /// Nothing was copied, but the state has changed.
    Pending,
    End,
}

impl<R: Read> Plain<R> {
    /// Copies up to the next byte that changes the state.
    fn step(&mut self, buffer: &mut [u8]) -> io::Result<Step> {
        let available = self.input.fill_buf()?;
        let available = &available[..available.len().min(buffer.len())];
        let Some(first) = available.first() else {
            if self.state == State::Minus {
                (self.state, self.pending) = (State::Outside, b"-");
                return Ok(Step::Pending);
            }
            return Ok(Step::End);
        };
        let count = match self.state {
            State::Minus => {
                self.state = State::Outside;
                self.pending = b"-";
                if *first == b'I' {
                    self.skip_word()?;
                    self.pending = b"null";
                }
                return Ok(Step::Pending);
            }
            State::Escaped => {
                self.state = State::Inside;
                1
            }
            State::Inside => match memchr2(b'"', b'\\', available) {
                Some(end) => {
                    self.state = if available[end] == b'"' {
                        State::Outside
                    } else {
                        State::Escaped
                    };
                    end + 1
                }
                None => available.len(),
            },
            State::Outside => {
                let found = memchr3(b'"', b'N', b'I', available).unwrap_or(available.len());
                let found = memchr(b'-', &available[..found]).unwrap_or(found);
                match first {
                    _ if found > 0 => found,
                    b'"' => {
                        self.state = State::Inside;
                        1
                    }
                    b'-' => {
                        self.input.consume(1);
                        self.state = State::Minus;
                        return Ok(Step::Pending);
                    }
                    _ => {
                        self.skip_word()?;
                        self.pending = b"null";
                        return Ok(Step::Pending);
                    }
                }
            }
        };
        buffer[..count].copy_from_slice(&available[..count]);
        self.input.consume(count);
        Ok(Step::Copied(count))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    /// Returns a few bytes per read, so that every state occurs at the end of a block.
    struct Drip<'a>(&'a [u8], usize);

    impl Read for Drip<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            let count = self.1.min(self.0.len()).min(buffer.len());
            buffer[..count].copy_from_slice(&self.0[..count]);
            self.0 = &self.0[count..];
            Ok(count)
        }
    }

    #[test]
    fn numbers_that_json_does_not_know_are_not_measured() {
        let text = br#"{"a": NaN, "b": [-Infinity, Infinity, -1.5, 2e-3], "N\"aN": "NaN -Infinity \\", "c": -0, "d": null, "e": [NaN]}"#;
        let expected = json!({"a": null, "b": [null, null, -1.5, 0.002], "N\"aN": "NaN -Infinity \\", "c": -0.0, "d": null, "e": [null]});
        for step in [1, 2, 3, 7, 1000] {
            let read: Value = serde_json::from_reader(plain(Drip(text, step))).expect("JSON");
            assert_eq!(read, expected, "{step}");
        }
        assert!(serde_json::from_reader::<_, Value>(plain(&b"[-"[..])).is_err());
    }
}
