//! Which means and standard deviations a sample of whole numbers can have.
//!
//! GRIMMER (Anaya 2016, "The GRIMMER test", PeerJ Preprints 4:e2400) in its analytic form (Allard 2018, "Analytic-GRIMMER"): with the sum S
//! and the sum of squares Q of n whole numbers, the variance is (Q − S²/n)/(n − 1), and Q is odd if S is. Two conditions make it exact for
//! whole numbers of any size: Q is at least that of numbers as equal as S allows, and up to four numbers are sought one by one. For outcomes
//! of 0 and 1, Q = S, so that the mean gives the deviation (DEBIT, Heathers and Brown 2019): [`standard_deviation`](super::standard_deviation).

use super::Rounding;

/// A printed number in units of its last digit: 3.41 is 341 of a scale of 100.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct PrintedNumber {
    pub units: i64,
    pub scale: u64,
}

/// What the squared deviations are divided by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VarianceDivisor {
    /// n − 1.
    Sample,
    /// n.
    Population,
}

/// Larger samples and figures are not examined: their digits cannot refute anything.
const MAX_SAMPLE: u64 = 100_000;
const MAX_UNITS: i64 = 1_000_000_000;
const MAX_SCALE: u64 = 1_000_000;
/// Up to this many numbers, not every sum of squares that fits the sum belongs to some sample.
const MAX_CHECKED_SAMPLE: u64 = 4;
/// Sums of squares above this are not sought one by one.
const MAX_SOUGHT: i128 = 1_000_000;

impl PrintedNumber {
    fn is_examined(self, sample: u64) -> bool {
        (1..=MAX_SAMPLE).contains(&sample)
            && self.units.abs() <= MAX_UNITS
            && (1..=MAX_SCALE).contains(&self.scale)
    }

    /// Returns the ends of the numbers that are printed so, in half units.
    fn half_unit_ends(self, rounding: Rounding) -> (i128, i128) {
        let units = i128::from(self.units);
        match rounding {
            Rounding::Nearest => (2 * units - 1, 2 * units + 1),
            Rounding::Down => (2 * units, 2 * units + 2),
            Rounding::Up => (2 * units - 2, 2 * units),
        }
    }

    /// Returns the least and the greatest sum of `sample` whole numbers whose mean is printed so: GRIM. `None` if there is none.
    pub fn possible_sums(self, sample: u64, rounding: Rounding) -> Option<(i64, i64)> {
        if !self.is_examined(sample) {
            return None;
        }
        let (low, high) = self.half_unit_ends(rounding);
        let (size, unit) = (i128::from(sample), 2 * i128::from(self.scale));
        let least = -(-low * size).div_euclid(unit);
        let most = (high * size).div_euclid(unit);
        Some((i64::try_from(least).ok()?, i64::try_from(most).ok()?))
            .filter(|(least, most)| least <= most)
    }

    /// Returns whether `sample` whole numbers can have this mean and this standard deviation: GRIMMER. True for figures that are too large to
    /// be examined.
    pub fn has_deviation(
        self,
        deviation: Self,
        sample: u64,
        divisor: VarianceDivisor,
        rounding: Rounding,
    ) -> bool {
        if !self.is_examined(sample) || !deviation.is_examined(sample) || deviation.units < 0 {
            return deviation.units >= 0;
        }
        let Some((least, most)) = self.possible_sums(sample, rounding) else {
            return false;
        };
        let (size, unit) = (i128::from(sample), 2 * i128::from(deviation.scale));
        let divided = match divisor {
            VarianceDivisor::Sample => size - 1,
            VarianceDivisor::Population => size,
        };
        let (low, high) = deviation.half_unit_ends(rounding);
        let low = low.max(0);
        // nQ − S² = variance · n · divisor.
        let part = unit * unit * size;
        (least..=most).any(|sum| {
            let sum = i128::from(sum);
            let square_of_sum = unit * unit * sum * sum;
            let fewest = -(-(square_of_sum + low * low * size * divided)).div_euclid(part);
            let greatest = (square_of_sum + high * high * size * divided).div_euclid(part);
            let (share, rest) = (sum.div_euclid(size), sum.rem_euclid(size));
            let equal = rest * (share + 1) * (share + 1) + (size - rest) * share * share;
            let mut squares = fewest.max(equal);
            squares += (squares - sum).rem_euclid(2);
            while squares <= greatest {
                if sample > MAX_CHECKED_SAMPLE
                    || squares > MAX_SOUGHT
                    || is_sample(sample, sum, squares)
                {
                    return true;
                }
                squares += 2;
            }
            false
        })
    }

    /// Returns the share of the deviations near this one that a sample of this mean can have: how little the test can refute.
    pub fn possible_deviations(
        self,
        deviation: Self,
        sample: u64,
        divisor: VarianceDivisor,
        rounding: Rounding,
    ) -> f64 {
        const NEIGHBOUR_UNITS: i64 = 50;
        let first = (deviation.units - NEIGHBOUR_UNITS).max(0);
        let near = (first..=first + 2 * NEIGHBOUR_UNITS).map(|units| Self { units, ..deviation });
        let possible = near
            .filter(|near| self.has_deviation(*near, sample, divisor, rounding))
            .count();
        possible as f64 / (2 * NEIGHBOUR_UNITS + 1) as f64
    }
}

