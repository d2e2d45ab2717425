//! The addresses of items and criteria: which page one stands on, and where on it.

use super::plan::SuitePlace;

/// Items on one page of items. Never depends on the runs, so that an address stays when runs are added.
pub(super) const ITEMS_PER_BUCKET: usize = 10;
/// Criteria on one page of criteria: each has room for what a judge said about it.
pub(super) const CRITERIA_PER_BUCKET: usize = 5;

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
