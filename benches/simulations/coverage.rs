//! How often intervals hold what they are about.

use evalreport::stats::{self, Interval, PairedTable, Replicates, Seed, Undefined};

use super::Table;
use super::rule::CONFIDENCE;
use super::world::{World, shares};

const WORLDS: u32 = 10_000;

fn holds(interval: Result<Interval, Undefined>, truth: f64) -> Option<bool> {
    interval
        .ok()
        .map(|interval| interval.low <= truth && truth <= interval.high)
}

type Method = fn(u64, u64, f64) -> Result<Interval, Undefined>;

/// Exact: the binomial distribution is added up over all counts, for shares from 5 to 95 % in steps of 5.
pub fn one_share() -> Table {
    let mut table = Table::new(
        "One share: mean and least coverage over true shares of 5 to 95 %, in percent (exact, not simulated)",
        &[
            "items",
            "Wilson",
            "Clopper–Pearson",
            "p ± 1.96 SE, for contrast",
        ],
    );
    let wald = |passed: u64, n: u64, _| {
        let p = passed as f64 / n as f64;
        let half = 1.96 * (p * (1.0 - p) / n as f64).sqrt();
        Interval::new(p - half, p + half).ok_or(Undefined::NotFinite)
    };
    let methods: [Method; 3] = [stats::wilson_score_interval, stats::clopper_pearson, wald];
    for n in [5, 10, 20, 50, 100, 300] {
        let mut row = vec![n.to_string()];
        for method in methods {
            let covered: Vec<f64> = (1..20)
                .map(|twentieth| covered(n, f64::from(twentieth) / 20.0, method))
                .collect();
            let mean = covered.iter().sum::<f64>() / covered.len() as f64;
            let least = covered.iter().copied().fold(1.0, f64::min);
            row.push(format!("{:.1}, least {:.1}", 100.0 * mean, 100.0 * least));
        }
        table.rows.push(row);
    }
    table
}

/// The chance that an interval for a count of `n` holds the share it comes from.
fn covered(n: u64, share: f64, method: Method) -> f64 {
    // Logarithms, because the first of the chances may be too small for a number.
    let mut log_chance = n as f64 * (1.0 - share).ln();
    let mut sum = 0.0;
    for passed in 0..=n {
        if holds(method(passed, n, CONFIDENCE), share) == Some(true) {
            sum += log_chance.exp();
        }
        log_chance += ((n - passed) as f64 / (passed + 1) as f64 * share / (1.0 - share)).ln();
    }
    sum
}

pub fn two_shares() -> Table {
    let mut table = Table::new(
        "Difference of two shares of different items",
        &["true shares", "items a side", "Newcombe"],
    );
    for (a, b) in [(0.5, 0.5), (0.8, 0.7), (0.95, 0.9), (0.99, 0.99)] {
        for n in [10, 30, 100] {
            let got = shares(WORLDS, |world| {
                let (one, other) = (world.passed(n, a), world.passed(n, b));
                [holds(
                    stats::newcombe_interval(one, n, other, n, CONFIDENCE),
                    a - b,
                )]
            });
            table.row(
                &[
                    format!("{:.0} and {:.0} %", 100.0 * a, 100.0 * b),
                    n.to_string(),
                ],
                &got,
            );
        }
    }
    table
}

