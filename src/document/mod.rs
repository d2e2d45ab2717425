//! YAML and JSON text into a tree that knows lines and columns.
//!
//! Every file that a person writes goes through here, so that each mistake in it is named with its file, line, column and key, all of
//! them at once. [`parse`] gives the tree, [`Fields`] the typed access that collects problems, [`render`] shows one with its line.
//!
//! What is deliberately narrower than YAML allows: one document per file, keys are scalars and appear once, no custom tags, and no merge
//! keys (YAML 1.2 has none). Input is hostile until proven otherwise: depth and the expansion of aliases are bounded.

use std::path::Path;

use crate::domain::Problem;

pub mod duration;
mod excerpt;
mod fields;
mod json;
mod quote;
mod scalar;
mod setting;
mod yaml;

pub use excerpt::render;
pub use fields::Fields;
pub use quote::{nearest_hint, quote};
pub use scalar::{Scalar, ScalarKind};
pub use setting::Setting;

/// How deep lists and maps may nest.
const DEEPEST: usize = 100;

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
    /// In the order of the file; no key appears twice, except in what [`parse_table`] gives.
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

/// Reads the one document in `text`: JSON and nothing else where `file` ends in `.json`, YAML 1.2 otherwise.
pub fn parse(file: &str, text: &str) -> Result<Node, Vec<Problem>> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    if text.trim().is_empty() {
        return Err(vec![empty(file)]);
    }
    let is_json = Path::new(file).extension().is_some_and(|extension| extension.eq_ignore_ascii_case("json"));
    if is_json { json::parse(file, text) } else { yaml::parse(file, text, Repeats::Refused) }
}

/// Reads YAML that nobody here wrote: a key may appear twice in a map, and both are kept. Whether that matters is for the caller to say.
pub fn parse_table(file: &str, text: &str) -> Result<Node, Vec<Problem>> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    if text.trim().is_empty() { Err(vec![empty(file)]) } else { yaml::parse(file, text, Repeats::Kept) }
}

/// What becomes of a key that appears twice in a map.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Repeats {
    Refused,
    Kept,
}

fn empty(file: &str) -> Problem {
    Problem::in_file(file, "the file is empty")
}

fn too_deep(file: &str, line: usize, column: usize) -> Problem {
    Problem::at(file, line, column, format!("nested deeper than {DEEPEST} levels"))
}

fn duplicate(file: &str, key: &Key, first_line: usize) -> Problem {
    Problem::at(file, key.line, key.column, format!("duplicate key {}", quote(&key.text)))
        .with_hint(format!("it is already on line {first_line}; remove one of the two"))
}
