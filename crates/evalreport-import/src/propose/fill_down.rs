//! Columns with a name in the first row of each block only, as in merged cells.

use std::borrow::Cow;

use super::super::sample::TableSample;
use super::words::{SuggestedRole, suggested_roles};

/// Titles of columns that may name a block of rows.
const BLOCK_ROLES: [SuggestedRole; 5] = [
    SuggestedRole::Approach,
    SuggestedRole::Model,
    SuggestedRole::Suite,
    SuggestedRole::Item,
    SuggestedRole::Category,
];

/// Returns the table with such columns filled down, and the names of these columns.
pub(super) fn fill_down(sample: &TableSample) -> (Cow<'_, TableSample>, Vec<String>) {
    let is_block = |place: &usize| {
        let name = &sample.columns[*place];
        suggested_roles(name)
            .iter()
            .any(|(role, clarity)| BLOCK_ROLES.contains(role) && *clarity >= 2)
            && is_of_blocks(sample, *place)
    };
    let places: Vec<usize> = (0..sample.columns.len()).filter(is_block).collect();
    if places.is_empty() {
        return (Cow::Borrowed(sample), Vec::new());
    }
    let mut filled = sample.clone();
    for place in &places {
        let mut above = None;
        for row in &mut filled.rows {
            if row[*place].is_some() {
                above.clone_from(&row[*place]);
            } else {
                row[*place].clone_from(&above);
            }
        }
    }
    (
        Cow::Owned(filled),
        places
            .into_iter()
            .map(|place| sample.columns[place].clone())
            .collect(),
    )
}

/// Returns whether each value of the column is followed by empty cells, from the first row.
fn is_of_blocks(sample: &TableSample, place: usize) -> bool {
    let is_filled: Vec<bool> = sample.rows.iter().map(|row| row[place].is_some()).collect();
    is_filled.len() > 1
        && is_filled[0]
        && !is_filled[is_filled.len() - 1]
        && is_filled.windows(2).all(|two| !(two[0] && two[1]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_blocks_are_filled() {
        let filled = |cells: &[&str]| {
            let row = |cell: &&str| vec![Some((*cell).to_owned()).filter(|cell| !cell.is_empty())];
            let sample = TableSample {
                layout: crate::layout::RowLayout::default(),
                role: crate::sample::SampleRole::Table,
                columns: vec!["model".to_owned()],
                rows: cells.iter().map(row).collect(),
                compound: std::collections::BTreeSet::new(),
                doubled: Vec::new(),
                uncomputed: std::collections::BTreeMap::new(),
            };
            let (filled, _) = fill_down(&sample);
            filled
                .rows
                .iter()
                .map(|row| row[0].clone().unwrap_or_default())
                .collect::<String>()
        };
        assert_eq!(filled(&["a", "", "b", "", ""]), "aabbb");
        for other in [
            ["a", "b", "", "b"],
            ["", "a", "", "b"],
            ["a", "", "b", "c"],
            ["a", "", "", "b"],
        ] {
            assert_eq!(filled(&other), other.concat());
        }
    }
}
