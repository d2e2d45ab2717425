//! The items that two arms have in common.

use std::collections::{BTreeMap, BTreeSet};

use crate::warehouse::OutcomeMatrix;

use super::mismatch::{Mismatch, MismatchKind, SharedItems};
use super::run_conditions::join_values;
use super::sample::{ArmOutcomes, AskedState, is_column_marked};
use super::texts::ArmTexts;

/// The shared items of two arms, matched by full key, and else by name: an item stays the same whoever judges it.
pub(super) struct ItemOverlap {
    pub items: SharedItems,
    /// Matrix items that both arms were asked in different texts, ascending. If their evaluators differ, the first arm's items.
    pub changed: Vec<usize>,
    /// Items with the same name but different evaluators per arm.
    renamed: Vec<(usize, usize)>,
}

impl ItemOverlap {
    /// `names` numbers the items' names. `None` if names alone identify items.
    pub fn new(
        (one, texts): (&ArmOutcomes, &ArmTexts),
        (other, other_texts): (&ArmOutcomes, &ArmTexts),
        names: Option<&[u32]>,
    ) -> Self {
        // If neither arm has any pass or fail, skipped items count as asked.
        let has_no_rates = one.is_unrated() && other.is_unrated();
        if let (Some(own), Some(others), false) = (&one.single, &other.single, has_no_rates) {
            let (shared, of) = own.asked_counts(others);
            if let Some(unknown) = texts.count_unknown_unless_hashed(other_texts, shared) {
                return Self {
                    items: SharedItems {
                        shared,
                        of,
                        changed: 0,
                        unknown,
                    },
                    changed: Vec::new(),
                    renamed: Vec::new(),
                };
            }
        }
        let was = |outcomes: &ArmOutcomes, item| match outcomes.asked_state(item) {
            AskedState::Answered => true,
            AskedState::Skipped => has_no_rates,
            AskedState::Not => false,
        };
        let marks = texts.changed_items(other_texts);
        let mut items = SharedItems {
            shared: 0,
            of: 0,
            changed: 0,
            unknown: 0,
        };
        let class = |item: usize| match (was(one, item), was(other, item)) {
            (true, true) if is_column_marked(&marks, item) => ColumnClass::Changed,
            (true, true) => ColumnClass::Shared,
            (true, false) => ColumnClass::Alone,
            (false, true) => ColumnClass::OtherAlone,
            (false, false) => ColumnClass::Neither,
        };
        let surplus = names
            .map(|names| mark_surplus_columns(class, names))
            .unwrap_or_default();
        let columns = || (0..one.cells.len()).filter(|item| !is_column_marked(&surplus, *item));
        let (mut changed, mut alone, mut other_alone) = (Vec::new(), Vec::new(), Vec::new());
        for item in columns() {
            match class(item) {
                ColumnClass::Changed => changed.push(item),
                ColumnClass::Shared => items.shared += 1,
                ColumnClass::Alone => alone.push(item),
                ColumnClass::OtherAlone => other_alone.push(item),
                ColumnClass::Neither => {}
            }
        }
        let renamed = names
            .map(|names| pair_by_name(&alone, &other_alone, names))
            .unwrap_or_default();
        items.of =
            items.shared + (changed.len() + alone.len() + other_alone.len() - renamed.len()) as u64;
        let is_same =
            |(item, same): &(usize, usize)| !texts.has_other_text(other_texts, *item, *same);
        let same_by_name = || renamed.iter().copied().filter(is_same);
        let shared = columns()
            .filter(|item| class(*item) == ColumnClass::Shared)
            .map(|item| (item, item));
        items.unknown = texts.count_unknown(other_texts, shared.chain(same_by_name()));
        items.shared += same_by_name().count() as u64;
        changed.extend(
            renamed
                .iter()
                .filter(|pair| !is_same(pair))
                .map(|(item, _)| *item),
        );
        changed.sort_unstable();
        items.changed = changed.len() as u64;
        Self {
            items,
            changed,
            renamed,
        }
    }

