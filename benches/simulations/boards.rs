//! Boards of many arms: what the two promises find and how often they are wrong. Pairs hold a false discovery rate, ranks hold for all arms.

use evalreport::stats::{
    Multiplier, ScoreMatrix, Seed, benjamini_hochberg, holm_adjustment, mcnemar_test, rank_sets,
};
use rayon::prelude::*;

use super::Table;
use super::rule::ALPHA;
use super::world::{self, Share, World};

/// Worlds of each row, and the number of the first.
const WORLDS: u64 = 200;
const FIRST: u64 = 7_000_000;
/// Deviation of the arms' rates.
const DEVIATION: f64 = 0.06;
/// Gaps of at least this size should be found.
const GAP: f64 = 0.05;
const DRAWS: usize = 499;

/// What came of one board.
#[derive(Clone, Copy, Default)]
struct Outcome {
    /// By adjustment, Benjamini and Hochberg first and then Holm: named pairs, wrong ones, and large gaps that were not found.
    named: [u64; 2],
    wrong: [u64; 2],
    missed: [u64; 2],
    gaps: u64,
    /// Whether one arm alone is first, and whether it is not the best.
    has_first: bool,
    is_first_wrong: bool,
    /// Whether any pair is ordered wrongly.
    is_order_wrong: bool,
    ordered: u64,
}

/// Makes and judges a board. Items are equally hard for all arms, up to what chance does to each arm on an item.
fn outcome(arms: usize, items: usize, deviation: f64, world: &mut World) -> Outcome {
    let rates: Vec<f64> = (0..arms)
        .map(|_| (0.6 + deviation * world.normal()).clamp(0.05, 0.95))
        .collect();
    let mut rows = vec![Vec::with_capacity(items); arms];
    for _ in 0..items {
        let hardness = world.chance(0.6, 0.4);
        for (row, rate) in rows.iter_mut().zip(&rates) {
            // The item's chance, moved so that the mean over items is the arm's rate.
            let shift = rate - 0.6;
            let chance = if shift > 0.0 {
                hardness + (1.0 - hardness) * shift / 0.4
            } else {
                hardness * (1.0 + shift / 0.6)
            };
            row.push(f64::from(u8::from(world.happens(chance))));
        }
    }
    let pairs: Vec<(usize, usize)> = (0..arms)
        .flat_map(|one| (one + 1..arms).map(move |other| (one, other)))
        .collect();
    let table = |(one, other): (usize, usize)| {
        let only = |one: &[f64], other: &[f64]| {
            one.iter()
                .zip(other)
                .filter(|(one, other)| one > other)
                .count() as u64
        };
        (
            only(&rows[one], &rows[other]),
            only(&rows[other], &rows[one]),
        )
    };
    let tables: Vec<(u64, u64)> = pairs.iter().map(|pair| table(*pair)).collect();
    let p: Vec<f64> = tables
        .iter()
        .map(|(won, lost)| mcnemar_test(*won, *lost).exact)
        .collect();
    let mut found = Outcome::default();
    let truth = |(one, other): (usize, usize)| rates[one] - rates[other];
    found.gaps = pairs
        .iter()
        .filter(|pair| truth(**pair).abs() >= GAP)
        .count() as u64;
    let adjusted = [
        benjamini_hochberg(&p).expect("p-values"),
        holm_adjustment(&p).expect("p-values"),
    ];
    for (way, adjusted) in adjusted.iter().enumerate() {
        for ((pair, (won, lost)), p) in pairs.iter().zip(&tables).zip(adjusted) {
            let gap = truth(*pair);
            if *p < ALPHA {
                found.named[way] += 1;
                // Of equal arms every winner is wrong.
                found.wrong[way] += u64::from(gap == 0.0 || (won > lost) != (gap > 0.0));
            } else {
                found.missed[way] += u64::from(gap.abs() >= GAP);
            }
        }
    }
    let matrix = ScoreMatrix::new(&rows).expect("scores");
    let seed = Seed(world.below(1 << 30) as u64);
    if let Ok(sets) = rank_sets(&matrix, None, Multiplier::Sign, 1.0 - ALPHA, DRAWS, seed) {
        for (one, other) in &pairs {
            for (ahead, behind) in [(*one, *other), (*other, *one)] {
                if sets.beats[ahead][behind] {
                    found.ordered += 1;
                    found.is_order_wrong |= rates[ahead] <= rates[behind];
                }
            }
        }
        let best = (0..arms).max_by(|one, other| rates[*one].total_cmp(&rates[*other]));
        let first: Vec<usize> = (0..arms)
            .filter(|arm| sets.ranges[*arm].worst == 1)
            .collect();
        found.has_first = !first.is_empty();
        found.is_first_wrong = first
            .first()
            .is_some_and(|first| deviation == 0.0 || Some(*first) != best);
    }
    found
}

/// Boards of arms that differ, and boards of equal arms.
pub fn tables() -> [Table; 2] {
    let mut differing = Table::new(
        "Boards of arms whose rates vary by 6 pp, 200 boards a row, in percent",
        &[
            "arms, items",
            "named pairs that are wrong: false discovery rate, Holm",
            "gaps of 5 pp or more missed: false discovery rate, Holm",
            "an order is wrong",
            "one arm is first",
            "of these wrong",
        ],
    );
    let mut equal = Table::new(
        "Boards of equal arms, 200 boards a row, in percent",
        &["arms, items", "any pair named", "by Holm", "any order"],
    );
    for (arms, items) in [(10, 200), (20, 225), (20, 500), (28, 400)] {
        let of = |deviation: f64| -> Vec<Outcome> {
            (FIRST..FIRST + WORLDS)
                .into_par_iter()
                .map(|number| outcome(arms, items, deviation, &mut world::nth(number)))
                .collect()
        };
        let found = of(DEVIATION);
        let sum = |of: &dyn Fn(&Outcome) -> u64| found.iter().map(of).sum::<u64>();
        let count = |of: &[Outcome], is_it: &dyn Fn(&Outcome) -> bool| {
            of.iter().filter(|one| is_it(one)).count() as u64
        };
        let both = |of: [Share; 2]| of.map(|share| share.with_error()).join("; ");
        let firsts = count(&found, &|one| one.has_first);
        let case = format!("{arms}, {items}");
        differing.row(
            &[
                case.clone(),
                both([0, 1].map(|way: usize| {
                    Share::of(
                        sum(&|one| one.wrong[way]),
                        sum(&|one| one.named[way]).max(1),
                    )
                })),
                both([0, 1].map(|way: usize| {
                    Share::of(sum(&|one| one.missed[way]), sum(&|one| one.gaps).max(1))
                })),
                Share::of(count(&found, &|one| one.is_order_wrong), WORLDS).with_error(),
                Share::of(firsts, WORLDS).with_error(),
                Share::of(count(&found, &|one| one.is_first_wrong), WORLDS).with_error(),
            ],
            &[],
        );
        let none = of(0.0);
        equal.row(
            &[
                case,
                Share::of(count(&none, &|one| one.named[0] > 0), WORLDS).with_error(),
                Share::of(count(&none, &|one| one.named[1] > 0), WORLDS).with_error(),
                Share::of(count(&none, &|one| one.ordered > 0), WORLDS).with_error(),
            ],
            &[],
        );
    }
    [differing, equal]
}
