//! One item and one arm, or one outcome, as a sign and its word.

use crate::domain::ItemStatus;
use crate::render::format;
use crate::views::ItemCell;

/// One item and one arm: a sign, words, and where more is told.
pub(super) struct Mark {
    pub class: &'static str,
    pub sign: &'static str,
    /// Shown beside the sign, where there are several outcomes.
    pub count: Option<String>,
    /// Heard beside the sign.
    pub word: &'static str,
    pub href: String,
    /// For sorting.
    pub key: Option<f64>,
}

/// Returns how much passed, in `steps` from nothing: the ends are for nothing and everything alone.
pub(super) fn shade(passed: u32, counted: u32, steps: u32) -> u32 {
    if passed == 0 { 0 } else { (passed * steps / counted.max(1)).max(1) }
}

/// How one arm fared on an item.
pub(super) fn mark(cell: ItemCell, href: &str) -> Mark {
    let ItemCell { passed, counted, broken, missing, skipped } = cell;
    let (class, sign, word) = match (passed, counted) {
        (_, 0) if missing > 0 => ("mo", "?", "no outcome"),
        (_, 0) if skipped > 0 => ("mo", "–", "skipped"),
        (_, 0) => ("mo", "–", "not tried"),
        (0, _) if 2 * broken > counted => ("mw", "!", "error or limit"),
        (0, _) => ("mf", "✗", "not passed"),
        (passed, counted) if passed == counted => ("mp", "✓", "passed"),
        (_, _) => ("mx", "◐", "sometimes"),
    };
    let count = (counted > 1).then(|| format!("{}/{}", format::integer(passed.into()), format::integer(counted.into())));
    Mark { class, sign, count, word, href: href.to_owned(), key: cell.rate() }
}

/// How one outcome is marked: class, sign and word.
pub(super) fn outcome_mark(status: ItemStatus) -> (&'static str, &'static str, &'static str) {
    match status {
        ItemStatus::Pass => ("mp", "✓", "pass"),
        ItemStatus::Fail => ("mf", "✗", "fail"),
        ItemStatus::Error => ("mw", "!", "error"),
        ItemStatus::Limit => ("mw", "!", "limit"),
        ItemStatus::Infra => ("mo", "?", "infra"),
        ItemStatus::NotEvaluated => ("mo", "?", "not evaluated"),
        ItemStatus::Skipped => ("mo", "–", "skipped"),
    }
}
