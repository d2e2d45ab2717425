//! A document as a tree that knows its lines and columns.

use super::{Scalar, ScalarKind};

/// A value and where it starts, counted from 1 in lines and characters.
#[derive(Clone, Debug, PartialEq)]
pub struct Node {
    pub line: usize,
    pub column: usize,
    pub value: Value,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    Scalar(Scalar),
    List(Vec<Node>),
    /// In the order of the file; no key appears twice, except in what [`parse_table`](super::parse_table) gives.
    Map(Vec<(Key, Node)>),
}

/// A map's key as written, without its quotes. A plain `007` or `true` is the key of that text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Key {
    pub text: String,
    pub line: usize,
    pub column: usize,
}

impl Node {
    pub fn is_null(&self) -> bool {
        matches!(&self.value, Value::Scalar(Scalar { kind: ScalarKind::Null, .. }))
    }

    /// Returns the value of `key` if this is a map that has it.
    pub fn get(&self, key: &str) -> Option<&Self> {
        match &self.value {
            Value::Map(entries) => entries.iter().find(|(found, _)| found.text == key).map(|(_, node)| node),
            Value::List(_) | Value::Scalar(_) => None,
        }
    }

    /// Names what this is, for "must be text, not a list".
    pub fn noun(&self) -> &'static str {
        match &self.value {
            Value::List(_) => "a list",
            Value::Map(_) => "a map",
            Value::Scalar(scalar) => match scalar.kind {
                ScalarKind::Text => "text",
                ScalarKind::Null => "null",
                ScalarKind::Bool(_) => "a boolean",
                ScalarKind::Integer(_) | ScalarKind::Float(_) => "a number",
            },
        }
    }
}
