//! Time horizons, as a table and sentences.

use crate::views::{Arm, ArmHorizon, Horizon, Horizons};

use super::cell::TableCell;
use super::format;
use super::phrases::{self, count_with_noun};
use super::table::{ReportTable, TableColumn};

/// Lays out the horizons of a suite's arms.
pub fn arms_table(horizons: &Horizons) -> ReportTable {
    let arms: Vec<Arm> = horizons.arms.iter().map(|arm| arm.arm.clone()).collect();
    let labels = phrases::arm_labels(&horizons.suite, &arms);
    let mut table =
        ReportTable::for_rows("horizons").with_title(format!("{}: time horizons", horizons.suite));
    let each = |cell: &dyn Fn(&ArmHorizon) -> TableCell| {
        horizons.arms.iter().map(cell).collect::<Vec<TableCell>>()
    };
    table.add_filled_column(
        TableColumn::words("Arm").keys(["arm"]),
        labels.iter().map(|label| TableCell::words(label.as_str())),
    );
    let keys = ["half_minutes", "half_low", "half_high"];
    table.add_filled_column(
        TableColumn::number("Half of the time")
            .over("95%")
            .keys(keys),
        each(&|arm| horizon_cell(arm.half.as_ref())),
    );
    let keys = ["most_minutes", "most_low", "most_high"];
    table.add_filled_column(
        TableColumn::number("8 of 10 times").over("95%").keys(keys),
        each(&|arm| horizon_cell(arm.most.as_ref())),
    );
    let success = |arm: &ArmHorizon| {
        TableCell::number(
            format::percent_number(arm.success, arm.attempts),
            arm.success,
        )
    };
    table.add_filled_column(
        TableColumn::number("Success %")
            .over("by task weight")
            .keys(["success"]),
        each(&success),
    );
    table.add_filled_column(
        TableColumn::number("Tasks").keys(["tasks"]),
        each(&|arm| TableCell::count(arm.tasks)),
    );
    table.add_filled_column(
        TableColumn::number("Families").keys(["families"]).rank(1),
        each(&|arm| TableCell::count(arm.families)),
    );
    table.add_filled_column(
        TableColumn::number("Attempts").keys(["attempts"]).rank(1),
        each(&|arm| TableCell::count(arm.attempts)),
    );
    table.notes = method_notes(horizons, &labels);
    table
}

/// Says how long tasks are that the best arm does half of the time. `None` if no arm has a horizon.
pub fn longest_horizon(horizons: &Horizons) -> Option<String> {
    let labels = phrases::arm_labels(
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
    let ends = half.low.zip(half.high).map(|(low, high)| {
        format!(
            " (95% interval {} to {})",
            format_minutes(low),
            format_minutes(high)
        )
    });
    Some(format!(
        "{label} has the longest horizon of {}: it does half of the tasks that take people {}{}.",
        count_with_noun(horizons.arms.len() as u64, "arms"),
        format_minutes(half.minutes),
        ends.unwrap_or_default(),
    ))
}

/// Formats an arm's horizon at half of the time, or says that it has none.
pub fn half_time_horizon(arm: &ArmHorizon) -> String {
    arm.half.as_ref().map_or_else(
        || "no horizon".to_owned(),
        |half| format!("half at {}", format_minutes(half.minutes)),
    )
}

/// Formats minutes.
pub fn format_minutes(minutes: f64) -> String {
    format::duration(minutes * 60.0)
}

fn horizon_cell(found: Option<&Horizon>) -> TableCell {
    let Some(found) = found else {
        return TableCell::unknown("none");
    };
    let mark = if found.is_extrapolated { "*" } else { "" };
    let mut cell = TableCell::for_people(format!("{}{mark}", format_minutes(found.minutes)))
        .with_data([found.minutes.into(), found.low.into(), found.high.into()]);
    cell.ends = found
        .low
        .zip(found.high)
        .map(|(low, high)| [format_minutes(low), format_minutes(high)]);
    cell
}

fn method_notes(horizons: &Horizons, labels: &[String]) -> Vec<String> {
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
            count_with_noun(u64::from(horizons.draws), "times")
        ));
    }
    let without = of_arms(&lacks);
    if !without.is_empty() {
        notes.push(format!(
            "No interval for {}: too few families, or too many resamples without a horizon.",
            phrases::first_three(&without)
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
            phrases::first_three(&flat)
        ));
    }
    let extreme = of_arms(&|arm| arm.curve.is_none());
    if !extreme.is_empty() {
        notes.push(format!(
            "No curve for {}: all attempts passed, or none.",
            phrases::first_three(&extreme)
        ));
    }
    let untimed: u64 = horizons.arms.iter().map(|arm| arm.untimed).sum();
    if untimed > 0 {
        notes.push(format!(
            "Left out: {} without a human time.",
            count_with_noun(untimed, "attempts")
        ));
    }
    notes
}
