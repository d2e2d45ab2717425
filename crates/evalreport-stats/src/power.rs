//! Planning: the smallest difference that a design can detect, and the sample size for a given difference.
//!
//! All functions are about a design, never about a result already seen: the "observed power" of a result only repeats its p-value. `alpha`
//! is two-sided; sizes are rounded up.

use statrs::distribution::{ContinuousCDF, Normal};

use super::{Undefined, normal_quantile, t_quantile};

/// Two-sided level of the test and the requested power.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Aim {
    pub alpha: f64,
    pub power: f64,
}

impl Aim {
    /// Returns the sum of the two normal quantiles: 2.80 at 5% and 80%.
    fn normal_deviates(self) -> Result<f64, Undefined> {
        Ok(normal_quantile(1.0 - self.alpha / 2.0)? + normal_quantile(self.power)?)
    }

    /// Returns the sum of the two quantiles of Student's t.
    fn student_deviates(self, degrees: f64) -> Result<f64, Undefined> {
        Ok(t_quantile(1.0 - self.alpha / 2.0, degrees)? + t_quantile(self.power, degrees)?)
    }
}

/// Returns the smallest mean difference that `n` pairs can detect, from the standard deviation of the differences; normal approximation.
pub fn mde_paired(sd_diff: f64, n: u64, aim: Aim) -> Result<f64, Undefined> {
    if n == 0 {
        return Err(Undefined::NoData);
    }
    Ok(aim.normal_deviates()? * check_deviation(sd_diff)? / (n as f64).sqrt())
}

/// Returns the same as [`mde_paired`] for small `n`, such as a number of clusters: with quantiles of Student's t, n − 1 degrees of freedom.
pub fn mde_few(sd_diff: f64, n: u64, aim: Aim) -> Result<f64, Undefined> {
    if n < 2 {
        return Err(Undefined::TooFew);
    }
    Ok(aim.student_deviates((n - 1) as f64)? * check_deviation(sd_diff)? / (n as f64).sqrt())
}

/// Returns the number of pairs that detects a mean difference of `delta`; normal approximation.
pub fn n_paired(sd_diff: f64, delta: f64, aim: Aim) -> Result<u64, Undefined> {
    round_up_units(
        (aim.normal_deviates()? * check_deviation(sd_diff)? / check_difference(delta)?).powi(2),
    )
}

/// The parts of the variance of a paired difference (Miller 2024, "Adding Error Bars to Evals", section 5).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PairedVariance {
    /// Variance over questions of the difference of the true means.
    pub omega2: f64,
    /// Variance between runs of one question, per arm; then the number of averaged runs, per arm.
    pub sigma2_a: f64,
    pub sigma2_b: f64,
    pub runs_a: u64,
    pub runs_b: u64,
}

impl PairedVariance {
    fn difference_deviation(self) -> Result<f64, Undefined> {
        if self.runs_a == 0 || self.runs_b == 0 {
            return Err(Undefined::NoData);
        }
        if [self.omega2, self.sigma2_a, self.sigma2_b]
            .iter()
            .any(|part| *part < 0.0)
        {
            return Err(Undefined::OutOfRange);
        }
        check_deviation(
            (self.omega2 + self.sigma2_a / self.runs_a as f64 + self.sigma2_b / self.runs_b as f64)
                .sqrt(),
        )
    }
}

/// [`mde_paired`] if each arm's value of a question is a mean of several runs.
pub fn mde_miller(variance: PairedVariance, n: u64, aim: Aim) -> Result<f64, Undefined> {
    mde_paired(variance.difference_deviation()?, n, aim)
}

/// [`n_paired`] if each arm's value of a question is a mean of several runs.
pub fn n_miller(variance: PairedVariance, delta: f64, aim: Aim) -> Result<u64, Undefined> {
    n_paired(variance.difference_deviation()?, delta, aim)
}

/// Returns the power of a test at `alpha` to separate two true shares; normal approximation with the unpooled standard error, ignoring the
/// far tail.
pub fn power_two_proportions(
    p1: f64,
    n1: u64,
    p2: f64,
    n2: u64,
    alpha: f64,
) -> Result<f64, Undefined> {
    if n1 == 0 || n2 == 0 {
        return Err(Undefined::NoData);
    }
    let error = check_deviation(
        (bernoulli_variance(p1)? / n1 as f64 + bernoulli_variance(p2)? / n2 as f64).sqrt(),
    )?;
    Ok(Normal::standard().cdf((p1 - p2).abs() / error - normal_quantile(1.0 - alpha / 2.0)?))
}

