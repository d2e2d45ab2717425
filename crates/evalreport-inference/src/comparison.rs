//! Two arms on one metric: their difference and the evidence for it.

use schemars::JsonSchema;
use serde::Serialize;

use crate::stats::Interval;

use super::labelled::JudgeFigure;
use super::policy::{Design, EQUAL_SHARE_TOLERANCE};
use super::secondary_effects::Detail;
use super::verdict::{PairVerdict, Place};

/// The test behind a p-value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Test {
    McnemarExact,
    FisherExact,
    PairedT,
    /// Student's t over items and runs, both of which vary. Epochs and trials of the whole suite count as runs.
    TwoWay,
    /// Each run of one arm against each of the other, as single runs are tested: the largest p-value. The interval ends where all of theirs do on
    /// the side of no difference, and where that of all runs together does on the other.
    EachRunAlone,
    /// Student's t over totals of items, with what runs add.
    PooledTotals,
    SignFlip,
    /// Flips the signs of whole clusters' sums.
    ClusterSignFlip,
    /// Student's t over fewer than twelve clusters, with the error CR2.
    ClusterT,
    Welch,
    WelchOnLogs,
    /// Of a ratio of totals: the delta method on its logarithm, over items.
    DeltaOnLogs,
    Permutation,
    /// Of a judge's outcomes corrected by people's labels of some items.
    PredictionPowered,
    /// Of two published rates: the normal distribution, with their published standard errors.
    PublishedErrors,
}

/// The scale of a difference.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Scale {
    /// A difference of shares between 0 and 1: 0.02 is two percentage points.
    Share,
    /// In the metric's own unit.
    Unit,
    /// The first over the second: 1 is no difference.
    Ratio,
}

/// The difference of two arms: the first minus the second, or the first over the second.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Difference {
    pub value: f64,
    pub scale: Scale,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub interval: Option<Interval>,
}

/// The two values that a difference compares, over the items or runs that both arms have: the difference is the first less the second, or
/// the first over the second. Rates and scores are means. Amounts are geometric means, over items if these decide, else over runs.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Levels {
    pub first: f64,
    pub second: f64,
}

/// Sample sizes of a pair.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Sizes {
    /// Units of each arm, counted in `of`.
    pub first: u64,
    pub second: u64,
    /// Units that both arms have, if the arms are paired.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pairs: Option<u64>,
    /// `questions`, `tests`, `criteria`, `checks`, `items`, `clusters` or `runs`.
    pub of: &'static str,
    /// Clusters among the pairs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub clusters: Option<u64>,
    /// Runs, or repeats of the whole suite within a run, of the arm with fewer, if both arms have several and items are paired.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub runs: Option<u64>,
}

/// Units on which each arm did better.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Record {
    pub won: u64,
    pub lost: u64,
    pub same: u64,
}

/// The amount of data with which the deciding test finds a difference as large as the measured one with 80% power.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Needed {
    pub n: u64,
    /// `items`, `clusters`, `runs` (of each arm), or `labels`: items for people to label, of those that the arms share.
    pub of: &'static str,
}

/// The evidence about two arms on one metric.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct PairEvidence {
    /// Indices into the arms. `a_wins` is about the first.
    pub first: usize,
    pub second: usize,
    #[serde(flatten)]
    pub verdict: PairVerdict,
    pub design: Design,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub difference: Option<Difference>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub levels: Option<Levels>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub test: Option<Test>,
    /// The p-value of this pair alone. If the data are too thin to test, it assumes that the tests were independent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub p: Option<f64>,
    /// Adjusted over the family of pairs; see [`super::Evidence::adjustment`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub p_adjusted: Option<f64>,
    /// The posterior probability, between 0 and 1, that the first arm is truly better, for this pair alone. The prior of true differences is
    /// normal around 0 with a deviation of 10 percentage points. Only for shares of the primary metric; absent if the data are too thin.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub probability_first_better: Option<f64>,
    pub sizes: Sizes,
    /// The difference by the judge alone, if people's labels correct it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub judge: Option<JudgeFigure>,
    /// Variation between runs, if both arms have several. Absent if it is not measured.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub variation: Option<Variation>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub record: Option<Record>,
    /// The smallest and the largest difference that the missing outcomes allow.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bounds: Option<Interval>,
    /// The smallest difference that data of this size detect with 80% power, on the scale of the difference (a ratio above 1).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub detectable: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub needed: Option<Needed>,
    /// The difference that is planned for, if it is not the measured one: a margin, because the measured one could well be chance.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub needed_for: Option<f64>,
    /// The largest unimportant difference, as declared.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub margin: Option<f64>,
    /// The evidence for a second question about the same outcomes: would the difference hold on other clusters, such as other repositories?
    #[serde(skip_serializing_if = "Option::is_none")]
    pub beyond: Option<Box<Beyond>>,
    /// For a second look; it decides nothing.
    #[serde(skip_serializing_if = "Detail::is_empty")]
    pub detail: Detail,
}

/// The evidence about other clusters, from the same outcomes as that about these items.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Beyond {
    #[serde(flatten)]
    pub verdict: PairVerdict,
    pub difference: Difference,
    pub test: Test,
    pub p: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub p_adjusted: Option<f64>,
    pub clusters: u64,
}

/// The contribution of runs to the variance of a difference over items.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Variation {
    /// Variance of the difference explained by the items.
    pub items: f64,
    /// Variance of the difference added by the runs.
    pub runs: f64,
    /// Whether runs differ by more than their items explain, at the 5% level.
    pub runs_vary: bool,
}

