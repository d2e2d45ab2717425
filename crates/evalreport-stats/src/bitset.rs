//! Outcomes of arms on the same items as planes of bits, and the two-by-two tables of all pairs of arms.
//!
//! A table needs no loop over items: 64 items are one AND and one count of bits. The loops are plain, so that compilers turn them into
//! vector instructions of any processor.

use std::ops::Range;

use rayon::iter::{IndexedParallelIterator, IntoParallelIterator, ParallelIterator};

use super::PairedTable;

const BITS: usize = 64;

/// A set of items, one bit for each. A set of all items takes no memory.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ItemBitset {
    items: usize,
    size: u64,
    /// `None` if all items are in the set. Bits beyond the last item are 0.
    words: Option<Vec<u64>>,
}

impl FromIterator<bool> for ItemBitset {
    /// Creates the set of the items that are `true`.
    fn from_iter<I: IntoIterator<Item = bool>>(members: I) -> Self {
        let mut words = Vec::new();
        let (mut items, mut size) = (0, 0);
        for is_in in members {
            if items % BITS == 0 {
                words.push(0);
            }
            if let Some(word) = words.last_mut() {
                *word |= u64::from(is_in) << (items % BITS);
            }
            items += 1;
            size += u64::from(is_in);
        }
        Self {
            items,
            size,
            words: (size < items as u64).then_some(words),
        }
    }
}

impl ItemBitset {
    /// Returns the number of items in the set.
    pub fn set_size(&self) -> u64 {
        self.size
    }

    /// Returns the number of items, in the set or not.
    pub fn item_count(&self) -> usize {
        self.items
    }

    /// Returns whether an item is in the set. Items count from 0.
    pub fn contains(&self, item: usize) -> bool {
        debug_assert!(item < self.items, "{item} of {}", self.items);
        self.words
            .as_ref()
            .is_none_or(|words| words[item / BITS] >> (item % BITS) & 1 == 1)
    }

    /// Returns whether the set has no item.
    pub fn is_empty(&self) -> bool {
        self.size == 0
    }

    /// Returns the number of items in both sets, which are of the same items.
    pub fn shared_count(&self, other: &Self) -> u64 {
        self.shared_by_size(other)
            .unwrap_or_else(|| self.shared_in(other, 0..usize::MAX))
    }

    /// Returns the number of items in both sets if one of them has all items.
    fn shared_by_size(&self, other: &Self) -> Option<u64> {
        match (&self.words, &other.words) {
            (None, _) => Some(other.size),
            (_, None) => Some(self.size),
            (Some(_), Some(_)) => None,
        }
    }

    /// Counts the shared items in some of the words; 0 if a set has all items.
    fn shared_in(&self, other: &Self, words: Range<usize>) -> u64 {
        let (Some(own), Some(others)) = (&self.words, &other.words) else {
            return 0;
        };
        let (own, others) = (words_in_range(own, &words), words_in_range(others, &words));
        own.iter()
            .zip(others)
            .map(|(own, other)| u64::from((own & other).count_ones()))
            .sum()
    }
}

fn words_in_range<'a>(words: &'a [u64], range: &Range<usize>) -> &'a [u64] {
    &words[range.start.min(words.len())..range.end.min(words.len())]
}

/// One arm's single outcomes of items: at most one that counts for each item.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OutcomeBitsets {
    passed: ItemBitset,
    counted: ItemBitset,
}

impl OutcomeBitsets {
    /// Takes for each item whether it passed; `None` if no outcome counts.
    pub fn from_outcomes(outcomes: impl Iterator<Item = Option<bool>> + Clone) -> Self {
        Self {
            passed: outcomes
                .clone()
                .map(|outcome| outcome == Some(true))
                .collect(),
            counted: outcomes.map(|outcome| outcome.is_some()).collect(),
        }
    }

    /// Returns the table of two arms over the items that both have.
    pub fn paired_table(&self, other: &Self) -> PairedTable {
        table_from_sizes(
            self.table_sets(other)
                .map(|(own, others)| own.shared_count(others)),
        )
    }

