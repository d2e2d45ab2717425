//! The verdict on two arms for one metric. A verdict includes its reason, so that the two always match.

use schemars::JsonSchema;
use serde::Serialize;

use crate::stats;

/// One of the two arms of a pair.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Place {
    First,
    Second,
}

impl Place {
    /// Returns the other arm.
    #[must_use]
    pub fn other_arm(self) -> Self {
        match self {
            Self::First => Self::Second,
            Self::Second => Self::First,
        }
    }
}

/// Why two arms cannot be compared on a metric.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Incomparable {
    /// Each arm wrote and ran its own tests, so the tests differ.
    OwnDenominator,
    /// The arms share no item.
    DisjointItems,
    /// Every shared item had different texts for the two arms.
    OtherTexts,
    /// The runs counted different numbers of tests, and it is unknown which.
    OtherTotals,
    /// Some runs report the metric in another unit or direction.
    OtherUnit,
    /// Another judge or evaluator decided, which is another measure.
    OtherEvaluator,
    /// It is unknown which direction is better.
    DirectionUnknown,
}

/// Why comparable data give no verdict.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Obstacle {
    /// Fewer than three runs per arm, on a suite whose tests share one artefact.
    FewRuns,
    /// Fewer than six shared items.
    FewItems,
    /// Fewer than six clusters.
    FewClusters,
    /// The smallest possible p-value with this number of units is above the level that the family of pairs requires.
    OutOfReach,
    /// The missing outcomes could reverse the sign.
    MissingOutcomes,
    /// Some runs hit a limit: the time they would have taken is unknown.
    Censored,
    /// The typical item and the sum over all items point in different directions.
    TotalDisagrees,
    /// The p-value is small, but the interval includes no difference. A winner needs both.
    IntervalIncludesZero,
    /// People's labels correct the judge's figure of one arm, but not of the other. The two have no difference.
    Unlabelled,
}

/// Why there are no data to compare.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Missing {
    /// An arm has no value.
    NotMeasured,
    /// No run of an arm completed, and the cost of a failed run is no price.
    NotCompleted,
    /// Both arms have a figure, but of no known number of items.
    NoCounts,
}

/// The verdict on one pair of arms for one metric.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(tag = "verdict", rename_all = "snake_case")]
pub enum PairVerdict {
    /// The first arm is better beyond chance.
    AWins,
    /// The second arm is better beyond chance.
    BWins,
    /// A fixed result: all runs of each arm have the same outcomes, so the order involves no chance.
    DeterministicDifference {
        ahead: Place,
    },
    /// No run of either arm varied, and the arms are exactly equal.
    Tie,
    /// The whole interval is within the declared margin.
    Equivalent,
    NotEnoughEvidence {
        #[serde(skip_serializing_if = "Option::is_none")]
        reason: Option<Obstacle>,
    },
    NoData {
        reason: Missing,
    },
    NotComparable {
        reason: Incomparable,
    },
}

impl PairVerdict {
    /// Returns the arm that is better beyond chance.
    pub fn winning_place(self) -> Option<Place> {
        match self {
            Self::AWins => Some(Place::First),
            Self::BWins => Some(Place::Second),
            Self::DeterministicDifference { .. }
            | Self::Tie
            | Self::Equivalent
            | Self::NotEnoughEvidence { .. }
            | Self::NoData { .. }
            | Self::NotComparable { .. } => None,
        }
    }

    /// Returns the arm that ranks before the other: it wins, or leads in runs that never vary.
    pub fn better_place(self) -> Option<Place> {
        match self {
            Self::DeterministicDifference { ahead } => Some(ahead),
            Self::AWins
            | Self::BWins
            | Self::Tie
            | Self::Equivalent
            | Self::NotEnoughEvidence { .. }
            | Self::NoData { .. }
            | Self::NotComparable { .. } => self.winning_place(),
        }
    }

    /// Returns whether the evidence is too thin.
    pub fn is_open(self) -> bool {
        matches!(self, Self::NotEnoughEvidence { .. })
    }

