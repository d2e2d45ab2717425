//! Addresses of a suite's items or criteria.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::views::{CriterionKey, ItemMatrix};

use super::slug::unique_segments;

/// Maximum length of the part of an anchor that comes from an item's name.
const MAX_SLUG_LENGTH: usize = 64;

/// An item or criterion, whose name need not be unique in its suite.
struct NamedItem<'a> {
    name: &'a str,
    /// Evaluator, for a criterion, and kind, for an item.
    by: (&'a str, &'a str),
}

/// Addresses of a suite's items or criteria.
#[derive(Clone, Debug, Default, Serialize)]
pub(super) struct ItemRoutes {
    /// Part of the anchor, by index of the item.
    slugs: Vec<String>,
    /// Evaluator, kind and index by name, in the suite's order.
    by_name: BTreeMap<String, Vec<(String, String, usize)>>,
}

impl ItemRoutes {
    pub fn from_items(matrix: &ItemMatrix) -> Self {
        let items = matrix.items.iter();
        Self::new(
            &items
                .map(|item| NamedItem {
                    name: &item.item,
                    by: ("", &item.kind),
                })
                .collect::<Vec<_>>(),
        )
    }

    pub fn from_criteria(keys: &[CriterionKey]) -> Self {
        Self::new(
            &keys
                .iter()
                .map(|key| NamedItem {
                    name: &key.criterion,
                    by: (&key.evaluator, ""),
                })
                .collect::<Vec<_>>(),
        )
    }

    fn new(items: &[NamedItem<'_>]) -> Self {
        let mut by_name = BTreeMap::<String, Vec<(String, String, usize)>>::new();
        for (index, item) in items.iter().enumerate() {
            let (evaluator, kind) = item.by;
            by_name.entry(item.name.to_owned()).or_default().push((
                evaluator.to_owned(),
                kind.to_owned(),
                index,
            ));
        }
        // Items with equal names differ by evaluator and kind. No name has the separator by accident, and a text with it gets a part of its
        // digest.
        let full = |item: &NamedItem<'_>| match by_name[item.name].len() {
            1 => item.name.to_owned(),
            _ => format!("{}\u{1f}{}\u{1f}{}", item.name, item.by.0, item.by.1),
        };
        let names: Vec<String> = items.iter().map(full).collect();
        let given = unique_segments(names.iter().map(String::as_str), MAX_SLUG_LENGTH);
        let slugs = names
            .iter()
            .map(|name| given[name.as_str()].clone())
            .collect();
        Self { slugs, by_name }
    }

    /// Returns the index of the item with this name, evaluator and kind. Without `by`, returns the first item with this name.
    pub fn find_index(&self, item: &str, by: Option<(&str, &str)>) -> Option<usize> {
        let found = self.by_name.get(item)?;
        let place = found.iter().find(|(evaluator, kind, _)| {
            by.is_none_or(|by| by == (evaluator.as_str(), kind.as_str()))
        });
        place.map(|(_, _, index)| *index)
    }

    pub fn count(&self) -> usize {
        self.slugs.len()
    }

    /// Returns an item's anchor on its page.
    pub fn anchor(&self, index: usize) -> String {
        format!("i-{}", self.slugs[index])
    }
}
