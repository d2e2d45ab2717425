//! The mean of values that come in clusters, such as questions on one passage or tests of one repository.

use std::collections::BTreeMap;

use super::distribution::t_two_sided;
use super::mean::{compensated_sum, summarise_sample, t_interval};
use super::{Interval, Undefined};

/// A mean, with standard errors that ignore the clusters and standard errors that respect them.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, schemars::JsonSchema)]
pub struct Clustered {
    pub n: u64,
    pub clusters: u64,
    pub mean: f64,
    /// Standard error for independent values.
    pub se_naive: f64,
    /// Cluster-robust, without correction for few clusters. Too small; for comparison with other tools.
    pub se_cr0: f64,
    /// Cluster-robust with the factor G / (G − 1), with which other tools report. Too small if clusters are few and of unequal sizes.
    pub se_cr1: f64,
    /// G − 1.
    pub degrees: f64,
    /// t interval of `se_cr1`.
    pub interval: Interval,
    /// The error that decides: CR2 with its own degrees of freedom. Equal clusters have that of CR1.
    pub cr2: Cr2,
    /// Variance of the mean relative to independent values.
    pub design_effect: f64,
    /// Number of independent values with the same precision.
    pub effective_n: f64,
}

/// The bias-reduced cluster-robust error of a mean (CR2, Bell and McCaffrey 2002), with Satterthwaite's degrees of freedom for independent
/// values (Pustejovsky and Tipton 2018). Clusters of unequal sizes have fewer degrees than G − 1: one large cluster counts most.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, schemars::JsonSchema)]
pub struct Cr2 {
    /// Squared standard error, in the values' unit squared.
    #[serde(skip)]
    pub variance: f64,
    /// Above 0 and at most G − 1.
    pub degrees: f64,
}

impl Cr2 {
    /// Computes the error of a mean from each cluster's sum of residuals and number of values. Undefined for fewer than two clusters.
    ///
    /// A residual's sum over a cluster of n(g) of n values is too small by the factor √(1 − n(g)/n), since the mean follows the cluster.
    pub(super) fn from_residuals(sums: &[(f64, f64)]) -> Result<Self, Undefined> {
        if sums.len() < 2 {
            return Err(Undefined::TooFew);
        }
        let n = compensated_sum(sums.iter().map(|(_, size)| *size));
        let share = |size: f64| size / n;
        let weight = |size: f64| 1.0 / (1.0 - share(size));
        let squares = sums.iter().map(|(sum, size)| weight(*size) * sum * sum);
        let variance = compensated_sum(squares) / (n * n);
        // Of independent values the sums have the covariances n(g) [g = h] − n(g) n(h) / n. With the weights this is a matrix Ω, and the degrees
        // are (tr Ω)² / tr Ω²: the sum over all pairs, then the diagonal put right. Its trace is that of the shares.
        let trace = compensated_sum(sums.iter().map(|(_, size)| share(*size)));
        let beside = sums
            .iter()
            .map(|(_, size)| weight(*size) * share(*size).powi(2));
        let diagonal = sums.iter().map(|(_, size)| {
            let share = share(*size);
            share.powi(2) - (weight(*size) * share * share).powi(2)
        });
        let squared = compensated_sum(beside).powi(2) + compensated_sum(diagonal);
        Ok(Self {
            variance,
            degrees: trace * trace / squared,
        })
    }

    /// Returns the standard error.
    pub fn standard_error(&self) -> f64 {
        self.variance.sqrt()
    }
}

impl Clustered {
    /// Returns the t interval of the error that decides.
    pub fn deciding_interval(&self, confidence: f64) -> Result<Interval, Undefined> {
        t_interval(
            self.mean,
            self.cr2.standard_error(),
            self.cr2.degrees,
            confidence,
        )
    }

    /// Returns the two-sided p-value of a mean of zero by the error that decides.
    pub fn p_value(&self) -> Result<f64, Undefined> {
        t_two_sided(self.mean / self.cr2.standard_error(), self.cr2.degrees)
    }
}

