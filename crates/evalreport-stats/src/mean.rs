//! Means, standard deviations, t intervals, and the comparison of two means.

use super::distribution::{t_quantile, t_two_sided, upper_level};
use super::{Interval, Undefined};

/// Summary of a sample of finite values.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, schemars::JsonSchema)]
pub struct ValueSummary {
    pub n: u64,
    pub mean: f64,
    /// Standard deviation with n − 1. `None` for n = 1; exactly 0 if all values are equal.
    pub sd: Option<f64>,
    pub min: f64,
    pub max: f64,
}

/// A difference of two means, a − b, with its t interval and test.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, schemars::JsonSchema)]
pub struct MeanDifference {
    pub difference: f64,
    pub standard_error: f64,
    /// Degrees of freedom; Welch's need not be whole.
    pub degrees: f64,
    pub t: f64,
    /// Two-sided.
    pub p: f64,
    pub interval: Interval,
}

/// Summarises a sample.
pub fn summarise_sample(values: &[f64]) -> Result<ValueSummary, Undefined> {
    if values.is_empty() {
        return Err(Undefined::NoData);
    }
    let (min, max) = values
        .iter()
        .fold((f64::INFINITY, f64::NEG_INFINITY), |(min, max), value| {
            (min.min(*value), max.max(*value))
        });
    if values.iter().any(|value| !value.is_finite()) {
        return Err(Undefined::NotFinite);
    }
    if min >= max {
        // Sums of equal values have rounding errors; their mean and spread are known exactly.
        return Ok(ValueSummary {
            n: values.len() as u64,
            mean: min,
            sd: (values.len() > 1).then_some(0.0),
            min,
            max,
        });
    }
    let n = values.len() as f64;
    let mean = (compensated_sum(values.iter().copied()) / n).clamp(min, max);
    let sd =
        (compensated_sum(values.iter().map(|value| (value - mean).powi(2))) / (n - 1.0)).sqrt();
    if mean.is_finite() && sd.is_finite() {
        Ok(ValueSummary {
            n: values.len() as u64,
            mean,
            sd: Some(sd),
            min,
            max,
        })
    } else {
        Err(Undefined::NotFinite)
    }
}

/// Student's t interval for the mean, with n − 1 degrees of freedom.
///
/// Undefined for fewer than two values, and if all are equal: data without spread give no interval.
pub fn mean_interval(values: &[f64], confidence: f64) -> Result<Interval, Undefined> {
    interval_of_mean(&summarise_sample(values)?, confidence)
}

/// Returns the same interval from the sample's summary.
pub fn interval_of_mean(summary: &ValueSummary, confidence: f64) -> Result<Interval, Undefined> {
    let (sd, n) = (positive_deviation(summary)?, summary.n as f64);
    t_interval(summary.mean, sd / n.sqrt(), n - 1.0, confidence)
}

/// Compares the means of two independent samples with possibly different variances (Welch 1947).
///
/// One sample may be constant. Undefined if both are, or if one has fewer than two values.
pub fn welch_test(a: &[f64], b: &[f64], confidence: f64) -> Result<MeanDifference, Undefined> {
    let (a, b) = (summarise_sample(a)?, summarise_sample(b)?);
    let (of_a, of_b) = (mean_variance(&a)?, mean_variance(&b)?);
    let squared_error = of_a + of_b;
    if squared_error <= 0.0 {
        return Err(Undefined::NoVariation);
    }
    // Use shares instead of squared variances, which could overflow.
    let (share_a, share_b) = (of_a / squared_error, of_b / squared_error);
    let degrees =
        1.0 / (share_a * share_a / (a.n as f64 - 1.0) + share_b * share_b / (b.n as f64 - 1.0));
    compare_by_t(a.mean - b.mean, squared_error.sqrt(), degrees, confidence)
}

/// Compares two samples measured on the same units, by a t test of the differences.
///
/// Undefined if the samples differ in length, for fewer than two pairs, and if all differences are equal up to rounding of the values.
pub fn paired_t(a: &[f64], b: &[f64], confidence: f64) -> Result<MeanDifference, Undefined> {
    let largest = a
        .iter()
        .chain(b)
        .fold(0.0, |largest: f64, value| largest.max(value.abs()));
    paired_t_with_noise(a, b, 4.0 * f64::EPSILON * largest, confidence)
}

