//! How often a true difference is found, beside how often one is "found" that does not exist. A method that fails the second has no
//! power worth naming.

use evalreport::stats::{self, RuleVerdict};

use super::Table;
use super::false_winners::{clustered_outcomes, differences};
use super::rule::{self, CONFIDENCE};
use super::world::{World, shares};

const WORLDS: u32 = 10_000;

/// What was asked of two arms.
#[derive(Clone, Copy)]
enum Plan {
    /// The same items, once each.
    Once { items: usize },
    /// The same items, three times each.
    Thrice { items: usize },
    /// Runs of a suite with fifty tests, and the correlation within a run.
    Runs { runs: usize, correlation: f64 },
}

pub fn rates() -> Table {
    let mut table = Table::new(
        "Pass rates: found, where the first arm is better; false, where both have the lower rate",
        &[
            "data",
            "true rates",
            "the rule: false",
            "the rule: found",
            "z test: false",
            "z test: found",
            "intervals apart: false",
            "intervals apart: found",
        ],
    );
    let cases = [
        (Plan::Once { items: 100 }, 0.7, 0.8),
        (Plan::Once { items: 300 }, 0.8, 0.85),
        (Plan::Once { items: 1000 }, 0.9, 0.92),
        (Plan::Thrice { items: 100 }, 0.7, 0.8),
        (
            Plan::Runs {
                runs: 3,
                correlation: 0.05,
            },
            0.7,
            0.9,
        ),
        (
            Plan::Runs {
                runs: 5,
                correlation: 0.05,
            },
            0.7,
            0.9,
        ),
        (
            Plan::Runs {
                runs: 5,
                correlation: 0.3,
            },
            0.7,
            0.9,
        ),
    ];
    for (plan, lower, higher) in cases {
        let got = shares(WORLDS, |world| {
            let [null_rule, null_z, null_apart] = winners(world, plan, lower, lower);
            let [rule, z, apart] = winners(world, plan, higher, lower);
            let any = |found: Option<bool>| Some(found.is_some());
            let right = |found: Option<bool>| Some(found == Some(true));
            [
                any(null_rule),
                right(rule),
                any(null_z),
                right(z),
                any(null_apart),
                right(apart),
            ]
        });
        let data = match plan {
            Plan::Once { items } => format!("{items} items, once"),
            Plan::Thrice { items } => format!("{items} items, 3 times"),
            Plan::Runs { runs, correlation } => {
                format!("{runs} runs of 50 tests, correlation {correlation}")
            }
        };
        table.row(
            &[
                data,
                format!("{:.0} and {:.0} %", 100.0 * higher, 100.0 * lower),
            ],
            &got,
        );
    }
    table
}

/// Whether each of the three methods names a winner, and then whether it is the first arm.
fn winners(world: &mut World, plan: Plan, first: f64, second: f64) -> [Option<bool>; 3] {
    let (pair, one, other) = match plan {
        Plan::Once { items } => {
            let (one, other) = items_of(world, items, 1, first, second);
            let passed =
                |means: &[f64]| means.iter().map(|mean| *mean > 0.5).collect::<Vec<bool>>();
            let pair = rule::paired_items(&passed(&one), &passed(&other));
            (pair, totals(&one, 1), totals(&other, 1))
        }
        Plan::Thrice { items } => {
            let (one, other) = items_of(world, items, 3, first, second);
            (
                rule::repeated_items(&one, &other),
                totals(&one, 3),
                totals(&other, 3),
            )
        }
        Plan::Runs { runs, correlation } => {
            let mut rates = |rate: f64| -> Vec<f64> {
                (0..runs)
                    .map(|_| {
                        let chance = world.chance(rate, correlation);
                        world.passed(50, chance) as f64 / 50.0
                    })
                    .collect()
            };
            let (one, other) = (rates(first), rates(second));
            (
                rule::runs(&one, &other),
                totals(&one, 50),
                totals(&other, 50),
            )
        }
    };
    let is_first = one.0 > other.0;
    let by_rule = match rule::verdicts(&[pair]).first() {
        Some(RuleVerdict::AWins) => Some(true),
        Some(RuleVerdict::BWins) => Some(false),
        Some(
            RuleVerdict::Tie
            | RuleVerdict::Equivalent
            | RuleVerdict::NotEnoughEvidence
            | RuleVerdict::NotComparable
            | RuleVerdict::NoData
            | RuleVerdict::DeterministicDifference,
        )
        | None => None,
    };
    [
        by_rule,
        rule::z_test(one, other).then_some(is_first),
        rule::apart(one, other).then_some(is_first),
    ]
}

