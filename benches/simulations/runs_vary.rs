//! Items tried in several runs, where a run may shift all of its items: what two-way errors hold, and what they cost.

use std::sync::LazyLock;

use evalreport::stats::{self, ItemsByRuns};

use super::Table;
use super::rule::ALPHA;
use super::world::{self, World, shares};

/// A share of 5 % has a Monte-Carlo error of 0.4 percentage points.
const WORLDS: u32 = 3_000;
/// How alike the chances of one item's attempts are, against those of other items.
const HARDNESS: f64 = 0.4;
/// The share of an item's remaining variance that is one arm's own, where arms have their own hard items.
const OWN: f64 = 0.3;
const RATES: [f64; 3] = [0.3, 0.5, 0.8];
/// By rate: the chances of many items, and of each for either arm where arms have their own hard items. Drawing them is what takes time.
static CHANCES: LazyLock<[Vec<[f64; 3]>; RATES.len()]> = LazyLock::new(|| {
    let mut world = world::nth(u64::MAX);
    RATES.map(|rate| {
        let own = |world: &mut World, item: f64| {
            if item > 0.0 && item < 1.0 {
                world.chance(item, OWN)
            } else {
                item
            }
        };
        let item = |_| {
            let item = world.chance(rate, HARDNESS);
            [item, own(&mut world, item), own(&mut world, item)]
        };
        (0..1 << 14).map(item).collect()
    })
});
const RUNS: [[usize; 2]; 5] = [[2, 2], [3, 3], [5, 5], [2, 5], [3, 5]];
const ITEMS: [usize; 3] = [50, 200, 1_000];

/// A made-up comparison.
#[derive(Clone, Copy)]
pub struct Design {
    pub items: usize,
    pub runs: [usize; 2],
    /// The place of the items' mean chance in `RATES`.
    pub rate: usize,
    /// Whether an item may be hard for one arm alone.
    pub own: bool,
    /// Standard deviation of a run's level, as a share.
    pub deviation: f64,
    /// How much better the first arm is, as a share.
    pub ahead: f64,
    /// The last run of the second arm fails everything.
    pub crash: bool,
}

impl Design {
    /// What one attempt varies by inside its item, and what items differ by between the arms.
    fn variances(&self) -> (f64, f64) {
        let left = (1.0 - HARDNESS) * RATES[self.rate] * (1.0 - RATES[self.rate]);
        if self.own {
            ((1.0 - OWN) * left, 2.0 * OWN * left)
        } else {
            (left, 0.0)
        }
    }

    /// The difference that a test over items finds in about 70 % of worlds where runs are alike.
    fn worth_finding(self) -> Self {
        let (within, between) = self.variances();
        let [one, other] = self.runs.map(|runs| 1.0 / runs as f64);
        Self {
            ahead: 2.486 * ((within * (one + other) + between) / self.items as f64).sqrt(),
            ..self
        }
    }

    pub fn arms(&self, world: &mut World) -> [Vec<Option<f64>>; 2] {
        // A shift moves an item by p (1 − p) of itself, as one on the logistic scale does; on average that is the variance inside items.
        let slope = 1.0 / self.variances().0;
        let shift = |world: &mut World| {
            if self.deviation > 0.0 {
                slope * self.deviation * world.normal()
            } else {
                0.0
            }
        };
        let shifts = self
            .runs
            .map(|runs| (0..runs).map(|_| shift(world)).collect::<Vec<f64>>());
        let mut arms = [Vec::new(), Vec::new()];
        for _ in 0..self.items {
            let item = CHANCES[self.rate][world.below(CHANCES[self.rate].len())];
            for (which, (arm, shifts)) in arms.iter_mut().zip(&shifts).enumerate() {
                let chance = item[if self.own { 1 + which } else { 0 }];
                let ahead = if which == 0 { slope * self.ahead } else { 0.0 };
                for (run, shift) in shifts.iter().enumerate() {
                    let crashed = self.crash && which == 1 && run + 1 == shifts.len();
                    let passed = !crashed
                        && world.happens(chance + (shift + ahead) * chance * (1.0 - chance));
                    arm.push(Some(f64::from(u8::from(passed))));
                }
            }
        }
        arms
    }

