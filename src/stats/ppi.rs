//! Means of people's labels from a few labels and many verdicts of a judge: prediction-powered inference.

use std::collections::BTreeMap;

use super::distribution::{normal_quantile, normal_two_sided, t_quantile, t_two_sided, upper_level};
use super::mean::total;
use super::posterior::{BetaPrior, beta_credible_interval};
use super::proportion::effective_interval;
use super::proportion_difference::effective_paired_difference;
use super::{Interval, Undefined};

/// A judge's values of all items of a sample, and people's labels of some of them. The labelled items are a random part of the sample, or a
/// random part of each group of items with one value of the judge.
#[derive(Clone, Copy, Debug)]
pub struct Judged<'a> {
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
/// the judge. The normal interval covers too seldom with few labels or extreme rates; [`corrected`] has another.
pub fn prediction_powered(data: Judged<'_>, confidence: f64) -> Result<PredictionPowered, Undefined> {
    let z = normal_quantile(upper_level(confidence)?)?;
    let lambda = data.lambda()?;
    let residuals = data.residuals(lambda);
    let n = residuals.len() as f64;
    let mean = data.predicted(lambda) + mean(&residuals);
    let standard_error = (squares(&residuals) / (n * n) + data.prediction_variance(lambda)).sqrt();
    let interval = Interval::new(mean - z * standard_error, mean + z * standard_error).ok_or(Undefined::NotFinite)?;
    Ok(PredictionPowered { mean, standard_error, lambda, interval })
}

/// What labels and verdicts are values of, which decides how their spread is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Spread {
    /// From 0 to 1.
    Shares,
    /// Differences of two arms' shares, from −1 to 1.
    Differences,
}

/// A mean of people's labels over all items, with an interval that holds the judge's error.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Corrected {
    pub mean: f64,
    pub interval: Interval,
    /// Two-sided, for a mean of zero.
    pub p: f64,
    /// A quarter of the interval's length at 95%, about.
    pub standard_error: f64,
}

/// Estimates the mean of people's labels over all items. If labels and verdicts are whole (pass or fail, or their differences), items are
/// stratified by verdict: Σ W(h)·mean(Y in h), with W the verdict's share of all items. For one judge of pass and fail this is PPI++ at
/// its unclipped λ, and it stays right if some verdicts were labelled more often. The interval adds those of the strata (Jeffreys's of each
/// share, Brown, Cai and DasGupta 2001) and the spread between strata by MOVER (Zou and Donner 2008, Stat Med 27:1693).
/// Other values have PPI++ with two degrees of freedom less than labels. `clusters` gives the cluster of each labelled item, then of each
/// other one; the variance is then cluster-robust (CR1) with Student's t over the labelled clusters.
pub fn corrected(data: Judged<'_>, spread: Spread, clusters: Option<&[u32]>, confidence: f64) -> Result<Corrected, Undefined> {
    let z = normal_quantile(upper_level(confidence)?)?;
    if let Some(clusters) = clusters {
        return data.clustered(clusters, spread, confidence);
    }
    let is_whole = data.labels.iter().chain(data.judged).chain(data.others).all(|value| value.fract() == 0.0);
    if !is_whole {
        return data.regressed(spread, confidence);
    }
    let strata = data.strata(spread)?;
    let (mean, [low, high]) = (strata.mean, strata.ends(confidence)?);
    let interval = Interval::new(low, high).ok_or(Undefined::NotFinite)?;
    Ok(Corrected { mean, interval, p: strata.p()?, standard_error: (high - low) / (2.0 * z) })
}

impl Corrected {
    /// Returns the difference of two independent means, by MOVER; of dependent ones that agree on items it is too wide.
    pub fn minus(self, other: Self) -> Option<Self> {
        let mean = self.mean - other.mean;
        let below = (self.mean - self.interval.low).hypot(other.interval.high - other.mean);
        let above = (self.interval.high - self.mean).hypot(other.mean - other.interval.low);
        let standard_error = self.standard_error.hypot(other.standard_error);
        let p = if standard_error > 0.0 { normal_two_sided(mean / standard_error) } else { 1.0 };
        Some(Self { mean, interval: Interval::new(mean - below, mean + above)?, p, standard_error })
    }
}

