//! Whether a difference is evidence: one verdict per metric and pair of arms, the same for every output.
//!
//! The design says what was independently repeated. It follows from the kind of item: questions are a sample of questions, so items (or
//! the clusters they come in) are the units; the tests, criteria and checks of a fixed suite share one artefact, so runs are.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use rayon::prelude::*;
use schemars::JsonSchema;
use serde::Serialize;

use crate::domain::{Direction, Exclusion, ItemKind, Metric, MetricKind, MetricSettings, RunStatus, Unit};
use crate::stats::{
    self, Aim, Interval, Pairs, Question, RankRange, Resampling, Side, Undefined, Verdict, clustered_mean, decide, fisher, holm,
    log_ratio_welch, mcnemar, mean_t, newcombe, permutation, sign_flip, summary, tango, welch,
};
use crate::warehouse::RunRow;

use super::arm::ArmRuns;
use super::detail::{Bill, CrossCheck, Detail, Effect, Parts};
use super::item_scores::{ItemScores, SuiteScores};
use super::sample::{Items, Outcomes, Rates};
use super::texts::Pairing;

/// What is fixed before anybody looks at the numbers.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Policy {
    /// The chance, over the family of pairs, of naming a winner where there is none.
    pub alpha: f64,
    /// What the project says about its metrics. A margin is in the metric's unit; for amounts it is relative, 0.1 for a tenth.
    pub metrics: BTreeMap<String, MetricSettings>,
    /// By suite: a design other than the one that follows from the kind of item. The empty name stands for every suite.
    pub designs: BTreeMap<String, Design>,
    /// Items that are known to be broken.
    pub exclusions: Vec<Exclusion>,
    /// Items of one cluster are not independent of each other. Off only where somebody knows better.
    pub use_clusters: bool,
}

impl Default for Policy {
    fn default() -> Self {
        Self { alpha: 0.05, metrics: BTreeMap::new(), designs: BTreeMap::new(), exclusions: Vec::new(), use_clusters: true }
    }
}

impl Policy {
    fn confidence(&self) -> f64 {
        1.0 - self.alpha
    }

    fn aim(&self) -> Aim {
        Aim { alpha: self.alpha, power: POWER }
    }

    /// Returns the metric as the project describes it.
    pub(super) fn described(&self, metric: Metric) -> Metric {
        let Some(settings) = self.metrics.get(&metric.name) else { return metric };
        Metric {
            label: settings.label.clone().unwrap_or(metric.label),
            unit: settings.unit.unwrap_or(metric.unit),
            direction: settings.direction.unwrap_or(metric.direction),
            kind: settings.kind.unwrap_or(metric.kind),
            name: metric.name,
        }
    }

    fn design(&self, suite: &str) -> Option<Design> {
        self.designs.get(suite).or_else(|| self.designs.get("")).copied()
    }
}

/// Planning figures say what the data would have shown four times out of five.
const POWER: f64 = 0.8;
/// Fewer runs a side than this support no verdict about runs.
pub const MIN_RUNS: usize = 3;
/// Fewer items, or clusters, than this support no verdict about items.
pub const MIN_ITEMS: usize = 6;
/// From here on the t test holds its level for item differences; below, signs are flipped.
const MIN_PAIRED_T: usize = 10;
/// More of an arm's items missing than this: bounds are shown, and may forbid a winner.
const MAX_MISSING: f64 = 0.05;
/// More of the items than this that one arm was asked and another not: then their rates are rates of other items.
pub(super) const MAX_APART: f64 = 0.05;
/// Shares closer than this are one share: a mean of thirds has a last digit of its own.
pub(super) const SAME: f64 = 1e-12;
/// Rearrangements where all would be too many.
const DRAWS: u64 = 99_999;

/// What was independently repeated, and so what the verdict is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Design {
    /// Questions like these: items are a sample.
    Items,
    /// Questions like these, which come in clusters.
    Clusters,
    /// This suite, run again.
    Runs,
    /// These runs and nothing beyond them: no inference.
    Counts,
}

/// How the p-value was made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Test {
    McnemarExact,
    FisherExact,
    PairedT,
    SignFlip,
    /// Signs of whole clusters' sums flipped.
    ClusterSignFlip,
    Welch,
    WelchOnLogs,
    Permutation,
}

/// Why there is no comparison, or no winner whatever the numbers are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Reason {
    /// Each arm wrote and ran its own tests: they are not the same question.
    OwnDenominator,
    /// The arms share no item.
    DisjointItems,
    /// Every item that both have was another text for each.
    OtherTexts,
    /// The runs counted different numbers of tests, and nobody knows which.
    OtherTotals,
    /// Some runs give the metric in another unit or direction.
    OtherUnit,
    /// Another judge or evaluator decided: another measure.
    OtherEvaluator,
    /// Nobody says which way is better.
    DirectionUnknown,
    /// Fewer than three runs a side.
    FewRuns,
    /// Fewer than six shared items.
    FewItems,
    /// Fewer than six clusters.
    FewClusters,
    /// No two values differ, so the data show no spread to measure against.
    NoVariation,
    /// Depending on what the missing outcomes were, the sign could be the other.
    MissingOutcomes,
    /// Runs that hit a limit: how long they would have taken is unknown.
    Censored,
    /// No run of an arm came to its end, and what a failed run spent is no price.
    NotCompleted,
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
    pub verdict: Verdict,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<Reason>,
    pub design: Design,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub difference: Option<Difference>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub test: Option<Test>,
    /// Of this pair alone. Where the design is `counts`: what it would be if the tests were independent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub p: Option<f64>,
    /// Over the family, after Holm.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub p_adjusted: Option<f64>,
    pub sizes: Sizes,
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
    /// For a second look; decides nothing.
    #[serde(skip_serializing_if = "Detail::is_empty")]
    pub detail: Detail,
}

/// What may be said about all arms on one metric.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Evidence {
    pub pairs: Vec<PairEvidence>,
    /// The arm that beats every other.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub winner: Option<usize>,
    /// The arm with the best value and all that are not significantly worse; empty without a better side or without values.
    pub leading: Vec<usize>,
    /// Arms whose rate is over so many fewer items than another's that it is a rate of other items: none of them is the one that the
    /// leading group is formed around.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub partial: Vec<usize>,
    /// Places that the evidence leaves open, by arm.
    pub ranks: Vec<RankRange>,
    /// Arms that share a letter cannot be told apart; by arm.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub letters: Vec<String>,
    pub alpha: f64,
    /// Pairs that were tested: the family that p-values are adjusted for. On a page of two arms it is that of the whole suite.
    pub tested: u64,
    /// What a typical pair could show at all; absent where no pair is tested or the data show no spread.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resolution: Option<Resolution>,
}

/// The smallest difference that a typical pair shows four times out of five, if it is to stand first among all that are tested.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Resolution {
    /// The median over the pairs that are tested, on the scale of the difference (a ratio above 1).
    pub difference: f64,
    pub scale: Scale,
    /// Holm's strictest level: alpha over the number of pairs tested.
    pub level: f64,
    /// Pairs tested.
    pub pairs: u64,
}