/// Returns the items per arm needed to separate two true shares; normal approximation, unpooled, equal groups.
pub fn n_two_proportions(p1: f64, p2: f64, aim: Aim) -> Result<u64, Undefined> {
    let variance = bernoulli_variance(p1)? + bernoulli_variance(p2)?;
    check_deviation(variance)?;
    round_up_units((aim.normal_deviates()? / check_difference(p1 - p2)?).powi(2) * variance)
}

/// Returns the smallest distance from the share `p1` that `n1` and `n2` items can detect, towards one half, where shares vary most.
///
/// Inverts [`power_two_proportions`] exactly: d² = z² (p₁q₁/n₁ + p₂q₂/n₂) is a quadratic in d. Undefined if the design detects no distance
/// that leaves a share between 0 and 1.
pub fn mde_two_proportions(p1: f64, n1: u64, n2: u64, aim: Aim) -> Result<f64, Undefined> {
    if n1 == 0 || n2 == 0 {
        return Err(Undefined::NoData);
    }
    let (variance, z2) = (bernoulli_variance(p1)?, aim.normal_deviates()?.powi(2));
    let (first, second) = (z2 / n1 as f64, z2 / n2 as f64);
    let slope = second * (1.0 - 2.0 * p1).abs();
    let root = (slope * slope + 4.0 * (1.0 + second) * variance * (first + second)).sqrt();
    let distance = (slope + root) / (2.0 * (1.0 + second));
    if distance > p1.max(1.0 - p1) {
        Err(Undefined::TooFew)
    } else {
        Ok(distance)
    }
}

/// Returns the number of pairs that McNemar's test needs, from the share of discordant pairs and the difference `delta` of the two shares
/// (Miettinen 1968; Connor 1987).
///
/// Undefined if the difference exceeds the discordant share, which is impossible.
pub fn n_mcnemar(discordant: f64, delta: f64, aim: Aim) -> Result<u64, Undefined> {
    let delta = check_difference(delta)?;
    if !(discordant > 0.0 && discordant <= 1.0 && delta <= discordant) {
        return Err(Undefined::OutOfRange);
    }
    let z_alpha = normal_quantile(1.0 - aim.alpha / 2.0)?;
    let z_power = normal_quantile(aim.power)?;
    let root = z_alpha * discordant.sqrt() + z_power * (discordant - delta * delta).sqrt();
    round_up_units((root / delta).powi(2))
}

/// The standard deviation and number of one arm's runs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ArmRunsSummary {
    pub sd: f64,
    pub n: u64,
}

/// Returns the smallest difference of means that unpaired runs can detect, with Student's t at Welch's degrees of freedom. Normal quantiles
/// would be too optimistic for few runs.
pub fn mde_welch(a: ArmRunsSummary, b: ArmRunsSummary, aim: Aim) -> Result<f64, Undefined> {
    if a.n < 2 || b.n < 2 {
        return Err(Undefined::TooFew);
    }
    if a.sd < 0.0 || b.sd < 0.0 {
        return Err(Undefined::OutOfRange);
    }
    let (va, vb) = (a.sd * a.sd / a.n as f64, b.sd * b.sd / b.n as f64);
    let error = check_deviation((va + vb).sqrt())?;
    let degrees = (va + vb).powi(2) / (va * va / (a.n - 1) as f64 + vb * vb / (b.n - 1) as f64);
    Ok(aim.student_deviates(degrees)? * error)
}

/// Returns the runs per arm needed for [`mde_welch`] to reach `delta`.
pub fn n_welch(sd_a: f64, sd_b: f64, delta: f64, aim: Aim) -> Result<u64, Undefined> {
    let delta = check_difference(delta)?;
    let reaches = |n: u64| {
        Ok(mde_welch(
            ArmRunsSummary { sd: sd_a, n },
            ArmRunsSummary { sd: sd_b, n },
            aim,
        )? <= delta)
    };
    let mut enough = 2;
    while !reaches(enough)? {
        enough = if enough < MAX_PLANNED_UNITS {
            enough * 2
        } else {
            return Err(Undefined::OutOfRange);
        };
    }
    let mut short = enough / 2;
    while enough - short > 1 {
        let middle = short.midpoint(enough);
        if middle >= 2 && reaches(middle)? {
            enough = middle;
        } else {
            short = middle;
        }
    }
    Ok(enough)
}

