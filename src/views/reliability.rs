//! Several attempts at each item: how likely one of k passes, and how likely all of them do.

use schemars::JsonSchema;
use serde::Serialize;

use crate::domain::ItemKind;
use crate::stats::{mean_pass_at_k, mean_pass_hat_k};

use super::sample::{Items, Rates};

/// The chances over k attempts at an item, as means over items (Chen et al. 2021; Yao et al. 2024).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Reliability {
    pub k: u64,
    /// That at least one of k attempts passes: pass@k.
    pub any_passes: f64,
    /// That all k attempts pass: pass^k.
    pub all_pass: f64,
}

/// More attempts than this are seldom asked about.
const MAX_K: u64 = 10;

/// Returns the chances for each k that every counted item has attempts for; nothing where items were tried once.
pub(super) fn reliability(rates: &Rates, items: &Items) -> Vec<Reliability> {
    let (Rates::Outcomes(outcomes), Some(ItemKind::Question)) = (rates, items.kind) else { return Vec::new() };
    let tasks: Vec<(u64, u64)> = outcomes
        .cells
        .iter()
        .filter(|(_, counted)| *counted > 0)
        .map(|(passed, counted)| (u64::from(*counted), u64::from(*passed)))
        .collect();
    let most = tasks.iter().map(|(counted, _)| *counted).min().unwrap_or(0).min(MAX_K);
    if most < 2 {
        return Vec::new();
    }
    let chances = |k| Some(Reliability { k, any_passes: mean_pass_at_k(&tasks, k).ok()?, all_pass: mean_pass_hat_k(&tasks, k).ok()? });
    (1..=most).filter_map(chances).collect()
}
