//! Reads JSON of any length, part by part: the elements of a list, alone or in an object, or one value per line.

use std::io::{self, BufRead, BufReader, ErrorKind, Read};

use memchr::memchr;
use serde::de::{DeserializeOwned, IgnoredAny};
use serde_json::{Map, Value};

use crate::domain::{Problem, escape_invisible};
use crate::results::LineReader;
use crate::results::json_memory_limit::{
    self, JsonMemoryAccount, TOO_MUCH_MEMORY, is_memory_refusal,
};

use super::super::cell::Refused;
use super::super::json_scanner::{JsonPart, JsonParts, JsonScanner};
use super::super::rows::{MAX_RECORD_BYTES, ReadStop};
use super::json_nan::replace_nan;

const BLOCK_BYTES: usize = 64 << 10;
/// Maximum number of bytes parsed from memory, which is several times as fast as parsing from a reader byte by byte.
const AT_ONCE_BYTES: u64 = 16 << 20;

/// Reads the elements of a list one by one. Any other value has no elements.
pub(crate) fn read_list<Item: DeserializeOwned>(
    reader: impl Read,
    label: &str,
    each: &mut dyn FnMut(Item) -> Result<(), ReadStop>,
) -> Result<(), ReadStop> {
    let mut json = JsonReader::new(reader, label);
    if let Some(mut list) = json.enter_list()? {
        while json.next_element(&mut list)? {
            each(json.parse_bounded()?)?;
        }
    }
    json.expect_end()
}

/// Reads the first element of a list.
pub(crate) fn read_first_element<Item: DeserializeOwned>(
    reader: impl Read,
    label: &str,
) -> Result<Option<Item>, ReadStop> {
    let mut json = JsonReader::new(reader, label);
    let Some(mut list) = json.enter_list()? else {
        return Ok(None);
    };
    if json.next_element(&mut list)? {
        json.parse_bounded().map(Some)
    } else {
        Ok(None)
    }
}

/// Reads an object: the keys in `wanted` into `Head`, and the elements of the list at `list` one by one into `each`.
///
/// `list` and `wanted` are paths such as `results.results`. Nothing else is kept, so memory is bounded by the longest element and the
/// wanted values. The list may be absent, before or after the wanted keys. Any other value in its place counts as absent.
pub(crate) fn read_object<Head: DeserializeOwned, Item: DeserializeOwned>(
    reader: impl Read,
    label: &str,
    wanted: &[&str],
    list: &str,
    each: &mut dyn FnMut(Item) -> Result<(), ReadStop>,
) -> Result<Head, ReadStop> {
    let heap = JsonMemoryAccount::default();
    let mut json = JsonReader::new(
        MeteredReader {
            reader,
            heap: &heap,
        },
        label,
    );
    let begin = json.peek_byte()?;
    let kept = if begin == Some(b'{') {
        ObjectReader {
            json: &mut json,
            wanted,
            list,
            each,
            heap: &heap,
        }
        .read_fields("")?
    } else {
        json.parse_value::<IgnoredAny>()?;
        Map::new()
    };
    json.expect_end()?;
    if begin == Some(b'[') {
        return Err(Problem::in_file(
            label,
            "is not of the format it seems to be: a list where an object is expected",
        )
        .into());
    }
    Head::deserialize(heap.limit_deserializer(Value::Object(kept)))
        .map_err(|error| explain_parse_error(label, 0, &error))
}

/// Reads a whole value. A very long one is parsed from the reader, so that only its kept parts are in memory.
pub(crate) fn read_value<T: DeserializeOwned>(
    reader: impl Read,
    label: &str,
) -> Result<T, ReadStop> {
    let read =
        parse_reader(reader, &mut Vec::new()).map_err(|error| damaged_file(label, &error))?;
    read.map_err(|error| explain_parse_error(label, 0, &error))
}

/// Reads one value per line, each with its line number. A line that cannot be parsed is passed to `each` as refused. If the last line is
/// cut off, the file is unreadable, because storing the lines before it would make a short run.
pub(crate) fn read_lines<Item: DeserializeOwned>(
    reader: impl Read,
    label: &str,
    each: &mut dyn FnMut(usize, Result<Item, Refused>) -> Result<(), ReadStop>,
) -> Result<(), ReadStop> {
    match read_lines_to_cut(reader, label, each)? {
        Some(line) => Err(Problem::at_line(label, line, CUT_OFF.0)
            .with_hint(CUT_OFF.1)
            .into()),
        None => Ok(()),
    }
}

