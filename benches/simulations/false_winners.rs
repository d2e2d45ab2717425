//! How often the rule names a winner between arms that are equally good, anywhere in the family of all pairs.

use evalreport::stats;

use super::Table;
use super::rule::{self, ALPHA};
use super::world::{World, shares};

const WORLDS: u32 = 10_000;
/// Two arms are taken from six, which are fifteen pairs.
const ARMS: usize = 6;

/// What two of the arms give, and what all six give.
fn families<T>(arms: &[T], any: impl Fn(&[T]) -> bool) -> [Option<bool>; 2] {
    [Some(any(&arms[..2])), Some(any(arms))]
}

/// The same items tried once by each arm. What makes an item easy makes it easy for all.
pub fn paired_items() -> Table {
    let mut table = Table::new(
        "Items tried once (McNemar and Tango)",
        &[
            "true rate",
            "items",
            "the rule, 2 arms",
            "the rule, 6 arms",
            "unpaired z tests, 2 arms",
            "unpaired z tests, 6 arms",
        ],
    );
    for rate in [0.5, 0.8, 0.98] {
        for items in [50, 200] {
            let got = shares(WORLDS, |world| {
                let outcomes = outcomes(world, items, rate);
                let totals: Vec<(u64, u64)> = outcomes.iter().map(|arm| totals(arm)).collect();
                let [two, six] = families(&outcomes, |arms| {
                    rule::any_winner(&rule::all_pairs(arms, |a, b| rule::paired_items(a, b)))
                });
                let [two_z, six_z] = families(&totals, any_z);
                [two, six, two_z, six_z]
            });
            table.row(&[percent(rate), items.to_string()], &got);
        }
    }
    table
}

/// By arm: which items it passed.
fn outcomes(world: &mut World, items: usize, rate: f64) -> Vec<Vec<bool>> {
    let mut outcomes = vec![Vec::new(); ARMS];
    for _ in 0..items {
        let chance = world.chance(rate, 0.4);
        for arm in &mut outcomes {
            arm.push(world.happens(chance));
        }
    }
    outcomes
}

fn totals(outcomes: &[bool]) -> (u64, u64) {
    (
        outcomes.iter().filter(|passed| **passed).count() as u64,
        outcomes.len() as u64,
    )
}

fn any_z(passed: &[(u64, u64)]) -> bool {
    (0..passed.len()).any(|first| {
        (first + 1..passed.len()).any(|second| rule::z_test(passed[first], passed[second]))
    })
}

fn percent(share: f64) -> String {
    format!("{:.0} %", 100.0 * share)
}

/// The same items tried three times by each arm: means per item, compared by the paired t test, or by flipping signs below ten items.
pub fn repeated_items() -> Table {
    const ATTEMPTS: u64 = 3;
    let mut table = Table::new(
        "Items tried three times (paired t on the items' means; below 10 items, signs flipped)",
        &[
            "true rate",
            "items",
            "the rule, 2 arms",
            "the rule, 6 arms",
            "z tests over attempts, 2 arms",
            "z tests over attempts, 6 arms",
        ],
    );
    for rate in [0.5, 0.8, 0.98] {
        for items in [6, 10, 20, 50] {
            let got = shares(WORLDS, |world| {
                let mut passed = vec![vec![0; items]; ARMS];
                for item in 0..items {
                    let chance = world.chance(rate, 0.4);
                    for arm in &mut passed {
                        arm[item] = world.passed(ATTEMPTS, chance);
                    }
                }
                let (means, totals) = means_and_totals(&passed, ATTEMPTS);
                let [two, six] = families(&means, |arms| {
                    rule::any_winner(&rule::all_pairs(arms, |a, b| rule::repeated_items(a, b)))
                });
                let [two_z, six_z] = families(&totals, any_z);
                [two, six, two_z, six_z]
            });
            table.row(&[percent(rate), items.to_string()], &got);
        }
    }
    table
}

/// Each unit's share of what was tried, and all units' passed and tried.
fn means_and_totals(passed: &[Vec<u64>], each: u64) -> (Vec<Vec<f64>>, Vec<(u64, u64)>) {
    let means = passed.iter().map(|arm| {
        arm.iter()
            .map(|passed| *passed as f64 / each as f64)
            .collect()
    });
    let totals = passed
        .iter()
        .map(|arm| (arm.iter().sum(), each * arm.len() as u64));
    (means.collect(), totals.collect())
}

/// A fixed suite of fifty tests, run again.
pub fn runs() -> Table {
    const TESTS: u64 = 50;
    let mut table = Table::new(
        "Runs of a suite with 50 tests (Welch over the runs' rates)",
        &[
            "true rate",
            "correlation within a run",
            "runs",
            "the rule, 2 arms",
            "the rule, 6 arms",
            "z tests over tests, 2 arms",
            "z tests over tests, 6 arms",
        ],
    );
    for rate in [0.8, 0.95, 0.99] {
        for correlation in [0.0, 0.05, 0.3] {
            for runs in [3, 5] {
                let got = shares(WORLDS, |world| {
                    let mut run = |_| {
                        let chance = world.chance(rate, correlation);
                        world.passed(TESTS, chance)
                    };
                    let passed: Vec<Vec<u64>> = (0..ARMS)
                        .map(|_| (0..runs).map(&mut run).collect())
                        .collect();
                    let (rates, totals) = means_and_totals(&passed, TESTS);
                    let [two, six] = families(&rates, |arms| {
                        rule::any_winner(&rule::all_pairs(arms, |a, b| rule::runs(a, b)))
                    });
                    let [two_z, six_z] = families(&totals, any_z);
                    [two, six, two_z, six_z]
                });
                table.row(
                    &[percent(rate), correlation.to_string(), runs.to_string()],
                    &got,
                );
            }
        }
    }
    table
}

