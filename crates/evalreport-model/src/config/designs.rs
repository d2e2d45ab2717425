//! The sampling unit of a suite, if it differs from the default for its kind of items.

use std::collections::BTreeMap;

use crate::document::{Fields, ValueForm, quote_text};

/// The sampling unit of a suite: what was independently repeated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SuiteDesign {
    /// Independent items: the suite is a sample of questions.
    Items,
    /// Clusters of items.
    Clusters,
    /// Runs of a fixed suite.
    Runs,
    /// Items that each arm drew for itself, as the users of an A/B test: nothing is paired.
    Independent,
}

const DESIGN_WORDS: [(&str, SuiteDesign); 4] = [
    ("items", SuiteDesign::Items),
    ("clusters", SuiteDesign::Clusters),
    ("runs", SuiteDesign::Runs),
    ("independent", SuiteDesign::Independent),
];

pub(super) fn read_section(fields: &mut Fields) -> BTreeMap<String, SuiteDesign> {
    fields.note_form("designs", || {
        ValueForm::map_of(ValueForm::Word(
            DESIGN_WORDS
                .iter()
                .map(|(word, _)| (*word).to_owned())
                .collect(),
        ))
    });
    let words = fields.text_map("designs");
    let mut designs = BTreeMap::new();
    for (suite, word) in words {
        match DESIGN_WORDS.iter().find(|(known, _)| *known == word) {
            Some((_, design)) => {
                designs.insert(suite, *design);
            }
            None => {
                let place = quote_text(&format!("designs.{suite}"));
                fields.reject_entry(
                    "designs",
                    &suite,
                    format!(
                        "{place} must be one of `items`, `clusters`, `runs`, `independent`, not {}",
                        quote_text(&word)
                    ),
                    None,
                );
            }
        }
    }
    designs
}
