//! Intervals for shares passed.

use super::distribution::{normal_quantile, upper_level};
use super::{Interval, Undefined};

/// Wilson's score interval for `passed` of `total` at the given confidence (Wilson 1927).
///
/// The ends are exact if nothing or everything passed.
pub fn wilson_score_interval(
    passed: u64,
    total: u64,
    confidence: f64,
) -> Result<Interval, Undefined> {
    effective_interval(share_passed(passed, total)?, total as f64, confidence)
}

/// Wilson's interval for a mean of values from 0 to 1, at an effective number of independent passes and fails. For data that never varied
/// and so have no spread for an interval.
///
/// The effective number is the number of items if runs never varied, of clusters, or of runs that share one artefact. It need not be whole.
/// Passes and fails have the largest spread for a given mean, so the interval for scores is too wide rather than too narrow.
pub fn effective_interval(
    value: f64,
    n_effective: f64,
    confidence: f64,
) -> Result<Interval, Undefined> {
    let z = normal_quantile(upper_level(confidence)?)?;
    if !(n_effective > 0.0 && n_effective.is_finite()) {
        return Err(Undefined::NoData);
    }
    if !(0.0..=1.0).contains(&value) {
        return Err(Undefined::OutOfRange);
    }
    let (n, z2) = (n_effective, z * z);
    let centre = (value + z2 / (2.0 * n)) / (1.0 + z2 / n);
    let half = z / (1.0 + z2 / n) * (value * (1.0 - value) / n + z2 / (4.0 * n * n)).sqrt();
    let low = if value <= 0.0 {
        0.0
    } else {
        (centre - half).clamp(0.0, value)
    };
    let high = if value >= 1.0 {
        1.0
    } else {
        (centre + half).clamp(value, 1.0)
    };
    Interval::new(low, high).ok_or(Undefined::NotFinite)
}

/// The interval of Clopper and Pearson (1934), which covers at least as often as its confidence level.
///
/// Its ends are the probabilities of passing at which this many passes or more, and this many or fewer, each have half of the error
/// probability. They are found on the binomial sums themselves, because inversions of the beta distribution lose digits for thousands of
/// items.
pub fn clopper_pearson(passed: u64, total: u64, confidence: f64) -> Result<Interval, Undefined> {
    let tail = 1.0 - upper_level(confidence)?;
    share_passed(passed, total)?;
    let low = lower_end(passed, total, tail);
    let high = 1.0 - lower_end(total - passed, total, tail);
    Interval::new(low, high).ok_or(Undefined::NotFinite)
}

/// Returns the share of passed in total.
pub(super) fn share_passed(passed: u64, total: u64) -> Result<f64, Undefined> {
    match total {
        0 => Err(Undefined::NoData),
        _ if passed > total => Err(Undefined::OutOfRange),
        _ => Ok(passed as f64 / total as f64),
    }
}

/// Returns the probability of passing at which `passed` or more of `total` have the probability `tail`, by Newton's steps inside a bracket.
fn lower_end(passed: u64, total: u64, tail: f64) -> f64 {
    if passed == 0 {
        return 0.0;
    }
    let n = total as f64;
    if passed == total {
        return (tail.ln() / n).exp();
    }
    let (mut low, mut high) = (0.0, passed as f64 / n);
    let mut chance = high / 2.0;
    // Bisection alone would need about fifty rounds; more are never useful.
    for _ in 0..200 {
        let (at_least, exactly) = upper_tail(passed, total, chance);
        if at_least < tail {
            low = chance;
        } else {
            high = chance;
        }
        // The tail's slope is its first term times passed / chance.
        let step = chance - (at_least - tail) / (exactly * passed as f64 / chance);
        let next = if step > low && step < high {
            step
        } else {
            f64::midpoint(low, high)
        };
        if (next - chance).abs() <= f64::EPSILON * chance {
            return next;
        }
        chance = next;
    }
    chance
}

/// Returns the probabilities of at least and of exactly `passed` of `total`, summed from the most likely count outwards.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "the most likely count lies between 0 and the total"
)]
fn upper_tail(passed: u64, total: u64, chance: f64) -> (f64, f64) {
    /// A share of the sum too small to change it.
    const NEGLIGIBLE_TERM: f64 = 1e-20;
    let odds = chance / (1.0 - chance);
    let mode = (((total + 1) as f64 * chance) as u64).min(total);
    let (mut sum, mut at_least, mut exactly) = (0.0, 0.0, 0.0);
    let mut take = |count: u64, weight: f64| {
        sum += weight;
        if count >= passed {
            at_least += weight;
        }
        if count == passed {
            exactly = weight;
        }
        weight > NEGLIGIBLE_TERM
    };
    let mut weight = 1.0;
    take(mode, weight);
    for count in mode + 1..=total {
        weight *= (total - count + 1) as f64 / count as f64 * odds;
        // Up to the wanted count every term is needed, as long as it is above zero.
        if !take(count, weight) && (count > passed || weight < f64::MIN_POSITIVE) {
            break;
        }
    }
    weight = 1.0;
    for count in (0..mode).rev() {
        weight *= (count + 1) as f64 / (total - count) as f64 / odds;
        if !take(count, weight) && (count < passed || weight < f64::MIN_POSITIVE) {
            break;
        }
    }
    (at_least / sum, exactly / sum)
}

