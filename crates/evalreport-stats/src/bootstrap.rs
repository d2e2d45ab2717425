//! Resampling with seeded random numbers that do not depend on how the work is divided.
//!
//! Whole units are drawn: items, or clusters of items, never the runs of an item. Replicate `r` has its own stream of random numbers, so
//! that the same seed gives the same replicates on any number of threads.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{RngCore, SeedableRng};
use rayon::iter::{IntoParallelIterator, ParallelIterator};
use statrs::distribution::{ContinuousCDF, Normal};

use super::distribution::upper_level;
use super::{Interval, Undefined, normal_quantile};

/// The seed of one analysis. Callers derive it from a hash of the data, so that equal data give equal numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Seed(pub u64);

impl Seed {
    /// Returns the random numbers of one replicate.
    pub(super) fn replicate_stream(self, replicate: u64) -> ChaCha8Rng {
        let mut key = [0; 32];
        key[..8].copy_from_slice(&self.0.to_le_bytes());
        let mut random = ChaCha8Rng::from_seed(key);
        random.set_stream(replicate);
        random
    }
}

/// Returns a number below `bound`, all equally likely (Lemire 2019: a product instead of a remainder, with rejection).
#[expect(
    clippy::cast_possible_truncation,
    reason = "the low and the high half of the product are what is wanted"
)]
#[inline]
pub(super) fn random_below(random: &mut ChaCha8Rng, bound: u32) -> u32 {
    loop {
        let product = u64::from(random.next_u32()) * u64::from(bound);
        let low = product as u32;
        if low >= bound || low >= bound.wrapping_neg() % bound {
            return (product >> 32) as u32;
        }
    }
}

/// The values of a statistic over resamples.
#[derive(Clone, Debug, PartialEq)]
pub struct Replicates {
    /// Ascending.
    values: Vec<f64>,
    /// Resamples in which the statistic had no value.
    undefined: usize,
}

/// The bias-corrected and accelerated interval with its parameters.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, schemars::JsonSchema)]
pub struct BcaInterval {
    pub interval: Interval,
    /// Bias correction: the distance of the estimate from the replicates' median, in standard normal units.
    pub bias: f64,
    /// How the standard error changes with the estimate.
    pub acceleration: f64,
    /// The levels of the replicates' quantiles.
    pub level_low: f64,
    pub level_high: f64,
}

impl Replicates {
    /// Draws `resamples` samples with replacement, each with as many units as the data, and computes the statistic of each.
    ///
    /// The statistic receives the drawn indices, in no particular order. Undefined without units or resamples, and if no resample has a
    /// value.
    pub fn draw_replicates(
        units: usize,
        resamples: u32,
        seed: Seed,
        statistic: impl Fn(&[u32]) -> Option<f64> + Sync,
    ) -> Result<Self, Undefined> {
        let bound = u32::try_from(units).map_err(|_| Undefined::OutOfRange)?;
        if bound == 0 || resamples == 0 {
            return Err(Undefined::NoData);
        }
        let values: Vec<Option<f64>> = (0..resamples)
            .into_par_iter()
            .map_init(
                || vec![0; units],
                |drawn: &mut Vec<u32>, replicate| {
                    let mut random = seed.replicate_stream(u64::from(replicate));
                    drawn.fill_with(|| random_below(&mut random, bound));
                    statistic(drawn).filter(|value| value.is_finite())
                },
            )
            .collect();
        let undefined = values.iter().filter(|value| value.is_none()).count();
        Self::from_unsorted(values.into_iter().flatten().collect(), undefined)
    }

    /// Creates replicates from given values, for instance from an enumeration of all possible resamples.
    pub fn from_values(values: Vec<f64>) -> Result<Self, Undefined> {
        if values.iter().any(|value| !value.is_finite()) {
            return Err(Undefined::NotFinite);
        }
        Self::from_unsorted(values, 0)
    }

    fn from_unsorted(mut values: Vec<f64>, undefined: usize) -> Result<Self, Undefined> {
        if values.is_empty() {
            return Err(Undefined::NoData);
        }
        values.sort_by(f64::total_cmp);
        Ok(Self { values, undefined })
    }

