//! The weights behind a column that is a weighted mean of others.

use super::symmetric::Cholesky;

/// A row of printed figures.
#[derive(Clone, Debug, PartialEq)]
pub struct WeightedRow {
    pub parts: Vec<f64>,
    pub mean: f64,
    /// The most that rounding of the printed figures moves the mean.
    pub rounding: f64,
}

/// A weighted mean that most rows follow.
#[derive(Clone, Debug, PartialEq)]
pub struct WeightedMean {
    /// Sum to 1.
    pub weights: Vec<f64>,
    /// Whole numbers in the same proportion, such as numbers of tasks by type, if every row that agrees follows them.
    pub whole: Option<Vec<u64>>,
    /// Places of the rows that disagree.
    pub misfits: Vec<usize>,
}

/// Rows beyond the number of weights that must agree. Each would agree by chance about as often as an arbitrary figure is right to its last
/// digits.
const MIN_SURPLUS: usize = 6;
/// Largest share of rows that may disagree.
const MAX_MISFITS: f64 = 0.15;
/// A weight below this is no weight.
const MIN_WEIGHT: f64 = -0.02;
/// Largest sum of whole weights.
const MAX_WHOLE: u32 = 300;
/// A row disagrees if it is off by this many times what rounding explains: the weights are known to the digits of the other rows only.
const BEYOND_ROUNDING: f64 = 2.0;

impl WeightedMean {
    /// Returns the mean of a row.
    pub fn mean_of_parts(&self, parts: &[f64]) -> f64 {
        let weighted = |weights: &mut dyn Iterator<Item = f64>| {
            weights
                .zip(parts)
                .map(|(weight, part)| weight * part)
                .sum::<f64>()
        };
        match &self.whole {
            Some(whole) => {
                weighted(&mut whole.iter().map(|weight| *weight as f64))
                    / whole.iter().sum::<u64>() as f64
            }
            None => weighted(&mut self.weights.iter().copied()),
        }
    }
}

/// Finds weights that sum to 1 and give the means of all rows but a few, by least squares without the rows that fit worst. `None` if there
/// are no such weights, or too few rows to tell.
pub fn weighted_mean(rows: &[WeightedRow]) -> Option<WeightedMean> {
    let parts = rows.first()?.parts.len();
    let unknown = parts.checked_sub(1).filter(|unknown| *unknown > 0)?;
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a share of a count"
    )]
    let most_misfits = ((rows.len() as f64 * MAX_MISFITS) as usize).max(1);
    let mut kept: Vec<usize> = (0..rows.len()).collect();
    let weights = loop {
        if kept.len() < unknown + MIN_SURPLUS || rows.len() - kept.len() > most_misfits {
            return None;
        }
        let (weights, factor) = fit_weights(rows, &kept, unknown)?;
        let deleted = |row: &usize| {
            let differences = parts_less_last(&rows[*row]);
            let leverage: f64 = factor
                .solve(&differences)
                .iter()
                .zip(&differences)
                .map(|(one, other)| one * other)
                .sum();
            row_residual(&rows[*row], &weights).abs()
                / (1.0 - leverage).max(0.01)
                / rows[*row].rounding
        };
        let agrees = |row: &usize| row_residual(&rows[*row], &weights).abs() <= rows[*row].rounding;
        if kept.iter().all(agrees) {
            break weights;
        }
        let worst = (0..kept.len())
            .max_by(|left, right| deleted(&kept[*left]).total_cmp(&deleted(&kept[*right])))?;
        kept.remove(worst);
    };
    if weights.iter().any(|weight| *weight < MIN_WEIGHT) {
        return None;
    }
    let mut found = WeightedMean {
        whole: None,
        misfits: Vec::new(),
        weights,
    };
    found.whole = whole_weights(&found.weights).filter(|whole| {
        let exact = WeightedMean {
            whole: Some(whole.clone()),
            ..found.clone()
        };
        kept.iter().all(|row| {
            (rows[*row].mean - exact.mean_of_parts(&rows[*row].parts)).abs() <= rows[*row].rounding
        })
    });
    let is_off = |row: &usize| {
        (rows[*row].mean - found.mean_of_parts(&rows[*row].parts)).abs()
            > BEYOND_ROUNDING * rows[*row].rounding
    };
    let misfits: Vec<usize> = (0..rows.len()).filter(is_off).collect();
    Some(WeightedMean { misfits, ..found })
}

