//! Several attempts at each item: the probability that any of k passes, and that all k pass.

use schemars::JsonSchema;
use serde::Serialize;

use crate::domain::ItemKind;
use crate::stats::{Undefined, pass_at_k, pass_hat_k};

use super::sample::{ArmRates, SuiteItems};

/// Probabilities over k attempts at an item, as means over items (Chen et al. 2021; Yao et al. 2024).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Reliability {
    pub k: u64,
    /// The probability that at least one of k attempts passes: pass@k.
    pub any_passes: f64,
    /// The probability that all k attempts pass: pass^k.
    pub all_pass: f64,
}

/// Maximum k. Larger ones are seldom of interest.
const MAX_ATTEMPTS_K: u64 = 10;

/// Returns the probabilities for each k up to the fewest attempts at a counted item. Empty if items were attempted once.
pub fn attempt_reliability(rates: &ArmRates, items: &SuiteItems) -> Vec<Reliability> {
    let (ArmRates::Outcomes(outcomes), Some(ItemKind::Question | ItemKind::Task)) =
        (rates, items.kind)
    else {
        return Vec::new();
    };
    let least = outcomes
        .cells
        .iter()
        .filter(|(_, counted)| *counted > 0)
        .map(|(_, counted)| u64::from(counted))
        .min();
    let most = least.unwrap_or(0).min(MAX_ATTEMPTS_K);
    if most < 2 {
        return Vec::new();
    }
    // Thousands of items have few distinct pairs of counts.
    let mut cells: Vec<(u32, u32)> = outcomes
        .cells
        .iter()
        .filter(|(_, counted)| *counted > 0)
        .collect();
    cells.sort_unstable();
    let tasks = || {
        cells
            .chunk_by(|one, other| one == other)
            .map(|same| (same[0], same.len() as f64))
    };
    let mean = |k: u64, chance: fn(u64, u64, u64) -> Result<f64, Undefined>| -> Option<f64> {
        let sum: Option<f64> = tasks()
            .map(|((passed, counted), items)| {
                Some(chance(u64::from(counted), u64::from(passed), k).ok()? * items)
            })
            .sum();
        Some(sum? / cells.len() as f64)
    };
    let chances = |k| {
        Some(Reliability {
            k,
            any_passes: mean(k, pass_at_k)?,
            all_pass: mean(k, pass_hat_k)?,
        })
    };
    (1..=most).filter_map(chances).collect()
}