impl Evidence {
    /// Returns the evidence about two arms, whichever comes first in it.
    pub fn pair(&self, one: usize, other: usize) -> Option<&PairEvidence> {
        self.pairs.iter().find(|pair| (pair.first, pair.second) == (one, other) || (pair.first, pair.second) == (other, one))
    }

    /// Returns the distinct numbers of units that the pairs rest on, ascending.
    pub fn sizes(&self) -> Vec<u64> {
        let of_pair = |pair: &PairEvidence| pair.sizes.pairs.unwrap_or(pair.sizes.first.min(pair.sizes.second));
        self.pairs.iter().map(of_pair).collect::<BTreeSet<u64>>().into_iter().collect()
    }

    /// Returns what it says about two of the arms, which become the first and the second. The family stays the whole table's.
    #[must_use]
    pub fn between(&self, one: usize, other: usize) -> Self {
        let pair = self.pair(one, other).map(|pair| if pair.first == one { pair.clone() } else { pair.reversed() });
        let pair = pair.map(|pair| PairEvidence { first: 0, second: 1, ..pair });
        let winner = pair.as_ref().and_then(PairEvidence::winner);
        let leading = match winner {
            Some(winner) => vec![winner],
            None if self.leading.is_empty() => Vec::new(),
            None => vec![0, 1],
        };
        let place = |arm| match winner {
            Some(winner) if winner == arm => RankRange { best: 1, worst: 1 },
            Some(_) => RankRange { best: 2, worst: 2 },
            None => RankRange { best: 1, worst: 2 },
        };
        let ranks = vec![place(0), place(1)];
        Self {
            pairs: pair.into_iter().collect(),
            winner,
            leading,
            partial: [one, other].iter().zip(0..).filter(|(arm, _)| self.partial.contains(arm)).map(|(_, place)| place).collect(),
            ranks,
            letters: Vec::new(),
            alpha: self.alpha,
            tested: self.tested,
            resolution: self.resolution,
        }
    }
}

impl Difference {
    /// Takes what differs by arithmetic alone for equal.
    fn snapped(self) -> Self {
        match self.scale {
            Scale::Share if self.value.abs() < SAME => Self { value: 0.0, ..self },
            Scale::Ratio if (self.value - 1.0).abs() < SAME => Self { value: 1.0, ..self },
            Scale::Share | Scale::Unit | Scale::Ratio => self,
        }
    }
}

impl PairEvidence {
    /// The same, seen from the other arm.
    fn reversed(&self) -> Self {
        let mirrored = |ends: Interval| Interval { low: -ends.high, high: -ends.low };
        let difference = self.difference.map(|found| match found.scale {
            Scale::Ratio => Difference {
                value: 1.0 / found.value,
                interval: found.interval.map(|ends| Interval { low: 1.0 / ends.high, high: 1.0 / ends.low }),
                ..found
            },
            Scale::Share | Scale::Unit => Difference { value: -found.value, interval: found.interval.map(mirrored), ..found },
        });
        Self {
            first: self.second,
            second: self.first,
            verdict: match self.verdict {
                Verdict::AWins => Verdict::BWins,
                Verdict::BWins => Verdict::AWins,
                same @ (Verdict::Tie
                | Verdict::Equivalent
                | Verdict::NotEnoughEvidence
                | Verdict::NotComparable
                | Verdict::NoData
                | Verdict::DeterministicDifference) => same,
            },
            difference,
            sizes: Sizes { first: self.sizes.second, second: self.sizes.first, ..self.sizes },
            record: self.record.map(|record| Record { won: record.lost, lost: record.won, same: record.same }),
            bounds: self.bounds.map(mirrored),
            detail: self.detail.reversed(),
            ..self.clone()
        }
    }

    /// Returns the arm that the verdict calls better.
    pub fn winner(&self) -> Option<usize> {
        match self.verdict {
            Verdict::AWins => Some(self.first),
            Verdict::BWins => Some(self.second),
            Verdict::Tie
            | Verdict::Equivalent
            | Verdict::NotEnoughEvidence
            | Verdict::NotComparable
            | Verdict::NoData
            | Verdict::DeterministicDifference => None,
        }
    }
}

/// What a pair's data give before the family is known.
#[derive(Default)]
struct Finding {
    difference: Option<Difference>,
    test: Option<Test>,
    p: Option<f64>,
    /// The data are enough for a verdict.
    is_enough: bool,
    deterministic: bool,
    reason: Option<Reason>,
    sizes: Sizes,
    record: Option<Record>,
    bounds: Option<Interval>,
    precision: Option<Precision>,
    needed: Option<Needed>,
    is_comparable: bool,
    detail: Detail,
    /// What the items' differences vary by, where it can be told.
    parts: Option<Parts>,
}

/// What decides how small a difference the data can show.
#[derive(Clone, Copy)]
enum Precision {
    /// So many paired units, and the spread of their differences.
    Paired { sd: f64, n: u64 },
    /// So many clusters, and the spread that so many independent ones would have.
    Clustered { sd: f64, n: u64 },
    /// Two samples with a spread of their own; of logarithms where the difference is a ratio.
    Samples(Side, Side),
    /// Two shares: that of the second arm, and the sizes of both.
    Shares { rate: f64, first: u64, second: u64 },
}

impl Precision {
    /// The smallest difference that is shown, on the scale of the difference.
    fn detectable(self, scale: Scale, aim: Aim) -> Option<f64> {
        let smallest = match self {
            Self::Paired { sd, n } => stats::mde_paired(sd, n, aim),
            Self::Clustered { sd, n } => stats::mde_few(sd, n, aim),
            Self::Samples(one, other) => stats::mde_welch(one, other, aim),
            Self::Shares { rate, first, second } => stats::mde_two_proportions(rate, first, second, aim),
        };
        let smallest = smallest.ok()?;
        match scale {
            Scale::Share => Some(smallest.min(1.0)),
            Scale::Unit => Some(smallest),
            Scale::Ratio => Some(smallest.exp()).filter(|ratio| ratio.is_finite()),
        }
    }
}

impl Finding {
    fn not_comparable(reason: Reason, sizes: Sizes) -> Self {
        Self { reason: Some(reason), sizes, ..Self::default() }
    }

    /// Says how many items each arm has, of which this is about those that were one text for both.
    fn of_same_texts(mut self, first: Option<u64>, second: Option<u64>) -> Self {
        if let (Some(_), Some(first), Some(second)) = (self.sizes.pairs, first, second) {
            (self.sizes.first, self.sizes.second) = (first, second);
        }
        if matches!(self.reason, Some(Reason::DisjointItems | Reason::OtherEvaluator)) {
            self.reason = Some(Reason::OtherTexts);
        }
        self
    }

    fn detectable(&self, aim: Aim) -> Option<f64> {
        self.precision?.detectable(self.difference?.scale, aim)
    }
}

