//! Tests all pairs of many arms on many items: `cargo bench --bench all_pairs -- ARMS ITEMS`.
//!
//! Prints the seconds of each step, the peak memory, and 1,000 of the pairs as JSON; `benches/all_pairs.py` checks and compares them.
#![expect(clippy::print_stdout, reason = "a program for a script")]

use std::time::Instant;

use evalreport::stats::{OutcomeBitsets, all_pairs, holm_adjustment, mcnemar_each, rank_ranges};
use rayon::iter::{IntoParallelIterator, ParallelIterator};
use serde_json::json;

const ALPHA: f64 = 0.05;
const SAMPLED: usize = 1000;

fn main() {
    let sizes: Vec<u64> = std::env::args()
        .skip(1)
        .filter_map(|argument| argument.parse().ok())
        .collect();
    let (arms, items) = (
        sizes.first().copied().unwrap_or(1000),
        sizes.get(1).copied().unwrap_or(12_000),
    );
    let planes: Vec<OutcomeBitsets> = (0..arms)
        .into_par_iter()
        .map(|arm| {
            OutcomeBitsets::from_outcomes((0..items).map(|item| Some(passes(arm, arms, item))))
        })
        .collect();
    let memory_of_planes = peak_mb();

    let start = Instant::now();
    let counts = all_pairs(&planes, |first, second, pairs| {
        (first, second, pairs.only_a, pairs.only_b)
    });
    let counted = start.elapsed().as_secs_f64();
    let exact: Vec<f64> =
        mcnemar_each(counts.iter().map(|(.., only_a, only_b)| (*only_a, *only_b)))
            .into_iter()
            .map(|test| test.exact)
            .collect();
    let tested = start.elapsed().as_secs_f64();
    let adjusted = holm_adjustment(&exact).expect("probabilities");
    let settled = start.elapsed().as_secs_f64();
    let mut beats = vec![vec![false; planes.len()]; planes.len()];
    for ((first, second, only_a, only_b), _) in
        counts.iter().zip(&adjusted).filter(|(_, p)| **p < ALPHA)
    {
        let (winner, loser) = if only_a > only_b {
            (first, second)
        } else {
            (second, first)
        };
        beats[*winner][*loser] = true;
    }
    let ranges = rank_ranges(&beats).expect("a square");
    let ranked = start.elapsed().as_secs_f64();

    let step = (counts.len() / SAMPLED).max(1);
    let sample = counts
        .iter()
        .zip(exact.iter().zip(&adjusted))
        .step_by(step)
        .take(SAMPLED);
    let sample: Vec<_> = sample
        .map(|((first, second, only_a, only_b), (p, after))| {
            json!([first, second, only_a, only_b, p, after])
        })
        .collect();
    let answer = json!({
        "arms": arms,
        "items": items,
        "pairs": counts.len(),
        "seconds": ranked,
        "seconds_of": {
            "tables": counted,
            "mcnemar": tested - counted,
            "holm": settled - tested,
            "ranks": ranked - settled,
        },
        "mb_of_planes": memory_of_planes,
        "peak_mb": peak_mb(),
        "decided": adjusted.iter().filter(|p| **p < ALPHA).count(),
        "ranks": ranges.iter().map(|range| [range.best, range.worst]).collect::<Vec<_>>(),
        "sample": sample,
    });
    println!("{answer}");
}

/// Whether an arm passes an item: the better the arm and the easier the item, the likelier. `benches/all_pairs.py` has the same rule.
fn passes(arm: u64, arms: u64, item: u64) -> bool {
    let (difficulty, chance) = (mixed(item) >> 40, mixed((arm + 1) << 32 | item) >> 40);
    7 * difficulty + 3 * chance < ((3500 + 3000 * arm / arms) << 24) / 1000
}

/// The output function of SplitMix64 (Steele, Lea and Flood 2014).
fn mixed(number: u64) -> u64 {
    let mixed = number.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mixed = (mixed ^ mixed >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ mixed >> 31
}

/// Returns the most memory that the process has had, if the system tells it.
fn peak_mb() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("VmHWM:"))?;
    Some(line.split_whitespace().next()?.parse::<u64>().ok()? / 1024)
}
