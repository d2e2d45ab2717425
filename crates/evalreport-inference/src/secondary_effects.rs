//! Figures beside a verdict that decide nothing: effect sizes, total costs, a second method, and the detectable difference with twice the
//! data.

use schemars::JsonSchema;
use serde::Serialize;

use crate::stats::{
    Aim, Interval, PairedTable, PairedVariance, Resampling, cliffs_delta, hedges_g, mde_miller,
    newcombe_paired, permutation_test, ratio_of_means, sign_flip,
};

use super::sample::ArmOutcomes;

/// For a second look at a difference.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct Detail {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub effect: Option<Effect>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bill: Option<Bill>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cross_check: Option<CrossCheck>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub doubled: Option<Doubled>,
}

/// Unit-free effect sizes over the runs of two arms, with at least three runs each.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Effect {
    /// First minus second in standard deviations, corrected for few runs (Hedges); of logarithms if the difference is a ratio. Absent if no
    /// run varied.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hedges_g: Option<f64>,
    /// The share of pairs of runs in which the first arm's is higher, minus the share in which the second's is (Cliff).
    pub cliffs_delta: f64,
    /// The probability that a run of the first arm is higher than one of the second, counting half of the ties.
    pub superiority: f64,
}

/// The ratio of mean amounts per run, as on a bill, beside a difference of typical runs. At least two runs per arm.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Bill {
    /// Mean of the first arm's runs over the mean of the second's.
    pub ratio: f64,
    /// By the delta method on the logarithm, with Student's quantile for the arm with fewer runs.
    pub interval: Interval,
}

/// A second method for the same design. It never decides: choosing the method after looking would be choosing the answer.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct CrossCheck {
    pub check: Check,
    pub p: f64,
    /// Newcombe's paired interval, with McNemar's mid-p.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub interval: Option<Interval>,
}

/// The methods shown beside the deciding ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Check {
    /// Beside the exact McNemar test.
    McnemarMidP,
    /// Beside the paired t test.
    SignFlip,
    /// Beside Welch's test.
    Permutation,
}

/// The detectable difference with twice the data of one sort, if both arms attempted each item several times.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Doubled {
    /// With twice as many items like these.
    pub items: f64,
    /// With twice as many attempts at these items.
    pub attempts: f64,
}

/// Maximum number of values for which all rearrangements are tried; sampled ones would add noise to a p-value.
const MAX_EXACT: usize = 20;

impl Detail {
    /// Returns the detail as seen from the other arm.
    pub(super) fn swap_arms(self) -> Self {
        Self {
            effect: self.effect.map(|effect| Effect {
                hedges_g: effect.hedges_g.map(|g| -g),
                cliffs_delta: -effect.cliffs_delta,
                superiority: 1.0 - effect.superiority,
            }),
            bill: self.bill.map(|bill| Bill {
                ratio: 1.0 / bill.ratio,
                interval: Interval {
                    low: 1.0 / bill.interval.high,
                    high: 1.0 / bill.interval.low,
                },
            }),
            cross_check: self.cross_check.map(|check| CrossCheck {
                interval: check.interval.map(|ends| Interval {
                    low: -ends.high,
                    high: -ends.low,
                }),
                ..check
            }),
            ..self
        }
    }

    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

impl Effect {
    /// Returns `None` for fewer runs than a verdict needs.
    pub(super) fn from_samples(one: &[f64], other: &[f64], least: usize) -> Option<Self> {
        let dominance = cliffs_delta(one, other)
            .ok()
            .filter(|_| one.len().min(other.len()) >= least)?;
        Some(Self {
            hedges_g: hedges_g(one, other).ok().map(|size| size.hedges_g),
            cliffs_delta: dominance.delta,
            superiority: dominance.superiority,
        })
    }
}

impl Bill {
    pub(super) fn from_amounts(one: &[f64], other: &[f64], confidence: f64) -> Option<Self> {
        let found = ratio_of_means(one, other, confidence).ok()?;
        let degrees = one.len().min(other.len()) as f64 - 1.0;
        Some(Self {
            ratio: found.ratio,
            interval: found.student_interval(degrees, confidence).ok()?,
        })
    }
}

impl CrossCheck {
    pub(super) fn from_pairs(pairs: PairedTable, mid_p: f64, confidence: f64) -> Self {
        Self {
            check: Check::McnemarMidP,
            p: mid_p,
            interval: newcombe_paired(pairs, confidence).ok(),
        }
    }

    pub(super) fn from_differences(differences: &[f64], resampling: Resampling) -> Option<Self> {
        let test = if differences.len() <= MAX_EXACT {
            sign_flip(differences, resampling).ok()?
        } else {
            return None;
        };
        Some(Self {
            check: Check::SignFlip,
            p: test.p,
            interval: None,
        })
    }

