//! Excluding broken items from a suite's outcomes, and listing them.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Serialize;

use crate::domain::Exclusion;
use crate::warehouse::{MatrixRow, OutcomeMatrix};

use super::arm::SuiteGroup;

/// An item that an exclusion removed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ExcludedItem {
    pub item: String,
    pub reason: String,
    /// Outcomes that are not counted because of the exclusion.
    pub outcomes: u64,
}

/// Returns the outcomes that count, and the excluded items. An exclusion of an item that no run has is not listed.
pub fn exclude_items(
    matrix: OutcomeMatrix,
    group: &SuiteGroup<'_>,
    exclusions: &[Exclusion],
) -> (OutcomeMatrix, Vec<ExcludedItem>) {
    let named: Vec<(usize, &Exclusion)> = exclusions
        .iter()
        .flat_map(|exclusion| {
            let is_it = |(_, item): &(usize, &crate::warehouse::MatrixItem)| {
                item.key.item == exclusion.item
            };
            matrix
                .items
                .iter()
                .enumerate()
                .filter(is_it)
                .map(move |(index, _)| (index, exclusion))
                .collect::<Vec<_>>()
        })
        .collect();
    if named.is_empty() {
        return (matrix, Vec::new());
    }
    let runs: BTreeMap<&str, _> = group
        .arms
        .iter()
        .flat_map(|arm| &arm.counted)
        .map(|row| (row.run.id.as_str(), &row.run))
        .collect();
    let mut counts = vec![0u64; named.len()];
    let mut rows = Vec::with_capacity(matrix.rows.len());
    for row in &matrix.rows {
        let Some(run) = runs.get(row.run.as_str()) else {
            continue;
        };
        let out: Vec<(usize, usize)> = named
            .iter()
            .enumerate()
            .filter(|(_, (_, exclusion))| exclusion.covers(run))
            .map(|(place, (item, _))| (*item, place))
            .collect();
        let mut items = Vec::with_capacity(row.items.len());
        let mut places = Vec::with_capacity(row.items.len());
        for (place_in_row, item) in row.items.iter().enumerate() {
            match out.iter().find(|(excluded, _)| *excluded == *item as usize) {
                Some((_, place)) => counts[*place] += 1,
                None => {
                    items.push(*item);
                    places.push(place_in_row);
                }
            }
        }
        // An emptied row stays: its run had outcomes, and its header's counts still include the excluded ones.
        rows.push(MatrixRow {
            run: row.run.clone(),
            attempt: row.attempt,
            items: items.into(),
            statuses: row.statuses.select(places.iter().copied()),
            scores: row.scores.select(places.into_iter()),
        });
    }
    let excluded = named
        .iter()
        .zip(counts)
        .filter(|(_, count)| *count > 0)
        .map(|((_, exclusion), outcomes)| ExcludedItem {
            item: exclusion.item.clone(),
            reason: exclusion.reason.clone(),
            outcomes,
        });
    let excluded = excluded.collect();
    (
        drop_empty_items(OutcomeMatrix {
            items: matrix.items,
            rows,
        }),
        excluded,
    )
}

/// Drops items without outcomes, because an item excluded everywhere is not missing anywhere.
fn drop_empty_items(matrix: OutcomeMatrix) -> OutcomeMatrix {
    let mut used = vec![false; matrix.items.len()];
    for item in matrix.rows.iter().flat_map(|row| row.items.iter()) {
        used[*item as usize] = true;
    }
    let mut next = 0;
    let numbers: Vec<u32> = used
        .iter()
        .map(|used| {
            let own = next;
            next += u32::from(*used);
            own
        })
        .collect();
    let items = matrix
        .items
        .into_iter()
        .zip(&used)
        .filter(|(_, used)| **used)
        .map(|(item, _)| item)
        .collect();
    let rows = matrix.rows.into_iter().map(|row| MatrixRow {
        items: row
            .items
            .iter()
            .map(|item| numbers[*item as usize])
            .collect(),
        ..row
    });
    OutcomeMatrix {
        items,
        rows: rows.collect(),
    }
}
