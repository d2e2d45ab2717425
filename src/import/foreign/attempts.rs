//! Sums and means over several attempts at the items of a run.

use std::collections::BTreeMap;

use crate::domain::{Direction, ScoreRecord, Unit};

/// A value for each attempt at each item.
#[derive(Debug, Default)]
pub(super) struct Attempted {
    by_item: BTreeMap<String, Vec<f64>>,
}

impl Attempted {
    pub fn take(&mut self, item: &str, value: f64) {
        match self.by_item.get_mut(item) {
            Some(values) => values.push(value),
            None => {
                self.by_item.insert(item.to_owned(), vec![value]);
            }
        }
    }

    pub fn n(&self) -> u64 {
        self.by_item.values().map(|values| values.len() as u64).sum()
    }

    pub fn sum(&self) -> f64 {
        self.values().sum()
    }

    pub fn mean(&self) -> Option<f64> {
        Some(self.sum() / self.n() as f64).filter(|mean| mean.is_finite())
    }

    /// Returns whether every value is 0 or 1, so that the passes hold all information.
    #[expect(clippy::float_cmp, reason = "grades are exactly 0 and 1")]
    pub fn are_grades(&self) -> bool {
        self.values().all(|value| value == 0.0 || value == 1.0)
    }

    /// Returns the unit that fits all values.
    pub fn unit(&self) -> Unit {
        if self.values().all(|value| (0.0..=1.0).contains(&value)) { Unit::Fraction } else { Unit::Number }
    }

    /// Returns pass@k over the items with at least `k` attempts: the mean chance that one of `k` drawn attempts gets 1.
    pub fn pass_at(&self, k: usize) -> Option<f64> {
        let enough: Vec<f64> = self
            .by_item
            .values()
            .filter(|values| k > 0 && values.len() >= k)
            .map(|values| pass_at(values.len(), values.iter().filter(|value| **value >= 1.0).count(), k))
            .collect();
        (!enough.is_empty()).then(|| enough.iter().sum::<f64>() / enough.len() as f64)
    }

    /// Returns the mean as a score of the run.
    pub fn score(&self, metric: &str, direction: Direction, evaluator: &str) -> Option<ScoreRecord> {
        Some(ScoreRecord {
            standard_error: self.standard_error(),
            n: Some(self.n()),
            evaluator: Some(evaluator.to_owned()),
            ..ScoreRecord::new(metric, self.mean()?, self.unit(), direction)
        })
    }

    /// Returns the standard error with each item as a cluster: deviations of its attempts are added up before they are squared.
    fn standard_error(&self) -> Option<f64> {
        let mean = self.mean()?;
        let groups = self.by_item.len() as f64;
        let squares: f64 = self.by_item.values().map(|values| values.iter().map(|value| value - mean).sum::<f64>().powi(2)).sum();
        (self.by_item.len() > 1).then(|| (squares * groups / (groups - 1.0)).sqrt() / self.n() as f64).filter(|error| error.is_finite())
    }

    fn values(&self) -> impl Iterator<Item = f64> {
        self.by_item.values().flatten().copied()
    }
}

/// Returns the chance that `k` attempts drawn from `n` include at least one of the `passed` ones.
pub(super) fn pass_at(n: usize, passed: usize, k: usize) -> f64 {
    if n.saturating_sub(passed) < k {
        return 1.0;
    }
    1.0 - ((n - passed + 1)..=n).map(|number| 1.0 - k as f64 / number as f64).product::<f64>()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn attempts_at_one_item_are_one_cluster() {
        let mut all = Attempted::default();
        for (item, value) in [("a", 1.0), ("a", 1.0), ("b", 0.0), ("b", 0.0)] {
            all.take(item, value);
        }
        assert_eq!((all.mean(), all.n(), all.are_grades(), all.unit()), (Some(0.5), 4, true, Unit::Fraction));
        // As if each item were one value: the standard error of 1 and 0.
        let score = all.score("reward", Direction::Up, "tests").expect("a mean");
        assert!(score.standard_error.is_some_and(|error| (error - 0.5).abs() < 1e-12), "{score:?}");
        assert_eq!(Attempted::default().score("x", Direction::Up, "y"), None);
    }

    #[test]
    fn one_of_k_drawn_attempts_passes() {
        for (n, passed, k, expected) in [(4, 2, 1, 0.5), (4, 2, 2, 5.0 / 6.0), (4, 0, 2, 0.0), (2, 1, 2, 1.0)] {
            assert!((pass_at(n, passed, k) - expected).abs() < 1e-12, "{n} {passed} {k}");
        }
        let mut all = Attempted::default();
        for (item, value) in [("a", 1.0), ("a", 0.0), ("b", 0.0), ("b", 0.0), ("once", 1.0)] {
            all.take(item, value);
        }
        assert_eq!((all.pass_at(2), all.pass_at(3), all.pass_at(0)), (Some(0.5), None, None));
    }
}
