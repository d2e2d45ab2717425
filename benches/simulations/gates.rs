//! A gate whose evidence adds up over nights: how often it raises an alarm though nothing changed, and how soon it sees a drop.

use evalreport::stats::{self, GateProcess};

use super::Table;
use super::rule::ALPHA;
use super::world::{World, shares};

/// How nights come about.
#[derive(Clone, Copy)]
struct Suite {
    items: usize,
    /// The share of items that pass now and then, with chances from 10 to 90 %; of the rest, seven of ten always pass.
    flaky: f64,
    /// Standard deviation of what moves a whole night.
    nightly: f64,
}

impl Suite {
    fn chances(self, world: &mut World) -> Vec<f64> {
        let chance = |world: &mut World| {
            if world.happens(self.flaky) {
                0.1 + 0.8 * world.uniform()
            } else {
                f64::from(u8::from(world.happens(0.7)))
            }
        };
        (0..self.items).map(|_| chance(world)).collect()
    }

    fn rate(self, world: &mut World, chances: &[f64]) -> f64 {
        let off = self.nightly * world.normal();
        let passed = chances
            .iter()
            .filter(|chance| world.happens(**chance + off))
            .count();
        passed as f64 / self.items as f64
    }

    /// After `before` nights, items break for good, so that the rate falls by `drop` on average.
    fn process(
        self,
        world: &mut World,
        before: usize,
        nights: usize,
        drop: f64,
    ) -> Option<GateProcess> {
        let chances = self.chances(world);
        let baseline: Vec<f64> = (0..before).map(|_| self.rate(world, &chances)).collect();
        let breaks = drop * self.items as f64 / chances.iter().sum::<f64>();
        let after: Vec<f64> = chances
            .iter()
            .map(|chance| if world.happens(breaks) { 0.0 } else { *chance })
            .collect();
        let head: Vec<f64> = (0..nights).map(|_| self.rate(world, &after)).collect();
        stats::gate_process(&baseline, &head, ALPHA).ok()
    }

    fn words(self) -> [String; 3] {
        [
            self.items.to_string(),
            format!("{:.0} %", 100.0 * self.flaky),
            format!("{:.0} pp", 100.0 * self.nightly),
        ]
    }
}

const BASELINES: [usize; 5] = [1, 3, 7, 14, 30];

pub fn false_alarms() -> Table {
    let mut table = Table::new(
        "Nothing changed in 365 nights: an alarm on any of them, in % (± standard error of the simulation)",
        &[
            "items",
            "of them flaky",
            "deviation of nights",
            "baseline of 1 night",
            "3",
            "7",
            "14",
            "30",
        ],
    );
    for (items, flaky, nightly) in [(50, 0.1, 0.0), (200, 0.4, 0.02)] {
        let suite = Suite {
            items,
            flaky,
            nightly,
        };
        let got = BASELINES.map(|before| {
            let any = |world: &mut World| {
                suite
                    .process(world, before, 365, 0.0)
                    .map(|process| process.alarm_at.is_some())
            };
            shares(200, |world| [any(world)])[0].with_error()
        });
        table
            .rows
            .push(suite.words().into_iter().chain(got).collect());
    }
    table
}

/// Nights that resemble their neighbours: a part of the variance wanders, the rest is noise of single nights.
pub fn correlated() -> Table {
    let mut table = Table::new(
        "Nights that resemble their neighbours: an alarm within 60 nights, in % (± standard error of the simulation)",
        &[
            "wandering part",
            "correlation",
            "drop in deviations of nights",
            "baseline of 3 nights",
            "7",
            "14",
            "30",
        ],
    );
    for (part, correlation) in [
        (0.0_f64, 0.0_f64),
        (1.0, 0.3),
        (1.0, 0.5),
        (1.0, 0.8),
        (1.0, 0.9),
        (0.5, 0.5),
        (0.5, 0.8),
    ] {
        for drop in [0.0, 2.0, 3.0] {
            let got = [3, 7, 14, 30].map(|before| {
                let any = |world: &mut World| {
                    let mut wander = world.normal();
                    let nights: Vec<f64> = (0..before + 60)
                        .map(|night| {
                            wander = correlation * wander
                                + (1.0 - correlation * correlation).sqrt() * world.normal();
                            let noise = world.normal();
                            let fall = if night < before { 0.0 } else { drop };
                            part.sqrt() * wander + (1.0 - part).sqrt() * noise - fall
                        })
                        .collect();
                    stats::gate_process(&nights[..before], &nights[before..], ALPHA)
                        .ok()
                        .map(|process| process.alarm_at.is_some())
                };
                shares(400, |world| [any(world)])[0].with_error()
            });
            let case = [
                format!("{:.0} %", 100.0 * part),
                format!("{correlation:.1}"),
                format!("{drop:.0}"),
            ];
            table.rows.push(case.into_iter().chain(got).collect());
        }
    }
    table
}

pub fn drops_found() -> Table {
    let mut table = Table::new(
        "Items broke after the baseline: an alarm within ten nights, in % (± standard error of the simulation)",
        &[
            "items",
            "of them flaky",
            "deviation of nights",
            "drop",
            "baseline of 1 night",
            "3",
            "7",
            "14",
            "30",
        ],
    );
    for items in [50, 200, 1_000] {
        for flaky in [0.1, 0.4] {
            for nightly in [0.0, 0.02] {
                for drop in [0.02, 0.05, 0.1] {
                    let suite = Suite {
                        items,
                        flaky,
                        nightly,
                    };
                    let got = BASELINES.map(|before| {
                        let found = |world: &mut World| {
                            suite
                                .process(world, before, 10, drop)
                                .map(|process| process.alarm_at.is_some())
                        };
                        shares(200, |world| [found(world)])[0].with_error()
                    });
                    let case = suite
                        .words()
                        .into_iter()
                        .chain([format!("{:.0} pp", 100.0 * drop)]);
                    table.rows.push(case.chain(got).collect());
                }
            }
        }
    }
    table
}
