//! The result of one pair, before the family of pairs is known.

use crate::stats::{self, Aim, ArmRunsSummary, Detectable, Interval};

use super::comparison::{Difference, Levels, Needed, Record, Scale, Sizes, Test, Variation};
use super::labelled::JudgeFigure;
use super::policy::{Design, MIN_ITEMS, MIN_PAIRED_T, MIN_RUNS};
use super::secondary_effects::{Detail, VarianceComponents};
use super::verdict::{DataSupport, Incomparable, Missing, Obstacle};

/// The result of one pair of arms on one metric.
#[derive(Clone)]
pub(super) struct PairFinding {
    pub design: Design,
    pub support: DataSupport,
    pub difference: Option<Difference>,
    pub levels: Option<Levels>,
    pub test: Option<Test>,
    pub sizes: Sizes,
    pub variation: Option<Variation>,
    /// The difference by the judge alone, if people's labels correct it.
    pub judge: Option<JudgeFigure>,
    pub record: Option<Record>,
    pub bounds: Option<Interval>,
    pub precision: Option<DataPrecision>,
    pub plan: Option<PowerPlan>,
    pub detail: Detail,
    /// The sources of variance of the items' differences, if they can be separated.
    pub parts: Option<VarianceComponents>,
    /// The sums of the differences of each cluster, for joint tests of a family.
    pub sums: Vec<f64>,
    /// The result of the same data over clusters, if that is a different question.
    pub beyond: Option<Box<PairFinding>>,
}

impl PairFinding {
    pub fn new(design: Design, support: DataSupport, sizes: Sizes) -> Self {
        Self {
            design,
            support,
            difference: None,
            levels: None,
            test: None,
            sizes,
            variation: None,
            judge: None,
            record: None,
            bounds: None,
            precision: None,
            plan: None,
            detail: Detail::default(),
            parts: None,
            sums: Vec::new(),
            beyond: None,
        }
    }

    pub fn not_comparable(design: Design, reason: Incomparable, sizes: Sizes) -> Self {
        Self::new(design, DataSupport::NotComparable(reason), sizes)
    }

    pub fn without_data(design: Design, reason: Missing, sizes: Sizes) -> Self {
        Self::new(design, DataSupport::NoData(reason), sizes)
    }

    /// Sets the p-value: for the family, or only for display if the data are too thin.
    pub fn set_p_value(&mut self, test: Test, p: f64, obstacle: Option<Obstacle>) {
        self.test = Some(test);
        self.support = match obstacle {
            Some(obstacle) => DataSupport::Thin {
                obstacle,
                p: Some(p),
            },
            None => DataSupport::Tested { p, doubt: None },
        };
    }

    /// Forbids a winner, whatever the p-value.
    pub fn forbid_winner(&mut self, obstacle: Obstacle) {
        if let DataSupport::Tested { doubt, .. } = &mut self.support {
            *doubt = Some(obstacle);
        }
    }

    /// Takes the verdict from the finding: it only describes what was seen, for this reason.
    pub fn set_descriptive(&mut self, obstacle: Obstacle) {
        self.support = DataSupport::Thin { obstacle, p: None };
        (self.test, self.plan, self.parts, self.beyond, self.sums) =
            (None, None, None, None, Vec::new());
        self.detail = Detail::default();
        self.difference = self.difference.map(|difference| Difference {
            interval: None,
            ..difference
        });
    }

    /// Makes the finding a fixed result: no run of either arm varied, so more runs change nothing, and no test or interval can say more than
    /// the figures do. Only of equal figures an interval says how equal they are.
    pub fn set_fixed(&mut self) {
        self.support = DataSupport::Fixed;
        (self.test, self.plan, self.detail) = (None, None, Detail::default());
        self.difference = self.difference.map(|found| Difference {
            interval: found.interval.filter(|_| found.signed_distance() == 0.0),
            ..found
        });
    }

    /// Marks the finding as censored: runs or outcomes hit a limit, so the time they would have taken is unknown and the mean over the
    /// others is not the arm's.
    pub fn mark_censored(&mut self) {
        self.support = DataSupport::Thin {
            obstacle: Obstacle::Censored,
            p: self.p_value(),
        };
    }