/// Weighs the arms' pass rates on the items of a suite, each pair on those that were one text for both.
pub(super) fn of_rates(metric: &Metric, suite: &str, items: &Items, rates: &[Rates], pairing: &Pairing<'_>, policy: &Policy) -> Evidence {
    let pairs: Vec<(usize, usize)> = pairs_of(rates.len()).collect();
    let findings = pairs.into_par_iter().map(|(first, second)| {
        let changed = pairing.changed(first, second);
        let (design, finding) = if changed.is_empty() {
            rate_pair(suite, items, &rates[first], &rates[second], policy)
        } else {
            let [one, other] = pairing.rates(first, second, &changed);
            let (design, finding) = rate_pair(suite, items, &one, &other, policy);
            (design, finding.of_same_texts(counted(&rates[first]), counted(&rates[second])))
        };
        (first, second, design, finding)
    });
    let values: Vec<Option<f64>> = rates.iter().map(rate_value).collect();
    settle(metric, &values, partial(rates), findings.collect(), policy)
}

/// Weighs the arms' scores on the items of a suite, as their pass rates are.
pub(super) fn of_item_scores(suite: &str, scores: &SuiteScores, items: &Items, pairing: &Pairing<'_>, policy: &Policy) -> Evidence {
    let metric = &scores.metric;
    let scale = if metric.unit == Unit::Fraction { Scale::Share } else { Scale::Unit };
    let findings = pairs_of(scores.arms.len()).map(|(first, second)| {
        let pair = |one, other| score_pair(suite, (scores, scale), items, (one, other), policy);
        let (one, other) = (&scores.arms[first], &scores.arms[second]);
        let changed = pairing.changed(first, second);
        let (design, finding) = if changed.is_empty() {
            pair(one, other)
        } else {
            let [part, other_part] = pairing.scores(first, second, &changed);
            let (design, finding) = pair(&part, &other_part);
            (design, finding.of_same_texts(Some(one.counted), Some(other.counted)))
        };
        (first, second, design, finding)
    });
    let mean =
        |scores: &ItemScores| summary(&scores.means.iter().flatten().copied().collect::<Vec<f64>>()).ok().map(|summary| summary.mean);
    let values: Vec<Option<f64>> = scores.arms.iter().map(mean).collect();
    let most = scores.arms.iter().map(|scores| scores.counted).max().unwrap_or(0);
    let partial = partial_of(scores.arms.iter().map(|scores| Some(scores.counted)), most);
    settle(metric, &values, partial, findings.collect(), policy)
}

fn score_pair(
    suite: &str,
    scores: (&SuiteScores, Scale),
    items: &Items,
    (one, other): (&ItemScores, &ItemScores),
    policy: &Policy,
) -> (Design, Finding) {
    let shared = Shared::of_scores(one, other, scores, items, policy);
    if one.counted == 0 || other.counted == 0 {
        return (Design::Counts, Finding { is_comparable: true, sizes: shared.sizes(items, None), ..Finding::default() });
    }
    if shared.differences.is_empty() {
        let is_alike = items.are_alike(|item| one.means[item].is_some(), |item| other.means[item].is_some());
        let reason = if is_alike { Reason::OtherEvaluator } else { Reason::DisjointItems };
        return (Design::Items, Finding::not_comparable(reason, shared.sizes(items, None)));
    }
    match policy.design(suite).unwrap_or_else(|| shared.natural_design(items)) {
        Design::Clusters if shared.codes.is_some() => (Design::Clusters, over_clusters(&shared, items, policy)),
        Design::Items | Design::Clusters => (Design::Items, over_items(&shared, items, policy)),
        Design::Runs | Design::Counts => {
            let mut finding = run_means(&one.run_means, &other.run_means, scores.1, policy);
            finding.bounds = shared.bounds();
            guard(&mut finding);
            (Design::Runs, finding)
        }
    }
}

/// Arms with outcomes on fewer items than another arm, by more than may be luck.
fn partial(rates: &[Rates]) -> Vec<usize> {
    let most = rates.iter().filter_map(counted).max().unwrap_or(0);
    partial_of(rates.iter().map(counted), most)
}

/// Items with a counted outcome.
fn counted(rates: &Rates) -> Option<u64> {
    match rates {
        Rates::Outcomes(outcomes) => Some(outcomes.counted),
        Rates::Counts(_) | Rates::Unknown => None,
    }
}

fn partial_of(counted: impl Iterator<Item = Option<u64>>, most: u64) -> Vec<usize> {
    let is_partial = |counted: &Option<u64>| counted.is_some_and(|counted| (counted as f64) < (1.0 - MAX_APART) * most as f64);
    counted.enumerate().filter(|(_, counted)| is_partial(counted)).map(|(arm, _)| arm).collect()
}

