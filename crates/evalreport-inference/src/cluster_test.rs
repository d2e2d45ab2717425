//! The test of a mean of differences over clusters, with the interval that inverts it.

use crate::stats::{Cr2, Interval, clustered_mean, flip_interval, sign_flip};

use super::comparison::Test;
use super::seed::sign_flip_resampling;

/// Number of clusters from which the signs of whole clusters are flipped. With fewer, flips are nearly mute: six clusters find a third of
/// what Student's t with CR2 finds, at the same rate of false winners (docs/measured/simulations.md).
const MIN_FLIPPED_CLUSTERS: usize = 12;

/// A test over clusters. The interval excludes zero exactly if the test rejects it.
pub(super) struct ClusterTest {
    pub test: Test,
    pub p: f64,
    /// `None` if clusters do not vary.
    pub interval: Option<Interval>,
    /// `None` if clusters do not vary.
    pub error: Option<Cr2>,
}

impl ClusterTest {
    /// Tests differences of items, each with the code of its cluster.
    pub fn from_differences(differences: &[f64], codes: &[u32], confidence: f64) -> Self {
        let sums = cluster_sums(differences, codes);
        let only_sums: Vec<f64> = sums
            .iter()
            .map(|(sum, _)| *sum)
            .filter(|sum| *sum != 0.0)
            .collect();
        let resampling = sign_flip_resampling(only_sums.iter().copied());
        let found = clustered_mean(differences, codes, confidence).ok();
        let error = found.map(|found| found.cr2);
        if let Some(found) = found.filter(|_| sums.len() < MIN_FLIPPED_CLUSTERS)
            && let Ok(p) = found.p_value()
        {
            return Self {
                test: Test::ClusterT,
                p,
                interval: found.deciding_interval(confidence).ok(),
                error,
            };
        }
        Self {
            test: Test::ClusterSignFlip,
            p: sign_flip(&only_sums, resampling).map_or(1.0, |test| test.p),
            interval: found.and_then(|_| flip_interval(&sums, resampling, confidence)),
            error,
        }
    }
}

/// Returns each cluster's sum of differences and number of items, in the order of the codes.
fn cluster_sums(differences: &[f64], codes: &[u32]) -> Vec<(f64, f64)> {
    let count = codes.iter().max().map_or(0, |last| *last as usize + 1);
    let mut sums = vec![(0.0, 0.0); count];
    for (difference, code) in differences.iter().zip(codes) {
        let own = &mut sums[*code as usize];
        *own = (own.0 + difference, own.1 + 1.0);
    }
    sums.retain(|(_, n)| *n > 0.0);
    sums
}
