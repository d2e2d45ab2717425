//! Exact two-sided tests: counts on the same items, counts on different items, and permutations of measured values.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{RngCore, SeedableRng};
use rayon::iter::ParallelIterator;
use rayon::slice::ParallelSliceMut;

use super::distribution::FairCoin;
use super::mean::compensated_sum;
use super::proportion::share_passed;
use super::{Interval, Undefined};

/// Maximum number of subsets of half of a sample for an exact permutation test. Sorting the subsets of both halves then replaces trying
/// their 2³² combinations.
const MAX_HALF_SUBSETS: usize = 1 << 16;

/// Sums that differ by less than this share of the values' absolute sum are ties, such as the decimal numbers 0.1 + 0.2 and 0.3.
const TIE_TOLERANCE: f64 = 1e-9;

/// The p-values of McNemar's test.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, schemars::JsonSchema)]
pub struct McNemar {
    /// Never exceeds its error rate; decides verdicts.
    pub exact: f64,
    /// Closer to its level on average, but above it for some numbers of pairs; shown, never decisive.
    pub mid: f64,
}

/// The result of a permutation test.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, schemars::JsonSchema)]
pub struct Permutation {
    pub p: f64,
    /// Number of rearrangements at least as extreme as the data, among those tried.
    pub count: u64,
    /// Number of tried rearrangements.
    pub total: u64,
    /// Whether all rearrangements were tried. If not, the data count as one more rearrangement in `p`.
    pub exact: bool,
}

/// How to draw rearrangements if there are too many to try all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Resampling {
    pub seed: u64,
    pub draws: u64,
}

/// McNemar's test on the items that only one arm passed (McNemar 1947; mid-p as in Fagerland, Lydersen and Laake 2013).
///
/// Without such items both p-values are 1.
pub fn mcnemar_test(only_a: u64, only_b: u64) -> McNemar {
    McNemar::from_coin(
        &FairCoin::new(only_a.saturating_add(only_b)),
        only_a.min(only_b),
    )
}

/// [`mcnemar_test`] of many pairs of arms, in their order and on all cores. Pairs with the same number of differing items share its distribution.
pub fn mcnemar_each(counts: impl Iterator<Item = (u64, u64)>) -> Vec<McNemar> {
    let unknown = McNemar {
        exact: 1.0,
        mid: 1.0,
    };
    let mut sought: Vec<(u64, u64, usize, McNemar)> = counts
        .enumerate()
        .map(|(place, (only_a, only_b))| {
            (
                only_a.saturating_add(only_b),
                only_a.min(only_b),
                place,
                unknown,
            )
        })
        .collect();
    sought.par_sort_unstable_by_key(|(tosses, fewer, place, _)| (*tosses, *fewer, *place));
    sought
        .par_chunk_by_mut(|one, next| one.0 == next.0)
        .for_each(|alike| {
            let coin = FairCoin::new(alike[0].0);
            for (_, fewer, _, found) in alike {
                *found = McNemar::from_coin(&coin, *fewer);
            }
        });
    let mut all = vec![unknown; sought.len()];
    for (_, _, place, found) in sought {
        all[place] = found;
    }
    all
}

impl McNemar {
    fn from_coin(coin: &FairCoin, fewer: u64) -> Self {
        let (at_most, equal) = (coin.at_most(fewer), coin.chance_of(fewer));
        Self {
            exact: (2.0 * at_most).clamp(f64::MIN_POSITIVE, 1.0),
            mid: (2.0 * at_most - equal).clamp(f64::MIN_POSITIVE, 1.0),
        }
    }
}