/// Tests whether a mean differs from zero, given the sample's summary. For paired differences it is the paired t test.
///
/// Undefined in the same cases as [`paired_t`].
pub fn mean_t(summary: &ValueSummary, confidence: f64) -> Result<MeanDifference, Undefined> {
    let sd = positive_deviation(summary)?;
    if summary.max - summary.min <= 4.0 * f64::EPSILON * summary.max.abs().max(summary.min.abs()) {
        return Err(Undefined::NoVariation);
    }
    let n = summary.n as f64;
    compare_by_t(summary.mean, sd / n.sqrt(), n - 1.0, confidence)
}

/// Runs a paired t test that treats differences within `noise` of each other as equal.
pub(super) fn paired_t_with_noise(
    a: &[f64],
    b: &[f64],
    noise: f64,
    confidence: f64,
) -> Result<MeanDifference, Undefined> {
    if a.len() != b.len() {
        return Err(Undefined::Unequal);
    }
    let differences: Vec<f64> = a.iter().zip(b).map(|(a, b)| a - b).collect();
    let summary = summarise_sample(&differences)?;
    let sd = positive_deviation(&summary)?;
    if summary.max - summary.min <= noise {
        return Err(Undefined::NoVariation);
    }
    let n = differences.len() as f64;
    compare_by_t(summary.mean, sd / n.sqrt(), n - 1.0, confidence)
}

/// Returns the t interval around an estimate with a standard error.
pub(super) fn t_interval(
    estimate: f64,
    error: f64,
    degrees: f64,
    confidence: f64,
) -> Result<Interval, Undefined> {
    let half = t_quantile(upper_level(confidence)?, degrees)? * error;
    Interval::new(estimate - half, estimate + half).ok_or(Undefined::NotFinite)
}

/// Adds up values with compensation for lost digits (Neumaier 1974), so that the order of rows does not matter.
pub(super) fn compensated_sum(values: impl Iterator<Item = f64>) -> f64 {
    let (mut sum, mut lost) = (0.0_f64, 0.0_f64);
    for value in values {
        let next = sum + value;
        lost += if sum.abs() >= value.abs() {
            (sum - next) + value
        } else {
            (value - next) + sum
        };
        sum = next;
    }
    sum + lost
}

fn compare_by_t(
    difference: f64,
    standard_error: f64,
    degrees: f64,
    confidence: f64,
) -> Result<MeanDifference, Undefined> {
    let t = difference / standard_error;
    if !t.is_finite() {
        return Err(Undefined::NotFinite);
    }
    let interval = t_interval(difference, standard_error, degrees, confidence)?;
    Ok(MeanDifference {
        difference,
        standard_error,
        degrees,
        t,
        p: t_two_sided(t, degrees)?,
        interval,
    })
}

/// Returns the standard deviation if it is above zero.
fn positive_deviation(summary: &ValueSummary) -> Result<f64, Undefined> {
    match summary.sd {
        None => Err(Undefined::TooFew),
        Some(sd) if sd > 0.0 => Ok(sd),
        Some(_) => Err(Undefined::NoVariation),
    }
}

