//! Ratios a / b of costs, tokens and times, and their intervals.
//!
//! The ratio of geometric means describes the typical run; the ratio of arithmetic means describes the total bill.

use super::distribution::{normal_quantile, t_quantile, upper_level};
use super::exact::{Resampling, sign_flip};
use super::mean::{
    MeanDifference, compensated_sum, paired_t_with_noise, summarise_sample, welch_test,
};
use super::{Interval, Undefined};

/// A ratio of geometric means.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, schemars::JsonSchema)]
pub struct LogRatio {
    pub ratio: f64,
    pub interval: Interval,
    /// The difference of the natural logarithms, its error, interval and test. Verdicts are decided on this scale.
    pub log: MeanDifference,
}

/// A ratio of arithmetic means, or of totals over equally many values.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, schemars::JsonSchema)]
pub struct RatioOfMeans {
    pub ratio: f64,
    /// Standard error of the ratio's natural logarithm.
    pub se_log: f64,
    pub interval: Interval,
}

/// Returns the geometric mean of values above zero.
pub fn geometric_mean(values: &[f64]) -> Result<f64, Undefined> {
    let logs = checked_logarithms(values)?;
    summarise_sample(&logs).map(|summary| summary.mean.exp())
}

impl RatioOfMeans {
    /// Returns the interval with Student's quantile, because the normal one is too narrow for few units.
    pub fn student_interval(&self, degrees: f64, confidence: f64) -> Result<Interval, Undefined> {
        let t = t_quantile(upper_level(confidence)?, degrees)?;
        Interval::new(
            self.ratio * (-t * self.se_log).exp(),
            self.ratio * (t * self.se_log).exp(),
        )
        .ok_or(Undefined::NotFinite)
    }
}

/// Sums over units with two values each, such as an item's cost and whether it was solved.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PairSums {
    pub n: u64,
    pub a: f64,
    pub b: f64,
    /// Sums of the squares and of the products.
    pub aa: f64,
    pub ab: f64,
    pub bb: f64,
}

impl PairSums {
    /// Returns the interval of total over total, as in [`ratio_of_means_paired`], with Student's quantile at n − 1 degrees of freedom.
    pub fn ratio_interval(&self, confidence: f64) -> Result<Interval, Undefined> {
        if self.n < 2 {
            return Err(Undefined::TooFew);
        }
        if self.a <= 0.0 || self.b <= 0.0 {
            return Err(Undefined::NotPositive);
        }
        let n = self.n as f64;
        let (mean_a, mean_b) = (self.a / n, self.b / n);
        let squares = self.aa / (mean_a * mean_a) - 2.0 * self.ab / (mean_a * mean_b)
            + self.bb / (mean_b * mean_b);
        // Sums that cancel leave only a rounding error.
        let se_log = (if squares <= 1e-12 * n { 0.0 } else { squares } / (n * (n - 1.0))).sqrt();
        interval_around_ratio(mean_a, mean_b, se_log, confidence)?
            .student_interval(n - 1.0, confidence)
    }
}

/// Compares the geometric means of independent samples by Welch's test of the logarithms.
///
/// Undefined if a value is not above zero; no constant is added to avoid that.
pub fn log_ratio_welch(a: &[f64], b: &[f64], confidence: f64) -> Result<LogRatio, Undefined> {
    exponentiate_difference(welch_test(
        &checked_logarithms(a)?,
        &checked_logarithms(b)?,
        confidence,
    )?)
}

/// Returns the geometric mean of the ratios on the same units, with a paired t test of the logarithms.
///
/// Undefined if a value is not above zero, or if all ratios are equal.
pub fn log_ratio_paired(a: &[f64], b: &[f64], confidence: f64) -> Result<LogRatio, Undefined> {
    let (a, b) = (checked_logarithms(a)?, checked_logarithms(b)?);
    let largest = a
        .iter()
        .chain(&b)
        .fold(1.0, |largest: f64, value| largest.max(value.abs()));
    exponentiate_difference(paired_t_with_noise(
        &a,
        &b,
        8.0 * f64::EPSILON * largest,
        confidence,
    )?)
}

/// Minimum number of items for the t test of the logarithms. With fewer, their signs are flipped.
const MIN_ITEMS_FOR_T: usize = 10;