/// Fisher's test for two independent proportions: the probability of all tables with the same margins that are not more likely than this
/// one. A relative difference of 1e-7 counts as equal (Fisher 1935; ties as in R).
///
/// Undefined if an arm has no items.
pub fn fisher_exact(
    passed_a: u64,
    total_a: u64,
    passed_b: u64,
    total_b: u64,
) -> Result<f64, Undefined> {
    share_passed(passed_a, total_a)?;
    share_passed(passed_b, total_b)?;
    let passed = passed_a + passed_b;
    let (lowest, highest) = (passed.saturating_sub(total_b), passed.min(total_a));
    // Weights relative to the middle, by ratios of neighbours instead of factorials.
    let middle = passed_a_expected(passed, total_a, total_b).clamp(lowest, highest);
    let up = |at: u64| {
        ((total_a - at) as f64 * (passed - at) as f64)
            / ((at + 1) as f64 * (total_b + at + 1 - passed) as f64)
    };
    // Weights fall on both sides of the middle. Stop below the smallest normal number: the rest adds nothing to any sum, and rounding would
    // keep it from ever reaching zero.
    let above = (middle..highest).scan(1.0, |weight, at| {
        *weight *= up(at);
        (*weight >= f64::MIN_POSITIVE).then_some((at + 1, *weight))
    });
    let below = (lowest..middle).rev().scan(1.0, |weight, at| {
        *weight /= up(at);
        (*weight >= f64::MIN_POSITIVE).then_some((at, *weight))
    });
    let tables: Vec<(u64, f64)> = std::iter::once((middle, 1.0))
        .chain(above)
        .chain(below)
        .collect();
    let observed = tables
        .iter()
        .find(|(at, _)| *at == passed_a)
        .map_or(0.0, |(_, weight)| *weight);
    let limit = observed * (1.0 + 1e-7);
    let extreme = compensated_sum(
        tables
            .iter()
            .map(|(_, weight)| *weight)
            .filter(|weight| *weight <= limit),
    );
    Ok(
        (extreme / compensated_sum(tables.iter().map(|(_, weight)| *weight)))
            .clamp(f64::MIN_POSITIVE, 1.0),
    )
}

/// The sign-flip test of paired differences: the share of the 2ⁿ ways to swap the arms within pairs that give a sum at least as far from
/// zero (Fisher 1935). Tries all ways for up to 32 non-zero differences, else draws. A difference below 1e-9 of the largest counts as zero:
/// it is a rounding error of a cluster's sum, and would add a unit to flip.
pub fn sign_flip(differences: &[f64], resampling: Resampling) -> Result<Permutation, Undefined> {
    check_finite(differences)?;
    let moving = nonzero_values(differences);
    let size = compensated_sum(moving.iter().map(|difference| difference.abs()));
    if !size.is_finite() {
        return Err(Undefined::NotFinite);
    }
    let limit = compensated_sum(moving.iter().copied()).abs() - TIE_TOLERANCE * size;
    let (left, right) = moving.split_at(moving.len() / 2);
    if right.len() >= 17 {
        // If all values have one sign, only flipping none or all of them reaches the limit, unless the smallest is lost in rounding. So no
        // random draw is extreme: 10,000 draws of 33 signs would hit with a probability of 2 in a million.
        let least = moving
            .iter()
            .fold(f64::INFINITY, |least, value| least.min(value.abs()));
        if limit > 0.0
            && 2.0 * least > TIE_TOLERANCE * size
            && moving
                .iter()
                .all(|value| (*value > 0.0) == (moving[0] > 0.0))
        {
            return sampled_permutation(resampling, false, |_| false);
        }
        return sampled_permutation(resampling, limit <= 0.0, |random| {
            sum_with_random_signs(&moving, random).abs() >= limit
        });
    }
    let [left, right] = [left, right].map(signed_sums);
    // Flipping all signs mirrors the sum: as many sums are at or below the lower limit as at or above the upper one.
    let count = if limit > 0.0 {
        2 * pairs_reaching(&left, &right, limit)
    } else {
        (left.len() * right.len()) as u64
    };
    // Flipping a zero is a rearrangement too, as long as their number fits.
    let zeros = if differences.len() < 63 {
        differences.len() - moving.len()
    } else {
        0
    };
    Ok(exact_permutation(
        count << zeros,
        ((left.len() * right.len()) as u64) << zeros,
    ))
}

