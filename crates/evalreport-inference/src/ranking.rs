//! Ranks of a board's arms: the ranks that the evidence cannot rule out.

use std::collections::{BTreeMap, BTreeSet};

use schemars::JsonSchema;
use serde::Serialize;

use crate::domain::{Direction, Metric};
use crate::stats::{RankRange, Seed, probability_of_best};

use super::arm::Arm;
use super::family::{Adjustment, Evidence, Resolution};
use super::policy::{Design, MAX_UNSHARED_ITEMS, MIN_ITEMS};
use super::sample::{ArmRates, SuiteItems, is_column_marked};
use super::seed::seed_from_values;
use super::verdict::{Obstacle, PairVerdict};

/// An arm's rank by the evidence on the pass rate.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Standing {
    /// Best: one more than the number of better arms, for all pairs at once. Worst: the number of arms with a figure, minus the worse ones.
    pub rank: RankRange,
    /// The arm has the best pass rate, or is not significantly worse than the arm that has it.
    pub is_leading: bool,
    /// Arms with a common letter are not ordered for all pairs at once. Absent if no two arms are, and for more than 15 arms.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub letters: Option<String>,
    /// How often the arm ranks first in bootstrap samples of the items; a tie for first is shared. It describes these data and is not the
    /// probability of being best; see [`BoardEvidence::drawn`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub first_in_resamples: Option<f64>,
}

/// Evidence on the pass rates of a board's arms, over all pairs of arms that have one.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct BoardEvidence {
    pub metric: Metric,
    /// The chance that any rank is wrong, and the share of false winners among the pairs that differ.
    pub alpha: f64,
    pub adjustment: Adjustment,
    /// Arms with a figure.
    pub arms: u64,
    pub pairs: u64,
    /// Pairs with enough data for a test: the family of the adjustment.
    pub tested: u64,
    /// Pairs in which one arm is significantly better. On average at most a share alpha of them is wrong.
    pub resolved: u64,
    /// Pairs in which all runs of each arm have identical outcomes, and the arms differ.
    pub deterministic: u64,
    /// Pairs that are a tie, or equivalent within the declared margin.
    pub equal: u64,
    /// Places that are not settled: the ranges of the arms whose rank is a range, joined where they overlap.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub open_places: Vec<RankRange>,
    /// Pairs that could be compared.
    pub comparable: u64,
    /// The units of the comparisons, ascending.
    pub designs: Vec<Design>,
    /// Most frequent reason for pairs without a verdict.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<Obstacle>,
    /// The arm that beats every other.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub winner: Option<Arm>,
    /// Arms with outcomes on fewer items than others. They are in the leading group unless they are beaten, but do not lead it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub partial: Vec<Arm>,
    /// Smallest detectable difference of the typical pair.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resolution: Option<Resolution>,
    /// The bootstrap behind [`Standing::first_in_resamples`]. Absent if there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub drawn: Option<Drawn>,
}

/// The bootstrap behind [`Standing::first_in_resamples`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Drawn {
    pub resamples: u32,
    /// Units in each resample.
    pub units: u64,
    /// `items` or `clusters`.
    pub of: &'static str,
}

/// Number of resamples.
const RANK_RESAMPLES: u32 = 2000;
/// Minimum number of items to resample. With fewer, an item drawn twice or not at all matters too much.
const MIN_RESAMPLED_ITEMS: u64 = 20;

/// Ranks the arms that have a figure, by the evidence on the primary metric. A lone arm gets no rank.
///
/// `ranked` are the indices of these arms among all arms, `names` their names.
pub fn rank_arms(
    metric: &Metric,
    evidence: &Evidence,
    ranked: &[usize],
    names: &[&Arm],
    drawn: Option<&FirstPlaceShares>,
) -> (Option<BoardEvidence>, Vec<Standing>) {
    let is_ranked: BTreeSet<usize> = ranked.iter().copied().collect();
    let pairs: Vec<_> = evidence
        .pairs
        .iter()
        .filter(|pair| is_ranked.contains(&pair.first) && is_ranked.contains(&pair.second))
        .collect();
    let has_led = |arm: usize| evidence.leading.contains(&arm);
    // A published figure cannot be tested, so no arm is known to be better.
    let tested = pairs
        .iter()
        .filter(|pair| !matches!(pair.verdict, PairVerdict::NoData { .. }));
    let tested: BTreeSet<usize> = tested.flat_map(|pair| [pair.first, pair.second]).collect();
    let is_untested = |arm: usize| !tested.contains(&arm);
    let standings = ranked
        .iter()
        .enumerate()
        .map(|(place, arm)| Standing {
            rank: evidence.ranks[*arm],
            is_leading: has_led(*arm) || is_untested(*arm) || ranked.len() == 1,
            letters: evidence.letters.get(*arm).cloned(),
            first_in_resamples: drawn.and_then(|best| best.shares[place]),
        })
        .collect();
    let count = |wanted: &dyn Fn(PairVerdict) -> bool| {
        pairs.iter().filter(|pair| wanted(pair.verdict)).count() as u64
    };
    let designs: BTreeSet<Design> = pairs.iter().map(|pair| pair.design).collect();
    let board = (ranked.len() > 1).then(|| BoardEvidence {
        metric: metric.clone(),
        alpha: evidence.alpha,
        adjustment: evidence.adjustment,
        arms: ranked.len() as u64,
        pairs: pairs.len() as u64,
        tested: evidence.tested,
        resolved: count(&|verdict| verdict.winning_place().is_some()),
        deterministic: count(&|verdict| {
            matches!(verdict, PairVerdict::DeterministicDifference { .. })
        }),
        equal: count(&|verdict| matches!(verdict, PairVerdict::Tie | PairVerdict::Equivalent)),
        open_places: join_open_ranks(ranked.iter().map(|arm| evidence.ranks[*arm])),
        comparable: count(&|verdict| {
            !matches!(
                verdict,
                PairVerdict::NotComparable { .. } | PairVerdict::NoData { .. }
            )
        }),
        designs: designs.into_iter().collect(),
        reason: commonest_obstacle(evidence),
        winner: evidence
            .winner
            .and_then(|arm| Some(names[ranked.iter().position(|known| *known == arm)?].clone())),
        partial: evidence
            .partial
            .iter()
            .filter_map(|arm| Some(names[ranked.iter().position(|known| known == arm)?].clone()))
            .collect(),
        resolution: evidence.resolution,
        drawn: drawn.map(|best| best.drawn),
    });
    (board, standings)
}

