//! Levels of shares whose own noise is known: a night of 60 items varies by the chance of its items, whatever the other nights do.
//!
//! The variance between nights beyond that noise is what nights share with their neighbours at most, because the chance of items does not
//! persist from night to night. So a few nights suffice to bound a wander, where a series without known noise must be long.

use super::wander::{PERSISTENCE, wander_share};
use super::{Undefined, t_two_sided};

/// Standard errors added to each estimate of the share that wanders. With this margin, a pass rate with two amounts keeps alpha from 60 days
/// on, also if half of the variance wanders.
const SHARE_MARGIN: f64 = 0.85;
/// Degrees of freedom per day that counts: the known noise is a lower limit of the variance, so that it is better known than by the days
/// alone.
const DEGREES_PER_DAY: f64 = 1.25;
/// If a larger share may wander, the known noise says little about the mean of days.
pub(super) const MAX_WANDER: f64 = 0.4;
/// The largest share of the variance beyond the noise with which a large step needs no allowance for a wander.
const MAX_EXCESS: f64 = 0.25;
/// Minimum expected number of unexpected outcomes on the shorter side. With fewer, means of shares are too skewed for t.
const MIN_EVENTS: f64 = 10.0;
/// The share of a wander and the variance depend on each other; this many rounds settle both.
const ROUNDS: usize = 20;

/// The evidence of a split of days into two levels.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct LevelTest {
    /// The p-value of the difference, for a split that was not searched for.
    pub p: f64,
    /// Whether the known noise suffices to judge it. If not, a test that does not need it must agree.
    pub is_enough: bool,
}

/// Returns the noise of a day's share from two neighbouring days: half the squared differences of the items that both have, over the
/// squared number of items. Its mean is the variance of the share given the items' own chances, which may differ from each other.
/// `None` without a shared item.
pub fn noise_of_neighbours(pairs: impl IntoIterator<Item = (f64, f64)>) -> Option<f64> {
    let (sum, items) = pairs
        .into_iter()
        .fold((0.0, 0.0), |(sum, items), (one, other)| {
            (sum + (one - other).powi(2), items + 1.0)
        });
    (items > 0.0).then(|| sum / 2.0 / (items * items))
}

/// The share of the variance of days that wanders.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Wander {
    /// No more than the days show, and no less than this.
    AtLeast(f64),
    /// None, unless the variance beyond the noise is too large: the step is one that no wander makes.
    Unlikely,
}

/// Tests the difference of two levels of shares. `noise` is the mean variance of a day by the chance of its items.
///
/// t = difference / √(σ² V), with σ² the variance of days, at least `noise`, and V that of the difference of the two means if a share c of
/// it is a first-order autoregression of 0.8 and the rest is independent. Degrees of freedom as for the other series.
pub(super) fn test_levels(
    values: &[f64],
    at: usize,
    noise: f64,
    wander: Wander,
) -> Result<LevelTest, Undefined> {
    let n = values.len() as f64;
    let (rest, lengths) = rest_of_levels(values, &[at]);
    let found = match wander {
        Wander::AtLeast(least) => WanderShare::fit(&rest, &lengths, noise, least),
        Wander::Unlikely => WanderShare::none(&rest, &lengths, noise)
            .unwrap_or_else(|| WanderShare::fit(&rest, &lengths, noise, 0.0)),
    };
    let level = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
    let (left, right) = values.split_at(at);
    let error = (found.variance * difference_variance(&lengths, found.share)).sqrt();
    let inflation = 1.0 + 2.0 * PERSISTENCE / (1.0 - PERSISTENCE) * found.share;
    let degrees = DEGREES_PER_DAY * (n / inflation.sqrt() - 2.0).max(1.0);
    let mean = level(values);
    let shorter = lengths.iter().copied().fold(f64::INFINITY, f64::min);
    // Items' chances p have the noise Σp(1 − p)/m², so that this is about the shorter side's Σp(1 − p).
    let events = shorter * (mean * (1.0 - mean)).powi(2) / noise;
    Ok(LevelTest {
        p: t_two_sided((level(left) - level(right)).abs() / error, degrees)?,
        is_enough: found.share <= MAX_WANDER && events >= MIN_EVENTS,
    })
}

/// Returns the share of the variance between these levels that wanders, at most. `ends` are the first days of later levels.
pub(super) fn share_between_levels(values: &[f64], ends: &[usize], noise: f64) -> f64 {
    let (rest, lengths) = rest_of_levels(values, ends);
    WanderShare::fit(&rest, &lengths, noise, 0.0).share
}

/// Returns the days less the mean of their level, and the days of each level.
fn rest_of_levels(values: &[f64], ends: &[usize]) -> (Vec<f64>, Vec<f64>) {
    let all: Vec<usize> = [0]
        .iter()
        .chain(ends)
        .chain([&values.len()])
        .copied()
        .collect();
    let levels = || all.windows(2).map(|ends| &values[ends[0]..ends[1]]);
    let rest = levels().flat_map(|level| {
        let mean = level.iter().sum::<f64>() / level.len() as f64;
        level.iter().map(move |value| value - mean)
    });
    (
        rest.collect(),
        levels().map(|level| level.len() as f64).collect(),
    )
}

