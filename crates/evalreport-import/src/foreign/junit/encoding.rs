//! Reads reports in other encodings than UTF-8 as UTF-8.

use std::io::{self, Cursor, Read};

const BLOCK_BYTES: usize = 16 << 10;
/// Maximum bytes searched for the XML declaration, which comes first in a report.
const MAX_DECLARATION_BYTES: u64 = 512;

/// Characters of the bytes 0x80 to 0x9f in Windows-1252. A few bytes have none.
const WINDOWS_1252_HIGH: [char; 32] = [
    '€', '\u{81}', '‚', 'ƒ', '„', '…', '†', '‡', 'ˆ', '‰', 'Š', '‹', 'Œ', '\u{8d}', 'Ž', '\u{8f}',
    '\u{90}', '‘', '’', '“', '”', '•', '–', '—', '˜', '™', 'š', '›', 'œ', '\u{9d}', 'ž', 'Ÿ',
];

/// Encoding of a report that is not in UTF-8.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum XmlEncoding {
    Latin1,
    Windows1252,
    Utf16Little,
    Utf16Big,
}

impl XmlEncoding {
    /// Returns the encoding by the first bytes, or `None` for UTF-8. The error is the name of an unsupported encoding.
    pub fn detect(head: &[u8]) -> Result<Option<Self>, String> {
        match head {
            [0xff, 0xfe, ..] | [b'<', 0, ..] => return Ok(Some(Self::Utf16Little)),
            [0xfe, 0xff, ..] | [0, b'<', ..] => return Ok(Some(Self::Utf16Big)),
            _ => {}
        }
        let Some(name) = declared_encoding(head) else {
            return Ok(None);
        };
        match name.to_lowercase().replace('_', "-").as_str() {
            // The declaration was readable as single bytes, so the report is not UTF-16, whatever it declares.
            "utf-8" | "utf8" | "us-ascii" | "ascii" | "utf-16" | "utf16" | "" => Ok(None),
            "iso-8859-1" | "iso8859-1" | "latin1" | "latin-1" | "l1" => Ok(Some(Self::Latin1)),
            "windows-1252" | "cp1252" => Ok(Some(Self::Windows1252)),
            _ => Err(name),
        }
    }

    pub fn name(self) -> &'static str {
        match self {
            Self::Latin1 => "ISO-8859-1",
            Self::Windows1252 => "Windows-1252",
            Self::Utf16Little | Self::Utf16Big => "UTF-16",
        }
    }

    /// Appends the decoded bytes to `text` and returns how many bytes were used. At the end all are used.
    fn decode_bytes(self, bytes: &[u8], is_end: bool, text: &mut String) -> usize {
        match self {
            Self::Latin1 => text.extend(bytes.iter().map(|byte| char::from(*byte))),
            Self::Windows1252 => text.extend(bytes.iter().map(|byte| match byte {
                0x80..=0x9f => WINDOWS_1252_HIGH[usize::from(byte - 0x80)],
                byte => char::from(*byte),
            })),
            Self::Utf16Little | Self::Utf16Big => {
                let unit = |pair: &[u8; 2]| {
                    if self == Self::Utf16Big {
                        u16::from_be_bytes(*pair)
                    } else {
                        u16::from_le_bytes(*pair)
                    }
                };
                let mut units: Vec<u16> = bytes.as_chunks::<2>().0.iter().map(unit).collect();
                // The second half of a surrogate pair may come with the next bytes.
                if !is_end
                    && units
                        .last()
                        .is_some_and(|last| (0xd800..0xdc00).contains(last))
                {
                    units.pop();
                }
                let used = if is_end { bytes.len() } else { 2 * units.len() };
                text.extend(
                    char::decode_utf16(units)
                        .map(|read| read.unwrap_or(char::REPLACEMENT_CHARACTER)),
                );
                return used;
            }
        }
        bytes.len()
    }
}

/// Returns the encoding that the XML declaration names.
fn declared_encoding(head: &[u8]) -> Option<String> {
    let head = head
        .strip_prefix("\u{feff}".as_bytes())
        .unwrap_or(head)
        .trim_ascii_start();
    let rest = head.strip_prefix(b"<?xml")?;
    let declaration = &rest[..memchr::memmem::find(rest, b"?>")?];
    let after = &declaration[memchr::memmem::find(declaration, b"encoding")? + b"encoding".len()..];
    let value = after
        .trim_ascii_start()
        .strip_prefix(b"=")?
        .trim_ascii_start();
    let (quote, value) = value
        .split_first()
        .filter(|(quote, _)| matches!(quote, b'"' | b'\''))?;
    let value = &value[..memchr::memchr(*quote, value)?];
    Some(String::from_utf8_lossy(value).trim().to_owned())
}