/// Clusters up to which all ways to split them in two are tried.
const MAX_SPLIT_CLUSTERS: usize = 16;

/// The interval of a mean over clusters that inverts [`sign_flip`]: the means θ that the test of the clusters' sums less θ times their numbers
/// of values does not reject. `clusters` has each cluster's sum of values and its number of values.
///
/// Swapping a set of clusters gives a sum at least as far from zero as the data exactly if θ lies between the mean of that set and the mean
/// of the others. So the ends are order statistics of the two means over all splits (Hartigan 1969, typical values). Tries all splits of up
/// to 16 clusters, else draws. `None` if no mean can be rejected, as with fewer than six clusters at 95%.
pub fn flip_interval(
    clusters: &[(f64, f64)],
    resampling: Resampling,
    confidence: f64,
) -> Option<Interval> {
    let total = clusters
        .iter()
        .fold((0.0, 0.0), |(sum, n), one| (sum + one.0, n + one.1));
    let scale = compensated_sum(clusters.iter().map(|(sum, _)| sum.abs())) / total.1;
    let is_zero = |mean: f64| mean.abs() <= TIE_TOLERANCE * scale;
    let (mut lows, mut highs) = (Vec::new(), Vec::new());
    let mut add = |part: (f64, f64)| {
        let rest = (total.0 - part.0, total.1 - part.1);
        // If all clusters are on one side, no mean is rejected.
        let (one, other) = if part.1 <= 0.5 || rest.1 <= 0.5 {
            (f64::NEG_INFINITY, f64::INFINITY)
        } else {
            (part.0 / part.1, rest.0 / rest.1)
        };
        let exact = |mean: f64| if is_zero(mean) { 0.0 } else { mean };
        lows.push(exact(one.min(other)));
        highs.push(exact(one.max(other)));
    };
    let tried = if clusters.len() <= MAX_SPLIT_CLUSTERS {
        // The first cluster stays on its side: each split is counted once.
        let rest = clusters.get(1..)?;
        for chosen in 0u32..1 << rest.len() {
            let part = rest.iter().enumerate().fold((0.0, 0.0), |part, (at, one)| {
                if chosen >> at & 1 == 1 {
                    (part.0 + one.0, part.1 + one.1)
                } else {
                    part
                }
            });
            add(part);
        }
        0.0
    } else {
        let mut random = ChaCha8Rng::seed_from_u64(resampling.seed);
        for _ in 0..resampling.draws {
            add(random_part(clusters, &mut random));
        }
        // The data count as one more draw.
        1.0
    };
    let alpha = 1.0 - confidence;
    let needed = (alpha * (lows.len() as f64 + tried) - TIE_TOLERANCE).ceil() - tried;
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "from 0 to the number of splits"
    )]
    let place = (needed.max(1.0) as usize).checked_sub(1)?;
    if place >= lows.len() {
        return None;
    }
    let low = *lows.select_nth_unstable_by(place, f64::total_cmp).1;
    let high = *highs
        .select_nth_unstable_by(place, |one, other| other.total_cmp(one))
        .1;
    Interval::new(low, high)
}

/// Returns the sum and the number of values of a random set of the clusters.
fn random_part(clusters: &[(f64, f64)], random: &mut ChaCha8Rng) -> (f64, f64) {
    let mut part = (0.0, 0.0);
    for chunk in clusters.chunks(64) {
        let mut word = random.next_u64();
        for (sum, n) in chunk {
            if word & 1 == 1 {
                part = (part.0 + sum, part.1 + n);
            }
            word >>= 1;
        }
    }
    part
}

/// Returns the values that are not zero up to rounding.
fn nonzero_values(values: &[f64]) -> Vec<f64> {
    let largest = values
        .iter()
        .fold(0.0, |largest: f64, value| largest.max(value.abs()));
    values
        .iter()
        .copied()
        .filter(|value| value.abs() > TIE_TOLERANCE * largest)
        .collect()
}

