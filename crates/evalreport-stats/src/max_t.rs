//! Families of sign-flip tests on the same units, adjusted by flipping all of them together.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{RngCore, SeedableRng};

use super::Undefined;
use super::exact::Resampling;
use super::mean::compensated_sum;

/// Maximum number of units for which all flips are tried: 2¹⁶ ways, because the first unit's sign is fixed (a mirrored way gives the same
/// result).
const MAX_ENUMERATED_UNITS: usize = 17;

/// Statistics that differ by less than this share are ties, as in the sign-flip test of one pair.
const TIE_TOLERANCE: f64 = 1e-9;

/// The adjusted p-values of a family of pairs.
#[derive(Clone, Debug, PartialEq, serde::Serialize, schemars::JsonSchema)]
pub struct MaxT {
    /// By pair, in input order: if every result below alpha is rejected, the chance of any false rejection in the family is at most alpha.
    pub adjusted: Vec<f64>,
    /// By pair: the unadjusted sign-flip test, from the same flips.
    pub alone: Vec<f64>,
    /// Number of tried flips.
    pub flips: u64,
    /// Whether all flips were tried. If not, the data count as one more flip in each p.
    pub exact: bool,
    /// The smallest p-value that this design can give, whatever the data.
    pub smallest: f64,
}

/// Westfall and Young's step-down adjustment (1993, algorithm 4.1), flipping the signs of units for all pairs at once.
///
/// `pairs` has by pair the differences of the units, such as the sums of clusters. All pairs have the same units in the same order, with 0
/// for a missing unit. A pair's statistic is |Σd| / √Σd², which orders the flips as |t| does and puts pairs of different spread on one
/// scale. Each statistic is compared with the largest of the family: for correlated pairs this costs less than Holm's factor, and a p of
/// 2/2ᴳ stays the same for any number of pairs. Differences are assumed to be jointly symmetric, which holds if no arm differs from another
/// and clusters are swapped whole.
///
/// Undefined without pairs or units, if pairs have different numbers of units, or if all differences are zero.
pub fn max_t(pairs: &[impl AsRef<[f64]>], resampling: Resampling) -> Result<MaxT, Undefined> {
    let units = pairs.first().ok_or(Undefined::NoData)?.as_ref().len();
    if units == 0 {
        return Err(Undefined::NoData);
    }
    if pairs.iter().any(|pair| pair.as_ref().len() != units) {
        return Err(Undefined::Unequal);
    }
    if pairs
        .iter()
        .any(|pair| pair.as_ref().iter().any(|value| !value.is_finite()))
    {
        return Err(Undefined::NotFinite);
    }
    // Scale each pair, and set values to zero that are zero up to rounding.
    let scaled: Vec<Vec<f64>> = pairs
        .iter()
        .map(|pair| scale_to_unit_length(pair.as_ref()))
        .collect();
    let moving: Vec<usize> = (0..units)
        .filter(|unit| scaled.iter().any(|pair| pair[*unit] != 0.0))
        .collect();
    if moving.is_empty() {
        return Err(Undefined::NoVariation);
    }
    let columns: Vec<Vec<f64>> = moving
        .iter()
        .map(|unit| scaled.iter().map(|pair| pair[*unit]).collect())
        .collect();
    let observed: Vec<f64> = (0..pairs.len())
        .map(|pair| compensated_sum(columns.iter().map(|column| column[pair])).abs())
        .collect();
    let mut order: Vec<usize> = (0..pairs.len()).collect();
    order.sort_by(|one, other| observed[*other].total_cmp(&observed[*one]));
    let mut counts = FlipCounts {
        alone: vec![0; pairs.len()],
        stepped: vec![0; pairs.len()],
        observed: &observed,
        order: &order,
    };
    let exact = columns.len() <= MAX_ENUMERATED_UNITS;
    let flips = if exact {
        enumerate_flips(&columns, &mut counts)
    } else {
        draw_flips(&columns, resampling, &mut counts)?
    };
    let more = u64::from(!exact);
    let p = |count: u64| (count + more) as f64 / (flips + more) as f64;
    let (mut adjusted, mut largest) = (vec![1.0; pairs.len()], 0.0_f64);
    for pair in &order {
        largest = largest.max(p(counts.stepped[*pair]));
        adjusted[*pair] = largest;
    }
    let alone = counts.alone.iter().map(|count| p(*count)).collect();
    // The largest statistic is reached by the data and by their mirror image, which count as one flip here.
    let smallest = if exact {
        1.0 / flips as f64
    } else {
        1.0 / (flips + 1) as f64
    };
    Ok(MaxT {
        adjusted,
        alone,
        flips,
        exact,
        smallest,
    })
}