pub fn paired_shares() -> Table {
    let mut table = Table::new(
        "Difference of two shares of the same items",
        &[
            "passed by both, only A, only B (%)",
            "items",
            "Tango",
            "Newcombe, paired",
            "Newcombe that ignores the pairs",
        ],
    );
    for [both, only_a, only_b] in [
        [0.4, 0.1, 0.1],
        [0.6, 0.2, 0.1],
        [0.8, 0.1, 0.02],
        [0.88, 0.06, 0.05],
        [0.97, 0.01, 0.01],
        [0.95, 0.04, 0.0],
    ] {
        for n in [10, 20, 50, 200] {
            let got = shares(WORLDS, |world| {
                let pairs = draw_pairs(world, n, [both, only_a, only_b]);
                let truth = only_a - only_b;
                let ignoring = stats::newcombe_interval(
                    pairs.both + pairs.only_a,
                    n,
                    pairs.both + pairs.only_b,
                    n,
                    CONFIDENCE,
                );
                [
                    holds(stats::tango_interval(pairs, CONFIDENCE), truth),
                    holds(stats::newcombe_paired(pairs, CONFIDENCE), truth),
                    holds(ignoring, truth),
                ]
            });
            table.row(
                &[
                    format!(
                        "{:.0}, {:.0}, {:.0}",
                        100.0 * both,
                        100.0 * only_a,
                        100.0 * only_b
                    ),
                    n.to_string(),
                ],
                &got,
            );
        }
    }
    table
}

fn draw_pairs(world: &mut World, n: u64, [both, only_a, only_b]: [f64; 3]) -> PairedTable {
    let mut pairs = PairedTable {
        both: 0,
        only_a: 0,
        only_b: 0,
        neither: 0,
    };
    for _ in 0..n {
        let at = world.uniform();
        let cell = if at < both {
            &mut pairs.both
        } else if at < both + only_a {
            &mut pairs.only_a
        } else if at < both + only_a + only_b {
            &mut pairs.only_b
        } else {
            &mut pairs.neither
        };
        *cell += 1;
    }
    pairs
}

/// Fifty tests a run. Tests of one run share an artefact, so that they stand or fall together to some degree.
pub fn rates_of_runs() -> Table {
    const TESTS: u64 = 50;
    let mut table = Table::new(
        "Mean pass rate of runs with 50 tests each; in brackets, how often there is a t interval at all (runs that do not vary have none)",
        &[
            "true rate",
            "correlation within a run",
            "runs",
            "t over runs",
            "Wilson over all tests pooled",
        ],
    );
    for rate in [0.8, 0.95] {
        for correlation in [0.0, 0.05, 0.3] {
            for runs in [3, 5, 10] {
                let got = shares(WORLDS, |world| {
                    let passed: Vec<u64> = (0..runs)
                        .map(|_| {
                            let chance = world.chance(rate, correlation);
                            world.passed(TESTS, chance)
                        })
                        .collect();
                    let rates: Vec<f64> = passed
                        .iter()
                        .map(|passed| *passed as f64 / TESTS as f64)
                        .collect();
                    let over_runs = stats::mean_interval(&rates, CONFIDENCE)
                        .map(|interval| interval.clipped_to(0.0, 1.0));
                    let pooled =
                        stats::wilson_score_interval(passed.iter().sum(), TESTS * runs, CONFIDENCE);
                    [holds(over_runs, rate), holds(pooled, rate)]
                });
                table.row(
                    &[
                        format!("{:.0} %", 100.0 * rate),
                        correlation.to_string(),
                        runs.to_string(),
                    ],
                    &got,
                );
            }
        }
    }
    table
}

/// Log-normal amounts with a true ratio of 2.
pub fn ratios_of_amounts() -> Table {
    let mut table = Table::new(
        "Ratio of typical amounts (log-normal; a deviation of 1 means that a third of the runs is off by a factor of 2.7 or more)",
        &[
            "deviations of the logarithm",
            "runs a side",
            "Welch on logarithms",
        ],
    );
    for (first, second) in [(0.3, 0.3), (1.0, 1.0), (0.3, 1.0)] {
        for runs in [3, 5, 10] {
            let got = shares(WORLDS, |world| {
                let mut draw = |typical: f64, deviation: f64| -> Vec<f64> {
                    (0..runs)
                        .map(|_| typical * (deviation * world.normal()).exp())
                        .collect()
                };
                let (one, other) = (draw(2.0, first), draw(1.0, second));
                [holds(
                    stats::log_ratio_welch(&one, &other, CONFIDENCE).map(|got| got.interval),
                    2.0,
                )]
            });
            table.row(&[format!("{first} and {second}"), runs.to_string()], &got);
        }
    }
    table
}

