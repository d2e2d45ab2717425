//! Standard errors and intervals of a rate by every usual formula, to find the formula behind published ones.

use super::distribution::{normal_quantile, t_quantile, upper_level};
use super::{Interval, clopper_pearson, wilson_score_interval};

/// A formula behind a published standard error, half width or interval.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum SpreadFormula {
    /// p ± z √(p(1 − p)/n) (Laplace 1812).
    Wald,
    /// The same with n − 1, as a sample's variance has it, and with the normal quantile.
    WaldOfSample,
    /// With n − 1 and Student's t.
    Student,
    /// Wilson (1927).
    Wilson,
    /// Clopper and Pearson (1934).
    ClopperPearson,
    /// Agresti and Coull (1998): Wald's around (k + z²/2)/(n + z²).
    AgrestiCoull,
}

/// Levels of intervals that are tried: one and two standard errors beside the usual ones.
pub const TRIED_LEVELS: [f64; 6] = [0.95, 0.90, 0.99, 0.80, ONE_ERROR_LEVEL, TWO_ERRORS_LEVEL];
/// P(|z| < 1) and P(|z| < 2).
const ONE_ERROR_LEVEL: f64 = 0.682_689_492_137_085_9;
const TWO_ERRORS_LEVEL: f64 = 0.954_499_736_103_641_6;

impl SpreadFormula {
    pub const ALL: [Self; 6] = [
        Self::Wald,
        Self::WaldOfSample,
        Self::Wilson,
        Self::ClopperPearson,
        Self::AgrestiCoull,
        Self::Student,
    ];

    /// Returns the interval of `passed` of `total` at a level. `None` if the formula needs more items.
    pub fn interval_at(self, passed: u64, total: u64, level: f64) -> Option<Interval> {
        let (count, n) = (passed as f64, total as f64);
        let share = count / n;
        let z = normal_quantile(upper_level(level).ok()?).ok()?;
        let around = |centre: f64, half: f64| Interval::new(centre - half, centre + half);
        match self {
            Self::Wald => around(share, z * standard_error(passed, total, false)?),
            Self::WaldOfSample => around(share, z * standard_error(passed, total, true)?),
            Self::Student => {
                let quantile = t_quantile(upper_level(level).ok()?, n - 1.0)
                    .ok()
                    .filter(|_| total > 1)?;
                around(share, quantile * standard_error(passed, total, true)?)
            }
            Self::Wilson => wilson_score_interval(passed, total, level).ok(),
            Self::ClopperPearson => clopper_pearson(passed, total, level).ok(),
            Self::AgrestiCoull => {
                let (wide, centre) = (n + z * z, (count + z * z / 2.0) / (n + z * z));
                around(centre, z * (centre * (1.0 - centre) / wide).sqrt())
            }
        }
    }
}

/// Returns √(p(1 − p)/n), or with n − 1 for a sample. `None` if there are too few items.
pub fn standard_error(passed: u64, total: u64, of_sample: bool) -> Option<f64> {
    standard_deviation(passed, total, of_sample).map(|deviation| deviation / (total as f64).sqrt())
}

/// Returns the standard deviation of outcomes of 0 and 1: √(p(1 − p)), or times √(n/(n − 1)) for a sample. `None` if there are too few items.
pub fn standard_deviation(passed: u64, total: u64, of_sample: bool) -> Option<f64> {
    let share = passed as f64 / total as f64;
    let divisor = if of_sample {
        total.checked_sub(1)?
    } else {
        total
    };
    (divisor > 0).then(|| {
        (share * (1.0 - share) * total as f64 / divisor as f64)
            .max(0.0)
            .sqrt()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn intervals_are_those_of_statsmodels() {
        // statsmodels 0.14, proportion_confint(139, 225, alpha, method); scipy, stats.t.interval and stats.norm.ppf over the 225 values.
        for (formula, level, low, high) in [
            (
                SpreadFormula::Wald,
                0.95,
                0.554_284_033_343_079_5,
                0.681_271_522_212_476,
            ),
            (
                SpreadFormula::Wald,
                0.99,
                0.534_332_852_872_527_1,
                0.701_222_702_683_028_4,
            ),
            (
                SpreadFormula::WaldOfSample,
                0.95,
                0.554_142_464_060_449_5,
                0.681_413_091_495_106,
            ),
            (
                SpreadFormula::Student,
                0.95,
                0.553_796_782_354_546_9,
                0.681_758_773_201_008_6,
            ),
            (
                SpreadFormula::Wilson,
                0.95,
                0.552_811_091_172_032_2,
                0.678_790_299_035_532_7,
            ),
            (
                SpreadFormula::Wilson,
                0.99,
                0.532_093_859_887_191_2,
                0.696_714_496_615_713_7,
            ),
            (
                SpreadFormula::ClopperPearson,
                0.95,
                0.550_846_205_640_748_2,
                0.681_561_904_628_703_1,
            ),
            (
                SpreadFormula::ClopperPearson,
                0.99,
                0.530_286_258_131_612_3,
                0.700_162_852_833_304_5,
            ),
            (
                SpreadFormula::AgrestiCoull,
                0.95,
                0.552_780_591_619_500_3,
                0.678_820_798_588_064_8,
            ),
            (
                SpreadFormula::AgrestiCoull,
                0.99,
                0.532_026_731_803_584_2,
                0.696_781_624_699_319_3,
            ),
        ] {
            let found = formula.interval_at(139, 225, level).expect("an interval");
            assert!(
                (found.low - low).abs() < 1e-9 && (found.high - high).abs() < 1e-9,
                "{formula:?} {level} {found:?}"
            );
        }
        for (of_sample, expected) in [
            (false, 0.032_395_362_841_117_895),
            (true, 0.032_467_593_394_202_895),
        ] {
            assert!(
                standard_error(139, 225, of_sample)
                    .is_some_and(|error| (error - expected).abs() < 1e-12),
                "{of_sample}"
            );
        }
        // Python 3.11, statistics.pstdev and statistics.stdev of the 225 values.
        for (of_sample, expected) in [
            (false, 0.485_930_442_616_768_3),
            (true, 0.487_013_900_913_043_4),
        ] {
            assert!(
                standard_deviation(139, 225, of_sample)
                    .is_some_and(|found| (found - expected).abs() < 1e-12),
                "{of_sample}"
            );
        }
        assert_eq!(standard_error(1, 1, true), None);
        assert_eq!(SpreadFormula::Student.interval_at(1, 1, 0.95), None);
    }
}
