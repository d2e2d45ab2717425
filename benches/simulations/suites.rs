//! Boards over suites: whether intervals and orders hold where suites are a sample, and where items within few suites are.

use evalreport::stats::{
    Interval, Multiplier, PairedTable, ScoreMatrix, Seed, SuiteMeans, effective_units,
    normal_quantile, rank_sets, tango_interval, widening_factor,
};

use super::Table;
use super::world::{World, shares};

const CONFIDENCE: f64 = 0.95;
const BOARDS: u32 = 1_000;

/// Systems and suites: MTEB, HELM, and smaller ones.
const SHAPES: [(&str, usize, usize); 4] = [
    ("MTEB", 181, 41),
    ("HELM", 90, 10),
    ("a dozen suites", 12, 15),
    ("few systems", 5, 10),
];

/// How a suite's rates come about, beside the systems' own means.
#[derive(Clone, Copy)]
enum Kind {
    Normal,
    /// Systems of different steadiness.
    Unequal,
    /// Long tails to one side, which the systems have in common in part.
    Skewed,
    /// Shares of 50 items that pass.
    Passes,
}

/// The weights, the rates by system and suite, and the systems' true means.
struct Board {
    weights: Vec<f64>,
    rows: Vec<Vec<f64>>,
    truth: Vec<f64>,
}

fn board(
    world: &mut World,
    kind: Kind,
    (systems, suites): (usize, usize),
    step: f64,
    is_weighted: bool,
) -> Board {
    let spreads: Vec<f64> = (0..systems)
        .map(|_| {
            if matches!(kind, Kind::Unequal) {
                0.5 + 2.0 * world.uniform()
            } else {
                1.0
            }
        })
        .collect();
    let own = |system: usize| step * system as f64 / systems as f64;
    let mut rows = vec![vec![0.0; suites]; systems];
    #[expect(clippy::needless_range_loop, reason = "rows are by system")]
    for suite in 0..suites {
        let ease = world.normal();
        for system in 0..systems {
            let noise = match kind {
                Kind::Skewed => -world.uniform().ln() - 1.0,
                _ => spreads[system] * world.normal(),
            };
            // Chances stay away from 0 and 1, so that the means are those of the chances.
            rows[system][suite] = match kind {
                Kind::Passes => {
                    world.passed(
                        50,
                        0.3 + 0.25 * own(system) + 0.04 * (ease + noise).clamp(-4.0, 4.0),
                    ) as f64
                        / 50.0
                }
                _ => own(system) + ease + noise,
            };
        }
    }
    let truth = (0..systems)
        .map(|system| {
            if matches!(kind, Kind::Passes) {
                0.3 + 0.25 * own(system)
            } else {
                own(system)
            }
        })
        .collect();
    let weights = (0..suites)
        .map(|suite| {
            if is_weighted && suite % 3 == 0 {
                3.0
            } else {
                1.0
            }
        })
        .collect();
    Board {
        weights,
        rows,
        truth,
    }
}

/// Suites as the sample.
pub fn as_sample() -> Table {
    let mut table = Table::new(
        "Boards over suites, suites as the sample: shares where 95% should be",
        &[
            "shape",
            "systems",
            "suites",
            "systems are",
            "weights",
            "rates",
            "no pair is ordered wrongly",
            "all pairs' differences are in their intervals",
            "the first system's mean is in its interval",
        ],
    );
    for (name, systems, suites) in SHAPES {
        for (said, step) in [("equal", 0.0), ("apart", 2.0)] {
            for (weights, is_weighted) in [("equal", false), ("1 or 3", true)] {
                for (rates, kind) in [
                    ("normal", Kind::Normal),
                    ("unequal spread", Kind::Unequal),
                    ("skewed", Kind::Skewed),
                    ("passes", Kind::Passes),
                ] {
                    let got = shares(BOARDS, |world| {
                        let board = board(world, kind, (systems, suites), step, is_weighted);
                        let seed = Seed(world.below(1 << 30) as u64);
                        let means = SuiteMeans::from_sample(
                            board.rows,
                            &board.weights,
                            CONFIDENCE,
                            999,
                            seed,
                        )
                        .expect("a sample");
                        let truth =
                            |first: usize, second: usize| board.truth[first] - board.truth[second];
                        let (order, all) = judged(systems, truth, |first, second| {
                            means.difference_interval(first, second)
                        });
                        [
                            Some(order),
                            Some(all),
                            means
                                .mean_interval(0)
                                .map(|ends| holds(ends, board.truth[0])),
                        ]
                    });
                    let case = [
                        name,
                        &systems.to_string(),
                        &suites.to_string(),
                        said,
                        weights,
                        rates,
                    ]
                    .map(str::to_owned);
                    table.row(&case, &got);
                }
            }
        }
    }
    table
}

fn holds(ends: Interval, truth: f64) -> bool {
    ends.low <= truth + 1e-12 && truth <= ends.high + 1e-12
}