/// Log-normal costs whose true means have the ratio 2: what the bill says, which is about means and not about the typical run.
pub fn bills() -> Table {
    let mut table = Table::new(
        "Ratio of mean costs (log-normal)",
        &[
            "deviations of the logarithm",
            "runs a side",
            "delta method with t",
            "with 1.96",
        ],
    );
    for deviation in [0.3, 1.0] {
        for runs in [3, 5, 10, 30] {
            let got = shares(WORLDS, |world| {
                let mut draw = |mean: f64| -> Vec<f64> {
                    (0..runs)
                        .map(|_| {
                            mean * (deviation * world.normal() - deviation * deviation / 2.0).exp()
                        })
                        .collect()
                };
                let (one, other) = (draw(2.0), draw(1.0));
                let found = stats::ratio_of_means(&one, &other, CONFIDENCE);
                let student = found
                    .and_then(|found| found.student_interval(f64::from(runs) - 1.0, CONFIDENCE));
                [
                    holds(student, 2.0),
                    holds(found.map(|found| found.interval), 2.0),
                ]
            });
            table.row(&[deviation.to_string(), runs.to_string()], &got);
        }
    }
    table
}

/// Cost per solved: items that are solved cost less than those that are not, as agents give up late.
pub fn prices() -> Table {
    let mut table = Table::new(
        "Cost per solved item (log-normal costs, an unsolved item costs twice as much)",
        &[
            "unit",
            "rate solved",
            "n",
            "delta method with t",
            "BCa (2,000 worlds)",
        ],
    );
    let item = |world: &mut World, rate: f64| {
        let solved = world.happens(rate);
        let typical = if solved { 1.0 } else { 2.0 };
        (
            typical * (0.6 * world.normal() - 0.18).exp(),
            f64::from(u8::from(solved)),
        )
    };
    for rate in [0.3, 0.8] {
        let truth = (rate + 2.0 * (1.0 - rate)) / rate;
        for (unit, n, tests) in [
            ("items", 20, 1),
            ("items", 100, 1),
            ("runs of 20 items", 3, 20),
            ("runs of 20 items", 10, 20),
            ("runs of 20 items", 20, 20),
            ("runs of 20 items", 50, 20),
        ] {
            let draw = |world: &mut World| -> (Vec<f64>, Vec<f64>) {
                let one = |world: &mut World| {
                    (0..tests)
                        .map(|_| item(world, rate))
                        .fold((0.0, 0.0), |sum, one| (sum.0 + one.0, sum.1 + one.1))
                };
                (0..n).map(|_| one(world)).unzip()
            };
            let [delta] = shares(WORLDS, |world| {
                let (costs, solved) = draw(world);
                let found = stats::ratio_of_means_paired(&costs, &solved, CONFIDENCE);
                [holds(
                    found.and_then(|found| found.student_interval(f64::from(n) - 1.0, CONFIDENCE)),
                    truth,
                )]
            });
            let [bca] = shares(2_000, |world| {
                let (costs, solved) = draw(world);
                let ratio = |units: &[u32]| {
                    let sum = |values: &[f64]| {
                        units.iter().map(|unit| values[*unit as usize]).sum::<f64>()
                    };
                    Some(sum(&costs) / sum(&solved)).filter(|ratio| ratio.is_finite())
                };
                let all: Vec<u32> = (0..).take(costs.len()).collect();
                let drawn = Replicates::draw_replicates(costs.len(), 1_999, Seed(1), ratio);
                let found = drawn.and_then(|drawn| {
                    let estimate = ratio(&all).ok_or(Undefined::NotFinite)?;
                    drawn
                        .bca_interval(
                            estimate,
                            &stats::jackknife_values(costs.len(), ratio)?,
                            CONFIDENCE,
                        )
                        .map(|found| found.interval)
                });
                [holds(found, truth)]
            });
            table.row(
                &[
                    unit.to_owned(),
                    format!("{:.0} %", 100.0 * rate),
                    n.to_string(),
                ],
                &[delta, bca],
            );
        }
    }
    table
}