/// Returns the squared standard error of a mean; 0 for a constant sample.
fn mean_variance(summary: &ValueSummary) -> Result<f64, Undefined> {
    let sd = summary.sd.ok_or(Undefined::TooFew)?;
    Ok(sd * sd / summary.n as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn near(interval: Result<Interval, Undefined>, low: f64, high: f64) -> bool {
        interval.is_ok_and(|interval| {
            (interval.low - low).abs() < 1e-4 && (interval.high - high).abs() < 1e-4
        })
    }

    #[test]
    fn t_quantiles_of_the_tables() {
        // Half-width for sd 1: t(n-1) / sqrt(n) with 12.7062, 4.3027 and 2.2622.
        assert!(near(
            mean_interval(&[0.0, 2f64.sqrt()], 0.95),
            0.5f64.sqrt() - 12.7062 / 2f64.sqrt(),
            0.5f64.sqrt() + 12.7062 / 2f64.sqrt()
        ));
        assert!(near(
            mean_interval(&[-1.0, 0.0, 1.0], 0.95),
            -4.302_65 / 3f64.sqrt(),
            4.302_65 / 3f64.sqrt()
        ));
        let ten: Vec<f64> = (0..10).map(f64::from).collect();
        assert!(near(
            mean_interval(&ten, 0.95),
            4.5 - 2.262_157 * 3.027_650 / 10f64.sqrt(),
            4.5 + 2.262_157 * 3.027_650 / 10f64.sqrt()
        ));
    }

    #[test]
    fn no_spread_or_too_few_give_no_interval() {
        assert_eq!(mean_interval(&[], 0.95), Err(Undefined::NoData));
        assert_eq!(mean_interval(&[1.0], 0.95), Err(Undefined::TooFew));
        assert_eq!(
            mean_interval(&[2.0, 2.0, 2.0], 0.95),
            Err(Undefined::NoVariation)
        );
        assert_eq!(
            mean_interval(&[0.7, 0.7, 0.7], 0.95),
            Err(Undefined::NoVariation)
        );
        assert_eq!(mean_interval(&[1.0, 2.0], 1.0), Err(Undefined::OutOfRange));
        assert_eq!(
            summarise_sample(&[1.0, f64::NAN]),
            Err(Undefined::NotFinite)
        );
        assert_eq!(
            summarise_sample(&[f64::MAX, f64::MAX, 0.0]),
            Err(Undefined::NotFinite)
        );
    }

    /// Student's sleep data of 1908, the example of R's `t.test`: Welch t = -1.8608, df = 17.776, p = 0.07939; paired t = -4.0621,
    /// p = 0.002833.
    #[test]
    fn hours_of_sleep() {
        let first = [0.7, -1.6, -0.2, -1.2, -0.1, 3.4, 3.7, 0.8, 0.0, 2.0];
        let second = [1.9, 0.8, 1.1, 0.1, -0.1, 4.4, 5.5, 1.6, 4.6, 3.4];
        let apart = welch_test(&first, &second, 0.95).expect("they vary");
        assert!(
            (apart.t + 1.8608).abs() < 5e-5
                && (apart.degrees - 17.776).abs() < 5e-4
                && (apart.p - 0.07939).abs() < 5e-6
        );
        assert!(near(Ok(apart.interval), -3.365_483, 0.205_483));
        let together = paired_t(&first, &second, 0.95).expect("they vary");
        assert!((together.t + 4.0621).abs() < 5e-5 && (together.p - 0.002_833).abs() < 5e-7);
        assert!(near(Ok(together.interval), -2.459_886, -0.700_114));
    }

    #[test]
    fn constant_arms() {
        let one = welch_test(&[1.0; 4], &[1.0, 2.0, 3.0], 0.95).expect("one arm varies");
        assert!(
            (one.degrees - 2.0).abs() < 1e-12
                && (one.standard_error - (1.0f64 / 3.0).sqrt()).abs() < 1e-12
        );
        assert_eq!(
            welch_test(&[0.7; 3], &[0.1; 3], 0.95),
            Err(Undefined::NoVariation)
        );
        assert_eq!(
            welch_test(&[0.7], &[0.1, 0.2], 0.95),
            Err(Undefined::TooFew)
        );
        assert_eq!(
            paired_t(&[0.3, 0.4, 7.7], &[0.2, 0.3, 7.6], 0.95),
            Err(Undefined::NoVariation)
        );
        assert_eq!(paired_t(&[1.0], &[1.0, 2.0], 0.95), Err(Undefined::Unequal));
    }

    proptest::proptest! {
        #[test]
        fn swapping_flips_the_sign(
            a in proptest::collection::vec(-1e3..1e3f64, 2..30), b in proptest::collection::vec(-1e3..1e3f64, 2..30),
        ) {
            let (there, back) = (welch_test(&a, &b, 0.95).expect("varies"), welch_test(&b, &a, 0.95).expect("varies"));
            proptest::prop_assert!((there.difference + back.difference).abs() < 1e-12 && (there.p - back.p).abs() < 1e-12);
            proptest::prop_assert!((there.interval.low + back.interval.high).abs() < 1e-9);
            proptest::prop_assert!(there.interval.low <= there.difference && there.difference <= there.interval.high);
        }

        #[test]
        fn order_does_not_matter(mut values in proptest::collection::vec(-1e6..1e6f64, 2..60)) {
            let there = summarise_sample(&values).expect("finite");
            values.reverse();
            let back = summarise_sample(&values).expect("finite");
            proptest::prop_assert!((there.mean - back.mean).abs() <= 1e-15 * 1e6);
        }
    }
}