    /// Returns why comparable data give no verdict.
    pub fn missing_evidence(self) -> Option<Obstacle> {
        match self {
            Self::NotEnoughEvidence { reason } => reason,
            Self::AWins
            | Self::BWins
            | Self::DeterministicDifference { .. }
            | Self::Tie
            | Self::Equivalent
            | Self::NoData { .. }
            | Self::NotComparable { .. } => None,
        }
    }

    /// Returns the verdict with the arms exchanged.
    #[must_use]
    pub fn swap_arms(self) -> Self {
        match self {
            Self::AWins => Self::BWins,
            Self::BWins => Self::AWins,
            Self::DeterministicDifference { ahead } => Self::DeterministicDifference {
                ahead: ahead.other_arm(),
            },
            same @ (Self::Tie
            | Self::Equivalent
            | Self::NotEnoughEvidence { .. }
            | Self::NoData { .. }
            | Self::NotComparable { .. }) => same,
        }
    }
}

/// The support of a pair's data, before the family of pairs is known.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum DataSupport {
    NotComparable(Incomparable),
    NoData(Missing),
    /// No run of either arm varied.
    Fixed,
    /// The data are too thin to count: the p-value is shown but not used.
    Thin {
        obstacle: Obstacle,
        p: Option<f64>,
    },
    /// A p-value for the family. A doubt forbids a winner, whatever the p-value.
    Tested {
        p: f64,
        doubt: Option<Obstacle>,
    },
}

/// Inputs of the rule beside the support. A difference of ratios is passed as its logarithm, so that no difference is 0.
#[derive(Clone, Copy, Debug)]
pub(super) struct VerdictInputs {
    pub difference: Option<f64>,
    pub interval: Option<stats::Interval>,
    /// The smallest and the largest difference that the missing outcomes allow.
    pub bounds: Option<stats::Interval>,
    pub margin: Option<f64>,
    pub higher_is_better: bool,
}