/// Computes the mean with cluster-robust errors (Liang and Zeger 1986; CR0 and CR1 as in Cameron and Miller 2015). With differences as
/// values it is the clustered paired comparison.
///
/// `clusters` gives the cluster of each value as a code; codes need not be dense. Undefined for one cluster, whose residuals always add up
/// to zero, and if clusters do not differ.
pub fn clustered_mean(
    values: &[f64],
    clusters: &[u32],
    confidence: f64,
) -> Result<Clustered, Undefined> {
    if values.len() != clusters.len() {
        return Err(Undefined::Unequal);
    }
    let summary = summarise_sample(values)?;
    let sums = cluster_residuals(values, clusters, summary.mean);
    let count = sums.len() as u64;
    if count < 2 {
        return Err(Undefined::TooFew);
    }
    let sd = summary
        .sd
        .filter(|sd| *sd > 0.0)
        .ok_or(Undefined::NoVariation)?;
    let (n, groups) = (values.len() as f64, count as f64);
    let se_naive = sd / n.sqrt();
    let se_cr0 = compensated_sum(sums.iter().map(|(sum, _)| sum * sum)).sqrt() / n;
    // Residuals that cancel inside every cluster leave a rounding error.
    if se_cr0 <= 1e-12 * se_naive {
        return Err(Undefined::NoVariation);
    }
    let se_cr1 = se_cr0 * (groups / (groups - 1.0)).sqrt();
    let degrees = groups - 1.0;
    let interval = t_interval(summary.mean, se_cr1, degrees, confidence)?;
    let cr2 = Cr2::from_residuals(&sums)?;
    let design_effect = (se_cr1 / se_naive).powi(2);
    let (n, clusters, effective_n) = (summary.n, count, n / design_effect);
    Ok(Clustered {
        n,
        clusters,
        mean: summary.mean,
        se_naive,
        se_cr0,
        se_cr1,
        degrees,
        interval,
        cr2,
        design_effect,
        effective_n,
    })
}

/// Returns the cluster-robust standard error of the mean (CR1). It is 0 if clusters do not differ.
pub fn clustered_error(values: &[f64], clusters: &[u32]) -> Option<f64> {
    // The confidence concerns the interval alone.
    match clustered_mean(values, clusters, 0.95) {
        Ok(found) => Some(found.se_cr1),
        Err(Undefined::NoVariation) => Some(0.0),
        Err(_) => None,
    }
}

