//! Quantiles and tails of distributions shared by several methods.

use statrs::distribution::{ContinuousCDF, Normal, StudentsT};
use statrs::function::gamma::ln_gamma;

use super::Undefined;

/// Degrees of freedom from which the expansion is used. The library's inversion of Student's t silently loses digits there (3.5e-6 at
/// 100,000), while the expansion is exact to more than ten.
const EXPANSION_FROM: f64 = 1e4;

/// Returns the level of a two-sided interval's upper end: 0.975 for a confidence of 0.95.
pub(super) fn upper_level(confidence: f64) -> Result<f64, Undefined> {
    if confidence > 0.0 && confidence < 1.0 {
        Ok(0.5 + confidence / 2.0)
    } else {
        Err(Undefined::OutOfRange)
    }
}

/// Returns the logarithm of the number of ways to choose `k` of `n`, for 0 ≤ k ≤ n.
pub(super) fn ln_choose(n: f64, k: f64) -> f64 {
    ln_gamma(n + 1.0) - ln_gamma(k + 1.0) - ln_gamma(n - k + 1.0)
}

/// Returns the standard normal quantile at `level` in (0, 1).
pub fn normal_quantile(level: f64) -> Result<f64, Undefined> {
    if !(level > 0.0 && level < 1.0) {
        return Err(Undefined::OutOfRange);
    }
    Ok(Normal::standard().inverse_cdf(level))
}

/// Returns the probability of a standard normal value at least as far from zero as `z`.
pub fn normal_two_sided(z: f64) -> f64 {
    statrs::function::erf::erfc(z.abs() / std::f64::consts::SQRT_2)
}

/// Returns Student's t quantile at `level` in (0, 1) with `degrees` > 0 of freedom, which need not be whole.
///
/// Above ten thousand degrees by the expansion around the normal quantile (Abramowitz and Stegun 26.7.5).
pub fn t_quantile(level: f64, degrees: f64) -> Result<f64, Undefined> {
    let z = normal_quantile(level)?;
    if degrees > EXPANSION_FROM {
        let first = (z.powi(3) + z) / (4.0 * degrees);
        let second = (5.0 * z.powi(5) + 16.0 * z.powi(3) + 3.0 * z) / (96.0 * degrees * degrees);
        return Ok(z + first + second);
    }
    Ok(StudentsT::new(0.0, 1.0, degrees)
        .map_err(|_| Undefined::OutOfRange)?
        .inverse_cdf(level))
}

/// Returns the probability, under Student's t with `degrees` of freedom, of a value at least as far from zero as `t`.
pub fn t_two_sided(t: f64, degrees: f64) -> Result<f64, Undefined> {
    let distribution = StudentsT::new(0.0, 1.0, degrees).map_err(|_| Undefined::OutOfRange)?;
    Ok((2.0 * distribution.sf(t.abs())).min(1.0))
}

/// The lower half of the binomial distribution with probability one half, scaled so that the middle weighs 1.
///
/// Built by ratios from the middle outwards, to lose nothing to logarithms of large factorials. Counts with subnormal weights are omitted.
pub(super) struct FairCoin {
    /// The count of the first weight.
    first: u64,
    /// Weights of the counts from `first` up to half of the tosses.
    weights: Vec<f64>,
    /// By count: the sum of the weights up to it.
    sums: Vec<f64>,
    /// The sum over both halves.
    total: f64,
}

impl FairCoin {
    pub(super) fn new(tosses: u64) -> Self {
        let middle = tosses / 2;
        let (mut weights, mut first, mut weight) = (vec![1.0], middle, 1.0);
        while first > 0 {
            weight *= first as f64 / (tosses - first + 1) as f64;
            if weight < f64::MIN_POSITIVE {
                break;
            }
            weights.push(weight);
            first -= 1;
        }
        weights.reverse();
        let mut half = 0.0;
        let summed = weights.iter().map(|weight| {
            half += weight;
            half
        });
        let sums: Vec<f64> = summed.collect();
        let total = if tosses.is_multiple_of(2) {
            2.0 * half - 1.0
        } else {
            2.0 * half
        };
        Self {
            first,
            weights,
            sums,
            total,
        }
    }

    /// Returns the probability of exactly `count`, which is at most half of the tosses.
    pub(super) fn chance_of(&self, count: u64) -> f64 {
        self.stored_index(count)
            .and_then(|place| self.weights.get(place))
            .map_or(0.0, |weight| weight / self.total)
    }

    /// Returns the probability of `count` or fewer, where `count` is at most half of the tosses.
    pub(super) fn at_most(&self, count: u64) -> f64 {
        self.stored_index(count)
            .and_then(|place| self.sums.get(place))
            .map_or(0.0, |sum| sum / self.total)
    }

    /// Returns the counts that have a chance, up to half of the tosses.
    pub(super) fn counts_with_chance(&self) -> impl Iterator<Item = u64> + use<> {
        self.first..self.first + self.weights.len() as u64
    }

    fn stored_index(&self, count: u64) -> Option<usize> {
        count
            .checked_sub(self.first)
            .and_then(|place| usize::try_from(place).ok())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_of_the_tables() {
        assert!((normal_quantile(0.975).expect("inside") - 1.959_963_984_540_054).abs() < 1e-14);
        for (level, degrees, quantile) in [
            (0.975, 1.0, 12.706_204_736),
            (0.975, 10.0, 2.228_138_852),
            (0.975, 1e6, 1.959_966_356_3),
        ] {
            let got = t_quantile(level, degrees).expect("inside");
            assert!(
                (got - quantile).abs() < 1e-8,
                "t({degrees}) at {level}: {got}"
            );
        }
        // Both computations agree where one takes over.
        let below = t_quantile(0.995, 9999.9).expect("inside");
        let above = t_quantile(0.995, 10_000.1).expect("inside");
        assert!((below - above).abs() < 1e-7, "{below} {above}");
    }

    #[test]
    fn tails_and_what_has_none() {
        assert!((normal_two_sided(-1.959_963_984_540_054) - 0.05).abs() < 1e-10);
        assert!((t_two_sided(12.706_204_736, 1.0).expect("inside") - 0.05).abs() < 1e-9);
        assert_eq!(normal_quantile(1.0), Err(Undefined::OutOfRange));
        assert_eq!(t_two_sided(1.0, 0.0), Err(Undefined::OutOfRange));
        assert_eq!(t_quantile(0.5, f64::NAN), Err(Undefined::OutOfRange));
    }

    #[test]
    fn tosses_of_a_fair_coin() {
        let eight = FairCoin::new(8);
        assert!(
            (eight.at_most(1) - 9.0 / 256.0).abs() < 1e-16
                && (eight.chance_of(4) - 70.0 / 256.0).abs() < 1e-16
        );
        assert!((FairCoin::new(5).at_most(2) - 0.5).abs() < 1e-16);
        assert!((FairCoin::new(0).at_most(0) - 1.0).abs() < 1e-16);
        // Stirling's series for the middle of a million tosses.
        let million = FairCoin::new(1_000_000).chance_of(500_000);
        assert!(
            (million / 7.978_843_613_311_035e-4 - 1.0).abs() < 1e-11,
            "{million:e}"
        );
    }
}
