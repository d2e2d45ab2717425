//! Outcomes of arms with a single outcome of each item, as planes of bits, and the tables of all their pairs.

use crate::stats::{
    AttemptCounts, Interval, ItemBitset, McNemar, OutcomeBitsets, PairedTable, all_pairs,
    mcnemar_each,
};

/// An arm's outcomes, at most one that counts for each item.
pub struct SingleOutcomes {
    outcomes: OutcomeBitsets,
    /// The outcomes if all missing ones failed, and if all passed. `None` if none is missing.
    ends: Option<Box<[OutcomeBitsets; 2]>>,
    /// Items that the arm was asked and answered, or whose outcome is missing.
    asked: ItemBitset,
}

impl SingleOutcomes {
    /// Takes by item passed and counted outcomes, whether the only outcome is missing, and whether the arm was asked. Returns `None` if an
    /// item has several outcomes.
    pub fn from_attempts(
        cells: &AttemptCounts,
        missing: &ItemBitset,
        asked: impl Iterator<Item = bool>,
    ) -> Option<Self> {
        if cells.iter().any(|(_, counted)| counted > 1) {
            return None;
        }
        let counted = cells
            .iter()
            .map(|(passed, counted)| (counted > 0).then_some(passed > 0));
        let end = |passes: bool| {
            OutcomeBitsets::from_outcomes(
                (0..)
                    .zip(counted.clone())
                    .map(|(item, own)| own.or(missing.contains(item).then_some(passes))),
            )
        };
        let ends = (!missing.is_empty()).then(|| Box::new([end(false), end(true)]));
        Some(Self {
            outcomes: OutcomeBitsets::from_outcomes(counted.clone()),
            ends,
            asked: asked.collect(),
        })
    }

    /// Returns the table of the items that both arms have.
    pub fn paired_table(&self, other: &Self) -> PairedTable {
        self.outcomes.paired_table(&other.outcomes)
    }

    /// Returns the range of the difference over all possible missing outcomes. `None` if no item is shared.
    pub fn difference_bounds(&self, other: &Self) -> Option<Interval> {
        let ([worst, best], [other_worst, other_best]) =
            (self.extreme_outcomes(), other.extreme_outcomes());
        Interval::new(
            worst.paired_table(other_best).share_difference().ok()?,
            best.paired_table(other_worst).share_difference().ok()?,
        )
    }

    fn extreme_outcomes(&self) -> [&OutcomeBitsets; 2] {
        self.ends
            .as_deref()
            .map_or([&self.outcomes; 2], |[worst, best]| [worst, best])
    }

    /// Returns the numbers of items that both arms were asked, and that any was.
    pub fn asked_counts(&self, other: &Self) -> (u64, u64) {
        let shared = self.asked.shared_count(&other.asked);
        (
            shared,
            self.asked.set_size() + other.asked.set_size() - shared,
        )
    }
}

/// The table of two arms and its test.
pub(super) type TestedTable = (PairedTable, McNemar);

/// The tables of all pairs of arms with single outcomes.
pub(super) struct PairTables {
    /// By arm: its place among the arms with single outcomes.
    places: Vec<Option<usize>>,
    count: usize,
    /// By pair of places, in ascending order.
    tested: Vec<TestedTable>,
}

impl PairTables {
    pub fn from_arms<'a>(arms: impl Iterator<Item = Option<&'a SingleOutcomes>>) -> Self {
        let mut single = Vec::new();
        let places = arms.map(|arm| {
            arm.map(|arm| {
                single.push(&arm.outcomes);
                single.len() - 1
            })
        });
        let places = places.collect();
        let pairs = all_pairs(&single, |_, _, pairs| pairs);
        let tests = mcnemar_each(pairs.iter().map(|pairs| (pairs.only_a, pairs.only_b)));
        Self {
            places,
            count: single.len(),
            tested: pairs.into_iter().zip(tests).collect(),
        }
    }

    /// Returns the table of two arms, `first < second`. `None` if one of them has several outcomes of an item.
    pub fn get(&self, first: usize, second: usize) -> Option<TestedTable> {
        let (first, second) = (self.places[first]?, self.places[second]?);
        Some(self.tested[first * (2 * self.count - first - 1) / 2 + second - first - 1])
    }
}

#[cfg(test)]
mod tests {
    use crate::stats::mcnemar_test;

    use super::*;

    /// Four arms on 50 items: the third has two outcomes of one item, the last lacks the first ten, of which two are missing.
    #[test]
    fn tables_of_the_arms_with_single_outcomes() {
        let arm = |passes: fn(u32) -> bool, from: u32, counted: u32| {
            let cells: Vec<(u32, u32)> = (0..50)
                .map(|item| {
                    if item < from {
                        (0, 0)
                    } else {
                        (u32::from(passes(item)), if item == 0 { counted } else { 1 })
                    }
                })
                .collect();
            let missing: Vec<bool> = (0..50).map(|item| item < from && item < 2).collect();
            let asked: Vec<bool> = cells
                .iter()
                .zip(&missing)
                .map(|((_, counted), missing)| *counted > 0 || *missing)
                .collect();
            SingleOutcomes::from_attempts(
                &cells.into_iter().collect(),
                &missing.into_iter().collect(),
                asked.into_iter(),
            )
        };
        let arms = [
            arm(|item| item < 30, 0, 1),
            arm(|item| item % 2 == 0, 0, 1),
            arm(|_| true, 0, 2),
            arm(|item| item >= 20, 10, 1),
        ];
        assert!(arms[2].is_none());
        let tables = PairTables::from_arms(arms.iter().map(Option::as_ref));
        let all = PairedTable {
            both: 15,
            only_a: 15,
            only_b: 10,
            neither: 10,
        };
        assert_eq!(tables.get(0, 1), Some((all, mcnemar_test(15, 10))));
        assert_eq!(
            tables.get(0, 3),
            Some((
                PairedTable {
                    both: 10,
                    only_a: 10,
                    only_b: 20,
                    neither: 0
                },
                mcnemar_test(10, 20)
            ))
        );
        assert_eq!(
            tables.get(1, 3),
            Some((
                PairedTable {
                    both: 15,
                    only_a: 5,
                    only_b: 15,
                    neither: 5
                },
                mcnemar_test(5, 15)
            ))
        );
        assert_eq!((tables.get(0, 2), tables.get(2, 3)), (None, None));
        let (one, last) = (
            arms[0].as_ref().expect("single"),
            arms[3].as_ref().expect("single"),
        );
        assert_eq!(
            (one.asked_counts(last), last.asked_counts(one)),
            ((42, 50), (42, 50))
        );
        // 20 passes against 30 on shared items, and two missing outcomes of the other where this arm passed.
        assert_eq!(
            one.difference_bounds(last),
            Interval::new(-10.0 / 42.0, -8.0 / 42.0)
        );
        assert_eq!(
            last.difference_bounds(one),
            Interval::new(8.0 / 42.0, 10.0 / 42.0)
        );
    }
}