/// Returns the parts less the last one: its weight is what the others leave of 1.
fn parts_less_last(row: &WeightedRow) -> Vec<f64> {
    let last = row.parts.last().copied().unwrap_or_default();
    row.parts[..row.parts.len().saturating_sub(1)]
        .iter()
        .map(|part| part - last)
        .collect()
}

fn row_residual(row: &WeightedRow, weights: &[f64]) -> f64 {
    row.mean
        - row
            .parts
            .iter()
            .zip(weights)
            .map(|(part, weight)| part * weight)
            .sum::<f64>()
}

fn fit_weights(
    rows: &[WeightedRow],
    kept: &[usize],
    unknown: usize,
) -> Option<(Vec<f64>, Cholesky)> {
    let (mut matrix, mut right) = (vec![0.0; unknown * unknown], vec![0.0; unknown]);
    for row in kept.iter().map(|place| &rows[*place]) {
        let differences = parts_less_last(row);
        if differences.len() != unknown {
            return None;
        }
        let mean = row.mean - row.parts[unknown];
        for (place, one) in differences.iter().enumerate() {
            right[place] += one * mean;
            for (sum, other) in matrix[place * unknown..].iter_mut().zip(&differences) {
                *sum += one * other;
            }
        }
    }
    let factor = Cholesky::new(&matrix, unknown).ok()?;
    let mut weights = factor.solve(&right);
    weights.push(1.0 - weights.iter().sum::<f64>());
    Some((weights, factor))
}

/// Returns the smallest whole numbers in about this proportion.
fn whole_weights(weights: &[f64]) -> Option<Vec<u64>> {
    const WHOLE_TOLERANCE: f64 = 0.12;
    (2..=MAX_WHOLE).find_map(|sum| {
        let scaled = || weights.iter().map(|weight| weight * f64::from(sum));
        let is_close = scaled().all(|weight| {
            (weight - weight.round()).abs() < WHOLE_TOLERANCE && weight > -WHOLE_TOLERANCE
        });
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "between 0 and the sum"
        )]
        let found: Vec<u64> = scaled()
            .map(|weight| weight.round().max(0.0) as u64)
            .collect();
        (is_close && found.iter().sum::<u64>() == u64::from(sum)).then_some(found)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Makes rows of scores with two decimals, by a fixed sequence.
    fn rows(count: usize, weights: &[f64]) -> Vec<WeightedRow> {
        let mut state = 12_345_u64;
        let mut next = || {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            ((state >> 33) % 10_000) as f64 / 100.0
        };
        let round = |value: f64| (value * 100.0).round() / 100.0;
        let sum: f64 = weights.iter().sum();
        let row = |_| {
            let exact: Vec<f64> = weights.iter().map(|_| next()).collect();
            let mean = exact
                .iter()
                .zip(weights)
                .map(|(part, weight)| part * weight)
                .sum::<f64>()
                / sum;
            WeightedRow {
                parts: exact,
                mean: round(mean),
                rounding: 0.01,
            }
        };
        (0..count).map(row).collect()
    }

    #[test]
    fn weights_by_numbers_of_tasks_are_recovered_though_rows_are_wrong() {
        let tasks = [12.0, 11.0, 3.0, 4.0, 15.0, 10.0, 1.0];
        let mut rows = rows(30, &tasks);
        let found = weighted_mean(&rows).expect("a weighted mean");
        assert_eq!(
            (found.whole, found.misfits),
            (Some(vec![12, 11, 3, 4, 15, 10, 1]), Vec::new())
        );
        rows[4].mean += 0.9;
        rows[17].mean -= 3.0;
        let found = weighted_mean(&rows).expect("two of thirty rows may be wrong");
        assert_eq!(
            (found.whole, found.misfits),
            (Some(vec![12, 11, 3, 4, 15, 10, 1]), vec![4, 17])
        );
    }

    #[test]
    fn columns_that_are_no_weighted_mean_are_left_alone() {
        let mut rows = rows(30, &[1.0, 2.0, 3.0]);
        assert!(weighted_mean(&rows[..7]).is_none(), "too few rows");
        for row in &mut rows {
            row.mean = row.parts[0].max(row.parts[1]);
        }
        assert!(weighted_mean(&rows).is_none(), "the best of two");
        for row in &mut rows {
            row.mean = 2.0 * row.parts[0] - row.parts[1];
        }
        assert!(weighted_mean(&rows).is_none(), "a negative weight");
        for row in &mut rows {
            row.parts = vec![50.0; 3];
        }
        assert!(weighted_mean(&rows).is_none(), "columns that are alike");
    }
}
