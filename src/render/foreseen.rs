//! A verdict foreseen from chosen questions, as a table.

use crate::views::{Foreseen, ForeseenVerdict};

use super::cell::Cell;
use super::table::{Column, Table};
use super::{format, words};

/// Lays out the verdict, the arm ahead first.
pub fn table(found: &ForeseenVerdict) -> Table {
    let mut table = Table::new(format!("{}: foreseen verdict", found.suite));
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
    let names = words::arm_labels(&[ahead.arm.clone(), behind.arm.clone()]);
    let asked = format!("{} of {} questions", format::integer(found.asked), format::integer(found.questions));
    let alone = format!("{} alone passed {}, {} alone passed {}", names[0], ahead.passed_alone, names[1], behind.passed_alone);
    match found.verdict {
        Foreseen::FirstWins | Foreseen::SecondWins => format!("{} wins: of {asked}, {alone}.", names[0]),
        Foreseen::NoWinner => format!(
            "No winner: all questions together would name none. Of {asked}, {alone}. More questions may decide; `--max-runs N` repeats \
             whole runs."
        ),
    }
}