impl Judged<'_> {
    fn check(&self) -> Result<(), Undefined> {
        if self.labels.len() != self.judged.len() {
            return Err(Undefined::Unequal);
        }
        if self.labels.is_empty() {
            return Err(Undefined::NoData);
        }
        if self.labels.iter().chain(self.judged).chain(self.others).any(|value| !value.is_finite()) {
            return Err(Undefined::NotFinite);
        }
        Ok(())
    }

    /// Returns the λ of PPI++. 0 if the judge's values do not vary, or if every item has a label.
    fn lambda(&self) -> Result<f64, Undefined> {
        self.check()?;
        if self.others.is_empty() {
            return Ok(0.0);
        }
        let (labels, judged) = (mean(self.labels), mean(self.judged));
        let n = self.labels.len() as f64;
        let covariance = total(self.labels.iter().zip(self.judged).map(|(label, said)| (label - labels) * (said - judged))) / n;
        let all: Vec<f64> = self.judged.iter().chain(self.others).copied().collect();
        let variance = squares(&all) / (all.len() as f64 - 1.0) * (1.0 + n / self.others.len() as f64);
        Ok(if variance > 0.0 { (covariance / variance).clamp(0.0, 1.0) } else { 0.0 })
    }

    /// Returns λ times the mean of the judge's values of the items without a label.
    fn predicted(&self, lambda: f64) -> f64 {
        if lambda > 0.0 { lambda * mean(self.others) } else { 0.0 }
    }

    fn prediction_variance(&self, lambda: f64) -> f64 {
        let n = self.others.len() as f64;
        if lambda > 0.0 { lambda * lambda * squares(self.others) / (n * n) } else { 0.0 }
    }

    fn residuals(&self, lambda: f64) -> Vec<f64> {
        self.labels.iter().zip(self.judged).map(|(label, said)| label - lambda * said).collect()
    }

    fn regressed(&self, spread: Spread, confidence: f64) -> Result<Corrected, Undefined> {
        let found = prediction_powered(*self, confidence)?;
        let n = self.labels.len() as f64;
        if n < 3.0 {
            return Err(Undefined::TooFew);
        }
        let residuals = self.residuals(found.lambda);
        let variance = squares(&residuals) / (n * (n - 2.0)) + self.prediction_variance(found.lambda);
        spread.about(found.mean, variance.sqrt(), n - 2.0, n, confidence)
    }

    fn clustered(&self, clusters: &[u32], spread: Spread, confidence: f64) -> Result<Corrected, Undefined> {
        if clusters.len() != self.labels.len() + self.others.len() {
            return Err(Undefined::Unequal);
        }
        let lambda = self.lambda()?;
        let residuals = self.residuals(lambda);
        let centre = mean(&residuals);
        let (n, count) = (residuals.len() as f64, self.others.len() as f64);
        let of_labels = residuals.iter().map(|residual| (residual - centre) / n);
        let of_others = self.others.iter().map(|said| (lambda * said - self.predicted(lambda)) / count);
        let mut sums = BTreeMap::<u32, f64>::new();
        for (cluster, influence) in clusters.iter().zip(of_labels.chain(of_others)) {
            *sums.entry(*cluster).or_default() += influence;
        }
        let labelled = clusters[..self.labels.len()].iter().collect::<std::collections::BTreeSet<&u32>>().len() as f64;
        if labelled < 3.0 {
            return Err(Undefined::TooFew);
        }
        let variance = total(sums.values().map(|sum| sum * sum)) * labelled / (labelled - 1.0);
        spread.about(self.predicted(lambda) + centre, variance.sqrt(), labelled - 1.0, labelled, confidence)
    }

    fn strata(&self, spread: Spread) -> Result<Strata, Undefined> {
        self.check()?;
        let mut by_verdict = BTreeMap::<i64, Stratum>::new();
        #[expect(clippy::cast_possible_truncation, reason = "whole and at most 1")]
        let at = |value: f64| value as i64;
        for (label, said) in self.labels.iter().zip(self.judged) {
            let own = by_verdict.entry(at(*said)).or_default();
            own.size += 1.0;
            own.ahead += f64::from(u8::from(*label > 0.0));
            own.behind += f64::from(u8::from(*label < 0.0));
            own.n += 1.0;
        }
        for said in self.others {
            by_verdict.entry(at(*said)).or_default().size += 1.0;
        }
        let size = (self.labels.len() + self.others.len()) as f64;
        let overall = mean(self.labels);
        let strata: Vec<Stratum> = by_verdict.into_values().collect();
        let share = |stratum: &Stratum| stratum.size / size;
        let mean = total(strata.iter().map(|stratum| share(stratum) * stratum.mean(overall)));
        let between = total(strata.iter().map(|stratum| share(stratum) * (stratum.mean(overall) - mean).powi(2))) / size;
        Ok(Strata { parts: strata, size, overall, mean, between, spread })
    }
}

