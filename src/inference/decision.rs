//! What to do about two arms, from quality, cost and time together. Symmetric: no arm is favoured by its name or place.

use schemars::JsonSchema;
use serde::Serialize;

use crate::domain::{Direction, Metric, MetricKind};
use crate::stats::Interval;

use super::comparability::Comparability;
use super::comparison::{Needed, PairEvidence, Scale};
use super::mismatch::Grade;
use super::policy::{Design, MIN_ITEMS, MIN_RUNS, Policy};
use super::verdict::{Incomparable, Missing, Obstacle, Verdict};

/// Two arms whose qualities are closer than this are taken for equally good, where the project declares no margin: two percentage points.
pub const DEFAULT_MARGIN: f64 = 0.02;
/// Costs and times closer than this are taken for the same, where the project declares no margin: a tenth.
pub const DEFAULT_PRICE_MARGIN: f64 = 0.1;
/// However much an arm saves, it is not shipped while its quality may lack more margins than this.
pub const MOST_MARGINS_RISKED: f64 = 5.0;
/// Beyond so many times what there is, nobody measures more.
const MOST_TIMES: u64 = 20;
/// Nor beyond so many units.
const MOST_UNITS: u64 = 10_000;

/// What to do about two arms.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(tag = "action", rename_all = "snake_case")]
pub enum Decision {
    /// Take this arm.
    Ship { arm: usize, because: Because },
    /// The better arm costs more: whether it is worth it is for the reader to say.
    ChooseByPrice { better: usize },
    /// Neither is better, cheaper or faster: whichever is in use stays.
    KeepEither,
    /// So much more would probably settle it.
    Measure { more: Needed, usd: Option<f64>, seconds: Option<f64> },
    /// No amount of this suite that anybody would run settles it.
    CannotSettle { why: Why },
}

/// Why an arm is shipped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Because {
    /// Better, and not known to cost more.
    Better,
    /// Better and cheaper.
    BetterAndCheaper,
    /// No worse than the other by more than the margin, and cheaper.
    SameAndCheaper,
    /// Cheaper, and what its quality may lack is worth less than what it saves: a margin of quality for each margin of cost.
    SavesMoreThanItRisks,
    /// No worse than the other by more than the margin, costs about as much, and faster.
    SameAndFaster,
}

/// What keeps a suite from settling it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Why {
    /// The arms were not measured alike.
    Unlike,
    /// An arm has no figure.
    NoData,
    /// No run varies and all are equal: this suite does not tell the arms apart.
    Equal,
    /// More units are needed than anybody would run.
    TooFewUnits,
}

/// What one more unit takes, of both arms together.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct UnitPrice {
    pub usd: Option<f64>,
    pub seconds: Option<f64>,
}

/// What is known of a pair.
#[derive(Clone, Copy)]
pub(crate) struct Known<'a> {
    pub metric: &'a Metric,
    pub quality: &'a PairEvidence,
    pub cost: Option<&'a PairEvidence>,
    pub time: Option<&'a PairEvidence>,
    pub comparability: Option<&'a Comparability>,
    /// See [`margin`].
    pub margin: Option<f64>,
    /// Of one more item, and of one more run.
    pub item: UnitPrice,
    pub run: UnitPrice,
}

impl Decision {
    /// Decides about a pair of arms.
    pub(crate) fn of(known: &Known<'_>) -> Self {
        let quality = known.quality;
        match quality.verdict {
            Verdict::NotComparable { reason: Incomparable::DirectionUnknown }
            | Verdict::NoData { reason: Missing::NotMeasured | Missing::NotCompleted } => {
                return Self::CannotSettle { why: Why::NoData };
            }
            Verdict::NotComparable { .. } => return Self::CannotSettle { why: Why::Unlike },
            _ if known.comparability.is_some_and(|pair| pair.grade >= Grade::E) => return Self::CannotSettle { why: Why::Unlike },
            _ => {}
        }
        let better = quality.verdict.better();
        let cheaper = known.cost.and_then(decided);
        let faster = known.time.and_then(decided);
        if let Some(place) = better {
            let arm = quality.at(place);
            return match cheaper {
                Some(other) if other == arm => Self::Ship { arm, because: Because::BetterAndCheaper },
                Some(_) => Self::ChooseByPrice { better: arm },
                None => Self::Ship { arm, because: Because::Better },
            };
        }
        let no_worse = |arm: usize| known.margin.is_some_and(|margin| is_no_worse(known.metric, &quality.seen_from(arm), margin));
        if let Some(arm) = cheaper.filter(|arm| no_worse(*arm)) {
            return Self::Ship { arm, because: Because::SameAndCheaper };
        }
        if let Some(arm) = cheaper.filter(|arm| known.is_worth_its_risk(*arm)) {
            return Self::Ship { arm, because: Because::SavesMoreThanItRisks };
        }
        let is_equal = matches!(quality.verdict, Verdict::Equivalent) || (no_worse(quality.first) && no_worse(quality.second));
        if let Some(arm) = faster.filter(|arm| cheaper.is_none() && no_worse(*arm)) {
            return Self::Ship { arm, because: Because::SameAndFaster };
        }
        if is_equal {
            return Self::KeepEither;
        }
        if quality.verdict == Verdict::Tie && thin(quality).is_none() && quality.needed.is_none() {
            return Self::CannotSettle { why: Why::Equal };
        }
        measure(known, quality)
    }
}

