//! Reads JSON as other tools write it, with bounded memory: with `NaN`, with lists of any length, and with values of unexpected types.

use std::collections::BTreeMap;
use std::fmt;
use std::io::{self, BufRead, BufReader, Read};
use std::marker::PhantomData;

use memchr::{memchr, memchr2, memchr3};
use serde::de::value::MapAccessDeserializer;
use serde::de::{Deserialize, DeserializeOwned, DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Value};

use crate::domain::{Problem, visible};
use crate::results::for_each_line;
use crate::results::heap::{self, Heap, TOO_MUCH, is_too_much};

use super::super::cell::Refused;
use super::super::counts::whole;
use super::super::rows::Stop;

/// Larger buffers are no faster, and files are often small.
const BUFFER_BYTES: usize = 32 << 10;
/// Maximum number of bytes parsed from memory, which is several times as fast as parsing from a reader byte by byte.
const AT_ONCE_BYTES: u64 = 16 << 20;

/// Reads an object: the keys in `wanted` into `Head`, and the elements of the list at `list` one by one into `each`.
///
/// `list` and `wanted` are paths such as `results.results`. Nothing else is kept, so memory is bounded by the longest element and the
/// wanted values. The list may be absent, before or after the wanted keys. Any other value in its place counts as absent.
pub(in crate::import) fn read_object<Head: DeserializeOwned, Item: DeserializeOwned>(
    reader: impl Read,
    label: &str,
    wanted: &[&str],
    list: &str,
    each: &mut dyn FnMut(Item) -> Result<(), Stop>,
) -> Result<Head, Stop> {
    let mut stop = None;
    let account = Heap::default();
    let mut reader = serde_json::Deserializer::from_reader(plain(Noted { reader, heap: &account }));
    let mut walk = Walk { wanted, list, each, stop: &mut stop, heap: &account, item: PhantomData };
    let read = Below { walk: &mut walk, path: String::new() }.deserialize(&mut reader).and_then(|head| reader.end().map(|()| head));
    if let Some(stop) = stop {
        return Err(stop);
    }
    let head = read.map_err(|error| explain(label, 0, &error))?;
    Head::deserialize(account.bounds(Value::Object(head))).map_err(|error| explain(label, 0, &error))
}

/// Reads one value per line, each with its line number. A line that cannot be parsed is passed to `each` as refused. If the last line is
/// cut off, the file is unreadable, because storing the lines before it would make a short run.
pub(in crate::import) fn read_lines<Item: DeserializeOwned>(
    reader: impl Read,
    label: &str,
    each: &mut dyn FnMut(usize, Result<Item, Refused>) -> Result<(), Stop>,
) -> Result<(), Stop> {
    match read_lines_to_cut(reader, label, each)? {
        Some(line) => Err(Problem::at_line(label, line, CUT_OFF.0).with_hint(CUT_OFF.1).into()),
        None => Ok(()),
    }
}

/// Reads one value per line, like [`read_lines`], for callers that can tell that lines are missing. If the last line is cut off, it is
/// passed to `each` as refused, and its number is returned.
pub(in crate::import) fn read_lines_to_cut<Item: DeserializeOwned>(
    reader: impl Read,
    label: &str,
    each: &mut dyn FnMut(usize, Result<Item, Refused>) -> Result<(), Stop>,
) -> Result<Option<usize>, Stop> {
    let mut stop = None;
    let mut cut = None;
    let read = for_each_line(plain(reader), |number, line| {
        if stop.is_some() {
            return;
        }
        let item = match line {
            Ok(line) => {
                let line = if number == 1 { line.strip_prefix("\u{feff}".as_bytes()).unwrap_or(line) } else { line };
                let read = heap::from_slice(line);
                cut = read.as_ref().err().filter(|error| error.is_eof()).map(|_| number);
                read.map_err(|error| {
                    let text = error.to_string();
                    if is_too_much(&error) {
                        return Refused::because(TOO_MUCH);
                    }
                    if error.is_eof() {
                        return Refused::because(CUT_OFF.0);
                    }
                    Refused::with_detail("not valid JSON", visible(text.split(" at line ").next().unwrap_or(&text)))
                })
            }
            Err(problem) => Err(Refused::because(problem.message())),
        };
        stop = each(number, item).err();
    });
    if let Some(stop) = stop {
        return Err(stop);
    }
    read.map_err(|error| Problem::in_file(label, format!("is damaged: {error}")))?;
    Ok(cut)
}