/// Items with one verdict of the judge.
#[derive(Clone, Copy, Default)]
struct Stratum {
    size: f64,
    /// Labels, and those above and below zero.
    n: f64,
    ahead: f64,
    behind: f64,
}

impl Stratum {
    /// Returns the mean label. A verdict that nobody labelled has the mean of all labels, and could have any.
    fn mean(&self, overall: f64) -> f64 {
        if self.n > 0.0 { (self.ahead - self.behind) / self.n } else { overall }
    }

    fn ends(&self, spread: Spread, confidence: f64) -> Result<Interval, Undefined> {
        match spread {
            _ if self.n <= 0.0 => Ok(spread.range()),
            Spread::Shares => jeffreys(self.ahead, self.n, confidence),
            Spread::Differences => {
                // The counts of wins and losses exclude each other, so their difference varies more than that of independent shares.
                let z = normal_quantile(upper_level(confidence)?)?;
                let (ahead, behind) = (self.ahead / self.n, self.behind / self.n);
                let (won, lost) = (jeffreys(self.ahead, self.n, confidence)?, jeffreys(self.behind, self.n, confidence)?);
                let both = 2.0 * z * z * ahead * behind / self.n;
                let below = ((ahead - won.low).powi(2) + (lost.high - behind).powi(2) + both).sqrt();
                let above = ((won.high - ahead).powi(2) + (behind - lost.low).powi(2) + both).sqrt();
                Interval::new(ahead - behind - below, ahead - behind + above).ok_or(Undefined::NotFinite)
            }
        }
    }
}

/// Returns the interval of a share with Jeffreys's prior, which reaches 0 and 1 if nothing or everything passed (Brown, Cai and DasGupta 2001).
fn jeffreys(passed: f64, n: f64, confidence: f64) -> Result<Interval, Undefined> {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "counts")]
    let found = beta_credible_interval(passed as u64, n as u64, BetaPrior::JEFFREYS, confidence)?;
    let low = if passed > 0.0 { found.low } else { 0.0 };
    Interval::new(low, if passed < n { found.high } else { 1.0 }).ok_or(Undefined::NotFinite)
}

struct Strata {
    parts: Vec<Stratum>,
    size: f64,
    overall: f64,
    mean: f64,
    /// Variance of the mean because the verdicts' shares are those of a sample.
    between: f64,
    spread: Spread,
}

impl Strata {
    fn ends(&self, confidence: f64) -> Result<[f64; 2], Undefined> {
        let z = normal_quantile(upper_level(confidence)?)?;
        let (mut below, mut above) = (z * z * self.between, z * z * self.between);
        for stratum in &self.parts {
            let (share, mean) = (stratum.size / self.size, stratum.mean(self.overall));
            let ends = stratum.ends(self.spread, confidence)?;
            below += (share * (mean - ends.low)).powi(2);
            above += (share * (ends.high - mean)).powi(2);
        }
        let range = self.spread.range();
        Ok([(self.mean - below.sqrt()).max(range.low), (self.mean + above.sqrt()).min(range.high)])
    }

