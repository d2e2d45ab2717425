//! The mean of values that come in clusters, such as questions on one passage or tests of one repository.

use std::collections::BTreeMap;

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
    /// Cluster-robust with the factor G / (G − 1). Use this one.
    pub se_cr1: f64,
    /// G − 1.
    pub degrees: f64,
    /// t interval of `se_cr1`.
    pub interval: Interval,
    /// Variance of the mean relative to independent values.
    pub design_effect: f64,
    /// Number of independent values with the same precision.
    pub effective_n: f64,
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
    let (sums, count) = cluster_residuals(values, clusters, summary.mean);
    if count < 2 {
        return Err(Undefined::TooFew);
    }
    let sd = summary
        .sd
        .filter(|sd| *sd > 0.0)
        .ok_or(Undefined::NoVariation)?;
    let (n, groups) = (values.len() as f64, count as f64);
    let se_naive = sd / n.sqrt();
    let se_cr0 = compensated_sum(sums.iter().map(|sum| sum * sum)).sqrt() / n;
    // Residuals that cancel inside every cluster leave a rounding error.
    if se_cr0 <= 1e-12 * se_naive {
        return Err(Undefined::NoVariation);
    }
    let se_cr1 = se_cr0 * (groups / (groups - 1.0)).sqrt();
    let degrees = groups - 1.0;
    let interval = t_interval(summary.mean, se_cr1, degrees, confidence)?;
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

/// Returns the sum of residuals by cluster code, and the number of clusters. Codes without a value have a sum of zero.
fn cluster_residuals(values: &[f64], clusters: &[u32], mean: f64) -> (Vec<f64>, u64) {
    let largest = clusters.iter().copied().max().unwrap_or(0) as usize;
    if largest > 4 * clusters.len() + 1024 {
        let mut sums = BTreeMap::<u32, f64>::new();
        for (value, cluster) in values.iter().zip(clusters) {
            *sums.entry(*cluster).or_default() += value - mean;
        }
        let count = sums.len() as u64;
        return (sums.into_values().collect(), count);
    }
    // Dictionary codes are dense; a table by code spares the search.
    let (mut sums, mut seen) = (vec![0.0; largest + 1], vec![false; largest + 1]);
    for (value, cluster) in values.iter().zip(clusters) {
        sums[*cluster as usize] += value - mean;
        seen[*cluster as usize] = true;
    }
    (sums, seen.into_iter().filter(|seen| *seen).count() as u64)
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
