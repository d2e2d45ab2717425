//! Abilities of arms that were asked different items, and how well the items tell arms apart.

use std::collections::{BTreeMap, BTreeSet};

use schemars::JsonSchema;
use serde::Serialize;

use crate::domain::Filter;
use crate::inference::{
    AuditedBoard, BatchSelection, MAX_UNSHARED_ITEMS, Policy, SuiteComparison, SuiteGroup,
    board_groups,
};
use crate::stats::{
    Effect, ExpectedRate, Interval, ItemParameters, ItemResponse, RankRange, ResponseModel, Seed,
    Strength, Unfitted, item_fit, item_response, rank_ranges,
};
use crate::warehouse::Warehouse;

use super::ability_doubt::{
    AbilityDoubt, HarderUnasked, find_doubts, harder_unasked, lacks_items, rate_bounds,
};
use super::audit::board_from_answer;
use super::preferences::Bound;

/// What answers establish about abilities.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Abilities {
    pub board: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sha256: Option<String>,
    /// Items that a fitted arm was asked, and others, which are left out.
    pub items: u64,
    pub unasked: u64,
    /// What the errors count as independent: items, or clusters of items.
    pub units: u64,
    pub has_clusters: bool,
    pub model: ResponseModel,
    /// Twice the gain in log likelihood from discriminations of the items' own, 0 if the fit runs away. Absent if arms are too few, or none
    /// is established to differ.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gain: Option<f64>,
    pub log_likelihood: f64,
    /// Standard deviation of difficulties within a set, and of the logarithm of discriminations.
    pub difficulty_spread: f64,
    pub discrimination_spread: f64,
    /// Sets of items that were asked of the same arms, and items in no such set.
    pub sets: u64,
    pub scattered: u64,
    /// Ablest first: arms without an upper bound, arms with a finite ability, others.
    pub places: Vec<AbleArm>,
    /// Pairs of which one arm is established to be better; those of them of which an arm was asked only some of the items, so that their order
    /// rests on the model; and all pairs.
    pub established_pairs: u64,
    pub pairs_by_model: u64,
    pub pairs: u64,
    pub fit: PairsFit,
    /// In the order of the board.
    pub asked: Vec<FittedItem>,
    pub confidence: f64,
}

impl Abilities {
    /// Returns the items, the hardest first.
    pub fn by_difficulty(&self) -> Vec<&FittedItem> {
        let mut items: Vec<&FittedItem> = self.asked.iter().collect();
        items.sort_by(|one, other| {
            other
                .parameters
                .difficulty
                .total_cmp(&one.parameters.difficulty)
        });
        items
    }
}

/// An arm's place by ability.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct AbleArm {
    pub arm: String,
    /// Items that it was asked, and its mean score on them.
    pub items: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub score: Option<f64>,
    pub bound: Bound,
    /// Log odds on an item of the usual discrimination, against the mean of the arms with a finite ability. Absent for others.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ability: Option<Effect>,
    /// Mean score on all items: its answers where it was asked, and the model's expectation elsewhere.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rate: Option<ExpectedRate>,
    /// Places that the answers cannot rule out. All arms' hold at once.
    pub rank: RankRange,
    /// Whether the arm is established to be better than the next. Absent for the last.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub beats_next: Option<bool>,
    /// Whether that rests on the model, because one of the two was asked only some of the items.
    pub by_model: bool,
    /// The rate on all items if the arm failed all that it was not asked, and if it passed them. Absent for an arm that was asked nearly all.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rate_bounds: Option<Interval>,
    /// Whether it lacks harder items than it has.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub harder_unasked: Option<HarderUnasked>,
    /// Why the arm has no rate on all items, and is established to be better or worse than none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub doubt: Option<AbilityDoubt>,
}

/// How often two arms differ on an item, against the model's expectation.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct PairsFit {
    /// Pairs with enough common items, and means over them.
    pub pairs: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub observed: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expected: Option<f64>,
    /// Pairs that differ more or less often than chance allows, the largest deviation first.
    pub off: Vec<OffPair>,
}