/// Weighs a number per run: an amount, a score, or a count. `evaluators` are those who gave the arms' numbers, where that is known;
/// `apart` are pairs that were asked nothing in common, and why.
pub(super) fn of_numbers(
    metric: &Metric,
    arms: &[ArmRuns<'_>],
    value: &dyn Fn(&RunRow) -> Option<f64>,
    evaluators: &[BTreeSet<&str>],
    apart: &BTreeMap<(usize, usize), Reason>,
    policy: &Policy,
) -> Evidence {
    let samples: Vec<RunSample> = arms.iter().map(|arm| RunSample::of(metric, arm, value)).collect();
    let known = |arm: usize| evaluators.get(arm).filter(|evaluators| !evaluators.is_empty());
    let findings = pairs_of(arms.len()).map(|(first, second)| {
        let mut finding = number_pair(metric, &samples[first], &samples[second], policy);
        if known(first).zip(known(second)).is_some_and(|(one, other)| one != other) && finding.difference.is_some() {
            finding = Finding::not_comparable(Reason::OtherEvaluator, finding.sizes);
        }
        if let Some(reason) = apart.get(&(first, second)).filter(|_| finding.difference.is_some()) {
            finding = Finding::not_comparable(*reason, finding.sizes);
        }
        (first, second, Design::Runs, finding)
    });
    let means: Vec<Option<f64>> = samples.iter().map(|sample| summary(&sample.values).ok().map(|summary| summary.mean)).collect();
    settle(metric, &means, Vec::new(), findings.collect(), policy)
}

/// A metric that cannot be compared between any two arms: shown, never weighed.
pub(super) fn of_nothing(metric: &Metric, arms: usize, design: Design, reason: Reason, policy: &Policy) -> Evidence {
    let findings = pairs_of(arms).map(|(first, second)| (first, second, design, Finding::not_comparable(reason, Sizes::default())));
    settle(metric, &vec![None; arms], Vec::new(), findings.collect(), policy)
}

fn pairs_of(arms: usize) -> impl Iterator<Item = (usize, usize)> {
    (0..arms).flat_map(move |first| (first + 1..arms).map(move |second| (first, second)))
}

/// Adjusts for the family and decides.
fn settle(
    metric: &Metric,
    values: &[Option<f64>],
    partial: Vec<usize>,
    findings: Vec<(usize, usize, Design, Finding)>,
    policy: &Policy,
) -> Evidence {
    let findings: Vec<(usize, usize, Design, Finding)> = findings
        .into_iter()
        .map(|(first, second, design, mut finding)| {
            if metric.direction == Direction::None {
                finding = Finding::not_comparable(Reason::DirectionUnknown, finding.sizes);
            }
            finding.difference = finding.difference.map(Difference::snapped);
            (first, second, design, finding)
        })
        .collect();
    let tested: Vec<f64> =
        findings.iter().filter(|(_, _, _, finding)| finding.is_enough).filter_map(|(_, _, _, finding)| finding.p).collect();
    let mut adjusted = holm(&tested).unwrap_or_default().into_iter();
    let family = tested.len();
    let resolution = resolution(&findings, family, policy);
    // Planned for the level that the smallest p-value of the family has to meet.
    let aim = Aim { alpha: policy.alpha / family.max(1) as f64, ..policy.aim() };
    let margin = policy.metrics.get(&metric.name).and_then(|settings| settings.margin);
    let pairs: Vec<PairEvidence> = findings
        .into_iter()
        .map(|(first, second, design, finding)| {
            let p_adjusted = if finding.is_enough && finding.p.is_some() { adjusted.next() } else { None };
            let verdict = verdict(metric, &finding, p_adjusted, margin, policy.alpha);
            let is_open = !matches!(verdict, Verdict::AWins | Verdict::BWins);
            PairEvidence {
                first,
                second,
                verdict,
                reason: finding.reason,
                design,
                difference: finding.difference,
                test: finding.test,
                p: finding.p,
                p_adjusted,
                sizes: finding.sizes,
                record: finding.record,
                bounds: finding.bounds,
                detectable: finding.detectable(aim).filter(|_| is_open),
                needed: finding.needed.filter(|_| verdict == Verdict::NotEnoughEvidence).and_then(|needed| {
                    let has = finding.sizes.clusters.or(finding.sizes.pairs).unwrap_or(finding.sizes.first.min(finding.sizes.second));
                    Some(Needed { n: stats::n_at(needed.n, policy.aim(), aim).ok()?, ..needed }).filter(|needed| needed.n > has)
                }),
                margin,
                detail: Detail { doubled: finding.parts.filter(|_| is_open).and_then(|parts| parts.doubled(aim)), ..finding.detail },
            }
        })
        .collect();
    Evidence { resolution, tested: family as u64, ..overall(metric, values, partial, pairs, policy.alpha) }
}

/// What the pairs that are tested could show at the level that the smallest of their p-values has to meet.
fn resolution(findings: &[(usize, usize, Design, Finding)], tested: usize, policy: &Policy) -> Option<Resolution> {
    let aim = Aim { alpha: policy.alpha / tested.max(1) as f64, ..policy.aim() };
    let tests = || findings.iter().map(|(_, _, _, finding)| finding).filter(|finding| finding.is_enough && finding.p.is_some());
    let scale = tests().find_map(|finding| finding.difference)?.scale;
    let alike = tests().filter(|finding| finding.difference.is_some_and(|difference| difference.scale == scale));
    let differences: Vec<f64> = alike.filter_map(|finding| finding.detectable(aim)).collect();
    let difference = stats::quantile(&differences, 0.5).ok()?;
    Some(Resolution { difference, scale, level: aim.alpha, pairs: tested as u64 })
}

fn verdict(metric: &Metric, finding: &Finding, p_adjusted: Option<f64>, margin: Option<f64>, alpha: f64) -> Verdict {
    // The policy's rule works on differences: a ratio's logarithm is one.
    let log = |interval: Interval| Interval::new(interval.low.ln(), interval.high.ln());
    let (difference, interval, margin) = match finding.difference {
        None => (None, None, margin),
        Some(Difference { value, scale: Scale::Ratio, interval }) => {
            (Some(value.ln()), interval.and_then(log), margin.map(|margin| (1.0 + margin).ln()))
        }
        Some(Difference { value, scale: Scale::Share | Scale::Unit, interval }) => (Some(value), interval, margin),
    };
    // A relative margin says nothing about a difference that has no ratio.
    let is_relative = metric.kind == MetricKind::Amount;
    let margin = margin.filter(|_| !is_relative || finding.difference.is_some_and(|found| found.scale == Scale::Ratio));
    let is_blocked = finding.reason == Some(Reason::MissingOutcomes);
    let is_unsure = margin.zip(finding.bounds).is_some_and(|(margin, bounds)| bounds.low <= -margin || bounds.high >= margin);
    let decided = decide(&Question {
        comparable: finding.is_comparable,
        n_a: finding.sizes.first,
        n_b: finding.sizes.second,
        difference,
        interval,
        p_adjusted,
        alpha,
        margin,
        higher_is_better: metric.direction != Direction::Down,
        deterministic: finding.deterministic,
    });
    match decided {
        Verdict::AWins | Verdict::BWins | Verdict::Equivalent if is_blocked => Verdict::NotEnoughEvidence,
        Verdict::Equivalent if is_unsure => Verdict::NotEnoughEvidence,
        decided => decided,
    }
}

fn overall(metric: &Metric, values: &[Option<f64>], partial: Vec<usize>, pairs: Vec<PairEvidence>, alpha: f64) -> Evidence {
    let arms = values.len();
    let mut beats = vec![vec![false; arms]; arms];
    for pair in &pairs {
        match pair.winner() {
            Some(winner) if winner == pair.first => beats[pair.first][pair.second] = true,
            Some(_) => beats[pair.second][pair.first] = true,
            None => {}
        }
    }
    let is_compared = metric.direction != Direction::None && pairs.iter().any(|pair| pair.verdict != Verdict::NotComparable);
    // Arms without a value stand behind all others: they cannot lead.
    let worst = if metric.direction == Direction::Down { f64::MAX } else { f64::MIN };
    let points: Vec<f64> = values.iter().map(|value| value.unwrap_or(worst)).collect();
    // Nor is an arm that was asked fewer items the best by its rate on those; it is in the group unless it is beaten.
    let leaders: Vec<f64> = (0..arms).map(|arm| if partial.contains(&arm) { worst } else { points[arm] }).collect();
    let leading = stats::leading_group(&leaders, metric.direction != Direction::Down, &beats).unwrap_or_default();
    let leading = if is_compared { leading.into_iter().filter(|arm| values[*arm].is_some()).collect() } else { Vec::new() };
    let winner = (0..arms).find(|arm| arms > 1 && beats[*arm].iter().filter(|beaten| **beaten).count() == arms - 1);
    // An arm that beats every other is alone, whoever has the best number.
    let leading = winner.map_or(leading, |winner| vec![winner]);
    Evidence {
        winner,
        leading,
        partial,
        ranks: stats::rank_ranges(&beats).unwrap_or_default(),
        letters: lettered(&points, &beats),
        alpha,
        pairs,
        tested: 0,
        resolution: None,
    }
}

/// Letters by arm, where anything differs. They are dealt out from the best arm down.
fn lettered(points: &[f64], beats: &[Vec<bool>]) -> Vec<String> {
    if points.len() < 3 || !beats.iter().flatten().any(|beaten| *beaten) {
        return Vec::new();
    }
    let wins = |arm: usize| beats[arm].iter().filter(|beaten| **beaten).count();
    let mut order: Vec<usize> = (0..points.len()).collect();
    order.sort_by_key(|arm| std::cmp::Reverse(wins(*arm)));
    let differ = |one: usize, other: usize| beats[one][other] || beats[other][one];
    let matrix: Vec<Vec<bool>> = order.iter().map(|one| order.iter().map(|other| differ(*one, *other)).collect()).collect();
    let mut letters = vec![String::new(); points.len()];
    for (arm, own) in order.into_iter().zip(stats::letters(&matrix).unwrap_or_default()) {
        letters[arm] = own;
    }
    letters
}

fn rate_value(rates: &Rates) -> Option<f64> {
    match rates {
        Rates::Outcomes(outcomes) => {
            let means: Vec<f64> = (0..outcomes.cells.len()).filter_map(|item| outcomes.mean(item)).collect();
            summary(&means).ok().map(|summary| summary.mean)
        }
        Rates::Counts(_) => summary(&rates.run_rates()).ok().map(|summary| summary.mean),
        Rates::Unknown => None,
    }
}

fn rate_pair(suite: &str, items: &Items, first: &Rates, second: &Rates, policy: &Policy) -> (Design, Finding) {
    let asked = policy.design(suite);
    match (first, second) {
        (Rates::Outcomes(one), Rates::Outcomes(other)) => {
            let shared = Shared::of(one, other, items, policy);
            if shared.differences.is_empty() {
                let is_alike = items.are_alike(|item| one.cells[item].1 > 0, |item| other.cells[item].1 > 0);
                let reason = if is_alike { Reason::OtherEvaluator } else { Reason::DisjointItems };
                return (Design::Items, Finding::not_comparable(reason, shared.sizes(items, None)));
            }
            match asked.unwrap_or_else(|| shared.natural_design(items)) {
                Design::Clusters if shared.codes.is_some() => (Design::Clusters, over_clusters(&shared, items, policy)),
                // Clusters were asked for, and the items have none.
                Design::Items | Design::Clusters => (Design::Items, over_items(&shared, items, policy)),
                Design::Runs | Design::Counts => over_runs(first, second, policy),
            }
        }
        (Rates::Unknown, _) | (_, Rates::Unknown) => {
            let runs = |rates: &Rates| rates.run_rates().len() as u64;
            let sizes = Sizes { first: runs(first), second: runs(second), of: "runs", ..Sizes::default() };
            (Design::Counts, Finding { is_comparable: true, sizes, ..Finding::default() })
        }
        _ if asked == Some(Design::Items) && first.run_rates().len() == 1 && second.run_rates().len() == 1 => {
            (Design::Items, over_totals(first, second, policy))
        }
        _ => over_runs(first, second, policy),
    }
}

/// What the kind of item says was independently repeated.
fn natural_design(kind: Option<ItemKind>, clusters: Option<usize>, items: usize) -> Design {
    // As many clusters as items are no clusters.
    let clusters = clusters.filter(|clusters| *clusters < items);
    match kind {
        Some(ItemKind::Question) => clusters.map_or(Design::Items, |_| Design::Clusters),
        Some(ItemKind::Test | ItemKind::Criterion | ItemKind::Check) if clusters.is_some_and(|clusters| clusters >= MIN_ITEMS) => {
            Design::Clusters
        }
        // Counts without outcomes are counts of tests.
        Some(ItemKind::Test | ItemKind::Criterion | ItemKind::Check) | None => Design::Runs,
    }
}

/// What one arm's rate on a suite is counted in: the unit that verdicts about it have.
pub(super) fn unit_of(suite: &str, items: &Items, policy: &Policy) -> Design {
    let clusters = items.clusters.as_ref().filter(|_| policy.use_clusters).map(Vec::len);
    let count = clusters.map(|_| items.cluster_count);
    policy.design(suite).unwrap_or_else(|| natural_design(items.kind, count, clusters.unwrap_or(0)))
}

fn item_word(items: &Items) -> &'static str {
    items.kind.map_or("items", ItemKind::plural)
}

