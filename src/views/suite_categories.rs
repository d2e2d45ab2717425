//! Pass rates by item category on the site.

use std::collections::BTreeMap;

use crate::inference::Arm;

use super::categories::{Categories, CategoryCell, category_cells};
use super::items::ItemCell;
use super::site::OverviewSuite;

impl OverviewSuite {
    /// Says what explains each change of a pass rate, by the categories that are known by now.
    pub fn explain_changes(&mut self) {
        let Self {
            history, stories, ..
        } = self;
        if let Some(history) = history {
            history.explain_changes(|shift| {
                let known = stories.get(&shift.item, shift.kind)?;
                known.category.as_deref()
            });
        }
    }

    /// Returns the results of the arms by category, or `None` if no item has a category.
    pub fn category_table(&self) -> Option<Categories> {
        Categories::from_matrix(&self.items, |line| self.category_of(line))
    }

    /// Returns an arm's results by category, in the order of names.
    pub(super) fn categories_of(&self, arm: &Arm) -> Vec<(&str, CategoryCell)> {
        let Some(place) = self.items.arms.iter().position(|known| known.arm == *arm) else {
            return Vec::new();
        };
        let mut found = BTreeMap::<&str, Vec<&ItemCell>>::new();
        for line in &self.items.items {
            if let Some((category, cell)) = self.category_of(line).zip(line.cells.get(place)) {
                found.entry(category).or_default().push(cell);
            }
        }
        let (names, sets): (Vec<&str>, Vec<Vec<&ItemCell>>) = found.into_iter().unzip();
        names
            .into_iter()
            .zip(category_cells(&sets))
            .filter_map(|(category, cell)| Some((category, cell?)))
            .collect()
    }
}
