//! The verdicts of a full run, foreseen from a part of it, as tables.

use crate::views::{Arm, Foreseen, ForeseenPair, ForeseenVerdict, Units};

use super::cell::Cell;
use super::table::{Column, Table};
use super::{format, words};

/// Lays out the arms, and the pairs of more than two arms.
pub fn tables(found: &ForeseenVerdict) -> Vec<Table> {
    let mut table = Table::new(format!("{}: foreseen verdict", found.suites.join(", ")));
    for (label, key) in [("Approach", "approach"), ("Model", "model")] {
        table.head(Column::words(label).keys([key]));
    }
    if found.pairs.len() > 1 {
        table.head(Column::number("Beats").keys(["beats"]));
    } else {
        table.head(Column::number(alone_label(found)).keys(["won"]));
    }
    table.head(Column::number(if is_of_runs(found) { "Runs" } else { "Asked" }).keys(["asked"]));
    table.head(Column::number("Cost").keys(["cost_usd"]));
    for (place, arm) in found.arms.iter().enumerate() {
        let cost = arm.cost_usd.map_or_else(
            || Cell::unknown("unknown"),
            |cost| Cell::shown(format::money(cost)).data([cost.into()]),
        );
        let first = match found.pairs.as_slice() {
            [pair] => {
                if place == 0 {
                    pair.won
                } else {
                    pair.lost
                }
            }
            _ => arm.beats,
        };
        let names = [arm.arm.approach.as_str(), arm.arm.model.as_str()].map(Cell::words);
        table.row(
            names
                .into_iter()
                .chain([Cell::count(first), Cell::count(arm.asked), cost]),
        );
    }
    table.notes.push(sentence(found));
    if let Some(saved) = found.saved_usd {
        let what = if is_of_runs(found) {
            "runs that were not made"
        } else {
            "questions that were not asked"
        };
        table.notes.push(format!(
            "The {what} would have cost about {}.",
            format::money(saved)
        ));
    }
    table.notes.push(limits(found).to_owned());
    if found.pairs.len() < 2 {
        vec![table]
    } else {
        vec![table, pairs(found)]
    }
}

fn is_of_runs(found: &ForeseenVerdict) -> bool {
    found.units == Units::Tasks
}

fn alone_label(found: &ForeseenVerdict) -> &'static str {
    if is_of_runs(found) {
        "Runs won"
    } else {
        "Passed alone"
    }
}

fn limits(found: &ForeseenVerdict) -> &'static str {
    if is_of_runs(found) {
        "The runs stopped when the verdict was known. For an interval of the rates, run each task as often as planned (without --until)."
    } else {
        "Questions were chosen where the arms may differ, so this gives no pass rates, and boards do not count partial runs. For rates, run \
         all questions (without --until)."
    }
}

/// Lays out the pairs of arms.
fn pairs(found: &ForeseenVerdict) -> Table {
    let mut table = Table::new("Pairs");
    let (won, lost) = if is_of_runs(found) {
        ("First won", "Second won")
    } else {
        ("First alone", "Second alone")
    };
    table.head(Column::words("First").keys(["first"]));
    table.head(Column::words("Second").keys(["second"]));
    table.head(Column::words("Verdict").keys(["verdict"]));
    table.head(Column::number(won).keys(["won"]));
    table.head(Column::number(lost).keys(["lost"]));
    table.head(Column::number("Compared").keys(["compared"]));
    let names = names(found);
    for pair in &found.pairs {
        let verdict = winner(pair).map_or_else(
            || "no winner".to_owned(),
            |place| format!("{} wins", names[place]),
        );
        let counts = [pair.won, pair.lost, pair.compared].map(Cell::count);
        let words = [
            names[pair.first].clone(),
            names[pair.second].clone(),
            verdict,
        ]
        .map(Cell::words);
        table.row(words.into_iter().chain(counts));
    }
    table
}

fn names(found: &ForeseenVerdict) -> Vec<String> {
    words::arm_labels(
        &words::first_three(&found.suites),
        &found
            .arms
            .iter()
            .map(|arm| arm.arm.clone())
            .collect::<Vec<Arm>>(),
    )
}

fn winner(pair: &ForeseenPair) -> Option<usize> {
    match pair.verdict {
        Foreseen::FirstWins => Some(pair.first),
        Foreseen::SecondWins => Some(pair.second),
        Foreseen::NoWinner => None,
    }
}

/// Says who wins, or that nobody would.
pub fn sentence(found: &ForeseenVerdict) -> String {
    let names = names(found);
    let units = match found.units {
        Units::Items => String::new(),
        Units::Clusters => format!(" in {} clusters", format::integer(found.unit_count)),
        Units::Tasks => format!(" over {} tasks", format::integer(found.unit_count)),
    };
    let what = if is_of_runs(found) {
        "runs of each arm"
    } else {
        "questions"
    };
    let [pair] = found.pairs.as_slice() else {
        let decided = found
            .pairs
            .iter()
            .filter(|pair| winner(pair).is_some())
            .count();
        let lead = match found.winner {
            Some(place) => format!("{} wins against every other arm", names[place]),
            None => "No arm wins against every other".to_owned(),
        };
        return format!(
            "{lead}: the full run of {} {what}{units} would name a winner in {decided} of {} pairs.",
            format::integer(found.items),
            found.pairs.len()
        );
    };
    let asked = format!(
        "{} of {} {what}{units}",
        format::integer(pair.compared),
        format::integer(found.items)
    );
    let alone = if is_of_runs(found) {
        format!(
            "{} had the higher pass rate in {}, {} in {}",
            names[0], pair.won, names[1], pair.lost
        )
    } else {
        format!(
            "{} alone passed {}, {} alone passed {}",
            names[0], pair.won, names[1], pair.lost
        )
    };
    match winner(pair) {
        Some(place) => format!("{} wins: of {asked}, {alone}.", names[place]),
        None if is_of_runs(found) => format!(
            "No winner: all runs together would name none. Of {asked}, {alone}. More tasks may decide."
        ),
        None => format!(
            "No winner: all questions together would name none. Of {asked}, {alone}. More questions may decide; `--max-runs N` repeats \
             whole runs."
        ),
    }
}
