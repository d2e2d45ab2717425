//! Where a suite's items stand, or its criteria.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::views::{CriterionKey, ItemMatrix};

use super::slug::segments;

/// Longest part of an anchor that comes from an item's name.
const LONGEST: usize = 64;

/// What may share a name with others of a suite.
struct Named<'a> {
    name: &'a str,
    /// Who decides about it, and what kind of item it is.
    by: (&'a str, &'a str),
}

/// Where a suite's items stand, or its criteria.
#[derive(Clone, Debug, Default, Serialize)]
pub(super) struct ItemPlaces {
    /// By index of the item.
    slugs: Vec<String>,
    /// By name: evaluator, kind and index, in their order.
    by_name: BTreeMap<String, Vec<(String, String, usize)>>,
}

impl ItemPlaces {
    pub fn of_items(matrix: &ItemMatrix) -> Self {
        let items = matrix.items.iter();
        Self::of(&items.map(|item| Named { name: &item.item, by: (&item.evaluator, &item.kind) }).collect::<Vec<_>>())
    }

    pub fn of_criteria(keys: &[CriterionKey]) -> Self {
        Self::of(&keys.iter().map(|key| Named { name: &key.criterion, by: (&key.evaluator, "") }).collect::<Vec<_>>())
    }

    fn of(items: &[Named<'_>]) -> Self {
        let mut by_name = BTreeMap::<String, Vec<(String, String, usize)>>::new();
        for (index, item) in items.iter().enumerate() {
            let (evaluator, kind) = item.by;
            by_name.entry(item.name.to_owned()).or_default().push((evaluator.to_owned(), kind.to_owned(), index));
        }
        // Items that only their evaluators tell apart are told apart by them. No name has the separator by accident, and what has it
        // gets a part of its digest.
        let full = |item: &Named<'_>| match by_name[item.name].len() {
            1 => item.name.to_owned(),
            _ => format!("{}\u{1f}{}\u{1f}{}", item.name, item.by.0, item.by.1),
        };
        let names: Vec<String> = items.iter().map(full).collect();
        let given = segments(names.iter().map(String::as_str), LONGEST);
        let slugs = names.iter().map(|name| given[name.as_str()].clone()).collect();
        Self { slugs, by_name }
    }

    /// Returns the index of the item of this name: of this evaluator and kind where they are given, else the first.
    pub fn index(&self, item: &str, by: Option<(&str, &str)>) -> Option<usize> {
        let found = self.by_name.get(item)?;
        let place = found.iter().find(|(evaluator, kind, _)| by.is_none_or(|by| by == (evaluator.as_str(), kind.as_str())));
        place.map(|(_, _, index)| *index)
    }

    pub fn count(&self) -> usize {
        self.slugs.len()
    }

    /// Returns where an item stands on its page.
    pub fn anchor(&self, index: usize) -> String {
        format!("i-{}", self.slugs[index])
    }
}