/// Looks at the beginning of a report. Returns its encoding, or the name of an unsupported one, and a reader of the whole report.
pub(super) fn detect_encoding<R: Read>(
    mut reader: R,
) -> io::Result<(Result<Option<XmlEncoding>, String>, impl Read)> {
    let mut head = Vec::new();
    reader
        .by_ref()
        .take(MAX_DECLARATION_BYTES)
        .read_to_end(&mut head)?;
    Ok((XmlEncoding::detect(&head), Cursor::new(head).chain(reader)))
}

/// Reads bytes of an encoding as UTF-8.
pub(super) struct DecodedReader<R> {
    reader: R,
    encoding: Option<XmlEncoding>,
    /// Bytes of an incomplete character.
    left: Vec<u8>,
    text: Cursor<String>,
    has_begun: bool,
}

impl<R: Read> DecodedReader<R> {
    pub fn new(reader: R, encoding: Option<XmlEncoding>) -> Self {
        Self {
            reader,
            encoding,
            left: Vec::new(),
            text: Cursor::default(),
            has_begun: false,
        }
    }
}

impl<R: Read> Read for DecodedReader<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let Some(encoding) = self.encoding else {
            return self.reader.read(buffer);
        };
        loop {
            let read = self.text.read(buffer)?;
            if read > 0 || buffer.is_empty() {
                return Ok(read);
            }
            let was = self.left.len();
            self.reader
                .by_ref()
                .take(BLOCK_BYTES as u64)
                .read_to_end(&mut self.left)?;
            if self.left.is_empty() {
                return Ok(0);
            }
            let mut text = std::mem::take(&mut self.text).into_inner();
            text.clear();
            let used = encoding.decode_bytes(&self.left, self.left.len() == was, &mut text);
            self.left.drain(..used);
            if !std::mem::replace(&mut self.has_begun, true) && text.starts_with('\u{feff}') {
                text.remove(0);
            }
            self.text = Cursor::new(text);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(bytes: &[u8]) -> String {
        let (encoding, reader) = detect_encoding(bytes).expect("readable");
        let mut text = String::new();
        DecodedReader::new(reader, encoding.expect("one that is read"))
            .read_to_string(&mut text)
            .expect("readable");
        text
    }

    #[test]
    fn declared_encodings_are_read_and_others_named() {
        let latin = |name: &str| {
            [
                format!("<?xml version='1.0' encoding='{name}'?><a>").as_bytes(),
                b"n\xe9 \x80</a>",
            ]
            .concat()
        };
        assert!(read(&latin("ISO-8859-1")).ends_with("né \u{80}</a>"));
        assert!(read(&latin("windows-1252")).ends_with("né €</a>"));
        for (head, expected) in [
            ("<?xml version=\"1.0\" encoding = \"utf-8\" ?>", Ok(None)),
            ("\u{feff}<?xml version=\"1.0\"?>", Ok(None)),
            ("<?xml encoding='koi8-r'?>", Err("koi8-r".to_owned())),
            ("<?xml encoding=", Ok(None)),
            ("", Ok(None)),
        ] {
            assert_eq!(XmlEncoding::detect(head.as_bytes()), expected, "{head}");
        }
    }

    #[test]
    fn utf_16_is_read_across_blocks() {
        // A character of two units lies on the edge of every second block.
        let text = format!("<a>{}</a>", "é𝄞x".repeat(BLOCK_BYTES));
        let bytes = |of: fn(u16) -> [u8; 2], text: &str| {
            text.encode_utf16().flat_map(of).collect::<Vec<u8>>()
        };
        assert!(read(&bytes(u16::to_be_bytes, &text)) == text);
        assert!(read(&bytes(u16::to_le_bytes, &format!("\u{feff}{text}"))) == text);
        let cut = bytes(u16::to_le_bytes, "<a>𝄞");
        assert_eq!(read(&cut[..cut.len() - 1]), "<a>\u{fffd}");
    }
}
