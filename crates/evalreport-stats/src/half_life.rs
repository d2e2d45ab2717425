//! How long the outcomes of items stay alike: the half-life of their covariance over time.

use std::collections::BTreeMap;

use super::distribution::t_quantile;
use super::{Interval, Undefined};

/// Minimum number of nights, so that a decline is more than two or three steps.
const MIN_NIGHTS: usize = 6;
/// Groups of items, or of clusters, that the jackknife leaves out in turn.
const JACKKNIFE_GROUPS: usize = 20;
/// A smaller covariance is a rounding error.
const MIN_COVARIANCE: f64 = 1e-12;

/// The half-life of the covariance of item values.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, schemars::JsonSchema)]
pub struct HalfLife {
    pub nights: u64,
    pub items: u64,
    /// In days. `None` if no decline is beyond chance.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub days: Option<f64>,
    /// Interval of the half-life in days, if a decline is beyond chance.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub interval: Option<Interval>,
    /// Without a decline beyond chance: the shortest half-life that the data allow, in days. `None` if they allow any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub at_least: Option<f64>,
}

/// Estimates the half-life: the covariance over items between two nights, c(lag), is fitted by c(0)·2^(−lag / H), by least squares of
/// ln c(lag) with the pairs of nights as weights. Noise of answers is independent between nights, so it lowers c(0) and not H. The interval
/// is a jackknife's over twenty groups of items, or of whole clusters (Tukey 1958). Lags up to half of the observed time count, because longer
/// ones have few pairs.
///
/// `nights` are by night and item, `days` the time of each night, rising, `clusters` the cluster of each item. Undefined for fewer than six
/// nights, or two items or clusters per group, and if a covariance is not above zero: items then differ too little.
pub fn half_life(
    nights: &[Vec<Option<f64>>],
    days: &[f64],
    clusters: Option<&[u32]>,
    confidence: f64,
) -> Result<HalfLife, Undefined> {
    if nights.len() != days.len() {
        return Err(Undefined::Unequal);
    }
    let items = nights.first().map_or(0, Vec::len);
    if nights.iter().any(|night| night.len() != items)
        || clusters.is_some_and(|clusters| clusters.len() != items)
    {
        return Err(Undefined::Unequal);
    }
    // By item: its cluster's place among the clusters.
    let mut places = BTreeMap::<u32, usize>::new();
    let units: Vec<usize> = (0..items)
        .map(|item| {
            let next = places.len();
            clusters.map_or(item, |clusters| {
                *places.entry(clusters[item]).or_insert(next)
            })
        })
        .collect();
    let count = if clusters.is_some() {
        places.len()
    } else {
        items
    };
    if nights.len() < MIN_NIGHTS || count < 2 * JACKKNIFE_GROUPS {
        return Err(Undefined::TooFew);
    }
    let slope = log_covariance_slope(nights, days, |_| true)?;
    let without: Result<Vec<f64>, Undefined> = (0..JACKKNIFE_GROUPS)
        .map(|group| {
            log_covariance_slope(nights, days, |item| units[item] % JACKKNIFE_GROUPS != group)
        })
        .collect();
    let without = without?;
    let mean = without.iter().sum::<f64>() / JACKKNIFE_GROUPS as f64;
    let squares: f64 = without.iter().map(|own| (own - mean).powi(2)).sum();
    let error = ((JACKKNIFE_GROUPS - 1) as f64 / JACKKNIFE_GROUPS as f64 * squares).sqrt();
    let reach = t_quantile(
        f64::midpoint(1.0, confidence),
        (JACKKNIFE_GROUPS - 1) as f64,
    )? * error;
    let half = |slope: f64| -std::f64::consts::LN_2 / slope;
    let is_decline = slope + reach < 0.0;
    Ok(HalfLife {
        nights: nights.len() as u64,
        items: items as u64,
        days: is_decline.then(|| half(slope)),
        interval: is_decline.then(|| Interval {
            low: half(slope - reach),
            high: half(slope + reach),
        }),
        at_least: (!is_decline && slope - reach < 0.0).then(|| half(slope - reach)),
    })
}