/// The part of the variance of days that wanders, at most, and the variance.
struct WanderShare {
    share: f64,
    variance: f64,
}

impl WanderShare {
    /// Returns a share of zero, or `None` if the variance is too much larger than the noise.
    fn none(rest: &[f64], lengths: &[f64], noise: f64) -> Option<Self> {
        let n: f64 = lengths.iter().sum();
        let squares: f64 = rest.iter().map(|value| value * value).sum();
        let variance = squares / (n - lengths.len() as f64).max(1.0);
        (noise >= (1.0 - MAX_EXCESS) * variance).then_some(Self {
            share: 0.0,
            variance: variance.max(noise),
        })
    }

    /// Bounds the share by the variance beyond the noise, and by the resemblance of neighbours; the smaller bound counts. The levels follow
    /// the wander and so hide a part of the variance, which is added again.
    fn fit(rest: &[f64], lengths: &[f64], noise: f64, least: f64) -> Self {
        let n: f64 = lengths.iter().sum();
        let squares: f64 = rest.iter().map(|value| value * value).sum();
        let by_neighbours = wander_share(rest, lengths.len(), SHARE_MARGIN);
        let mut found = Self {
            share: least,
            variance: noise,
        };
        for _ in 0..ROUNDS {
            let hidden: f64 = lengths
                .iter()
                .map(|days| days * mean_variance(*days, found.share))
                .sum();
            found.variance = (squares / n / (1.0 - hidden / n).max(0.1)).max(noise);
            let upper = found.variance * (1.0 + SHARE_MARGIN * (2.0 / n).sqrt());
            found.share = (1.0 - noise / upper)
                .clamp(0.0, 1.0)
                .min(by_neighbours)
                .max(least);
        }
        found
    }
}

/// Returns the variance of the mean of so many days of variance 1, of which the share `c` wanders.
fn mean_variance(days: f64, c: f64) -> f64 {
    let kept = 1.0 - PERSISTENCE;
    let tail = (1.0 - PERSISTENCE.powf(days)) / (days * kept);
    (1.0 + c * 2.0 * PERSISTENCE / kept * (1.0 - tail)) / days
}

/// Returns the variance of the difference of the means of two adjacent levels.
fn difference_variance(lengths: &[f64], c: f64) -> f64 {
    let apart: f64 = lengths.iter().map(|days| mean_variance(*days, c)).sum();
    let together: f64 = lengths
        .iter()
        .map(|days| (1.0 - PERSISTENCE.powf(*days)) / ((1.0 - PERSISTENCE) * days))
        .product();
    apart - 2.0 * c * PERSISTENCE * together
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variances_of_means_of_days_that_wander() {
        assert!((mean_variance(5.0, 0.0) - 0.2).abs() < 1e-12);
        assert!((mean_variance(1.0, 0.7) - 1.0).abs() < 1e-12);
        // Var of the mean of two days with the correlation 0.8, and Cov of one day with the next.
        assert!((mean_variance(2.0, 1.0) - 0.9).abs() < 1e-12);
        assert!((difference_variance(&[1.0, 1.0], 1.0) - 0.4).abs() < 1e-12);
        assert!((difference_variance(&[4.0, 6.0], 0.0) - (0.25 + 1.0 / 6.0)).abs() < 1e-12);
    }

    #[test]
    fn noise_is_half_the_flips() {
        // Four items, of which two flip: 2 / 2 / 16.
        let pairs = [(1.0, 0.0), (1.0, 1.0), (0.0, 1.0), (0.0, 0.0)];
        assert_eq!(noise_of_neighbours(pairs), Some(0.0625));
        assert_eq!(noise_of_neighbours([]), None);
    }

    #[test]
    fn days_as_noisy_as_their_items_do_not_wander() {
        let turning: Vec<f64> = (0..40)
            .map(|day| if day % 2 == 0 { 0.7 } else { 0.8 })
            .collect();
        assert!(share_between_levels(&turning, &[20], 0.0025) < 1e-9);
        // The same spread, but ten days are alike and nothing of it is the items' chance.
        let long: Vec<f64> = (0..40)
            .map(|day| if day / 10 % 2 == 0 { 0.7 } else { 0.8 })
            .collect();
        assert!(share_between_levels(&long, &[], 0.0001) > 0.9);
    }

    #[test]
    fn a_fall_of_15_points_of_60_items_is_clear_and_one_of_few_events_is_not()
    -> Result<(), Undefined> {
        let rates = |level: f64, days: usize| {
            (0..days).map(move |day| level + if day % 2 == 0 { 0.04 } else { -0.04 })
        };
        let fell: Vec<f64> = rates(0.8, 30).chain(rates(0.65, 5)).collect();
        let found = test_levels(&fell, 30, 0.0027, Wander::AtLeast(0.0))?;
        assert!(found.p < 1e-4 && found.is_enough, "{found:?}");
        let rare: Vec<f64> = (0..35)
            .map(|day| if day > 30 { 0.95 } else { 1.0 })
            .collect();
        assert!(!test_levels(&rare, 30, 0.0005, Wander::Unlikely)?.is_enough);
        Ok(())
    }
}