    pub(super) fn from_runs(one: &[f64], other: &[f64], resampling: Resampling) -> Option<Self> {
        let test = if one.len() + other.len() <= MAX_EXACT {
            permutation_test(one, other, resampling).ok()?
        } else {
            return None;
        };
        Some(Self {
            check: Check::Permutation,
            p: test.p,
            interval: None,
        })
    }
}

/// Sources of the variance of item differences (Miller 2024).
#[derive(Clone, Copy)]
pub(super) struct VarianceComponents {
    /// Each arm's variance within items is of the mean of its attempts, which counts as one run here.
    variance: PairedVariance,
    items: u64,
}

impl VarianceComponents {
    /// Splits the variance `sd²` of the differences on shared items. Returns `None` if an arm attempted one of them only once: items and
    /// attempts cannot be separated then.
    pub(super) fn from_outcomes(one: &ArmOutcomes, other: &ArmOutcomes, sd: f64) -> Option<Self> {
        let (mut items, mut noise) = (0u64, [0.0, 0.0]);
        for cells in one
            .cells
            .iter()
            .zip(other.cells.iter())
            .map(|(a, b)| [a, b])
            .filter(|cells| cells.iter().all(|cell| cell.1 > 0))
        {
            if cells.iter().any(|(_, tried)| *tried < 2) {
                return None;
            }
            items += 1;
            for ((passed, tried), noise) in cells.into_iter().zip(&mut noise) {
                let rate = f64::from(passed) / f64::from(tried);
                // Unbiased variance of a mean of this many attempts.
                *noise += rate * (1.0 - rate) / f64::from(tried - 1);
            }
        }
        let [sigma2_a, sigma2_b] = noise.map(|sum| sum / items as f64);
        let omega2 = (sd * sd - sigma2_a - sigma2_b).max(0.0);
        (items > 0).then_some(Self {
            variance: PairedVariance {
                omega2,
                sigma2_a,
                sigma2_b,
                runs_a: 1,
                runs_b: 1,
            },
            items,
        })
    }

    pub(super) fn detectable_with_doubled(self, aim: Aim) -> Option<Doubled> {
        let twice = PairedVariance {
            runs_a: 2,
            runs_b: 2,
            ..self.variance
        };
        Some(Doubled {
            items: mde_miller(self.variance, 2 * self.items, aim).ok()?,
            attempts: mde_miller(twice, self.items, aim).ok()?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const AIM: Aim = Aim {
        alpha: 0.05,
        power: 0.8,
    };

    fn outcomes(cells: &[(u32, u32)]) -> ArmOutcomes {
        ArmOutcomes {
            cells: cells.iter().copied().collect(),
            ..ArmOutcomes::default()
        }
    }

    #[test]
    fn attempts_help_where_the_noise_is_theirs() {
        // Every item is a coin: both arms passed it once of two attempts. All of the variance is within items.
        let coins = outcomes(&[(1, 2); 8]);
        let sd = (2.0 * 0.25_f64).sqrt();
        let doubled = VarianceComponents::from_outcomes(&coins, &coins, sd)
            .and_then(|parts| parts.detectable_with_doubled(AIM))
            .expect("several attempts");
        assert!(
            (doubled.items - doubled.attempts).abs() < 1e-12,
            "{doubled:?}"
        );
        // No noise within items: only more items help.
        let (sure, other) = (
            outcomes(&[(2, 2); 8]),
            outcomes(&[
                (2, 2),
                (0, 2),
                (2, 2),
                (0, 2),
                (2, 2),
                (0, 2),
                (2, 2),
                (0, 2),
            ]),
        );
        let doubled = VarianceComponents::from_outcomes(&sure, &other, 0.5)
            .and_then(|parts| parts.detectable_with_doubled(AIM))
            .expect("several attempts");
        assert!(
            (doubled.attempts / doubled.items - 2f64.sqrt()).abs() < 1e-12,
            "{doubled:?}"
        );
        assert!(VarianceComponents::from_outcomes(&outcomes(&[(1, 1); 8]), &coins, 0.5).is_none());
    }

    #[test]
    fn seen_from_the_other_arm() {
        let (one, other) = ([1.0, 2.0, 4.0], [2.0, 3.0, 9.0]);
        let detail = |one: &[f64], other: &[f64]| Detail {
            effect: Effect::from_samples(one, other, 3),
            bill: Bill::from_amounts(one, other, 0.95),
            cross_check: CrossCheck::from_runs(one, other, Resampling { seed: 1, draws: 10 }),
            doubled: None,
        };
        let (there, back) = (detail(&one, &other), detail(&other, &one).swap_arms());
        let (there_bill, back_bill) = (there.bill.expect("amounts"), back.bill.expect("amounts"));
        assert!(
            (there_bill.ratio - back_bill.ratio).abs() < 1e-12
                && (there_bill.ratio - 0.5).abs() < 1e-12
        );
        assert_eq!(there.cross_check, back.cross_check);
        assert!((there_bill.interval.high / back_bill.interval.high - 1.0).abs() < 1e-9);
        let (there, back) = (
            there.effect.expect("three runs"),
            back.effect.expect("three runs"),
        );
        // Value 1 is below all three; 2 ties once and loses twice; 4 beats two and loses to one.
        assert!(
            (there.cliffs_delta - (2.0 - 6.0) / 9.0).abs() < 1e-12
                && (there.superiority - back.superiority).abs() < 1e-12
        );
        assert_eq!(Effect::from_samples(&one, &other[..2], 3), None);
    }
}
