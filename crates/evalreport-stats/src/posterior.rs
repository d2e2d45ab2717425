//! Posterior distributions of rates and differences: used to name flaky items and to say how likely an arm is better, never to declare a winner.

use statrs::distribution::{Beta, ContinuousCDF};
use statrs::function::beta::checked_beta_reg;

use super::distribution::{normal_quantile, normal_two_sided, upper_level};
use super::{Interval, Undefined};

/// The prior: a beta distribution with both shapes above zero.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BetaPrior {
    pub a: f64,
    pub b: f64,
}

impl BetaPrior {
    /// All rates equally likely.
    pub const UNIFORM: Self = Self { a: 1.0, b: 1.0 };
    /// Jeffreys' prior, which favours both ends, like most items: always or never solved.
    pub const JEFFREYS: Self = Self { a: 0.5, b: 0.5 };
}

/// Returns the equal-tailed credible interval of a pass rate after `passed` of `total` runs.
///
/// If `total` is 0 it is the prior's interval, which is no evidence; callers decide whether to show it.
pub fn beta_credible_interval(
    passed: u64,
    total: u64,
    prior: BetaPrior,
    confidence: f64,
) -> Result<Interval, Undefined> {
    let (a, b) = posterior_shapes(passed, total, prior)?;
    beta_interval(a, b, confidence)
}

/// Returns the equal-tailed interval of a beta distribution with these shapes.
pub(super) fn beta_interval(a: f64, b: f64, confidence: f64) -> Result<Interval, Undefined> {
    let upper = upper_level(confidence)?;
    let posterior = Beta::new(a, b).map_err(|_| Undefined::OutOfRange)?;
    Interval::new(
        posterior.inverse_cdf(1.0 - upper),
        posterior.inverse_cdf(upper),
    )
    .ok_or(Undefined::NotFinite)
}

/// Returns the posterior probability that the truth lies on the side of zero that an estimate lies on, in 0.5..=1.
///
/// `two_sided` is the p-value of the estimate, which says how many standard errors it is from zero. The prior is normal around zero with the
/// deviation `prior`, in the unit of the estimate (the normal model with known variance; Gelman et al. 2013, section 2.5). Undefined if a
/// number is not finite, the p-value is outside of (0, 1], or the prior is not above zero.
pub fn probability_of_sign(estimate: f64, two_sided: f64, prior: f64) -> Result<f64, Undefined> {
    let is_probability = two_sided > 0.0 && two_sided <= 1.0;
    let has_prior = prior > 0.0;
    if !estimate.is_finite() || !is_probability || !has_prior {
        return Err(Undefined::OutOfRange);
    }
    let z = -normal_quantile(two_sided / 2.0)?;
    if z <= 0.0 || estimate == 0.0 {
        return Ok(0.5);
    }
    let relative_error = estimate.abs() / z / prior;
    Ok(1.0 - normal_two_sided(z / relative_error.hypot(1.0)) / 2.0)
}

/// Returns the posterior probability that an item is flaky: that its pass rate is between `margin` and 1 − `margin`.
///
/// Uses Jeffreys' prior. A uniform prior would give an item with five of five passes a probability of 74% at a margin of 0.05 (here 46%),
/// only because there are few runs. Undefined without runs.
pub fn probability_flaky(passed: u64, total: u64, margin: f64) -> Result<f64, Undefined> {
    if total == 0 {
        return Err(Undefined::NoData);
    }
    if !(margin > 0.0 && margin < 0.5) {
        return Err(Undefined::OutOfRange);
    }
    let (a, b) = posterior_shapes(passed, total, BetaPrior::JEFFREYS)?;
    let below = |a, b| checked_beta_reg(a, b, margin).map_err(|_| Undefined::OutOfRange);
    Ok((1.0 - below(a, b)? - below(b, a)?).clamp(0.0, 1.0))
}