/// The permutation test of two independent samples: the share of the ways to split the pooled values that give means at least as far apart
/// (Pitman 1937). Tries all ways if half of the values has few enough subsets (up to 32 values, more if one sample is small), else draws.
pub fn permutation_test(
    a: &[f64],
    b: &[f64],
    resampling: Resampling,
) -> Result<Permutation, Undefined> {
    check_finite(a)?;
    check_finite(b)?;
    let n = (a.len() + b.len()) as f64;
    let mean = compensated_sum(a.iter().chain(b).copied()) / n;
    // Around the common mean, the difference of the means is proportional to one sample's sum; use the smaller sample.
    let (fewer, more) = if a.len() <= b.len() { (a, b) } else { (b, a) };
    let pool: Vec<f64> = fewer.iter().chain(more).map(|value| value - mean).collect();
    let size = compensated_sum(pool.iter().map(|value| value.abs()));
    let rounding = 4.0 * f64::EPSILON * compensated_sum(a.iter().chain(b).map(|value| value.abs()));
    if !(size.is_finite() && rounding.is_finite()) {
        return Err(Undefined::NotFinite);
    }
    let limit = compensated_sum(pool[..fewer.len()].iter().copied()).abs()
        - TIE_TOLERANCE * size
        - rounding;
    let (left, right) = pool.split_at(pool.len() / 2);
    let Some((left, right)) =
        sums_by_count(left, fewer.len()).zip(sums_by_count(right, fewer.len()))
    else {
        return sampled_permutation(resampling, limit <= 0.0, |random| {
            sum_without_replacement(&pool, fewer.len(), random).abs() >= limit
        });
    };
    let (mut count, mut all) = (0, 0);
    for (chosen, sums) in left.iter().enumerate() {
        let Some(others) = right.get(fewer.len() - chosen) else {
            continue;
        };
        all += sums.len() as u64 * others.len() as u64;
        count += pairs_reaching(sums, others, limit) + pairs_within(sums, others, -limit);
    }
    Ok(exact_permutation(
        if limit > 0.0 { count } else { all },
        all,
    ))
}

/// Returns the most likely number of passes among a's items, within one.
fn passed_a_expected(passed: u64, total_a: u64, total_b: u64) -> u64 {
    let exact = (u128::from(passed) + 1) * (u128::from(total_a) + 1)
        / (u128::from(total_a) + u128::from(total_b) + 2);
    u64::try_from(exact).unwrap_or(u64::MAX)
}

fn check_finite(values: &[f64]) -> Result<(), Undefined> {
    match values {
        [] => Err(Undefined::NoData),
        _ if values.iter().any(|value| !value.is_finite()) => Err(Undefined::NotFinite),
        _ => Ok(()),
    }
}

fn exact_permutation(count: u64, total: u64) -> Permutation {
    Permutation {
        p: count as f64 / total as f64,
        count,
        total,
        exact: true,
    }
}

/// Counts extreme rearrangements among random ones; `always` if all are extreme.
fn sampled_permutation(
    resampling: Resampling,
    always: bool,
    mut extreme: impl FnMut(&mut ChaCha8Rng) -> bool,
) -> Result<Permutation, Undefined> {
    let total = resampling.draws;
    if total == 0 {
        return Err(Undefined::OutOfRange);
    }
    let mut random = ChaCha8Rng::seed_from_u64(resampling.seed);
    let count = if always {
        total
    } else {
        (0..total).filter(|_| extreme(&mut random)).count() as u64
    };
    Ok(Permutation {
        p: (count + 1) as f64 / (total + 1) as f64,
        count,
        total,
        exact: false,
    })
}

/// Returns the sum with random signs. One random word serves 64 values.
fn sum_with_random_signs(values: &[f64], random: &mut ChaCha8Rng) -> f64 {
    let mut sum = 0.0;
    for chunk in values.chunks(64) {
        let mut word = random.next_u64();
        for value in chunk {
            // Only the sign bit changes.
            sum += f64::from_bits(value.to_bits() ^ ((word & 1) << 63));
            word >>= 1;
        }
    }
    sum
}