    /// Whether two-way errors and whether the paired t test over items' means name a winner, and whether runs are said to vary.
    fn winners(&self, world: &mut World) -> [Option<bool>; 3] {
        let arms = self.arms(world);
        let tables = [0, 1].map(|arm| ItemsByRuns {
            runs: self.runs[arm],
            values: &arms[arm],
        });
        let two_way = stats::two_way(tables[0], tables[1], None, 1.0 - ALPHA).ok();
        let means = [0, 1].map(|arm| -> Vec<f64> {
            arms[arm]
                .chunks(self.runs[arm])
                .map(|row| row.iter().flatten().sum::<f64>() / self.runs[arm] as f64)
                .collect()
        });
        let over_items = stats::paired_t(&means[0], &means[1], 1.0 - ALPHA);
        [
            Some(two_way.is_some_and(|test| test.p < ALPHA)),
            Some(over_items.is_ok_and(|test| test.p < ALPHA)),
            Some(two_way.is_some_and(|test| test.runs_vary)),
        ]
    }
}

fn label(own: bool) -> String {
    if own {
        "each arm's own".to_owned()
    } else {
        "the same for both".to_owned()
    }
}

fn designs(own: bool) -> impl Iterator<Item = Design> {
    let at = move |runs, items| Design {
        items,
        runs,
        rate: 0,
        own,
        deviation: 0.0,
        ahead: 0.0,
        crash: false,
    };
    RUNS.iter()
        .flat_map(move |runs| ITEMS.iter().map(move |items| at(*runs, *items)))
}

fn case(design: &Design) -> [String; 3] {
    [
        label(design.own),
        format!("{} and {}", design.runs[0], design.runs[1]),
        design.items.to_string(),
    ]
}

/// A third of the worlds for each of the rates.
fn over_rates(worlds: u32, design: &Design) -> [world::Share; 3] {
    shares(worlds, |world| {
        Design {
            rate: world.below(RATES.len()),
            ..*design
        }
        .winners(world)
    })
}

/// Equal arms whose runs vary.
pub fn false_winners() -> Table {
    let mut table = Table::new(
        "Items tried in several runs, arms equally good: winners by two-way errors, and by items alone, by the standard deviation of a run's level",
        &[
            "hard items",
            "runs",
            "items",
            "0 pp",
            "1 pp",
            "2 pp",
            "3 pp",
            "4 pp",
            "items alone, 0 pp",
            "items alone, 2 pp",
            "items alone, 4 pp",
            "\"runs vary\", 0 pp",
            "\"runs vary\", 4 pp",
        ],
    );
    for own in [false, true] {
        for design in designs(own) {
            let got = [0.0, 0.01, 0.02, 0.03, 0.04].map(|deviation| {
                over_rates(
                    WORLDS,
                    &Design {
                        deviation,
                        ..design
                    },
                )
            });
            let two_way = got.map(|shares| shares[0]);
            let shares: Vec<_> = two_way
                .into_iter()
                .chain([got[0][1], got[2][1], got[4][1], got[0][2], got[4][2]])
                .collect();
            table.row(&case(&design), &shares);
        }
    }
    table
}

/// A true difference, and runs that are alike.
pub fn power() -> Table {
    let mut table = Table::new(
        "Items tried in several runs that are alike, the first arm better: found by two-way errors, and by items alone",
        &[
            "hard items",
            "runs",
            "items",
            "two-way errors",
            "items alone",
        ],
    );
    for own in [false, true] {
        for design in designs(own) {
            let [two_way, over_items, _] = shares(WORLDS, |world| {
                Design {
                    rate: world.below(RATES.len()),
                    ..design
                }
                .worth_finding()
                .winners(world)
            });
            table.row(&case(&design), &[two_way, over_items]);
        }
    }
    table
}

/// One of an arm's runs failed everything; the arms are equally good.
pub fn crashes() -> Table {
    let mut table = Table::new(
        "One crashed run of the second arm, arms equally good otherwise: winners by two-way errors, and by items alone",
        &[
            "hard items",
            "runs",
            "items",
            "two-way errors",
            "items alone",
            "\"runs vary\"",
        ],
    );
    for design in designs(false).filter(|design| design.runs[0] == design.runs[1]) {
        table.row(
            &case(&design),
            &over_rates(
                WORLDS,
                &Design {
                    crash: true,
                    ..design
                },
            ),
        );
    }
    table
}