#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct OffPair {
    pub first: String,
    pub second: String,
    /// Items that both were asked.
    pub items: u64,
    pub observed: f64,
    pub expected: f64,
}

/// An item as the fit sees it.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct FittedItem {
    pub item: String,
    /// Fitted arms that were asked, and their mean score.
    pub arms: u64,
    pub score: f64,
    #[serde(flatten)]
    pub parameters: ItemParameters,
    /// Chance under the model that better arms fail it this often while worse ones pass. Absent if all or none passed, and for scores that are
    /// neither 0 nor 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub p: Option<f64>,
    /// It is passed by worse rather than better arms, beyond chance.
    pub is_reversed: bool,
}

/// A board without abilities, and why.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct UnfittedBoard {
    pub board: String,
    pub reason: Unfitted,
}

/// Abilities of arms that were asked different items, so that their pass rates do not compare.
#[derive(Clone, Debug, PartialEq)]
pub struct DifferentItemAbilities {
    /// Arms with a result on too few of the items that any arm has, and all arms.
    pub lacking: u64,
    pub arms: u64,
    pub found: Abilities,
}

const CONFIDENCE: f64 = 0.95;
/// Cells of a larger board take longer than a page of the site may: about a second.
const MAX_CELLS: usize = 200_000;

impl DifferentItemAbilities {
    /// Returns `None` if all arms were asked nearly the same items, and without a fit.
    pub(super) fn from_answer(answer: &SuiteComparison<'_>) -> Option<Self> {
        // The model takes items for independent, and tests of one artefact pass and fail together.
        if !answer.unit.is_over_items() {
            return None;
        }
        let board = board_from_answer(answer);
        let all = board.items.len() as f64;
        let is_lacking = |row: &&Vec<Option<f64>>| {
            (row.iter().flatten().count() as f64) < (1.0 - MAX_UNSHARED_ITEMS) * all
        };
        let lacking = board.scores.iter().filter(is_lacking).count() as u64;
        if lacking == 0 || board.scores.len() * board.items.len() > MAX_CELLS {
            return None;
        }
        Some(Self {
            lacking,
            arms: board.systems.len() as u64,
            found: fit_abilities(&board, &[]).ok()?,
        })
    }
}

/// Fits the abilities of each suite's arms.
pub fn abilities_of_suites(
    warehouse: &Warehouse,
    filter: &Filter,
    policy: &Policy,
) -> Vec<Result<Abilities, UnfittedBoard>> {
    board_groups(warehouse, filter, BatchSelection::AllBatches, policy)
        .iter()
        .map(|group| {
            let answer = SuiteComparison::primary_only(warehouse, group, policy);
            if !answer.unit.is_over_items() {
                return Err(UnfittedBoard {
                    board: group.suite.clone(),
                    reason: Unfitted::OneArtefact,
                });
            }
            let board = board_from_answer(&answer);
            fit_abilities(&board, &item_categories(warehouse, group, &board.items))
        })
        .collect()
}

/// Returns the recorded categories of items, read from each arm's newest run with items.
fn item_categories(
    warehouse: &Warehouse,
    group: &SuiteGroup<'_>,
    items: &[String],
) -> Vec<Option<String>> {
    let newest = group
        .arms
        .iter()
        .filter_map(|arm| arm.counted.iter().rfind(|row| row.items.is_some()));
    let runs: Vec<_> = newest.map(|row| row.run.clone()).collect();
    let mut categories = BTreeMap::<String, String>::new();
    // Items without readable lines have no category.
    for (outcome, details) in warehouse.read_detailed_outcomes(&runs).unwrap_or_default() {
        if let Some(category) = outcome.category_in(&details) {
            categories
                .entry(outcome.item.clone())
                .or_insert_with(|| category.to_owned());
        }
    }
    items
        .iter()
        .map(|item| categories.get(item).cloned())
        .collect()
}

