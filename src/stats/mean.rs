//! Means, their spread and t intervals.

use statrs::distribution::{ContinuousCDF, Normal, StudentsT};

use super::Interval;

/// Beyond this many degrees of freedom the t quantile equals the normal one to more than ten digits, and the library's inversion
/// loses accuracy.
const NORMAL_DF: f64 = 1e7;

/// What a sample says about itself. All values are finite.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, schemars::JsonSchema)]
pub struct Summary {
    pub n: u64,
    pub mean: f64,
    /// Standard deviation with n − 1; absent for n = 1.
    pub sd: Option<f64>,
    pub min: f64,
    pub max: f64,
}

/// Summarises a sample; nothing for an empty one or one with a value that is not finite.
pub fn summary(values: &[f64]) -> Option<Summary> {
    if values.is_empty() || values.iter().any(|value| !value.is_finite()) {
        return None;
    }
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    let sd = (values.len() > 1).then(|| (squares / (n - 1.0)).sqrt());
    let min = values.iter().copied().fold(f64::INFINITY, f64::min);
    let max = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    Some(Summary { n: values.len() as u64, mean, sd, min, max })
}

/// Student's t interval for the mean, with n − 1 degrees of freedom.
///
/// Undefined for fewer than two values, and where all are equal: no spread was seen, so the data give no interval.
pub fn mean_interval(values: &[f64], confidence: f64) -> Option<Interval> {
    let summary = summary(values)?;
    // Equal values can leave a remainder in the sum of squares; their ends cannot differ.
    let sd = summary.sd.filter(|_| summary.min < summary.max)?;
    around(summary.mean, sd / (values.len() as f64).sqrt(), values.len() as f64 - 1.0, confidence)
}

fn around(mean: f64, error: f64, degrees: f64, confidence: f64) -> Option<Interval> {
    if !(confidence > 0.0 && confidence < 1.0) {
        return None;
    }
    let level = 0.5 + confidence / 2.0;
    let quantile = if degrees > NORMAL_DF {
        Normal::standard().inverse_cdf(level)
    } else {
        StudentsT::new(0.0, 1.0, degrees).ok()?.inverse_cdf(level)
    };
    Interval::new(mean - quantile * error, mean + quantile * error)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn near(interval: Option<Interval>, low: f64, high: f64) -> bool {
        interval.is_some_and(|interval| (interval.low - low).abs() < 1e-4 && (interval.high - high).abs() < 1e-4)
    }

    #[test]
    fn t_quantiles_of_the_tables() {
        // Half-width for sd 1: t(n-1) / sqrt(n) with 12.7062, 4.3027 and 2.2622.
        assert!(near(
            mean_interval(&[0.0, 2f64.sqrt()], 0.95),
            0.5f64.sqrt() - 12.7062 / 2f64.sqrt(),
            0.5f64.sqrt() + 12.7062 / 2f64.sqrt()
        ));
        assert!(near(mean_interval(&[-1.0, 0.0, 1.0], 0.95), -4.302_65 / 3f64.sqrt(), 4.302_65 / 3f64.sqrt()));
        let ten: Vec<f64> = (0..10).map(f64::from).collect();
        assert!(near(mean_interval(&ten, 0.95), 4.5 - 2.262_157 * 3.027_650 / 10f64.sqrt(), 4.5 + 2.262_157 * 3.027_650 / 10f64.sqrt()));
    }

    #[test]
    fn no_spread_or_too_few_give_no_interval() {
        assert_eq!(mean_interval(&[], 0.95), None);
        assert_eq!(mean_interval(&[1.0], 0.95), None);
        assert_eq!(mean_interval(&[2.0, 2.0, 2.0], 0.95), None);
        assert_eq!(mean_interval(&[0.7, 0.7, 0.7], 0.95), None);
        assert_eq!(summary(&[1.0, f64::NAN]), None);
    }
}
