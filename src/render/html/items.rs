//! The addresses of items: which page an item stands on, and where on it.

use std::collections::BTreeMap;

use crate::views::{ItemLine, ItemMatrix};

use super::plan::SuitePlace;
use super::slug::segments;

/// Items on one page of items. Never depends on the runs, so that an address stays when runs are added.
pub(super) const ITEMS_PER_BUCKET: usize = 10;
/// Longest part of an anchor that comes from an item's name.
const LONGEST: usize = 64;

/// Where a suite's items stand.
#[derive(Clone, Debug, Default)]
pub(super) struct ItemPlaces {
    /// By item of the matrix.
    slugs: Vec<String>,
    /// By name: evaluator, kind and index, in the order of the matrix.
    by_name: BTreeMap<String, Vec<(String, String, usize)>>,
}

impl ItemPlaces {
    pub fn of(matrix: &ItemMatrix) -> Self {
        let mut by_name = BTreeMap::<String, Vec<(String, String, usize)>>::new();
        for (index, item) in matrix.items.iter().enumerate() {
            by_name.entry(item.item.clone()).or_default().push((item.evaluator.clone(), item.kind.clone(), index));
        }
        // Items that only their evaluators tell apart are told apart by them. No name has the separator by accident, and what has it
        // gets a part of its digest.
        let full = |item: &ItemLine| match by_name[&item.item].len() {
            1 => item.item.clone(),
            _ => format!("{}\u{1f}{}\u{1f}{}", item.item, item.evaluator, item.kind),
        };
        let names: Vec<String> = matrix.items.iter().map(full).collect();
        let given = segments(names.iter().map(String::as_str), LONGEST);
        let slugs = names.iter().map(|name| given[name.as_str()].clone()).collect();
        Self { slugs, by_name }
    }

    /// Returns the index of the item of this name: of this evaluator and kind where they are given, else the first.
    fn index(&self, item: &str, by: Option<(&str, &str)>) -> Option<usize> {
        let found = self.by_name.get(item)?;
        let place = found.iter().find(|(evaluator, kind, _)| by.is_none_or(|by| by == (evaluator.as_str(), kind.as_str())));
        place.map(|(_, _, index)| *index)
    }

    /// Returns where an item of the matrix stands on its page.
    pub fn anchor(&self, index: usize) -> String {
        format!("i-{}", self.slugs[index])
    }
}

/// Returns the file name of a page of items, from 1.
pub(super) fn bucket_name(bucket: usize) -> String {
    format!("{bucket:04}.html")
}

impl SuitePlace {
    /// Returns the path, with its fragment, of an item of the matrix.
    pub fn item_path(&self, index: usize) -> String {
        item_href_at(self, &format!("suites/{}/i/", self.segment), index)
    }
}

/// Returns the address of an item's details for a page with this way back to the root; nothing for an item without details.
///
/// `by` is the item's evaluator and kind where they are known. Without, the first item of this name is meant.
pub(super) fn item_href(place: &SuitePlace, root: &str, item: &str, by: Option<(&str, &str)>) -> Option<String> {
    place.items.index(item, by).map(|index| format!("{root}{}", place.item_path(index)))
}

/// Returns the address of an item of the matrix, from a page with this way to the folder of item pages.
pub(super) fn item_href_at(place: &SuitePlace, folder: &str, index: usize) -> String {
    format!("{folder}{}#{}", bucket_name(index / ITEMS_PER_BUCKET + 1), place.items.anchor(index))
}

/// Says whether a page is one of a suite's matrix or items, of which there may be thousands.
pub(super) fn is_item_page(path: &str) -> bool {
    let mut parts = path.split('/');
    parts.next() == Some("suites") && matches!(parts.nth(1), Some("items" | "i"))
}
