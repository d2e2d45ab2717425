//! Where the arms of a board stand: the places that the evidence leaves open, the chance of coming first, and what quality costs.

use std::collections::{BTreeMap, BTreeSet};

use schemars::JsonSchema;
use serde::Serialize;

use crate::domain::{Direction, Metric};
use crate::stats::{RankRange, Seed, Verdict, probability_of_best};

use super::arm::Arm;
use super::evidence::{self, Design, Evidence, MAX_APART, MIN_ITEMS, Policy, Reason, Resolution};
use super::sample::{Items, Rates, is_marked};
use super::texts::Pairing;

/// An arm's place by the evidence on the pass rate.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Standing {
    /// Best: one more than the arms that are significantly better. Worst: the arms with a pass rate, less those that are significantly worse.
    pub rank: RankRange,
    /// The arm has the best pass rate, or is not significantly worse than the one that has it.
    pub is_leading: bool,
    /// Arms that share a letter cannot be told apart; absent where no two can.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub letters: Option<String>,
    /// How often the arm comes first when the items are drawn anew, an equal first place shared; see [`BoardEvidence::drawn`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub p_best: Option<f64>,
}

/// What the pass rates of a board's arms support, over all pairs of arms with one.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct BoardEvidence {
    pub metric: Metric,
    /// The chance, over the family of pairs, of calling an arm better where there is no difference.
    pub alpha: f64,
    /// Arms with a pass rate.
    pub arms: u64,
    pub pairs: u64,
    /// Pairs with enough data for a test: the family that Holm's adjustment is over.
    pub tested: u64,
    /// Pairs in which one arm is significantly better.
    pub resolved: u64,
    /// Pairs in which every run of both arms has the same outcomes.
    pub deterministic: u64,
    /// Pairs that are a tie, or equivalent within the declared margin.
    pub equal: u64,
    /// Pairs of which anything can be said at all.
    pub comparable: u64,
    /// What the pairs are compared over, ascending.
    pub designs: Vec<Design>,
    /// What most often stands in the way of a verdict.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<Reason>,
    /// The arm that beats every other.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub winner: Option<Arm>,
    /// Arms with outcomes on fewer items than others: in the leading group unless they are beaten, but not the one that leads it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub partial: Vec<Arm>,
    /// What a typical pair could show at all.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resolution: Option<Resolution>,
    /// What the chances of coming first were drawn from; absent where there are none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub drawn: Option<Drawn>,
    /// The chances of coming first would take long and were not asked for.
    pub p_best_left_out: bool,
}

/// How the chances of coming first were drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Drawn {
    pub resamples: u32,
    /// Units in each of them.
    pub units: u64,
    /// `items` or `clusters`.
    pub of: &'static str,
}

/// Whether the chances of coming first are worth their time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Chances {
    Always,
    /// Where they are a matter of a tenth of a second.
    IfQuick,
}

/// An arm's place when the pass rate is weighed against what it takes, both as shown.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Front {
    /// No arm is at least as good on both and better on one.
    OnFront,
    /// `by` is at least as good on both and better on one; of several, the one with the best pass rate.
    Dominated { by: Arm },
}

/// Resamples behind a chance of coming first.
const RESAMPLES: u32 = 2000;
/// With fewer items an item drawn twice or not at all decides too much.
const MIN_RESAMPLED: u64 = 20;
/// Additions that take about a tenth of a second.
const QUICK: u64 = 100_000_000;
/// What drawing a unit takes, in additions.
const DRAW: u64 = 2;

