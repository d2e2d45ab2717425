//! What to do about two arms, from quality, cost and time. Symmetric: no arm is favoured by its name or place.

use schemars::JsonSchema;
use serde::Serialize;

use crate::domain::{Direction, Metric, MetricKind};
use crate::stats::Interval;

use super::comparability::Comparability;
use super::comparison::{Needed, PairEvidence, Scale};
use super::labelled::MIN_LABELS;
use super::mismatch::Grade;
use super::policy::{Design, MIN_ITEMS, MIN_RUNS, Policy};
use super::verdict::{Incomparable, Missing, Obstacle, PairVerdict};

/// Default margin of quality: two percentage points. Closer arms count as equally good.
pub const DEFAULT_MARGIN: f64 = 0.02;
/// Default relative margin of costs and times: a tenth. Closer amounts count as equal.
pub const DEFAULT_PRICE_MARGIN: f64 = 0.1;
/// An arm that may be worse by more margins of quality than this is never shipped, however much it saves.
pub const MAX_MARGINS_RISKED: f64 = 5.0;
/// A decision may ask for at most this many times the present data.
const MAX_TIMES: u64 = 20;
/// A decision may ask for at most this many units.
const MAX_UNITS: u64 = 10_000;

/// What to do about two arms.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(tag = "action", rename_all = "snake_case")]
pub enum Decision {
    /// Use this arm.
    Ship {
        arm: usize,
        because: Because,
        /// What it may cost more.
        #[serde(skip_serializing_if = "Option::is_none")]
        open_cost: Option<OpenCost>,
    },
    /// The better arm costs more; the reader must say whether it is worth it.
    ChooseByPrice { better: usize },
    /// Neither arm is better, cheaper or faster: keep the one in use.
    KeepEither {
        /// What one of them may cost more.
        #[serde(skip_serializing_if = "Option::is_none")]
        open_cost: Option<OpenCost>,
    },
    /// This much more data would probably decide.
    Measure {
        more: Needed,
        usd: Option<f64>,
        seconds: Option<f64>,
    },
    /// No realistic amount of data from this suite decides.
    CannotSettle { why: Why },
}

/// A cost that is higher by more than its margin in these data, without a verdict: whoever reads the decision has to know it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct OpenCost {
    /// The arm that costs more.
    pub arm: usize,
    /// Its cost over the other arm's.
    pub ratio: f64,
    /// The adjusted p-value. Absent if the data are too thin for a test.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub p: Option<f64>,
}

/// Why an arm is shipped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Because {
    /// Better, and not known to cost more.
    Better,
    /// Better and cheaper.
    BetterAndCheaper,
    /// Not worse by more than the margin, and cheaper.
    SameAndCheaper,
    /// Cheaper, and the possible loss of quality is worth less than the saving: one margin of quality for each margin of cost.
    SavesMoreThanItRisks,
    /// Not worse by more than the margin, about equally expensive, and faster.
    SameAndFaster,
}

/// Why a suite cannot decide.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Why {
    /// The arms were not measured alike.
    Unlike,
    /// An arm has no figure.
    NoData,
    /// No run varies and all are equal: this suite cannot separate the arms.
    Equal,
    /// More units are needed than anybody would run.
    TooFewUnits,
}

/// The price of one more unit, for both arms together.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct UnitPrice {
    pub usd: Option<f64>,
    pub seconds: Option<f64>,
}

/// The inputs of a decision about a pair.
#[derive(Clone, Copy)]
pub struct DecisionInputs<'a> {
    pub metric: &'a Metric,
    pub quality: &'a PairEvidence,
    pub cost: Option<&'a PairEvidence>,
    pub time: Option<&'a PairEvidence>,
    pub comparability: Option<&'a Comparability>,
    /// See [`quality_margin`].
    pub margin: Option<f64>,
    /// The price of one more item; then of one more run.
    pub item: UnitPrice,
    pub run: UnitPrice,
}

