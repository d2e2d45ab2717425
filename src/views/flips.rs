//! Pass and fail counts of two arms on their shared items.

use schemars::JsonSchema;
use serde::Serialize;

use crate::domain::{ItemKind, natural_key};
use crate::inference::{ArmRates, BetterArm, SharedItem, SuiteComparison};

/// Counts of two arms on shared items. If an item has several outcomes of an arm, the counts compare pass rates by item: see `by_rate`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Flips {
    pub shared: u64,
    /// Items that both passed; by rate, items with equal rates above one half.
    pub both_passed: u64,
    /// Items that only the first arm passed; by rate, items on which it has the higher rate.
    pub only_first: u64,
    pub only_second: u64,
    /// Items that neither passed; by rate, items with equal rates of at most one half.
    pub neither: u64,
    /// Whether an item has several outcomes of an arm, so that the counts compare the arms' pass rates on each item.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub by_rate: bool,
    /// Names of the items, if requested.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub items: Option<FlippedItems>,
    /// The first items of each of the four outcomes. Only on the pages of a site.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub listed: Option<ListedItems>,
}

/// Maximum number of items listed for each of a pair's four outcomes.
pub const MAX_LISTED: usize = 200;

/// The items of a pair's four outcomes. Each list is sorted by kind, evaluator and name, and has at most [`MAX_LISTED`].
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

/// Items that only one arm passed, or on which it has the higher rate, sorted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct FlippedItems {
    pub only_first: Vec<String>,
    pub only_second: Vec<String>,
}

impl Flips {
    /// Returns the number of items on which the arms do equally well.
    pub fn equal_count(&self) -> u64 {
        self.both_passed + self.neither
    }
}

/// Counts the outcomes of two of a suite's arms on shared items.
pub(super) fn count_flips(answer: &SuiteComparison<'_>, one: usize, other: usize) -> Option<Flips> {
    let mut flips = Flips {
        shared: 0,
        both_passed: 0,
        only_first: 0,
        only_second: 0,
        neither: 0,
        by_rate: false,
        items: None,
        listed: None,
    };
    visit_shared_items(answer, one, other, |met| {
        flips.shared += 1;
        flips.by_rate |= !met.is_single;
        match met.better_arm() {
            BetterArm::Both => flips.both_passed += 1,
            BetterArm::First => flips.only_first += 1,
            BetterArm::Second => flips.only_second += 1,
            BetterArm::Neither => flips.neither += 1,
        }
    })?;
    (flips.shared > 0).then_some(flips)
}

pub(super) fn flipped_items(
    answer: &SuiteComparison<'_>,
    one: usize,
    other: usize,
) -> Option<FlippedItems> {
    let mut items = FlippedItems {
        only_first: Vec::new(),
        only_second: Vec::new(),
    };
    visit_shared_items(answer, one, other, |met| {
        let name = || answer.matrix.items[met.column].key.item.clone();
        match met.better_arm() {
            BetterArm::First => items.only_first.push(name()),
            BetterArm::Second => items.only_second.push(name()),
            BetterArm::Both | BetterArm::Neither => {}
        }
    })?;
    for names in [&mut items.only_first, &mut items.only_second] {
        names.sort_by_cached_key(|name| natural_key(name));
    }
    Some(items)
}

pub(super) fn listed_items(
    answer: &SuiteComparison<'_>,
    one: usize,
    other: usize,
) -> Option<ListedItems> {
    let mut items = ListedItems::default();
    visit_shared_items(answer, one, other, |met| {
        let list = match met.better_arm() {
            BetterArm::Both => &mut items.both_passed,
            BetterArm::First => &mut items.only_first,
            BetterArm::Second => &mut items.only_second,
            BetterArm::Neither => &mut items.neither,
        };
        if list.len() < MAX_LISTED {
            let key = &answer.matrix.items[met.column].key;
            list.push(ListedItem {
                kind: key.kind,
                item: key.item.clone(),
                evaluator: key.evaluator.clone(),
            });
        }
    })?;
    Some(items)
}

/// Calls `each` with every item that both arms share. Returns `None` if an arm has no outcomes.
fn visit_shared_items(
    answer: &SuiteComparison<'_>,
    one: usize,
    other: usize,
    each: impl FnMut(SharedItem),
) -> Option<()> {
    answer.with_same_texts(one, other, |first, second| match (first, second) {
        (ArmRates::Outcomes(first), ArmRates::Outcomes(second)) => {
            first.for_each_shared(second, &answer.items, each);
            Some(())
        }
        _ => None,
    })
}
