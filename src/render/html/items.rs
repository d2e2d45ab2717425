//! Addresses of items and criteria: page and anchor.

use super::routes::SuiteRoutes;

/// Items per page. Never depends on the runs, so that addresses stay valid when runs are added.
pub(super) const ITEMS_PER_BUCKET: usize = 10;
/// Criteria per page: few, because each has room for a judge's reasons.
pub(super) const CRITERIA_PER_BUCKET: usize = 5;

/// Returns the file name of a page of items or criteria, counted from 1.
pub(super) fn bucket_name(bucket: usize) -> String {
    format!("{bucket:04}.html")
}

impl SuiteRoutes {
    /// Returns the path, with its fragment, of an item of the matrix.
    pub fn item_path(&self, index: usize) -> String {
        item_href_at(self, &format!("suites/{}/i/", self.segment), index)
    }
}

/// Returns the address of an item's details, or `None` if it has no details. `root` is the relative path to the site's root.
///
/// `by` is the item's evaluator and kind, if known. Without it, the first item with this name is linked.
pub(super) fn item_href(
    place: &SuiteRoutes,
    root: &str,
    item: &str,
    kind: Option<&str>,
) -> Option<String> {
    place
        .items
        .find_index(item, kind.map(|kind| ("", kind)))
        .map(|index| format!("{root}{}", place.item_path(index)))
}

/// Returns the address of a criterion's details, or `None` if the suite lacks the criterion. `root` is the relative path to the site's
/// root.
pub(super) fn criterion_href(
    place: &SuiteRoutes,
    root: &str,
    criterion: &str,
    evaluator: &str,
) -> Option<String> {
    let index = place
        .criteria
        .find_index(criterion, Some((evaluator, "")))?;
    let page = bucket_name(index / CRITERIA_PER_BUCKET + 1);
    Some(format!(
        "{root}suites/{}/criteria/{page}#{}",
        place.segment,
        place.criteria.anchor(index)
    ))
}

/// Returns the address of an item of the matrix. `folder` is the relative path to the folder of item pages.
pub(super) fn item_href_at(place: &SuiteRoutes, folder: &str, index: usize) -> String {
    format!(
        "{folder}{}#{}",
        bucket_name(index / ITEMS_PER_BUCKET + 1),
        place.items.anchor(index)
    )
}

/// Returns the first element of each list, then the second of each, and so on, each with its list's index.
pub(super) fn round_robin<'a, T>(lists: &'a [&'a [T]]) -> impl Iterator<Item = (usize, &'a T)> {
    let longest = lists.iter().map(|list| list.len()).max().unwrap_or(0);
    (0..longest).flat_map(move |turn| {
        lists
            .iter()
            .enumerate()
            .filter_map(move |(place, list)| Some((place, list.get(turn)?)))
    })
}

/// Says whether a page belongs to a suite's matrix, items or criteria. There may be thousands of these.
pub(super) fn is_item_page(path: &str) -> bool {
    let mut parts = path.split('/');
    parts.next() == Some("suites")
        && matches!(
            parts.nth(1),
            Some("items" | "i" | "criteria" | "criteria.html")
        )
}