    /// Returns the smallest error at which the interval excludes zero, not below that of six standard errors.
    fn p(&self) -> Result<f64, Undefined> {
        let excludes = |z: f64| -> Result<bool, Undefined> {
            let [low, high] = self.ends(1.0 - normal_two_sided(z))?;
            Ok(low > 0.0 || high < 0.0)
        };
        let (mut low, mut high) = (0.0, 6.0);
        if self.mean == 0.0 {
            return Ok(1.0);
        }
        if excludes(high)? {
            return Ok(normal_two_sided(high));
        }
        for _ in 0..40 {
            let middle = f64::midpoint(low, high);
            if middle > 0.0 && excludes(middle)? {
                low = middle;
            } else {
                high = middle;
            }
        }
        Ok(normal_two_sided(low))
    }
}

impl Spread {
    fn range(self) -> Interval {
        match self {
            Self::Shares => Interval { low: 0.0, high: 1.0 },
            Self::Differences => Interval { low: -1.0, high: 1.0 },
        }
    }

    /// Returns Student's interval around a mean. If nothing varies, that of as many passes and fails.
    fn about(self, mean: f64, error: f64, degrees: f64, n: f64, confidence: f64) -> Result<Corrected, Undefined> {
        let range = self.range();
        let level = upper_level(confidence)?;
        if error <= 0.0 {
            let at = mean.clamp(range.low, range.high);
            let interval = match self {
                Self::Shares => effective_interval(at, n, confidence)?,
                Self::Differences => effective_paired_difference(at.max(0.0), (-at).max(0.0), n, confidence)?,
            };
            let p = if interval.low > 0.0 || interval.high < 0.0 { 1.0 - confidence } else { 1.0 };
            let standard_error = (interval.high - interval.low) / (2.0 * normal_quantile(level)?);
            return Ok(Corrected { mean: at, interval, p, standard_error });
        }
        let reach = t_quantile(level, degrees)? * error;
        let interval = Interval::new(mean - reach, mean + reach).ok_or(Undefined::NotFinite)?.clipped(range.low, range.high);
        let mean = mean.clamp(range.low, range.high);
        Ok(Corrected { mean, interval, p: t_two_sided(mean / error, degrees)?, standard_error: error })
    }
}

fn mean(values: &[f64]) -> f64 {
    total(values.iter().copied()) / values.len() as f64
}