/// Ten values a cluster; three tenths of the variance is between clusters.
pub fn clusters() -> Table {
    let mut table = Table::new(
        "Mean of clustered values (10 a cluster, intraclass correlation 0.3)",
        &[
            "clusters",
            "CR1 with t(G − 1)",
            "CR0 with 1.96",
            "as if independent",
        ],
    );
    for clusters in [3_u32, 5, 6, 10, 30] {
        let got = shares(WORLDS, |world| {
            let (mut values, mut codes) = (Vec::new(), Vec::new());
            for cluster in 0..clusters {
                let shared = 0.3_f64.sqrt() * world.normal();
                for _ in 0..10 {
                    values.push(shared + 0.7_f64.sqrt() * world.normal());
                    codes.push(cluster);
                }
            }
            let Ok(got) = stats::clustered_mean(&values, &codes, CONFIDENCE) else {
                return [None; 3];
            };
            let within = |error: f64| Some(got.mean.abs() <= 1.96 * error);
            [
                holds(Ok(got.interval), 0.0),
                within(got.se_cr0),
                within(got.se_naive),
            ]
        });
        table.row(&[clusters.to_string()], &got);
    }
    table
}

pub fn bootstrap() -> Table {
    let mut table = Table::new(
        "Mean by resampling (1,999 resamples, 2,000 worlds)",
        &["values", "n", "percentile", "BCa", "t"],
    );
    for skewed in [false, true] {
        for n in [10, 20, 50] {
            let truth = if skewed { 0.5_f64.exp() } else { 0.0 };
            let got = shares(2_000, |world| {
                let xs: Vec<f64> = (0..n)
                    .map(|_| {
                        if skewed {
                            world.normal().exp()
                        } else {
                            world.normal()
                        }
                    })
                    .collect();
                let mean = |units: &[u32]| {
                    Some(
                        units.iter().map(|unit| xs[*unit as usize]).sum::<f64>()
                            / units.len() as f64,
                    )
                };
                let units: Vec<u32> = (0..n).collect();
                let drawn = Replicates::draw_replicates(xs.len(), 1_999, Seed(1), mean);
                let bca = drawn.as_ref().map_err(|reason| *reason).and_then(|drawn| {
                    drawn
                        .bca_interval(
                            mean(&units).unwrap_or_default(),
                            &stats::jackknife_values(xs.len(), mean)?,
                            CONFIDENCE,
                        )
                        .map(|got| got.interval)
                });
                let percentile = drawn.and_then(|drawn| drawn.percentile_interval(CONFIDENCE));
                [
                    holds(percentile, truth),
                    holds(bca, truth),
                    holds(stats::mean_interval(&xs, CONFIDENCE), truth),
                ]
            });
            table.row(
                &[
                    if skewed { "log-normal" } else { "normal" }.to_owned(),
                    n.to_string(),
                ],
                &got,
            );
        }
    }
    table
}

/// Ten new items every night; the interval has to hold the truth on all of thirty nights.
pub fn every_night() -> Table {
    let mut table = Table::new(
        "A share looked at on each of 30 nights, with 10 new items a night: right on every night",
        &["true share", "confidence sequence", "Wilson every night"],
    );
    for share in [0.5, 0.8, 0.95] {
        let got = shares(WORLDS, |world| {
            let (mut passed, mut right) = (0, [true; 2]);
            for night in 1..=30 {
                passed += world.passed(10, share);
                let sequence =
                    stats::bernoulli_confidence_sequence(passed, 10 * night, 1.0 - CONFIDENCE);
                right[0] &= holds(sequence, share) == Some(true);
                right[1] &= holds(
                    stats::wilson_score_interval(passed, 10 * night, CONFIDENCE),
                    share,
                ) == Some(true);
            }
            right.map(Some)
        });
        table.row(&[format!("{:.0} %", 100.0 * share)], &got);
    }
    table
}
