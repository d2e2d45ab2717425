//! Addresses of a suite's items or criteria.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::views::{CriterionKey, ItemMatrix};

use super::slug::segments;

/// Maximum length of the part of an anchor that comes from an item's name.
const LONGEST: usize = 64;

/// An item or criterion, whose name need not be unique in its suite.
struct Named<'a> {
    name: &'a str,
    /// Evaluator, for a criterion, and kind, for an item.
    by: (&'a str, &'a str),
}

/// Addresses of a suite's items or criteria.
#[derive(Clone, Debug, Default, Serialize)]
pub(super) struct ItemPlaces {
    /// Part of the anchor, by index of the item.
    slugs: Vec<String>,
    /// Evaluator, kind and index by name, in the suite's order.
    by_name: BTreeMap<String, Vec<(String, String, usize)>>,
}

impl ItemPlaces {
    pub fn of_items(matrix: &ItemMatrix) -> Self {
        let items = matrix.items.iter();
        Self::of(
            &items
                .map(|item| Named {
                    name: &item.item,
                    by: ("", &item.kind),
                })
                .collect::<Vec<_>>(),
        )
    }

    pub fn of_criteria(keys: &[CriterionKey]) -> Self {
        Self::of(
            &keys
                .iter()
                .map(|key| Named {
                    name: &key.criterion,
                    by: (&key.evaluator, ""),
                })
                .collect::<Vec<_>>(),
        )
    }

    fn of(items: &[Named<'_>]) -> Self {
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
        let full = |item: &Named<'_>| match by_name[item.name].len() {
            1 => item.name.to_owned(),
            _ => format!("{}\u{1f}{}\u{1f}{}", item.name, item.by.0, item.by.1),
        };
        let names: Vec<String> = items.iter().map(full).collect();
        let given = segments(names.iter().map(String::as_str), LONGEST);
        let slugs = names
            .iter()
            .map(|name| given[name.as_str()].clone())
            .collect();
        Self { slugs, by_name }
    }

    /// Returns the index of the item with this name, evaluator and kind. Without `by`, returns the first item with this name.
    pub fn index(&self, item: &str, by: Option<(&str, &str)>) -> Option<usize> {
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