/// The typical ratio a / b over the same items, with the counts of included and skipped items.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, schemars::JsonSchema)]
pub struct ItemRatios {
    /// The geometric mean of the items' ratios.
    pub ratio: f64,
    /// From the t interval of the logarithms. `None` for fewer than ten items, or if all ratios are equal.
    pub interval: Option<Interval>,
    /// By the paired t test of the logarithms from ten items on, with fewer by flipping their signs. `None` if all ratios are equal.
    pub p: Option<f64>,
    /// Items with both values above zero.
    pub n: u64,
    /// Items skipped because a value is not above zero, so that they have no ratio.
    pub without_ratio: u64,
    /// Items skipped because a value is unknown.
    pub unknown: u64,
    /// Items on which a is below b; then items on which a is above b.
    pub lower: u64,
    pub higher: u64,
}

/// Compares amounts such as cost, tokens or time on the same items: the geometric mean of the ratios and its test.
///
/// If values are means over runs, use [`super::two_way()`] on the logarithms, which includes the variation of runs. Undefined if the arms
/// differ in length, if a value is not finite, or if no item has two values above zero.
pub fn log_ratio_items(
    a: &[Option<f64>],
    b: &[Option<f64>],
    confidence: f64,
    resampling: Resampling,
) -> Result<ItemRatios, Undefined> {
    if a.len() != b.len() {
        return Err(Undefined::Unequal);
    }
    let known: Vec<(f64, f64)> = a.iter().zip(b).filter_map(|(a, b)| a.zip(*b)).collect();
    if known.iter().any(|(a, b)| !(a.is_finite() && b.is_finite())) {
        return Err(Undefined::NotFinite);
    }
    let (of_a, of_b): (Vec<f64>, Vec<f64>) = known
        .iter()
        .filter(|(a, b)| *a > 0.0 && *b > 0.0)
        .copied()
        .unzip();
    let logs: Vec<f64> = of_a
        .iter()
        .zip(&of_b)
        .map(|(a, b)| a.ln() - b.ln())
        .collect();
    let mean = summarise_sample(&logs)?.mean;
    let count = |holds: fn(f64, f64) -> bool| {
        of_a.iter()
            .zip(&of_b)
            .filter(|(a, b)| holds(**a, **b))
            .count() as u64
    };
    let (interval, p) = match log_ratio_paired(&of_a, &of_b, confidence) {
        Ok(tested) if logs.len() >= MIN_ITEMS_FOR_T => (Some(tested.interval), Some(tested.log.p)),
        Ok(_) => (None, Some(sign_flip(&logs, resampling)?.p)),
        Err(Undefined::NoVariation | Undefined::TooFew) => (None, None),
        Err(reason) => return Err(reason),
    };
    Ok(ItemRatios {
        ratio: mean.exp(),
        interval,
        p,
        n: logs.len() as u64,
        without_ratio: (known.len() - logs.len()) as u64,
        unknown: (a.len() - known.len()) as u64,
        lower: count(|a, b| a < b),
        higher: count(|a, b| a > b),
    })
}

/// Returns the ratio of the means of independent samples, with the delta method on its logarithm.
///
/// Single values may be zero. Undefined if a mean is not above zero, or if nothing varies.
pub fn ratio_of_means(a: &[f64], b: &[f64], confidence: f64) -> Result<RatioOfMeans, Undefined> {
    let (a, b) = (summarise_sample(a)?, summarise_sample(b)?);
    let (sd_a, sd_b) = a.sd.zip(b.sd).ok_or(Undefined::TooFew)?;
    let squared = (sd_a / a.mean).powi(2) / a.n as f64 + (sd_b / b.mean).powi(2) / b.n as f64;
    interval_around_ratio(a.mean, b.mean, squared.sqrt(), confidence)
}

/// Returns the ratio of the means, or totals, on the same units, with the delta method on its logarithm. Variation shared by both cancels.
pub fn ratio_of_means_paired(
    a: &[f64],
    b: &[f64],
    confidence: f64,
) -> Result<RatioOfMeans, Undefined> {
    if a.len() != b.len() {
        return Err(Undefined::Unequal);
    }
    let (mean_a, mean_b) = (summarise_sample(a)?.mean, summarise_sample(b)?.mean);
    if a.len() < 2 {
        return Err(Undefined::TooFew);
    }
    let n = a.len() as f64;
    let squares = compensated_sum(
        a.iter()
            .zip(b)
            .map(|(a, b)| (a / mean_a - b / mean_b).powi(2)),
    );
    interval_around_ratio(
        mean_a,
        mean_b,
        (squares / (n * (n - 1.0))).sqrt(),
        confidence,
    )
}

