//! Files that are broken in every way: values of other types, keys that are lost, doubled or renamed, numbers and texts at their limits,
//! nesting without end, archives that lie about their members, and bytes that are simply wrong.
//!
//! What is broken is a piece of the file that means something – a value, an entry, an attribute, a field – far more often than a single
//! byte: a parser is past its first line only where most of the file still is what it was.

use std::io::Write;
use std::ops::Range;

/// A file that grows, grows to about this.
const GROWN_BYTES: usize = 1 << 20;
/// One of so many grows: parsing it costs as much as a thousand small ones.
const GROWS_ONE_IN: usize = 10_000;
/// One of so many is compressed as a whole.
const COMPRESSED_ONE_IN: usize = 64;

/// A sequence of numbers that is the same in every run.
pub struct Numbers(pub u64);

impl Numbers {
    pub fn below(&mut self, bound: usize) -> usize {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        usize::try_from((self.0 >> 33) % bound.max(1) as u64).expect("below a size")
    }

    pub fn one_in(&mut self, count: usize) -> bool {
        self.below(count) == 0
    }

    fn one_of<'a, T: ?Sized>(&mut self, list: &[&'a T]) -> &'a T {
        list[self.below(list.len())]
    }
}

/// How a file is taken apart.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Shape {
    /// One value, or one a line.
    Json,
    Xml,
    Yaml,
    Csv,
}

/// A broken file, and how long it is inflated.
pub struct Broken {
    pub bytes: Vec<u8>,
    pub inflated: usize,
}

/// A file that is whole, and where its pieces are.
pub struct Original {
    shape: Shape,
    bytes: Vec<u8>,
    pieces: Vec<Piece>,
}

/// A value with what it is under.
struct Piece {
    key: Option<Range<usize>>,
    value: Range<usize>,
    /// With the key and what separates it from its neighbours: the file is well-formed without it, and with it twice.
    entry: Range<usize>,
}

/// What tends to break readers of JSON, in the place of any value.
const JSON_VALUES: [&str; 40] = [
    "null",
    "true",
    "false",
    "0",
    "-0.0",
    "-1",
    "1",
    "0.5",
    "1.0000000000000002",
    "1e308",
    "-1e308",
    "1e999",
    "1e-400",
    "NaN",
    "-Infinity",
    "9007199254740993",
    "9223372036854775807",
    "-9223372036854775808",
    "18446744073709551615",
    "18446744073709551616",
    "123456789012345678901234567890",
    "\"\"",
    "\" \"",
    "\"0\"",
    "\"1e999\"",
    "\"N/A\"",
    "\"../../x\"",
    "\"/etc/passwd\"",
    "\"\\u0000\"",
    "\"\\ud800\"",
    "\"\\u001b[2J\"",
    "\"9999-12-31T23:59:59Z\"",
    "\"-262144-01-01T00:00:00Z\"",
    "\"2026-02-30 25:61:61\"",
    "[]",
    "{}",
    "[null]",
    "[[],{}]",
    "{\"\":null}",
    "[1,\"a\",{},[],true,null]",
];
const YAML_VALUES: [&str; 22] = [
    "",
    "~",
    "true",
    "-1",
    "1e999",
    ".nan",
    ".inf",
    "0x7fffffffffffffff",
    "1_000",
    "18446744073709551616",
    "''",
    "\"\\0\"",
    "[]",
    "{}",
    "&a [*a]",
    "*a",
    "!!binary aGk=",
    "!x y",
    "|\n  a",
    "? ? ?",
    "2026-99-99",
    "../../x",
];
const CSV_VALUES: [&str; 16] = [
    "",
    "\"",
    "\"\"",
    "\"a\nb\"",
    "-1",
    "1e999",
    "NaN",
    "inf",
    "18446744073709551616",
    "\0",
    "=1+1",
    "../../x",
    ",,",
    "\r",
    "\u{feff}",
    "tru",
];
const XML_VALUES: [&str; 18] = [
    "",
    "-1",
    "1e999",
    "NaN",
    "18446744073709551616",
    "&lt;",
    "&x;",
    "&#0;",
    "&#xD800;",
    "&#1114112;",
    "<",
    ">",
    "]]>",
    "<![CDATA[",
    "<!--",
    "<?x",
    "2026-99-99",
    "../../x",
];
/// What is put in anywhere.
const BYTES: [&[u8]; 18] = [
    b"null",
    b"-",
    b"1e999",
    b"\"",
    b"\\",
    b"{",
    b"}",
    b"[[[[",
    b"]",
    b",",
    b":",
    b"\n",
    b"\0",
    b"\xff\xfe",
    b"\xef\xbb\xbf",
    b"\xed\xa0\x80",
    b"<",
    b"&",
];

