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
pub fn tables() -> [Table; 3] {
    [false_changes(), changes_found(), drops_found()]
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