/// Returns each cluster's sum of residuals and number of values, in the order of the codes.
fn cluster_residuals(values: &[f64], clusters: &[u32], mean: f64) -> Vec<(f64, f64)> {
    let add = |sums: &mut (f64, f64), value: &f64| *sums = (sums.0 + value - mean, sums.1 + 1.0);
    let largest = clusters.iter().copied().max().unwrap_or(0) as usize;
    if largest > 4 * clusters.len() + 1024 {
        let mut sums = BTreeMap::<u32, (f64, f64)>::new();
        for (value, cluster) in values.iter().zip(clusters) {
            add(sums.entry(*cluster).or_default(), value);
        }
        return sums.into_values().collect();
    }
    // Dictionary codes are dense; a table by code spares the search.
    let mut sums = vec![(0.0, 0.0); largest + 1];
    for (value, cluster) in values.iter().zip(clusters) {
        add(&mut sums[*cluster as usize], value);
    }
    sums.retain(|(_, size)| *size > 0.0);
    sums
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn by_hand() {
        // Mean 3; sums of residuals -3, 0 and 3; CR0 = sqrt(18) / 6 and CR1 = CR0 * sqrt(3 / 2).
        let got = clustered_mean(&[1.0, 2.0, 2.0, 4.0, 4.0, 5.0], &[7, 7, 0, 0, 3, 3], 0.95)
            .expect("three clusters");
        assert!((got.mean - 3.0).abs() < 1e-15 && (got.se_cr0 - 18f64.sqrt() / 6.0).abs() < 1e-15);
        assert!(
            (got.se_cr1 - 0.75f64.sqrt()).abs() < 1e-15
                && (got.interval.high - 3.0 - 4.302_652_730 * 0.75f64.sqrt()).abs() < 1e-8
        );
        assert_eq!((got.n, got.clusters), (6, 3));
        assert!(
            (got.design_effect - 0.75 / (2.4 / 6.0)).abs() < 1e-12
                && (got.effective_n - 3.2).abs() < 1e-12
        );
        let sparse = clustered_mean(
            &[1.0, 2.0, 2.0, 4.0, 4.0, 5.0],
            &[u32::MAX, u32::MAX, 0, 0, 3, 3],
            0.95,
        );
        assert!((sparse.expect("three clusters").se_cr1 - got.se_cr1).abs() < 1e-15);
    }

    #[test]
    fn cr2_of_unequal_clusters_by_hand() {
        // Residuals' sums 2, −2, 0 of clusters of 1, 2 and 3 values. With n = 6 the weights are 6/5, 6/4 and 6/3, and
        // n² · CR2 = 4 · 1.2 + 4 · 1.5 = 10.8.
        let found =
            Cr2::from_residuals(&[(2.0, 1.0), (-2.0, 2.0), (0.0, 3.0)]).expect("three clusters");
        assert!((found.variance - 10.8 / 36.0).abs() < 1e-15);
        // Ω = 1/6 · [1, 2, 3 on the diagonal; −√(1.2·1.5)·2/6, −√(1.2·2)·3/6, −√(1.5·2)·6/6 beside it]: tr² = 36, and
        // tr Ω² = 1 + 4 + 9 + 2 (1.8/9 + 2.4/4 + 3) = 21.6.
        assert!((found.degrees - 36.0 / 21.6).abs() < 1e-12, "{found:?}");
    }

    #[test]
    fn cr2_of_equal_clusters_is_cr1() {
        let got = clustered_mean(&[1.0, 2.0, 2.0, 4.0, 4.0, 5.0], &[0, 0, 1, 1, 2, 2], 0.95)
            .expect("three clusters");
        assert!((got.cr2.standard_error() - got.se_cr1).abs() < 1e-15);
        assert!((got.cr2.degrees - 2.0).abs() < 1e-12);
        let ends = got.deciding_interval(0.95).expect("varies");
        assert!((ends.low - got.interval.low).abs() < 1e-10);
    }

    #[test]
    fn what_has_no_clustered_error() {
        assert_eq!(clustered_mean(&[], &[], 0.95), Err(Undefined::NoData));
        assert_eq!(
            clustered_mean(&[1.0, 2.0], &[1, 1], 0.95),
            Err(Undefined::TooFew)
        );
        assert_eq!(
            clustered_mean(&[1.0, 1.0], &[1, 2], 0.95),
            Err(Undefined::NoVariation)
        );
        assert_eq!(
            clustered_mean(&[0.1, 0.2, 0.2, 0.1], &[1, 1, 2, 2], 0.95),
            Err(Undefined::NoVariation)
        );
        assert_eq!(
            clustered_mean(&[1.0, 2.0], &[1], 0.95),
            Err(Undefined::Unequal)
        );
    }

    proptest::proptest! {
        #[test]
        fn copies_inside_a_cluster_add_nothing(rows in proptest::collection::vec((0.0..1.0f64, 0u32..9), 12..60)) {
            let (values, codes): (Vec<f64>, Vec<u32>) = rows.iter().copied().unzip();
            let (twice, twice_codes): (Vec<f64>, Vec<u32>) = rows.iter().chain(rows.iter()).copied().unzip();
            let Ok(once) = clustered_mean(&values, &codes, 0.95) else { return Ok(()) };
            let doubled = clustered_mean(&twice, &twice_codes, 0.95).expect("as many clusters");
            proptest::prop_assert!((once.interval.low - doubled.interval.low).abs() < 1e-12);
            proptest::prop_assert!((once.interval.high - doubled.interval.high).abs() < 1e-12);
            proptest::prop_assert!(doubled.se_naive < once.se_naive);
        }

        #[test]
        fn clusters_of_one_are_the_t_interval(values in proptest::collection::vec(-10.0..10.0f64, 2..40)) {
            let codes: Vec<u32> = (0..).take(values.len()).collect();
            let got = clustered_mean(&values, &codes, 0.95).expect("varies");
            let plain = super::super::mean_interval(&values, 0.95).expect("varies");
            proptest::prop_assert!((got.interval.low - plain.low).abs() < 1e-10 && (got.interval.high - plain.high).abs() < 1e-10);
        }
    }
}
