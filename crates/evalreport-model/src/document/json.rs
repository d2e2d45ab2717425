//! Parses JSON text into a [`Node`] tree.
//!
//! `serde_json` checks the grammar and decodes strings, because a YAML parser accepts more than JSON and reads some escapes differently.
//! The code here walks text that is known to be valid, to add lines and columns.

use std::collections::BTreeMap;

use serde::de::IgnoredAny;

use super::mistake::{MAX_DEPTH, duplicate_key, too_deep};
use super::{MapKey, Node, Scalar, Value};
use crate::domain::{Problem, escape_invisible};

pub(super) fn parse(file: &str, text: &str) -> Result<Node, Vec<Problem>> {
    if let Err(error) = serde_json::from_str::<IgnoredAny>(text) {
        let message = error.to_string();
        let message = message.split(" at line ").next().unwrap_or_default();
        // `serde_json` counts columns in bytes.
        let line = text
            .lines()
            .nth(error.line().saturating_sub(1))
            .unwrap_or_default();
        let column = line
            .char_indices()
            .filter(|(index, _)| *index < error.column())
            .count()
            .max(1);
        return Err(vec![Problem::at_position(
            file,
            error.line(),
            column,
            format!("not valid JSON: {}", escape_invisible(message)),
        )]);
    }
    let mut walker = JsonWalker {
        file,
        text,
        position: 0,
        line: 1,
        column: 1,
        problems: Vec::new(),
    };
    match walker.parse_node(0) {
        Ok(node) if walker.problems.is_empty() => Ok(node),
        Ok(_) => Err(walker.problems),
        Err(JsonStop(problem)) => {
            walker.problems.push(problem);
            Err(walker.problems)
        }
    }
}

/// A cursor over valid JSON. Line and column of `position` are updated on the way, once per character.
struct JsonWalker<'t> {
    file: &'t str,
    text: &'t str,
    position: usize,
    line: usize,
    column: usize,
    problems: Vec<Problem>,
}

struct JsonStop(Problem);

impl<'t> JsonWalker<'t> {
    fn parse_node(&mut self, depth: usize) -> Result<Node, JsonStop> {
        self.skip_space();
        let (line, column) = (self.line, self.column);
        let value = match self.peek() {
            b'{' | b'[' if depth >= MAX_DEPTH => {
                return Err(JsonStop(too_deep(self.file, line, column)));
            }
            b'{' => Value::Map(self.parse_map(depth)?),
            b'[' => Value::List(self.parse_list(depth)?),
            b'"' => Value::Scalar(Scalar::from_quoted(self.parse_string()?)),
            _ => Value::Scalar(Scalar::from_plain(self.read_word().to_owned())),
        };
        Ok(Node {
            line,
            column,
            value,
        })
    }

    fn parse_list(&mut self, depth: usize) -> Result<Vec<Node>, JsonStop> {
        let mut items = Vec::new();
        self.advance(1);
        while !self.skip_closing(b']') {
            items.push(self.parse_node(depth + 1)?);
        }
        Ok(items)
    }

    fn parse_map(&mut self, depth: usize) -> Result<Vec<(MapKey, Node)>, JsonStop> {
        let mut entries: Vec<(MapKey, Node)> = Vec::new();
        let mut lines = BTreeMap::new();
        self.advance(1);
        while !self.skip_closing(b'}') {
            let (line, column) = (self.line, self.column);
            let key = MapKey {
                text: self.parse_string()?,
                line,
                column,
            };
            self.skip_space();
            self.advance(1);
            let node = self.parse_node(depth + 1)?;
            if let Some(first) = lines.get(&key.text) {
                self.problems.push(duplicate_key(self.file, &key, *first));
            } else {
                lines.insert(key.text.clone(), line);
                entries.push((key, node));
            }
        }
        Ok(entries)
    }

    /// Skips space and a comma before the next item. Returns true after skipping the closing bracket.
    fn skip_closing(&mut self, bracket: u8) -> bool {
        self.skip_space();
        if self.peek() == b',' {
            self.advance(1);
            self.skip_space();
        }
        let closes = self.peek() == bracket || self.position >= self.text.len();
        if closes {
            self.advance(1);
        }
        closes
    }

    fn parse_string(&mut self) -> Result<String, JsonStop> {
        let bytes = self.rest().as_bytes();
        let mut length = 1;
        while length < bytes.len() && bytes[length] != b'"' {
            length += if bytes[length] == b'\\' { 2 } else { 1 };
        }
        let length = (length + 1).min(bytes.len());
        let decoded = serde_json::from_str(&self.rest()[..length]);
        let string = decoded.map_err(|_| {
            JsonStop(Problem::at_position(
                self.file,
                self.line,
                self.column,
                "text has half of a surrogate pair, which is no character",
            ))
        })?;
        self.advance(length);
        Ok(string)
    }

