//! What to do about two arms, from quality, cost and time. Symmetric: no arm is favoured by its name or place.

use schemars::JsonSchema;
use serde::Serialize;

use crate::domain::{Direction, Metric, Unit};
use crate::stats::{self, Interval};

use super::comparability::Comparability;
use super::comparison::{Needed, PairEvidence, Scale};
use super::labelled::MIN_LABELS;
use super::mismatch::Grade;
use super::policy::{Design, MIN_ITEMS, MIN_RUNS, Policy};
use super::verdict::{Incomparable, Missing, Obstacle, PairVerdict};

/// Default relative margin of costs and times: a tenth. Closer amounts count as equal.
pub const DEFAULT_PRICE_MARGIN: f64 = 0.1;
/// A decision under an exchange rate ships the arm that is worth more if the loss to expect from that is at most this share of a margin. The
/// chance that the arm is worth less by a whole margin is then at most this (Markov's inequality).
const MAX_EXPECTED_LOSS: f64 = 0.05;
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
        /// The posterior probability that the arm is worth more, under the declared exchange rate.
        #[serde(skip_serializing_if = "Option::is_none")]
        probability: Option<f64>,
        /// What it may cost more.
        #[serde(skip_serializing_if = "Option::is_none")]
        open_cost: Option<OpenCost>,
    },
    /// The better arm costs more, or an arm costs less and its quality is open; the reader must say what a difference is worth.
    ChooseByPrice {
        /// The better arm. Absent if quality is open.
        #[serde(skip_serializing_if = "Option::is_none")]
        better: Option<usize>,
        cheaper: usize,
    },
    /// Neither arm is better, cheaper or faster: keep the one in use.
    KeepEither {
        /// What one of them may cost more.
        #[serde(skip_serializing_if = "Option::is_none")]
        open_cost: Option<OpenCost>,
    },
    /// This much more data would probably decide.
    Measure {
        more: Needed,
        /// The new units decide alone: whoever adds units until a test decides finds more false winners than it promises.
        #[serde(skip_serializing_if = "std::ops::Not::not")]
        new_only: bool,
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
    /// Worth more than the other arm, at the declared exchange rate of quality and cost.
    WorthMore,
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
    /// Both arms have equal results, in every run or on every item: this suite does not tell the arms apart.
    Equal,
    /// No run of either arm varies, and one arm is ahead: a fact of these items, which more runs do not change.
    Fixed,
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
    /// The largest unimportant difference of quality.
    pub margin: Option<f64>,
    /// What quality is worth, if it was declared.
    pub exchange: Option<ExchangeRate>,
    /// By arm of the pair: the mean cost of an item, in dollars.
    pub item_costs: Option<[f64; 2]>,
    /// The price of one more item; then of one more run.
    pub item: UnitPrice,
    pub run: UnitPrice,
}

/// What quality is worth in cost, as declared.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ExchangeRate {
    /// Dollars per item that a whole unit of the primary metric is worth, such as a pass rate of 100 instead of 0 percent.
    Dollars(f64),
    /// A margin of quality is worth a margin of cost, which is relative.
    Margins { quality: f64, cost: f64 },
}

/// The posterior of what the first arm of a pair is worth more than the second, in units of the exchange rate: normal, with a flat prior.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Worth {
    mean: f64,
    deviation: f64,
    /// A margin of quality in the same units.
    margin: f64,
}

impl Worth {
    /// Returns the probability that the first arm is worth more.
    fn probability(&self) -> f64 {
        let above = stats::normal_two_sided(self.mean / self.deviation) / 2.0;
        if self.mean > 0.0 { 1.0 - above } else { above }
    }

