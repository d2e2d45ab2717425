//! Scores of arms on items in an order that follows from them, and what they establish about the arms' order.

use crate::stats::{ScoreMatrix, Seed, Undefined};

use super::seed::seed_from_values;

/// Draws of joint sign flips, and the fewest for a large board.
const ORDER_DRAWS: usize = 1999;
const FEWEST_ORDER_DRAWS: usize = 199;
/// Scores and pairs that all draws of a board go through.
const MAX_DRAWN_VALUES: usize = 2_000_000_000;

/// Returns the number of draws for a board of this size. Any number keeps the promised error rate; more draws find more.
pub(super) fn order_draws(matrix: &ScoreMatrix) -> usize {
    let systems = matrix.system_count();
    let values = systems * matrix.item_count() + systems * systems / 2;
    (MAX_DRAWN_VALUES / values.max(1)).clamp(FEWEST_ORDER_DRAWS, ORDER_DRAWS)
}

/// A matrix whose rows and columns are in an order that follows from the scores, so that what is drawn does not depend on the file's order.
pub(super) struct ScoreOrderedMatrix {
    /// By row: its place in the file.
    pub places: Vec<usize>,
    /// By column: its place in the file.
    pub items: Vec<usize>,
    pub matrix: ScoreMatrix,
    pub seed: Seed,
}

impl ScoreOrderedMatrix {
    pub fn from_rows(rows: Vec<(usize, Vec<f64>)>) -> Result<Self, Undefined> {
        let count = rows.first().map_or(0, |row| row.1.len());
        let key_of_row = |row: &[f64]| {
            let mut sorted = row.to_vec();
            sorted.sort_by(f64::total_cmp);
            seed_from_values(sorted)
        };
        let mut keyed: Vec<(u64, (usize, Vec<f64>))> = rows
            .into_iter()
            .map(|row| (key_of_row(&row.1), row))
            .collect();
        keyed.sort_by_key(|(key, (place, _))| (*key, *place));
        let key_of_item = |item: usize| {
            keyed
                .iter()
                .map(|(key, row)| seed_from_values([f64::from_bits(*key), row.1[item]]))
                .fold(0_u64, u64::wrapping_add)
        };
        let keys: Vec<u64> = (0..count).map(key_of_item).collect();
        let mut items: Vec<usize> = (0..count).collect();
        items.sort_by_key(|item| (keys[*item], *item));
        let arranged: Vec<Vec<f64>> = keyed
            .iter()
            .map(|(_, (_, row))| items.iter().map(|item| row[*item]).collect())
            .collect();
        Ok(Self {
            places: keyed.iter().map(|(_, (place, _))| *place).collect(),
            items,
            matrix: ScoreMatrix::new(&arranged)?,
            seed: Seed(keys.iter().copied().fold(0, u64::wrapping_add)),
        })
    }
}
