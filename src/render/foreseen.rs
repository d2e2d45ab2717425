//! A verdict foreseen from chosen questions, as a table.

use crate::views::{Foreseen, ForeseenArm, ForeseenVerdict};

use super::cell::Cell;
use super::table::{Column, Table};
use super::{format, words};

/// Lays out the verdict, the arm ahead first.
pub fn table(found: &ForeseenVerdict) -> Table {
    let (asked, questions) = (format::integer(found.asked), format::integer(found.questions));
    let mut table = Table::new(&format!("{}: the verdict of all {questions} questions, foreseen from {asked}", found.suite));
    for (label, key) in [("Approach", "approach"), ("Model", "model")] {
        table.head(Column::words(label).keys([key]));
    }
    table.head(Column::number("Passed alone").keys(["passed_alone"]));
    table.head(Column::number("Cost").keys(["cost_usd"]));
    for arm in found.ahead_first() {
        let cost = arm.cost_usd.map_or_else(|| Cell::unknown("unknown"), |cost| Cell::shown(format::money(cost)).data([cost.into()]));
        table.row([Cell::words(arm.arm.approach.as_str()), Cell::words(arm.arm.model.as_str()), Cell::count(arm.passed_alone), cost]);
    }
    table.notes.push(sentence(found));
    if let Some(saved) = found.saved_usd {
        table.notes.push(format!("The questions that were not asked would have cost about {}.", format::money(saved)));
    }
    table.notes.push(
        "Questions were chosen where the arms may differ, so this gives no pass rates, and boards do not count these runs. For rates, run \
         all questions (without --until)."
            .to_owned(),
    );
    table
}

/// Says who wins, or that nobody would.
pub fn sentence(found: &ForeseenVerdict) -> String {
    let [ahead, behind] = found.ahead_first();
    let name = |arm: &ForeseenArm| words::arm_name(&arm.arm);
    let alone = format!(
        "{} alone passed {}, {} alone passed {}",
        name(ahead),
        words::count_of(ahead.passed_alone, "questions"),
        name(behind),
        format::integer(behind.passed_alone)
    );
    match found.verdict {
        Foreseen::FirstWins | Foreseen::SecondWins => {
            format!("{} wins: {alone}.", name(ahead))
        }
        Foreseen::NoWinner => format!(
            "No winner: one run of all {} questions would name none ({alone}). More questions may decide; `--max-runs N` repeats whole runs.",
            format::integer(found.questions)
        ),
    }
}
