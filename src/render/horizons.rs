//! Time horizons, as a table and sentences.

use crate::views::{Arm, ArmHorizon, Horizon, Horizons};

use super::cell::Cell;
use super::format;
use super::table::{Column, Table};
use super::words::{self, count_of};

/// Lays out the horizons of a suite's arms.
pub fn table(horizons: &Horizons) -> Table {
    let arms: Vec<Arm> = horizons.arms.iter().map(|arm| arm.arm.clone()).collect();
    let labels = words::arm_labels(&horizons.suite, &arms);
    let mut table = Table::of("horizons").titled(format!("{}: time horizons", horizons.suite));
    let each =
        |cell: &dyn Fn(&ArmHorizon) -> Cell| horizons.arms.iter().map(cell).collect::<Vec<Cell>>();
    table.column(
        Column::words("Arm").keys(["arm"]),
        labels.iter().map(|label| Cell::words(label.as_str())),
    );
    let keys = ["half_minutes", "half_low", "half_high"];
    table.column(
        Column::number("Half of the time").over("95%").keys(keys),
        each(&|arm| horizon(arm.half.as_ref())),
    );
    let keys = ["most_minutes", "most_low", "most_high"];
    table.column(
        Column::number("8 of 10 times").over("95%").keys(keys),
        each(&|arm| horizon(arm.most.as_ref())),
    );
    let success = |arm: &ArmHorizon| {
        Cell::number(
            format::percent_number(arm.success, arm.attempts),
            arm.success,
        )
    };
    table.column(
        Column::number("Success %")
            .over("by task weight")
            .keys(["success"]),
        each(&success),
    );
    table.column(
        Column::number("Tasks").keys(["tasks"]),
        each(&|arm| Cell::count(arm.tasks)),
    );
    table.column(
        Column::number("Families").keys(["families"]).rank(1),
        each(&|arm| Cell::count(arm.families)),
    );
    table.column(
        Column::number("Attempts").keys(["attempts"]).rank(1),
        each(&|arm| Cell::count(arm.attempts)),
    );
    table.notes = notes(horizons, &labels);
    table
}

/// Says how long tasks are that the best arm does half of the time. `None` if no arm has a horizon.
pub fn longest(horizons: &Horizons) -> Option<String> {
    let labels = words::arm_labels(
        &horizons.suite,
        &horizons
            .arms
            .iter()
            .map(|arm| arm.arm.clone())
            .collect::<Vec<Arm>>(),
    );
    let (label, half) = labels
        .iter()
        .zip(&horizons.arms)
        .find_map(|(label, arm)| Some((label, arm.half.as_ref()?)))?;
    let ends = half
        .low
        .zip(half.high)
        .map(|(low, high)| format!(" (95% interval {} to {})", length(low), length(high)));
    Some(format!(
        "{label} has the longest horizon of {}: it does half of the tasks that take people {}{}.",
        count_of(horizons.arms.len() as u64, "arms"),
        length(half.minutes),
        ends.unwrap_or_default(),
    ))
}

/// Formats an arm's horizon at half of the time, or says that it has none.
pub fn half(arm: &ArmHorizon) -> String {
    arm.half.as_ref().map_or_else(
        || "no horizon".to_owned(),
        |half| format!("half at {}", length(half.minutes)),
    )
}

/// Formats minutes.
pub fn length(minutes: f64) -> String {
    format::seconds(minutes * 60.0)
}

fn horizon(found: Option<&Horizon>) -> Cell {
    let Some(found) = found else {
        return Cell::unknown("none");
    };
    let mark = if found.is_extrapolated { "*" } else { "" };
    let mut cell = Cell::shown(format!("{}{mark}", length(found.minutes))).data([
        found.minutes.into(),
        found.low.into(),
        found.high.into(),
    ]);
    cell.ends = found
        .low
        .zip(found.high)
        .map(|(low, high)| [length(low), length(high)]);
    cell
}

fn notes(horizons: &Horizons, labels: &[String]) -> Vec<String> {
    let mut notes = vec![
        "Horizon: how long tasks take people that the arm does with this chance, by METR's logistic curve over the logarithm of human \
         minutes. Each task counts by one over the root of its family's size."
            .to_owned(),
    ];
    let of_arms = |is_wanted: &dyn Fn(&ArmHorizon) -> bool| -> Vec<String> {
        horizons
            .arms
            .iter()
            .zip(labels)
            .filter(|(arm, _)| is_wanted(arm))
            .map(|(_, label)| label.clone())
            .collect()
    };
    let both = |arm: &ArmHorizon| {
        [arm.half.clone(), arm.most.clone()]
            .into_iter()
            .flatten()
            .collect::<Vec<Horizon>>()
    };
    let lacks = |arm: &ArmHorizon| {
        both(arm)
            .iter()
            .any(|horizon| horizon.no_interval.is_some())
    };
    if horizons.arms.iter().any(|arm| {
        both(arm)
            .iter()
            .any(|horizon| horizon.no_interval.is_none())
    }) {
        notes.push(format!(
            "Intervals: whole families are drawn, {}.",
            count_of(u64::from(horizons.draws), "times")
        ));
    }
    let without = of_arms(&lacks);
    if !without.is_empty() {
        notes.push(format!(
            "No interval for {}: too few families, or too many resamples without a horizon.",
            words::first_three(&without)
        ));
    }
    if horizons
        .arms
        .iter()
        .any(|arm| both(arm).iter().any(|horizon| horizon.is_extrapolated))
    {
        notes.push(
            "* Outside of the tasks' lengths: the curve is continued, not measured.".to_owned(),
        );
    }
    let flat = of_arms(&|arm| arm.curve.is_some() && arm.half.is_none());
    if !flat.is_empty() {
        notes.push(format!(
            "No horizon for {}: its success does not fall with the length of tasks.",
            words::first_three(&flat)
        ));
    }
    let extreme = of_arms(&|arm| arm.curve.is_none());
    if !extreme.is_empty() {
        notes.push(format!(
            "No curve for {}: all attempts passed, or none.",
            words::first_three(&extreme)
        ));
    }
    let untimed: u64 = horizons.arms.iter().map(|arm| arm.untimed).sum();
    if untimed > 0 {
        notes.push(format!(
            "Left out: {} without a human time.",
            count_of(untimed, "attempts")
        ));
    }
    notes
}