/// Scales the values to a sum of squares of 1, so that their sum is the statistic. All zeros stay zeros.
fn scale_to_unit_length(pair: &[f64]) -> Vec<f64> {
    let largest = pair
        .iter()
        .fold(0.0, |largest: f64, value| largest.max(value.abs()));
    let kept: Vec<f64> = pair
        .iter()
        .map(|value| {
            if value.abs() > TIE_TOLERANCE * largest {
                value / largest
            } else {
                0.0
            }
        })
        .collect();
    let length = compensated_sum(kept.iter().map(|value| value * value)).sqrt();
    if length > 0.0 {
        kept.iter().map(|value| value / length).collect()
    } else {
        kept
    }
}

/// Numbers of flips in which a statistic reached that of the data.
struct FlipCounts<'a> {
    /// By pair: its own statistic.
    alone: Vec<u64>,
    /// By pair: the largest of its own statistic and those that rank behind it in the data.
    stepped: Vec<u64>,
    observed: &'a [f64],
    order: &'a [usize],
}

impl FlipCounts<'_> {
    fn count_flip(&mut self, sums: &[f64]) {
        let mut largest = 0.0_f64;
        for pair in self.order.iter().rev() {
            let (sum, limit) = (sums[*pair].abs(), self.observed[*pair] - TIE_TOLERANCE);
            largest = largest.max(sum);
            self.alone[*pair] += u64::from(sum >= limit);
            self.stepped[*pair] += u64::from(largest >= limit);
        }
    }
}

/// Flips one unit's sign at a time (Gray 1953); the first unit keeps its sign.
fn enumerate_flips(columns: &[Vec<f64>], counts: &mut FlipCounts) -> u64 {
    let pairs = columns[0].len();
    let mut sums: Vec<f64> = (0..pairs)
        .map(|pair| compensated_sum(columns.iter().map(|column| column[pair])))
        .collect();
    let mut signs = vec![1.0; columns.len()];
    let ways = 1_u64 << (columns.len() - 1);
    counts.count_flip(&sums);
    for way in 1..ways {
        let unit = 1 + way.trailing_zeros() as usize;
        signs[unit] = -signs[unit];
        for (sum, value) in sums.iter_mut().zip(&columns[unit]) {
            *sum += 2.0 * signs[unit] * value;
        }
        counts.count_flip(&sums);
    }
    ways
}

fn draw_flips(
    columns: &[Vec<f64>],
    resampling: Resampling,
    counts: &mut FlipCounts,
) -> Result<u64, Undefined> {
    if resampling.draws == 0 {
        return Err(Undefined::OutOfRange);
    }
    let mut random = ChaCha8Rng::seed_from_u64(resampling.seed);
    let mut sums = vec![0.0; columns[0].len()];
    for _ in 0..resampling.draws {
        sums.fill(0.0);
        for chunk in columns.chunks(64) {
            let mut word = random.next_u64();
            for column in chunk {
                let flip = (word & 1) << 63;
                word >>= 1;
                for (sum, value) in sums.iter_mut().zip(column) {
                    // Only the sign bit changes.
                    *sum += f64::from_bits(value.to_bits() ^ flip);
                }
            }
        }
        counts.count_flip(&sums);
    }
    Ok(resampling.draws)
}

#[cfg(test)]
mod tests {
    use super::super::sign_flip;
    use super::*;

    const DRAWS: Resampling = Resampling {
        seed: 7,
        draws: 9999,
    };

    #[test]
    fn by_hand() {
        // Three units. Pair one is 1 1 1: |sum| / √3 is √3 in one of four ways, 1/√3 in the others. Pair two is 1 1 −2, over √6: 0, then
        // 4/√6 for the third flipped, 2/√6 for either other. The largest of both: √3, 4/√6, 2/√6, 2/√6 against √3 and 0.
        let got = max_t(&[[1.0, 1.0, 1.0], [1.0, 1.0, -2.0]], DRAWS).expect("units");
        assert_eq!(
            (got.adjusted, got.alone, got.flips, got.exact),
            (vec![0.25, 1.0], vec![0.25, 1.0], 4, true)
        );
        assert!((got.smallest - 0.25).abs() < 1e-15);
        // Beside 2 1 1, over √6: 4/√6 = 1.633, then 2/√6, 2/√6 and 0. Its step is its own; the first one's is over both.
        let got = max_t(&[[2.0, 1.0, 1.0], [1.0, 1.0, 1.0]], DRAWS).expect("units");
        assert_eq!(got.adjusted, vec![0.25, 0.25]);
        // With more pairs the smallest p stays: for 105 pairs over twelve clusters, Holm would turn 0.0005 into 0.051.
        let mut pairs = vec![vec![0.0; 12]; 104];
        for (at, pair) in pairs.iter_mut().enumerate() {
            for (unit, value) in pair.iter_mut().enumerate() {
                *value = if (at * 7 + unit * unit * 5) % 11 < 5 {
                    1.0
                } else {
                    -0.9
                };
            }
        }
        pairs.push(vec![1.0; 12]);
        let got = max_t(&pairs, DRAWS).expect("units");
        assert!(
            got.exact && (got.alone[104] - 2.0 / 4096.0).abs() < 1e-15 && got.adjusted[104] < 0.05,
            "{}",
            got.adjusted[104]
        );
    }