    /// Returns the mismatch of evaluators of items that different evaluators judged.
    pub fn evaluator_mismatch(&self, matrix: &OutcomeMatrix) -> Option<Mismatch> {
        let evaluators = |items: &mut dyn Iterator<Item = usize>| {
            let names: BTreeSet<&str> = items
                .map(|item| matrix.items[item].key.evaluator.as_str())
                .collect();
            join_values(names.into_iter().map(str::to_owned))
        };
        (!self.renamed.is_empty()).then(|| {
            let first = evaluators(&mut self.renamed.iter().map(|(item, _)| *item));
            let second = evaluators(&mut self.renamed.iter().map(|(_, item)| *item));
            Mismatch::with_values(MismatchKind::Judge, "evaluator", first, second)
        })
    }
}

/// Which arms were asked a matrix column, in order of precedence.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum ColumnClass {
    /// Both, in the same text as far as is known.
    Shared,
    /// Both, in different texts.
    Changed,
    Alone,
    OtherAlone,
    Neither,
}

/// Marks the columns that add nothing about their items. An item with several evaluators is one item, and is shared if any of its columns
/// is.
fn mark_surplus_columns(class: impl Fn(usize) -> ColumnClass, names: &[u32]) -> Vec<bool> {
    let count = names.iter().max().map_or(0, |last| *last as usize + 1);
    let mut best = vec![ColumnClass::Neither; count];
    for (column, name) in names.iter().enumerate() {
        let known = &mut best[*name as usize];
        *known = (*known).min(class(column));
    }
    let mut met = vec![[false; 2]; count];
    let is_surplus = |(column, name): (usize, &u32)| {
        let (class, best) = (class(column), best[*name as usize]);
        let is_less =
            class > best && !(class == ColumnClass::OtherAlone && best == ColumnClass::Alone);
        is_less
            || std::mem::replace(
                &mut met[*name as usize][usize::from(class == ColumnClass::OtherAlone)],
                true,
            )
    };
    names.iter().enumerate().map(is_surplus).collect()
}

/// Pairs items of two arms by name.
fn pair_by_name(items: &[usize], others: &[usize], names: &[u32]) -> Vec<(usize, usize)> {
    let by_name: BTreeMap<u32, usize> = others
        .iter()
        .rev()
        .map(|item| (names[*item], *item))
        .collect();
    let mut taken = BTreeSet::new();
    let mut found = Vec::new();
    for item in items {
        if let Some(same) = by_name.get(&names[*item])
            && taken.insert(*same)
        {
            found.push((*item, *same));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use crate::domain::ItemKind;

    use super::super::sample::SuiteItems;
    use super::*;

    /// An arm that passed, failed, lost, skipped or was never asked each item.
    fn arm(row: &[u8]) -> ArmOutcomes {
        ArmOutcomes {
            cells: row
                .iter()
                .map(|outcome| (u32::from(*outcome == 1), u32::from(*outcome < 2)))
                .collect(),
            counted: row.iter().filter(|outcome| **outcome < 2).count() as u64,
            missing: row.iter().map(|outcome| *outcome == 2).collect(),
            lost: row.iter().map(|outcome| u64::from(*outcome == 2)).sum(),
            beside: row
                .iter()
                .map(|outcome| {
                    if *outcome == 3 {
                        AskedState::Skipped
                    } else {
                        AskedState::Not
                    }
                })
                .collect(),
            ..ArmOutcomes::default()
        }
    }

    proptest::proptest! {
        #[test]
        fn planes_share_what_items_share(rows in proptest::collection::vec((0_u8..5, 0_u8..5), 1..100)) {
            let items = SuiteItems::without_clusters(ItemKind::Question, u32::try_from(rows.len()).expect("few"));
            let (one, other): (Vec<u8>, Vec<u8>) = rows.into_iter().unzip();
            let of = |one: &ArmOutcomes, other: &ArmOutcomes| ItemOverlap::new((one, &ArmTexts::Unknown), (other, &ArmTexts::Unknown), None).items;
            proptest::prop_assert_eq!(of(&arm(&one).with_bitset(&items), &arm(&other).with_bitset(&items)), of(&arm(&one), &arm(&other)));
        }
    }
}