impl Original {
    pub fn new(shape: Shape, bytes: Vec<u8>) -> Self {
        let mut pieces = Vec::new();
        match shape {
            Shape::Json => json_pieces(&bytes, &mut pieces),
            Shape::Xml => xml_pieces(&bytes, &mut pieces),
            Shape::Yaml => line_pieces(&bytes, b':', &mut pieces),
            Shape::Csv => line_pieces(&bytes, b',', &mut pieces),
        }
        assert!(!pieces.is_empty(), "an original can be taken apart");
        Self {
            shape,
            bytes,
            pieces,
        }
    }

    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Breaks the file. Sometimes it is compressed then, and sometimes broken once more.
    pub fn broken(&self, numbers: &mut Numbers) -> Broken {
        let bytes = self.changed(numbers);
        let inflated = bytes.len();
        if !numbers.one_in(COMPRESSED_ONE_IN) {
            return Broken { bytes, inflated };
        }
        let mut bytes = if numbers.one_in(2) {
            gzip(&bytes)
        } else {
            zstd::bulk::compress(&bytes, 1).expect("memory")
        };
        if numbers.one_in(2) {
            break_bytes(&mut bytes, numbers);
        }
        Broken { bytes, inflated }
    }

    /// Breaks what the file means, its bytes, or both.
    pub fn changed(&self, numbers: &mut Numbers) -> Vec<u8> {
        let kind = numbers.below(8);
        let mut bytes = if kind == 0 {
            self.bytes.clone()
        } else {
            self.with_broken_pieces(numbers)
        };
        if kind < 3 {
            for _ in 0..=numbers.below(2) {
                break_bytes(&mut bytes, numbers);
            }
        }
        bytes
    }

    fn with_broken_pieces(&self, numbers: &mut Numbers) -> Vec<u8> {
        if numbers.one_in(GROWS_ONE_IN) {
            let entry = self.piece(numbers).entry.clone();
            let repeated = self.bytes[entry.clone()]
                .repeat((GROWN_BYTES / entry.len().max(1)).min(GROWN_BYTES / 8));
            return self.edited(vec![(entry.start..entry.start, repeated)]);
        }
        let mut edits = Vec::new();
        for _ in 0..=numbers.below(3) {
            self.edit(numbers, &mut edits);
        }
        self.edited(edits)
    }

    fn piece(&self, numbers: &mut Numbers) -> &Piece {
        &self.pieces[numbers.below(self.pieces.len())]
    }

    fn edit(&self, numbers: &mut Numbers, edits: &mut Vec<(Range<usize>, Vec<u8>)>) {
        let piece = self.piece(numbers);
        let (value, entry) = (piece.value.clone(), piece.entry.clone());
        match numbers.below(12) {
            0..=3 => edits.push((value, self.value(numbers).as_bytes().to_vec())),
            4 => edits.push((entry, Vec::new())),
            5 => edits.push((entry.start..entry.start, self.bytes[entry].to_vec())),
            6 => {
                // The value of another piece in its place, whatever that is.
                let other = self.piece(numbers).value.clone();
                edits.push((value, self.bytes[other].to_vec()));
            }
            7 => {
                let other = self.piece(numbers).entry.clone();
                edits.push((other.start..other.start, self.bytes[entry].to_vec()));
            }
            8 => {
                if let Some(key) = &piece.key {
                    let new = if numbers.one_in(2) {
                        self.piece(numbers).key.clone()
                    } else {
                        None
                    };
                    let new = new.map_or_else(
                        || self.value(numbers).as_bytes().to_vec(),
                        |key| self.bytes[key].to_vec(),
                    );
                    edits.push((key.clone(), new));
                }
            }
            9 => edits.push((
                value.clone(),
                self.nested(&self.bytes[value], 1 + numbers.below(200)),
            )),
            10 => edits.push((
                value.clone(),
                self.longer(&self.bytes[value], 1 << numbers.below(14)),
            )),
            _ => {
                let mut bytes = self.bytes[value.clone()].to_vec();
                break_bytes(&mut bytes, numbers);
                edits.push((value, bytes));
            }
        }
    }