/// Returns the units needed for an interval with half width `distance`, from its `half_width` with `n` units. Half widths fall with the
/// square root.
///
/// For few runs the t quantile falls as well, so the plan asks for too many rather than too few.
pub fn n_half_width(n: u64, half_width: f64, distance: f64) -> Result<u64, Undefined> {
    round_up_units(
        n as f64 * (check_deviation(half_width)? / self::check_difference(distance)?).powi(2),
    )
}

/// Largest planned number of runs or items; `f64` counts exactly up to it.
const MAX_PLANNED_UNITS: u64 = 1 << 53;

fn check_deviation(sd: f64) -> Result<f64, Undefined> {
    if !sd.is_finite() {
        return Err(Undefined::NotFinite);
    }
    if sd < 0.0 {
        return Err(Undefined::OutOfRange);
    }
    if sd == 0.0 {
        Err(Undefined::NoVariation)
    } else {
        Ok(sd)
    }
}

fn check_difference(delta: f64) -> Result<f64, Undefined> {
    if delta.is_finite() && delta != 0.0 {
        Ok(delta.abs())
    } else {
        Err(Undefined::OutOfRange)
    }
}

/// Returns the variance of one trial with probability `p`.
fn bernoulli_variance(p: f64) -> Result<f64, Undefined> {
    if (0.0..=1.0).contains(&p) {
        Ok(p * (1.0 - p))
    } else {
        Err(Undefined::OutOfRange)
    }
}

/// Converts `n` units for one aim to another aim: sample sizes grow with the square of the sum of both quantiles.
pub fn scale_to_aim(n: u64, usual: Aim, other: Aim) -> Result<u64, Undefined> {
    round_up_units(n as f64 * (other.normal_deviates()? / usual.normal_deviates()?).powi(2))
}

