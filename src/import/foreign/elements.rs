//! The elements of a JSON list, one at a time, each as the bytes it is written in.
//!
//! A parser that is given a value whole is several times as fast as one that asks for one byte after another. So the list is taken apart
//! here, by its brackets and quotes alone, and no more of it is in memory than the longest element and a block.

use std::io::Read;

use memchr::{memchr_iter, memchr2};
use serde::de::DeserializeOwned;

use crate::domain::Problem;

use super::super::rows::{MOST_RECORD_BYTES, Stop};
use super::json::{CUT_OFF, damaged, explain, parse};

const BLOCK_BYTES: usize = 64 << 10;

/// A list being read. What is no list has no elements.
pub(super) struct ElementReader<'l, R> {
    reader: R,
    label: &'l str,
    /// What was read and not yet passed on, from `start` on.
    buffer: Vec<u8>,
    start: usize,
    is_at_end: bool,
    state: State,
    /// Line breaks before `start`.
    lines: usize,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    Before,
    /// Inside of the list; whether an element, and with it a comma, came before.
    Inside {
        is_first: bool,
    },
    After,
}

/// How far a scan has come in an element.
#[derive(Default)]
struct Scan {
    place: usize,
    depth: usize,
    in_text: bool,
}

impl<'l, R: Read> ElementReader<'l, R> {
    pub fn of(reader: R, label: &'l str) -> Self {
        Self { reader, label, buffer: Vec::new(), start: 0, is_at_end: false, state: State::Before, lines: 0 }
    }

    /// Returns the next element. None after the last.
    pub fn next<T: DeserializeOwned>(&mut self) -> Result<Option<T>, Stop> {
        if self.state == State::Before {
            self.begin()?;
        }
        let State::Inside { is_first } = self.state else { return Ok(None) };
        match self.first_byte()? {
            Some(b']') => {
                self.pass(1);
                self.state = State::After;
                return if self.first_byte()?.is_none() { Ok(None) } else { Err(self.problem("is not valid JSON: trailing characters")) };
            }
            Some(b',') if !is_first => self.pass(1),
            Some(_) if is_first => {}
            Some(_) => return Err(self.problem("is not valid JSON: expected `,` or `]`")),
            None => return Err(self.cut_off()),
        }
        self.state = State::Inside { is_first: false };
        self.first_byte()?.ok_or_else(|| self.cut_off())?;
        let end = self.end_of_element()?;
        let given = parse(&self.buffer[self.start..end]).map_err(|error| {
            // The list goes on, so it is not the file that ends here.
            if error.is_eof() { self.problem("is not valid JSON: expected value") } else { explain(self.label, self.lines, &error) }
        })?;
        self.pass(end - self.start);
        Ok(Some(given))
    }

    /// Goes to the first element. What is no list is read as a value all the same, which may be damaged.
    fn begin(&mut self) -> Result<(), Stop> {
        if self.first_byte()? == Some(b'[') {
            self.pass(1);
            self.state = State::Inside { is_first: true };
            return Ok(());
        }
        while self.fill()? {}
        self.state = State::After;
        parse::<serde::de::IgnoredAny>(&self.buffer[self.start..]).map_err(|error| explain(self.label, self.lines, &error))?;
        Ok(())
    }

    /// Finds where the element at `start` ends, reading on as needed.
    fn end_of_element(&mut self) -> Result<usize, Stop> {
        let mut scan = Scan { place: self.start, ..Scan::default() };
        loop {
            if let Some(end) = scan.end(&self.buffer) {
                return Ok(end);
            }
            // What was read before moves to the front.
            let before = self.start;
            if !self.fill()? {
                return Err(self.cut_off());
            }
            scan.place -= before - self.start;
        }
    }

    /// Returns the first byte that is no space, and makes it the `start`.
    fn first_byte(&mut self) -> Result<Option<u8>, Stop> {
        loop {
            let rest = &self.buffer[self.start..];
            let spaces = rest.iter().take_while(|byte| matches!(byte, b' ' | b'\t' | b'\n' | b'\r')).count();
            let found = rest.get(spaces).copied();
            self.pass(spaces);
            if found.is_some() || !self.fill()? {
                return Ok(found);
            }
        }
    }

    fn pass(&mut self, count: usize) {
        self.lines += memchr_iter(b'\n', &self.buffer[self.start..self.start + count]).count();
        self.start += count;
    }

    /// Reads a block more. Says whether there was any.
    fn fill(&mut self) -> Result<bool, Stop> {
        if self.is_at_end {
            return Ok(false);
        }
        self.buffer.drain(..self.start);
        self.start = 0;
        if self.buffer.len() as u64 > MOST_RECORD_BYTES {
            return Err(self.problem(&format!("has a record of more than {} MiB, which is not read", MOST_RECORD_BYTES >> 20)));
        }
        let read = Read::by_ref(&mut self.reader).take(BLOCK_BYTES as u64).read_to_end(&mut self.buffer);
        let read = read.map_err(|error| damaged(self.label, &error))?;
        self.is_at_end = read == 0;
        Ok(read > 0)
    }

    fn problem(&self, message: &str) -> Stop {
        Problem::at_line(self.label, self.lines + 1, message).into()
    }

    fn cut_off(&self) -> Stop {
        let (message, hint) = CUT_OFF;
        Problem::at_line(self.label, self.lines + 1, message).with_hint(hint).into()
    }
}

impl Scan {
    /// Goes on to the end of the element, which is before the comma or bracket that follows it. None where the bytes end first.
    fn end(&mut self, bytes: &[u8]) -> Option<usize> {
        loop {
            if self.in_text {
                let Some(found) = memchr2(b'"', b'\\', bytes.get(self.place..)?).map(|found| self.place + found) else {
                    self.place = bytes.len();
                    return None;
                };
                if bytes[found] == b'\\' {
                    // The byte after it is not looked at, and may not be there yet.
                    if found + 1 >= bytes.len() {
                        self.place = found;
                        return None;
                    }
                    self.place = found + 2;
                } else {
                    self.place = found + 1;
                    self.in_text = false;
                }
                continue;
            }
            match bytes.get(self.place)? {
                b'"' => self.in_text = true,
                b'{' | b'[' => self.depth += 1,
                b'}' | b']' | b',' if self.depth == 0 => return Some(self.place),
                b'}' | b']' => self.depth -= 1,
                _ => {}
            }
            self.place += 1;
        }
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
    fn a_scan_goes_on_where_the_bytes_ended() {
        let text = br#"{"a\\\"": ["\\", "}]"], "b": -1.5},"#;
        for cut in 0..text.len() {
            let mut scan = Scan::default();
            let end = scan.end(&text[..cut]).or_else(|| scan.end(text));
            assert_eq!(end, Some(text.len() - 1), "{cut}");
        }
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