    fn value(&self, numbers: &mut Numbers) -> &'static str {
        match self.shape {
            Shape::Json => numbers.one_of(&JSON_VALUES),
            Shape::Xml => numbers.one_of(&XML_VALUES),
            Shape::Yaml => numbers.one_of(&YAML_VALUES),
            Shape::Csv => numbers.one_of(&CSV_VALUES),
        }
    }

    /// The value that many levels deeper.
    fn nested(&self, value: &[u8], levels: usize) -> Vec<u8> {
        let (open, close): (&[u8], &[u8]) = match self.shape {
            Shape::Json if levels.is_multiple_of(2) => (b"{\"a\":", b"}"),
            Shape::Json | Shape::Yaml => (b"[", b"]"),
            Shape::Xml => (b"<testsuite>", b"</testsuite>"),
            Shape::Csv => (b"\"", b"\""),
        };
        [&open.repeat(levels), value, &close.repeat(levels)].concat()
    }

    /// The same text many times over; a text of JSON stays one.
    fn longer(&self, value: &[u8], times: usize) -> Vec<u8> {
        match value {
            [b'"', inner @ .., b'"'] if self.shape == Shape::Json => {
                [b"\"", inner.repeat(times.min(1 << 10)).as_slice(), b"\""].concat()
            }
            value => value.repeat(times.min(1 << 10)),
        }
    }

    /// Applies the edits from the end on, without those that another reaches into.
    fn edited(&self, mut edits: Vec<(Range<usize>, Vec<u8>)>) -> Vec<u8> {
        edits.sort_by_key(|(place, _)| std::cmp::Reverse(place.start));
        let mut bytes = self.bytes.clone();
        let mut reached = bytes.len() + 1;
        for (place, new) in edits {
            if place.end <= reached {
                reached = place.start;
                bytes.splice(place, new);
            }
        }
        bytes
    }
}

/// Changes bytes without a thought of what they mean.
fn break_bytes(bytes: &mut Vec<u8>, numbers: &mut Numbers) {
    if bytes.is_empty() {
        bytes.push(b' ');
    }
    let place = numbers.below(bytes.len());
    let length = numbers.below(32).min(bytes.len() - place);
    match numbers.below(6) {
        0 | 1 => bytes[place] ^= 1 << numbers.below(8),
        2 => bytes.truncate(place.max(1)),
        3 => drop(bytes.drain(place..place + length)),
        4 => drop(bytes.splice(
            place..place + length,
            numbers.one_of(&BYTES).iter().copied(),
        )),
        _ => {
            let piece = bytes[place..place + length].to_vec();
            let to = numbers.below(bytes.len());
            bytes.splice(to..to, piece);
        }
    }
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder
        .write_all(bytes)
        .and_then(|()| encoder.finish())
        .expect("memory")
}

/// Takes JSON apart: every element of every list, every entry of every object, and each of several values. What is no JSON, as in files
/// that are cut off, ends it.
fn json_pieces(bytes: &[u8], pieces: &mut Vec<Piece>) {
    let mut place = json_space(bytes, 0);
    while place < bytes.len() {
        let end = json_value(bytes, place, pieces).unwrap_or(bytes.len());
        let next = json_space(bytes, end.max(place + 1));
        pieces.push(Piece {
            key: None,
            value: place..end,
            entry: place..next,
        });
        place = next;
    }
}

fn json_space(bytes: &[u8], place: usize) -> usize {
    let rest = bytes.get(place..).unwrap_or_default();
    rest.iter()
        .position(|byte| !byte.is_ascii_whitespace())
        .map_or(bytes.len(), |length| place + length)
}

