//! Intervals for the difference of two proportions, a − b, as fractions.

use super::distribution::{normal_quantile, upper_level};
use super::proportion::{effective_interval, share_passed};
use super::{Interval, Undefined};

/// Outcomes of two arms on the same items.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, schemars::JsonSchema)]
pub struct PairedTable {
    pub both: u64,
    pub only_a: u64,
    pub only_b: u64,
    pub neither: u64,
}

impl PairedTable {
    /// Returns the number of items.
    pub fn item_count(self) -> u64 {
        self.both + self.only_a + self.only_b + self.neither
    }

    /// Returns the share that a passed minus the share that b passed.
    pub fn share_difference(self) -> Result<f64, Undefined> {
        match self.item_count() {
            0 => Err(Undefined::NoData),
            total => Ok((self.only_a as f64 - self.only_b as f64) / total as f64),
        }
    }

    /// Returns the standard deviation of the items' differences, with divisor n − 1: 0 if all are equal. Undefined for fewer than two items.
    pub fn difference_deviation(self) -> Result<f64, Undefined> {
        let (n, mean) = (self.item_count() as f64, self.share_difference()?);
        if n < 2.0 {
            return Err(Undefined::TooFew);
        }
        let (only_a, only_b, alike) = (
            self.only_a as f64,
            self.only_b as f64,
            (self.both + self.neither) as f64,
        );
        let squares =
            only_a * (1.0 - mean).powi(2) + only_b * (1.0 + mean).powi(2) + alike * mean.powi(2);
        Ok((squares / (n - 1.0)).sqrt())
    }
}

/// The interval for the difference of two independent proportions, from the Wilson intervals of both (Newcombe 1998, Statistics in
/// Medicine 17:873, method 10).
pub fn newcombe_interval(
    passed_a: u64,
    total_a: u64,
    passed_b: u64,
    total_b: u64,
    confidence: f64,
) -> Result<Interval, Undefined> {
    effective_difference(
        (share_passed(passed_a, total_a)?, total_a as f64),
        (share_passed(passed_b, total_b)?, total_b as f64),
        confidence,
    )
}

/// [`newcombe_interval`] for means of values from 0 to 1 at effective numbers of independent passes and fails: for arms whose runs never varied,
/// with their numbers of runs; see [`effective_interval`].
pub fn effective_difference(
    a: (f64, f64),
    b: (f64, f64),
    confidence: f64,
) -> Result<Interval, Undefined> {
    let a = ShareWithInterval::new(a.0, a.1, confidence)?;
    let b = ShareWithInterval::new(b.0, b.1, confidence)?;
    combine_intervals(a, b, 0.0, a.share - b.share)
}

/// [`tango_interval`] for an effective number of independent items or clusters, from the shares that only a and only b passed, or by which a and b
/// were better: for differences that are the same everywhere. ± z² / (n + z²) if there is no difference.
pub fn effective_paired_difference(
    only_a: f64,
    only_b: f64,
    n_effective: f64,
    confidence: f64,
) -> Result<Interval, Undefined> {
    let z = normal_quantile(upper_level(confidence)?)?;
    if !(n_effective > 0.0 && n_effective.is_finite()) {
        return Err(Undefined::NoData);
    }
    if !(only_a >= 0.0 && only_b >= 0.0 && only_a + only_b <= 1.0) {
        return Err(Undefined::OutOfRange);
    }
    let (won, lost) = (only_a * n_effective, only_b * n_effective);
    // The lower end is the upper end of the swapped question, so that swapping the arms mirrors the interval exactly.
    Interval::new(
        -score_end(lost, won, n_effective, z),
        score_end(won, lost, n_effective, z),
    )
    .ok_or(Undefined::NotFinite)
}

/// The interval for the difference of two proportions on the same items, from both Wilson intervals and the correlation of the outcomes
/// (Newcombe 1998, Statistics in Medicine 17:2635, method 10).
pub fn newcombe_paired(pairs: PairedTable, confidence: f64) -> Result<Interval, Undefined> {
    let total = pairs.item_count();
    let a = ShareWithInterval::new(
        share_passed(pairs.both + pairs.only_a, total)?,
        total as f64,
        confidence,
    )?;
    let b = ShareWithInterval::new(
        share_passed(pairs.both + pairs.only_b, total)?,
        total as f64,
        confidence,
    )?;
    combine_intervals(a, b, paired_correlation(pairs), pairs.share_difference()?)
}

