//! JSON without the numbers that JSON does not have.

use std::io::{self, BufRead, BufReader, Read};

use memchr::{memchr, memchr2, memchr3};

/// Larger buffers are no faster, and files are often small.
const BUFFER_BYTES: usize = 32 << 10;

/// Replaces `NaN` and infinities, and buffers the result, because the parser requests single bytes.
pub(super) fn replace_nan<R: Read>(reader: R) -> BufReader<NanReplacer<R>> {
    BufReader::with_capacity(BUFFER_BYTES, NanReplacer::new(reader))
}

/// Reader that replaces `NaN`, `Infinity` and `-Infinity` by `null` (not measured). Python writes them, but JSON does not allow them.
pub(super) struct NanReplacer<R> {
    input: BufReader<R>,
    state: NanReplacerState,
    /// Bytes to return before more input is read.
    pending: &'static [u8],
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum NanReplacerState {
    Outside,
    /// A minus was read, which may begin a number or `-Infinity`.
    Minus,
    Inside,
    Escaped,
}

impl<R: Read> NanReplacer<R> {
    pub fn new(reader: R) -> Self {
        Self {
            input: BufReader::with_capacity(BUFFER_BYTES, reader),
            state: NanReplacerState::Outside,
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

impl<R: Read> Read for NanReplacer<R> {
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
            match self.copy_step(&mut buffer[filled..]) {
                Ok(CopyStep::Copied(count)) => filled += count,
                Ok(CopyStep::Pending) => {}
                Ok(CopyStep::End) => break,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(filled)
    }
}

enum CopyStep {
    Copied(usize),
    /// Nothing was copied, but the state has changed.
    Pending,
    End,
}

impl<R: Read> NanReplacer<R> {
    /// Copies up to the next byte that changes the state.
    fn copy_step(&mut self, buffer: &mut [u8]) -> io::Result<CopyStep> {
        let available = self.input.fill_buf()?;
        let available = &available[..available.len().min(buffer.len())];
        let Some(first) = available.first() else {
            if self.state == NanReplacerState::Minus {
                (self.state, self.pending) = (NanReplacerState::Outside, b"-");
                return Ok(CopyStep::Pending);
            }
            return Ok(CopyStep::End);
        };
        let count = match self.state {
            NanReplacerState::Minus => {
                self.state = NanReplacerState::Outside;
                self.pending = b"-";
                if *first == b'I' {
                    self.skip_word()?;
                    self.pending = b"null";
                }
                return Ok(CopyStep::Pending);
            }
            NanReplacerState::Escaped => {
                self.state = NanReplacerState::Inside;
                1
            }
            NanReplacerState::Inside => match memchr2(b'"', b'\\', available) {
                Some(end) => {
                    self.state = if available[end] == b'"' {
                        NanReplacerState::Outside
                    } else {
                        NanReplacerState::Escaped
                    };
                    end + 1
                }
                None => available.len(),
            },
            NanReplacerState::Outside => {
                let found = memchr3(b'"', b'N', b'I', available).unwrap_or(available.len());
                let found = memchr(b'-', &available[..found]).unwrap_or(found);
                match first {
                    _ if found > 0 => found,
                    b'"' => {
                        self.state = NanReplacerState::Inside;
                        1
                    }
                    b'-' => {
                        self.input.consume(1);
                        self.state = NanReplacerState::Minus;
                        return Ok(CopyStep::Pending);
                    }
                    _ => {
                        self.skip_word()?;
                        self.pending = b"null";
                        return Ok(CopyStep::Pending);
                    }
                }
            }
        };
        buffer[..count].copy_from_slice(&available[..count]);
        self.input.consume(count);
        Ok(CopyStep::Copied(count))
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
            let read: Value = serde_json::from_reader(replace_nan(Drip(text, step))).expect("JSON");
            assert_eq!(read, expected, "{step}");
        }
        assert!(serde_json::from_reader::<_, Value>(replace_nan(&b"[-"[..])).is_err());
    }
}
