//! The verdicts of a full run, foreseen from a part of it, as tables.

use crate::views::{Arm, Foreseen, ForeseenPair, ForeseenVerdict, Units};

use super::cell::TableCell;
use super::table::{ReportTable, TableColumn};
use super::{format, phrases};

/// Lays out the arms, and the pairs of more than two arms.
pub fn verdict_tables(found: &ForeseenVerdict) -> Vec<ReportTable> {
    let mut table = ReportTable::new(format!("{}: foreseen verdict", found.suites.join(", ")));
    for (label, key) in [("Approach", "approach"), ("Model", "model")] {
        table.add_column(TableColumn::words(label).keys([key]));
    }
    if found.pairs.len() > 1 {
        table.add_column(TableColumn::number("Beats").keys(["beats"]));
    } else {
        table.add_column(TableColumn::number(alone_label(found)).keys(["won"]));
    }
    table.add_column(
        TableColumn::number(if is_of_runs(found) { "Runs" } else { "Asked" }).keys(["asked"]),
    );
    table.add_column(TableColumn::number("Cost").keys(["cost_usd"]));
    for (place, arm) in found.arms.iter().enumerate() {
        let cost = arm.cost_usd.map_or_else(
            || TableCell::unknown("unknown"),
            |cost| TableCell::for_people(format::money(cost)).with_data([cost.into()]),
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
        let names = [arm.arm.approach.as_str(), arm.arm.model.as_str()].map(TableCell::words);
        table.add_row(names.into_iter().chain([
            TableCell::count(first),
            TableCell::count(arm.asked),
            cost,
        ]));
    }
    table.notes.push(winner_sentence(found));
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
    table.notes.push(limits_note(found).to_owned());
    if found.pairs.len() < 2 {
        vec![table]
    } else {
        vec![table, pairs_table(found)]
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

fn limits_note(found: &ForeseenVerdict) -> &'static str {
    if is_of_runs(found) {
        "The runs stopped when the verdict was known. For an interval of the rates, run each task as often as planned (without --until)."
    } else {
        "Questions were chosen where the arms may differ, so this gives no pass rates, and boards do not count partial runs. For rates, run \
         all questions (without --until)."
    }
}

/// Lays out the pairs of arms.
fn pairs_table(found: &ForeseenVerdict) -> ReportTable {
    let mut table = ReportTable::new("Pairs");
    let (won, lost) = if is_of_runs(found) {
        ("First won", "Second won")
    } else {
        ("First alone", "Second alone")
    };
    table.add_column(TableColumn::words("First").keys(["first"]));
    table.add_column(TableColumn::words("Second").keys(["second"]));
    table.add_column(TableColumn::words("Verdict").keys(["verdict"]));
    table.add_column(TableColumn::number(won).keys(["won"]));
    table.add_column(TableColumn::number(lost).keys(["lost"]));
    table.add_column(TableColumn::number("Compared").keys(["compared"]));
    let names = arm_names(found);
    for pair in &found.pairs {
        let verdict = pair_winner(pair).map_or_else(
            || "no winner".to_owned(),
            |place| format!("{} wins", names[place]),
        );
        let counts = [pair.won, pair.lost, pair.compared].map(TableCell::count);
        let words = [
            names[pair.first].clone(),
            names[pair.second].clone(),
            verdict,
        ]
        .map(TableCell::words);
        table.add_row(words.into_iter().chain(counts));
    }
    table
}

fn arm_names(found: &ForeseenVerdict) -> Vec<String> {
    phrases::arm_labels(
        &phrases::first_three(&found.suites),
        &found
            .arms
            .iter()
            .map(|arm| arm.arm.clone())
            .collect::<Vec<Arm>>(),
    )
}

fn pair_winner(pair: &ForeseenPair) -> Option<usize> {
    match pair.verdict {
        Foreseen::FirstWins => Some(pair.first),
        Foreseen::SecondWins => Some(pair.second),
        Foreseen::NoWinner => None,
    }
}

/// Says who wins, or that nobody would.
pub fn winner_sentence(found: &ForeseenVerdict) -> String {
    let names = arm_names(found);
    let units = match found.units {
        Units::Items => String::new(),
        Units::Clusters => format!(" in {} clusters", format::format_integer(found.unit_count)),
        Units::Tasks => format!(" over {} tasks", format::format_integer(found.unit_count)),
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
            .filter(|pair| pair_winner(pair).is_some())
            .count();
        let lead = match found.winner {
            Some(place) => format!("{} wins against every other arm", names[place]),
            None => "No arm wins against every other".to_owned(),
        };
        return format!(
            "{lead}: the full run of {} {what}{units} would name a winner in {decided} of {} pairs.",
            format::format_integer(found.items),
            found.pairs.len()
        );
    };
    let asked = format!(
        "{} of {} {what}{units}",
        format::format_integer(pair.compared),
        format::format_integer(found.items)
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
    match pair_winner(pair) {
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