/// Returns the change from `base` to `new` as a share of `base`, which must be above zero.
pub fn relative_change(new: f64, base: f64) -> Result<f64, Undefined> {
    if !(new.is_finite() && base.is_finite()) {
        return Err(Undefined::NotFinite);
    }
    if base <= 0.0 {
        return Err(Undefined::NotPositive);
    }
    Some((new - base) / base)
        .filter(|change| change.is_finite())
        .ok_or(Undefined::NotFinite)
}

fn checked_logarithms(values: &[f64]) -> Result<Vec<f64>, Undefined> {
    if values.iter().any(|value| !value.is_finite()) {
        return Err(Undefined::NotFinite);
    }
    if values.iter().any(|value| *value <= 0.0) {
        return Err(Undefined::NotPositive);
    }
    Ok(values.iter().map(|value| value.ln()).collect())
}

fn exponentiate_difference(log: MeanDifference) -> Result<LogRatio, Undefined> {
    let interval = Interval::new(log.interval.low.exp(), log.interval.high.exp())
        .ok_or(Undefined::NotFinite)?;
    Ok(LogRatio {
        ratio: log.difference.exp(),
        interval,
        log,
    })
}

fn interval_around_ratio(
    mean_a: f64,
    mean_b: f64,
    se_log: f64,
    confidence: f64,
) -> Result<RatioOfMeans, Undefined> {
    let z = normal_quantile(upper_level(confidence)?)?;
    if mean_a <= 0.0 || mean_b <= 0.0 {
        return Err(Undefined::NotPositive);
    }
    // Proportional samples leave only a rounding error.
    if se_log <= 4.0 * f64::EPSILON {
        return Err(Undefined::NoVariation);
    }
    let ratio = mean_a / mean_b;
    let interval = Interval::new(ratio * (-z * se_log).exp(), ratio * (z * se_log).exp())
        .ok_or(Undefined::NotFinite)?;
    Ok(RatioOfMeans {
        ratio,
        se_log,
        interval,
    })
}

#[cfg(test)]
mod tests {
    use std::f64::consts::E;

    use super::*;

    #[test]
    fn by_hand() {
        // Logarithms 0, 1, 2 and 1, 2, 3: one apart, se = sqrt(2/3), t(4, 0.975) = 2.776445.
        let got =
            log_ratio_welch(&[1.0, E, E * E], &[E, E * E, E.powi(3)], 0.95).expect("positive");
        assert!((got.ratio - 1.0 / E).abs() < 1e-14 && (got.log.degrees - 4.0).abs() < 1e-12);
        assert!(
            (got.interval.high.ln() - (-1.0 + 2.776_445_105 * (2.0f64 / 3.0).sqrt())).abs() < 1e-8
        );
        let paired =
            log_ratio_paired(&[1.0, E, E * E], &[E, E, E * E], 0.95).expect("ratios differ");
        assert!(
            (paired.ratio - (-1.0f64 / 3.0).exp()).abs() < 1e-14
                && (paired.log.t + 1.0).abs() < 1e-12
        );
        assert!((geometric_mean(&[1.0, 100.0]).expect("positive") - 10.0).abs() < 1e-12);
        // Means 2 and 4, both with variance 2: se² = (2/4 + 2/16) / 2.
        let bill = ratio_of_means(&[1.0, 3.0], &[3.0, 5.0], 0.95).expect("positive");
        assert!((bill.ratio - 0.5).abs() < 1e-15 && (bill.se_log - 0.3125f64.sqrt()).abs() < 1e-14);
        // a/2 - b/4 is ±1/4 each: se² = (2/16) / 2.
        let same = ratio_of_means_paired(&[1.0, 3.0], &[3.0, 5.0], 0.95).expect("positive");
        assert!((same.se_log - 0.25).abs() < 1e-14);
        // The same from sums; t(1, 0.975) = 12.7062.
        let sums = PairSums {
            n: 2,
            a: 4.0,
            b: 8.0,
            aa: 10.0,
            ab: 18.0,
            bb: 34.0,
        };
        let interval = sums.ratio_interval(0.95).expect("positive");
        assert!(
            (interval.high / 0.5 - (12.706_204_736 * 0.25f64).exp()).abs() < 1e-6,
            "{interval:?}"
        );
        assert_eq!(same.student_interval(1.0, 0.95), Ok(interval));
        let proportional = PairSums {
            n: 2,
            a: 4.0,
            b: 8.0,
            aa: 10.0,
            ab: 20.0,
            bb: 40.0,
        };
        assert_eq!(
            proportional.ratio_interval(0.95),
            Err(Undefined::NoVariation)
        );
    }

