//! The result of one pair, before the family of pairs is known.

use crate::stats::{self, Aim, Detectable, Interval, Side};

use super::comparison::{Difference, Needed, Record, Scale, Sizes, Test, Variation};
use super::detail::{Detail, Parts};
use super::labelled::JudgeFigure;
use super::policy::Design;
use super::verdict::{Incomparable, Missing, Obstacle, Support};

/// The result of one pair of arms on one metric.
#[derive(Clone)]
pub(super) struct Finding {
    pub design: Design,
    pub support: Support,
    pub difference: Option<Difference>,
    pub test: Option<Test>,
    pub sizes: Sizes,
    pub variation: Option<Variation>,
    /// The difference by the judge alone, if people's labels correct it.
    pub judge: Option<JudgeFigure>,
    pub record: Option<Record>,
    pub bounds: Option<Interval>,
    pub precision: Option<Precision>,
    pub needed: Option<Needed>,
    pub detail: Detail,
    /// The sources of variance of the items' differences, if they can be separated.
    pub parts: Option<Parts>,
    /// The sums of the differences of each cluster, for joint tests of a family.
    pub sums: Vec<f64>,
    /// The result of the same data over clusters, if that is a different question.
    pub beyond: Option<Box<Finding>>,
}

impl Finding {
    pub fn new(design: Design, support: Support, sizes: Sizes) -> Self {
        Self {
            design,
            support,
            difference: None,
            test: None,
            sizes,
            variation: None,
            judge: None,
            record: None,
            bounds: None,
            precision: None,
            needed: None,
            detail: Detail::default(),
            parts: None,
            sums: Vec::new(),
            beyond: None,
        }
    }

    pub fn not_comparable(design: Design, reason: Incomparable, sizes: Sizes) -> Self {
        Self::new(design, Support::NotComparable(reason), sizes)
    }

    pub fn no_data(design: Design, reason: Missing, sizes: Sizes) -> Self {
        Self::new(design, Support::NoData(reason), sizes)
    }

    /// Sets the p-value: for the family, or only for display if the data are too thin.
    pub fn tested(&mut self, test: Test, p: f64, obstacle: Option<Obstacle>) {
        self.test = Some(test);
        self.support = match obstacle {
            Some(obstacle) => Support::Thin { obstacle, p: Some(p) },
            None => Support::Tested { p, doubt: None },
        };
    }

    /// Forbids a winner, whatever the p-value.
    pub fn doubt(&mut self, obstacle: Obstacle) {
        if let Support::Tested { doubt, .. } = &mut self.support {
            *doubt = Some(obstacle);
        }
    }

    /// Marks the finding as censored: runs or outcomes hit a limit, so the time they would have taken is unknown and the mean over the
    /// others is not the arm's.
    pub fn censor(&mut self) {
        self.support = Support::Thin { obstacle: Obstacle::Censored, p: self.p() };
    }

    /// Returns the p-value, deciding or only shown.
    pub fn p(&self) -> Option<f64> {
        match self.support {
            Support::Tested { p, .. } => Some(p),
            Support::Thin { p, .. } => p,
            Support::NotComparable(_) | Support::NoData(_) | Support::Fixed => None,
        }
    }

    /// Returns the p-value that takes part in the family.
    pub fn counted_p(&self) -> Option<f64> {
        match self.support {
            Support::Tested { p, .. } => Some(p),
            Support::Thin { .. } | Support::NotComparable(_) | Support::NoData(_) | Support::Fixed => None,
        }
    }

    /// Returns the smallest p-value that flipping signs can give with this number of units, or `None` for other tests.
    pub fn floor(&self) -> Option<f64> {
        let units = match self.test? {
            Test::McnemarExact | Test::SignFlip => self.sizes.pairs?,
            Test::ClusterSignFlip => self.sizes.clusters?,
            Test::FisherExact
            | Test::PairedT
            | Test::TwoWay
            | Test::PooledTotals
            | Test::Welch
            | Test::WelchOnLogs
            | Test::DeltaOnLogs
            | Test::Permutation
            | Test::PredictionPowered => {
                return None;
            }
        };
        Some(smallest_flip(units))
    }