/// Returns where the value ends.
fn json_value(bytes: &[u8], start: usize, pieces: &mut Vec<Piece>) -> Option<usize> {
    let close = match bytes.get(start)? {
        b'{' => b'}',
        b'[' => b']',
        b'"' => return json_text(bytes, start),
        _ => {
            let ends = |byte: &u8| byte.is_ascii_whitespace() || matches!(byte, b',' | b']' | b'}');
            return bytes[start..]
                .iter()
                .position(ends)
                .map(|length| start + length);
        }
    };
    let mut place = json_space(bytes, start + 1);
    let mut comma = None;
    while *bytes.get(place)? != close {
        let entry = place;
        let mut key = None;
        if close == b'}' {
            let end = json_text(bytes, place)?;
            key = Some(place..end);
            place = json_space(bytes, json_space(bytes, end) + 1);
        }
        let end = json_value(bytes, place, pieces)?;
        let value = place..end;
        place = json_space(bytes, end);
        let is_followed = *bytes.get(place)? == b',';
        if is_followed {
            comma = Some(place);
            place = json_space(bytes, place + 1);
        } else if bytes[place] != close {
            return None;
        }
        let entry = if is_followed {
            entry..place
        } else {
            comma.unwrap_or(entry)..end
        };
        pieces.push(Piece { key, value, entry });
    }
    Some(place + 1)
}

fn json_text(bytes: &[u8], start: usize) -> Option<usize> {
    let mut place = start + 1;
    while *bytes.get(place)? != b'"' {
        place += if bytes[place] == b'\\' { 2 } else { 1 };
    }
    Some(place + 1)
}

/// Takes XML apart: elements, tags, attributes, and text between tags.
fn xml_pieces(bytes: &[u8], pieces: &mut Vec<Piece>) {
    let mut open: Vec<usize> = Vec::new();
    let mut place = 0;
    while let Some(start) = bytes[place..]
        .iter()
        .position(|byte| *byte == b'<')
        .map(|length| place + length)
    {
        if start > place {
            pieces.push(Piece {
                key: None,
                value: place..start,
                entry: place..start,
            });
        }
        let Some(end) = bytes[start..]
            .iter()
            .position(|byte| *byte == b'>')
            .map(|length| start + length + 1)
        else {
            return;
        };
        let tag = &bytes[start..end];
        match (tag.get(1), tag.get(tag.len().wrapping_sub(2))) {
            (Some(b'/'), _) => {
                if let Some(from) = open.pop() {
                    pieces.push(Piece {
                        key: None,
                        value: from..end,
                        entry: from..end,
                    });
                }
            }
            (Some(b'?' | b'!'), _) => {}
            (_, Some(b'/')) => pieces.push(Piece {
                key: None,
                value: start..end,
                entry: start..end,
            }),
            _ => open.push(start),
        }
        pieces.push(Piece {
            key: None,
            value: start..end,
            entry: start..end,
        });
        let mut quotes = (start..end).filter(|place| bytes[*place] == b'"');
        while let (Some(from), Some(to)) = (quotes.next(), quotes.next()) {
            let name = bytes[start..from]
                .iter()
                .rposition(u8::is_ascii_whitespace)
                .map_or(start, |length| start + length);
            pieces.push(Piece {
                key: Some(name + 1..from.saturating_sub(1).max(name + 1)),
                value: from + 1..to,
                entry: name..to + 1,
            });
        }
        place = end;
    }
}

/// Takes lines apart: each is an entry, and so is what stands between separators.
fn line_pieces(bytes: &[u8], separator: u8, pieces: &mut Vec<Piece>) {
    let mut start = 0;
    for line in bytes.split_inclusive(|byte| *byte == b'\n') {
        let end = start + line.len();
        let last = if line.ends_with(b"\n") { end - 1 } else { end };
        pieces.push(Piece {
            key: None,
            value: start..last,
            entry: start..end,
        });
        let mut from = start;
        let ends = (start..last)
            .filter(|place| bytes[*place] == separator)
            .chain([last]);
        for to in ends {
            pieces.push(Piece {
                key: None,
                value: from..to,
                entry: from..(to + 1).min(end),
            });
            from = (to + 1).min(last);
        }
        start = end;
    }
}