/// Clusters that favour one arm or the other, and runs that vary: twelve clusters of the sizes of SWE-bench's repositories, by CR1 and runs.
pub fn clustered() -> Table {
    let mut table = Table::new(
        "Clustered items tried in three runs a side, arms equally good: winners by two-way errors over clusters, over items, and CR1 without runs",
        &[
            "clusters",
            "deviation of a run's level",
            "two-way over clusters",
            "two-way over items",
            "CR1 of the items' means",
        ],
    );
    for sizes in [
        vec![20; 12],
        vec![20; 30],
        super::families::REPOSITORIES
            .map(|size| size / 2 + 1)
            .to_vec(),
    ] {
        for deviation in [0.0, 0.02, 0.04] {
            let got = shares(WORLDS, |world| {
                let mut arms = [Vec::new(), Vec::new()];
                let shifts = [0, 1].map(|_| [0, 1, 2].map(|_| deviation * world.normal()));
                let mut codes = Vec::new();
                for (code, size) in (0_u32..).zip(&sizes) {
                    let chances = [0, 1].map(|_| world.chance(0.5, 0.1));
                    for _ in 0..*size {
                        codes.push(code);
                        for ((arm, shifts), chance) in arms.iter_mut().zip(&shifts).zip(chances) {
                            arm.extend(shifts.map(|shift| {
                                Some(f64::from(u8::from(world.happens(chance + shift))))
                            }));
                        }
                    }
                }
                let tables = [0, 1].map(|arm| ItemsByRuns {
                    runs: 3,
                    values: &arms[arm],
                });
                let two_way = |clusters| {
                    stats::two_way(tables[0], tables[1], clusters, 1.0 - ALPHA)
                        .is_ok_and(|test| test.p < ALPHA)
                };
                let mean = |row: &[Option<f64>]| row.iter().flatten().sum::<f64>() / 3.0;
                let differences: Vec<f64> = arms[0]
                    .chunks(3)
                    .zip(arms[1].chunks(3))
                    .map(|(one, other)| mean(one) - mean(other))
                    .collect();
                let cr1 = stats::clustered_mean(&differences, &codes, 1.0 - ALPHA);
                let found =
                    cr1.is_ok_and(|mean| mean.interval.low > 0.0 || mean.interval.high < 0.0);
                [
                    Some(two_way(Some(&codes))),
                    Some(two_way(None)),
                    Some(found),
                ]
            });
            let sizes = match sizes
                .first()
                .filter(|first| sizes.iter().all(|size| size == *first))
            {
                Some(size) => format!("{} of {size}", sizes.len()),
                None => format!(
                    "{} of 1 to {}",
                    sizes.len(),
                    sizes.iter().max().copied().unwrap_or_default()
                ),
            };
            table.row(&[sizes, format!("{:.0} pp", 100.0 * deviation)], &got);
        }
    }
    table
}

