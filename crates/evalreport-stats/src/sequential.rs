//! Evidence that may be checked every day: its error rate holds however often and whenever one looks.

use statrs::function::beta::ln_beta;
use statrs::function::gamma::ln_gamma;

use super::{Interval, Undefined};

/// The e-value of `b` pairs won and `c` lost against "both equally likely" (uniform mixture; Robbins 1970, Ramdas et al. 2023): 2^m b! c! /
/// (m + 1)! with m = b + c.
///
/// Without a difference, the chance that it ever exceeds 1/α is at most α, so a claim at 20 or more holds at 5% on any day. It needs new
/// pairs every day, independent of those before: the same questions run again are not new. At most [`f64::MAX`].
pub fn mcnemar_e_value(b: u64, c: u64) -> f64 {
    let (b, c) = (b as f64, c as f64);
    let log = (b + c) * std::f64::consts::LN_2 + ln_gamma(b + 1.0) + ln_gamma(c + 1.0)
        - ln_gamma(b + c + 2.0);
    log.exp().min(f64::MAX)
}

/// Returns the shares that `k` of `n` have not ruled out at any time: a confidence sequence that holds for all `n` at once (Robbins 1970,
/// beta mixture with a uniform prior; Howard et al. 2021).
///
/// These are the p with B(k + 1, n − k + 1) / (p^k (1 − p)^(n − k)) ≤ 1/α. Without data it is the whole range.
pub fn bernoulli_confidence_sequence(k: u64, n: u64, alpha: f64) -> Result<Interval, Undefined> {
    if k > n || !(alpha > 0.0 && alpha < 1.0) {
        return Err(Undefined::OutOfRange);
    }
    let (passed, failed) = (k as f64, (n - k) as f64);
    let limit = ln_beta(passed + 1.0, failed + 1.0) + alpha.ln();
    let ruled_out = |p: f64| {
        let likelihood = if k == 0 { 0.0 } else { passed * p.ln() }
            + if k == n { 0.0 } else { failed * (-p).ln_1p() };
        limit > likelihood
    };
    let share = if n == 0 { 0.5 } else { passed / n as f64 };
    // The likelihood rises up to the observed share and falls after it.
    let low = if k == 0 {
        0.0
    } else {
        find_boundary(0.0, share, ruled_out)
    };
    let high = if k == n {
        1.0
    } else {
        find_boundary(1.0, share, ruled_out)
    };
    Interval::new(low, high).ok_or(Undefined::NotFinite)
}

/// Finds where `outside` turns false between an outer end and a point inside.
fn find_boundary(mut outer: f64, mut inner: f64, outside: impl Fn(f64) -> bool) -> f64 {
    loop {
        let middle = outer.midpoint(inner);
        if middle.total_cmp(&outer).is_eq() || middle.total_cmp(&inner).is_eq() {
            return inner;
        }
        if outside(middle) {
            outer = middle;
        } else {
            inner = middle;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn e_values_by_hand() {
        // 2^3 · 3! · 0! / 4! = 2 and 2^2 · 1! · 1! / 3! = 2/3.
        assert!((mcnemar_e_value(3, 0) - 2.0).abs() < 1e-12);
        assert!((mcnemar_e_value(1, 1) - 2.0 / 3.0).abs() < 1e-12);
        assert!((mcnemar_e_value(0, 0) - 1.0).abs() < 1e-12);
        assert!(mcnemar_e_value(12_000, 0) >= f64::MAX);
        assert!(mcnemar_e_value(600_000, 600_000) < 0.01);
        assert!((mcnemar_e_value(1, 3000).ln() - mcnemar_e_value(3000, 1).ln()).abs() < 1e-12);
    }

    #[test]
    fn the_sequence_in_closed_form() {
        // All of n: (n + 1) p^n ≥ α.
        for n in [1, 5, 40, 12_000u32] {
            let interval =
                bernoulli_confidence_sequence(u64::from(n), u64::from(n), 0.05).expect("in range");
            let low = (0.05 / f64::from(n + 1)).powf(1.0 / f64::from(n));
            assert!(
                (interval.low - low).abs() < 1e-10 && interval.high >= 1.0,
                "{n}: {interval:?} {low}"
            );
        }
        assert_eq!(
            bernoulli_confidence_sequence(0, 0, 0.05),
            Ok(Interval {
                low: 0.0,
                high: 1.0
            })
        );
        assert_eq!(
            bernoulli_confidence_sequence(2, 1, 0.05),
            Err(Undefined::OutOfRange)
        );
        assert_eq!(
            bernoulli_confidence_sequence(1, 2, 1.0),
            Err(Undefined::OutOfRange)
        );
    }

    #[test]
    fn the_e_value_and_the_sequence_agree_on_one_half() {
        for (b, c) in [(9, 1), (10, 1), (15, 5), (16, 3), (30, 12), (60, 30)] {
            let interval = bernoulli_confidence_sequence(b, b + c, 0.05).expect("in range");
            assert_eq!(interval.low > 0.5, mcnemar_e_value(b, c) > 20.0, "{b} {c}");
        }
    }

    proptest::proptest! {
        #[test]
        fn it_holds_the_share_and_mirrors(n in 1u64..3000, share in 0.0f64..=1.0) {
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a share of a small count")]
            let k = (share * n as f64) as u64;
            let interval = bernoulli_confidence_sequence(k, n, 0.05).expect("in range");
            let mirrored = bernoulli_confidence_sequence(n - k, n, 0.05).expect("in range");
            let seen = k as f64 / n as f64;
            proptest::prop_assert!(interval.low <= seen && seen <= interval.high);
            proptest::prop_assert!((interval.low - (1.0 - mirrored.high)).abs() < 1e-9);
            let (won, lost) = (mcnemar_e_value(k, n - k), mcnemar_e_value(n - k, k));
            proptest::prop_assert!((won - lost).abs() <= 1e-9 * won);
        }
    }
}
