//! Whether the noise ledger finds the components that were planted, and the conditions that move a run's rate.

use evalreport::stats::{self, ItemsByRuns};
use rayon::prelude::*;

use super::Table;
use super::world::{World, nth, shares};

const WORLDS: u32 = 2_000;
/// How alike the chances of one item's attempts are, against those of other items; and of one cluster's items.
const HARDNESS: f64 = 0.4;
const CLUSTERED: f64 = 0.2;

/// The ledger's level for conditions.
const LEVEL: f64 = 0.03;

/// A made-up arm.
#[derive(Clone, Copy)]
struct Planted {
    items: usize,
    runs: usize,
    rate: f64,
    /// Standard deviation of a run's level.
    deviation: f64,
    /// Items in a cluster, 1 for no clusters.
    cluster: usize,
    /// Share of missing values.
    missing: f64,
}

impl Planted {
    /// Variances of answers, items, clusters and runs.
    fn truth(&self) -> [f64; 4] {
        let whole = self.rate * (1.0 - self.rate);
        let clusters = if self.cluster > 1 {
            CLUSTERED * whole
        } else {
            0.0
        };
        let items = HARDNESS * (whole - clusters);
        // A shift moves an item by p (1 − p) of itself: the noise of answers falls by the variance that the runs get.
        [
            whole - clusters - items - self.deviation.powi(2),
            items,
            clusters,
            self.deviation.powi(2),
        ]
    }

    fn shift(&self, world: &mut World, ahead: f64) -> f64 {
        let [answers, _, _, runs] = self.truth();
        (ahead
            + self.deviation
                * if self.deviation > 0.0 {
                    world.normal()
                } else {
                    0.0
                })
            / (answers + runs)
    }

    /// Draws values by item and run; `ahead` lifts all runs from `from` on.
    fn values(&self, world: &mut World, from: usize, ahead: f64) -> (Vec<Option<f64>>, Vec<u32>) {
        let shifts: Vec<f64> = (0..self.runs)
            .map(|run| self.shift(world, if run >= from { ahead } else { 0.0 }))
            .collect();
        let (mut values, mut clusters, mut level) = (Vec::new(), Vec::new(), self.rate);
        for item in 0..self.items {
            if self.cluster > 1 && item % self.cluster == 0 {
                level = world.chance(self.rate, CLUSTERED);
            }
            // A chance at an end has no spread.
            let chance = if level > 0.0 && level < 1.0 {
                world.chance(level, HARDNESS)
            } else {
                level
            };
            clusters.push((item / self.cluster).try_into().expect("few clusters"));
            for shift in &shifts {
                let passed = world.happens(chance + shift * chance * (1.0 - chance));
                values.push((!world.happens(self.missing)).then_some(f64::from(u8::from(passed))));
            }
        }
        (values, clusters)
    }
}

/// Returns the mean over worlds of each component, and its Monte-Carlo error.
fn found(planted: Planted) -> [(f64, f64); 4] {
    let estimates: Vec<[f64; 4]> = (0..u64::from(WORLDS))
        .into_par_iter()
        .filter_map(|number| {
            let (values, clusters) = planted.values(&mut nth(number), 0, 0.0);
            let clusters = (planted.cluster > 1).then_some(clusters.as_slice());
            let got = stats::split_noise(
                ItemsByRuns {
                    runs: planted.runs,
                    values: &values,
                },
                None,
                clusters,
            )
            .ok()?;
            let repeats = got.repeated?;
            Some([
                repeats.answers,
                got.answers_and_items - repeats.answers,
                got.clusters,
                repeats.runs,
            ])
        })
        .collect();
    let n = estimates.len() as f64;
    std::array::from_fn(|part| {
        let mean = estimates.iter().map(|own| own[part]).sum::<f64>() / n;
        let variance = estimates
            .iter()
            .map(|own| (own[part] - mean).powi(2))
            .sum::<f64>()
            / (n - 1.0);
        (mean, (variance / n).sqrt())
    })
}

/// What is found of planted components, on average.
pub fn components() -> Table {
    let mut table = Table::new(
        "Components of the noise: mean estimate over worlds, in percent of the planted variance, ± its Monte-Carlo error",
        &[
            "items",
            "runs",
            "rate",
            "sd of runs",
            "items in a cluster",
            "missing",
            "answers",
            "choice of items",
            "clusters",
            "runs",
        ],
    );
    let base = Planted {
        items: 200,
        runs: 3,
        rate: 0.5,
        deviation: 0.0,
        cluster: 1,
        missing: 0.0,
    };
    let cases = [
        Planted {
            items: 50,
            runs: 2,
            ..base
        },
        Planted {
            items: 50,
            runs: 4,
            rate: 0.8,
            ..base
        },
        base,
        Planted { rate: 0.8, ..base },
        Planted {
            deviation: 0.04,
            ..base
        },
        Planted {
            runs: 5,
            deviation: 0.04,
            rate: 0.8,
            ..base
        },
        Planted {
            runs: 5,
            deviation: 0.04,
            missing: 0.2,
            ..base
        },
        Planted {
            runs: 5,
            cluster: 5,
            ..base
        },
        Planted {
            items: 500,
            runs: 5,
            cluster: 5,
            deviation: 0.04,
            missing: 0.1,
            ..base
        },
    ];
    for planted in cases {
        let cells =
            found(planted)
                .into_iter()
                .zip(planted.truth())
                .map(|((mean, error), truth)| {
                    if truth > 0.0 {
                        format!("{:.1} ± {:.1}", 100.0 * mean / truth, 100.0 * error / truth)
                    } else {
                        format!("none: {:.1} ± {:.1} of 10⁻⁵", 1e5 * mean, 1e5 * error)
                    }
                });
        let case = [
            planted.items.to_string(),
            planted.runs.to_string(),
            format!("{:.1}", planted.rate),
            format!("{:.0} pp", 100.0 * planted.deviation),
            planted.cluster.to_string(),
            format!("{:.0}%", 100.0 * planted.missing),
        ];
        table.rows.push(case.into_iter().chain(cells).collect());
    }
    table
}

