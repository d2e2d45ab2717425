//! Abilities of arms and items, as tables and sentences.

use crate::views::{Abilities, AbleArm, AskedApart, Bound, FittedItem, ResponseModel};

use super::cell::{Cell, Datum};
use super::format;
use super::table::{Column, Table};
use super::words::{self, count_of};

/// Says why pass rates do not compare.
pub fn why(apart: &AskedApart) -> String {
    format!(
        "{} were asked only some of the {}, so pass rates are of different items and do not compare. Abilities place all arms on one scale: \
         {} of {} are established.",
        if apart.lacking == apart.arms {
            "All arms".to_owned()
        } else {
            format!(
                "{} of {}",
                format::integer(apart.lacking),
                count_of(apart.arms, "arms")
            )
        },
        count_of(apart.found.items + apart.found.unasked, "items"),
        format::integer(apart.found.established_pairs),
        count_of(apart.found.pairs, "pairs"),
    )
}

/// Lays out the arms by ability.
pub fn table(found: &Abilities) -> Table {
    let mut table = Table::of("abilities").titled(format!(
        "{}: abilities ({})",
        found.board,
        count_of(found.items, "items")
    ));
    let each =
        |cell: &dyn Fn(&AbleArm) -> Cell| found.places.iter().map(cell).collect::<Vec<Cell>>();
    table.column(
        Column::number("Place").keys(["place"]),
        (1..).take(found.places.len()).map(Cell::count),
    );
    table.column(
        Column::words("Arm").keys(["arm"]),
        each(&|place| Cell::words(place.arm.as_str())),
    );
    table.column(
        Column::number("Items").keys(["items"]),
        each(&|place| Cell::count(place.items)),
    );
    let score = |place: &AbleArm| {
        Cell::known(place.score, |score| {
            format::percent_number(score, place.items)
        })
    };
    table.column(Column::number("Passed %").keys(["score"]), each(&score));
    let rate = |place: &AbleArm| match place.rate {
        Some(rate) => {
            let ends = rate.interval.map(|ends| (ends.low, ends.high));
            let percent = |share: f64| format::percent_number(share, place.items);
            let mut cell = Cell::shown(percent(rate.value)).data([
                rate.value.into(),
                ends.map(|ends| ends.0).into(),
                ends.map(|ends| ends.1).into(),
            ]);
            cell.ends = ends.map(|(low, high)| [percent(low), percent(high)]);
            cell
        }
        None => Cell::unknown("unknown"),
    };
    table.column(
        Column::number("Expected on all %")
            .over("95%")
            .keys(["rate", "rate_low", "rate_high"]),
        each(&rate),
    );
    let ability = |place: &AbleArm| match place.ability {
        Some(ability) => {
            let ends = ability.interval.map(|ends| (ends.low, ends.high));
            let mut cell = Cell::shown(signed(ability.value)).data([
                ability.value.into(),
                ends.map(|ends| ends.0).into(),
                ends.map(|ends| ends.1).into(),
            ]);
            cell.ends = ends.map(|(low, high)| [signed(low), signed(high)]);
            cell
        }
        None => Cell::unknown(words::bound(place.bound)),
    };
    table.column(
        Column::number("Ability")
            .over("95%")
            .keys(["ability", "low", "high"]),
        each(&ability),
    );
    let rank = |place: &AbleArm| {
        Cell::shown(words::rank(place.rank)).data([
            Datum::from(place.rank.best as u64),
            Datum::from(place.rank.worst as u64),
        ])
    };
    table.column(Column::number("Rank").keys(["best", "worst"]), each(&rank));
    table.column(
        Column::words("Over the next").keys(["beats_next"]),
        each(&|place| Cell::words(words::over_the_next(place.beats_next))),
    );
    table.column(
        Column::data(["bound"]),
        each(&|place| Cell::figures([Datum::name(place.bound)])),
    );
    table.notes = notes(found);
    table
}

/// Lays out the items, the hardest first.
pub fn items(found: &Abilities) -> Table {
    let mut table = Table::of("items").titled(format!(
        "{}: difficulty of {}",
        found.board,
        count_of(found.items, "items")
    ));
    let each = |cell: &dyn Fn(&FittedItem) -> Cell| {
        found
            .by_difficulty()
            .into_iter()
            .map(cell)
            .collect::<Vec<Cell>>()
    };
    table.column(
        Column::words("Item").keys(["item"]),
        each(&|item| Cell::words(item.item.as_str())),
    );
    table.column(
        Column::number("Arms").keys(["arms"]),
        each(&|item| Cell::count(item.arms)),
    );
    table.column(
        Column::number("Passed %").keys(["score"]),
        each(&|item| Cell::number(format::percent_number(item.score, item.arms), item.score)),
    );
    let difficulty = |item: &FittedItem| {
        Cell::shown(signed(item.parameters.difficulty))
            .data([
                item.parameters.difficulty.into(),
                item.parameters.difficulty_error.into(),
            ])
            .small(format!(
                "± {}",
                format::fixed(item.parameters.difficulty_error, 2)
            ))
    };
    table.column(
        Column::number("Difficulty")
            .over("log odds")
            .keys(["difficulty", "difficulty_error"]),
        each(&difficulty),
    );
    if found.model == ResponseModel::TwoParameter {
        let slope = |item: &FittedItem| match item.parameters.discrimination {
            Some(slope) => Cell::shown(format::fixed(slope.value, 2))
                .data([slope.value.into(), slope.log_error.into()]),
            None => Cell::unknown("unknown"),
        };
        table.column(
            Column::number("Discrimination").keys(["discrimination", "discrimination_log_error"]),
            each(&slope),
        );
    }
    let check = |item: &FittedItem| match item.p {
        Some(_) if item.is_reversed => Cell::words("reversed"),
        Some(_) => Cell::words("fits"),
        None => Cell::unknown("n/a"),
    };
    table.column(Column::words("Check").keys(["check"]), each(&check));
    table.column(
        Column::data(["p"]),
        each(&|item| Cell::figures([Datum::from(item.p)])),
    );
    table.notes = vec![
        "Difficulty: ability at which an arm passes the item half of the time, with the standard deviation that the answers leave.".to_owned(),
        "Reversed: worse arms pass the item rather than better ones, beyond chance. At most 5% of the items so marked are expected to be marked \
         wrongly."
            .to_owned(),
    ];
    table
}