    /// Says that both arms have a figure nevertheless, if there are no data for a test.
    pub fn note_published(&mut self, have_figures: bool) {
        if have_figures && matches!(self.support, DataSupport::NoData(Missing::NotMeasured)) {
            self.support = DataSupport::NoData(Missing::NoCounts);
        }
    }

    /// Returns the p-value, deciding or only shown.
    pub fn p_value(&self) -> Option<f64> {
        match self.support {
            DataSupport::Tested { p, .. } => Some(p),
            DataSupport::Thin { p, .. } => p,
            DataSupport::NotComparable(_) | DataSupport::NoData(_) | DataSupport::Fixed => None,
        }
    }

    /// Returns the p-value that takes part in the family.
    pub fn family_p_value(&self) -> Option<f64> {
        match self.support {
            DataSupport::Tested { p, .. } => Some(p),
            DataSupport::Thin { .. }
            | DataSupport::NotComparable(_)
            | DataSupport::NoData(_)
            | DataSupport::Fixed => None,
        }
    }

    /// Returns the smallest p-value that flipping signs can give with this number of units, or `None` for other tests.
    pub fn smallest_flip_p(&self) -> Option<f64> {
        let units = match self.test? {
            Test::McnemarExact | Test::SignFlip => self.sizes.pairs?,
            Test::ClusterSignFlip => self.sizes.clusters?,
            Test::FisherExact
            | Test::PairedT
            | Test::TwoWay
            | Test::EachRunAlone
            | Test::ClusterT
            | Test::PooledTotals
            | Test::Welch
            | Test::WelchOnLogs
            | Test::DeltaOnLogs
            | Test::Permutation
            | Test::PredictionPowered
            | Test::PublishedErrors => {
                return None;
            }
        };
        Some(smallest_flip(units))
    }

    /// Sets the number of items of each arm, of which only those with the same text for both are compared.
    #[must_use]
    pub fn restrict_to_same_texts(mut self, first: Option<u64>, second: Option<u64>) -> Self {
        if let (Some(_), Some(first), Some(second)) = (self.sizes.pairs, first, second) {
            (self.sizes.first, self.sizes.second) = (first, second);
        }
        let is_nothing = match self.support {
            DataSupport::NotComparable(reason) => matches!(
                reason,
                Incomparable::DisjointItems | Incomparable::OtherEvaluator
            ),
            // Both have outcomes, but none on an item with the same text for both.
            DataSupport::NoData(Missing::NotMeasured) => first
                .zip(second)
                .is_some_and(|(first, second)| first > 0 && second > 0),
            DataSupport::NoData(Missing::NotCompleted | Missing::NoCounts)
            | DataSupport::Thin { .. }
            | DataSupport::Tested { .. }
            | DataSupport::Fixed => false,
        };
        if is_nothing {
            self.support = DataSupport::NotComparable(Incomparable::OtherTexts);
        }
        self
    }

    pub fn detectable_difference(&self, aim: Aim) -> Option<f64> {
        self.precision
            .as_ref()?
            .detectable_difference(self.difference?.scale, aim)
    }
}

/// What the deciding test would see with other numbers of units: the rates, differences and spreads as they are in the data.
#[derive(Clone, Copy)]
pub(super) enum PowerPlan {
    /// Items with one outcome per arm: the share on which the arms differ, and the difference of their rates.
    Discordant { share: f64, delta: f64 },
    /// Differences of items or of clusters, with their standard deviation.
    Mean {
        sd: f64,
        delta: f64,
        of: &'static str,
    },
    /// Items tried in several runs: what `items` items and `runs` runs per arm add to the squared standard error of the difference.
    ItemsAndRuns {
        var_items: f64,
        var_runs: f64,
        degrees: f64,
        items: u64,
        runs: u64,
        delta: f64,
    },
    /// Runs of each arm, with their standard deviations.
    Runs { sds: [f64; 2], delta: f64 },
    /// Two rates over items that are not paired.
    Shares { rates: [f64; 2] },
}

/// A plan for more units is no plan.
const MAX_PLANNED: u64 = 1 << 20;