/// Reads one value per line, like [`read_lines`], for callers that can tell that lines are missing. If the last line is cut off, it is
/// passed to `each` as refused, and its number is returned.
pub(crate) fn read_lines_to_cut<Item: DeserializeOwned>(
    reader: impl Read,
    label: &str,
    each: &mut dyn FnMut(usize, Result<Item, Refused>) -> Result<(), ReadStop>,
) -> Result<Option<usize>, ReadStop> {
    let mut lines = LineReader::new(replace_nan(reader));
    let mut cut = None;
    while let Some(line) = lines
        .next_line()
        .map_err(|error| damaged_file(label, &error))?
    {
        let number = line.number;
        let item = match line.text {
            Ok(text) => {
                let text = if number == 1 {
                    text.strip_prefix("\u{feff}".as_bytes()).unwrap_or(text)
                } else {
                    text
                };
                let read = json_memory_limit::from_slice(text);
                cut = read
                    .as_ref()
                    .err()
                    .filter(|error| error.is_eof())
                    .map(|_| number);
                read.map_err(|error| to_refusal(&error))
            }
            Err(problem) => Err(Refused::new(problem.message())),
        };
        each(number, item)?;
    }
    Ok(cut)
}

fn to_refusal(error: &serde_json::Error) -> Refused {
    if is_memory_refusal(error) {
        return Refused::new(TOO_MUCH_MEMORY);
    }
    if error.is_eof() {
        return Refused::new(CUT_OFF.0);
    }
    let text = error.to_string();
    Refused::with_detail(
        "not valid JSON",
        escape_invisible(text.split(" at line ").next().unwrap_or(&text)),
    )
}

