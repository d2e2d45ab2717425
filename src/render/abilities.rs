//! Abilities of arms and items, as tables and sentences.

use crate::views::{
    Abilities, AbilityDoubt, AbleArm, Bound, DifferentItemAbilities, FittedItem, HarderUnasked,
    Interval, ResponseModel,
};

use super::cell::{Datum, TableCell};
use super::format;
use super::phrases::{self, count_with_noun};
use super::table::{ReportTable, TableColumn};

/// Says why pass rates do not compare.
pub fn explain_incomparable_rates(apart: &DifferentItemAbilities) -> String {
    format!(
        "{} were asked only some of the {}, so pass rates are of different items and do not compare. Abilities place all arms on one scale: \
         {} of {} are established.",
        if apart.lacking == apart.arms {
            "All arms".to_owned()
        } else {
            format!(
                "{} of {}",
                format::format_integer(apart.lacking),
                count_with_noun(apart.arms, "arms")
            )
        },
        count_with_noun(apart.found.items + apart.found.unasked, "items"),
        format::format_integer(apart.found.established_pairs),
        count_with_noun(apart.found.pairs, "pairs"),
    )
}

/// Lays out the arms by ability.
pub fn arms_table(found: &Abilities) -> ReportTable {
    let mut table = ReportTable::for_rows("abilities").with_title(format!(
        "{}: abilities ({})",
        found.board,
        count_with_noun(found.items, "items")
    ));
    let each = |cell: &dyn Fn(&AbleArm) -> TableCell| {
        found.places.iter().map(cell).collect::<Vec<TableCell>>()
    };
    table.add_filled_column(
        TableColumn::number("Place").keys(["place"]),
        (1..).take(found.places.len()).map(TableCell::count),
    );
    table.add_filled_column(
        TableColumn::words("Arm").keys(["arm"]),
        each(&|place| TableCell::words(place.arm.as_str())),
    );
    table.add_filled_column(
        TableColumn::number("Items").keys(["items"]),
        each(&|place| TableCell::count(place.items)),
    );
    let score = |place: &AbleArm| {
        TableCell::number_or_blank(place.score, |score| {
            format::percent_number(score, place.items)
        })
    };
    table.add_filled_column(
        TableColumn::number("Passed %").keys(["score"]),
        each(&score),
    );
    let rate = |place: &AbleArm| match place.rate {
        Some(rate) => {
            let ends = rate.interval.map(|ends| (ends.low, ends.high));
            let percent = |share: f64| format::percent_number(share, place.items);
            let mut cell = TableCell::for_people(percent(rate.value)).with_data([
                rate.value.into(),
                ends.map(|ends| ends.0).into(),
                ends.map(|ends| ends.1).into(),
            ]);
            cell.ends = ends.map(|(low, high)| [percent(low), percent(high)]);
            cell
        }
        None => TableCell::unknown("unknown"),
    };
    table.add_filled_column(
        TableColumn::number("Expected on all %").over("95%").keys([
            "rate",
            "rate_low",
            "rate_high",
        ]),
        each(&rate),
    );
    if found.places.iter().any(|place| place.rate_bounds.is_some()) {
        let bounds = |place: &AbleArm| match place.rate_bounds {
            Some(Interval { low, high }) => {
                let percent = |share: f64| format::percent_number(share, place.items);
                TableCell::for_people(format!("{}–{}", percent(low), percent(high)))
                    .with_data([Datum::from(low), Datum::from(high)])
            }
            None => TableCell::unknown(""),
        };
        table.add_filled_column(
            TableColumn::number("At least–most %").keys(["rate_least", "rate_most"]),
            each(&bounds),
        );
    }
    let ability = |place: &AbleArm| match place.ability {
        Some(ability) => {
            let ends = ability.interval.map(|ends| (ends.low, ends.high));
            let mut cell = TableCell::for_people(signed_log_odds(ability.value)).with_data([
                ability.value.into(),
                ends.map(|ends| ends.0).into(),
                ends.map(|ends| ends.1).into(),
            ]);
            cell.ends = ends.map(|(low, high)| [signed_log_odds(low), signed_log_odds(high)]);
            cell
        }
        None => TableCell::unknown(phrases::bound_words(place.bound)),
    };
    table.add_filled_column(
        TableColumn::number("Ability")
            .over("95%")
            .keys(["ability", "low", "high"]),
        each(&ability),
    );
    let rank = |place: &AbleArm| {
        TableCell::for_people(phrases::rank_range(place.rank)).with_data([
            Datum::from(place.rank.best as u64),
            Datum::from(place.rank.worst as u64),
        ])
    };
    table.add_filled_column(
        TableColumn::number("Rank").keys(["best", "worst"]),
        each(&rank),
    );
    table.add_filled_column(
        TableColumn::words("Over the next").keys(["beats_next"]),
        each(&|place| {
            TableCell::words(match place.beats_next {
                Some(true) if place.by_model => "by the model",
                beats_next => phrases::lead_over_next_words(beats_next),
            })
        }),
    );
    table.add_filled_column(
        TableColumn::for_programs(["bound"]),
        each(&|place| TableCell::for_programs([Datum::json_name(place.bound)])),
    );
    table.notes = method_notes(found);
    table
}