/// Joins the ranks that are ranges where they overlap, ascending.
fn join_open_ranks(ranks: impl Iterator<Item = RankRange>) -> Vec<RankRange> {
    let mut open: Vec<RankRange> = ranks.filter(|rank| rank.best < rank.worst).collect();
    open.sort_unstable_by_key(|rank| (rank.best, rank.worst));
    let mut joined: Vec<RankRange> = Vec::new();
    for rank in open {
        match joined.last_mut() {
            Some(last) if rank.best <= last.worst => last.worst = last.worst.max(rank.worst),
            _ => joined.push(rank),
        }
    }
    joined
}

fn commonest_obstacle(evidence: &Evidence) -> Option<Obstacle> {
    let mut counts = BTreeMap::<Obstacle, usize>::new();
    for obstacle in evidence
        .pairs
        .iter()
        .filter_map(|pair| pair.verdict.missing_evidence())
    {
        *counts.entry(obstacle).or_default() += 1;
    }
    counts
        .into_iter()
        .max_by_key(|(obstacle, count)| (*count, std::cmp::Reverse(*obstacle)))
        .map(|(obstacle, _)| obstacle)
}

/// How often each arm ranks first.
pub struct FirstPlaceShares {
    shares: Vec<Option<f64>>,
    drawn: Drawn,
}

/// Resamples the units of the design: items, or whole clusters. Items marked in `changed` had different texts for some arms and are
/// skipped.
pub fn chances_to_lead(
    metric: &Metric,
    items: &SuiteItems,
    rates: &[&ArmRates],
    designs: &BTreeSet<Design>,
    changed: &[bool],
) -> Option<FirstPlaceShares> {
    if rates.len() < 2
        || items.is_judged_by_several()
        || designs.iter().any(|design| !design.is_over_items())
    {
        return None;
    }
    let outcomes = rates.iter().map(|rates| match rates {
        ArmRates::Outcomes(outcomes) => {
            Some(outcomes).filter(|outcomes| outcomes.counted >= MIN_RESAMPLED_ITEMS)
        }
        ArmRates::Counts(_) | ArmRates::Unknown => None,
    });
    let outcomes = outcomes.collect::<Option<Vec<_>>>()?;
    // With different items per arm, luck in the choice of items would count.
    let is_apart = |item: usize| {
        let tried = outcomes
            .iter()
            .filter(|outcomes| outcomes.cells.counts_of(item).1 > 0)
            .count();
        is_column_marked(changed, item) || (tried > 0 && tried < outcomes.len())
    };
    let all = outcomes.first().map_or(0, |outcomes| outcomes.cells.len());
    if (0..all).filter(|item| is_apart(*item)).count() as f64 > MAX_UNSHARED_ITEMS * all as f64 {
        return None;
    }
    let drawn: Vec<usize> = (0..all)
        .filter(|item| !is_column_marked(changed, *item))
        .collect();
    let clusters = items
        .clusters
        .as_deref()
        .filter(|_| designs.contains(&Design::Clusters));
    let clusters: Option<Vec<u32>> =
        clusters.map(|clusters| drawn.iter().map(|item| clusters[*item]).collect());
    let cluster_count = clusters.iter().flatten().collect::<BTreeSet<&u32>>().len();
    if clusters.is_some() && cluster_count < MIN_ITEMS {
        return None;
    }
    let (units, of) = if clusters.is_some() {
        (cluster_count as u64, "clusters")
    } else {
        (drawn.len() as u64, "items")
    };
    let scores: Vec<Vec<Option<f64>>> = outcomes
        .iter()
        .map(|outcomes| drawn.iter().map(|item| outcomes.item_mean(*item)).collect())
        .collect();
    let seed = seed_from_values(scores.iter().flatten().map(|score| score.unwrap_or(-1.0)));
    let shares = probability_of_best(
        &scores,
        clusters.as_deref(),
        metric.direction != Direction::Down,
        RANK_RESAMPLES,
        Seed(seed),
    );
    shares.ok().map(|shares| FirstPlaceShares {
        shares,
        drawn: Drawn {
            resamples: RANK_RESAMPLES,
            units,
            of,
        },
    })
}