/// Weighs the arms' pass rates against each other. The arms are those that are paired, and the standings come in their order.
///
/// Nothing is said about a single arm.
pub(super) fn standings(
    suite: &str,
    metric: Metric,
    items: &Items,
    rates: &[Rates],
    pairing: &Pairing<'_>,
    policy: &Policy,
    chances: Chances,
) -> (Option<BoardEvidence>, Vec<Standing>) {
    let arms = pairing.arms();
    let evidence = evidence::of_rates(&metric, suite, items, rates, pairing, policy);
    let designs: BTreeSet<Design> = evidence.pairs.iter().map(|pair| pair.design).collect();
    let best = chances_to_lead(&metric, items, rates, &designs, &pairing.changed_anywhere(), chances);
    // A rate that was only published cannot be tested, so no arm is known to be better.
    let is_leading = |arm: usize| evidence.leading.contains(&arm) || matches!(rates[arm], Rates::Unknown) || arms.len() == 1;
    let standings = (0..arms.len())
        .map(|arm| Standing {
            rank: evidence.ranks[arm],
            is_leading: is_leading(arm),
            letters: evidence.letters.get(arm).cloned(),
            p_best: best.as_ref().ok().and_then(|best| best.shares[arm]),
        })
        .collect();
    let verdicts = |wanted: &[Verdict]| evidence.pairs.iter().filter(|pair| wanted.contains(&pair.verdict)).count() as u64;
    let board = (arms.len() > 1).then(|| BoardEvidence {
        metric,
        alpha: evidence.alpha,
        arms: arms.len() as u64,
        pairs: evidence.pairs.len() as u64,
        tested: evidence.tested,
        resolved: verdicts(&[Verdict::AWins, Verdict::BWins]),
        deterministic: verdicts(&[Verdict::DeterministicDifference]),
        equal: verdicts(&[Verdict::Tie, Verdict::Equivalent]),
        comparable: evidence.pairs.len() as u64 - verdicts(&[Verdict::NotComparable, Verdict::NoData]),
        designs: designs.into_iter().collect(),
        reason: commonest_reason(&evidence),
        winner: evidence.winner.map(|arm| arms[arm].clone()),
        partial: evidence.partial.iter().map(|arm| arms[*arm].clone()).collect(),
        resolution: evidence.resolution,
        drawn: best.as_ref().ok().map(|best| best.drawn),
        p_best_left_out: matches!(best, Err(NoChances::TooMuchWork)),
    });
    (board, standings)
}

fn commonest_reason(evidence: &Evidence) -> Option<Reason> {
    let mut counts = BTreeMap::<Reason, usize>::new();
    for reason in evidence.pairs.iter().filter(|pair| pair.winner().is_none()).filter_map(|pair| pair.reason) {
        *counts.entry(reason).or_default() += 1;
    }
    counts.into_iter().max_by_key(|(reason, count)| (*count, std::cmp::Reverse(*reason))).map(|(reason, _)| reason)
}

/// How often each arm came first.
struct Best {
    shares: Vec<Option<f64>>,
    drawn: Drawn,
}

enum NoChances {
    /// They would say nothing: too few items, or the runs and not the items are what could be drawn anew.
    NoBasis,
    TooMuchWork,
}

/// Draws what the design says was sampled: items, or whole clusters of them. Items marked in `changed` were not the same for all arms.
fn chances_to_lead(
    metric: &Metric,
    items: &Items,
    rates: &[Rates],
    designs: &BTreeSet<Design>,
    changed: &[bool],
    chances: Chances,
) -> Result<Best, NoChances> {
    if rates.len() < 2 || designs.iter().any(|design| matches!(design, Design::Runs | Design::Counts)) {
        return Err(NoChances::NoBasis);
    }
    let outcomes = rates.iter().map(|rates| match rates {
        Rates::Outcomes(outcomes) => Some(outcomes).filter(|outcomes| outcomes.counted >= MIN_RESAMPLED),
        Rates::Counts(_) | Rates::Unknown => None,
    });
    let outcomes = outcomes.collect::<Option<Vec<_>>>().ok_or(NoChances::NoBasis)?;
    // Over different items, the luck of who was asked what would count.
    let is_apart = |item: usize| {
        let tried = outcomes.iter().filter(|outcomes| outcomes.cells[item].1 > 0).count();
        is_marked(changed, item) || (tried > 0 && tried < outcomes.len())
    };
    let all = outcomes.first().map_or(0, |outcomes| outcomes.cells.len());
    if (0..all).filter(|item| is_apart(*item)).count() as f64 > MAX_APART * all as f64 {
        return Err(NoChances::NoBasis);
    }
    let drawn: Vec<usize> = (0..all).filter(|item| !is_marked(changed, *item)).collect();
    let clusters = items.clusters.as_deref().filter(|_| designs.contains(&Design::Clusters));
    let clusters: Option<Vec<u32>> = clusters.map(|clusters| drawn.iter().map(|item| clusters[*item]).collect());
    let cluster_count = clusters.iter().flatten().collect::<BTreeSet<&u32>>().len();
    if clusters.is_some() && cluster_count < MIN_ITEMS {
        return Err(NoChances::NoBasis);
    }
    let (units, of) = if clusters.is_some() { (cluster_count as u64, "clusters") } else { (drawn.len() as u64, "items") };
    let work = u64::from(RESAMPLES).saturating_mul(units).saturating_mul(rates.len() as u64 + DRAW);
    if chances == Chances::IfQuick && work > QUICK {
        return Err(NoChances::TooMuchWork);
    }
    let scores: Vec<Vec<Option<f64>>> = outcomes.iter().map(|outcomes| drawn.iter().map(|item| outcomes.mean(*item)).collect()).collect();
    let seed = evidence::seed(scores.iter().flatten().map(|score| score.unwrap_or(-1.0)));
    let shares = probability_of_best(&scores, clusters.as_deref(), metric.direction != Direction::Down, RESAMPLES, Seed(seed));
    shares.map(|shares| Best { shares, drawn: Drawn { resamples: RESAMPLES, units, of } }).map_err(|_| NoChances::NoBasis)
}

