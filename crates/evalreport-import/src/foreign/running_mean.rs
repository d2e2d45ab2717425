//! Mean and spread of values that arrive one at a time.

use super::super::counts::count_from_share;

/// Running sums over any number of values.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RunningMean {
    n: u64,
    mean: f64,
    /// Sum of the squared distances from the mean.
    squares: f64,
    is_graded: bool,
}

impl Default for RunningMean {
    fn default() -> Self {
        Self {
            n: 0,
            mean: 0.0,
            squares: 0.0,
            is_graded: true,
        }
    }
}

impl RunningMean {
    #[expect(clippy::float_cmp, reason = "grades are exactly 0 and 1")]
    pub fn add(&mut self, value: f64) {
        self.n += 1;
        let distance = value - self.mean;
        self.mean += distance / self.n as f64;
        self.squares += distance * (value - self.mean);
        self.is_graded &= value == 0.0 || value == 1.0;
    }

    pub fn n(&self) -> u64 {
        self.n
    }

    pub fn mean(&self) -> Option<f64> {
        Some(self.mean).filter(|mean| self.n > 0 && mean.is_finite())
    }

    /// Returns the standard error of the mean, from the spread within the sample.
    pub fn standard_error(&self) -> Option<f64> {
        let n = self.n as f64;
        (self.n > 1)
            .then(|| (self.squares / (n - 1.0) / n).sqrt())
            .filter(|error| error.is_finite())
    }

    /// Returns whether there are values and every value is 0 or 1.
    pub fn is_graded(&self) -> bool {
        self.n > 0 && self.is_graded
    }
}

/// Returns the number of passes, or `None` unless the share with its standard error can only come from grades of 0 and 1.
pub(crate) fn passed_from_share(
    share: f64,
    standard_error: Option<f64>,
    total: u64,
) -> Option<u64> {
    let passed = count_from_share(share, total).filter(|_| total > 0)?;
    if total > 1 {
        let of_grades = (share * (1.0 - share) / (total as f64 - 1.0)).sqrt();
        standard_error.filter(|error| (error - of_grades).abs() <= 1e-6 * of_grades.max(1e-6))?;
    }
    Some(passed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_add_up_to_their_mean_and_its_error() {
        let mut moments = RunningMean::default();
        assert_eq!(
            (
                moments.mean(),
                moments.standard_error(),
                moments.is_graded()
            ),
            (None, None, false)
        );
        for value in [1.0, 0.0, 1.0] {
            moments.add(value);
        }
        assert!(moments.is_graded());
        assert!((moments.mean().expect("three values") - 2.0 / 3.0).abs() < 1e-15);
        assert!((moments.standard_error().expect("three values") - 1.0 / 3.0).abs() < 1e-15);
        moments.add(0.5);
        assert!(!moments.is_graded());
    }

    #[test]
    fn only_grades_have_the_standard_error_of_grades() {
        assert_eq!(
            passed_from_share(0.0004, Some(0.000_282_814_421_130_447_1), 5000),
            Some(2)
        );
        assert_eq!(passed_from_share(0.0, Some(0.0), 10), Some(0));
        for (share, error, total) in [
            (0.5, Some(0.05), 10),
            (0.5, None, 10),
            (0.55, Some(0.1), 10),
            (1.5, Some(0.1), 10),
            (0.5, None, 0),
        ] {
            assert_eq!(
                passed_from_share(share, error, total),
                None,
                "{share} {error:?} {total}"
            );
        }
    }
}
