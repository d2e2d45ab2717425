//! What a pair's data give before the family of pairs is known.

use crate::stats::{self, Aim, ClusterSpread, Detectable, Interval, Side};

use super::comparison::{Difference, Needed, Record, Scale, Sizes, Test, Variation};
use super::detail::{Detail, Parts};
use super::policy::Design;
use super::seed::resampling;
use super::verdict::{Incomparable, Missing, Obstacle, Support};

/// What one pair of arms shows on one metric.
#[derive(Clone)]
pub(super) struct Finding {
    pub design: Design,
    pub support: Support,
    pub difference: Option<Difference>,
    pub test: Option<Test>,
    pub sizes: Sizes,
    pub variation: Option<Variation>,
    pub record: Option<Record>,
    pub bounds: Option<Interval>,
    pub precision: Option<Precision>,
    pub needed: Option<Needed>,
    pub detail: Detail,
    /// What the items' differences vary by, where it can be told.
    pub parts: Option<Parts>,
    /// The sums of the differences of each cluster, for tests that a family shares.
    pub sums: Vec<f64>,
    /// The same data over clusters, where that is another question.
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

    /// Takes a p-value for the family, or only for show where the data are too thin.
    pub fn tested(&mut self, test: Test, p: f64, obstacle: Option<Obstacle>) {
        self.test = Some(test);
        self.support = match obstacle {
            Some(obstacle) => Support::Thin { obstacle, p: Some(p) },
            None => Support::Tested { p, doubt: None },
        };
    }

    /// Forbids a winner whatever the p-value is.
    pub fn doubt(&mut self, obstacle: Obstacle) {
        if let Support::Tested { doubt, .. } = &mut self.support {
            *doubt = Some(obstacle);
        }
    }

    /// The p-value, deciding or shown.
    pub fn p(&self) -> Option<f64> {
        match self.support {
            Support::Tested { p, .. } => Some(p),
            Support::Thin { p, .. } => p,
            Support::NotComparable(_) | Support::NoData(_) | Support::Fixed => None,
        }
    }

    /// The p-value that takes part in the family.
    pub fn counted_p(&self) -> Option<f64> {
        match self.support {
            Support::Tested { p, .. } => Some(p),
            Support::Thin { .. } | Support::NotComparable(_) | Support::NoData(_) | Support::Fixed => None,
        }
    }

    /// The smallest p-value that flipping the signs of so many units can give; absent where the test is not of that kind.
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
            | Test::Permutation => {
                return None;
            }
        };
        Some(0.5f64.powi(i32::try_from(units).unwrap_or(i32::MAX).saturating_sub(1)))
    }

    /// Says how many items each arm has, of which this is about those that were one text for both.
    #[must_use]
    pub fn of_same_texts(mut self, first: Option<u64>, second: Option<u64>) -> Self {
        if let (Some(_), Some(first), Some(second)) = (self.sizes.pairs, first, second) {
            (self.sizes.first, self.sizes.second) = (first, second);
        }
        if matches!(self.support, Support::NotComparable(Incomparable::DisjointItems | Incomparable::OtherEvaluator)) {
            self.support = Support::NotComparable(Incomparable::OtherTexts);
        }
        self
    }

    pub fn detectable(&self, aim: Aim) -> Option<f64> {
        self.precision.as_ref()?.detectable(self.difference?.scale, aim)
    }
}

/// What decides how small a difference the data can show.
#[derive(Clone)]
pub(super) enum Precision {
    /// One outcome each of so many items, of which a share fell differently for the two arms.
    Discordant { share: f64, n: u64 },
    /// A standard error with its degrees of freedom.
    Error { se: f64, degrees: f64 },
    /// Clusters of these sizes, whose signs are flipped, and how their differences spread.
    Flips { spread: ClusterSpread, sizes: Vec<u64> },
    /// Two samples with a spread of their own; of logarithms where the difference is a ratio.
    Samples(Side, Side),
    /// Two shares: what they are around, and the sizes of both. The same whichever arm comes first.
    Shares { rate: f64, more: u64, fewer: u64 },
}

impl Precision {
    /// The smallest difference that the deciding test shows with the wished power, on the scale of the difference; nothing where the test
    /// can show none.
    pub fn detectable(&self, scale: Scale, aim: Aim) -> Option<f64> {
        let found = match self {
            Self::Discordant { share, n } => stats::detectable_mcnemar(*n, *share, aim),
            Self::Error { se, degrees } => stats::detectable_t(*se, *degrees, aim),
            Self::Flips { spread, sizes } => {
                stats::detectable_flips(sizes, *spread, aim, resampling(sizes.iter().map(|size| *size as f64)))
            }
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

    /// A figure that orders precisions: roughly the standard error.
    pub fn rough(&self) -> f64 {
        match self {
            Self::Discordant { share, n } => (share / *n as f64).sqrt(),
            Self::Error { se, .. } => *se,
            Self::Flips { spread, sizes } => {
                let items: u64 = sizes.iter().sum();
                let squares: f64 = sizes.iter().map(|size| (*size as f64).powi(2)).sum();
                (spread.within / items as f64 + spread.between * squares / (items as f64).powi(2)).sqrt()
            }
            Self::Samples(one, other) => (one.sd * one.sd / one.n as f64 + other.sd * other.sd / other.n as f64).sqrt(),
            Self::Shares { rate, more, fewer } => (rate * (1.0 - rate) * (1.0 / *more as f64 + 1.0 / *fewer as f64)).sqrt(),
        }
    }
}
