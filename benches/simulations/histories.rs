//! Levels of series of nights: how often a steady history shows a change, and how often a true one is found.

use evalreport::stats::{self, ChangeRule};

use super::Table;
use super::world::{Share, World, shares_from};

/// The number of the first world: the method's constants were chosen on worlds below 4,000, which would flatter it.
const FIRST: u64 = 6_000_000;

/// Nights of mean 0 and deviation 1 of which each resembles the last with the correlation `r`.
fn nights(world: &mut World, nights: usize, r: f64) -> Vec<f64> {
    let mut last = world.normal();
    (0..nights)
        .map(|_| {
            last = r * last + (1.0 - r * r).sqrt() * world.normal();
            last
        })
        .collect()
}

/// A night's value from a normal one.
type Kind = (&'static str, f64, fn(&mut World, f64) -> f64);

const KINDS: [Kind; 9] = [
    ("normal", 0.0, |_, value| value),
    ("normal, correlation .3", 0.3, |_, value| value),
    ("normal, correlation .5", 0.5, |_, value| value),
    ("normal, correlation .7", 0.7, |_, value| value),
    ("normal, correlation .8", 0.8, |_, value| value),
    (
        "log-normal, deviation 1.5, correlation .5",
        0.5,
        |_, value| (1.5 * value).exp(),
    ),
    (
        "normal, 1 night in 30 astray by 10 deviations",
        0.0,
        |world, value| {
            if world.happens(1.0 / 30.0) {
                value + 10.0
            } else {
                value
            }
        },
    ),
    ("20 items, 99 % each", 0.0, |world, _| {
        world.passed(20, 0.99) as f64
    }),
    ("half noise, half correlation .8", 0.8, |world, value| {
        value + world.normal()
    }),
];

fn any_change(series: &[f64], tests: usize) -> Option<bool> {
    let rule = ChangeRule {
        min_relative: 0.0,
        tests,
        ..ChangeRule::default()
    };
    stats::change_points(series, &[], rule)
        .ok()
        .map(|changes| !changes.is_empty())
}

/// How often there is none and how often there is one.
pub fn tables() -> [Table; 5] {
    [
        false_changes(),
        changes_found(),
        drops_found(),
        false_changes_of_items(),
        falls_of_items_found(),
    ]
}

/// Questions of a suite, of which each night asks all once.
const QUESTIONS: usize = 60;

/// Returns whether each question passed, night by night. `chances` are the questions' own; `moved` returns a night's chance from one.
fn nights_of_items(
    world: &mut World,
    chances: &[f64],
    count: usize,
    moved: impl Fn(usize, f64) -> f64,
) -> Vec<Vec<f64>> {
    (0..count)
        .map(|night| {
            chances
                .iter()
                .map(|chance| f64::from(u8::from(world.happens(moved(night, *chance)))))
                .collect()
        })
        .collect()
}

/// Returns the change points of the rates of nights, with the noise of their items.
fn changes_of_items(nights: &[Vec<f64>], rule: ChangeRule) -> Option<Vec<stats::ChangePoint>> {
    let rates: Vec<f64> = nights
        .iter()
        .map(|night| night.iter().sum::<f64>() / night.len() as f64)
        .collect();
    let pairs = nights.windows(2).map(|pair| {
        stats::noise_of_neighbours(pair[0].iter().copied().zip(pair[1].iter().copied()))
    });
    let noise: Vec<Option<f64>> = std::iter::once(None).chain(pairs).collect();
    stats::change_points_of_shares(&rates, &noise, &[], rule).ok()
}

/// An arm's rate of 60 questions with its cost and duration, of which all wander alike.
fn false_changes_of_items() -> Table {
    let mut table = Table::new(
        "A steady arm of 60 questions passed in 80 %, its rate, cost and duration: a change of level anywhere, in % (least size of 5 % not asked; ± standard error of the simulation)",
        &["a night resembles the last", "nights", "false changes"],
    );
    // The deviation of the shared part, in deviations of the questions' chance.
    let cases = [
        ("no", 0.0, 0.0),
        ("half of the variance is of the night", 0.0, 1.0),
        ("half of the variance, correlation .5", 0.5, 1.0),
        ("a third of the variance, correlation .8", 0.8, 0.7),
        ("half of the variance, correlation .8", 0.8, 1.0),
        ("nearly all of the variance, correlation .8", 0.8, 2.5),
    ];
    let deviation = (0.8_f64 * 0.2 / QUESTIONS as f64).sqrt();
    for (name, r, part) in cases {
        for count in [60, 120, 365, 730] {
            let rule = ChangeRule {
                min_relative: 0.0,
                tests: 3,
                ..ChangeRule::default()
            };
            let worlds = if count > 200 { 500 } else { 2_000 };
            let [any] = shares_from(FIRST, worlds, |world| {
                let chances: Vec<f64> = (0..QUESTIONS).map(|_| world.chance(0.8, 0.1)).collect();
                let wander = nights(world, count, r);
                let items = nights_of_items(world, &chances, count, |night, chance| {
                    (chance + part * deviation * wander[night]).clamp(0.0, 1.0)
                });
                let rates = changes_of_items(&items, rule).map(|changes| !changes.is_empty());
                let mut amount = || any_change(&nights(world, count, r), 3) == Some(true);
                [rates.map(|is_any| is_any | amount() | amount())]
            });
            table
                .rows
                .push(vec![name.to_owned(), count.to_string(), any.with_error()]);
        }
    }
    table
}

/// A fall of 15 points of 60 questions.
fn falls_of_items_found() -> Table {
    const AFTER: [usize; 3] = [5, 7, 10];
    let mut table = Table::new(
        "A fall of 15 pp of 60 questions, found within three nights of its place, by nights after it, in % (± standard error of the simulation)",
        &["passed before", "nights before", "series", "5", "7", "10"],
    );
    for (level, spread) in [(0.8, 0.0), (0.8, 0.4), (0.7, 0.4)] {
        for before in [20, 30, 60, 120, 365] {
            for tests in [3, 21] {
                let rule = ChangeRule {
                    tests,
                    ..ChangeRule::default()
                };
                let got = shares_from(FIRST, 1_000, |world| {
                    let chances: Vec<f64> = (0..QUESTIONS)
                        .map(|_| {
                            if spread > 0.0 {
                                world.chance(level, spread)
                            } else {
                                level
                            }
                        })
                        .collect();
                    let mean = chances.iter().sum::<f64>() / QUESTIONS as f64;
                    let kept = 1.0 - 0.15 / mean;
                    let count = before + AFTER[AFTER.len() - 1];
                    let items = nights_of_items(world, &chances, count, |night, chance| {
                        if night < before {
                            chance
                        } else {
                            kept * chance
                        }
                    });
                    AFTER.map(|after| {
                        let changes = changes_of_items(&items[..before + after], rule)?;
                        Some(changes.iter().any(|change| change.at.abs_diff(before) <= 3))
                    })
                });
                let own = if spread > 0.0 { ", each its own" } else { "" };
                let case = [
                    format!("{:.0} %{own}", 100.0 * level),
                    before.to_string(),
                    tests.to_string(),
                ];
                table.rows.push(
                    case.into_iter()
                        .chain(got.iter().map(Share::with_error))
                        .collect(),
                );
            }
        }
    }
    table
}

/// Steady nights.
fn false_changes() -> Table {
    let mut table = Table::new(
        "A steady history: a change of level anywhere, in % (least size of 5 % not asked; ± standard error of the simulation)",
        &[
            "nights of",
            "number",
            "one arm, three series",
            "ten arms, thirty series",
        ],
    );
    for (name, r, value) in KINDS {
        for count in [30, 60, 120, 365, 730] {
            let family = |world: &mut World, tests: usize| {
                let mut any = || {
                    let series: Vec<f64> = nights(world, count, r)
                        .into_iter()
                        .map(|normal| value(world, normal))
                        .collect();
                    any_change(&series, tests) == Some(true)
                };
                (0..tests).any(|_| any())
            };
            let worlds = if count > 200 { 1_000 } else { 4_000 };
            let [three] = shares_from(FIRST, worlds, |world| [Some(family(world, 3))]);
            // Ten times as many series: where they are short.
            let thirty = (count <= 120).then(|| {
                shares_from(FIRST, 1_000, |world| [Some(family(world, 30))])[0].with_error()
            });
            table.rows.push(vec![
                name.to_owned(),
                count.to_string(),
                three.with_error(),
                thirty.unwrap_or_else(|| "–".to_owned()),
            ]);
        }
    }
    table
}

/// A step, and how often it is found within three nights of its place.
fn changes_found() -> Table {
    let mut table = Table::new(
        "A step of the level, found within three nights of its place, in % (± standard error of the simulation)",
        &[
            "nights",
            "after the step",
            "step, in deviations of a night",
            "correlation",
            "one arm, three series",
            "ten arms, thirty series",
        ],
    );
    let cases = [
        (30, 10, 10.0 / 3.0, 0.0),
        (60, 5, 10.0 / 3.0, 0.0),
        (60, 10, 10.0 / 3.0, 0.0),
        (60, 30, 2.0, 0.0),
        (120, 20, 10.0 / 3.0, 0.0),
        (120, 20, 10.0 / 3.0, 0.5),
        (120, 30, 2.0, 0.0),
        (120, 30, 2.0, 0.5),
        (365, 20, 10.0 / 3.0, 0.0),
        (365, 30, 2.0, 0.0),
        (730, 30, 2.0, 0.0),
    ];
    for (count, after, step, r) in cases {
        let got = shares_from(FIRST, 1_000, |world| {
            let mut series = nights(world, count, r);
            series[count - after..]
                .iter_mut()
                .for_each(|value| *value -= step);
            let is_found = |tests| {
                let rule = ChangeRule {
                    min_relative: 0.0,
                    tests,
                    ..ChangeRule::default()
                };
                let changes = stats::change_points(&series, &[], rule).ok()?;
                Some(
                    changes
                        .iter()
                        .any(|change| change.at.abs_diff(count - after) <= 3),
                )
            };
            [is_found(3), is_found(30)]
        });
        let case = [
            count.to_string(),
            after.to_string(),
            format!("{step:.1}"),
            r.to_string(),
        ];
        table.rows.push(
            case.into_iter()
                .chain(got.iter().map(Share::with_error))
                .collect(),
        );
    }
    table
}

/// One item in eight of those that pass begins to fail, which takes ten points from a rate of 80 %.
fn drops_found() -> Table {
    const AFTER: [usize; 6] = [5, 7, 10, 15, 20, 30];
    let mut table = Table::new(
        "A drop of 10 pp that stays, 200 items passed in 80 % of nights that are not correlated: found within three nights of its place, by nights after it, in % (± standard error of the simulation)",
        &["nights before", "5", "7", "10", "15", "20", "30"],
    );
    for before in [20, 30, 60, 120, 365] {
        let got = shares_from(FIRST, 1_000, |world| {
            // The same items every night, easy ones and hard ones.
            let items: Vec<f64> = (0..200).map(|_| world.chance(0.8, 0.4)).collect();
            let mut rate = |kept: f64| {
                items
                    .iter()
                    .filter(|chance| world.happens(kept * **chance))
                    .count() as f64
                    / items.len() as f64
            };
            let longest = before + AFTER[AFTER.len() - 1];
            let series: Vec<f64> = (0..longest)
                .map(|night| rate(if night < before { 1.0 } else { 0.875 }))
                .collect();
            AFTER.map(|after| {
                let rule = ChangeRule {
                    tests: 3,
                    ..ChangeRule::default()
                };
                let changes = stats::change_points(&series[..before + after], &[], rule).ok()?;
                Some(changes.iter().any(|change| change.at.abs_diff(before) <= 3))
            })
        });
        table.rows.push(
            std::iter::once(before.to_string())
                .chain(got.iter().map(Share::with_error))
                .collect(),
        );
    }
    table
}