impl PowerPlan {
    /// Returns the plan for another true difference of shares. The arms then differ on at least as many items.
    #[must_use]
    pub fn for_difference(self, delta: f64) -> Self {
        match self {
            Self::Discordant { share, .. } => Self::Discordant {
                share: share.max(delta),
                delta,
            },
            Self::Mean { sd, of, .. } => Self::Mean { sd, delta, of },
            Self::ItemsAndRuns {
                var_items,
                var_runs,
                degrees,
                items,
                runs,
                ..
            } => Self::ItemsAndRuns {
                var_items,
                var_runs,
                degrees,
                items,
                runs,
                delta,
            },
            Self::Runs { sds, .. } => Self::Runs { sds, delta },
            Self::Shares { rates } => {
                let middle =
                    f64::midpoint(rates[0], rates[1]).clamp(delta / 2.0, 1.0 - delta / 2.0);
                Self::Shares {
                    rates: [middle + delta / 2.0, middle - delta / 2.0],
                }
            }
        }
    }

    /// Returns the units with which the deciding test has the power that is aimed at, by that test's own power and not by normal quantiles:
    /// few items that differ, few clusters and few runs need more than these say. `None` if no number within reason is enough.
    pub fn needed_units(&self, aim: Aim) -> Option<Needed> {
        let (found, least, of) = match *self {
            Self::Discordant { share, delta } => (
                stats::pairs_needed(share, delta.abs(), aim, MAX_PLANNED),
                MIN_ITEMS,
                "items",
            ),
            // Below ten items signs are flipped, which has less power than the t test.
            Self::Mean {
                sd,
                delta,
                of: "items",
            } => (
                stats::units_needed(sd, delta, aim, MAX_PLANNED),
                MIN_PAIRED_T,
                "items",
            ),
            Self::Mean { sd, delta, of } => (
                stats::units_needed(sd, delta, aim, MAX_PLANNED),
                MIN_ITEMS,
                of,
            ),
            Self::ItemsAndRuns {
                var_items,
                var_runs,
                degrees,
                items,
                runs,
                delta,
            } => {
                let power = |variance: f64, degrees: f64| {
                    stats::power_t(delta.abs() / variance.sqrt(), degrees, aim.alpha)
                };
                let over_items = |n: u64| {
                    let degrees = if var_runs > 0.0 {
                        degrees
                    } else {
                        (n as f64 - 1.0).max(1.0)
                    };
                    power(var_items * items as f64 / n as f64 + var_runs, degrees)
                };
                match stats::units_for(MIN_ITEMS as u64, MAX_PLANNED, aim, over_items) {
                    // Items do not average out what moves all of a run: more runs do.
                    Ok(None) => {
                        let over_runs = |n: u64| {
                            let times = n as f64 / runs as f64;
                            power(var_items + var_runs / times, degrees * times)
                        };
                        (
                            stats::units_for(runs, MAX_PLANNED, aim, over_runs),
                            MIN_RUNS,
                            "runs",
                        )
                    }
                    found => (found, MIN_ITEMS, "items"),
                }
            }
            Self::Runs { sds, delta } => (
                stats::runs_needed(sds, delta.abs(), aim, MAX_PLANNED),
                MIN_RUNS,
                "runs",
            ),
            Self::Shares {
                rates: [one, other],
            } => (
                stats::items_needed(one, other, aim, MAX_PLANNED),
                MIN_ITEMS,
                "items",
            ),
        };
        found.ok().flatten().map(|n| Needed {
            n: n.max(least as u64),
            of,
        })
    }