/// What one arm has on the items of a suite: shares passed, or scores with the lowest and the highest that any arm has.
#[derive(Clone, Copy)]
enum Measured<'a> {
    Passes(&'a Outcomes),
    Scores(&'a ItemScores, Interval),
}

impl Measured<'_> {
    fn mean(self, item: usize) -> Option<f64> {
        match self {
            Self::Passes(outcomes) => outcomes.mean(item),
            Self::Scores(scores, _) => scores.means[item],
        }
    }

    fn has(self, item: usize) -> bool {
        match self {
            Self::Passes(outcomes) => outcomes.cells[item].1 > 0,
            Self::Scores(scores, _) => scores.means[item].is_some(),
        }
    }

    fn is_missing(self, item: usize) -> bool {
        match self {
            Self::Passes(outcomes) => outcomes.missing[item],
            Self::Scores(scores, _) => scores.missing[item],
        }
    }

    /// Items with a value, and items that should have one.
    fn counts(self) -> (u64, u64) {
        match self {
            Self::Passes(outcomes) => (outcomes.counted, outcomes.lost),
            Self::Scores(scores, _) => (scores.counted, scores.lost),
        }
    }

    fn items(self) -> usize {
        match self {
            Self::Passes(outcomes) => outcomes.cells.len(),
            Self::Scores(scores, _) => scores.means.len(),
        }
    }

    /// What a missing value could be.
    fn range(self) -> (f64, f64) {
        match self {
            Self::Passes(_) => (0.0, 1.0),
            Self::Scores(_, range) => (range.low, range.high),
        }
    }
}

/// Two arms' values on the items that both have.
struct Shared<'a> {
    one: Measured<'a>,
    other: Measured<'a>,
    scale: Scale,
    /// By shared item: how much more of its attempts the first arm passed, or how much more it scored.
    differences: Vec<f64>,
    record: Record,
    /// Every arm tried every item once.
    is_binary: bool,
    /// Of those, items that both passed.
    both: u64,
    /// The cluster of each shared item.
    codes: Option<Cow<'a, [u32]>>,
    clusters: usize,
}

