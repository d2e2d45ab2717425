//! Items over nights: how often a break is told from flakiness, and how often a flaky item is said to have changed.

use evalreport::stats::{CourseKind, NightOutcomes, item_course};

use super::Table;
use super::world::{World, shares};

const WORLDS: u32 = 20_000;

fn kind(
    world: &mut World,
    chances: impl IntoIterator<Item = f64>,
    attempts: u64,
) -> Option<CourseKind> {
    let nights: Vec<NightOutcomes> = chances
        .into_iter()
        .map(|chance| (world.passed(attempts, chance), attempts))
        .collect();
    item_course(&nights).ok().map(|course| course.kind)
}

/// An item that passes with a chance and then never.
pub fn breaks_told() -> Table {
    let mut table = Table::new(
        "An item breaks for good: told as broken, in % (± standard error of the simulation)",
        &[
            "nights before",
            "passed before",
            "attempts a night",
            "1 night after",
            "2",
            "3",
            "4",
            "7",
        ],
    );
    for (before, chance, attempts) in [
        (6, 1.0, 1),
        (6, 0.995, 1),
        (7, 0.995, 1),
        (14, 0.995, 1),
        (14, 0.98, 1),
        (30, 0.98, 1),
        (30, 0.9, 1),
        (2, 1.0, 3),
        (7, 0.98, 3),
    ] {
        let got = [1, 2, 3, 4, 7].map(|after| {
            let told = |world: &mut World| {
                let chances = (0..before).map(|_| chance).chain((0..after).map(|_| 0.0));
                Some(kind(world, chances, attempts)? == CourseKind::Broken)
            };
            shares(WORLDS, |world| [told(world)])[0].with_error()
        });
        let case = [
            before.to_string(),
            format!("{:.1} %", 100.0 * chance),
            attempts.to_string(),
        ];
        table.rows.push(case.into_iter().chain(got).collect());
    }
    table
}

/// An item with the same chance in every night.
pub fn flaky_items() -> Table {
    let mut table = Table::new(
        "A flaky item on one night: said to be broken, in % (± standard error of the simulation)",
        &[
            "chance to pass",
            "attempts a night",
            "7 nights",
            "9",
            "14",
            "30",
            "60",
        ],
    );
    for attempts in [1, 3] {
        for chance in [0.1, 0.3, 0.5, 0.7, 0.9] {
            let got = [7, 9, 14, 30, 60].map(|nights| {
                let told = |world: &mut World| {
                    Some(kind(world, (0..nights).map(|_| chance), attempts)? == CourseKind::Broken)
                };
                shares(WORLDS, |world| [told(world)])[0].with_error()
            });
            table.rows.push(
                [format!("{:.0} %", 100.0 * chance), attempts.to_string()]
                    .into_iter()
                    .chain(got)
                    .collect(),
            );
        }
    }
    table
}
