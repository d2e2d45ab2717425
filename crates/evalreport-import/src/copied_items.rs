//! Whether a run has items with equal questions: they are copies, and no evidence of their own.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};

use crate::domain::ItemDetails;

use super::texts::MAX_TEXT_CHARS;

/// The questions of a run's items, each with the first item that asks it.
#[derive(Debug, Default)]
pub(super) struct CopiedItems {
    /// Digests of names by those of questions.
    first: HashMap<u64, u64>,
    is_found: bool,
}

impl CopiedItems {
    /// Takes an item. A question that may be cut is known by its hash.
    pub fn add_item(&mut self, item: &str, details: &ItemDetails) {
        if self.is_found {
            return;
        }
        let question = match (whole_question(details), &details.item_hash) {
            (Some(question), _) => digest(question.split_whitespace()),
            (None, Some(hash)) => digest([hash.as_str()].into_iter()),
            (None, None) => return,
        };
        let own = digest([item].into_iter());
        self.is_found = *self.first.entry(question).or_insert(own) != own;
        if self.is_found {
            self.first = HashMap::new();
        }
    }

    /// Returns whether two items had one question.
    pub fn has_found_some(&self) -> bool {
        self.is_found
    }
}

/// Returns the text of an item's question, unless it may have been cut.
pub(super) fn whole_question(details: &ItemDetails) -> Option<&str> {
    details
        .question
        .as_deref()
        .filter(|question| question.chars().count() < MAX_TEXT_CHARS)
}

fn digest<'t>(words: impl Iterator<Item = &'t str>) -> u64 {
    let mut hasher = DefaultHasher::new();
    words.for_each(|word| word.hash(&mut hasher));
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(items: &[(&str, Option<&str>, Option<&str>)]) -> bool {
        let mut copies = CopiedItems::default();
        for (item, question, hash) in items {
            let details = ItemDetails {
                question: question.map(str::to_owned),
                item_hash: hash.map(str::to_owned),
                ..ItemDetails::default()
            };
            copies.add_item(item, &details);
        }
        copies.has_found_some()
    }

    #[test]
    fn two_items_with_one_question_are_copies() {
        assert!(found(&[
            ("a", Some("Is it?"), None),
            ("b", Some("Is\n it?"), None)
        ]));
        assert!(found(&[("a", None, Some("1")), ("b", None, Some("1"))]));
        assert!(!found(&[
            ("a", Some("Is it?"), None),
            ("b", Some("Isn't it?"), None)
        ]));
        // Attempts at one item are no copies, nor are items without a question.
        assert!(!found(&[
            ("a", Some("Is it?"), None),
            ("a", Some("Is it?"), None)
        ]));
        assert!(!found(&[("a", None, None), ("b", None, None)]));
        // Two long texts may differ after their cut.
        let long = "x".repeat(MAX_TEXT_CHARS);
        assert!(!found(&[
            ("a", Some(&long), None),
            ("b", Some(&long), None)
        ]));
        assert!(found(&[
            ("a", Some(&long), Some("1")),
            ("b", Some(&long), Some("1"))
        ]));
    }
}