impl Decision {
    /// The same about a table of two of the arms, which become the first and the second.
    #[must_use]
    pub(crate) fn among(self, one: usize, other: usize) -> Self {
        let place = |arm: usize| usize::from(arm == other && arm != one);
        match self {
            Self::Ship { arm, because } => Self::Ship { arm: place(arm), because },
            Self::ChooseByPrice { better } => Self::ChooseByPrice { better: place(better) },
            same @ (Self::KeepEither | Self::Measure { .. } | Self::CannotSettle { .. }) => same,
        }
    }
}

impl Known<'_> {
    /// Says whether what the cheaper arm saves is worth what its quality may lack. The margins say what one is worth in the other: nobody
    /// minds a margin of quality, nor a margin of cost. An arm that looks worse by more than the margin is worth no risk.
    fn is_worth_its_risk(&self, arm: usize) -> bool {
        let Some((margin, cost)) = self.margin.zip(self.cost) else { return false };
        let seen = self.quality.seen_from(arm);
        let sign = if self.metric.direction == Direction::Down { -1.0 } else { 1.0 };
        let looks_alike = seen.difference.is_some_and(|found| sign * found.value >= -margin);
        let price_margin = cost.margin.unwrap_or(DEFAULT_PRICE_MARGIN);
        let margins = saving(cost, arm).map_or(0.0, |saved| (saved / price_margin).min(MOST_MARGINS_RISKED));
        looks_alike && is_no_worse(self.metric, &seen, margin * margins)
    }
}

/// The share that an arm saves of what the other takes, as far as it is known.
fn saving(price: &PairEvidence, arm: usize) -> Option<f64> {
    price.seen_from(arm).difference.filter(|found| found.scale == Scale::Ratio).map(|found| 1.0 - found.value)
}

/// The arm that is cheaper or faster beyond chance, by more than is unimportant.
fn decided(price: &PairEvidence) -> Option<usize> {
    let arm = price.winner()?;
    let margin = price.margin.unwrap_or(DEFAULT_PRICE_MARGIN);
    let saved = saving(price, arm)?;
    (1.0 - saved <= 1.0 / (1.0 + margin)).then_some(arm)
}

/// Says whether the arm that is seen first is worse than the other by no more than the margin, as far as its interval says.
fn is_no_worse(metric: &Metric, seen: &PairEvidence, margin: f64) -> bool {
    let Some(interval) = seen.difference.and_then(|found| found.interval) else { return false };
    if matches!(seen.verdict.obstacle(), Some(Obstacle::FewRuns | Obstacle::FewItems | Obstacle::FewClusters | Obstacle::Censored)) {
        return false;
    }
    let worst = |ends: Interval| if metric.direction == Direction::Down { ends.high <= margin } else { ends.low >= -margin };
    worst(interval) && seen.bounds.is_none_or(worst)
}

/// The largest difference of a metric that does not matter, as declared or by default: rates have a natural scale, other scores do not.
pub(super) fn margin(metric: &Metric, policy: &Policy) -> Option<f64> {
    policy.margin(metric).or_else(|| (metric.kind == MetricKind::Rate).then_some(DEFAULT_MARGIN))
}

/// What a pair has too few of, whatever its verdict: exactly equal figures of one run each are no evidence of being equal.
fn thin(quality: &PairEvidence) -> Option<Obstacle> {
    let has_few = |least: usize| quality.units() < least as u64;
    quality.verdict.obstacle().or(match quality.design {
        Design::Runs | Design::Counts if has_few(MIN_RUNS) => Some(Obstacle::FewRuns),
        Design::Items if has_few(MIN_ITEMS) => Some(Obstacle::FewItems),
        Design::Items | Design::Clusters | Design::Runs | Design::Counts => None,
    })
}

/// Plans what would settle a pair that is open.
fn measure(known: &Known<'_>, quality: &PairEvidence) -> Decision {
    let has = quality.sizes.clusters.unwrap_or_else(|| quality.units());
    let least = match thin(quality) {
        Some(Obstacle::FewRuns) => Some(Needed { n: MIN_RUNS as u64, of: "runs" }),
        Some(Obstacle::FewItems) => Some(Needed { n: MIN_ITEMS as u64, of: "items" }),
        Some(Obstacle::FewClusters) => Some(Needed { n: MIN_ITEMS as u64, of: "clusters" }),
        Some(Obstacle::OutOfReach | Obstacle::MissingOutcomes | Obstacle::Censored | Obstacle::TotalDisagrees) | None => None,
    };
    let needed = match (least, quality.needed) {
        (Some(least), Some(needed)) if needed.of == least.of => Some(Needed { n: needed.n.max(least.n), ..least }),
        (least, needed) => least.or(needed),
    };
    let Some(needed) = needed.filter(|needed| needed.n > has && needed.n <= (MOST_TIMES * has.max(1)).min(MOST_UNITS)) else {
        return Decision::CannotSettle { why: Why::TooFewUnits };
    };
    let more = Needed { n: needed.n - has, ..needed };
    let price = match needed.of {
        "runs" => known.run,
        "items" => known.item,
        _ => UnitPrice::default(),
    };
    let times = |one: Option<f64>| one.map(|one| one * more.n as f64);
    Decision::Measure { more, usd: times(price.usd), seconds: times(price.seconds) }
}