    /// Sets the number of items of each arm, of which only those with the same text for both are compared.
    #[must_use]
    pub fn of_same_texts(mut self, first: Option<u64>, second: Option<u64>) -> Self {
        if let (Some(_), Some(first), Some(second)) = (self.sizes.pairs, first, second) {
            (self.sizes.first, self.sizes.second) = (first, second);
        }
        let is_nothing = match self.support {
            Support::NotComparable(reason) => matches!(reason, Incomparable::DisjointItems | Incomparable::OtherEvaluator),
            // Both have outcomes, but none on an item with the same text for both.
            Support::NoData(Missing::NotMeasured) => first.zip(second).is_some_and(|(first, second)| first > 0 && second > 0),
            Support::NoData(Missing::NotCompleted) | Support::Thin { .. } | Support::Tested { .. } | Support::Fixed => false,
        };
        if is_nothing {
            self.support = Support::NotComparable(Incomparable::OtherTexts);
        }
        self
    }

    pub fn detectable(&self, aim: Aim) -> Option<f64> {
        self.precision.as_ref()?.detectable(self.difference?.scale, aim)
    }
}

/// Returns the smallest two-sided p-value of flipping this number of signs.
fn smallest_flip(units: u64) -> f64 {
    0.5f64.powi(i32::try_from(units).unwrap_or(i32::MAX).saturating_sub(1))
}

/// The precision of the data, which determines the detectable difference.
#[derive(Clone, Copy)]
pub(super) enum Precision {
    /// `n` items with one outcome each per arm, of which a share differs between the arms.
    Discordant { share: f64, n: u64 },
    /// A standard error with its degrees of freedom.
    Error { se: f64, degrees: f64 },
    /// Clusters whose signs are flipped, and the cluster-robust standard error.
    Flips { se: f64, clusters: u64 },
    /// Two samples, each with its own spread; of logarithms if the difference is a ratio.
    Samples(Side, Side),
    /// Two shares: their common rate and both sizes. Does not depend on the order of the arms.
    Shares { rate: f64, more: u64, fewer: u64 },
}

impl Precision {
    /// Returns the smallest difference that the deciding test detects with the given power, on the scale of the difference, or `None` if
    /// the test can detect none.
    pub fn detectable(&self, scale: Scale, aim: Aim) -> Option<f64> {
        let found = match self {
            Self::Discordant { share, n } => stats::detectable_mcnemar(*n, *share, aim),
            Self::Error { se, degrees } => stats::detectable_t(*se, *degrees, aim),
            // Flipping signs has the power of the t test on the clusters, down to its smallest possible p-value.
            Self::Flips { se, clusters } if smallest_flip(*clusters) < aim.alpha => stats::detectable_t(*se, *clusters as f64 - 1.0, aim),
            Self::Flips { .. } => return None,
            Self::Samples(one, other) => stats::detectable_welch(*one, *other, aim),
            Self::Shares { rate, more, fewer } => stats::detectable_proportions(*rate, *more, *fewer, aim),
        };
        let Ok(Detectable::Difference(smallest)) = found else { return None };
        match scale {
            Scale::Share => Some(smallest.min(1.0)),
            Scale::Unit => Some(smallest),
            Scale::Ratio => Some(smallest.exp()).filter(|ratio| ratio.is_finite()),
        }
    }

    /// Returns a value that sorts precisions: roughly the standard error.
    pub fn rough(&self) -> f64 {
        match self {
            Self::Discordant { share, n } => (share / *n as f64).sqrt(),
            Self::Error { se, .. } | Self::Flips { se, .. } => *se,
            Self::Samples(one, other) => (one.sd * one.sd / one.n as f64 + other.sd * other.sd / other.n as f64).sqrt(),
            Self::Shares { rate, more, fewer } => (rate * (1.0 - rate) * (1.0 / *more as f64 + 1.0 / *fewer as f64)).sqrt(),
        }
    }
}
