//! Sums over the outcomes of a run: cost and tokens.

use crate::domain::ItemOutcome;

/// Sums over outcomes. A sum is unknown if one of its parts is, or if there are none.
#[derive(Default)]
pub(super) struct UsageTotals {
    pub outcomes: u64,
    cost: CompensatedSum,
    input_tokens: CheckedTotal,
    output_tokens: CheckedTotal,
}

impl UsageTotals {
    pub fn add_outcome(&mut self, outcome: &ItemOutcome) {
        self.outcomes += 1;
        if let Some(cost) = outcome.cost_usd {
            self.cost.add(cost);
        }
        if let Some(tokens) = outcome.input_tokens {
            self.input_tokens.add(tokens);
        }
        if let Some(tokens) = outcome.output_tokens {
            self.output_tokens.add(tokens);
        }
    }

    pub fn cost_usd(&self) -> Option<f64> {
        self.is_complete(self.cost.n)
            .then(|| self.cost.value())
            .filter(|cost| cost.is_finite())
    }

    pub fn input_tokens(&self) -> Option<u64> {
        self.input_tokens
            .sum
            .filter(|_| self.is_complete(self.input_tokens.n))
    }

    pub fn output_tokens(&self) -> Option<u64> {
        self.output_tokens
            .sum
            .filter(|_| self.is_complete(self.output_tokens.n))
    }

    fn is_complete(&self, known: u64) -> bool {
        self.outcomes > 0 && known == self.outcomes
    }
}

/// A sum that keeps its rounding errors, so that the order of rows does not affect the result.
#[derive(Default)]
pub(super) struct CompensatedSum {
    high: f64,
    low: f64,
    pub n: u64,
}

impl CompensatedSum {
    pub fn add(&mut self, value: f64) {
        let sum = self.high + value;
        let rounded = sum - self.high;
        self.low += (self.high - (sum - rounded)) + (value - rounded);
        self.high = sum;
        self.n += 1;
    }

    pub fn value(&self) -> f64 {
        self.high + self.low
    }
}

/// A sum of whole numbers; `None` once it is too large.
struct CheckedTotal {
    sum: Option<u64>,
    n: u64,
}

impl Default for CheckedTotal {
    fn default() -> Self {
        Self { sum: Some(0), n: 0 }
    }
}

impl CheckedTotal {
    fn add(&mut self, value: u64) {
        self.sum = self.sum.and_then(|sum| sum.checked_add(value));
        self.n += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sum_does_not_depend_on_the_order() {
        let values: Vec<f64> = (1..=1000).map(|n| 1.0 / f64::from(n)).collect();
        let sum = |values: &mut dyn Iterator<Item = f64>| {
            let mut sum = CompensatedSum::default();
            values.for_each(|value| sum.add(value));
            sum.value()
        };
        let forward = sum(&mut values.iter().copied());
        assert_eq!(
            forward.to_bits(),
            sum(&mut values.iter().rev().copied()).to_bits()
        );
        assert_eq!(
            sum(&mut [1e16, 1.0, -1e16].into_iter()).to_bits(),
            1.0_f64.to_bits()
        );
    }
}
