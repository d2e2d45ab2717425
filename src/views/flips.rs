//! Pass and fail counts of two arms on their shared items.

use schemars::JsonSchema;
use serde::Serialize;

use crate::domain::ItemKind;
use crate::inference::{Rates, SuiteAnswer};

/// Pass and fail counts of two arms on shared items. An arm passes an item if more than half of its outcomes at the item passed, over all
/// attempts and evaluators.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Flips {
    pub shared: u64,
    pub both_passed: u64,
    pub only_first: u64,
    pub only_second: u64,
    pub neither: u64,
    /// Names of the items, if requested.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub items: Option<FlippedItems>,
    /// The first items of each of the four outcomes. Only on the pages of a site.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub listed: Option<ListedItems>,
}

/// Maximum number of items listed for each of a pair's four outcomes.
pub const MOST_LISTED: usize = 200;

/// The items of a pair's four outcomes. Each list is sorted by kind, evaluator and name, and has at most [`MOST_LISTED`].
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ListedItems {
    pub both_passed: Vec<ListedItem>,
    pub only_first: Vec<ListedItem>,
    pub only_second: Vec<ListedItem>,
    pub neither: Vec<ListedItem>,
}

/// An item by name.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
pub struct ListedItem {
    pub kind: ItemKind,
    pub item: String,
    /// The evaluator, if another one has an item of the same name.
    #[serde(skip)]
    pub evaluator: String,
}

/// Items that only one arm passed, sorted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct FlippedItems {
    pub only_first: Vec<String>,
    pub only_second: Vec<String>,
}

/// Counts the outcomes of two of a suite's arms on shared items.
pub(super) fn of_pair(answer: &SuiteAnswer<'_>, one: usize, other: usize) -> Option<Flips> {
    let mut flips = Flips { shared: 0, both_passed: 0, only_first: 0, only_second: 0, neither: 0, items: None, listed: None };
    each_item(answer, one, other, |_, passed| {
        flips.shared += 1;
        match passed {
            (true, true) => flips.both_passed += 1,
            (true, false) => flips.only_first += 1,
            (false, true) => flips.only_second += 1,
            (false, false) => flips.neither += 1,
        }
    })?;
    (flips.shared > 0).then_some(flips)
}

pub(super) fn flipped_items(answer: &SuiteAnswer<'_>, one: usize, other: usize) -> Option<FlippedItems> {
    let mut items = FlippedItems { only_first: Vec::new(), only_second: Vec::new() };
    each_item(answer, one, other, |column, passed| {
        let name = || answer.matrix.items[column].key.item.clone();
        match passed {
            (true, false) => items.only_first.push(name()),
            (false, true) => items.only_second.push(name()),
            (true, true) | (false, false) => {}
        }
    })?;
    Some(items)
}

pub(super) fn listed_items(answer: &SuiteAnswer<'_>, one: usize, other: usize) -> Option<ListedItems> {
    let mut items = ListedItems::default();
    each_item(answer, one, other, |column, passed| {
        let list = match passed {
            (true, true) => &mut items.both_passed,
            (true, false) => &mut items.only_first,
            (false, true) => &mut items.only_second,
            (false, false) => &mut items.neither,
        };
        if list.len() < MOST_LISTED {
            let key = &answer.matrix.items[column].key;
            list.push(ListedItem { kind: key.kind, item: key.item.clone(), evaluator: key.evaluator.clone() });
        }
    })?;
    Some(items)
}

/// Calls `each` with the column of every item that both arms share, and whether each arm passed it. Returns `None` if an arm has no
/// outcomes.
fn each_item(answer: &SuiteAnswer<'_>, one: usize, other: usize, each: impl FnMut(usize, (bool, bool))) -> Option<()> {
    answer.on_same_texts(one, other, |first, second| match (first, second) {
        (Rates::Outcomes(first), Rates::Outcomes(second)) => {
            first.majorities(second, &answer.items, each);
            Some(())
        }
        _ => None,
    })
}
