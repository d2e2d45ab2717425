//! Totals of a run's items.

use serde::{Deserialize, Serialize};

use crate::domain::ItemStatus;
use crate::results::ItemMeasurements;

/// Sums over a run's item lines of revision 0. Each sum comes with the number of lines that had the value.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ItemTotals {
    pub lines: u64,
    /// Lines that an agent's answer decided: no crash, outage or missing judgement.
    pub answered: u64,
    pub cost_usd: f64,
    pub with_cost: u64,
    /// Sum of the squared costs; then of the costs of passed items.
    pub cost_squares: f64,
    pub cost_of_passed: f64,
    pub passed: u64,
    pub duration_seconds: f64,
    pub with_duration: u64,
    pub input_tokens: u64,
    pub with_input: u64,
    pub output_tokens: u64,
    pub with_output: u64,
}

impl ItemTotals {
    pub(super) fn add(&mut self, item: &ItemMeasurements) {
        let is_pass = item.status == ItemStatus::Pass;
        self.lines += 1;
        self.passed += u64::from(is_pass);
        self.answered += u64::from(match item.status {
            ItemStatus::Pass | ItemStatus::Fail | ItemStatus::Limit => true,
            ItemStatus::Skipped => item.score.is_some(),
            ItemStatus::Error | ItemStatus::Infra | ItemStatus::NotEvaluated => false,
        });
        if let Some(cost) = item.cost_usd {
            self.cost_usd += cost;
            self.cost_squares += cost * cost;
            self.with_cost += 1;
            if is_pass {
                self.cost_of_passed += cost;
            }
        }
        if let Some(seconds) = item.duration_seconds {
            self.duration_seconds += seconds;
            self.with_duration += 1;
        }
        if let Some(tokens) = item.input_tokens {
            self.input_tokens = self.input_tokens.saturating_add(tokens);
            self.with_input += 1;
        }
        if let Some(tokens) = item.output_tokens {
            self.output_tokens = self.output_tokens.saturating_add(tokens);
            self.with_output += 1;
        }
    }

    pub(super) fn merge(&mut self, other: &Self) {
        self.lines += other.lines;
        self.answered += other.answered;
        self.cost_usd += other.cost_usd;
        self.with_cost += other.with_cost;
        self.cost_squares += other.cost_squares;
        self.cost_of_passed += other.cost_of_passed;
        self.passed += other.passed;
        self.duration_seconds += other.duration_seconds;
        self.with_duration += other.with_duration;
        self.input_tokens = self.input_tokens.saturating_add(other.input_tokens);
        self.with_input += other.with_input;
        self.output_tokens = self.output_tokens.saturating_add(other.output_tokens);
        self.with_output += other.with_output;
    }
}
