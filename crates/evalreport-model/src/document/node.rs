//! A document as a tree with lines and columns.

use super::{Scalar, ScalarKind};

/// A value and its start. Lines and characters count from 1.
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
    /// In file order. Keys are unique, except in results of [`parse_table`](super::parse_table).
    Map(Vec<(MapKey, Node)>),
}

/// A map's key as written, without its quotes. A plain `007` or `true` is a key with that text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MapKey {
    pub text: String,
    pub line: usize,
    pub column: usize,
}

impl Node {
    pub fn is_null(&self) -> bool {
        matches!(
            &self.value,
            Value::Scalar(Scalar {
                kind: ScalarKind::Null,
                ..
            })
        )
    }

    /// Returns the value of `key`, or `None` if this is no map or lacks the key.
    pub fn get(&self, key: &str) -> Option<&Self> {
        match &self.value {
            Value::Map(entries) => entries
                .iter()
                .find(|(found, _)| found.text == key)
                .map(|(_, node)| node),
            Value::List(_) | Value::Scalar(_) => None,
        }
    }

    /// Returns the node's kind for messages such as "must be text, not a list".
    pub fn kind_noun(&self) -> &'static str {
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