fn posterior_shapes(passed: u64, total: u64, prior: BetaPrior) -> Result<(f64, f64), Undefined> {
    let proper = |shape: f64| shape > 0.0 && shape.is_finite();
    if passed > total || !proper(prior.a) || !proper(prior.b) {
        return Err(Undefined::OutOfRange);
    }
    Ok((passed as f64 + prior.a, (total - passed) as f64 + prior.b))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn intervals_in_closed_form() {
        // All of n under a uniform prior: the posterior's distribution function is p^(n + 1).
        let interval = beta_credible_interval(5, 5, BetaPrior::UNIFORM, 0.95).expect("in range");
        assert!(
            (interval.low - 0.025f64.powf(1.0 / 6.0)).abs() < 1e-9
                && (interval.high - 0.975f64.powf(1.0 / 6.0)).abs() < 1e-9
        );
        // Jeffreys' prior alone is the arcsine distribution.
        let prior = beta_credible_interval(0, 0, BetaPrior::JEFFREYS, 0.95).expect("in range");
        let arcsine = (std::f64::consts::FRAC_PI_2 * 0.025).sin().powi(2);
        assert!((prior.low - arcsine).abs() < 1e-9 && (prior.high - (1.0 - arcsine)).abs() < 1e-9);
        assert_eq!(
            beta_credible_interval(2, 1, BetaPrior::UNIFORM, 0.95),
            Err(Undefined::OutOfRange)
        );
        assert_eq!(
            beta_credible_interval(1, 1, BetaPrior { a: 0.0, b: 1.0 }, 0.95),
            Err(Undefined::OutOfRange)
        );
        assert_eq!(
            beta_credible_interval(1, 1, BetaPrior::UNIFORM, 1.0),
            Err(Undefined::OutOfRange)
        );
    }

    #[test]
    fn probability_of_sign_shrinks_by_the_prior() {
        let of = |estimate, p, prior| probability_of_sign(estimate, p, prior).expect("in range");
        // A prior as wide as the error divides z by the square root of 2: Φ(1.96 / √2) = 0.91711.
        let error = 0.1 / 1.959_963_984_540_054;
        assert!((of(0.1, 0.05, error) - 0.917_114).abs() < 1e-5);
        // Without a prior it is one minus half of the p-value.
        assert!((of(-0.1, 0.05, f64::INFINITY) - 0.975).abs() < 1e-9);
        assert!((of(0.1, 1.0, 0.1) - 0.5).abs() < 1e-12 && (of(0.0, 0.3, 0.1) - 0.5).abs() < 1e-12);
        assert!(of(0.3, f64::MIN_POSITIVE, 0.1) > 0.999_999);
        for (estimate, p, prior) in [
            (f64::NAN, 0.5, 0.1),
            (0.1, 0.0, 0.1),
            (0.1, 1.1, 0.1),
            (0.1, 0.5, 0.0),
        ] {
            assert_eq!(
                probability_of_sign(estimate, p, prior),
                Err(Undefined::OutOfRange)
            );
        }
    }

    #[test]
    fn flaky_items_have_been_seen_both_ways() {
        let flaky = |passed, total| probability_flaky(passed, total, 0.05).expect("runs");
        assert!(flaky(2, 5) > 0.95, "{}", flaky(2, 5));
        assert!(flaky(5, 5) < 0.5 && flaky(0, 5) < 0.5, "{}", flaky(5, 5));
        assert!(flaky(50, 50) < 0.05);
        assert!(flaky(1, 200) < 0.01);
        assert_eq!(probability_flaky(0, 0, 0.05), Err(Undefined::NoData));
        assert_eq!(probability_flaky(1, 2, 0.5), Err(Undefined::OutOfRange));
    }

    proptest::proptest! {
        #[test]
        fn passes_and_failures_mirror(total in 1u64..300, share in 0.0f64..=1.0) {
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a share of a small count")]
            let passed = (share * total as f64) as u64;
            let interval = beta_credible_interval(passed, total, BetaPrior::JEFFREYS, 0.95).expect("in range");
            let mirrored = beta_credible_interval(total - passed, total, BetaPrior::JEFFREYS, 0.95).expect("in range");
            proptest::prop_assert!((interval.low - (1.0 - mirrored.high)).abs() < 1e-8);
            let (one, other) = (probability_flaky(passed, total, 0.1), probability_flaky(total - passed, total, 0.1));
            proptest::prop_assert!((one.expect("runs") - other.expect("runs")).abs() < 1e-9);
        }
    }
}