/// Returns whether a file goes on after its first line. Keeps only one block in memory, however long the line is.
pub(crate) fn has_second_line(reader: impl Read, label: &str) -> Result<bool, ReadStop> {
    let mut reader = BufReader::with_capacity(BLOCK_BYTES, reader);
    let mut is_after_first = false;
    loop {
        let block = match reader.fill_buf() {
            Ok(block) => block,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(damaged_file(label, &error)),
        };
        let after = if is_after_first {
            Some(0)
        } else {
            memchr(b'\n', block)
        };
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

/// Reads parts of a JSON text.
struct JsonReader<'l, R> {
    scanner: JsonScanner<BufReader<R>>,
    label: &'l str,
    /// The last value, as it is written.
    text: Vec<u8>,
}

impl<'l, R: Read> JsonReader<'l, R> {
    fn new(reader: R, label: &'l str) -> Self {
        Self {
            scanner: JsonScanner::new(BufReader::with_capacity(BLOCK_BYTES, reader)),
            label,
            text: Vec::new(),
        }
    }

    /// Returns the next byte that is not white space, without consuming it.
    fn peek_byte(&mut self) -> Result<Option<u8>, ReadStop> {
        self.scanner
            .peek_byte()
            .map_err(|error| self.explain_read_error(&error))
    }

    /// Goes into a list. Any other value is passed over, and checked, because it may be damaged.
    fn enter_list(&mut self) -> Result<Option<JsonParts>, ReadStop> {
        if self.peek_byte()? == Some(b'[') {
            return Ok(Some(JsonParts::new(&mut self.scanner)));
        }
        self.parse_value::<IgnoredAny>().map(|_| None)
    }

    /// Goes to the next element of a list. Returns whether there is one.
    fn next_element(&mut self, list: &mut JsonParts) -> Result<bool, ReadStop> {
        let next = list.next_element(&mut self.scanner);
        self.check_part(next).map(|part| part.is_some())
    }

    /// Goes to the next value of an object, and returns its key.
    fn next_entry(&mut self, object: &mut JsonParts) -> Result<Option<String>, ReadStop> {
        let next = object.next_entry(&mut self.scanner);
        self.check_part(next)
    }

    fn check_part<K>(&self, next: io::Result<JsonPart<K>>) -> Result<Option<K>, ReadStop> {
        match next {
            Ok(JsonPart::Value(key)) => Ok(Some(key)),
            Ok(JsonPart::End) => Ok(None),
            Ok(JsonPart::Wrong(what)) => Err(self
                .problem_here(format!("is not valid JSON: {what}"))
                .into()),
            Err(error) => Err(self.explain_read_error(&error)),
        }
    }

    /// Parses the next value, whose length is limited.
    fn parse_bounded<T: DeserializeOwned>(&mut self) -> Result<T, ReadStop> {
        let line = self.scanner.line;
        self.text.clear();
        match self.scanner.copy_value(&mut self.text) {
            Ok(true) => parse_bytes(&self.text).map_err(|error| self.explain_error(line, &error)),
            Ok(false) => Err(self
                .problem_here(format!(
                    "has a record of more than {} MiB, which is not read",
                    MAX_RECORD_BYTES >> 20
                ))
                .into()),
            Err(error) => Err(self.explain_read_error(&error)),
        }
    }

    /// Parses the next value, of any length.
    fn parse_value<T: DeserializeOwned>(&mut self) -> Result<T, ReadStop> {
        let line = self.scanner.line;
        let read = parse_reader(self.scanner.value_reader(), &mut self.text)
            .map_err(|error| self.explain_read_error(&error))?;
        read.map_err(|error| self.explain_error(line, &error))
    }

    /// Parses the next value, whose memory counts on the account of the text.
    fn parse_counted<T: DeserializeOwned>(
        &mut self,
        heap: &JsonMemoryAccount,
    ) -> Result<T, ReadStop> {
        let line = self.scanner.line;
        parse_stream(self.scanner.value_reader(), heap)
            .map_err(|error| self.explain_error(line, &error))
    }

    /// Fails if more than one value was in the text.
    fn expect_end(&mut self) -> Result<(), ReadStop> {
        if self.peek_byte()?.is_none() {
            Ok(())
        } else {
            Err(self
                .problem_here("is not valid JSON: trailing characters")
                .into())
        }
    }

    /// Explains why a value that begins in the line was not parsed.
    fn explain_error(&mut self, line: u64, error: &serde_json::Error) -> ReadStop {
        // A value may end too early, such as `tru`, where the file goes on.
        if error.is_eof() && matches!(self.scanner.peek_byte(), Ok(Some(_))) {
            return self
                .problem_here("is not valid JSON: expected value")
                .into();
        }
        explain_parse_error(
            self.label,
            usize::try_from(line - 1).unwrap_or(usize::MAX),
            error,
        )
    }

    fn explain_read_error(&self, error: &io::Error) -> ReadStop {
        // A damaged compressed file has an error text of its own, which tells more.
        if error.kind() == ErrorKind::UnexpectedEof && error.get_ref().is_none() {
            return self.problem_here(CUT_OFF.0).with_hint(CUT_OFF.1).into();
        }
        damaged_file(self.label, error)
    }

    fn problem_here(&self, message: impl Into<String>) -> Problem {
        Problem::at_line(
            self.label,
            usize::try_from(self.scanner.line).unwrap_or(usize::MAX),
            message,
        )
    }
}

/// An object whose wanted keys are kept, and whose list is passed on.
struct ObjectReader<'a, 'l, R, Item> {
    json: &'a mut JsonReader<'l, R>,
    wanted: &'a [&'a str],
    list: &'a str,
    each: &'a mut dyn FnMut(Item) -> Result<(), ReadStop>,
    /// The account of the text and of all wanted values.
    heap: &'a JsonMemoryAccount,
}

impl<R: Read, Item: DeserializeOwned> ObjectReader<'_, '_, R, Item> {
    /// Reads the object at a path, which comes next.
    fn read_fields(&mut self, path: &str) -> Result<Map<String, Value>, ReadStop> {
        let mut kept = Map::new();
        let mut object = JsonParts::new(&mut self.json.scanner);
        while let Some(key) = self.json.next_entry(&mut object)? {
            let path = if path.is_empty() {
                key.clone()
            } else {
                format!("{path}.{key}")
            };
            let begin = self.json.peek_byte()?;
            if path == self.list && begin == Some(b'[') {
                let mut list = JsonParts::new(&mut self.json.scanner);
                while self.json.next_element(&mut list)? {
                    (self.each)(self.json.parse_value()?)?;
                }
            } else if self.wanted.contains(&path.as_str()) {
                kept.insert(key, self.json.parse_counted(self.heap)?);
            } else if self.is_above(&path) && begin == Some(b'{') {
                kept.insert(key, Value::Object(self.read_fields(&path)?));
            } else {
                self.json.parse_value::<IgnoredAny>()?;
                if self.is_above(&path) {
                    // No object, so none of the wanted keys is in it.
                    kept.insert(key, Value::Object(Map::new()));
                }
            }
        }
        Ok(kept)
    }

