//! Whether rank sets hold for all systems at once, on boards where all systems are equal.

use evalreport::stats::{Multiplier, ScoreMatrix, Seed, rank_sets};

use super::Table;
use super::world::{World, shares};

/// Systems and items of known boards: HELM, MTEB, ProteinGym, SWE-bench Verified, and smaller ones.
const SHAPES: [(&str, usize, usize); 6] = [
    ("HELM", 90, 10),
    ("MTEB", 181, 41),
    ("ProteinGym", 96, 217),
    ("SWE-bench Verified", 134, 500),
    ("small", 24, 66),
    ("tiny", 5, 30),
];

/// How scores come about.
#[derive(Clone, Copy)]
enum Kind {
    Normal,
    /// Systems of different steadiness.
    Unequal,
    /// Passes of items of different difficulty.
    Passes,
    /// Win rates: each item orders the systems.
    Ranks,
    /// Long tails to one side.
    Skewed,
}

fn board(world: &mut World, kind: Kind, systems: usize, items: usize) -> ScoreMatrix {
    let spreads: Vec<f64> = (0..systems)
        .map(|_| {
            if matches!(kind, Kind::Unequal) {
                0.5 + 2.0 * world.uniform()
            } else {
                1.0
            }
        })
        .collect();
    let mut rows = vec![vec![0.0; items]; systems];
    for item in 0..items {
        let ease = 1.5 + 2.0 * world.normal();
        let chance = 1.0 / (1.0 + (-ease).exp());
        for (row, spread) in rows.iter_mut().zip(&spreads) {
            row[item] = match kind {
                Kind::Normal | Kind::Unequal => ease + spread * world.normal(),
                Kind::Passes => f64::from(u8::from(world.happens(chance))),
                Kind::Ranks => world.uniform(),
                Kind::Skewed => -world.uniform().ln(),
            };
        }
        if matches!(kind, Kind::Ranks) {
            let mut order: Vec<usize> = (0..systems).collect();
            order.sort_by(|one, other| rows[*one][item].total_cmp(&rows[*other][item]));
            for (place, system) in order.into_iter().enumerate() {
                rows[system][item] = place as f64 / (systems - 1) as f64;
            }
        }
    }
    ScoreMatrix::new(&rows).expect("scores")
}

pub fn coverage() -> Table {
    let mut table = Table::new(
        "Boards of equal systems on which no system is ordered, where 95% should be",
        &[
            "shape",
            "systems",
            "items",
            "scores",
            "sign flips",
            "the standard's wild bootstrap",
        ],
    );
    for (name, systems, items) in SHAPES {
        let kinds = [
            ("normal", Kind::Normal),
            ("unequal spread", Kind::Unequal),
            ("passes", Kind::Passes),
            ("win rates", Kind::Ranks),
            ("skewed", Kind::Skewed),
        ];
        for (scores, kind) in kinds {
            let got = shares(1_000, |world| {
                let board = board(world, kind, systems, items);
                let seed = Seed(world.below(1 << 30) as u64);
                let holds = |multiplier, draws| {
                    // Without a difference between any two systems nothing is ordered.
                    Some(
                        rank_sets(&board, None, multiplier, 0.95, draws, seed)
                            .is_ok_and(|sets| sets.beats.iter().flatten().all(|beats| !beats)),
                    )
                };
                [holds(Multiplier::Sign, 999), holds(Multiplier::Normal, 800)]
            });
            table.row(
                &[
                    name.to_owned(),
                    systems.to_string(),
                    items.to_string(),
                    scores.to_owned(),
                ],
                &got,
            );
        }
    }
    table
}