    /// Returns the loss to expect from shipping the arm that seems to be worth more, in margins of quality.
    fn expected_loss(&self) -> f64 {
        let z = self.mean.abs() / self.deviation;
        let density = (-z * z / 2.0).exp() / std::f64::consts::TAU.sqrt();
        let beyond = stats::normal_two_sided(z) / 2.0;
        self.deviation * (density - z * beyond) / self.margin
    }
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
                reason: Missing::NotMeasured | Missing::NotCompleted | Missing::NoCounts,
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
            probability: None,
            open_cost: open_cost.filter(|cost| cost.arm == arm),
        };
        if let Some((arm, probability)) = known.arm_worth_more() {
            return Self::Ship {
                arm,
                because: Because::WorthMore,
                probability: Some(probability),
                open_cost: None,
            };
        }
        if let Some(place) = better {
            let arm = quality.arm_at(place);
            return match cheaper {
                Some(other) if other == arm => ship(arm, Because::BetterAndCheaper),
                Some(cheaper) => Self::ChooseByPrice {
                    better: Some(arm),
                    cheaper,
                },
                None if quality.winning_arm().is_none() => Self::CannotSettle { why: Why::Fixed },
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
        let is_thin = data_shortage(quality).is_some() || missing_labels(quality).is_some();
        if let Some(cheaper) = cheaper.filter(|_| known.exchange.is_none() && !is_thin) {
            return Self::ChooseByPrice {
                better: None,
                cheaper,
            };
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
    /// Returns how much the decision asks for. Of equal arms the plan that asks for most is named, so that no plan depends on their names.
    pub(super) fn planned_units(&self) -> u64 {
        match self {
            Self::Measure { more, .. } => more.n,
            Self::CannotSettle { .. } => u64::MAX,
            Self::Ship { .. } | Self::ChooseByPrice { .. } | Self::KeepEither { .. } => 0,
        }
    }

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
                probability,
                open_cost,
            } => Self::Ship {
                arm: place(arm),
                because,
                probability,
                open_cost: moved(open_cost),
            },
            Self::ChooseByPrice { better, cheaper } => Self::ChooseByPrice {
                better: better.map(place),
                cheaper: place(cheaper),
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
    /// Returns the arm that is worth more at the declared exchange rate, with the probability of that. `None` if no rate was declared, if the
    /// posterior cannot be had, or if more than a small loss is to be expected from shipping it.
    fn arm_worth_more(&self) -> Option<(usize, f64)> {
        let quality = self.quality;
        if data_shortage(quality).is_some() || quality.verdict == PairVerdict::Tie {
            return None;
        }
        let worth = self.posterior_worth()?;
        let (arm, probability) = if worth.mean > 0.0 {
            (quality.first, worth.probability())
        } else {
            (quality.second, 1.0 - worth.probability())
        };
        (worth.expected_loss() <= MAX_EXPECTED_LOSS).then_some((arm, probability))
    }

    fn posterior_worth(&self) -> Option<Worth> {
        let found = self.quality.difference?;
        let ends = match (found.interval?, self.quality.bounds) {
            // What missing outcomes leave open is as uncertain as what chance does.
            (ends, Some(bounds)) => {
                Interval::new(ends.low.min(bounds.low), ends.high.max(bounds.high))?
            }
            (ends, None) => ends,
        };
        let sign = if self.metric.direction == Direction::Down {
            -1.0
        } else {
            1.0
        };
        let (gain, gain_error) = (sign * found.value, half_width(ends) / NORMAL_95);
        let (log_ratio, log_error) = self.cost_log_ratio()?;
        let (of_quality, dearer, error) = match self.exchange? {
            ExchangeRate::Dollars(unit) => {
                let [first, second] = self.item_costs?;
                let larger = first.max(second);
                (unit, first - second, larger * log_error)
            }
            ExchangeRate::Margins { quality, cost } => {
                let margin = (1.0 + cost).ln();
                (quality.recip(), log_ratio / margin, log_error / margin)
            }
        };
        let deviation = (of_quality * gain_error).hypot(error);
        (deviation > 0.0 && of_quality > 0.0).then_some(Worth {
            mean: of_quality * gain - dearer,
            deviation,
            margin: of_quality * self.margin?,
        })
    }

    /// Returns the logarithm of the first arm's cost over the second's, and its standard error. Sums decide if they are known: a few dear items
    /// are part of the bill.
    fn cost_log_ratio(&self) -> Option<(f64, f64)> {
        let cost = self.cost?;
        let logs = |value: f64, ends: Interval| {
            let ends = Interval::new(ends.low.ln(), ends.high.ln())?;
            Some((value.ln(), half_width(ends) / NORMAL_95))
        };
        if let Some(bill) = cost.detail.bill {
            return logs(bill.ratio, bill.interval);
        }
        let found = cost
            .difference
            .filter(|found| found.scale == Scale::Ratio)?;
        match found.interval {
            Some(ends) => logs(found.value, ends),
            None if matches!(
                cost.verdict,
                PairVerdict::DeterministicDifference { .. } | PairVerdict::Tie
            ) =>
            {
                Some((found.value.ln(), 0.0))
            }
            None => None,
        }
    }
}

/// The quantile of the normal distribution behind an interval of 95%.
const NORMAL_95: f64 = 1.959_963_984_540_054;

fn half_width(ends: Interval) -> f64 {
    (ends.high - ends.low) / 2.0
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

/// Returns what quality is worth in cost: as declared in dollars, or by declared margins of both.
pub(super) fn exchange_rate(metric: &Metric, policy: &Policy) -> Option<ExchangeRate> {
    let of_cost = policy
        .metrics
        .get(COST)
        .and_then(|settings| settings.margin);
    policy
        .usd_per_unit
        .filter(|_| metric.unit == Unit::Fraction)
        .map(ExchangeRate::Dollars)
        .or_else(|| {
            Some(ExchangeRate::Margins {
                quality: policy
                    .margin_of_metric(metric)
                    .filter(|margin| *margin > 0.0)?,
                cost: of_cost.filter(|margin| *margin > 0.0)?,
            })
        })
}

/// The key of the metric that an exchange rate is about.
const COST: &str = "cost_usd";

/// Returns what the pair has too few of, whatever its verdict: exactly equal figures of one run each are no evidence of equality.
fn data_shortage(quality: &PairEvidence) -> Option<Obstacle> {
    let has_few = |least: usize| quality.unit_count() < least as u64;
    // That two criteria disagree is no lack of data.
    let missing = quality.verdict.missing_evidence();
    let missing = missing.filter(|obstacle| *obstacle != Obstacle::IntervalIncludesZero);
    missing.or(match quality.design {
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
            new_only: false,
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
        let is_equal = quality
            .record
            .is_some_and(|record| record.won + record.lost == 0);
        return Decision::CannotSettle {
            why: if is_equal && data_shortage(quality).is_none() {
                Why::Equal
            } else {
                Why::TooFewUnits
            },
        };
    };
    // Data that were too thin for a test are no first look.
    let new_only = least.is_none();
    let more = Needed {
        n: if new_only {
            needed.n
        } else {
            needed.n - has(needed.of)
        },
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
        new_only,
        usd: times(price.usd),
        seconds: times(price.seconds),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_posterior_has_a_probability_and_a_loss() {
        let worth = |mean: f64| Worth {
            mean,
            deviation: 2.0,
            margin: 4.0,
        };
        assert!((worth(0.0).probability() - 0.5).abs() < 1e-12);
        assert!((worth(3.92).probability() - 0.975).abs() < 1e-4);
        assert!((worth(-3.92).probability() - 0.025).abs() < 1e-4);
        // sd · φ(0) / margin, and the unit normal loss at 1.96: φ(1.96) − 1.96 · 0.025 = 0.00945.
        assert!((worth(0.0).expected_loss() - 2.0 * 0.398_942 / 4.0).abs() < 1e-6);
        assert!((worth(3.92).expected_loss() - 2.0 * 0.009_45 / 4.0).abs() < 2e-4);
        assert!((worth(-3.92).expected_loss() - worth(3.92).expected_loss()).abs() < 1e-12);
    }
}