/// Returns whether no pair is ordered wrongly, and whether all differences are in their intervals. No interval holds everything.
fn judged(
    systems: usize,
    truth: impl Fn(usize, usize) -> f64,
    interval: impl Fn(usize, usize) -> Option<Interval>,
) -> (bool, bool) {
    let (mut order, mut all) = (true, true);
    for first in 0..systems {
        for second in first + 1..systems {
            let Some(ends) = interval(first, second) else {
                continue;
            };
            let truth = truth(first, second);
            order &= !(ends.low > 0.0 && truth <= 1e-12 || ends.high < 0.0 && truth >= -1e-12);
            all &= holds(ends, truth);
        }
    }
    (order, all)
}

/// Items of few suites as the sample.
pub fn within() -> Table {
    let mut table = Table::new(
        "Boards over few suites, items within suites as the sample: shares where 95% should be",
        &[
            "suites of",
            "arms",
            "arms are",
            "no pair is ordered wrongly",
            "all pairs' differences are in their intervals",
        ],
    );
    for (said, sizes) in [
        ("40, 120 and 25 items", vec![40, 120, 25]),
        ("200 and 30 items", vec![200, 30]),
        ("20 items, six times", vec![20; 6]),
    ] {
        for arms in [4, 12] {
            for (name, step, turn) in [
                ("equal", 0.0, 0.0),
                ("apart", 0.25, 0.0),
                ("turned from suite to suite", 0.0, 0.15),
            ] {
                let got = shares(BOARDS, |world| {
                    let (order, all) = few(world, &sizes, arms, step, turn);
                    [Some(order), Some(all)]
                });
                table.row(&[said.to_owned(), arms.to_string(), name.to_owned()], &got);
            }
        }
    }
    table
}

/// One board of passes. `turn` is added to a half of the arms in the first suite and taken from them in the others.
fn few(world: &mut World, sizes: &[usize], arms: usize, step: f64, turn: f64) -> (bool, bool) {
    let weight = 1.0 / sizes.len() as f64;
    let chance = |arm: usize, suite: usize| {
        let turned = if suite == 0 {
            turn
        } else {
            -turn / (sizes.len() - 1) as f64
        };
        0.5 + step * (arm as f64 / arms as f64 - 0.5)
            + if arm.is_multiple_of(2) { turned } else { 0.0 }
    };
    let truth: Vec<f64> = (0..arms)
        .map(|arm| {
            (0..sizes.len())
                .map(|suite| weight * chance(arm, suite))
                .sum()
        })
        .collect();
    let mut passes: Vec<Vec<Vec<bool>>> = Vec::new();
    for (suite, size) in sizes.iter().enumerate() {
        let mut rows = vec![Vec::new(); arms];
        for _ in 0..*size {
            let ease = 0.3 * (world.uniform() - 0.5);
            for (arm, row) in rows.iter_mut().enumerate() {
                row.push(world.happens(chance(arm, suite) + ease));
            }
        }
        passes.push(rows);
    }
    let scaled: Vec<Vec<f64>> = (0..arms)
        .map(|arm| {
            passes
                .iter()
                .flat_map(|rows| {
                    rows[arm]
                        .iter()
                        .map(|pass| f64::from(u8::from(*pass)) / rows[arm].len() as f64)
                })
                .collect()
        })
        .collect();
    let units = effective_units(sizes.iter().map(|size| (weight, *size as f64)));
    let matrix = ScoreMatrix::new(&scaled).expect("scores");
    let seed = Seed(world.below(1 << 30) as u64);
    let critical = rank_sets(&matrix, None, Multiplier::Sign, CONFIDENCE, 999, seed)
        .map_or(f64::INFINITY, |sets| sets.critical);
    let single = normal_quantile(1.0 - (1.0 - CONFIDENCE) / 2.0).expect("a level");
    let factor = widening_factor(critical, units, single);
    judged(
        arms,
        |first, second| truth[first] - truth[second],
        |first, second| {
            let factor = factor?;
            let (mut value, mut below, mut above) = (0.0, 0.0, 0.0);
            for rows in &passes {
                let both = || rows[first].iter().zip(&rows[second]);
                let count = |one: bool, other: bool| {
                    both().filter(|pair| *pair == (&one, &other)).count() as u64
                };
                let pairs = PairedTable {
                    both: count(true, true),
                    only_a: count(true, false),
                    only_b: count(false, true),
                    neither: count(false, false),
                };
                let own = (pairs.only_a as f64 - pairs.only_b as f64) / rows[first].len() as f64;
                let ends = tango_interval(pairs, CONFIDENCE).ok()?;
                value += weight * own;
                below += (weight * factor * (own - ends.low)).powi(2);
                above += (weight * factor * (ends.high - own)).powi(2);
            }
            Interval::new(value - below.sqrt(), value + above.sqrt())
        },
    )
}