impl Decision {
    /// Decides about a pair of arms.
    pub fn new(known: &DecisionInputs<'_>) -> Self {
        let quality = known.quality;
        match quality.verdict {
            PairVerdict::NotComparable {
                reason: Incomparable::DirectionUnknown,
            }
            | PairVerdict::NoData {
                reason: Missing::NotMeasured | Missing::NotCompleted,
            } => {
                return Self::CannotSettle { why: Why::NoData };
            }
            PairVerdict::NotComparable { .. } => return Self::CannotSettle { why: Why::Unlike },
            _ if known
                .comparability
                .is_some_and(|pair| pair.grade >= Grade::E) =>
            {
                return Self::CannotSettle { why: Why::Unlike };
            }
            _ => {}
        }
        let better = quality.verdict.better_place();
        let cheaper = known.cost.and_then(decided_cheaper_arm);
        let faster = known.time.and_then(decided_cheaper_arm);
        let open_cost = known.cost.and_then(OpenCost::from_evidence);
        let ship = |arm: usize, because| Self::Ship {
            arm,
            because,
            open_cost: open_cost.filter(|cost| cost.arm == arm),
        };
        if let Some(place) = better {
            let arm = quality.arm_at(place);
            return match cheaper {
                Some(other) if other == arm => ship(arm, Because::BetterAndCheaper),
                Some(_) => Self::ChooseByPrice { better: arm },
                None => ship(arm, Because::Better),
            };
        }
        let no_worse = |arm: usize| {
            known
                .margin
                .is_some_and(|margin| is_no_worse(known.metric, &quality.seen_from(arm), margin))
        };
        if let Some(arm) = cheaper.filter(|arm| no_worse(*arm)) {
            return ship(arm, Because::SameAndCheaper);
        }
        if let Some(arm) = cheaper.filter(|arm| known.is_worth_its_risk(*arm)) {
            return ship(arm, Because::SavesMoreThanItRisks);
        }
        let is_equal = matches!(quality.verdict, PairVerdict::Equivalent)
            || (no_worse(quality.first) && no_worse(quality.second));
        if let Some(arm) = faster.filter(|arm| cheaper.is_none() && no_worse(*arm)) {
            return ship(arm, Because::SameAndFaster);
        }
        if is_equal {
            return Self::KeepEither { open_cost };
        }
        if quality.verdict == PairVerdict::Tie
            && data_shortage(quality).is_none()
            && quality.needed.is_none()
        {
            return Self::CannotSettle { why: Why::Equal };
        }
        plan_measurement(known, quality)
    }
}

impl Decision {
    /// Renumbers the decision's arm for a table of two of the arms, where `one` is 0 and `other` is 1.
    #[must_use]
    pub fn renumber_for_pair(self, one: usize, other: usize) -> Self {
        let place = |arm: usize| usize::from(arm == other && arm != one);
        let moved = |cost: Option<OpenCost>| {
            cost.map(|cost| OpenCost {
                arm: place(cost.arm),
                ..cost
            })
        };
        match self {
            Self::Ship {
                arm,
                because,
                open_cost,
            } => Self::Ship {
                arm: place(arm),
                because,
                open_cost: moved(open_cost),
            },
            Self::ChooseByPrice { better } => Self::ChooseByPrice {
                better: place(better),
            },
            Self::KeepEither { open_cost } => Self::KeepEither {
                open_cost: moved(open_cost),
            },
            same @ (Self::Measure { .. } | Self::CannotSettle { .. }) => same,
        }
    }
}

impl OpenCost {
    /// Returns the open difference of two arms' costs, if it is larger than the margin.
    fn from_evidence(cost: &PairEvidence) -> Option<Self> {
        let found = cost
            .difference
            .filter(|found| found.scale == Scale::Ratio && cost.verdict.is_open())?;
        let (arm, ratio) = if found.value > 1.0 {
            (cost.first, found.value)
        } else {
            (cost.second, 1.0 / found.value)
        };
        let margin = cost.margin.unwrap_or(DEFAULT_PRICE_MARGIN);
        (ratio > 1.0 + margin).then_some(Self {
            arm,
            ratio,
            p: cost.p_adjusted,
        })
    }
}

impl DecisionInputs<'_> {
    /// Returns whether the cheaper arm's saving is worth its possible loss of quality. The margins are the exchange rate: one margin of
    /// cost pays for one margin of quality. An arm that measures worse by more than the margin is never worth the risk.
    fn is_worth_its_risk(&self, arm: usize) -> bool {
        let Some((margin, cost)) = self.margin.zip(self.cost) else {
            return false;
        };
        let seen = self.quality.seen_from(arm);
        let sign = if self.metric.direction == Direction::Down {
            -1.0
        } else {
            1.0
        };
        let looks_alike = seen
            .difference
            .is_some_and(|found| sign * found.value >= -margin);
        let price_margin = cost.margin.unwrap_or(DEFAULT_PRICE_MARGIN);
        let margins = relative_saving(cost, arm)
            .map_or(0.0, |saved| (saved / price_margin).min(MAX_MARGINS_RISKED));
        looks_alike && is_no_worse(self.metric, &seen, margin * margins)
    }
}

/// Returns the share of the other arm's amount that an arm saves, if it is known.
fn relative_saving(price: &PairEvidence, arm: usize) -> Option<f64> {
    price
        .seen_from(arm)
        .difference
        .filter(|found| found.scale == Scale::Ratio)
        .map(|found| 1.0 - found.value)
}