/// The two arms' means on items that are easy or hard for both; the better arm solves a part of what the other does not.
fn items_of(
    world: &mut World,
    items: usize,
    attempts: u64,
    first: f64,
    second: f64,
) -> (Vec<f64>, Vec<f64>) {
    let lift = (first - second) / (1.0 - second);
    let draw = |_| {
        let chance = world.chance(second, 0.4);
        let mut mean = |chance: f64| world.passed(attempts, chance) as f64 / attempts as f64;
        (mean(chance + (1.0 - chance) * lift), mean(chance))
    };
    (0..items).map(draw).unzip()
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "counts that were divided before"
)]
fn totals(means: &[f64], each: u64) -> (u64, u64) {
    (
        means
            .iter()
            .map(|mean| (mean * each as f64).round() as u64)
            .sum(),
        each * means.len() as u64,
    )
}

/// Items of one cluster favour the same arm; 85 % against 70 % overall.
pub fn clusters() -> Table {
    let mut table = Table::new(
        "Items in clusters, 85 against 70 %: found",
        &[
            "clusters",
            "items in each",
            "the rule (arms swapped by cluster)",
            "CR1 with t(G − 1)",
        ],
    );
    for clusters in [6, 10, 14, 30] {
        for sizes in [[10, 10], [5, 15]] {
            let got = shares(WORLDS, |world| {
                let (outcomes, codes) = clustered_outcomes(world, clusters, sizes, &[0.85, 0.7]);
                let differences = differences(&outcomes[0], &outcomes[1]);
                [
                    rule::clusters(&differences, &codes),
                    rule::clusters_by_t(&differences, &codes),
                ]
                .map(|pair| Some(rule::first_wins(pair)))
            });
            let sizes = if sizes[0] == sizes[1] {
                sizes[0].to_string()
            } else {
                format!("{} or {}", sizes[0], sizes[1])
            };
            table.row(&[clusters.to_string(), sizes], &got);
        }
    }
    table
}

/// Log-normal amounts of runs, deviation 1, one arm's typically twice the other's.
pub fn amounts() -> Table {
    let mut table = Table::new(
        "Amounts (log-normal, deviation 1), one arm typically twice the other: found",
        &[
            "runs a side",
            "the rule (Welch on logarithms)",
            "Welch on the amounts themselves",
            "t intervals apart",
        ],
    );
    for runs in [3, 5, 10, 20] {
        let got = shares(WORLDS, |world| {
            let mut draw = |typical: f64| -> Vec<f64> {
                (0..runs).map(|_| typical * world.normal().exp()).collect()
            };
            let (one, other) = (draw(2.0), draw(1.0));
            let interval = |values: &[f64]| {
                stats::mean_interval(values, CONFIDENCE).expect("values that vary")
            };
            let apart = rule::disjoint(interval(&one), interval(&other))
                && interval(&one).low > interval(&other).low;
            let [on_logs, raw] =
                [rule::amounts(&one, &other), rule::runs(&one, &other)].map(rule::first_wins);
            [Some(on_logs), Some(raw), Some(apart)]
        });
        table.row(&[runs.to_string()], &got);
    }
    table
}