/// Takes back what is established about arms whose place is in doubt.
fn withhold_doubtful(found: ItemResponse, doubts: &[Option<AbilityDoubt>]) -> ItemResponse {
    let mut found = found;
    let doubtful: BTreeSet<usize> = (0..doubts.len())
        .filter(|arm| doubts[*arm].is_some())
        .collect();
    for (arm, beats) in found.beats.iter_mut().enumerate() {
        for (other, beaten) in beats.iter_mut().enumerate() {
            *beaten &= !doubtful.contains(&arm) && !doubtful.contains(&other);
        }
    }
    for arm in doubtful {
        found.rates[arm] = None;
    }
    if let Ok(ranks) = rank_ranges(&found.beats) {
        found.ranks = ranks;
    }
    found
}

/// Fits the abilities of a board's systems. `categories` are those of the items, empty if none is recorded.
pub fn fit_abilities(
    board: &AuditedBoard,
    categories: &[Option<String>],
) -> Result<Abilities, UnfittedBoard> {
    let unfitted = |reason: Unfitted| UnfittedBoard {
        board: board.name.clone(),
        reason,
    };
    let found =
        item_response(&board.scores, board.clusters.as_deref(), CONFIDENCE).map_err(unfitted)?;
    let doubts = find_doubts(board, &found, categories);
    let found = withhold_doubtful(found, &doubts);
    let scores = board
        .scores
        .iter()
        .flatten()
        .map(|score| score.unwrap_or(-1.0));
    let checked = item_fit(
        &board.scores,
        &found,
        Seed(crate::inference::seed_from_values(scores)),
    )
    .map_err(|reason| unfitted(reason.into()))?;
    let mean = |values: &[f64]| {
        (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
    };
    let of_pairs = |of: fn(&crate::stats::PairFit) -> f64| {
        mean(&checked.pairs.iter().map(of).collect::<Vec<f64>>())
    };
    let mut off: Vec<OffPair> = checked
        .pairs
        .iter()
        .filter(|pair| pair.is_off)
        .map(|pair| OffPair {
            first: board.systems[pair.first].clone(),
            second: board.systems[pair.second].clone(),
            items: pair.items,
            observed: pair.observed,
            expected: pair.expected,
        })
        .collect();
    let deviation = |pair: &OffPair| (pair.observed - pair.expected).abs();
    off.sort_by(|one, other| deviation(other).total_cmp(&deviation(one)));
    let fitted: Vec<usize> = (0..board.systems.len())
        .filter(|arm| matches!(found.abilities[*arm], Strength::Finite(_)))
        .collect();
    let item = |(place, parameters): (usize, &Option<ItemParameters>)| {
        let given: Vec<f64> = fitted
            .iter()
            .filter_map(|arm| board.scores[*arm][place])
            .collect();
        Some(FittedItem {
            item: board.items[place].clone(),
            arms: given.len() as u64,
            score: mean(&given)?,
            parameters: (*parameters)?,
            p: checked.items[place],
            is_reversed: checked.reversed[place],
        })
    };
    let asked: Vec<FittedItem> = found.items.iter().enumerate().filter_map(item).collect();
    let arms = board.systems.len() as u64;
    let is_partial: Vec<bool> = (0..board.systems.len())
        .map(|arm| lacks_items(board, arm))
        .collect();
    let established = |is_wanted: &dyn Fn(usize, usize) -> bool| {
        let pairs = found.beats.iter().enumerate().flat_map(|(one, beats)| {
            beats
                .iter()
                .enumerate()
                .filter(move |(other, beats)| **beats && is_wanted(one, *other))
        });
        pairs.count() as u64
    };
    Ok(Abilities {
        board: board.name.clone(),
        sha256: board.sha256.clone(),
        items: asked.len() as u64,
        unasked: (board.items.len() - asked.len()) as u64,
        units: found.units,
        has_clusters: board.clusters.is_some(),
        model: found.model,
        gain: found.gain,
        log_likelihood: found.log_likelihood,
        difficulty_spread: found.difficulty_spread,
        discrimination_spread: found.discrimination_spread,
        sets: found.sets,
        scattered: found.scattered,
        places: rank_places(board, &found, &doubts),
        established_pairs: established(&|_, _| true),
        pairs_by_model: established(&|one, other| is_partial[one] || is_partial[other]),
        pairs: arms * (arms - 1) / 2,
        fit: PairsFit {
            pairs: checked.pairs.len() as u64,
            observed: of_pairs(|pair| pair.observed),
            expected: of_pairs(|pair| pair.expected),
            off,
        },
        asked,
        confidence: CONFIDENCE,
    })
}

fn rank_places(
    board: &AuditedBoard,
    found: &ItemResponse,
    doubts: &[Option<AbilityDoubt>],
) -> Vec<AbleArm> {
    let value = |arm: usize| {
        found.abilities[arm]
            .finite_effect()
            .map_or(0.0, |effect| effect.value)
    };
    let mut order: Vec<usize> = (0..board.systems.len()).collect();
    order.sort_by(|one, other| {
        let by_bound = Bound::from_strength(found.abilities[*one])
            .cmp(&Bound::from_strength(found.abilities[*other]));
        by_bound
            .then(value(*other).total_cmp(&value(*one)))
            .then(board.systems[*one].cmp(&board.systems[*other]))
    });
    let place = |(at, arm): (usize, &usize)| {
        let given: Vec<f64> = board.scores[*arm].iter().flatten().copied().collect();
        AbleArm {
            arm: board.systems[*arm].clone(),
            items: given.len() as u64,
            score: (!given.is_empty()).then(|| given.iter().sum::<f64>() / given.len() as f64),
            bound: Bound::from_strength(found.abilities[*arm]),
            ability: found.abilities[*arm].finite_effect(),
            rate: found.rates[*arm],
            rank: found.ranks[*arm],
            beats_next: order.get(at + 1).map(|next| found.beats[*arm][*next]),
            by_model: lacks_items(board, *arm)
                || order
                    .get(at + 1)
                    .is_some_and(|next| lacks_items(board, *next)),
            rate_bounds: lacks_items(board, *arm)
                .then(|| rate_bounds(board, *arm))
                .flatten(),
            harder_unasked: harder_unasked(board, *arm),
            doubt: doubts[*arm].clone(),
        }
    };
    order.iter().enumerate().map(place).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arms_without_bounds_come_first_and_last() {
        let of = |passes: fn(usize) -> bool| {
            (0..40)
                .map(|item| Some(f64::from(u8::from(passes(item)))))
                .collect::<Vec<_>>()
        };
        let mut alone = vec![None; 40];
        alone[0] = Some(1.0);
        alone[1] = Some(0.0);
        let rows = [
            alone,
            of(|_| false),
            of(|item| item % 4 == 0),
            of(|item| item % 3 > 0),
            of(|_| true),
            of(|item| item % 2 == 0),
        ];
        let board = AuditedBoard {
            name: "made".to_owned(),
            systems: ["v", "w", "x", "y", "z", "u"].map(str::to_owned).to_vec(),
            items: (0..40).map(|item| item.to_string()).collect(),
            scores: rows.to_vec(),
            clusters: None,
            are_rates: false,
            provenance: Vec::new(),
            judged_by: None,
            sha256: None,
        };
        let found = fit_abilities(&board, &[]).expect("a fit");
        let places: Vec<(&str, Bound)> = found
            .places
            .iter()
            .map(|place| (place.arm.as_str(), place.bound))
            .collect();
        let wanted = [
            ("z", Bound::NoUpper),
            ("y", Bound::Finite),
            ("u", Bound::Finite),
            ("x", Bound::Finite),
            ("w", Bound::NoLower),
            ("v", Bound::Unconnected),
        ];
        assert_eq!(places, wanted);
        // Everything was asked of fitted arms, so rates on all items are those that are observed.
        let rate = found.places[1].rate.expect("a rate").value;
        assert!((rate - found.places[1].score.expect("a score")).abs() < 1e-12);
        assert_eq!(
            (
                found.places[0].rate,
                found.places[5].ability,
                found.places[5].rank
            ),
            (None, None, RankRange { best: 1, worst: 6 })
        );
        assert_eq!((found.fit.pairs, found.asked[0].arms), (3, 3));
        let few = AuditedBoard {
            systems: board.systems[..3].to_vec(),
            scores: board.scores[..3].to_vec(),
            ..board
        };
        assert_eq!(
            fit_abilities(&few, &[]).expect_err("one arm").reason,
            Unfitted::TooFewArms { linked: 1 }
        );
    }
}