/// Returns whether a file goes on after its first line. Keeps only one block in memory, however long the line is.
pub(in crate::import) fn has_second_line(reader: impl Read, label: &str) -> Result<bool, Stop> {
    let mut reader = BufReader::with_capacity(BUFFER_BYTES, reader);
    let mut is_after_first = false;
    loop {
        let block = match reader.fill_buf() {
            Ok(block) => block,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(damaged(label, &error)),
        };
        let after = if is_after_first { Some(0) } else { memchr(b'\n', block) };
        is_after_first |= after.is_some();
        if after.is_some_and(|start| !block[start..].trim_ascii().is_empty()) {
            return Ok(true);
        }
        if block.is_empty() {
            return Ok(false);
        }
        let length = block.len();
        reader.consume(length);
    }
}

/// Reads a whole value. A very long one is parsed from the reader, so that only its kept parts are in memory.
pub(in crate::import) fn read_value<T: DeserializeOwned>(mut reader: impl Read, label: &str) -> Result<T, Stop> {
    let mut bytes = Vec::new();
    reader.by_ref().take(AT_ONCE_BYTES).read_to_end(&mut bytes).map_err(|error| damaged(label, &error))?;
    let is_whole = (bytes.len() as u64) < AT_ONCE_BYTES;
    let read = if is_whole { parse(&bytes) } else { from_reader(bytes.as_slice().chain(reader)) };
    read.map_err(|error| explain(label, 0, &error))
}

/// Parses a value. If the bytes are not valid JSON, tries again with `NaN` as `null`, which takes several times as long.
pub(in crate::import) fn parse<T: DeserializeOwned>(bytes: &[u8]) -> serde_json::Result<T> {
    heap::from_slice(bytes).or_else(|error| if is_too_much(&error) { Err(error) } else { from_reader(bytes) })
}

fn from_reader<T: DeserializeOwned>(reader: impl Read) -> serde_json::Result<T> {
    let heap = Heap::default();
    let mut reader = serde_json::Deserializer::from_reader(plain(Noted { reader, heap: &heap }));
    let value = T::deserialize(heap.bounds(&mut reader))?;
    reader.end()?;
    Ok(value)
}

/// A reader that notes its bytes on an account, which bounds the memory of the values made from them.
struct Noted<'h, R> {
    reader: R,
    heap: &'h Heap,
}

impl<R: Read> Read for Noted<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.reader.read(buffer)?;
        self.heap.add_read(read);
        Ok(read)
    }
}

/// Message and hint for a file that ends too early.
pub(in crate::import) const CUT_OFF: (&str, &str) =
    ("is cut off in the middle of the JSON", "nothing of it was imported; fetch the file again");

/// Returns the error for a file that could not be read to its end.
pub(in crate::import) fn damaged(label: &str, error: &io::Error) -> Stop {
    Problem::in_file(label, format!("is damaged: {}", visible(&error.to_string()))).with_hint(CUT_OFF.1).into()
}