/// Returns the sum of `count` values drawn without replacement.
#[expect(
    clippy::cast_possible_truncation,
    reason = "a product's upper word is below the number of places"
)]
fn sum_without_replacement(pool: &[f64], count: usize, random: &mut ChaCha8Rng) -> f64 {
    let mut places: Vec<usize> = (0..pool.len()).collect();
    let mut sum = 0.0;
    for drawn in 0..count {
        let left = (pool.len() - drawn) as u128;
        places.swap(
            drawn,
            drawn + ((u128::from(random.next_u64()) * left) >> 64) as usize,
        );
        sum += pool[places[drawn]];
    }
    sum
}

/// Returns the sums under every choice of signs, in ascending order.
fn signed_sums(values: &[f64]) -> Vec<f64> {
    let mut sums = vec![0.0];
    for value in values {
        let flipped: Vec<f64> = sums.iter().map(|sum| sum - value).collect();
        for sum in &mut sums {
            *sum += value;
        }
        sums.extend(flipped);
    }
    sums.sort_by(f64::total_cmp);
    sums
}

/// Returns the sums of every subset of up to `most` values, by subset size and in ascending order, or `None` if there are too many.
fn sums_by_count(values: &[f64], most: usize) -> Option<Vec<Vec<f64>>> {
    let mut sums = vec![vec![0.0]];
    for value in values {
        if sums.len() <= most {
            sums.push(Vec::new());
        }
        for size in (1..sums.len()).rev() {
            let with: Vec<f64> = sums[size - 1].iter().map(|sum| sum + value).collect();
            sums[size].extend(with);
        }
        if sums.iter().map(Vec::len).sum::<usize>() > MAX_HALF_SUBSETS {
            return None;
        }
    }
    for sums in &mut sums {
        sums.sort_by(f64::total_cmp);
    }
    Some(sums)
}

/// Returns how many pairs of two ascending lists add up to at least `limit`.
fn pairs_reaching(left: &[f64], right: &[f64], limit: f64) -> u64 {
    let (mut count, mut from) = (0, right.len());
    for value in left {
        while from > 0 && value + right[from - 1] >= limit {
            from -= 1;
        }
        count += (right.len() - from) as u64;
    }
    count
}

/// Returns how many pairs of two ascending lists add up to at most `limit`.
fn pairs_within(left: &[f64], right: &[f64], limit: f64) -> u64 {
    let (mut count, mut until) = (0, right.len());
    for value in left {
        while until > 0 && value + right[until - 1] > limit {
            until -= 1;
        }
        count += until as u64;
    }
    count
}

#[cfg(test)]
mod tests {
    use super::*;

    const DRAWS: Resampling = Resampling {
        seed: 7,
        draws: 9999,
    };

    fn close(got: f64, expected: f64) -> bool {
        (got - expected).abs() < 1e-12
    }