    /// Returns whether the list or a wanted key lies below the path.
    fn is_above(&self, path: &str) -> bool {
        let below = |wanted: &&str| {
            wanted
                .strip_prefix(path)
                .is_some_and(|rest| rest.starts_with('.'))
        };
        below(&self.list) || self.wanted.iter().any(below)
    }
}

/// Parses the one value of a reader, from `text` if it is short. The outer error is the reader's.
fn parse_reader<T: DeserializeOwned>(
    mut reader: impl Read,
    text: &mut Vec<u8>,
) -> io::Result<serde_json::Result<T>> {
    text.clear();
    reader.by_ref().take(AT_ONCE_BYTES).read_to_end(text)?;
    if (text.len() as u64) < AT_ONCE_BYTES {
        return Ok(parse_bytes(text));
    }
    let heap = JsonMemoryAccount::default();
    Ok(parse_stream(
        MeteredReader {
            reader: text.as_slice().chain(reader),
            heap: &heap,
        },
        &heap,
    ))
}

/// Parses a value. If the bytes are not valid JSON, tries again with `NaN` as `null`, which takes several times as long.
fn parse_bytes<T: DeserializeOwned>(bytes: &[u8]) -> serde_json::Result<T> {
    let bytes = bytes.strip_prefix("\u{feff}".as_bytes()).unwrap_or(bytes);
    let again = |error| {
        if is_memory_refusal(&error) {
            Err(error)
        } else {
            parse_stream(bytes, &JsonMemoryAccount::for_text(bytes.len()))
        }
    };
    json_memory_limit::from_slice(bytes).or_else(again)
}

fn parse_stream<T: DeserializeOwned>(
    reader: impl Read,
    heap: &JsonMemoryAccount,
) -> serde_json::Result<T> {
    let mut reader = serde_json::Deserializer::from_reader(replace_nan(reader));
    let value = T::deserialize(heap.limit_deserializer(&mut reader))?;
    reader.end()?;
    Ok(value)
}

/// A reader that notes its bytes on an account, which bounds the memory of the values made from them.
struct MeteredReader<'h, R> {
    reader: R,
    heap: &'h JsonMemoryAccount,
}

impl<R: Read> Read for MeteredReader<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.reader.read(buffer)?;
        self.heap.add_read_bytes(read);
        Ok(read)
    }
}

/// Message and hint for a file that ends too early.
pub(crate) const CUT_OFF: (&str, &str) = (
    "is cut off in the middle of the JSON",
    "nothing of it was imported; fetch the file again",
);

/// Returns the error for a file that could not be read to its end.
fn damaged_file(label: &str, error: &io::Error) -> ReadStop {
    Problem::in_file(
        label,
        format!("is damaged: {}", escape_invisible(&error.to_string())),
    )
    .with_hint(CUT_OFF.1)
    .into()
}