/// Returns the error for a file that is not JSON or not of its apparent format. `lines` is the number of lines before the parsed part.
pub(in crate::import) fn explain(label: &str, lines: usize, error: &serde_json::Error) -> Stop {
    let text = error.to_string();
    let what = visible(text.split(" at line ").next().unwrap_or(&text));
    let (message, hint) = if error.is_eof() {
        (CUT_OFF.0.to_owned(), Some(CUT_OFF.1))
    } else if error.is_io() {
        (format!("is damaged: {what}"), Some(CUT_OFF.1))
    } else if is_too_much(error) {
        (TOO_MUCH.to_owned(), None)
    } else if error.is_syntax() {
        (format!("is not valid JSON: {what}"), None)
    } else {
        (format!("is not of the format it seems to be: {what}"), None)
    };
    let problem = Problem {
        line: Some(error.line()).filter(|line| *line > 0).map(|line| lines + line),
        hint: hint.map(str::to_owned),
        ..Problem::in_file(label, message)
    };
    problem.into()
}

/// Visitor methods that replace numbers, booleans and null by a fixed value.
macro_rules! others_are {
    ($value:expr) => {
        fn visit_bool<E>(self, _: bool) -> Result<Self::Value, E> {
            Ok($value)
        }

        fn visit_i64<E>(self, _: i64) -> Result<Self::Value, E> {
            Ok($value)
        }

        fn visit_u64<E>(self, _: u64) -> Result<Self::Value, E> {
            Ok($value)
        }

        fn visit_f64<E>(self, _: f64) -> Result<Self::Value, E> {
            Ok($value)
        }

        fn visit_unit<E>(self) -> Result<Self::Value, E> {
            Ok($value)
        }
    };
}

/// Visitor methods that replace numbers, booleans, null and text by a fixed value.
macro_rules! values_are {
    ($value:expr) => {
        others_are!($value);

        fn visit_str<E>(self, _: &str) -> Result<Self::Value, E> {
            Ok($value)
        }
    };
}

pub(in crate::import) use {others_are, values_are};

/// Replaces `NaN` and infinities, and buffers the result, because the parser requests single bytes.
fn plain<R: Read>(reader: R) -> BufReader<Plain<R>> {
    BufReader::with_capacity(BUFFER_BYTES, Plain::new(reader))
}

struct Walk<'a, Item> {
    wanted: &'a [&'a str],
    list: &'a str,
    each: &'a mut dyn FnMut(Item) -> Result<(), Stop>,
    stop: &'a mut Option<Stop>,
    heap: &'a Heap,
    item: PhantomData<Item>,
}

impl<Item> Walk<'_, Item> {
    /// Returns whether the list or a wanted key lies below the path.
    fn is_above(&self, path: &str) -> bool {
        std::iter::once(&self.list)
            .chain(self.wanted)
            .any(|wanted| wanted.strip_prefix(path).is_some_and(|rest| path.is_empty() || rest.starts_with('.')))
    }
}

/// The object at a path.
struct Below<'w, 'a, Item> {
    walk: &'w mut Walk<'a, Item>,
    path: String,
}

impl<'de, Item: DeserializeOwned> DeserializeSeed<'de> for Below<'_, '_, Item> {
    type Value = Map<String, Value>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de, Item: DeserializeOwned> Visitor<'de> for Below<'_, '_, Item> {
    type Value = Map<String, Value>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut kept = Map::new();
        while let Some(key) = map.next_key::<String>()? {
            let path = if self.path.is_empty() { key.clone() } else { format!("{}.{key}", self.path) };
            if path == self.walk.list {
                let elements = Elements { each: self.walk.each, stop: self.walk.stop, heap: self.walk.heap, item: PhantomData };
                map.next_value_seed(elements)?;
            } else if self.walk.wanted.contains(&path.as_str()) {
                kept.insert(key, map.next_value_seed(self.walk.heap.bounds(PhantomData))?);
            } else if self.walk.is_above(&path) {
                // If the value is not an object, it holds none of the wanted keys.
                kept.insert(key, Value::Object(map.next_value_seed(Below { walk: self.walk, path })?));
            } else {
                map.next_value::<IgnoredAny>()?;
            }
        }
        Ok(kept)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Self::Value, A::Error> {
        while list.next_element::<IgnoredAny>()?.is_some() {}
        if self.path.is_empty() { Err(A::Error::custom("a list where an object is expected")) } else { Ok(Map::new()) }
    }