/// Decides by the pure rule of [`stats::apply_verdict_rule`], limited by doubts about the data.
pub(super) fn decide_verdict(
    support: DataSupport,
    looked: &VerdictInputs,
    p_adjusted: Option<f64>,
    alpha: f64,
) -> PairVerdict {
    let (obstacle, doubt) = match support {
        DataSupport::NotComparable(reason) => return PairVerdict::NotComparable { reason },
        DataSupport::NoData(reason) => return PairVerdict::NoData { reason },
        DataSupport::Fixed => (None, None),
        DataSupport::Thin { obstacle, .. } => (Some(obstacle), None),
        DataSupport::Tested { doubt, .. } => (None, doubt),
    };
    // An arm as people see it and an arm as the judge sees it have figures, but no difference.
    if obstacle == Some(Obstacle::Unlabelled) {
        return PairVerdict::NotEnoughEvidence { reason: obstacle };
    }
    let Some(difference) = looked.difference else {
        return PairVerdict::NoData {
            reason: Missing::NotMeasured,
        };
    };
    let ahead = if (difference > 0.0) == looked.higher_is_better {
        Place::First
    } else {
        Place::Second
    };
    let bounds_hold = |ends: stats::Interval| match ahead {
        _ if difference == 0.0 => true,
        _ if difference > 0.0 => ends.low > 0.0,
        _ => ends.high < 0.0,
    };
    let doubt = doubt.or_else(|| {
        looked
            .bounds
            .filter(|ends| !bounds_hold(*ends))
            .map(|_| Obstacle::MissingOutcomes)
    });
    let is_fixed = support == DataSupport::Fixed;
    let decided = stats::apply_verdict_rule(&stats::VerdictQuestion {
        comparable: true,
        n_a: 1,
        n_b: 1,
        difference: looked.difference,
        interval: looked.interval,
        p_adjusted,
        alpha,
        margin: looked.margin,
        higher_is_better: looked.higher_is_better,
        deterministic: is_fixed,
    });
    let is_unsure = || {
        looked
            .margin
            .zip(looked.bounds)
            .is_some_and(|(margin, bounds)| bounds.low <= -margin || bounds.high >= margin)
    };
    let open = |reason| PairVerdict::NotEnoughEvidence { reason };
    match decided {
        stats::RuleVerdict::AWins
        | stats::RuleVerdict::BWins
        | stats::RuleVerdict::DeterministicDifference
            if doubt.is_some() =>
        {
            open(doubt)
        }
        stats::RuleVerdict::AWins => PairVerdict::AWins,
        stats::RuleVerdict::BWins => PairVerdict::BWins,
        stats::RuleVerdict::DeterministicDifference => {
            PairVerdict::DeterministicDifference { ahead }
        }
        stats::RuleVerdict::Tie if is_fixed => PairVerdict::Tie,
        stats::RuleVerdict::Equivalent if obstacle.or(doubt).is_some() || is_unsure() => {
            open(obstacle.or(doubt).or(Some(Obstacle::MissingOutcomes)))
        }
        stats::RuleVerdict::Equivalent => PairVerdict::Equivalent,
        // A disagreeing total matters only if the typical value would have decided.
        // Equal figures of runs that vary are no tie.
        stats::RuleVerdict::Tie
        | stats::RuleVerdict::NotEnoughEvidence
        | stats::RuleVerdict::NoData
        | stats::RuleVerdict::NotComparable => {
            open(obstacle.or(doubt.filter(|doubt| *doubt != Obstacle::TotalDisagrees)))
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const LOOKED: VerdictInputs = VerdictInputs {
        difference: Some(0.2),
        interval: None,
        bounds: None,
        margin: None,
        higher_is_better: true,
    };

    fn tested(doubt: Option<Obstacle>) -> DataSupport {
        DataSupport::Tested { p: 0.01, doubt }
    }

    #[test]
    fn a_doubt_forbids_a_winner_and_is_its_reason() {
        let clear = VerdictInputs {
            interval: stats::Interval::new(0.1, 0.3),
            ..LOOKED
        };
        assert_eq!(
            decide_verdict(tested(None), &clear, Some(0.01), 0.05),
            PairVerdict::AWins
        );
        let doubted = decide_verdict(tested(Some(Obstacle::Censored)), &clear, Some(0.01), 0.05);
        assert_eq!(doubted.missing_evidence(), Some(Obstacle::Censored));
        let missing = VerdictInputs {
            bounds: stats::Interval::new(-0.1, 0.4),
            ..clear
        };
        assert_eq!(
            decide_verdict(tested(None), &missing, Some(0.01), 0.05).missing_evidence(),
            Some(Obstacle::MissingOutcomes)
        );
    }

    #[test]
    fn a_fixed_difference_ranks_and_does_not_win() {
        let fixed = decide_verdict(DataSupport::Fixed, &LOOKED, None, 0.05);
        assert_eq!(
            (fixed.winning_place(), fixed.better_place()),
            (None, Some(Place::First))
        );
        let down = decide_verdict(
            DataSupport::Fixed,
            &VerdictInputs {
                higher_is_better: false,
                ..LOOKED
            },
            None,
            0.05,
        );
        assert_eq!(down.better_place(), Some(Place::Second));
        assert_eq!(
            decide_verdict(
                DataSupport::Fixed,
                &VerdictInputs {
                    difference: Some(0.0),
                    ..LOOKED
                },
                None,
                0.05
            ),
            PairVerdict::Tie
        );
    }

    #[test]
    fn thin_data_never_win_whatever_they_show() {
        let thin = DataSupport::Thin {
            obstacle: Obstacle::FewRuns,
            p: Some(1e-9),
        };
        let clear = VerdictInputs {
            interval: stats::Interval::new(0.19, 0.21),
            margin: Some(0.5),
            ..LOOKED
        };
        assert_eq!(
            decide_verdict(thin, &clear, None, 0.05).missing_evidence(),
            Some(Obstacle::FewRuns)
        );
    }

    #[test]
    fn verdicts_carry_their_reasons_in_json() {
        let json = |verdict: PairVerdict| serde_json::to_value(verdict).expect("JSON");
        assert_eq!(json(PairVerdict::AWins), json!({"verdict": "a_wins"}));
        assert_eq!(
            json(PairVerdict::NotEnoughEvidence {
                reason: Some(Obstacle::FewRuns)
            }),
            json!({"verdict": "not_enough_evidence", "reason": "few_runs"})
        );
        assert_eq!(
            json(PairVerdict::NotComparable {
                reason: Incomparable::OtherTexts
            }),
            json!({"verdict": "not_comparable", "reason": "other_texts"})
        );
    }
}
