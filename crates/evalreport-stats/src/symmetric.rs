//! Symmetric positive definite matrices: solved and inverted.

use super::Undefined;

/// A Cholesky factor: lower triangle, row by row.
#[derive(Clone, Debug)]
pub(super) struct Cholesky {
    size: usize,
    factor: Vec<f64>,
}

/// A pivot below this share of its diagonal is zero but for rounding.
const RANK_TOLERANCE: f64 = 1e-11;

impl Cholesky {
    /// Factors a square matrix, row by row, of which the lower triangle is read. Undefined if it is not positive definite.
    pub fn new(matrix: &[f64], size: usize) -> Result<Self, Undefined> {
        if matrix.len() != size * size {
            return Err(Undefined::Unequal);
        }
        let mut factor = vec![0.0; size * size];
        for row in 0..size {
            let (above, own) = factor.split_at_mut(row * size);
            for column in 0..=row {
                let other = if column < row {
                    &above[column * size..][..column]
                } else {
                    &own[..0]
                };
                let dot = |left: &[f64], right: &[f64]| {
                    left.iter()
                        .zip(right)
                        .map(|(one, other)| one * other)
                        .sum::<f64>()
                };
                if column < row {
                    own[column] = (matrix[row * size + column] - dot(&own[..column], other))
                        / above[column * size + column];
                } else {
                    let diagonal = matrix[row * size + row];
                    let pivot = diagonal - dot(&own[..row], &own[..row]);
                    if pivot.is_nan() || diagonal <= 0.0 || pivot <= RANK_TOLERANCE * diagonal {
                        return Err(Undefined::NoVariation);
                    }
                    own[row] = pivot.sqrt();
                }
            }
        }
        Ok(Self { size, factor })
    }

    /// Returns the solution of the system with this right side.
    pub fn solve(&self, right: &[f64]) -> Vec<f64> {
        let (size, factor) = (self.size, &self.factor);
        let mut found = right.to_vec();
        for row in 0..size {
            let known: f64 = (0..row)
                .map(|column| factor[row * size + column] * found[column])
                .sum();
            found[row] = (found[row] - known) / factor[row * size + row];
        }
        for row in (0..size).rev() {
            let known: f64 = (row + 1..size)
                .map(|lower| factor[lower * size + row] * found[lower])
                .sum();
            found[row] = (found[row] - known) / factor[row * size + row];
        }
        found
    }

    /// Returns the rows of the inverse.
    pub fn inverse(&self) -> Vec<Vec<f64>> {
        let unit = |place| {
            (0..self.size)
                .map(|at| f64::from(u8::from(at == place)))
                .collect::<Vec<f64>>()
        };
        (0..self.size)
            .map(|place| self.solve(&unit(place)))
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn solved_by_hand() {
        // [[4, 2], [2, 3]]: determinant 8, inverse [[3, -2], [-2, 4]] / 8.
        let found = Cholesky::new(&[4.0, 2.0, 2.0, 3.0], 2).expect("positive definite");
        let inverse = found.inverse();
        for (got, wanted) in inverse.iter().flatten().zip([0.375, -0.25, -0.25, 0.5]) {
            assert!((got - wanted).abs() < 1e-15, "{inverse:?}");
        }
        assert!(
            found
                .solve(&[8.0, 8.0])
                .iter()
                .zip([1.0, 2.0])
                .all(|(got, wanted)| (got - wanted).abs() < 1e-15)
        );
        assert_eq!(
            Cholesky::new(&[1.0, 1.0, 1.0, 1.0], 2).err(),
            Some(Undefined::NoVariation)
        );
        assert_eq!(Cholesky::new(&[0.0], 1).err(), Some(Undefined::NoVariation));
    }
}
