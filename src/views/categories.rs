//! Pass rates of a suite's arms by item category.

use std::collections::BTreeMap;
use std::io;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::Serialize;

use crate::inference::{Arm, CONFIDENCE, Policy, SuiteComparison, SuiteGroup, summarise_sets};
use crate::stats::{
    Interval, ValueSummary, effective_interval, interval_of_mean, wilson_score_interval,
};
use crate::warehouse::Warehouse;

use super::items::{ItemCell, ItemLine, ItemMatrix, item_matrix};

/// Maximum number of categories in a table. The largest are shown, the others only counted.
const MAX_CATEGORIES: usize = 24;

/// Table of arms by category.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Categories {
    /// What the items are: `questions`, `tests`, `criteria` or `checks`.
    #[serde(rename = "of")]
    pub word: &'static str,
    /// In the order of the cells.
    pub arms: Vec<Arm>,
    /// Easiest first.
    #[serde(rename = "categories")]
    pub columns: Vec<Category>,
    /// Number of hidden categories.
    #[serde(rename = "hidden_categories")]
    pub left_out: usize,
    /// Number of items without a category.
    #[serde(rename = "items_without_category")]
    pub without: usize,
}

/// A category, with each arm's results on its items.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Category {
    pub name: String,
    pub items: usize,
    /// One cell per arm. `None` if the arm has no outcome in the category.
    pub cells: Vec<Option<CategoryCell>>,
}

/// One arm on one category.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct CategoryCell {
    /// The mean over items of each item's share of passed outcomes.
    pub rate: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub interval: Option<Interval>,
    /// Number of items with outcomes; then number of outcomes.
    pub items: u64,
    pub outcomes: u64,
}

/// Returns the pass rates of a group's arms by category, or `None` if no item has a category.
///
/// # Errors
///
/// Fails if outcomes cannot be read.
pub fn category_rates(
    warehouse: &Warehouse,
    group: &SuiteGroup<'_>,
    policy: &Policy,
) -> io::Result<Option<Categories>> {
    let answer = SuiteComparison::primary_only(warehouse, group, policy);
    let runs: Vec<_> = group
        .counted_runs()
        .into_iter()
        .map(|row| Arc::clone(&row.run))
        .collect();
    let categories = warehouse.item_categories(&runs)?;
    let arms = group.arms.iter().map(|arm| &arm.arm);
    let matrix = item_matrix(group, &answer.matrix, arms, &answer.excluded_items);
    Ok(Categories::from_matrix(&matrix, |line| {
        let category = categories.get(&(line.kind.clone(), line.item.clone()))?;
        Some(category.as_str()).filter(|category| !category.trim().is_empty())
    }))
}

