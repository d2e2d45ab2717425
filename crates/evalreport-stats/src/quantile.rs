//! Quantiles of a sample, the interval of its median, and the median absolute deviation.

use super::distribution::{FairCoin, upper_level};
use super::{Interval, Undefined};

/// A median and an interval between two of the values.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, schemars::JsonSchema)]
pub struct MedianInterval {
    pub median: f64,
    pub interval: Interval,
    /// The interval's actual confidence, which is at least the requested one because the ends are sample values.
    pub coverage: f64,
}

/// Returns the quantile at `level` by linear interpolation between order statistics (type 7 of Hyndman and Fan 1996).
///
/// Undefined for an empty sample, a value that is not finite, and a level outside [0, 1].
pub fn quantile(values: &[f64], level: f64) -> Result<f64, Undefined> {
    if !(0.0..=1.0).contains(&level) {
        return Err(Undefined::OutOfRange);
    }
    Ok(interpolate_sorted(&sort_finite(values)?, level))
}

/// Returns the interval for the median between the j-th smallest and the j-th largest value, for the largest j that keeps the confidence.
/// It holds for any distribution, because it only counts the values below the median.
///
/// Undefined for fewer values than the confidence needs: six for 0.95.
pub fn median_interval(values: &[f64], confidence: f64) -> Result<MedianInterval, Undefined> {
    upper_level(confidence)?;
    let sorted = sort_finite(values)?;
    let n = sorted.len();
    let coin = FairCoin::new(n as u64);
    let (mut found, mut below) = (None, 0.0);
    // With j values left out at each end, the chance of a miss is twice that of j − 1 or fewer values below the median.
    for left_out in 0..n / 2 {
        below += coin.chance_of(left_out as u64);
        let coverage = 1.0 - 2.0 * below;
        if coverage < confidence {
            break;
        }
        found = Some((left_out, coverage));
    }
    let (left_out, coverage) = found.ok_or(Undefined::TooFew)?;
    let interval =
        Interval::new(sorted[left_out], sorted[n - 1 - left_out]).ok_or(Undefined::NotFinite)?;
    Ok(MedianInterval {
        median: interpolate_sorted(&sorted, 0.5),
        interval,
        coverage,
    })
}

/// Returns the median of the distances from the median, not scaled to a standard deviation.
pub fn median_absolute_deviation(values: &[f64]) -> Result<f64, Undefined> {
    let median = quantile(values, 0.5)?;
    let distances: Vec<f64> = values.iter().map(|value| (value - median).abs()).collect();
    quantile(&distances, 0.5)
}

fn sort_finite(values: &[f64]) -> Result<Vec<f64>, Undefined> {
    if values.is_empty() {
        return Err(Undefined::NoData);
    }
    if values.iter().any(|value| !value.is_finite()) {
        return Err(Undefined::NotFinite);
    }
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    Ok(sorted)
}

/// Interpolates in at least one sorted value.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "the place lies between 0 and the last index"
)]
fn interpolate_sorted(sorted: &[f64], level: f64) -> f64 {
    let place = level * (sorted.len() - 1) as f64;
    let below = place.floor();
    let low = sorted[below as usize];
    let high = sorted[place.ceil() as usize];
    low + (high - low) * (place - below)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn between_and_on_the_values() {
        assert_eq!(quantile(&[4.0, 1.0, 3.0, 2.0], 0.5), Ok(2.5));
        assert_eq!(quantile(&[1.0, 2.0, 3.0, 4.0, 5.0], 0.9), Ok(4.6));
        assert_eq!(quantile(&[7.0], 0.9), Ok(7.0));
        assert_eq!(quantile(&[], 0.5), Err(Undefined::NoData));
        assert_eq!(quantile(&[1.0], 1.5), Err(Undefined::OutOfRange));
        assert_eq!(quantile(&[f64::INFINITY], 0.5), Err(Undefined::NotFinite));
    }

    #[test]
    fn order_statistics() {
        // The smallest and the largest of six values enclose the median unless all are on one side: 1 - 2 / 64. Of ten, the second and the
        // ninth: 1 - 22 / 1024.
        let six = median_interval(&[6.0, 5.0, 4.0, 3.0, 2.0, 1.0], 0.95).expect("six are enough");
        assert_eq!(
            (six.median, six.interval, six.coverage),
            (
                3.5,
                Interval {
                    low: 1.0,
                    high: 6.0
                },
                0.96875
            )
        );
        let ten: Vec<f64> = (1..=10).map(f64::from).collect();
        let ten = median_interval(&ten, 0.95).expect("ten are enough");
        assert_eq!(
            (ten.interval, ten.coverage),
            (
                Interval {
                    low: 2.0,
                    high: 9.0
                },
                1.0 - 22.0 / 1024.0
            )
        );
        assert_eq!(
            median_interval(&[1.0, 2.0, 3.0, 4.0, 5.0], 0.95),
            Err(Undefined::TooFew)
        );
        assert_eq!(median_interval(&[], 0.95), Err(Undefined::NoData));
        assert_eq!(median_interval(&[1.0; 9], 1.0), Err(Undefined::OutOfRange));
    }

    #[test]
    fn distances_from_the_median() {
        assert_eq!(
            median_absolute_deviation(&[1.0, 1.0, 2.0, 2.0, 4.0, 6.0, 9.0]),
            Ok(1.0)
        );
        assert_eq!(median_absolute_deviation(&[]), Err(Undefined::NoData));
    }
}
