//! Which items two arms were both asked.

use std::collections::{BTreeMap, BTreeSet};

use crate::warehouse::OutcomeMatrix;

use super::conditions::joined;
use super::mismatch::{Mismatch, MismatchKind, SharedItems};
use super::sample::{Asked, Outcomes, is_marked};
use super::texts::ArmTexts;

/// The items of two arms, laid side by side by all that tells items apart, and, where that finds none, by name: an item is the same one
/// whoever judges it.
pub(super) struct Meeting {
    pub items: SharedItems,
    /// Items of the matrix that both were asked in different texts, ascending; where others judged, as the first arm has them.
    pub changed: Vec<usize>,
    /// Items of one name that others judged about each arm.
    renamed: Vec<(usize, usize)>,
}

impl Meeting {
    /// `names` numbers the items' names, where these do not tell items apart.
    pub fn of((one, texts): (&Outcomes, &ArmTexts), (other, other_texts): (&Outcomes, &ArmTexts), names: Option<&[u32]>) -> Self {
        // Where neither arm has anything that passes or fails, both were asked what both have.
        let has_no_rates = one.is_unrated() && other.is_unrated();
        let was = |outcomes: &Outcomes, item| match outcomes.asked(item) {
            Asked::Answered => true,
            Asked::Skipped => has_no_rates,
            Asked::Not => false,
        };
        let marks = texts.changed(other_texts);
        let mut items = SharedItems { shared: 0, of: 0, changed: 0, unknown: 0 };
        let (mut changed, mut alone, mut other_alone) = (Vec::new(), Vec::new(), Vec::new());
        for item in 0..one.cells.len() {
            match (was(one, item), was(other, item)) {
                (true, true) if is_marked(&marks, item) => changed.push(item),
                (true, true) => items.shared += 1,
                (true, false) => alone.push(item),
                (false, true) => other_alone.push(item),
                (false, false) => {}
            }
        }
        let renamed = names.map(|names| of_one_name(&alone, &other_alone, names)).unwrap_or_default();
        items.of = items.shared + (changed.len() + alone.len() + other_alone.len() - renamed.len()) as u64;
        let is_both = |item: &usize| was(one, *item) && was(other, *item) && !is_marked(&marks, *item);
        let is_same = |(item, same): &(usize, usize)| !texts.is_other(other_texts, *item, *same);
        let same_by_name = || renamed.iter().copied().filter(is_same);
        items.unknown = texts.unknown(other_texts, (0..one.cells.len()).filter(is_both).map(|item| (item, item)).chain(same_by_name()));
        items.shared += same_by_name().count() as u64;
        changed.extend(renamed.iter().filter(|pair| !is_same(pair)).map(|(item, _)| *item));
        changed.sort_unstable();
        items.changed = changed.len() as u64;
        Self { items, changed, renamed }
    }

    /// Names who judged the items that others judged about each arm.
    pub fn other_evaluators(&self, matrix: &OutcomeMatrix) -> Option<Mismatch> {
        let evaluators = |items: &mut dyn Iterator<Item = usize>| {
            let names: BTreeSet<&str> = items.map(|item| matrix.items[item].key.evaluator.as_str()).collect();
            joined(names.into_iter().map(str::to_owned))
        };
        (!self.renamed.is_empty()).then(|| {
            let first = evaluators(&mut self.renamed.iter().map(|(item, _)| *item));
            let second = evaluators(&mut self.renamed.iter().map(|(_, item)| *item));
            Mismatch::between(MismatchKind::Judge, "evaluator", first, second)
        })
    }
}

/// Pairs items of one arm with those of another that have their names.
fn of_one_name(items: &[usize], others: &[usize], names: &[u32]) -> Vec<(usize, usize)> {
    let by_name: BTreeMap<u32, usize> = others.iter().rev().map(|item| (names[*item], *item)).collect();
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