impl Categories {
    /// Builds the table, or returns `None` if no item has a category.
    pub(super) fn from_matrix<'a>(
        matrix: &'a ItemMatrix,
        category_of: impl Fn(&'a ItemLine) -> Option<&'a str>,
    ) -> Option<Self> {
        let mut found = BTreeMap::<&str, Vec<&'a ItemLine>>::new();
        let mut without = 0;
        for line in &matrix.items {
            match category_of(line) {
                Some(category) => found.entry(category).or_default().push(line),
                None => without += 1,
            }
        }
        if found.is_empty() {
            return None;
        }
        let mut sorted: Vec<(&str, Vec<&'a ItemLine>)> = found.into_iter().collect();
        sorted.sort_by(|(one, first), (other, second)| {
            second.len().cmp(&first.len()).then_with(|| one.cmp(other))
        });
        let left_out = sorted.len().saturating_sub(MAX_CATEGORIES);
        sorted.truncate(MAX_CATEGORIES);
        let arms = 0..matrix.arms.len();
        let of_arm = |lines: &[&'a ItemLine], arm: usize| {
            lines
                .iter()
                .filter_map(|line| line.cells.get(arm))
                .collect::<Vec<&ItemCell>>()
        };
        let sets: Vec<Vec<&ItemCell>> = sorted
            .iter()
            .flat_map(|(_, lines)| arms.clone().map(move |arm| of_arm(lines, arm)))
            .collect();
        let mut found = category_cells(&sets).into_iter();
        let category = |(name, lines): (&str, Vec<&ItemLine>)| Category {
            name: name.to_owned(),
            items: lines.len(),
            cells: found.by_ref().take(arms.len()).collect(),
        };
        let mut columns: Vec<Category> = sorted.into_iter().map(category).collect();
        columns.sort_by(|one, other| {
            mean_rate(other)
                .total_cmp(&mean_rate(one))
                .then_with(|| one.name.cmp(&other.name))
        });
        Some(Self {
            word: matrix.word.unwrap_or("items"),
            arms: matrix.arms.iter().map(|arm| arm.arm.clone()).collect(),
            columns,
            left_out,
            without,
        })
    }

    /// Returns the category with the lowest rate of an arm, with that rate. `None` if there is only one category.
    pub fn weakest_of(&self, arm: usize) -> Option<(&Category, &CategoryCell)> {
        let known = self
            .columns
            .iter()
            .filter_map(|category| Some((category, category.cells.get(arm)?.as_ref()?)));
        known
            .min_by(|(_, one), (_, other)| one.rate.total_cmp(&other.rate))
            .filter(|_| self.columns.len() > 1)
    }
}

/// Returns the mean of the arms' rates.
fn mean_rate(category: &Category) -> f64 {
    let rates: Vec<f64> = category
        .cells
        .iter()
        .flatten()
        .map(|cell| cell.rate)
        .collect();
    rates.iter().sum::<f64>() / rates.len().max(1) as f64
}

/// Returns for each set of one arm's items its accuracy, all of them by one query of frames.
pub(super) fn category_cells(sets: &[Vec<&ItemCell>]) -> Vec<Option<CategoryCell>> {
    let share = |cell: &&ItemCell| {
        (cell.counted > 0).then(|| f64::from(cell.passed) / f64::from(cell.counted))
    };
    let shares: Vec<Vec<f64>> = sets
        .iter()
        .map(|cells| cells.iter().filter_map(share).collect())
        .collect();
    let means = summarise_sets(shares.iter().map(Vec::as_slice));
    sets.iter()
        .zip(means)
        .map(|(cells, mean)| mean.map(|mean| category_cell(cells, &mean)))
        .collect()
}

/// Returns the mean over items. The interval is Wilson's if each item has one outcome, else Student's over item means.
fn category_cell(cells: &[&ItemCell], shares: &ValueSummary) -> CategoryCell {
    let tried = || cells.iter().filter(|cell| cell.counted > 0);
    let interval = if tried().all(|cell| cell.counted == 1) {
        wilson_score_interval(
            tried().map(|cell| u64::from(cell.passed)).sum(),
            shares.n,
            CONFIDENCE,
        )
    } else if shares.max > shares.min {
        interval_of_mean(shares, CONFIDENCE)
    } else {
        effective_interval(shares.mean, shares.n as f64, CONFIDENCE)
    };
    let interval = interval
        .ok()
        .and_then(|ends| Interval::new(ends.low.max(0.0), ends.high.min(1.0)));
    CategoryCell {
        rate: shares.mean,
        interval,
        items: shares.n,
        outcomes: tried().map(|cell| u64::from(cell.counted)).sum(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(counts: &[(u32, u32)]) -> Option<CategoryCell> {
        let cells: Vec<ItemCell> = counts
            .iter()
            .map(|(passed, counted)| ItemCell {
                passed: *passed,
                counted: *counted,
                ..ItemCell::default()
            })
            .collect();
        super::category_cells(&[cells.iter().collect()]).remove(0)
    }

    #[test]
    fn a_cell_weighs_items_alike_and_has_the_interval_of_its_design() {
        assert_eq!(of(&[(0, 0)]), None);
        let one_each = of(&[(1, 1), (1, 1), (0, 1), (0, 0)]).expect("outcomes");
        assert_eq!((one_each.items, one_each.outcomes), (3, 3));
        assert_eq!(
            one_each.interval,
            wilson_score_interval(2, 3, CONFIDENCE).ok()
        );
        // Item shares 3/4 and 0/1, averaged.
        let several = of(&[(3, 4), (0, 1)]).expect("outcomes");
        assert!((several.rate - 0.375).abs() < 1e-12 && several.outcomes == 5);
        assert!(
            several
                .interval
                .is_some_and(|ends| ends.low >= 0.0 && ends.high <= 1.0)
        );
        assert!(
            of(&[(2, 2), (2, 2)])
                .and_then(|cell| cell.interval)
                .is_some_and(|ends| ends.low < 1.0)
        );
    }
}