    values_are!(Map::new());
}

/// A list whose elements are passed to `each`.
struct Elements<'a, Item> {
    each: &'a mut dyn FnMut(Item) -> Result<(), Stop>,
    stop: &'a mut Option<Stop>,
    heap: &'a Heap,
    item: PhantomData<Item>,
}

impl<'de, Item: DeserializeOwned> DeserializeSeed<'de> for Elements<'_, Item> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de, Item: DeserializeOwned> Visitor<'de> for Elements<'_, Item> {
    type Value = ();

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a list")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<(), A::Error> {
        while let Some(item) = self.heap.freeing(|| list.next_element_seed(self.heap.bounds(PhantomData::<Item>)))? {
            if let Err(stop) = (self.each)(item) {
                *self.stop = Some(stop);
                return Err(A::Error::custom("stopped"));
            }
        }
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok(())
    }

    values_are!(());
}

/// An object that is parsed. Any other value is ignored and becomes `None`.
#[derive(Clone, Debug)]
pub(in crate::import) struct Lenient<T>(pub Option<T>);

impl<T> Default for Lenient<T> {
    fn default() -> Self {
        Self(None)
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Lenient<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(LenientVisitor(PhantomData))
    }
}

struct LenientVisitor<T>(PhantomData<T>);

impl<'de, T: Deserialize<'de>> Visitor<'de> for LenientVisitor<T> {
    type Value = Lenient<T>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a JSON value")
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Self::Value, A::Error> {
        T::deserialize(MapAccessDeserializer::new(map)).map(|value| Lenient(Some(value)))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Self::Value, A::Error> {
        while list.next_element::<IgnoredAny>()?.is_some() {}
        Ok(Lenient(None))
    }

    values_are!(Lenient(None));
}

/// An object whose values are objects. Any other value counts as empty.
pub(in crate::import) type Table<T> = Lenient<BTreeMap<String, Lenient<T>>>;

impl<T> Table<T> {
    pub fn get(&self, key: &str) -> Option<&T> {
        self.0.as_ref()?.get(key)?.0.as_ref()
    }

    pub fn iter(&self) -> impl Iterator<Item = (&String, &T)> {
        self.0.iter().flatten().filter_map(|(key, part)| Some((key, part.0.as_ref()?)))
    }

    pub fn is_empty(&self) -> bool {
        self.iter().next().is_none()
    }
}

/// A list whose elements are objects. Any other value counts as empty.
#[derive(Clone, Debug)]
pub(in crate::import) struct List<T>(pub Vec<Lenient<T>>);

impl<T> List<T> {
    pub fn iter(&self) -> impl Iterator<Item = &T> {
        self.0.iter().filter_map(|part| part.0.as_ref())
    }
}

impl<T> Default for List<T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for List<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ListVisitor(PhantomData))
    }
}

struct ListVisitor<T>(PhantomData<T>);

impl<'de, T: Deserialize<'de>> Visitor<'de> for ListVisitor<T> {
    type Value = List<T>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a JSON value")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Self::Value, A::Error> {
        let mut parts = Vec::new();
        while let Some(part) = list.next_element()? {
            parts.push(part);
        }
        Ok(List(parts))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok(List::default())
    }

    values_are!(List::default());
}