/// Items of one cluster favour the same arm: how an arm fares on a cluster is its own luck. Clusters of two sizes take turns.
pub fn clusters() -> Table {
    let mut table = Table::new(
        "Items in clusters (arms swapped by cluster)",
        &[
            "true rate",
            "clusters",
            "items in each",
            "the rule, 2 arms",
            "the rule, 6 arms",
            "CR1 with t(G − 1), 2 arms",
            "CR1 with t(G − 1), 6 arms",
            "McNemar over items, 2 arms",
            "McNemar over items, 6 arms",
        ],
    );
    for rate in [0.7, 0.97] {
        for clusters in [6_u32, 14] {
            for sizes in [[10, 10], [5, 15], [2, 38]] {
                let got = shares(WORLDS, |world| {
                    let (outcomes, codes) =
                        clustered_outcomes(world, clusters, sizes, &[rate; ARMS]);
                    let by = |compare: fn(&[f64], &[u32]) -> rule::Pair| {
                        let pair =
                            |a: &Vec<bool>, b: &Vec<bool>| compare(&differences(a, b), &codes);
                        families(&outcomes, |arms| {
                            rule::any_winner(&rule::all_pairs(arms, pair))
                        })
                    };
                    let ([two, six], [two_by_t, six_by_t]) =
                        (by(rule::clusters), by(rule::clusters_by_t));
                    let [two_items, six_items] = families(&outcomes, |arms| {
                        rule::any_winner(&rule::all_pairs(arms, |a, b| rule::paired_items(a, b)))
                    });
                    [two, six, two_by_t, six_by_t, two_items, six_items]
                });
                let sizes = if sizes[0] == sizes[1] {
                    sizes[0].to_string()
                } else {
                    format!("{} or {}", sizes[0], sizes[1])
                };
                table.row(&[percent(rate), clusters.to_string(), sizes], &got);
            }
        }
    }
    table
}

/// By arm: which items it passed; and the cluster of each item.
pub fn clustered_outcomes(
    world: &mut World,
    clusters: u32,
    sizes: [usize; 2],
    rates: &[f64],
) -> (Vec<Vec<bool>>, Vec<u32>) {
    let (mut outcomes, mut codes) = (vec![Vec::new(); rates.len()], Vec::new());
    for cluster in 0..clusters {
        let size = sizes[cluster as usize % 2];
        codes.extend(std::iter::repeat_n(cluster, size));
        for (arm, rate) in outcomes.iter_mut().zip(rates) {
            let chance = world.chance(*rate, 0.2);
            arm.extend((0..size).map(|_| world.happens(chance)));
        }
    }
    (outcomes, codes)
}

pub fn differences(one: &[bool], other: &[bool]) -> Vec<f64> {
    one.iter()
        .zip(other)
        .map(|(one, other)| f64::from(i8::from(*one) - i8::from(*other)))
        .collect()
}

/// Costs, tokens or times of runs. The second kind is what no logarithm makes normal: one run in ten goes astray.
pub fn amounts() -> Table {
    let mut table = Table::new(
        "Amounts of runs (Welch on logarithms)",
        &[
            "amounts",
            "runs",
            "the rule, 2 arms",
            "the rule, 6 arms",
            "Welch without logarithms or Holm, 2 arms",
            "the same, 6 arms",
        ],
    );
    for astray in [false, true] {
        for runs in [3, 5, 10] {
            let got = shares(WORLDS, |world| {
                let mut amount = |_| {
                    let factor = if astray && world.happens(0.1) {
                        5.0
                    } else {
                        1.0
                    };
                    factor * (if astray { 0.2 } else { 1.0 } * world.normal()).exp()
                };
                let amounts: Vec<Vec<f64>> = (0..ARMS)
                    .map(|_| (0..runs).map(&mut amount).collect())
                    .collect();
                let [two, six] = families(&amounts, |arms| {
                    rule::any_winner(&rule::all_pairs(arms, |a, b| rule::amounts(a, b)))
                });
                let raw = |arms: &[Vec<f64>]| rule::all_pairs(arms, |a, b| rule::runs(a, b));
                let [two_raw, six_raw] = families(&amounts, |arms| {
                    raw(arms)
                        .iter()
                        .any(|pair| pair.p.is_some_and(|p| p < ALPHA))
                });
                [two, six, two_raw, six_raw]
            });
            let name = if astray {
                "1 run in 10 five times as much"
            } else {
                "log-normal, deviation 1"
            };
            table.row(&[name.to_owned(), runs.to_string()], &got);
        }
    }
    table
}

/// Two equal arms get twenty new items a night, on a fifth of which they differ.
pub fn nights() -> Table {
    let mut table = Table::new(
        "Two equal arms looked at on each of 30 nights, 20 new items a night: a winner on any night",
        &[
            "items on which the arms differ",
            "e-value of 20 or more",
            "McNemar's p below .05",
            "McNemar's p on the last night only",
        ],
    );
    for differing in [0.05, 0.2, 0.5] {
        let got = shares(WORLDS, |world| {
            let (mut won, mut lost, mut by_e, mut by_p, mut p) = (0, 0, false, false, 1.0);
            for _ in 0..30 {
                let differ = world.passed(20, differing);
                let first = world.passed(differ, 0.5);
                (won, lost) = (won + first, lost + differ - first);
                p = stats::mcnemar_test(won, lost).exact;
                by_p |= p < ALPHA;
                by_e |= stats::mcnemar_e_value(won, lost) >= 1.0 / ALPHA;
            }
            [Some(by_e), Some(by_p), Some(p < ALPHA)]
        });
        table.row(&[percent(differing)], &got);
    }
    table
}