    /// Returns the sets whose shared items make the table: passed by both, passed by each with an outcome of the other, and all.
    fn table_sets<'a>(&'a self, other: &'a Self) -> [(&'a ItemBitset, &'a ItemBitset); 4] {
        [
            (&self.passed, &other.passed),
            (&self.passed, &other.counted),
            (&self.counted, &other.passed),
            (&self.counted, &other.counted),
        ]
    }
}

/// Makes a table from the sizes of [`OutcomeBitsets::table_sets`].
fn table_from_sizes([both, passed_a, passed_b, all]: [u64; 4]) -> PairedTable {
    PairedTable {
        both,
        only_a: passed_a - both,
        only_b: passed_b - both,
        neither: all + both - passed_a - passed_b,
    }
}

/// Arms that meet all others together, and the words of their planes that meet at a time: 32 parts of 4 KiB, which stay in the caches.
const ARMS_PER_STRIPE: usize = 32;
const WORDS_PER_BLOCK: usize = 512;

/// Calls `of_pair` with each pair of arms, `first < second`, and with their table. Returns the results in ascending order of the pairs.
///
/// Computes the stripes on all cores. Each core needs 32 bytes for each of the arms in each row of a stripe.
pub fn all_pairs<T: Send>(
    arms: &[impl AsRef<OutcomeBitsets> + Sync],
    of_pair: impl Fn(usize, usize, PairedTable) -> T + Sync,
) -> Vec<T> {
    let stripes = (0..arms.len())
        .into_par_iter()
        .step_by(ARMS_PER_STRIPE)
        .map(|start| {
            let rows = start..arms.len().min(start + ARMS_PER_STRIPE);
            let mut counts = vec![[0; 4]; rows.len() * (arms.len() - start)];
            let at = |first: usize, second: usize| {
                (first - start) * (arms.len() - start) + second - start
            };
            let words = arms[start].as_ref().passed.items.div_ceil(BITS);
            for from in (0..words).step_by(WORDS_PER_BLOCK) {
                for second in start + 1..arms.len() {
                    for first in start..rows.end.min(second) {
                        let meeting = arms[first].as_ref().table_sets(arms[second].as_ref());
                        for (count, (own, others)) in
                            counts[at(first, second)].iter_mut().zip(meeting)
                        {
                            *count += own.shared_in(others, from..from + WORDS_PER_BLOCK);
                        }
                    }
                }
            }
            let pair = |first: usize, second: usize| {
                let mut counts = counts[at(first, second)];
                for (count, (own, others)) in counts
                    .iter_mut()
                    .zip(arms[first].as_ref().table_sets(arms[second].as_ref()))
                {
                    *count = own.shared_by_size(others).unwrap_or(*count);
                }
                of_pair(first, second, table_from_sizes(counts))
            };
            rows.flat_map(|first| (first + 1..arms.len()).map(move |second| (first, second)))
                .map(|(first, second)| pair(first, second))
                .collect()
        });
    let mut all = Vec::with_capacity(arms.len() * arms.len().saturating_sub(1) / 2);
    for stripe in stripes.collect::<Vec<Vec<T>>>() {
        all.extend(stripe);
    }
    all
}

impl AsRef<Self> for OutcomeBitsets {
    fn as_ref(&self) -> &Self {
        self
    }
}

#[cfg(test)]
mod tests {
    use proptest::strategy::Strategy;

    use super::super::{RankRange, holm_adjustment, mcnemar_each, mcnemar_test, rank_ranges};
    use super::*;