/// Rounds a number of units up.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "checked to be a count"
)]
pub fn round_up_units(n: f64) -> Result<u64, Undefined> {
    if n >= 0.0 && n <= MAX_PLANNED_UNITS as f64 {
        Ok(n.ceil() as u64)
    } else {
        Err(Undefined::OutOfRange)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const USUAL: Aim = Aim {
        alpha: 0.05,
        power: 0.8,
    };

    #[test]
    fn textbook_sizes() {
        // (1.959964 + 0.841621)² = 7.84888.
        assert!((mde_paired(1.0, 100, USUAL).expect("varied") - 0.280_158).abs() < 1e-6);
        assert_eq!(n_paired(1.0, 0.5, USUAL), Ok(32));
        // 50 % against 60 %: 7.84888 · 0.49 / 0.01 = 384.6.
        assert_eq!(n_two_proportions(0.5, 0.6, USUAL), Ok(385));
        assert!(
            (power_two_proportions(0.5, 385, 0.6, 385, 0.05).expect("varied") - 0.8).abs() < 1e-3
        );
        // A fifth of the pairs discordant, shares 12.5 points apart: about a hundred pairs.
        assert_eq!(n_mcnemar(0.2, 0.125, USUAL), Ok(99));
        let plan = PairedVariance {
            omega2: 0.1,
            sigma2_a: 0.3,
            sigma2_b: 0.2,
            runs_a: 3,
            runs_b: 2,
        };
        assert_eq!(
            n_miller(plan, 0.1, USUAL),
            n_paired(0.3f64.sqrt(), 0.1, USUAL)
        );
        let split = mde_miller(plan, 50, USUAL).expect("varied");
        assert!((split - mde_paired(0.3f64.sqrt(), 50, USUAL).expect("varied")).abs() < 1e-12);
    }

    #[test]
    fn few_runs_see_little() {
        // Three runs per arm, equal spread: (t(4) 2.7764 + 0.9410) · sqrt(2/3).
        let three = mde_welch(
            ArmRunsSummary { sd: 1.0, n: 3 },
            ArmRunsSummary { sd: 1.0, n: 3 },
            USUAL,
        )
        .expect("varied");
        assert!(
            (three - (2.776_445 + 0.940_965) * (2.0f64 / 3.0).sqrt()).abs() < 1e-5,
            "{three}"
        );
        // If one sample has no spread, n − 1 degrees of freedom remain.
        let alone = mde_welch(
            ArmRunsSummary { sd: 1.0, n: 14 },
            ArmRunsSummary { sd: 0.0, n: 14 },
            USUAL,
        )
        .expect("varied");
        assert!((mde_few(1.0, 14, USUAL).expect("varied") - alone).abs() < 1e-12);
        assert_eq!(mde_few(1.0, 1, USUAL), Err(Undefined::TooFew));
        let many = mde_welch(
            ArmRunsSummary { sd: 1.0, n: 1000 },
            ArmRunsSummary { sd: 1.0, n: 1000 },
            USUAL,
        )
        .expect("varied");
        assert!((many / (2.801_585 * (2.0f64 / 1000.0).sqrt()) - 1.0).abs() < 1e-3);
        assert_eq!(n_welch(1.0, 1.0, three, USUAL), Ok(3));
        assert_eq!(n_welch(1.0, 1.0, three - 1e-6, USUAL), Ok(4));
        assert_eq!(n_welch(1.0, 1.0, 100.0, USUAL), Ok(2));
        assert_eq!(n_welch(1.0, 0.0, 1e-12, USUAL), Err(Undefined::OutOfRange));
    }

    #[test]
    fn half_the_width_takes_four_times_as_many() {
        assert_eq!(n_half_width(50, 0.1, 0.05), Ok(200));
        assert_eq!(n_half_width(50, 0.1, 0.1), Ok(50));
        assert_eq!(n_half_width(50, 0.1, 0.0), Err(Undefined::OutOfRange));
        assert_eq!(n_half_width(50, 0.0, 0.1), Err(Undefined::NoVariation));
    }

    #[test]
    fn what_cannot_be_planned() {
        assert_eq!(mde_paired(0.0, 10, USUAL), Err(Undefined::NoVariation));
        assert_eq!(mde_paired(1.0, 0, USUAL), Err(Undefined::NoData));
        assert_eq!(n_paired(1.0, 0.0, USUAL), Err(Undefined::OutOfRange));
        assert_eq!(n_paired(1.0, 1e-12, USUAL), Err(Undefined::OutOfRange));
        assert_eq!(n_mcnemar(0.1, 0.2, USUAL), Err(Undefined::OutOfRange));
        assert_eq!(
            power_two_proportions(1.0, 5, 0.0, 5, 0.05),
            Err(Undefined::NoVariation)
        );
        assert_eq!(
            mde_two_proportions(0.5, 3, 3, USUAL),
            Err(Undefined::TooFew)
        );
        assert_eq!(
            mde_welch(
                ArmRunsSummary { sd: 1.0, n: 1 },
                ArmRunsSummary { sd: 1.0, n: 3 },
                USUAL
            ),
            Err(Undefined::TooFew)
        );
        assert_eq!(
            mde_paired(
                1.0,
                10,
                Aim {
                    alpha: 0.0,
                    power: 0.8
                }
            ),
            Err(Undefined::OutOfRange)
        );
    }

    proptest::proptest! {
        #[test]
        fn the_smallest_distance_has_the_wished_power(p1 in 0.0f64..=1.0, n1 in 30u64..5000, n2 in 30u64..5000) {
            let distance = mde_two_proportions(p1, n1, n2, USUAL).expect("enough items");
            let p2 = if p1 > 0.5 { p1 - distance } else { p1 + distance };
            let power = power_two_proportions(p1, n1, p2, n2, 0.05).expect("varied");
            proptest::prop_assert!((power - 0.8).abs() < 1e-9, "{power}");
        }

        #[test]
        fn a_size_shows_its_difference(sd in 0.01f64..5.0, delta in 0.01f64..2.0) {
            let n = n_paired(sd, delta, USUAL).expect("a plan");
            proptest::prop_assert!(mde_paired(sd, n, USUAL).expect("varied") <= delta * (1.0 + 1e-12));
            if n > 1 {
                proptest::prop_assert!(mde_paired(sd, n - 1, USUAL).expect("varied") > delta * (1.0 - 1e-12));
            }
        }
    }
}