    /// Reads a number, `true`, `false` or `null`.
    fn read_word(&mut self) -> &'t str {
        let rest = self.rest();
        let length = rest
            .bytes()
            .take_while(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'+' | b'.'))
            .count();
        self.advance(length);
        &rest[..length]
    }

    fn skip_space(&mut self) {
        let length = self
            .rest()
            .bytes()
            .take_while(u8::is_ascii_whitespace)
            .count();
        self.advance(length);
    }

    /// Returns the next byte, or 0 at the end.
    fn peek(&self) -> u8 {
        self.text
            .as_bytes()
            .get(self.position)
            .copied()
            .unwrap_or(0)
    }

    fn rest(&self) -> &'t str {
        &self.text[self.position..]
    }

    fn advance(&mut self, bytes: usize) {
        let end = (self.position + bytes).min(self.text.len());
        for character in self.text[self.position..end].chars() {
            if character == '\n' {
                self.line += 1;
                self.column = 1;
            } else {
                self.column += 1;
            }
        }
        self.position = end;
    }
}

#[cfg(test)]
mod tests {
    use super::super::{ScalarKind, parse};
    use super::*;

    #[track_caller]
    fn refused(text: &str, expected: &[&str]) {
        let problems: Vec<String> = parse("a.json", text)
            .expect_err("the text is wrong")
            .iter()
            .map(ToString::to_string)
            .collect();
        assert_eq!(problems, expected);
    }

    #[test]
    fn every_node_knows_its_place() {
        let root = parse(
            "a.json",
            "{\n  \"é\": [1, \"\\uD83D\\uDE00\\\"\", {}],\r\n\t\"b\" : null , \"c\":-1.5e3}\n",
        )
        .expect("valid");
        let Some(Value::List(items)) = root.get("é").map(|node| &node.value) else {
            panic!("a list")
        };
        assert_eq!(
            items
                .iter()
                .map(|node| (node.line, node.column))
                .collect::<Vec<_>>(),
            [(2, 9), (2, 12), (2, 30)]
        );
        assert_eq!(
            items[1].value,
            Value::Scalar(Scalar::from_quoted("😀\"".to_owned()))
        );
        assert!(root.get("b").is_some_and(Node::is_null));
        let c = root.get("c").expect("present");
        assert_eq!((c.line, c.column), (3, 19));
        assert_eq!(
            c.value,
            Value::Scalar(Scalar {
                text: "-1.5e3".to_owned(),
                kind: ScalarKind::Float(-1500.0),
                is_plain: true,
            })
        );
    }

    #[test]
    fn the_grammar_is_json_and_no_more() {
        refused(
            "{\"a\": 1,}",
            &["a.json:1:9: not valid JSON: key must be a string"],
        );
        refused("a: 1", &["a.json:1:1: not valid JSON: expected value"]);
        refused(
            "{\"a\": 1} {}",
            &["a.json:1:10: not valid JSON: trailing characters"],
        );
        refused(
            "{\"é\": 01}",
            &["a.json:1:8: not valid JSON: invalid number"],
        );
        refused(
            "{\"a\": [1",
            &["a.json:1:8: not valid JSON: EOF while parsing a list"],
        );
        refused(
            "{\"a\": NaN}",
            &["a.json:1:7: not valid JSON: expected value"],
        );
        refused(
            "{\"a\": \"\\uD83D\"}",
            &["a.json:1:7: text has half of a surrogate pair, which is no character"],
        );
        refused(" ", &["a.json: the file is empty"]);
    }

    #[test]
    fn duplicate_keys_are_all_named() {
        refused(
            "{\"a\": 1, \"\\u0061\": 2,\n \"b\": {\"c\": 1, \"c\": 1}}",
            &[
                "a.json:1:10: duplicate key `a`",
                "a.json:2:16: duplicate key `c`",
            ],
        );
    }

    #[test]
    fn depth_is_bounded() {
        assert!(
            parse(
                "a.json",
                &format!("{}{}", "[".repeat(MAX_DEPTH), "]".repeat(MAX_DEPTH))
            )
            .is_ok()
        );
        let deep = 200_000;
        refused(
            &format!("{}{}", "[".repeat(deep), "]".repeat(deep)),
            &["a.json:1:101: nested deeper than 100 levels"],
        );
    }

    #[test]
    fn an_escaped_control_character_is_text() {
        let root = parse("a.json", "[\"\\u0000\\u001b\"]").expect("valid");
        assert_eq!(
            root.value,
            Value::List(vec![Node {
                line: 1,
                column: 2,
                value: Value::Scalar(Scalar::from_quoted("\0\x1b".to_owned()))
            }])
        );
    }
}
