//! Intervals for passed of total.

use statrs::distribution::{ContinuousCDF, Normal};

use super::Interval;

/// Wilson's score interval for `passed` of `total` at the given confidence (Wilson 1927).
///
/// The ends are exact where nothing or everything passed. Undefined for `total == 0`, for `passed > total`, and for a confidence
/// outside (0, 1).
pub fn wilson(passed: u64, total: u64, confidence: f64) -> Option<Interval> {
    if total == 0 || passed > total || !(confidence > 0.0 && confidence < 1.0) {
        return None;
    }
    let n = total as f64;
    let share = passed as f64 / n;
    let z = Normal::standard().inverse_cdf(0.5 + confidence / 2.0);
    let z2 = z * z;
    let centre = (share + z2 / (2.0 * n)) / (1.0 + z2 / n);
    let half = z / (1.0 + z2 / n) * (share * (1.0 - share) / n + z2 / (4.0 * n * n)).sqrt();
    let low = if passed == 0 { 0.0 } else { (centre - half).max(0.0) };
    let high = if passed == total { 1.0 } else { (centre + half).min(1.0) };
    Interval::new(low, high)
}

#[cfg(test)]
mod tests {
    use proptest::strategy::Strategy;

    use super::*;

    #[test]
    fn published_values() {
        // Newcombe 1998, table I: 81/263, 15/148, 0/20, 1/29.
        for (passed, total, low, high) in
            [(81, 263, 0.2553, 0.3662), (15, 148, 0.0624, 0.1605), (0, 20, 0.0, 0.1611), (1, 29, 0.0061, 0.1718)]
        {
            let interval = wilson(passed, total, 0.95).expect("a defined interval");
            assert!((interval.low - low).abs() < 5e-5 && (interval.high - high).abs() < 5e-5, "{passed}/{total}: {interval:?}");
        }
    }

    #[test]
    fn ends_are_exact_and_nothing_has_none() {
        assert_eq!(wilson(0, 7, 0.95).map(|interval| interval.low), Some(0.0));
        assert_eq!(wilson(7, 7, 0.95).map(|interval| interval.high), Some(1.0));
        assert_eq!(wilson(0, 0, 0.95), None);
        assert_eq!(wilson(3, 2, 0.95), None);
    }

    proptest::proptest! {
        #[test]
        fn it_holds_the_share_and_mirrors((total, passed) in (1u64..5000).prop_flat_map(|total| (proptest::strategy::Just(total), 0..=total))) {
            let interval = wilson(passed, total, 0.95).expect("defined for n > 0");
            let share = passed as f64 / total as f64;
            proptest::prop_assert!(interval.low <= share && share <= interval.high);
            let mirrored = wilson(total - passed, total, 0.95).expect("defined for n > 0");
            proptest::prop_assert!((interval.low - (1.0 - mirrored.high)).abs() < 1e-12);
        }
    }
}