    /// Returns the number of resamples without a value of the statistic, such as a cost per solved task if none was solved.
    pub fn undefined_count(&self) -> usize {
        self.undefined
    }

    /// Returns the standard deviation of the replicates, with B − 1. Needs a value in every resample.
    pub fn standard_error(&self) -> Result<f64, Undefined> {
        self.check_complete()?;
        let n = self.values.len() as f64;
        let mean = self.values.iter().sum::<f64>() / n;
        let squares: f64 = self.values.iter().map(|value| (value - mean).powi(2)).sum();
        Ok((squares / (n - 1.0)).sqrt())
    }

    /// Returns the percentile interval: quantiles of the replicates by linear interpolation (type 7).
    ///
    /// A resample without a value counts as beyond either end, which widens the interval. Undefined if such resamples fill a tail, and if
    /// all replicates are equal.
    pub fn percentile_interval(&self, confidence: f64) -> Result<Interval, Undefined> {
        let upper = upper_level(confidence)?;
        if self.values.first() == self.values.last() {
            return Err(Undefined::NoVariation);
        }
        let last = (self.values.len() + self.undefined - 1) as f64;
        let low = self
            .value_at((1.0 - upper) * last - self.undefined as f64)
            .ok_or(Undefined::TooFew)?;
        let high = self.value_at(upper * last).ok_or(Undefined::TooFew)?;
        Interval::new(low, high).ok_or(Undefined::NotFinite)
    }

    /// Returns the bias-corrected and accelerated interval (Efron 1987) around `estimate`, the statistic of the data themselves.
    ///
    /// `leave_one_out` has the statistic without each unit in turn ([`jackknife_values`]). Replicates equal to the estimate count one half.
    /// Undefined if all leave-one-out values are equal, if the estimate is outside the replicates, or if a resample has no value.
    pub fn bca_interval(
        &self,
        estimate: f64,
        leave_one_out: &[f64],
        confidence: f64,
    ) -> Result<BcaInterval, Undefined> {
        let upper = upper_level(confidence)?;
        if !estimate.is_finite() || leave_one_out.iter().any(|value| !value.is_finite()) {
            return Err(Undefined::NotFinite);
        }
        self.check_complete()?;
        let acceleration = bca_acceleration(leave_one_out)?;
        let below = self.values.partition_point(|&value| value < estimate);
        let up_to = self.values.partition_point(|&value| value <= estimate);
        // If all replicates are on one side, the correction would be infinite.
        let bias = normal_quantile((below + up_to) as f64 / (2 * self.values.len()) as f64)
            .map_err(|_| Undefined::NoVariation)?;
        let z = normal_quantile(upper)?;
        let level = |z: f64| {
            let shrink = 1.0 - acceleration * (bias + z);
            // Beyond this the correction is no longer monotonic.
            (shrink > 0.0)
                .then(|| Normal::standard().cdf(bias + (bias + z) / shrink))
                .ok_or(Undefined::OutOfRange)
        };
        let (level_low, level_high) = (level(-z)?, level(z)?);
        let last = (self.values.len() - 1) as f64;
        let ends = self
            .value_at(level_low * last)
            .zip(self.value_at(level_high * last));
        let interval = ends
            .and_then(|(low, high)| Interval::new(low, high))
            .ok_or(Undefined::NotFinite)?;
        Ok(BcaInterval {
            interval,
            bias,
            acceleration,
            level_low,
            level_high,
        })
    }

    fn check_complete(&self) -> Result<(), Undefined> {
        if self.undefined > 0 {
            return Err(Undefined::NotFinite);
        }
        if self.values.len() < 2 {
            Err(Undefined::TooFew)
        } else {
            Ok(())
        }
    }

    /// Returns the value at a fractional index between two replicates, or `None` outside them.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "the place was checked to be an index"
    )]
    fn value_at(&self, place: f64) -> Option<f64> {
        if !(place >= 0.0 && place <= (self.values.len() - 1) as f64) {
            return None;
        }
        let low = self.values[place.floor() as usize];
        let high = self.values[place.ceil() as usize];
        Some(low + (high - low) * place.fract())
    }
}