/// Returns the sum of squared deviations from the mean.
fn squares(values: &[f64]) -> f64 {
    let centre = mean(values);
    total(values.iter().map(|value| (value - centre) * (value - centre)))
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
                counts.into_iter().zip(passed).flat_map(|(count, passed)| vec![f64::from(u8::from(passed)); count]).collect()
            };
            let [n, passed] = self.others;
            let others = (0..n).map(|item| f64::from(u8::from(item < passed))).collect();
            let (labels, judged) = (list([true, true, false, false]), list([true, false, true, false]));
            Listed { confidence: self.confidence, labels, judged, others, ppi: self.ppi }
        }
    }

    fn vectors() -> Vec<Listed> {
        let vectors: Vectors = serde_json::from_str(include_str!("../../tests/fixtures/judges/vectors.json")).expect("vectors");
        vectors.binary.into_iter().map(Counted::listed).chain(vectors.values).collect()
    }

    #[test]
    fn equals_ppi_python() {
        for Listed { confidence, labels, judged, others, ppi } in vectors() {
            let data = Judged { labels: &labels, judged: &judged, others: &others };
            let found = prediction_powered(data, confidence).expect("an estimate");
            for (own, expected) in
                [(found.mean, ppi.mean), (found.lambda, ppi.lambda), (found.interval.low, ppi.ci[0]), (found.interval.high, ppi.ci[1])]
            {
                assert!((own - expected).abs() < 1e-9, "{own} {expected}");
            }
        }
    }

    #[test]
    fn with_many_labels_the_corrected_interval_is_that_of_ppi() {
        let (labels, judged, others) = labelled([300, 20, 60, 220], [4000, 2400]);
        let data = Judged { labels: &labels, judged: &judged, others: &others };
        let (own, plain) = (corrected(data, Spread::Shares, None, 0.95), prediction_powered(data, 0.95));
        let (own, plain) = (own.expect("corrected"), plain.expect("an estimate"));
        assert!((own.mean - plain.mean).abs() < 1e-3, "{own:?} {plain:?}");
        assert!((own.interval.low - plain.interval.low).abs() < 2e-3 && (own.interval.high - plain.interval.high).abs() < 2e-3);
    }

    #[test]
    fn a_mean_of_strata_by_hand() {
        // Of 60 passes 15 of 20 labels agree, of 40 fails 1 of 10 is a pass: 0.6 · 0.75 + 0.4 · 0.1.
        let (labels, judged, others) = labelled([15, 1, 5, 9], [70, 40]);
        let data = Judged { labels: &labels, judged: &judged, others: &others };
        let found = corrected(data, Spread::Shares, None, 0.95).expect("corrected");
        assert!((found.mean - 0.49).abs() < 1e-12 && found.interval.low < 0.49 && found.interval.high > 0.49, "{found:?}");
    }

    #[test]
    fn p_and_interval_agree_and_arms_can_be_swapped() {
        for (won, lost, same) in [(12, 3, 25), (9, 3, 28), (3, 3, 34), (0, 0, 40), (30, 0, 10)] {
            let labels: Vec<f64> = [(1.0, won), (-1.0, lost), (0.0, same)].iter().flat_map(|(value, n)| vec![*value; *n]).collect();
            let judged: Vec<f64> = labels.iter().enumerate().map(|(at, label)| if at % 7 == 0 { 0.0 } else { *label }).collect();
            let others: Vec<f64> = judged.iter().cycle().take(200).copied().collect();
            let turned = |values: &[f64]| values.iter().map(|value| 0.0 - value).collect::<Vec<f64>>();
            let of = |labels: &[f64], judged: &[f64], others: &[f64]| {
                corrected(Judged { labels, judged, others }, Spread::Differences, None, 0.95).expect("corrected")
            };
            let found = of(&labels, &judged, &others);
            assert_eq!(found.p < 0.05, found.interval.low > 0.0 || found.interval.high < 0.0, "{found:?}");
            let other = of(&turned(&labels), &turned(&judged), &turned(&others));
            assert!((found.mean + other.mean).abs() < 1e-12 && (found.interval.low + other.interval.high).abs() < 1e-12);
            assert!((found.p - other.p).abs() < 1e-9);
        }
    }

    #[test]
    fn clusters_widen_and_a_full_set_of_labels_needs_no_judge() {
        let (labels, judged, others) = labelled([30, 5, 5, 20], [120, 70]);
        let data = Judged { labels: &labels, judged: &judged, others: &others };
        let codes: Vec<u32> = (0..labels.len() + others.len()).map(|at| u32::try_from(at / 6).expect("few")).collect();
        let clustered = corrected(data, Spread::Shares, Some(&codes), 0.95).expect("clustered");
        let alone = corrected(data, Spread::Shares, None, 0.95).expect("corrected");
        assert!(clustered.interval.high - clustered.interval.low > alone.interval.high - alone.interval.low);
        let all = corrected(Judged { others: &[], ..data }, Spread::Shares, None, 0.95).expect("labels alone");
        assert!((all.mean - 35.0 / 60.0).abs() < 1e-12, "{all:?}");
        assert_eq!(corrected(Judged { labels: &[], judged: &[], ..data }, Spread::Shares, None, 0.95), Err(Undefined::NoData));
        assert_eq!(corrected(Judged { labels: &[1.0], ..data }, Spread::Shares, None, 0.95), Err(Undefined::Unequal));
    }

    fn labelled(counts: [usize; 4], others: [usize; 2]) -> (Vec<f64>, Vec<f64>, Vec<f64>) {
        let ppi = Expected { mean: 0.0, lambda: 0.0, ci: [0.0; 2] };
        let found = Counted { confidence: 0.95, labelled: counts, others, ppi }.listed();
        (found.labels, found.judged, found.others)
    }
}
