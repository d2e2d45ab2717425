//! Sums and means over several attempts at the items of a run.

use std::collections::BTreeMap;

use crate::domain::{Direction, ScoreRecord, Unit};
use crate::stats::{clustered_error, mean_pass_at_k};

/// Numbers the attempts at items, each evaluator's by themselves.
#[derive(Debug, Default)]
pub(super) struct AttemptNumbers(BTreeMap<(String, String), u32>);

impl AttemptNumbers {
    /// Returns the number of the next attempt, from 1.
    pub fn next_attempt(&mut self, item: &str, evaluator: &str) -> u32 {
        let key = (item.to_owned(), evaluator.to_owned());
        let attempt = self.0.entry(key).or_default();
        *attempt = attempt.saturating_add(1);
        *attempt
    }
}

/// A value for each attempt at each item.
#[derive(Debug, Default)]
pub(super) struct AttemptValues {
    by_item: BTreeMap<String, Vec<f64>>,
}

impl AttemptValues {
    pub fn add_value(&mut self, item: &str, value: f64) {
        match self.by_item.get_mut(item) {
            Some(values) => values.push(value),
            None => {
                self.by_item.insert(item.to_owned(), vec![value]);
            }
        }
    }

    pub fn n(&self) -> u64 {
        self.by_item
            .values()
            .map(|values| values.len() as u64)
            .sum()
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
        if self.values().all(|value| (0.0..=1.0).contains(&value)) {
            Unit::Fraction
        } else {
            Unit::Number
        }
    }

    /// Returns pass@k over the items with at least `k` attempts: the mean chance that one of `k` drawn attempts gets 1.
    pub fn pass_at(&self, k: usize) -> Option<f64> {
        let counts = |values: &Vec<f64>| {
            (
                values.len() as u64,
                values.iter().filter(|value| **value >= 1.0).count() as u64,
            )
        };
        let tasks: Vec<(u64, u64)> = self
            .by_item
            .values()
            .filter(|values| values.len() >= k)
            .map(counts)
            .collect();
        mean_pass_at_k(&tasks, k as u64).ok()
    }

    /// Returns the mean as a score of the run.
    pub fn to_score(
        &self,
        metric: &str,
        direction: Direction,
        evaluator: &str,
    ) -> Option<ScoreRecord> {
        Some(ScoreRecord {
            standard_error: self.standard_error(),
            n: Some(self.n()),
            evaluator: Some(evaluator.to_owned()),
            ..ScoreRecord::new(metric, self.mean()?, self.unit(), direction)
        })
    }

    /// Returns the standard error with each item as a cluster. It is 0 if items do not differ.
    fn standard_error(&self) -> Option<f64> {
        let values: Vec<f64> = self.values().collect();
        let items: Vec<u32> = (0..)
            .zip(self.by_item.values())
            .flat_map(|(item, values)| std::iter::repeat_n(item, values.len()))
            .collect();
        clustered_error(&values, &items)
    }

    fn values(&self) -> impl Iterator<Item = f64> {
        self.by_item.values().flatten().copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn attempts_at_one_item_are_one_cluster() {
        let mut all = AttemptValues::default();
        for (item, value) in [("a", 1.0), ("a", 1.0), ("b", 0.0), ("b", 0.0)] {
            all.add_value(item, value);
        }
        assert_eq!(
            (all.mean(), all.n(), all.are_grades(), all.unit()),
            (Some(0.5), 4, true, Unit::Fraction)
        );
        // As if each item were one value: the standard error of 1 and 0.
        let score = all
            .to_score("reward", Direction::Up, "tests")
            .expect("a mean");
        assert!(
            score
                .standard_error
                .is_some_and(|error| (error - 0.5).abs() < 1e-12),
            "{score:?}"
        );
        assert_eq!(
            AttemptValues::default().to_score("x", Direction::Up, "y"),
            None
        );
    }

    #[test]
    fn items_with_fewer_attempts_have_no_part_in_pass_at_k() {
        let mut all = AttemptValues::default();
        for (item, value) in [
            ("a", 1.0),
            ("a", 0.0),
            ("b", 0.0),
            ("b", 0.0),
            ("once", 1.0),
        ] {
            all.add_value(item, value);
        }
        assert_eq!(
            (all.pass_at(2), all.pass_at(3), all.pass_at(0)),
            (Some(0.5), None, None)
        );
    }
}
