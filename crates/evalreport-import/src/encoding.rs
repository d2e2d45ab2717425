//! Decodes text that spreadsheets write in other encodings than UTF-8: UTF-16 and Windows-1252.

use std::io::{self, Read};

/// Encoding of a text file without a byte order mark.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum TextEncoding {
    #[default]
    Utf8,
    Windows1252,
}

impl TextEncoding {
    pub const ALL: [(&'static str, Self); 2] =
        [("utf-8", Self::Utf8), ("windows-1252", Self::Windows1252)];
}

/// Encoding of the bytes to decode.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CodeUnits {
    LittleEndian,
    BigEndian,
    Windows1252,
}

/// The characters of the bytes 0x80 to 0x9f.
const WINDOWS_1252_HIGH: [char; 32] = [
    '€', '\u{81}', '‚', 'ƒ', '„', '…', '†', '‡', 'ˆ', '‰', 'Š', '‹', 'Œ', '\u{8d}', 'Ž', '\u{8f}',
    '\u{90}', '‘', '’', '“', '”', '•', '–', '—', '˜', '™', 'š', '›', 'œ', '\u{9d}', 'ž', 'Ÿ',
];

/// Reads bytes of another encoding as UTF-8. Invalid characters become U+FFFD.
pub(super) struct TranscodedReader<R> {
    reader: R,
    units: CodeUnits,
    /// Bytes not decoded yet: part of a code unit, or the first half of a surrogate pair.
    rest: Vec<u8>,
    ready: Vec<u8>,
    place: usize,
}

impl<R> TranscodedReader<R> {
    pub fn new(reader: R, units: CodeUnits) -> Self {
        Self {
            reader,
            units,
            rest: Vec::new(),
            ready: Vec::new(),
            place: 0,
        }
    }

    /// Decodes the bytes read so far into UTF-8. `is_end` means that nothing follows.
    fn decode_rest(&mut self, is_end: bool) {
        self.ready.clear();
        self.place = 0;
        let mut text = String::with_capacity(self.rest.len());
        if self.units == CodeUnits::Windows1252 {
            text.extend(self.rest.drain(..).map(|byte| match byte {
                0x80..=0x9f => WINDOWS_1252_HIGH[usize::from(byte - 0x80)],
                _ => char::from(byte),
            }));
        } else {
            let unit = |pair: &[u8]| match self.units {
                CodeUnits::BigEndian => u16::from_be_bytes([pair[0], pair[1]]),
                CodeUnits::LittleEndian | CodeUnits::Windows1252 => {
                    u16::from_le_bytes([pair[0], pair[1]])
                }
            };
            let mut whole = self.rest.len() / 2 * 2;
            // The first half of a surrogate pair waits for the second.
            if !is_end
                && whole >= 2
                && (0xd800..0xdc00).contains(&unit(&self.rest[whole - 2..whole]))
            {
                whole -= 2;
            }
            let units = self.rest[..whole].chunks_exact(2).map(unit);
            text.extend(
                char::decode_utf16(units)
                    .map(|letter| letter.unwrap_or(char::REPLACEMENT_CHARACTER)),
            );
            if is_end && whole < self.rest.len() {
                text.push(char::REPLACEMENT_CHARACTER);
                whole = self.rest.len();
            }
            self.rest.drain(..whole);
        }
        self.ready.extend_from_slice(text.as_bytes());
    }
}

impl<R: Read> Read for TranscodedReader<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while self.place == self.ready.len() {
            let mut block = [0; 16 << 10];
            let read = self.reader.read(&mut block)?;
            self.rest.extend_from_slice(&block[..read]);
            if read == 0 && self.rest.is_empty() {
                return Ok(0);
            }
            self.decode_rest(read == 0);
        }
        let length = buffer.len().min(self.ready.len() - self.place);
        buffer[..length].copy_from_slice(&self.ready[self.place..self.place + length]);
        self.place += length;
        Ok(length)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Gives one byte at a time.
    struct Drops<'a>(&'a [u8]);

    impl Read for Drops<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            let Some((first, rest)) = self.0.split_first() else {
                return Ok(0);
            };
            buffer[0] = *first;
            self.0 = rest;
            Ok(1)
        }
    }

    #[test]
    fn text_of_spreadsheets_is_read_in_any_pieces() {
        let text = "Lösung;€ 3–4;𝄞\r\n";
        let little: Vec<u8> = text.encode_utf16().flat_map(u16::to_le_bytes).collect();
        let big: Vec<u8> = text.encode_utf16().flat_map(u16::to_be_bytes).collect();
        for (bytes, units) in [
            (little, CodeUnits::LittleEndian),
            (big, CodeUnits::BigEndian),
        ] {
            assert_eq!(
                io::read_to_string(TranscodedReader::new(&bytes[..], units)).expect("memory"),
                text
            );
            assert_eq!(
                io::read_to_string(TranscodedReader::new(Drops(&bytes), units)).expect("memory"),
                text
            );
            assert!(
                io::read_to_string(TranscodedReader::new(&bytes[..bytes.len() - 1], units))
                    .expect("memory")
                    .ends_with('\u{fffd}')
            );
        }
        let western = b"L\xf6sung;\x80 3\x964";
        assert_eq!(
            io::read_to_string(TranscodedReader::new(&western[..], CodeUnits::Windows1252))
                .expect("memory"),
            "Lösung;€ 3–4"
        );
    }
}