    #[test]
    fn flip_interval_of_six_clusters_is_the_range_of_their_means() {
        // Of 32 splits two or more must straddle: the trivial one and the most extreme one, {5, 6} or {1} against the others.
        let clusters = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0].map(|value| (value, 1.0));
        let got = flip_interval(&clusters, DRAWS, 0.95).expect("six clusters");
        // The highest mean of a part is 6 alone, the lowest is 1 alone.
        assert!(close(got.low, 1.0) && close(got.high, 6.0), "{got:?}");
        assert_eq!(flip_interval(&clusters[..5], DRAWS, 0.95), None);
    }

    proptest::proptest! {
        #[test]
        fn flip_interval_ends_where_the_test_rejects(
            clusters in proptest::collection::vec((-9i32..9, 1u8..9), 6..22),
            shift in -2.0..2.0f64,
        ) {
            let exact: Vec<(f64, f64)> = clusters.iter().map(|(sum, n)| (f64::from(*sum), f64::from(*n))).collect();
            let draws = Resampling { seed: 7, draws: 20_000 };
            let Some(ends) = flip_interval(&exact, draws, 0.95) else { return Ok(()) };
            let moved: Vec<f64> = exact.iter().map(|(sum, n)| sum - shift * n).collect();
            let p = sign_flip(&moved, draws).expect("finite").p;
            // Drawn splits and all of them differ a little near the level.
            let is_inside = shift > ends.low && shift < ends.high;
            if exact.len() <= 16 {
                proptest::prop_assert_eq!(is_inside, p >= 0.05, "{:?} {} {}", ends, shift, p);
            } else if (p - 0.05).abs() > 0.01 {
                proptest::prop_assert_eq!(is_inside, p >= 0.05, "{:?} {} {}", ends, shift, p);
            }
        }
    }

    #[test]
    fn discordant_pairs() {
        // Fagerland, Lydersen and Laake 2013: 1 and 7 give .0703 and .0391, that is 18/256 and 10/256.
        let got = mcnemar_test(1, 7);
        assert!(close(got.exact, 18.0 / 256.0) && close(got.mid, 10.0 / 256.0));
        assert_eq!(
            (mcnemar_test(0, 0), mcnemar_test(5, 5).exact),
            (
                McNemar {
                    exact: 1.0,
                    mid: 1.0
                },
                1.0
            )
        );
        assert!(close(mcnemar_test(6, 0).exact, 0.03125) && close(mcnemar_test(5, 5).mid, 1.0));
        // So far in the tail that no normal number is left.
        assert!(mcnemar_test(0, 5000).exact > 0.0 && mcnemar_test(0, 5000).exact < 1e-300);
    }

    /// p-values of `scipy.stats.binomtest`.
    #[test]
    fn many_tables_are_tested_as_each_alone() {
        let expected = [
            (0, 0, 1.0),
            (0, 1, 1.0),
            (1, 0, 1.0),
            (3, 3, 1.0),
            (0, 6, 0.03125),
            (2, 9, 0.065_429_687_5),
            (10, 11, 1.0),
            (5, 30, 2.236_152_067_780_494_7e-5),
            (40, 60, 0.056_887_933_640_980_89),
            (99, 101, 0.943_651_520_990_743_5),
            (100, 160, 0.000_238_941_903_068_139_53),
            (17, 500, 1.400_470_682_023_523e-124),
            (1000, 1100, 0.030_720_707_864_242_49),
            (1200, 900, 6.337_277_315_775_641e-11),
            (4000, 4200, 0.027_972_423_571_324_654),
            (20_000, 20_600, 0.002_950_631_079_514_670_5),
            (75_000, 74_000, 0.009_651_917_310_169_162),
            (0, 1000, 1.866_527_237_006_437_8e-301),
        ];
        let together = mcnemar_each(
            expected
                .iter()
                .map(|(only_a, only_b, _)| (*only_a, *only_b)),
        );
        for ((only_a, only_b, p), got) in expected.into_iter().zip(together) {
            assert_eq!(got, mcnemar_test(only_a, only_b), "{only_a} and {only_b}");
            assert!(
                (got.exact / p - 1.0).abs() < 1e-10,
                "{only_a} and {only_b}: {got:?}"
            );
        }
    }

    #[test]
    fn differences_of_one_sign_need_no_draw() {
        for values in [
            vec![1.0; 40],
            (1..60).map(|value| -f64::from(value)).collect::<Vec<f64>>(),
        ] {
            let limit = compensated_sum(values.iter().copied()).abs() * (1.0 - TIE_TOLERANCE);
            let drawn = sampled_permutation(DRAWS, false, |random| {
                sum_with_random_signs(&values, random).abs() >= limit
            });
            assert_eq!(sign_flip(&values, DRAWS), drawn);
            assert!(close(drawn.expect("there are values").p, 1e-4));
        }
        // If one value has another sign, signs are drawn.
        let mixed: Vec<f64> = (0..40)
            .map(|place| if place == 0 { -1.0 } else { 1.0 })
            .collect();
        assert!(sign_flip(&mixed, DRAWS).expect("there are values").p < 1e-3);
    }

    #[test]
    fn tables() {
        // The tea tasting of Fisher 1935: 3 of 4 and 1 of 4. Then R's `fisher.test` on convictions of twins, 2 of 17 and 10 of 13.
        assert!(close(
            fisher_exact(3, 4, 1, 4).expect("both have items"),
            34.0 / 70.0
        ));
        let twins = fisher_exact(10, 12, 3, 18).expect("both have items");
        assert!(
            (twins - 0.000_536_724_119_143_435_3).abs() < 1e-15,
            "{twins}"
        );
        // The published study's tables.
        assert!(close(
            fisher_exact(41, 48, 40, 48).expect("both have items"),
            1.0
        ));
        assert!((fisher_exact(26, 28, 23, 28).expect("both have items") - 0.42).abs() < 5e-3);
        assert_eq!(fisher_exact(0, 5, 0, 9), Ok(1.0));
        assert_eq!(fisher_exact(0, 0, 3, 9), Err(Undefined::NoData));
        assert_eq!(fisher_exact(4, 3, 3, 9), Err(Undefined::OutOfRange));
    }

    #[test]
    fn flips() {
        // Darwin's maize, the example of Fisher 1935: 863 of 32 768 sums reach the observed one on each side.
        let maize = [
            49.0, -67.0, 8.0, 16.0, 6.0, 23.0, 28.0, 41.0, 14.0, 29.0, 56.0, 24.0, 75.0, 60.0,
            -48.0,
        ];
        let got = sign_flip(&maize, DRAWS).expect("values");
        assert_eq!((got.count, got.total, got.exact), (2 * 863, 32_768, true));
        // 0.1 + 0.2 - 0.3 is zero, so all eight sums are at least as extreme, although the binary sum is 5.6e-17.
        assert_eq!(
            sign_flip(&[0.1, 0.2, -0.3], DRAWS).map(|got| got.count),
            Ok(8)
        );
        assert_eq!(
            sign_flip(&[0.0; 4], DRAWS).map(|got| (got.p, got.count, got.total)),
            Ok((1.0, 16, 16))
        );
        assert_eq!(
            sign_flip(&[1.0, 0.0, 1.0], DRAWS).map(|got| (got.count, got.total)),
            Ok((4, 8))
        );
        // Forty clusters whose sums cancel up to rounding, and six others: enumerated, 2 of 2⁶ ways.
        let mut sums: Vec<f64> = (0..40).map(|at| f64::from(at % 3 - 1) * 1e-17).collect();
        sums.extend([1.0, 2.0, 1.5, 0.5, 3.0, 1.0]);
        let got = sign_flip(&sums, DRAWS).expect("values");
        assert!(got.exact && close(got.p, 2.0 / 64.0), "{got:?}");
        assert_eq!(sign_flip(&[], DRAWS), Err(Undefined::NoData));
        assert_eq!(sign_flip(&[f64::NAN], DRAWS), Err(Undefined::NotFinite));
    }

    #[test]
    fn splits() {
        // Three against three without overlap: the two most extreme of twenty splits.
        let got = permutation_test(&[1.0, 2.0, 3.0], &[4.0, 5.0, 6.0], DRAWS).expect("values");
        assert_eq!((got.count, got.total), (2, 20));
        assert_eq!(
            permutation_test(&[0.7; 3], &[0.7; 4], DRAWS).map(|got| (got.p, got.total)),
            Ok((1.0, 35))
        );
        // A large offset must not break ties: {1, 2} against {1, 2} has difference zero, so every split is as extreme.
        let far = permutation_test(&[1e9 + 0.1, 1e9 + 0.2], &[1e9 + 0.1, 1e9 + 0.2], DRAWS)
            .expect("values");
        assert_eq!((far.count, far.total), (6, 6));
        // A small sample against a large one is still counted in full.
        let many: Vec<f64> = (0..60).map(f64::from).collect();
        assert_eq!(
            permutation_test(&[100.0, 101.0], &many, DRAWS).map(|got| (got.count, got.total)),
            Ok((1, 1891))
        );
        assert_eq!(permutation_test(&[], &many, DRAWS), Err(Undefined::NoData));
    }

    #[test]
    fn draws_agree_with_counting_and_with_themselves() {
        let differences: Vec<f64> = (0..40).map(|at| f64::from(at % 7) - 2.5).collect();
        let got = sign_flip(&differences, DRAWS).expect("values");
        assert!(!got.exact && got == sign_flip(&differences, DRAWS).expect("values"));
        let exact = sign_flip(&differences[..32], DRAWS).expect("values");
        let limit = differences[..32].iter().sum::<f64>().abs() - 1e-9;
        let by_draw = sampled_permutation(DRAWS, false, |random| {
            sum_with_random_signs(&differences[..32], random).abs() >= limit
        })
        .expect("draws");
        assert!(
            exact.exact && (exact.p - by_draw.p).abs() < 0.02,
            "{exact:?} {by_draw:?}"
        );
        let (left, right) = differences.split_at(18);
        let got = permutation_test(left, right, DRAWS).expect("values");
        assert!(!got.exact && got == permutation_test(left, right, DRAWS).expect("values"));
        assert_eq!(
            permutation_test(left, right, Resampling { seed: 7, draws: 0 }),
            Err(Undefined::OutOfRange)
        );
    }

    proptest::proptest! {
        #[test]
        fn counting_in_halves_is_counting(
            a in proptest::collection::vec(-30i16..30, 1..6), b in proptest::collection::vec(-30i16..30, 1..6),
        ) {
            // Whole numbers, tried one by one, against tenths.
            let pool: Vec<i64> = a.iter().chain(&b).map(|value| i64::from(*value)).collect();
            let [na, nb] = [&a, &b].map(|values| i64::try_from(values.len()).expect("a few values"));
            let all: i64 = pool.iter().sum();
            let apart = |sum: i64| (sum * nb - (all - sum) * na).abs();
            let observed = apart(pool[..a.len()].iter().sum());
            let splits = (0u32..1 << pool.len()).filter(|mask| mask.count_ones() as usize == a.len());
            let sum_of = |mask: u32| (0..pool.len()).filter(|at| mask >> at & 1 == 1).map(|at| pool[at]).sum::<i64>();
            let expected = splits.filter(|mask| apart(sum_of(*mask)) >= observed).count() as u64;
            let [tenths_a, tenths_b] = [&a, &b].map(|values| values.iter().map(|value| f64::from(*value) / 10.0).collect::<Vec<_>>());
            let got = permutation_test(&tenths_a, &tenths_b, DRAWS).expect("values");
            proptest::prop_assert_eq!(got.count, expected);
            proptest::prop_assert_eq!(got, permutation_test(&tenths_b, &tenths_a, DRAWS).expect("values"));
            let flipped = |mask: u32| 2 * sum_of(mask) - all;
            let flips = (0u32..1 << pool.len()).filter(|mask| flipped(*mask).abs() >= all.abs());
            let tenths: Vec<f64> = pool.iter().map(|value| *value as f64 / 10.0).collect();
            proptest::prop_assert_eq!(sign_flip(&tenths, DRAWS).expect("values").count, flips.count() as u64);
        }

        #[test]
        fn swapping_keeps_p(passed_a in 0u64..40, failed_a in 0u64..40, passed_b in 0u64..40, failed_b in 0u64..40) {
            proptest::prop_assume!(passed_a + failed_a > 0 && passed_b + failed_b > 0);
            let there = fisher_exact(passed_a, passed_a + failed_a, passed_b, passed_b + failed_b).expect("items");
            let back = fisher_exact(passed_b, passed_b + failed_b, passed_a, passed_a + failed_a).expect("items");
            proptest::prop_assert!(close(there, back));
            proptest::prop_assert_eq!(mcnemar_test(passed_a, passed_b), mcnemar_test(passed_b, passed_a));
        }
    }
}
