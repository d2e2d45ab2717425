//! Where a change of a pass rate comes from: how its items moved, and the category that explains the change.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Serialize;

/// Share of a change that one category must explain to be named as its cause.
const MIN_EXPLAINED: f64 = 0.8;

/// One item on both sides of a change.
#[derive(Clone, Debug, PartialEq)]
pub struct ItemShift {
    pub item: String,
    /// The name of the item's kind, such as `question`.
    pub kind: &'static str,
    /// Passed and counted outcomes.
    pub before: (u64, u64),
    pub since: (u64, u64),
}

/// The cause of a change of a pass rate, as far as items tell it.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct ChangeCause {
    /// The category that explains most of the change. Absent if none explains 80% of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub category: Option<String>,
    /// The share of the change that the category explains. Above 1 if other categories changed in the other direction.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub share: Option<f64>,
    /// Number of categories with outcomes on both sides.
    pub categories: u64,
    /// Items of the category, or of all, with outcomes on both sides.
    pub items: u64,
    /// Passed and counted outcomes of these items on the nights before the change, then since it.
    pub passed_before: u64,
    pub counted_before: u64,
    pub passed_since: u64,
    pub counted_since: u64,
}

impl ChangeCause {
    /// Finds the category with the largest part of the change. `category_of` takes an item's kind and name. Returns `None` if no item has
    /// outcomes on both sides.
    pub fn find<'c>(
        shifts: &[ItemShift],
        category_of: impl Fn(&ItemShift) -> Option<&'c str>,
    ) -> Option<Self> {
        let shared = || shifts.iter().filter(|shift| shift.moved().is_some());
        let total: f64 = shared().filter_map(ItemShift::moved).sum();
        let mut by_category = BTreeMap::<&str, Vec<&ItemShift>>::new();
        for shift in shared() {
            if let Some(category) = category_of(shift).filter(|name| !name.trim().is_empty()) {
                by_category.entry(category).or_default().push(shift);
            }
        }
        let categories = by_category.len() as u64;
        let part = |shifts: &[&ItemShift]| -> f64 {
            shifts.iter().filter_map(|shift| shift.moved()).sum::<f64>() / total
        };
        let largest = by_category
            .into_iter()
            .map(|(name, shifts)| (name, part(&shifts), shifts))
            .max_by(|(one, mine, _), (other, theirs, _)| {
                // Of equal parts, the first by name.
                mine.total_cmp(theirs).then_with(|| other.cmp(one))
            })
            // Without a change of all items together no category has a share of it.
            .filter(|(_, share, _)| categories > 1 && share.is_finite() && *share >= MIN_EXPLAINED);
        let (named, shifts) = match largest {
            Some((name, share, shifts)) => (Some((name, share)), shifts),
            None => (None, shared().collect()),
        };
        if shifts.is_empty() {
            return None;
        }
        let sum = |of: fn(&ItemShift) -> u64| shifts.iter().map(|shift| of(shift)).sum();
        Some(Self {
            category: named.map(|(name, _)| name.to_owned()),
            share: named.map(|(_, share)| share),
            categories,
            items: shifts.len() as u64,
            passed_before: sum(|shift| shift.before.0),
            counted_before: sum(|shift| shift.before.1),
            passed_since: sum(|shift| shift.since.0),
            counted_since: sum(|shift| shift.since.1),
        })
    }

    /// Returns the share of passed outcomes of the items before the change, and since it.
    pub fn rates(&self) -> [f64; 2] {
        [
            (self.passed_before, self.counted_before),
            (self.passed_since, self.counted_since),
        ]
        .map(|(passed, counted)| passed as f64 / counted as f64)
    }
}

impl ItemShift {
    /// Returns the difference of the item's rates, or `None` without outcomes on both sides.
    fn moved(&self) -> Option<f64> {
        let rate =
            |(passed, counted): (u64, u64)| (counted > 0).then(|| passed as f64 / counted as f64);
        Some(rate(self.since)? - rate(self.before)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shift(item: &str, before: (u64, u64), since: (u64, u64)) -> ItemShift {
        ItemShift {
            item: item.to_owned(),
            kind: "question",
            before,
            since,
        }
    }

    fn first_letter(shift: &ItemShift) -> Option<&'static str> {
        ["a", "b"]
            .into_iter()
            .find(|letter| shift.item.starts_with(letter))
    }

    #[test]
    fn the_category_that_fell_is_named_with_its_outcomes() -> Result<(), &'static str> {
        let shifts = [
            shift("a1", (16, 16), (0, 8)),
            shift("a2", (15, 16), (0, 8)),
            shift("b1", (16, 16), (8, 8)),
            shift("b2", (8, 16), (4, 8)),
            shift("b3", (0, 0), (4, 8)),
        ];
        let cause = ChangeCause::find(&shifts, first_letter).ok_or("shared items")?;
        assert_eq!(
            (cause.category.as_deref(), cause.items, cause.categories),
            (Some("a"), 2, 2)
        );
        assert_eq!(cause.share, Some(1.0));
        assert_eq!(
            (
                cause.passed_before,
                cause.counted_before,
                cause.passed_since,
                cause.counted_since
            ),
            (31, 32, 0, 16)
        );
        Ok(())
    }

    #[test]
    fn items_that_moved_against_each_other_have_no_category() -> Result<(), &'static str> {
        let shifts = [shift("a1", (8, 8), (0, 4)), shift("b1", (0, 8), (4, 4))];
        let cause = ChangeCause::find(&shifts, first_letter).ok_or("shared items")?;
        assert_eq!((cause.category, cause.share, cause.items), (None, None, 2));
        Ok(())
    }

    #[test]
    fn a_fall_everywhere_has_no_category() -> Result<(), &'static str> {
        let shifts = [shift("a1", (8, 8), (2, 4)), shift("b1", (8, 8), (2, 4))];
        let cause = ChangeCause::find(&shifts, first_letter).ok_or("shared items")?;
        assert_eq!(
            (cause.category, cause.items, cause.categories),
            (None, 2, 2)
        );
        // One category explains nothing.
        let one = ChangeCause::find(&shifts, |_| Some("all")).ok_or("shared items")?;
        assert_eq!((one.category, one.categories), (None, 1));
        assert_eq!(ChangeCause::find(&shifts[..0], first_letter), None);
        Ok(())
    }
}
