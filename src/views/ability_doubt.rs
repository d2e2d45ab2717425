//! What abilities take for granted about items that an arm was not asked, and where the answers speak against it.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Serialize;

use crate::inference::{AuditedBoard, MAX_UNSHARED_ITEMS};
use crate::stats::{Interval, ItemResponse, normal_two_sided, welch_test};

/// A reason not to place an arm by its ability.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum AbilityDoubt {
    /// Its answers in a category are better or worse than one ability for all items explains.
    Category {
        category: String,
        /// Items of it that the arm was asked, its mean score on them, and the model's expectation.
        items: u64,
        score: f64,
        expected: f64,
        /// Adjusted for all arms and categories (Bonferroni).
        p: f64,
    },
    /// It was asked too few items of a category to tell how it does there.
    Unasked {
        category: String,
        /// Items of it that the arm was asked, and all.
        items: u64,
        of: u64,
    },
}

/// Mean scores of the other arms on the items that an arm was asked, and on those that it was not, if the latter are harder beyond chance.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct HarderUnasked {
    pub asked: f64,
    pub unasked: f64,
    /// Adjusted for all arms (Bonferroni).
    pub p: f64,
}

/// Level of the tests, which all arms of a board share.
const LEVEL: f64 = 0.05;
/// A category with fewer items is not looked at.
const MIN_CATEGORY: usize = 10;
/// Items of a category that an arm must have been asked for a test.
const MIN_ASKED: usize = 5;
/// An arm that was asked a smaller share of a category has no rate on all items.
const MIN_SHARE: f64 = 0.2;
/// Asked and unasked items whose difficulty is compared.
const MIN_COMPARED: usize = 10;

/// Items of a board by category.
type ItemsByCategory<'a> = BTreeMap<&'a str, Vec<usize>>;

/// Finds the doubt about each arm, the strongest first. `categories` are those of the items, empty if none is recorded.
pub(super) fn find_doubts(
    board: &AuditedBoard,
    found: &ItemResponse,
    categories: &[Option<String>],
) -> Vec<Option<AbilityDoubt>> {
    let mut sets = ItemsByCategory::new();
    for (item, category) in categories.iter().enumerate() {
        if let Some(category) = category {
            sets.entry(category).or_default().push(item);
        }
    }
    sets.retain(|_, items| items.len() >= MIN_CATEGORY);
    let arms = 0..board.systems.len();
    if sets.len() < 2 {
        return arms.map(|_| None).collect();
    }
    let tests = (board.systems.len() * sets.len()) as f64;
    let doubt = |arm: usize| {
        let by_category = sets.iter().filter_map(|(category, items)| {
            let test = CategoryTest::new(board, found, (arm, items))?;
            let p = (test.p * tests).min(1.0);
            (p < LEVEL).then(|| AbilityDoubt::Category {
                category: (*category).to_owned(),
                items: test.items,
                score: test.score,
                expected: test.expected,
                p,
            })
        });
        let worst = by_category.min_by(|one, other| one.p().total_cmp(&other.p()));
        worst.or_else(|| {
            sets.iter().find_map(|(category, items)| {
                let asked = count_asked(board, arm, items);
                ((asked as f64) < MIN_SHARE * items.len() as f64 && asked < items.len()).then(
                    || AbilityDoubt::Unasked {
                        category: (*category).to_owned(),
                        items: asked as u64,
                        of: items.len() as u64,
                    },
                )
            })
        })
    };
    arms.map(|arm| {
        found.abilities[arm]
            .finite_effect()
            .and_then(|_| doubt(arm))
    })
    .collect()
}

impl AbilityDoubt {
    fn p(&self) -> f64 {
        match self {
            Self::Category { p, .. } => *p,
            Self::Unasked { .. } => 1.0,
        }
    }
}

fn count_asked(board: &AuditedBoard, arm: usize, items: &[usize]) -> usize {
    items
        .iter()
        .filter(|item| board.scores[arm][**item].is_some())
        .count()
}

/// An arm's answers in a category against its ability.
struct CategoryTest {
    items: u64,
    score: f64,
    expected: f64,
    p: f64,
}

impl CategoryTest {
    /// Sums what answers are above or below the model's chances, in standard deviations. Abilities and difficulties are fitted to the same
    /// answers, so the sum varies less than that.
    fn new(
        board: &AuditedBoard,
        found: &ItemResponse,
        (arm, items): (usize, &[usize]),
    ) -> Option<Self> {
        let ability = found.abilities[arm].finite_effect()?.value;
        let cells: Vec<(f64, f64)> = items
            .iter()
            .filter_map(|item| {
                let (score, parameters) = (board.scores[arm][*item]?, found.items[*item]?);
                let slope = parameters.discrimination.map_or(1.0, |slope| slope.value);
                let odds = (slope * (ability - parameters.difficulty)).exp();
                Some((score, odds / (1.0 + odds)))
            })
            .collect();
        let variance: f64 = cells
            .iter()
            .map(|(_, chance)| chance * (1.0 - chance))
            .sum();
        if cells.len() < MIN_ASKED || variance < 1.0 {
            return None;
        }
        let n = cells.len() as f64;
        let score = cells.iter().map(|cell| cell.0).sum::<f64>() / n;
        let expected = cells.iter().map(|cell| cell.1).sum::<f64>() / n;
        Some(Self {
            items: cells.len() as u64,
            score,
            expected,
            p: normal_two_sided(n * (score - expected) / variance.sqrt()),
        })
    }
}

/// Returns whether an arm was asked so few items that its place rests on what it would have done on the others.
pub(super) fn lacks_items(board: &AuditedBoard, arm: usize) -> bool {
    let asked = board.scores[arm].iter().flatten().count();
    (asked as f64) < (1.0 - MAX_UNSHARED_ITEMS) * board.items.len() as f64
}

/// Returns the ends of an arm's rate on all items if it failed all others, and if it passed them all (Manski 1990).
pub(super) fn rate_bounds(board: &AuditedBoard, arm: usize) -> Option<Interval> {
    let (all, passed) = (
        board.items.len() as f64,
        board.scores[arm].iter().flatten().sum::<f64>(),
    );
    let asked = board.scores[arm].iter().flatten().count() as f64;
    Interval::new(passed / all, (passed + all - asked) / all)
}

/// Returns whether the items that an arm was not asked are harder than those that it was, by the scores of the other arms.
pub(super) fn harder_unasked(board: &AuditedBoard, arm: usize) -> Option<HarderUnasked> {
    let (mut asked, mut unasked) = (Vec::new(), Vec::new());
    for item in 0..board.items.len() {
        let others: Vec<f64> = (0..board.systems.len())
            .filter(|other| *other != arm)
            .filter_map(|other| board.scores[other][item])
            .collect();
        if others.is_empty() {
            continue;
        }
        let mean = others.iter().sum::<f64>() / others.len() as f64;
        if board.scores[arm][item].is_some() {
            asked.push(mean);
        } else {
            unasked.push(mean);
        }
    }
    if asked.len().min(unasked.len()) < MIN_COMPARED {
        return None;
    }
    let test = welch_test(&asked, &unasked, 1.0 - LEVEL).ok()?;
    let p = (test.p * board.systems.len() as f64).min(1.0);
    let mean = |scores: &[f64]| scores.iter().sum::<f64>() / scores.len() as f64;
    let (asked, unasked) = (mean(&asked), mean(&unasked));
    (p < LEVEL && unasked < asked).then_some(HarderUnasked { asked, unasked, p })
}
