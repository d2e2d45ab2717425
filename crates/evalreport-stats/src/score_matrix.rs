//! Scores of systems on items, without gaps.

use super::Undefined;
use super::mean::compensated_sum;

/// One score for each of `systems` rows and `items` columns.
#[derive(Clone, Debug, PartialEq)]
pub struct ScoreMatrix {
    systems: usize,
    items: usize,
    /// Item by item, so that sums over items run through all systems at once.
    cells: Vec<f64>,
}

impl ScoreMatrix {
    /// Creates a matrix from one row per system. Undefined without a system or an item, for rows of different lengths, and for a score that
    /// is not finite.
    pub fn new(rows: &[impl AsRef<[f64]>]) -> Result<Self, Undefined> {
        let items = rows.first().ok_or(Undefined::NoData)?.as_ref().len();
        if items == 0 {
            return Err(Undefined::NoData);
        }
        if rows.iter().any(|row| row.as_ref().len() != items) {
            return Err(Undefined::Unequal);
        }
        if rows
            .iter()
            .flat_map(AsRef::as_ref)
            .any(|score| !score.is_finite())
        {
            return Err(Undefined::NotFinite);
        }
        let cells = (0..items)
            .flat_map(|item| rows.iter().map(move |row| row.as_ref()[item]))
            .collect();
        Ok(Self {
            systems: rows.len(),
            items,
            cells,
        })
    }

    pub fn system_count(&self) -> usize {
        self.systems
    }

    pub fn item_count(&self) -> usize {
        self.items
    }

    /// Returns the scores of all systems on each item.
    pub fn by_item(&self) -> impl DoubleEndedIterator<Item = &[f64]> + ExactSizeIterator + Clone {
        self.cells.chunks_exact(self.systems)
    }

    /// Returns a system's scores.
    pub fn system_scores(&self, system: usize) -> Vec<f64> {
        self.by_item().map(|scores| scores[system]).collect()
    }

    /// Returns whether each score is 0 or 1.
    pub fn is_binary(&self) -> bool {
        self.cells
            .iter()
            .all(|score| *score == 0.0 || (*score - 1.0).abs() < f64::EPSILON)
    }

    /// Returns each system's mean score.
    pub fn system_means(&self) -> Vec<f64> {
        (0..self.systems)
            .map(|system| {
                compensated_sum(self.by_item().map(|scores| scores[system])) / self.items as f64
            })
            .collect()
    }

    /// Returns the mean score of each item.
    pub fn item_means(&self) -> Vec<f64> {
        self.by_item()
            .map(|scores| compensated_sum(scores.iter().copied()) / self.systems as f64)
            .collect()
    }

    /// Returns the systems by falling mean. Systems with equal means keep the order of the rows.
    pub fn order_by_mean(&self) -> Vec<usize> {
        let means = self.system_means();
        let mut order: Vec<usize> = (0..self.systems).collect();
        order.sort_by(|one, other| means[*other].total_cmp(&means[*one]));
        order
    }

    /// Returns the matrix of these items only, in this order.
    pub(super) fn select_items(&self, items: &[usize]) -> Self {
        let cells = items
            .iter()
            .flat_map(|item| {
                self.cells[item * self.systems..][..self.systems]
                    .iter()
                    .copied()
            })
            .collect();
        Self {
            systems: self.systems,
            items: items.len(),
            cells,
        }
    }

    /// Returns the sums of each group's items, as a matrix of groups. `groups` gives each item's group code.
    pub(super) fn group_sums(&self, groups: &[u32]) -> Result<Self, Undefined> {
        if groups.len() != self.items {
            return Err(Undefined::Unequal);
        }
        let mut codes = groups.to_vec();
        codes.sort_unstable();
        codes.dedup();
        let mut cells = vec![0.0; codes.len() * self.systems];
        for (scores, group) in self.by_item().zip(groups) {
            let at = codes.partition_point(|code| code < group) * self.systems;
            for (sum, score) in cells[at..at + self.systems].iter_mut().zip(scores) {
                *sum += score;
            }
        }
        Ok(Self {
            systems: self.systems,
            items: codes.len(),
            cells,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_and_columns() {
        let matrix =
            ScoreMatrix::new(&[[1.0, 0.0, 0.0], [0.0, 1.0, 1.0], [1.0, 0.0, 1.0]]).expect("scores");
        assert_eq!(
            (
                matrix.system_count(),
                matrix.item_count(),
                matrix.is_binary()
            ),
            (3, 3, true)
        );
        assert_eq!(
            matrix.order_by_mean(),
            [1, 2, 0],
            "equal means keep their order"
        );
        assert_eq!(matrix.system_scores(2), [1.0, 0.0, 1.0]);
        assert_eq!(matrix.select_items(&[2, 0]).system_scores(1), [1.0, 0.0]);
        assert_eq!(
            matrix
                .group_sums(&[7, 2, 7])
                .expect("groups")
                .system_scores(1),
            [1.0, 1.0]
        );
        assert!((matrix.item_means()[0] - 2.0 / 3.0).abs() < 1e-15);
    }

    #[test]
    fn matrices_that_are_none() {
        assert_eq!(ScoreMatrix::new(&[[0.0; 0]; 2]), Err(Undefined::NoData));
        assert_eq!(ScoreMatrix::new(&[[0.0; 1]; 0]), Err(Undefined::NoData));
        assert_eq!(
            ScoreMatrix::new(&[vec![1.0], vec![]]),
            Err(Undefined::Unequal)
        );
        assert_eq!(ScoreMatrix::new(&[[f64::NAN]]), Err(Undefined::NotFinite));
    }
}
