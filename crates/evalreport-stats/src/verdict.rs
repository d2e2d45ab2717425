//! The verdict rule, as one pure function, so that all outputs agree.

use super::Interval;

/// The verdict on a against b for one metric.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, schemars::JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum RuleVerdict {
    AWins,
    BWins,
    /// The shown data are exactly equal. Lack of significance is no tie.
    Tie,
    /// The difference is smaller than a margin declared in advance.
    Equivalent,
    NotEnoughEvidence,
    NotComparable,
    NoData,
    /// No run of either arm varied: a fixed result, without a p-value.
    DeterministicDifference,
}

/// Inputs of a verdict. The difference is a − b, on the scale of the interval and the margin (for ratios: natural logarithms).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct VerdictQuestion {
    pub comparable: bool,
    pub n_a: u64,
    pub n_b: u64,
    pub difference: Option<f64>,
    /// `None` if the data allow no interval.
    pub interval: Option<Interval>,
    /// Adjusted for the family. `None` if the data are too few for evidence.
    pub p_adjusted: Option<f64>,
    pub alpha: f64,
    /// The largest unimportant difference, declared in advance.
    pub margin: Option<f64>,
    pub higher_is_better: bool,
    /// Whether all runs of each arm had the same outcomes.
    pub deterministic: bool,
}

/// Returns the verdict. The order of the steps is the policy: obstacles to a comparison come first; a winner needs a small adjusted p-value
/// and an interval without zero; and equivalence is checked before a winner whose difference is too small to matter.
pub fn apply_verdict_rule(question: &VerdictQuestion) -> RuleVerdict {
    if !question.comparable {
        return RuleVerdict::NotComparable;
    }
    let Some(difference) = question
        .difference
        .filter(|_| question.n_a > 0 && question.n_b > 0)
    else {
        return RuleVerdict::NoData;
    };
    let without_winner = if difference == 0.0 {
        RuleVerdict::Tie
    } else {
        RuleVerdict::NotEnoughEvidence
    };
    if question.deterministic {
        return if difference == 0.0 {
            RuleVerdict::Tie
        } else {
            RuleVerdict::DeterministicDifference
        };
    }
    let Some(p) = question.p_adjusted else {
        return without_winner;
    };
    let significant = p < question.alpha;
    let clear = match question.interval {
        // Only an exact test was possible, so it decides alone.
        None => difference != 0.0,
        Some(interval) => {
            if question
                .margin
                .is_some_and(|margin| -margin < interval.low && interval.high < margin)
            {
                return RuleVerdict::Equivalent;
            }
            interval.low > 0.0 || interval.high < 0.0
        }
    };
    match (
        significant && clear,
        (difference > 0.0) == question.higher_is_better,
    ) {
        (false, _) => without_winner,
        (true, true) => RuleVerdict::AWins,
        (true, false) => RuleVerdict::BWins,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn question(difference: f64, ends: Option<(f64, f64)>, p: Option<f64>) -> VerdictQuestion {
        VerdictQuestion {
            comparable: true,
            n_a: 50,
            n_b: 50,
            difference: Some(difference),
            interval: ends.and_then(|(low, high)| Interval::new(low, high)),
            p_adjusted: p,
            alpha: 0.05,
            margin: None,
            higher_is_better: true,
            deterministic: false,
        }
    }

    #[test]
    fn each_step_of_the_policy() {
        let clear = question(0.12, Some((0.04, 0.238)), Some(0.03));
        let touching = question(0.12, Some((-0.01, 0.25)), Some(0.03));
        let exact = question(0.4, None, Some(0.008));
        for (question, verdict) in [
            (
                VerdictQuestion {
                    comparable: false,
                    n_a: 0,
                    ..clear
                },
                RuleVerdict::NotComparable,
            ),
            (VerdictQuestion { n_b: 0, ..clear }, RuleVerdict::NoData),
            (
                VerdictQuestion {
                    difference: None,
                    ..clear
                },
                RuleVerdict::NoData,
            ),
            (
                VerdictQuestion {
                    deterministic: true,
                    ..clear
                },
                RuleVerdict::DeterministicDifference,
            ),
            (
                VerdictQuestion {
                    deterministic: true,
                    difference: Some(0.0),
                    ..clear
                },
                RuleVerdict::Tie,
            ),
            (
                VerdictQuestion {
                    p_adjusted: None,
                    ..clear
                },
                RuleVerdict::NotEnoughEvidence,
            ),
            (
                VerdictQuestion {
                    p_adjusted: None,
                    difference: Some(0.0),
                    ..clear
                },
                RuleVerdict::Tie,
            ),
            (exact, RuleVerdict::AWins),
            (
                VerdictQuestion {
                    higher_is_better: false,
                    ..exact
                },
                RuleVerdict::BWins,
            ),
            (
                VerdictQuestion {
                    p_adjusted: Some(0.05),
                    ..exact
                },
                RuleVerdict::NotEnoughEvidence,
            ),
            (
                VerdictQuestion {
                    difference: Some(0.0),
                    p_adjusted: Some(1.0),
                    ..exact
                },
                RuleVerdict::Tie,
            ),
            (
                VerdictQuestion {
                    margin: Some(0.3),
                    ..clear
                },
                RuleVerdict::Equivalent,
            ),
            (
                VerdictQuestion {
                    margin: Some(0.238),
                    ..clear
                },
                RuleVerdict::AWins,
            ),
            (clear, RuleVerdict::AWins),
            (
                VerdictQuestion {
                    higher_is_better: false,
                    ..clear
                },
                RuleVerdict::BWins,
            ),
            (
                VerdictQuestion {
                    p_adjusted: Some(0.06),
                    ..clear
                },
                RuleVerdict::NotEnoughEvidence,
            ),
            (touching, RuleVerdict::NotEnoughEvidence),
            (
                VerdictQuestion {
                    difference: Some(0.0),
                    ..touching
                },
                RuleVerdict::Tie,
            ),
        ] {
            assert_eq!(apply_verdict_rule(&question), verdict, "{question:?}");
        }
    }

    proptest::proptest! {
        #[test]
        fn swapping_the_arms_swaps_the_winner(
            difference in -1.0..1.0f64, below in 0.0..1.0f64, above in 0.0..1.0f64, p in proptest::option::of(0.0..0.2f64),
            margin in proptest::option::of(0.0..2.0f64), higher_is_better: bool,
        ) {
            let ends = (difference - below, difference + above);
            let there = VerdictQuestion { margin, higher_is_better, ..question(difference, Some(ends), p) };
            let back = VerdictQuestion { margin, higher_is_better, ..question(-difference, Some((-ends.1, -ends.0)), p) };
            let mirrored = match apply_verdict_rule(&there) {
                RuleVerdict::AWins => RuleVerdict::BWins,
                RuleVerdict::BWins => RuleVerdict::AWins,
                same => same,
            };
            proptest::prop_assert_eq!(apply_verdict_rule(&back), mirrored);
        }
    }
}
