//! The addresses of items and criteria: which page one stands on, and where on it.

use std::collections::BTreeMap;

use crate::views::{CriterionKey, ItemMatrix};

use super::plan::SuitePlace;
use super::slug::segments;

/// Items on one page of items. Never depends on the runs, so that an address stays when runs are added.
pub(super) const ITEMS_PER_BUCKET: usize = 10;
/// Criteria on one page of criteria: each has room for what a judge said about it.
pub(super) const CRITERIA_PER_BUCKET: usize = 5;
/// Longest part of an anchor that comes from an item's name.
const LONGEST: usize = 64;

/// What may share a name with others of a suite.
struct Named<'a> {
    name: &'a str,
    /// Who decides about it, and what kind of item it is.
    by: (&'a str, &'a str),
}

/// Where a suite's items stand, or its criteria.
#[derive(Clone, Debug, Default)]
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
    fn index(&self, item: &str, by: Option<(&str, &str)>) -> Option<usize> {
        let found = self.by_name.get(item)?;
        let place = found.iter().find(|(evaluator, kind, _)| by.is_none_or(|by| by == (evaluator.as_str(), kind.as_str())));
        place.map(|(_, _, index)| *index)
    }

    /// Returns where an item stands on its page.
    pub fn anchor(&self, index: usize) -> String {
        format!("i-{}", self.slugs[index])
    }
}

/// Returns the file name of a page of items or criteria, from 1.
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

/// Returns the address of a criterion's details for a page with this way back to the root; nothing for one that the suite does not have.
pub(super) fn criterion_href(place: &SuitePlace, root: &str, criterion: &str, evaluator: &str) -> Option<String> {
    let index = place.criteria.index(criterion, Some((evaluator, "")))?;
    let page = bucket_name(index / CRITERIA_PER_BUCKET + 1);
    Some(format!("{root}suites/{}/criteria/{page}#{}", place.segment, place.criteria.anchor(index)))
}

/// Returns the address of an item of the matrix, from a page with this way to the folder of item pages.
pub(super) fn item_href_at(place: &SuitePlace, folder: &str, index: usize) -> String {
    format!("{folder}{}#{}", bucket_name(index / ITEMS_PER_BUCKET + 1), place.items.anchor(index))
}

/// Takes the first of each list, then the second of each, and so on; each with the place of its list.
pub(super) fn in_turns<'a, T>(lists: &'a [&'a [T]]) -> impl Iterator<Item = (usize, &'a T)> {
    let longest = lists.iter().map(|list| list.len()).max().unwrap_or(0);
    (0..longest).flat_map(move |turn| lists.iter().enumerate().filter_map(move |(place, list)| Some((place, list.get(turn)?))))
}

/// Says whether a page is one of a suite's matrix, items or criteria, of which there may be thousands.
pub(super) fn is_item_page(path: &str) -> bool {
    let mut parts = path.split('/');
    parts.next() == Some("suites") && matches!(parts.nth(1), Some("items" | "i" | "criteria" | "criteria.html"))
}