/// Whether the limits of what a run shares hold.
pub fn limits() -> Table {
    let mut table = Table::new(
        "Limits of what a run shares (95 %): the ledger shows 0.0, the truth is below or above the limits, in % (± standard error of the simulation)",
        &["items", "runs", "sd of runs", "shows 0.0", "below", "above"],
    );
    for items in [50, 200, 1_000] {
        for runs in [2, 4] {
            for deviation in [0.0, 0.02, 0.04] {
                let planted = Planted {
                    items,
                    runs,
                    rate: 0.5,
                    deviation,
                    cluster: 1,
                    missing: 0.0,
                };
                let truth = planted.truth()[3];
                let looked_at = |world: &mut World| {
                    let (values, _) = planted.values(world, 0, 0.0);
                    let of_runs = stats::split_noise(
                        ItemsByRuns {
                            runs,
                            values: &values,
                        },
                        None,
                        None,
                    )
                    .ok()
                    .and_then(|noise| noise.repeated)
                    .map(|repeats| repeats.of_runs);
                    let limits = of_runs.and_then(|of_runs| of_runs.shared_limits(0.95).ok());
                    [
                        of_runs.map(|of_runs| of_runs.shared().max(0.0).sqrt() < 0.000_5),
                        limits.map(|limits| truth < limits.low),
                        limits.map(|limits| truth > limits.high),
                    ]
                };
                let got = shares(WORLDS, looked_at).map(|share| share.with_error());
                let case = [
                    items.to_string(),
                    runs.to_string(),
                    format!("{:.0} pp", 100.0 * deviation),
                ];
                table.rows.push(case.into_iter().chain(got).collect());
            }
        }
    }
    table
}

/// Whether runs under two conditions are told apart, by the ledger's test.
#[expect(clippy::unnecessary_wraps, reason = "an answer of a world")]
fn is_flagged(planted: Planted, world: &mut World, ahead: f64, tests: f64) -> Option<bool> {
    let half = planted.runs / 2;
    let (values, clusters) = planted.values(world, half, ahead);
    let side = |from: usize| -> Vec<Option<f64>> {
        values
            .chunks(planted.runs)
            .flat_map(|row| row[from..from + half].to_vec())
            .collect()
    };
    let (before, after) = (side(0), side(half));
    let clusters = (planted.cluster > 1).then_some(clusters.as_slice());
    let arm = |values| ItemsByRuns { runs: half, values };
    let test = stats::two_way(arm(&after), arm(&before), clusters, 0.95);
    Some(test.is_ok_and(|test| test.p * tests < LEVEL))
}

/// How often a condition is flagged.
pub fn conditions() -> Table {
    let mut table = Table::new(
        "Runs of one arm under two conditions: flagged, without an effect and with 6 pp",
        &[
            "items",
            "runs a side",
            "rate",
            "sd of runs",
            "items in a cluster",
            "no effect",
            "no effect, 1 of 4 conditions",
            "6 pp",
            "6 pp, 1 of 4 conditions",
        ],
    );
    let base = Planted {
        items: 500,
        runs: 8,
        rate: 0.5,
        deviation: 0.0,
        cluster: 1,
        missing: 0.0,
    };
    let cases = [
        Planted { runs: 6, ..base },
        base,
        Planted { rate: 0.8, ..base },
        Planted { rate: 0.3, ..base },
        Planted { runs: 10, ..base },
        Planted {
            deviation: 0.01,
            ..base
        },
        Planted {
            deviation: 0.02,
            ..base
        },
        Planted {
            runs: 10,
            deviation: 0.01,
            ..base
        },
        Planted {
            runs: 10,
            deviation: 0.02,
            ..base
        },
        Planted {
            runs: 10,
            deviation: 0.04,
            ..base
        },
        Planted {
            runs: 20,
            deviation: 0.02,
            ..base
        },
        Planted {
            runs: 6,
            deviation: 0.03,
            ..base
        },
        Planted {
            runs: 10,
            rate: 0.8,
            ..base
        },
        Planted { cluster: 5, ..base },
        Planted { items: 100, ..base },
    ];
    for planted in cases {
        let got = shares(4_000, |world| {
            let mut ask = |ahead, tests| is_flagged(planted, world, ahead, tests);
            [ask(0.0, 1.0), ask(0.0, 4.0), ask(0.06, 1.0), ask(0.06, 4.0)]
        });
        let case = [
            planted.items.to_string(),
            (planted.runs / 2).to_string(),
            format!("{:.1}", planted.rate),
            format!("{:.0} pp", 100.0 * planted.deviation),
            planted.cluster.to_string(),
        ];
        table.rows.push(
            case.into_iter()
                .chain(got.iter().map(super::world::Share::with_error))
                .collect(),
        );
    }
    table
}
