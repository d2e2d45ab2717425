//! Two arms on one metric: how far apart they are, and what may be said of it.

use schemars::JsonSchema;
use serde::Serialize;

use crate::stats::Interval;

use super::detail::Detail;
use super::policy::{Design, SAME};
use super::verdict::{Place, Verdict};

/// How the p-value was made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Test {
    McnemarExact,
    FisherExact,
    PairedT,
    /// Student's t over items and runs, both of which vary.
    TwoWay,
    /// Student's t over totals of items, with what runs add.
    PooledTotals,
    SignFlip,
    /// Signs of whole clusters' sums flipped.
    ClusterSignFlip,
    Welch,
    WelchOnLogs,
    /// Of a ratio of totals, by the delta method on its logarithm over items.
    DeltaOnLogs,
    Permutation,
}

/// What a difference is measured in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Scale {
    /// Of shares between 0 and 1: 0.02 is two percentage points.
    Share,
    /// In the metric's own unit.
    Unit,
    /// First over second: 1 is no difference.
    Ratio,
}

/// How far apart two arms are: the first less the second, or the first over the second.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Difference {
    pub value: f64,
    pub scale: Scale,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub interval: Option<Interval>,
}

/// What a pair's numbers rest on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Sizes {
    /// Units of each arm, counted in `of`.
    pub first: u64,
    pub second: u64,
    /// Units that both arms have, where they are laid side by side.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pairs: Option<u64>,
    /// `questions`, `tests`, `criteria`, `checks`, `items`, `clusters` or `runs`.
    pub of: &'static str,
    /// Clusters among the pairs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub clusters: Option<u64>,
}

/// Units on which each arm did better.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Record {
    pub won: u64,
    pub lost: u64,
    pub same: u64,
}

/// How much more data would probably settle it, if the difference is as large as it looks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Needed {
    pub n: u64,
    /// `items`, `clusters` or `runs` (of each arm).
    pub of: &'static str,
}

/// What may be said about two arms on one metric.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct PairEvidence {
    /// Indices into the arms. `a_wins` is about the first.
    pub first: usize,
    pub second: usize,
    #[serde(flatten)]
    pub verdict: Verdict,
    pub design: Design,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub difference: Option<Difference>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub test: Option<Test>,
    /// Of this pair alone. Where the data are too thin for a test: as if the tests were independent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub p: Option<f64>,
    /// Over the family of pairs; see [`super::Evidence::adjustment`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub p_adjusted: Option<f64>,
    pub sizes: Sizes,
    /// How far one run differs from the next, where both arms have several; absent where it is not measured.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub variation: Option<Variation>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub record: Option<Record>,
    /// Between the worst and the best that the missing outcomes could make of the difference.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bounds: Option<Interval>,
    /// The smallest difference that this much data shows four times out of five, on the scale of the difference (a ratio above 1).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub detectable: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub needed: Option<Needed>,
    /// A difference smaller than this does not matter, as declared.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub margin: Option<f64>,
    /// The other question that the same outcomes answer: would it hold on other clusters, such as other repositories?
    #[serde(skip_serializing_if = "Option::is_none")]
    pub beyond: Option<Box<Beyond>>,
    /// For a second look; decides nothing.
    #[serde(skip_serializing_if = "Detail::is_empty")]
    pub detail: Detail,
}

/// What the same outcomes say of other clusters, beside what they say of these items.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Beyond {
    #[serde(flatten)]
    pub verdict: Verdict,
    pub difference: Difference,
    pub test: Test,
    pub p: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub p_adjusted: Option<f64>,
    pub clusters: u64,
}

/// What runs add to the variance of a difference over items.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Variation {
    /// Variance of the difference that the items explain.
    pub items: f64,
    /// Variance of the difference that the runs add.
    pub runs: f64,
    /// Runs differ by more than their items explain, at the 5% level.
    pub runs_vary: bool,
}

impl Difference {
    /// A difference of logarithms as the ratio whose logarithm it is.
    #[must_use]
    pub(super) fn of_logs(self) -> Self {
        let interval = self.interval.and_then(|ends| Interval::new(ends.low.exp(), ends.high.exp()));
        Self { value: self.value.exp(), scale: Scale::Ratio, interval }
    }

    /// Takes what differs by arithmetic alone for equal.
    pub(super) fn snapped(self) -> Self {
        match self.scale {
            Scale::Share if self.value.abs() < SAME => Self { value: 0.0, ..self },
            Scale::Ratio if (self.value - 1.0).abs() < SAME => Self { value: 1.0, ..self },
            Scale::Share | Scale::Unit | Scale::Ratio => self,
        }
    }
}

impl Difference {
    /// The same, seen from the other arm.
    #[must_use]
    pub fn reversed(self) -> Self {
        match self.scale {
            Scale::Ratio => Self {
                value: 1.0 / self.value,
                interval: self.interval.map(|ends| Interval { low: 1.0 / ends.high, high: 1.0 / ends.low }),
                ..self
            },
            Scale::Share | Scale::Unit => Self { value: 0.0 - self.value, interval: self.interval.map(mirrored), ..self },
        }
    }

    /// Zero where nothing differs: a ratio comes as its logarithm.
    pub fn centred(self) -> f64 {
        if self.scale == Scale::Ratio { self.value.ln() } else { self.value }
    }
}

/// An interval with its sign turned.
pub(crate) fn mirrored(ends: Interval) -> Interval {
    // From 0, so that no end becomes a negative zero.
    Interval { low: 0.0 - ends.high, high: 0.0 - ends.low }
}

impl PairEvidence {
    /// The same, seen from the other arm.
    #[must_use]
    pub fn reversed(&self) -> Self {
        Self {
            first: self.second,
            second: self.first,
            verdict: self.verdict.reversed(),
            difference: self.difference.map(Difference::reversed),
            sizes: Sizes { first: self.sizes.second, second: self.sizes.first, ..self.sizes },
            record: self.record.map(|record| Record { won: record.lost, lost: record.won, same: record.same }),
            bounds: self.bounds.map(mirrored),
            beyond: self.beyond.as_ref().map(|beyond| {
                Box::new(Beyond { verdict: beyond.verdict.reversed(), difference: beyond.difference.reversed(), ..(**beyond).clone() })
            }),
            detail: self.detail.reversed(),
            ..self.clone()
        }
    }

    /// The same, seen from one of the two arms.
    #[must_use]
    pub fn seen_from(&self, arm: usize) -> Self {
        if self.second == arm { self.reversed() } else { self.clone() }
    }

    /// The arm at a place.
    pub fn at(&self, place: Place) -> usize {
        match place {
            Place::First => self.first,
            Place::Second => self.second,
        }
    }

    /// Returns the arm that the verdict calls better beyond chance.
    pub fn winner(&self) -> Option<usize> {
        self.verdict.winner().map(|place| self.at(place))
    }

    /// Returns the arm that ranks before the other.
    pub fn better(&self) -> Option<usize> {
        self.verdict.better().map(|place| self.at(place))
    }

    /// Units that both arms have; of unpaired ones, those of the arm with fewer.
    pub fn units(&self) -> u64 {
        self.sizes.pairs.unwrap_or(self.sizes.first.min(self.sizes.second))
    }
}
