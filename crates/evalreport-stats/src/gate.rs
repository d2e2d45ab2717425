//! Whether a change known only within an interval stays within a limit.

use super::Interval;

/// The ruling of a gate. Ordered: of several rulings the greatest applies.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, schemars::JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Ruling {
    /// The whole interval is within the limit.
    Pass,
    /// The interval includes the limit.
    Inconclusive,
    /// The whole interval is beyond the limit.
    Regression,
}

/// Rules on a change that may not fall below `floor`. For a limit on rises, pass the mirror image.
///
/// A floor of minus infinity allows everything.
pub fn rule_on_change(change: Interval, floor: f64) -> Ruling {
    if change.low >= floor {
        Ruling::Pass
    } else if change.high < floor {
        Ruling::Regression
    } else {
        Ruling::Inconclusive
    }
}

/// Shares are sums of fractions: a change equal to the limit up to rounding is within it.
const ROUNDING_SLACK: f64 = 1e-12;

/// Rules on a change between two arms whose runs never varied. If the arms are equal, nothing fell, and asking for more runs would never
/// end. If they differ, the interval decides as usual.
pub fn rule_steady(change: f64, interval: Interval, floor: f64) -> Ruling {
    if floor <= 0.0 && change.abs() <= ROUNDING_SLACK {
        Ruling::Pass
    } else {
        rule_on_change(interval, floor)
    }
}

/// Rules on a change that is known exactly.
pub fn rule_point(change: f64, floor: f64) -> Ruling {
    if change >= floor - ROUNDING_SLACK {
        Ruling::Pass
    } else {
        Ruling::Regression
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ends(low: f64, high: f64) -> Interval {
        Interval::new(low, high).expect("finite and in order")
    }

    #[test]
    fn the_ends_decide() {
        for (low, high, ruling) in [
            (-0.02, 0.05, Ruling::Pass),
            (-0.021, 0.05, Ruling::Inconclusive),
            (-0.5, -0.02, Ruling::Inconclusive),
            (-0.5, -0.021, Ruling::Regression),
            (0.1, 0.2, Ruling::Pass),
        ] {
            assert_eq!(
                rule_on_change(ends(low, high), -0.02),
                ruling,
                "{low} to {high}"
            );
        }
        assert_eq!(
            rule_on_change(ends(-9.0, -8.0), f64::NEG_INFINITY),
            Ruling::Pass
        );
        assert_eq!(
            (rule_point(-0.02, -0.02), rule_point(-0.03, -0.02)),
            (Ruling::Pass, Ruling::Regression)
        );
        assert_eq!(
            rule_point(0.7 - 0.8, -0.1),
            Ruling::Pass,
            "0.7 − 0.8 is not quite −0.1 in binary"
        );
        assert!(Ruling::Regression > Ruling::Inconclusive && Ruling::Inconclusive > Ruling::Pass);
    }

    /// A Wilson interval at the effective number is never a point, and it includes a limit of zero.
    #[test]
    fn identical_nights_pass() {
        let around = ends(-0.04, 0.04);
        assert_eq!(
            (rule_on_change(around, 0.0), rule_steady(0.0, around, 0.0)),
            (Ruling::Inconclusive, Ruling::Pass)
        );
        assert_eq!(rule_steady(0.1 + 0.2 - 0.3, around, -0.02), Ruling::Pass);
        assert_eq!(rule_steady(-0.01, around, -0.02), Ruling::Inconclusive);
        assert_eq!(
            rule_steady(-0.2, ends(-0.3, -0.1), -0.02),
            Ruling::Regression
        );
        assert_eq!(
            rule_steady(0.0, around, 0.01),
            Ruling::Inconclusive,
            "a rise is asked for"
        );
    }

    proptest::proptest! {
        #[test]
        fn less_certainty_never_makes_a_ruling(
            low in -1.0..1.0f64, width in 0.0..1.0f64, below in 0.0..1.0f64, above in 0.0..1.0f64, floor in -1.0..1.0f64,
        ) {
            let (narrow, wide) = (rule_on_change(ends(low, low + width), floor), rule_on_change(ends(low - below, low + width + above), floor));
            proptest::prop_assert!(wide == narrow || wide == Ruling::Inconclusive, "{narrow:?} became {wide:?}");
        }

        #[test]
        fn allowing_more_is_never_worse(low in -1.0..1.0f64, width in 0.0..1.0f64, floor in -1.0..1.0f64, more in 0.0..1.0f64) {
            let change = ends(low, low + width);
            proptest::prop_assert!(rule_on_change(change, floor - more) <= rule_on_change(change, floor));
            proptest::prop_assert!(rule_point(low, floor - more) <= rule_point(low, floor));
        }

        #[test]
        fn a_point_is_an_interval_without_width(point in -1.0..1.0f64, floor in -1.0..1.0f64) {
            proptest::prop_assume!((point - floor).abs() > 1e-9);
            proptest::prop_assert_eq!(rule_on_change(ends(point, point), floor), rule_point(point, floor));
        }
    }
}