/// Rescales an accuracy from guessing to perfect: 0 at the chance level, 1 if everything is right, negative below chance.
///
/// Undefined if guessing is always right.
pub fn chance_adjusted_accuracy(accuracy: f64, chance: f64) -> Result<f64, Undefined> {
    if !(0.0..=1.0).contains(&accuracy) || !(0.0..1.0).contains(&chance) {
        return Err(Undefined::OutOfRange);
    }
    Ok((accuracy - chance) / (1.0 - chance))
}

#[cfg(test)]
mod tests {
    use proptest::strategy::Strategy;

    use super::*;

    #[test]
    fn published_values() {
        // Newcombe 1998, table I: 81/263, 15/148, 0/20, 1/29; Wilson's and Clopper and Pearson's.
        for (passed, total, wilsons, exact) in [
            (81, 263, (0.2553, 0.3662), (0.2527, 0.3676)),
            (15, 148, (0.0624, 0.1605), (0.0578, 0.1617)),
            (0, 20, (0.0, 0.1611), (0.0, 0.1684)),
            (1, 29, (0.0061, 0.1718), (0.0009, 0.1776)),
        ] {
            for (interval, (low, high)) in [
                (wilson_score_interval(passed, total, 0.95), wilsons),
                (clopper_pearson(passed, total, 0.95), exact),
            ] {
                let interval = interval.expect("a defined interval");
                assert!(
                    (interval.low - low).abs() < 5e-5 && (interval.high - high).abs() < 5e-5,
                    "{passed}/{total}: {interval:?}"
                );
            }
        }
    }

    #[test]
    fn ends_are_exact_and_nothing_has_none() {
        for method in [wilson_score_interval, clopper_pearson] {
            assert_eq!(method(0, 7, 0.95).map(|interval| interval.low), Ok(0.0));
            assert_eq!(method(7, 7, 0.95).map(|interval| interval.high), Ok(1.0));
            assert_eq!(method(0, 0, 0.95), Err(Undefined::NoData));
            assert_eq!(method(3, 2, 0.95), Err(Undefined::OutOfRange));
            assert_eq!(method(1, 2, 95.0), Err(Undefined::OutOfRange));
        }
    }

    #[test]
    fn where_nothing_varied() {
        // Eight days of all passed: Wilson's 8 of 8, z² = 3.8415, low end 8 / (8 + z²).
        let nights = effective_interval(1.0, 8.0, 0.95).expect("nights");
        assert_eq!(Ok(nights), wilson_score_interval(8, 8, 0.95));
        assert!((nights.low - 8.0 / (8.0 + 3.841_458_820_694)).abs() < 1e-12);
        let between = effective_interval(0.85, 12.5, 0.95).expect("some");
        assert!(between.low < 0.85 && between.high > 0.85 && between.high < 1.0);
        assert_eq!(effective_interval(0.0, 0.0, 0.95), Err(Undefined::NoData));
        assert_eq!(
            effective_interval(1.2, 3.0, 0.95),
            Err(Undefined::OutOfRange)
        );
        assert_eq!(
            effective_interval(f64::NAN, 3.0, 0.95),
            Err(Undefined::OutOfRange)
        );
    }

    #[test]
    fn guessing_is_worth_nothing() {
        assert_eq!(chance_adjusted_accuracy(0.25, 0.25), Ok(0.0));
        assert_eq!(chance_adjusted_accuracy(1.0, 0.25), Ok(1.0));
        assert_eq!(chance_adjusted_accuracy(0.625, 0.25), Ok(0.5));
        assert_eq!(chance_adjusted_accuracy(0.0, 0.5), Ok(-1.0));
        assert_eq!(chance_adjusted_accuracy(0.7, 0.0), Ok(0.7));
        assert_eq!(
            chance_adjusted_accuracy(1.0, 1.0),
            Err(Undefined::OutOfRange)
        );
        assert_eq!(
            chance_adjusted_accuracy(1.1, 0.5),
            Err(Undefined::OutOfRange)
        );
        assert_eq!(
            chance_adjusted_accuracy(f64::NAN, 0.5),
            Err(Undefined::OutOfRange)
        );
    }

    #[test]
    fn many_items() {
        // Above the size at which the library's beta distribution fails.
        let interval = clopper_pearson(1, 1_000_000, 0.95).expect("a defined interval");
        assert!(
            (interval.low / 2.531_780_766e-8 - 1.0).abs() < 1e-8,
            "{interval:?}"
        );
        assert!(
            (interval.high / 5.571_630_655e-6 - 1.0).abs() < 1e-8,
            "{interval:?}"
        );
    }

    proptest::proptest! {
        #[test]
        fn they_hold_the_share_and_mirror(
            (total, passed) in (1u64..5000).prop_flat_map(|total| (proptest::strategy::Just(total), 0..=total)),
        ) {
            for method in [wilson_score_interval, clopper_pearson] {
                let interval = method(passed, total, 0.95).expect("defined for n > 0");
                let share = passed as f64 / total as f64;
                proptest::prop_assert!(0.0 <= interval.low && interval.low <= share && share <= interval.high && interval.high <= 1.0);
                let mirrored = method(total - passed, total, 0.95).expect("defined for n > 0");
                proptest::prop_assert!((interval.low - (1.0 - mirrored.high)).abs() < 1e-12);
            }
        }
    }
}