impl<'a> Shared<'a> {
    fn of(one: &'a Outcomes, other: &'a Outcomes, items: &'a Items, policy: &Policy) -> Self {
        let cells = one.cells.iter().zip(&other.cells);
        let mut differences = Vec::with_capacity(one.counted.min(other.counted).try_into().unwrap_or(0));
        let (mut is_binary, mut record, mut both) = (true, Record { won: 0, lost: 0, same: 0 }, 0);
        for ((passed_a, of_a), (passed_b, of_b)) in cells.filter(|((_, of_a), (_, of_b))| *of_a > 0 && *of_b > 0) {
            is_binary &= *of_a == 1 && *of_b == 1;
            both += u64::from(*passed_a == 1 && *passed_b == 1);
            let difference = f64::from(*passed_a) / f64::from(*of_a) - f64::from(*passed_b) / f64::from(*of_b);
            record.won += u64::from(difference > 0.0);
            record.lost += u64::from(difference < 0.0);
            differences.push(difference);
        }
        record.same = differences.len() as u64 - record.won - record.lost;
        let (one, other) = (Measured::Passes(one), Measured::Passes(other));
        let (codes, clusters) = shared_clusters(one, other, differences.len(), items, policy);
        Self { one, other, scale: Scale::Share, differences, record, is_binary, both, codes, clusters }
    }

    fn of_scores(one: &'a ItemScores, other: &'a ItemScores, scores: (&SuiteScores, Scale), items: &'a Items, policy: &Policy) -> Self {
        let (scores, scale) = scores;
        let sign = if scores.metric.direction == Direction::Down { -1.0 } else { 1.0 };
        let pairs = one.means.iter().zip(&other.means).filter_map(|(one, other)| Some((*one)? - (*other)?));
        let differences: Vec<f64> = pairs.collect();
        let count = |better: &dyn Fn(f64) -> bool| differences.iter().filter(|difference| better(sign * **difference)).count() as u64;
        let (won, lost) = (count(&|difference| difference > 0.0), count(&|difference| difference < 0.0));
        let record = Record { won, lost, same: differences.len() as u64 - won - lost };
        let (one, other) = (Measured::Scores(one, scores.range), Measured::Scores(other, scores.range));
        let (codes, clusters) = shared_clusters(one, other, differences.len(), items, policy);
        Self { one, other, scale, differences, record, is_binary: false, both: 0, codes, clusters }
    }

    fn natural_design(&self, items: &Items) -> Design {
        let clusters = self.codes.as_ref().map(|_| self.clusters);
        natural_design(items.kind, clusters, self.differences.len())
    }

    fn sizes(&self, items: &Items, clusters: Option<usize>) -> Sizes {
        Sizes {
            first: self.one.counts().0,
            second: self.other.counts().0,
            pairs: Some(self.differences.len() as u64),
            of: item_word(items),
            clusters: clusters.map(|count| count as u64),
        }
    }

    /// What the difference could be if the missing outcomes were known; nothing where few are missing, and as many in both arms.
    fn bounds(&self) -> Option<Interval> {
        let ((counted, lost), (other_counted, other_lost)) = (self.one.counts(), self.other.counts());
        let too_many = |lost: u64, counted: u64| lost as f64 > MAX_MISSING * (counted + lost) as f64;
        if lost == other_lost && !too_many(lost, counted) && !too_many(other_lost, other_counted) {
            return None;
        }
        let (mut low, mut high, mut n) = (0.0, 0.0, 0.0);
        for item in 0..self.one.items() {
            let ends = |values: Measured<'_>| match values.mean(item) {
                Some(mean) => Some((mean, mean)),
                None => values.is_missing(item).then_some(values.range()),
            };
            if let Some(((one_low, one_high), (other_low, other_high))) = ends(self.one).zip(ends(self.other)) {
                low += one_low - other_high;
                high += one_high - other_low;
                n += 1.0;
            }
        }
        Interval::new(low / n, high / n)
    }

    /// A verdict that the missing outcomes could turn round, or bring to nothing, is none.
    fn guard(&self, finding: &mut Finding) {
        finding.bounds = self.bounds();
        guard(finding);
    }
}

/// The cluster of each item that both have, and how many clusters that are.
fn shared_clusters<'a>(
    one: Measured<'_>,
    other: Measured<'_>,
    shared: usize,
    items: &'a Items,
    policy: &Policy,
) -> (Option<Cow<'a, [u32]>>, usize) {
    let Some(all) = items.clusters.as_deref().filter(|_| policy.use_clusters) else { return (None, 0) };
    if shared == all.len() {
        return (Some(Cow::Borrowed(all)), items.cluster_count);
    }
    let codes: Vec<u32> = (0..all.len()).filter(|item| one.has(*item) && other.has(*item)).map(|item| all[item]).collect();
    let mut seen = vec![false; items.cluster_count];
    for code in &codes {
        seen[*code as usize] = true;
    }
    (Some(Cow::Owned(codes)), seen.into_iter().filter(|seen| *seen).count())
}

fn over_items(shared: &Shared<'_>, items: &Items, policy: &Policy) -> Finding {
    let differences = &shared.differences;
    let n = differences.len();
    let Ok(summary) = summary(differences) else { return Finding::default() };
    let mut finding = Finding {
        is_comparable: true,
        is_enough: n >= MIN_ITEMS,
        sizes: shared.sizes(items, None),
        record: Some(shared.record),
        reason: (n < MIN_ITEMS).then_some(Reason::FewItems),
        ..Finding::default()
    };
    let resampling = || Resampling { seed: seed(differences.iter().copied()), draws: DRAWS };
    // Equal differences of thirds can differ in their last digit.
    let is_spread = summary.max - summary.min > SAME;
    let share = |value: f64, interval: Option<Interval>| Some(Difference { value, scale: shared.scale, interval });
    if shared.is_binary {
        let Record { won, lost, same } = shared.record;
        let pairs = Pairs { both: shared.both, only_a: won, only_b: lost, neither: same - shared.both };
        finding.difference = share(summary.mean, tango(pairs, policy.confidence()).ok());
        let test = mcnemar(won, lost);
        (finding.test, finding.p) = (Some(Test::McnemarExact), Some(test.exact));
        finding.detail.cross_check = Some(CrossCheck::of_pairs(pairs, test.mid, policy.confidence()));
    } else if let Some(test) = mean_t(&summary, policy.confidence()).ok().filter(|_| n >= MIN_PAIRED_T && is_spread) {
        finding.difference = share(summary.mean, Some(possible(test.interval, shared.scale)));
        (finding.test, finding.p) = (Some(Test::PairedT), Some(test.p));
        finding.detail.cross_check = CrossCheck::of_differences(differences, resampling());
    } else {
        finding.difference = share(summary.mean, None);
        let resampling = resampling();
        (finding.test, finding.p) = (Some(Test::SignFlip), sign_flip(differences, resampling).ok().map(|test| test.p));
    }
    if let Some(sd) = summary.sd.filter(|_| is_spread) {
        finding.precision = Some(Precision::Paired { sd, n: n as u64 });
        finding.parts = match (shared.one, shared.other) {
            (Measured::Passes(one), Measured::Passes(other)) if !shared.is_binary => Parts::of(one, other, sd),
            _ => None,
        };
        let wanted = stats::n_paired(sd, summary.mean.abs(), policy.aim()).ok().filter(|_| summary.mean != 0.0);
        finding.needed = wanted.map(|wanted| Needed { n: wanted.max(MIN_ITEMS as u64), of: "items" });
    }
    shared.guard(&mut finding);
    finding
}