/// Returns the statistic without each unit in turn. Undefined if any of these values is missing.
///
/// Takes time quadratic in the number of units.
pub fn jackknife_values(
    units: usize,
    statistic: impl Fn(&[u32]) -> Option<f64> + Sync,
) -> Result<Vec<f64>, Undefined> {
    let bound = u32::try_from(units).map_err(|_| Undefined::OutOfRange)?;
    if bound < 2 {
        return Err(Undefined::TooFew);
    }
    (0..bound)
        .into_par_iter()
        .map(|left_out| {
            let kept: Vec<u32> = (0..bound).filter(|&unit| unit != left_out).collect();
            statistic(&kept)
                .filter(|value| value.is_finite())
                .ok_or(Undefined::NotFinite)
        })
        .collect()
}

/// Computes Σu³ / (6 (Σu²)^1.5), where u is the mean of the leave-one-out values minus each of them.
fn bca_acceleration(leave_one_out: &[f64]) -> Result<f64, Undefined> {
    let first = *leave_one_out.first().ok_or(Undefined::NoData)?;
    if leave_one_out
        .iter()
        .all(|&value| value.total_cmp(&first).is_eq())
    {
        return Err(Undefined::NoVariation);
    }
    let mean = leave_one_out.iter().sum::<f64>() / leave_one_out.len() as f64;
    let squares: f64 = leave_one_out
        .iter()
        .map(|value| (mean - value).powi(2))
        .sum();
    let cubes: f64 = leave_one_out
        .iter()
        .map(|value| (mean - value).powi(3))
        .sum();
    let ratio = cubes / (6.0 * squares.powf(1.5));
    if ratio.is_finite() {
        Ok(ratio)
    } else {
        Err(Undefined::NoVariation)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DATA: [f64; 8] = [3.1, 0.4, 7.7, 2.2, 5.9, 1.3, 9.8, 4.0];

    fn mean(data: &[f64]) -> impl Fn(&[u32]) -> Option<f64> + Sync {
        move |drawn| {
            (!drawn.is_empty()).then(|| {
                drawn.iter().map(|&unit| data[unit as usize]).sum::<f64>() / drawn.len() as f64
            })
        }
    }

    fn on_threads(threads: usize) -> Replicates {
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(threads)
            .build()
            .expect("a pool of threads");
        pool.install(|| Replicates::draw_replicates(DATA.len(), 999, Seed(7), mean(&DATA)))
            .expect("data")
    }

    #[test]
    fn threads_do_not_matter_and_the_seed_does() {
        assert_eq!(on_threads(1), on_threads(8));
        let other =
            Replicates::draw_replicates(DATA.len(), 999, Seed(8), mean(&DATA)).expect("data");
        assert_ne!(on_threads(1), other);
        // The first indices of two streams, fixed so that every release draws the same numbers.
        let first = |replicate| {
            let mut random = Seed(7).replicate_stream(replicate);
            [
                random_below(&mut random, 100),
                random_below(&mut random, 100),
                random_below(&mut random, 100),
            ]
        };
        assert_eq!((first(0), first(1)), ([17, 76, 91], [15, 93, 67]));
    }

    #[test]
    fn indices_are_even_and_in_range() {
        let mut random = Seed(1).replicate_stream(0);
        let mut seen = [0u32; 6];
        for _ in 0..60_000 {
            seen[random_below(&mut random, 6) as usize] += 1;
        }
        assert!(
            seen.iter().all(|&count| count.abs_diff(10_000) < 400),
            "{seen:?}"
        );
        // Above half of the range, a remainder would favour small numbers by two to one.
        let bound = (1 << 31) + (1 << 30);
        let small = (0..60_000)
            .filter(|_| random_below(&mut random, bound) < bound / 3)
            .count();
        assert!(small.abs_diff(20_000) < 500, "{small}");
    }

    #[test]
    fn the_spread_of_resampled_means_is_known() {
        // Ideal bootstrap standard error of a mean: sqrt(Σ(x − mean)²) / n.
        let centre = DATA.iter().sum::<f64>() / 8.0;
        let ideal = DATA
            .iter()
            .map(|value| (value - centre).powi(2))
            .sum::<f64>()
            .sqrt()
            / 8.0;
        let drawn =
            Replicates::draw_replicates(DATA.len(), 9999, Seed(3), mean(&DATA)).expect("data");
        assert!((drawn.standard_error().expect("complete") / ideal - 1.0).abs() < 0.03);
        let interval = drawn.percentile_interval(0.95).expect("varied");
        assert!(interval.low < centre && centre < interval.high);
        let leave_one_out = jackknife_values(DATA.len(), mean(&DATA)).expect("data");
        let bca = drawn
            .bca_interval(centre, &leave_one_out, 0.95)
            .expect("varied");
        // The data are skewed to the right, and so is the corrected interval.
        assert!(
            bca.acceleration > 0.0 && bca.interval.high > interval.high,
            "{bca:?} {interval:?}"
        );
    }

    #[test]
    fn percentiles_of_known_values() {
        let replicates =
            Replicates::from_values((0..=100).rev().map(f64::from).collect()).expect("finite");
        let interval = replicates.percentile_interval(0.9).expect("varied");
        assert!(
            (interval.low - 5.0).abs() < 1e-12 && (interval.high - 95.0).abs() < 1e-12,
            "{interval:?}"
        );
        // Symmetric values around the estimate and symmetric leave-one-out values: no correction.
        let bca = replicates
            .bca_interval(50.0, &[1.0, 2.0, 3.0], 0.9)
            .expect("varied");
        assert!(
            bca.bias.abs() < 1e-12
                && bca.acceleration.abs() < 1e-12
                && (bca.interval.low - 5.0).abs() < 1e-6,
            "{bca:?}"
        );
    }

    #[test]
    fn resamples_without_a_value_widen_and_then_remove_the_interval() {
        let solved = |drawn: &[u32]| {
            drawn
                .contains(&0)
                .then(|| drawn.iter().map(|&unit| f64::from(unit)).sum::<f64>())
        };
        let rarely = Replicates::draw_replicates(4, 2000, Seed(1), solved).expect("some");
        // (3/4)^4 of the resamples lack unit 0, which is more than a tail.
        assert!(rarely.undefined_count() > 500 && rarely.undefined_count() < 760);
        assert_eq!(rarely.percentile_interval(0.95), Err(Undefined::TooFew));
        assert_eq!(rarely.standard_error(), Err(Undefined::NotFinite));
        let few = Replicates {
            values: (0..99).map(f64::from).collect(),
            undefined: 2,
        };
        let whole = Replicates {
            values: (0..99).map(f64::from).collect(),
            undefined: 0,
        };
        let (few, whole) = (
            few.percentile_interval(0.9).expect("inside"),
            whole.percentile_interval(0.9).expect("inside"),
        );
        assert!(few.low < whole.low && few.high > whole.high);
        assert_eq!(
            Replicates::draw_replicates(4, 10, Seed(1), |_| None),
            Err(Undefined::NoData)
        );
    }

    #[test]
    fn no_variation_has_no_interval() {
        let constant = Replicates::from_values(vec![2.0; 20]).expect("finite");
        assert_eq!(
            constant.percentile_interval(0.95),
            Err(Undefined::NoVariation)
        );
        assert_eq!(
            constant.bca_interval(2.0, &[2.0; 4], 0.95),
            Err(Undefined::NoVariation)
        );
        assert_eq!(
            constant.bca_interval(3.0, &[1.0, 2.0], 0.95),
            Err(Undefined::NoVariation)
        );
        assert_eq!(
            Replicates::from_values(vec![f64::NAN]),
            Err(Undefined::NotFinite)
        );
        assert_eq!(
            Replicates::draw_replicates(0, 10, Seed(1), |_| Some(1.0)),
            Err(Undefined::NoData)
        );
        assert_eq!(jackknife_values(1, |_| Some(1.0)), Err(Undefined::TooFew));
    }
}