/// Returns the arm that is cheaper or faster by more than the margin: beyond chance, or in every run.
fn decided_cheaper_arm(price: &PairEvidence) -> Option<usize> {
    let arm = price.better_arm()?;
    let margin = price.margin.unwrap_or(DEFAULT_PRICE_MARGIN);
    let saved = relative_saving(price, arm)?;
    (1.0 - saved <= 1.0 / (1.0 + margin)).then_some(arm)
}

/// Returns whether the interval shows that the first arm is not worse than the other by more than the margin.
fn is_no_worse(metric: &Metric, seen: &PairEvidence, margin: f64) -> bool {
    let Some(interval) = seen.difference.and_then(|found| found.interval) else {
        return false;
    };
    if matches!(
        seen.verdict.missing_evidence(),
        Some(Obstacle::FewRuns | Obstacle::FewItems | Obstacle::FewClusters | Obstacle::Censored)
    ) {
        return false;
    }
    let worst = |ends: Interval| {
        if metric.direction == Direction::Down {
            ends.high <= margin
        } else {
            ends.low >= -margin
        }
    };
    worst(interval) && seen.bounds.is_none_or(worst)
}

/// Returns the largest unimportant difference of a metric, as declared or by default. Rates have a natural scale, other scores do not.
pub(super) fn quality_margin(metric: &Metric, policy: &Policy) -> Option<f64> {
    policy
        .margin_of_metric(metric)
        .or_else(|| (metric.kind == MetricKind::Rate).then_some(DEFAULT_MARGIN))
}

/// Returns what the pair has too few of, whatever its verdict: exactly equal figures of one run each are no evidence of equality.
fn data_shortage(quality: &PairEvidence) -> Option<Obstacle> {
    let has_few = |least: usize| quality.unit_count() < least as u64;
    quality.verdict.missing_evidence().or(match quality.design {
        Design::Runs | Design::Counts if has_few(MIN_RUNS) => Some(Obstacle::FewRuns),
        Design::Items if has_few(MIN_ITEMS) => Some(Obstacle::FewItems),
        Design::Items | Design::Clusters | Design::Runs | Design::Counts => None,
    })
}

/// Returns the labels that an open pair of a judge's figures lacks. They cost no run, and narrow the interval first.
fn missing_labels(quality: &PairEvidence) -> Option<Needed> {
    if quality.verdict.missing_evidence() == Some(Obstacle::Unlabelled) {
        return Some(Needed {
            n: MIN_LABELS,
            of: "labels",
        });
    }
    let labels = quality.judge?.labels;
    let items = quality.sizes.pairs?;
    (labels > 0 && labels < items).then(|| Needed {
        n: items - labels,
        of: "labels",
    })
}

/// Plans the additional data for an open pair.
fn plan_measurement(known: &DecisionInputs<'_>, quality: &PairEvidence) -> Decision {
    if let Some(more) = missing_labels(quality) {
        return Decision::Measure {
            more,
            usd: None,
            seconds: None,
        };
    }
    let least = match data_shortage(quality) {
        Some(Obstacle::FewRuns) => Some(Needed {
            n: MIN_RUNS as u64,
            of: "runs",
        }),
        Some(Obstacle::FewItems) => Some(Needed {
            n: MIN_ITEMS as u64,
            of: "items",
        }),
        Some(Obstacle::FewClusters) => Some(Needed {
            n: MIN_ITEMS as u64,
            of: "clusters",
        }),
        Some(
            Obstacle::OutOfReach
            | Obstacle::MissingOutcomes
            | Obstacle::Censored
            | Obstacle::TotalDisagrees
            | Obstacle::IntervalIncludesZero
            | Obstacle::Unlabelled,
        )
        | None => None,
    };
    let needed = match (least, quality.needed) {
        (Some(least), Some(needed)) if needed.of == least.of => Some(Needed {
            n: needed.n.max(least.n),
            ..least
        }),
        (least, needed) => least.or(needed),
    };
    let has = |of: &str| quality.sizes.count_of(of);
    let is_possible = |needed: &Needed| {
        needed.n > has(needed.of) && needed.n <= (MAX_TIMES * has(needed.of).max(1)).min(MAX_UNITS)
    };
    let Some(needed) = needed.filter(is_possible) else {
        return Decision::CannotSettle {
            why: Why::TooFewUnits,
        };
    };
    let more = Needed {
        n: needed.n - has(needed.of),
        ..needed
    };
    let price = match needed.of {
        "runs" => known.run,
        "items" => known.item,
        _ => UnitPrice::default(),
    };
    let times = |one: Option<f64>| one.map(|one| one * more.n as f64);
    Decision::Measure {
        more,
        usd: times(price.usd),
        seconds: times(price.seconds),
    }
}