    #[test]
    fn items_with_what_is_left_out() {
        const DRAWS: Resampling = Resampling { seed: 7, draws: 99 };
        // Twelve items at about half the price, one free, one unknown in either arm.
        let b: Vec<Option<f64>> = (1..=12)
            .map(|at| Some(f64::from(at)))
            .chain([Some(1.0), None, Some(2.0)])
            .collect();
        let halves = (1..=12).map(|at| Some(f64::from(at) * if at % 2 == 0 { 0.25 } else { 1.0 }));
        let a: Vec<Option<f64>> = halves.chain([Some(0.0), Some(1.0), None]).collect();
        let got = log_ratio_items(&a, &b, 0.95, DRAWS).expect("ratios");
        assert!((got.ratio - 0.5).abs() < 1e-12, "{got:?}");
        assert_eq!(
            (got.n, got.without_ratio, got.unknown, got.lower, got.higher),
            (12, 1, 2, 6, 0)
        );
        // Logarithms alternate between 0 and −ln 4: mean −ln 2, sd ln 2 · √(12/11), t = −√11.
        assert!(
            (got.p.expect("varied") - super::super::t_two_sided(11f64.sqrt(), 11.0).expect("some"))
                .abs()
                < 1e-12
        );
        let few = log_ratio_items(&a[..6], &b[..6], 0.95, DRAWS).expect("ratios");
        // Three non-zero differences: two of eight ways.
        assert_eq!((few.interval, few.p), (None, Some(0.25)));
        let doubled: Vec<Option<f64>> = b
            .iter()
            .map(|value| value.map(|value| 2.0 * value))
            .collect();
        let all = log_ratio_items(&doubled, &b, 0.95, DRAWS).expect("ratios");
        assert!((all.ratio - 2.0).abs() < 1e-12 && all.p.is_none() && all.higher == 14);
        assert_eq!(
            log_ratio_items(&[None], &[Some(1.0)], 0.95, DRAWS),
            Err(Undefined::NoData)
        );
        assert_eq!(
            log_ratio_items(&[Some(f64::INFINITY)], &[Some(1.0)], 0.95, DRAWS),
            Err(Undefined::NotFinite)
        );
        assert_eq!(
            log_ratio_items(&[], &[None], 0.95, DRAWS),
            Err(Undefined::Unequal)
        );
    }

    #[test]
    fn what_has_no_ratio() {
        assert_eq!(
            log_ratio_welch(&[0.0, 1.0], &[1.0, 2.0], 0.95),
            Err(Undefined::NotPositive)
        );
        assert_eq!(
            log_ratio_paired(&[0.1, 0.3, 0.7], &[0.2, 0.6, 1.4], 0.95),
            Err(Undefined::NoVariation)
        );
        assert_eq!(
            ratio_of_means(&[0.0, 0.0], &[1.0, 2.0], 0.95),
            Err(Undefined::NotPositive)
        );
        assert_eq!(
            ratio_of_means_paired(&[1.0, 3.0], &[2.0, 6.0], 0.95),
            Err(Undefined::NoVariation)
        );
        assert_eq!(geometric_mean(&[]), Err(Undefined::NoData));
        assert_eq!(relative_change(1.0, 0.0), Err(Undefined::NotPositive));
        assert_eq!(relative_change(1.5, 1.0), Ok(0.5));
    }

    proptest::proptest! {
        #[test]
        fn swapping_inverts(rows in proptest::collection::vec((0.01..100.0f64, 0.01..100.0f64), 3..30)) {
            let (a, b): (Vec<f64>, Vec<f64>) = rows.into_iter().unzip();
            for method in [log_ratio_welch, log_ratio_paired] {
                let (there, back) = (method(&a, &b, 0.95).expect("positive"), method(&b, &a, 0.95).expect("positive"));
                proptest::prop_assert!((there.ratio * back.ratio - 1.0).abs() < 1e-12 && (there.log.p - back.log.p).abs() < 1e-12);
                proptest::prop_assert!((there.interval.low * back.interval.high - 1.0).abs() < 1e-9);
                proptest::prop_assert!(there.interval.low <= there.ratio && there.ratio <= there.interval.high);
            }
            for method in [ratio_of_means, ratio_of_means_paired] {
                let (there, back) = (method(&a, &b, 0.95).expect("positive"), method(&b, &a, 0.95).expect("positive"));
                proptest::prop_assert!((there.interval.low * back.interval.high - 1.0).abs() < 1e-9);
            }
        }
    }
}