/// Returns the error for a file that is not JSON or not of its apparent format. `lines` is the number of lines before the parsed part.
fn explain_parse_error(label: &str, lines: usize, error: &serde_json::Error) -> ReadStop {
    let text = error.to_string();
    let what = escape_invisible(text.split(" at line ").next().unwrap_or(&text));
    let (message, hint) = if error.is_eof() {
        (CUT_OFF.0.to_owned(), Some(CUT_OFF.1))
    } else if error.is_io() {
        (format!("is damaged: {what}"), Some(CUT_OFF.1))
    } else if is_memory_refusal(error) {
        (TOO_MUCH_MEMORY.to_owned(), None)
    } else if error.is_syntax() {
        (format!("is not valid JSON: {what}"), None)
    } else {
        (format!("is not of the format it seems to be: {what}"), None)
    };
    let problem = Problem {
        line: Some(error.line())
            .filter(|line| *line > 0)
            .map(|line| lines + line),
        hint: hint.map(str::to_owned),
        ..Problem::in_file(label, message)
    };
    problem.into()
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn all(text: &[u8]) -> Result<Vec<Value>, String> {
        let mut found = Vec::new();
        let read = read_list(text, "f", &mut |value| {
            found.push(value);
            Ok(())
        });
        match read {
            Ok(()) => Ok(found),
            Err(ReadStop::Unreadable(problems)) => Err(problems[0].to_string()),
            Err(ReadStop::Store(error)) => panic!("{error}"),
        }
    }

    #[test]
    fn elements_come_one_by_one() {
        let text = br#" [ 1 ,"a,]\"}\\", {"b": [1, {"c": "]"}]},[],
            null, NaN, {"d": [-Infinity]} ] "#;
        let expected = [
            json!(1),
            json!("a,]\"}\\"),
            json!({"b": [1, {"c": "]"}]}),
            json!([]),
            json!(null),
            json!(null),
            json!({"d": [null]}),
        ];
        assert_eq!(all(text).expect("a list"), expected);
        for other in [&b"[]"[..], b" [ ] ", b"{\"a\": [1]}", b"7"] {
            assert_eq!(
                all(other),
                Ok(Vec::new()),
                "{}",
                String::from_utf8_lossy(other)
            );
        }
    }

    #[test]
    fn elements_longer_than_a_block_are_whole() {
        let long = "x\\\"]".repeat(BLOCK_BYTES);
        let text = format!("[{{\"a\": \"{long}\"}}, \"{long}\", 2]");
        let found = all(text.as_bytes()).expect("a list");
        assert_eq!(
            (found.len(), found[0]["a"].as_str().map(str::len), &found[2]),
            (3, Some(3 * BLOCK_BYTES), &json!(2))
        );
        assert_eq!(found[1], found[0]["a"]);
    }

    #[test]
    fn what_is_wrong_is_named_with_its_line() {
        let cut = "f:2: is cut off in the middle of the JSON";
        for (text, expected) in [
            (&b"[1,\n{\"a\": \"b"[..], cut),
            (b"[1,\n2", cut),
            (b"[1,\n", cut),
            (b"[1,\n\"a\\", cut),
            (
                b"[\n1,\n{\"a\": x}]",
                "f:3: is not valid JSON: expected value",
            ),
            (b"[1,\n]", "f:2: is not valid JSON"),
            (b"[1 2]", "f:1: is not valid JSON"),
            (b"[1}]", "f:1: is not valid JSON: expected `,` or `]`"),
            (b"[[1}]", "f:1: is not valid JSON"),
            (b"[1] x", "f:1: is not valid JSON: trailing characters"),
            (b"x", "f:1: is not valid JSON"),
            (b"", "is cut off in the middle of the JSON"),
        ] {
            let problem = all(text).expect_err(expected);
            assert!(
                problem.contains(expected),
                "{}: {problem}",
                String::from_utf8_lossy(text)
            );
        }
    }

    #[test]
    fn blanks_are_no_second_line() {
        for (text, expected) in [
            ("{}", false),
            ("{}\n \r\n", false),
            ("{}\n{}", true),
            ("{}\n\n\n [", true),
            ("", false),
        ] {
            for step in [1, 3, 1000] {
                assert_eq!(
                    has_second_line(BufReader::with_capacity(step, text.as_bytes()), "f").ok(),
                    Some(expected),
                    "{text:?} {step}"
                );
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
        let head: Head = read_object(
            &text[..],
            "f",
            &["name", "inner.kept"],
            "inner.rows",
            &mut |row: Value| {
                seen.push(row["a"].clone());
                Ok(())
            },
        )
        .expect("JSON");
        assert_eq!(
            (head.name.as_str(), &head.inner, seen),
            ("n", &json!({"kept": 3}), vec![json!(1), json!(2)])
        );
        let stopped = read_object::<Head, Value>(&text[..], "f", &[], "inner.rows", &mut |_| {
            Err(Problem::in_file("f", "no").into())
        });
        assert!(
            matches!(stopped, Err(ReadStop::Unreadable(problems)) if problems[0].message == "no")
        );
        for broken in [&text[..text.len() - 1], b"[1]", b"", b"{\"name\": \"n\"} x"] {
            assert!(
                read_object::<Head, Value>(broken, "f", &["name"], "inner.rows", &mut |_| Ok(()))
                    .is_err()
            );
        }
    }
}
