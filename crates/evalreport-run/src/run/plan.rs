//! Plans the runs, their order and their seeds. Pure except for the ids.

use chrono::{DateTime, SecondsFormat, Utc};
use sha2::{Digest, Sha256};

use crate::results::{Batch, PlannedArm, PlannedRun, Store};

/// Fits in the integers that every JSON reader keeps exact.
const SEED_BITS: u32 = 53;

/// Returns a plan in which the arms take turns, so that a slow service or a busy machine affects all arms alike.
///
/// Each round starts with a different arm. Runs with the same index have the same seed in every arm, so that random choices match.
pub fn interleave_arms(
    arms: Vec<PlannedArm>,
    runs: u32,
    seed: u64,
    shuffle: bool,
    now: DateTime<Utc>,
) -> Batch {
    let count = arms.len();
    let planned = (1..=runs).flat_map(|index| {
        (0..count).map(move |turn| {
            let arm = (turn + index as usize - 1) % count.max(1);
            PlannedRun {
                id: Store::new_run_id(now),
                arm,
                index,
                seed: derive_seed(&["run", &seed.to_string(), &index.to_string()]),
            }
        })
    });
    Batch {
        id: new_batch_id(now),
        created: now.to_rfc3339_opts(SecondsFormat::Secs, true),
        runs: planned.collect(),
        arms,
        seed: Some(seed),
        shuffle,
        ..Batch::default()
    }
}

/// Returns a new id for a plan. Later ids sort after earlier ones.
pub fn new_batch_id(now: DateTime<Utc>) -> String {
    Store::new_run_id(now).to_string()
}

/// Returns the agent's seed for one item of a run. Repeating the run gives the same seed.
pub fn item_seed(run: u64, item: &str) -> u64 {
    derive_seed(&["item", &run.to_string(), item])
}

fn derive_seed(parts: &[&str]) -> u64 {
    let digest = Sha256::digest(parts.join("\n"));
    let first = digest
        .iter()
        .take(8)
        .fold(0u64, |number, byte| number << 8 | u64::from(*byte));
    first >> (u64::BITS - SEED_BITS)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn arm(approach: &str) -> PlannedArm {
        PlannedArm {
            suite: "s".into(),
            approach: approach.into(),
            model: "m".into(),
            ..PlannedArm::default()
        }
    }

    #[test]
    fn arms_take_turns_and_share_seeds() {
        let batch = interleave_arms(
            vec![arm("a"), arm("b"), arm("c")],
            3,
            7,
            false,
            DateTime::UNIX_EPOCH,
        );
        let order: Vec<(usize, u32)> = batch.runs.iter().map(|run| (run.arm, run.index)).collect();
        assert_eq!(
            order,
            [
                (0, 1),
                (1, 1),
                (2, 1),
                (1, 2),
                (2, 2),
                (0, 2),
                (2, 3),
                (0, 3),
                (1, 3)
            ]
        );
        let seeds = |arm: usize| {
            batch
                .runs
                .iter()
                .filter(|run| run.arm == arm)
                .map(|run| run.seed)
                .collect::<Vec<u64>>()
        };
        assert_eq!(seeds(0), seeds(1));
        assert!(seeds(0).windows(2).all(|pair| pair[0] != pair[1]));
        assert!(batch.runs.iter().all(|run| run.seed < 1 << SEED_BITS));
    }

    #[test]
    fn every_item_has_a_seed_of_its_own() {
        assert_eq!(item_seed(1, "q"), item_seed(1, "q"));
        assert_ne!(item_seed(1, "q"), item_seed(1, "r"));
        assert_ne!(item_seed(1, "q"), item_seed(2, "q"));
    }
}