/// Formats log odds with their sign, except for zero.
fn signed(value: f64) -> String {
    if value.abs() < 0.005 {
        "0".to_owned()
    } else {
        format::signed(value, 2)
    }
}

fn notes(found: &Abilities) -> Vec<String> {
    let mut notes = vec![
        format!(
            "Established, with 95% confidence for all pairs at once: {} of {}.",
            format::integer(found.established_pairs),
            count_of(found.pairs, "pairs"),
        ),
        "Expected on all: the arm's own results on the items that it was asked, and the model's expectation on the others.".to_owned(),
        "Ability, in log odds: an arm with 1 more has 2.7 times the odds to pass an item; the mean of the arms is 0.".to_owned(),
        model(found),
        units(found),
    ];
    notes.extend(sets(found));
    notes.extend(pairs(found));
    let reversed: Vec<String> = found
        .asked
        .iter()
        .filter(|item| item.is_reversed)
        .map(|item| item.item.clone())
        .collect();
    if !reversed.is_empty() {
        notes.push(format!(
            "Worse arms pass {} rather than better ones: {}. Read them first for a wrong key or test; --items has all.",
            count_of(reversed.len() as u64, "items"),
            words::first_three(&reversed),
        ));
    }
    if found.unasked > 0 {
        notes.push(format!(
            "Left out: {} that no compared arm was asked.",
            count_of(found.unasked, "items")
        ));
    }
    for (bound, one, many, step) in [
        (
            Bound::NoUpper,
            "it passed all its items",
            "they passed all their items",
            "Harder items settle it.",
        ),
        (
            Bound::NoLower,
            "it passed none of its items",
            "they passed none of their items",
            "Easier items settle it.",
        ),
        (
            Bound::Unconnected,
            "it shares fewer than 10 items with each compared arm",
            "they share fewer than 10 items with each compared arm",
            "Ask some of the others' items.",
        ),
    ] {
        let arms: Vec<String> = found
            .places
            .iter()
            .filter(|place| place.bound == bound)
            .map(|place| place.arm.clone())
            .collect();
        if !arms.is_empty() {
            let reason = if arms.len() == 1 { one } else { many };
            notes.push(format!(
                "No ability for {}: {reason}. {step}",
                words::first_three(&arms)
            ));
        }
    }
    notes
}

fn model(found: &Abilities) -> String {
    match (found.model, found.gain) {
        (ResponseModel::TwoParameter, _) => {
            "Model: each item has a difficulty and a discrimination (2PL). A likelihood ratio test shows at 5% that discriminations differ."
                .to_owned()
        }
        (ResponseModel::OneParameter, Some(_)) => {
            "Model: each item has a difficulty (Rasch). No likelihood ratio test at 5% shows that items also discriminate differently."
                .to_owned()
        }
        (ResponseModel::OneParameter, None) => {
            "Model: each item has a difficulty (Rasch). Only 5 arms or more, of which some differ, can show whether items also discriminate \
             differently."
                .to_owned()
        }
    }
}

fn units(found: &Abilities) -> String {
    let units = if found.has_clusters {
        "clusters of items"
    } else {
        "items"
    };
    format!(
        "Intervals: sandwich errors over {}, as a sample of such items.",
        count_of(found.units, units)
    )
}

fn sets(found: &Abilities) -> Option<String> {
    if found.sets < 2 && found.scattered == 0 {
        return None;
    }
    let mut said = format!(
        "{} of items asked of the same arms have a mean difficulty each",
        count_of(found.sets, "sets")
    );
    if found.scattered > 0 {
        said = format!(
            "{} in no set of 10 that was asked of the same arms: their arms are taken as drawn by chance. If better arms were asked harder \
             items, the differences are too small",
            count_of(found.scattered, "items"),
        );
    }
    Some(format!("Design: {said}."))
}

fn pairs(found: &Abilities) -> Option<String> {
    let (observed, expected) = found.fit.observed.zip(found.fit.expected)?;
    let percent = |share: f64| format::percent(share, found.items);
    let mut said = format!(
        "Check: two arms differ on {} of their common items, and on {} by the model (mean of {}).",
        percent(observed),
        percent(expected),
        count_of(found.fit.pairs, "pairs"),
    );
    match &found.fit.off[..] {
        [] => said.push_str(" No pair deviates beyond chance."),
        [worst, ..] => said.push_str(&format!(
            " {} beyond chance, most {} and {}: {} against {}. The intervals allow for it.",
            if found.fit.off.len() == 1 {
                "1 pair deviates".to_owned()
            } else {
                format!("{} deviate", count_of(found.fit.off.len() as u64, "pairs"))
            },
            worst.first,
            worst.second,
            percent(worst.observed),
            percent(worst.expected),
        )),
    }
    Some(said)
}