/// Returns the slope of ln c(lag) per day, over some of the items.
fn log_covariance_slope(
    nights: &[Vec<Option<f64>>],
    days: &[f64],
    is_in: impl Fn(usize) -> bool,
) -> Result<f64, Undefined> {
    let span = days
        .last()
        .zip(days.first())
        .map_or(0.0, |(last, first)| last - first);
    // By lag: the sum of covariances, and their number.
    let mut lags = BTreeMap::<u64, (f64, f64, f64)>::new();
    for one in 0..nights.len() {
        for other in one + 1..nights.len() {
            let lag = days[other] - days[one];
            if lag > span / 2.0 {
                break;
            }
            let both = nights[one]
                .iter()
                .zip(&nights[other])
                .enumerate()
                .filter(|(item, _)| is_in(*item));
            let both: Vec<(f64, f64)> = both
                .filter_map(|(_, (one, other))| Some(((*one)?, (*other)?)))
                .collect();
            let n = both.len() as f64;
            if n < 2.0 {
                continue;
            }
            let (x, y) = both.iter().fold((0.0, 0.0), |sum, pair| {
                (sum.0 + pair.0 / n, sum.1 + pair.1 / n)
            });
            let covariance = both
                .iter()
                .map(|pair| (pair.0 - x) * (pair.1 - y))
                .sum::<f64>()
                / (n - 1.0);
            let entry = lags.entry(lag.to_bits()).or_insert((lag, 0.0, 0.0));
            *entry = (lag, entry.1 + covariance, entry.2 + 1.0);
        }
    }
    let points: Vec<(f64, f64, f64)> = lags
        .into_values()
        .map(|(lag, sum, pairs)| (lag, sum / pairs, pairs))
        .collect();
    if points.len() < 3 {
        return Err(Undefined::TooFew);
    }
    if points
        .iter()
        .any(|(_, covariance, _)| *covariance <= MIN_COVARIANCE)
    {
        return Err(Undefined::NotPositive);
    }
    let weight: f64 = points.iter().map(|point| point.2).sum();
    let x = points
        .iter()
        .map(|(lag, _, pairs)| pairs * lag)
        .sum::<f64>()
        / weight;
    let y = points
        .iter()
        .map(|(_, covariance, pairs)| pairs * covariance.ln())
        .sum::<f64>()
        / weight;
    let xy: f64 = points
        .iter()
        .map(|(lag, covariance, pairs)| pairs * (lag - x) * (covariance.ln() - y))
        .sum();
    let xx: f64 = points
        .iter()
        .map(|(lag, _, pairs)| pairs * (lag - x).powi(2))
        .sum();
    Ok(xy / xx)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Values whose covariance between nights halves every `half` nights, with as much noise on top.
    fn decaying(nights: usize, items: usize, half: f64) -> Vec<Vec<Option<f64>>> {
        let mut state = 42_u64;
        let mut normal = || {
            let mut sum = -6.0;
            for _ in 0..12 {
                state = state
                    .wrapping_mul(6_364_136_223_846_793_005)
                    .wrapping_add(1_442_695_040_888_963_407);
                sum += (state >> 11) as f64 / (1_u64 << 53) as f64;
            }
            sum
        };
        let keep = 0.5_f64.powf(1.0 / half);
        let mut values: Vec<f64> = (0..items).map(|_| normal()).collect();
        let mut all = Vec::new();
        for _ in 0..nights {
            all.push(values.iter().map(|value| Some(value + normal())).collect());
            for value in &mut values {
                *value = keep * *value + (1.0 - keep * keep).sqrt() * normal();
            }
        }
        all
    }

    fn days(nights: usize) -> Vec<f64> {
        (0..nights).map(|night| night as f64).collect()
    }

    #[test]
    fn a_planted_half_life_is_found_through_noise() {
        let found = half_life(&decaying(20, 2_000, 10.0), &days(20), None, 0.95).expect("nights");
        let (value, interval) = (
            found.days.expect("a decline"),
            found.interval.expect("a decline"),
        );
        assert!(
            (8.5..11.5).contains(&value) && interval.low < 10.0 && interval.high > 10.0,
            "{found:?}"
        );
        assert_eq!(
            (found.nights, found.items, found.at_least),
            (20, 2_000, None)
        );
        // Every second day is twice the time.
        let slow = half_life(
            &decaying(20, 2_000, 10.0),
            &days(20).iter().map(|day| 2.0 * day).collect::<Vec<f64>>(),
            None,
            0.95,
        )
        .expect("nights");
        assert!((slow.days.expect("a decline") / value - 2.0).abs() < 1e-9);
    }

    #[test]
    fn items_that_stay_as_they_are_have_none() {
        let found = half_life(&decaying(12, 400, 1e9), &days(12), None, 0.95).expect("nights");
        assert!(
            found.days.is_none() && found.at_least.is_none_or(|days| days > 12.0),
            "{found:?}"
        );
    }

    #[test]
    fn few_nights_or_items_have_none() {
        assert_eq!(
            half_life(&decaying(5, 100, 10.0), &days(5), None, 0.95),
            Err(Undefined::TooFew)
        );
        assert_eq!(
            half_life(&decaying(8, 30, 10.0), &days(8), None, 0.95),
            Err(Undefined::TooFew)
        );
        assert_eq!(
            half_life(&decaying(8, 100, 10.0), &days(7), None, 0.95),
            Err(Undefined::Unequal)
        );
        assert_eq!(
            half_life(&vec![vec![Some(1.0); 60]; 8], &days(8), None, 0.95),
            Err(Undefined::NotPositive)
        );
    }

    #[test]
    fn copies_in_one_cluster_add_no_precision() {
        let once = decaying(20, 400, 10.0);
        let copied: Vec<Vec<Option<f64>>> = once
            .iter()
            .map(|night| night.iter().flat_map(|value| [*value; 5]).collect())
            .collect();
        let clusters: Vec<u32> = (0..2_000).map(|item| item / 5).collect();
        let alone = half_life(&once, &days(20), None, 0.95).expect("nights");
        let together = half_life(&copied, &days(20), Some(&clusters), 0.95).expect("nights");
        let width = |found: HalfLife| {
            found
                .interval
                .map(|ends| ends.high - ends.low)
                .expect("a decline")
        };
        assert!(
            (width(together) / width(alone) - 1.0).abs() < 0.02,
            "{together:?} {alone:?}"
        );
        // Items that all depend on each other.
        assert_eq!(
            half_life(&copied, &days(20), Some(&[0; 2_000]), 0.95),
            Err(Undefined::TooFew)
        );
        assert_eq!(
            half_life(&once, &days(20), Some(&clusters), 0.95),
            Err(Undefined::Unequal)
        );
    }
}