/// Lays out the items, the hardest first.
pub fn difficulty_table(found: &Abilities) -> ReportTable {
    let mut table = ReportTable::for_rows("items").with_title(format!(
        "{}: difficulty of {}",
        found.board,
        count_with_noun(found.items, "items")
    ));
    let each = |cell: &dyn Fn(&FittedItem) -> TableCell| {
        found
            .by_difficulty()
            .into_iter()
            .map(cell)
            .collect::<Vec<TableCell>>()
    };
    table.add_filled_column(
        TableColumn::words("Item").keys(["item"]),
        each(&|item| TableCell::words(item.item.as_str())),
    );
    table.add_filled_column(
        TableColumn::number("Arms").keys(["arms"]),
        each(&|item| TableCell::count(item.arms)),
    );
    table.add_filled_column(
        TableColumn::number("Passed %").keys(["score"]),
        each(&|item| TableCell::number(format::percent_number(item.score, item.arms), item.score)),
    );
    let difficulty = |item: &FittedItem| {
        TableCell::for_people(signed_log_odds(item.parameters.difficulty))
            .with_data([
                item.parameters.difficulty.into(),
                item.parameters.difficulty_error.into(),
            ])
            .with_small_print(format!(
                "± {}",
                format::fixed_decimals(item.parameters.difficulty_error, 2)
            ))
    };
    table.add_filled_column(
        TableColumn::number("Difficulty")
            .over("log odds")
            .keys(["difficulty", "difficulty_error"]),
        each(&difficulty),
    );
    if found.model == ResponseModel::TwoParameter {
        let slope = |item: &FittedItem| match item.parameters.discrimination {
            Some(slope) => TableCell::for_people(format::fixed_decimals(slope.value, 2))
                .with_data([slope.value.into(), slope.log_error.into()]),
            None => TableCell::unknown("unknown"),
        };
        table.add_filled_column(
            TableColumn::number("Discrimination")
                .keys(["discrimination", "discrimination_log_error"]),
            each(&slope),
        );
    }
    let check = |item: &FittedItem| match item.p {
        Some(_) if item.is_reversed => TableCell::words("reversed"),
        Some(_) => TableCell::words("fits"),
        None => TableCell::unknown("n/a"),
    };
    table.add_filled_column(TableColumn::words("Check").keys(["check"]), each(&check));
    table.add_filled_column(
        TableColumn::for_programs(["p"]),
        each(&|item| TableCell::for_programs([Datum::from(item.p)])),
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
fn signed_log_odds(value: f64) -> String {
    if value.abs() < 0.005 {
        "0".to_owned()
    } else {
        format::signed_number(value, 2)
    }
}

fn method_notes(found: &Abilities) -> Vec<String> {
    let mut notes = vec![
        format!(
            "Established, with 95% confidence for all pairs at once: {} of {}.",
            format::format_integer(found.established_pairs),
            count_with_noun(found.pairs, "pairs"),
        ),
        "Expected on all: the arm's own results on the items that it was asked, and the model's expectation on the others.".to_owned(),
        "Ability, in log odds: an arm with 1 more has 2.7 times the odds to pass an item; the mean of the arms is 0.".to_owned(),
        model_note(found),
        interval_note(found),
    ];
    notes.extend(assumption_notes(found));
    notes.extend(item_sets_note(found));
    notes.extend(pair_fit_note(found));
    let reversed: Vec<String> = found
        .asked
        .iter()
        .filter(|item| item.is_reversed)
        .map(|item| item.item.clone())
        .collect();
    if !reversed.is_empty() {
        notes.push(format!(
            "Worse arms pass {} rather than better ones: {}. Read them first for a wrong key or test; --items has all.",
            count_with_noun(reversed.len() as u64, "items"),
            phrases::first_three(&reversed),
        ));
    }
    if found.unasked > 0 {
        notes.push(format!(
            "Left out: {} that no compared arm was asked.",
            count_with_noun(found.unasked, "items")
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
                phrases::first_three(&arms)
            ));
        }
    }
    notes
}

/// Says what is taken for granted of items that an arm was not asked, and where the answers speak against it.
fn assumption_notes(found: &Abilities) -> Vec<String> {
    if found.places.iter().all(|place| place.rate_bounds.is_none()) {
        return Vec::new();
    }
    let mut notes = vec![format!(
        "Assumed: an arm does on items that it was not asked as on those that it was, at equal difficulty, and lacks none because it failed. {} of the \
         established pairs rest on that (by the model). Without it, a rate on all items lies between at least and most: all others failed, or passed.",
        format::format_integer(found.pairs_by_model)
    )];
    let harder = |place: &AbleArm| {
        let HarderUnasked { asked, unasked, p } = place.harder_unasked?;
        let percent = |share: f64| format::percent(share, place.items);
        Some(format!(
            "{} lacks harder items than it has: others pass {} of them and {} of the asked ones ({}). If they are missing because it failed, it is \
             worse than this table says.",
            place.arm,
            percent(unasked),
            percent(asked),
            format::p_value(p)
        ))
    };
    notes.extend(found.places.iter().filter_map(harder));
    notes.extend(found.places.iter().filter_map(doubt_note));
    notes
}

fn doubt_note(place: &AbleArm) -> Option<String> {
    let percent = |share: f64| format::percent(share, place.items);
    let because = match place.doubt.as_ref()? {
        AbilityDoubt::Category {
            category,
            items,
            score,
            expected,
            p,
        } => format!(
            "it passes {} of {} of {category}, where its ability says {} ({})",
            percent(*score),
            count_with_noun(*items, "items"),
            percent(*expected),
            format::p_value(*p)
        ),
        AbilityDoubt::Unasked {
            category,
            items,
            of,
        } => format!(
            "it was asked {} of {} of {category}",
            format::format_integer(*items),
            count_with_noun(*of, "items")
        ),
    };
    Some(format!(
        "No rate on all items and no established place for {}: {because}.",
        place.arm
    ))
}

fn model_note(found: &Abilities) -> String {
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

fn interval_note(found: &Abilities) -> String {
    let units = if found.has_clusters {
        "clusters of items"
    } else {
        "items"
    };
    format!(
        "Intervals: sandwich errors over {}, as a sample of such items.",
        count_with_noun(found.units, units)
    )
}

fn item_sets_note(found: &Abilities) -> Option<String> {
    if found.sets < 2 && found.scattered == 0 {
        return None;
    }
    let mut said = format!(
        "{} of items asked of the same arms have a mean difficulty each",
        count_with_noun(found.sets, "sets")
    );
    if found.scattered > 0 {
        said = format!(
            "{} in no set of 10 that was asked of the same arms: their arms are taken as drawn by chance. If better arms were asked harder \
             items, the differences are too small",
            count_with_noun(found.scattered, "items"),
        );
    }
    Some(format!("Design: {said}."))
}

fn pair_fit_note(found: &Abilities) -> Option<String> {
    let (observed, expected) = found.fit.observed.zip(found.fit.expected)?;
    let percent = |share: f64| format::percent(share, found.items);
    let mut said = format!(
        "Check: two arms differ on {} of their common items, and on {} by the model (mean of {}).",
        percent(observed),
        percent(expected),
        count_with_noun(found.fit.pairs, "pairs"),
    );
    match &found.fit.off[..] {
        [] => said.push_str(" No pair deviates beyond chance."),
        [worst, ..] => said.push_str(&format!(
            " {} beyond chance, most {} and {}: {} against {}. The intervals allow for it.",
            if found.fit.off.len() == 1 {
                "1 pair deviates".to_owned()
            } else {
                format!(
                    "{} deviate",
                    count_with_noun(found.fit.off.len() as u64, "pairs")
                )
            },
            worst.first,
            worst.second,
            percent(worst.observed),
            percent(worst.expected),
        )),
    }
    Some(said)
}