impl Levels {
    /// Converts means of logarithms to geometric means.
    #[must_use]
    pub(super) fn to_geometric_means(self) -> Self {
        Self {
            first: self.first.exp(),
            second: self.second.exp(),
        }
    }
}

impl Difference {
    /// Converts a difference of logarithms to a ratio.
    #[must_use]
    pub(super) fn to_ratio(self) -> Self {
        let interval = self
            .interval
            .and_then(|ends| Interval::new(ends.low.exp(), ends.high.exp()));
        Self {
            value: self.value.exp(),
            scale: Scale::Ratio,
            interval,
        }
    }

    /// Lets the interval reach no difference if the deciding test does not reject that, as with an exact test beside an approximate interval.
    #[must_use]
    pub(super) fn agree_with(self, p: Option<f64>, alpha: f64) -> Self {
        let equal = if self.scale == Scale::Ratio { 1.0 } else { 0.0 };
        let is_open = p.is_some_and(|p| p >= alpha);
        let interval = self.interval.map(|ends| {
            if is_open {
                Interval {
                    low: ends.low.min(equal),
                    high: ends.high.max(equal),
                }
            } else {
                ends
            }
        });
        Self { interval, ..self }
    }

    /// Sets a difference to exact equality (0, or a ratio of 1) if it is only a rounding error.
    pub(super) fn snap_to_equality(self) -> Self {
        match self.scale {
            Scale::Share if self.value.abs() < EQUAL_SHARE_TOLERANCE => Self { value: 0.0, ..self },
            Scale::Ratio if (self.value - 1.0).abs() < EQUAL_SHARE_TOLERANCE => {
                Self { value: 1.0, ..self }
            }
            Scale::Share | Scale::Unit | Scale::Ratio => self,
        }
    }
}

impl Difference {
    /// Returns the difference as seen from the other arm.
    #[must_use]
    pub fn swap_arms(self) -> Self {
        match self.scale {
            Scale::Ratio => Self {
                value: 1.0 / self.value,
                interval: self.interval.map(|ends| Interval {
                    low: 1.0 / ends.high,
                    high: 1.0 / ends.low,
                }),
                ..self
            },
            Scale::Share | Scale::Unit => Self {
                value: 0.0 - self.value,
                interval: self.interval.map(negate_interval),
                ..self
            },
        }
    }

    /// Returns a value that is zero for equal arms: the logarithm of a ratio, else the value itself.
    pub fn signed_distance(self) -> f64 {
        if self.scale == Scale::Ratio {
            self.value.ln()
        } else {
            self.value
        }
    }
}

/// Negates an interval.
pub fn negate_interval(ends: Interval) -> Interval {
    // Subtract from 0, so that no end becomes a negative zero.
    Interval {
        low: 0.0 - ends.high,
        high: 0.0 - ends.low,
    }
}

impl PairEvidence {
    /// Returns the evidence as seen from the other arm.
    #[must_use]
    pub fn swap_arms(&self) -> Self {
        Self {
            first: self.second,
            second: self.first,
            verdict: self.verdict.swap_arms(),
            difference: self.difference.map(Difference::swap_arms),
            levels: self.levels.map(|levels| Levels {
                first: levels.second,
                second: levels.first,
            }),
            sizes: Sizes {
                first: self.sizes.second,
                second: self.sizes.first,
                ..self.sizes
            },
            record: self.record.map(|record| Record {
                won: record.lost,
                lost: record.won,
                same: record.same,
            }),
            bounds: self.bounds.map(negate_interval),
            probability_first_better: self.probability_first_better.map(|first| 1.0 - first),
            judge: self.judge.map(JudgeFigure::swap_arms),
            beyond: self.beyond.as_ref().map(|beyond| {
                Box::new(Beyond {
                    verdict: beyond.verdict.swap_arms(),
                    difference: beyond.difference.swap_arms(),
                    ..(**beyond).clone()
                })
            }),
            detail: self.detail.swap_arms(),
            ..self.clone()
        }
    }

    /// Returns the evidence as seen from one of the two arms.
    #[must_use]
    pub fn seen_from(&self, arm: usize) -> Self {
        if self.second == arm {
            self.swap_arms()
        } else {
            self.clone()
        }
    }

    /// Returns the arm at a place.
    pub fn arm_at(&self, place: Place) -> usize {
        match place {
            Place::First => self.first,
            Place::Second => self.second,
        }
    }

    /// Returns the arm that wins.
    pub fn winning_arm(&self) -> Option<usize> {
        self.verdict.winning_place().map(|place| self.arm_at(place))
    }

    /// Returns the arm that ranks before the other.
    pub fn better_arm(&self) -> Option<usize> {
        self.verdict.better_place().map(|place| self.arm_at(place))
    }

    /// Returns the number of units that both arms have; unpaired, the number of the arm with fewer.
    pub fn unit_count(&self) -> u64 {
        self.sizes
            .pairs
            .unwrap_or(self.sizes.first.min(self.sizes.second))
    }
}

impl Sizes {
    /// Returns how many units of a plan's kind there are: clusters, runs, or items.
    pub(super) fn count_of(&self, of: &str) -> u64 {
        match of {
            "runs" if self.pairs.is_some() => self.runs.unwrap_or(1),
            _ => self
                .clusters
                .or(self.pairs)
                .unwrap_or(self.first.min(self.second)),
        }
    }
}