/// What an arm gives and takes.
#[derive(Clone, Copy)]
pub(super) struct Trade<'a> {
    pub arm: &'a Arm,
    pub quality: f64,
    /// Cost or time: less is better.
    pub price: f64,
    /// The price may be higher than this, so it beats no other.
    pub is_lower_bound: bool,
}

/// Finds the front among the arms that have both figures; nothing for the others, and where there are not two of them.
///
/// An arm whose price is a lower bound may be dominated, but is not known to be on the front.
pub(super) fn fronts(trades: &[Option<Trade<'_>>]) -> Vec<Option<Front>> {
    if trades.iter().flatten().count() < 2 {
        return vec![None; trades.len()];
    }
    let beats = |other: &Trade<'_>, own: &Trade<'_>| {
        !other.is_lower_bound
            && other.quality >= own.quality
            && other.price <= own.price
            && (other.quality > own.quality || other.price < own.price)
    };
    let place = |own: &Trade<'_>| {
        let better = trades.iter().flatten().filter(|other| beats(other, own));
        let best = better.max_by(|one, other| {
            one.quality.total_cmp(&other.quality).then(other.price.total_cmp(&one.price)).then(other.arm.cmp(one.arm))
        });
        match best {
            Some(by) => Some(Front::Dominated { by: by.arm.clone() }),
            None if own.is_lower_bound => None,
            None => Some(Front::OnFront),
        }
    };
    trades.iter().map(|trade| trade.as_ref().and_then(place)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `name quality price`, a price with `+` being a lower bound; the front in the same order: `*`, a name, or `?`.
    #[track_caller]
    fn check(trades: &[&str], expected: &[&str]) {
        let arms: Vec<Arm> = trades
            .iter()
            .map(|text| Arm { approach: text.split(' ').next().unwrap_or_default().to_owned(), model: String::new() })
            .collect();
        let trade = |(text, arm)| {
            let text: &str = text;
            let mut words = text.split(' ').skip(1);
            let quality = words.next()?.parse().ok()?;
            let price = words.next()?;
            Some(Trade { arm, quality, price: price.trim_end_matches('+').parse().ok()?, is_lower_bound: price.ends_with('+') })
        };
        let trades: Vec<Option<Trade<'_>>> = trades.iter().copied().zip(&arms).map(trade).collect();
        let found: Vec<String> = fronts(&trades)
            .into_iter()
            .map(|front| match front {
                Some(Front::OnFront) => "*".to_owned(),
                Some(Front::Dominated { by }) => by.approach,
                None => "?".to_owned(),
            })
            .collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn better_and_cheaper_dominates() {
        check(&["a 0.9 3", "b 0.5 1", "c 0.7 2", "d 0.6 2.5"], &["*", "*", "*", "c"]);
        // At least as good on both and better on one.
        check(&["a 0.9 3", "b 0.9 4", "c 0.8 3"], &["*", "a", "a"]);
        // Equal on both: neither dominates the other.
        check(&["a 0.9 3", "b 0.9 3"], &["*", "*"]);
    }

    #[test]
    fn what_is_not_known_dominates_nothing() {
        check(&["a 0.9 1+", "b 0.5 2", "c 0.4 3"], &["?", "*", "b"]);
        check(&["a 0.9 1", "b 0.5 2+", "c 0.5"], &["*", "a", "?"]);
        check(&["a 0.9 1", "b 0.5"], &["?", "?"]);
    }
}