fn over_clusters(shared: &Shared<'_>, items: &Items, policy: &Policy) -> Finding {
    let differences = &shared.differences;
    let codes = shared.codes.as_deref().unwrap_or_default();
    let clusters = shared.clusters;
    let mut finding = Finding {
        is_comparable: true,
        is_enough: clusters >= MIN_ITEMS,
        sizes: shared.sizes(items, Some(clusters)),
        record: Some(shared.record),
        reason: (clusters < MIN_ITEMS).then_some(Reason::FewClusters),
        ..Finding::default()
    };
    // Equally good arms may be swapped in any cluster, whatever the clusters' sizes; t(G − 1) names false winners where sizes differ.
    let sums = sums_by_cluster(differences, codes);
    let resampling = Resampling { seed: seed(sums.iter().copied()), draws: DRAWS };
    (finding.test, finding.p) = (Some(Test::ClusterSignFlip), sign_flip(&sums, resampling).ok().map(|test| test.p));
    match clustered_mean(differences, codes, policy.confidence()) {
        Ok(mean) => {
            let interval = Some(possible(mean.interval, shared.scale));
            finding.difference = Some(Difference { value: mean.mean, scale: shared.scale, interval });
            // The spread that so many independent clusters would have for this standard error.
            let sd = mean.se_cr1 * (clusters as f64).sqrt();
            finding.precision = Some(Precision::Clustered { sd, n: clusters as u64 });
            let wanted = stats::n_paired(sd, mean.mean.abs(), policy.aim()).ok().filter(|_| mean.mean != 0.0);
            finding.needed = wanted.map(|wanted| Needed { n: wanted.max(MIN_ITEMS as u64), of: "clusters" });
        }
        Err(reason) => {
            let value = summary(differences).ok().map(|summary| summary.mean);
            finding.difference = value.map(|value| Difference { value, scale: shared.scale, interval: None });
            finding.is_enough &= reason == Undefined::NoVariation;
        }
    }
    shared.guard(&mut finding);
    finding
}

/// Cuts a difference of shares to what it can be.
fn possible(interval: Interval, scale: Scale) -> Interval {
    match scale {
        Scale::Share => interval.clipped(-1.0, 1.0),
        Scale::Unit | Scale::Ratio => interval,
    }
}

fn sums_by_cluster(differences: &[f64], codes: &[u32]) -> Vec<f64> {
    let mut sums = BTreeMap::<u32, f64>::new();
    for (difference, code) in differences.iter().zip(codes) {
        *sums.entry(*code).or_default() += difference;
    }
    sums.into_values().collect()
}

/// Totals of independent items, without pairing: the user says that they are items of their own.
fn over_totals(first: &Rates, second: &Rates, policy: &Policy) -> Finding {
    let ((passed_a, total_a), (passed_b, total_b)) = (first.totals(), second.totals());
    if total_a == 0 || total_b == 0 {
        return Finding { is_comparable: true, ..Finding::default() };
    }
    let (rate_a, rate_b) = (passed_a as f64 / total_a as f64, passed_b as f64 / total_b as f64);
    let is_enough = total_a.min(total_b) >= MIN_ITEMS as u64;
    let interval = newcombe(passed_a, total_a, passed_b, total_b, policy.confidence()).ok();
    let wanted = stats::n_two_proportions(rate_a, rate_b, policy.aim()).ok().filter(|_| total_a.min(total_b) > 0);
    Finding {
        is_comparable: true,
        is_enough,
        reason: (!is_enough).then_some(Reason::FewItems),
        difference: Some(Difference { value: rate_a - rate_b, scale: Scale::Share, interval }),
        test: Some(Test::FisherExact),
        p: fisher(passed_a, total_a, passed_b, total_b).ok(),
        sizes: Sizes { first: total_a, second: total_b, of: "items", ..Sizes::default() },
        precision: Some(Precision::Shares { rate: rate_b, first: total_a, second: total_b }),
        needed: wanted.map(|n| Needed { n, of: "items" }),
        ..Finding::default()
    }
}

/// Run-level rates: the suite is fixed, and the tests of a run share one artefact.
fn over_runs(first: &Rates, second: &Rates, policy: &Policy) -> (Design, Finding) {
    let (one, other) = (first.run_rates(), second.run_rates());
    let Ok((mean_a, mean_b)) = summary(&one).and_then(|a| Ok((a.mean, summary(&other)?.mean))) else {
        let sizes = Sizes { first: one.len() as u64, second: other.len() as u64, of: "runs", ..Sizes::default() };
        return (Design::Counts, Finding { is_comparable: true, sizes, ..Finding::default() });
    };
    let sizes = Sizes { first: one.len() as u64, second: other.len() as u64, of: "runs", ..Sizes::default() };
    let (fewest, most) = denominators(first, second);
    let difference = Difference { value: mean_a - mean_b, scale: Scale::Share, interval: None };
    if one.len() == 1 && other.len() == 1 {
        // What these two runs passed, and nothing about another run.
        let ((passed_a, total_a), (passed_b, total_b)) = (first.totals(), second.totals());
        let finding = Finding {
            is_comparable: true,
            difference: Some(difference),
            test: Some(Test::FisherExact),
            p: fisher(passed_a, total_a, passed_b, total_b).ok(),
            reason: Some(Reason::FewRuns),
            sizes,
            ..Finding::default()
        };
        return (Design::Counts, finding);
    }
    if fewest < most && !matches!((first, second), (Rates::Outcomes(_), Rates::Outcomes(_))) {
        return (Design::Runs, Finding::not_comparable(Reason::OtherTotals, sizes));
    }
    let mut finding = run_means(&one, &other, Scale::Share, policy);
    if first.is_deterministic() && second.is_deterministic() {
        // A fact about this suite: repeats say nothing about chance, and take no part in the family.
        finding.deterministic = true;
        (finding.is_enough, finding.test, finding.p, finding.needed) = (false, None, None, None);
        finding.detail = Detail::default();
    }
    if fewest < most {
        finding.bounds = run_bounds(first, second, most);
        guard(&mut finding);
    }
    finding.difference =
        finding.difference.map(|found| Difference { interval: found.interval.map(|ends| ends.clipped(-1.0, 1.0)), ..found });
    (Design::Runs, finding)
}

/// The fewest and the most items that a run of either arm counts.
fn denominators(first: &Rates, second: &Rates) -> (u64, u64) {
    let totals = || first.by_run().iter().chain(second.by_run()).map(|(_, total)| *total).filter(|total| *total > 0);
    (totals().min().unwrap_or(0), totals().max().unwrap_or(0))
}

/// What the difference of run means could be if every run had counted `most` items.
fn run_bounds(first: &Rates, second: &Rates, most: u64) -> Option<Interval> {
    let mean = |rates: &Rates, unknown: f64| {
        let runs = rates.by_run().iter().filter(|(_, total)| *total > 0);
        let shares: Vec<f64> = runs.map(|(passed, total)| (*passed as f64 + unknown * (most - total) as f64) / most as f64).collect();
        summary(&shares).ok().map(|summary| summary.mean)
    };
    Interval::new(mean(first, 0.0)? - mean(second, 1.0)?, mean(first, 1.0)? - mean(second, 0.0)?)
}

