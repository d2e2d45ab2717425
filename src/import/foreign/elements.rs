//! Reads the elements of a JSON list, one at a time, each as the type that an importer wants.

use std::io::{BufReader, ErrorKind, Read};

use serde::de::{DeserializeOwned, IgnoredAny};

use crate::domain::Problem;

use super::super::json_scanner::{List, Next, Scanner};
use super::super::rows::{MOST_RECORD_BYTES, Stop};
use super::json::{CUT_OFF, damaged, explain, parse};

const BLOCK_BYTES: usize = 64 << 10;

/// A list being read. Any other value has no elements.
pub(super) struct ElementReader<'l, R> {
    scanner: Scanner<BufReader<R>>,
    label: &'l str,
    state: State,
    /// The last element, as it is written.
    element: Vec<u8>,
}

enum State {
    Before,
    Inside(List),
    After,
}

impl<'l, R: Read> ElementReader<'l, R> {
    pub fn of(reader: R, label: &'l str) -> Self {
        let scanner = Scanner::of(BufReader::with_capacity(BLOCK_BYTES, reader));
        Self { scanner, label, state: State::Before, element: Vec::new() }
    }

    /// Returns the next element, or `None` after the last.
    pub fn next<T: DeserializeOwned>(&mut self) -> Result<Option<T>, Stop> {
        if matches!(self.state, State::Before) {
            self.begin()?;
        }
        let State::Inside(list) = &mut self.state else { return Ok(None) };
        match list.next(&mut self.scanner) {
            Ok(Next::Element) => {}
            Ok(Next::End) => {
                self.state = State::After;
                return if self.byte()?.is_none() { Ok(None) } else { Err(self.problem("is not valid JSON: trailing characters")) };
            }
            Ok(Next::NoValue) => return Err(self.problem("is not valid JSON: expected value")),
            Ok(Next::NoComma) => return Err(self.problem("is not valid JSON: expected `,` or `]`")),
            Err(error) => return Err(self.unread(&error)),
        }
        let lines = usize::try_from(self.scanner.line - 1).unwrap_or(usize::MAX);
        self.read_element()?;
        let given = parse(&self.element).map_err(|error| {
            // The list goes on, so the file does not end here.
            if error.is_eof() { self.problem("is not valid JSON: expected value") } else { explain(self.label, lines, &error) }
        })?;
        Ok(Some(given))
    }

    /// Goes to the first element. A value that is not a list is still parsed, because it may be damaged.
    fn begin(&mut self) -> Result<(), Stop> {
        if self.byte()? == Some(b'[') {
            self.state = State::Inside(List::begin(&mut self.scanner));
            return Ok(());
        }
        self.state = State::After;
        if self.byte()?.is_none() {
            return Err(self.cut_off());
        }
        self.read_element()?;
        parse::<IgnoredAny>(&self.element).map_err(|error| explain(self.label, 0, &error))?;
        if self.byte()?.is_none() { Ok(()) } else { Err(self.problem("is not valid JSON: trailing characters")) }
    }

    fn read_element(&mut self) -> Result<(), Stop> {
        self.element.clear();
        match self.scanner.value(Some(&mut self.element)) {
            Ok(true) => Ok(()),
            Ok(false) => Err(self.problem(&format!("has a record of more than {} MiB, which is not read", MOST_RECORD_BYTES >> 20))),
            Err(error) => Err(self.unread(&error)),
        }
    }

    /// Returns the next byte that is not white space, without consuming it.
    fn byte(&mut self) -> Result<Option<u8>, Stop> {
        self.scanner.next().map_err(|error| self.unread(&error))
    }

    fn unread(&self, error: &std::io::Error) -> Stop {
        // A damaged compressed file has an error text of its own, which tells more.
        if error.kind() == ErrorKind::UnexpectedEof && error.get_ref().is_none() { self.cut_off() } else { damaged(self.label, error) }
    }

    fn problem(&self, message: &str) -> Stop {
        Problem::at_line(self.label, usize::try_from(self.scanner.line).unwrap_or(usize::MAX), message).into()
    }

    fn cut_off(&self) -> Stop {
        let (message, hint) = CUT_OFF;
        Problem::at_line(self.label, usize::try_from(self.scanner.line).unwrap_or(usize::MAX), message).with_hint(hint).into()
    }
}

/// Reads the elements of a list one by one.
pub(in crate::import) fn read_list<Item: DeserializeOwned>(
    reader: impl Read,
    label: &str,
    each: &mut dyn FnMut(Item) -> Result<(), Stop>,
) -> Result<(), Stop> {
    let mut list = ElementReader::of(reader, label);
    while let Some(item) = list.next()? {
        each(item)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn all(text: &[u8]) -> Result<Vec<Value>, String> {
        let mut list = ElementReader::of(text, "f");
        let mut found = Vec::new();
        loop {
            match list.next() {
                Ok(Some(value)) => found.push(value),
                Ok(None) => return Ok(found),
                Err(Stop::Unreadable(problems)) => return Err(problems[0].to_string()),
                Err(Stop::Store(error)) => panic!("{error}"),
            }
        }
    }

    #[test]
    fn elements_come_one_by_one() {
        let text = br#" [ 1 ,"a,]\"}\\", {"b": [1, {"c": "]"}]},[],
            null, NaN, {"d": [-Infinity]} ] "#;
        let expected =
            [json!(1), json!("a,]\"}\\"), json!({"b": [1, {"c": "]"}]}), json!([]), json!(null), json!(null), json!({"d": [null]})];
        assert_eq!(all(text).expect("a list"), expected);
        for other in [&b"[]"[..], b" [ ] ", b"{\"a\": [1]}", b"7"] {
            assert_eq!(all(other), Ok(Vec::new()), "{}", String::from_utf8_lossy(other));
        }
    }

    #[test]
    fn elements_longer_than_a_block_are_whole() {
        let long = "x\\\"]".repeat(BLOCK_BYTES);
        let text = format!("[{{\"a\": \"{long}\"}}, \"{long}\", 2]");
        let found = all(text.as_bytes()).expect("a list");
        assert_eq!((found.len(), found[0]["a"].as_str().map(str::len), &found[2]), (3, Some(3 * BLOCK_BYTES), &json!(2)));
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
            (b"[\n1,\n{\"a\": x}]", "f:3: is not valid JSON: expected value"),
            (b"[1,\n]", "f:2: is not valid JSON"),
            (b"[1 2]", "f:1: is not valid JSON"),
            (b"[1}]", "f:1: is not valid JSON: expected `,` or `]`"),
            (b"[[1}]", "f:1: is not valid JSON"),
            (b"[1] x", "f:1: is not valid JSON: trailing characters"),
            (b"x", "f:1: is not valid JSON"),
            (b"", "is cut off in the middle of the JSON"),
        ] {
            let problem = all(text).expect_err(expected);
            assert!(problem.contains(expected), "{}: {problem}", String::from_utf8_lossy(text));
        }
    }
}