    /// Returns the same by formulas, for boards of so many pairs that the power of each would take seconds.
    pub fn needed_units_by_normal(&self, aim: Aim) -> Option<Needed> {
        let at_least = |n: u64, least: usize, of| {
            Some(Needed {
                n: n.max(least as u64),
                of,
            })
        };
        // Exact tests are that much worse than normal ones, which ignore that counts are whole (Fleiss 1981).
        let whole_counts = |n: u64, times: f64, delta: f64| {
            Some(n.saturating_add(stats::round_up_units(times / delta.abs()).ok()?))
        };
        match *self {
            Self::Discordant { share, delta } => at_least(
                whole_counts(stats::n_mcnemar(share, delta.abs(), aim).ok()?, 1.0, delta)?,
                MIN_ITEMS,
                "items",
            ),
            Self::Shares {
                rates: [one, other],
            } => at_least(
                whole_counts(
                    stats::n_two_proportions(one, other, aim).ok()?,
                    2.0,
                    one - other,
                )?,
                MIN_ITEMS,
                "items",
            ),
            Self::Mean { sd, delta, of } => at_least(
                stats::n_paired(sd, delta, aim)
                    .ok()?
                    .saturating_add(UNITS_FOR_T),
                MIN_PAIRED_T,
                of,
            ),
            Self::ItemsAndRuns {
                var_items,
                var_runs,
                items,
                delta,
                ..
            } => {
                // The largest squared standard error that finds the difference.
                let most = delta * delta / stats::n_paired(1.0, 1.0, aim).ok()? as f64;
                let n = stats::round_up_units(var_items * items as f64 / (most - var_runs))
                    .ok()
                    .filter(|_| most > var_runs)?;
                at_least(n.saturating_add(UNITS_FOR_T), MIN_PAIRED_T, "items")
            }
            Self::Runs {
                sds: [one, other],
                delta,
            } => at_least(
                stats::n_welch(one, other, delta, aim).ok()?,
                MIN_RUNS,
                "runs",
            ),
        }
    }
}

/// Units that quantiles of t ask for beyond those of the normal distribution, at the usual levels.
const UNITS_FOR_T: u64 = 2;

/// Returns the smallest two-sided p-value of flipping this number of signs.
pub(super) fn smallest_flip(units: u64) -> f64 {
    0.5f64.powi(i32::try_from(units).unwrap_or(i32::MAX).saturating_sub(1))
}

/// The precision of the data, which determines the detectable difference.
#[derive(Clone, Copy)]
pub(super) enum DataPrecision {
    /// `n` items with one outcome each per arm, of which a share differs between the arms.
    Discordant { share: f64, n: u64 },
    /// A standard error with its degrees of freedom.
    Error { se: f64, degrees: f64 },
    /// Clusters whose signs are flipped, and the cluster-robust standard error.
    Flips { se: f64, clusters: u64 },
    /// Two samples, each with its own spread; of logarithms if the difference is a ratio.
    Samples(ArmRunsSummary, ArmRunsSummary),
    /// Two shares: their common rate and both sizes. Does not depend on the order of the arms.
    Shares { rate: f64, more: u64, fewer: u64 },
}

impl DataPrecision {
    /// Returns the smallest difference that the deciding test detects with the given power, on the scale of the difference, or `None` if
    /// the test can detect none.
    pub fn detectable_difference(&self, scale: Scale, aim: Aim) -> Option<f64> {
        let found = match self {
            Self::Discordant { share, n } => stats::detectable_mcnemar(*n, *share, aim),
            Self::Error { se, degrees } => stats::detectable_t(*se, *degrees, aim),
            // Flipping signs has the power of the t test on the clusters, down to its smallest possible p-value.
            Self::Flips { se, clusters } if smallest_flip(*clusters) < aim.alpha => {
                stats::detectable_t(*se, *clusters as f64 - 1.0, aim)
            }
            Self::Flips { .. } => return None,
            Self::Samples(one, other) => stats::detectable_welch(*one, *other, aim),
            Self::Shares { rate, more, fewer } => {
                stats::detectable_proportions(*rate, *more, *fewer, aim)
            }
        };
        let Ok(Detectable::Difference(smallest)) = found else {
            return None;
        };
        match scale {
            Scale::Share => Some(smallest.min(1.0)),
            Scale::Unit => Some(smallest),
            Scale::Ratio => Some(smallest.exp()).filter(|ratio| ratio.is_finite()),
        }
    }

    /// Returns a value that sorts precisions: roughly the standard error.
    pub fn rough_error(&self) -> f64 {
        match self {
            Self::Discordant { share, n } => (share / *n as f64).sqrt(),
            Self::Error { se, .. } | Self::Flips { se, .. } => *se,
            Self::Samples(one, other) => {
                (one.sd * one.sd / one.n as f64 + other.sd * other.sd / other.n as f64).sqrt()
            }
            Self::Shares { rate, more, fewer } => {
                (rate * (1.0 - rate) * (1.0 / *more as f64 + 1.0 / *fewer as f64)).sqrt()
            }
        }
    }
}
