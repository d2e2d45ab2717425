//! The items on which two arms differ, or which one arm failed, as their cohorts need them.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::domain::ItemKind;
use crate::inference::{
    ArmRates, BetterArm, Design, EQUAL_SHARE_TOLERANCE, MIN_ITEMS, SuiteComparison,
};

/// The items of a suite by place.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SuiteItemNames {
    /// Kind and name. An item with several evaluators is one item.
    pub(super) keys: Vec<(ItemKind, String)>,
    /// By place: who decides.
    pub(super) evaluators: Vec<Vec<String>>,
}

/// One item on which two arms differ.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct DifferingItem {
    /// Its place in the suite's items.
    pub place: u32,
    /// The first arm's share of passed outcomes minus the second's.
    pub difference: f64,
    /// The evaluators that made the difference, if others did not.
    pub evaluators: Vec<String>,
}

/// The items on which two arms differ, out of those that both have. For one arm, the items that it failed in part or wholly.
#[derive(Clone, Debug, PartialEq)]
pub struct DifferingItems {
    pub(super) names: Arc<SuiteItemNames>,
    /// Places of the shared items.
    pub(super) shared: Vec<u32>,
    pub(super) items: Vec<DifferingItem>,
    /// What the items are: `questions`, `tests`.
    pub(super) word: &'static str,
    /// The effective number of independent items: the number of items, or for clusters the number of equal clusters that would vary as
    /// much. `None` if there are too few, or if the items share an artefact.
    pub(super) independent: Option<f64>,
}

impl SuiteItemNames {
    pub(super) fn from_answer(answer: &SuiteComparison<'_>) -> Arc<Self> {
        let mut names = Self::default();
        answer.items.for_each_item(|_, columns| {
            let keys = || {
                columns
                    .iter()
                    .map(|column| &answer.matrix.items[*column as usize].key)
            };
            let first = keys().next();
            names
                .keys
                .push(first.map_or((ItemKind::Question, String::new()), |key| {
                    (key.kind, key.item.clone())
                }));
            names
                .evaluators
                .push(keys().map(|key| key.evaluator.clone()).collect());
        });
        Arc::new(names)
    }
}

impl DifferingItems {
    /// Finds the items on which two arms differ. Returns `None` if an arm has no outcomes of items.
    pub(super) fn between(
        answer: &SuiteComparison<'_>,
        names: &Arc<SuiteItemNames>,
        one: usize,
        other: usize,
    ) -> Option<Self> {
        // By column: its item's place.
        let mut places = BTreeMap::new();
        answer.items.for_each_item(|place, columns| {
            places.extend(columns.iter().map(|column| (*column as usize, place)));
        });
        answer.with_same_texts(one, other, |first, second| {
            let (ArmRates::Outcomes(first), ArmRates::Outcomes(second)) = (first, second) else {
                return None;
            };
            let (mut shared, mut items) = (Vec::new(), Vec::new());
            first.for_each_shared(second, &answer.items, |met| {
                let Some(place) = places.get(&met.column).copied() else {
                    return;
                };
                shared.push(place);
                if matches!(met.better_arm(), BetterArm::Both | BetterArm::Neither) {
                    return;
                }
                let columns = answer.items.columns_of(place);
                let difference = met.rates[0] - met.rates[1];
                let made_it = |column: &&u32| {
                    let column = **column as usize;
                    let own = first.item_mean(column).zip(second.item_mean(column));
                    own.is_some_and(|(first, second)| {
                        (first - second) * difference > EQUAL_SHARE_TOLERANCE
                    })
                };
                let deciding: Vec<&u32> = columns.iter().filter(made_it).collect();
                let is_part = deciding.len() < columns.len();
                items.push(DifferingItem {
                    place,
                    difference,
                    evaluators: deciding
                        .into_iter()
                        .filter(|_| is_part)
                        .map(|column| answer.matrix.items[*column as usize].key.evaluator.clone())
                        .collect(),
                });
            });
            Some(Self::from_items(answer, names, shared, items))
        })
    }

    /// Finds the items of one arm with a failed outcome, compared with passing everything. Returns `None` if it has no outcomes of items.
    pub(super) fn of_arm(
        answer: &SuiteComparison<'_>,
        names: &Arc<SuiteItemNames>,
        arm: usize,
    ) -> Option<Self> {
        let ArmRates::Outcomes(outcomes) = answer.rates.get(arm)? else {
            return None;
        };
        let (mut shared, mut items) = (Vec::new(), Vec::new());
        answer.items.for_each_item(|place, columns| {
            let rates: Vec<(u32, f64)> = columns
                .iter()
                .filter_map(|column| Some((*column, outcomes.item_mean(*column as usize)?)))
                .collect();
            if rates.is_empty() {
                return;
            }
            shared.push(place);
            let difference =
                rates.iter().map(|(_, rate)| rate).sum::<f64>() / rates.len() as f64 - 1.0;
            if difference >= -EQUAL_SHARE_TOLERANCE {
                return;
            }
            let failed: Vec<u32> = rates
                .iter()
                .filter(|(_, rate)| *rate < 1.0 - EQUAL_SHARE_TOLERANCE)
                .map(|(column, _)| *column)
                .collect();
            let is_part = failed.len() < rates.len();
            let names = failed.into_iter().filter(|_| is_part);
            items.push(DifferingItem {
                place,
                difference,
                evaluators: names
                    .map(|column| answer.matrix.items[column as usize].key.evaluator.clone())
                    .collect(),
            });
        });
        (!shared.is_empty()).then(|| Self::from_items(answer, names, shared, items))
    }

    fn from_items(
        answer: &SuiteComparison<'_>,
        names: &Arc<SuiteItemNames>,
        shared: Vec<u32>,
        items: Vec<DifferingItem>,
    ) -> Self {
        let independent =
            independent_count(answer, &shared).filter(|count| *count >= MIN_ITEMS as f64);
        Self {
            names: Arc::clone(names),
            shared,
            items,
            word: answer.items.plural_word(),
            independent,
        }
    }
}

/// Returns the effective number of independent items, or `None` if the items share an artefact.
fn independent_count(answer: &SuiteComparison<'_>, shared: &[u32]) -> Option<f64> {
    match (answer.unit, &answer.items.clusters) {
        (Design::Runs | Design::Counts, _) => None,
        (Design::Clusters, Some(clusters)) => {
            let mut sizes = BTreeMap::<u32, f64>::new();
            for place in shared {
                *sizes.entry(clusters[*place as usize]).or_default() += 1.0;
            }
            let squares: f64 = sizes.values().map(|size| size * size).sum();
            Some((shared.len() as f64).powi(2) / squares)
        }
        (Design::Items | Design::Clusters, _) => Some(shared.len() as f64),
    }
}
