//! Means of people's labels from a few labels and many verdicts of a judge: prediction-powered inference.

use super::distribution::{normal_quantile, upper_level};
use super::mean::compensated_sum;
use super::{Interval, Undefined};

/// A judge's values of all items of a sample, and people's labels of some of them. The labelled items are a random part of the sample, or a
/// random part of each group of items with one value of the judge.
#[derive(Clone, Copy, Debug)]
pub struct JudgedSample<'a> {
    /// People's labels of the labelled items.
    pub labels: &'a [f64],
    /// The judge's values of the same items, in the same order.
    pub judged: &'a [f64],
    /// The judge's values of the other items.
    pub others: &'a [f64],
}

/// An estimate by prediction-powered inference.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PredictionPowered {
    pub mean: f64,
    pub standard_error: f64,
    /// How much the judge's values count, from 0 (not at all) to 1.
    pub lambda: f64,
    /// Normal.
    pub interval: Interval,
}

/// Estimates the mean of people's labels over all items by PPI++ (Angelopoulos, Duchi and Zrnic 2023, arXiv:2311.01453, example 6.1).
///
/// With n labels Y, the judge's values f of the same items and g of N other items: λ·mean(g) + mean(Y − λf), with λ = cov(Y, f) / (var(f, g) ·
/// (1 + n/N)) between 0 and 1, and the variance var(Y − λf)/n + λ²·var(g)/N. Variances have the divisor n, apart from that of all values of
/// the judge. The normal interval covers too seldom with few labels or extreme rates; [`super::corrected_rate`] has another.
pub fn prediction_powered(
    data: JudgedSample<'_>,
    confidence: f64,
) -> Result<PredictionPowered, Undefined> {
    let z = normal_quantile(upper_level(confidence)?)?;
    let lambda = data.tuning_lambda()?;
    let residuals = data.label_residuals(lambda);
    let n = residuals.len() as f64;
    let mean = data.predicted_mean(lambda) + sample_mean(&residuals);
    let standard_error =
        (squared_deviations(&residuals) / (n * n) + data.prediction_variance(lambda)).sqrt();
    let interval = Interval::new(mean - z * standard_error, mean + z * standard_error)
        .ok_or(Undefined::NotFinite)?;
    Ok(PredictionPowered {
        mean,
        standard_error,
        lambda,
        interval,
    })
}

impl JudgedSample<'_> {
    fn check_lengths(&self) -> Result<(), Undefined> {
        if self.labels.len() != self.judged.len() {
            return Err(Undefined::Unequal);
        }
        if self.labels.is_empty() {
            return Err(Undefined::NoData);
        }
        if self
            .labels
            .iter()
            .chain(self.judged)
            .chain(self.others)
            .any(|value| !value.is_finite())
        {
            return Err(Undefined::NotFinite);
        }
        Ok(())
    }

    /// Returns the λ of PPI++. 0 if the judge's values do not vary, or if every item has a label.
    fn tuning_lambda(&self) -> Result<f64, Undefined> {
        self.check_lengths()?;
        if self.others.is_empty() {
            return Ok(0.0);
        }
        let (labels, judged) = (sample_mean(self.labels), sample_mean(self.judged));
        let n = self.labels.len() as f64;
        let covariance = compensated_sum(
            self.labels
                .iter()
                .zip(self.judged)
                .map(|(label, said)| (label - labels) * (said - judged)),
        ) / n;
        let all: Vec<f64> = self.judged.iter().chain(self.others).copied().collect();
        let variance = squared_deviations(&all) / (all.len() as f64 - 1.0)
            * (1.0 + n / self.others.len() as f64);
        Ok(if variance > 0.0 {
            (covariance / variance).clamp(0.0, 1.0)
        } else {
            0.0
        })
    }

    /// Returns λ times the mean of the judge's values of the items without a label.
    fn predicted_mean(&self, lambda: f64) -> f64 {
        if lambda > 0.0 {
            lambda * sample_mean(self.others)
        } else {
            0.0
        }
    }

    fn prediction_variance(&self, lambda: f64) -> f64 {
        let n = self.others.len() as f64;
        if lambda > 0.0 {
            lambda * lambda * squared_deviations(self.others) / (n * n)
        } else {
            0.0
        }
    }

    fn label_residuals(&self, lambda: f64) -> Vec<f64> {
        self.labels
            .iter()
            .zip(self.judged)
            .map(|(label, said)| label - lambda * said)
            .collect()
    }
}

fn sample_mean(values: &[f64]) -> f64 {
    compensated_sum(values.iter().copied()) / values.len() as f64
}

/// Returns the sum of squared deviations from the mean.
fn squared_deviations(values: &[f64]) -> f64 {
    let centre = sample_mean(values);
    compensated_sum(
        values
            .iter()
            .map(|value| (value - centre) * (value - centre)),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(serde::Deserialize)]
    struct Vectors {
        binary: Vec<Counted>,
        values: Vec<Listed>,
    }

    #[derive(serde::Deserialize)]
    struct Counted {
        confidence: f64,
        /// Passed by both, only by people, only by the judge, by neither.
        labelled: [usize; 4],
        /// Items, and those that the judge passed.
        others: [usize; 2],
        ppi: Expected,
    }

    #[derive(serde::Deserialize)]
    struct Listed {
        confidence: f64,
        labels: Vec<f64>,
        judged: Vec<f64>,
        others: Vec<f64>,
        ppi: Expected,
    }

    #[derive(serde::Deserialize)]
    struct Expected {
        mean: f64,
        lambda: f64,
        ci: [f64; 2],
    }

    impl Counted {
        fn listed(self) -> Listed {
            let [both, people, judge, neither] = self.labelled;
            let list = |passed: [bool; 4]| -> Vec<f64> {
                let counts = [both, people, judge, neither];
                counts
                    .into_iter()
                    .zip(passed)
                    .flat_map(|(count, passed)| vec![f64::from(u8::from(passed)); count])
                    .collect()
            };
            let [n, passed] = self.others;
            let others = (0..n)
                .map(|item| f64::from(u8::from(item < passed)))
                .collect();
            let (labels, judged) = (
                list([true, true, false, false]),
                list([true, false, true, false]),
            );
            Listed {
                confidence: self.confidence,
                labels,
                judged,
                others,
                ppi: self.ppi,
            }
        }
    }

    fn vectors() -> Vec<Listed> {
        let vectors: Vectors =
            serde_json::from_str(include_str!("../../../tests/fixtures/judges/vectors.json"))
                .expect("vectors");
        vectors
            .binary
            .into_iter()
            .map(Counted::listed)
            .chain(vectors.values)
            .collect()
    }

    #[test]
    fn equals_ppi_python() {
        for Listed {
            confidence,
            labels,
            judged,
            others,
            ppi,
        } in vectors()
        {
            let data = JudgedSample {
                labels: &labels,
                judged: &judged,
                others: &others,
            };
            let found = prediction_powered(data, confidence).expect("an estimate");
            for (own, expected) in [
                (found.mean, ppi.mean),
                (found.lambda, ppi.lambda),
                (found.interval.low, ppi.ci[0]),
                (found.interval.high, ppi.ci[1]),
            ] {
                assert!((own - expected).abs() < 1e-9, "{own} {expected}");
            }
        }
    }
}