    /// Returns an endless row of draws from 0 to 99.
    fn draws() -> impl FnMut() -> u64 {
        let mut state = 1_u64;
        move || {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) % 100
        }
    }

    fn by_item(one: &[Option<bool>], other: &[Option<bool>]) -> PairedTable {
        let mut pairs = PairedTable::default();
        for outcomes in one
            .iter()
            .zip(other)
            .filter_map(|(one, other)| (*one).zip(*other))
        {
            *match outcomes {
                (true, true) => &mut pairs.both,
                (true, false) => &mut pairs.only_a,
                (false, true) => &mut pairs.only_b,
                (false, false) => &mut pairs.neither,
            } += 1;
        }
        pairs
    }

    fn planes(rows: &[Vec<Option<bool>>]) -> Vec<OutcomeBitsets> {
        rows.iter()
            .map(|row| OutcomeBitsets::from_outcomes(row.iter().copied()))
            .collect()
    }

    /// Counts of numpy 2, p-values of `scipy.stats.binomtest`, adjusted by `statsmodels.stats.multitest.multipletests`. Of every second arm,
    /// some items are missing.
    #[test]
    fn a_board_as_numpy_and_scipy_count_and_test_it() {
        let mut draw = draws();
        let mut outcome = |arm: u64| match draw() {
            99 if arm % 2 == 1 => None,
            drawn => Some(drawn < 40 + 8 * arm),
        };
        let rows: Vec<Vec<Option<bool>>> = (0..6)
            .map(|arm| (0..130).map(|_| outcome(arm)).collect())
            .collect();
        let expected: [([u64; 4], f64, f64); 15] = [
            ([15, 33, 35, 45], 0.903_597_345_683_512_7, 1.0),
            (
                [23, 26, 40, 41],
                0.108_856_964_409_716_12,
                0.544_284_822_048_580_6,
            ),
            (
                [33, 15, 55, 25],
                1.652_519_847_797_991e-6,
                1.652_519_847_797_991e-5,
            ),
            (
                [34, 15, 62, 19],
                6.083_249_930_070_788e-8,
                6.691_574_923_077_866e-7,
            ),
            (
                [38, 11, 66, 13],
                1.053_988_007_766_114_4e-10,
                1.475_583_210_872_560_2e-9,
            ),
            (
                [30, 20, 32, 46],
                0.126_347_075_813_921_35,
                0.544_284_822_048_580_6,
            ),
            (
                [32, 18, 54, 22],
                2.568_720_337_924_735e-5,
                0.000_231_184_830_413_226_14,
            ),
            (
                [39, 11, 57, 21],
                1.275_003_237_445_051_7e-8,
                1.530_003_884_934_062e-7,
            ),
            (
                [45, 4, 58, 19],
                2.591_759_272_474_458_7e-13,
                3.887_638_908_711_688e-12,
            ),
            (
                [42, 20, 46, 20],
                0.001_858_230_307_565_808_5,
                0.013_007_612_152_960_66,
            ),
            (
                [49, 14, 47, 20],
                2.719_187_682_281_854_3e-5,
                0.000_231_184_830_413_226_14,
            ),
            (
                [55, 7, 49, 17],
                7.455_210_310_203_242e-9,
                9.691_773_403_264_214e-8,
            ),
            ([61, 27, 33, 7], 0.518_958_003_189_651_9, 1.0),
            (
                [72, 14, 30, 10],
                0.022_628_841_205_914_796,
                0.135_773_047_235_488_78,
            ),
            (
                [75, 19, 29, 5],
                0.193_412_652_861_937_37,
                0.580_237_958_585_812_2,
            ),
        ];
        let pairs = all_pairs(&planes(&rows), |first, second, pairs| {
            (first, second, pairs)
        });
        let exact: Vec<f64> =
            mcnemar_each(pairs.iter().map(|(.., pairs)| (pairs.only_a, pairs.only_b)))
                .iter()
                .map(|test| test.exact)
                .collect();
        let adjusted = holm_adjustment(&exact).expect("probabilities");
        let close = |got: f64, expected: f64| (got / expected - 1.0).abs() < 1e-11;
        for (at, (counts, p, after)) in expected.iter().enumerate() {
            let PairedTable {
                both,
                only_a,
                only_b,
                neither,
            } = pairs[at].2;
            assert_eq!([both, only_a, only_b, neither], *counts, "pair {at}");
            assert!(
                close(exact[at], *p) && close(adjusted[at], *after),
                "pair {at}: {} {}",
                exact[at],
                adjusted[at]
            );
        }
        let mut beats = vec![vec![false; rows.len()]; rows.len()];
        for ((first, second, pairs), _) in pairs.iter().zip(&adjusted).filter(|(_, p)| **p < 0.05) {
            let is_first = pairs.only_a > pairs.only_b;
            beats[if is_first { *first } else { *second }]
                [if is_first { *second } else { *first }] = true;
        }
        let range = |best, worst| RankRange { best, worst };
        let (behind, ahead) = (range(4, 6), range(1, 3));
        assert_eq!(
            rank_ranges(&beats),
            Ok(vec![behind, behind, behind, ahead, ahead, ahead])
        );
    }

    #[test]
    fn more_items_than_a_block_and_more_arms_than_a_stripe_have() {
        let mut draw = draws();
        let items = WORDS_PER_BLOCK * BITS + 100;
        let rows: Vec<Vec<Option<bool>>> = (0..3)
            .map(|arm| {
                (0..items)
                    .map(|_| {
                        Some(draw())
                            .filter(|drawn| arm == 0 || *drawn > 3)
                            .map(|drawn| drawn < 50)
                    })
                    .collect()
            })
            .collect();
        let found = all_pairs(&planes(&rows), |first, second, pairs| {
            (first, second, pairs)
        });
        assert_eq!(
            found,
            [(0, 1), (0, 2), (1, 2)].map(|(first, second)| (
                first,
                second,
                by_item(&rows[first], &rows[second])
            ))
        );
        let many: Vec<Vec<Option<bool>>> = (0..ARMS_PER_STRIPE + 3)
            .map(|_| (0..70).map(|_| Some(draw() < 50)).collect())
            .collect();
        let mut found = all_pairs(&planes(&many), |first, second, pairs| {
            (first, second, pairs)
        })
        .into_iter();
        for first in 0..many.len() {
            for second in first + 1..many.len() {
                assert_eq!(
                    found.next(),
                    Some((first, second, by_item(&many[first], &many[second])))
                );
            }
        }
        assert_eq!(found.next(), None);
    }

    #[test]
    fn a_set_of_all_items_takes_no_memory() {
        let all: ItemBitset = std::iter::repeat_n(true, 200).collect();
        assert!(all.words.is_none() && all.set_size() == 200);
        let some: ItemBitset = (0..200).map(|item| item % 3 == 0).collect();
        assert_eq!(
            (
                some.set_size(),
                all.shared_count(&some),
                some.shared_count(&all),
                some.shared_count(&some)
            ),
            (67, 67, 67, 67)
        );
        assert!(all_pairs::<PairedTable>(&[] as &[OutcomeBitsets], |_, _, pairs| pairs).is_empty());
        assert_eq!(
            OutcomeBitsets::from_outcomes(std::iter::empty())
                .paired_table(&OutcomeBitsets::from_outcomes(std::iter::empty())),
            PairedTable::default()
        );
    }

    proptest::proptest! {
        #[test]
        fn bits_count_as_items_do(
            rows in (0_usize..200).prop_flat_map(|items| {
                proptest::collection::vec(proptest::collection::vec(proptest::option::weighted(0.8, proptest::bool::ANY), items), 2..6)
            }),
        ) {
            let planes = planes(&rows);
            for (first, second, pairs) in all_pairs(&planes, |first, second, pairs| (first, second, pairs)) {
                proptest::prop_assert_eq!(pairs, by_item(&rows[first], &rows[second]));
                proptest::prop_assert_eq!(planes[first].paired_table(&planes[second]), pairs);
                let alone = mcnemar_test(pairs.only_a, pairs.only_b);
                proptest::prop_assert_eq!(mcnemar_each(std::iter::once((pairs.only_a, pairs.only_b))), vec![alone]);
            }
        }
    }
}