/// Totals of runs whose items are unknown.
pub fn totals() -> Table {
    let mut table = Table::new(
        "Totals of several runs, items unknown, arms equally good or 10 pp apart: winners from the totals, and from the items where they were known",
        &[
            "runs",
            "tasks",
            "deviation of a run's level",
            "totals: false",
            "two-way: false",
            "totals: found",
            "two-way: found",
        ],
    );
    for runs in [[2, 2], [3, 3], [5, 5], [2, 5]] {
        for items in [50, 200, 1_000] {
            for deviation in [0.0, 0.03] {
                let got = shares(2_000, |world| {
                    let found = [0.0, 0.1].map(|ahead| {
                        let rate = world.below(RATES.len());
                        let design = Design {
                            items,
                            runs,
                            rate,
                            own: true,
                            deviation,
                            ahead,
                            crash: false,
                        };
                        let arms = design.arms(world);
                        let totals = [0, 1].map(|arm| -> Vec<(u64, u64)> {
                            let passed = |run| {
                                arms[arm]
                                    .iter()
                                    .skip(run)
                                    .step_by(runs[arm])
                                    .flatten()
                                    .filter(|value| **value > 0.5)
                                    .count()
                            };
                            (0..runs[arm])
                                .map(|run| (passed(run) as u64, items as u64))
                                .collect()
                        });
                        let by_totals =
                            stats::counts_over_runs(&totals[0], &totals[1], 1.0 - ALPHA)
                                .is_ok_and(|test| test.p < ALPHA);
                        let tables = [0, 1].map(|arm| ItemsByRuns {
                            runs: runs[arm],
                            values: &arms[arm],
                        });
                        let by_items = stats::two_way(tables[0], tables[1], None, 1.0 - ALPHA)
                            .is_ok_and(|test| test.p < ALPHA);
                        [Some(by_totals), Some(by_items)]
                    });
                    [found[0][0], found[0][1], found[1][0], found[1][1]]
                });
                let case = [
                    format!("{} and {}", runs[0], runs[1]),
                    items.to_string(),
                    format!("{:.0} pp", 100.0 * deviation),
                ];
                table.row(&case, &got);
            }
        }
    }
    table
}

/// The most power that any test can have where runs are alike, if it names false winners in at most 7 % whatever runs do: by Neyman and
/// Pearson's lemma against each spread of the runs. The test over items has 70 %. Summed up, not simulated.
pub fn bound() -> Table {
    const SIZE: f64 = 0.07;
    let mut table = Table::new(
        "Items in runs that are alike: the most power that any test can have which holds 7 % for runs that vary; over items it is 70 %",
        &[
            "runs a side",
            "share of single attempts in the items' variance",
            "the most",
            "spread of runs that is worst, variance by items'",
        ],
    );
    for runs in [2.0, 3.0, 5.0] {
        for share in [1.0, 0.5, 0.25] {
            let spreads = [0.25, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0];
            let powers =
                spreads.map(|spread| (most_power(2.0 * (runs - 1.0), share, spread, SIZE), spread));
            let (most, worst) =
                powers.into_iter().fold(
                    (1.0, 0.0),
                    |least, next| if next.0 < least.0 { next } else { least },
                );
            let case = [
                format!("{runs:.0}"),
                format!("{:.0} %", 100.0 * share),
                format!("{:.1}", 100.0 * most),
                worst.to_string(),
            ];
            table.row(&case, &[]);
        }
    }
    table
}

/// The power of the best test of "no difference, runs spread by `spread`" against "found in 70 %, runs alike", from the difference in
/// standard errors over items and the mean square between runs by its expectation.
fn most_power(degrees: f64, share: f64, spread: f64, size: f64) -> f64 {
    const STEPS: u32 = 300;
    let mut cells = Vec::new();
    for row in 0..STEPS {
        let square = (-6.0 + 12.0 * (f64::from(row) + 0.5) / f64::from(STEPS)).exp();
        let chance = |mean: f64| (degrees / 2.0 * ((square / mean).ln() - square / mean)).exp();
        let (alike, spread_out) = (chance(1.0), chance(1.0 + spread / share));
        let deviation = (1.0 + spread).sqrt();
        for column in 0..STEPS {
            let difference = 12.0 * (f64::from(column) + 0.5) / f64::from(STEPS);
            let at = |mean: f64, deviation: f64| {
                (-((difference - mean) / deviation).powi(2) / 2.0).exp() / deviation
            };
            cells.push((
                alike * (at(2.486, 1.0) + at(-2.486, 1.0)) + 1e-290,
                2.0 * spread_out * at(0.0, deviation) + 1e-280,
            ));
        }
    }
    let sums = cells
        .iter()
        .fold((0.0, 0.0), |sums, cell| (sums.0 + cell.0, sums.1 + cell.1));
    cells.sort_by(|one, other| (other.0 / other.1).total_cmp(&(one.0 / one.1)));
    let (mut found, mut wrong) = (0.0, 0.0);
    for cell in cells {
        wrong += cell.1 / sums.1;
        if wrong > size {
            break;
        }
        found += cell.0 / sums.0;
    }
    found
}
