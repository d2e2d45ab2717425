//! How two arms' outcomes fell on the items that both have.

use schemars::JsonSchema;
use serde::Serialize;

use crate::domain::ItemKind;
use crate::inference::{Rates, SuiteAnswer};
use crate::warehouse::OutcomeMatrix;

/// How two arms' outcomes fell on shared items. An arm passes an item when it passed more than half of its attempts at it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Flips {
    pub shared: u64,
    pub both_passed: u64,
    pub only_first: u64,
    pub only_second: u64,
    pub neither: u64,
    /// The items by name, where they were asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub items: Option<FlippedItems>,
    /// The first items of each of the four outcomes; on the pages of a site.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub listed: Option<ListedItems>,
}

/// Items kept of each of the four outcomes of a pair.
pub const MOST_LISTED: usize = 200;

/// The items of the four outcomes of a pair, each list by kind, evaluator and name and of at most [`MOST_LISTED`].
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ListedItems {
    pub both_passed: Vec<ListedItem>,
    pub only_first: Vec<ListedItem>,
    pub only_second: Vec<ListedItem>,
    pub neither: Vec<ListedItem>,
}

/// One item by its name.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
pub struct ListedItem {
    pub kind: ItemKind,
    pub item: String,
    /// Tells it from another evaluator's item of the same name.
    #[serde(skip)]
    pub evaluator: String,
}

/// Items that one arm passed and the other did not, sorted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct FlippedItems {
    pub only_first: Vec<String>,
    pub only_second: Vec<String>,
}

/// How the outcomes of two of a suite's arms fell on shared items.
pub(super) fn of_pair(answer: &SuiteAnswer<'_>, one: usize, other: usize) -> Option<Flips> {
    answer.on_same_texts(one, other, flips)
}

fn flips(first: &Rates, second: &Rates) -> Option<Flips> {
    let (Rates::Outcomes(first), Rates::Outcomes(second)) = (first, second) else { return None };
    let mut flips = Flips { shared: 0, both_passed: 0, only_first: 0, only_second: 0, neither: 0, items: None, listed: None };
    for item in 0..first.cells.len() {
        let Some(passed) = first.majority(item).zip(second.majority(item)) else { continue };
        flips.shared += 1;
        match passed {
            (true, true) => flips.both_passed += 1,
            (true, false) => flips.only_first += 1,
            (false, true) => flips.only_second += 1,
            (false, false) => flips.neither += 1,
        }
    }
    (flips.shared > 0).then_some(flips)
}

pub(super) fn flipped_items(first: &Rates, second: &Rates, matrix: &OutcomeMatrix) -> Option<FlippedItems> {
    let (Rates::Outcomes(first), Rates::Outcomes(second)) = (first, second) else { return None };
    let mut items = FlippedItems { only_first: Vec::new(), only_second: Vec::new() };
    for (number, item) in matrix.items.iter().enumerate() {
        match first.majority(number).zip(second.majority(number)) {
            Some((true, false)) => items.only_first.push(item.key.item.clone()),
            Some((false, true)) => items.only_second.push(item.key.item.clone()),
            Some((true, true) | (false, false)) | None => {}
        }
    }
    Some(items)
}

pub(super) fn listed_items(first: &Rates, second: &Rates, matrix: &OutcomeMatrix) -> Option<ListedItems> {
    let (Rates::Outcomes(first), Rates::Outcomes(second)) = (first, second) else { return None };
    let mut items = ListedItems::default();
    for (number, item) in matrix.items.iter().enumerate() {
        let Some(passed) = first.majority(number).zip(second.majority(number)) else { continue };
        let list = match passed {
            (true, true) => &mut items.both_passed,
            (true, false) => &mut items.only_first,
            (false, true) => &mut items.only_second,
            (false, false) => &mut items.neither,
        };
        if list.len() < MOST_LISTED {
            list.push(ListedItem { kind: item.key.kind, item: item.key.item.clone(), evaluator: item.key.evaluator.clone() });
        }
    }
    Some(items)
}
