//! Parses YAML and JSON text into a tree with lines and columns.
//!
//! Every file that a person writes goes through this module, so that all its errors are reported at once, each with file, line, column and
//! key. [`parse`] returns the tree, [`Fields`] gives typed access and collects problems, and [`render_problem`] shows a problem with its line.
//!
//! Deliberately narrower than YAML: a file has one document, keys are scalars and unique, and there are no custom tags and no merge keys
//! (YAML 1.2 has none). Input may be hostile, so depth and alias expansion are limited.

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
mod shape;
mod yaml;

pub use excerpt::render_problem;
pub use fields::Fields;
pub use node::{MapKey, Node, Value};
pub use quote::{nearest_hint, quote_text};
pub use scalar::{Scalar, ScalarKind};
pub use setting::SwitchSetting;
pub use shape::{KeyForms, ValueForm};

use mistake::empty_file;
use yaml::RepeatedKeys;

/// Parses the single document in `text`: as JSON only if `file` ends in `.json`, and as YAML 1.2 otherwise.
pub fn parse(file: &str, text: &str) -> Result<Node, Vec<Problem>> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    if text.trim().is_empty() {
        return Err(vec![empty_file(file)]);
    }
    let is_json = Path::new(file)
        .extension()
        .is_some_and(|extension| extension.eq_ignore_ascii_case("json"));
    if is_json {
        json::parse(file, text)
    } else {
        yaml::parse(file, text, RepeatedKeys::Refused)
    }
}

/// Parses YAML from another tool: a key may appear twice in a map, and both entries are kept for the caller to judge.
pub fn parse_table(file: &str, text: &str) -> Result<Node, Vec<Problem>> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    if text.trim().is_empty() {
        Err(vec![empty_file(file)])
    } else {
        yaml::parse(file, text, RepeatedKeys::Kept)
    }
}