/// The score interval for the difference of two proportions on the same items (Tango 1998, Statistics in Medicine 17:891).
///
/// Also defined if both arms agree on all items: ± z² / (n + z²).
pub fn tango_interval(pairs: PairedTable, confidence: f64) -> Result<Interval, Undefined> {
    let z = normal_quantile(upper_level(confidence)?)?;
    pairs.share_difference()?;
    let total = pairs.item_count() as f64;
    let (won, lost) = (pairs.only_a as f64, pairs.only_b as f64);
    // The lower end is the upper end of the swapped question, so that swapping the arms mirrors the interval exactly.
    Interval::new(
        -score_end(lost, won, total, z),
        score_end(won, lost, total, z),
    )
    .ok_or(Undefined::NotFinite)
}

/// A proportion with its Wilson interval.
#[derive(Clone, Copy)]
struct ShareWithInterval {
    share: f64,
    interval: Interval,
}

impl ShareWithInterval {
    fn new(share: f64, n: f64, confidence: f64) -> Result<Self, Undefined> {
        Ok(Self {
            share,
            interval: effective_interval(share, n, confidence)?,
        })
    }
}

fn combine_intervals(
    a: ShareWithInterval,
    b: ShareWithInterval,
    correlation: f64,
    difference: f64,
) -> Result<Interval, Undefined> {
    let reach = |of_a: f64, of_b: f64| {
        (of_a * of_a - 2.0 * correlation * of_a * of_b + of_b * of_b)
            .max(0.0)
            .sqrt()
    };
    let below = reach(a.share - a.interval.low, b.interval.high - b.share);
    let above = reach(a.interval.high - a.share, b.share - b.interval.low);
    Interval::new(difference - below, difference + above)
        .map(|interval| interval.clipped_to(-1.0, 1.0))
        .ok_or(Undefined::NotFinite)
}

/// Returns the correlation of paired outcomes, with a continuity correction of half an item per item if it is positive; 0 if an arm does
/// not vary.
fn paired_correlation(pairs: PairedTable) -> f64 {
    let [both, only_a, only_b, neither] =
        [pairs.both, pairs.only_a, pairs.only_b, pairs.neither].map(|count| count as f64);
    let margins = (both + only_a) * (only_b + neither) * (both + only_b) * (only_a + neither);
    if margins <= 0.0 {
        return 0.0;
    }
    let product = both * neither - only_a * only_b;
    let corrected = if product > 0.0 {
        (product - pairs.item_count() as f64 / 2.0).max(0.0)
    } else {
        product
    };
    corrected / margins.sqrt()
}

/// Returns the upper end of Tango's interval: the difference at which the score has fallen to −z. The score falls with the difference, so
/// bisection finds it in a few hundred operations.
fn score_end(won: f64, lost: f64, total: f64, z: f64) -> f64 {
    let (mut low, mut high) = ((won - lost) / total, 1.0);
    // The bracket keeps an end of 1: there the variance is zero.
    while low < high {
        let middle = f64::midpoint(low, high);
        if middle <= low || middle >= high {
            break;
        }
        if score_statistic(won, lost, total, middle) > -z {
            low = middle;
        } else {
            high = middle;
        }
    }
    high.min(1.0)
}