/// A verdict that the missing outcomes could turn round, or bring to nothing, is none.
fn guard(finding: &mut Finding) {
    let difference = finding.difference.map_or(0.0, |difference| difference.value);
    if finding.bounds.is_some_and(|bounds| (difference > 0.0 && bounds.low <= 0.0) || (difference < 0.0 && bounds.high >= 0.0)) {
        finding.reason = Some(Reason::MissingOutcomes);
    }
}

/// Compares the means of numbers per run by Welch's t, or by rearranging where no run of either arm varied.
fn run_means(one: &[f64], other: &[f64], scale: Scale, policy: &Policy) -> Finding {
    let sizes = Sizes { first: one.len() as u64, second: other.len() as u64, of: "runs", ..Sizes::default() };
    let (Ok(a), Ok(b)) = (summary(one), summary(other)) else { return Finding { is_comparable: true, sizes, ..Finding::default() } };
    let is_enough = one.len().min(other.len()) >= MIN_RUNS;
    let mut finding = Finding {
        is_comparable: true,
        is_enough,
        sizes,
        reason: (!is_enough).then_some(Reason::FewRuns),
        difference: Some(Difference { value: a.mean - b.mean, scale, interval: None }),
        ..Finding::default()
    };
    let resampling = || Resampling { seed: seed(one.iter().copied()) ^ seed(other.iter().copied()), draws: DRAWS };
    if let Ok(test) = welch(one, other, policy.confidence()) {
        finding.difference = Some(Difference { value: test.difference, scale, interval: Some(test.interval) });
        (finding.test, finding.p) = (Some(Test::Welch), Some(test.p));
        finding.detail.cross_check = CrossCheck::of_runs(one, other, resampling()).filter(|_| is_enough);
    } else if one.len() > 1 && other.len() > 1 {
        let resampling = resampling();
        (finding.test, finding.p) = (Some(Test::Permutation), permutation(one, other, resampling).ok().map(|test| test.p));
    }
    finding.detail.effect = Effect::of(one, other, MIN_RUNS);
    plan_runs(&mut finding, one, other, a.mean - b.mean, policy);
    finding
}

/// Says what so many runs could show, and how many would settle the difference; both on the scale of the values.
fn plan_runs(finding: &mut Finding, one: &[f64], other: &[f64], difference: f64, policy: &Policy) {
    let sd = |values: &[f64]| summary(values).ok().and_then(|summary| summary.sd);
    let needed = match sd(one).zip(sd(other)) {
        Some((sd_a, sd_b)) if sd_a > 0.0 || sd_b > 0.0 => {
            let side = |sd, values: &[f64]| Side { sd, n: values.len() as u64 };
            finding.precision = Some(Precision::Samples(side(sd_a, one), side(sd_b, other)));
            stats::n_welch(sd_a, sd_b, difference.abs(), policy.aim()).ok().filter(|_| difference != 0.0)
        }
        _ => None,
    };
    finding.needed = needed.map(|n| Needed { n: n.max(MIN_RUNS as u64), of: "runs" });
}

/// An arm's numbers per run.
struct RunSample {
    /// Of completed runs for amounts: what a failed run spent is no price of success.
    values: Vec<f64>,
    /// Runs that a limit ended.
    censored: usize,
    /// Runs without a value that counts, though they have one.
    left_out: usize,
}

impl RunSample {
    fn of(metric: &Metric, arm: &ArmRuns<'_>, value: &dyn Fn(&RunRow) -> Option<f64>) -> Self {
        let is_amount = metric.kind == MetricKind::Amount;
        let taken = arm.counted.iter().filter(|row| !is_amount || row.run.status == RunStatus::Completed);
        let values: Vec<f64> = taken.filter_map(|row| value(row)).filter(|value| value.is_finite()).collect();
        let left_out = arm.counted.iter().filter_map(|row| value(row)).count() - values.len();
        let limited = arm.counted.iter().filter(|row| row.run.status == RunStatus::Limit).count();
        Self { values, left_out, censored: if metric.unit == Unit::Seconds { limited } else { 0 } }
    }
}

fn number_pair(metric: &Metric, one: &RunSample, other: &RunSample, policy: &Policy) -> Finding {
    let sizes = Sizes { first: one.values.len() as u64, second: other.values.len() as u64, of: "runs", ..Sizes::default() };
    if metric.direction == Direction::None || metric.kind == MetricKind::Count {
        return Finding::not_comparable(Reason::DirectionUnknown, sizes);
    }
    let is_ratio = metric.kind == MetricKind::Amount && one.values.iter().chain(&other.values).all(|value| *value > 0.0);
    if let Some(sample) = [one, other].into_iter().find(|sample| sample.values.is_empty())
        && sample.left_out > 0
    {
        return Finding { is_comparable: true, reason: Some(Reason::NotCompleted), sizes, ..Finding::default() };
    }
    if !is_ratio || one.values.is_empty() || other.values.is_empty() {
        let scale = if metric.unit == Unit::Fraction { Scale::Share } else { Scale::Unit };
        let mut finding = run_means(&one.values, &other.values, scale, policy);
        censor(&mut finding, one, other);
        return finding;
    }
    let logs = |values: &[f64]| values.iter().map(|value| value.ln()).collect::<Vec<f64>>();
    let (log_a, log_b) = (logs(&one.values), logs(&other.values));
    let mut finding = run_means(&log_a, &log_b, Scale::Ratio, policy);
    // The logarithms' difference is the ratio's logarithm.
    finding.difference = finding.difference.map(|found| Difference {
        value: found.value.exp(),
        scale: Scale::Ratio,
        interval: found.interval.and_then(|ends| Interval::new(ends.low.exp(), ends.high.exp())),
    });
    if let Ok(ratio) = log_ratio_welch(&one.values, &other.values, policy.confidence()) {
        finding.difference = Some(Difference { value: ratio.ratio, scale: Scale::Ratio, interval: Some(ratio.interval) });
        (finding.test, finding.p) = (Some(Test::WelchOnLogs), Some(ratio.log.p));
    }
    finding.detail.bill = Bill::of(&one.values, &other.values, policy.confidence());
    censor(&mut finding, one, other);
    finding
}

/// How long runs at a limit would have taken is unknown, so no mean over the others is the arm's.
fn censor(finding: &mut Finding, one: &RunSample, other: &RunSample) {
    if one.censored + other.censored > 0 {
        finding.is_enough = false;
        finding.reason = Some(Reason::Censored);
        (finding.needed, finding.detail) = (None, Detail::default());
    }
}

/// A seed from the data, so that the same data always give the same p-value.
pub(super) fn seed(values: impl IntoIterator<Item = f64>) -> u64 {
    // FNV-1a over the values' bits.
    values
        .into_iter()
        .flat_map(|value| value.to_bits().to_le_bytes())
        .fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}