/// Reader that replaces `NaN`, `Infinity` and `-Infinity` by `null` (not measured). Python writes them, but JSON does not allow them.
pub(in crate::import) struct Plain<R> {
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
        Self { input: BufReader::with_capacity(BUFFER_BYTES, reader), state: State::Outside, pending: b"" }
    }

    /// Skips the word that begins at the current byte.
    fn skip_word(&mut self) -> io::Result<()> {
        loop {
            let available = self.input.fill_buf()?;
            let letters = available.iter().take_while(|byte| byte.is_ascii_alphabetic()).count();
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
                    self.state = if available[end] == b'"' { State::Outside } else { State::Escaped };
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

/// Returns a text unchanged, and numbers and booleans as they are written.
pub(in crate::import) fn text(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        Value::Bool(word) => Some(word.to_string()),
        Value::Null | Value::Array(_) | Value::Object(_) => None,
    }
}

/// Returns the text, number or boolean, unless it is blank.
pub(in crate::import) fn filled(value: &Value) -> Option<String> {
    text(value).filter(|text| !text.trim().is_empty())
}

/// Reads a finite number, also from text.
pub(in crate::import) fn number(value: &Value) -> Option<f64> {
    let number = match value {
        Value::Number(number) => number.as_f64(),
        Value::String(text) => text.trim().parse().ok(),
        Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => None,
    };
    // A negative zero would print as `-0`.
    number.filter(|number| number.is_finite()).map(|number| number + 0.0)
}

/// Reads an amount, which is not negative.
pub(in crate::import) fn amount(value: &Value) -> Option<f64> {
    number(value).filter(|number| *number >= 0.0)
}

/// Reads a count, also one written `12.0`.
pub(in crate::import) fn count(value: &Value) -> Option<u64> {
    value.as_u64().or_else(|| whole(number(value)?))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

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
            let read: Value = read_value(Drip(text, step), "f").expect("JSON");
            assert_eq!(read, expected, "{step}");
        }
        assert!(read_value::<Value>(&b"[-"[..], "f").is_err());
    }

    #[test]
    fn blanks_are_no_second_line() {
        for (text, expected) in [("{}", false), ("{}\n \r\n", false), ("{}\n{}", true), ("{}\n\n\n [", true), ("", false)] {
            for step in [1, 3, 1000] {
                assert_eq!(has_second_line(Drip(text.as_bytes(), step), "f").ok(), Some(expected), "{text:?} {step}");
            }
        }
    }

    #[test]
    fn lists_of_any_length_pass_by() {
        #[derive(serde::Deserialize, Default)]
        #[serde(default)]
        struct Head {
            name: String,
            inner: Value,
        }
        let text = br#"{"big": [1, {"x": 2}], "inner": {"rows": [{"a": 1}, {"a": 2}], "kept": 3, "not": 4}, "name": "n"}"#;
        let mut seen = Vec::new();
        let head: Head = read_object(&text[..], "f", &["name", "inner.kept"], "inner.rows", &mut |row: Value| {
            seen.push(row["a"].clone());
            Ok(())
        })
        .expect("JSON");
        assert_eq!((head.name.as_str(), &head.inner, seen), ("n", &json!({"kept": 3}), vec![json!(1), json!(2)]));
        let stopped = read_object::<Head, Value>(&text[..], "f", &[], "inner.rows", &mut |_| Err(Problem::in_file("f", "no").into()));
        assert!(matches!(stopped, Err(Stop::Unreadable(problems)) if problems[0].message == "no"));
        for broken in [&text[..text.len() - 1], b"[1]", b"", b"{\"name\": \"n\"} x"] {
            assert!(read_object::<Head, Value>(broken, "f", &["name"], "inner.rows", &mut |_| Ok(())).is_err());
        }
    }

    #[test]
    fn parts_of_other_types_are_passed_over() {
        #[derive(serde::Deserialize)]
        struct Part {
            a: u8,
        }
        let read: Vec<Lenient<Part>> = serde_json::from_value(json!([{"a": 1}, null, [1], "x", 2, -2, 1.5, true])).expect("anything goes");
        assert_eq!(read.iter().map(|part| part.0.as_ref().map(|part| part.a)).collect::<Vec<_>>(), {
            let mut expected = vec![None; 8];
            expected[0] = Some(1);
            expected
        });
    }
}