    #[test]
    fn what_has_no_value() {
        assert_eq!(max_t(&[[0.0; 0]; 0], DRAWS), Err(Undefined::NoData));
        assert_eq!(max_t(&[[0.0; 0]; 2], DRAWS), Err(Undefined::NoData));
        assert_eq!(max_t(&[[0.0; 3]; 2], DRAWS), Err(Undefined::NoVariation));
        assert_eq!(
            max_t(&[vec![1.0], vec![1.0, 2.0]], DRAWS),
            Err(Undefined::Unequal)
        );
        assert_eq!(max_t(&[[f64::NAN, 1.0]], DRAWS), Err(Undefined::NotFinite));
        assert_eq!(
            max_t(&[[1.0; 30]], Resampling { draws: 0, ..DRAWS }),
            Err(Undefined::OutOfRange)
        );
        // A pair without any difference beside one with differences.
        assert_eq!(
            max_t(&[[0.0; 3], [1.0; 3]], DRAWS).map(|got| got.adjusted),
            Ok(vec![1.0, 0.25])
        );
    }

    #[test]
    fn draws_agree_with_counting() {
        let pair = |seed: usize, units: usize| {
            (0..units)
                .map(|unit| ((unit * unit * 31 + seed * 17) % 23) as f64 - 7.0)
                .collect::<Vec<f64>>()
        };
        let exact = max_t(&[pair(1, 16), pair(2, 16), pair(3, 16)], DRAWS).expect("units");
        // The same statistics with units of negligible weight that are too many to enumerate.
        let more = [1, 2, 3].map(|seed| {
            pair(seed, 16)
                .into_iter()
                .chain(vec![1e-7; 8])
                .collect::<Vec<f64>>()
        });
        let drawn = max_t(&more, DRAWS).expect("units");
        assert!(exact.exact && !drawn.exact && drawn == max_t(&more, DRAWS).expect("units"));
        for (one, other) in exact.adjusted.iter().zip(&drawn.adjusted) {
            assert!((one - other).abs() < 0.02, "{exact:?} {drawn:?}");
        }
    }

    proptest::proptest! {
        #[test]
        fn never_below_the_test_alone_and_the_same_for_one(
            family in proptest::collection::vec(proptest::collection::vec(-9i8..9, 8), 1..6), swap: bool,
        ) {
            let pairs: Vec<Vec<f64>> = family.iter().map(|pair| pair.iter().map(|value| f64::from(*value) / 10.0).collect()).collect();
            let Ok(got) = max_t(&pairs, DRAWS) else { return Ok(()) };
            for (at, pair) in pairs.iter().enumerate() {
                let alone = sign_flip(pair, DRAWS).expect("values").p;
                proptest::prop_assert!((got.alone[at] - alone).abs() < 1e-12);
                proptest::prop_assert!(got.adjusted[at] >= alone - 1e-12 && got.adjusted[at] <= 1.0);
                if pairs.len() == 1 {
                    proptest::prop_assert!((got.adjusted[0] - alone).abs() < 1e-12);
                }
                proptest::prop_assert!(got.adjusted[at] >= got.smallest - 1e-12);
            }
            // The result depends neither on the order of the pairs nor on which arm is first.
            let turned: Vec<Vec<f64>> = pairs.iter().rev().map(|pair| {
                pair.iter().rev().map(|value| if swap { -value } else { *value }).collect()
            }).collect();
            let back = max_t(&turned, DRAWS).expect("the same values");
            for (one, other) in got.adjusted.iter().zip(back.adjusted.iter().rev()) {
                proptest::prop_assert!((one - other).abs() < 1e-12);
            }
        }
    }
}
