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
mod mistake;
mod node;
mod quote;
mod scalar;
mod setting;
mod yaml;

pub use excerpt::render;
pub use fields::Fields;
pub use node::{Key, Node, Value};
pub use quote::{nearest_hint, quote};
pub use scalar::{Scalar, ScalarKind};
pub use setting::Setting;

use mistake::empty;
use yaml::Repeats;

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