/// Returns Tango's score statistic for the hypothesis that the difference of the proportions is `difference`.
fn score_statistic(won: f64, lost: f64, total: f64, difference: f64) -> f64 {
    // The most likely probability of "only b" under the hypothesis is the positive root of a quadratic.
    let a = 2.0 * total;
    let b = (2.0 * total - won + lost) * difference - won - lost;
    let c = -lost * difference * (1.0 - difference);
    let root = (b * b - 4.0 * a * c).max(0.0).sqrt();
    let only_b = if b > 0.0 {
        -2.0 * c / (root + b)
    } else {
        (root - b) / (2.0 * a)
    };
    let variance = total * (2.0 * only_b + difference * (1.0 - difference));
    let distance = won - lost - total * difference;
    if variance > 0.0 {
        distance / variance.sqrt()
    } else if distance == 0.0 {
        0.0
    } else {
        f64::INFINITY.copysign(distance)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn near(interval: Result<Interval, Undefined>, low: f64, high: f64) -> bool {
        interval.is_ok_and(|interval| {
            (interval.low - low).abs() < 5e-4 && (interval.high - high).abs() < 5e-4
        })
    }

    #[test]
    fn deviation_of_the_differences() {
        // numpy.std(ddof=1) of two 1, one −1 and three 0; of equal differences; of a single item.
        let spread = PairedTable {
            both: 2,
            only_a: 2,
            only_b: 1,
            neither: 1,
        }
        .difference_deviation()
        .expect("items");
        assert!((spread - 0.752_772_652_709_081).abs() < 1e-15, "{spread}");
        assert_eq!(
            PairedTable {
                only_a: 7,
                ..PairedTable::default()
            }
            .difference_deviation(),
            Ok(0.0)
        );
        assert_eq!(
            PairedTable {
                both: 3,
                neither: 4,
                ..PairedTable::default()
            }
            .difference_deviation(),
            Ok(0.0)
        );
        assert_eq!(
            PairedTable {
                both: 1,
                ..PairedTable::default()
            }
            .difference_deviation(),
            Err(Undefined::TooFew)
        );
    }

    #[test]
    fn published_values() {
        // Newcombe 1998 (17:873), table II: 56/70 - 48/80 and 9/10 - 3/10, method 10.
        assert!(near(
            newcombe_interval(56, 70, 48, 80, 0.95),
            0.0524,
            0.3339
        ));
        assert!(near(newcombe_interval(9, 10, 3, 10, 0.95), 0.1705, 0.8090));
        // Airway responses in Fagerland, Lydersen and Laake 2014: 1, 1, 7, 12.
        let airways = PairedTable {
            both: 1,
            only_a: 1,
            only_b: 7,
            neither: 12,
        };
        assert!(
            near(tango_interval(airways, 0.95), -0.517, -0.026),
            "{:?}",
            tango_interval(airways, 0.95)
        );
        assert!(near(newcombe_paired(airways, 0.95), -0.507, -0.026));
    }

    #[test]
    fn borders() {
        let (z2, alike) = (
            1.959_963_984_540_054f64.powi(2),
            PairedTable {
                both: 12,
                neither: 8,
                ..PairedTable::default()
            },
        );
        let interval = tango_interval(alike, 0.95).expect("defined");
        assert!(
            (interval.high - z2 / (20.0 + z2)).abs() < 1e-14
                && (interval.low + z2 / (20.0 + z2)).abs() < 1e-14
        );
        let effective = effective_paired_difference(0.0, 0.0, 20.0, 0.95).expect("defined");
        assert!(
            (effective.high - interval.high).abs() < 1e-14
                && (effective.low - interval.low).abs() < 1e-14
        );
        // Two arms that passed everything in eight runs each: difference 0, and each may be as low as 8 / (8 + z²).
        let nights = effective_difference((1.0, 8.0), (1.0, 8.0), 0.95).expect("defined");
        assert_eq!(Ok(nights), newcombe_interval(8, 8, 8, 8, 0.95));
        assert!(
            (nights.high - z2 / (8.0 + z2)).abs() < 1e-12
                && (nights.low + nights.high).abs() < 1e-15
        );
        assert_eq!(
            effective_paired_difference(0.7, 0.4, 20.0, 0.95),
            Err(Undefined::OutOfRange)
        );
        assert_eq!(
            effective_paired_difference(0.0, 0.0, 0.0, 0.95),
            Err(Undefined::NoData)
        );
        let swept = tango_interval(
            PairedTable {
                only_a: 9,
                ..PairedTable::default()
            },
            0.95,
        )
        .expect("defined");
        assert!((swept.high - 1.0).abs() < f64::EPSILON && swept.low > 0.0 && swept.low < 1.0);
        for method in [tango_interval, newcombe_paired] {
            assert_eq!(method(PairedTable::default(), 0.95), Err(Undefined::NoData));
            assert_eq!(method(alike, 1.5), Err(Undefined::OutOfRange));
        }
        assert_eq!(newcombe_interval(3, 3, 0, 0, 0.95), Err(Undefined::NoData));
        assert!(near(newcombe_interval(10, 10, 0, 10, 0.95), 0.6075, 1.0));
    }

    proptest::proptest! {
        #[test]
        fn they_hold_the_difference_and_mirror(both in 0u64..300, only_a in 0u64..300, only_b in 0u64..300, neither in 0u64..300) {
            let pairs = PairedTable { both, only_a, only_b, neither };
            proptest::prop_assume!(pairs.item_count() > 0);
            let swapped = PairedTable { only_a: only_b, only_b: only_a, ..pairs };
            let difference = pairs.share_difference().expect("has items");
            for method in [tango_interval, newcombe_paired] {
                let (there, back) = (method(pairs, 0.95).expect("has items"), method(swapped, 0.95).expect("has items"));
                proptest::prop_assert!((there.low + back.high).abs() < 1e-12 && (there.high + back.low).abs() < 1e-12);
                proptest::prop_assert!(-1.0 <= there.low && there.low <= difference && difference <= there.high && there.high <= 1.0);
            }
            let (there, back) = (newcombe_interval(both, both + only_a + 1, only_b, only_b + neither + 1, 0.95).expect("has items"),
                newcombe_interval(only_b, only_b + neither + 1, both, both + only_a + 1, 0.95).expect("has items"));
            proptest::prop_assert!((there.low + back.high).abs() < 1e-12 && (there.high + back.low).abs() < 1e-12);
        }
    }
}