/// Returns whether some `count` whole numbers have this sum and this sum of squares.
fn is_sample(count: u64, sum: i128, squares: i128) -> bool {
    if squares < 0 || i128::from(count) * squares < sum * sum {
        return false;
    }
    match count {
        0 => sum == 0 && squares == 0,
        1 => sum * sum == squares,
        _ => {
            let root = i128::try_from(squares.unsigned_abs().isqrt()).unwrap_or(0);
            (-root..=root).any(|one| is_sample(count - 1, sum - one, squares - one * one))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// n, mean, deviation, scale, and whether the deviation is with n − 1.
    type Case = (u64, i64, i64, u64, bool);

    fn possible((sample, mean, deviation, scale, of_sample): Case) -> bool {
        let divisor = if of_sample {
            VarianceDivisor::Sample
        } else {
            VarianceDivisor::Population
        };
        let [mean, deviation] = [mean, deviation].map(|units| PrintedNumber { units, scale });
        mean.has_deviation(deviation, sample, divisor, Rounding::Nearest)
    }

    #[test]
    fn deviations_are_those_of_every_sample_in_turn() {
        // Python, all multisets of n whole numbers up to 40, exact decimals, ties in both directions.
        for (case, expected) in VECTORS {
            assert_eq!(possible(case), expected, "{case:?}");
        }
    }

    #[test]
    fn no_sample_of_whole_numbers_is_refused() {
        // Every sample of five numbers from 0 to 6, printed with one and two decimals.
        let mut sample = [0_i64; 5];
        loop {
            let (sum, squares): (i64, i64) = (
                sample.iter().sum(),
                sample.iter().map(|value| value * value).sum(),
            );
            for (divisor, by) in [
                (VarianceDivisor::Sample, 4.0),
                (VarianceDivisor::Population, 5.0),
            ] {
                let deviation = ((squares as f64 - (sum * sum) as f64 / 5.0) / by)
                    .max(0.0)
                    .sqrt();
                for scale in [10_u64, 100] {
                    #[expect(clippy::cast_possible_truncation, reason = "a small number")]
                    let units = |value: f64| PrintedNumber {
                        units: (value * scale as f64).round() as i64,
                        scale,
                    };
                    let (mean, deviation) = (units(sum as f64 / 5.0), units(deviation));
                    assert!(
                        mean.has_deviation(deviation, 5, divisor, Rounding::Nearest),
                        "{sample:?} {divisor:?} {scale}"
                    );
                }
            }
            let Some(place) = (0..5).find(|place| sample[*place] < 6) else {
                break;
            };
            sample[place] += 1;
            let next = sample[place];
            sample[..place].fill(next);
        }
    }

    #[test]
    fn sums_are_those_of_the_published_examples() {
        // Brown and Heathers (2017): 5.19 is no mean of 28 whole numbers, 5.18 and 5.21 are.
        let sums = |units| PrintedNumber { units, scale: 100 }.possible_sums(28, Rounding::Nearest);
        assert_eq!(
            [sums(518), sums(519), sums(521), sums(-521)],
            [Some((145, 145)), None, Some((146, 146)), Some((-146, -146))]
        );
    }

    #[rustfmt::skip]
    const VECTORS: [(Case, bool); 48] = [
        ((2, 2250, 636, 100, true), true), ((2, 2400, 990, 100, true), true), ((2, 2300, 0, 100, true), true),
        ((2, 2300, 1042, 100, true), false), ((2, 1900, 380, 100, true), false), ((2, 2400, 976, 100, true), false),
        ((3, 933, 503, 100, true), true), ((3, 867, 351, 100, true), true), ((3, 1167, 208, 100, true), true),
        ((3, 933, 147, 100, true), false), ((3, 833, 553, 100, true), false), ((3, 1200, 44, 100, true), false),
        ((4, 700, 163, 100, true), true), ((4, 625, 236, 100, true), true), ((4, 650, 129, 100, true), true),
        ((4, 550, 321, 100, true), false), ((4, 500, 272, 100, true), false), ((4, 525, 32, 100, true), false),
        ((5, 400, 190, 100, false), true), ((5, 440, 102, 100, false), true), ((5, 580, 299, 100, false), true),
        ((5, 460, 17, 100, false), false), ((5, 540, 169, 100, false), false), ((5, 560, 121, 100, false), false),
        ((6, 500, 268, 100, true), true), ((6, 433, 103, 100, true), true), ((6, 483, 41, 100, true), true),
        ((6, 367, 45, 100, true), false), ((6, 483, 144, 100, true), false), ((6, 467, 44, 100, true), false),
        ((8, 400, 177, 100, true), true), ((8, 325, 71, 100, true), true), ((8, 338, 74, 100, true), true),
        ((8, 412, 60, 100, true), false), ((8, 363, 75, 100, true), false), ((8, 288, 19, 100, true), false),
        ((10, 340, 70, 100, true), true), ((10, 250, 178, 100, true), true), ((10, 310, 74, 100, true), true),
        ((10, 250, 76, 100, true), false), ((10, 300, 19, 100, true), false), ((10, 240, 177, 100, true), false),
        ((7, 24, 5, 10, true), true), ((7, 27, 16, 10, true), true), ((7, 27, 15, 10, true), true),
        ((7, 33, 4, 10, true), false), ((7, 29, 10, 10, true), false), ((7, 26, 6, 10, true), false),
    ];
}
